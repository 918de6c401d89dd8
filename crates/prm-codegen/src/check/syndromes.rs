//! Checks the table of syndromes that were explained in public.

use crate::fault::{Faults, Origin};
use crate::model::*;

/// The kernel's words for each status: `cmd_status_str` of mlx5_core's `cmd.c`. It has those for
/// `NOT_READY` since Linux 6.12.
const STATUS_WORDS: &[(&str, &str)] = &[
    ("OK", "OK"),
    ("INT_ERR", "internal error"),
    ("BAD_OP_ERR", "bad operation"),
    ("BAD_PARAM_ERR", "bad parameter"),
    ("BAD_SYS_STATE_ERR", "bad system state"),
    ("BAD_RES_ERR", "bad resource"),
    ("RES_BUSY", "resource busy"),
    ("NOT_READY", "FW not ready"),
    ("LIM_ERR", "limits exceeded"),
    ("BAD_RES_STATE_ERR", "bad resource state"),
    ("IX_ERR", "bad index"),
    ("NO_RES_ERR", "no resources"),
    ("BAD_QP_STATE_ERR", "bad QP state"),
    ("BAD_PKT_ERR", "bad packet (discarded)"),
    ("BAD_SIZE_OUTS_CQES_ERR", "bad size too many outstanding CQEs"),
    ("BAD_INP_LEN_ERR", "bad input length"),
    ("BAD_OUTP_LEN_ERR", "bad output length"),
];

/// Each entry on its own, then their order.
pub(super) fn check(spec: &Spec, faults: &mut Faults) {
    let all = &spec.semantics.syndromes;
    for syndrome in all {
        command(spec, syndrome, faults);
        status(spec, syndrome, faults);
        certainty(syndrome, faults);
        words(syndrome, faults);
    }
    for (first, second) in all.iter().zip(all.iter().skip(1)) {
        order(first, second, faults);
    }
    twice(all, faults);
}

fn command(spec: &Spec, syndrome: &Syndrome, faults: &mut Faults) {
    let Some(opcodes) = bound(spec, "opcode") else { return };
    let help = "write the name of an opcode, several with blanks between; * stands for any run of \
                characters, and an opcode without name is 0x and its number; what else is to be said goes into \
                detail";
    if syndrome.command.trim().is_empty() {
        faults.add(&syndrome.origin, "command is empty", help);
    }
    for name in syndrome.command.split_whitespace() {
        let message = match name.strip_prefix("0x").map(|hex| i64::from_str_radix(hex, 16)) {
            Some(Ok(number)) => match opcodes.values.iter().find(|v| v.value == number) {
                Some(known) => format!("{name} has a name, {}", known.name),
                None if number <= 0xffff => continue,
                None => format!("{name} is no opcode: they have 16 bits"),
            },
            _ if opcodes.values.iter().any(|v| is_like(&v.name, name)) => continue,
            _ => format!("no opcode is called {name}"),
        };
        faults.add(&syndrome.origin, message, help);
    }
}

/// An enum that is bound to fields.
fn bound<'s>(spec: &'s Spec, name: &str) -> Option<&'s BoundEnum> {
    spec.semantics.enums.iter().find(|e| e.name == name)
}

/// Whether a name fits a pattern, in which `*` stands for any run of characters.
pub fn is_like(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    // What is between two stars is taken where it is found first: what follows has the most room then.
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        match name.split_once(part) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    true
}

fn status(spec: &Spec, syndrome: &Syndrome, faults: &mut Faults) {
    let (said, number) = match (&syndrome.status, syndrome.status_number) {
        (Some(said), Some(number)) => (said, number),
        (None, None) => return,
        _ => {
            faults.add(
                &syndrome.origin,
                "a syndrome with one of status and status_number",
                "write both, or neither",
            );
            return;
        }
    };
    let Some(known) = bound(spec, "status") else { return };
    let of_number = known.values.iter().find(|v| v.value == i64::from(number));
    let Some(of_number) = of_number else {
        faults.add(
            &syndrome.places.status_number,
            format!("no status has the number {number:#x}"),
            "correct it; the enum status has all",
        );
        return;
    };
    let words = STATUS_WORDS.iter().find(|(name, _)| *name == of_number.name);
    if let Some((_, words)) = words
        && words != said
    {
        faults.add(
            &syndrome.places.status,
            format!("status {number:#x} is {words:?}, not {said:?}"),
            "write the kernel's words for the number, or correct the number",
        );
    }
}

fn certainty(syndrome: &Syndrome, faults: &mut Faults) {
    if !matches!(syndrome.certainty.as_str(), "stated" | "reported") {
        faults.add(
            &syndrome.places.certainty,
            format!("{:?} is no certainty", syndrome.certainty),
            "write \"stated\" (by the vendor, or by who fixed it) or \"reported\"",
        );
    }
}

/// Words are told to users as they are.
fn words(syndrome: &Syndrome, faults: &mut Faults) {
    for (key, text, place) in &syndrome.words {
        if text.trim().is_empty() {
            faults.add(place, format!("{key} is empty"), "write it, or leave the key out");
        } else if text.contains(char::is_control) {
            let help = "write it as one line";
            faults.add(place, format!("{key} has a line break or another control character"), help);
        }
    }
}

fn order(first: &Syndrome, second: &Syndrome, faults: &mut Faults) {
    let key = |s: &Syndrome| (s.number, s.command.clone());
    if key(second) < key(first) {
        let what = format!("{:#x} {}", second.number, second.command);
        faults.add(
            &second.places.number,
            format!("{what} stands behind {:#x} {}", first.number, first.command),
            "sort the entries by number, then by command",
        );
    }
}

fn twice(all: &[Syndrome], faults: &mut Faults) {
    let mut seen: Vec<(&Syndrome, &Origin)> = Vec::new();
    for syndrome in all {
        let same = |known: &&(&Syndrome, &Origin)| {
            let known = known.0;
            (known.number, &known.command, known.op_mod)
                == (syndrome.number, &syndrome.command, syndrome.op_mod)
        };
        if let Some((_, first)) = seen.iter().find(same) {
            faults.add(
                &syndrome.places.number,
                format!("a second entry for {:#x} of {}", syndrome.number, syndrome.command),
                format!(
                    "the first stands at {}:{}: make one of the two, with the second source in also",
                    first.file.name,
                    first.line()
                ),
            );
        } else {
            seen.push((syndrome, &syndrome.places.number));
        }
    }
}
