//! `mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndrome 0xN: Remote I/O error`.
//!
//! Source: the calls of `ucs_error` and `ucs_log` in UCX's `ib_mlx5_dv.c`, `ib_mlx5dv_md.c`, `ib_mlx5.h`
//! and `rdmacm_cm.c`. UCX tells the syndrome, and the status only by the errno.

use super::{Found, fit, place};
use crate::explain::errno::Errno;
use crate::explain::failure::{Failure, Form};
use crate::explain::record::{Cursor, Record};
use crate::explain::words;
use crate::names;

const START: &str = "mlx5dv_devx_";

/// What the functions do, after `mlx5dv_devx_`: the verb, and the object where the function says it.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("obj_create", "create", ""),
    ("obj_modify", "modify", ""),
    ("obj_query", "query", ""),
    ("obj_destroy", "destroy", ""),
    ("general_cmd", "general", ""),
    ("qp_modify", "modify", "QP"),
    ("qp_query", "query", "QP"),
    ("cq_modify", "modify", "CQ"),
    ("cq_query", "query", "CQ"),
    ("srq_modify", "modify", "SRQ"),
    ("srq_query", "query", "SRQ"),
    ("wq_modify", "modify", "RQ"),
    ("wq_query", "query", "RQ"),
    ("ind_tbl_modify", "modify", "RQT"),
    ("ind_tbl_query", "query", "RQT"),
];

/// Finds failed calls of libmlx5's DEVX functions, as UCX tells of them.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    for start in record.find_all(START) {
        let mut cursor = Cursor::new(record, start + START.len());
        let function = FUNCTIONS.iter().find(|(name, ..)| cursor.take(name).is_some());
        if let Some((_, verb, object)) = function {
            found.extend(call(record, start, cursor, verb, object));
        }
    }
}

fn call(
    record: &Record,
    start: usize,
    mut cursor: Cursor<'_>,
    verb: &str,
    object: &str,
) -> Option<Found> {
    cursor.take("(")?;
    let given = cursor.until(")failed", 200)?;
    let given = String::from_utf8_lossy(&record.bytes()[given]).into_owned();
    let mut failure = Failure::new(Form::Ucx);
    command(&mut failure, &given, verb, object);
    let mut device = place::rdma_device(&given);
    let mut ahead = cursor.clone();
    if ahead.take("on").is_some() {
        let on = ahead.until(",", 40).map(|part| record.text(part).replace(' ', ""));
        device = on.and_then(|on| place::rdma_device(&on));
    }
    device = device.or_else(|| place::device(record, start).map(|(_, device)| device));
    failure.cut = rest(&mut cursor, &mut failure).is_none();
    Some(Found { part: start..cursor.at(), failure, device, goes_on: false })
}

/// The command: by its opcode, its name, or its object.
fn command(failure: &mut Failure, given: &str, verb: &str, object: &str) {
    let opcode = given.strip_prefix("opcode=").and_then(names::number);
    failure.opcode = fit(opcode);
    if failure.opcode.is_some() {
        return;
    }
    let words = given.split(',').map(without_device).filter(|w| !w.is_empty() && !w.contains('='));
    let first = words.clone().next().unwrap_or("");
    match words::opcode(&format!("{verb} {first}")) {
        Some((opcode, said)) => {
            failure.opcode = Some(opcode);
            failure.said = said.map(str::to_owned);
        }
        None => {
            failure.opcode = words::opcode(&format!("{verb} {object}")).map(|(opcode, _)| opcode);
            failure.said = Some(first.to_owned()).filter(|first| !first.is_empty());
        }
    }
}

/// A word without the device before it: `dev=mlx5_0 GENERAL_OBJECT`, `mlx5_0:1`.
fn without_device(word: &str) -> &str {
    let word = word.strip_prefix("dev=").unwrap_or(word);
    match place::rdma_device(word) {
        Some(device) if word.starts_with(&device) => {
            let rest = &word[device.len()..];
            rest.strip_prefix(':')
                .map_or(rest, |port| port.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => word,
    }
}

/// Syndrome and errno; `None` when it breaks off.
fn rest(cursor: &mut Cursor<'_>, failure: &mut Failure) -> Option<()> {
    if cursor.take("on").is_some() {
        cursor.until(",", 40)?;
    } else if cursor.take(":").is_some() {
        // Older UCX told no syndrome of a general command.
        return errno(cursor, failure);
    } else {
        cursor.take(",")?;
    }
    cursor.take("syndrome")?;
    let syndrome = cursor.hex();
    cursor.take(":")?;
    failure.syndrome = fit(syndrome);
    errno(cursor, failure)
}

fn errno(cursor: &mut Cursor<'_>, failure: &mut Failure) -> Option<()> {
    let (errno, len) = Errno::of_words(cursor.rest())?;
    cursor.skip(len);
    failure.errno = Some(errno);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (Option<u16>, Option<u32>, Option<u32>, Option<String>) {
        let mut record = Record::default();
        record.push(1, line.as_bytes());
        let mut found = Vec::new();
        find(&record, &mut found);
        let Found { failure, device, .. } = found.remove(0);
        (failure.opcode, failure.syndrome, failure.errno.map(|errno| errno.0), device)
    }

    #[test]
    fn forms_of_versions() {
        for (line, told) in [
            (
                "mlx5dv_devx_obj_create(DCT) failed on mlx5_1, syndrome 0x12: Invalid argument",
                (Some(0x710), Some(0x12), Some(22), Some("mlx5_1")),
            ),
            (
                "mlx5dv_devx_general_cmd(QUERY_LAG) failed, syndrome 12: Remote I/O error",
                (Some(0x842), Some(0x12), Some(121), None),
            ),
            (
                "md 0x4b0 (mlx5_bond_1): mlx5dv_devx_general_cmd() failed: Remote I/O error",
                (None, None, Some(121), Some("mlx5_bond_1")),
            ),
            (
                "mlx5dv_devx_obj_create(dev=mlx5_3 GENERAL_OBJECT, type=RESERVED_QPN granularity=4) failed, syndrome 0x9: Remote I/O error",
                (Some(0xa00), Some(0x9), Some(121), Some("mlx5_3")),
            ),
            (
                "mlx5dv_devx_cq_modify(x) failed, syndrome 0x9: Protocol error",
                (Some(0x403), Some(0x9), Some(71), None),
            ),
            (
                "mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndr",
                (Some(0x500), None, None, Some("mlx5_0")),
            ),
        ] {
            let (opcode, syndrome, errno, device) = told;
            assert_eq!(of(line), (opcode, syndrome, errno, device.map(str::to_owned)), "{line}");
        }
    }
}
