//! The files of the sources: found, checked, read.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{HeaderFile, Reading, adb, headers_leniently};
use crate::fault::{Faults, SourceFile};
use crate::model::Source;

/// Reads the files of a source: `dir/FILE` for each, by the last part of its path.
///
/// # Errors
/// A file that is not there or is another than `sources.toml` says, and every fault in them.
pub fn read(source: &Source, dir: &Path) -> Result<Reading, Faults> {
    let mut faults = Faults::default();
    let mut files = Vec::new();
    for entry in &source.files {
        let name = entry.path.rsplit('/').next().unwrap_or(&entry.path);
        let Some(file) = faults.take(SourceFile::read(&dir.join(name))) else { continue };
        let sum = sha256(&file);
        if let Some(expected) = entry.sha256.as_ref().filter(|expected| **expected != sum) {
            faults.add(
                &entry.origin,
                format!("{} has the SHA-256 {sum}, and {expected} is written here", file.name),
                "fetch the file of the version that is written here, or write its SHA-256",
            );
        }
        files.push(HeaderFile { file, takes: entry.takes.clone() });
    }
    let files = faults.or(files)?;
    files_of_one_kind(&files)
}

/// Reads files of one source: headers, or one database.
///
/// # Errors
/// Every fault in them.
fn files_of_one_kind(files: &[HeaderFile]) -> Result<Reading, Faults> {
    match files {
        [one] if is_adb(&one.file.name) => adb(&one.file),
        _ => headers_leniently(files),
    }
}

/// Whether a file is a database of registers, by its name.
pub fn is_adb(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "adb")
}

fn sha256(file: &Arc<SourceFile>) -> String {
    Sha256::digest(file.text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
