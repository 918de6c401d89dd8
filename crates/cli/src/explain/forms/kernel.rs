//! `NAME(0xOPCODE) op_mod(0xN) failed, status WORDS(0xN), syndrome (0xN), err(-N)`.
//!
//! Sources: `mlx5_cmd_out_err`, and before Linux 5.18 `mlx5_cmd_check` and `cmd_status_print`, of
//! mlx5_core's `cmd.c` (`err` from 5.18 on; `uid(N)` only where debugging is on); the tracepoint
//! `mlx5_cmd` of its `diag/cmd_tracepoint.h`; `mlx5_vfio_cmd_check` of rdma-core's `mlx5_vfio.c`.

use super::place::{self, Command};
use super::{Found, fit};
use crate::explain::errno::Errno;
use crate::explain::failure::{Failure, Form};
use crate::explain::record::{Cursor, Record};
use crate::explain::status;

/// Longer than the words of any status.
const LONGEST_STATUS: usize = 48;

/// Finds what the kernel, its tracing and rdma-core's VFIO driver tell of refused commands.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    for at in record.find_all("op_mod(") {
        // rdma-core has a comma there.
        let end = if at > 0 && record.bytes()[at - 1] == b',' { at - 1 } else { at };
        let Some(command) = place::command(record, end) else { continue };
        found.extend(message(record, command, at));
    }
}

fn message(record: &Record, command: Command, at: usize) -> Option<Found> {
    let mut failure = Failure::new(form(record, &command));
    failure.opcode = command.opcode;
    failure.said = command.name.filter(|_| failure.form != Form::Vfio);
    if failure.said.as_deref() == Some("unknown command opcode") {
        failure.said = None;
    }
    let mut cursor = Cursor::new(record, at);
    failure.cut = rest(record, &mut cursor, &mut failure).is_none();
    // A piece of a message of which neither the begin nor the end is there tells nothing.
    if failure.cut && failure.opcode.is_none() && failure.status_said.is_none() {
        return None;
    }
    let (start, device) = match place::device(record, command.start) {
        Some((start, device)) => (start, Some(device)),
        None => (command.start, None),
    };
    Some(Found { part: start..cursor.at(), failure, device, goes_on: false })
}

fn form(record: &Record, command: &Command) -> Form {
    if command.name.as_deref() == Some("mlx5_vfio_op_code") {
        return Form::Vfio;
    }
    match record.bytes()[..command.start].ends_with(b"mlx5_cmd:") {
        true => Form::Trace,
        false => Form::Kernel,
    }
}

/// What follows the command; `None` when it breaks off.
fn rest(record: &Record, cursor: &mut Cursor<'_>, failure: &mut Failure) -> Option<()> {
    cursor.take("op_mod(")?;
    let op_mod = cursor.hex();
    cursor.take(")")?;
    failure.op_mod = fit(op_mod);
    if cursor.take("uid(").is_some() {
        failure.uid = fit(cursor.decimal());
        cursor.take(")")?;
    }
    cursor.take("failed,status")?;
    status(record, cursor, failure)?;
    cursor.take(",syndrome(")?;
    let syndrome = cursor.hex();
    cursor.take(")")?;
    failure.syndrome = fit(syndrome);
    let mut ahead = cursor.clone();
    if ahead.take(",err(-").is_some() {
        *cursor = ahead.clone();
        let errno = ahead.decimal();
        ahead.take(")")?;
        failure.errno = fit(errno).map(Errno);
        *cursor = ahead;
    }
    Some(())
}

/// The status: its words, and its number behind them.
fn status(record: &Record, cursor: &mut Cursor<'_>, failure: &mut Failure) -> Option<()> {
    let start = cursor.at();
    let mut ahead = cursor.clone();
    let whole = ahead.until("(0x", LONGEST_STATUS).and_then(|words| {
        let number = ahead.hex();
        ahead.take(")").and(number).map(|number| (words, number))
    });
    // What is cut off may be followed by the numbers of another message.
    let is_status = |c: u8| c.is_ascii_alphabetic() || b"(0x)".contains(&c);
    match whole {
        Some((words, number)) if record.bytes()[words.clone()].iter().all(|c| is_status(*c)) => {
            failure.status = fit(Some(number));
            let said = status::mended(&record.text(words));
            let odd = failure.status.is_none_or(|number| status::disagree(&said, number));
            failure.status_said = Some(said).filter(|_| odd);
            *cursor = ahead;
            Some(())
        }
        _ => {
            let is_word = |c: &&u8| c.is_ascii_alphabetic();
            let len = record.bytes()[start..].iter().take_while(is_word).count();
            let words = start..(start + len).min(record.line_end(start));
            // Of a first byte alone the end of the line is that of the one before.
            let words = if record.breaks_before(start) { start..start } else { words };
            let said = record.text(words);
            failure.status = status::of_words(&said, true);
            failure.status_said = Some(said).filter(|said| !said.is_empty());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<Found> {
        let mut record = Record::default();
        record.push(1, line.as_bytes());
        let mut found = Vec::new();
        find(&record, &mut found);
        found
    }

    #[test]
    fn forms_of_versions() {
        for line in [
            "mlx5_cmd_check:810:(pid 92): create_mkey(0x200) op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x35)",
            "x CREATE_MKEY(0x200) op_mod(0x1) uid(7) failed, status bad parameter(0x3), syndrome (0x35), err(-22)",
            "mlx5_vfio_op_code(0x200), op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x35)",
            "mlx5_cmd: CREATE_MKEY(0x200) op_mod(0x1) failed, status bad parameter(0x3), syndrome(0x35), err(-22)",
        ] {
            let found = of(line);
            let failure = &found[0].failure;
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(
                (failure.opcode, failure.op_mod, failure.status, failure.syndrome, failure.cut),
                (Some(0x200), Some(1), Some(3), Some(0x35), false),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_cut_is_told_as_far_as_it_goes() {
        let whole = "mlx5_core 0000:04:00.0: f:1:(pid 1): CREATE_CQ(0x400) op_mod(0x0) failed, status bad \
                     resource state(0x9), syndrome (0x35), err(-22)";
        let cut = |end: &str| of(&whole[..whole.find(end).unwrap() + end.len()]).remove(0).failure;
        assert_eq!(cut("status bad resource s").status, Some(9));
        assert_eq!(cut("status bad resource s").status_said.as_deref(), Some("bad resource s"));
        assert_eq!(cut("status bad resour").status, None);
        assert_eq!((cut("op_mod(0x").op_mod, cut("op_mod(0x").cut), (None, true));
        assert_eq!((cut("syndrome (0x3").syndrome, cut("syndrome (0x3").status), (None, Some(9)));
        assert!(!cut("syndrome (0x35)").cut, "older kernels have no err");
        assert_eq!(cut("err(-2").errno, None);
        // Its begin is lost.
        let tail = of("0) op_mod(0x0) failed, status bad resource state(0x9), syndrome (0x35)");
        assert_eq!((tail[0].failure.opcode, tail[0].failure.syndrome), (None, Some(0x35)));
        assert!(of("op_mod(0x0) failed").is_empty());
    }
}
