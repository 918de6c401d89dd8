//! What a test can do to the simulated kernel.

use std::os::fd::{AsFd, AsRawFd};

use mlx5_devx::{Errno, Object, Transport};
use mlx5_prm::{CreateCqIn, EventType, Opcode, Status};
use mlx5_sim::Refusals;

use crate::program::{
    Arg, Program, create_cq, exists, is_readable, on_cq, read_raw, without_waiting,
};

#[test]
fn calls_can_be_refused() {
    let program = Program::with_devx();
    let (cq, number) = program.cq();
    program.adapter.refuse_next(2, Errno::INTR);
    let left = program.create(&create_cq(0), 16);
    assert_eq!((left.errno(), left.handle()), (Errno::INTR, 2), "the handle was given before");
    assert!(left.outputs.is_empty());
    assert!(!exists(&program.adapter, Opcode::QUERY_CQ, number + 1), "nothing was made");
    assert_eq!(program.destroy(cq).errno(), Errno::INTR);
    program.destroy(cq).ok();
    program.adapter.refuse_next(1, Errno::NODEV);
    assert_eq!(program.adapter.create(&create_cq(0), &mut [0; 16]), Err(Errno::NODEV));
    program.adapter.refuse_next(5, Errno::NODEV);
    program.adapter.refuse_next(0, Errno::NODEV);
    program.cq();
}

#[test]
fn every_call_can_be_refused() {
    let program = Program::with_devx();
    let (cq, number) = program.cq();
    let query = on_cq(Opcode::QUERY_CQ, number);
    let umem = program.umem(0, 4096, 0, None).ok().handle();
    let uar = program.uar(0).ok().handle();
    let commands = program.call(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]).file();
    let new_events = [Arg::Number(0x1000, 0), Arg::In(0x1001, vec![0; 4])];
    let events = program.call(0x1005, 0x1000, &new_events).file();
    let subscribe = [
        Arg::Number(0x1000, events.as_raw_fd().into()),
        Arg::In(0x1002, 9u16.to_ne_bytes().to_vec()),
    ];
    let modify = mlx5_prm::ModifyCqIn::new().with_cqn(mlx5_prm::Cqn::new(number));
    let ask = [
        Arg::Number(0x1000, cq),
        Arg::In(0x1001, query.clone()),
        Arg::In(0x1004, 272u64.to_ne_bytes().to_vec()),
        Arg::In(0x1003, vec![0; 8]),
        Arg::Number(0x1002, commands.as_raw_fd().into()),
    ];
    let other = on_cq(Opcode::QUERY_HCA_CAP, 0);
    let eqn = [Arg::In(0x1000, vec![0; 4]), Arg::Out(0x1001, 4)];
    let one = |object, method, args: &[Arg]| program.call(object, method, args);
    let all: [&dyn Fn() -> crate::program::Left; 13] = [
        &|| program.create(&create_cq(0), 16),
        &|| program.modify(cq, modify.as_bytes(), 16),
        &|| program.query(cq, &query, 272),
        &|| program.other(&other, 4112),
        &|| one(0x1000, 0x1002, &eqn),
        &|| program.umem(0, 4096, 0, None),
        &|| program.uar(0),
        &|| one(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]),
        &|| one(0x1001, 0x1004, &ask),
        &|| one(0x1005, 0x1000, &new_events),
        &|| one(0x1000, 0x1003, &subscribe),
        &|| one(0x1002, 0x1001, &[Arg::Number(0x1000, umem)]),
        &|| one(0x1008, 0x1001, &[Arg::Number(0x1000, uar)]),
    ];
    for call in &all {
        program.adapter.refuse_next(1, Errno::INTR);
        let left = call();
        assert_eq!(left.errno(), Errno::INTR);
        assert!(left.outputs.is_empty());
    }
    assert!(!is_readable(&commands));
    assert_eq!(program.adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]), 0);
    for call in &all {
        call().ok();
    }
    program.adapter.refuse_next(1, Errno::INTR);
    let file = Program { uverbs: mlx5_sim::Uverbs::open(&program.adapter), ..program };
    assert_eq!(file.get_context(1).errno(), Errno::INTR);
    file.get_context(1).ok();
}

/// The refusals are those of commands: what ends an object takes none of them.
#[test]
fn objects_end_while_commands_are_refused() {
    let program = Program::with_devx();
    let (handle, first) = program.cq();
    let (_, second) = program.cq();
    let devx = Object::create(&program.adapter, &CreateCqIn::new()).expect("a CQ");
    let verbs = program.adapter.create_cq(&mlx5_prm::Cqc::new()).expect("a CQ");
    program.adapter.refuse_next_command(1, Status::NO_RES_ERR, 1);
    program.destroy(handle).ok();
    devx.destroy().expect("it ends");
    let target = mlx5_devx::Target { kind: mlx5_devx::TargetKind::Cq, handle: verbs.handle };
    program.adapter.end(target).expect("it ends");
    let Program { adapter, uverbs } = program;
    drop(uverbs);
    for number in [first, second, verbs.number.get()] {
        assert!(!exists(&adapter, Opcode::QUERY_CQ, number));
    }
    let refused = Object::create(&adapter, &CreateCqIn::new());
    assert!(matches!(
        refused,
        Err(mlx5_devx::Error::Firmware { status: Status::NO_RES_ERR, syndrome: 1, .. })
    ));
    assert!(Object::create(&adapter, &CreateCqIn::new()).is_ok());
}

/// `cmd_status_to_err` of the kernel's `mlx5/core/cmd.c`: the client and the simulated kernel have one
/// table; this is another.
#[test]
fn each_status_has_its_errno() {
    const OF_THE_KERNEL: [(u8, Errno); 16] = [
        (0x01, Errno::IO),
        (0x02, Errno::INVAL),
        (0x03, Errno::INVAL),
        (0x04, Errno::IO),
        (0x05, Errno::INVAL),
        (0x06, Errno::BUSY),
        (0x07, Errno::AGAIN), // since Linux 6.12
        (0x08, Errno::NOMEM),
        (0x09, Errno::INVAL),
        (0x0a, Errno::INVAL),
        (0x0f, Errno::AGAIN),
        (0x10, Errno::INVAL),
        (0x30, Errno::INVAL),
        (0x40, Errno::INVAL),
        (0x50, Errno::IO),
        (0x51, Errno::IO),
    ];
    let program = Program::with_devx();
    program.adapter.set_refusals(Refusals::Errno);
    let refused = |status: u8| {
        program.adapter.refuse_next_command(1, Status(status), 1);
        program.create(&create_cq(0), 16).errno()
    };
    for (status, errno) in OF_THE_KERNEL {
        assert_eq!(refused(status), errno, "{status:#x}");
    }
    let known = |status: &u8| OF_THE_KERNEL.iter().any(|(s, _)| s == status);
    for status in (1..=u8::MAX).filter(|status| !known(status)) {
        assert_eq!(refused(status), Errno::IO, "{status:#x}");
    }
}

#[test]
fn a_device_that_is_gone() {
    let program = Program::with_devx();
    let (cq, number) = program.cq();
    let events = [Arg::Number(0x1000, 0), Arg::In(0x1001, vec![0; 4])];
    let events = program.call(0x1005, 0x1000, &events).file();
    let subscribe = [
        Arg::Number(0x1000, events.as_raw_fd().into()),
        Arg::In(0x1002, 9u16.to_ne_bytes().to_vec()),
    ];
    program.call(0x1000, 0x1003, &subscribe).ok();
    program.adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]);
    std::thread::scope(|scope| {
        // `devx_async_cmd_event_destroy_uobj` wakes those who wait.
        let commands = program.call(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]).file();
        let uverbs = program.uverbs.clone();
        let waiting = scope.spawn(move || uverbs.read(commands.as_fd(), &mut [0; 64]));
        std::thread::sleep(std::time::Duration::from_millis(20));
        program.adapter.remove();
        assert_eq!(waiting.join().expect("it ends"), Err(Errno::IO));
    });
    assert_eq!(program.destroy(cq).errno(), Errno::IO);
    assert_eq!(program.query(cq, &on_cq(Opcode::QUERY_CQ, number), 272).errno(), Errno::IO);
    let created = program.create(&create_cq(0), 16);
    assert_eq!((created.errno(), created.handle()), (Errno::IO, 0));
    assert_eq!(program.call(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]).errno(), Errno::IO);
    assert_eq!(program.call(0x1000, 0x1003, &subscribe).errno(), Errno::IO);
    assert_eq!(program.call(0x1001, 0x1234, &[]).errno(), Errno::PROTONOSUPPORT);
    let again = program.get_context(1);
    assert_eq!((again.errno(), again.u32(0)), (Errno::IO, 4));
    assert_eq!(
        program.adapter.general(&on_cq(Opcode::QUERY_HCA_CAP, 0), &mut [0; 4112]),
        Err(Errno::IO)
    );
    // What was to be read is gone, and the file is readable.
    assert!(is_readable(&events));
    assert_eq!(read_raw(&events, 72), []);
    let read = || program.uverbs.read(events.as_fd(), &mut [0; 72]);
    assert_eq!(read(), Err(Errno::IO));
    // The kernel looks at this first.
    without_waiting(&events);
    assert_eq!(read(), Err(Errno::AGAIN));
    assert_eq!(program.adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]), 0);
}

#[test]
fn no_command_reaches_a_device_that_is_gone() {
    let program = Program::with_devx();
    let (_, number) = program.cq();
    let Program { adapter, uverbs } = program;
    adapter.remove();
    drop(uverbs);
    assert!(exists(&adapter, Opcode::QUERY_CQ, number), "nothing ended it");
}
