//! Instructions that the codec takes, against the DEVX macros compiled by `gcc -O2`.
//!
//! Both programs run under `valgrind --tool=callgrind`, which counts instructions exactly: the same
//! in every run. Calls made by a function, such as to `memset`, count as its own.

mod callgrind;
mod headers;
mod spec;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgrind::{Cost, count, is_installed, release};
use headers::{INSTALL, any_linux, finish, gcc, write};

/// Calls of each counted function, in both programs.
const ROUNDS: u64 = 100;

/// How much of what the C code takes ours may take.
const MOST_TO_ENCODE: f64 = 1.00;
/// The same for reading.
const MOST_TO_READ: f64 = 1.00;

/// Our program, built for release whatever this test is built for.
fn our_program() -> PathBuf {
    let debug = Path::new(env!("CARGO_BIN_EXE_counted"));
    let target = debug.ancestors().nth(2).expect("a folder target above it");
    release(target, env!("CARGO_MANIFEST_DIR"), "counted");
    target.join("release").join(debug.file_name().expect("a file"))
}

fn c_program(scratch: &Path) -> PathBuf {
    let (source, program) = (scratch.join("counted.c"), scratch.join("counted"));
    let compile = || -> Result<(), String> {
        let headers = any_linux().prepare(scratch)?;
        write(&source, &format!("{headers}{}", include_str!("instructions/counted.c")))?;
        let child = gcc(scratch)
            .args(["-O2", "-o"])
            .args([&program, &source])
            .stderr(Stdio::piped())
            .spawn();
        finish("the C program", child)
    };
    compile().unwrap_or_else(|e| panic!("{e}\n{INSTALL}"));
    program
}

#[test]
fn ours_take_no_more_than_the_macros() {
    if !is_installed() {
        return;
    }
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    let (our_output, our_costs) = count(&mut Command::new(our_program()), scratch.path(), &[]);
    let (c_output, c_costs) =
        count(&mut Command::new(c_program(scratch.path())), scratch.path(), &[]);
    assert_eq!(our_output, c_output, "the two programs did not do the same");

    let one = |costs: &HashMap<String, Cost>, function: &str| {
        let cost = costs
            .get(function)
            .unwrap_or_else(|| panic!("{function} is not in what callgrind wrote"));
        assert_eq!(
            (cost.calls, cost.instructions % ROUNDS),
            (ROUNDS, 0),
            "{function}: not the same every time"
        );
        cost.instructions / ROUNDS
    };
    let ours = |function: &str| one(&our_costs, &format!("counted::{function}"));
    let c = |function: &str| one(&c_costs, function);
    let row = |what: &str, ours: u64, c: u64| {
        let ratio = ours as f64 / c as f64;
        println!("{what:<64} {ours:>5} {c:>5} {ratio:>6.2}");
        ratio
    };
    println!("{:<64} {:>5} {:>5} {:>6}", "instructions of one call", "ours", "C", "ratio");
    let encode =
        row("MODIFY_CQ, five fields, one expression", ours("encode_expression"), c("encode"));
    let changes = row("  the same by paired calls", ours("encode_changes"), c("encode"));
    row("  the same, returned by value", ours("encode_returned"), c("encode"));
    row("  the same, in a view of any bytes", ours("encode_bytes"), c("encode"));
    row("  new(), then set_ for each field", ours("encode_setters"), c("encode"));
    row("  272 zeros alone", ours("encode_zeros"), c("encode_zeros"));
    let fields =
        row("  the five fields alone, into a mailbox", ours("encode_fields"), c("encode_fields"));
    let read = row("QUERY_CQ, ten fields, viewed in any bytes", ours("read_bytes"), c("read_ten"));
    row("  the same, from a view", ours("read_typed"), c("read_ten"));

    // Other processors have other instructions; the counts are printed, and nothing is promised.
    if cfg!(target_arch = "x86_64") {
        assert!(encode <= MOST_TO_ENCODE, "encoding takes {encode:.2} of what C takes");
        assert!(changes <= MOST_TO_ENCODE, "paired calls take {changes:.2} of what C takes");
        assert!(read <= MOST_TO_READ, "reading takes {read:.2} of what C takes");
        assert!(fields <= MOST_TO_ENCODE, "the fields alone take {fields:.2} of what C takes");
    }
}
