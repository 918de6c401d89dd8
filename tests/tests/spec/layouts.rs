//! Layouts and their fields.

use std::collections::HashMap;
use std::ops::Deref;

use toml::Value;

use super::{need_text, number, text, words};

/// A layout of the tables.
#[derive(Debug, Clone)]
pub(crate) struct TableLayout {
    /// The name.
    pub(crate) name: String,
    /// Whether it is a union.
    pub(crate) is_union: bool,
    /// The size in bits.
    pub(crate) bits: u64,
    /// The fields, in the order of the table.
    pub(crate) fields: Vec<TableField>,
    /// The sources that describe it.
    pub(crate) from: Vec<String>,
}

/// A field of a layout of the tables.
#[derive(Debug, Clone)]
pub(crate) struct TableField {
    /// Its name and place.
    pub(crate) field: Field,
    /// The sources that describe it: its own, or those of its layout.
    pub(crate) from: Vec<String>,
    /// Who may read and write it, such as `RO`.
    pub(crate) access: Option<String>,
    /// Names of values that stand beside it.
    pub(crate) values: Vec<(String, u64)>,
}

impl Deref for TableField {
    type Target = Field;

    fn deref(&self) -> &Field {
        &self.field
    }
}

/// Name and place of a field, of a header or of the tables.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

pub(super) fn layout(value: &Value) -> Result<TableLayout, String> {
    let name = need_text(value, "name")?;
    let read = || -> Result<TableLayout, String> {
        let bytes = number(value, "bytes")?.ok_or("no `bytes`")?;
        let is_union = match text(value, "kind")? {
            None | Some("struct") => false,
            Some("union") => true,
            Some(other) => return Err(format!("kind `{other}`")),
        };
        let from = words(value, "from")?.unwrap_or_default();
        let fields = value.get("fields").and_then(Value::as_array).ok_or("no `fields`")?;
        let fields = fields.iter().map(|f| field(f, &from)).collect::<Result<_, _>>()?;
        Ok(TableLayout { name: name.clone(), is_union, bits: bytes * 8, fields, from })
    };
    read().map_err(|e| format!("layout {name}: {e}"))
}

/// A field; `from` are the sources of its layout.
fn field(value: &Value, from: &[String]) -> Result<TableField, String> {
    let name = need_text(value, "name")?;
    let read = || -> Result<TableField, String> {
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
        let mut values = Vec::new();
        for (name, number) in value.get("values").and_then(Value::as_table).into_iter().flatten() {
            let number = number.as_integer().and_then(|n| u64::try_from(n).ok());
            values.push((name.clone(), number.ok_or("a value that is no number")?));
        }
        Ok(TableField {
            field: Field { name: name.clone(), bit, element, count },
            from: words(value, "from")?.unwrap_or_else(|| from.to_vec()),
            access: text(value, "access")?.map(str::to_owned),
            values,
        })
    };
    read().map_err(|e| format!("field {name}: {e}"))
}
