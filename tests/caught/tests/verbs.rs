//! What libibverbs and libmlx5 send to make and end objects of verbs, and that the objects are then those that
//! commands of DEVX reach.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

mod device;
#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;
mod trace;

use std::fs;

use device::{caught, sysfs};
use skipped::skipped;
use trace::{Ioctl, shapes};

/// The exit code of a child without libmlx5.
const NOT_INSTALLED: i32 = 77;

const CREATE_CQ: &str = "CQ.CREATE: HANDLE new-handle 0, RESP_CQE out 4, CQE in 4, USER_HANDLE in 8, \
                         COMP_CHANNEL fd 0, COMP_VECTOR in 4, EVENT_FD fd 0, UHW_IN in 32, UHW_OUT out 8";
const CREATE_SRQ: &str = "SRQ.CREATE: HANDLE new-handle 0, TYPE const 8, USER_HANDLE in 8, \
                          PD_HANDLE handle 0, MAX_WR in 4, MAX_SGE in 4, LIMIT in 4, EVENT_FD fd 0, \
                          RESP_MAX_WR out 4, RESP_MAX_SGE out 4, UHW_IN in 32, UHW_OUT out 8";
const CREATE_QP: &str = "QP.CREATE: PD_HANDLE handle 0, SEND_CQ_HANDLE handle 0, \
                         RECV_CQ_HANDLE handle 0, HANDLE new-handle 0, TYPE const 8, USER_HANDLE in 8, \
                         CAP in 20, EVENT_FD fd 0, SRQ_HANDLE handle 0, RESP_CAP out 20, \
                         RESP_QP_NUM out 4, UHW_IN in 56, UHW_OUT out 40";

const CREATE_RAW_PACKET_QP: &str = "QP.CREATE: PD_HANDLE handle 0, SEND_CQ_HANDLE handle 0, \
                                    RECV_CQ_HANDLE handle 0, HANDLE new-handle 0, TYPE const 8, \
                                    USER_HANDLE in 8, CAP in 20, EVENT_FD fd 0, RESP_CAP out 20, \
                                    RESP_QP_NUM out 4, UHW_IN in 56, UHW_OUT out 40";

/// Runs the child: what it prints, and what it sends. None without libmlx5.
fn run(arguments: &[&str]) -> Option<(String, Vec<Ioctl>)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), "").unwrap();
    let child = caught(env!("CARGO_BIN_EXE_caught-verbs-child"), root)
        .args(arguments)
        .env("MLX5_CAUGHT_RAW", "1")
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&child.stderr);
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped(&format!("NOTHING WAS CAUGHT: {}", complained.trim()));
        return None;
    }
    assert!(child.status.success(), "the child: {}\n{complained}", child.status);
    Some((String::from_utf8(child.stdout).unwrap(), trace::read(root)))
}

/// Those on an object.
fn of<'s>(sent: &'s [Ioctl], object: &str) -> Vec<&'s Ioctl> {
    sent.iter().filter(|ioctl| ioctl.method.starts_with(object)).collect()
}

/// The handle, the opcode, the number and the errno of a command on an object.
fn command(ioctl: &Ioctl) -> (&str, u16, u32, i32) {
    let mailbox = ioctl.bytes("CMD_IN");
    let opcode = u16::from_be_bytes(mailbox[..2].try_into().unwrap());
    let number = u32::from_be_bytes(mailbox[8..12].try_into().unwrap());
    (ioctl.content("HANDLE"), opcode, number, ioctl.errno)
}

/// What a raw packet QP is made of has its numbers in the kernel's answer to libmlx5, and takes commands by the
/// handle of the QP.
#[test]
fn what_a_raw_packet_qp_is_made_of() {
    let Some((said, sent)) = run(&["raw"]) else { return };
    let of = |object| of(&sent, object);
    let lives = of("QP.");
    assert_eq!(shapes(&lives), [CREATE_RAW_PACKET_QP, "QP.DESTROY: RESP out 4, HANDLE handle 0"]);
    // `struct mlx5_ib_create_qp_resp`: three words, then the numbers.
    let answer: Vec<u32> = lives[0].bytes("UHW_OUT")[12..28]
        .chunks(4)
        .map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()))
        .collect();
    let [tirn, tisn, rqn, sqn] = answer[..] else { unreachable!("16 bytes") };
    assert_eq!(said, format!("tirn {tirn}\ntisn {tisn}\nrqn {rqn}\nsqn {sqn}\n"));
    let handle = lives[0].content("HANDLE");
    let expected = [
        (handle, 0x90b, rqn, 0),
        (handle, 0x903, tirn, 0),
        (handle, 0x907, sqn, 0),
        (handle, 0x915, tisn, 0),
        (handle, 0x50b, sqn, 22),
        (handle, 0x90b, sqn, 22),
    ];
    let queries: Vec<_> = of("DEVX_OBJ.").into_iter().map(command).collect();
    assert_eq!(queries, expected.repeat(2), "by libmlx5, then by ioctl");
}

#[test]
fn objects_of_verbs() {
    let Some((said, sent)) = run(&[]) else { return };
    let of = |object| of(&sent, object);
    let mut read_by_libmlx5_and_ioctl = Vec::new();
    for (object, create, number, said_by) in [
        ("CQ.", CREATE_CQ, "UHW_OUT", "cq"),
        ("SRQ.", CREATE_SRQ, "UHW_OUT", "srq"),
        ("QP.", CREATE_QP, "RESP_QP_NUM", "qp"),
    ] {
        let lives = of(object);
        let resp = if object == "CQ." { 8 } else { 4 };
        let destroy = format!("{object}DESTROY: RESP out {resp}, HANDLE handle 0");
        assert_eq!(shapes(&lives), [create, &destroy]);
        let [made, ended] = lives[..] else { unreachable!("two, as above") };
        assert_eq!(made.content("HANDLE"), ended.content("HANDLE"));
        let number = u32::from_ne_bytes(made.bytes(number)[..4].try_into().unwrap());
        assert!(said.lines().any(|line| line == format!("{said_by} {number}")), "{said}");
        read_by_libmlx5_and_ioctl.push((made.content("HANDLE"), number, 0));
    }
    let channel: i32 = of("CQ.")[0].content("COMP_CHANNEL").parse().unwrap();
    let is_channel = |ioctl: &&Ioctl| ioctl.content("WRITE_CMD").starts_with("11");
    let written = of("DEVICE.INVOKE_WRITE");
    let made = written.iter().find(|ioctl| is_channel(ioctl)).expect("CREATE_COMP_CHANNEL");
    assert_eq!(made.bytes("CORE_OUT"), channel.to_ne_bytes());

    // By each of the two, and once more with the number of another, which is refused.
    let [cq, _, qp] = read_by_libmlx5_and_ioctl[..] else { unreachable!("three") };
    read_by_libmlx5_and_ioctl.push((cq.0, qp.1, 22));
    let queries = of("DEVX_OBJ.");
    let seen: Vec<(&str, u32, i32)> = queries
        .iter()
        .map(|query| command(query))
        .map(|(handle, _, number, errno)| (handle, number, errno))
        .collect();
    assert_eq!(seen, read_by_libmlx5_and_ioctl.repeat(2));
    assert!(shapes(&queries).iter().all(|shape| shape.starts_with("DEVX_OBJ.QUERY: ")));
    // Nothing is left to the kernel.
    let ended = of("PD.");
    assert_eq!(shapes(&ended), ["PD.DESTROY: HANDLE handle 0"]);
}
