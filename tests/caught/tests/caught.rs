//! What ioctls the real libmlx5 sends for each DEVX call, and what it makes of the answers.
//!
//! No adapter is needed: the child opens a device that is a few files, and what it sends to the
//! kernel is caught. `cargo test -p mlx5-caught -- --nocapture` prints all of it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod alone;
mod device;
#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;

use std::fmt::Write as _;
use std::fs;

use device::{caught, sysfs};
use skipped::skipped;

/// The exit code of a child without libmlx5.
const NOT_INSTALLED: i32 = 77;

const EINVAL: i32 = 22;
const EREMOTEIO: i32 = 121;

/// An attribute, as it was sent; the content is that of an output after the call.
#[derive(Debug, Clone)]
struct Attr {
    name: String,
    id: u16,
    kind: String,
    flags: u16,
    flags_after: u16,
    len: u16,
    content: String,
}

/// An ioctl.
#[derive(Debug, Clone)]
struct Ioctl {
    errno: i32,
    method: String,
    ids: String,
    attrs: Vec<Attr>,
    raw: String,
}

/// A call of libmlx5: what it sent, and what it gave.
#[derive(Debug, Default)]
struct Call {
    name: String,
    ioctls: Vec<Ioctl>,
    result: String,
    errno: i32,
    output: String,
}

/// A run of the child.
#[derive(Debug)]
struct Run {
    /// What was sent to open the device.
    open: Vec<Ioctl>,
    calls: Vec<Call>,
    /// Addresses and descriptors of the program, with the names of the calls that get them.
    values: Vec<(String, u64)>,
}

impl Run {
    #[track_caller]
    fn call(&self, name: &str) -> &Call {
        self.calls.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("{name} was not made"))
    }
}

impl Call {
    /// The one ioctl of the call.
    #[track_caller]
    fn ioctl(&self) -> &Ioctl {
        let [ioctl] = &self.ioctls[..] else { panic!("one ioctl, not {:?}", self.ioctls) };
        ioctl
    }
}

impl Ioctl {
    #[track_caller]
    fn attr(&self, name: &str) -> &Attr {
        self.attrs.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no {name}: {self:?}"))
    }

    /// Everything of it that is the same in each run, in a line.
    fn shape(&self) -> String {
        let mut line = format!("{} {}", self.method, self.ids);
        for a in &self.attrs {
            let optional = if a.flags & 1 == 0 { " optional" } else { "" };
            write!(line, "; {} {:#x} {} {}{optional}", a.name, a.id, a.kind, a.len).unwrap();
        }
        line
    }
}

/// Runs the child; None, with a word about it, if libmlx5 is not installed.
fn run(answers: &str, environment: &[(&str, &str)], calls: &[&str]) -> Option<Run> {
    run_program(env!("CARGO_BIN_EXE_caught-child"), answers, environment, calls)
}

/// Runs a program with the same signs.
fn run_program(
    program: &str,
    answers: &str,
    environment: &[(&str, &str)],
    calls: &[&str],
) -> Option<Run> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), answers).unwrap();
    let mut command = caught(program, root);
    // For AddressSanitizer: caught-child has nothing of ours, and leaves to the kernel what it opened. What can't be
    // ended is never freed: not by libmlx5, nor the pages of a umem.
    let is_theirs = program == env!("CARGO_BIN_EXE_caught-child");
    if is_theirs || ["DESTROY", "DEREG"].iter().any(|refused| answers.contains(refused)) {
        command.env("LSAN_OPTIONS", "detect_leaks=0");
    }
    let child = command.args(calls).envs(environment.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped(&format!(
            "NOTHING WAS CAUGHT: {}; run: apt-get install libibverbs1 ibverbs-providers",
            said.trim()
        ));
        return None;
    }
    assert!(child.status.success(), "the child: {}\n{said}", child.status);
    Some(parse(&fs::read_to_string(root.join("trace")).unwrap()))
}

fn parse(trace: &str) -> Run {
    let mut run = Run { open: Vec::new(), calls: Vec::new(), values: Vec::new() };
    for line in trace.lines().take_while(|line| *line != "end") {
        let columns: Vec<&str> = line.split('\t').collect();
        match (columns[0], run.calls.last_mut()) {
            ("ioctl", None) => run.open.push(ioctl(&columns)),
            ("ioctl", Some(call)) => call.ioctls.push(ioctl(&columns)),
            ("call", _) => run.calls.push(Call { name: columns[1].to_owned(), ..Call::default() }),
            ("value", _) => run.values.push((columns[1].to_owned(), columns[2].parse().unwrap())),
            ("gave", Some(call)) => {
                call.result = columns[1].to_owned();
                call.errno = columns[2].parse().unwrap();
                call.output = columns[3].to_owned();
            }
            _ => panic!("not a line of a trace: {line}"),
        }
    }
    run
}

fn ioctl(columns: &[&str]) -> Ioctl {
    let [_, errno, method, object, number, driver, length, reserved, attrs @ .., raw] = columns
    else {
        panic!("not an ioctl: {columns:?}")
    };
    let raw = raw.strip_prefix("raw=").unwrap();
    assert_eq!(*driver, "driver=1", "RDMA_DRIVER_MLX5");
    assert_eq!(*reserved, "reserved=0,0");
    assert_eq!(*length, format!("length={}", raw.len() / 2), "the header and its attributes");
    assert_eq!(raw.len() / 2, 24 + 16 * attrs.len());
    Ioctl {
        errno: errno.parse().unwrap(),
        method: (*method).to_owned(),
        ids: format!("{object} {number}"),
        attrs: attrs.iter().map(|text| attr(text)).collect(),
        raw: raw.to_owned(),
    }
}

fn attr(text: &str) -> Attr {
    let words: Vec<&str> = text.split(' ').collect();
    let [name, id, kind, flags, flags_after, len, more, content] = words[..] else {
        panic!("not an attribute: {text}")
    };
    let hex = |word: &str| u16::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap();
    assert_eq!(more, "0x0", "no enums among these");
    Attr {
        name: name.to_owned(),
        id: hex(id),
        kind: kind.to_owned(),
        flags: hex(flags),
        flags_after: hex(flags_after),
        len: len.parse().unwrap(),
        content: content.to_owned(),
    }
}

/// The first 16 bytes, and how many there are.
fn short(hex: &str) -> String {
    if hex.len() <= 32 { hex.to_owned() } else { format!("{}.. ({})", &hex[..32], hex.len() / 2) }
}

fn table(run: &Run) -> String {
    let mut text = String::new();
    let open = Call {
        name: "open_device".to_owned(),
        result: "0".to_owned(),
        output: "-".to_owned(),
        ioctls: run.open.clone(),
        ..Call::default()
    };
    for call in [&open].into_iter().chain(&run.calls) {
        writeln!(text, "{}", call.name).unwrap();
        for i in &call.ioctls {
            let errno = if i.errno == 0 { String::new() } else { format!(" errno {}", i.errno) };
            writeln!(text, "  {} {}{errno}", i.method, i.ids).unwrap();
            for a in &i.attrs {
                writeln!(
                    text,
                    "    {:#06x} {:16} {:10} {:#x}>{:#x} {:5}  {}",
                    a.id,
                    a.name,
                    a.kind,
                    a.flags,
                    a.flags_after,
                    a.len,
                    short(&a.content)
                )
                .unwrap();
            }
        }
        let output = short(&call.output);
        writeln!(text, "  gave {} errno {} output {output}", call.result, call.errno).unwrap();
    }
    text
}

const CREATE: &str = "DEVX_OBJ.CREATE 0x1001 0x1000; HANDLE 0x1000 new-handle 0; \
                      CMD_IN 0x1001 in 280; CMD_OUT 0x1002 out 16";
const DESTROY: &str = "DEVX_OBJ.DESTROY 0x1001 0x1001; HANDLE 0x1000 handle 0";
const QUERY_80: &str = "DEVX_OBJ.QUERY 0x1001 0x1003; HANDLE 0x1000 handle 0; \
                        CMD_IN 0x1001 in 16; CMD_OUT 0x1002 out 80";
const QUERY_272: &str = "DEVX_OBJ.QUERY 0x1001 0x1003; HANDLE 0x1000 handle 0; \
                         CMD_IN 0x1001 in 16; CMD_OUT 0x1002 out 272";
const MODIFY_280: &str = "DEVX_OBJ.MODIFY 0x1001 0x1002; HANDLE 0x1000 handle 0; \
                          CMD_IN 0x1001 in 280; CMD_OUT 0x1002 out 16";
const MODIFY_272: &str = "DEVX_OBJ.MODIFY 0x1001 0x1002; HANDLE 0x1000 handle 0; \
                          CMD_IN 0x1001 in 272; CMD_OUT 0x1002 out 16";
const UMEM_REG_EX: &str = "DEVX_UMEM.REG 0x1002 0x1000; ADDR 0x1001 in 8; LEN 0x1002 in 8; \
                           ACCESS 0x1003 in 4; PGSZ_BITMAP 0x1005 const 8; OUT_ID 0x1004 out 4; \
                           HANDLE 0x1000 new-handle 0";

/// What each call sends: method, ids, and the attributes in their order. Nothing for a call that
/// sends nothing.
const SENT: &[(&str, &str)] = &[
    ("obj_create", CREATE),
    ("obj_query", QUERY_80),
    ("obj_modify", MODIFY_280),
    ("create_cmd_comp", "DEVX_ASYNC_CMD_FD.ALLOC 0x1004 0x1000; HANDLE 0x1000 new-fd 0"),
    (
        "obj_query_async",
        "DEVX_OBJ.ASYNC_QUERY 0x1001 0x1004; HANDLE 0x1000 handle 0; CMD_IN 0x1001 in 16; \
         OUT_LEN 0x1004 const 8; WR_ID 0x1003 in 8; FD 0x1002 fd 0",
    ),
    ("obj_query_async, an input of 65536 bytes", ""),
    ("get_async_cmd_comp", ""),
    ("get_async_cmd_comp, none there", ""),
    (
        "create_event_channel",
        "DEVX_ASYNC_EVENT_FD.ALLOC 0x1005 0x1000; HANDLE 0x1000 new-fd 0; FLAGS 0x1001 in 4",
    ),
    (
        "create_event_channel, without data",
        "DEVX_ASYNC_EVENT_FD.ALLOC 0x1005 0x1000; HANDLE 0x1000 new-fd 0; FLAGS 0x1001 in 4",
    ),
    (
        "subscribe_devx_event",
        "DEVX.SUBSCRIBE_EVENT 0x1000 0x1003; FD_HANDLE 0x1000 fd 0; COOKIE 0x1004 in 8; \
         OBJ_HANDLE 0x1001 handle 0; TYPE_NUM_LIST 0x1002 in 10",
    ),
    (
        "subscribe_devx_event, 4 types",
        "DEVX.SUBSCRIBE_EVENT 0x1000 0x1003; FD_HANDLE 0x1000 fd 0; COOKIE 0x1004 in 8; \
         OBJ_HANDLE 0x1001 handle 0; TYPE_NUM_LIST 0x1002 in 8",
    ),
    (
        "subscribe_devx_event_fd",
        "DEVX.SUBSCRIBE_EVENT 0x1000 0x1003; FD_HANDLE 0x1000 fd 0; OBJ_HANDLE 0x1001 handle 0; \
         TYPE_NUM_LIST 0x1002 in 2; FD_NUM 0x1003 in 4",
    ),
    (
        "subscribe_devx_event, no object",
        "DEVX.SUBSCRIBE_EVENT 0x1000 0x1003; FD_HANDLE 0x1000 fd 0; COOKIE 0x1004 in 8; \
         TYPE_NUM_LIST 0x1002 in 2",
    ),
    (
        "subscribe_devx_event, without data",
        "DEVX.SUBSCRIBE_EVENT 0x1000 0x1003; FD_HANDLE 0x1000 fd 0; COOKIE 0x1004 in 8; \
         TYPE_NUM_LIST 0x1002 in 2",
    ),
    ("get_event", ""),
    ("get_event, none there", ""),
    ("get_event, without data", ""),
    ("obj_destroy", DESTROY),
    ("general_cmd", "DEVX.OTHER 0x1000 0x1000; CMD_IN 0x1000 in 16; CMD_OUT 0x1001 out 112"),
    (
        "general_cmd, 8 bytes each",
        "DEVX.OTHER 0x1000 0x1000; CMD_IN 0x1000 in 8; CMD_OUT 0x1001 out 8",
    ),
    (
        "general_cmd, 65535 bytes each",
        "DEVX.OTHER 0x1000 0x1000; CMD_IN 0x1000 in 65535; CMD_OUT 0x1001 out 65535",
    ),
    ("general_cmd, an input of 65536 bytes", ""),
    ("query_eqn", "DEVX.QUERY_EQN 0x1000 0x1002; USER_VEC 0x1000 in 4; DEV_EQN 0x1001 out 4"),
    ("qp_query", QUERY_272),
    ("qp_modify", MODIFY_272),
    ("cq_query", QUERY_80),
    ("cq_modify", MODIFY_280),
    ("srq_query", QUERY_272),
    ("srq_modify", MODIFY_272),
    ("wq_query", QUERY_272),
    ("wq_modify", MODIFY_272),
    ("ind_tbl_query", QUERY_272),
    ("ind_tbl_modify", MODIFY_272),
    (
        "umem_reg",
        "DEVX_UMEM.REG 0x1002 0x1000; ADDR 0x1001 in 8; LEN 0x1002 in 8; ACCESS 0x1003 in 4; \
         PGSZ_BITMAP 0x1005 const 8 optional; OUT_ID 0x1004 out 4; HANDLE 0x1000 new-handle 0",
    ),
    ("umem_reg_ex", UMEM_REG_EX),
    (
        "umem_reg_ex, dmabuf",
        "DEVX_UMEM.REG 0x1002 0x1000; ADDR 0x1001 in 8; LEN 0x1002 in 8; ACCESS 0x1003 in 4; \
         DMABUF_FD 0x1006 fd 0; PGSZ_BITMAP 0x1005 const 8; OUT_ID 0x1004 out 4; \
         HANDLE 0x1000 new-handle 0",
    ),
    ("umem_dereg", "DEVX_UMEM.DEREG 0x1002 0x1001; HANDLE 0x1000 handle 0"),
    (
        "alloc_uar, BF",
        "UAR.ALLOC 0x1008 0x1000; HANDLE 0x1000 new-handle 0; TYPE 0x1001 const 8; \
         MMAP_OFFSET 0x1002 out 8; MMAP_LENGTH 0x1003 out 4; PAGE_ID 0x1004 out 4",
    ),
    // The context has one already.
    ("alloc_uar, NC", ""),
    // It is kept for the next alloc_uar.
    ("free_uar, BF", ""),
    // Both UARs. Umems and objects are the kernel's to end.
    (
        "close_device",
        "UAR.DESTROY 0x1008 0x1001; HANDLE 0x1000 handle 0, \
         UAR.DESTROY 0x1008 0x1001; HANDLE 0x1000 handle 0",
    ),
];

#[test]
fn what_each_call_sends() {
    let Some(run) = run("", &[], &[]) else { return };
    println!("{}", table(&run));

    let made: Vec<&str> = run.calls.iter().map(|c| &c.name[..]).collect();
    let wanted: Vec<&str> = SENT.iter().map(|s| s.0).collect();
    assert_eq!(made, wanted, "every call is made, in this order");
    for (name, shape) in SENT {
        let shapes: Vec<String> = run.call(name).ioctls.iter().map(Ioctl::shape).collect();
        assert_eq!(shapes.join(", "), *shape, "{name}");
    }

    // What was answered arrives, and every output is marked as written.
    let answered = run.calls.iter().flat_map(|c| &c.ioctls).filter(|i| i.errno == 0);
    for attr in answered.flat_map(|i| &i.attrs) {
        let after = if attr.kind == "out" { attr.flags | 2 } else { attr.flags };
        assert_eq!(attr.flags_after, after, "{attr:?}");
    }
    let long = run.call("general_cmd, an input of 65536 bytes");
    assert_eq!((&long.result[..], long.output.as_str()), ("22", "ee".repeat(16).as_str()));
    for call in run.calls.iter().filter(|c| !c.name.contains("65536")) {
        let expected = match &call.name[..] {
            "get_event" => "72",
            "get_event, without data" => "8",
            "get_event, none there" => "-1",
            "get_async_cmd_comp, none there" => "11", // EAGAIN
            // A mailbox has a header of 16 bytes at least.
            "general_cmd, 8 bytes each" => "22",
            _ => "0",
        };
        assert_eq!(call.result, expected, "{}", call.name);
    }
}

#[test]
fn what_the_attributes_hold() {
    let Some(run) = run("", &[], &[]) else { return };
    let content = |call: &str, attr: &str| run.call(call).ioctl().attr(attr).content.clone();

    // Each of the ten gives the handle of its own object.
    for (kind, handle) in
        [("qp", "81"), ("cq", "82"), ("srq", "83"), ("wq", "84"), ("ind_tbl", "85")]
    {
        for call in [format!("{kind}_query"), format!("{kind}_modify")] {
            assert_eq!(content(&call, "HANDLE"), handle, "{call}");
        }
    }
    // A mailbox as it was given.
    assert_eq!(content("obj_query", "CMD_IN"), "040202030405060708090a0b0c0d0e0f");
    // 8 bytes stand in the attribute itself, where else a pointer stands. Outputs never do.
    let eight = run.call("general_cmd, 8 bytes each").ioctl();
    assert_eq!(&eight.raw[2 * (24 + 8)..][..16], "010a020304050607");
    assert_ne!(&eight.raw[2 * (24 + 16 + 8)..][..16], "0000000000000000");

    // Numbers of the host's order.
    let hex = |n: u64| n.to_ne_bytes().iter().fold(String::new(), |t, b| format!("{t}{b:02x}"));
    assert_eq!(content("obj_query_async", "WR_ID"), hex(0x1122_3344_5566_7788));
    assert_eq!(content("obj_query_async", "OUT_LEN"), hex(80));
    assert_eq!(
        run.call("get_async_cmd_comp").output,
        format!("{}{}", hex(0x1122_3344_5566_7788), "00".repeat(80))
    );
    assert_eq!(content("subscribe_devx_event", "COOKIE"), hex(0xc00c_1e00_0000_0001));
    assert_eq!(content("umem_reg", "PGSZ_BITMAP"), hex(!0xfff), "all sizes of a page and more");
    assert_eq!(content("umem_reg_ex", "PGSZ_BITMAP"), hex(0x1000));
    assert_eq!(content("umem_reg_ex, dmabuf", "ADDR"), hex(0x1000), "an offset in the dmabuf");

    // A handle that was given out comes back.
    assert_eq!(content("obj_destroy", "HANDLE"), content("obj_create", "HANDLE"));
    assert_eq!(content("umem_dereg", "HANDLE"), content("umem_reg", "HANDLE"));
}

#[test]
fn what_opens_a_device() {
    let Some(run) = run("", &[], &["query_eqn"]) else { return };
    let sent: Vec<&str> = run.open.iter().map(|i| &i.method[..]).collect();
    // First it is asked whether the older commands can be sent by this ioctl; ENOSPC says yes.
    assert_eq!((sent[0], run.open[0].errno), ("DEVICE.INVOKE_WRITE", 28));
    assert_eq!(run.open[0].attrs.len(), 1);
    assert_eq!(sent[1], "DEVICE.GET_CONTEXT");
    // `struct mlx5_ib_alloc_ucontext_req_v2`: flags are at 8, lib_caps at 24.
    let request = &run.open[1].attr("UHW_IN").content;
    assert_eq!(&request[16..24], "01000000", "MLX5_IB_ALLOC_UCTX_DEVX");
    assert_eq!(&request[48..64], "0300000000000000", "4K_UAR, DYN_UAR");
    for method in ["DEVICE.QUERY_PORT", "UAR.ALLOC", "ASYNC_EVENT.ALLOC"] {
        assert!(sent.contains(&method), "{method}: {sent:?}");
    }
    assert!(!sent.contains(&"?.?"), "an ioctl that is not known: {:?}", run.open);
}

/// The calls that carry a mailbox to the firmware, and back.
const WITH_MAILBOXES: &[&str] = &[
    "obj_create",
    "obj_query",
    "obj_modify",
    "general_cmd",
    "qp_query",
    "qp_modify",
    "cq_query",
    "cq_modify",
    "srq_query",
    "srq_modify",
    "wq_query",
    "wq_modify",
    "ind_tbl_query",
    "ind_tbl_modify",
];

/// Answers all of them alike, and returns them. Without an object no call is made on it, so that
/// obj_create has a run of its own.
fn all_answered(answer: &str) -> Option<Vec<Call>> {
    let create = run(&format!("always DEVX_OBJ.CREATE * {answer}\n"), &[], &["obj_create"])?;
    // Not the commands that open the device (QUERY_HCA_CAP).
    let others = ["DEVX_OBJ.QUERY *", "DEVX_OBJ.MODIFY *", "DEVX.OTHER 010a"];
    let others = others.map(|which| format!("always {which} {answer}\n")).concat();
    let mut calls = create.calls;
    let others = run(&others, &[], WITH_MAILBOXES)?;
    calls.extend(others.calls.into_iter().filter(|c| c.name != "obj_create"));
    assert_eq!(calls.len(), WITH_MAILBOXES.len());
    Some(calls)
}

/// A call failed: with the errno as its result, or null and errno.
#[track_caller]
fn failed(call: &Call, errno: i32) {
    let expected = match &call.name[..] {
        "obj_create" => ("null".to_owned(), errno),
        _ => (errno.to_string(), 0),
    };
    assert_eq!((call.result.clone(), call.errno), expected, "{}", call.name);
    assert_eq!(call.ioctl().errno, errno, "{}", call.name);
}

#[test]
fn a_refusal_of_the_firmware() {
    // BAD_PARAM_ERR, and a syndrome.
    let mailbox = "030000000badcafe";
    let Some(calls) = all_answered(&format!("{EREMOTEIO} {mailbox}")) else { return };
    for call in &calls {
        failed(call, EREMOTEIO);
        assert!(call.output.starts_with(mailbox), "{}: {}", call.name, call.output);
        assert_eq!(call.ioctl().attr("CMD_OUT").flags_after, 3, "{}", call.name);
    }
}

#[test]
fn an_error_of_the_kernel() {
    let Some(calls) = all_answered(&EINVAL.to_string()) else { return };
    for call in &calls {
        failed(call, EINVAL);
        assert!(call.output.bytes().all(|b| b == b'e'), "{} leaves its output alone", call.name);
        assert_eq!(call.ioctl().attr("CMD_OUT").flags_after, 1, "{}", call.name);
    }
}

#[test]
fn errors_of_calls_without_mailboxes() {
    let methods = [
        "DEVX_OBJ.DESTROY",
        "DEVX_OBJ.ASYNC_QUERY",
        "DEVX.QUERY_EQN",
        "DEVX.SUBSCRIBE_EVENT",
        "DEVX_UMEM.REG",
    ];
    let script = methods.map(|which| format!("always {which} * {EINVAL}\n")).concat();
    let Some(run) = run(&script, &[], &[]) else { return };
    for (name, errno) in [
        ("obj_destroy", 0),
        ("obj_query_async", 0),
        ("query_eqn", 0),
        ("subscribe_devx_event", 0),
        ("subscribe_devx_event_fd", 0),
        ("umem_reg", EINVAL),
        ("umem_reg_ex", EINVAL),
    ] {
        let call = run.call(name);
        let result = if errno == 0 { EINVAL.to_string() } else { "null".to_owned() };
        assert_eq!((&call.result, call.errno), (&result, errno), "{name}");
    }
}

#[test]
fn answers_are_by_method_and_opcode_and_used_up() {
    let script = "once DEVX_OBJ.QUERY 0402 ok 00000000aa\n\
                  always DEVX_OBJ.QUERY 0402 ok 00000000bb\n\
                  always DEVX_OBJ.QUERY * ok 00000000cc\n";
    let Some(run) = run(script, &[], &[]) else { return };
    let fifth = |call: &str| run.call(call).output[8..10].to_owned();
    assert_eq!(["obj_query", "cq_query", "qp_query"].map(fifth), ["aa", "bb", "cc"]);
}

#[test]
fn a_kernel_that_gives_uars_to_contexts() {
    let old = [("MLX5_CAUGHT_OLD_UAR", "1")];
    let Some(run) = run("", &old, &["alloc_uar, BF"]) else { return };
    println!("{}", table(&run));
    assert_eq!(
        run.call("alloc_uar, BF").ioctl().shape(),
        "DEVX.QUERY_UAR 0x1000 0x1001; USER_IDX 0x1000 in 4; DEV_IDX 0x1001 out 4"
    );
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn ioctls_without_the_c_library() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::write(root.join("answers"), "once DEVX.OTHER * 121 030000000badcafe\n").unwrap();
    let said = |raw: bool| {
        let mut child = caught(env!("CARGO_BIN_EXE_caught-raw-child"), root);
        if raw {
            child.env("MLX5_CAUGHT_RAW", "1");
        }
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // /dev/zero has no ioctls: ENOTTY says that the kernel was reached.
    assert_eq!(said(false), "-1 25\neeeeeeeeeeeeeeee\n");
    assert!(!root.join("trace").exists());
    assert_eq!(said(true), "-1 121\n030000000badcafe\n");
    let run = parse(&fs::read_to_string(root.join("trace")).unwrap());
    let [sent] = &run.open[..] else { panic!("one ioctl, not {:?}", run.open) };
    assert_eq!(
        sent.shape(),
        "DEVX.OTHER 0x1000 0x1000; CMD_IN 0x1000 in 16; CMD_OUT 0x1001 out 16"
    );
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn ioctls_that_the_kernel_would_refuse_for_their_form() {
    const EPROTONOSUPPORT: i32 = 93;
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("answers"), "").unwrap();
    for (wrong, errno) in [
        (&["length"][..], EINVAL),
        (&["driver"], EINVAL),
        (&["missing"], EINVAL),
        (&["twice"], EINVAL),
        (&["short"], EINVAL),
        (&["data"], EINVAL),
        (&["reserved"], EPROTONOSUPPORT),
        (&["object"], EPROTONOSUPPORT),
        (&["method"], EPROTONOSUPPORT),
        (&["third"], EPROTONOSUPPORT),
        (&["third", "optional"], 0),
    ] {
        let child = caught(env!("CARGO_BIN_EXE_caught-raw-child"), directory.path())
            .args(wrong)
            .env("MLX5_CAUGHT_RAW", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(child.stdout).unwrap();
        let expected = if errno == 0 { "0 ".to_owned() } else { format!("-1 {errno}\n") };
        assert!(said.starts_with(&expected), "{wrong:?}: {said}");
    }
}

#[test]
fn the_real_libmlx5_with_a_filter_too() {
    let Some(plain) = run("", &[], &[]) else { return };
    let raw = run("", &[("MLX5_CAUGHT_RAW", "1")], &[]).unwrap();
    let shapes = |run: &Run| -> Vec<String> {
        run.open.iter().chain(run.calls.iter().flat_map(|c| &c.ioctls)).map(Ioctl::shape).collect()
    };
    assert_eq!(shapes(&raw), shapes(&plain), "each ioctl is caught once");
}

/// The calls of `Transport`, by the names of both children.
const TRANSPORT: &[&str] = &[
    "obj_create",
    "obj_query",
    "obj_modify",
    "obj_destroy",
    "general_cmd",
    "general_cmd, 8 bytes each",
    "general_cmd, 65535 bytes each",
    "general_cmd, an input of 65536 bytes",
    "qp_query",
    "qp_modify",
    "cq_query",
    "cq_modify",
    "srq_query",
    "srq_modify",
    "wq_query",
    "wq_modify",
    "ind_tbl_query",
    "ind_tbl_modify",
];

/// The errno that a call ended with.
fn errno(call: &Call) -> i32 {
    match &*call.result {
        "0" => 0,
        "null" | "-1" | "errno" => call.errno,
        number => number.parse().expect("an errno"),
    }
}

/// What was sent in a call, attribute by attribute and in the order of their numbers; the handle of the
/// object that was made before is only said to be that.
fn sent(call: &Call, made: Option<&str>) -> Vec<String> {
    let mut all = Vec::new();
    for ioctl in &call.ioctls {
        let mut attrs: Vec<&Attr> = ioctl.attrs.iter().collect();
        attrs.sort_by_key(|a| a.id);
        for a in attrs {
            let own = a.kind == "new-handle" || a.kind == "handle" && Some(&*a.content) == made;
            let content = if own { "the object" } else { &*a.content };
            all.push(format!(
                "{} {} errno {}: {} {:#x} {} flags {:#x} len {} {content}",
                ioctl.method, ioctl.ids, ioctl.errno, a.name, a.id, a.kind, a.flags, a.len
            ));
        }
    }
    all
}

/// The handle of the object that `obj_create` made.
fn made(run: &Run) -> Option<&str> {
    let create = run.calls.iter().find(|c| c.name == "obj_create" && errno(c) == 0)?;
    Some(&create.ioctl().attr("HANDLE").content)
}

/// Each backend sends what libmlx5 sends when it is called by itself, and makes the same of the answers.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn backends_are_as_libmlx5() {
    let refused = "always DEVX_OBJ.QUERY * 121 030000000badcafe\n\
                   always DEVX_OBJ.MODIFY * 121 100000006231e600\n\
                   always DEVX.OTHER 010a 121 020000000badcafe\n";
    let by_kernel = "always DEVX_OBJ.QUERY * 22\nalways DEVX_OBJ.MODIFY * 19\n\
                     always DEVX.OTHER 010a 1\nalways DEVX_OBJ.DESTROY * 16\n";
    let not_made = "always DEVX_OBJ.CREATE * 121 080000000badcafe\n";
    let (mut calls, mut compared) = (0, 0);
    for answers in ["", refused, by_kernel, not_made] {
        let Some(theirs) = run(answers, &[], TRANSPORT) else { return };
        for backend in ["libmlx5", "ioctl"] {
            let environment: &[(&str, &str)] =
                if backend == "ioctl" { &[("MLX5_CAUGHT_RAW", "1")] } else { &[] };
            let program = env!("CARGO_BIN_EXE_caught-backend");
            let ours = run_program(program, answers, environment, &[backend])
                .expect("libmlx5 is installed");
            if answers.is_empty() {
                println!("{backend:<38} attributes compared, differences");
            }
            let names: Vec<&String> = theirs.calls.iter().map(|c| &c.name).collect();
            assert_eq!(names.len(), ours.calls.len(), "{names:?}");
            for theirs_call in &theirs.calls {
                let ours_call = ours.call(&theirs_call.name);
                let expected = sent(theirs_call, made(&theirs));
                let name = &theirs_call.name;
                assert_eq!(sent(ours_call, made(&ours)), expected, "{backend}: {name}");
                assert_eq!(errno(ours_call), errno(theirs_call), "{backend}: {name}");
                assert_eq!(ours_call.output, theirs_call.output, "{backend}: output of {name}");
                calls += 1;
                compared += expected.len();
                if answers.is_empty() {
                    println!("  {name:<36} {:>19}, {:>11}", expected.len(), 0);
                }
            }
        }
    }
    println!("{calls} calls and {compared} attributes compared, 0 differences");
    assert!(calls > 130 && compared > 340, "{calls} calls, {compared} attributes");
}
