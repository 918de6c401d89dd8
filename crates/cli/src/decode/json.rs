//! A mailbox as JSON, for programs.

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc};
use serde_json::{Map, Value, json};

use super::value::{filled, trailing};
use crate::view::View;

/// Keys that no field has: see the test below.
pub(crate) const RESERVED: &str = "reserved";
pub(crate) const TRAILING: &str = "trailing";
pub(crate) const MISSING: &str = "missing";
/// In the place of a layout, where none is known.
pub(crate) const BYTES: &str = "bytes";

/// The mailbox as an object with a key for each of its layouts. Every field is there, also those that
/// are zero, but those that begin beyond the end of the mailbox.
pub(crate) fn object(view: &View, bytes: &[u8]) -> Map<String, Value> {
    let mut out = Map::new();
    for part in view.parts(&filled(view, bytes)) {
        let left = bytes.len().saturating_sub(part.at) * 8;
        if left > 0 || part.at == 0 {
            out.insert(part.layout.name.to_owned(), fields(part.layout, part.bytes, left).into());
        }
    }
    let last = out.values_mut().next_back().and_then(Value::as_object_mut);
    let Some(last) = last else { return out };
    let rest = trailing(view, bytes);
    if !rest.is_empty() {
        last.insert(TRAILING.to_owned(), hex(rest).into());
    }
    let missing = view.size().saturating_sub(bytes.len());
    if missing > 0 {
        last.insert(MISSING.to_owned(), missing.into());
    }
    out
}

/// Every field of a layout that begins in its first bits; reserved bits that are set.
fn fields(layout: &'static LayoutDesc, bytes: &[u8], left: usize) -> Map<String, Value> {
    let mut out = Map::new();
    for field in layout.fields {
        let mut elements = (0..field.elements(bytes.len()))
            .take_while(|index| field.bit_of(*index) < left)
            .map(|index| element(layout, field, bytes, index, left - field.bit_of(index)));
        let value = match field.count {
            Count::One => elements.next(),
            Count::Array(_) | Count::List => Some(elements.collect()),
        };
        if let Some(value) = value {
            out.insert(field.name.to_owned(), value);
        }
    }
    let reserved: Vec<Value> =
        layout.reserved_set(bytes).map(|(at, bits)| json!({ "at": at, "bits": bits })).collect();
    if !reserved.is_empty() {
        out.insert(RESERVED.to_owned(), reserved.into());
    }
    out
}

fn element(
    layout: &LayoutDesc,
    field: &FieldDesc,
    bytes: &[u8],
    index: usize,
    left: usize,
) -> Value {
    let part = layout.part(field, bytes, index);
    if let Element::Layout(inner) = field.element {
        return fields(inner, part, left).into();
    }
    match field.read(bytes, index) {
        // JSON itself has no limit, but few programs read a longer number exactly.
        Some(number) => match u64::try_from(number) {
            Ok(number) if field.width() <= 64 => number.into(),
            _ => format!("{number:#0digits$x}", digits = 2 + field.width().div_ceil(4) as usize)
                .into(),
        },
        None => hex(part).into(),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::{BYTES, MISSING, RESERVED, TRAILING};
    use crate::names;

    #[test]
    fn no_field_is_called_as_the_keys_that_are_added() {
        for (layout, _) in names::all() {
            assert_ne!(layout.name, BYTES);
            for key in [RESERVED, TRAILING, MISSING] {
                assert!(layout.field(key).is_none(), "{}.{key}", layout.name);
            }
        }
    }
}
