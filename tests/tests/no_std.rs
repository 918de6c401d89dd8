//! The codec builds where there is no operating system.

use std::path::Path;
use std::process::Command;

/// A bare target where it is installed; else a library with a panic handler of its own, which does
/// not build when anything in it brings std.
#[test]
fn builds_for_a_bare_target() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("bare/Cargo.toml");
    let scratch = tempfile::tempdir().expect("a folder for the build");
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc");
    let sysroot = String::from_utf8(sysroot.stdout).expect("a path");
    let bare = Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-none");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", scratch.path());
    if bare.exists() {
        cargo.args(["--target", "x86_64-unknown-none"]);
        println!("building for x86_64-unknown-none");
    } else {
        println!(
            "x86_64-unknown-none is not installed: building a no_std library with its own panic handler"
        );
    }
    let output = cargo.output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
