//! Runs the `prm` command as its users do.

// Not every test uses all of it.
#![allow(dead_code)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

pub(crate) fn prm<S: AsRef<std::ffi::OsStr>>(args: &[S], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_prm"))
        .args(args)
        .env("COLUMNS", "80")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("prm is built");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A command that reads no input may be gone already.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it ends");
    output
}

/// What a run that succeeds writes.
#[track_caller]
pub(crate) fn good<S: AsRef<std::ffi::OsStr> + std::fmt::Debug>(
    args: &[S],
    input: &[u8],
) -> String {
    let out = prm(args, input);
    let errors = String::from_utf8(out.stderr).expect("text");
    assert_eq!((out.status.code(), errors.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(out.stdout).expect("text")
}

/// What a run that ends with 1 and writes nothing says.
#[track_caller]
pub(crate) fn bad<S: AsRef<std::ffi::OsStr> + std::fmt::Debug>(args: &[S], input: &[u8]) -> String {
    let out = prm(args, input);
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(1), &b""[..]), "{args:?}");
    String::from_utf8(out.stderr).expect("text")
}

/// All that a run writes, and how it ends: for what is kept whole.
pub(crate) fn all<S: AsRef<std::ffi::OsStr>>(args: &[S], input: &[u8]) -> String {
    let out = prm(args, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    let exit = out.status.code().expect("it ends by itself");
    let mut all = stdout;
    if !stderr.is_empty() {
        all += &format!("--- standard error\n{stderr}");
    }
    all + &format!("--- exit {exit}\n")
}

/// Bytes as plain hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
