//! Layout tables of the mlx5 PRM: imported from public headers, checked, and turned into Rust.
//!
//! The way is a compiler's: [`import`] and [`tables`] give a [`model::Spec`], [`check`] makes
//! sure that it is sound, [`emit`] writes Rust from it. Every fault on the way is a
//! [`fault::Fault`] with its place and remedy.

pub mod check;
pub mod emit;
pub mod fault;
pub mod import;
pub mod merge;
pub mod model;
pub mod opcodes;
pub mod report;
pub mod run;
pub mod tables;
