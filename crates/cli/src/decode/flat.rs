//! A mailbox as lines of `path=value`, for grep and diff; `prm encode` takes them back.

use std::io::{self, Write};

use super::json::{MISSING, TRAILING, hex};
use super::value::{filled, trailing};
use super::walk::{Found, Walk};
use crate::output::Output;
use crate::view::View;

/// Whether `prm encode` gives the field a value of its own where it is not said.
fn is_filled(path: &str) -> bool {
    [".opcode", ".obj_type", ".register_id"].iter().any(|name| path.ends_with(name))
}

/// Writes every field that is not zero, or all; paths begin with the name of the layout. The first field
/// of a layout and the last element of a list are there anyway: they say what, and how long, it is.
pub(crate) fn write(out: &mut Output, view: &View, bytes: &[u8], all: bool) -> io::Result<()> {
    let mut last = "";
    for part in view.parts(&filled(view, bytes)) {
        let left = bytes.len().saturating_sub(part.at) * 8;
        if left == 0 && part.at > 0 {
            break;
        }
        last = part.layout.name;
        if part.layout.fields.iter().all(|field| field.elements(part.bytes.len()) == 0) {
            // A list of nothing.
            writeln!(out, "{last}")?;
        }
        let mut walk = Walk {
            path: last.to_owned(),
            counts: &|_, _| true,
            longer: bytes.len() > view.size(),
            each: &mut |path, found, told| match found {
                Found::Number(_, 0) if !told && !all && !is_filled(path) => Ok(()),
                Found::Number(_, number) => writeln!(out, "{path}={number:#x}"),
                Found::Bytes(bytes) if !told && !all && bytes.iter().all(|b| *b == 0) => Ok(()),
                Found::Bytes(bytes) => writeln!(out, "{path}={}", hex(bytes)),
                Found::Reserved(bits) => writeln!(out, "{path}={bits:#x}"),
            },
        };
        walk.layout(part.layout, part.bytes, true, left)?;
    }
    let rest = trailing(view, bytes);
    if !rest.is_empty() {
        writeln!(out, "{last}.{TRAILING}={}", hex(rest))?;
    }
    let missing = view.size().saturating_sub(bytes.len());
    if missing > 0 {
        writeln!(out, "{last}.{MISSING}={missing}")?;
    }
    Ok(())
}
