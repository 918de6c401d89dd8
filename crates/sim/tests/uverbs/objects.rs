//! Objects that commands make, and commands for none.

use mlx5_devx::{Errno, Handle, Target, TargetKind, Transport};
use mlx5_prm::caps::page;
use mlx5_prm::{
    CapMode, CmdHcaCap, Cqc, CreateCqIn, CreateRqIn, CreateRqtInWithRqNum, ModifyRqtInWithRqNum,
    Opcode, QueryHcaCapIn, RqNum, Rqc, Rqn, Rqtc, Rqtn,
};
use mlx5_sim::{Refusals, Uverbs, syndrome};

use crate::program::{Arg, Left, Program, create_cq, exists, on_cq};

fn status_and_syndrome(output: &[u8]) -> (u8, u32) {
    (output[0], u32::from_be_bytes(output[4..8].try_into().expect("4 bytes")))
}

#[test]
fn an_object_is_made_changed_asked_and_ended() {
    let program = Program::with_devx();
    let (handle, number) = program.cq();
    assert_eq!(handle, 1);
    let modify =
        mlx5_prm::ModifyCqIn::new().with_cqn(mlx5_prm::Cqn::new(number)).changing_cq_period(16);
    let left = program.modify(handle, modify.as_bytes(), 16).ok();
    assert_eq!(left.outputs[&0x1002], [0; 16]);
    let left = program.query(handle, &on_cq(Opcode::QUERY_CQ, number), 272).ok();
    let (out, _) = mlx5_prm::QueryCqOut::view_prefix(&left.outputs[&0x1002]).expect("long enough");
    assert_eq!((out.cq_context().cq_period(), out.cq_context().log_cq_size()), (16, 4));
    program.destroy(handle).ok();
    assert_eq!(program.destroy(handle).errno(), Errno::NOENT);
    // The lowest handle that is free, as `xa_alloc` gives it.
    assert_eq!(program.cq().0, 1);
}

/// `devx_is_obj_create_cmd`, `devx_is_obj_modify_cmd`, `devx_is_obj_query_cmd`,
/// `devx_is_general_cmd`, `devx_is_valid_obj_id`.
#[test]
fn commands_belong_to_their_method_and_object() {
    let program = Program::with_devx();
    let ((first, number), (second, _)) = (program.cq(), program.cq());
    let query = on_cq(Opcode::QUERY_CQ, number);
    let refused = |left: crate::program::Left| {
        assert!(left.outputs.is_empty(), "the kernel writes no output");
        assert!(left.untouched.values().flatten().all(|byte| *byte == 0xee));
        left.errno()
    };
    assert_eq!(refused(program.create(&query, 16)), Errno::INVAL);
    assert_eq!(refused(program.modify(first, &query, 16)), Errno::INVAL);
    assert_eq!(refused(program.query(first, &create_cq(0), 16)), Errno::INVAL);
    assert_eq!(refused(program.other(&query, 16)), Errno::INVAL);
    assert_eq!(refused(program.query(second, &query, 272)), Errno::INVAL);
    assert_eq!(refused(program.query(99, &query, 272)), Errno::NOENT);
    assert_eq!(refused(program.query(-1, &query, 272)), Errno::INVAL);
    assert_eq!(refused(program.query(1 << 40, &query, 272)), Errno::NOENT);
    let mut tunnelled = query.clone();
    tunnelled[5] = 1;
    assert_eq!(refused(program.query(first, &tunnelled, 272)), Errno::INVAL);
    program.query(first, &query, 272).ok();
}

/// `rdma_lookup_get_uobject`: EINVAL for a handle of another kind. Queries and changes take any kind,
/// and find no command that fits (`devx_is_valid_obj_id`).
#[test]
fn handles_have_a_kind() {
    let program = Program::with_devx();
    let (cq, number) = program.cq();
    let umem = program.umem(0x1000, 0x1000, 1, None).ok().handle();
    let uar = program.uar(0).ok().handle();
    let verbs = program.adapter.create_cq(&Cqc::new()).expect("a CQ");
    let of_verbs = verbs.handle.0 as i64;
    for (object, own) in [(0x1001, cq), (0x1002, umem), (0x1008, uar)] {
        for handle in [cq, umem, uar, of_verbs].into_iter().filter(|handle| *handle != own) {
            let left = program.call(object, 0x1001, &[Arg::Number(0x1000, handle)]);
            assert_eq!(left.errno(), Errno::INVAL, "{object:#x} {handle}");
        }
    }
    let query = on_cq(Opcode::QUERY_CQ, number);
    for handle in [umem, uar, of_verbs] {
        assert_eq!(program.query(handle, &query, 272).errno(), Errno::INVAL);
    }
    // Those of verbs take their own commands.
    program.query(of_verbs, &on_cq(Opcode::QUERY_CQ, verbs.number.get()), 272).ok();
    for (object, own) in [(0x1001, cq), (0x1002, umem), (0x1008, uar)] {
        program.call(object, 0x1001, &[Arg::Number(0x1000, own)]).ok();
    }
}

/// `devx_set_umem_valid`: what a program makes by DEVX lies in umems.
#[test]
fn the_kernel_says_that_there_are_umems() {
    let program = Program::with_devx();
    let verbs = program.adapter.create_cq(&Cqc::new()).expect("a CQ");
    let (handle, number) = program.cq();
    let in_umem = |handle, number| {
        let left = program.query(handle, &on_cq(Opcode::QUERY_CQ, number), 272).ok();
        let (out, _) =
            mlx5_prm::QueryCqOut::view_prefix(&left.outputs[&0x1002]).expect("long enough");
        out.cq_context().dbr_umem_valid()
    };
    assert!(in_umem(handle, number) && !in_umem(verbs.handle.0 as i64, verbs.number.get()));

    let rq = program.create(CreateRqIn::new().with_ctx(Rqc::new()).as_bytes(), 16).ok();
    let rqn = u32::from_be_bytes(rq.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let left = program.query(rq.handle(), &on_cq(Opcode::QUERY_RQ, rqn), 272).ok();
    let (out, _) = mlx5_prm::QueryRqOut::view_prefix(&left.outputs[&0x1002]).expect("long enough");
    let wq = out.rq_context().wq();
    assert!(wq.dbr_umem_valid() && wq.wq_umem_valid());
}

/// `mlx5_cmd_do`: EREMOTEIO, with status and syndrome in the output, which is marked.
#[test]
fn refusals_of_the_firmware_are_in_the_output() {
    let program = Program::with_devx();
    let (handle, number) = program.cq();
    let mut query = on_cq(Opcode::QUERY_CQ, number);
    query[7] = 9; // an op_mod that there is not
    for output in [272, 16] {
        let left = program.query(handle, &query, output);
        assert_eq!(left.errno(), Errno::REMOTEIO);
        let output = &left.outputs[&0x1002];
        assert_eq!(status_and_syndrome(output), (3, syndrome::UNKNOWN_OP_MOD));
    }
    // The handle stands in the message, and no object has it.
    let mut create = create_cq(0);
    create[7] = 9;
    let left = program.create(&create, 16);
    assert_eq!((left.errno(), left.handle()), (Errno::REMOTEIO, 2));
    assert_eq!(status_and_syndrome(&left.outputs[&0x1002]).0, 3);
    assert_eq!(program.destroy(2).errno(), Errno::NOENT);
    assert_eq!(program.cq().0, 2);

    let other = on_cq(Opcode::QUERY_ADAPTER, 0);
    let left = program.other(&other, 16);
    assert_eq!(left.errno(), Errno::REMOTEIO);
    assert_eq!(status_and_syndrome(&left.outputs[&0x1001]), (2, syndrome::UNKNOWN_OPCODE));
}

/// `cmd_status_to_err`
#[test]
fn old_kernels_give_an_errno_of_the_status() {
    let program = Program::with_devx();
    let (handle, number) = program.cq();
    let short = on_cq(Opcode::QUERY_CQ, number);
    let mut variant = short.clone();
    variant[7] = 9;
    let other = on_cq(Opcode::QUERY_ADAPTER, 0);
    let mut create = create_cq(0);
    create[7] = 9;
    let all = || {
        [
            (program.query(handle, &variant, 272), Errno::INVAL, 3),
            // BAD_OUTP_LEN_ERR
            (program.query(handle, &short, 16), Errno::IO, 0x51),
            (program.other(&other, 16), Errno::INVAL, 2),
            (program.create(&create, 16), Errno::INVAL, 3),
        ]
    };
    program.adapter.set_refusals(Refusals::Errno);
    for (left, errno, _) in all() {
        assert_eq!((left.errno(), left.outputs.len()), (errno, 0));
        assert!(left.untouched.values().flatten().all(|byte| *byte == 0xee));
    }
    let target = Target { kind: TargetKind::Devx, handle: Handle(handle as u64) };
    let mut output = [0xee; 272];
    assert_eq!(program.adapter.query(target, &variant, &mut output), Err(Errno::INVAL));
    assert_eq!(output, [0xee; 272]);

    program.adapter.set_refusals(Refusals::ErrnoAndOutput);
    for (left, errno, status) in all() {
        assert_eq!(left.errno(), errno);
        let output = left.outputs.values().next().expect("the output");
        assert_eq!(output[0], status);
    }
    assert_eq!(program.adapter.query(target, &variant, &mut output), Err(Errno::INVAL));
    assert_eq!(output[0], 3);
    // What the kernel refuses has no output still.
    let left = program.query(handle, &on_cq(Opcode::QUERY_CQ, number + 1), 272);
    assert_eq!((left.errno(), left.outputs.len()), (Errno::INVAL, 0));
    // A verbs object that is refused is the firmware's refusal.
    program.adapter.set_refusals(Refusals::Errno);
    let error = program.adapter.create_ind_table(&Rqtc::new(), &[mlx5_prm::Rqn::new(1)]);
    assert!(matches!(error, Err(mlx5_devx::Error::Firmware { .. })), "{error:?}");
}

/// `devx_obj_cleanup`: the status becomes an errno (`cmd_status_to_err`), and the object stays.
#[test]
fn an_object_in_use_does_not_end() {
    let program = Program::with_devx();
    let left = program.create(CreateRqIn::new().with_ctx(Rqc::new()).as_bytes(), 16).ok();
    let rq = left.handle();
    let rqn = u32::from_be_bytes(left.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let mut table = vec![0; CreateRqtInWithRqNum::size(1)];
    let create = CreateRqtInWithRqNum::new_in(&mut table, 1).expect("the size is right");
    let context = Rqtc::new().with_rqt_max_size(1).with_rqt_actual_size(1);
    create.head.set_rqt_context(&context);
    create.tail[0] = RqNum::new().with_rq_num(mlx5_prm::Rqn::new(rqn));
    let table = program.create(&table, 16).ok().handle();
    assert_eq!(program.destroy(rq).errno(), Errno::INVAL, "BAD_RES_STATE_ERR");
    program.destroy(table).ok();
    program.destroy(rq).ok();
}

#[test]
fn an_answer_without_room_ends_its_object() {
    let program = Program::with_devx();
    let create = [Arg::Number(0x1000, 0), Arg::In(0x1001, create_cq(0)), Arg::Nowhere(0x1002, 16)];
    assert_eq!(program.call(0x1001, 0x1000, &create).errno(), Errno::FAULT);
    assert_eq!(program.destroy(1).errno(), Errno::NOENT);
    let query = [Arg::In(0x1000, on_cq(Opcode::QUERY_HCA_CAP, 0)), Arg::Nowhere(0x1001, 4112)];
    assert_eq!(program.call(0x1000, 0x1000, &query).errno(), Errno::FAULT);
    // The firmware has it no more.
    assert!(!exists(&program.adapter, Opcode::QUERY_CQ, 1));
}

/// `mlx5_comp_eqn_get`, `mlx5_create_cq`.
#[test]
fn completion_vectors_have_event_queues() {
    let program = Program::with_devx();
    let query = |vector: u32| {
        let args = [Arg::In(0x1000, vector.to_ne_bytes().to_vec()), Arg::Out(0x1001, 4)];
        program.call(0x1000, 0x1002, &args)
    };
    let mut eqns: Vec<u32> = (0..4).map(|vector| query(vector).ok().u32(0x1001)).collect();
    for eqn in &eqns {
        program.create(&create_cq(*eqn), 16).ok();
    }
    eqns.sort_unstable();
    assert_eq!(eqns, [0, 1, 2, 3]);
    for vector in [4, u32::MAX] {
        assert_eq!(query(vector).errno(), Errno::INVAL);
        assert_eq!(program.create(&create_cq(vector), 16).errno(), Errno::NOENT);
    }
    assert_eq!(query(0x1_0001).ok().u32(0x1001), query(1).ok().u32(0x1001), "it has 16 bits");
    let nowhere = [Arg::In(0x1000, vec![0; 4]), Arg::Nowhere(0x1001, 4)];
    assert_eq!(program.call(0x1000, 0x1002, &nowhere).errno(), Errno::FAULT);
}

/// `is_apu_cq` of `devx.c`
#[test]
fn a_cq_of_an_apu_has_no_event_queue() {
    let program = Program::with_devx();
    let of_apu = |apu| {
        let context = Cqc::new().with_log_cq_size(4).with_c_eqn_or_apu_element(77).with_apu_cq(apu);
        program.create(CreateCqIn::new().with_cq_context(context).as_bytes(), 16)
    };
    assert_eq!(of_apu(true).errno(), Errno::NOENT, "the adapter has no APUs");
    let query = QueryHcaCapIn::new().with_op_mod(1);
    let caps = mlx5_devx::general(&program.adapter, &query).expect("capabilities");
    let (general, _) = CmdHcaCap::view_prefix(caps.capability().as_bytes()).expect("its page");
    program.adapter.set_page::<page::GeneralDevice>(CapMode::Current, &general.with_apu(true));
    of_apu(true).ok();
    assert_eq!(of_apu(false).errno(), Errno::NOENT);
}

/// `uverbs_destroy_ufile_hw`
#[test]
fn objects_end_with_their_file() {
    let program = Program::with_devx();
    let verbs = program.adapter.create_cq(&Cqc::new()).expect("a CQ");
    let (_, number) = program.cq();
    let left = program.create(CreateRqIn::new().with_ctx(Rqc::new()).as_bytes(), 16).ok();
    let rqn = u32::from_be_bytes(left.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let umem = program.umem(0x1000, 0x1000, 1, None).ok().handle();
    let Program { adapter, uverbs } = program;
    let clone = uverbs.clone();
    drop(uverbs);
    assert!(exists(&adapter, Opcode::QUERY_CQ, number));
    drop(clone);
    assert!(!exists(&adapter, Opcode::QUERY_CQ, number));
    assert!(!exists(&adapter, Opcode::QUERY_RQ, rqn));
    assert!(exists(&adapter, Opcode::QUERY_CQ, verbs.number.get()), "it is not of the file");
    let program = Program { uverbs: Uverbs::open(&adapter), adapter };
    program.get_context(1).ok();
    let left = program.call(0x1002, 0x1001, &[Arg::Number(0x1000, umem)]);
    assert_eq!(left.errno(), Errno::NOENT);
}

/// `uverbs_destroy_ufile_hw`: what is in use ends in a later round.
#[test]
fn objects_end_with_their_file_whatever_uses_them() {
    let program = Program::with_devx();
    let number =
        |left: &Left| u32::from_be_bytes(left.outputs[&0x1002][8..12].try_into().expect("4 bytes"));
    let rq = || number(&program.create(CreateRqIn::new().as_bytes(), 16).ok());
    let mut buffer = vec![0; CreateRqtInWithRqNum::size(1)];
    let create = CreateRqtInWithRqNum::new_in(&mut buffer, 1).expect("the size is right");
    let context = Rqtc::new().with_rqt_max_size(2).with_rqt_actual_size(1);
    create.head.set_rqt_context(&context);
    let first = rq();
    create.tail[0].set_rq_num(Rqn::new(first));
    let table = program.create(create.as_bytes(), 16).ok();
    // The newest end first: this queue while the table names it.
    let second = rq();
    let (_, cqn) = program.cq();
    let mut buffer = vec![0; ModifyRqtInWithRqNum::size(1)];
    let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 1).expect("the size is right");
    modify.head.set_rqtn(Rqtn::new(number(&table)));
    modify.head.change_rqt_actual_size(1);
    modify.tail[0].set_rq_num(Rqn::new(second));
    program.modify(table.handle(), &buffer, 16).ok();
    program.destroy(1).ok();

    let Program { adapter, uverbs } = program;
    drop(uverbs);
    assert!(!exists(&adapter, Opcode::QUERY_CQ, cqn));
    assert!(!exists(&adapter, Opcode::QUERY_RQT, number(&table)));
    assert!(!exists(&adapter, Opcode::QUERY_RQ, second), "nothing names it any more");
}

/// Opcodes that the kernel passes on, and the simulated firmware does not know.
#[test]
fn the_firmware_refuses_what_is_not_simulated() {
    let program = Program::with_devx();
    let command = |opcode: Opcode, len| {
        let mut input = vec![0; len];
        input[..2].copy_from_slice(&opcode.0.to_be_bytes());
        input
    };
    let refused = |left: Left| {
        assert_eq!(left.errno(), Errno::REMOTEIO);
        assert_eq!(status_and_syndrome(&left.outputs[&0x1002]), (2, syndrome::UNKNOWN_OPCODE));
    };
    let mut psv = command(Opcode::CREATE_PSV, 16);
    psv[8] = 0x10; // one
    refused(program.create(&psv, 32));
    psv[8] = 0x20;
    assert_eq!(program.create(&psv, 32).errno(), Errno::INVAL);
    let port = command(Opcode::ADD_VXLAN_UDP_DPORT, 16);
    refused(program.create(&port, 16));
    let (cq, _) = program.cq();
    assert_eq!(program.modify(cq, &port, 16).errno(), Errno::INVAL, "it is no CQ");
    // `devx_get_obj_id` of a query whose answer is in no public source.
    let actions = program.create(&command(Opcode::ALLOC_MODIFY_HEADER_CONTEXT, 32), 16).ok();
    let mut query = command(Opcode::QUERY_MODIFY_HEADER_CONTEXT, 32);
    query[8..12].copy_from_slice(&actions.outputs[&0x1002][8..12]);
    refused(program.query(actions.handle(), &query, 64));
    query[11] ^= 1;
    assert_eq!(program.query(actions.handle(), &query, 64).errno(), Errno::INVAL);
    program.destroy(actions.handle()).ok();
}

/// `devx_obj_build_destroy_cmd`: an attachment ends by itself, and not the queue pair.
#[test]
fn what_a_command_makes_that_names_it() {
    let program = Program::with_devx();
    let qp = program.adapter.create_qp(&mlx5_prm::Qpc::new()).expect("a QP").number;
    let mut attach = vec![0; 32];
    attach[..2].copy_from_slice(&Opcode::ATTACH_TO_MCG.0.to_be_bytes());
    attach[8..12].copy_from_slice(&qp.get().to_be_bytes());
    let attached = program.create(&attach, 16).ok().handle();
    let query = on_cq(Opcode::QUERY_QP, qp.get());
    assert_eq!(program.query(attached, &query, 512).errno(), Errno::INVAL, "it is no QP");
    program.destroy(attached).ok();
    assert!(exists(&program.adapter, Opcode::QUERY_QP, qp.get()));
    attach[11] += 1; // a QP that there is not
    assert_eq!(program.create(&attach, 16).errno(), Errno::REMOTEIO);
}

/// `devx_is_valid_obj_id`: a bulk of flow counters is one object, and each of them is queried by it.
#[test]
fn flow_counters_come_in_bulks() {
    let program = Program::with_devx();
    let alloc = |log_size: u8, times: u8| {
        let mut input = vec![0; 16];
        input[..2].copy_from_slice(&Opcode::ALLOC_FLOW_COUNTER.0.to_be_bytes());
        (input[14], input[15]) = (log_size, times);
        let left = program.create(&input, 16).ok();
        let number = left.outputs[&0x1002][8..12].try_into().expect("4 bytes");
        (left.handle(), u32::from_be_bytes(number))
    };
    let query = |number: u32| {
        let mut input = vec![0; 32];
        input[..2].copy_from_slice(&Opcode::QUERY_FLOW_COUNTER.0.to_be_bytes());
        input[28..].copy_from_slice(&number.to_be_bytes());
        input
    };
    let all = [(1, alloc(0, 0)), (8, alloc(3, 0)), (8, alloc(3, 1)), (256, alloc(0, 2))];
    for (count, (handle, first)) in all {
        for number in [first, first + count - 1] {
            program.query(handle, &query(number), 32).ok();
        }
        for number in [first - 1, first + count] {
            assert_eq!(program.query(handle, &query(number), 32).errno(), Errno::INVAL);
        }
        let others = all.iter().filter(|(_, (_, other))| *other != first);
        for (count, (_, other)) in others {
            assert!(*other + count <= first || first < *other, "numbers of two bulks");
        }
    }
    // Its end is that of all.
    let [.., (_, (handle, first))] = all;
    let known = |number: u32| {
        let mut output = [0; 32];
        program.adapter.firmware(&query(number), &mut output);
        output[0] == 0
    };
    assert!(known(first) && known(first + 255) && !known(first + 256));
    program.destroy(handle).ok();
    assert!(!known(first) && !known(first + 255));
    assert!(known(all[1].1.1 + 7), "another bulk");
}

/// `devx_handle_mkey_create` looks at the context, which must be there.
#[test]
fn a_short_memory_key_is_refused_by_the_kernel() {
    let program = Program::with_devx();
    let mut input = vec![0; 0x4f];
    input[..2].copy_from_slice(&Opcode::CREATE_MKEY.0.to_be_bytes());
    let left = program.create(&input, 16);
    assert_eq!((left.errno(), left.outputs.len()), (Errno::INVAL, 0));
    input.push(0);
    assert_eq!(program.create(&input, 16).errno(), Errno::REMOTEIO, "the layout is longer");
}
