//! `prm-codegen`: import sources, check tables, compare them, generate Rust.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use prm_codegen::run::{self, Failed, Given};

/// The folder of the tables of this workspace.
const SPEC: &str = "prm-spec";

/// Layout tables of the mlx5 PRM: import, check, compare, generate.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder of the tables.
    #[arg(long, global = true, default_value = SPEC)]
    spec: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read the sources that sources.toml names, and write what they say together.
    Import {
        /// A folder with one folder a source, called as the source is, in which its files lie.
        sources: PathBuf,
        /// The folder to write to; that of --spec unless given.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Check the tables, and tell all their faults.
    Check,
    /// Write Rust from the tables.
    Generate {
        /// The folder of the workspace to write to; this one, unless --spec is given.
        #[arg(long)]
        root: Option<PathBuf>,
        /// Write nothing: fail with a diff when what is there differs.
        #[arg(long)]
        check: bool,
    },
    /// Compare headers or a database with the tables: tell what is new, different or missing there.
    /// Fails when anything is new, or different in a way that conflicts.toml does not know.
    Verify(Files),
    /// Tell how two folders of tables differ. Fails when they do.
    Diff {
        /// The one.
        a: PathBuf,
        /// The other.
        b: PathBuf,
    },
    /// Count what each source gave.
    Counts,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Files {
    /// A header of the mlx5_ifc dialect; again for one that uses it.
    #[arg(long)]
    header: Vec<PathBuf>,
    /// A database of registers.
    #[arg(long)]
    adb: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let spec = &arguments.spec;
    let result = match &arguments.command {
        Command::Import { sources, out } => {
            run::import(spec, sources, out.as_deref().unwrap_or(spec))
        }
        Command::Check => run::check(spec.into()),
        Command::Generate { root, check } => match root {
            Some(root) => run::generate(spec, root, *check),
            None if spec == Path::new(SPEC) => run::generate(spec, Path::new("."), *check),
            // What its tables do not have would go.
            None => Err(Failed::Text(format!(
                "tables in {} and no --root: name the folder of the workspace whose generated code becomes \
                 theirs alone\n",
                spec.display()
            ))),
        },
        Command::Verify(Files { header, adb }) => {
            let given = adb.as_ref().map_or(Given::Headers(header), Given::Database);
            run::verify(spec.into(), given)
        }
        Command::Diff { a, b } => run::diff(a.into(), b.into()),
        Command::Counts => run::counts(spec),
    };
    match result {
        Ok(text) => say(text.trim_end(), ExitCode::SUCCESS),
        Err(Failed::Faults(faults)) => {
            eprint!("{}", faults.render());
            ExitCode::FAILURE
        }
        Err(Failed::Text(text)) => {
            eprint!("{text}");
            ExitCode::FAILURE
        }
        Err(Failed::Differs(text)) => say(text.trim_end(), ExitCode::FAILURE),
    }
}

/// Writes the answer of a run, and gives its code. Who reads no further, as `head` does, has read
/// enough.
fn say(text: &str, code: ExitCode) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            eprintln!("the answer can't be written: {e}");
            ExitCode::FAILURE
        }
        _ => code,
    }
}
