//! The fields of a layout.

use std::fmt::Write;

use mlx5_prm::{
    Access, Count, Element, EnumDesc, FieldDesc, FlagsDesc, Kind, LayoutDesc, RegisterDesc,
};
use serde_json::{Map, Value, json};

use crate::names;
use crate::position::position;

/// The fields as a table, and the values of their enumerations.
pub(crate) fn text(layout: &'static LayoutDesc) -> String {
    let list = if layout.has_list() { " and a list" } else { "" };
    let register = register(layout)
        .map_or_else(String::new, |r| format!(", register {} (0x{:04x})", r.name, r.id));
    let mut out = format!(
        "{}: {} of {} bytes{list}, family {}{register}\n",
        layout.name,
        kind(layout),
        layout.size,
        names::family(layout),
    );
    if let Some(about) = layout.about {
        let _ = writeln!(out, "{about}");
    }
    let width = layout.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
    let _ = writeln!(out, "at         bits  width  {:width$}  type", "name");
    for field in layout.fields {
        let (at, bits) = place(field);
        let (wide, name, kind) = (field.width(), field.name, type_text(field));
        let access = field.access.map_or_else(String::new, |access| format!(", {}", word(access)));
        let _ = writeln!(out, "0x{at:03x}  {bits:>8}  {wide:>5}  {name:width$}  {kind}{access}");
        if let Some(words) = field.words {
            let _ = writeln!(out, "{:22}{words}", "");
        }
        for by in mlx5_prm::selected_by(layout.name, field.name) {
            let (bit, select, input) = (by.bit.bit, by.select.name, by.input.name);
            let _ = writeln!(out, "{:22}Selected by bit {bit} of {select} in {input}.", "");
        }
    }
    for flags in flags(layout) {
        let _ = writeln!(out, "\n{}:", flags.name);
        for (bit, name) in flags.bits {
            let _ = writeln!(out, "  bit {bit:<2}  {name}");
        }
    }
    for names in enums(layout) {
        let _ = writeln!(out, "\n{}:", names.name);
        for (value, name) in names.values {
            let _ = writeln!(out, "  {value:#06x}  {name}");
        }
    }
    out
}

/// The fields as JSON.
pub(crate) fn json(layout: &'static LayoutDesc) -> String {
    let fields: Vec<Value> = layout.fields.iter().map(|field| field_json(layout, field)).collect();
    let mut value = json!({
        "name": layout.name,
        "kind": kind(layout),
        "bytes": layout.size,
        "list": layout.has_list(),
        "family": names::family(layout),
        "fields": fields,
    });
    if let Some(about) = layout.about {
        value["about"] = about.into();
    }
    if let Some(register) = register(layout) {
        value["register"] = json!({ "name": register.name, "id": register.id });
    }
    format!("{value:#}\n")
}

/// The register that a layout is.
fn register(layout: &LayoutDesc) -> Option<&'static RegisterDesc> {
    let mut all = mlx5_prm::families().iter().flat_map(|f| f.registers).copied();
    all.find(|r| r.layout.name == layout.name)
}

fn field_json(layout: &LayoutDesc, field: &FieldDesc) -> Value {
    let (at, bits) = place(field);
    let mut out = Map::new();
    out.insert("name".to_owned(), field.name.into());
    out.insert("at".to_owned(), at.into());
    if !bits.is_empty() {
        out.insert("bits".to_owned(), bits.into());
    }
    out.insert("width".to_owned(), field.width().into());
    match field.count {
        Count::One => {}
        Count::Array(n) => drop(out.insert("count".to_owned(), n.into())),
        Count::List => drop(out.insert("list".to_owned(), true.into())),
    }
    let by: Vec<Value> = mlx5_prm::selected_by(layout.name, field.name)
        .map(|by| json!({ "in": by.input.name, "mask": by.select.name, "bit": by.bit.bit }))
        .collect();
    if !by.is_empty() {
        out.insert("selected_by".to_owned(), by.into());
    }
    if let Some(words) = field.words {
        out.insert("words".to_owned(), words.into());
    }
    if let Some(access) = field.access {
        out.insert("access".to_owned(), word(access).into());
    }
    match field.element {
        Element::Bits => {}
        Element::Number(number) => drop(out.insert("number".to_owned(), number.name.into())),
        Element::Flags(flags) => {
            out.insert("flags".to_owned(), flags.name.into());
            out.insert("bit_names".to_owned(), bit_names(flags));
        }
        Element::Layout(inner) => drop(out.insert("layout".to_owned(), inner.name.into())),
        Element::Enum(names) => {
            out.insert("enum".to_owned(), names.name.into());
            out.insert("values".to_owned(), values(names));
        }
    }
    out.into()
}

fn values(names: &EnumDesc) -> Value {
    names.values.iter().map(|(value, name)| json!({ "name": name, "value": value })).collect()
}

fn bit_names(flags: &FlagsDesc) -> Value {
    flags.bits.iter().map(|(bit, name)| json!({ "name": name, "bit": bit })).collect()
}

/// Position of one element. A layout has no bits of its own.
fn place(field: &FieldDesc) -> (usize, String) {
    let (at, bits) = position(field.bit() as usize, field.width() as usize);
    let is_layout = matches!(field.element, Element::Layout(_));
    (at, if is_layout { String::new() } else { bits })
}

fn type_text(field: &FieldDesc) -> String {
    let one = match field.element {
        Element::Bits => "number".to_owned(),
        Element::Number(number) => format!("number {}", number.name),
        Element::Enum(names) => format!("enum {}", names.name),
        Element::Flags(flags) => format!("flags {}", flags.name),
        Element::Layout(inner) => format!("{} {}", kind(inner), inner.name),
    };
    match field.count {
        Count::One => one,
        Count::Array(n) => format!("{one} [{n}]"),
        Count::List => format!("{one} [], a list to the end of the mailbox"),
    }
}

/// The PRM's word for who may read and write a field of a register.
fn word(access: Access) -> &'static str {
    match access {
        Access::Ro => "RO",
        Access::Rw => "RW",
        Access::Wo => "WO",
        Access::Op => "OP",
        Access::Index => "INDEX",
    }
}

fn kind(layout: &LayoutDesc) -> &'static str {
    match layout.kind {
        Kind::Struct => "struct",
        Kind::Union => "union",
    }
}

/// The flags of the fields, each once.
fn flags(layout: &LayoutDesc) -> Vec<&'static FlagsDesc> {
    let mut out: Vec<&FlagsDesc> = Vec::new();
    for field in layout.fields {
        if let Element::Flags(flags) = field.element
            && !out.iter().any(|other| std::ptr::eq(*other, flags))
        {
            out.push(flags);
        }
    }
    out
}

/// The enumerations of the fields, each once.
fn enums(layout: &LayoutDesc) -> Vec<&'static EnumDesc> {
    let mut out: Vec<&EnumDesc> = Vec::new();
    for field in layout.fields {
        if let Element::Enum(names) = field.element
            && !out.iter().any(|other| std::ptr::eq(*other, names))
        {
            out.push(names);
        }
    }
    out
}
