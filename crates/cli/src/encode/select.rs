//! The bits of select masks that belong to the fields that were given.

use mlx5_prm::{CommandDesc, Count, Place, QpSt, SelectBitDesc, SelectDesc};

use super::mailbox::{Mailbox, Set};
use crate::names;
use crate::view::Request;

/// Sets the bits that belong to the fields given, in every mask that counts and was not given itself.
pub(super) fn set(mailbox: &mut Mailbox, first: usize) {
    let Some(command) = command(mailbox) else { return };
    for (mask, bits) in masks(mailbox, command, first) {
        // A file may have selected others.
        let there = mask.read(mailbox.bytes()).unwrap_or_default();
        mailbox.add(mask, there | bits);
    }
}

/// The `op_mod` of a change, where the fields given tell it: MODIFY_CQ has a mask for each of two, and resizes
/// with 1. None where `op_mod` was given, or stays 0.
pub(super) fn op_mod(mailbox: &Mailbox, first: usize) -> Option<u16> {
    let command = command(mailbox)?;
    let was_given =
        mailbox.sets().iter().any(|set| set.part == 0 && set.bit == Place::OP_MOD.bit as usize);
    let selects = |select: &&SelectDesc| {
        select.bits.iter().flat_map(|bit| bit.fields).any(|f| is_given(mailbox, first, f.place))
    };
    let (plain, others): (Vec<_>, Vec<_>) =
        command.selects.iter().partition(|select| select.op_mod == 0);
    // Where 0 has no mask, it is no change: SET_FLOW_TABLE_ENTRY makes an entry.
    let masked = |select: &&SelectDesc| is_given(mailbox, 0, select.mask);
    if was_given || plain.is_empty() || plain.iter().any(|s| selects(s) || masked(s)) {
        return None;
    }
    others.into_iter().find(selects).map(|select| select.op_mod)
}

/// Whether a field that lies in this place was given.
fn is_given(mailbox: &Mailbox, first: usize, place: Place) -> bool {
    let (from, to) = (place.bit as usize, (place.bit + place.width) as usize);
    mailbox.sets()[first..].iter().any(|set| set.bit >= from && set.bit + set.width <= to)
}

/// The command that the mailbox is the input of.
fn command(mailbox: &Mailbox) -> Option<&'static CommandDesc> {
    let (head, _) = mailbox.parts()[0];
    names::commands().find(|command| command.input.name == head.name)
}

/// What is said of fields of the context that were given and that no bit selects, so that the firmware leaves them
/// as they are.
pub(crate) fn unselected(mailbox: &Mailbox, first: usize) -> Vec<String> {
    // A transition takes fields without a bit.
    let Some(command) =
        command(mailbox).filter(|c| c.transition.is_none() && !c.selects.is_empty())
    else {
        return Vec::new();
    };
    let Some(context) = command.context else { return Vec::new() };
    // SET_FLOW_TABLE_ENTRY makes an entry or changes one: all counts in the first.
    let op_mod = Request::of(mailbox.bytes()).and_then(|request| request.op_mod);
    if !command.selects.iter().any(|select| Some(select.op_mod) == op_mod) {
        return Vec::new();
    }
    let is_in = |set: &Set, place: Place| {
        let (from, to) = (place.bit as usize, (place.bit + place.width) as usize);
        from <= set.bit && set.bit + set.width <= to
    };
    let selects = |select: &SelectDesc, set: &Set| {
        select.always.iter().any(|place| is_in(set, *place))
            || select.bits.iter().any(|bit| bit.fields.iter().any(|f| is_in(set, f.place)))
    };
    let given = || mailbox.sets()[first..].iter().filter(|set| set.part == 0);
    // A list is behind the context, and no bit is for it alone.
    let is_list = |set: &&Set| set.steps.iter().any(|(field, _)| field.count == Count::List);
    let is_idle = |select: &&SelectDesc| {
        select.counts(mailbox.bytes()) && select.mask.read(mailbox.bytes()) == Some(0)
    };
    let idle = command.selects.iter().find(is_idle).and_then(|select| {
        let (set, name) = (given().find(is_list)?, select.name);
        let fields = |select: &SelectDesc| {
            let all = select.bits.iter().flat_map(|bit| bit.fields).map(|field| field.path);
            all.collect::<Vec<_>>().join(" or ")
        };
        let ways = command.selects.iter().map(|of| match of.op_mod {
            op_mod if op_mod == select.op_mod => fields(of),
            op_mod => format!("with op_mod={op_mod} {}", fields(of)),
        });
        let ways = ways.collect::<Vec<_>>().join(", or ");
        Some(format!("{}: {name} is 0, so that nothing is changed; give {ways}, too", set.path))
    });
    given()
        .filter(|set| is_in(set, context))
        // A mask may be in the context, too.
        .filter(|set| !command.selects.iter().any(|select| is_in(set, select.mask)))
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
        .chain(idle)
        .collect()
}

fn masks(mailbox: &Mailbox, command: &CommandDesc, first: usize) -> Vec<(Place, u64)> {
    let given = |place| is_given(mailbox, first, place);
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
