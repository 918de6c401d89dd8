//! What can go wrong, as it is told to the user.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use mlx5_prm_cli::read_hex::ReadError;

use crate::arguments::ArgumentFault;

/// How the command ends. `prm diff` ends as diff(1) does: 1 when the two differ, 2 when something
/// went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done.
    Done = 0,
    /// The input or an argument is wrong; or what was compared differs.
    Wrong = 1,
    /// The command line can't be understood (clap's own).
    Usage = 2,
    /// The kernel or the firmware refused a command.
    Refused = 3,
}

/// Why the command ends without its output.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file can't be read.
    #[error("{file}: {source}")]
    Open { file: String, source: io::Error },
    /// Its content is no mailbox.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An argument is wrong.
    #[error(transparent)]
    Argument(#[from] ArgumentFault),
    /// Anything else about the input: what is wrong, where, and what to do.
    #[error("{0}")]
    Input(String),
    /// The kernel or the firmware refused: who, what and why.
    #[error("{0}")]
    Refused(String),
    /// The output can't be written.
    #[error("standard output: {0}")]
    Write(#[from] io::Error),
}

/// Tells the user something on standard error. Whoever closed that wants to be told nothing.
pub(crate) fn tell(message: impl Display) {
    let _ = writeln!(io::stderr(), "prm: {}", Visible(message));
}

/// [`tell`], once for each text: `prm send` makes a mailbox before anything is sent, and again when it is.
pub(crate) fn tell_once(message: impl Display) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let message = message.to_string();
    let is_new = TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(message.clone());
    if is_new {
        tell(message);
    }
}

/// Text that may hold what came from outside, with its control characters made visible, so that none gets
/// to a terminal. Each remains one column wide, for the carets below.
pub(crate) struct Visible<T>(pub(crate) T);

impl<T: Display> Display for Visible<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Pictures(f), "{}", self.0)
    }
}

/// Writes pictures of control characters in their place.
struct Pictures<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Pictures<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let shown = |c| if matches!(c, '\n' | '\t') { c } else { picture(c) };
        text.chars().try_for_each(|c| self.0.write_char(shown(c)))
    }
}

/// The picture of a control character (U+2400 and on), or the character.
pub(crate) fn picture(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c),
        '\x7f' => '\u{2421}',
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::Visible;

    #[test]
    fn control_characters_are_seen_and_not_obeyed() {
        let text = "a\x1b[31mb\r\0\x7f\u{9b}1m\tc\nd \u{e4}";
        assert_eq!(
            Visible(text).to_string(),
            "a\u{241b}[31mb\u{240d}\u{2400}\u{2421}\u{fffd}1m\tc\nd \u{e4}"
        );
    }
}
