//! How a source differs from the tables.

use std::fmt::Write as _;

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
    let known = spec.conflicts.clone();
    let merged = add(spec.clone(), NEW, reading);
    let mut out = Verified::default();
    let is_new = |from: &[String]| from == [NEW];
    let has = |from: &[String]| from.iter().any(|f| f == NEW);
    let lacks = |from: &[String]| !has(from) && from.iter().any(|f| kin.contains(f));
    let others = |from: &[String]| from.join(" ");
    for layout in &merged.layouts {
        if is_new(&layout.from) {
            out.new.push(format!("{}: {}", layout.name, layout.extent()));
            continue;
        }
        if lacks(&layout.from) {
            out.missing.push(format!("{} ({})", layout.name, others(&layout.from)));
        }
        if !has(&layout.from) {
            continue;
        }
        for field in &layout.fields {
            let path = format!("{}.{}", layout.name, field.name);
            if is_new(&field.from) {
                out.new.push(format!("{path}: {}", field.place()));
            } else if lacks(&field.from) {
                out.missing.push(format!("{path} ({})", others(&field.from)));
            }
        }
    }
    for value in merged.enums.iter().flat_map(|e| &e.values).filter(|v| is_new(&v.from)) {
        out.new.push(format!("{} = {}", value.name, value.value));
    }
    // A header of layouts alone names no register: then none is missing.
    let names_registers = merged.registers.iter().any(|r| has(&r.from));
    for register in &merged.registers {
        let line = format!("register {} 0x{:04x}", register.name, register.id);
        if is_new(&register.from) {
            out.new.push(line);
        } else if names_registers && lacks(&register.from) {
            out.missing.push(format!("{line} ({})", others(&register.from)));
        }
    }
    for c in merged.conflicts.iter().filter(|c| has(&c.from)) {
        let mut line = format!("{}: here {}, in the tables {}", c.at, c.theirs, c.ours);
        match known.iter().find(|k| k.at == c.at && k.theirs == c.theirs) {
            Some(k) => {
                let _ = write!(line, " ({}: {})", others(&k.from), k.why);
                out.known.push(line);
            }
            None => out.different.push(line),
        }
    }
    out
}
