//! One program over every way to the same adapter: what comes of each step is the same.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

mod device;
#[path = "../scenario/mod.rs"]
mod scenario;
#[path = "../../../crates/devx/tests/common/skipped.rs"]
mod skipped;
#[allow(dead_code, reason = "other tests look at more of a trace")]
mod trace;

use std::os::fd::OwnedFd;

use device::{caught, sysfs};
use mlx5_devx::record::{Recorder, Recording, Replayer};
use mlx5_devx::{Errno, Error, Handle, Ioctl};
use mlx5_prm::{Cqc, Cqn, EventType, Qpc, Rmpc, Rqc, Rqtc};
use mlx5_sim::{Adapter, Made, Refusals, Uverbs};
use scenario::{Hooks, OfVerbs, Replayed, beyond, commands, exports};
use skipped::skipped;
use trace::Ioctl as Sent;

/// The exit code of a child without libmlx5.
const NOT_INSTALLED: i32 = 77;

/// Runs the child: what it prints, and what it sends. None without libmlx5.
fn run(backend: &str, what: &str) -> Option<(String, Vec<Sent>)> {
    run_program(env!("CARGO_BIN_EXE_caught-sim-child"), &[backend, what], backend == "ioctl")
}

fn run_program(program: &str, arguments: &[&str], raw: bool) -> Option<(String, Vec<Sent>)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    std::fs::write(root.join("answers"), "").unwrap();
    let mut command = caught(program, root);
    command.args(arguments).env("MLX5_CAUGHT_SIM", "1");
    if raw {
        command.env("MLX5_CAUGHT_RAW", "1");
    }
    let child = command.output().unwrap();
    let complained = String::from_utf8_lossy(&child.stderr);
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped(&format!("NOTHING WAS CAUGHT: {}", complained.trim()));
        return None;
    }
    assert!(child.status.success(), "the child: {}\n{complained}", child.status);
    Some((String::from_utf8(child.stdout).unwrap(), trace::read(root)))
}

impl Hooks for Adapter {
    fn refuse_next(&self, errno: Errno) {
        Adapter::refuse_next(self, 1, errno);
    }

    fn set_refusals(&self, refusals: Refusals) {
        Adapter::set_refusals(self, refusals);
    }

    fn cq_error(&self, number: Cqn) -> usize {
        self.raise_event(EventType::CQ_ERROR, None, &number.get().to_be_bytes())
    }

    fn remove(&self) {
        Adapter::remove(self);
    }
}

/// An adapter with an object of verbs of each kind, in the order of the preloaded library.
fn adapter() -> (Adapter, OfVerbs) {
    fn made<N: Into<u32>>(made: Result<Made<N>, Error>) -> (Handle, u32) {
        let made = made.expect("it is made");
        (made.handle, made.number.into())
    }
    let adapter = Adapter::new();
    let qp = made(adapter.create_qp(&Qpc::new()));
    let cq = made(adapter.create_cq(&Cqc::new()));
    let srq = made(adapter.create_srq(&Rmpc::new()));
    let wq = made(adapter.create_wq(&Rqc::new()));
    let entry = adapter.create_wq(&Rqc::new()).expect("it is made").number;
    let table = adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(1), &[entry]);
    (adapter, [qp, cq, srq, wq, made(table)])
}

fn eventfd() -> OwnedFd {
    rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).expect("a file")
}

/// Steps of [`commands`] whose result is fixed here, word for word.
const FIXED: &[&str] = &[
    "a select bit of nothing: MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0x510008: a value in the input is not allowed, or not together with others",
    "an errno and an output: MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0x510008: a value in the input is not allowed, or not together with others",
    "the same before Linux 5.18: MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)",
    "the number of another CQ: MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)",
    "a query by modify: QUERY_CQ(0x402) was refused by the kernel: Invalid argument (os error 22)",
    "an input of 15 bytes: MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)",
    "an output of 15 bytes: MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)",
    "an input of 65536 bytes: Invalid argument (os error 22) (22)",
    "an output of 65536 bytes: Invalid argument (os error 22) (22)",
    "a signal: MODIFY_CQ(0x403) got no answer, and may have been carried out: Interrupted system call (os error 4)",
    "the device goes: MODIFY_CQ(0x403) was refused by the kernel: No such device (os error 19)",
    "RST2INIT_QP in INIT: RST2INIT_QP(0x502) op_mod 0x0 failed: bad QP state (0x10, EINVAL in the kernel), syndrome 0x510006: the QP is not in the state that the transition begins with",
    "ACCESS_REG: ACCESS_REG(0x805) was refused by the kernel: Invalid argument (os error 22)",
    "a CQ of an adapter that is gone: QUERY_CQ(0x402) failed in the kernel: Input/output error (os error 5)",
];

#[test]
fn commands_give_the_same_over_every_way() {
    let (simulated, of_verbs) = adapter();
    let expected = commands(&simulated, &of_verbs, &simulated);
    println!("{expected}");
    for line in FIXED {
        assert!(expected.lines().any(|said| said == *line), "not said: {line}");
    }

    let (simulated, of_verbs) = adapter();
    let recorder = Recorder::new(simulated.clone(), Vec::new());
    assert_eq!(commands(&recorder, &of_verbs, &simulated), expected, "recorded");
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    let recording: Recording = text.parse().unwrap();
    let replayer = Replayer::strict(recording);
    assert_eq!(commands(&replayer, &of_verbs, &Replayed), expected, "replayed");
    replayer.finish().unwrap();

    let (simulated, of_verbs) = adapter();
    let ioctl = Ioctl::on(Uverbs::open(&simulated)).unwrap();
    assert_eq!(commands(&ioctl, &of_verbs, &simulated), expected, "ioctl on the simulated kernel");

    let steps = expected.lines().filter(|line| !line.starts_with(' ')).count();
    for backend in ["libmlx5", "ioctl"] {
        let Some((said, _)) = run(backend, "commands") else { continue };
        assert_eq!(said, expected, "{backend}, caught");
        println!("{steps} steps are the same by {backend}, recorded and replayed");
    }
}

#[test]
fn what_is_beyond_commands_gives_the_same_over_every_way() {
    let (simulated, _) = adapter();
    let ioctl = Ioctl::on(Uverbs::open(&simulated)).unwrap();
    let expected = beyond(&ioctl, &simulated, eventfd());
    println!("{expected}");
    assert!(expected.contains("an error comes to: 3\n"), "a channel, cookies, and an eventfd");
    assert!(expected.contains(
        "mlx5dv_devx_alloc_msi_vector is not supported by the backend (this one): rdma-core has it for \
         contexts over VFIO alone"
    ));
    for backend in ["libmlx5", "ioctl"] {
        let Some((said, sent)) = run(backend, "beyond") else { continue };
        assert_eq!(said, expected, "{backend}, caught");
        let called = |method: &str| sent.iter().filter(|ioctl| ioctl.method == method).count();
        println!("{} ioctls, the same by {backend}", sent.len());
        for method in ["DEVX_OBJ.ASYNC_QUERY", "DEVX.SUBSCRIBE_EVENT", "DEVX_UMEM.REG", "UAR.ALLOC"]
        {
            assert!(called(method) > 0, "{method} was not called");
        }
    }
}

/// The example of the backend `libmlx5`, on the simulated adapter: as that of `ioctl`.
#[test]
fn the_example_of_libmlx5() {
    let program = env!("CARGO_BIN_EXE_caught-example");
    let Some((said, _)) = run_program(program, &["mlx5_0"], false) else { return };
    let expected = "\
CQ 0x1 in umem 1
it has 2^6 entries, and tells after 64 completions or 16 us
refused, as it should be: MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome \
0x510008: a value in the input is not allowed, or not together with others
ended
";
    assert_eq!(said, expected);
    let (said, _) = run_program(program, &[], false).expect("it is installed");
    assert_eq!(said, "mlx5_0\n");
}

/// Objects and umems of another program. libmlx5 has calls for them from rdma-core 63 on.
#[test]
fn exports_give_the_same_over_every_way() {
    let (simulated, _) = adapter();
    let uverbs = Uverbs::open(&simulated);
    let owner = Ioctl::on(uverbs.clone()).unwrap();
    let expected = exports(&owner, &Ioctl::on_context(uverbs));
    println!("{expected}");
    assert!(expected.contains("the owner reads: Ok(9)\n"));
    for backend in ["ioctl", "libmlx5"] {
        let Some((said, _)) = run(backend, "exports") else { return };
        if let Some(line) = said.lines().find(|line| line.contains("came with rdma-core")) {
            let words = "export: mlx5dv_devx_obj_export is not supported by the backend libmlx5: \
                         libmlx5.so.1 has no mlx5dv_devx_obj_export, which came with rdma-core 63: \
                         update rdma-core";
            assert_eq!((backend, line), ("libmlx5", words));
            skipped("NOTHING WAS EXPORTED BY LIBMLX5: the installed one is too old");
            return;
        }
        assert_eq!(said, expected, "{backend}");
        println!("the same by {backend}");
    }
}
