//! The check itself finds what is wrong: in every part of the tables that agrees with the headers, one
//! mistake after the other is made, in all ways.

use std::collections::BTreeSet;

use crate::claim::Claim;
use crate::compare::{Comparison, compare_loosely, has, our_enumerator, register, register_at};
use crate::headers::{CLayout, Faulty, Seen};
use crate::spec::{
    Alias, Conflict, Count, Element, Enumerator, Register, TableField, TableLayout, Tables,
};
use crate::{list, seen, tables};

/// A part of the tables, and what gcc sees of it.
struct Part {
    /// What it is about, as conflicts name it.
    at: String,
    seen: Seen,
    tables: Tables,
}

/// What was found of mistakes.
#[derive(Default)]
struct Found {
    made: usize,
    missed: Vec<String>,
}

impl Part {
    /// One layout without its fields, or with one field alone: what is compared of a field depends
    /// on nothing but the layout around it.
    fn of_layout(source: &str, seen: &Seen, layout: &TableLayout, field: Option<&str>) -> Part {
        let aliases = tables().aliases.iter().filter(|alias| alias.of == layout.name);
        let aliases: Vec<Alias> = aliases.cloned().collect();
        let is = |name: &str| {
            let mut used = aliases.iter().filter(|alias| has(&alias.from, source));
            name == layout.name || used.any(|alias| alias.name == name)
        };
        let mut theirs: Vec<CLayout> =
            seen.layouts.iter().filter(|c| is(&c.name)).cloned().collect();
        for theirs in &mut theirs {
            theirs.fields.retain(|f| Some(&*f.name) == field);
        }
        let mut ours = layout.clone();
        ours.fields.retain(|f| Some(&*f.name) == field);
        let at = match field {
            Some(field) => format!("{}.{field}", layout.name),
            None => layout.name.clone(),
        };
        let is = |c: &&Conflict| c.at == at || c.at == layout.name;
        let conflicts = tables().conflicts.iter().filter(is).cloned().collect();
        let faulty = seen.faulty.iter().filter(|faulty| faulty.name == layout.name);
        let faulty = faulty.cloned().collect();
        Part {
            at,
            seen: Seen { layouts: theirs, faulty, ..Seen::default() },
            tables: Tables { layouts: vec![ours], aliases, conflicts, ..Tables::default() },
        }
    }

    /// One enumerator, and the register whose id it is.
    fn of_enumerator(seen: &Seen, ours: &Enumerator) -> Part {
        let theirs = seen.enumerators().filter(|(name, _)| our_enumerator(name) == ours.name);
        let enumerators: Vec<(String, i64)> = theirs.cloned().collect();
        let mut registers = Vec::new();
        for (_, value) in &enumerators {
            let id = register(&ours.name, *value).map(|(id, _)| id);
            registers.extend(tables().registers.iter().filter(|r| Some(r.id) == id).cloned());
        }
        let is = |c: &&Conflict| {
            c.at == ours.name || registers.iter().any(|r| c.at == register_at(r.id))
        };
        let conflicts = tables().conflicts.iter().filter(is).cloned().collect();
        Part {
            at: ours.name.clone(),
            seen: Seen { enumerations: vec![enumerators], ..Seen::default() },
            tables: Tables {
                enumerators: vec![ours.clone()],
                registers,
                conflicts,
                ..Tables::default()
            },
        }
    }

    /// Something that is called like a layout and is none.
    fn of_faulty(faulty: &Faulty) -> Part {
        let is = |c: &&Conflict| c.at == faulty.name;
        Part {
            at: faulty.name.clone(),
            seen: Seen { faulty: vec![faulty.clone()], ..Seen::default() },
            tables: Tables {
                conflicts: tables().conflicts.iter().filter(is).cloned().collect(),
                ..Tables::default()
            },
        }
    }

    /// Whether it has no difference as it is; else it can't show that one more is found.
    fn is_clean(&self, comparison: &Comparison<'_>) -> bool {
        comparison.differences(&self.seen, &self.tables).is_empty()
    }

    /// Makes a mistake in a copy of the tables, and sees whether it is found.
    fn spoil(
        &self,
        comparison: &Comparison<'_>,
        found: &mut Found,
        what: impl FnOnce() -> String,
        spoil: impl FnOnce(&mut Tables),
    ) {
        let mut tables = self.tables.clone();
        spoil(&mut tables);
        found.made += 1;
        if comparison.differences(&self.seen, &tables).is_empty() {
            found.missed.push(what());
        }
    }
}

/// Takes a source from those of a fact, or adds it.
fn turn(from: &mut Vec<String>, source: &str) {
    match from.iter().position(|from| from == source) {
        Some(i) => drop(from.remove(i)),
        None => from.push(source.to_owned()),
    }
}

/// Another claim than this.
fn other(theirs: &str) -> String {
    let other = match Claim::parse(theirs) {
        Claim::Extent { is_union, bytes } => Claim::Extent { is_union, bytes: bytes + 4 },
        Claim::Place { byte, what, count } => Claim::Place { byte: byte + 4, what, count },
        Claim::Number(number) => Claim::Number(number + 1),
        Claim::Word(word) => Claim::Word(word + "_wrong"),
    };
    other.to_string()
}

fn spoil_layout(part: &Part, comparison: &Comparison<'_>, found: &mut Found) {
    let described = has(&part.tables.layouts[0].from, comparison.source);
    let mut spoil = |what: &str, how: &dyn Fn(&mut TableLayout)| {
        let text = || format!("{}: {what}", part.at);
        part.spoil(comparison, found, text, |tables| how(&mut tables.layouts[0]));
    };
    spoil("its sources", &|layout| turn(&mut layout.from, comparison.source));
    if described {
        spoil("its name", &|layout| layout.name.push_str("_wrong"));
    }
    // Of a source that says otherwise already, one more way to be otherwise can't be seen.
    let says = |c: &Conflict| has(&c.from, comparison.source);
    if described && !part.tables.conflicts.iter().any(says) {
        spoil("its size", &|layout| layout.bits += 32);
        spoil("its kind", &|layout| layout.is_union = !layout.is_union);
    }
    for (i, Alias { name, from, .. }) in part.tables.aliases.iter().enumerate() {
        let mut spoil = |what: &str, how: &dyn Fn(&mut Tables)| {
            part.spoil(comparison, found, || format!("second name {name}: {what}"), how);
        };
        spoil("its sources", &|tables| turn(&mut tables.aliases[i].from, comparison.source));
        if has(from, comparison.source) {
            spoil("gone", &|tables| drop(tables.aliases.remove(i)));
            spoil("of another", &|tables| tables.aliases[i].of.push_str("_wrong"));
            spoil("other", &|tables| tables.aliases[i].name.push_str("_wrong"));
        }
    }
    spoil_conflicts(part, comparison, found);
}

fn spoil_field(part: &Part, comparison: &Comparison<'_>, found: &mut Found) {
    if let Some(field) = part.tables.layouts[0].fields.first() {
        let mut spoil = |what: &str, how: &dyn Fn(&mut TableField)| {
            let text = || format!("{}: {what}", part.at);
            part.spoil(comparison, found, text, |tables| how(&mut tables.layouts[0].fields[0]));
        };
        spoil("its sources", &|field| turn(&mut field.from, comparison.source));
        if has(&field.from, comparison.source) {
            spoil("its name", &|field| field.field.name.push_str("_wrong"));
            spoil("its place", &|field| field.field.bit ^= 1);
            spoil("its element", &|field| match &mut field.field.element {
                Element::Bits(width) => *width *= 2,
                Element::Layout(name) => name.push_str("_wrong"),
            });
            spoil("its count", &|field| {
                field.field.count = match field.field.count {
                    Count::One => Count::List,
                    Count::Array(n) => Count::Array(n + 1),
                    Count::List => Count::Array(1),
                }
            });
        }
    }
    spoil_conflicts(part, comparison, found);
}

fn spoil_conflicts(part: &Part, comparison: &Comparison<'_>, found: &mut Found) {
    for (i, Conflict { at, from, theirs, .. }) in part.tables.conflicts.iter().enumerate() {
        // Those of the layout around a field are spoiled with the layout.
        if *at != part.at && !at.starts_with("register ") {
            continue;
        }
        let mut spoil = |what: &str, how: &dyn Fn(&mut Tables)| {
            part.spoil(comparison, found, || format!("conflict at {at}: {what}"), how);
        };
        spoil("its sources", &|tables| turn(&mut tables.conflicts[i].from, comparison.source));
        if has(from, comparison.source) {
            spoil("gone", &|tables| drop(tables.conflicts.remove(i)));
            spoil("says other", &|tables| tables.conflicts[i].theirs = other(theirs));
            spoil("elsewhere", &|tables| tables.conflicts[i].at.push_str("_wrong"));
        }
    }
}

fn spoil_enumerator(part: &Part, comparison: &Comparison<'_>, found: &mut Found) {
    let Enumerator { name, from, .. } = &part.tables.enumerators[0];
    let mut spoil = |what: &str, how: &dyn Fn(&mut Enumerator)| {
        let how = |tables: &mut Tables| how(&mut tables.enumerators[0]);
        part.spoil(comparison, found, || format!("{name}: {what}"), how);
    };
    spoil("its sources", &|e| turn(&mut e.from, comparison.source));
    if has(from, comparison.source) {
        spoil("its number", &|e| e.value += 1);
        spoil("its name", &|e| e.name.push_str("_WRONG"));
    }
    spoil_conflicts(part, comparison, found);
    for (i, Register { name, from, .. }) in part.tables.registers.iter().enumerate() {
        let mut spoil = |what: &str, how: &dyn Fn(&mut Tables)| {
            part.spoil(comparison, found, || format!("register {name}: {what}"), how);
        };
        spoil("its sources", &|tables| turn(&mut tables.registers[i].from, comparison.source));
        if has(from, comparison.source) {
            spoil("gone", &|tables| drop(tables.registers.remove(i)));
            spoil("its id", &|tables| tables.registers[i].id += 1);
            if !part.tables.conflicts.iter().any(|c| has(&c.from, comparison.source)) {
                spoil("its name", &|tables| tables.registers[i].name.push_str("_WRONG"));
            }
        }
    }
}

/// Spoils a part in one way after the other.
type Spoil = fn(&Part, &Comparison<'_>, &mut Found);

#[test]
fn every_mistake_in_the_tables_is_found() {
    for (headers, seen) in seen() {
        let Some(source) = &headers.source else { continue };
        let comparison = Comparison::new(source, seen, tables());
        let mut parts: Vec<(Part, Spoil)> = Vec::new();
        for layout in &tables().layouts {
            parts.push((Part::of_layout(source, seen, layout, None), spoil_layout));
            let conflicts = tables().conflicts.iter().filter_map(|c| c.at.split_once('.'));
            let others = conflicts.filter(|(name, _)| *name == layout.name).map(|(_, field)| field);
            let fields = layout.fields.iter().map(|f| &*f.name).chain(others);
            let fields: BTreeSet<&str> = fields.collect();
            let part = |field| Part::of_layout(source, seen, layout, Some(field));
            parts.extend(fields.into_iter().map(|field| (part(field), spoil_field as Spoil)));
        }
        let faulty = seen.faulty.iter().map(Part::of_faulty);
        parts.extend(faulty.map(|part| (part, spoil_conflicts as Spoil)));
        let enumerators = tables().enumerators.iter().map(|e| Part::of_enumerator(seen, e));
        parts.extend(enumerators.map(|part| (part, spoil_enumerator as Spoil)));
        let (mut found, mut not_clean) = (Found::default(), 0);
        for (part, spoil) in &parts {
            match part.is_clean(&comparison) {
                true => spoil(part, &comparison, &mut found),
                false => not_clean += 1,
            }
        }
        let Found { made, missed } = found;
        println!(
            "{}: {made} mistakes in {} parts of the tables found; {not_clean} parts differ already",
            headers.name,
            parts.len()
        );
        assert!(missed.is_empty(), "{}: not found:{}", headers.name, list(&missed));
        assert!(made > 10_000 && not_clean < 100);
    }
}

/// Headers that are no source of the tables are compared with a weaker rule. Those that are one pass
/// it, and mistakes in what both have are found, where no conflict is known.
#[test]
fn the_weaker_rule_finds_mistakes() {
    for (headers, seen) in seen().iter().filter(|(headers, _)| headers.linux) {
        let loosely = compare_loosely(seen, tables());
        assert!(loosely.wrong.is_empty(), "{}:{}", headers.name, list(&loosely.wrong));
        let mut found = 0;
        for theirs in &seen.layouts {
            let Some(ours) = tables().layouts.iter().find(|ours| ours.name == theirs.name) else {
                continue;
            };
            let of = |c: &&Conflict| c.at.split('.').next() == Some(&*ours.name);
            let conflicts: Vec<Conflict> = tables().conflicts.iter().filter(of).cloned().collect();
            let is_known = |at: &str| conflicts.iter().any(|c| c.at == at);
            let part = Tables {
                layouts: vec![ours.clone()],
                conflicts: conflicts.clone(),
                ..Tables::default()
            };
            let mut spoil = |at: &str, there: bool, layout: CLayout| {
                let seen = Seen { layouts: vec![layout], ..Seen::default() };
                let wrong = compare_loosely(&seen, &part).wrong;
                assert_eq!(wrong.len(), usize::from(there && !is_known(at)), "{at}: {wrong:?}");
                found += wrong.len();
            };
            spoil(&ours.name, true, CLayout { bits: theirs.bits + 32, ..theirs.clone() });
            for (i, field) in theirs.fields.iter().enumerate() {
                let there = ours.fields.iter().any(|ours| ours.name == field.name);
                let mut layout = theirs.clone();
                layout.fields[i].bit += 1;
                spoil(&format!("{}.{}", ours.name, field.name), there, layout);
            }
        }
        println!("{}: {found} mistakes found by the weaker rule", headers.name);
        assert!(found > 4_000);
    }
}
