//! Instructions, as `valgrind --tool=callgrind` counts them: exactly, and the same in every run.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test uses a part of it; one takes it by its path"
)]

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether there is a valgrind; says so when there is none.
///
/// # Panics
/// There is none, and the tests run where nothing may be left out.
pub fn is_installed() -> bool {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok() {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "no valgrind; run: apt-get install valgrind");
    writeln!(
        std::io::stderr(),
        "SKIPPED, NOTHING WAS COUNTED: no valgrind; run: apt-get install valgrind"
    )
    .expect("stderr is open");
    false
}

/// What a program prints, which must succeed.
pub fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Builds a program of a package for release, whatever the test is built for, into this target
/// folder, with these features and no others.
pub fn release(target: &Path, package: &str, program: &str, features: &str) {
    output(
        Command::new(env!("CARGO"))
            .args(["build", "--release", "--offline", "--no-default-features", "--bin", program])
            .args(["--features", features])
            .arg("--target-dir")
            .arg(target)
            .current_dir(package),
    );
}

/// Lets memset and memcpy of the C library use vectors for blocks of any size.
const NO_REP: &str =
    "glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000";

/// Instructions of the calls of a function, with all that they call.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    /// Instructions of all of them.
    pub instructions: u64,
}

/// Runs a program under callgrind; gives its output and the costs of its functions. If functions are
/// named in `only`, what is counted is they, and what they call.
pub fn count(
    program: &mut Command,
    scratch: &Path,
    only: &[&str],
) -> (String, HashMap<String, Cost>) {
    let file = scratch.join("callgrind.out");
    let environment = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let printed = output(
        Command::new("valgrind")
            .envs(environment)
            // Symbols are looked up when a program is loaded, and not in the first call.
            .env("LD_BIND_NOW", "1")
            // Of `rep stosb` and `rep movsb` each byte would be counted as an instruction.
            .env("GLIBC_TUNABLES", NO_REP)
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", file.display()))
            .args(only.iter().map(|function| format!("--toggle-collect={function}")))
            .arg(program.get_program())
            .args(program.get_args()),
    );
    (printed, costs(&std::fs::read_to_string(&file).expect("what callgrind wrote")))
}

/// Reads the format of callgrind: after `fn=` come lines of cost of that function, and after each
/// `calls=` one with the cost of what it called. Names are told once and then abbreviated `(id)`.
fn costs(text: &str) -> HashMap<String, Cost> {
    let (mut names, mut costs) = (HashMap::new(), HashMap::<String, Cost>::new());
    let mut name = |text: &str| -> String {
        let (id, rest) = text.split_once(')').expect("an abbreviation");
        if !rest.is_empty() {
            names.insert(id.to_owned(), rest.trim().to_owned());
        }
        names[id].clone()
    };
    let (mut function, mut called) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(text) = line.strip_prefix("fn=") {
            function = name(text);
        } else if let Some(text) = line.strip_prefix("cfn=") {
            called = name(text);
        } else if let Some(text) = line.strip_prefix("calls=") {
            let calls = text.split(' ').next().and_then(|n| n.parse::<u64>().ok());
            costs.entry(called.clone()).or_default().calls += calls.expect("a number of calls");
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let cost = line.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
            costs.entry(function.clone()).or_default().instructions += cost.expect("a cost");
        }
    }
    costs
}
