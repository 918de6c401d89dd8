//! The bit diagram of a layout, as text.

use crate::model::*;

/// Characters of one bit in a row.
const BIT: usize = 2;

/// One row for each dword that holds something: its offset, and the fields in their places. Dwords
/// that are alike, reserved or of one wide field, are one row.
pub(super) fn diagram(spec: &Spec, layout: &Layout) -> Vec<String> {
    let mut lines = vec![scale()];
    let placed: Vec<Placed<'_>> = layout
        .fields
        .iter()
        .filter(|f| f.overlays.is_none() && f.count != Count::List)
        .filter_map(|f| Some((f.bit, u64::from(f.bit) + spec.field_bits(f)?, f)))
        .collect();
    let dwords = layout.bytes.div_ceil(4);
    let mut dword = 0;
    while dword < dwords {
        let cells = cells(layout, &placed, dword * 32);
        let alike = (dword..dwords)
            .take_while(|d| self::cells(layout, &placed, d * 32) == cells && cells.len() == 1)
            .count()
            .max(1) as u32;
        lines.push(row(dword * 4, alike, &cells));
        dword += alike;
    }
    if let Some(list) =
        layout.fields.iter().find(|f| f.count == Count::List && f.bit == layout.bytes * 8)
    {
        lines.push(format!("{:#06x} | {}[]", layout.bytes, list.name));
    }
    lines
}

/// A field in its place: its first bit, and the one behind its last.
type Placed<'s> = (u32, u64, &'s Field);

/// A part of a dword: first bit, width, name.
type Cell = (u32, u32, String);

fn cells(layout: &Layout, placed: &[Placed<'_>], first: u32) -> Vec<Cell> {
    let end = first + 32;
    let mut there: Vec<(u32, u32, &Field)> = placed
        .iter()
        .filter_map(|(bit, behind, f)| {
            let from = first.max(*bit);
            let to = (*behind).min(end.into()) as u32;
            (from < to).then_some((from, to, *f))
        })
        .collect();
    there.sort_by_key(|(from, ..)| *from);
    if layout.kind == Kind::Union {
        let names: Vec<&str> = there.iter().map(|(_, _, f)| &*f.name).collect();
        return vec![(0, 32, names.join(" or "))];
    }
    let mut cells = Vec::new();
    let mut next = first;
    for (from, to, field) in there {
        if from > next {
            cells.push((next - first, from - next, String::new()));
        }
        cells.push((from - first, to - from, field.name.clone()));
        next = to;
    }
    if next < end {
        cells.push((next - first, end - next, String::new()));
    }
    cells
}

/// The numbers of the bits, every fourth of them.
fn scale() -> String {
    let mut line = String::from("       ");
    for bit in (0..32u32).rev().filter(|bit| bit % 4 == 3) {
        line.push_str(&format!("{bit:<width$}", width = BIT * 4));
    }
    line.trim_end().to_owned()
}

fn row(at: u32, alike: u32, cells: &[Cell]) -> String {
    let mut line = format!("{at:#06x} |");
    for (_, width, name) in cells {
        let room = *width as usize * BIT - 1;
        line.push_str(&cell(name, room));
        line.push('|');
    }
    if alike > 1 {
        line.push_str(&format!(" to {:#x}", (at + alike * 4) - 4));
    }
    line
}

/// A name in its place; cut off with a dot where there is no room: the fields are told below.
fn cell(name: &str, room: usize) -> String {
    match (name, room) {
        ("", room) => "-".repeat(room),
        (name, room) if name.len() <= room => format!("{name:^room$}"),
        (name, 0..=2) => name[..room.min(name.len())].to_owned(),
        (name, room) => format!("{}.", &name[..room - 1]),
    }
}
