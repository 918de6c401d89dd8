//! `prm explain` as its users run it, on logs in the forms of their programs. What it writes stands in
//! `snapshots/`; `INSTA_UPDATE=always cargo test -p mlx5-prm-cli --test explain` renews it: read the
//! difference before it is kept.

mod common;

use std::process::Output;

/// Runs `prm explain` on a log, 80 columns wide.
fn run(args: &[&str], log: &[u8]) -> Output {
    common::prm(&[&["explain"], args].concat(), log)
}

/// What is written of a log with failures.
#[track_caller]
fn good(args: &[&str], log: &[u8]) -> String {
    common::good(&[&["explain"], args].concat(), log)
}

/// What is told when there is nothing to explain.
#[track_caller]
fn bad(args: &[&str], log: &[u8]) -> String {
    common::bad(&[&["explain"], args].concat(), log)
}

macro_rules! logs {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            let log = include_bytes!(concat!("explain/", stringify!($name), ".log"));
            let text = good(&[], log);
            assert!(text.lines().all(|line| line.chars().count() <= 80 || !line.contains(' ')));
            insta::assert_snapshot!(text);
        }
    )* };
}

logs! { dmesg journald timeouts trace programs mail odd }

#[test]
fn a_table_of_the_user_comes_first() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explain/own.toml");
    let log = include_bytes!("explain/dmesg.log");
    let text = good(&["--syndromes", table], log);
    let told: Vec<&str> = text.split("\n\n").collect();
    insta::assert_snapshot!(told[0]);
    let other = told[2].split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(other.contains("The number has one elsewhere"), "{other}");
    assert!(
        other.contains("with DESTROY_QP or DESTROY_SRQ, 0xfab002 is explained in your file as: A")
    );
}

#[test]
fn for_programs() {
    let log = include_bytes!("explain/mail.log");
    insta::assert_snapshot!(good(&["--json"], log));
    let out = run(&["--json"], b"nothing of interest\n");
    assert_eq!(out.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&json["lines"], &json["count"]), (&1.into(), &0.into()));
    assert_eq!(json["failures"], serde_json::json!([]));
}

#[test]
fn help() {
    let help = good(&["--help"], b"");
    insta::assert_snapshot!(help);
    // The table in it is one.
    let (_, table) = help.split_once("has it:\n").expect("a table");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("of_the_help.toml");
    std::fs::write(&path, table).expect("room");
    let log =
        b"mlx5_core 0000:08:00.0: mlx5_cmd_out_err:808:(pid 1): MODIFY_CQ(0x403) op_mod(0x0) \
        failed, status bad parameter(0x3), syndrome (0x6231e6), err(-22)\n";
    let text = good(&["--syndromes", path.to_str().unwrap()], log);
    assert!(text.contains("is explained in your file as: What was wrong."), "{text}");
}

#[test]
fn a_log_without_failures() {
    insta::assert_snapshot!(bad(&[], b"nothing\nof interest\n"));
    assert!(
        bad(&[], b"")
            .starts_with("prm: standard input: no message of a failed command in 0 lines\n")
    );
    let not_sent = b"QUERY_CQ(0x402) was not sent: it names CQN 0x2, and the object is CQN 0x1\n\
        ACCESS_REG(0x805) was kept back by the limit of the Fwctl, as Fwctl::check tells: Permission denied\n\
        NOP(0x80d) differs from the recording, as Replayer::mismatch tells: Invalid exchange\n";
    let note = "\nnote: 3 errors of mlx5-devx about commands that were not sent, lines 1 to 3: each says why.\n";
    assert!(bad(&[], not_sent).contains(note));
    let dumps = bad(&[], include_bytes!("data/kernel.log"));
    assert!(dumps.contains("no message of a failed command in "), "{dumps}");
    assert!(
        dumps.contains("whether one failed, its output says, which `prm decode` shows."),
        "{dumps}"
    );
    let health = b"mlx5_core 0000:81:00.0: print_health_info:444:(pid 0): synd 0x1: firmware internal error\n";
    assert!(
        bad(&[], health).contains("\nnote: The driver tells of the health of a device, line 1")
    );
}

#[test]
fn files_that_are_not_there_or_packed() {
    assert!(bad(&["/no/such/file"], b"").starts_with("prm: /no/such/file: "));
    assert!(bad(&["--syndromes", "/no/such/table"], b"").starts_with("prm: /no/such/table: "));
    let packed = bad(&["-"], b"\x1f\x8b\x08\x00\x00");
    assert_eq!(packed, "prm: standard input is compressed: try `zcat FILE | prm explain`\n");
}

#[test]
fn a_table_at_fault_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.toml");
    std::fs::write(&path, "[[syndrome]]\nnumber = 0x12\ncommand = \"CREATE_CQQ\"\nwhy = 1\n")
        .unwrap();
    let told = bad(&["--syndromes", path.to_str().unwrap()], b"");
    insta::assert_snapshot!(told.replace(path.to_str().unwrap(), "own.toml"));
}
