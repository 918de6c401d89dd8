//! The numbers and structures of `fwctl::wire` are those of the kernel's headers, by a C compiler.
//!
//! The headers are `fwctl/fwctl.h` and `fwctl/mlx5.h` of Linux 6.15 or newer: those that are
//! installed for programs or in `/usr/src/linux-headers-*/include/uapi`, or in the folder that
//! `MLX5_UAPI` names. The opcodes are compared with `linux/mlx5/mlx5_ifc.h` beside it.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use std::path::PathBuf;

use common::{Claims, beginning, compiles, skipped, structure};
use mlx5_devx::fwctl::wire::*;
use mlx5_devx::fwctl::{Scope, admitted};

const INCLUDES: &str = "#include <stddef.h>\n\
     #include <sys/ioctl.h>\n\
     #include <fwctl/fwctl.h>\n\
     #include <fwctl/mlx5.h>\n";

fn claims() -> Claims {
    let mut claims = Claims::new(INCLUDES);
    structure! { claims: Info "fwctl_info":
        size flags out_device_type device_data_len out_device_data
    }
    structure! { claims: Rpc "fwctl_rpc": size scope in_len out_len in_ = "in" out }
    structure! { claims: InfoMlx5 "fwctl_info_mlx5": uid uctx_caps }
    for (c, value) in [
        ("FWCTL_TYPE", u64::from(TYPE)),
        ("FWCTL_CMD_INFO", CMD_INFO.into()),
        ("FWCTL_CMD_RPC", CMD_RPC.into()),
        ("FWCTL_INFO", rustix::ioctl::opcode::none(TYPE, CMD_INFO).into()),
        ("FWCTL_RPC", rustix::ioctl::opcode::none(TYPE, CMD_RPC).into()),
        ("FWCTL_DEVICE_TYPE_MLX5", DEVICE_TYPE_MLX5.into()),
        ("FWCTL_DEVICE_TYPE_CXL", DEVICE_TYPE_CXL.into()),
        ("FWCTL_DEVICE_TYPE_PDS", DEVICE_TYPE_PDS.into()),
        ("FWCTL_RPC_CONFIGURATION", Scope::Configuration as u64),
        ("FWCTL_RPC_DEBUG_READ_ONLY", Scope::DebugReadOnly as u64),
        ("FWCTL_RPC_DEBUG_WRITE", Scope::DebugWrite as u64),
        ("FWCTL_RPC_DEBUG_WRITE_FULL", Scope::DebugWriteFull as u64),
    ] {
        claims.equal(c, value);
    }
    // It came later.
    let bnxt = format!("{INCLUDES}int bnxt = FWCTL_DEVICE_TYPE_BNXT;\n");
    if matches!(compiles(&bnxt, &folders()), Some((true, _))) {
        claims.equal("FWCTL_DEVICE_TYPE_BNXT", DEVICE_TYPE_BNXT);
    }
    claims
}

/// The folders `include/uapi` of kernels.
fn folders() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os("MLX5_UAPI") {
        return vec![folder.into()];
    }
    let packages = std::fs::read_dir("/usr/src").into_iter().flatten().flatten();
    let folders = packages.map(|package| package.path().join("include/uapi"));
    let mut folders: Vec<_> = folders.filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders
}

#[test]
fn numbers_and_structures_are_those_of_the_headers() {
    if !matches!(compiles(INCLUDES, &folders()), Some((true, _))) {
        skipped(
            "NOTHING WAS COMPARED: there is no gcc, or no fwctl headers of the kernel \
             (from Linux 6.15; MLX5_UAPI names a folder of them)",
        );
        return;
    }
    claims().hold(&folders());
}

#[test]
fn opcodes_are_those_of_the_header() {
    let headers: Vec<_> = folders()
        .into_iter()
        .map(|folder| folder.join("../linux/mlx5/mlx5_ifc.h"))
        .filter_map(|header| Some((std::fs::read_to_string(&header).ok()?, header)))
        .collect();
    if headers.is_empty() {
        skipped("NOTHING WAS COMPARED: there is no linux/mlx5/mlx5_ifc.h");
    }
    for (text, header) in headers {
        let opcodes = text.lines().filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("MLX5_CMD_OP")?.split_once('=')?;
            let name = name.trim().trim_start_matches("CODE").strip_prefix('_')?;
            let value = value.trim().trim_end_matches(',').strip_prefix("0x")?;
            Some((name, u16::from_str_radix(value, 16).ok()?))
        });
        let mut compared = 0;
        for (name, value) in opcodes {
            if let Some(command) = admitted().iter().find(|command| command.name == name) {
                assert_eq!(command.opcode.0, value, "{name}");
                compared += 1;
            }
        }
        println!("{}: {compared} of {}", header.display(), admitted().len());
        assert!(compared > 40);
    }
}
