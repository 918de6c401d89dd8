//! Merge: what several sources say becomes one set of tables.
//!
//! The sources come by rank. The first that describes a layout leads it; those after it add what
//! fits into its gaps. What they say otherwise becomes a [`Conflict`], and what the leading source
//! says is generated.

mod enums;
mod knowledge;
mod layouts;
mod names;
mod registers;

use crate::fault::{Faults, Origin};
use crate::import::{PassedOver, Reading};
use crate::model::*;

/// What one source says.
#[derive(Debug)]
pub struct Told {
    /// Name of the source.
    pub source: String,
    /// What was read from it.
    pub reading: Reading,
}

/// Merges what the sources say, the leading one first, and shares the layouts out to `families`.
///
/// # Errors
/// A layout that no family takes, a ruling that rules nothing, and a name that is a layout of one
/// source and another name of a layout of another.
pub fn merge(told: Vec<Told>, rulings: Rulings, families: Vec<Family>) -> Result<Spec, Faults> {
    let mut faults = Faults::default();
    let mut merged = Merged { rulings, ..Merged::default() };
    for Told { source, reading } in told {
        merged.ranks.push(source.clone());
        merged.layouts(&source, reading.layouts, &reading.registers);
        merged.broken(&source, &reading.passed_over);
        merged.enumerated_registers(&source, &reading.enums);
        merged.enums(&source, reading.enums);
        merged.name_registers(&source, reading.registers);
    }
    merged.pair_registers();
    merged.unused_rulings(&mut faults);
    merged.torn_names(&mut faults);
    merged.brief();
    let Merged { mut layouts, enums, registers, aliases, conflicts, rulings, .. } = merged;
    for layout in &mut layouts {
        match families.iter().find(|f| f.takes.iter().any(|t| matches(t, &layout.name))) {
            Some(family) => layout.family.clone_from(&family.name),
            None => faults.add(
                &layout.origin,
                format!("no family takes the layout {}", layout.name),
                "add its name, or a pattern that matches it, to a family of families.toml",
            ),
        }
    }
    let order = |l: &Layout| families.iter().position(|f| f.name == l.family);
    layouts.sort_by_key(order);
    faults.or(Spec {
        families,
        layouts,
        enums,
        registers,
        aliases,
        conflicts,
        rulings,
        ..Spec::default()
    })
}

/// The tables with one more source, of the lowest rank. Every `from` is written out in full.
pub fn add(spec: Spec, source: &str, reading: Reading) -> Spec {
    let Spec { layouts, enums, registers, aliases, conflicts, rulings, sources, .. } = spec;
    let ranks = sources.into_iter().map(|s| s.name).chain([source.to_owned()]).collect();
    let mut merged = Merged {
        ranks,
        layouts,
        enums,
        registers,
        aliases,
        conflicts,
        rulings,
        ..Merged::default()
    };
    merged.full();
    merged.layouts(source, reading.layouts, &reading.registers);
    merged.broken(source, &reading.passed_over);
    merged.enumerated_registers(source, &reading.enums);
    merged.enums(source, reading.enums);
    merged.name_registers(source, reading.registers);
    merged.pair_registers();
    let Merged { layouts, enums, registers, aliases, conflicts, rulings, .. } = merged;
    Spec { layouts, enums, registers, aliases, conflicts, rulings, ..Spec::default() }
}

/// What has been merged so far. Every `from` is written out in full until [`Merged::brief`].
#[derive(Debug, Default)]
struct Merged {
    /// The sources, the leading one first.
    ranks: Vec<String>,
    layouts: Vec<Layout>,
    enums: Vec<Enumeration>,
    registers: Vec<Register>,
    aliases: Vec<Alias>,
    conflicts: Vec<Conflict>,
    rulings: Rulings,
    /// Rulings that were of use, by the place where they are written.
    used: Vec<usize>,
    /// What may fit when a layout is lengthened.
    refused: Vec<layouts::Refused>,
}

impl Merged {
    fn find(&self, layout: &str) -> Option<usize> {
        self.layouts.iter().position(|l| l.name == layout)
    }

    /// Records the layouts of a source that are at fault.
    fn broken(&mut self, source: &str, passed_over: &[PassedOver]) {
        for item in passed_over {
            let Some(fault) = &item.fault else { continue };
            let ours = self.find(&item.label).map(|i| self.layouts[i].extent());
            let ours = ours.unwrap_or_else(|| "nothing".into());
            let why = "mistake upstream";
            self.conflict(source, &item.origin, item.label.clone(), ours, fault.clone(), why);
        }
    }

    /// Records what `source` says otherwise, unless another source says the same.
    fn conflict(
        &mut self,
        source: &str,
        origin: &Origin,
        at: String,
        ours: String,
        theirs: String,
        why: &str,
    ) {
        let reason = self.rulings.reasons.iter().position(|r| {
            matches(&r.at, &at) && r.from.as_deref().is_none_or(|from| from == source)
        });
        let why = reason.map_or(why, |i| &self.rulings.reasons[i].why).to_owned();
        if let Some(i) = reason {
            self.used.push(self.rulings.reasons[i].origin.span.start);
        }
        let same =
            self.conflicts.iter_mut().find(|c| c.at == at && c.theirs == theirs && c.why == why);
        match same {
            Some(conflict) => {
                add_source(&mut conflict.from, source);
                // What is judged anew comes late.
                conflict.from.sort_by_key(|from| self.ranks.iter().position(|rank| rank == from));
            }
            None => self.conflicts.push(Conflict {
                at,
                ours,
                theirs,
                from: vec![source.to_owned()],
                why,
                origin: origin.clone(),
            }),
        }
    }

    /// Tells rulings that ruled nothing: the sources have changed under them, or a name is wrong.
    fn unused_rulings(&self, faults: &mut Faults) {
        let Rulings { aliases, distinct, registers, reasons } = &self.rulings;
        let mut idle = |origin: &Origin, name: &str, why: String| {
            if !self.used.contains(&origin.span.start) {
                let message = format!("this ruling about {name} rules nothing");
                faults.add(origin, message, format!("{why}: correct the ruling, or remove it"));
            }
        };
        for NamePair { name, of, origin } in aliases {
            idle(origin, name, format!("no source has {name}, or none before it has {of}"));
        }
        for NamePair { name, of, origin } in distinct {
            idle(origin, name, format!("no rule takes {name} for {of}"));
        }
        for NamePair { name, of, origin } in registers {
            let why = match self.find(of) {
                Some(_) => format!("no source has a register {name} without a layout"),
                None => format!("no source has the layout {of}"),
            };
            idle(origin, name, why);
        }
        for Reason { at, from, origin, .. } in reasons {
            let from = from.as_ref().map(|from| format!(" with {from}")).unwrap_or_default();
            idle(origin, at, format!("there is no conflict{from} about {at}"));
        }
    }

    /// Tells names that mean two things in different sources.
    fn torn_names(&self, faults: &mut Faults) {
        for alias in &self.aliases {
            let (name, from) = (&alias.name, alias.from.join(" "));
            let layout = self.find(name).map(|i| &self.layouts[i]);
            let other = self.aliases.iter().find(|a| a.name == *name && a.of != alias.of);
            let (of, others) = match (layout, other) {
                (Some(layout), _) => ("a layout of its own", &layout.from),
                (None, Some(other)) => (&*other.of, &other.from),
                (None, None) => continue,
            };
            faults.add(
                &alias.origin,
                format!("{name} is {} in {from}, and {of} in {}", alias.of, others.join(" ")),
                format!(
                    "add a [[distinct]] or an [[alias]] with name = \"{name}\" to rulings.toml"
                ),
            );
        }
    }

    /// Writes the sources of every part out in full.
    fn full(&mut self) {
        for layout in &mut self.layouts {
            for field in layout.fields.iter_mut().filter(|f| f.from.is_empty()) {
                field.from.clone_from(&layout.from);
            }
        }
        for e in &mut self.enums {
            for value in e.values.iter_mut().filter(|v| v.from.is_empty()) {
                value.from.clone_from(&e.from);
            }
        }
    }

    /// Leaves out the sources of a part where they are those of the whole.
    fn brief(&mut self) {
        for layout in &mut self.layouts {
            for field in layout.fields.iter_mut().filter(|f| f.from == layout.from) {
                field.from.clear();
            }
        }
        for e in &mut self.enums {
            for value in e.values.iter_mut().filter(|v| v.from == e.from) {
                value.from.clear();
            }
        }
    }
}

/// Adds the source that is merged now to those that have something.
fn add_source(from: &mut Vec<String>, source: &str) {
    if from.last().is_none_or(|last| last != source) {
        from.push(source.to_owned());
    }
}

/// Whether a source is a version of Linux: those are called `v` and the version.
pub(crate) fn is_linux(source: &str) -> bool {
    source.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
