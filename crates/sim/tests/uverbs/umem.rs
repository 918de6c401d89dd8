//! Registered memory (`devx_umem_get`, `devx_umem_reg_cmd_alloc`).

use mlx5_devx::{Errno, Transport};
use mlx5_prm::{CmdOut, Cqc, CreateCqIn, CreateRqIn, ModifyRqIn, Opcode, Rqc, Rqn, Status, Wq};
use mlx5_sim::{Uverbs, syndrome};

use crate::program::{Arg, Left, Program, exists};

#[test]
fn memory_has_a_handle_and_a_number() {
    let program = Program::with_devx();
    let first = program.umem(0x7f00_0000_1000, 0x2000, 7, Some(!0xfff)).ok();
    let second = program.umem(0x7f00_0000_1000, 0x2000, 1, None).ok();
    assert_eq!((first.handle(), second.handle()), (1, 2));
    assert_ne!(first.u32(0x1004), second.u32(0x1004));
    let dereg = |handle| program.call(0x1002, 0x1001, &[Arg::Number(0x1000, handle)]);
    dereg(1).ok();
    assert_eq!(dereg(1).errno(), Errno::NOENT);
    dereg(2).ok();
}

#[test]
fn what_the_kernel_refuses() {
    let program = Program::with_devx();
    let refused = |address, length, access, sizes| {
        let left = program.umem(address, length, access, sizes);
        assert_eq!(left.handle(), 1, "the handle is given before");
        assert!(left.outputs.is_empty());
        left.errno()
    };
    assert_eq!(refused(0x1000, 0, 1, None), Errno::INVAL, "no length (ib_umem_get)");
    assert_eq!(refused(u64::MAX, 2, 1, None), Errno::INVAL, "it wraps around");
    assert_eq!(refused(0x1000, 0x1000, 2, None), Errno::INVAL, "ib_check_mr_access");
    assert_eq!(refused(0x1000, 0x1000, 1 << 3, None), Errno::INVAL, "uverbs_get_flags32");
    assert_eq!(refused(0x1000, 0x1000, 1, Some(0)), Errno::INVAL, "devx_umem_find_best_pgsize");
    assert_eq!(refused(0x1000, 0x1000, 1, Some(1 << 13)), Errno::INVAL, "longer than the whole");
    let nowhere = [
        Arg::In(0x1001, 0u64.to_ne_bytes().to_vec()),
        Arg::In(0x1002, 4096u64.to_ne_bytes().to_vec()),
        Arg::Nowhere(0x1004, 4),
        Arg::Number(0x1000, 0),
    ];
    assert_eq!(program.call(0x1002, 0x1000, &nowhere).errno(), Errno::FAULT);
    let dereg = program.call(0x1002, 0x1001, &[Arg::Number(0x1000, 1)]);
    assert_eq!(dereg.errno(), Errno::NOENT, "nothing is left");
}

#[test]
fn a_dmabuf_is_named_by_its_file() {
    let program = Program::with_devx();
    let with = |fd: i64| {
        let args = [
            Arg::In(0x1001, 0x1000u64.to_ne_bytes().to_vec()),
            Arg::In(0x1002, 0x1000u64.to_ne_bytes().to_vec()),
            Arg::In(0x1003, 1u64.to_ne_bytes().to_vec()),
            Arg::Number(0x1006, fd),
            Arg::Out(0x1004, 4),
            Arg::Number(0x1000, 0),
        ];
        program.call(0x1002, 0x1000, &args)
    };
    with(5).ok();
    assert_eq!(with(-1).errno(), Errno::BADF);
    assert_eq!(with(1 << 32).errno(), Errno::INVAL);
}

fn id(left: &Left) -> u32 {
    left.u32(0x1004)
}

fn in_umems(queue: u32, doorbell: u32) -> Vec<u8> {
    let context = Cqc::new().with_log_cq_size(4).with_dbr_umem_id(doorbell);
    CreateCqIn::new().with_cq_context(context).with_cq_umem_id(queue).as_bytes().to_vec()
}

#[track_caller]
fn has_no_such_umem(left: &Left) {
    assert_eq!(left.errno(), Errno::REMOTEIO);
    let (out, _) = CmdOut::view_prefix(&left.outputs[&0x1002]).expect("long enough");
    assert_eq!((out.status(), out.syndrome()), (Status::BAD_RES_ERR, syndrome::NO_SUCH_UMEM));
}

#[test]
fn commands_name_umems_that_are_registered() {
    let program = Program::with_devx();
    let of = program.umem(0x1000, 0x1000, 1, None).ok();
    let (handle, umem) = (of.handle(), id(&of));
    for input in [in_umems(umem + 1, 0), in_umems(0, umem + 1), in_umems(umem, umem + 1)] {
        has_no_such_umem(&program.create(&input, 16));
    }
    program.call(0x1002, 0x1001, &[Arg::Number(0x1000, handle)]).ok();
    has_no_such_umem(&program.create(&in_umems(umem, umem), 16));
    // 0 is none, unless the program says that it is one.
    program.create(&in_umems(0, 0), 16).ok();
    let said = CreateCqIn::new().with_cq_umem_valid(true);
    has_no_such_umem(&program.create(said.as_bytes(), 16));
    // Of a change only what its mask selects counts.
    let rq = program.create(CreateRqIn::new().as_bytes(), 16).ok();
    let rqn = u32::from_be_bytes(rq.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let wq = Wq::new().with_wq_umem_id(umem).with_wq_umem_valid(true);
    let modify = ModifyRqIn::new().with_rqn(Rqn::new(rqn)).with_ctx(Rqc::new().with_wq(wq));
    program.modify(rq.handle(), modify.as_bytes(), 16).ok();
}

#[test]
fn umems_are_of_their_context() {
    let program = Program::with_devx();
    let umem = id(&program.umem(0x1000, 0x1000, 1, None).ok());
    let uverbs = Uverbs::open(&program.adapter);
    let other = Program { adapter: program.adapter.clone(), uverbs };
    other.get_context(1).ok();
    has_no_such_umem(&other.create(&in_umems(umem, umem), 16));
    program.create(&in_umems(umem, umem), 16).ok();
    // A program of the transport has no device file; it may use those of all.
    let create = |umem| program.adapter.create(&in_umems(umem, 0), &mut [0; 16]);
    create(umem).expect("a CQ");
    assert_eq!(create(umem + 1), Err(Errno::REMOTEIO));

    let second = program.umem(0x2000, 0x1000, 1, None).ok().handle();
    let dereg = |of: &Program| of.call(0x1002, 0x1001, &[Arg::Number(0x1000, second)]);
    assert_eq!(dereg(&other).errno(), Errno::NOENT);
    dereg(&program).ok();
}

#[test]
fn a_umem_in_use_stays() {
    let program = Program::with_devx();
    let [first, second] = [0x1000, 0x2000].map(|at| program.umem(at, 0x1000, 1, None).ok());
    let cq = program.create(&in_umems(id(&first), id(&second)), 16).ok().handle();
    let other = program.create(&in_umems(id(&first), 0), 16).ok().handle();
    let dereg =
        |umem: &Left| program.call(0x1002, 0x1001, &[Arg::Number(0x1000, umem.handle())]).result;
    assert_eq!(dereg(&first).err(), Some(Errno::INVAL), "BAD_RES_STATE_ERR");
    assert_eq!(dereg(&second).err(), Some(Errno::INVAL));
    program.destroy(cq).ok();
    assert_eq!((dereg(&first).err(), dereg(&second).err()), (Some(Errno::INVAL), None));
    program.destroy(other).ok();
    assert_eq!(dereg(&first).err(), None);
    assert_eq!(dereg(&first).err(), Some(Errno::NOENT));
}

/// `uverbs_destroy_ufile_hw`: whatever the order in which they were made.
#[test]
fn umems_end_with_their_file() {
    let program = Program::with_devx();
    let umem = program.umem(0x1000, 0x1000, 1, None).ok();
    let left = program.create(&in_umems(id(&umem), id(&umem)), 16).ok();
    let number = u32::from_be_bytes(left.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let Program { adapter, uverbs } = program;
    drop(uverbs);
    assert!(!exists(&adapter, Opcode::QUERY_CQ, number));
    assert_eq!(adapter.create(&in_umems(id(&umem), 0), &mut [0; 16]), Err(Errno::REMOTEIO));
}
