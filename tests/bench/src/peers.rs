//! Other crates, and scapy, on a few layouts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::Program;

/// The crates, as the cases of `peers` are called.
const CRATES: [(&str, &str); 3] =
    [("deku", "deku"), ("packed_struct", "packed_struct"), ("bilge and byteorder", "bilge")];
/// The cases.
const CASES: [(&str, &str); 3] = [
    ("MODIFY_CQ, whole", "modify_cq"),
    ("QUERY_CQ, 10 fields", "query_cq"),
    ("match of a flow, whole", "flow"),
];

/// The section of the report.
///
/// # Panics
/// A program fails, or two do not do the same.
pub fn text(ours: &Program, scratch: &Path) -> String {
    let mut text = "## Other crates\n\nThree layouts written by hand with other crates \
        ([tests/bench/src/bin/peers](../tests/bench/src/bin/peers)): how many times the instructions of ours they \
        take. All make the same bytes. deku and packed_struct read and write whole structures, with bilge each dword is \
        a structure.\n\n"
        .to_owned();
    if cfg!(feature = "peers") {
        let counted = Program::rust("peers", "peers").count(&[], scratch);
        text += "| | ours | deku | packed_struct | bilge and byteorder |\n|---|--:|--:|--:|--:|\n";
        for (title, case) in CASES {
            let ours = format!("ours_{case}");
            let _ = write!(text, "| {title} | {} |", counted.cost(&ours));
            for (_, name) in CRATES {
                let theirs = format!("{name}_{case}");
                assert_eq!(
                    counted.made(&ours),
                    counted.made(&theirs),
                    "{theirs} does something else"
                );
                let times = counted.cost(&theirs) as f64 / counted.cost(&ours) as f64;
                let _ = write!(text, " {} ({times:.1} times) |", counted.cost(&theirs));
            }
            text.push('\n');
        }
    } else {
        text += "SKIPPED: built without `--features peers`.\n";
    }
    text += "\n### scapy\n\n";
    match scapy(ours, scratch) {
        Ok((scapy, ours)) => {
            let _ = writeln!(
                text,
                "Reading 39 fields of QUERY_QP by scapy, as the tests of rdma-core do, with classes written here \
                 ([scapy_qp.py](../tests/bench/scapy_qp.py)): {:.0} µs, ours {ours:.1} ns, **{:.0} times** as long.",
                scapy / 1000.0,
                scapy / ours
            );
        }
        Err(why) => {
            let _ = writeln!(text, "SKIPPED: {why}");
        }
    }
    text
}

/// Nanoseconds of scapy, and of ours, to read the same.
fn scapy(ours: &Program, scratch: &Path) -> Result<(f64, f64), String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scapy_qp.py");
    let python = python()?;
    let output = Command::new(&python).arg(&script).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = printed.split_whitespace();
    let (sum, time) = (words.next().unwrap_or_default(), words.next().and_then(|t| t.parse().ok()));
    let made = ours.count(&[], scratch);
    assert_eq!(made.made("query_qp_bytes"), sum, "scapy reads something else");
    let times: HashMap<String, f64> = ours.time();
    Ok((time.ok_or("no time was printed")?, times["query_qp_bytes"]))
}

/// Seconds of `prm decode` for a log of 100,000 dumps, from start to end and of processors; of scapy to take one
/// apart and to show it; megabytes of prm for a tenth of the log and for all.
pub(crate) fn log() -> Result<[f64; 6], String> {
    let target = crate::programs::target();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let built = Command::new(env!("CARGO"))
        .args(["build", "-q", "--release", "-p", "mlx5-prm-cli", "--target-dir"])
        .arg(&target)
        .current_dir(&folder)
        .status();
    if !built.map_err(|e| e.to_string())?.success() {
        return Err("prm does not build".to_owned());
    }
    let output = Command::new(python()?)
        .arg(folder.join("prm_log.py"))
        .arg(target.join("release/prm"))
        .output()
        .map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = printed.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    <[f64; 6]>::try_from(numbers)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// A Python that has scapy: in a folder of its own below `target`, made when it is not there.
fn python() -> Result<PathBuf, String> {
    let folder = crate::programs::target().join("bench-python");
    let python = folder.join("bin/python3");
    let run = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr)
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()),
        Err(e) => Err(e.to_string()),
    };
    if run(Command::new(&python).args(["-c", "import scapy"])).is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            .map_err(|e| format!("no venv: {e}"))?;
        run(Command::new(&python).args(["-m", "pip", "install", "-q", "scapy"]))
            .map_err(|e| format!("scapy can't be installed: {e}"))?;
    }
    Ok(python)
}
