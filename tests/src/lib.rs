//! Every accessor of the codec by PRM name, so that tests can walk all of them.

#[cfg(feature = "accessors")]
#[macro_use]
pub mod accessor;
#[cfg(feature = "accessors")]
#[rustfmt::skip]
mod generated;

#[cfg(feature = "accessors")]
pub use accessor::{Access, Accessor, Change, Transition, Viewed};

/// All accessors of all families.
#[cfg(feature = "accessors")]
pub fn accessors() -> impl Iterator<Item = &'static Accessor> {
    generated::ACCESSORS.iter().copied().flatten()
}

/// All paired calls of all families.
#[cfg(feature = "accessors")]
pub fn changes() -> impl Iterator<Item = &'static Change> {
    generated::CHANGES.iter().copied().flatten()
}

/// All builders of QP transitions.
#[cfg(feature = "accessors")]
pub fn transitions() -> impl Iterator<Item = &'static Transition> {
    generated::TRANSITIONS.iter().copied().flatten()
}

/// The examples of the README run too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
