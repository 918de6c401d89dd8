//! What commands cost, beside the DEVX macros of C.
//!
//! The programs `cases`, in Rust and in C, do the same; they are counted by valgrind and timed. The test
//! `instructions` compares the counts with `ratios.toml`; the program `bench` writes `docs/benchmarks.md`.
#![cfg(feature = "measure")]

pub mod baseline;
pub mod callgrind;
pub mod growth;
#[path = "../../tests/headers/mod.rs"]
mod headers;
pub mod peers;
pub mod plot;
pub mod programs;
pub mod report;
pub mod rows;
#[path = "../../tests/spec/mod.rs"]
mod spec;
pub mod transports;
