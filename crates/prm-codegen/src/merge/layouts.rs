//! Layouts: fields of several sources in one layout.

use std::collections::HashMap;

use super::{Merged, add_source, is_linux};
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
    fn range(&self) -> (u64, u64) {
        range(self.field, self.element_bits)
    }
}

/// The bits that a field takes; a list goes on to the end of the mailbox.
pub(super) fn range(field: &Field, element_bits: u32) -> (u64, u64) {
    let start = u64::from(field.bit);
    let bits = u64::from(element_bits);
    match field.count {
        Count::One => (start, start + bits),
        Count::Array(n) => (start, start + bits * u64::from(n)),
        Count::List => (start, u64::MAX),
    }
}

/// Why a field that begins or ends behind its layout is refused.
const PAST_THE_END: &str = "past the end";

/// Why a field that holds a layout of another length is.
const HOLDS_A_CONFLICT: &str = "holds a conflict";

/// What becomes of a claim.
enum Verdict {
    /// The layout has the field so.
    Agrees(usize),
    /// It is put into the layout, over the place of a field. Fields that share other places share
    /// this one from now on.
    Added { overlays: Option<String>, joins: Vec<String> },
    /// The layout says otherwise.
    Differs { ours: String, why: &'static str },
}

/// What a source could not add because of the length of a layout.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    source: String,
    /// The layout as the source has it, under the name it is merged by.
    layout: Layout,
    field: Field,
    element_bits: u32,
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
        let mut longer = Vec::new();
        let mut all = Vec::new();
        for mut layout in inner_first(layouts) {
            let taken = |name: &str| {
                sizes.contains_key(name) || names.values().any(|merged| merged == name)
            };
            let name = self.name_of(source, &layout, taken);
            if registers.iter().any(|r| r.layout.as_ref() == Some(&layout.name)) {
                longer.push(all.len());
            }
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
            all.push((layout, element_bits));
        }
        // What holds others makes room for them first.
        for i in longer.into_iter().rev() {
            self.lengthen(source, &all[i].0);
        }
        for (layout, element_bits) in all {
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
        let bits = u64::from(theirs.bytes) * 8;
        let has_room = |l: &Layout, f: &Field| match f.count {
            Count::One => l.kind == Kind::Union && bits <= u64::from(l.bytes) * 8,
            Count::Array(_) | Count::List => false,
        };
        let held =
            |f: &Field| matches!(&f.element, Element::Layout(inner) if *inner == theirs.name);
        let mut all = self.layouts.iter().flat_map(|l| l.fields.iter().map(move |f| (l, f)));
        if all.any(|(l, f)| held(f) && !has_room(l, f)) {
            return;
        }
        let (name, before) = (ours.name.clone(), ours.extent());
        let (origin, from) = (ours.origin.clone(), ours.from.clone());
        self.layouts[at].bytes = theirs.bytes;
        let extent = self.layouts[at].extent();
        // Who said something else again has a conflict already, and who said this has none any more.
        let others: Vec<String> = self
            .conflicts
            .iter_mut()
            .filter(|c| c.at == name)
            .flat_map(|c| {
                c.ours.clone_from(&extent);
                c.from.clone()
            })
            .collect();
        self.conflicts.retain(|c| c.at != name || c.theirs != extent);
        for said in from.iter().filter(|f| !others.contains(f) && *f != source) {
            let (name, ours, theirs) = (name.clone(), extent.clone(), before.clone());
            self.conflict(said, &origin, name, ours, theirs, "lengthened");
        }
        self.admit(at);
    }

    /// Judges anew what was refused because of the length that a layout had.
    fn admit(&mut self, at: usize) {
        let name = self.layouts[at].name.clone();
        let about =
            |r: &Refused| r.layout.name == name || r.field.element == Element::Layout(name.clone());
        let (again, rest): (Vec<Refused>, Vec<Refused>) =
            std::mem::take(&mut self.refused).into_iter().partition(about);
        self.refused = rest;
        for Refused { source, layout, field, .. } in &again {
            let (path, place) = (format!("{}.{}", layout.name, field.name), field.place());
            for conflict in self.conflicts.iter_mut().filter(|c| c.at == path && c.theirs == place)
            {
                conflict.from.retain(|from| from != source);
            }
        }
        self.conflicts.retain(|c| !c.from.is_empty());
        for Refused { source, layout, field, element_bits } in &again {
            let Some(at) = self.find(&layout.name) else { continue };
            let claim = Claim { source, layout, field, element_bits: *element_bits };
            self.claim(at, &claim);
            self.rank_fields(at);
        }
    }

    /// Brings the sources of fields into their order, each once, where a source comes late.
    fn rank_fields(&mut self, at: usize) {
        for field in &mut self.layouts[at].fields {
            field.from.sort_by_key(|from| self.ranks.iter().position(|rank| rank == from));
            field.from.dedup();
        }
    }

    fn layout(&mut self, source: &str, theirs: Layout, element_bits: &[u32]) {
        let at = self.find(&theirs.name).unwrap_or_else(|| {
            self.layouts.push(Layout { fields: Vec::new(), from: Vec::new(), ..theirs.clone() });
            self.layouts.len() - 1
        });
        let ours = &mut self.layouts[at];
        add_source(&mut ours.from, source);
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
        self.learn(at, source, &theirs, element_bits);
    }

    fn claim(&mut self, at: usize, claim: &Claim<'_>) {
        let (source, field) = (claim.source, claim.field);
        match self.judge(at, claim) {
            Verdict::Agrees(i) => add_source(&mut self.layouts[at].fields[i].from, source),
            Verdict::Added { overlays, joins } => {
                let mut from = self.resolved(&claim.layout.name, field);
                add_source(&mut from, source);
                let fields = &mut self.layouts[at].fields;
                for joining in fields.iter_mut().filter(|f| joins.iter().any(|j| j == anchor(f))) {
                    joining.overlays.clone_from(&overlays);
                }
                let place = fields.iter().position(|f| f.bit > field.bit).unwrap_or(fields.len());
                // What selects a member is learned when all fields are there.
                let selector = None;
                fields.insert(place, Field { overlays, from, selector, ..field.clone() });
            }
            Verdict::Differs { ours, why } => {
                if [PAST_THE_END, HOLDS_A_CONFLICT].contains(&why) {
                    self.refused.push(Refused {
                        source: source.to_owned(),
                        layout: claim.layout.clone(),
                        field: field.clone(),
                        element_bits: claim.element_bits,
                    });
                }
                let path = format!("{}.{}", self.layouts[at].name, field.name);
                self.conflict(source, &field.origin, path, ours, field.place(), why);
            }
        }
    }

    /// The sources whose field is added now, and was refused before beside other fields of theirs.
    /// Their conflicts are none any more.
    fn resolved(&mut self, layout: &str, field: &Field) -> Vec<String> {
        let (path, place) = (format!("{layout}.{}", field.name), field.place());
        let is_same = |c: &Conflict| c.at == path && c.theirs == place;
        let from = self.conflicts.iter().filter(|c| is_same(c)).flat_map(|c| c.from.clone());
        let mut from: Vec<String> = from.collect();
        from.sort_by_key(|from| self.ranks.iter().position(|rank| rank == from));
        self.conflicts.retain(|c| !is_same(c));
        from
    }

    fn judge(&self, at: usize, claim: &Claim<'_>) -> Verdict {
        let ours = &self.layouts[at];
        let field = claim.field;
        let (start, end) = claim.range();
        let bits = |f: &Field| self.element_bits(&f.element);
        if let Some(i) = ours.fields.iter().position(|f| f.name == field.name) {
            let known = &ours.fields[i];
            // That a layout has another length is told of the layout, not of who holds it.
            if (known.bit, known.count, &known.element) == (field.bit, field.count, &field.element)
            {
                return Verdict::Agrees(i);
            }
            let (from, to) = range(known, bits(known));
            let why = match () {
                () if both_linux(&known.from, claim.source) => "later revision",
                () if (from, to) == (start, end) => "retyped",
                () if from <= start && end <= to => "widened",
                () if start <= from && to <= end => "narrowed",
                () => "moved",
            };
            return Verdict::Differs { ours: known.place(), why };
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
            let ours = format!("a layout of 0x{inner:02x} bytes");
            return Verdict::Differs { ours, why: HOLDS_A_CONFLICT };
        }
        if ours.kind != claim.layout.kind {
            return Verdict::Differs { ours: ours.extent(), why: "another kind" };
        }
        if (field.count == Count::List && start > whole)
            || (field.count != Count::List && end > whole)
        {
            return Verdict::Differs { ours: length(), why: PAST_THE_END };
        }
        if ours.kind == Kind::Union {
            return Verdict::Added { overlays: None, joins: Vec::new() };
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
            return Verdict::Added { overlays: anchor.cloned(), joins: Vec::new() };
        }
        // The source may have a union here, of which some members are known.
        let group = anchor(field);
        let member =
            |f: &Field| claim.layout.field(&f.name).is_some_and(|theirs| anchor(theirs) == group);
        if there.iter().all(|i| member(&ours.fields[*i])) {
            let shared = anchor(&ours.fields[there[0]]).to_owned();
            let mut joins: Vec<String> =
                there.iter().map(|i| anchor(&ours.fields[*i]).to_owned()).collect();
            joins.retain(|name| *name != shared);
            return Verdict::Added { overlays: Some(shared), joins };
        }
        let linux = there.iter().any(|i| both_linux(&ours.fields[*i].from, claim.source));
        let listed: Vec<String> = there
            .iter()
            .map(|i| format!("{} {}", ours.fields[*i].name, ours.fields[*i].place()))
            .collect();
        let first = &ours.fields[there[0]];
        let (from, to) = range(first, bits(first));
        let why = match () {
            () if linux => "later revision",
            () if there.len() == 1 && (from, to) == (start, end) => "renamed",
            () if there.len() == 1 && from <= start && end <= to => "joined",
            () => "split",
        };
        Verdict::Differs { ours: listed.join(", "), why }
    }

    pub(super) fn element_bits(&self, element: &Element) -> u32 {
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
