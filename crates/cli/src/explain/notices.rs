//! What a log tells beside failed commands, and is worth a word.

use std::collections::BTreeSet;
use std::ops::Range;

use super::record::{Cursor, Record};
use super::tally::Lines;

/// What was noticed.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// How many failures the kernel's rate limit kept out of the log.
    pub(super) suppressed: u64,
    /// Answers that came after their command was given up.
    pub(super) late: Option<Lines>,
    /// What the driver tells of the health of a device.
    pub(super) health: Option<Lines>,
    /// Errors of mlx5-devx about commands that were not sent.
    pub(super) not_sent: Option<Lines>,
    /// Completions with errors: of work requests, not of commands.
    pub(super) completions: Option<Lines>,
    /// Syndromes in messages of no known form.
    pub(super) unread: Option<Lines>,
}

/// The functions whose messages tell of failed commands, and are rate limited.
const LIMITED: &[&str] = &["mlx5_cmd_out_err:", "mlx5_cmd_check:", "cmd_status_print:"];

/// What the driver says of a device in trouble, without blanks: `print_health_info`, `poll_health` and
/// `mlx5_health_check_fatal_sensors` of mlx5_core's `health.c`.
const HEALTH: &[&str] = &[
    "assert_var[",
    "healthcompromised",
    "healthpollfailed",
    "FatalError",
    "assert_exit_ptr",
    ":synd0x",
];

/// What mlx5-devx says of a command that was not sent, without blanks: `Error::NotSent`, and what
/// `Error::Kernel` says of a `Fwctl` and a `Replayer`.
const NOT_SENT: &[&str] = &[
    "wasnotsent:",
    "waskeptbackbythelimitoftheFwctl,",
    "differsfromtherecording,asReplayer::mismatchtells:",
];

/// Marks of a completion with error: mlx5e, mlx5_ib, libmlx5 and DPDK.
const COMPLETIONS: &[&str] = &[
    "vendorsyndrome",
    "vendor_err",
    "errorcqe",
    "Errorcqe",
    "ErrorCQE",
    "CQEerror",
    "gotcompletionwitherror",
];

impl Notices {
    /// Looks at what begins before `limit` in a record, beside the failures in it.
    pub(super) fn add(&mut self, record: &Record, failures: &[Range<usize>], limit: usize) {
        self.suppressed(record, limit);
        let lines = |marks: &[&str]| -> BTreeSet<u64> {
            let places = marks.iter().flat_map(|mark| record.find_all(mark));
            places.filter(|at| *at < limit).map(|at| record.line(at)).collect()
        };
        let (health, completions) = (lines(HEALTH), lines(COMPLETIONS));
        let outside = |at: &usize| {
            let line = record.line(*at);
            *at < limit
                && !failures.iter().any(|part| part.contains(at))
                && !health.contains(&line)
                && !completions.contains(&line)
                && is_told(record, *at)
        };
        let unread =
            record.find_all("syndrome").filter(outside).map(|at| record.line(at)).collect();
        let not_sent = lines(NOT_SENT);
        let late = lines(&["completionarrivedaftertimeout"]);
        add_all(&mut self.late, late);
        add_all(&mut self.health, health);
        add_all(&mut self.not_sent, not_sent);
        add_all(&mut self.completions, completions);
        add_all(&mut self.unread, unread);
    }

    fn suppressed(&mut self, record: &Record, limit: usize) {
        for function in LIMITED {
            for at in record.find_all(function).filter(|at| *at < limit) {
                let mut cursor = Cursor::new(record, at + function.len());
                let count = cursor.decimal();
                if cursor.take("callbackssuppressed").is_some() {
                    self.suppressed = self.suppressed.saturating_add(count.unwrap_or(0));
                }
            }
        }
    }
}

fn add_all(seen: &mut Option<Lines>, lines: BTreeSet<u64>) {
    for line in lines {
        Lines::add(seen, line);
    }
}

/// Whether a number follows `syndrome`, and the word is not one of a sentence about it.
fn is_told(record: &Record, at: usize) -> bool {
    let mut cursor = Cursor::new(record, at);
    let _ = cursor.take("syndrome");
    for mark in ["(", ":", "="] {
        let _ = cursor.take(mark);
    }
    cursor.take("0x").is_some()
}
