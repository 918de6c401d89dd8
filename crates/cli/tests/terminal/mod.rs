//! Runs the command as its users do.

#![allow(dead_code, reason = "no test needs all of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs it in a folder, on a terminal of 80 columns without colours.
pub(crate) fn prm_in(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prm"))
        .args(args)
        .current_dir(dir)
        .env("COLUMNS", "80")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs it where nothing is read or written.
pub(crate) fn prm(args: &[&str]) -> Output {
    prm_in(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

/// What a run that succeeds writes.
#[track_caller]
pub(crate) fn good(args: &[&str]) -> String {
    text(args, prm(args), 0)
}

/// Likewise, in a folder.
#[track_caller]
pub(crate) fn good_in(dir: &Path, args: &[&str]) -> String {
    text(args, prm_in(dir, args), 0)
}

/// The output of a run that ends so.
#[track_caller]
pub(crate) fn text(args: &[&str], out: Output, code: i32) -> String {
    let errors = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(code), "{args:?}\n{errors}");
    assert!(code != 0 || errors.is_empty(), "{args:?}\n{errors}");
    String::from_utf8(out.stdout).unwrap()
}

/// All that is seen of some runs, as on a terminal.
pub(crate) fn seen(runs: &[&[&str]]) -> String {
    seen_in(Path::new(env!("CARGO_MANIFEST_DIR")), runs)
}

/// Likewise, in a folder.
pub(crate) fn seen_in(dir: &Path, runs: &[&[&str]]) -> String {
    let one = |args: &&[&str]| {
        let out = prm_in(dir, args);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let code = out.status.code().unwrap();
        let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
        format!("$ prm {}\n{stdout}{stderr}[ends with {code}]\n", args.join(" "))
    };
    runs.iter().map(one).collect::<Vec<_>>().join("\n")
}
