//! Writes `layouts/` and `sources.toml`: what an importer found, pleasant to read and edit.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::fault::SourceFile;
use crate::model::{Count, Element, Field, Kind, Layout, Spec};

/// Where the facts of an import come from.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The package or repository, such as `linux-headers-7.3.4+deb13-common`.
    pub package: String,
    /// Its version.
    pub version: String,
}

/// Writes `layouts/*.toml` and `sources.toml` below `dir`. Files of families that are gone are
/// removed. The same spec gives the same bytes.
///
/// # Errors
/// What the file system says.
pub fn write_layouts(
    spec: &Spec,
    from: &Provenance,
    headers: &[Arc<SourceFile>],
    dir: &Path,
) -> io::Result<()> {
    let layouts = dir.join("layouts");
    fs::create_dir_all(&layouts)?;
    for entry in fs::read_dir(&layouts)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            fs::remove_file(path)?;
        }
    }
    for family in &spec.families {
        let mut text = format!("# {}\n", family.about);
        text.push_str("# Imported (prm-codegen import). The format: ../README.md\n");
        for layout in spec.layouts.iter().filter(|l| l.family == family.name) {
            write_layout(&mut text, layout);
        }
        fs::write(layouts.join(format!("{}.toml", family.name)), text)?;
    }
    fs::write(layouts.join("enums.toml"), enums(spec))?;
    fs::write(dir.join("sources.toml"), sources(spec, from, headers))
}

fn write_layout(text: &mut String, layout: &Layout) {
    let _ = write!(text, "\n[[layout]]\nname = \"{}\"\n", layout.name);
    if layout.kind == Kind::Union {
        text.push_str("kind = \"union\"\n");
    }
    let _ = writeln!(text, "bytes = 0x{:02x}", layout.bytes);
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
    line
}

fn enums(spec: &Spec) -> String {
    let mut text = String::from(
        "# Enumerations of the headers, by their C names.\n\
         # Imported (prm-codegen import). The format: ../README.md\n",
    );
    for e in &spec.enums {
        let _ = write!(text, "\n[[enum]]\nname = \"{}\"\nvalues = [\n", e.name);
        for v in &e.values {
            let value = if v.value < 0 { v.value.to_string() } else { format!("0x{:x}", v.value) };
            let _ = writeln!(text, "  {{ value = {value}, name = \"{}\" }},", v.name);
        }
        text.push_str("]\n");
    }
    text
}

fn sources(spec: &Spec, from: &Provenance, headers: &[Arc<SourceFile>]) -> String {
    let mut text =
        String::from("# Where the facts in layouts/ come from. Imported (prm-codegen import).\n");
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let _ = write!(
        text,
        "\n[[source]]\npackage = {}\nversion = {}\nfiles = [\n",
        quoted(&from.package),
        quoted(&from.version)
    );
    for header in headers {
        let name =
            Path::new(&header.name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sum: String = Sha256::digest(header.text.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let _ = writeln!(text, "  {{ name = \"{name}\", sha256 = \"{sum}\" }},");
    }
    let fields: usize = spec.layouts.iter().map(|l| l.fields.len()).sum();
    let _ = write!(
        text,
        "]\nlayouts = {}\nfields = {fields}\nenums = {}\n",
        spec.layouts.len(),
        spec.enums.len()
    );
    text
}
