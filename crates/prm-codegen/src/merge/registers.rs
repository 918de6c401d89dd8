//! Registers: ids of several sources, each with its layout.

use super::names::words;
use super::{Merged, add_source};
use crate::model::*;

/// What the names of register ids begin with in the headers.
const IDS: [&str; 2] = ["MLX5_REG_", "MLX5_REGISTER_ID_"];

impl Merged {
    /// Takes the registers that a source names along with their layouts.
    pub(super) fn name_registers(&mut self, source: &str, registers: Vec<Register>) {
        for register in registers {
            let layout = register.layout.as_ref().map(|layout| {
                let alias = self.aliases.iter().find(|a| a.name == *layout);
                alias.map_or_else(|| layout.clone(), |a| a.of.clone())
            });
            self.register(source, Register { layout, ..register });
        }
    }

    /// Takes the registers whose ids a source enumerates.
    pub(super) fn enumerated_registers(&mut self, source: &str, enums: &[Enumeration]) {
        for value in enums.iter().flat_map(|e| &e.values) {
            let Some(name) = IDS.iter().find_map(|prefix| value.name.strip_prefix(prefix)) else {
                continue;
            };
            // Ids are 16 bits wide in ACCESS_REG; what is longer is no id.
            let Ok(id) = u16::try_from(value.value) else { continue };
            let (name, from, origin) = (name.to_owned(), Vec::new(), value.origin.clone());
            self.register(source, Register { name, id, layout: None, from, origin });
        }
    }

    /// Finds layouts for the registers that have none: those that are ruled, and those called as
    /// the register is.
    pub(super) fn pair_registers(&mut self) {
        for register in self.registers.iter_mut().filter(|r| r.layout.is_none()) {
            let ruled = self.rulings.registers.iter().find(|p| p.name == register.name);
            // A layout that is not there is told by the ruling, which rules nothing.
            if let Some(ruled) = ruled.filter(|p| self.layouts.iter().any(|l| l.name == p.of)) {
                self.used.push(ruled.origin.span.start);
                register.layout = Some(ruled.of.clone());
                continue;
            }
            let name = register.name.to_lowercase();
            let mut fit = self
                .layouts
                .iter()
                .filter(|l| words(&l.name) == words(&name) && l.field("opcode").is_none());
            register.layout = match (fit.next(), fit.next()) {
                (Some(one), None) => Some(one.name.clone()),
                _ => None,
            };
        }
        self.registers.sort_by_key(|r| r.id);
    }

    fn register(&mut self, source: &str, register: Register) {
        let Some(i) = self.registers.iter().position(|r| r.id == register.id) else {
            let from = vec![source.to_owned()];
            self.registers.push(Register { from, ..register });
            return;
        };
        let ours = &mut self.registers[i];
        add_source(&mut ours.from, source);
        let at = format!("register 0x{:04x}", ours.id);
        let name = ours.name.clone();
        let layout = ours.layout.clone();
        ours.layout = ours.layout.take().or_else(|| register.layout.clone());
        if let (Some(ours), Some(theirs)) = (layout, register.layout)
            && ours != theirs
        {
            let (ours, theirs) = (format!("layout {ours}"), format!("layout {theirs}"));
            self.conflict(source, &register.origin, at.clone(), ours, theirs, "retyped");
        }
        if !name.eq_ignore_ascii_case(&register.name) {
            self.conflict(source, &register.origin, at, name, register.name, "renamed");
        }
    }
}
