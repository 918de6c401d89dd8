//! `MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0xN: ...`, and
//! as it was before: `... bad parameter (0x3), syndrome 0xN, errno EINVAL: ...`.
//!
//! Source: `mlx5_devx::Error::Firmware`.

use super::{Found, fit, place};
use crate::explain::errno::Errno;
use crate::explain::failure::{Failure, Form};
use crate::explain::record::{Cursor, Record};
use crate::explain::status;

/// Finds errors of mlx5-devx.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    without_answer(record, found);
    for at in record.find_all("op_mod0x") {
        let Some(command) = place::command(record, at) else { continue };
        let mut failure = Failure::new(Form::Project);
        failure.opcode = command.opcode;
        failure.said = command.name.filter(|name| name != "command");
        let mut cursor = Cursor::new(record, at);
        failure.cut = rest(record, &mut cursor, &mut failure).is_none();
        if failure.opcode.is_some() {
            found.push(Found {
                part: command.start..cursor.at(),
                failure,
                device: None,
                goes_on: false,
            });
        }
    }
}

/// How an error goes on that has an errno and no answer of the firmware, without blanks. At the begin of a
/// line `kernel:` is taken for what a log puts there, so it may be missing.
///
/// Source: `mlx5_devx::Error::Kernel`.
const WITHOUT_ANSWER: [&str; 8] = [
    "wasrefusedbythe",
    "gotnoanswer,andmayhavebeencarriedout:",
    "foundthecommandinterfaceoftheadapterdown:",
    "didnotgetthroughtothefirmware:",
    "failedinthe",
    "can'tbedoneoverthistransport:",
    "isnotletthroughbyfwctl:",
    "hasamailboxofalengththatfwctldoesnottake:",
];

/// `MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)`.
fn without_answer(record: &Record, found: &mut Vec<Found>) {
    for words in WITHOUT_ANSWER {
        for at in record.find_all(words) {
            let Some(command) = place::command(record, at) else { continue };
            let mut failure = Failure::new(Form::Project);
            failure.opcode = command.opcode;
            failure.said = command.name.filter(|name| name != "command");
            let mut cursor = Cursor::new(record, at + words.len());
            let _ = cursor.take("kernel:");
            failure.errno = cursor
                .until("(oserror", 48)
                .and_then(|_| fit(cursor.decimal()))
                .filter(|_| cursor.take(")").is_some())
                .map(Errno);
            failure.cut = failure.errno.is_none();
            (failure.status, failure.syndrome) = (Some(0), Some(0));
            if failure.opcode.is_some() {
                let part = command.start..cursor.at();
                found.push(Found { part, failure, device: None, goes_on: false });
            }
        }
    }
}

fn rest(record: &Record, cursor: &mut Cursor<'_>, failure: &mut Failure) -> Option<()> {
    cursor.take("op_mod")?;
    let op_mod = op_mod(cursor)?;
    failure.op_mod = fit(Some(op_mod));
    let words = cursor.until("(0x", 48)?;
    let status = cursor.hex();
    let in_kernel = cursor.take(",").and_then(|()| cursor.until("inthekernel", 20));
    cursor.take("),syndrome")?;
    failure.status = fit(status);
    let said = status::mended(&record.text(words));
    let odd = failure.status.is_none_or(|number| status::disagree(&said, number));
    failure.status_said = Some(said).filter(|_| odd);
    let syndrome = cursor.hex();
    let name = match in_kernel {
        Some(name) => cursor.take(":").map(|()| name)?,
        None => cursor.take(",errno").and_then(|()| cursor.until(":", 20))?,
    };
    failure.syndrome = fit(syndrome);
    failure.errno = Errno::named(&record.text(name).replace(' ', ""));
    Some(())
}

/// The number before `failed:`, whose first letters are hexadecimal digits, too.
fn op_mod(cursor: &mut Cursor<'_>) -> Option<u64> {
    (1..=4).find_map(|digits| {
        let mut ahead = cursor.clone();
        ahead.take("0x")?;
        let number = ahead.hex_of(digits)?;
        ahead.take("failed:")?;
        *cursor = ahead;
        Some(number)
    })
}
