//! C that builds a mailbox with the DEVX macros of `infiniband/mlx5dv.h`.

use std::fmt::Write;

use mlx5_prm::Kind;

use super::mailbox::{Mailbox, Set};
use super::rust::fields;

/// Declarations and calls, to be put in a function; `prm_` layouts are those of an `mlx5_ifc.h`.
pub(super) fn text(mailbox: &Mailbox) -> String {
    let mut out = String::new();
    let bytes = mailbox.finish();
    let [(only, _)] = mailbox.parts() else {
        return raw(&bytes, "several layouts");
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
    let _ = writeln!(out, "uint8_t in[{size}] = {{0}};\n");
    let Some(sets) = fields(mailbox, Vec::new()) else { return raw(&bytes, name) };
    for set in sets {
        let _ = line(&mut out, name, &bytes, set);
    }
    out
}

fn line(out: &mut String, name: &str, bytes: &[u8], set: &Set) -> std::fmt::Result {
    let path = set.path.strip_prefix(name).and_then(|path| path.strip_prefix('.'));
    let path = path.unwrap_or(&set.path);
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
    let text: String = bytes[from..to].iter().map(|b| format!("\\x{b:02x}")).collect();
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
