//! The simulated device file of fwctl does as the kernel's driver does.

use mlx5_devx::fwctl::wire::MAX_RPC_LEN;
use mlx5_devx::fwctl::{DeviceFile, Fwctl, Limit, Scope, admitted};
use mlx5_devx::{Cq, Errno, Handle, Target, TargetKind, Transport};
use mlx5_prm::caps::page::GeneralDevice;
use mlx5_prm::{CapMode, CmdHcaCap, Cqc, CreateCqIn, ModifyCqIn, QueryCqIn, Request, Status};
use mlx5_sim::{Adapter, FwctlFile};

fn header(opcode: u16, op_mod: u16) -> [u8; 16] {
    let mut input = [0; 16];
    input[..2].copy_from_slice(&opcode.to_be_bytes());
    input[6..8].copy_from_slice(&op_mod.to_be_bytes());
    input
}

#[test]
fn lengths_are_those_of_the_driver() {
    let file = FwctlFile::new(Adapter::new());
    let query = header(0x402, 0);
    let long = vec![0; MAX_RPC_LEN + 1];
    for (input, room) in [(&query[..15], 16), (&query, 15), (&long, 16), (&query, long.len())] {
        let result = file.rpc(Scope::DebugReadOnly, input, &mut vec![0; room]);
        assert_eq!(result, Err(Errno::MSGSIZE), "{} and {room}", input.len());
    }
    assert_eq!(file.rpc(Scope::DebugReadOnly, &query, &mut [0; 16]), Ok(16));
}

#[test]
fn each_command_needs_its_scope() {
    let file = FwctlFile::new(Adapter::new());
    let scopes =
        [Scope::Configuration, Scope::DebugReadOnly, Scope::DebugWrite, Scope::DebugWriteFull];
    for command in admitted() {
        for (op_mod, needed) in [(1, command.read.or(command.write)), (0, command.write)] {
            let Some(needed) = needed else { continue };
            for scope in scopes {
                let input = header(command.opcode.0, op_mod);
                let expected = if scope >= needed { Ok(16) } else { Err(Errno::BADMSG) };
                assert_eq!(file.rpc(scope, &input, &mut [0; 16]), expected, "{}", command.name);
            }
        }
    }
    // CREATE_CQ, MODIFY_CQ, and what is no command.
    for opcode in [0x400, 0x403, 0xffff] {
        let result = file.rpc(Scope::DebugWriteFull, &header(opcode, 0), &mut [0; 16]);
        assert_eq!(result, Err(Errno::BADMSG));
    }
}

/// `mlx5ctl_validate_rpc` of the kernel's `drivers/fwctl/mlx5/main.c`, at commit 42d3b66d4cdb: what it
/// lets through in any scope, from `FWCTL_RPC_DEBUG_READ_ONLY` on, and from `FWCTL_RPC_DEBUG_WRITE` on.
const OF_THE_DRIVER: [(Scope, &[u16]); 3] = [
    (
        Scope::Configuration,
        &[0x100, 0x101, 0x109, 0x10e, 0x731, 0x740, 0x760, 0x762, 0x823, 0xb22, 0xb2e],
    ),
    (
        Scope::DebugReadOnly,
        &[
            0x107, 0x10a, 0x10c, 0x111, 0x117, 0x201, 0x203, 0x303, 0x402, 0x50b, 0x512, 0x602,
            0x702, 0x707, 0x713, 0x716, 0x719, 0x722, 0x725, 0x727, 0x728, 0x730, 0x732, 0x750,
            0x752, 0x754, 0x764, 0x765, 0x76f, 0x770, 0x773, 0x781, 0x784, 0x80b, 0x80d, 0x813,
            0x819, 0x821, 0x822, 0x824, 0x826, 0x82a, 0x831, 0x842, 0x903, 0x907, 0x90b, 0x90f,
            0x911, 0x915, 0x919, 0x932, 0x935, 0x937, 0x93b, 0x93f, 0x942, 0x962, 0x964, 0x971,
            0x981, 0xa02, 0xa05, 0xa09, 0xb02, 0xb03, 0xb05, 0xb07, 0xb08, 0xb0a, 0xb0d, 0xb0f,
            0xb13, 0xb14, 0xb28, 0xb2a, 0xb2f, 0x8000, 0x8001, 0x8006,
        ],
    ),
    (Scope::DebugWrite, &[0x820]),
];

/// ACCESS_REG and ACCESS_REGISTER_USER: any scope for `op_mod` 0, which is a write.
const REGISTERS: [u16; 2] = [0x805, 0xb0c];

/// The client and the simulated driver have one table; this is another.
#[test]
fn the_table_is_that_of_the_driver() {
    let file = FwctlFile::new(Adapter::new());
    let needed = |opcode: u16, op_mod: u16| {
        if REGISTERS.contains(&opcode) {
            return Some(if op_mod == 0 { Scope::Configuration } else { Scope::DebugReadOnly });
        }
        OF_THE_DRIVER.iter().find(|(_, all)| all.contains(&opcode)).map(|(scope, _)| *scope)
    };
    let scopes =
        [Scope::Configuration, Scope::DebugReadOnly, Scope::DebugWrite, Scope::DebugWriteFull];
    for opcode in 0..=u16::MAX {
        for (op_mod, scope) in [0, 1].into_iter().flat_map(|m| scopes.map(|scope| (m, scope))) {
            let is_admitted = needed(opcode, op_mod).is_some_and(|needed| scope >= needed);
            let expected = if is_admitted { Ok(16) } else { Err(Errno::BADMSG) };
            let result = file.rpc(scope, &header(opcode, op_mod), &mut [0; 16]);
            assert_eq!(result, expected, "{opcode:#x} with op_mod {op_mod} in {scope}");
        }
        let is_there = admitted().iter().any(|command| command.opcode.0 == opcode);
        assert_eq!(is_there, needed(opcode, 0).is_some(), "{opcode:#x}");
    }
}

#[test]
fn the_adapter_behind_it_is_the_same() {
    let adapter = Adapter::new();
    let file = FwctlFile::new(adapter.clone());
    let made = adapter.create_cq(&Cqc::new()).expect("a CQ");
    let target = Target { kind: TargetKind::Cq, handle: made.handle };
    assert_eq!(file.adapter().end(target), Ok(()));
    assert_eq!(adapter.end(target), Err(Errno::NOENT));
}

#[test]
fn a_refusal_of_the_firmware_is_success() {
    let file = FwctlFile::new(Adapter::new());
    let mut output = [0xff; 16];
    assert_eq!(file.rpc(Scope::DebugReadOnly, &header(0x402, 0), &mut output), Ok(16));
    assert_eq!(Status(output[0]), Status::BAD_RES_STATE_ERR);
}

#[test]
fn what_devx_made_is_seen() -> Result<(), Box<dyn std::error::Error>> {
    let adapter = Adapter::new();
    let fwctl = Fwctl::over(FwctlFile::new(adapter.clone()), Limit::ReadOnly)?;
    let made = adapter.create_cq(&Cqc::new().with_log_cq_size(10))?;
    Cq::new(&adapter, made.handle, made.number)
        .modify(&mut ModifyCqIn::new().changing_cq_period(16))?;
    // fwctl has no handles.
    let seen = Cq::new(&fwctl, Handle(0), made.number).query(&mut QueryCqIn::new())?;
    assert_eq!((seen.cq_context().log_cq_size(), seen.cq_context().cq_period()), (10, 16));
    let own = fwctl.create(CreateCqIn::new().bytes(), &mut [0; 16]);
    assert_eq!(own, Err(Errno::OPNOTSUPP));
    Ok(())
}

/// `fwctl_fops_ioctl` gives ENODEV when the driver has left the device.
#[test]
fn hooks_count_for_fwctl_too() {
    let adapter = Adapter::new();
    let file = FwctlFile::new(adapter.clone());
    let mut output = [0; 16];
    adapter.refuse_next_command(1, Status::NOT_READY, 0x77);
    let _ = file.info().expect("an mlx5 device");
    // The simulated firmware has no NOP.
    for status in [Status::NOT_READY, Status::BAD_OP_ERR] {
        assert_eq!(file.rpc(Scope::DebugReadOnly, &header(0x80d, 0), &mut output), Ok(16));
        assert_eq!(Status(output[0]), status);
    }
    let made = adapter.create_cq(&Cqc::new()).expect("a CQ");
    adapter.remove();
    assert_eq!(file.rpc(Scope::DebugReadOnly, &header(0x80d, 0), &mut output), Err(Errno::NODEV));
    assert_eq!(file.info().map(|_| ()), Err(Errno::NODEV));
    let target = Target { kind: TargetKind::Cq, handle: made.handle };
    assert_eq!(adapter.end(target), Err(Errno::IO));
    let gone = adapter.create_cq(&Cqc::new()).map(|_| ()).map_err(|error| error.errno());
    assert_eq!(gone, Err(Errno::IO));
}

#[test]
fn the_user_context_may_do_what_the_firmware_has() {
    let adapter = Adapter::new();
    let caps = |adapter: &Adapter| {
        FwctlFile::new(adapter.clone()).info().expect("an mlx5 device").data.uctx_caps
    };
    assert_eq!(caps(&adapter), 4);
    adapter.set_page::<GeneralDevice>(CapMode::Current, &CmdHcaCap::new());
    assert_eq!(caps(&adapter), 0);
}
