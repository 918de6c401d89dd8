//! Commands that were not answered in time: `cmd[N]: NAME(0xOPCODE) No done completion` and its kin.
//!
//! Source: `wait_func`, `wait_func_handle_exec_timeout`, `cb_timeout_handler` and `cmd_work_handler` of
//! mlx5_core's `cmd.c`.

use super::{Found, place};
use crate::explain::errno::Errno;
use crate::explain::failure::{Failure, Form, Wait};
use crate::explain::record::Record;

/// What follows the command, without blanks; what it means, and what its caller sees.
const ENDINGS: &[(&str, Wait, Option<Errno>)] = &[
    (NO_COMPLETION, Wait::NoAnswer, Some(ETIMEDOUT)),
    (")timeout.Willcausealeakofacommandresource", Wait::NoAnswer, Some(ETIMEDOUT)),
    (")Async,timeout.Willcausealeakofacommandresource", Wait::NoAnswer, Some(ETIMEDOUT)),
    (")recoveredaftertimeout", Wait::Recovered, None),
    (")Async,recoveredaftertimeout", Wait::Recovered, None),
    (")canceledonoutofqueuetimeout", Wait::NoSlot, Some(Errno(125))),
    (")timeoutwhilewaitingforcommandsemaphore", Wait::NoSlot, Some(Errno(16))),
    (")timedoutwhilewaitingforaslot", Wait::NoSlot, Some(Errno(16))),
];

const NO_COMPLETION: &str = ")Nodonecompletion";

const ETIMEDOUT: Errno = Errno(110);

/// Finds commands that were not answered in time.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    for (ending, wait, errno) in ENDINGS {
        for at in record.find_all(ending) {
            let Some(command) = place::command(record, at + 1) else { continue };
            let mut failure = Failure::new(Form::Timeout);
            failure.opcode = command.opcode;
            failure.said = command.name;
            failure.wait = Some(*wait);
            failure.errno = *errno;
            let slot = before_slot(record, command.start);
            let (start, device) = match place::device(record, slot) {
                Some((start, device)) => (start, Some(device)),
                None => (slot, None),
            };
            // wait_func tells the same command again.
            let goes_on = *ending == NO_COMPLETION;
            found.push(Found { part: start..at + ending.len(), failure, device, goes_on });
        }
    }
}

/// Where `cmd[N]:` before a command begins, or the command.
fn before_slot(record: &Record, start: usize) -> usize {
    let before = &record.bytes()[..start];
    let slot = before
        .strip_suffix(b"]:")
        .map(|rest| rest.len() - rest.iter().rev().take_while(|b| b.is_ascii_digit()).count());
    slot.filter(|at| before[..*at].ends_with(b"cmd[")).map_or(start, |at| at - 4)
}
