//! Layouts as Rust: a line per field for the codec's `layout!` macro, and for the tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::bindings::{Bindings, Bound, Meaning};
use super::changes::test_changes;
use super::diagram::diagram;
use super::names::{accessor, bare, camel};
use super::tails::{alias, name as tail_name, tails};
use super::transitions::test_transition;
use super::{head, semantics, type_name};
use crate::model::*;

/// The module of one family.
pub(super) fn family(
    spec: &Spec,
    bindings: &Bindings<'_>,
    family: &Family,
    uses: &BTreeSet<&str>,
) -> String {
    let layouts: Vec<&Layout> = spec.layouts.iter().filter(|l| l.family == family.name).collect();
    let mut text = head(&family.about);
    let body = {
        let mut body = String::new();
        for layout in &layouts {
            write_layout(&mut body, spec, bindings, layout);
        }
        body.push_str(&semantics::commands(spec, bindings, family));
        body
    };
    for used in uses {
        let _ = writeln!(text, "use super::{used}::*;");
    }
    let words: BTreeSet<&str> =
        body.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).collect();
    let mut used: Vec<&str> = ["Layout", "U16", "U32", "U64", "WithTail"]
        .into_iter()
        .filter(|n| words.contains(n))
        .collect();
    used.push("LayoutDesc");
    let _ = writeln!(text, "use crate::{{{}}};\n", used.join(", "));
    let tags: Vec<String> = layouts.iter().map(|l| type_name(&l.name)).collect();
    let _ = write!(text, "/// Names of the layouts.\nmod tag {{\n    tags! {{\n");
    for tag in &tags {
        let _ = writeln!(text, "        {tag},");
    }
    text.push_str("    }\n}\n\n");
    text.push_str(
        "/// The layouts of this family.\npub(crate) const LAYOUTS: &[&LayoutDesc] = &[\n",
    );
    for tag in &tags {
        let _ = writeln!(text, "    <tag::{tag} as crate::Described>::DESC,");
    }
    text.push_str("];\n");
    text.push_str(&semantics::command_list(spec, family));
    text.push_str(&semantics::register_list(spec, family));
    text.push_str(&semantics::general_object_list(spec, family));
    text.push_str(&body);
    text
}

fn write_layout(text: &mut String, spec: &Spec, bindings: &Bindings<'_>, layout: &Layout) {
    let (name, prm, bytes) = (type_name(&layout.name), &layout.name, layout.bytes);
    let request = bindings.request(&layout.name);
    let kind = if layout.kind == Kind::Union { ", a union" } else { "" };
    let all = tails(spec, layout);
    let _ =
        write!(text, "\n/// `{prm}`{kind}: {bytes} byte{}.\n", if bytes == 1 { "" } else { "s" });
    if let Some(about) = spec.words.layout(prm).filter(|_| !is_mailbox(layout)) {
        let _ = write!(text, "///\n/// {about}\n");
    }
    let object = spec.semantics.general_objects.iter().find(|o| o.layout.as_ref() == Ok(prm));
    if let Some(object) = object {
        let _ = write!(
            text,
            "///\n/// General object 0x{:04x} ({}): {} See [`CreateObject`](crate::CreateObject).\n",
            object.number, object.name, object.about
        );
    }
    let head = layout.fields.first().map(|f| &f.element);
    if head == Some(&Element::Layout("general_obj_in_cmd_hdr".into())) {
        text.push_str(
            "///\n/// `new` sets neither opcode nor type: [`CreateObject`](crate::CreateObject) does.\n",
        );
    }
    if let Some((opcode, _)) = request {
        let about = semantics::command_words(spec, &opcode.name).unwrap_or_default();
        let _ = write!(text, "///\n/// Input of {} (0x{:x}). {about}\n", opcode.name, opcode.value);
    }
    text.push_str(&semantics::meaning(spec, layout));
    for opcode in bindings.answered(&layout.name) {
        let _ = write!(text, "///\n/// Output of {} (0x{:x}).\n", opcode.name, opcode.value);
    }
    let register = semantics::register(spec, layout);
    if let Some((_, line)) = &register {
        text.push_str(line);
    }
    for tail in all.iter().filter(|t| t.follows(layout)) {
        let other = alias(layout, tail, &all);
        let _ = write!(text, "///\n/// With its list `{}`: [`{other}`].\n", tail.path.join("."));
    }
    for alias in spec.aliases.iter().filter(|a| a.of == *prm) {
        let _ = write!(text, "///\n/// Called `{}` in {}.\n", alias.name, alias.from.join(", "));
    }
    if !layout.from.is_empty() {
        let _ = write!(text, "///\n/// Sources: {}.\n", layout.from.join(", "));
    }
    text.push_str("///\n/// ```text\n");
    for line in diagram(spec, layout) {
        let _ = writeln!(text, "/// {line}");
    }
    text.push_str("/// ```\n");
    if let Some(example) = spec.examples.iter().find(|e| e.layout == *prm) {
        text.push_str("///\n/// ```\n");
        for line in example.code.lines() {
            let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
        }
        text.push_str("/// ```\n");
    }
    for alias in spec.aliases.iter().filter(|a| a.of == *prm) {
        let _ = writeln!(text, "#[doc(alias = \"{}\")]", alias.name);
    }
    let _ = writeln!(text, "pub type {name} = Layout<tag::{name}, 0x{bytes:02x}>;");
    for tail in all.iter().filter(|t| t.follows(layout)) {
        let (other, path) = (alias(layout, tail, &all), tail.path.join("."));
        let _ = write!(text, "\n/// `{prm}` and its list `{path}`.\n");
        let _ =
            writeln!(text, "pub type {other} = WithTail<{name}, {}>;", element_type(&tail.element));
    }
    let opcode = request.map(|(c, _)| format!(", opcode 0x{:03x}", c.value)).unwrap_or_default();
    let kind = if layout.kind == Kind::Union { "Union" } else { "Struct" };
    let about = match request {
        Some((opcode, _)) => semantics::command_words(spec, &opcode.name),
        None => spec.words.layout(prm),
    };
    let about = about.map_or_else(String::new, |a| format!(", \"{a}\""));
    let _ = writeln!(
        text,
        "layout! {{ {name}, tag::{name}, \"{prm}\", {kind}, 0x{bytes:02x}{opcode}{about};"
    );
    for field in &layout.fields {
        write_field(text, spec, bindings, layout, field);
    }
    text.push_str("}\n");
    if let Some((_, output)) = request {
        let _ = writeln!(text, "request! {{ {name} => {} }}", type_name(&output.name));
    }
    if let Some((line, _)) = &register {
        text.push_str(line);
    }
    let inherited = all.iter().filter(|t| t.path.len() > 1 && !t.follows(layout));
    for tail in inherited {
        let get = tail_name(tail, &all);
        let (path, element) = (tail.path.join("."), element_type(&tail.element));
        let at = tail.bit / 8;
        let _ = write!(
            text,
            "\nimpl {name} {{\n    inner_list! {{\n        /// `{path}`, a list from byte 0x{at:02x} on.\n        \
             {get}: {element} = 0x{at:02x}\n    }}\n}}\n"
        );
    }
}

/// Whether a layout is the input or output of a command, which is said of it in other words.
fn is_mailbox(layout: &Layout) -> bool {
    layout.field("opcode").is_some_and(|f| f.bit == 0) || layout.field("syndrome").is_some()
}

/// The type of one element.
fn element_type(element: &Element) -> String {
    match element {
        Element::Layout(name) => type_name(name),
        Element::Bits(8) => "u8".into(),
        Element::Bits(16) => "U16".into(),
        Element::Bits(32) => "U32".into(),
        Element::Bits(64) => "U64".into(),
        Element::Bits(width) => format!("[u8; {}]", width / 8),
    }
}

/// The element of a list, as its description has it.
fn list_element(element: &Element) -> String {
    match element {
        Element::Layout(name) => format!("layout {}", type_name(name)),
        Element::Bits(width) => format!("bits {width}"),
    }
}

/// How a field is accessed.
enum How<'s> {
    /// A number of up to 32 bits, and what it means when that is known.
    Bits(u32, Option<Bound<'s>>),
    /// A number wider than 32 bits, and its flags when it has some.
    Wide(u32, Option<Bound<'s>>),
    /// An array of numbers of so many bits each, less than a byte, so many of them.
    Packed(u32, u32),
    /// Viewed in place: the kind for the macro, and the type.
    View(&'static str, String),
    /// A list.
    List(String),
}

fn how<'s>(bindings: &Bindings<'s>, layout: &Layout, field: &Field) -> How<'s> {
    let element = element_type(&field.element);
    match (&field.element, field.count) {
        (_, Count::List) => How::List(element),
        (Element::Bits(w), Count::One) if *w <= 32 => {
            How::Bits(*w, bindings.of(&layout.name, &field.name))
        }
        (Element::Bits(w), Count::One) if *w > 64 && w % 8 == 0 => {
            How::View("bytes", format!("[u8; {}]", w / 8))
        }
        (Element::Bits(w), Count::One) => How::Wide(*w, bindings.of(&layout.name, &field.name)),
        (Element::Bits(w), Count::Array(n)) if *w < 8 => How::Packed(*w, n),
        (Element::Bits(_), Count::Array(n)) => How::View("array", format!("[{element}; {n}]")),
        (Element::Layout(_), Count::One) => How::View("nested", element),
        (Element::Layout(_), Count::Array(n)) => {
            How::View("nested_array", format!("[{element}; {n}]"))
        }
    }
}

/// The smallest unsigned type of at least `width` bits.
pub(super) fn number_type(width: u32) -> &'static str {
    match width {
        0..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        33..=64 => "u64",
        _ => "u128",
    }
}

/// The type of a field that has one of its own, and that of its numbers: `QpState(u8)`.
fn bound_type(bound: Bound<'_>) -> String {
    match bound.meaning {
        Meaning::Number => camel(bound.name),
        Meaning::Enum | Meaning::Flags => format!("{}({})", camel(bound.name), bound.number),
    }
}

/// How the macro calls a field of such a type.
fn bound_kind(bound: Bound<'_>, width: u32) -> &'static str {
    match (bound.meaning, fills(bound.number, width)) {
        (Meaning::Number, _) => "number",
        (Meaning::Enum, true) => "coded_full",
        (Meaning::Enum, false) => "coded",
        (Meaning::Flags, true) if width == 64 => "flags_quad",
        (Meaning::Flags, true) => "flags_full",
        (Meaning::Flags, false) => "flags",
    }
}

/// Whether a number of `width` bits takes all of its type.
fn fills(number: &str, width: u32) -> bool {
    number[1..].parse() == Ok(width)
}

/// The names of a field's accessors: get, set, with, try_set, mut.
struct Names {
    get: String,
    set: String,
    with: String,
    try_set: String,
    get_mut: String,
}

fn names(layout: &Layout, field: &Field) -> Names {
    let get = accessor(layout, field);
    let bare = bare(&field.name);
    Names {
        set: format!("set_{bare}"),
        with: format!("with_{bare}"),
        try_set: format!("try_set_{bare}"),
        get_mut: format!("{bare}_mut"),
        get,
    }
}

fn write_field(
    text: &mut String,
    spec: &Spec,
    bindings: &Bindings<'_>,
    layout: &Layout,
    field: &Field,
) {
    let prm = &field.name;
    let (dword, byte) = (field.bit / 32 * 4, field.bit / 8);
    let high = 31 - field.bit % 32;
    let how = how(bindings, layout, field);
    let (about, kind, of, place) = match &how {
        How::Bits(width, bound) => {
            let low = high + 1 - width;
            let range =
                if *width == 1 { format!("bit {high}") } else { format!("bits {high}:{low}") };
            let about = format!("{range} of dword 0x{dword:02x}.");
            let place = format!("0x{dword:02x}[{high}:{low}]");
            match bound {
                Some(bound) => (about, bound_kind(*bound, *width), bound_type(*bound), place),
                None if *width == 1 => {
                    (about, "flag", "bool".into(), format!("0x{dword:02x}[{high}]"))
                }
                None => {
                    let number = number_type(*width);
                    let kind = if fills(number, *width) { "full" } else { "bits" };
                    (about, kind, number.into(), place)
                }
            }
        }
        How::Wide(width, bound) => {
            let about = format!("{width} bits from byte 0x{byte:02x} on.");
            match (width, bound) {
                (_, Some(bound)) => {
                    let place = format!("0x{byte:02x}");
                    (about, bound_kind(*bound, *width), bound_type(*bound), place)
                }
                (64, None) => (about, "quad", "u64".into(), format!("0x{byte:02x}")),
                _ => (about, "wide", number_type(*width).into(), format!("0x{byte:02x} {width}")),
            }
        }
        How::Packed(width, n) => {
            let about = format!("{n} numbers of {width} bits from byte 0x{byte:02x} on.");
            (about, "packed", "u8".into(), format!("0x{dword:02x}[{high}] {width} * {n}"))
        }
        How::View(kind, of) => {
            let size = spec.field_bits(field).unwrap_or(0) / 8;
            let about = format!("from byte 0x{byte:02x} on.");
            (about, *kind, of.clone(), format!("0x{byte:02x}, 0x{size:02x}"))
        }
        How::List(_) if field.bit == layout.bytes * 8 => {
            let element = list_element(&field.element);
            let words = words(spec, layout, field);
            let _ = writeln!(text, "    tail({element} = \"{prm}\" 0x{byte:02x}){words};");
            return;
        }
        How::List(of) => {
            let words = words(spec, layout, field);
            let _ = writeln!(text, "    /// `{prm}`: a list from byte 0x{byte:02x} on.");
            let (get, element) = (accessor(layout, field), list_element(&field.element));
            let _ =
                writeln!(text, "    list({get}: {of} = \"{prm}\" 0x{byte:02x} {element}){words};");
            return;
        }
    };
    let access = match field.access {
        Some(Access::Ro) => " Read only.",
        Some(Access::Wo) => " Written only.",
        Some(Access::Op) => " Written to make something happen.",
        Some(Access::Index) => " Written to say which register is meant.",
        Some(Access::Rw) | None => "",
    };
    let _ = writeln!(text, "    /// `{prm}`: {about}{access}");
    for other in bindings.other_names(&layout.name, prm) {
        let _ = writeln!(text, "    #[doc(alias = \"{other}\")]");
    }
    let names = accessor_names(layout, field, &how).join(" ");
    let _ = write!(text, "    {kind}({names}: {of} = \"{prm}\" {place})");
    if let Some(access) = field.access {
        let _ = write!(text, " {}", camel(access.name()));
    }
    if !field.values.is_empty() && matches!(how, How::Bits(_, None) | How::Packed(..)) {
        let values: Vec<String> =
            field.values.iter().map(|v| format!("\"{}\" = 0x{:x}", v.name, v.value)).collect();
        let _ = write!(text, " {{ {} }}", values.join(", "));
    }
    text.push_str(&words(spec, layout, field));
    text.push_str(";\n");
}

/// How a field is written, for the codec's macro `put!`.
pub(super) struct Put {
    /// The type of its value.
    pub(super) of: String,
    /// The kind, and in brackets what it takes.
    pub(super) how: String,
    /// The kind for the tests, and in brackets the type.
    pub(super) test: String,
}

/// The place of a number within a dword, as the PRM writes it: `0x0c[28:24]`.
pub(super) fn in_dword(bit: u32, width: u32) -> String {
    let high = 31 - bit % 32;
    format!("0x{:02x}[{high}:{}]", bit / 32 * 4, high + 1 - width)
}

/// How the field at the end of `path` in `layout` is written; `None` for a list.
pub(super) fn put(spec: &Spec, bindings: &Bindings<'_>, layout: &str, path: &str) -> Option<Put> {
    let (first, _) = spec.resolve(layout, path)?;
    let (leaf, field) = spec.leaf(&format!("{layout}.{path}"))?;
    let (dword, byte, high) = (first / 32 * 4, first / 8, 31 - first % 32);
    let how = how(bindings, leaf, field);
    let named = |width: u32| format!("\"{path}\" {}", in_dword(first, width));
    let (of, how, test) = match how {
        How::Bits(width, Some(bound)) | How::Wide(width, Some(bound)) => {
            let kind = bound_kind(bound, width);
            let raw = if kind == "number" || width > 32 { "" } else { bound.number };
            let args = if width > 32 {
                format!("0x{byte:02x}")
            } else {
                format!("{raw} {}", named(width)).trim_start().to_owned()
            };
            let name = camel(bound.name);
            let test = match bound.meaning {
                Meaning::Enum => format!("coded {name} {}", bound.number),
                Meaning::Flags => format!("flags {name} {}", bound.number),
                Meaning::Number => format!("number {name}"),
            };
            (format!("crate::{name}"), format!("{kind}({args})"), test)
        }
        How::Bits(1, None) => {
            ("bool".into(), format!("flag(0x{dword:02x}[{high}])"), "flag".into())
        }
        How::Bits(width, None) => {
            let number = number_type(width);
            let kind = if fills(number, width) { "full" } else { "bits" };
            let test = format!("plain {number}");
            (number.into(), format!("{kind}({number} {})", named(width)), test)
        }
        How::Wide(64, None) => ("u64".into(), format!("quad(0x{byte:02x})"), "plain u64".into()),
        How::Wide(width, None) => {
            let number = number_type(width);
            let how = format!("wide(\"{path}\" 0x{byte:02x} {width})");
            (number.into(), how, format!("plain {number}"))
        }
        How::View("nested", of) => {
            let test = format!("view {}", in_crate(&of));
            (of, format!("nested(0x{byte:02x})"), test)
        }
        How::View(_, of) => {
            let size = spec.field_bits(field)? / 8;
            let test = format!("view {}", in_crate(&of));
            (of.clone(), format!("view({of}, 0x{byte:02x}, 0x{size:02x})"), test)
        }
        How::Packed(..) | How::List(_) => return None,
    };
    Some(Put { of, how, test })
}

/// The words of a field as a string of Rust, behind a blank; nothing where there are none.
fn words(spec: &Spec, layout: &Layout, field: &Field) -> String {
    spec.words
        .field(&layout.name, &field.name)
        .map_or_else(String::new, |w| format!(" \"{}\"", w.line()))
}

/// The names of a field's accessors, in the order in which the codec's macro takes them.
fn accessor_names(layout: &Layout, field: &Field, how: &How<'_>) -> Vec<String> {
    let Names { get, set, with, try_set, get_mut } = names(layout, field);
    match how {
        _ if field.access == Some(Access::Ro) => vec![get],
        How::View(..) => vec![get, get_mut, set, with],
        _ if narrow(how) => vec![get, set, with, try_set],
        _ => vec![get, set, with],
    }
}

/// Whether a number may be too wide for its field.
fn narrow(how: &How<'_>) -> bool {
    match how {
        How::Bits(_, Some(Bound { meaning: Meaning::Number, .. })) => false,
        How::Bits(width, Some(bound)) => !fills(bound.number, *width),
        How::Bits(width, None) => *width > 1 && !fills(number_type(*width), *width),
        How::Wide(width, _) => *width != 64,
        How::Packed(..) | How::View(..) | How::List(_) => false,
    }
}

/// The test module that names every family's accessors.
pub(super) fn test_modules(spec: &Spec) -> String {
    let mut text = head("Every accessor of the codec, by PRM names.");
    text.push_str("use crate::accessor::{Accessor, Change, Transition};\n\n");
    for family in &spec.families {
        let _ = writeln!(text, "mod {};", family.name);
    }
    text.push_str(
        "\n/// All accessors, family by family.\npub(crate) const ACCESSORS: &[&[Accessor]] = &[\n",
    );
    for family in &spec.families {
        let _ = writeln!(text, "    {}::ACCESSORS,", family.name);
    }
    text.push_str("];\n");
    for (what, ty, list) in [
        ("paired calls", "Change", "CHANGES"),
        ("builders of QP transitions", "Transition", "TRANSITIONS"),
    ] {
        let _ = write!(
            text,
            "\n/// All {what}, family by family.\npub(crate) const {list}: &[&[{ty}]] = &[\n"
        );
        for family in &spec.families {
            let _ = writeln!(text, "    {}::{list},", family.name);
        }
        text.push_str("];\n");
    }
    text
}

/// The accessors of one family for the tests.
pub(super) fn test_family(spec: &Spec, bindings: &Bindings<'_>, family: &Family) -> String {
    let mut text = head(&family.about);
    text.push_str(
        "use crate::accessor::{Accessor, Change, Transition};\n\npub(super) const ACCESSORS: &[Accessor] = &[\n",
    );
    for layout in spec.layouts.iter().filter(|l| l.family == family.name) {
        let (ty, prm) = (type_name(&layout.name), &layout.name);
        for field in &layout.fields {
            let name = &field.name;
            let how = how(bindings, layout, field);
            let names = accessor_names(layout, field, &how).join(", ");
            let (kind, of): (String, String) = match &how {
                How::Bits(width, Some(bound)) | How::Wide(width, Some(bound)) => {
                    let kind = match bound_kind(*bound, *width) {
                        "number" => "object_number".to_owned(),
                        kind => kind.replace("_quad", "_full"),
                    };
                    (kind, format!("{}, {width}", bound_type(*bound)))
                }
                How::Bits(1, None) => ("flag".into(), "1".into()),
                How::Bits(width, None) | How::Wide(width, None) => {
                    (if narrow(&how) { "bits" } else { "full" }.into(), width.to_string())
                }
                How::View(_, of) => ("view".into(), in_crate(of)),
                How::Packed(width, n) => ("packed".into(), format!("{width}, {n}")),
                How::List(_) => continue,
            };
            let _ = writeln!(text, "    {kind}!({ty}, \"{prm}\", \"{name}\", {of}, {names}),");
        }
    }
    text.push_str("];\n");
    let layouts = || spec.layouts.iter().filter(|l| l.family == family.name);
    text.push_str("\npub(super) const CHANGES: &[Change] = &[\n");
    for layout in layouts() {
        test_changes(&mut text, spec, bindings, layout);
    }
    text.push_str("];\n\npub(super) const TRANSITIONS: &[Transition] = &[\n");
    for layout in layouts() {
        test_transition(&mut text, spec, bindings, layout);
    }
    text.push_str("];\n");
    text
}

/// A type of the codec as another crate names it.
fn in_crate(of: &str) -> String {
    let (open, inner) = of.strip_prefix('[').map_or(("", of), |inner| ("[", inner));
    let own = inner.starts_with(char::is_uppercase);
    format!("{open}{}{inner}", if own { "mlx5_prm::" } else { "" })
}
