//! Commands as the simulated firmware takes them: what is behind a mailbox, and parts of what a layout has
//! as bytes.

use mlx5_devx::{Error, General, Qp, Srq};
use mlx5_prm::{
    CreateRqtIn, FlowMeter, FlowMeterParameters, Init2initOptParamExt, Init2initQpIn,
    ModifyFlowMeterSelect, ModifyRmpIn, ModifyRqIn, ModifySqIn, QpOptParamExt, QpSt, QpState, Qpc,
    QpcExt, Qpn, RmpState, Rmpc, RqState, Rqc, Rqtc, Rst2initQpIn, Rts2rtsQpIn, SqState, Sqc,
    Status,
};
use mlx5_sim::{Adapter, syndrome};

/// What the firmware says to a command: status and syndrome.
fn said(adapter: &Adapter, input: &[u8]) -> (Status, u32) {
    let mut output = [0; 16];
    adapter.firmware(input, &mut output);
    (Status(output[0]), u32::from_be_bytes(output[4..8].try_into().expect("4 bytes")))
}

const DONE: (Status, u32) = (Status::OK, 0);

/// A QP in a state.
fn qp(adapter: &Adapter, service: QpSt, state: QpState) -> Qpn {
    let qpn = adapter.create_qp(&Qpc::new().with_st(service)).expect("a QP").number;
    assert!(adapter.force_qp_state(qpn, state));
    qpn
}

/// `mlx5dv_dci_stream_id_reset`, `modify_ib_qp_sched_elem_rts`, `modify_ib_qp_sched_elem_init` and
/// `qp_enable_mmo` of rdma-core.
#[test]
fn bits_for_the_extension_of_a_qp() {
    let adapter = Adapter::new();
    let dci = qp(&adapter, QpSt::DCI, QpState::RTS);
    let rc = qp(&adapter, QpSt::RC, QpState::INIT);
    let rts = |mask| {
        let mailbox = Rts2rtsQpIn::new().with_qpn(dci).with_qpc_ext(true);
        mailbox.with_opt_param_mask_95_32(mask)
    };
    let init = |mask| {
        let mailbox = Init2initQpIn::new().with_qpn(rc).with_qpc_ext(true);
        mailbox.with_opt_param_mask_95_32(mask)
    };
    let streams = rts(QpOptParamExt::new().with_dci_stream_channel_id(true));
    let groups = rts(QpOptParamExt::new().with_qos_queue_group_id(true));
    let mmo = init(Init2initOptParamExt::new().with_mmo(true));
    let early = init(Init2initOptParamExt::new().with_qos_queue_group_id(true));
    let with_extension = |mailbox: &[u8; 0x110]| {
        let extension = QpcExt::new().with_mmo(true).with_dci_stream_channel_id(3);
        let mut whole = mailbox.to_vec();
        whole.extend(extension.as_bytes());
        whole
    };
    for mailbox in [streams.as_bytes(), groups.as_bytes(), mmo.as_bytes(), early.as_bytes()] {
        let whole = with_extension(mailbox);
        assert_eq!(said(&adapter, &whole), DONE);
        let short = (Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
        assert_eq!(said(&adapter, mailbox), short);
        assert_eq!(said(&adapter, &whole[..whole.len() - 1]), short);
        let mut silent = whole;
        silent[8] = 0; // `qpc_ext`
        let none = (Status::BAD_PARAM_ERR, syndrome::NO_EXTENSION);
        assert_eq!(said(&adapter, &silent), none);
    }
    // A bit of the other transition.
    let unknown = (Status::BAD_PARAM_ERR, syndrome::UNKNOWN_SELECT_BIT);
    let wrong = rts(QpOptParamExt::from_bits(8));
    assert_eq!(said(&adapter, &with_extension(wrong.as_bytes())), unknown);
    let wrong = init(Init2initOptParamExt::from_bits(1));
    assert_eq!(said(&adapter, &with_extension(wrong.as_bytes())), unknown);
    // The field of the mailbox needs no extension.
    let port = Rts2rtsQpIn::new().with_qpn(qp(&adapter, QpSt::RC, QpState::RTS));
    let port = port.changing_udp_sport(0xc001);
    assert_eq!(said(&adapter, port.as_bytes()), DONE);
}

/// `mlx5_flow_meter_action_modify` of DPDK: `flow_meter_params` is a row of bytes in `flow_meter`, and a
/// bit of the mask is for two of the fields there.
#[test]
fn parts_of_a_flow_meter() {
    let adapter = Adapter::new();
    let bytes = |parameters: FlowMeterParameters| *parameters.as_bytes();
    let before = FlowMeterParameters::new()
        .with_valid(true)
        .with_cbs_exponent(1)
        .with_cbs_mantissa(2)
        .with_cir_exponent(3)
        .with_cir_mantissa(4)
        .with_ebs_exponent(5)
        .with_ebs_mantissa(6)
        .with_eir_exponent(7)
        .with_eir_mantissa(8);
    let mut meter = FlowMeter::new().with_return_reg_id(5);
    meter.set_flow_meter_params(&bytes(before));
    let meter = General::create(&adapter, meter).expect("a meter");
    let now = || {
        let meter = meter.query().expect("it is there");
        assert_eq!(meter.return_reg_id(), 5, "no bit is for it");
        (meter.active(), *meter.flow_meter_params())
    };
    assert_eq!(now(), (false, bytes(before)));

    // All of it is given, and what the mask selects is taken.
    let mut given = FlowMeter::new().with_return_reg_id(1).with_active(true);
    given.set_flow_meter_params(&[0xff; 32]);
    let change = |select| meter.modify(given.with_modify_field_select(select)).expect("changed");
    let none = ModifyFlowMeterSelect::new();
    change(none);
    assert_eq!(now(), (false, bytes(before)));
    change(none.with_cbs(true).with_eir(true));
    let after = before
        .with_cbs_exponent(0x1f)
        .with_cbs_mantissa(0xff)
        .with_eir_exponent(0x1f)
        .with_eir_mantissa(0xff);
    assert_eq!(now(), (false, bytes(after)));
    change(none.with_cir(true).with_active(true));
    let after = after.with_cir_exponent(0x1f).with_cir_mantissa(0xff);
    assert_eq!(now(), (true, bytes(after)));
    change(none.with_ebs(true));
    let after = after.with_ebs_exponent(0x1f).with_ebs_mantissa(0xff);
    assert_eq!(now(), (true, bytes(after)));
    assert!(matches!(
        meter.modify(given.with_modify_field_select(ModifyFlowMeterSelect::from_bits(32))),
        Err(Error::Firmware { syndrome: syndrome::UNKNOWN_SELECT_BIT, .. })
    ));
}

#[test]
fn the_field_that_is_at_fault_is_told() {
    let adapter = Adapter::new();
    let made = adapter.create_qp(&Qpc::new()).expect("a QP");
    let qp = Qp::new(&adapter, made.handle, made.number);
    let port = Some("qpc.primary_address_path.vhca_port_num");
    let zero = |qp: &Qp<'_, Adapter>| {
        let error = qp.modify(&mut Rst2initQpIn::new()).expect_err("the port is 0");
        assert!(matches!(error, Error::Firmware { syndrome: syndrome::FIELD_IS_ZERO, .. }));
        assert_eq!(adapter.refused_field(), port);
    };
    assert_eq!(adapter.refused_field(), None);
    zero(&qp);
    // It is that of the last command, whoever answers.
    assert!(qp.modify(&mut Rts2rtsQpIn::new()).is_err());
    assert_eq!(adapter.refused_field(), None);
    zero(&qp);
    adapter.refuse_next_command(1, Status::BAD_PARAM_ERR, syndrome::FIELD_IS_ZERO);
    assert!(qp.modify(&mut Rst2initQpIn::new()).is_err());
    assert_eq!(adapter.refused_field(), None);
    zero(&qp);
    let path = mlx5_prm::Ads::new().with_vhca_port_num(1);
    let mut init = Rst2initQpIn::new().with_qpc(Qpc::new().with_primary_address_path(path));
    qp.modify(&mut init).expect("nothing is missing");
    assert_eq!(adapter.refused_field(), None);
    let begun = |rqc: Rqc| adapter.create_wq(&rqc).expect_err("it begins in RST");
    begun(Rqc::new().with_state(RqState::RDY));
    assert_eq!(adapter.refused_field(), Some("ctx.state"));
    let sqc = Sqc::new().with_state(SqState::RDY);
    adapter.create_raw_packet_qp(None, Some(&sqc)).expect_err("it begins in RST");
    // The TIS that ends again says nothing of it.
    assert_eq!(adapter.refused_field(), Some("ctx.state"));
    let (made, numbers) =
        adapter.create_raw_packet_qp(Some(&Rqc::new()), Some(&Sqc::new())).expect("a QP");
    let raw = Qp::new(&adapter, made.handle, made.number);
    let (rq, sq) = (raw.rq(numbers.rqn.expect("an RQ")), raw.sq(numbers.sqn.expect("an SQ")));
    let from = |rq_state| ModifyRqIn::new().with_rq_state(rq_state).changing_state(RqState::ERR);
    rq.modify(&mut from(RqState::RDY)).expect_err("it is in RST");
    assert_eq!(adapter.refused_field(), Some("rq_state"));
    rq.modify(&mut from(RqState::RST)).expect_err("RST leads to RDY");
    assert_eq!(adapter.refused_field(), Some("ctx.state"));
    let again = ModifySqIn::new().with_sq_state(SqState::RDY).changing_state(SqState::RDY);
    sq.modify(&mut { again }).expect_err("it is in RST");
    assert_eq!(adapter.refused_field(), Some("sq_state"));
    let made = adapter.create_srq(&Rmpc::new()).expect("an RMP");
    let rmp = Srq::new(&adapter, made.handle, made.number);
    let wrong = ModifyRmpIn::new().with_rmp_state(RmpState::ERR).changing_state(RmpState::ERR);
    rmp.modify(&mut { wrong }).expect_err("it is in RDY");
    assert_eq!(adapter.refused_field(), Some("rmp_state"));
    let table = |rqtc: Rqtc, list: [u8; 8]| {
        let mut create = CreateRqtIn::new().with_rqt_context(rqtc).as_bytes().to_vec();
        create.extend(list);
        said(&adapter, &create)
    };
    let one = Rqtc::new().with_rqt_max_size(1).with_rqt_actual_size(1);
    let dangling = (Status::BAD_RES_STATE_ERR, syndrome::DANGLING_NUMBER);
    for (rqtc, list) in
        [(one, "rqt_context.rq_num"), (one.with_rq_vhca_id_format(true), "rqt_context.rq_vhca")]
    {
        assert_eq!(table(rqtc, [0, 0, 0, 9, 0, 0, 0, 9]), dangling);
        assert_eq!(adapter.refused_field(), Some(list));
    }
    let many = one.with_rqt_actual_size(2);
    assert_eq!(table(many, [0; 8]), (Status::BAD_PARAM_ERR, syndrome::RQT_TOO_SMALL));
    assert_eq!(adapter.refused_field(), Some("rqt_context.rqt_actual_size"));
}

#[test]
#[should_panic(expected = "a refusal has another status")]
fn a_refusal_is_not_ok() {
    Adapter::new().refuse_next_command(1, Status::OK, 0);
}
