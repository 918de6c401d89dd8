//! Importers: public sources become the model.

mod adb;
mod expr;
mod foreign;
mod header;
mod lexer;
mod parser;
mod preprocessor;
mod sources;

use std::sync::Arc;

use crate::fault::{Faults, Origin, SourceFile};
use crate::model::{Enumeration, Layout, Register};

pub use sources::{is_adb, read};

/// What one source says.
#[derive(Debug, Default)]
pub struct Reading {
    /// Its layouts, in the order of the files; no family yet.
    pub layouts: Vec<Layout>,
    /// Its enumerations.
    pub enums: Vec<Enumeration>,
    /// The registers that it names.
    pub registers: Vec<Register>,
    /// What was read past, because it is no part of the PRM.
    pub passed_over: Vec<PassedOver>,
}

/// Something in a source that is no part of the PRM.
#[derive(Debug, Clone)]
pub struct PassedOver {
    /// What it is, such as `struct mlx5_cqe`.
    pub label: String,
    /// What is wrong with it: it is a layout, and at fault.
    pub fault: Option<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// A header, and what is taken from it.
#[derive(Debug, Clone)]
pub struct HeaderFile {
    /// The header.
    pub file: Arc<SourceFile>,
    /// Beginnings of the enumerators that are taken, and nothing else is; empty: everything.
    pub takes: Vec<String>,
}

/// Reads the headers of one source, in the order given.
///
/// A struct must be defined before it is used, as in C, in this header or one before it.
///
/// # Errors
/// Every fault that could be found; a header whose grammar is broken gives its first one only.
pub fn headers(files: &[HeaderFile]) -> Result<Reading, Faults> {
    header::read(files, false)
}

/// Reads headers as [`headers`] does, but passes over each layout that is at fault, and each that
/// holds one: for published headers, which are as they are. Their labels have the fault.
///
/// # Errors
/// Faults that are in no layout.
pub fn headers_leniently(files: &[HeaderFile]) -> Result<Reading, Faults> {
    header::read(files, true)
}

/// Reads a database of registers of mstflint (`register_access_table.adb`).
///
/// Its nodes become layouts, and its index of registers becomes registers. Two kinds of nodes are
/// passed over: the index itself (`root`, the node that it holds, `access_reg_summary*`), and the
/// numbers `uint64` and `enum_entry`. So the database for adapters of mstflint's commit b9d9e844,
/// of 442 nodes, gives 435 layouts and 206 registers: 5 nodes are its index, and 2 are numbers.
///
/// # Errors
/// Every fault of the fields, up to a hundred; when there is none, every fault of how nodes use
/// each other. XML that is broken gives its first fault only.
pub fn adb(file: &Arc<SourceFile>) -> Result<Reading, Faults> {
    adb::read(file)
}
