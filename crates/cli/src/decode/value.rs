//! What the value of a field says.

use std::borrow::Cow;

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc};

use crate::output::{Look, Output, Paint, Short};
use crate::view::View;

/// Writes a number, and what it stands for: the name of a value, the flags that are set, the size that a
/// logarithm is of. Where flags are more than the line holds, they are written below it, from this column on.
pub(crate) fn write(out: &mut Output, field: &FieldDesc, number: u128, column: usize) {
    let mut text = Short::new();
    if number > 9
        && field.width() <= 64
        && let Ok(number) = u64::try_from(number)
    {
        text.byte(b')');
        text.decimal(number);
        text.byte(b'(');
        text.byte(b' ');
    }
    text.hex(number, 1);
    out.short(&text);
    // What most of them are is written without a text of its own.
    if let Element::Enum(names) = field.element
        && let Some(name) = names.name_of(number)
    {
        out.text(" ");
        out.painted(Paint::Meaning, name);
    } else if let Some(size) = size(field, number) {
        out.text(" ");
        out.in_colour(Paint::Meaning, |out| out.short(&size));
    } else if let Element::Enum(_) | Element::Flags(_) = field.element
        && let Some(meaning) = meaning(field, number)
    {
        if column + text.len() + 1 + meaning.len() <= out.look.width {
            out.text(" ");
            out.painted(Paint::Meaning, &meaning);
        } else {
            out.text("\n");
            out.spaces(column);
            out.painted(Paint::Meaning, &out.look.wrap(&meaning, column));
        }
    }
}

/// The same as text, without colours.
pub(super) fn text(field: &FieldDesc, number: u128) -> String {
    let mut out = Output::in_memory(Vec::new(), Look { width: usize::MAX, colour: false });
    write(&mut out, field, number, 0);
    String::from_utf8(out.into_bytes()).unwrap_or_default()
}

/// What a number stands for.
pub(crate) fn meaning(field: &FieldDesc, number: u128) -> Option<String> {
    match field.element {
        Element::Flags(flags) if number != 0 => {
            let (names, unknown) = flags.names_of(number);
            let mut parts: Vec<String> = names.map(str::to_owned).collect();
            if unknown != 0 {
                parts.push(format!("{unknown:#x} not known of {}", flags.name));
            }
            Some(parts.join(" | "))
        }
        Element::Enum(names) => Some(match names.name_of(number) {
            Some(name) => name.to_owned(),
            None => format!("not a known {}", names.name),
        }),
        _ => size(field, number).map(|size| size.to_string()),
    }
}

/// How the names of logarithms begin.
const LOG: &str = "log_";

/// The size that the field is the logarithm of, as its unit says.
fn size(field: &FieldDesc, number: u128) -> Option<Short> {
    let name = field.name;
    let is_plain = matches!(field.element, Element::Bits | Element::Number(_));
    if !is_plain || !name.starts_with(LOG) || field.width() > 8 {
        return None;
    }
    let unit = unit(field);
    // What the adapter has none of has a capability of 0.
    if number == 0 && (unit.is_none() || name.starts_with("log_max_")) {
        return None;
    }
    let number = u64::try_from(number).ok().filter(|number| *number < 64)?;
    let (scale, of) = scale(unit.unwrap_or_default());
    // With ext_stride_num_range these four bits have a sign: 10 to 15 are -6 to -1.
    let (number, scale) = match name {
        "log_wqe_num_of_strides" if number > 7 => (scale + number - 16, 0),
        _ => (number, scale),
    };
    let log = number + scale;
    let mut text = Short::new();
    if of == "bytes" && log < 64 {
        bytes(&mut text, log);
        if matches!(name, "log_page_size" | "log_wq_pg_sz") {
            text.text("pages of ");
        }
        return Some(text);
    }
    if log < 64 {
        text.grouped(1 << log);
        text.text(" = ");
    }
    text.decimal(number);
    text.text("2^");
    if scale > 0 {
        text.text(" * ");
        text.grouped(1 << scale);
    }
    Some(text)
}

/// The unit of a field: in its words it stands behind this.
fn unit(field: &FieldDesc) -> Option<&'static str> {
    const UNIT: &str = "Unit: ";
    let words = field.words?;
    let at = memchr::memmem::find(words.as_bytes(), UNIT.as_bytes())? + UNIT.len();
    words[at..].split('.').next()
}

/// What a logarithm is of: the logarithm of how many (a power of two), and of what.
fn scale(unit: &str) -> (u64, &str) {
    let of = unit.strip_prefix("log2 of ").unwrap_or_default();
    let digits = of.bytes().take_while(u8::is_ascii_digit).count();
    let (many, of) = of.split_at(digits);
    let many: u64 = many.parse().unwrap_or(1);
    let log = if many.is_power_of_two() { many.trailing_zeros().into() } else { 0 };
    (log, of.trim_start())
}

/// So many bytes, of which the logarithm is given.
fn bytes(text: &mut Short, log: u64) {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    text.text(if log == 0 { "byte" } else { units[log as usize / 10] });
    text.byte(b' ');
    text.decimal(1 << (log % 10));
}

/// A number with commas between its thousands.
pub(crate) fn grouped(n: u64) -> String {
    let mut text = Short::new();
    text.grouped(n);
    text.to_string()
}

/// A mailbox that ends early, filled up with zeros: a field that is cut has its first bytes.
pub(crate) fn filled<'b>(view: &View, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    if bytes.len() >= view.size() {
        return Cow::Borrowed(bytes);
    }
    let mut bytes = bytes.to_vec();
    bytes.resize(view.size(), 0);
    Cow::Owned(bytes)
}

/// The bytes of a mailbox after its layouts and their list.
pub(crate) fn trailing<'b>(view: &View, bytes: &'b [u8]) -> &'b [u8] {
    if bytes.len() <= view.size() {
        return &[];
    }
    let end = view.parts(bytes).last().map_or(0, |part| part.at + end(part.layout, part.bytes));
    &bytes[end.max(view.size()).min(bytes.len())..]
}

/// Where the layout ends, with its list or that of a layout at its end.
fn end(layout: &LayoutDesc, bytes: &[u8]) -> usize {
    let ends = layout.fields.iter().map(|field| match (field.element, field.count) {
        (Element::Layout(inner), Count::One) => {
            field.bit() as usize / 8 + end(inner, layout.part(field, bytes, 0))
        }
        _ => field.bit_of(field.elements(bytes.len())).div_ceil(8),
    });
    ends.fold(layout.size, usize::max)
}

#[cfg(test)]
mod tests {
    use mlx5_prm::layout_desc;

    use super::*;

    fn trailing_of(layout: &str, bytes: &[u8]) -> usize {
        let view = View::of_layout(layout_desc(layout).unwrap(), bytes);
        trailing(&view, bytes).len()
    }

    #[test]
    fn no_bytes_are_between_a_layout_and_its_list() {
        for (layout, _) in crate::names::all() {
            let lists = layout.fields.iter().filter(|field| field.count == Count::List);
            for field in lists {
                assert!(field.bit() as usize <= layout.size * 8, "{}.{}", layout.name, field.name);
            }
        }
    }

    #[test]
    fn a_list_leaves_its_broken_element() {
        assert_eq!(trailing_of("modify_rqt_in", &[0; 0x110 + 6]), 2);
        assert_eq!(trailing_of("destroy_cq_in", &[0; 0x14]), 4);
        assert_eq!(trailing_of("destroy_cq_in", &[0; 0x10]), 0);
    }

    #[test]
    fn logarithms_have_their_sizes() {
        let meaning = |layout: &str, field: &str, number| {
            meaning(layout_desc(layout).unwrap().field(field).unwrap(), number).unwrap_or_default()
        };
        assert_eq!(meaning("cqc", "log_cq_size", 10), "2^10 = 1,024");
        assert_eq!(meaning("cqc", "log_page_size", 4), "pages of 64 KiB");
        assert_eq!(meaning("cqc", "log_page_size", 0), "pages of 4 KiB");
        assert_eq!(meaning("cqc", "cq_period", 10), "");
        assert_eq!(meaning("cqc", "log_page_size", 31), "pages of 8 TiB");
        // Not all count in pages of the adapter, nor in ones.
        assert_eq!(meaning("mkc", "log_page_size", 12), "pages of 4 KiB");
        assert_eq!(meaning("page_track", "log_page_size", 12), "pages of 4 KiB");
        assert_eq!(meaning("umem", "log_page_size", 0), "pages of 4 KiB");
        assert_eq!(meaning("qpc", "log_rq_stride", 2), "64 bytes");
        assert_eq!(meaning("qpc", "log_msg_max", 30), "1 GiB");
        assert_eq!(meaning("wq", "log_wq_stride", 0), "1 byte");
        assert_eq!(meaning("wq", "log_wqe_num_of_strides", 1), "512 * 2^1 = 1,024");
        assert_eq!(meaning("wq", "log_wqe_num_of_strides", 10), "2^3 = 8");
        assert_eq!(meaning("wq", "log_reservation_size", 4), "64 KiB");
        assert_eq!(meaning("alloc_memic_in", "log_memic_addr_alignment", 1), "128 bytes");
        assert_eq!(meaning("cmd_hca_cap", "log_min_sf_size", 3), "32 KiB");
        assert_eq!(meaning("mkc", "log_page_size", 63), "pages of 8 EiB");
        assert_eq!(meaning("cmd_hca_cap", "log_max_cq", 0), "");
    }

    #[test]
    fn every_unit_of_a_logarithm_is_known() {
        for (layout, _) in crate::names::all() {
            for field in layout.fields.iter().filter(|field| field.name.starts_with(LOG)) {
                let Some(unit) = unit(field) else { continue };
                let (log, of) = scale(unit);
                let known = match unit.strip_prefix("log2") {
                    Some("") => (log, of) == (0, ""),
                    Some(_) => log > 0 || !of.is_empty(),
                    None => false,
                };
                assert!(known, "{}.{}: {unit}", layout.name, field.name);
            }
        }
    }

    #[test]
    fn flags_and_values_have_their_names() {
        let field = |layout: &str, field: &str| layout_desc(layout).unwrap().field(field).unwrap();
        let opcode = field("modify_cq_in", "opcode");
        assert_eq!(meaning(opcode, 0x403).as_deref(), Some("MODIFY_CQ"));
        assert_eq!(meaning(opcode, 1).as_deref(), Some("not a known opcode"));
    }
}
