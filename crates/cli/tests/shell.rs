//! What shells and man(1) take, and how fast the command is there.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod terminal;

use terminal::{good, good_in};

const COMMANDS: [&str; 12] = [
    "decode",
    "encode",
    "show",
    "find",
    "list",
    "diff",
    "send",
    "caps",
    "reg",
    "spec",
    "completions",
    "man",
];

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = good(&["completions", shell]);
        for command in COMMANDS {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn bash_takes_the_completions() {
    let script = "eval \"$(\"$0\" completions bash)\" && COMP_WORDS=(prm se) COMP_CWORD=1 && \
                  _prm prm se prm && echo \"${COMPREPLY[@]}\"";
    let out = Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_prm")]).output();
    let Ok(out) = out else { return };
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "send\n");
}

#[test]
fn there_is_a_page_for_each_command() {
    let page = good(&["man"]);
    assert!(page.contains(".TH prm 1") && page.contains(".SH SUBCOMMANDS"), "{page}");
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(good_in(dir.path(), &["man", "pages/here"]), "");
    for command in COMMANDS {
        let page = dir.path().join(format!("pages/here/prm-{command}.1"));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{command}: {e}"));
        assert!(text.contains(".SH SYNOPSIS"), "{command}");
    }
}

/// The promise is 20 ms for a release build on an idle machine; this one tells when it is far off.
#[test]
fn it_starts_at_once() {
    let time = |args: &[&str]| {
        let begun = Instant::now();
        let mut run = Command::new(env!("CARGO_BIN_EXE_prm"));
        assert!(run.args(args).stdout(Stdio::null()).status().unwrap().success());
        begun.elapsed()
    };
    for args in [&["--version"][..], &["show", "cqc"], &["completions", "bash"]] {
        let best = (0..10).map(|_| time(args)).min().unwrap();
        assert!(best < Duration::from_millis(200), "{args:?}: {best:?}");
    }
}
