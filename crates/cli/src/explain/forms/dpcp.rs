//! `obj_handle: P status: N syndrome: N id: 0xN`, `modify status: N syndrome: N`.
//!
//! Source: `obj::create`, `modify` and `query` of libdpcp's `dpcp_obj.cpp`, which XLIO shows at its
//! trace level. It tells of every command, also of those that went well: their status is 0. The
//! status is decimal, the syndrome hexadecimal without `0x`.

use super::{Found, fit};
use crate::explain::failure::{Failure, Form};
use crate::explain::record::{Cursor, Record};

/// Finds failed commands in libdpcp's logs.
pub(super) fn find(record: &Record, found: &mut Vec<Found>) {
    for at in record.find_all("status:") {
        let bytes = &record.bytes()[..at];
        let (start, said) = if bytes.ends_with(b"modify") {
            (at - 6, "modify")
        } else if bytes.ends_with(b"query") {
            (at - 5, "query")
        } else if let Some(start) = handle(bytes) {
            (start, "create")
        } else {
            continue;
        };
        found.extend(message(record, start, at, said));
    }
}

/// Where `obj_handle: P` before a status begins.
fn handle(before: &[u8]) -> Option<usize> {
    let near = before.len().saturating_sub(40);
    let at = before[near..].windows(11).rposition(|part| part == b"obj_handle:")?;
    Some(near + at)
}

fn message(record: &Record, start: usize, at: usize, said: &str) -> Option<Found> {
    let mut cursor = Cursor::new(record, at);
    cursor.take("status:")?;
    let status: u8 = fit(cursor.decimal())?;
    cursor.take("syndrome:")?;
    // The first syndrome is followed by an id, the others by nothing.
    let mut ahead = cursor.clone();
    let syndrome = match ahead.hex().filter(|_| ahead.take("id:").is_some()) {
        Some(syndrome) => {
            cursor = ahead;
            Some(syndrome)
        }
        None => cursor.last_hex(),
    };
    let mut failure = Failure::new(Form::Dpcp);
    failure.said = Some(said.to_owned());
    failure.status = Some(status);
    failure.cut = syndrome.is_none();
    failure.syndrome = fit(syndrome);
    (status != 0).then_some(Found {
        part: start..cursor.at(),
        failure,
        device: None,
        goes_on: false,
    })
}
