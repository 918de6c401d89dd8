//! `prm spec`: the tables behind this program, checked and compared.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use prm_codegen::run::{self, Failed, Given};
use prm_codegen::tables::Folder;

use crate::error::{Error, Exit, Visible};
use crate::generated::tables::TABLES;
use crate::output::Output;
use crate::progress::Waiting;

/// Checks and compares the tables that mailboxes are read by.
///
/// The tables are those that this program was made from, or those of a folder such as prm-spec.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Checks tables, and tells all their faults, each with its place and remedy.
    Check {
        /// The folder; this program's own tables when left out.
        dir: Option<PathBuf>,
    },
    /// Tells how tables differ: - what only A has, + what only B has, ~ what they say differently.
    ///
    /// Ends with 0 when they say the same, with 1 when they differ, and with 2 when something is wrong.
    Diff {
        /// The one folder.
        a: PathBuf,
        /// The other; this program's own tables when left out.
        b: Option<PathBuf>,
    },
    /// Compares headers or a database with the tables: what is new, different or missing there.
    ///
    /// Ends with 0 when there is nothing new, and nothing different that is not known; with 1 when there is,
    /// and with 2 when something is wrong.
    Verify {
        #[command(flatten)]
        given: Files,
        /// The folder of the tables; this program's own when left out.
        #[arg(long, value_name = "DIR")]
        spec: Option<PathBuf>,
    },
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Files {
    /// A header of the mlx5_ifc dialect; again for one that uses it.
    #[arg(long, value_name = "FILE")]
    header: Vec<PathBuf>,
    /// A database of registers.
    #[arg(long, value_name = "FILE")]
    adb: Option<PathBuf>,
}

impl Arguments {
    /// Whether two things are compared, so that the command ends as diff(1) does.
    pub(crate) fn compares(&self) -> bool {
        !matches!(self.what, What::Check { .. })
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let waiting = Waiting::new("the tables");
    let done = match &arguments.what {
        What::Check { dir } => run::check(folder(dir.as_ref())),
        What::Diff { a, b } => run::diff(a.into(), folder(b.as_ref())),
        What::Verify { given: Files { header, adb }, spec } => {
            let given = adb.as_ref().map_or(Given::Headers(header), Given::Database);
            run::verify(folder(spec.as_ref()), given)
        }
    };
    drop(waiting);
    let trouble = if arguments.compares() { Exit::Usage } else { Exit::Wrong };
    match done {
        Ok(text) => {
            writeln!(out, "{}", text.trim_end())?;
            Ok(Exit::Done)
        }
        Err(Failed::Differs(text)) => {
            writeln!(out, "{}", text.trim_end())?;
            Ok(Exit::Wrong)
        }
        Err(Failed::Faults(faults)) => {
            // Each has its own place and remedy; nothing is put before the first.
            let _ = write!(io::stderr(), "{}", Visible(faults.render()));
            Ok(trouble)
        }
        Err(Failed::Text(text)) => Err(Error::Input(text.trim_end().to_owned())),
    }
}

/// The tables of a folder, or this program's.
fn folder(dir: Option<&PathBuf>) -> Folder<'_> {
    dir.map_or(Folder::Embedded(TABLES), Folder::from)
}
