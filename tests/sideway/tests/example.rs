//! The example, run without an adapter: the real libmlx5 opens a device that is a few files, and what it and
//! the example send to the kernel is caught, as in `tests/caught`.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

#[path = "../../caught/tests/device/mod.rs"]
mod device;
#[path = "../../caught/tests/trace/mod.rs"]
mod trace;

use std::fs;
use std::process::Output;

use mlx5_prm::{Cqc, ModifyCqIn, QueryCqOut};

use device::{caught, sysfs};
use trace::{Ioctl, shapes};

/// Runs the example; gives also what it sent.
fn run(answers: &str, arguments: &[&str]) -> (Output, Vec<Ioctl>) {
    run_with(answers, arguments, &[])
}

fn run_with(
    answers: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (Output, Vec<Ioctl>) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), answers).unwrap();
    let output = caught(env!("CARGO_BIN_EXE_mlx5-sideway"), root)
        // The way without libmlx5 calls no function of the C library.
        .env("MLX5_CAUGHT_RAW", "1")
        .envs(environment.iter().copied())
        .args(arguments)
        .output()
        .unwrap();
    (output, trace::read(root))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line of the answers: QUERY_CQ once gives a queue with these values.
fn queried(max_count: u16, period: u16) -> String {
    let cqc = Cqc::new().with_cq_max_count(max_count).with_cq_period(period);
    let answer = QueryCqOut::new().with_cq_context(cqc);
    format!("once DEVX_OBJ.QUERY 0402 ok {}\n", hex(answer.as_bytes()))
}

/// What makes the queue, of all the attributes those that are sent.
const CREATE: &str = "CQ.CREATE: HANDLE new-handle 0, RESP_CQE out 4, CQE in 4, USER_HANDLE in 8, \
                      COMP_VECTOR in 4, EVENT_FD fd 0, UHW_IN in 32, UHW_OUT out 8";
const MODIFY: &str = "DEVX_OBJ.MODIFY: HANDLE handle 0, CMD_IN in 272, CMD_OUT out 16";
const QUERY: &str = "DEVX_OBJ.QUERY: HANDLE handle 0, CMD_IN in 16, CMD_OUT out 272";
const DESTROY: &str = "CQ.DESTROY: RESP out 8, HANDLE handle 0";

/// What was sent about queues.
fn of_queues(sent: &[Ioctl]) -> Vec<&Ioctl> {
    let is = |ioctl: &&Ioctl| ["CQ.", "DEVX_OBJ."].iter().any(|o| ioctl.method.starts_with(o));
    sent.iter().filter(is).collect()
}

#[test]
fn a_queue_of_sideway_is_changed_both_ways() {
    // Not what is asked for: what is printed comes from the adapter.
    let answers = queried(63, 15) + &queried(31, 7);
    let (output, sent) = run(&answers, &["mlx5_0"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));

    let sent = of_queues(&sent);
    assert_eq!(shapes(&sent), [CREATE, MODIFY, QUERY, MODIFY, QUERY, DESTROY]);
    assert!(sent.iter().all(|ioctl| ioctl.errno == 0));
    let [create, by_libmlx5, _, by_ioctl, _, _] = sent[..] else { unreachable!("six, as above") };

    // The handle that the kernel gave to sideway's queue is that of all others.
    let handle = create.content("HANDLE");
    assert_ne!(handle, "0");
    assert!(sent.iter().all(|ioctl| ioctl.content("HANDLE") == handle));

    // The number of the queue is in the answer of the driver, `struct mlx5_ib_create_cq_resp`.
    let answer = create.bytes("UHW_OUT");
    let cqn = u32::from_ne_bytes(answer[..4].try_into().unwrap());
    for (modify, max_count, period) in [(by_libmlx5, 64, 16), (by_ioctl, 32, 8)] {
        let bytes = modify.bytes("CMD_IN");
        let mailbox = ModifyCqIn::view(&bytes).expect("a MODIFY_CQ");
        assert_eq!(mailbox.cqn().get(), cqn);
        // Bits 0 and 1 of `modify_field_select`: `cq_period` and `cq_max_count`.
        assert_eq!(bytes[0xc..0x10], [0, 0, 0, 3]);
        let cqc = mailbox.cq_context();
        assert_eq!((cqc.cq_max_count(), cqc.cq_period()), (max_count, period));
    }
    assert_eq!(
        said,
        format!(
            "libmlx5: CQ {cqn:#x} waits for 63 completions, or 15 us\n\
             ioctl: CQ {cqn:#x} waits for 31 completions, or 7 us\n"
        )
    );
}

/// The queue is one of the simulated adapter, which does what it is asked.
#[test]
fn a_queue_of_sideway_on_the_simulated_adapter() {
    let (output, sent) = run_with("", &["mlx5_0"], &[("MLX5_CAUGHT_SIM", "1")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(shapes(&of_queues(&sent)), [CREATE, MODIFY, QUERY, MODIFY, QUERY, DESTROY]);
    assert_eq!(
        said,
        "libmlx5: CQ 0x1 waits for 64 completions, or 16 us\n\
         ioctl: CQ 0x1 waits for 32 completions, or 8 us\n"
    );
}

/// `MLX5_IB_ALLOC_UCTX_DEVX`, in the flags at byte 8 of `struct mlx5_ib_alloc_ucontext_req_v2`.
fn asks_for_devx(get_context: &Ioctl) -> bool {
    get_context.bytes("UHW_IN")[8] & 1 != 0
}

fn contexts(sent: &[Ioctl]) -> Vec<&Ioctl> {
    sent.iter().filter(|ioctl| ioctl.method == "DEVICE.GET_CONTEXT").collect()
}

/// `ibv_open_device` asks for DEVX by itself; where the kernel refuses that, it opens without, and nobody
/// hears of it until the first command.
#[test]
fn sideway_opens_with_devx_where_the_kernel_grants_it() {
    let (_, sent) = run("", &[]);
    let made = contexts(&sent);
    assert_eq!(made.len(), 1);
    assert!(asks_for_devx(made[0]));

    // Refused in each of its three forms, and then every command, as `devx_get_uid` in `devx.c` does.
    let answers = "once DEVICE.GET_CONTEXT * 22\n".repeat(3) + "always DEVX_OBJ.MODIFY * 22\n";
    let (output, sent) = run(&answers, &[]);
    let made = contexts(&sent);
    let how: Vec<(bool, i32)> = made.iter().map(|c| (asks_for_devx(c), c.errno)).collect();
    assert_eq!(how, [(true, 22), (true, 22), (true, 22), (false, 0)]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(shapes(&of_queues(&sent)), [CREATE, MODIFY, DESTROY]);
    let says = "MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), says);
}

#[test]
fn a_refusal_of_the_firmware_is_told_and_the_queue_ended() {
    let (output, sent) = run("always DEVX_OBJ.MODIFY 0403 121 030000000badcafe\n", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(shapes(&of_queues(&sent)), [CREATE, MODIFY, DESTROY]);
    let says = "MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0xbadcafe: a value in the input is not allowed, or not together with others\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), says);
}

#[test]
fn a_device_that_is_not_there_is_told() {
    let (output, sent) = run("", &["mlx5_9"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(sent.is_empty());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "there is no such device\n");
}
