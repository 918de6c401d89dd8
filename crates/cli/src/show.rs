//! A mailbox as text, for people.

use std::fmt::Write;

use mlx5_prm::{Count, Element, FieldDesc, Kind, LayoutDesc};

use crate::position::position;
use crate::trailing::trailing;

/// Bytes in a row of an array of bytes, and of trailing bytes that are shown.
const ROW: usize = 16;

/// A line of the output.
struct Row {
    at: usize,
    bits: String,
    depth: usize,
    name: String,
    value: String,
}

/// The mailbox, one field a line. `all`: also the fields that are zero.
pub(crate) fn text(layout: &'static LayoutDesc, bytes: &[u8], all: bool) -> String {
    let rows = Decoder { all }.layout(layout, bytes, 0, 0);
    let about = layout.about.map_or_else(String::new, |about| format!(" ({about})"));
    let mut out = format!("{}{about}: {}\n", layout.name, count(bytes.len(), "byte"));
    if rows.is_empty() {
        out += "every field is zero\n";
    }
    out += &table(&rows);
    out + &trailing_line(layout, bytes)
}

fn table(rows: &[Row]) -> String {
    let named = rows.iter().filter(|row| !row.value.is_empty());
    let width = named.map(|row| row.depth * 2 + row.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for Row { at, bits, depth, name, value } in rows {
        let name = format!("{:indent$}{name}", "", indent = depth * 2);
        let line = format!("0x{at:03x}  {bits:>6}  {name:width$}  {value}");
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn trailing_line(layout: &LayoutDesc, bytes: &[u8]) -> String {
    let rest = trailing(layout, bytes);
    if rest.is_empty() {
        return String::new();
    }
    let at = bytes.len() - rest.len();
    let verb = if rest.len() == 1 { "belongs" } else { "belong" };
    let more = if rest.len() > ROW { " ..." } else { "" };
    let shown = hex(&rest[..rest.len().min(ROW)]);
    format!("0x{at:03x}  {} {verb} to no field: {shown}{more}\n", count(rest.len(), "byte"))
}

struct Decoder {
    all: bool,
}

impl Decoder {
    /// The rows of a layout that begins at bit `base` of the mailbox.
    fn layout(
        &self,
        layout: &'static LayoutDesc,
        bytes: &[u8],
        base: usize,
        depth: usize,
    ) -> Vec<Row> {
        let mut parts: Vec<(usize, Vec<Row>)> = Vec::new();
        for field in layout.fields {
            let place = Place { layout, field, bytes, base, depth };
            parts.push((field.bit() as usize, self.field(place)));
        }
        for (at, bits) in layout.reserved_set(bytes) {
            // After the fields of its dword.
            parts.push((at * 8 + 31, vec![reserved(base / 8 + at, bits, depth)]));
        }
        parts.sort_by_key(|(bit, _)| *bit);
        parts.into_iter().flat_map(|(_, rows)| rows).collect()
    }

    fn field(&self, place: Place<'_>) -> Vec<Row> {
        let elements = place.field.elements(place.bytes.len());
        if place.field.count == Count::One {
            return self.element(place, 0, place.field.name.to_owned());
        }
        let inner = Place { depth: place.depth + 1, ..place };
        let rows: Vec<Row> = if place.is_bytes() {
            (0..elements).step_by(ROW).flat_map(|i| self.bytes(inner, i, elements)).collect()
        } else {
            (0..elements).flat_map(|i| self.element(inner, i, format!("[{i}]"))).collect()
        };
        // How long a list is, is worth a line also when all of it is zero.
        let told = place.field.count == Count::List && elements > 0;
        if rows.is_empty() && !told && !self.all {
            return rows;
        }
        let mut all = vec![place.header(
            0,
            place.field.name,
            &(count(elements, "element") + &place.shared()),
        )];
        all.extend(rows);
        all
    }

    fn element(&self, place: Place<'_>, index: usize, name: String) -> Vec<Row> {
        let Element::Layout(inner) = place.field.element else {
            return self.number(place, index, name).into_iter().collect();
        };
        let base = place.base + place.field.bit_of(index);
        let rows = self.layout(inner, place.part(index), base, place.depth + 1);
        if rows.is_empty() && !self.all {
            return rows;
        }
        let kind = if inner.kind == Kind::Union { "union " } else { "" };
        let mut all = vec![place.header(index, &name, &format!("{kind}{}", inner.name))];
        all.extend(rows);
        all
    }

    fn number(&self, place: Place<'_>, index: usize, name: String) -> Option<Row> {
        let Place { field, bytes, base, depth, .. } = place;
        let number = field.read(bytes, index);
        let zero = number.map_or_else(|| place.part(index).iter().all(|b| *b == 0), |n| n == 0);
        if zero && !self.all {
            return None;
        }
        let (at, bits) = position(base + field.bit_of(index), field.width() as usize);
        let value = match number {
            Some(number) => number_text(field, number),
            None => format!("0x{}", hex(place.part(index))),
        };
        Some(Row { at, bits, depth, name, value })
    }

    /// A row of an array of bytes.
    fn bytes(&self, place: Place<'_>, from: usize, elements: usize) -> Option<Row> {
        let to = elements.min(from + ROW);
        let bytes: Vec<u8> = (from..to).flat_map(|i| place.part(i).iter().copied()).collect();
        if !self.all && bytes.iter().all(|b| *b == 0) {
            return None;
        }
        let (at, bits) = position(place.base + place.field.bit_of(from), bytes.len() * 8);
        let name = format!("[{from}..{to}]");
        Some(Row { at, bits, depth: place.depth, name, value: hex(&bytes) })
    }
}

/// A field in a layout in the mailbox.
#[derive(Clone, Copy)]
struct Place<'b> {
    layout: &'static LayoutDesc,
    field: &'static FieldDesc,
    bytes: &'b [u8],
    base: usize,
    depth: usize,
}

impl<'b> Place<'b> {
    fn part(self, index: usize) -> &'b [u8] {
        self.layout.part(self.field, self.bytes, index)
    }

    fn is_bytes(self) -> bool {
        matches!(self.field.element, Element::Bits)
            && self.field.width() == 8
            && self.field.bit().is_multiple_of(8)
    }

    /// The line above what is inside a field.
    fn header(self, index: usize, name: &str, what: &str) -> Row {
        let (at, _) = position(self.base + self.field.bit_of(index), 0);
        let name = format!("{name}: {what}");
        Row { at, bits: String::new(), depth: self.depth, name, value: String::new() }
    }

    /// Tells of the field before this one that begins at the same bit, in a layout that is no
    /// union: the list of another format.
    fn shared(self) -> String {
        let mut before = self.layout.fields.iter().take_while(|f| f.name != self.field.name);
        match before.find(|f| f.bit() == self.field.bit()) {
            Some(other) if self.layout.kind == Kind::Struct => {
                format!(", in the place of {}", other.name)
            }
            _ => String::new(),
        }
    }
}

fn number_text(field: &FieldDesc, number: u128) -> String {
    let mut text = format!("{number:#x}");
    if field.width() <= 64 {
        let _ = write!(text, " ({number})");
    }
    if let Element::Flags(flags) = field.element
        && number != 0
    {
        let (names, unknown) = flags.names_of(number);
        let mut parts: Vec<String> = names.map(str::to_owned).collect();
        if unknown != 0 {
            parts.push(format!("{unknown:#x} not known of {}", flags.name));
        }
        let _ = write!(text, " {}", parts.join(" | "));
    }
    if let Element::Enum(names) = field.element {
        let _ = match names.name_of(number) {
            Some(name) => write!(text, " {name}"),
            None => write!(text, " not a known {}", names.name),
        };
    }
    text
}

fn reserved(at: usize, bits: u32, depth: usize) -> Row {
    let value = format!("{bits:#010x} (bits {})", ranges(bits));
    Row { at, bits: String::new(), depth, name: "reserved".to_owned(), value }
}

/// The bits that are set, as high:low, the highest first.
fn ranges(mut bits: u32) -> String {
    let mut out = Vec::new();
    while bits != 0 {
        let high = 31 - bits.leading_zeros();
        let run = (bits << (31 - high)).leading_ones();
        out.push(format!("{high}:{}", high + 1 - run));
        bits &= ((1u64 << (high + 1 - run)) - 1) as u32;
    }
    out.join(", ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bits() {
        assert_eq!(ranges(0x0000_0100), "8:8");
        assert_eq!(ranges(0xc000_0001), "31:30, 0:0");
        assert_eq!(ranges(u32::MAX), "31:0");
    }

    #[test]
    fn any_bytes_can_be_decoded() {
        // A linear congruential generator (the constants of MMIX) with a fixed seed.
        let mut state = 0x6d6c_7835u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for (layout, _) in crate::names::all() {
            for _ in 0..4 {
                let len = layout.size + next() % 70;
                let bytes: Vec<u8> = (0..len).map(|_| next() as u8).collect();
                assert!(!text(layout, &bytes, true).is_empty());
                assert!(text(layout, &bytes, false).starts_with(layout.name));
                let json: serde_json::Value =
                    serde_json::from_str(&crate::json::text(layout, &bytes)).unwrap();
                assert!(json[layout.name].is_object());
            }
        }
    }
}
