//! The `prm` command as its users run it: what it writes, and how it ends.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use mlx5_prm::{Cqc, Cqn, DestroyCqIn, DestroyCqOut, ModifyCqIn, QueryRqtOutWithRqNum, RqNum, Rqn};

fn prm(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_prm"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// What a run that succeeds writes.
fn good(args: &[&str], input: &[u8]) -> String {
    let out = prm(args, input);
    let errors = String::from_utf8(out.stderr).unwrap();
    assert_eq!((out.status.code(), errors.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// What a run that fails on its input says.
fn bad(args: &[&str], input: &[u8]) -> String {
    let out = prm(args, input);
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(1), &b""[..]), "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

fn modify_cq() -> ModifyCqIn {
    ModifyCqIn::new()
        .with_cqn(Cqn::new(0x4a))
        .with_cq_context(Cqc::new().with_dbr_addr(0x1234_5000))
        .changing_cq_period(16)
}

fn query_rqt() -> Vec<u8> {
    let mut buffer = [0; 512];
    let query = QueryRqtOutWithRqNum::new_in(&mut buffer, 4).unwrap();
    for (entry, rq) in query.tail.iter_mut().zip([0x101, 0, 0x103, 0]) {
        *entry = RqNum::new().with_rq_num(Rqn::new(rq));
    }
    query.as_bytes().to_vec()
}

#[test]
fn modify_cq_for_people() {
    assert_eq!(
        good(&["show", "modify_cq_in"], modify_cq().as_bytes()),
        "\
modify_cq_in (Changes the selected fields of a completion queue; with op_mod 1, its size.): 272 bytes
0x000   31:16  opcode                   0x403 (1027) MODIFY_CQ
0x008    23:0  cqn                      0x4a (74)
0x00c          modify_field_select_resize_field_select: union modify_field_select_resize_field_select_auto
0x00c            modify_field_select: modify_field_select
0x00c    31:0      modify_field_select  0x1 (1) cq_period
0x00c            resize_field_select: resize_field_select
0x00c    31:0      resize_field_select  0x1 (1) log_cq_size
0x010          cq_context: cqc
0x020   27:16    cq_period              0x10 (16)
0x048    63:0    dbr_addr               0x12345000 (305418240)
"
    );
}

#[test]
fn modify_cq_for_programs() {
    let text = good(&["show", "modify_cq_in", "--json"], modify_cq().as_bytes());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let modify = &json["modify_cq_in"];
    assert_eq!(modify["opcode"], 0x403);
    assert_eq!(modify["uid"], 0);
    assert_eq!(modify["cq_context"]["cq_period"], 16);
    assert_eq!(modify["pas"], serde_json::json!([]));
    assert_eq!(modify.get("reserved"), None);
    assert_eq!(modify.get("trailing"), None);
}

#[test]
fn a_list_and_the_list_in_its_place() {
    assert_eq!(
        good(&["show", "query_rqt_out"], &query_rqt()),
        "\
query_rqt_out (Output of QUERY_RQT: the context and the list.): 288 bytes
0x020          rqt_context: rqtc
0x110            rq_num: 4 elements
0x110              [0]: rq_num
0x110    23:0        rq_num  0x101 (257)
0x118              [2]: rq_num
0x118    23:0        rq_num  0x103 (259)
0x110            rq_vhca: 2 elements, in the place of rq_num
0x110              [0]: rq_vhca
0x110    23:0        rq_num  0x101 (257)
0x118              [1]: rq_vhca
0x118    23:0        rq_num  0x103 (259)
"
    );
    let text = good(&["show", "--json", "query_rqt_out"], &query_rqt());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        json["query_rqt_out"]["rqt_context"]["rq_num"],
        serde_json::json!([{ "rq_num": 0x101 }, { "rq_num": 0 }, { "rq_num": 0x103 }, { "rq_num": 0 }])
    );
}

#[test]
fn what_the_tables_do_not_know_is_shown() {
    let mut bytes = DestroyCqIn::new().with_opcode(mlx5_prm::Opcode(0xfff0)).as_bytes().to_vec();
    bytes[8] = 0x80; // Above cqn.
    bytes.extend([0, 0, 1]);
    assert_eq!(
        good(&["show", "destroy_cq_in"], &bytes),
        "\
destroy_cq_in (Ends a completion queue.): 19 bytes
0x000   31:16  opcode    0xfff0 (65520) not a known opcode
0x008          reserved  0x80000000 (bits 31:31)
0x010  3 bytes belong to no field: 000001
"
    );
    assert_eq!(
        good(&["show", "destroy_cq_in", "--json"], &bytes),
        r#"{
  "destroy_cq_in": {
    "opcode": 65520,
    "uid": 0,
    "op_mod": 0,
    "cqn": 0,
    "reserved": [
      {
        "at": 8,
        "bits": 2147483648
      }
    ],
    "trailing": "0x000001"
  }
}
"#
    );
}

#[test]
fn zero_fields_only_on_request() {
    let zero = DestroyCqOut::zeroed();
    assert_eq!(
        good(&["show", "destroy_cq_out"], zero.as_bytes()),
        "destroy_cq_out (Output of DESTROY_CQ: nothing but the status.): 16 bytes\nevery field is zero\n"
    );
    assert_eq!(
        good(&["show", "destroy_cq_out", "--all"], zero.as_bytes()),
        "\
destroy_cq_out (Output of DESTROY_CQ: nothing but the status.): 16 bytes
0x000   31:24  status    0x0 (0) OK
0x004    31:0  syndrome  0x0 (0)
"
    );
}

#[test]
fn a_file_and_standard_input_give_the_same() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join("modify_cq.bin");
    std::fs::write(&file, modify_cq().as_bytes()).unwrap();
    let by_file = good(&["show", "modify_cq_in", file.to_str().unwrap()], b"");
    let hex: String = modify_cq().as_bytes().iter().map(|b| format!("{b:02x} ")).collect();
    assert_eq!(by_file, good(&["show", "modify_cq_in", "-"], hex.as_bytes()));
}

#[test]
fn errors_say_what_to_do() {
    assert_eq!(
        bad(&["show", "modify_cq_in"], &[0; 16]),
        "prm: modify_cq_in needs 272 bytes; standard input has 16\n\
         Give the whole mailbox, or another layout: `prm layouts` lists them with their sizes.\n"
    );
    assert_eq!(
        bad(&["show", "MODIFY_CQ"], b""),
        "prm: no layout is called `MODIFY_CQ`; nearest: modify_cq_in, modify_cq_out\n\
         `prm layouts PART` lists the names that contain PART.\n"
    );
    assert_eq!(
        bad(&["layout", "no such thing"], b""),
        "prm: no layout is called `no such thing`\n\
         `prm layouts PART` lists the names that contain PART.\n"
    );
    assert_eq!(
        bad(&["layouts", "zzz"], b""),
        "prm: no layout's name contains `zzz`\n`prm layouts` lists all names.\n"
    );
    assert_eq!(
        bad(&["show", "cqc"], b"0403 x"),
        "prm: standard input, line 1: `x` is not hexadecimal\n  0403 x\n\
         Give hex digits only, or a dump by xxd, od -A x -t x1, hexdump -C or the kernel.\n"
    );
    assert!(bad(&["show", "cqc", "/no/such/file"], b"").starts_with("prm: /no/such/file: "));
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [&[][..], &["show"], &["show", "cqc", "--colour"], &["frobnicate"]] {
        assert_eq!(prm(args, b"").status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn layouts_by_part_of_the_name() {
    assert_eq!(
        good(&["layouts", "modify_cq"], b""),
        "\
modify_cq_in      272 bytes + list  cq
modify_cq_out      16 bytes         cq
"
    );
    let json: serde_json::Value = serde_json::from_str(&good(&["layouts", "--json"], b"")).unwrap();
    let all: usize = mlx5_prm::families().iter().map(|family| family.layouts.len()).sum();
    assert_eq!(json.as_array().unwrap().len(), all);
}

#[test]
fn fields_of_a_layout() {
    let text = good(&["layout", "query_rqt_out"], b"");
    let (fields, values) = text.split_once("\n\n").unwrap();
    assert_eq!(
        fields,
        "\
query_rqt_out: struct of 272 bytes and a list, family rqt
Output of QUERY_RQT: the context and the list.
at         bits  width  name         type
0x000     31:24      8  status       enum status
                      0 when the command succeeded, else the kind of the failure.
0x004      31:0     32  syndrome     number
                      Exact cause of a failure: a number that the firmware defines.
0x020             1920  rqt_context  struct rqtc
                      Context and list of the table as they are now."
    );
    assert!(values.starts_with("status:\n  0x0000  OK\n  0x0001  INT_ERR\n"), "{values}");
    assert_eq!(
        good(&["layout", "rq_num", "--json"], b""),
        r#"{
  "name": "rq_num",
  "kind": "struct",
  "bytes": 4,
  "list": false,
  "family": "rqt",
  "fields": [
    {
      "name": "rq_num",
      "at": 0,
      "bits": "23:0",
      "width": 24,
      "words": "Number of the RQ, or of the virtio-net queue.",
      "number": "rqn"
    }
  ],
  "about": "Entry of a receive queue table."
}
"#
    );
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_prm"))
        .args(["layouts", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stderr.as_slice()), (Some(0), &b""[..]));
}
