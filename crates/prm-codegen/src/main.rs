//! `prm-codegen`: import headers, check tables, generate Rust.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use prm_codegen::fault::{Faults, SourceFile};
use prm_codegen::tables::Provenance;
use prm_codegen::{check, emit, import, tables};

/// Layout tables of the mlx5 PRM: import, check, generate.
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
    /// Read C headers of the mlx5_ifc dialect and write layouts/ and sources.toml.
    Import {
        /// The headers, each after those whose structs it uses.
        #[arg(required = true)]
        headers: Vec<PathBuf>,
        /// The package that the headers are from.
        #[arg(long)]
        package: String,
        /// The version of the package.
        #[arg(long)]
        version: String,
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
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Import { headers, package, version, out } => {
            let from = Provenance { package: package.clone(), version: version.clone() };
            run_import(&arguments.spec, headers, &from, out.as_deref().unwrap_or(&arguments.spec))
        }
        Command::Check => run_check(&arguments.spec),
        Command::Generate { root, check } => run_generate(&arguments.spec, root, *check),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprint!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn shown(faults: Faults) -> String {
    faults.render()
}

fn run_import(
    spec: &Path,
    headers: &[PathBuf],
    from: &Provenance,
    out: &Path,
) -> Result<String, String> {
    let mut faults = Faults::default();
    let files: Vec<_> = headers.iter().filter_map(|h| faults.take(SourceFile::read(h))).collect();
    let files = faults.or(files).map_err(shown)?;
    let families = tables::read_families(spec).map_err(shown)?;
    let imported = import::import(&files, families).map_err(shown)?;
    check::check_layouts(&imported).map_err(shown)?;
    tables::write_layouts(&imported, from, &files, out)
        .map_err(|e| format!("{} can't be written: {e}\n", out.display()))?;
    let fields: usize = imported.layouts.iter().map(|l| l.fields.len()).sum();
    Ok(format!(
        "{} layouts, {fields} fields, {} enums",
        imported.layouts.len(),
        imported.enums.len()
    ))
}

fn run_check(spec: &Path) -> Result<String, String> {
    let spec = tables::read_spec(spec).map_err(shown)?;
    check::check(&spec).map_err(shown)?;
    Ok(format!(
        "sound: {} layouts, {} enums, {} commands",
        spec.layouts.len(),
        spec.enums.len(),
        spec.semantics.commands.len()
    ))
}

fn run_generate(spec: &Path, root: &Path, only_check: bool) -> Result<String, String> {
    let spec = tables::read_spec(spec).map_err(shown)?;
    check::check(&spec).map_err(shown)?;
    let files = emit::emit(&spec).map_err(shown)?;
    if only_check { emit::compare(&files, root) } else { emit::write(&files, root) }
}
