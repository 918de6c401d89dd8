//! All numbers of a mailbox, each with its path.

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc};
use serde_json::Value;

use super::json::{MISSING, RESERVED, TRAILING, hex};
use super::value::{meaning, trailing};
use crate::view::View;

/// What is at the end of a path.
#[derive(Debug, Clone)]
pub(crate) enum Leaf {
    Number(&'static FieldDesc, u128),
    Bytes(Vec<u8>),
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Leaf::Number(_, a), Leaf::Number(_, b)) => a == b,
            (Leaf::Bytes(a), Leaf::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

impl Leaf {
    /// For people.
    pub(crate) fn text(&self) -> String {
        match self {
            Leaf::Number(field, number) => {
                let decimal = match *number {
                    0..=9 => String::new(),
                    _ if field.width() > 64 => String::new(),
                    number => format!(" ({number})"),
                };
                let meaning = meaning(field, *number).map_or_else(String::new, |m| format!(" {m}"));
                format!("{number:#x}{decimal}{meaning}")
            }
            Leaf::Bytes(bytes) => hex(bytes),
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        match self {
            Leaf::Number(_, number) => match u64::try_from(*number) {
                Ok(number) => number.into(),
                Err(_) => format!("{number:#x}").into(),
            },
            Leaf::Bytes(bytes) => hex(bytes).into(),
        }
    }
}

/// All of them, those that are zero too. Of a union only the members that count.
pub(crate) fn all(view: &View, bytes: &[u8]) -> Vec<(String, Leaf)> {
    let mut walk = Walk { view, out: Vec::new() };
    let several = view.layouts().len() > 1;
    for part in view.parts(bytes) {
        let path = if several { part.layout.name } else { "" };
        walk.layout(part.layout, part.bytes, path);
    }
    let rest = trailing(view, bytes);
    if !rest.is_empty() {
        walk.out.push((TRAILING.to_owned(), Leaf::Bytes(rest.to_vec())));
    }
    let missing = view.size().saturating_sub(bytes.len());
    if missing > 0 {
        walk.out.push((MISSING.to_owned(), Leaf::Bytes(missing.to_be_bytes().to_vec())));
    }
    walk.out
}

struct Walk<'v> {
    view: &'v View,
    out: Vec<(String, Leaf)>,
}

impl Walk<'_> {
    fn layout(&mut self, layout: &'static LayoutDesc, bytes: &[u8], path: &str) {
        let join = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
        };
        for field in layout.fields.iter().filter(|field| self.view.counts(layout, field)) {
            for index in 0..field.elements(bytes.len()) {
                let path = match field.count {
                    Count::One => join(field.name),
                    _ => format!("{}[{index}]", join(field.name)),
                };
                let part = layout.part(field, bytes, index);
                if let Element::Layout(inner) = field.element {
                    self.layout(inner, part, &path);
                } else if let Some(number) = field.read(bytes, index) {
                    self.out.push((path, Leaf::Number(field, number)));
                } else if !part.is_empty() {
                    self.out.push((path, Leaf::Bytes(part.to_vec())));
                }
            }
        }
        for (at, bits) in layout.reserved_set(bytes) {
            let path = join(&format!("{RESERVED}[{at:#x}]"));
            self.out.push((path, Leaf::Bytes(bits.to_be_bytes().to_vec())));
        }
    }
}
