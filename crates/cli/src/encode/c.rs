//! C that builds a mailbox with the DEVX macros of `infiniband/mlx5dv.h`.

use std::fmt::Write;

use mlx5_prm::Kind;

use super::mailbox::{Mailbox, Set};
use super::rust::{Piece, fields, pieces};

/// Declarations and calls, to be put in a function; `prm_` layouts are those of an `mlx5_ifc.h`.
pub(super) fn text(mailbox: &Mailbox) -> String {
    let mut out = String::new();
    let bytes = mailbox.finish();
    let only = match mailbox.parts() {
        [(only, _)] => only,
        [] => return raw(&bytes, "no known layout"),
        _ => return raw(&bytes, "several layouts"),
    };
    // The macros are for structures.
    if !mailbox.is_whole() || only.kind == Kind::Union {
        return raw(&bytes, only.name);
    }
    let name = only.name;
    let size = if bytes.len() == only.size {
        format!("DEVX_ST_SZ_BYTES({name})")
    } else {
        format!("DEVX_ST_SZ_BYTES({name}) + {}", bytes.len() - only.size)
    };
    let _ = writeln!(out, "/* The macros: infiniband/mlx5dv.h; the layouts: an mlx5_ifc.h. */");
    let _ = writeln!(out, "uint8_t in[{size}] = {{0}};\n");
    let Some(sets) = fields(mailbox, Vec::new()) else { return raw(&bytes, name) };
    for piece in pieces(sets) {
        let _ = match piece {
            Piece::Field(set) => line(&mut out, name, &bytes, set),
            Piece::Bytes(set, bit, n) => array(&mut out, name, &bytes[bit / 8..bit / 8 + n], set),
        };
    }
    out
}

/// The path in the structure.
fn path<'s>(name: &str, set: &'s Set) -> &'s str {
    let path = set.path.strip_prefix(name).and_then(|path| path.strip_prefix('.'));
    path.unwrap_or(&set.path)
}

/// An array of bytes, whole.
fn array(out: &mut String, name: &str, bytes: &[u8], set: &Set) -> std::fmt::Result {
    let path = path(name, set);
    let path = path.rsplit_once('[').map_or(path, |(array, _)| array);
    let (text, n) = (string(bytes), bytes.len());
    writeln!(out, "memcpy(DEVX_ADDR_OF({name}, in, {path}), \"{text}\", {n});")
}

/// Bytes as they stand in a string of C.
fn string(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

fn line(out: &mut String, name: &str, bytes: &[u8], set: &Set) -> std::fmt::Result {
    let path = path(name, set);
    match set.width {
        // Reserved bits have no name.
        _ if set.steps.is_empty() => copy(out, bytes, set, path),
        0..=32 => writeln!(out, "DEVX_SET({name}, in, {path}, {:#x});", set.number(bytes)),
        64 if set.bit.is_multiple_of(64) => {
            writeln!(out, "DEVX_SET64({name}, in, {path}, {:#x});", set.number(bytes))
        }
        _ => copy(out, bytes, set, path),
    }
}

/// What no macro writes: the bytes that it is in, whole.
fn copy(out: &mut String, bytes: &[u8], set: &Set, path: &str) -> std::fmt::Result {
    let (from, to) = (set.bit / 8, (set.bit + set.width).div_ceil(8));
    let text = string(&bytes[from..to]);
    writeln!(out, "memcpy(in + {from:#x}, \"{text}\", {}); /* {path} */", to - from)
}

fn raw(bytes: &[u8], what: &str) -> String {
    let mut out = format!("/* {what} */\nuint8_t in[{}] = {{\n", bytes.len());
    for line in bytes.chunks(12) {
        let text: Vec<String> = line.iter().map(|byte| format!("{byte:#04x}")).collect();
        let _ = writeln!(out, "\t{},", text.join(", "));
    }
    out + "};\n"
}
