//! A mailbox as lines of `path=value`, for grep and diff; `prm encode` takes them back.

use std::fmt::Write as _;
use std::io::{self, Write};

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc};

use super::json::{MISSING, RESERVED, TRAILING, hex};
use super::value::{filled, trailing};
use crate::output::Output;
use crate::view::View;

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
        let longer = bytes.len() > view.size();
        let mut lines = Lines { out, path: last.to_owned(), all, longer };
        lines.layout(part.layout, part.bytes, true, left)?;
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

struct Lines<'o> {
    out: &'o mut Output,
    path: String,
    all: bool,
    /// The mailbox is longer than its layouts: its lists say how long.
    longer: bool,
}

impl Lines<'_> {
    /// `told`: the first field is there anyway. What begins after the bits that are left is not.
    fn layout(
        &mut self,
        layout: &'static LayoutDesc,
        bytes: &[u8],
        told: bool,
        left: usize,
    ) -> io::Result<()> {
        for (i, field) in layout.fields.iter().enumerate() {
            self.field(layout, field, bytes, told && i == 0, left)?;
        }
        for (at, bits) in layout.reserved_set(bytes) {
            writeln!(self.out, "{}.{RESERVED}[{at:#x}]={bits:#x}", self.path)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        layout: &'static LayoutDesc,
        field: &'static FieldDesc,
        bytes: &[u8],
        told: bool,
        left: usize,
    ) -> io::Result<()> {
        let elements = field.elements(bytes.len());
        for index in (0..elements).take_while(|index| field.bit_of(*index) < left) {
            let length = self.path.len();
            let _ = match field.count {
                Count::One => write!(self.path, ".{}", field.name),
                _ => write!(self.path, ".{}[{index}]", field.name),
            };
            let told = match field.count {
                Count::List => told && index == 0 || self.longer && index + 1 == elements,
                _ => told && index == 0,
            };
            self.element(layout, field, bytes, index, told, left - field.bit_of(index))?;
            self.path.truncate(length);
        }
        Ok(())
    }

    fn element(
        &mut self,
        layout: &'static LayoutDesc,
        field: &'static FieldDesc,
        bytes: &[u8],
        index: usize,
        told: bool,
        left: usize,
    ) -> io::Result<()> {
        let part = layout.part(field, bytes, index);
        if let Element::Layout(inner) = field.element {
            return self.layout(inner, part, told, left);
        }
        let told = told || self.all;
        match field.read(bytes, index) {
            Some(number) if told || number != 0 => {
                writeln!(self.out, "{}={number:#x}", self.path)
            }
            Some(_) => Ok(()),
            None if told || part.iter().any(|byte| *byte != 0) => {
                writeln!(self.out, "{}={}", self.path, hex(part))
            }
            None => Ok(()),
        }
    }
}
