//! What several tests need: folders, and the real program under limits.

#![allow(dead_code, reason = "no test needs all of it")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a run of the program may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Time of a processor.
    pub(crate) seconds: u64,
    /// Memory, in MiB.
    pub(crate) memory: u64,
}

/// For small input.
pub(crate) const SMALL: Limits = Limits { seconds: 5, memory: 256 };

/// For a published source, whole or broken.
pub(crate) const SOURCE: Limits = Limits { seconds: 5, memory: 1024 };

/// For all published sources.
pub(crate) const SOURCES: Limits = Limits { seconds: 30, memory: 1024 };

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

/// Runs the program in `dir`, under limits.
pub(crate) fn run(dir: &Path, limits: Limits, arguments: &[&str]) -> Run {
    let Limits { seconds, memory } = limits;
    let begun = Instant::now();
    let memory = memory * 1024;
    let limited = format!("ulimit -t {seconds} && ulimit -v {memory} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_prm-codegen")])
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap();
    // Whatever else the machine does, it does not wait for anything.
    let took = begun.elapsed();
    assert!(took < 10 * Duration::from_secs(seconds), "{arguments:?} took {took:?}");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Tells aloud, past the test harness, which keeps what passing tests print, that a test is
/// skipped.
pub(crate) fn untested(what: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "\n*** NOT TESTED: {what} ***\n").unwrap();
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

/// The headers of layouts of a kernel, in the order of their use.
pub(crate) const HEADERS: [&str; 3] = ["mlx5_ifc_fpga.h", "mlx5_ifc.h", "mlx5_ifc_vdpa.h"];

/// The folders of installed kernel headers that have all three. Where there is none, it is told
/// aloud; on CI that fails.
pub(crate) fn installed(what: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/usr/src").into_iter().flatten().filter_map(Result::ok);
    let is = |name: &str| name.starts_with("linux-headers-") && name.ends_with("-common");
    let mut found: Vec<PathBuf> = entries
        .filter(|e| is(&e.file_name().to_string_lossy()))
        .map(|e| e.path().join("include/linux/mlx5"))
        .filter(|dir| HEADERS.iter().all(|h| dir.join(h).is_file()))
        .collect();
    found.sort();
    if found.is_empty() {
        let what = format!(
            "{what}: no kernel headers below /usr/src. On Debian: \
             apt-get install linux-headers-amd64 (any linux-headers-*-common will do)"
        );
        assert!(!on_ci(), "{what}");
        untested(&what);
    }
    found
}

/// Whether nothing may be skipped that can be installed.
pub(crate) fn on_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// Asserts that a text is as expected; shows how it differs.
#[track_caller]
pub(crate) fn assert_text(expected: &str, told: &str) {
    let diff = similar::TextDiff::from_lines(expected, told);
    assert!(expected == told, "{}", diff.unified_diff().header("expected", "told"));
}

/// A database of registers: `nodes`, and the index of registers by node, size, name and id.
pub(crate) fn adb(nodes: &str, registers: &[(&str, &str, &str, u16)]) -> String {
    let ids: Vec<String> =
        registers.iter().map(|(_, _, name, id)| format!("{name}={id:#x}")).collect();
    let members: String = registers
        .iter()
        .map(|(node, size, name, _)| {
            format!(
                "\t<field name=\"{node}\" offset=\"0x0.0\" size=\"{size}\" subnode=\"{node}\" \
                 selected_by=\"{name}\" descr=\"\" />\n"
            )
        })
        .collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<NodesDefinition>
<config big_endian_arr="1" />{nodes}
<node name="enum_entry" size="0x4.0" descr="">
</node>
<node name="access_reg_summary_ctrl_ext" size="0x4.0" attr_is_union="1" descr="">
	<field name="id" offset="0x0.0" size="0x4.0" subnode="enum_entry" enum="{}" descr="" />
</node>
<node name="access_reg_summary_ext" size="0x100.0" attr_is_union="1" descr="">
{members}</node>
<node name="access_reg_summary_selector_ext" size="0x100.0" attr_is_union="1" descr="">
	<field name="access_reg_summary" offset="0x0.0" size="0x100.0" subnode="access_reg_summary_ext" union_selector="$(parent).ctrl.id" descr="" />
	<field name="ctrl" offset="0x0.0" size="0x4.0" subnode="access_reg_summary_ctrl_ext" descr="" />
</node>
<node name="made_Nodes" size="0x100.0" attr_is_union="1" descr="">
	<field name="access_reg_summary_selector_ext" offset="0x0.0" size="0x100.0" subnode="access_reg_summary_selector_ext" descr="" />
</node>
<node name="root" size="0x100.0" descr="">
	<field name="made_Nodes" offset="0x0.0" size="0x100.0" subnode="made_Nodes" descr="" />
</node>
</NodesDefinition>
"#,
        ids.join(",")
    )
}
