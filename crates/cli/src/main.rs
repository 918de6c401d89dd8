//! The `prm` command: reads command mailboxes of mlx5 adapters and explains them.

mod error;
mod input;
mod json;
mod layout;
mod layouts;
mod names;
mod position;
mod show;
mod trailing;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Reads command mailboxes of mlx5 adapters and explains them.
#[derive(Parser)]
#[command(name = "prm", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Decodes a mailbox.
    ///
    /// It is read as binary, plain hex, or a dump by xxd, od -A x -t x1, hexdump -C or the kernel
    /// (mlx5_core with debug_mask=1); which one it is, is seen from the content.
    Show {
        /// PRM name of the layout, such as modify_cq_in; `prm layouts` lists them.
        layout: String,
        /// The mailbox; standard input when left out, or `-`.
        file: Option<PathBuf>,
        /// Writes JSON; every field is there, also those that are zero.
        #[arg(long)]
        json: bool,
        /// Shows also the fields that are zero.
        #[arg(long)]
        all: bool,
    },
    /// Lists the layouts.
    Layouts {
        /// Only those whose name contains this.
        part: Option<String>,
        /// Writes JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lists the fields of a layout.
    Layout {
        /// PRM name of the layout, such as cqc.
        name: String,
        /// Writes JSON.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command).and_then(|text| write(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be told to whoever closed standard error.
            let _ = writeln!(io::stderr(), "prm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the command writes to standard output.
fn run(command: Command) -> Result<String, Error> {
    match command {
        Command::Show { layout, file, json, all } => {
            let layout = names::find(&layout)?;
            let bytes = input::mailbox(layout, file.as_deref())?;
            Ok(if json { json::text(layout, &bytes) } else { show::text(layout, &bytes, all) })
        }
        Command::Layouts { part, json } => layouts::text(part.as_deref().unwrap_or(""), json),
        Command::Layout { name, json } => {
            let layout = names::find(&name)?;
            Ok(if json { layout::json(layout) } else { layout::text(layout) })
        }
    }
}

fn write(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough: `prm layouts | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Error::Write),
    }
}
