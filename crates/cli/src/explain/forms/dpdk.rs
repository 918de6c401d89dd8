//! `mlx5_common: DevX create CQ failed errno=121 status=0xN syndrome=0xN`, and what DPDK tells of
//! its hardware steering: `[mlx5dr_cmd_...]: Failed to create FT (syndrome: 0xN)`.
//!
//! Sources: `DEVX_DRV_LOG` and `mlx5_devx_get_out_command_status` of
//! `drivers/common/mlx5/mlx5_devx_cmds.c`, and `drivers/net/mlx5/hws/mlx5dr_cmd.c`. Numbers are
//! written by `%#x`: 0 has no `0x`.

use std::ops::Range;

use super::{Found, fit};
use crate::explain::errno::Errno;
use crate::explain::failure::{Failure, Form};
use crate::explain::record::{Cursor, Record};
use crate::explain::words;

/// Longer than what DPDK calls any command.
const LONGEST: usize = 80;

/// Finds failed commands in DPDK's logs.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    found.extend(record.find_all("DevX").filter_map(|at| devx(record, at)));
    found.extend(record.find_all("Failedto").filter_map(|at| steering(record, at)));
    found.extend(record.find_all("BadDevXstatus").filter_map(|at| bad_status(record, at)));
    found.extend(record.find_all("usingDevX").filter_map(|at| plain(record, at)));
}

/// `DevX WHAT failed errno=N status=N syndrome=N`, or `DevX WHAT NAME=N failed ...`.
fn devx(record: &Record, start: usize) -> Option<Found> {
    let mut cursor = Cursor::new(record, start);
    cursor.take("DevX")?;
    let what = cursor.until("failederrno=", LONGEST)?;
    let mut failure = Failure::new(Form::Dpdk);
    command(&mut failure, without_number(record, what));
    let mut rest = || {
        failure.errno = fit(cursor.decimal()).map(Errno);
        cursor.take("status=")?;
        let status = cursor.hex();
        cursor.take("syndrome=")?;
        failure.status = fit(status);
        failure.syndrome = Some(fit(cursor.last_hex())?);
        Some(())
    };
    failure.cut = rest().is_none();
    Some(Found { part: start..cursor.at(), failure, device: None, goes_on: false })
}

/// The command: by what it is called.
fn command(failure: &mut Failure, what: String) {
    match words::opcode(&what) {
        Some((opcode, said)) => {
            failure.opcode = Some(opcode);
            failure.said = said.map(str::to_owned);
        }
        None => failure.said = Some(what),
    }
}

/// What was done, without the parameter behind it: `RQ modify rq_id=0X1A2`, `read access NIC
/// register=0X9020`.
fn without_number(record: &Record, what: Range<usize>) -> String {
    const PARAMETERS: &[&str] =
        &["rq_id", "sq_id", "cq_id", "func", "sample_field_id", "NICregister"];
    let text = record.text(what.clone());
    let squeezed = String::from_utf8_lossy(&record.bytes()[what]).into_owned();
    let before = squeezed.rsplit_once('=').and_then(|(before, _)| {
        PARAMETERS.iter().find_map(|parameter| before.strip_suffix(parameter))
    });
    before.map_or(text, str::to_owned)
}

/// `Failed to WHAT (syndrome: N)`.
fn steering(record: &Record, start: usize) -> Option<Found> {
    let mut cursor = Cursor::new(record, start);
    cursor.take("Failedto")?;
    let what = cursor.until("(syndrome:", LONGEST)?;
    // That of another message.
    if record.bytes()[what.clone()].windows(8).any(|part| part == b"Failedto") {
        return None;
    }
    let mut failure = Failure::new(Form::Dpdk);
    // `modify STC FW action_type 3`
    let end = record.find("FWaction_type", what.start).unwrap_or(what.end).min(what.end);
    command(&mut failure, record.text(what.start..end));
    let syndrome = cursor.hex();
    failure.cut = cursor.take(")").is_none();
    failure.syndrome = fit(syndrome.filter(|_| !failure.cut));
    Some(Found { part: start..cursor.at(), failure, device: None, goes_on: false })
}

/// `Bad DevX status N, syndrome = N`, both hexadecimal without `0x`.
fn bad_status(record: &Record, start: usize) -> Option<Found> {
    let mut cursor = Cursor::new(record, start);
    cursor.take("BadDevXstatus")?;
    let mut failure = Failure::new(Form::Dpdk);
    let mut rest = || {
        let status = cursor.hex();
        cursor.take(",syndrome=")?;
        failure.status = fit(status);
        failure.syndrome = Some(fit(cursor.last_hex())?);
        Some(())
    };
    failure.cut = rest().is_none();
    Some(Found { part: start..cursor.at(), failure, device: None, goes_on: false })
}

/// `Failed to modify RQT using DevX`, or `Failed to create CQ using DevX errno=N.`, without status and
/// syndrome.
fn plain(record: &Record, end: usize) -> Option<Found> {
    let before = &record.bytes()[end.saturating_sub(LONGEST)..end];
    let at = before.windows(8).rposition(|part| part == b"Failedto")?;
    let start = end - before.len() + at;
    let what = record.text(start + 8..end);
    let what = what.replace(' ', "");
    let what = what.strip_suffix("obj").or(what.strip_suffix("Obj")).unwrap_or(&what);
    let mut failure = Failure::new(Form::Dpdk);
    command(&mut failure, what.to_owned());
    failure.opcode?;
    let mut cursor = Cursor::new(record, end + "usingDevX".len());
    let after = cursor.at();
    // A number without what follows it may be cut.
    let errno = cursor.take("errno=").and_then(|()| fit(cursor.decimal()));
    let errno = errno.filter(|_| cursor.take(".").is_some());
    failure.errno = errno.map(Errno);
    let end = if errno.is_some() { cursor.at() } else { after };
    Some(Found { part: start..end, failure, device: None, goes_on: false })
}
