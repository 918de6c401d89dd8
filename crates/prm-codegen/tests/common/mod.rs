//! What several tests need: folders, and the real program under limits.

#![allow(dead_code, reason = "no test needs all of it")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// No run may take longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);

/// What broken input may take of memory, in KiB.
pub(crate) const SMALL: u64 = 256 * 1024;

/// What whole sources may take of memory, in KiB.
pub(crate) const LARGE: u64 = 1024 * 1024;

/// A folder of `tests/`.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The tables of the workspace.
pub(crate) fn prm_spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prm-spec").canonicalize().unwrap()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What a run of the program gave.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program in `dir`, under limits of time and of `memory` (in KiB).
pub(crate) fn run(dir: &Path, memory: u64, arguments: &[&str]) -> Run {
    let begun = Instant::now();
    let limited =
        format!("ulimit -t {} && ulimit -v {memory} && exec \"$0\" \"$@\"", LIMIT.as_secs());
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_prm-codegen")])
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(begun.elapsed() < LIMIT, "{arguments:?} took {:?}", begun.elapsed());
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Tells aloud, past the test harness, which keeps what passing tests print, that a test is
/// skipped.
pub(crate) fn untested(what: &str) {
    writeln!(std::io::stderr(), "\n*** NOT TESTED: {what} ***\n").unwrap();
}

/// The folder of the published sources, called as `sources.toml` calls them; `None`, told aloud,
/// where `MLX5_SOURCES` does not name it.
pub(crate) fn published(what: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("MLX5_SOURCES").map(PathBuf::from);
    if dir.is_none() {
        untested(&format!(
            "{what}: MLX5_SOURCES names no folder of the published sources \
             (SOURCE/FILE, such as v7.3/mlx5_ifc.h)"
        ));
    }
    dir
}

/// Asserts that a text is as expected; shows how it differs.
#[track_caller]
pub(crate) fn assert_text(expected: &str, told: &str) {
    let diff = similar::TextDiff::from_lines(expected, told);
    assert!(expected == told, "{}", diff.unified_diff().header("expected", "told"));
}
