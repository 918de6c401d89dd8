//! The bits of select masks that belong to the fields that were given.

use mlx5_prm::{CommandDesc, Place, QpSt, SelectBitDesc, SelectDesc};

use super::mailbox::{Mailbox, Set};
use crate::names;

/// Sets the bits that belong to the fields given, in every mask that counts and was not given itself.
pub(super) fn set(mailbox: &mut Mailbox, first: usize) {
    let (head, _) = mailbox.parts()[0];
    let Some(command) = names::commands().find(|command| command.input.name == head.name) else {
        return;
    };
    for (mask, bits) in masks(mailbox, command, first) {
        mailbox.add(mask, bits);
    }
}

/// What is said of fields of the context that were given and that no bit selects, so that the firmware leaves them
/// as they are.
pub(crate) fn unselected(mailbox: &Mailbox, first: usize) -> Vec<String> {
    let (head, _) = mailbox.parts()[0];
    let command = names::commands().find(|command| command.input.name == head.name);
    // A transition takes fields without a bit.
    let Some(command) = command.filter(|c| c.transition.is_none() && !c.selects.is_empty()) else {
        return Vec::new();
    };
    let Some(context) = command.context else { return Vec::new() };
    let is_in = |set: &Set, place: Place| {
        let (from, to) = (place.bit as usize, (place.bit + place.width) as usize);
        from <= set.bit && set.bit + set.width <= to
    };
    let selects = |select: &SelectDesc, set: &Set| {
        select.always.iter().any(|place| is_in(set, *place))
            || select.bits.iter().any(|bit| bit.fields.iter().any(|f| is_in(set, f.place)))
    };
    let given = mailbox.sets()[first..].iter();
    let given = given.filter(|set| set.part == 0 && is_in(set, context));
    given
        .filter_map(|set| {
            let mut all = command.selects.iter().filter(|select| selects(select, set));
            let (path, first) = (&set.path, all.clone().next());
            match first {
                None => Some(format!("{path} is selected by no bit of {}", command.name)),
                Some(_) if all.any(|select| select.counts(mailbox.bytes())) => None,
                Some(first) => {
                    let (op_mod, name) = (first.op_mod, first.name);
                    Some(format!("{path} counts with op_mod={op_mod} only ({name})"))
                }
            }
        })
        .collect()
}

fn masks(mailbox: &Mailbox, command: &CommandDesc, first: usize) -> Vec<(Place, u64)> {
    let given = |place: Place| {
        let (from, to) = (place.bit as usize, (place.bit + place.width) as usize);
        mailbox.sets()[first..].iter().any(|set| set.bit >= from && set.bit + set.width <= to)
    };
    let counts = |select: &&SelectDesc| select.counts(mailbox.bytes()) && !given(select.mask);
    let chosen = |select: &SelectDesc, bit: &&SelectBitDesc| {
        let first = select.mask == command.selects[0].mask;
        (!first || is_optional(command, bit, mailbox))
            && bit.fields.iter().any(|field| given(field.place))
    };
    let all = command.selects.iter().filter(counts).map(|select| {
        let bits = select.bits.iter().filter(|bit| chosen(select, bit));
        (select.mask, bits.fold(0, |all, bit| all | 1 << bit.bit))
    });
    all.filter(|(_, bits)| *bits != 0).collect()
}

/// Whether a bit of the first mask of a QP transition is one that this transition admits for the service.
fn is_optional(command: &CommandDesc, bit: &SelectBitDesc, mailbox: &Mailbox) -> bool {
    let Some(transition) = &command.transition else { return true };
    let service = command.context.and_then(|context| {
        // `qpc.st`: bits 23:16 of the first dword.
        let place = Place { bit: context.bit + 8, width: 8 };
        place.read(mailbox.bytes())
    });
    let service = QpSt(service.unwrap_or_default() as u8);
    let admits = transition.fields.iter();
    admits.filter(|field| field.bit == Some(bit.bit)).any(|field| field.admits.contains(service))
}
