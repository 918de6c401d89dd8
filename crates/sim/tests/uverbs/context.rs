//! Making a context (`ib_init_ucontext`, `mlx5_ib_alloc_ucontext`), and calls without one.

use mlx5_devx::Errno;
use mlx5_prm::{CmdHcaCap, Opcode, QueryHcaCapIn};

use crate::program::{Arg, Program, context, create_cq, on_cq, request};

#[test]
fn a_context_is_made_once() {
    let program = Program::new();
    let left = program.get_context(1).ok();
    assert_eq!((left.u32(0), left.u64(1)), (4, 1), "completion vectors, optional access flags");
    let answer = &left.outputs[&0x1001];
    let word = |at: usize| u32::from_ne_bytes(answer[at..at + 4].try_into().expect("4 bytes"));
    assert_eq!((word(8), word(40)), (0, 72), "no doorbell registers; the length");
    assert_eq!((answer[44], word(56), word(60)), (1, 12, 1), "cqe_version, log_uar_size, UARs");

    let again = program.get_context(1);
    assert_eq!(again.errno(), Errno::INVAL);
    assert_eq!(again.u32(0), 4, "it is written before");
    assert!(again.untouched.contains_key(&0x1001));
}

#[test]
fn what_is_asked_is_looked_at() {
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut ask = request(1);
        change(&mut ask);
        Program::new().call(0, 3, &context(&ask)).result.err()
    };
    assert_eq!(refused(&|_| {}), None);
    assert_eq!(refused(&|ask| ask.truncate(16)), None, "the shortest of the newer");
    assert_eq!(refused(&|ask| ask.truncate(8)), None, "the older request");
    assert_eq!(refused(&|ask| ask.truncate(15)), Some(Errno::INVAL));
    assert_eq!(refused(&|ask| ask.truncate(7)), Some(Errno::INVAL));
    assert_eq!(refused(&|ask| ask.extend([0; 8])), None, "a newer one");
    for reserved in [12, 17, 18, 20] {
        assert_eq!(refused(&|ask| ask[reserved] = 1), Some(Errno::OPNOTSUPP), "{reserved}");
    }
    let low = if cfg!(target_endian = "little") { 0 } else { 3 };
    assert_eq!(refused(&|ask| ask[8 + low] = 2), Some(Errno::OPNOTSUPP), "a flag");
    assert_eq!(refused(&|ask| ask[4 + low] = 16), Some(Errno::INVAL), "all of low latency");
    // Without UARs on demand the registers are allotted at once.
    let allotted = |total: u32| {
        refused(&move |ask| {
            ask[..4].copy_from_slice(&total.to_ne_bytes());
            ask[4..8].fill(0);
            ask[24..].fill(0);
        })
    };
    assert_eq!(allotted(512), None);
    assert_eq!((allotted(0), allotted(513)), (Some(Errno::INVAL), Some(Errno::NOMEM)));
    // Without a request, and with one that is nowhere.
    assert_eq!(Program::new().call(0, 3, &[]).errno(), Errno::INVAL);
    assert_eq!(Program::new().call(0, 3, &[Arg::Nowhere(0x1000, 32)]).errno(), Errno::FAULT);
    let nowhere = [Arg::In(0x1000, request(1)), Arg::Nowhere(0x1001, 72)];
    assert_eq!(Program::new().call(0, 3, &nowhere).errno(), Errno::FAULT);
}

#[test]
fn answers_are_as_long_as_their_room() {
    let args = [Arg::In(0x1000, request(0)), Arg::Out(0x1001, 44)];
    let left = Program::new().call(0, 3, &args).ok();
    assert_eq!(left.outputs[&0x1001][40..], 44u32.to_ne_bytes());
    let args = [Arg::In(0x1000, request(0)), Arg::Out(0x1001, 80)];
    let left = Program::new().call(0, 3, &args).ok();
    assert_eq!(left.outputs[&0x1001][72..], [0xee; 8], "no more than the driver knows");
}

/// `ib_uverbs_get_ucontext_file`; handles are not found before (`lookup_get_idr_uobject`).
#[test]
fn nothing_goes_without_a_context() {
    let program = Program::new();
    let query = on_cq(Opcode::QUERY_CQ, 1);
    let created = program.create(&create_cq(0), 16);
    assert_eq!((created.errno(), created.handle()), (Errno::INVAL, 0), "no handle either");
    assert_eq!(program.other(&on_cq(Opcode::QUERY_HCA_CAP, 0), 16).errno(), Errno::INVAL);
    assert_eq!(program.umem(0, 4096, 0, None).errno(), Errno::INVAL);
    assert_eq!(program.uar(0).errno(), Errno::INVAL);
    let eqn = [Arg::In(0x1000, vec![0; 4]), Arg::Out(0x1001, 4)];
    assert_eq!(program.call(0x1000, 0x1002, &eqn).errno(), Errno::INVAL);
    assert_eq!(program.call(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]).errno(), Errno::INVAL);
    let events = [Arg::Number(0x1000, 0), Arg::In(0x1001, vec![0; 4])];
    assert_eq!(program.call(0x1005, 0x1000, &events).errno(), Errno::INVAL);
    for object in [0x1001, 0x1002, 0x1008] {
        let left = program.call(object, 0x1001, &[Arg::Number(0x1000, 1)]);
        assert_eq!(left.errno(), Errno::NOENT, "{object:#x}");
    }
    assert_eq!(program.query(1, &query, 16).errno(), Errno::NOENT);
    assert_eq!(program.modify(1, &query, 16).errno(), Errno::NOENT);
}

/// `devx_get_uid`.
#[test]
fn a_context_without_devx_may_ask_little() {
    let program = Program::without_devx();
    assert_eq!(program.create(&create_cq(0), 16).errno(), Errno::INVAL);
    assert_eq!(program.umem(0, 4096, 0, None).errno(), Errno::INVAL);
    let capabilities = on_cq(Opcode::QUERY_HCA_CAP, 0);
    program.other(&capabilities, 4112).ok();
    assert_eq!(program.other(&on_cq(Opcode::QUERY_ADAPTER, 0), 16).errno(), Errno::INVAL);
    program.uar(0).ok();
    let made = program.adapter.create_cq(&mlx5_prm::Cqc::new()).expect("a CQ");
    let query = on_cq(Opcode::QUERY_CQ, made.number.get());
    assert_eq!(program.query(made.handle.0 as i64, &query, 272).errno(), Errno::INVAL);
    let events = [Arg::Number(0x1000, 0), Arg::In(0x1001, vec![0; 4])];
    let file = program.call(0x1005, 0x1000, &events).file();
    let args = [
        Arg::Number(0x1000, i64::from(std::os::fd::AsRawFd::as_raw_fd(&file))),
        Arg::In(0x1002, 9u16.to_ne_bytes().to_vec()),
    ];
    assert_eq!(program.call(0x1000, 0x1003, &args).errno(), Errno::INVAL);
}

#[test]
fn an_adapter_without_devx_has_none() {
    let program = Program::new();
    let log_max_uctx = || {
        let mut output = [0; 0x1010];
        program.adapter.firmware(QueryHcaCapIn::new().with_op_mod(1).as_bytes(), &mut output);
        let (general, _) = CmdHcaCap::view_prefix(&output[16..]).expect("long enough");
        general.log_max_uctx()
    };
    assert_ne!(log_max_uctx(), 0);
    program.adapter.set_without_devx(true);
    assert_eq!(log_max_uctx(), 0);
    assert_eq!(program.get_context(1).errno(), Errno::INVAL, "mlx5_ib_devx_create");
    program.get_context(0).ok();
    // `devx_is_supported`: the objects are not there.
    assert_eq!(program.create(&create_cq(0), 16).errno(), Errno::PROTONOSUPPORT);
    assert_eq!(program.other(&on_cq(Opcode::QUERY_HCA_CAP, 0), 16).errno(), Errno::PROTONOSUPPORT);
    program.uar(0).ok();
}
