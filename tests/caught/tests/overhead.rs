//! Instructions from a typed call to its ioctl and back, by the backend `ioctl` and by libmlx5, for the
//! same MODIFY_CQ.
//!
//! Both run in one process, under `valgrind --tool=callgrind`. The ioctl of libmlx5 is caught, and what
//! catches it is not counted; that of the backend is a bare system call, which succeeds at once.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

#[path = "../../bench/src/callgrind.rs"]
mod callgrind;
mod device;
#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;

use std::path::Path;
use std::process::Command;

use callgrind::{count, is_installed, release};
use device::{caught, sysfs};
use skipped::skipped;

const ROUNDS: u64 = 100;

/// What of libmlx5's instructions ours may take.
const MOST: f64 = 1.00;

#[test]
fn ours_takes_no_more_than_libmlx5() {
    if !is_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    std::fs::write(root.join("answers"), "").unwrap();

    let debug = Path::new(env!("CARGO_BIN_EXE_caught-counted"));
    let target = debug.ancestors().nth(2).expect("a folder target above it");
    release(target, env!("CARGO_MANIFEST_DIR"), "caught-counted", "");
    let program = target.join("release").join(debug.file_name().expect("a file"));

    let mut command = caught(program.to_str().expect("a name in UTF-8"), root);
    let mut probe = Command::new(command.get_program());
    probe.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let probed = probe.env("MLX5_CAUGHT_GRANTED", "1").output().expect("it runs");
    if probed.status.code() == Some(77) {
        skipped(&format!("NOTHING WAS COUNTED: {}", String::from_utf8_lossy(&probed.stderr)));
        return;
    }
    assert!(probed.status.success(), "{}", String::from_utf8_lossy(&probed.stderr));

    command.env("MLX5_CAUGHT_GRANTED", "1");
    let functions = ["caught_counted::ours", "mlx5dv_devx_cq_modify"];
    let (printed, costs) = count(&mut command, root, &functions);
    assert_eq!(printed.trim(), ROUNDS.to_string());
    let cost = |function: &str| {
        let cost = costs.get(function).unwrap_or_else(|| panic!("{function} was not called"));
        assert_eq!(cost.instructions % ROUNDS, 0, "{function}: not the same every time");
        cost.instructions / ROUNDS
    };
    let ours = cost("caught_counted::ours");
    // What catches the ioctl of libmlx5 takes its time, not always the same.
    let caught = costs.get("ioctl").expect("libmlx5 makes an ioctl").instructions;
    let theirs = costs["mlx5dv_devx_cq_modify"].instructions - caught;
    assert_eq!(theirs % ROUNDS, 0, "not the same every time");
    let theirs = theirs / ROUNDS;
    let ratio = ours as f64 / theirs as f64;
    println!("instructions of one MODIFY_CQ, call to ioctl and back: ours, libmlx5, ratio");
    println!("{ours:>54} {theirs:>8} {ratio:>6.2}");
    assert!(ours > 20 && theirs > 20, "both do something");
    if cfg!(target_arch = "x86_64") {
        assert!(ratio <= MOST, "ours takes {ratio:.2} of what libmlx5 takes");
    }
}
