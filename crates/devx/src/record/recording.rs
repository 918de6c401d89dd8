//! A whole recording.

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use super::call::Call;
use super::read::{ReadError, read};
use super::write::HEADER;

/// A recording: calls in the order of their return.
///
/// ```
/// use mlx5_devx::record::Recording;
///
/// let text = "mlx5-recording 1\ndestroy devx 0x1\n at 7\n result errno 2 # ENOENT\n";
/// let recording: Recording = text.parse()?;
/// assert_eq!(recording.calls()[0].at.as_micros(), 7);
///
/// let error = text.replace("0x1", "0y1").parse::<Recording>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 2, column 14: `0y1` is no handle; \
///      a handle is a hex number of up to 64 bits, such as 0x1"
/// );
/// # Ok::<(), mlx5_devx::record::ReadError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Recording {
    calls: Vec<Call>,
    /// The line that each call begins on; nothing when it was not read from text.
    lines: Vec<usize>,
}

impl Recording {
    /// Reads a recording, such as a file behind a `BufReader`. `parse` reads one from a `&str`.
    ///
    /// # Errors
    /// See [`ReadError`]. Limits: lines of 4096 bytes, mailboxes of
    /// [`MAX_MAILBOX`](super::MAX_MAILBOX) bytes, 1048576 calls, and 256 MiB of mailboxes
    /// together, what the output held before a call among them.
    pub fn read(reader: impl BufRead) -> Result<Self, ReadError> {
        let (lines, calls) = read(reader)?.into_iter().unzip();
        Ok(Recording { calls, lines })
    }

    /// A recording of these calls.
    pub fn new(calls: Vec<Call>) -> Self {
        Recording { calls, lines: Vec::new() }
    }

    /// Its calls.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(crate) fn place(&self, index: usize) -> RecordedCall {
        RecordedCall {
            number: index + 1,
            line: self.lines.get(index).copied(),
            summary: self.calls[index].summary(),
        }
    }
}

impl FromStr for Recording {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        Recording::read(text.as_bytes())
    }
}

/// The text that a recorder writes.
impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        self.calls.iter().try_for_each(|call| call.fmt(f))
    }
}

/// Two recordings are equal when their calls are, wherever those stand in the files.
impl PartialEq for Recording {
    fn eq(&self, other: &Self) -> bool {
        self.calls == other.calls
    }
}

impl Eq for Recording {}

/// A call of a recording, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// Which one, from 1.
    pub number: usize,
    /// The line that it begins on, from 1; `None` when the recording was not read from text.
    pub line: Option<usize>,
    /// Method, object and command: `modify cq 0x1, MODIFY_CQ(0x403)`.
    pub summary: String,
}

impl fmt::Display for RecordedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.number)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.summary)
    }
}
