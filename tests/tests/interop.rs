//! The ten calls of the verbs-interop family through `Box<dyn Transport>` on the simulated
//! adapter: what they do, and how they fail.

use mlx5_devx::{
    BadAnswer, Cq, Errno, Error, Handle, IndTable, NotSent, Qp, RawPacketQp, Srq, Target,
    TargetKind, Transport, Wq,
};
use mlx5_prm::*;
use mlx5_sim::{Adapter, Made, syndrome};

/// An adapter, and the same one as a transport.
fn adapter() -> (Adapter, Box<dyn Transport>) {
    let adapter = Adapter::new();
    (adapter.clone(), Box::new(adapter))
}

/// What the firmware said when it refused.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> (Opcode, Status, u32) {
    match result {
        Err(Error::Firmware { opcode, status, syndrome, .. }) => (opcode, status, syndrome),
        other => panic!("the firmware should have refused: {other:?}"),
    }
}

/// The errno of a kernel that refused.
#[track_caller]
fn kernel_refused<T: std::fmt::Debug>(result: Result<T, Error>) -> Errno {
    match result {
        Err(Error::Kernel { errno, .. }) => errno,
        other => panic!("the kernel should have refused: {other:?}"),
    }
}

fn modify_cq(select: ModifyCqSelect, context: Cqc) -> ModifyCqIn {
    let mut modify = ModifyCqIn::new().with_cq_context(context);
    modify
        .modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(select);
    modify
}

#[test]
fn cq_modify_and_cq_query() {
    let (adapter, transport) = adapter();
    let made =
        adapter.create_cq(&Cqc::new().with_log_cq_size(7).with_uar_page(UarPage::new(3))).unwrap();
    let cq = Cq::new(&*transport, made.handle, made.number);

    let full = Cqc::from_bytes([0xff; Cqc::SIZE]);
    let mut modify = modify_cq(ModifyCqSelect::new().with_cq_period(true).with_oi(true), full);
    let answer = cq.modify(&mut modify).unwrap();
    assert_eq!(answer.status(), Status::OK);
    assert_eq!(modify.cqn().get(), 0, "the object's own number is there only while it is sent");

    let context = *cq.query(&mut QueryCqIn::new()).unwrap().cq_context();
    let expected = Cqc::new()
        .with_log_cq_size(7)
        .with_uar_page(UarPage::new(3))
        .with_cq_period(0xfff)
        .with_oi(true);
    assert_eq!(context, expected, "what is selected, and nothing else");

    // A select bit that selects nothing known.
    let mut unknown = ModifyCqIn::new();
    unknown
        .modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(ModifyCqSelect::from_bits(1 << 31));
    let expected = (Opcode::MODIFY_CQ, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_SELECT_BIT);
    assert_eq!(refused(cq.modify(&mut unknown)), expected);

    // QUERY_CQ has no variants.
    let mut query = QueryCqIn::new().with_op_mod(7);
    let expected = (Opcode::QUERY_CQ, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(cq.query(&mut query)), expected);
}

#[test]
fn cq_resize_has_a_mask_of_its_own() {
    let (adapter, transport) = adapter();
    let made = adapter.create_cq(&Cqc::new().with_log_cq_size(7).with_cq_period(5)).unwrap();
    let cq = Cq::new(&*transport, made.handle, made.number);
    // The whole context is given; the mask counts.
    let mut resize = ModifyCqIn::new()
        .with_cq_context(Cqc::from_bytes([0xff; Cqc::SIZE]))
        .changing_log_cq_size(0x15);
    assert_eq!(resize.op_mod(), ModifyCqOpMod::RESIZE_CQ);
    cq.modify(&mut resize).unwrap();
    let context = *cq.query(&mut QueryCqIn::new()).unwrap().cq_context();
    assert_eq!(context, Cqc::new().with_log_cq_size(0x15).with_cq_period(5));
}

/// RST to RTS as a user of RC does it.
fn to_rts(qp: &Qp<'_>) -> Result<(), Error> {
    let mut init = Rst2initQpIn::transition(QpSt::RC)
        .vhca_port_num(1)
        .pkey_index(0)
        .rwe(true)
        .rre(false)
        .rae(false)
        .build()?;
    qp.modify(&mut init)?;
    let path = Ads::new().with_hop_limit(64).with_vhca_port_num(1).with_pkey_index(0x55);
    let mut rtr = Init2rtrQpIn::transition(QpSt::RC)
        .mtu(PathMtu::BYTES_4096)
        .log_msg_max(30)
        .remote_qpn(Qpn::new(0x123456))
        .next_rcv_psn(0x654321)
        .primary_address_path(path)
        .log_rra_max(4)
        .min_rnr_nak(12)
        .build()?;
    qp.modify(&mut rtr)?;
    let mut rts = Rtr2rtsQpIn::transition(QpSt::RC)
        .next_send_psn(5)
        .ack_timeout(14)
        .retry_count(7)
        .rnr_retry(7)
        .log_sra_max(4)
        .rre(true)
        .build()?;
    qp.modify(&mut rts)?;
    Ok(())
}

#[test]
fn qp_modify_and_qp_query() {
    let (adapter, transport) = adapter();
    let made = adapter.create_qp(&Qpc::new().with_st(QpSt::RC).with_pd(Pdn::new(9))).unwrap();
    let qp = Qp::new(&*transport, made.handle, made.number);
    let read = || *qp.query(&mut QueryQpIn::new()).unwrap().qpc();
    assert_eq!(read().state(), QpState::RST);
    to_rts(&qp).unwrap();
    let qpc = read();
    assert_eq!((qpc.state(), qpc.mtu()), (QpState::RTS, PathMtu::BYTES_4096));
    assert_eq!((qpc.remote_qpn(), qpc.next_rcv_psn()), (Qpn::new(0x123456), 0x654321));
    assert_eq!((qpc.pd(), qpc.rwe(), qpc.rre()), (Pdn::new(9), true, true));
    assert_eq!((qpc.retry_count(), qpc.primary_address_path().hop_limit()), (7, 64));
    assert_eq!(
        qpc.primary_address_path().pkey_index(),
        0,
        "INIT2RTR takes the path without its pkey_index, which has a bit of its own"
    );

    // A PD is no field of a transition, and what the mask does not select stays.
    let qpc = Qpc::new().with_rre(false).with_rwe(false).with_pd(Pdn::new(77));
    let mask = QpOptParam::new().with_rwe(true);
    qp.modify(&mut Rts2rtsQpIn::new().with_opt_param_mask(mask).with_qpc(qpc)).unwrap();
    assert_eq!((read().pd(), read().rwe(), read().rre()), (Pdn::new(9), false, true));
    let mut rts2rts = Rts2rtsQpIn::transition(QpSt::RC).counter_set_id(CounterSetId::new(5));
    qp.modify(&mut rts2rts.build().unwrap()).unwrap();
    assert_eq!(read().counter_set_id(), CounterSetId::new(5));
    rts2rts = rts2rts.rae(true).atomic_mode(AtomicMode::UP_TO_8B);
    qp.modify(&mut rts2rts.build().unwrap()).unwrap();
    assert_eq!((read().rae(), read().atomic_mode()), (true, AtomicMode::UP_TO_8B));

    // The second mask of RTS2RTS.
    let mut port = Rts2rtsQpIn::new().changing_udp_sport(0xc0de);
    qp.modify(&mut port).unwrap();
    assert_eq!(read().primary_address_path().udp_sport(), 0xc0de);

    assert!(adapter.force_qp_state(made.number, QpState::SQER));
    qp.modify(&mut Sqerr2rtsQpIn::new()).unwrap();
    assert_eq!(read().state(), QpState::RTS);
    qp.modify(&mut Qp2errIn::new()).unwrap();
    assert_eq!(read().state(), QpState::ERR);
    qp.modify(&mut Qp2rstIn::new()).unwrap();
    assert_eq!(read().state(), QpState::RST);

    // An illegal transition, a bit that the transition does not admit, and one that is of nothing.
    let expected = (Opcode::RTR2RTS_QP, Status::BAD_QP_STATE_ERR, syndrome::WRONG_QP_STATE);
    assert_eq!(refused(qp.modify(&mut Rtr2rtsQpIn::new())), expected);
    let mask = |bits| Rst2initQpIn::new().with_opt_param_mask(QpOptParam::from_bits(bits));
    let expected = (Opcode::RST2INIT_QP, Status::BAD_PARAM_ERR, syndrome::OPT_PARAM_NOT_ADMITTED);
    assert_eq!(refused(qp.modify(&mut mask(2))), expected);
    let expected = (Opcode::RST2INIT_QP, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_SELECT_BIT);
    assert_eq!(refused(qp.modify(&mut mask(1 << 31))), expected);
    let expected = (Opcode::RST2INIT_QP, Status::BAD_PARAM_ERR, syndrome::FIELD_IS_ZERO);
    assert_eq!(refused(qp.modify(&mut Rst2initQpIn::new())), expected);
    assert_eq!(read().state(), QpState::RST, "a command that is refused changes nothing");

    let expected = (Opcode::QUERY_QP, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(qp.query(&mut QueryQpIn::new().with_op_mod(1))), expected);
}

#[test]
fn the_order_of_a_transitions_fields_does_not_matter() {
    let path = Ads::new().with_hop_limit(64).with_pkey_index(0x55);
    let begin = || {
        Init2rtrQpIn::transition(QpSt::RC)
            .mtu(PathMtu::BYTES_1024)
            .log_msg_max(30)
            .remote_qpn(Qpn::new(1))
            .next_rcv_psn(0)
            .log_rra_max(0)
            .min_rnr_nak(0)
    };
    let outer_first = begin().primary_address_path(path).pkey_index(5).build().unwrap();
    let inner_first = begin().pkey_index(5).primary_address_path(path).build().unwrap();
    assert_eq!(outer_first, inner_first);
    let given = outer_first.qpc().primary_address_path();
    assert_eq!((given.pkey_index(), given.hop_limit()), (5, 64));
}

#[test]
fn a_transition_that_lacks_something_is_not_sent() {
    let text = |error: Error| error.to_string();
    let lacking = Rst2initQpIn::transition(QpSt::UD).vhca_port_num(1).build().map_err(Error::from);
    assert_eq!(
        text(lacking.unwrap_err()),
        "RST2INIT_QP(0x502) was not sent: RST2INIT_QP of a UD queue pair lacks \
         qpc.primary_address_path.pkey_index, qpc.q_key"
    );
    let zero = Rst2initQpIn::transition(QpSt::UD).vhca_port_num(0).pkey_index(0).q_key(1).build();
    assert_eq!(
        zero.unwrap_err().to_string(),
        "RST2INIT_QP of a UD queue pair: 0 is no value of qpc.primary_address_path.vhca_port_num"
    );
    let foreign = Rts2rtsQpIn::transition(QpSt::UD).rre(true).build().unwrap_err();
    assert_eq!(foreign.to_string(), "RTS2RTS_QP of a UD queue pair does not take qpc.rre");
    let none = Sqerr2rtsQpIn::transition(QpSt::DCI).build().unwrap_err();
    assert_eq!(none.to_string(), "there is no SQERR2RTS_QP of a DCI queue pair");
    assert_eq!(Error::from(none).errno(), Errno::INVAL);
}

#[test]
fn srq_modify_and_srq_query() {
    // The basic kind: an RMP.
    let (adapter, transport) = adapter();
    let made = adapter.create_srq(&Rmpc::new()).unwrap();
    let srq = Srq::new(&*transport, made.handle, made.number);
    let mut modify = ModifyRmpIn::new().with_rmp_state(RmpState::RDY);
    modify.ctx_mut().set_state(RmpState::RDY);
    modify.ctx_mut().wq_mut().set_lwm(12);
    srq.modify(&mut modify).unwrap();
    assert_eq!(
        srq.query(&mut QueryRmpIn::new()).unwrap().rmp_context().wq().lwm(),
        0,
        "not selected"
    );
    modify.bitmask_mut().set_lwm(true);
    srq.modify(&mut modify).unwrap();
    let context = *srq.query(&mut QueryRmpIn::new()).unwrap().rmp_context();
    assert_eq!((context.wq().lwm(), context.state()), (12, RmpState::RDY));

    modify.set_rmp_state(RmpState::ERR);
    let expected = (Opcode::MODIFY_RMP, Status::BAD_RES_STATE_ERR, syndrome::NOT_THE_PRESENT_STATE);
    assert_eq!(refused(srq.modify(&mut modify)), expected);
    let expected = (Opcode::QUERY_RMP, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(srq.query(&mut QueryRmpIn::new().with_op_mod(1))), expected);

    // XRC.
    let made = adapter.create_xrc_srq(&XrcSrqc::new()).unwrap();
    let srq = Srq::new(&*transport, made.handle, made.number);
    srq.modify(&mut ArmXrcSrqIn::new().with_op_mod(ArmXrcSrqOpMod::XRC_SRQ).with_lwm(3)).unwrap();
    assert_eq!(srq.query(&mut QueryXrcSrqIn::new()).unwrap().xrc_srq_context_entry().lwm(), 3);
    let expected = (Opcode::ARM_XRC_SRQ, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(srq.modify(&mut ArmXrcSrqIn::new())), expected);

    // Tag matching: an XRQ.
    let made = adapter.create_xrq(&Xrqc::new()).unwrap();
    let srq = Srq::new(&*transport, made.handle, made.number);
    srq.modify(&mut ArmXrqIn::new().with_lwm(4)).unwrap();
    assert_eq!(srq.query(&mut QueryXrqIn::new()).unwrap().xrq_context().wq().lwm(), 4);
    let expected = (Opcode::ARM_XRQ, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(srq.modify(&mut ArmXrqIn::new().with_op_mod(9))), expected);

    // Adapters without ISSI: an SRQ of the PRM. The kernel takes ARM_RQ for a command on an RQ.
    let made = adapter.create_srq_without_issi(&Srqc::new()).unwrap();
    let srq = Srq::new(&*transport, made.handle, made.number);
    assert_eq!(
        kernel_refused(srq.modify(&mut ArmRqIn::new().with_op_mod(ArmRqOpMod::SRQ).with_lwm(5))),
        Errno::INVAL
    );
    let mut arm = ArmRqIn::new().with_op_mod(ArmRqOpMod::SRQ).with_lwm(5);
    arm.set_srq_number(made.number.get());
    let mut output = [0xff; 16];
    adapter.firmware(arm.as_bytes(), &mut output);
    assert_eq!(output, [0; 16]);
    assert_eq!(srq.query(&mut QuerySrqIn::new()).unwrap().srq_context_entry().lwm(), 5);
}

#[test]
fn wq_modify_and_wq_query() {
    let (adapter, transport) = adapter();
    let made = adapter.create_wq(&Rqc::new().with_cqn(Cqn::new(8))).unwrap();
    let wq = Wq::new(&*transport, made.handle, made.number);
    let go = |from, to, mask: ModifyRqSelect, context: Rqc| {
        let mut modify = ModifyRqIn::new().with_rq_state(from).with_ctx(context.with_state(to));
        modify.set_modify_bitmask(mask);
        wq.modify(&mut modify)
    };
    let full = Rqc::from_bytes([0xff; Rqc::SIZE]);
    let mask = ModifyRqSelect::new().with_vsd(true).with_counter_set_id(true);
    go(RqState::RST, RqState::RDY, mask, full).unwrap();
    let context = *wq.query(&mut QueryRqIn::new()).unwrap().rq_context();
    let expected = Rqc::new()
        .with_cqn(Cqn::new(8))
        .with_state(RqState::RDY)
        .with_vsd(true)
        .with_counter_set_id(CounterSetId::new(0xff))
        // Without a bit of their own: see the table.
        .with_hairpin_peer_sq(Sqn::new(0xffffff))
        .with_hairpin_peer_vhca(VhcaId::new(0xffff));
    assert_eq!(context, expected, "what is selected, the state, and nothing else");

    let none = ModifyRqSelect::new();
    let expected = (Opcode::MODIFY_RQ, Status::BAD_RES_STATE_ERR, syndrome::NOT_THE_PRESENT_STATE);
    assert_eq!(refused(go(RqState::RST, RqState::RDY, none, Rqc::new())), expected);
    go(RqState::RDY, RqState::ERR, none, Rqc::new()).unwrap();
    let expected = (Opcode::MODIFY_RQ, Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_TRANSITION);
    assert_eq!(refused(go(RqState::ERR, RqState::RDY, none, Rqc::new())), expected);
    go(RqState::ERR, RqState::RST, none, Rqc::new()).unwrap();
    let expected = (Opcode::QUERY_RQ, Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(refused(wq.query(&mut QueryRqIn::new().with_op_mod(1))), expected);
}

#[test]
fn ind_tbl_modify_and_ind_tbl_query() {
    let (adapter, transport) = adapter();
    let rqns: Vec<Rqn> = (0..4).map(|_| adapter.create_wq(&Rqc::new()).unwrap().number).collect();
    let made = adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(8), &rqns[..2]).unwrap();
    let table = IndTable::new(&*transport, made.handle, made.number);
    let list = |len: usize| {
        let mut buffer = vec![0; QueryRqtOutWithRqNum::size(len)];
        let answer = QueryRqtOutWithRqNum::view_mut(&mut buffer).unwrap();
        table.query_into(&mut QueryRqtIn::new(), answer)?;
        Ok((
            answer.head.rqt_context().rqt_actual_size(),
            answer.tail.iter().map(RqNum::rq_num).collect(),
        ))
    };
    assert_eq!(list(2), Ok((2, rqns[..2].to_vec())));

    let modify = |rqns: &[Rqn], len: u16, selected: bool| {
        let mut modify = ModifyRqtInWithRqNum::boxed(rqns.len());
        modify.head.bitmask_mut().set_rqn_list(selected);
        modify.head.ctx_mut().set_rqt_actual_size(len);
        for (entry, rqn) in modify.tail.iter_mut().zip(rqns) {
            entry.set_rq_num(*rqn);
        }
        table.modify(&mut *modify)
    };
    let turned: Vec<Rqn> = rqns.iter().rev().copied().collect();
    modify(&turned, 4, false).unwrap();
    assert_eq!(list(2), Ok((2, rqns[..2].to_vec())), "not selected");
    modify(&turned, 4, true).unwrap();
    assert_eq!(list(4), Ok((4, turned.clone())));

    let failed = |status, syndrome| (Opcode::MODIFY_RQT, status, syndrome);
    let unknown = refused(modify(&[Rqn::new(0xabcdef)], 1, true));
    assert_eq!(unknown, failed(Status::BAD_RES_STATE_ERR, syndrome::DANGLING_NUMBER));
    let many = vec![rqns[0]; 9];
    let too_many = refused(modify(&many, 9, true));
    assert_eq!(too_many, failed(Status::BAD_PARAM_ERR, syndrome::RQT_TOO_SMALL));
    let short = refused(modify(&rqns[..1], 3, true));
    assert_eq!(short, failed(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT));
    assert_eq!(list(4), Ok((4, turned)), "a command that is refused changes nothing");

    // No room for the list.
    let expected = (Opcode::QUERY_RQT, Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT);
    assert_eq!(refused(list(3)), expected);
}

#[test]
fn raw_packet_qp_modify_and_query() {
    let (adapter, transport) = adapter();
    let rqc = Rqc::new().with_cqn(Cqn::new(5));
    let sqc = Sqc::new().with_cqn(Cqn::new(6));
    let (made, numbers) = adapter.create_raw_packet_qp(Some(&rqc), Some(&sqc)).unwrap();
    let RawPacketQp { rqn: Some(rqn), tirn: Some(tirn), sqn: Some(sqn), tisn: Some(tisn) } =
        numbers
    else {
        panic!("it receives and sends: {numbers:?}");
    };
    assert_eq!(made.number.get(), sqn.get(), "the QP goes by the number of its SQ");
    let qp = Qp::new(&*transport, made.handle, made.number);
    let (rq, sq, tir, tis) = (qp.rq(rqn), qp.sq(sqn), qp.tir(tirn), qp.tis(tisn));

    let mut modify = ModifyRqIn::new().with_rq_state(RqState::RST).changing_state(RqState::RDY);
    rq.modify(&mut modify).unwrap();
    let read = *rq.query(&mut QueryRqIn::new()).unwrap().rq_context();
    assert_eq!(read, rqc.with_state(RqState::RDY));
    let mut modify = ModifySqIn::new().with_sq_state(SqState::RST).changing_state(SqState::RDY);
    sq.modify(&mut modify).unwrap();
    let read = *sq.query(&mut QuerySqIn::new()).unwrap().sq_context();
    assert_eq!(read, sqc.with_state(SqState::RDY).with_tis_lst_sz(1).with_tis_num_0(tisn));
    let mut modify = ModifyTisIn::new().changing_prio(9);
    tis.modify(&mut modify).unwrap();
    assert_eq!(tis.query(&mut QueryTisIn::new()).unwrap().tis_context().prio(), 9);
    let mut modify =
        ModifyTirIn::new().changing_self_lb_block(SelfLbBlock::new().with_unicast(true));
    tir.modify(&mut modify).unwrap();
    let read = *tir.query(&mut QueryTirIn::new()).unwrap().tir_context();
    let expected = Tirc::new().with_self_lb_block(SelfLbBlock::new().with_unicast(true));
    assert_eq!(read, expected.with_inline_rqn(rqn));

    // A command on a QP is on none of them, and one on another queue on none either.
    assert_eq!(kernel_refused(qp.query(&mut QueryQpIn::new())), Errno::INVAL);
    let other = adapter.create_wq(&Rqc::new()).unwrap();
    assert_ne!(other.number, rqn);
    assert_eq!(kernel_refused(qp.rq(other.number).query(&mut QueryRqIn::new())), Errno::INVAL);
    // Nor does a QP of the PRM have queues like these.
    let plain = adapter.create_qp(&Qpc::new()).unwrap();
    let plain = Qp::new(&*transport, plain.handle, plain.number);
    assert_eq!(kernel_refused(plain.rq(rqn).query(&mut QueryRqIn::new())), Errno::INVAL);

    // All end with it. What can't end is left, and nobody is told.
    let rqtc = Rqtc::new().with_rqt_max_size(1);
    let table = adapter.create_ind_table(&rqtc, &[rqn]).unwrap();
    let (whole, table) = (qp.target(), Target { kind: TargetKind::IndTable, handle: table.handle });
    adapter.end(whole).unwrap();
    assert_eq!(adapter.end(whole), Err(Errno::NOENT));
    assert_eq!(kernel_refused(sq.query(&mut QuerySqIn::new())), Errno::NOENT);
    let said = |input: &[u8]| {
        let mut output = [0; 0x200];
        adapter.firmware(input, &mut output);
        Status(output[0])
    };
    let of_rq = QueryRqIn::new().with_rqn(rqn);
    assert_eq!(said(of_rq.as_bytes()), Status::OK, "the table has it");
    adapter.end(table).unwrap();
    for gone in [
        said(QuerySqIn::new().with_sqn(sqn).as_bytes()),
        said(QueryTirIn::new().with_tirn(tirn).as_bytes()),
        said(QueryTisIn::new().with_tisn(tisn).as_bytes()),
    ] {
        assert_eq!(gone, Status::BAD_RES_STATE_ERR);
    }
}

#[test]
fn half_a_raw_packet_qp() {
    let (adapter, transport) = adapter();
    let (made, numbers) = adapter.create_raw_packet_qp(Some(&Rqc::new()), None).unwrap();
    assert_eq!((numbers.sqn, numbers.tisn), (None, None));
    assert_eq!(numbers.rqn.map(Rqn::get), Some(made.number.get()), "it goes by that of its RQ");
    let qp = Qp::new(&*transport, made.handle, made.number);
    qp.tir(numbers.tirn.unwrap()).query(&mut QueryTirIn::new()).unwrap();
    let (_, numbers) = adapter.create_raw_packet_qp(None, Some(&Sqc::new())).unwrap();
    assert_eq!((numbers.rqn, numbers.tirn), (None, None));

    assert_eq!(format!("{qp:?}"), "Verbs { kind: Qp, number: 0x1, handle: Handle(1), .. }");
    let tir = qp.tir(Tirn::new(1));
    assert_eq!(format!("{tir:?}"), "Verbs { kind: QpTir, number: 0x1, handle: Handle(1), .. }");

    assert_eq!(kernel_refused(adapter.create_raw_packet_qp(None, None)), Errno::INVAL);
    // An RQ begins in RST. What was made before it is ended again.
    let wrong = Rqc::new().with_state(RqState::RDY);
    let refusal = refused(adapter.create_raw_packet_qp(Some(&wrong), Some(&Sqc::new())));
    let expected = (Opcode::CREATE_RQ, Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_TRANSITION);
    assert_eq!(refusal, expected);
    let (_, next) = adapter.create_raw_packet_qp(None, Some(&Sqc::new())).unwrap();
    let after = |number: Sqn| number.get() + 2;
    assert_eq!(next.sqn.map(Sqn::get), numbers.sqn.map(after), "one was made between");
    let mut output = [0; QuerySqOut::SIZE];
    let between = Sqn::new(after(numbers.sqn.unwrap()) - 1);
    adapter.firmware(QuerySqIn::new().with_sqn(between).as_bytes(), &mut output);
    assert_eq!(Status(output[0]), Status::BAD_RES_STATE_ERR, "it was ended");

    adapter.remove();
    for receive in [None, Some(&Rqc::new())] {
        assert_eq!(kernel_refused(adapter.create_raw_packet_qp(receive, None)), Errno::IO);
    }
}

#[test]
fn dct_query() {
    let (adapter, transport) = adapter();
    let dctc = Dctc::new().with_pd(Pdn::new(7)).with_cqn(Cqn::new(5));
    let made = adapter.create_dct(&dctc).unwrap();
    let qp = Qp::new(&*transport, made.handle, Qpn::new(made.number.get()));
    let read = *qp.dct(made.number).query(&mut QueryDctIn::new()).unwrap().dct_context_entry();
    assert_eq!(read, dctc);
    assert_eq!(kernel_refused(qp.query(&mut QueryQpIn::new())), Errno::INVAL);
    let other = qp.dct(Dctn::new(made.number.get() + 1)).query(&mut QueryDctIn::new());
    assert_eq!(kernel_refused(other), Errno::INVAL);
    adapter.end(qp.target()).unwrap();
}

#[test]
fn an_object_that_is_not_there() {
    let (adapter, transport) = adapter();
    let made = adapter.create_cq(&Cqc::new()).unwrap();
    // The handle is of no object.
    let nothing = Cq::new(&*transport, Handle(999), made.number);
    assert_eq!(kernel_refused(nothing.query(&mut QueryCqIn::new())), Errno::NOENT);
    // The number is not that of the handle: the kernel's rule.
    let other = Cq::new(&*transport, made.handle, Cqn::new(made.number.get() + 1));
    assert_eq!(kernel_refused(other.query(&mut QueryCqIn::new())), Errno::INVAL);
    // The firmware's own word on numbers of nothing.
    let ask = |input: &[u8]| {
        let mut output = [0; 16];
        adapter.firmware(input, &mut output);
        let (head, _) = CmdOut::view_prefix(&output).unwrap();
        (head.status(), head.syndrome())
    };
    let expected = (Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_OBJECT);
    assert_eq!(ask(QueryCqIn::new().with_cqn(Cqn::new(77)).as_bytes()), expected);
    let expected = (Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_QP);
    assert_eq!(ask(Qp2rstIn::new().with_qpn(Qpn::new(77)).as_bytes()), expected);
    let expected = (Status::BAD_OP_ERR, syndrome::UNKNOWN_OPCODE);
    assert_eq!(ask(&[0xee; 16]), expected);
    assert_eq!(
        ask(&QueryCqIn::new().as_bytes()[..8]),
        (Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT)
    );
}

#[test]
fn what_the_kernel_refuses() {
    let (adapter, transport) = adapter();
    let Made { handle, number } = adapter.create_qp(&Qpc::new()).unwrap();
    let target = Target { kind: TargetKind::Qp, handle };
    let mut output = [0; 16];
    let mut call = |input: &[u8]| transport.modify(target, input, &mut output);
    let reset = Qp2rstIn::new().with_qpn(number);
    assert_eq!(call(reset.as_bytes()), Ok(()));
    assert_eq!(call(&reset.as_bytes()[..15]), Err(Errno::INVAL), "shorter than 16 bytes");
    assert_eq!(call(&vec![0; 0x10000]), Err(Errno::INVAL), "longer than 65535 bytes");
    assert_eq!(
        call(QueryQpIn::new().with_qpn(number).as_bytes()),
        Err(Errno::INVAL),
        "a query to modify"
    );
    assert_eq!(
        call(Sqd2rtsQpIn::new().with_qpn(number).as_bytes()),
        Err(Errno::INVAL),
        "not let through"
    );
    let mut tunnel = *reset.as_bytes();
    tunnel[5] = 1;
    assert_eq!(call(&tunnel), Err(Errno::INVAL), "for another function");
    let mut output = [0; 15];
    assert_eq!(transport.modify(target, reset.as_bytes(), &mut output), Err(Errno::INVAL));
    let other = Target { kind: TargetKind::Cq, handle };
    assert_eq!(transport.modify(other, reset.as_bytes(), &mut [0; 16]), Err(Errno::INVAL));
}

#[test]
fn created_and_destroyed_by_command() {
    let (_, transport) = adapter();
    let mut output = CreateRqOut::zeroed();
    let rq = transport.create(CreateRqIn::new().as_bytes(), output.as_bytes_mut()).unwrap();
    let rqn = output.rqn();
    assert_ne!(rqn, Rqn::new(0));
    let mut create = CreateRqtInWithRqNum::boxed(1);
    create.head.rqt_context_mut().set_rqt_max_size(1);
    create.head.rqt_context_mut().set_rqt_actual_size(1);
    create.tail[0].set_rq_num(rqn);
    let table = transport.create(create.as_bytes(), &mut [0; 16]).unwrap();
    assert_eq!(transport.destroy(rq), Err(Errno::INVAL), "a table holds it");
    assert_eq!(transport.destroy(table), Ok(()));
    assert_eq!(transport.destroy(rq), Ok(()));
    assert_eq!(transport.destroy(rq), Err(Errno::NOENT));
    // A general command passes the kernel; this firmware does not know it.
    let mut nop = [0; 16];
    nop[..2].copy_from_slice(&Opcode::NOP.0.to_be_bytes());
    let mut output = [0; 16];
    assert_eq!(transport.general(&nop, &mut output), Err(Errno::REMOTEIO));
    assert_eq!(output[0], Status::BAD_OP_ERR.0);
    assert_eq!(transport.general(QueryCqIn::new().as_bytes(), &mut output), Err(Errno::INVAL));
}

/// A transport that answers what a test tells it.
struct Scripted {
    answer: Result<(), Errno>,
    status: u8,
}

impl Transport for Scripted {
    fn create(&self, _: &[u8], _: &mut [u8]) -> Result<Handle, Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn modify(&self, _: Target, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        output[0] = self.status;
        output[4..8].copy_from_slice(&0x6231e6_u32.to_be_bytes());
        self.answer
    }
    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.modify(target, input, output)
    }
    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn general(&self, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
}

#[test]
fn four_kinds_of_errors() {
    let say = |answer, status, command: &mut ModifyCqIn| {
        let transport: Box<dyn Transport> = Box::new(Scripted { answer, status });
        Cq::new(&*transport, Handle(1), Cqn::new(0x4a)).modify(command).map(|_| ())
    };
    let new = ModifyCqIn::new;
    assert_eq!(say(Ok(()), 0, &mut new()), Ok(()));

    let error = say(Ok(()), 0, &mut new().with_cqn(Cqn::new(0x4b))).unwrap_err();
    let reason = NotSent::WrongObject { kind: "CQN", named: 0x4b, is: 0x4a };
    assert_eq!(error, Error::NotSent { opcode: Opcode::MODIFY_CQ, reason });
    assert_eq!(
        error.to_string(),
        "MODIFY_CQ(0x403) was not sent: it names CQN 0x4b, and the object is CQN 0x4a"
    );
    assert_eq!(error.errno(), Errno::INVAL);

    let error = say(Err(Errno::INVAL), 0, &mut new()).unwrap_err();
    assert_eq!(error, Error::Kernel { opcode: Opcode::MODIFY_CQ, errno: Errno::INVAL });
    let expected = "MODIFY_CQ(0x403) was refused by the kernel: Invalid argument (os error 22)";
    assert_eq!(error.to_string(), expected);

    // EREMOTEIO since Linux 5.18; before, an errno of the kernel's choice.
    for errno in [Errno::REMOTEIO, Errno::INVAL] {
        let error = say(Err(errno), 3, &mut new()).unwrap_err();
        let expected = "MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0x6231e6: a value in the input is not allowed, or not together with others";
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.errno(), Errno::REMOTEIO);
    }

    let error = say(Err(Errno::REMOTEIO), 0, &mut new()).unwrap_err();
    let reason = BadAnswer::RefusedWithoutStatus;
    assert_eq!(error, Error::Answer { opcode: Opcode::MODIFY_CQ, reason });
    assert_eq!(error.errno(), Errno::IO);

    let transport = Scripted { answer: Ok(()), status: 0 };
    let mut long = ModifyCqInWithPas::boxed(0x2000);
    let error = Cq::new(&transport, Handle(1), Cqn::new(1)).modify(&mut *long).unwrap_err();
    let reason = NotSent::TooLong(ModifyCqInWithPas::size(0x2000));
    assert_eq!(error, Error::NotSent { opcode: Opcode::MODIFY_CQ, reason });
}

#[test]
fn a_refusal_fits_the_8_bytes_of_status_and_syndrome() {
    let (adapter, transport) = adapter();
    let mut output = [0xee; 8];
    adapter.firmware(&[0xee; 16], &mut output);
    assert_eq!(output[0], Status::BAD_OP_ERR.0);
    assert_eq!(output[4..], syndrome::UNKNOWN_OPCODE.to_be_bytes());
    let error =
        mlx5_devx::outcome(&[4, 3, 0, 0], &output, Err::<(), _>(Errno::REMOTEIO)).unwrap_err();
    assert!(matches!(error, Error::Firmware { status: Status::BAD_OP_ERR, .. }), "{error:?}");
    let error =
        mlx5_devx::outcome(&[4, 3], &output[..7], Err::<(), _>(Errno::REMOTEIO)).unwrap_err();
    assert_eq!(error, Error::Answer { opcode: Opcode::MODIFY_CQ, reason: BadAnswer::Short(7) });
    // What verbs made is ended by verbs.
    let made = adapter.create_qp(&Qpc::new()).unwrap();
    assert_eq!(transport.destroy(made.handle), Err(Errno::INVAL));
    assert!(!adapter.force_qp_state(made.number, QpState(0xff)), "a state of more than 4 bits");
}
