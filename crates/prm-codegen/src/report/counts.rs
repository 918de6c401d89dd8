//! What each source gave to the tables.

use crate::merge::is_linux;
use crate::model::*;

/// What is counted of one source, or of all versions of Linux together.
#[derive(Default)]
struct Row {
    layouts: usize,
    only_layouts: usize,
    fields: usize,
    only_fields: usize,
    enumerators: usize,
    only_enumerators: usize,
    registers: usize,
    only_registers: usize,
    aliases: usize,
    conflicts: usize,
}

/// A table of what each source describes, what it alone describes, and where it says otherwise.
///
/// A layout that a source has under a second name counts for that source.
pub fn counts(spec: &Spec) -> String {
    let mut rows: Vec<(String, Row)> = Vec::new();
    let linux = spec.sources.iter().filter(|s| is_linux(&s.name)).count() > 1;
    if linux {
        rows.push(("Linux".into(), row(spec, is_linux)));
    }
    for source in &spec.sources {
        rows.push((source.name.clone(), row(spec, |from| from == source.name)));
    }
    let layouts = spec.layouts.len();
    let fields: usize = spec.layouts.iter().map(|l| l.fields.len()).sum();
    let enumerators: usize = spec.enums.iter().map(|e| e.values.len()).sum();
    let names = layouts + spec.aliases.len();
    let mut text = format!(
        "{:10} {:>13} {:>13} {:>13} {:>11} {:>7} {:>9}\n",
        "source", "layouts", "fields", "enumerators", "registers", "aliases", "conflicts"
    );
    for (name, r) in rows {
        let both = |all: usize, only: usize| format!("{all} ({only})");
        text.push_str(&format!(
            "{name:10} {:>13} {:>13} {:>13} {:>11} {:>7} {:>9}\n",
            both(r.layouts, r.only_layouts),
            both(r.fields, r.only_fields),
            both(r.enumerators, r.only_enumerators),
            both(r.registers, r.only_registers),
            r.aliases,
            r.conflicts
        ));
    }
    text.push_str(&format!(
        "{:10} {layouts:>13} {fields:>13} {enumerators:>13} {:>11} {:>7} {:>9}\n",
        "all",
        spec.registers.len(),
        spec.aliases.len(),
        spec.conflicts.len()
    ));
    text.push_str(&format!(
        "In brackets: what no other source has. {names} names of layouts, aliases counted.\n"
    ));
    text
}

fn row(spec: &Spec, is: impl Fn(&str) -> bool) -> Row {
    let mut row = Row::default();
    let has = |from: &[String]| from.iter().any(|f| is(f));
    let only = |from: &[String]| has(from) && from.iter().all(|f| is(f));
    for layout in &spec.layouts {
        row.layouts += usize::from(has(&layout.from));
        row.only_layouts += usize::from(only(&layout.from));
        for field in &layout.fields {
            let from = if field.from.is_empty() { &layout.from } else { &field.from };
            row.fields += usize::from(has(from));
            row.only_fields += usize::from(only(from));
        }
    }
    for e in &spec.enums {
        for value in &e.values {
            let from = if value.from.is_empty() { &e.from } else { &value.from };
            row.enumerators += usize::from(has(from));
            row.only_enumerators += usize::from(only(from));
        }
    }
    for register in &spec.registers {
        row.registers += usize::from(has(&register.from));
        row.only_registers += usize::from(only(&register.from));
    }
    row.aliases = spec.aliases.iter().filter(|a| has(&a.from)).count();
    row.conflicts = spec.conflicts.iter().filter(|c| has(&c.from)).count();
    row
}
