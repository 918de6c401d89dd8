//! Layouts: fields of several sources in one layout.

use std::collections::HashMap;

use super::{Merged, is_linux};
use crate::model::*;

/// A field as another source has it, and what is needed to judge it.
struct Claim<'a> {
    source: &'a str,
    /// The layout as the source has it, under the name it is merged by.
    layout: &'a Layout,
    field: &'a Field,
    /// Bits of one element, by the source.
    element_bits: u32,
}

impl Claim<'_> {
    /// The bits it takes; a list goes on to the end of the mailbox.
    fn range(&self) -> (u64, u64) {
        range(self.field, self.element_bits)
    }
}

fn range(field: &Field, element_bits: u32) -> (u64, u64) {
    let start = u64::from(field.bit);
    let bits = u64::from(element_bits);
    match field.count {
        Count::One => (start, start + bits),
        Count::Array(n) => (start, start + bits * u64::from(n)),
        Count::List => (start, u64::MAX),
    }
}

/// What becomes of a claim.
enum Verdict {
    /// The layout has the field so.
    Agrees(usize),
    /// It is put into the layout, over the place of a field.
    Added(Option<String>),
    /// The layout says otherwise.
    Differs {
        /// The field of the layout whose bits are the same, under another name.
        renames: Option<usize>,
        ours: String,
        why: &'static str,
    },
}

impl Merged {
    /// Takes the layouts of one source.
    ///
    /// `registers` are those that the source says are registers.
    pub(super) fn layouts(&mut self, source: &str, layouts: Vec<Layout>, registers: &[Register]) {
        let sizes: HashMap<String, u32> =
            layouts.iter().map(|l| (l.name.clone(), l.bytes)).collect();
        // The source's names, and those that its layouts are merged under.
        let mut names: HashMap<String, String> = HashMap::new();
        for mut layout in inner_first(layouts) {
            let name = self.name_of(source, &layout, |name| sizes.contains_key(name));
            let is_register = registers.iter().any(|r| r.layout.as_ref() == Some(&layout.name));
            names.insert(layout.name.clone(), name.clone());
            layout.name = name;
            let element_bits: Vec<u32> = layout
                .fields
                .iter()
                .map(|f| match &f.element {
                    Element::Bits(bits) => *bits,
                    Element::Layout(inner) => sizes.get(inner).map_or(0, |bytes| bytes * 8),
                })
                .collect();
            for field in &mut layout.fields {
                if let Element::Layout(inner) = &mut field.element
                    && let Some(name) = names.get(inner)
                {
                    inner.clone_from(name);
                }
            }
            if is_register {
                self.lengthen(source, &layout);
            }
            self.layout(source, layout, &element_bits);
        }
    }

    /// Gives a register the length that a later source gives it, where that is longer and nothing
    /// of the tables has a place for the shorter one only. What was said before becomes a conflict.
    fn lengthen(&mut self, source: &str, theirs: &Layout) {
        let Some(at) = self.find(&theirs.name) else { return };
        let ours = &self.layouts[at];
        if ours.bytes >= theirs.bytes || ours.kind != theirs.kind {
            return;
        }
        // A list at the end of the shorter one goes on to the end of the longer one.
        if ours.fields.iter().any(|f| f.count == Count::List) {
            return;
        }
        let name = &theirs.name;
        let holds = |l: &&Layout| {
            l.fields.iter().any(|f| matches!(&f.element, Element::Layout(inner) if inner == name))
        };
        let mut holders = self.layouts.iter().filter(holds);
        if holders.any(|l| l.kind == Kind::Struct || l.bytes < theirs.bytes) {
            return;
        }
        let (name, before, extent) = (ours.name.clone(), ours.extent(), theirs.extent());
        let (origin, from) = (ours.origin.clone(), ours.from.clone());
        // Who said something else again has a conflict already.
        let others: Vec<String> = self
            .conflicts
            .iter_mut()
            .filter(|c| c.at == name)
            .flat_map(|c| {
                c.ours.clone_from(&extent);
                c.from.clone()
            })
            .collect();
        self.layouts[at].bytes = theirs.bytes;
        for said in from.iter().filter(|f| !others.contains(f) && *f != source) {
            let (name, ours, theirs) = (name.clone(), extent.clone(), before.clone());
            self.conflict(said, &origin, name, ours, theirs, "lengthened");
        }
    }

    fn layout(&mut self, source: &str, theirs: Layout, element_bits: &[u32]) {
        let at = self.find(&theirs.name).unwrap_or_else(|| {
            self.layouts.push(Layout { fields: Vec::new(), from: Vec::new(), ..theirs.clone() });
            self.layouts.len() - 1
        });
        let ours = &mut self.layouts[at];
        if ours.from.last().is_none_or(|last| last != source) {
            ours.from.push(source.to_owned());
        }
        if ours.bytes != theirs.bytes || ours.kind != theirs.kind {
            let why = match theirs.bytes.cmp(&ours.bytes) {
                _ if both_linux(&ours.from, source) => "later revision",
                std::cmp::Ordering::Less => "longer",
                std::cmp::Ordering::Greater => "shorter",
                std::cmp::Ordering::Equal => "another kind",
            };
            let (name, ours) = (ours.name.clone(), ours.extent());
            self.conflict(source, &theirs.origin, name, ours, theirs.extent(), why);
        }
        for (field, element_bits) in theirs.fields.iter().zip(element_bits) {
            let claim = Claim { source, layout: &theirs, field, element_bits: *element_bits };
            self.claim(at, &claim);
        }
    }

    fn claim(&mut self, at: usize, claim: &Claim<'_>) {
        let (source, field) = (claim.source, claim.field);
        match self.judge(at, claim) {
            Verdict::Agrees(i) => {
                let ours = &mut self.layouts[at].fields[i];
                ours.from.push(source.to_owned());
                learn(ours, field);
            }
            Verdict::Added(overlays) => {
                let fields = &mut self.layouts[at].fields;
                let place = fields.iter().position(|f| f.bit > field.bit).unwrap_or(fields.len());
                let from = vec![source.to_owned()];
                fields.insert(place, Field { overlays, from, ..field.clone() });
            }
            Verdict::Differs { renames, ours, why } => {
                if let Some(i) = renames {
                    learn(&mut self.layouts[at].fields[i], field);
                }
                let path = format!("{}.{}", self.layouts[at].name, field.name);
                self.conflict(source, &field.origin, path, ours, field.place(), why);
            }
        }
    }

    fn judge(&self, at: usize, claim: &Claim<'_>) -> Verdict {
        let ours = &self.layouts[at];
        let field = claim.field;
        let (start, end) = claim.range();
        let bits = |f: &Field| self.element_bits(&f.element);
        if let Some(i) = ours.fields.iter().position(|f| f.name == field.name) {
            let known = &ours.fields[i];
            let (from, to) = range(known, bits(known));
            if (from, to, known.count) == (start, end, field.count)
                && bits(known) == claim.element_bits
                && known.element == field.element
            {
                return Verdict::Agrees(i);
            }
            let why = match () {
                () if both_linux(&known.from, claim.source) => "later revision",
                () if (from, to) == (start, end) => "retyped",
                () if from <= start && end <= to => "widened",
                () if start <= from && to <= end => "narrowed",
                () => "moved",
            };
            return Verdict::Differs { renames: None, ours: known.place(), why };
        }
        // Not a field that is known: it must fit into a gap.
        let whole = u64::from(ours.bytes) * 8;
        let fits = match &field.element {
            Element::Layout(inner) => {
                self.find(inner).is_some_and(|i| self.layouts[i].bytes * 8 == claim.element_bits)
            }
            Element::Bits(_) => true,
        };
        let length = || format!("0x{:02x} bytes", ours.bytes);
        if !fits {
            let inner = self.element_bits(&field.element) / 8;
            return Verdict::Differs {
                renames: None,
                ours: format!("a layout of 0x{inner:02x} bytes"),
                why: "holds a conflict",
            };
        }
        if ours.kind != claim.layout.kind {
            return Verdict::Differs { renames: None, ours: ours.extent(), why: "another kind" };
        }
        if (field.count == Count::List && start > whole)
            || (field.count != Count::List && end > whole)
        {
            return Verdict::Differs { renames: None, ours: length(), why: "past the end" };
        }
        if ours.kind == Kind::Union {
            return Verdict::Added(None);
        }
        let there: Vec<usize> = (0..ours.fields.len())
            .filter(|i| {
                let (from, to) = range(&ours.fields[*i], bits(&ours.fields[*i]));
                from < end && start < to
            })
            .collect();
        if there.is_empty() {
            let anchor = field
                .overlays
                .as_ref()
                .filter(|anchor| ours.field(anchor).is_some_and(|f| f.overlays.is_none()));
            return Verdict::Added(anchor.cloned());
        }
        // The source may have a union here, of which some members are known.
        let group = anchor(field);
        let member =
            |f: &Field| claim.layout.field(&f.name).is_some_and(|theirs| anchor(theirs) == group);
        let shared = anchor(&ours.fields[there[0]]);
        if there.iter().all(|i| member(&ours.fields[*i]) && anchor(&ours.fields[*i]) == shared) {
            return Verdict::Added(Some(shared.to_owned()));
        }
        let linux = there.iter().any(|i| both_linux(&ours.fields[*i].from, claim.source));
        let listed: Vec<String> = there
            .iter()
            .map(|i| format!("{} {}", ours.fields[*i].name, ours.fields[*i].place()))
            .collect();
        let first = &ours.fields[there[0]];
        let (from, to) = range(first, bits(first));
        let same = there.len() == 1 && (from, to) == (start, end);
        let why = match () {
            () if linux => "later revision",
            () if same => "renamed",
            () if there.len() == 1 && from <= start && end <= to => "joined",
            () => "split",
        };
        Verdict::Differs { renames: same.then_some(there[0]), ours: listed.join(", "), why }
    }

    fn element_bits(&self, element: &Element) -> u32 {
        match element {
            Element::Bits(bits) => *bits,
            Element::Layout(name) => self.find(name).map_or(0, |i| self.layouts[i].bytes * 8),
        }
    }
}

/// The field whose place a field shares: itself where it shares none.
fn anchor(field: &Field) -> &str {
    field.overlays.as_deref().unwrap_or(&field.name)
}

/// Takes what a source knows of a field beyond its place.
fn learn(ours: &mut Field, theirs: &Field) {
    ours.access = ours.access.or(theirs.access);
    if ours.values.is_empty() {
        ours.values.clone_from(&theirs.values);
    }
    ours.selector = ours.selector.take().or_else(|| theirs.selector.clone());
    ours.when = ours.when.take().or_else(|| theirs.when.clone());
}

/// Whether the leading source of `from` and `source` are both versions of Linux.
fn both_linux(from: &[String], source: &str) -> bool {
    from.first().is_some_and(|first| is_linux(first)) && is_linux(source)
}

/// Layouts in an order in which each stands behind those it holds.
fn inner_first(layouts: Vec<Layout>) -> Vec<Layout> {
    let place: HashMap<String, usize> =
        layouts.iter().enumerate().map(|(i, l)| (l.name.clone(), i)).collect();
    let mut order = Vec::with_capacity(layouts.len());
    let mut seen = vec![false; layouts.len()];
    // Layouts that wait for those they hold.
    for first in 0..layouts.len() {
        let mut stack = vec![(first, 0)];
        while let Some((i, next)) = stack.pop() {
            if next == 0 && std::mem::replace(&mut seen[i], true) {
                continue;
            }
            match layouts[i].fields.get(next) {
                Some(field) => {
                    stack.push((i, next + 1));
                    if let Element::Layout(inner) = &field.element
                        && let Some(inner) = place.get(inner)
                    {
                        stack.push((*inner, 0));
                    }
                }
                None => order.push(i),
            }
        }
    }
    let mut layouts: Vec<Option<Layout>> = layouts.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| layouts[i].take()).collect()
}
