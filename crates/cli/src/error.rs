//! What can go wrong, as it is told to the user.

use std::io;

use mlx5_prm_cli::read_hex::ReadError;

/// Why the command ends without its output.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file can't be read.
    #[error("{file}: {source}")]
    Open { file: String, source: io::Error },
    /// Its content is no mailbox.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The mailbox ends before its layout does.
    #[error(
        "{layout} needs {needed} bytes; {file} has {given}\n\
         Give the whole mailbox, or another layout: `prm layouts` lists them with their sizes."
    )]
    Short { layout: &'static str, needed: usize, file: String, given: usize },
    /// No layout has this name.
    #[error(
        "no layout is called `{name}`{}\n`prm layouts PART` lists the names that contain PART.",
        nearest(.near)
    )]
    UnknownLayout { name: String, near: Vec<&'static str> },
    /// No layout has this in its name.
    #[error(
        "no layout's name contains `{part}`{}\n`prm layouts` lists all names.",
        nearest(.near)
    )]
    NoMatch { part: String, near: Vec<&'static str> },
    /// The output can't be written.
    #[error("standard output: {0}")]
    Write(io::Error),
}

fn nearest(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) }
}
