//! Lists of open length, and where a layout has them: its own, or that of a layout at its end.

use super::names::camel;
use crate::model::*;

/// A list as seen from a layout.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    /// Names of the fields that lead to it.
    pub(super) path: Vec<String>,
    /// Its first bit, from the start of the layout.
    pub(super) bit: u32,
    /// Its elements.
    pub(super) element: Element,
}

impl Tail {
    /// Whether it begins where the layout ends.
    pub(super) fn follows(&self, layout: &Layout) -> bool {
        self.bit == layout.bytes * 8
    }

    fn name(&self) -> &str {
        self.path.last().map_or("", |n| n)
    }
}

/// All lists of a layout.
pub(super) fn tails(spec: &Spec, layout: &Layout) -> Vec<Tail> {
    let mut out = Vec::new();
    for field in &layout.fields {
        match (&field.element, field.count) {
            (element, Count::List) => {
                out.push(Tail {
                    path: vec![field.name.clone()],
                    bit: field.bit,
                    element: element.clone(),
                });
            }
            (Element::Layout(inner), Count::One) => {
                let Some(inner) = spec.layout(inner) else { continue };
                if field.bit + inner.bytes * 8 != layout.bytes * 8 && layout.kind == Kind::Struct {
                    continue;
                }
                out.extend(tails(spec, inner).into_iter().map(|mut tail| {
                    tail.path.insert(0, field.name.clone());
                    tail.bit += field.bit;
                    tail
                }));
            }
            _ => {}
        }
    }
    out
}

/// What tells each list from the others: the last names of its path, as many as are needed.
pub(super) fn name(tail: &Tail, all: &[Tail]) -> String {
    let twins = all.iter().filter(|t| t.name() == tail.name()).count();
    let words = if twins > 1 { 2 } else { 1 };
    let from = tail.path.len().saturating_sub(words);
    tail.path[from..].join("_")
}

/// The alias of `WithTail` for a list: `ModifyRqtIn` and `rq_num` give `ModifyRqtInWithRqNum`.
pub(super) fn alias(layout: &Layout, tail: &Tail, all: &[Tail]) -> String {
    format!("{}With{}", camel(&layout.name), camel(&name(tail, all)))
}
