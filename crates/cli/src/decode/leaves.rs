//! All numbers of a mailbox, each with its path, to be compared.

use std::convert::Infallible;

use mlx5_prm::FieldDesc;
use serde_json::Value;

use super::json::{MISSING, TRAILING, hex};
use super::value::{self, trailing};
use super::walk::{Found, Walk};
use crate::view::View;

/// What is at the end of a path.
#[derive(Debug, Clone)]
pub(crate) enum Leaf {
    Number(&'static FieldDesc, u128),
    Bytes(Vec<u8>),
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Leaf::Number(_, a), Leaf::Number(_, b)) => a == b,
            (Leaf::Bytes(a), Leaf::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

impl Leaf {
    /// For people.
    pub(crate) fn text(&self) -> String {
        match self {
            Leaf::Number(field, number) => value::text(field, *number),
            Leaf::Bytes(bytes) => hex(bytes),
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        match self {
            Leaf::Number(_, number) => match u64::try_from(*number) {
                Ok(number) => number.into(),
                Err(_) => format!("{number:#x}").into(),
            },
            Leaf::Bytes(bytes) => hex(bytes).into(),
        }
    }
}

/// All of them, those that are zero too. Of a union only the members that count.
pub(crate) fn all(view: &View, bytes: &[u8]) -> Vec<(String, Leaf)> {
    let mut out: Vec<(String, Leaf)> = Vec::new();
    let several = view.layouts().len() > 1;
    for part in view.parts(bytes) {
        let mut walk = Walk {
            path: if several { part.layout.name.to_owned() } else { String::new() },
            counts: &|layout, field| view.counts(layout, field),
            longer: false,
            each: &mut |path, found, _| {
                let leaf = match found {
                    Found::Number(field, number) => Leaf::Number(field, number),
                    Found::Bytes(bytes) => Leaf::Bytes(bytes.to_vec()),
                    Found::Reserved(bits) => Leaf::Bytes(bits.to_be_bytes().to_vec()),
                };
                out.push((path.to_owned(), leaf));
                Ok::<(), Infallible>(())
            },
        };
        let Ok(()) = walk.layout(part.layout, part.bytes, false, usize::MAX);
    }
    let rest = trailing(view, bytes);
    if !rest.is_empty() {
        out.push((TRAILING.to_owned(), Leaf::Bytes(rest.to_vec())));
    }
    let missing = view.size().saturating_sub(bytes.len());
    if missing > 0 {
        out.push((MISSING.to_owned(), Leaf::Bytes(missing.to_be_bytes().to_vec())));
    }
    out
}
