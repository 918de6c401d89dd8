//! A mailbox as JSON, for programs.

use mlx5_prm::{Count, FieldDesc, LayoutDesc};
use serde_json::{Map, Value, json};

use crate::trailing::trailing;

/// The mailbox as an object with one key, the name of its layout.
pub(crate) fn text(layout: &'static LayoutDesc, bytes: &[u8]) -> String {
    let mut fields = object(layout, bytes);
    let rest = trailing(layout, bytes);
    if !rest.is_empty() {
        fields.insert("trailing".to_owned(), hex(rest).into());
    }
    format!("{:#}\n", json!({ layout.name: fields }))
}

/// Every field of a layout; reserved bits that are set.
fn object(layout: &'static LayoutDesc, bytes: &[u8]) -> Map<String, Value> {
    let mut out = Map::new();
    for field in layout.fields {
        let mut elements =
            (0..field.elements(bytes.len())).map(|i| element(layout, field, bytes, i));
        let value = match field.count {
            Count::One => elements.next().unwrap_or_default(),
            Count::Array(_) | Count::List => elements.collect(),
        };
        out.insert(field.name.to_owned(), value);
    }
    let reserved: Vec<Value> =
        layout.reserved_set(bytes).map(|(at, bits)| json!({ "at": at, "bits": bits })).collect();
    if !reserved.is_empty() {
        out.insert("reserved".to_owned(), reserved.into());
    }
    out
}

fn element(layout: &LayoutDesc, field: &FieldDesc, bytes: &[u8], index: usize) -> Value {
    let part = layout.part(field, bytes, index);
    match (field.element, field.read(bytes, index)) {
        (mlx5_prm::Element::Layout(inner), _) => object(inner, part).into(),
        // JSON itself has no limit, but few programs read a longer number exactly.
        (_, Some(number)) => match u64::try_from(number) {
            Ok(number) if field.width() <= 64 => number.into(),
            _ => format!("{number:#0digits$x}", digits = 2 + field.width().div_ceil(4) as usize)
                .into(),
        },
        (_, None) => hex(part).into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use crate::names;

    #[test]
    fn no_field_is_called_as_the_keys_that_are_added() {
        for (layout, _) in names::all() {
            assert!(layout.field("reserved").is_none(), "{}", layout.name);
            assert!(layout.field("trailing").is_none(), "{}", layout.name);
        }
    }
}
