//! What a command does to an object, as the kernel's DEVX interface tells them apart.

use mlx5_prm::{CommandDesc, Opcode, Place, Verb};

use crate::names;

/// A command on an object that DEVX keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OnObject {
    pub(crate) verb: Verb,
    pub(crate) kind: Kind,
    /// What the PRM calls its number, such as CQN.
    pub(crate) number: &'static str,
    /// Where the number stands: of a create in the output, else in the input.
    pub(crate) place: Place,
    /// The number of what a create makes stands in its input.
    pub(crate) named: bool,
}

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// With commands of its own.
    Named(&'static str),
    /// General objects of this type.
    General(u16),
}

impl OnObject {
    /// What an input does, if it is to an object.
    pub(crate) fn of(input: &[u8]) -> Option<Self> {
        let opcode = mlx5_prm::opcode(input)?;
        let op_mod = u16::from_be_bytes([*input.get(6)?, *input.get(7)?]);
        if let Some(verb) = names::general_verb(opcode) {
            let head = if verb == Verb::Create { "out" } else { "in" };
            let head = mlx5_prm::layout_desc(&format!("general_obj_{head}_cmd_hdr"))?;
            let field = head.field("obj_id")?;
            let place = Place { bit: field.bit(), width: field.width() };
            // `obj_type` stands where other commands have `op_mod`.
            let kind = Kind::General(op_mod);
            return Some(OnObject { verb, kind, number: "obj_id", place, named: false });
        }
        let command = mlx5_prm::command(opcode.0)?;
        let (kind, place) = (Kind::Named(command.object.name), command.number?);
        let number = command.object.number;
        // The entries of flow tables are made and changed by one opcode (`devx_is_obj_create_cmd`).
        if opcode == Opcode::SET_FLOW_TABLE_ENTRY {
            let verb = if op_mod == 0 { Verb::Create } else { Verb::Modify };
            return Some(OnObject { verb, kind, number, place, named: op_mod == 0 });
        }
        let is_made = command.object.name == "flow_table_entry" || is_created(command);
        is_made.then_some(OnObject { verb: command.verb, kind, number, place, named: false })
    }

    /// The object, for people: `CQN 0x1`.
    pub(crate) fn called(&self, number: u64) -> String {
        match self.kind {
            Kind::Named(_) => format!("{} {number:#x}", self.number),
            Kind::General(kind) => format!("general object {number:#x} of type {kind:#x}"),
        }
    }

    /// The kind, for people.
    pub(crate) fn kind_text(&self) -> String {
        match self.kind {
            Kind::Named(name) => name.to_owned(),
            Kind::General(kind) => format!("general object of type {kind:#x}"),
        }
    }
}

/// Whether a command makes the kind of object; others, such as ports, are always there.
fn is_created(command: &CommandDesc) -> bool {
    let of = |other: &&CommandDesc| other.object.name == command.object.name;
    names::commands().filter(of).any(|other| other.verb == Verb::Create)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(opcode: Opcode, op_mod: u16) -> Option<OnObject> {
        let mut input = [0; 16];
        input[..2].copy_from_slice(&opcode.0.to_be_bytes());
        input[6..8].copy_from_slice(&op_mod.to_be_bytes());
        OnObject::of(&input)
    }

    #[test]
    fn what_is_made_is_told_from_what_is_always_there() {
        let verb = |opcode| of(opcode, 0).map(|on| on.verb);
        assert_eq!(verb(Opcode::CREATE_CQ), Some(Verb::Create));
        assert_eq!(verb(Opcode::MODIFY_CQ), Some(Verb::Modify));
        assert_eq!(verb(Opcode::DESTROY_CQ), Some(Verb::Destroy));
        assert_eq!(verb(Opcode::ALLOC_PD), Some(Verb::Create));
        for opcode in [Opcode::QUERY_HCA_CAP, Opcode::QUERY_VPORT_STATE, Opcode::QUERY_LAG] {
            assert_eq!(verb(opcode), None, "{opcode:?}");
        }
        assert_eq!(of(Opcode::SET_FLOW_TABLE_ENTRY, 0).unwrap().verb, Verb::Create);
        assert_eq!(of(Opcode::SET_FLOW_TABLE_ENTRY, 1).unwrap().verb, Verb::Modify);
        assert_eq!(of(Opcode::QUERY_GENERAL_OBJECT, 7).unwrap().kind, Kind::General(7));
    }
}
