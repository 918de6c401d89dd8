//! What the program does, for whoever runs it: an answer in words, or why there is none.

use std::path::{Path, PathBuf};

use crate::fault::{Faults, Origin, SourceFile};
use crate::import::{self, HeaderFile, PassedOver, Reading};
use crate::merge::{self, Told};
use crate::report::{self, Verified};
use crate::tables::Folder;
use crate::{check, emit, tables};

/// Why a run failed.
#[derive(Debug)]
pub enum Failed {
    /// Its input is at fault.
    Faults(Faults),
    /// Something else went wrong.
    Text(String),
    /// What was compared differs: the answer itself.
    Differs(String),
}

/// What is compared with the tables.
#[derive(Debug, Clone, Copy)]
pub enum Given<'a> {
    /// Headers of the mlx5_ifc dialect; at least one.
    Headers(&'a [PathBuf]),
    /// A database of registers.
    Database(&'a PathBuf),
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

/// Reads the sources that the `sources.toml` of `spec` names, each in a folder below `dir`, and writes what
/// they say together to `out`.
///
/// # Errors
/// Every fault of the sources and of what they say together; what the file system says.
pub fn import(spec: &Path, dir: &Path, out: &Path) -> Result<String, Failed> {
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

/// Checks tables.
///
/// # Errors
/// All their faults.
pub fn check(spec: Folder<'_>) -> Result<String, Failed> {
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

/// Writes Rust from the tables to the workspace `root`; with `only_check` writes nothing, and fails with a diff
/// when what is there differs.
///
/// # Errors
/// All faults of the tables, the diff, or what the file system says.
pub fn generate(spec: &Path, root: &Path, only_check: bool) -> Result<String, Failed> {
    let names = Folder::from(spec).tables();
    let spec = tables::read_spec(spec)?;
    check::check(&spec)?;
    let mut files = emit::emit(&spec)?;
    files.push(emit::embedded(&names?));
    let done = if only_check { emit::compare(&files, root) } else { emit::write(&files, root) };
    Ok(done?)
}

/// Compares headers, each after those whose structs it uses, or one database with the tables.
///
/// # Errors
/// Faults in either. [`Failed::Differs`] when anything is new, or different in a way that `conflicts.toml` does
/// not know.
pub fn verify(spec: Folder<'_>, given: Given<'_>) -> Result<String, Failed> {
    let mut faults = Faults::default();
    let spec = faults.take(tables::read_spec(spec));
    let is_adb = matches!(given, Given::Database(_));
    let paths = match given {
        Given::Headers(paths) => paths,
        Given::Database(path) => std::slice::from_ref(path),
    };
    let read =
        |path: &PathBuf| SourceFile::read(path).map(|file| HeaderFile { file, takes: Vec::new() });
    let read: Vec<HeaderFile> = paths.iter().filter_map(|path| faults.take(read(path))).collect();
    let Some(spec) = spec else { return Err(faults.into()) };
    let read = faults.or(read)?;
    let reading =
        if is_adb { import::adb(&read[0].file)? } else { import::headers_leniently(&read)? };
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
        .filter(|s| s.files.iter().any(|f| import::is_adb(&f.path)) == is_adb)
        .map(|s| s.name.clone())
        .collect::<Vec<_>>();
    let mut text = match &*passed_over_in(&reading) {
        "" => String::new(),
        items => format!("passed over: {items}\n"),
    };
    if text.contains("is not defined above this line") {
        text.push_str("give the header that defines it before the one that uses it\n");
    }
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
    let [new, different, known, missing] = parts.map(|(_, lines)| lines.len());
    text + &format!(
        "in all: {new} new, {different} different, {known} different and known, {missing} missing\n"
    )
}

/// Tells how two sets of tables differ.
///
/// # Errors
/// Faults in either; [`Failed::Differs`] when they do.
pub fn diff(a: Folder<'_>, b: Folder<'_>) -> Result<String, Failed> {
    let mut faults = Faults::default();
    let (a, b) = (faults.take(tables::read_spec(a)), faults.take(tables::read_spec(b)));
    let (Some(a), Some(b)) = (a, b) else { return Err(faults.into()) };
    let text = report::diff(&a, &b);
    if text.is_empty() { Ok("the two say the same".to_owned()) } else { Err(Failed::Differs(text)) }
}

/// Counts what each source gave.
///
/// # Errors
/// The faults of the tables.
pub fn counts(spec: &Path) -> Result<String, Failed> {
    Ok(report::counts(&tables::read_spec(spec)?))
}
