//! Compares what gcc sees in the headers of a source with what the tables say of that source.
//!
//! Both become a set of facts, and the sets have to be the same: what a source has as the tables
//! have it, what it says otherwise, and its second names of layouts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use crate::claim::Claim;
use crate::headers::{CLayout, Seen};
use crate::spec::{Element, Field, TableField, TableLayout, Tables};

/// One thing that is said of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// It has this layout or register; this field or enumerator as the tables have it.
    Has(String),
    /// It says otherwise of this layout, field, enumerator or register.
    Says(String, Claim),
    /// It calls a layout by a name of its own, and it is this one.
    Calls(String, String),
    /// It has a layout that is not in the tables.
    New(String),
    /// The same is said of it twice.
    Twice(String),
}

impl Fact {
    /// What it is about.
    fn at(&self) -> &str {
        match self {
            Fact::Has(at)
            | Fact::Says(at, _)
            | Fact::Calls(at, _)
            | Fact::New(at)
            | Fact::Twice(at) => at,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Has(at) => write!(f, "{at} is there, as in the tables"),
            Fact::Says(at, claim) => write!(f, "{at} is otherwise: {claim}"),
            Fact::Calls(name, of) => write!(f, "{name} is another name of {of}"),
            Fact::New(at) => write!(f, "{at} is there"),
            Fact::Twice(at) => write!(f, "{at}, twice the same"),
        }
    }
}

/// Where the two sides do not agree.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Whether gcc sees it; else the tables say it.
    pub(crate) seen: bool,
    pub(crate) fact: Fact,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen {
            true => write!(f, "gcc sees and the tables do not say: {}", self.fact),
            false => write!(f, "the tables say and gcc does not see: {}", self.fact),
        }
    }
}

/// Beginnings of enumerators that are ids of registers.
const REGISTERS: [&str; 2] = ["MLX5_REG_", "MLX5_REGISTER_ID_"];

/// A source, and the names and sizes of all layouts on both sides.
pub(crate) struct Comparison<'a> {
    pub(crate) source: &'a str,
    /// What the layouts of the source that have names of its own are called in the tables.
    names: HashMap<&'a str, &'a str>,
    /// Sizes in bits by the source, by its names.
    theirs: HashMap<&'a str, u64>,
    /// Sizes in bits by the tables.
    ours: HashMap<&'a str, u64>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(source: &'a str, seen: &'a Seen, tables: &'a Tables) -> Comparison<'a> {
        Comparison {
            source,
            names: names(source, tables),
            theirs: seen.layouts.iter().map(|layout| (&*layout.name, layout.bits)).collect(),
            ours: tables.layouts.iter().map(|layout| (&*layout.name, layout.bits)).collect(),
        }
    }

    /// A field of the source, with the names of the tables.
    fn in_our_names(&self, field: &Field) -> Field {
        let element = match &field.element {
            Element::Layout(name) => {
                Element::Layout(self.names.get(&**name).map_or(&**name, |name| *name).to_owned())
            }
            Element::Bits(width) => Element::Bits(*width),
        };
        Field { element, ..field.clone() }
    }

    /// Whether a layout that a field holds has the same size on both sides.
    fn holds_the_same(&self, theirs: &Field, ours: &Field) -> bool {
        match (&theirs.element, &ours.element) {
            (Element::Layout(theirs), Element::Layout(ours)) => {
                self.theirs.get(&**theirs) == self.ours.get(&**ours)
            }
            _ => true,
        }
    }

    /// Where gcc and the tables, or parts of both, do not agree.
    pub(crate) fn differences(&self, seen: &Seen, tables: &Tables) -> Vec<Difference> {
        let (seen, all) = (self.facts_seen(seen, tables), self.facts_said(tables));
        let said: BTreeSet<Fact> = all.iter().cloned().collect();
        let difference = |seen, fact: &Fact| Difference { seen, fact: fact.clone() };
        let mut found: Vec<Difference> =
            seen.difference(&said).map(|fact| difference(true, fact)).collect();
        found.extend(said.difference(&seen).map(|fact| difference(false, fact)));
        if all.len() != said.len() {
            let twice = said.iter().filter(|fact| all.iter().filter(|one| one == fact).count() > 1);
            found.extend(twice.map(|fact| difference(false, &Fact::Twice(fact.at().to_owned()))));
        }
        found
    }

    /// What gcc sees.
    pub(crate) fn facts_seen(&self, seen: &Seen, tables: &Tables) -> BTreeSet<Fact> {
        let mut facts = BTreeSet::new();
        let (known, names) = (by_name(tables), names(self.source, tables));
        let conflicts = tables.conflicts.iter().filter(|c| has(&c.from, self.source));
        let conflicts: HashSet<&str> = conflicts.map(|c| &*c.at).collect();
        for theirs in &seen.layouts {
            let name = names.get(&*theirs.name).copied().unwrap_or(&theirs.name);
            if name != theirs.name {
                facts.insert(Fact::Calls(theirs.name.clone(), name.to_owned()));
            }
            match known.get(name) {
                Some(ours) => self.layout_seen(theirs, ours, &conflicts, &mut facts),
                None => drop(facts.insert(Fact::New(name.to_owned()))),
            }
        }
        for faulty in &seen.faulty {
            facts.insert(Fact::Says(faulty.name.clone(), Claim::Word(faulty.why.clone())));
        }
        let numbers: HashMap<&str, i64> =
            tables.enumerators.iter().map(|e| (&*e.name, e.value)).collect();
        for (name, value) in seen.enumerators() {
            let name = our_enumerator(name);
            facts.insert(match numbers.get(&*name) {
                Some(ours) if ours == value => Fact::Has(name.clone()),
                _ => Fact::Says(name.clone(), Claim::Number(*value)),
            });
            if let Some((id, name)) = register(&name, *value) {
                let at = register_at(id);
                let mut ours = tables.registers.iter().filter(|r| r.id == id);
                if ours.next().is_some_and(|ours| !ours.name.eq_ignore_ascii_case(name)) {
                    facts.insert(Fact::Says(at.clone(), Claim::Word(name.to_owned())));
                }
                facts.insert(Fact::Has(at));
            }
        }
        facts
    }

    /// `conflicts` are the places where the tables say that this source says otherwise.
    fn layout_seen(
        &self,
        theirs: &CLayout,
        ours: &TableLayout,
        conflicts: &HashSet<&str>,
        facts: &mut BTreeSet<Fact>,
    ) {
        facts.insert(Fact::Has(ours.name.clone()));
        if (theirs.is_union, theirs.bits) != (ours.is_union, ours.bits) {
            let extent = Claim::extent(theirs.is_union, theirs.bits);
            facts.insert(Fact::Says(ours.name.clone(), extent));
        }
        let known: HashMap<&str, &TableField> =
            ours.fields.iter().map(|field| (&*field.name, field)).collect();
        for field in &theirs.fields {
            let at = format!("{}.{}", ours.name, field.name);
            let named = self.in_our_names(field);
            let same = known.get(&*field.name).is_some_and(|ours| {
                // That a layout in it is longer or shorter is said of that layout, and may be said of
                // the field.
                named == ours.field
                    && (self.holds_the_same(field, ours) || !conflicts.contains(&*at))
            });
            facts.insert(match same {
                true => Fact::Has(at),
                false => Fact::Says(at, Claim::place(&named)),
            });
        }
    }

    /// What the tables say.
    fn facts_said(&self, tables: &Tables) -> Vec<Fact> {
        let mut facts = Vec::new();
        for layout in &tables.layouts {
            if has(&layout.from, self.source) {
                facts.push(Fact::Has(layout.name.clone()));
            }
            let fields = layout.fields.iter().filter(|field| has(&field.from, self.source));
            facts.extend(fields.map(|field| Fact::Has(format!("{}.{}", layout.name, field.name))));
        }
        let enumerators = tables.enumerators.iter().filter(|e| has(&e.from, self.source));
        facts.extend(enumerators.map(|e| Fact::Has(e.name.clone())));
        let registers = tables.registers.iter().filter(|r| has(&r.from, self.source));
        facts.extend(registers.map(|r| Fact::Has(register_at(r.id))));
        let aliases = tables.aliases.iter().filter(|alias| has(&alias.from, self.source));
        facts.extend(aliases.map(|alias| Fact::Calls(alias.name.clone(), alias.of.clone())));
        let conflicts = tables.conflicts.iter().filter(|c| has(&c.from, self.source));
        facts.extend(conflicts.map(|c| Fact::Says(c.at.clone(), Claim::parse(&c.theirs))));
        facts
    }

    /// The fields that are the same on both sides, so that their values can be compared.
    pub(crate) fn alike<'s>(&self, seen: &'s Seen, tables: &'s Tables) -> Vec<Alike<'s>> {
        let known = by_name(tables);
        let mut alike = Vec::new();
        for theirs in &seen.layouts {
            let name = self.names.get(&*theirs.name).copied().unwrap_or(&theirs.name);
            let Some(ours) = known.get(name) else { continue };
            for field in &theirs.fields {
                let named = self.in_our_names(field);
                let same =
                    |ours: &TableField| ours.field == named && self.holds_the_same(field, ours);
                if ours.fields.iter().any(same) {
                    alike.push(Alike { theirs, field, ours });
                }
            }
        }
        alike
    }
}

/// The layouts of the tables.
fn by_name(tables: &Tables) -> HashMap<&str, &TableLayout> {
    tables.layouts.iter().map(|layout| (&*layout.name, layout)).collect()
}

/// What a source's own names of layouts are in the tables.
fn names<'t>(source: &str, tables: &'t Tables) -> HashMap<&'t str, &'t str> {
    let aliases = tables.aliases.iter().filter(|alias| has(&alias.from, source));
    aliases.map(|alias| (&*alias.name, &*alias.of)).collect()
}

/// A field that is the same on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike<'a> {
    /// The layout of the source.
    pub(crate) theirs: &'a CLayout,
    /// Its field, with the names of the source.
    pub(crate) field: &'a Field,
    /// The layout of the tables.
    pub(crate) ours: &'a TableLayout,
}

impl Alike<'_> {
    /// The field in the tables.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.ours.name, self.field.name)
    }
}

pub(crate) fn has(from: &[String], source: &str) -> bool {
    from.iter().any(|from| from == source)
}

/// An enumerator as the tables call it: UCX has a beginning of its own.
pub(crate) fn our_enumerator(name: &str) -> String {
    match name.strip_prefix("UCT_IB_MLX5_") {
        Some(rest) => format!("MLX5_{rest}"),
        None => name.to_owned(),
    }
}

/// The id and the name of a register, if the enumerator is one.
pub(crate) fn register(name: &str, value: i64) -> Option<(u64, &str)> {
    let name = REGISTERS.iter().find_map(|beginning| name.strip_prefix(beginning))?;
    // Ids have 16 bits; what is more is a limit.
    Some((u16::try_from(value).ok()?.into(), name))
}

/// How conflicts name a register.
pub(crate) fn register_at(id: u64) -> String {
    format!("register 0x{id:04x}")
}

/// How much a set of facts has of each.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) layouts: usize,
    other_layouts: usize,
    pub(crate) fields: usize,
    other_fields: usize,
    enumerators: usize,
    other_enumerators: usize,
    registers: usize,
    other_registers: usize,
    aliases: usize,
}

impl Counts {
    pub(crate) fn of(facts: &BTreeSet<Fact>, seen: &Seen) -> Counts {
        let enumerators: HashSet<String> =
            seen.enumerators().map(|(name, _)| our_enumerator(name)).collect();
        let mut counts = Counts::default();
        for fact in facts {
            let at = fact.at();
            let (same, other) = match at {
                _ if matches!(fact, Fact::Calls(..)) => {
                    counts.aliases += 1;
                    continue;
                }
                _ if at.starts_with("register ") => {
                    (&mut counts.registers, &mut counts.other_registers)
                }
                _ if at.contains('.') => (&mut counts.fields, &mut counts.other_fields),
                _ if enumerators.contains(at) => {
                    (&mut counts.enumerators, &mut counts.other_enumerators)
                }
                _ => (&mut counts.layouts, &mut counts.other_layouts),
            };
            match fact {
                Fact::Has(_) => *same += 1,
                _ => *other += 1,
            }
        }
        counts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} layouts, {} layouts otherwise; {} fields the same, {} otherwise; {} enumerators the \
             same, {} otherwise; {} registers, {} by other names; {} second names of layouts",
            self.layouts,
            self.other_layouts,
            self.fields,
            self.other_fields,
            self.enumerators,
            self.other_enumerators,
            self.registers,
            self.other_registers,
            self.aliases
        )
    }
}

/// What came out of [`compare_loosely`].
#[derive(Debug, Default)]
pub(crate) struct Loosely {
    /// Fields that are the same.
    pub(crate) same: usize,
    /// What differs, and is a known conflict of some source.
    pub(crate) known: Vec<String>,
    /// What only the headers have.
    pub(crate) new: Vec<String>,
    /// What differs, and no source is known to say otherwise.
    pub(crate) wrong: Vec<String>,
}

/// Compares headers that are no source of the tables, such as another version of Linux. What both
/// have must be the same, or some source must be known to say otherwise there.
pub(crate) fn compare_loosely(seen: &Seen, tables: &Tables) -> Loosely {
    let known = by_name(tables);
    let aliases: HashMap<&str, &str> =
        tables.aliases.iter().map(|alias| (&*alias.name, &*alias.of)).collect();
    let conflicts: HashSet<&str> = tables.conflicts.iter().map(|c| &*c.at).collect();
    let our_name = |name: &str| match known.contains_key(name) {
        true => name.to_owned(),
        false => aliases.get(name).copied().unwrap_or(name).to_owned(),
    };
    let mut out = Loosely::default();
    let differs = |out: &mut Loosely, at: String, here: Claim, ours: Claim| {
        let list = if conflicts.contains(&*at) { &mut out.known } else { &mut out.wrong };
        list.push(format!("{at}: {here} there, {ours} in the tables"));
    };
    for theirs in &seen.layouts {
        let name = our_name(&theirs.name);
        let here = Claim::extent(theirs.is_union, theirs.bits);
        let Some(ours) = known.get(&*name) else {
            out.new.push(format!("{name}: {here}"));
            continue;
        };
        let ours_is = Claim::extent(ours.is_union, ours.bits);
        if here != ours_is {
            differs(&mut out, name.clone(), here, ours_is);
        }
        for field in &theirs.fields {
            let at = format!("{name}.{}", field.name);
            let element = match &field.element {
                Element::Layout(inner) => Element::Layout(our_name(inner)),
                Element::Bits(width) => Element::Bits(*width),
            };
            let field = Field { element, ..field.clone() };
            match ours.fields.iter().find(|other| other.name == field.name) {
                Some(ours) if ours.field == field => out.same += 1,
                Some(ours) => differs(&mut out, at, Claim::place(&field), Claim::place(ours)),
                None => out.new.push(format!("{at}: {}", Claim::place(&field))),
            }
        }
    }
    out
}
