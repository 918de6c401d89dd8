//! The bits of a layout as a diagram: a line for each dword, 31 the leftmost bit.

use std::fmt::Write;

use mlx5_prm::{Count, Element, FieldDesc, Kind, LayoutDesc};

/// Characters of a bit.
const BIT: usize = 2;

/// What lies in a dword, or in several.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its first byte.
    pub(super) at: usize,
    /// How many dwords it stands for.
    pub(super) dwords: usize,
    /// From bit 31 on; together 32 bits.
    pub(super) cells: Vec<Cell>,
}

/// Some bits of a dword.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// `None`: no field has them.
    pub(super) name: Option<String>,
    /// How many.
    pub(super) bits: usize,
}

/// The rows of a layout. What is longer than a dword is one row; of fields in the same place, the first.
pub(super) fn rows(layout: &LayoutDesc) -> Vec<Row> {
    if layout.kind == Kind::Union {
        let all = |field: &FieldDesc| {
            let dwords = (field.width() as usize).div_ceil(32).max(1);
            let cell = Cell { name: Some(label(field)), bits: 32 };
            Row { at: field.bit() as usize / 32 * 4, dwords, cells: vec![cell] }
        };
        return layout.fields.iter().map(all).collect();
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut bit = 0;
    for field in layout.fields {
        let (from, width) = (field.bit() as usize, field.width() as usize);
        let whole = match field.count {
            Count::One => width,
            Count::Array(n) => width * n as usize,
            Count::List => 32,
        };
        if from < bit || whole == 0 {
            continue;
        }
        put(&mut rows, bit, from - bit, None);
        put(&mut rows, from, whole, Some(label(field)));
        bit = from + whole;
    }
    let end = layout.size * 8;
    if bit < end {
        put(&mut rows, bit, end - bit, None);
    }
    rows
}

fn label(field: &FieldDesc) -> String {
    let kind = match field.element {
        Element::Layout(inner) if inner.name != field.name => format!(": {}", inner.name),
        _ => String::new(),
    };
    match field.count {
        Count::One => format!("{}{kind}", field.name),
        Count::Array(n) => format!("{}[{n}]{kind}", field.name),
        Count::List => format!("{}[]{kind} ...", field.name),
    }
}

/// Adds a field, or a gap: what is left of the dword that it begins in, whole dwords, and the rest.
fn put(rows: &mut Vec<Row>, mut bit: usize, mut width: usize, name: Option<String>) {
    while width > 0 {
        let (at, within) = (bit / 32 * 4, bit % 32);
        let (bits, dwords) = match (within, width) {
            (0, 32..) => (32, width / 32),
            _ => (width.min(32 - within), 1),
        };
        let cell = Cell { name: name.clone(), bits };
        match rows.last_mut() {
            Some(row) if within != 0 && row.at == at => row.cells.push(cell),
            _ => rows.push(Row { at, dwords, cells: vec![cell] }),
        }
        let done = if dwords > 1 { dwords * 32 } else { bits };
        (bit, width) = (bit + done, width - done);
    }
}

/// The diagram as text: names that do not fit end in a dot.
pub(super) fn text(layout: &LayoutDesc) -> String {
    let mut out = String::new();
    let mut scale = " ".repeat(32 * BIT + 1);
    for bit in [31, 23, 15, 7, 0] {
        let label = bit.to_string();
        let at = (31 - bit) * BIT + 1;
        scale.replace_range(at..at + label.len().min(scale.len() - at), &label);
    }
    let _ = writeln!(out, "       {}", scale.trim_end());
    for row in rows(layout) {
        let _ = write!(out, "0x{:03x}  |", row.at);
        for cell in &row.cells {
            let room = cell.bits * BIT - 1;
            let _ = match &cell.name {
                Some(name) => write!(out, "{}|", centred(name, room)),
                None => write!(out, "{}|", "-".repeat(room)),
            };
        }
        if row.dwords > 1 {
            let _ = write!(out, " x{}", row.dwords);
        }
        out.push('\n');
    }
    out
}

/// A name in the middle of so many characters.
fn centred(name: &str, room: usize) -> String {
    let name = match name.char_indices().nth(room) {
        Some(_) if room > 1 => format!("{}.", &name[..room - 1]),
        Some((end, _)) => name[..end].to_owned(),
        None => name.to_owned(),
    };
    format!("{name:^room$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_rows_of_32_bits() {
        for (layout, _) in crate::names::all() {
            let mut next = 0;
            for row in rows(layout) {
                let bits: usize = row.cells.iter().map(|cell| cell.bits).sum();
                // The last dword may be part of one; what follows is not there.
                let last = layout.size * 8 % 32 != 0 && row.at == layout.size / 4 * 4;
                assert!(bits == 32 || last, "{} at {:#x}: {bits} bits", layout.name, row.at);
                if layout.kind == Kind::Struct {
                    assert!(row.at >= next, "{} at {:#x}", layout.name, row.at);
                    next = row.at + row.dwords * 4;
                }
            }
        }
    }
}
