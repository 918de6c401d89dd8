//! Lists of open length, and where a layout has them: its own, or that of a layout at its end.

use std::collections::HashMap;

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
    below(spec, layout, &mut HashMap::new())
}

/// Whether a layout has a list in it; `known` is what was found out before.
fn has_list<'s>(spec: &'s Spec, layout: &'s Layout, known: &mut HashMap<&'s str, bool>) -> bool {
    if let Some(has) = known.get(&*layout.name) {
        return *has;
    }
    let has = layout.fields.iter().any(|field| match &field.element {
        _ if field.count == Count::List => true,
        Element::Layout(inner) => {
            spec.layout(inner).is_some_and(|inner| has_list(spec, inner, known))
        }
        Element::Bits(_) => false,
    });
    known.insert(&layout.name, has);
    has
}

/// [`tails`], which goes only into layouts that have a list: the others may be nested very broadly.
fn below<'s>(spec: &'s Spec, layout: &'s Layout, known: &mut HashMap<&'s str, bool>) -> Vec<Tail> {
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
                if !has_list(spec, inner, known) {
                    continue;
                }
                out.extend(below(spec, inner, known).into_iter().map(|mut tail| {
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
