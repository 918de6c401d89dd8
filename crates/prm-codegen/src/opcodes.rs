//! Opcodes: which mailbox goes in with each, and which comes out.

use crate::model::*;

/// An opcode and its mailboxes.
#[derive(Debug)]
pub struct Paired<'s> {
    /// Its name and number.
    pub opcode: &'s EnumValue,
    /// What goes in.
    pub input: Option<&'s Layout>,
    /// What comes out.
    pub output: Option<&'s Layout>,
    /// What the tables say of it by hand.
    pub note: Option<&'s OpcodeNote>,
}

impl<'s> Paired<'s> {
    /// Both mailboxes, where both are known.
    pub fn both(&self) -> Option<(&'s Layout, &'s Layout)> {
        self.input.zip(self.output)
    }
}

/// Every opcode, in the order of the tables. Its mailboxes are those of its command, those that
/// are named by hand, or those of its own name, such as `create_mkey_in` for CREATE_MKEY.
pub fn opcodes<'s>(spec: &'s Spec) -> Vec<Paired<'s>> {
    let s = &spec.semantics;
    let Some(e) = s.enums.iter().find(|e| e.name == "opcode") else { return Vec::new() };
    let layout = |name: &str| spec.layout(name);
    let paired = |opcode: &'s EnumValue| {
        let EnumValue { name, .. } = opcode;
        let command = s.commands.iter().find(|c| c.name == *name);
        let note = s.opcodes.iter().find(|n| n.name == *name);
        let lower = name.to_lowercase();
        let mailbox = |named: Option<&String>, suffix: &str, field: &str| {
            let own = format!("{lower}_{suffix}");
            layout(named.unwrap_or(&own)).filter(|l| l.field(field).is_some())
        };
        let input = command.map(|c| &c.input).or(note.and_then(|n| n.input.as_ref()));
        let output = command.map(|c| &c.output).or(note.and_then(|n| n.output.as_ref()));
        Paired {
            opcode,
            input: mailbox(input, "in", "opcode"),
            output: mailbox(output, "out", "status"),
            note,
        }
    };
    e.values.iter().map(paired).collect()
}
