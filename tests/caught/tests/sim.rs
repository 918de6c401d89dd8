//! The real libmlx5, and the backend without it, on the simulated kernel and adapter.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

mod device;
#[allow(dead_code, reason = "other tests look at more of a trace")]
mod trace;

use device::{caught, sysfs};
use trace::Ioctl;

/// The exit code of a child without libmlx5.
const NOT_INSTALLED: i32 = 77;

/// Runs the child: what it prints, and what it sends. None without libmlx5.
fn run(backend: &str) -> Option<(String, Vec<Ioctl>)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    std::fs::write(root.join("answers"), "").unwrap();
    let mut command = caught(env!("CARGO_BIN_EXE_caught-sim-child"), root);
    command.arg(backend).env("MLX5_CAUGHT_SIM", "1");
    if backend == "ioctl" {
        command.env("MLX5_CAUGHT_RAW", "1");
    }
    let child = command.output().unwrap();
    let complained = String::from_utf8_lossy(&child.stderr);
    if child.status.code() == Some(NOT_INSTALLED) {
        println!("SKIPPED, NOTHING WAS CAUGHT: {}", complained.trim());
        return None;
    }
    assert!(child.status.success(), "the child: {}\n{complained}", child.status);
    Some((String::from_utf8(child.stdout).unwrap(), trace::read(root)))
}

/// Refused by the firmware, with a syndrome of the simulation's own, and by the kernel.
const REFUSED: &str = "\
    MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3), syndrome 0x510008\n\
    MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)\n";

/// The errnos of the calls of a method.
fn errnos(sent: &[Ioctl], method: &str) -> Vec<i32> {
    sent.iter().filter(|ioctl| ioctl.method == method).map(|ioctl| ioctl.errno).collect()
}

#[test]
fn the_real_libmlx5_on_the_simulated_adapter() {
    let Some((said, sent)) = run("libmlx5") else { return };
    let of_qp = "RST2INIT_QP(0x502) op_mod 0x0 failed: bad QP state (0x10), syndrome 0x510006\n";
    assert_eq!(said, format!("{REFUSED}{of_qp}"));
    assert_eq!(errnos(&sent, "DEVX_OBJ.CREATE"), [0]);
    // Of the CQ of DEVX: changed, refused by the firmware, and by the kernel. Of the QP of verbs: changed,
    // refused by the firmware. Of the CQ of verbs.
    assert_eq!(errnos(&sent, "DEVX_OBJ.MODIFY"), [0, 121, 22, 0, 121, 0]);
    assert_eq!(errnos(&sent, "DEVX_OBJ.ASYNC_QUERY"), [0, 0]);
    assert_eq!(errnos(&sent, "DEVX.SUBSCRIBE_EVENT"), [0, 22]);
    // The trace has what the simulated firmware answered.
    let refused = sent.iter().find(|ioctl| ioctl.errno == 121).unwrap();
    assert_eq!(refused.bytes("CMD_OUT")[..8], [3, 0, 0, 0, 0, 0x51, 0, 8]);
}

#[test]
fn the_backend_ioctl_on_the_simulated_adapter() {
    let Some((said, sent)) = run("ioctl") else { return };
    assert_eq!(said, REFUSED);
    assert_eq!(errnos(&sent, "DEVX_OBJ.MODIFY"), [0, 121, 22]);
    assert_eq!(errnos(&sent, "UAR.ALLOC"), [0]);
    assert_eq!(errnos(&sent, "DEVX_UMEM.REG"), [0]);
}
