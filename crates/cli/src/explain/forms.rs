//! Finds failed commands in a record. Each form of message has a file of its own.

mod dpcp;
mod dpdk;
mod kernel;
mod place;
mod project;
mod timeout;
mod ucx;

use std::ops::Range;

use super::failure::Failure;
use super::record::Record;

/// A failure that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Its bytes in the record.
    pub(super) part: Range<usize>,
    pub(super) failure: Failure,
    /// The device, in the words of the log.
    pub(super) device: Option<String>,
    /// Whether a second message tells of the same failure.
    pub(super) goes_on: bool,
}

/// The failures of a record, in their order.
pub(super) fn find(record: &Record) -> Vec<Found> {
    const FORMS: [fn(&Record, &mut Vec<Found>); 6] =
        [kernel::find, timeout::find, ucx::find, dpdk::find, dpcp::find, project::find];
    let mut found = Vec::new();
    for form in FORMS {
        form(record, &mut found);
    }
    found.sort_by_key(|f| (f.part.start, std::cmp::Reverse(f.part.end)));
    // One message is of one form.
    let mut end = 0;
    found.retain(|f| {
        let first = f.part.start >= end;
        end = end.max(f.part.end);
        first
    });
    found
}

/// A number that fits; none when it does not, or is not there.
fn fit<T: TryFrom<u64>>(number: Option<u64>) -> Option<T> {
    number.and_then(|number| T::try_from(number).ok())
}
