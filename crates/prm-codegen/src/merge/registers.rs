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
        for i in 0..self.registers.len() {
            let Register { name, layout: None, .. } = &self.registers[i] else { continue };
            let ruled = self.rulings.registers.iter().find(|p| p.name == *name);
            // A layout that is not there is told by the ruling, which rules nothing.
            if let Some(ruled) = ruled.filter(|p| self.find(&p.of).is_some()) {
                self.used.push(ruled.origin.span.start);
                self.registers[i].layout = Some(ruled.of.clone());
                continue;
            }
            let name = name.to_lowercase();
            let mut fit = self.layouts.iter().filter(|l| {
                words(&l.name) == words(&name)
                    && l.field("opcode").is_none()
                    && self.register_of(&l.name).is_none()
            });
            self.registers[i].layout = match (fit.next(), fit.next()) {
                (Some(one), None) => Some(one.name.clone()),
                _ => None,
            };
        }
        self.registers.sort_by_key(|r| r.id);
    }

    /// The register that has a layout.
    fn register_of(&self, layout: &str) -> Option<&Register> {
        self.registers.iter().find(|r| r.layout.as_deref() == Some(layout))
    }

    /// Takes a register of a source. One id, one name and one layout are those of one register.
    fn register(&mut self, source: &str, mut register: Register) {
        let at = |id: u16| format!("register 0x{id:04x}");
        let layout = |name: &Option<String>| match name {
            Some(name) => format!("layout {name}"),
            None => "no layout".to_owned(),
        };
        let named = |r: &&Register| r.name.eq_ignore_ascii_case(&register.name);
        if let Some(ours) = self.registers.iter().find(named).filter(|r| r.id != register.id) {
            let id = |id: u16| format!("id 0x{id:04x}");
            let (at, ours, theirs) = (at(ours.id), id(ours.id), id(register.id));
            self.conflict(source, &register.origin, at, ours, theirs, "another number");
            return;
        }
        let Some(i) = self.registers.iter().position(|r| r.id == register.id) else {
            let taken = register.layout.take_if(|l| self.register_of(l).is_some());
            if taken.is_some() {
                let (at, ours, theirs) = (at(register.id), layout(&None), layout(&taken));
                self.conflict(source, &register.origin, at, ours, theirs, "retyped");
            }
            self.registers.push(Register { from: vec![source.to_owned()], ..register });
            return;
        };
        let taken = register.layout.as_ref().is_some_and(|l| self.register_of(l).is_some());
        let ours = &mut self.registers[i];
        add_source(&mut ours.from, source);
        if ours.layout.is_none() && !taken {
            ours.layout.clone_from(&register.layout);
        }
        let (name, known) = (ours.name.clone(), ours.layout.clone());
        if register.layout.is_some() && register.layout != known {
            let (ours, theirs) = (layout(&known), layout(&register.layout));
            let at = at(register.id);
            self.conflict(source, &register.origin, at, ours, theirs, "retyped");
        }
        if !name.eq_ignore_ascii_case(&register.name) {
            let at = at(register.id);
            self.conflict(source, &register.origin, at, name, register.name, "renamed");
        }
    }
}
