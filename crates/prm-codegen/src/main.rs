//! `prm-codegen`: import sources, check tables, compare them, generate Rust.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use prm_codegen::fault::{Faults, Origin, SourceFile};
use prm_codegen::import::{self, HeaderFile, PassedOver, Reading};
use prm_codegen::merge::{self, Told};
use prm_codegen::report::{self, Verified};
use prm_codegen::{check, emit, tables};

/// Layout tables of the mlx5 PRM: import, check, compare, generate.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder of the tables.
    #[arg(long, global = true, default_value = "prm-spec")]
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
        /// The folder of the workspace to write to.
        #[arg(long, default_value = ".")]
        root: PathBuf,
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
            run_import(spec, sources, out.as_deref().unwrap_or(spec))
        }
        Command::Check => run_check(spec),
        Command::Generate { root, check } => run_generate(spec, root, *check),
        Command::Verify(files) => run_verify(spec, files),
        Command::Diff { a, b } => run_diff(a, b),
        Command::Counts => run_counts(spec),
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

/// Why a run failed.
enum Failed {
    /// Its input is at fault.
    Faults(Faults),
    /// Something else went wrong.
    Text(String),
    /// What was compared differs: the answer itself.
    Differs(String),
}

impl From<Faults> for Failed {
    fn from(faults: Faults) -> Self {
        Failed::Faults(faults)
    }
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Failed::Text(text)
    }
}

fn run_import(spec: &Path, dir: &Path, out: &Path) -> Result<String, Failed> {
    let mut faults = Faults::default();
    let families = faults.take(tables::read_families(spec));
    let sources = faults.take(tables::read_sources(spec));
    let (Some(families), Some((sources, rulings))) = (families, sources) else {
        return Err(faults.into());
    };
    let mut told = Vec::new();
    for source in &sources {
        let reading = faults.take(import::read(source, &dir.join(&source.name)));
        told.extend(reading.map(|reading| Told { source: source.name.clone(), reading }));
    }
    let told = faults.or(told)?;
    let passed_over: Vec<String> = told.iter().filter_map(passed_over).collect();
    let merged = merge::merge(told, rulings, families)?;
    check::check_layouts(&merged)?;
    tables::write_import(&merged, out)
        .map_err(|e| format!("{} can't be written: {e}\n", out.display()))?;
    let fields: usize = merged.layouts.iter().map(|l| l.fields.len()).sum();
    Ok(format!(
        "{}{} layouts, {fields} fields, {} enums, {} registers, {} aliases, {} conflicts",
        passed_over.concat(),
        merged.layouts.len(),
        merged.enums.len(),
        merged.registers.len(),
        merged.aliases.len(),
        merged.conflicts.len()
    ))
}

/// What was read past in a source, in a line.
fn passed_over(told: &Told) -> Option<String> {
    let text = passed_over_in(&told.reading);
    (!text.is_empty()).then(|| format!("{}: passed over {text}\n", told.source))
}

/// What was read past, with what is wrong with it where it is a layout.
fn passed_over_in(reading: &Reading) -> String {
    let label = |p: &PassedOver| match &p.fault {
        Some(fault) => format!("{} (at fault: {fault})", p.label),
        None => p.label.clone(),
    };
    reading.passed_over.iter().map(label).collect::<Vec<_>>().join(", ")
}

fn run_check(spec: &Path) -> Result<String, Failed> {
    let spec = tables::read_spec(spec)?;
    check::check(&spec)?;
    // What only Rust minds: two names that become one.
    emit::emit(&spec)?;
    Ok(format!(
        "sound: {} layouts, {} enums, {} commands",
        spec.layouts.len(),
        spec.enums.len(),
        spec.semantics.commands.len()
    ))
}

fn run_generate(spec: &Path, root: &Path, only_check: bool) -> Result<String, Failed> {
    let spec = tables::read_spec(spec)?;
    check::check(&spec)?;
    let files = emit::emit(&spec)?;
    let done = if only_check { emit::compare(&files, root) } else { emit::write(&files, root) };
    Ok(done?)
}

fn run_verify(spec: &Path, files: &Files) -> Result<String, Failed> {
    let mut faults = Faults::default();
    let spec = faults.take(tables::read_spec(spec));
    let paths = files.header.iter().chain(&files.adb);
    let read =
        |path: &PathBuf| SourceFile::read(path).map(|file| HeaderFile { file, takes: Vec::new() });
    let read: Vec<HeaderFile> = paths.filter_map(|path| faults.take(read(path))).collect();
    let Some(spec) = spec else { return Err(faults.into()) };
    let read = faults.or(read)?;
    let reading = match &files.adb {
        Some(_) => import::adb(&read[0].file)?,
        None => import::headers_leniently(&read)?,
    };
    if reading.layouts.is_empty() && reading.enums.is_empty() && reading.registers.is_empty() {
        return Err(Faults::one(
            &Origin::whole(&read[0].file),
            format!("{} has no layout, no enumerator and no register", read[0].file.name),
            "name a header of the mlx5_ifc dialect or a database of registers, and see that it is whole",
        )
        .into());
    }
    let kin = spec
        .sources
        .iter()
        .filter(|s| s.files.iter().any(|f| import::is_adb(&f.path)) == files.adb.is_some())
        .map(|s| s.name.clone())
        .collect::<Vec<_>>();
    let mut text = match &*passed_over_in(&reading) {
        "" => String::new(),
        items => format!("passed over: {items}\n"),
    };
    let verified = report::verify(&spec, reading, &kin);
    text.push_str(&told(&verified));
    if verified.is_clean() { Ok(text) } else { Err(Failed::Differs(text)) }
}

/// The parts of a comparison, each with its number.
fn told(verified: &Verified) -> String {
    let parts = [
        ("new: not in the tables", &verified.new),
        ("different: the tables say otherwise", &verified.different),
        ("different, and known: conflicts.toml has it", &verified.known),
        ("missing: only in the tables (and the sources that have it)", &verified.missing),
    ];
    let mut text = String::new();
    for (title, lines) in parts {
        text.push_str(&format!("{title}: {}\n", lines.len()));
        for line in lines {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

fn run_diff(a: &Path, b: &Path) -> Result<String, Failed> {
    let mut faults = Faults::default();
    let (a, b) = (faults.take(tables::read_spec(a)), faults.take(tables::read_spec(b)));
    let (Some(a), Some(b)) = (a, b) else { return Err(faults.into()) };
    let text = report::diff(&a, &b);
    if text.is_empty() { Ok("the two say the same".to_owned()) } else { Err(Failed::Differs(text)) }
}

fn run_counts(spec: &Path) -> Result<String, Failed> {
    Ok(report::counts(&tables::read_spec(spec)?))
}
