//! What `prm show` knows, for programs.

use mlx5_prm::{Count, Element, EnumDesc, FieldDesc, FlagsDesc, LayoutDesc};
use serde_json::{Map, Value, json};

use super::{kind, place, register, word};
use crate::names;

/// A layout and its fields.
pub(super) fn layout(layout: &'static LayoutDesc) -> Value {
    let fields: Vec<Value> = layout.fields.iter().map(|f| field(layout, f, 0)).collect();
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
    value
}

/// A command and its two layouts.
pub(super) fn command(code: u16, name: &str, layouts: [Option<&'static LayoutDesc>; 2]) -> Value {
    let [input, output] = layouts.map(|of| of.map_or(Value::Null, layout));
    json!({ "name": name, "opcode": code, "input": input, "output": output })
}

/// A field, of a layout that begins at bit `base`.
pub(super) fn field(layout: &LayoutDesc, field: &FieldDesc, base: usize) -> Value {
    let (at, bits) = place(field, base);
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("name", field.name.into());
    put("at", at.into());
    if !bits.is_empty() {
        put("bits", bits.into());
    }
    put("width", field.width().into());
    match field.count {
        Count::One => {}
        Count::Array(n) => put("count", n.into()),
        Count::List => put("list", true.into()),
    }
    let by: Vec<Value> = mlx5_prm::selected_by(layout.name, field.name)
        .map(|by| json!({ "in": by.input.name, "mask": by.select.name, "bit": by.bit.bit }))
        .collect();
    if !by.is_empty() {
        put("selected_by", by.into());
    }
    if let Some(words) = field.words {
        put("words", words.into());
    }
    if let Some(access) = field.access {
        put("access", word(access).into());
    }
    match field.element {
        Element::Bits => {}
        Element::Number(number) => put("number", number.name.into()),
        Element::Flags(flags) => {
            put("flags", flags.name.into());
            put("bit_names", bit_names(flags));
        }
        Element::Layout(inner) => put("layout", inner.name.into()),
        Element::Enum(names) => {
            put("enum", names.name.into());
            put("values", values(names));
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
