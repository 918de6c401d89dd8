//! How two sets of tables differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::*;

/// The differences from `a` to `b`, a line each: `-` what only `a` has, `+` what only `b` has, `~`
/// what they say differently. Empty when there is none.
///
/// Which sources say a thing is not compared, nor what is said of sources and their merging, nor examples.
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
        facts.insert(layout.name.clone(), format!("{}, {}", layout.extent(), layout.family));
        for field in &layout.fields {
            facts.insert(format!("{}.{}", layout.name, field.name), whole(field));
        }
    }
    for value in spec.enums.iter().flat_map(|e| &e.values) {
        facts.insert(value.name.clone(), value.value.to_string());
    }
    for r in &spec.registers {
        let layout = r.layout.as_deref().unwrap_or("no layout");
        facts.insert(format!("register 0x{:04x}", r.id), format!("{} {layout}", r.name));
    }
    for a in &spec.aliases {
        facts.insert(format!("alias {}", a.name), a.of.clone());
    }
    for c in &spec.conflicts {
        let text = format!("ours {}, {}", c.ours, c.why);
        facts.insert(format!("conflict {}, theirs {}", c.at, c.theirs), text);
    }
    semantics(&spec.semantics, &mut facts);
    words(&spec.words, &mut facts);
    facts
}

fn words(words: &Words, facts: &mut BTreeMap<String, String>) {
    for layout in &words.layouts {
        if let Some(about) = &layout.about {
            facts.insert(format!("words {}", layout.layout), about.clone());
        }
        for field in &layout.fields {
            facts.insert(format!("words {}.{}", layout.layout, field.name), field.line());
        }
    }
    for command in &words.commands {
        facts.insert(format!("words {}", command.name), command.about.clone());
    }
}

fn semantics(s: &Semantics, facts: &mut BTreeMap<String, String>) {
    let mut put = |name: String, parts: &[&str]| {
        let parts: Vec<&str> = parts.iter().filter(|part| !part.is_empty()).copied().collect();
        facts.insert(name, parts.join(", "));
    };
    let some = |what: &str, list: &[String]| match list {
        [] => String::new(),
        list => format!("{what} {}", list.join(" ")),
    };
    for o in &s.objects {
        put(
            format!("object {}", o.name),
            &[
                o.number.as_deref().unwrap_or_default(),
                o.context.as_deref().unwrap_or_default(),
                &o.about,
            ],
        );
    }
    for c in &s.commands {
        let mailboxes = format!("0x{:03x} {} -> {}", c.opcode, c.input, c.output);
        let verb = format!("{} {}", c.verb.name(), c.object);
        let context = c.context.as_deref().unwrap_or_default();
        let number = c.number.as_deref().unwrap_or_default();
        put(format!("command {}", c.name), &[&mailboxes, &verb, number, context, &c.about]);
    }
    for n in &s.numbers {
        let fields: Vec<String> = n.fields.iter().map(|(field, _)| field.clone()).collect();
        let width = format!("{} bits", n.width);
        put(format!("number {}", n.name), &[&width, &some("of", &fields), &n.about]);
    }
    for u in &s.unbound {
        for (name, _) in &u.names {
            put(format!("unbound {name}"), &[&u.why]);
        }
    }
    for e in s.enums.iter().chain(&s.flags) {
        let fields: Vec<String> = e.fields.iter().map(|(field, _)| field.clone()).collect();
        put(format!("enum {}", e.name), &[&some("of", &fields), &e.about]);
        for value in &e.values {
            put(format!("enum {}.{}", e.name, value.name), &[&value.value.to_string()]);
        }
    }
    for select in &s.selects {
        let masks: Vec<String> = select.masks.iter().map(|(mask, _)| mask.clone()).collect();
        let op_mod = format!("op_mod {}", select.op_mod);
        let when =
            select.when.as_ref().map_or_else(String::new, |(f, v)| format!("when {f} is {v}"));
        let always = some("always", &select.always);
        put(
            format!("select {}", select.name),
            &[&some("in", &masks), &op_mod, &when, &always, &select.about],
        );
        for bit in &select.bits {
            let number = format!("bit {}", bit.bit);
            put(
                format!("select {}.{}", select.name, bit.name),
                &[&number, &some("of", &bit.fields)],
            );
        }
    }
    for t in &s.transitions {
        let from = if t.from.is_empty() { "any".to_owned() } else { t.from.join(" ") };
        let name = format!("transition {} from {from} to {}", t.command, t.to);
        put(name.clone(), &[&some("for", &t.services), &t.source]);
        for f in &t.fields {
            let bit = f.bit.as_deref().unwrap_or_default();
            let zero = if f.nonzero { "nonzero" } else { "" };
            let [requires, takes, admits] =
                [("requires", &f.requires), ("takes", &f.takes), ("admits", &f.admits)]
                    .map(|(what, services)| some(what, services));
            put(format!("{name} field {}", f.path), &[&requires, &takes, &admits, bit, zero]);
        }
    }
    for o in &s.general_objects {
        let number = format!("0x{:04x}", o.number);
        let (Ok(layout) | Err(layout)) = &o.layout;
        put(format!("general object {}", o.name), &[&number, layout, &o.about]);
    }
    for c in &s.capabilities {
        let selector = format!("0x{:02x}", c.selector);
        let (Ok(layout) | Err(layout)) = &c.layout;
        put(format!("capability page {}", c.name), &[&selector, layout, &c.about]);
    }
    for o in &s.opcodes {
        let [input, output, why] =
            [&o.input, &o.output, &o.why].map(|text| text.as_deref().unwrap_or_default());
        put(format!("opcode {}", o.name), &[input, output, why]);
    }
    for s in &s.syndromes {
        let op_mod = s.op_mod.map_or_else(String::new, |op_mod| format!(" op_mod 0x{op_mod:x}"));
        let number = s.status_number.map_or_else(String::new, |number| format!("0x{number:x}"));
        let status = s.status.as_deref().unwrap_or_default();
        let mut parts = vec![status, &*number, &*s.certainty];
        parts.extend(s.words.iter().map(|(_, text, _)| &**text));
        put(format!("syndrome 0x{:06x} of {}{op_mod}", s.number, s.command), &parts);
    }
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
