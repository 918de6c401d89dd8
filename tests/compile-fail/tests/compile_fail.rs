//! Mistakes that do not compile, and what the compiler says of them.

#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;

use std::process::Command;

use skipped::skipped;

/// The compiler that said what stands beside the programs. Another one says it in other words.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_do_not_compile() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("a compiler");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.starts_with(COMPILER) {
        skipped(&format!(
            "NOTHING WAS COMPILED: the texts are those of {COMPILER}x, and this is \
             {version}"
        ));
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
