//! The layout tables as one would write them by hand with `bitfield-struct`, for `tests/build-cost`.
//!
//! Writes a crate without `std` into a folder: for each dword that has numbers of up to 32 bits a
//! `#[bitfield(u32)]`, for each layout a struct or union that holds these dwords, its wide numbers,
//! its arrays, and the layouts in it. What the codec has beyond that is left out: byte order, views
//! of bytes (zerocopy), names of values, descriptions at run time, comments on fields.
//!
//! A number that shares its bits with an earlier one is put into another bitfield of the same dword,
//! so that each is there once. Anything else that shares its place is skipped, as are lists of open
//! length.

#[path = "../tests/spec/mod.rs"]
mod spec;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use spec::{Count, Element, Field, TableLayout};
use toml::Table;

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args().nth(1).ok_or("give the folder that the crate is written to")?;
    let layouts = spec::read(&spec::folder())?;
    let rendition = render(&layouts);
    let to = Path::new(&to);
    std::fs::create_dir_all(to.join("src"))?;
    std::fs::write(to.join("Cargo.toml"), manifest()?)?;
    std::fs::write(to.join("src/lib.rs"), &rendition.text)?;
    let Rendition { fields, skipped, dwords, .. } = rendition;
    let layouts = layouts.len();
    println!("{layouts} layouts, {fields} fields ({skipped} skipped), {dwords} dwords");
    Ok(())
}

/// The manifest, with the workspace's version of `bitfield-struct` and its profile.
fn manifest() -> Result<String, Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let workspace: Table = std::fs::read_to_string(file)?.parse()?;
    let version = &workspace["workspace"]["dependencies"]["bitfield-struct"];
    let mut text = format!(
        "[package]\nname = \"bitfield-rendition\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nbitfield-struct = {version}\n"
    );
    if let Some(dev) = workspace.get("profile").and_then(|p| p.get("dev")?.as_table()) {
        let _ = write!(text, "\n[profile.dev]\n{dev}");
    }
    Ok(text)
}

/// The crate, and what is in it.
#[derive(Default)]
struct Rendition {
    text: String,
    fields: usize,
    skipped: usize,
    dwords: usize,
}

fn render(layouts: &[TableLayout]) -> Rendition {
    let sizes = spec::sizes(layouts);
    let mut taken = HashSet::new();
    let names: BTreeMap<&str, String> = layouts
        .iter()
        .map(|layout| (layout.name.as_str(), unique(camel(&layout.name), &mut taken)))
        .collect();
    let mut rendition = Rendition {
        text: "//! Mailboxes.\n#![no_std]\n#![forbid(unsafe_code)]\n#![allow(non_snake_case)]\n\n\
               use bitfield_struct::bitfield;\n"
            .into(),
        ..Rendition::default()
    };
    for layout in layouts {
        let name = &names[layout.name.as_str()];
        let mut parts = Parts { names: &names, taken: &mut taken, to: &mut rendition };
        parts.layout(name, layout, |field| spec::element_bits(field, &sizes));
    }
    rendition
}

/// What one layout is made of.
struct Parts<'a> {
    names: &'a BTreeMap<&'a str, String>,
    taken: &'a mut HashSet<String>,
    to: &'a mut Rendition,
}

/// A member of a layout: its first bit, its last one, its name and type.
struct Member {
    bits: (u64, u64),
    name: String,
    of: String,
}

impl Parts<'_> {
    fn layout(&mut self, name: &str, layout: &TableLayout, element: impl Fn(&Field) -> u64) {
        let mut members: Vec<Member> = Vec::new();
        // The bitfields of each dword; numbers in one of them share no bits.
        let mut dwords: BTreeMap<u64, Vec<Vec<&Field>>> = BTreeMap::new();
        for field in &layout.fields {
            let width = element(field);
            if field.count == Count::One && width <= 32 && is_number(field) {
                self.to.fields += 1;
                let all = dwords.entry(field.bit / 32).or_default();
                let fits = |bits: &&mut Vec<&Field>| bits.iter().all(|b| apart(b, field, &element));
                match all.iter_mut().find(fits) {
                    Some(bits) => bits.push(field),
                    None => all.push(vec![field]),
                }
                continue;
            }
            let count = match field.count {
                Count::One => 1,
                Count::Array(n) => n,
                Count::List => 0,
            };
            let bits = (field.bit, field.bit + width * count);
            if count == 0 || (!layout.is_union && members.iter().any(|m| overlap(m.bits, bits))) {
                self.to.skipped += 1;
                continue;
            }
            self.to.fields += 1;
            members.push(Member { bits, name: snake(&field.name), of: self.of(field, width) });
        }
        for (dword, all) in &dwords {
            for (n, fields) in all.iter().enumerate() {
                let at = dword * 4;
                let other = if n == 0 { String::new() } else { format!("Or{n}") };
                let of = unique(format!("{name}Dword{at:02x}{other}"), self.taken);
                self.bitfield(&of, fields, &element);
                let bits = (dword * 32, dword * 32 + 32);
                if layout.is_union || !members.iter().any(|m| overlap(m.bits, bits)) {
                    members.push(Member { bits, name: format!("dword_{at:02x}_{n}"), of });
                }
            }
        }
        members.sort_by_key(|m| m.bits);
        self.aggregate(name, layout, members);
    }

    /// A struct or union of the members, with reserved bytes between them.
    fn aggregate(&mut self, name: &str, layout: &TableLayout, members: Vec<Member>) {
        let kind = if layout.is_union { "union" } else { "struct" };
        let mut names = HashSet::new();
        let text = &mut self.to.text;
        let _ = write!(
            text,
            "\n/// `{}`.\n#[derive(Clone, Copy)]\n#[repr(C)]\npub {kind} {name} {{\n",
            layout.name
        );
        let mut at = 0;
        for Member { bits, name, of } in members {
            if !layout.is_union {
                reserved(text, (at, bits.0));
                at = bits.1;
            }
            let name = unique(name, &mut names);
            let _ = writeln!(text, "    pub {name}: {of},");
        }
        reserved(text, (at, layout.bits));
        text.push_str("}\n");
    }

    /// A bitfield of one dword.
    fn bitfield(&mut self, name: &str, fields: &[&Field], element: impl Fn(&Field) -> u64) {
        self.to.dwords += 1;
        let text = &mut self.to.text;
        let _ = write!(text, "\n#[bitfield(u32, order = Msb)]\npub struct {name} {{\n");
        let mut fields = fields.to_vec();
        fields.sort_by_key(|field| field.bit);
        let mut names: HashSet<String> = ["new", "from_bits", "into_bits"].map(String::from).into();
        let mut at = 0;
        let mut bits = |text: &mut String, name: &str, width: u64| {
            let of = number(width);
            if !matches!(width, 0 | 1 | 8 | 16 | 32) {
                let _ = writeln!(text, "    #[bits({width})]");
            }
            if width > 0 {
                let _ = writeln!(text, "    {name}: {of},");
            }
        };
        for field in fields {
            let (from, width) = (field.bit % 32, element(field));
            bits(text, "__", from - at);
            // The macro makes these names of a field's.
            let made = |name: &str| {
                let with = format!("with_{name}");
                let set = format!("set_{name}");
                let checked = [format!("{with}_checked"), format!("{set}_checked")];
                [vec![name.to_owned(), with, set], checked.into()].concat()
            };
            let mut name = snake(&field.name);
            while made(&name).iter().any(|n| names.contains(n)) {
                name.push('_');
            }
            names.extend(made(&name));
            bits(text, &format!("pub {name}"), width);
            at = from + width;
        }
        bits(text, "__", 32 - at);
        text.push_str("}\n");
    }

    /// The type of a field that is no part of a dword.
    fn of(&self, field: &Field, width: u64) -> String {
        let one = match &field.element {
            Element::Layout(name) => self.names[name.as_str()].clone(),
            Element::Bits(8) => "u8".into(),
            Element::Bits(16) => "u16".into(),
            Element::Bits(32) => "u32".into(),
            Element::Bits(width) if width % 32 == 0 => format!("[u32; {}]", width / 32),
            Element::Bits(width) => format!("[u8; {}]", width.div_ceil(8)),
        };
        match field.count {
            Count::Array(n) if width < 8 => format!("[u8; {}]", (n * width).div_ceil(8)),
            Count::Array(n) => format!("[{one}; {n}]"),
            Count::One | Count::List => one,
        }
    }
}

/// Writes a member for the bits between two others.
fn reserved(text: &mut String, (from, to): (u64, u64)) {
    let (at, bytes) = (from.div_ceil(8), (to / 8).saturating_sub(from.div_ceil(8)));
    if bytes == 0 {
        return;
    }
    let of = if at % 4 == 0 && bytes.is_multiple_of(4) {
        format!("[u32; {}]", bytes / 4)
    } else {
        format!("[u8; {bytes}]")
    };
    let _ = writeln!(text, "    reserved_at_{at:x}: {of},");
}

fn is_number(field: &Field) -> bool {
    matches!(field.element, Element::Bits(_))
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// Whether two numbers share no bits.
fn apart(a: &Field, b: &Field, element: impl Fn(&Field) -> u64) -> bool {
    !overlap((a.bit, a.bit + element(a)), (b.bit, b.bit + element(b)))
}

/// The type of a number of up to 32 bits.
fn number(width: u64) -> &'static str {
    match width {
        1 => "bool",
        0..=8 => "u8",
        9..=16 => "u16",
        _ => "u32",
    }
}

fn unique(mut name: String, taken: &mut HashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The name of a field as Rust takes it.
fn snake(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
        "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if KEYWORDS.contains(&name) {
        format!("{name}_")
    } else if name.starts_with(|c: char| !c.is_ascii_alphabetic()) {
        format!("n{name}")
    } else {
        name.to_owned()
    }
}

/// The name of a layout's type.
fn camel(name: &str) -> String {
    let mut out = String::new();
    for word in name.split('_').filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        out.push_str(&first.to_ascii_uppercase());
        out.push_str(rest);
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("N{out}") } else { out }
}
