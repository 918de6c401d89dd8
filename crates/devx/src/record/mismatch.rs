//! What a replayer says of a program that did not do what was recorded.

use std::fmt;

use super::difference::Difference;
use super::recording::RecordedCall;

/// Differences that are printed; those behind them are counted.
const PRINTED: usize = 32;

/// A request that the recording does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mismatch {
    /// Which call of the replay it is, from 1.
    pub number: usize,
    /// Method, object and command: `modify cq 0x1, MODIFY_CQ(0x403)`.
    pub request: String,
    /// The call that it was compared with: in strict mode the one whose turn it was, by key the
    /// one of the same method and opcode that differs in the fewest bytes. `None`: there is no
    /// such call.
    pub recorded: Option<RecordedCall>,
    /// What differs; empty when there is nothing to compare with, or when the recorded answer was
    /// given before and is given once only (create and destroy by key).
    pub differences: Vec<Difference>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "call {} of the replay is not in the recording: {}",
            self.number, self.request
        )?;
        match &self.recorded {
            None => return f.write_str("  there is no recorded call to compare it with"),
            Some(recorded) if self.differences.is_empty() => {
                return write!(f, "  its answer was given before, and is given once: {recorded}");
            }
            Some(recorded) => write!(f, "  compared with {recorded}")?,
        }
        let shown = &self.differences[..self.differences.len().min(PRINTED)];
        let header = [("what", "recorded", "now")];
        let rows = shown.iter().map(|d| (&*d.what, &*d.recorded, &*d.now));
        let width = |column: fn(&Difference) -> &str, title: &str| {
            shown.iter().map(|d| column(d).len()).max().unwrap_or(0).max(title.len())
        };
        let (what, recorded) = (width(|d| &d.what, "what"), width(|d| &d.recorded, "recorded"));
        for (a, b, c) in header.into_iter().chain(rows) {
            write!(f, "\n  {a:what$}  {b:recorded$}  {c}")?;
        }
        match self.differences.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// The replay is not what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unfinished {
    /// The first request that the recording does not have.
    pub mismatch: Option<Box<Mismatch>>,
    /// Recorded calls that were not made.
    pub not_made: Vec<RecordedCall>,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mismatch) = &self.mismatch {
            write!(f, "{mismatch}")?;
        }
        if self.not_made.is_empty() {
            return Ok(());
        }
        let line = if self.mismatch.is_some() { "\n" } else { "" };
        match self.not_made.len() {
            1 => write!(f, "{line}1 recorded call was not made:")?,
            several => write!(f, "{line}{several} recorded calls were not made:")?,
        }
        for call in self.not_made.iter().take(PRINTED) {
            write!(f, "\n  {call}")?;
        }
        match self.not_made.len().saturating_sub(PRINTED) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}
