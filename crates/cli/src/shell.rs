//! `prm completions` and `prm man`: what a shell and a manual take.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::error::{Error, Exit};
use crate::output::Output;

/// Writes the completions for a shell.
///
/// For bash: prm completions bash > ~/.local/share/bash-completion/completions/prm
#[derive(Args)]
pub(crate) struct Completions {
    /// Which shell.
    shell: Shell,
}

/// Writes the manual, for man(1).
///
/// The page of the whole command goes to standard output: prm man | man -l -
#[derive(Args)]
pub(crate) struct Manual {
    /// Writes a page for each subcommand, too, all into this folder: prm.1, prm-decode.1, ...
    dir: Option<PathBuf>,
}

pub(crate) fn completions(
    arguments: &Completions,
    mut command: clap::Command,
    out: &mut Output,
) -> Result<Exit, Error> {
    // What generates them panics when it can't write, so it writes to memory.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "prm", &mut text);
    out.write_all(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn manual(
    arguments: &Manual,
    command: clap::Command,
    out: &mut Output,
) -> Result<Exit, Error> {
    match &arguments.dir {
        None => Man::new(command).render(out)?,
        Some(dir) => {
            let fault = |source| Error::Open { file: dir.display().to_string(), source };
            std::fs::create_dir_all(dir).map_err(fault)?;
            clap_mangen::generate_to(command, dir).map_err(fault)?;
        }
    }
    Ok(Exit::Done)
}
