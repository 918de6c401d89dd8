//! Knowledge: what a database says of fields beyond their places.

use super::Merged;
use super::layouts::range;
use crate::model::*;

impl Merged {
    /// Takes what a source knows of the fields of a layout, where the layout has the same bits,
    /// under whatever name. `bits` are those of one element of each, by the source.
    pub(super) fn learn(&mut self, at: usize, source: &str, theirs: &Layout, bits: &[u32]) {
        let known = |f: &Field| {
            f.access.is_some() || !f.values.is_empty() || f.selector.is_some() || f.when.is_some()
        };
        for (field, bits) in theirs.fields.iter().zip(bits).filter(|(f, _)| known(f)) {
            let Some(i) = self.counterpart(at, field, *bits) else { continue };
            let known = |selector: &String| self.selected(at, theirs, selector);
            let selector = field.selector.as_ref().filter(|_| self.is_union(at, i)).map(known);
            let ours = &mut self.layouts[at].fields[i];
            let mut otherwise = Vec::new();
            take(
                &mut ours.access,
                field.access,
                |a| format!("access {}", a.name()),
                &mut otherwise,
            );
            if ours.element == field.element && !field.values.is_empty() {
                if ours.values.is_empty() {
                    ours.values.clone_from(&field.values);
                }
                let (ours, theirs) = (listed(&ours.values), listed(&field.values));
                if ours != theirs {
                    otherwise.push((ours, theirs));
                }
            }
            let when = |text: &String| format!("when {text}");
            take(&mut ours.when, field.when.clone(), when, &mut otherwise);
            let by = |text: &String| format!("selector {text}");
            match selector {
                Some(Some(selector)) => {
                    take(&mut ours.selector, Some(selector), by, &mut otherwise);
                }
                Some(None) => {
                    let theirs = field.selector.as_ref().map(by).unwrap_or_default();
                    otherwise.push(("no such selector".into(), theirs));
                }
                None => {}
            }
            let path = format!("{}.{}", theirs.name, field.name);
            for (ours, theirs) in otherwise {
                let (path, why) = (path.clone(), "another meaning");
                self.conflict(source, &field.origin, path, ours, theirs, why);
            }
        }
    }

    /// The field with the bits of a field of a source: that of its name or, in a struct, the only
    /// one, or the only one that is cut into as many elements.
    fn counterpart(&self, at: usize, theirs: &Field, bits: u32) -> Option<usize> {
        let Layout { kind, fields, .. } = &self.layouts[at];
        let cut = |f: &Field| (f.bit, f.count) == (theirs.bit, theirs.count);
        let is_same = |f: &&Field| {
            let ours = self.element_bits(&f.element);
            cut(f) && f.element == theirs.element || range(f, ours) == range(theirs, bits)
        };
        let same: Vec<&Field> = fields.iter().filter(is_same).collect();
        let alike = || same.iter().filter(|f| cut(f) && self.element_bits(&f.element) == bits);
        let one = match &same[..] {
            _ if same.iter().any(|f| f.name == theirs.name) => &theirs.name,
            _ if *kind == Kind::Union => return None,
            [one] => &one.name,
            _ if alike().count() == 1 => &alike().next()?.name,
            _ => return None,
        };
        fields.iter().position(|f| f.name == *one)
    }

    fn is_union(&self, at: usize, i: usize) -> bool {
        match &self.layouts[at].fields[i].element {
            Element::Layout(name) => {
                self.find(name).is_some_and(|inner| self.layouts[inner].kind == Kind::Union)
            }
            Element::Bits(_) => false,
        }
    }

    /// The selector of a source, under the name that the layout has for its bits.
    fn selected(&self, at: usize, theirs: &Layout, selector: &str) -> Option<String> {
        let (first, rest) = match selector.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (selector, None),
        };
        let field = theirs.field(first)?;
        let i = self.counterpart(at, field, self.element_bits(&field.element))?;
        let name = &self.layouts[at].fields[i].name;
        Some(rest.map_or_else(|| name.clone(), |rest| format!("{name}.{rest}")))
    }
}

/// Takes what a source says into `ours`, or tells that ours is something else.
fn take<T: PartialEq>(
    ours: &mut Option<T>,
    theirs: Option<T>,
    text: impl Fn(&T) -> String,
    otherwise: &mut Vec<(String, String)>,
) {
    match (&ours, theirs) {
        (Some(ours), Some(theirs)) if *ours != theirs => {
            otherwise.push((text(ours), text(&theirs)));
        }
        (None, theirs) => *ours = theirs,
        _ => {}
    }
}

/// Named values, by number.
fn listed(values: &[FieldValue]) -> String {
    let mut values: Vec<(u64, &str)> = values.iter().map(|v| (v.value, &*v.name)).collect();
    values.sort_unstable();
    let values: Vec<String> = values.iter().map(|(n, name)| format!("{name} = 0x{n:x}")).collect();
    values.join(", ")
}
