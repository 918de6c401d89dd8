//! How two sets of tables differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::*;

/// The differences from `a` to `b`, a line each: `-` what only `a` has, `+` what only `b` has, `~`
/// what they say differently. Empty when there is none.
pub fn diff(a: &Spec, b: &Spec) -> String {
    let (a, b) = (facts(a), facts(b));
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let mut text = String::new();
    for name in names {
        let _ = match (a.get(name), b.get(name)) {
            (Some(old), Some(new)) if old == new => Ok(()),
            (Some(old), Some(new)) => writeln!(text, "~ {name}: {old} -> {new}"),
            (Some(old), None) => writeln!(text, "- {name}: {old}"),
            (None, new) => writeln!(text, "+ {name}: {}", new.map_or("", String::as_str)),
        };
    }
    text
}

/// Every fact of the tables, by name.
fn facts(spec: &Spec) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for layout in &spec.layouts {
        facts.insert(layout.name.clone(), layout.extent());
        for field in &layout.fields {
            facts.insert(format!("{}.{}", layout.name, field.name), whole(field));
        }
    }
    for value in spec.enums.iter().flat_map(|e| &e.values) {
        facts.insert(value.name.clone(), value.value.to_string());
    }
    for r in &spec.registers {
        let layout = r.layout.as_deref().unwrap_or("no layout");
        facts.insert(format!("register {}", r.name), format!("0x{:04x} {layout}", r.id));
    }
    for a in &spec.aliases {
        facts.insert(format!("alias {}", a.name), a.of.clone());
    }
    let s = &spec.semantics;
    for c in &s.commands {
        let text = format!(
            "0x{:03x} {} -> {}, {} {}",
            c.opcode,
            c.input,
            c.output,
            c.verb.name(),
            c.object
        );
        facts.insert(format!("command {}", c.name), text);
    }
    for e in &s.enums {
        for value in &e.values {
            facts.insert(format!("enum {}.{}", e.name, value.name), value.value.to_string());
        }
    }
    for select in &s.selects {
        for bit in &select.bits {
            let text = format!("bit {}: {}", bit.bit, bit.fields.join(", "));
            facts.insert(format!("select {}.{}", select.name, bit.name), text);
        }
    }
    facts
}

/// All that the tables say of a field.
fn whole(field: &Field) -> String {
    let mut text = field.place();
    if let Some(anchor) = &field.overlays {
        let _ = write!(text, " over {anchor}");
    }
    if let Some(access) = field.access {
        let _ = write!(text, " {}", access.name());
    }
    for value in &field.values {
        let _ = write!(text, " {}=0x{:x}", value.name, value.value);
    }
    for (key, value) in [("selector", &field.selector), ("when", &field.when)] {
        if let Some(value) = value {
            let _ = write!(text, " {key} {value}");
        }
    }
    text
}
