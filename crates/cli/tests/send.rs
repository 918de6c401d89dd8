//! `prm send`: what is sent, what comes back, and what is not sent.

use std::fs;

mod terminal;

use terminal::{good, good_in, prm, prm_in, seen, seen_in, text};

/// A run on one CQ.
const CQ: [&str; 9] = [
    "create_cq",
    "cq_context.log_cq_size=10",
    "--then",
    "modify_cq",
    "cq_context.cq_period=16",
    "cq_context.cq_max_count=64",
    "--then",
    "query_cq",
    "--terse",
];

fn to<'a>(way: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    ["send", "--to", way].iter().chain(rest).copied().collect()
}

#[test]
fn later_commands_work_on_what_earlier_ones_made() {
    insta::assert_snapshot!(seen(&[
        &to("sim", &CQ),
        &[
            "send",
            "--to",
            "sim",
            "create_cq",
            "--then",
            "destroy_cq",
            "--then",
            "query_hca_cap",
            "-t"
        ],
    ]));
}

#[test]
fn a_number_goes_where_another_command_wants_it() {
    let run = [
        "send",
        "--to=sim",
        "alloc_transport_domain",
        "--then",
        "create_tis",
        "ctx.transport_domain=@1",
        "--then",
        "query_tis",
        "--flat",
    ];
    insta::assert_snapshot!(seen(&[&run]));
}

#[test]
fn a_list_is_as_long_as_what_is_in_it() {
    let run = [
        "create_rq",
        "--then",
        "create_rqt",
        "rqt_context.rqt_max_size=4",
        "rqt_context.rqt_actual_size=2",
        "rqt_context.rq_num[0].rq_num=@1",
        "rqt_context.rq_num[1].rq_num=@1",
        "--then",
        "query_rqt",
        "-t",
    ];
    insta::assert_snapshot!(seen(&[&to("sim", &run)]));
}

#[test]
fn general_objects_share_their_commands() {
    let run = [
        "create_general_object+encryption_key_obj",
        "pd=1",
        "--then",
        "query_general_object",
        "obj_type=0xc",
        "--then",
        "destroy_general_object",
        "obj_type=0xc",
        "-t",
    ];
    insta::assert_snapshot!(seen(&[&to("sim", &run)]));
}

#[test]
fn answers_for_programs() {
    let one = good(&["send", "--to", "sim", "query_hca_cap", "op_mod=1", "--json"]);
    let one: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["query_hca_cap_out"]["capability"]["cmd_hca_cap"]["log_max_cq"], 24);

    let several = to("sim", &CQ[..8]);
    let several = [&several[..], &["--json", "--show-request"]].concat();
    let text = good(&several);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["create_cq_in"]["cq_context"]["log_cq_size"], 10);
    assert_eq!(lines[1]["create_cq_out"]["cqn"], 1);
    assert_eq!(lines[1]["result"], "made CQN 0x1, handle 0x1; it ends with this run");
    assert_eq!(lines[4]["query_cq_in"]["cqn"], 1, "the number was filled in");
    assert_eq!(lines[5]["query_cq_out"]["cq_context"]["cq_period"], 16);
}

#[test]
fn what_the_firmware_refuses_ends_with_3() {
    insta::assert_snapshot!(seen(&[
        &to("sim", &["create_cq", "cq_context.log_cq_size=31", "--then", "query_cq", "-t"]),
        &to("sim", &["query_adapter", "op_mod=3", "-t"]),
        &to("sim", &["query_pages"]),
        &to("sim:fwctl", &["query_cq", "cqn=1", "-t"]),
    ]));
}

#[test]
fn what_was_recorded_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let recorded =
        good_in(dir.path(), &[&to("sim", &CQ)[..], &["--record", "run.mlx5rec"]].concat());
    let replay = to("replay:run.mlx5rec", &CQ);
    assert_eq!(good_in(dir.path(), &replay), recorded);

    let some = to("replay:run.mlx5rec", &["create_cq", "cq_context.log_cq_size=10"]);
    let told = prm_in(dir.path(), &some);
    assert_eq!(told.status.code(), Some(0));
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.starts_with("prm: note: ") && told.contains("MODIFY_CQ(0x403)"), "{told}");

    let recording = fs::read_to_string(dir.path().join("run.mlx5rec")).unwrap();
    assert!(recording.contains("\ndestroy devx 0x1\n"), "the object was ended\n{recording}");
    let other = ["create_cq", "cq_context.log_cq_size=11"];
    insta::assert_snapshot!(seen_in(dir.path(), &[&to("replay:run.mlx5rec", &other)]));
}

#[test]
fn a_recording_says_how_a_command_went() {
    let dir = tempfile::tempdir().unwrap();
    // Of a program on a CQ of verbs; and of fwctl, whose commands are all sent alike.
    for (method, file) in [("query cq 0x7", "verbs.mlx5rec"), ("general", "fwctl.mlx5rec")] {
        let recording = format!(
            "mlx5-recording 1

{method}
  at 1
  input 16
    0000: 04020009 00000000 00000042 00000000
  output 272
    0000: 16 zeros
    0010: 00000000 00000000 00000000 0a000000
    0020: 240 zeros
  result ok
"
        );
        fs::write(dir.path().join(file), recording).unwrap();
        let way = format!("replay:{file}");
        let run = ["send", "--to", &way, "query_cq", "cqn=0x42", "--flat"];
        assert!(good_in(dir.path(), &run).contains(".log_cq_size=0xa"), "{file}");
    }
}

#[test]
fn a_mailbox_of_a_file_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("cq.flat"),
        "create_cq_in.opcode=0x400\ncreate_cq_in.cq_context.oi=1\n",
    )
    .unwrap();
    fs::write(dir.path().join("cqc.flat"), "cqc.oi=1\n").unwrap();
    let run = ["send", "--to", "sim", "--from", "cq.flat", "cq_context.log_cq_size=3", "-t"];
    let more = ["--show-request", "--then", "query_cq"];
    insta::assert_snapshot!(seen_in(
        dir.path(),
        &[
            &[&run[..], &more].concat(),
            &["send", "--to", "sim", "--from", "cqc.flat"],
            &["send", "--to", "sim", "--from", "none.flat"],
        ]
    ));
}

#[test]
fn faults_of_arguments_are_shown_in_their_place() {
    insta::assert_snapshot!(seen(&[
        &["send", "--to", "simm", "nop"],
        &["send", "--to=iotcl:mlx5_0", "nop"],
        &["send", "--to", "ioctl", "nop"],
        &["send", "--to", "sim:cx5", "nop"],
        &["send", "--to", "sim", "modify_qc"],
        &["send", "--to", "sim", "cqc"],
        &["send", "--to", "sim", "set_diagnostic_params"],
        &["send", "--to", "sim", "create_general_object+encryption_key_ob"],
        &["send", "--to", "sim", "create_cq", "cq_context.log_cq_size=99"],
        &["send", "--to", "sim", "query_cq", "cqn=1"],
        &["send", "--to", "sim", "create_tis", "ctx.transport_domain=@1"],
        &["send", "--to", "sim", "alloc_pd", "--then", "create_tis", "ctx.transport_domian=@1"],
        &["send", "--to", "sim", "nop", "--then", "create_tis", "ctx.transport_domain=@1"],
        &["send", "--to", "sim", "create_cq", "--then", "query_cq", "cqn=7", "-t"],
        &["send", "--to", "sim", "access_register"],
        &["send", "--to", "sim:fwctl", "create_cq"],
        &["send", "--to", "replay:no-such-file", "nop"],
    ]));
}

/// All of these are refused before a device is looked for: there is none of these names.
#[test]
fn a_real_device_is_changed_only_when_that_is_asked_for() {
    insta::assert_snapshot!(seen(&[
        &["send", "--to", "ioctl:mlx5_9", "create_cq"],
        &["send", "--to", "libmlx5:mlx5_9", "query_hca_cap", "--then", "modify_nic_vport_context"],
        &["send", "--to", "fwctl:mlx5_9", "set_hca_cap"],
        &["send", "--to", "fwctl:mlx5_9", "query_q_counter", "clear=1"],
    ]));
}

#[test]
fn what_may_be_sent_looks_for_the_device() {
    for (way, args) in [
        ("ioctl:mlx5_9", &["query_hca_cap"][..]),
        ("ioctl:mlx5_9", &["create_cq", "--write", "--then", "query_cq"]),
        ("libmlx5:mlx5_9", &["query_hca_cap"]),
        ("fwctl:mlx5_9", &["query_cq", "cqn=1"]),
        ("fwctl:mlx5_9", &["set_hca_cap", "--write"]),
    ] {
        let out = prm(&to(way, args));
        let error = String::from_utf8(out.stderr.clone()).unwrap();
        // Whether there are other devices is the machine's.
        assert!(matches!(out.status.code(), Some(1 | 3)), "{way}\n{error}");
        assert!(!error.contains("--write"), "{way}\n{error}");
        assert!(error.contains("devices") || error.contains("loaded"), "{way}\n{error}");
    }
}

#[test]
fn a_recording_that_cannot_be_written_is_told() {
    let args = ["send", "--to", "sim", "query_hca_cap", "--record", "/dev/full"];
    let out = prm(&args);
    let error = String::from_utf8(out.stderr.clone()).unwrap();
    assert!(error.starts_with("prm: /dev/full: "), "{error}");
    assert!(text(&args, out, 1).contains("log_max_cq"), "the answer is shown");
}
