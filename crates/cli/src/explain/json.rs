//! What is told of failures, for programs.

use serde_json::{Map, Value, json};

use super::errno::Errno;
use super::failure::Failure;
use super::syndromes::{Certainty, Known, Syndrome, Syndromes};
use super::tally::{Kind, Lines, Tally};
use super::{knowledge, status, text};

/// All that is told.
pub(super) fn report(tally: &Tally, syndromes: &Syndromes) -> String {
    let failures: Vec<Value> = tally.kinds.iter().map(|kind| one(kind, syndromes)).collect();
    let notices = &tally.notices;
    let value = json!({
        "lines": tally.lines,
        "count": tally.failures(),
        "failures": failures,
        "suppressed": notices.suppressed,
        "beyond": tally.beyond.map(lines),
        "late_completions": notices.late.map(lines),
        "health": notices.health.map(lines),
        "not_sent": notices.not_sent.map(lines),
        "completion_errors": notices.completions.map(lines),
        "unread_syndromes": notices.unread.map(lines),
        "notes": text::notes(tally),
    });
    format!("{value:#}\n")
}

fn lines(lines: Lines) -> Value {
    json!({ "count": lines.count, "first_line": lines.first, "last_line": lines.last })
}

fn one(kind: &Kind, syndromes: &Syndromes) -> Value {
    let failure = &kind.failure;
    let devices: Map<String, Value> =
        kind.devices.iter().map(|(device, n)| (device.clone(), (*n).into())).collect();
    let about = knowledge::about(failure);
    let mut value = json!({
        "form": failure.form.key(),
        "count": kind.seen.count,
        "first_line": kind.seen.first,
        "last_line": kind.seen.last,
        "devices": devices,
        "other_devices": kind.more_devices,
        "command": failure.command(),
        "opcode": failure.opcode,
        "said": failure.said,
        "about": failure.opcode.and_then(|opcode| mlx5_prm::Opcode(opcode).about()),
        "op_mod": failure.op_mod,
        "uid": failure.uid,
        "status": failure.status,
        "status_name": failure.status.map(status::words),
        "status_said": failure.status_said,
        "status_about": failure.status.map(status::meaning),
        "syndrome": failure.syndrome,
        "errno": failure.errno.map(errno),
        "kernel_errno": failure.status.filter(|s| *s != 0).map(|s| errno(Errno::of_status(s))),
        "wait": failure.wait.map(|wait| wait.key()),
        "cut": failure.cut,
        "causes": Some(about.cause).filter(|cause| !cause.is_empty()),
        "look_at": about.look,
        "odd": text::oddities(failure),
    });
    value["explained"] = explained(failure, syndromes);
    value["simulated"] = failure.syndrome.and_then(mlx5_sim::syndrome::words).into();
    value
}

fn errno(errno: Errno) -> Value {
    json!({ "number": errno.0, "name": errno.name() })
}

/// What is known of the syndrome; `null` when nothing is.
fn explained(failure: &Failure, syndromes: &Syndromes) -> Value {
    let (here, all) = match syndromes.of(failure) {
        Known::This(all) => (true, all),
        Known::Other(all) => (false, all),
        Known::Nothing => return Value::Null,
    };
    let all: Vec<Value> = all.into_iter().map(syndrome).collect();
    json!({ "for_this_command": here, "explanations": all })
}

fn syndrome(known: &Syndrome) -> Value {
    let commands: Vec<&str> = known.command.split_whitespace().collect();
    json!({
        "commands": commands,
        "detail": known.detail,
        "op_mod": known.op_mod,
        "status": known.status,
        "cause": known.cause,
        "remedy": known.remedy,
        "adapter": known.adapter,
        "firmware": known.firmware,
        "certainty": match known.certainty {
            Certainty::Stated => "stated",
            Certainty::Reported => "reported",
        },
        "source": known.source,
        "also": known.also,
        "own_file": known.own,
    })
}
