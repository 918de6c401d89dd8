//! Writes what an import makes, pleasant to read and edit.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::model::{Count, Element, Family, Field, Kind, Layout, Spec};

/// Writes what an import makes below `dir`: `layouts/*.toml`, `registers.toml`, `aliases.toml` and
/// `conflicts.toml`. Files of families that are gone are removed. The same spec gives the same
/// bytes.
///
/// # Errors
/// What the file system says.
pub fn write_import(spec: &Spec, dir: &Path) -> io::Result<()> {
    let layouts = dir.join("layouts");
    fs::create_dir_all(&layouts)?;
    for entry in fs::read_dir(&layouts)? {
        let path = entry?.path();
        // What an import did not write is not its own to remove.
        if path.extension().is_some_and(|e| e == "toml")
            && fs::read_to_string(&path).is_ok_and(|text| text.contains(IMPORTED))
        {
            fs::remove_file(path)?;
        }
    }
    for family in &spec.families {
        fs::write(layouts.join(format!("{}.toml", family.name)), layout_file(spec, family))?;
    }
    fs::write(layouts.join("enums.toml"), enums(spec))?;
    fs::write(dir.join("registers.toml"), registers(spec))?;
    fs::write(dir.join("aliases.toml"), aliases(spec))?;
    fs::write(dir.join("conflicts.toml"), conflicts(spec))
}

/// The second line of every file that an import writes.
const IMPORTED: &str = "# Imported (prm-codegen import). The format: README.md of prm-spec\n";

/// The text of a family's file in `layouts/`.
pub fn layout_file(spec: &Spec, family: &Family) -> String {
    let mut text = format!("# {}\n{IMPORTED}", family.about);
    for layout in spec.layouts.iter().filter(|l| l.family == family.name) {
        write_layout(&mut text, layout);
    }
    text
}

fn write_layout(text: &mut String, layout: &Layout) {
    let _ = write!(text, "\n[[layout]]\nname = \"{}\"\n", layout.name);
    if layout.kind == Kind::Union {
        text.push_str("kind = \"union\"\n");
    }
    let _ = writeln!(text, "bytes = 0x{:02x}", layout.bytes);
    write_from(text, &layout.from);
    if layout.fields.is_empty() {
        text.push_str("fields = []\n");
        return;
    }
    text.push_str("fields = [\n");
    for field in &layout.fields {
        let _ = writeln!(text, "  {{ {} }},", field_line(field));
    }
    text.push_str("]\n");
}

/// One field, as the PRM places it: byte offset of the dword, then bits high:low.
fn field_line(field: &Field) -> String {
    let dword = field.bit / 32 * 4;
    let within = field.bit % 32;
    let mut line = match &field.element {
        Element::Bits(width) if within + width <= 32 && *width > 0 => {
            let bits = format!("\"{}:{}\",", 31 - within, 32 - within - width);
            format!("at = 0x{dword:02x}, bits = {bits:<8} ")
        }
        Element::Bits(width) => format!("at = 0x{dword:02x}, width = {width}, "),
        Element::Layout(name) => format!("at = 0x{:02x}, layout = \"{name}\", ", field.bit / 8),
    };
    match field.count {
        Count::One => {}
        Count::Array(n) => {
            let _ = write!(line, "count = {n}, ");
        }
        Count::List => line.push_str("list = true, "),
    }
    if let Some(other) = &field.overlays {
        let _ = write!(line, "overlays = \"{other}\", ");
    }
    let _ = write!(line, "name = \"{}\"", field.name);
    if let Some(access) = field.access {
        let _ = write!(line, ", access = \"{}\"", access.name());
    }
    if !field.values.is_empty() {
        let values: Vec<String> =
            field.values.iter().map(|v| format!("{} = 0x{:x}", v.name, v.value)).collect();
        let _ = write!(line, ", values = {{ {} }}", values.join(", "));
    }
    for (key, value) in [("selector", &field.selector), ("when", &field.when)] {
        if let Some(value) = value {
            let _ = write!(line, ", {key} = \"{value}\"");
        }
    }
    if !field.from.is_empty() {
        let _ = write!(line, ", from = \"{}\"", field.from.join(" "));
    }
    line
}

fn enums(spec: &Spec) -> String {
    let mut text = format!("# Enumerations of the headers, by their C names.\n{IMPORTED}");
    for e in &spec.enums {
        let _ = writeln!(text, "\n[[enum]]\nname = \"{}\"", e.name);
        write_from(&mut text, &e.from);
        text.push_str("values = [\n");
        for v in &e.values {
            let value = if v.value < 0 { v.value.to_string() } else { format!("0x{:x}", v.value) };
            let from = match &v.from[..] {
                [] => String::new(),
                from => format!(", from = \"{}\"", from.join(" ")),
            };
            let _ = writeln!(text, "  {{ value = {value}, name = \"{}\"{from} }},", v.name);
        }
        text.push_str("]\n");
    }
    text
}

fn registers(spec: &Spec) -> String {
    let mut text = format!("# Registers that ACCESS_REG reaches, by id.\n{IMPORTED}");
    for r in &spec.registers {
        let _ = write!(text, "\n[[register]]\nname = \"{}\"\nid = 0x{:04x}\n", r.name, r.id);
        if let Some(layout) = &r.layout {
            let _ = writeln!(text, "layout = \"{layout}\"");
        }
        write_from(&mut text, &r.from);
    }
    text
}

fn aliases(spec: &Spec) -> String {
    let mut text = format!("# Second names of layouts.\n{IMPORTED}");
    for a in &spec.aliases {
        let _ = write!(text, "\n[[alias]]\nname = \"{}\"\nof = \"{}\"\n", a.name, a.of);
        write_from(&mut text, &a.from);
    }
    text
}

fn conflicts(spec: &Spec) -> String {
    let mut text =
        format!("# What sources say otherwise than the tables, which say ours.\n{IMPORTED}");
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    for c in &spec.conflicts {
        text.push_str("\n[[conflict]]\n");
        let from = c.from.join(" ");
        for (key, value) in [
            ("at", &c.at),
            ("ours", &c.ours),
            ("theirs", &c.theirs),
            ("from", &from),
            ("why", &c.why),
        ] {
            let _ = writeln!(text, "{key} = {}", quoted(value));
        }
    }
    text
}

fn write_from(text: &mut String, from: &[String]) {
    if !from.is_empty() {
        let _ = writeln!(text, "from = \"{}\"", from.join(" "));
    }
}
