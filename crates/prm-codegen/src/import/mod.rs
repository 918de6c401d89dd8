//! Importers: public sources become the model.

mod expr;
mod header;
mod lexer;
mod parser;

use std::sync::Arc;

use crate::fault::{Faults, SourceFile};
use crate::model::{Enumeration, Family, Layout, Register, Spec, matches};

/// What one source says.
#[derive(Debug, Default)]
pub struct Reading {
    /// Its layouts, in the order of the files; no family yet.
    pub layouts: Vec<Layout>,
    /// Its enumerations.
    pub enums: Vec<Enumeration>,
    /// The registers that it names.
    pub registers: Vec<Register>,
}

/// Reads the headers of one source, in the order given.
///
/// A struct must be defined before it is used, as in C, in this header or one before it.
///
/// # Errors
/// Every fault that could be found; a header whose grammar is broken gives its first one only.
pub fn headers(files: &[Arc<SourceFile>]) -> Result<Reading, Faults> {
    header::read(files)
}

/// Reads headers, in the order given, and shares their layouts out to `families`.
///
/// # Errors
/// Those of [`headers`], and a layout that no family takes.
pub fn import(files: &[Arc<SourceFile>], families: Vec<Family>) -> Result<Spec, Faults> {
    let mut faults = Faults::default();
    let mut reading = headers(files)?;
    for layout in &mut reading.layouts {
        match families.iter().find(|f| f.takes.iter().any(|t| matches(t, &layout.name))) {
            Some(family) => layout.family.clone_from(&family.name),
            None => faults.add(
                &layout.origin,
                format!("no family takes the layout {}", layout.name),
                "add its name, or a pattern that matches it, to a family of families.toml",
            ),
        }
    }
    let order = |l: &Layout| families.iter().position(|f| f.name == l.family);
    reading.layouts.sort_by_key(order);
    let Reading { layouts, enums, registers } = reading;
    faults.or(Spec { families, layouts, enums, registers, ..Spec::default() })
}
