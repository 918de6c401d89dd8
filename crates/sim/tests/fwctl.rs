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
