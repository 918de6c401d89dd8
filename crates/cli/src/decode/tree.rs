//! A mailbox as a tree of fields, for people.

use std::io::{self, Write};

use mlx5_prm::{Count, Element, FieldDesc, Kind, LayoutDesc};

use super::{reserved, value};
use crate::output::{Output, Paint, Short};
use crate::position::place;
use crate::view::{self, Part, View};

/// Bytes in a row of an array of bytes, and of trailing bytes that are shown.
const ROW: usize = 16;

/// What is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// Also the fields that are zero, and all members of unions.
    pub(crate) all: bool,
    /// Words about each field.
    pub(crate) words: bool,
}

/// Writes the title of a mailbox.
pub(crate) type Title<'t> = &'t dyn Fn(&mut Output);

/// Writes a mailbox: first a title, then one field a line.
pub(crate) fn write(
    out: &mut Output,
    view: &View,
    bytes: &[u8],
    title: Option<Title<'_>>,
    options: Options,
) -> io::Result<()> {
    for part in view.parts(bytes) {
        let mut rows = Rows { view, options, rows: Vec::with_capacity(64) };
        rows.layout(part.layout, part.bytes, part.at * 8, 0);
        head(out, part, title.filter(|_| part.at == 0))?;
        if rows.rows.is_empty() {
            writeln!(out, "every field is zero")?;
        }
        table(out, &rows.rows, options)?;
    }
    let missing = view.size().saturating_sub(bytes.len());
    if !view.is_whole(bytes.len()) {
        out.hex(bytes.len() as u128, 3);
        out.spaces(2);
        out.painted(Paint::Alarm, "the mailbox ends here");
        out.text("; its layout has ");
        out.decimal(missing as u64);
        out.text(if missing == 1 { " byte more" } else { " bytes more" });
        out.end_line()?;
    }
    trailing(out, view, bytes)
}

fn head(out: &mut Output, part: Part<'_>, title: Option<Title<'_>>) -> io::Result<()> {
    out.in_colour(Paint::Title, |out| {
        if let Some(title) = title {
            title(out);
            out.text(": ");
        }
        out.text(part.layout.name);
    });
    out.text(", ");
    out.decimal(part.bytes.len() as u64);
    out.text(if part.bytes.len() == 1 { " byte" } else { " bytes" });
    out.end_line()?;
    if let Some(about) = part.layout.about {
        let look = out.look;
        if about.len() <= look.width {
            out.painted(Paint::Dim, about);
            out.end_line()?;
        } else {
            writeln!(out, "{}", look.paint(Paint::Dim, look.wrap(about, 0)))?;
        }
    }
    Ok(())
}

/// A line of the output.
struct Row {
    /// In bits, from the start of the mailbox; the width is 0 where there are no bits to be named.
    bit: u32,
    width: u32,
    depth: u32,
    name: Name,
    value: Value,
}

impl Row {
    fn new(bit: usize, width: usize, depth: usize, name: Name, value: Value) -> Self {
        // No mailbox has 2^32 bits.
        Row { bit: bit as u32, width: width as u32, depth: depth as u32, name, value }
    }
}

enum Name {
    Field(&'static str),
    Index(u32),
    Bytes(u32, u32),
    Reserved,
    /// Of a row of words.
    None,
}

enum Value {
    Number(&'static FieldDesc, u64),
    /// A number of more than 64 bits.
    Wide(&'static FieldDesc, Box<u128>),
    /// A number whose last bits are beyond the end of the mailbox: with zeros for those, and how many they are.
    Cut(&'static FieldDesc, u128, usize),
    /// Bytes of a field that is no number.
    Bytes(Vec<u8>, Option<&'static FieldDesc>),
    /// Those that are there of more bytes.
    CutBytes(Vec<u8>, &'static FieldDesc),
    Layout(&'static LayoutDesc),
    Elements(usize, Option<&'static str>),
    Reserved(u32),
    /// Words about what follows.
    Note(String),
}

impl Value {
    fn number(field: &'static FieldDesc, number: u128) -> Self {
        match u64::try_from(number) {
            Ok(number) => Value::Number(field, number),
            Err(_) => Value::Wide(field, Box::new(number)),
        }
    }

    /// Whether it stands in the column of values.
    fn is_value(&self) -> bool {
        !matches!(self, Value::Layout(_) | Value::Elements(..) | Value::Note(_))
    }

    fn field(&self) -> Option<&'static FieldDesc> {
        match self {
            Value::Number(field, _)
            | Value::Wide(field, _)
            | Value::Cut(field, ..)
            | Value::CutBytes(_, field) => Some(field),
            Value::Bytes(_, field) => *field,
            _ => None,
        }
    }
}

impl Name {
    fn len(&self) -> usize {
        match self {
            Name::Field(name) => name.len(),
            Name::Index(index) => 2 + digits(*index as usize),
            Name::Bytes(from, to) => 4 + digits(*from as usize) + digits(*to as usize),
            Name::Reserved => "reserved".len(),
            Name::None => 0,
        }
    }

    /// Whether it says which layout it is.
    fn tells(&self, layout: &str) -> bool {
        matches!(self, Name::Field(name) if layout.strip_suffix("_auto").unwrap_or(layout) == *name)
    }

    fn write(&self, out: &mut Output) {
        match self {
            Name::Field(name) => out.painted(Paint::Name, name),
            Name::Index(index) => {
                out.text("[");
                out.decimal((*index).into());
                out.text("]");
            }
            Name::Bytes(from, to) => {
                out.text("[");
                out.decimal((*from).into());
                out.text("..");
                out.decimal((*to).into());
                out.text("]");
            }
            Name::Reserved => out.painted(Paint::Alarm, "reserved"),
            Name::None => {}
        }
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

fn table(out: &mut Output, rows: &[Row], options: Options) -> io::Result<()> {
    let named = rows.iter().filter(|row| row.value.is_value());
    let column = named.map(|row| row.depth as usize * 2 + row.name.len()).max().unwrap_or(0);
    let mut told = Told::default();
    for row in rows {
        let depth = row.depth as usize;
        position(out, row);
        out.spaces(2 + depth * 2);
        row.name.write(out);
        if row.value.is_value() {
            out.spaces(column - depth * 2 - row.name.len() + 2);
        }
        match &row.value {
            Value::Layout(layout) => {
                out.text(if layout.kind == Kind::Union { ": union" } else { ":" });
                if !row.name.tells(layout.name) {
                    out.text(" ");
                    out.text(layout.name);
                }
            }
            Value::Elements(n, shared) => {
                out.text(": ");
                out.text(&count(*n, "element"));
                if let Some(other) = shared {
                    out.text(", in the place of ");
                    out.text(other);
                }
            }
            Value::Number(field, number) => value::write(out, field, (*number).into(), 17 + column),
            Value::Wide(field, number) => value::write(out, field, **number, 17 + column),
            Value::Cut(_, number, bits) => {
                out.hex(*number, 1);
                cut(out, *bits);
            }
            Value::Bytes(bytes, _) => out.bytes(bytes),
            Value::CutBytes(bytes, field) => {
                out.bytes(bytes);
                cut(out, field.width() as usize - bytes.len() * 8);
            }
            Value::Reserved(bits) => {
                // There may be many.
                let text = format!("{bits:#010x} (bits {}): not in the tables", ranges(*bits));
                out.text(&out.look.wrap(&text, 17 + column));
            }
            Value::Note(words) => {
                let words = out.look.wrap(words, 15 + depth * 2);
                out.painted(Paint::Alarm, &words);
            }
        }
        out.end_line()?;
        let is_new = options.words && told.is_new(row);
        let field = row.value.field().filter(|_| is_new);
        if let Some(words) = field.and_then(|field| field.words) {
            // Below the name, so that there is room.
            let indent = 17 + depth * 2;
            let look = out.look;
            let words = look.wrap(words, indent);
            writeln!(out, "{:indent$}{}", "", look.paint(Paint::Dim, words))?;
        }
    }
    Ok(())
}

fn cut(out: &mut Output, bits: usize) {
    out.text(" ");
    out.painted(Paint::Alarm, "cut off");
    out.text(": ");
    out.text(&count(bits, "bit"));
    out.text(if bits == 1 { " is missing" } else { " are missing" });
}

/// Fields whose words were written in the list that is being written: the elements of one have the same.
#[derive(Default)]
struct Told {
    /// The depth of the list, outside of all others.
    list: Option<u32>,
    fields: Vec<*const FieldDesc>,
}

impl Told {
    /// Whether words of a row were not there before. It is given each row in turn.
    fn is_new(&mut self, row: &Row) -> bool {
        if self.list.is_some_and(|depth| row.depth <= depth) {
            self.list = None;
        }
        if self.list.is_none() {
            self.fields.clear();
            self.list = matches!(row.value, Value::Elements(..)).then_some(row.depth);
            return true;
        }
        let Some(field) = row.value.field().map(std::ptr::from_ref) else { return true };
        let is_new = !self.fields.contains(&field);
        if is_new {
            self.fields.push(field);
        }
        is_new
    }
}

/// The dword of a row, and its bits in a column of six.
fn position(out: &mut Output, row: &Row) {
    let (at, bits) = place(row.bit as usize, row.width as usize);
    let (high, low) = bits.unwrap_or_default();
    if at > 0xfff || high > 99 {
        out.hex(at as u128, 3);
        let mut text = Short::new();
        text.decimal(low as u64);
        text.byte(b':');
        text.decimal(high as u64);
        text.spaces(6usize.saturating_sub(text.len()) + 2);
        return if bits.is_some() { out.short(&text) } else { out.spaces(8) };
    }
    // Nearly all are such, and each line has one.
    let hex = |nibble: usize| b"0123456789abcdef"[nibble & 0xf];
    let decimal = |digit: usize| b'0' + (digit % 10) as u8;
    let mut text = *b"0x000        ";
    (text[2], text[3], text[4]) = (hex(at >> 8), hex(at >> 4), hex(at));
    if bits.is_some() {
        text[12] = decimal(low);
        let colon = if low > 9 { 10 } else { 11 };
        if low > 9 {
            text[11] = decimal(low / 10);
        }
        (text[colon], text[colon - 1]) = (b':', decimal(high));
        if high > 9 {
            text[colon - 2] = decimal(high / 10);
        }
    }
    out.ascii(&text);
}

struct Rows<'v> {
    view: &'v View,
    options: Options,
    rows: Vec<Row>,
}

impl Rows<'_> {
    /// The rows of a layout that begins at bit `base` of the mailbox. They are in the order of their places.
    fn layout(&mut self, layout: &'static LayoutDesc, bytes: &[u8], base: usize, depth: usize) {
        if !self.options.all && bytes.iter().all(|byte| *byte == 0) && !has_lists(layout, bytes) {
            return;
        }
        if layout.kind == Kind::Union && self.view.is_open(layout) {
            self.open(layout, bytes, base, depth);
            if !self.options.all {
                return;
            }
        }
        // What ends before the longer members do is the list.
        let is_short = bytes.len() < layout.size
            && view::list_alone(layout).is_some_and(|element| bytes.len().is_multiple_of(element));
        let fits = |field: &FieldDesc| !is_short || field.width() as usize <= bytes.len() * 8;
        let mut reserved = reserved::set(layout, bytes).into_iter().peekable();
        for field in layout.fields {
            // Most fields are such, and most of those are zero.
            let number = if field.count == Count::One { field.read(bytes, 0) } else { None };
            let counts = || fits(field) && self.view.counts(layout, field);
            if !self.options.all && (number == Some(0) || !counts()) {
                continue;
            }
            let bit = field.bit() as usize;
            // After the fields of its dword.
            while let Some((at, bits)) = reserved.next_if(|(at, _)| (at + 4) * 8 <= bit) {
                self.reserved(base + at * 8, bits, depth);
            }
            match number {
                Some(number) => {
                    let (name, value) = (Name::Field(field.name), Value::number(field, number));
                    let row = Row::new(base + bit, field.width() as usize, depth, name, value);
                    self.rows.push(row);
                }
                None => self.field(Place { layout, field, bytes, base, depth }),
            }
        }
        for (at, bits) in reserved {
            self.reserved(base + at * 8, bits, depth);
        }
        if layout.kind == Kind::Union && !self.options.all {
            let mut counting = layout.fields.iter().filter(|field| self.view.counts(layout, field));
            if let (Some(only), None) = (counting.next(), counting.next())
                && !matches!(only.element, Element::Layout(inner) if inner.has_list())
            {
                // Newer firmware may know more of it than the tables.
                self.raw(bytes, only.bit_of(only.elements(bytes.len())) / 8, base, depth);
            }
        }
    }

    /// Bytes that are not zero, from one on, in rows.
    fn raw(&mut self, bytes: &[u8], from: usize, base: usize, depth: usize) {
        let rows = bytes.get(from..).unwrap_or_default().chunks(ROW).enumerate();
        for (i, row) in rows.filter(|(_, row)| row.iter().any(|byte| *byte != 0)) {
            let at = from + i * ROW;
            let name = Name::Bytes(at as u32, (at + row.len()) as u32);
            let (bit, value) = (base + at * 8, Value::Bytes(row.to_vec(), None));
            self.rows.push(Row::new(bit, 0, depth, name, value));
        }
    }

    /// A union of which nothing says which member counts: its bytes, unless all members are wanted.
    fn open(&mut self, union: &LayoutDesc, bytes: &[u8], base: usize, depth: usize) {
        let mut words = match self.view.op_mod() {
            Some(op_mod) => format!("No member of {} is known for op_mod {op_mod:#x}.", union.name),
            None => format!(
                "op_mod says which member of {} this is, and is not known (--reply-to COMMAND --op-mod NUMBER).",
                union.name
            ),
        };
        words += if self.options.all { " All are shown." } else { " --all shows all." };
        self.rows.push(Row::new(base, 0, depth, Name::None, Value::Note(words)));
        if self.options.all {
            return;
        }
        self.raw(bytes, 0, base, depth);
    }

    fn reserved(&mut self, bit: usize, bits: u32, depth: usize) {
        let (name, value) = (Name::Reserved, Value::Reserved(bits));
        self.rows.push(Row::new(bit, 0, depth, name, value));
    }

    fn field(&mut self, place: Place<'_>) {
        let field = place.field;
        if field.count == Count::One {
            return self.element(place, 0, Name::Field(field.name));
        }
        let elements = field.elements(place.bytes.len());
        // Most arrays are nothing but zeros.
        let (from, to) = (field.bit_of(0) / 8, field.bit_of(elements).div_ceil(8));
        let told = field.count == Count::List && elements > 0;
        let all = place.bytes.get(from..to.min(place.bytes.len())).unwrap_or_default();
        if !self.options.all && !told && all.iter().all(|byte| *byte == 0) {
            return;
        }
        let before = self.rows.len();
        let value = Value::Elements(elements, place.shares_with());
        let (bit, depth) = (place.base + field.bit_of(0), place.depth);
        self.rows.push(Row::new(bit, 0, depth, Name::Field(field.name), value));
        let inner = Place { depth: depth + 1, ..place };
        if place.is_bytes() {
            for from in (0..elements).step_by(ROW) {
                self.bytes(inner, from, elements);
            }
        } else {
            for index in 0..elements {
                self.element(inner, index, Name::Index(index as u32));
            }
        }
        // How long a list is, is worth a line also when all of it is zero.
        if self.rows.len() == before + 1 && !told && !self.options.all {
            self.rows.pop();
        }
    }

    fn element(&mut self, place: Place<'_>, index: usize, name: Name) {
        let Place { field, bytes, base, depth, .. } = place;
        let bit = base + field.bit_of(index);
        if let Element::Layout(inner) = field.element {
            let before = self.rows.len();
            self.rows.push(Row::new(bit, 0, depth, name, Value::Layout(inner)));
            self.layout(inner, place.part(index), bit, depth + 1);
            if self.rows.len() == before + 1 && !self.options.all {
                self.rows.pop();
            }
            return;
        }
        let value = match field.read(bytes, index) {
            Some(0) if !self.options.all => return,
            Some(number) => Value::number(field, number),
            None => {
                let part = place.part(index);
                let width = field.width() as usize;
                let left = (bytes.len() * 8).saturating_sub(field.bit_of(index));
                if left == 0 || !self.options.all && part.iter().all(|byte| *byte == 0) {
                    return;
                }
                match cut_number(field, bytes, index) {
                    Some(0) if !self.options.all => return,
                    Some(number) => Value::Cut(field, number, width - left.min(width)),
                    None if left < width => Value::CutBytes(part.to_vec(), field),
                    None => Value::Bytes(part.to_vec(), Some(field)),
                }
            }
        };
        self.rows.push(Row::new(bit, field.width() as usize, depth, name, value));
    }

    /// A row of an array of bytes.
    fn bytes(&mut self, place: Place<'_>, from: usize, elements: usize) {
        let to = elements.min(from + ROW);
        let at = place.field.bit_of(from) / 8;
        let rest = place.bytes.get(at..).unwrap_or_default();
        let bytes = rest[..rest.len().min(to - from)].to_vec();
        if bytes.is_empty() || !self.options.all && bytes.iter().all(|b| *b == 0) {
            return;
        }
        let (bit, width) = (place.base + place.field.bit_of(from), bytes.len() * 8);
        let to = from + bytes.len();
        let (name, value) = (Name::Bytes(from as u32, to as u32), Value::Bytes(bytes, None));
        self.rows.push(Row::new(bit, width, place.depth, name, value));
    }
}

/// A number whose last bits are beyond the end of the mailbox, with zeros for them.
fn cut_number(field: &FieldDesc, bytes: &[u8], index: usize) -> Option<u128> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len() + field.width().div_ceil(8) as usize + 4, 0);
    field.read(&bytes, index)
}

/// Whether a list of the layout has elements, whose number is worth a line.
fn has_lists(layout: &LayoutDesc, bytes: &[u8]) -> bool {
    bytes.len() > layout.size && layout.has_list()
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

    /// The field before this one that begins at the same bit, in a layout that is no union: the list of
    /// another format.
    fn shares_with(self) -> Option<&'static str> {
        let mut before = self.layout.fields.iter().take_while(|f| f.name != self.field.name);
        let other = before.find(|f| f.bit() == self.field.bit());
        other.filter(|_| self.layout.kind == Kind::Struct).map(|other| other.name)
    }
}

/// Bytes after the last layout that belong to no field.
fn trailing(out: &mut Output, view: &View, bytes: &[u8]) -> io::Result<()> {
    let rest = value::trailing(view, bytes);
    if rest.is_empty() {
        return Ok(());
    }
    out.hex((bytes.len() - rest.len()) as u128, 3);
    out.spaces(2);
    out.painted(Paint::Alarm, &format!("{} to no field:", belong(rest.len())));
    out.text(" ");
    out.bytes(&rest[..rest.len().min(ROW)]);
    out.text(if rest.len() > ROW { " ..." } else { "" });
    out.end_line()
}

fn belong(n: usize) -> String {
    format!("{} {}", count(n, "byte"), if n == 1 { "belongs" } else { "belong" })
}

/// The bits that are set, as high:low, the highest first.
fn ranges(mut bits: u32) -> String {
    let mut text = String::new();
    while bits != 0 {
        let high = 31 - bits.leading_zeros();
        let low = high + 1 - (bits << (31 - high)).leading_ones();
        let comma = if text.is_empty() { "" } else { ", " };
        text += &format!("{comma}{high}:{low}");
        bits &= ((1u64 << low) - 1) as u32;
    }
    text
}

pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::written;

    #[test]
    fn positions_stand_in_their_columns() {
        let at = |bit, width| {
            let row = Row::new(bit, width, 0, Name::Reserved, Value::Reserved(0));
            written(|out| {
                position(out, &row);
                Ok(())
            })
        };
        for bit in (0..0x1010 * 8).filter(|bit| bit % 97 < 40) {
            for width in [0, 1, 4, 9, 10, 11, 31, 32, 64, 128] {
                let (dword, bits) = place(bit, width);
                let bits = bits.map_or_else(String::new, |(high, low)| format!("{high}:{low}"));
                assert_eq!(at(bit, width), format!("{dword:#05x}  {bits:>6}"));
            }
        }
    }

    #[test]
    fn a_field_that_is_cut_is_shown_and_told() {
        let (mut numbers, mut bytes) = (0, 0);
        for (layout, _) in crate::names::all() {
            let is_one = |f: &&FieldDesc| f.count == Count::One;
            let fields = layout.fields.iter().filter(is_one);
            for field in fields.filter(|f| !matches!(f.element, Element::Layout(_))) {
                let (from, to) = (field.bit() as usize, (field.bit() + field.width()) as usize);
                let len = from / 8 + 1;
                if layout.kind == Kind::Union || to <= len * 8 || len > 256 {
                    continue;
                }
                let mailbox = vec![0xff; len];
                let view = View::of_layouts(vec![layout], None);
                let tree = written(|out| write(out, &view, &mailbox, None, Options::default()));
                let name = format!(" {} ", field.name);
                let mut rows = tree.lines().filter(|row| row.starts_with("0x"));
                let row = rows.find(|row| row.contains(&name));
                let row = row.unwrap_or_else(|| panic!("{}.{}: {tree}", layout.name, field.name));
                let missing = to - len * 8;
                assert!(row.contains(&format!("cut off: {missing} bit")), "{}: {row}", layout.name);
                if field.width() > 128 {
                    bytes += 1;
                } else {
                    // Its bits that are there are the first.
                    let value = ((1u128 << (len * 8 - from)) - 1) << missing.min(127);
                    assert!(
                        row.contains(&format!(" {value:#x} cut off")),
                        "{}: {row}",
                        layout.name
                    );
                    numbers += 1;
                }
            }
        }
        assert!(numbers > 100 && bytes > 0, "{numbers} numbers and {bytes} runs of bytes");
    }

    #[test]
    fn ranges_of_bits() {
        assert_eq!(ranges(0x0000_0100), "8:8");
        assert_eq!(ranges(0xc000_0001), "31:30, 0:0");
        assert_eq!(ranges(u32::MAX), "31:0");
    }
}
