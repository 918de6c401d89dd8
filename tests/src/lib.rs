//! Every accessor of the codec by PRM name, so that tests can walk all of them.

#[macro_use]
pub mod accessor;
#[rustfmt::skip]
mod generated;

pub use accessor::{Access, Accessor, Change, Transition, Viewed};

/// All accessors of all families.
pub fn accessors() -> impl Iterator<Item = &'static Accessor> {
    generated::ACCESSORS.iter().copied().flatten()
}

/// All paired calls of all families.
pub fn changes() -> impl Iterator<Item = &'static Change> {
    generated::CHANGES.iter().copied().flatten()
}

/// All builders of QP transitions.
pub fn transitions() -> impl Iterator<Item = &'static Transition> {
    generated::TRANSITIONS.iter().copied().flatten()
}

/// The examples of the README run too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
