//! valgrind finds no invalid access, no decision by memory that was never written, and no leak: in the tests of the
//! backends, in those of the simulated kernel, and in programs over the real libmlx5 and the backends.
//!
//! What is no fault of ours is in `valgrind.supp`.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

#[path = "../../bench/src/callgrind.rs"]
mod callgrind;
mod device;
#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use callgrind::is_installed;
use device::{caught, sysfs};
use skipped::skipped;

/// The exit code of a child without libmlx5.
const NOT_INSTALLED: i32 = 77;

/// The exit code that says that valgrind found a fault. No program here ends with it.
const FAULTY: i32 = 99;

/// Runs a program under valgrind, with its arguments, environment and folder: what it gave, and what valgrind says.
fn memcheck(program: &Command, scratch: &Path) -> (Output, String) {
    let log = scratch.join("valgrind");
    let mut command = Command::new("valgrind");
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let kinds = "definite,indirect,possible";
    command
        .args(["--tool=memcheck", "--leak-check=full", "--num-callers=40"])
        .arg(format!("--error-exitcode={FAULTY}"))
        .arg(format!("--show-leak-kinds={kinds}"))
        .arg(format!("--errors-for-leak-kinds={kinds}"))
        .arg(format!("--suppressions={}/valgrind.supp", env!("CARGO_MANIFEST_DIR")))
        .arg(format!("--log-file={}", log.display()))
        .arg(program.get_program())
        .args(program.get_args());
    let output = command.output().expect("valgrind runs");
    (output, fs::read_to_string(log).expect("what valgrind says"))
}

/// Runs a program, which must succeed and have no fault.
fn faultless(program: &Command, scratch: &Path) -> Output {
    let (output, log) = memcheck(program, scratch);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {}\n{complained}\n{log}", output.status);
    assert!(log.contains("ERROR SUMMARY: 0 errors from 0 contexts"), "{program:?}\n{log}");
    output
}

#[test]
fn faults_are_seen() {
    if !is_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let run = |fault: &str| {
        let mut program = caught(env!("CARGO_BIN_EXE_caught-faulty"), directory.path());
        memcheck(program.arg(fault), directory.path())
    };
    for (fault, word) in [
        ("leak", "definitely lost: 32,768 bytes in 8 blocks"),
        ("read", "Invalid read of size 8"),
        ("unwritten", "depends on uninitialised value"),
    ] {
        let (output, log) = run(fault);
        assert_eq!(output.status.code(), Some(FAULTY), "{fault}: {log}");
        assert!(log.contains(word), "{fault}: {log}");
    }
    let (output, log) = run("nothing");
    assert!(output.status.success(), "{log}");
}

/// A program of tests, and the folder of its package.
struct Tests {
    package: String,
    target: String,
    program: PathBuf,
    folder: PathBuf,
}

/// The tests of the backends and of the simulated kernel. `tests/run` says by what arguments it has built them:
/// else they are built for themselves.
fn tests() -> &'static [Tests] {
    static TESTS: OnceLock<Vec<Tests>> = OnceLock::new();
    TESTS.get_or_init(|| {
        let arguments = std::env::var("MLX5_TESTS_BUILT")
            .unwrap_or_else(|_| "-p mlx5-devx -p mlx5-sim --all-features".to_owned());
        let program = Path::new(env!("CARGO_BIN_EXE_caught-faulty"));
        let target = program.ancestors().nth(2).expect("a folder target above it");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--offline", "--locked", "--message-format=json", "--lib"]);
        for test in ["beyond", "edges", "examples", "fwctl", "ibv", "uverbs"] {
            cargo.args(["--test", test]);
        }
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        cargo.args(arguments.split_whitespace()).arg("--target-dir").arg(target);
        let built = cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).output();
        let built = built.expect("cargo runs");
        let complained = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{cargo:?}: {}\n{complained}", built.status);
        let lines = String::from_utf8(built.stdout).expect("JSON");
        lines.lines().filter_map(read_message).collect()
    })
}

/// Reads one of cargo's messages: a program of tests, or something else.
fn read_message(line: &str) -> Option<Tests> {
    let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    Some(Tests {
        package: folder.file_name()?.to_str()?.to_owned(),
        target: message["target"]["name"].as_str()?.to_owned(),
        program: program.into(),
        folder: folder.to_owned(),
    })
}

/// Runs tests of a package; those whose names begin so are among them.
fn tests_are_faultless(package: &str, target: &str, among: &[&str]) {
    if !is_installed() {
        return;
    }
    let found = tests().iter().find(|tests| tests.package == package && tests.target == target);
    let tests = found.unwrap_or_else(|| panic!("{package}: no tests {target} were built"));
    let mut program = Command::new(&tests.program);
    // Any bytes are tried by the same tests without valgrind, many more of them.
    program.current_dir(&tests.folder).env("PROPTEST_CASES", "4");
    let directory = tempfile::tempdir().unwrap();
    let output = faultless(&program, directory.path());
    let said = String::from_utf8(output.stdout).expect("text");
    let passed = |begins: &&str| {
        let begins = format!("test {begins}");
        said.lines().any(|line| line.starts_with(&begins) && line.ends_with(" ... ok"))
    };
    for begins in among {
        assert!(passed(begins), "{package}: no test {begins} passed:\n{said}");
    }
    let result = said.lines().find(|line| line.starts_with("test result: ok. "));
    println!("{package}, {target}: {}", result.expect("tests that pass"));
}

#[test]
fn unit_tests_of_the_backends() {
    let backends =
        ["ioctl::", "libmlx5::", "fwctl::", "wire::", "umem::", "uar::", "events::", "queries::"];
    tests_are_faultless("devx", "mlx5_devx", &backends);
}

#[test]
fn other_tests_of_the_backends() {
    tests_are_faultless("devx", "ibv", &[""]);
    tests_are_faultless("devx", "fwctl", &[""]);
    tests_are_faultless("sim", "fwctl", &[""]);
    tests_are_faultless("sim", "beyond", &[""]);
    tests_are_faultless("sim", "edges", &[""]);
    tests_are_faultless("sim", "examples", &["async_query", "events", "ioctl"]);
}

#[test]
fn tests_of_the_simulated_kernel() {
    tests_are_faultless("sim", "uverbs", &["arbitrary::", "objects::", "umem::", "uar::"]);
}

/// Runs a child plainly, and under valgrind: it says the same, and sends as many ioctls.
fn child_is_faultless(program: &str, arguments: &[&str], environment: &[&str]) {
    if !is_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), "").unwrap();
    let mut child = caught(program, root);
    child.args(arguments).envs(environment.iter().map(|name| (name, "1")));
    let sent = || {
        let trace = fs::read_to_string(root.join("trace")).expect("a trace");
        fs::remove_file(root.join("trace")).expect("the trace");
        trace.lines().filter(|line| line.starts_with("ioctl\t")).count()
    };
    let plain = child.output().unwrap();
    let complained = String::from_utf8_lossy(&plain.stderr);
    if plain.status.code() == Some(NOT_INSTALLED) {
        skipped(&format!("NOTHING WAS CAUGHT: {}", complained.trim()));
        return;
    }
    assert!(plain.status.success(), "{child:?}: {}\n{complained}", plain.status);
    let sent_plainly = sent();
    let output = faultless(&child, root);
    assert_eq!(String::from_utf8(output.stdout), String::from_utf8(plain.stdout), "{child:?}");
    assert_eq!(sent(), sent_plainly, "{child:?}");
    let name = Path::new(program).file_name().expect("a file").display();
    println!("{name} {}: {sent_plainly} ioctls", arguments.join(" "));
    assert!(sent_plainly > 5, "the child sends ioctls");
}

const SIM: &str = "MLX5_CAUGHT_SIM";
/// Ioctls of the backend `ioctl` are caught by a filter, and a signal, which passes through valgrind.
const RAW: &str = "MLX5_CAUGHT_RAW";

#[test]
fn the_simulated_adapter_by_libmlx5() {
    let program = env!("CARGO_BIN_EXE_caught-sim-child");
    for what in ["commands", "beyond", "exports"] {
        child_is_faultless(program, &["libmlx5", what], &[SIM]);
    }
    child_is_faultless(env!("CARGO_BIN_EXE_caught-example"), &["mlx5_0"], &[SIM]);
}

#[test]
fn the_simulated_adapter_by_ioctl() {
    for what in ["commands", "beyond", "exports"] {
        let program = env!("CARGO_BIN_EXE_caught-sim-child");
        child_is_faultless(program, &["ioctl", what], &[SIM, RAW]);
    }
}

#[test]
fn the_calls_of_the_backends() {
    let program = env!("CARGO_BIN_EXE_caught-backend");
    for backend in ["libmlx5", "libmlx5-alone"] {
        child_is_faultless(program, &[backend], &[]);
    }
    for backend in ["ioctl", "ioctl-alone"] {
        child_is_faultless(program, &[backend], &[RAW]);
    }
}

#[test]
fn objects_of_verbs() {
    for arguments in [&[][..], &["raw"]] {
        child_is_faultless(env!("CARGO_BIN_EXE_caught-verbs-child"), arguments, &[RAW]);
    }
}
