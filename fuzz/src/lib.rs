//! What several targets share.

#[path = "../../tests/src/accessor.rs"]
#[macro_use]
#[allow(unused_macros, reason = "these families have no packed arrays")]
pub mod accessor;
pub mod commands;
pub mod reference;
pub mod tables;

/// Typed accessors of some families, as the tests walk them. Not of all: those take minutes to compile
/// with the fuzzer's counters, and say no more.
#[path = "../../tests/src/generated"]
#[rustfmt::skip]
#[allow(dead_code, reason = "transitions are walked by the tests")]
mod generated {
    mod cq;
    mod crypto;
    mod mkey;
    mod qp;
    mod registers;
    mod rqt;
    mod srq;
    mod tir_tis;
    mod wq;

    use crate::accessor::{Accessor, Change};

    pub(super) const ACCESSORS: &[&[Accessor]] = &[
        cq::ACCESSORS, crypto::ACCESSORS, mkey::ACCESSORS, qp::ACCESSORS, registers::ACCESSORS,
        rqt::ACCESSORS, srq::ACCESSORS, tir_tis::ACCESSORS, wq::ACCESSORS,
    ];
    pub(super) const CHANGES: &[&[Change]] = &[cq::CHANGES, rqt::CHANGES, srq::CHANGES, wq::CHANGES];
}

/// Accessors by PRM names.
pub fn accessors() -> impl Iterator<Item = &'static accessor::Accessor> {
    generated::ACCESSORS.iter().copied().flatten()
}

/// Paired calls of modify commands.
pub fn changes() -> impl Iterator<Item = &'static accessor::Change> {
    generated::CHANGES.iter().copied().flatten()
}
