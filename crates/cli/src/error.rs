//! What can go wrong, as it is told to the user.

use std::io;

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
