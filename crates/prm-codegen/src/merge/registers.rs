//! Registers: ids of several sources, each with its layout.

use super::Merged;
use super::names::words;
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

    /// Makes registers of the ids that the headers enumerate, and finds layouts for those that
    /// have none.
    pub(super) fn pair_registers(&mut self) {
        let mut named = Vec::new();
        for value in self.enums.iter().flat_map(|e| &e.values) {
            let Some(name) = IDS.iter().find_map(|prefix| value.name.strip_prefix(prefix)) else {
                continue;
            };
            // Ids are 16 bits wide in ACCESS_REG; what is longer is no id.
            let Ok(id) = u16::try_from(value.value) else { continue };
            named.push((name.to_owned(), id, value.from.clone(), value.origin.clone()));
        }
        for (name, id, from, origin) in named {
            for source in from {
                let register = Register {
                    name: name.clone(),
                    id,
                    layout: None,
                    from: Vec::new(),
                    origin: origin.clone(),
                };
                self.register(&source, register);
            }
        }
        for i in 0..self.registers.len() {
            if self.registers[i].layout.is_none() {
                let name = self.registers[i].name.to_lowercase();
                let mut fit = self
                    .layouts
                    .iter()
                    .filter(|l| words(&l.name) == words(&name) && l.field("opcode").is_none());
                self.registers[i].layout = match (fit.next(), fit.next()) {
                    (Some(one), None) => Some(one.name.clone()),
                    _ => None,
                };
            }
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
        if !ours.from.iter().any(|from| from == source) {
            ours.from.push(source.to_owned());
        }
        ours.layout = ours.layout.take().or(register.layout);
        if !ours.name.eq_ignore_ascii_case(&register.name) {
            let at = format!("register 0x{:04x}", ours.id);
            let name = ours.name.clone();
            self.conflict(source, &register.origin, at, name, register.name, "renamed");
        }
    }
}
