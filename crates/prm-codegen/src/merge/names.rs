//! Names: which layouts of two sources are one.

use super::{Merged, add_source};
use crate::model::*;

/// Fields that nearly every mailbox has: they tell nothing of what it is.
const HEAD: [&str; 5] = ["opcode", "uid", "op_mod", "status", "syndrome"];

/// So many fields of its own make a layout known by its shape alone.
const RICH: usize = 4;

/// Words of a name that one source has and another leaves out.
const FILLING: [&str; 3] = ["reg", "register", "ext"];

impl Merged {
    /// The name under which `layout` of `source` is merged. `taken` tells whether another layout of
    /// the source is merged under a name, or has it.
    pub(super) fn name_of(
        &mut self,
        source: &str,
        layout: &Layout,
        taken: impl Fn(&str) -> bool,
    ) -> String {
        if let Some(ruled) = self.rulings.aliases.iter().find(|a| a.name == layout.name) {
            let (of, used) = (ruled.of.clone(), ruled.origin.span.start);
            if self.find(&of).is_some() {
                self.used.push(used);
                self.alias(source, layout, &of);
                return of;
            }
        }
        if self.find(&layout.name).is_some() {
            return layout.name.clone();
        }
        let known = self.aliases.iter().find(|a| a.name == layout.name);
        let candidates: Vec<&Layout> = self
            .layouts
            .iter()
            .filter(|other| !taken(&other.name) && other.kind == layout.kind)
            .filter(|other| match known {
                Some(alias) => alias.of == other.name,
                None => alike(layout, other),
            })
            .collect();
        let [one] = candidates[..] else { return layout.name.clone() };
        let of = one.name.clone();
        let apart = self.rulings.distinct.iter().find(|d| d.name == layout.name && d.of == of);
        if let Some(apart) = apart {
            self.used.push(apart.origin.span.start);
            return layout.name.clone();
        }
        self.alias(source, layout, &of);
        of
    }

    fn alias(&mut self, source: &str, layout: &Layout, of: &str) {
        match self.aliases.iter_mut().find(|a| a.name == layout.name && a.of == of) {
            Some(alias) => add_source(&mut alias.from, source),
            None => self.aliases.push(Alias {
                name: layout.name.clone(),
                of: of.to_owned(),
                from: vec![source.to_owned()],
                origin: layout.origin.clone(),
            }),
        }
    }
}

/// Whether two layouts of different names are one: the same words and half of the fields, or the
/// same length and nearly all fields.
fn alike(a: &Layout, b: &Layout) -> bool {
    let same = |x: &&Field| b.field(&x.name).is_some_and(|y| y.bit == x.bit && y.count == x.count);
    let shared = a.fields.iter().filter(same).count();
    let (fewer, more) = (a.fields.len().min(b.fields.len()), a.fields.len().max(b.fields.len()));
    if words(&a.name) == words(&b.name) {
        return shared * 2 >= fewer;
    }
    let own = a.fields.iter().filter(|f| !HEAD.contains(&&*f.name)).count();
    a.bytes == b.bytes && own >= RICH && shared * 4 >= more * 3
}

/// The words of a name, sorted, without those that say nothing.
pub(super) fn words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> =
        name.split('_').filter(|w| !w.is_empty() && !FILLING.contains(w)).collect();
    words.sort_unstable();
    words
}
