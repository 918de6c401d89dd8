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

#[test]
fn objects_of_verbs() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), "").unwrap();
    let child = caught(env!("CARGO_BIN_EXE_caught-verbs-child"), root)
        .env("MLX5_CAUGHT_RAW", "1")
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&child.stderr);
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped(&format!("NOTHING WAS CAUGHT: {}", complained.trim()));
        return;
    }
    assert!(child.status.success(), "the child: {}\n{complained}", child.status);
    let said = String::from_utf8_lossy(&child.stdout);

    let sent = trace::read(root);
    let of = |object: &str| -> Vec<&Ioctl> {
        sent.iter().filter(|ioctl| ioctl.method.starts_with(object)).collect()
    };
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
        .map(|query| {
            let number = u32::from_be_bytes(query.bytes("CMD_IN")[8..12].try_into().unwrap());
            (query.content("HANDLE"), number, query.errno)
        })
        .collect();
    assert_eq!(seen, read_by_libmlx5_and_ioctl.repeat(2));
    assert!(shapes(&queries).iter().all(|shape| shape.starts_with("DEVX_OBJ.QUERY: ")));
    // Nothing is left to the kernel.
    let ended = of("PD.");
    assert_eq!(shapes(&ended), ["PD.DESTROY: HANDLE handle 0"]);
}
