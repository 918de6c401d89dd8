//! How a source differs from the tables.

use crate::import::Reading;
use crate::merge::add;
use crate::model::*;

/// How a source differs from the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// What the source has and the tables have not, a line each.
    pub new: Vec<String>,
    /// What the source says otherwise than the tables, a line each.
    pub different: Vec<String>,
    /// Those of them that `conflicts.toml` has already, with why ours stands.
    pub known: Vec<String>,
    /// What the tables have and the source has not, a line each.
    pub missing: Vec<String>,
}

impl Verified {
    /// Whether the tables need nothing of the source.
    pub fn is_clean(&self) -> bool {
        self.new.is_empty() && self.different.is_empty()
    }
}

/// The name of the source that is compared: no source of the tables is called so.
const NEW: &str = "?";

/// Compares what a source says with the tables. What it lacks is told of layouts, fields and
/// registers, where a source of the same kind (`kin`) has it, with the sources that have it; of
/// enumerators only what is new or different is told.
pub fn verify(spec: &Spec, reading: Reading, kin: &[String]) -> Verified {
    let merged = add(spec.clone(), NEW, reading);
    let mut out = Verified::default();
    let lacks = |from: &[String]| !has(from) && from.iter().any(|f| kin.contains(f));
    for layout in &merged.layouts {
        let Some(before) = spec.layout(&layout.name) else {
            out.new.push(format!("{}: {}", layout.name, layout.extent()));
            continue;
        };
        if lacks(&layout.from) {
            out.missing.push(format!("{} ({})", layout.name, layout.from.join(" ")));
        }
        if !has(&layout.from) {
            continue;
        }
        let (theirs, ours) = (layout.extent(), before.extent());
        if theirs != ours {
            out.different.push(otherwise(&layout.name, &theirs, &ours));
        }
        for field in &layout.fields {
            let path = format!("{}.{}", layout.name, field.name);
            match before.field(&field.name) {
                None => out.new.push(format!("{path}: {}", field.place())),
                Some(before) => {
                    let learned = knowledge(field).into_iter();
                    let learned = learned.filter(|fact| !knowledge(before).contains(fact));
                    out.new.extend(learned.map(|fact| format!("{path}: {fact}")));
                    if lacks(&field.from) {
                        out.missing.push(format!("{path} ({})", field.from.join(" ")));
                    }
                }
            }
        }
    }
    for alias in merged.aliases.iter().filter(|a| is_new(&a.from)) {
        out.new.push(format!("{}: another name of {}", alias.name, alias.of));
    }
    for value in merged.enums.iter().flat_map(|e| &e.values).filter(|v| is_new(&v.from)) {
        out.new.push(format!("{} = {}", value.name, value.value));
    }
    registers(spec, &merged, lacks, &mut out);
    for c in merged.conflicts.iter().filter(|c| has(&c.from)) {
        let line = otherwise(&c.at, &c.theirs, &c.ours);
        match spec.conflicts.iter().find(|k| k.at == c.at && k.theirs == c.theirs) {
            Some(k) => out.known.push(format!("{line} ({}: {})", k.from.join(" "), k.why)),
            None => out.different.push(line),
        }
    }
    out
}

fn registers(spec: &Spec, merged: &Spec, lacks: impl Fn(&[String]) -> bool, out: &mut Verified) {
    // A header of layouts alone names no register: then none is missing.
    let names_registers = merged.registers.iter().any(|r| has(&r.from));
    for register in &merged.registers {
        let line = format!("register {} 0x{:04x}", register.name, register.id);
        let layout = register.layout.as_ref().map(|layout| format!("{line}: {layout}"));
        match spec.registers.iter().find(|r| r.id == register.id) {
            None => out.new.push(layout.unwrap_or(line)),
            Some(before) => {
                out.new.extend(layout.filter(|_| before.layout.is_none() && has(&register.from)));
                if names_registers && lacks(&register.from) {
                    out.missing.push(format!("{line} ({})", register.from.join(" ")));
                }
            }
        }
    }
}

/// Whether the source that is compared is among `from`.
fn has(from: &[String]) -> bool {
    from.iter().any(|f| f == NEW)
}

/// Whether it alone is.
fn is_new(from: &[String]) -> bool {
    from == [NEW]
}

fn otherwise(at: &str, theirs: &str, ours: &str) -> String {
    format!("{at}: here {theirs}, in the tables {ours}")
}

/// What is said of a field beyond its place.
fn knowledge(field: &Field) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(field.access.map(|access| format!("access {}", access.name())));
    facts.extend(field.values.iter().map(|v| format!("{} = 0x{:x}", v.name, v.value)));
    facts.extend(field.selector.as_ref().map(|path| format!("selector {path}")));
    facts.extend(field.when.as_ref().map(|text| format!("when {text}")));
    facts
}
