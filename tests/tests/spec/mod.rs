//! Reads `prm-spec/layouts`, by code that shares nothing with the generator: only `toml`.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The folder `prm-spec/layouts`.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../prm-spec/layouts")
}

/// Sizes of layouts in bits, by name.
pub(crate) fn sizes(layouts: &[TableLayout]) -> HashMap<&str, u64> {
    layouts.iter().map(|layout| (layout.name.as_str(), layout.bits)).collect()
}

/// Bits of one element of a field.
pub(crate) fn element_bits(field: &Field, sizes: &HashMap<&str, u64>) -> u64 {
    match &field.element {
        Element::Bits(width) => *width,
        Element::Layout(name) => sizes[name.as_str()],
    }
}

/// A layout of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableLayout {
    /// The name.
    pub(crate) name: String,
    /// Whether it is a union.
    pub(crate) is_union: bool,
    /// The size in bits.
    pub(crate) bits: u64,
    /// The fields, in the order of the table.
    pub(crate) fields: Vec<Field>,
}

/// Every layout of the `*.toml` files in `dir`.
pub(crate) fn read(dir: &Path) -> Result<Vec<TableLayout>, String> {
    let list = std::fs::read_dir(dir)
        .map_err(|e| format!("{}: {e}; give the folder prm-spec/layouts", dir.display()))?;
    let mut paths = Vec::new();
    for entry in list {
        let path = entry.map_err(|e| format!("{}: {e}", dir.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut layouts = Vec::new();
    for path in &paths {
        let add = || -> Result<Vec<TableLayout>, String> {
            let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
            let file: Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
            let tables = file.get("layout").and_then(Value::as_array);
            tables.into_iter().flatten().map(layout).collect()
        };
        layouts.extend(add().map_err(|e| format!("{}: {e}", path.display()))?);
    }
    if layouts.is_empty() {
        return Err(format!("{}: no layouts; give the folder prm-spec/layouts", dir.display()));
    }
    Ok(layouts)
}

fn layout(value: &Value) -> Result<TableLayout, String> {
    let name = text(value, "name")?.ok_or("a layout without a name")?.to_owned();
    let read = || -> Result<TableLayout, String> {
        let bytes = number(value, "bytes")?.ok_or("no `bytes`")?;
        let is_union = match text(value, "kind")? {
            None | Some("struct") => false,
            Some("union") => true,
            Some(other) => return Err(format!("kind `{other}`")),
        };
        let fields = value.get("fields").and_then(Value::as_array).ok_or("no `fields`")?;
        let fields = fields.iter().map(field).collect::<Result<_, _>>()?;
        Ok(TableLayout { name: name.clone(), is_union, bits: bytes * 8, fields })
    };
    read().map_err(|e| format!("layout {name}: {e}"))
}

fn field(value: &Value) -> Result<Field, String> {
    let name = text(value, "name")?.ok_or("a field without a name")?.to_owned();
    let read = || -> Result<Field, String> {
        let at = number(value, "at")?.ok_or("no `at`")? * 8;
        let (bit, element) =
            match (text(value, "bits")?, number(value, "width")?, text(value, "layout")?) {
                (Some(bits), None, None) => {
                    let (high, low) = bits.split_once(':').ok_or("`bits` is not high:low")?;
                    let parse = |end: &str| end.trim().parse::<u64>().map_err(|e| e.to_string());
                    let (high, low) = (parse(high)?, parse(low)?);
                    if high > 31 || low > high {
                        return Err(format!("bits {bits} are not in a dword"));
                    }
                    (at + 31 - high, Element::Bits(high - low + 1))
                }
                (None, Some(width), None) => (at, Element::Bits(width)),
                (None, None, Some(layout)) => (at, Element::Layout(layout.to_owned())),
                _ => return Err("not just one of `bits`, `width`, `layout`".into()),
            };
        let list = value.get("list").and_then(Value::as_bool).unwrap_or(false);
        let count = match (number(value, "count")?, list) {
            (None, false) => Count::One,
            (Some(n), false) => Count::Array(n),
            (None, true) => Count::List,
            (Some(_), true) => return Err("both `count` and `list`".into()),
        };
        Ok(Field { name: name.clone(), bit, element, count })
    };
    read().map_err(|e| format!("field {name}: {e}"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<Option<&'a str>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is no string")),
    }
}

fn number(value: &Value, key: &str) -> Result<Option<u64>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(Value::Integer(n)) if *n >= 0 => Ok(Some(n.unsigned_abs())),
        Some(_) => Err(format!("`{key}` is no number of 0 or more")),
    }
}

/// A field of a layout, of the header or of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name.
    pub(crate) name: String,
    /// The offset of its first (highest) bit from the start of the layout.
    pub(crate) bit: u64,
    /// What one element is.
    pub(crate) element: Element,
    /// How many elements there are.
    pub(crate) count: Count,
}

/// One element of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
    /// A number or string of this many bits.
    Bits(u64),
    /// Another layout, by name.
    Layout(String),
}

/// How many elements a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// One; the field is no array.
    One,
    /// An array of this many.
    Array(u64),
    /// A list of open length.
    List,
}

impl std::fmt::Display for Field {
    /// Place and size, without the name: `bit 0x1b3 width 5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bit {:#x} ", self.bit)?;
        match &self.element {
            Element::Bits(width) => write!(f, "width {width}")?,
            Element::Layout(name) => write!(f, "layout {name}")?,
        }
        match self.count {
            Count::One => Ok(()),
            Count::Array(n) => write!(f, " times {n}"),
            Count::List => write!(f, " list"),
        }
    }
}
