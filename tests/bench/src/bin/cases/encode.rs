//! Commands of a fixed length: with the fields that rdma-core and DPDK give them.
//!
//! A case of each name makes the whole mailbox, zeros and fields; `_fields` writes the fields alone. The
//! values are of the types of their fields: `_raw` has plain numbers instead, which are checked on the way.

use mlx5_prm::{
    Ads, CounterSetId, CqPeriodMode, Cqc, CqeSize, Cqn, CreateCqIn, CreateQpIn, Init2rtrQpIn,
    ModifyCqIn, ModifyCqSelect, ModifyFieldSelect, ModifyFieldSelectResizeFieldSelectAuto,
    ModifyRmpIn, ModifyRqIn, ModifyRqSelect, Opcode, PathMtu, Pdn, PmState, QpSt, Qpn, QueryCqIn,
    QueryQpIn, QueryRmpIn, QueryRqIn, QueryRqtIn, RmpState, Rmpn, RqState, Rqn, Rqtn, Rst2initQpIn,
    Rtr2rtsQpIn, TimestampFormat, UarPage,
};

use crate::run::Run;

/// The two cases of a command, whose fields are written by setters: the whole is made by value, and given.
macro_rules! encode {
    ($whole:ident, $fields:ident: $Mailbox:ident $OPCODE:ident, |$m:ident, $v:ident: $Values:ty| $body:block) => {
        #[inline(never)]
        fn $whole(to: &mut $Mailbox, $v: &$Values) {
            let mut whole = $Mailbox::new();
            let $m = &mut whole;
            $body * to = whole;
        }

        #[inline(never)]
        fn $fields($m: &mut $Mailbox, $v: &$Values) {
            $m.set_opcode(Opcode::$OPCODE);
            $body
        }
    };
}

// Zeros alone, by the sizes of the mailboxes.

#[inline(never)]
fn zeros_16(m: &mut QueryCqIn, (): &()) {
    *m = QueryCqIn::zeroed();
}

#[inline(never)]
fn zeros_272(m: &mut ModifyCqIn, (): &()) {
    *m = ModifyCqIn::zeroed();
}

// MODIFY_CQ

struct ModifyCq {
    cqn: Cqn,
    select: ModifyCqSelect,
    period: u16,
    max_count: u16,
}

encode! { modify_cq, modify_cq_fields: ModifyCqIn MODIFY_CQ, |m, v: ModifyCq| {
    m.set_cqn(v.cqn);
    m.modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(v.select);
    let cqc = m.cq_context_mut();
    cqc.set_cq_period(v.period);
    cqc.set_cq_max_count(v.max_count);
} }

/// In one expression.
#[inline(never)]
fn modify_cq_expression(m: &mut ModifyCqIn, v: &ModifyCq) {
    *m = expression(v);
}

#[inline(always)]
fn expression(v: &ModifyCq) -> ModifyCqIn {
    ModifyCqIn::new()
        .with_cqn(v.cqn)
        .with_modify_field_select_resize_field_select(
            ModifyFieldSelectResizeFieldSelectAuto::new().with_modify_field_select(
                ModifyFieldSelect::new().with_modify_field_select(v.select),
            ),
        )
        .with_cq_context(Cqc::new().with_cq_period(v.period).with_cq_max_count(v.max_count))
}

/// A new mailbox where it is wanted, and then field after field.
#[inline(never)]
fn modify_cq_in_place(m: &mut ModifyCqIn, v: &ModifyCq) {
    *m = ModifyCqIn::new();
    m.set_cqn(v.cqn);
    m.modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(v.select);
    let cqc = m.cq_context_mut();
    cqc.set_cq_period(v.period);
    cqc.set_cq_max_count(v.max_count);
}

/// By paired calls, which set the bits of the select mask.
#[inline(never)]
fn modify_cq_changes(m: &mut ModifyCqIn, v: &ModifyCq) {
    *m = ModifyCqIn::new()
        .with_cqn(v.cqn)
        .changing_cq_period(v.period)
        .changing_cq_max_count(v.max_count);
}

/// In bytes that may be too few.
#[inline(never)]
fn modify_cq_bytes(m: &mut [u8], v: &ModifyCq) {
    if let Ok(m) = ModifyCqIn::view_mut(m) {
        *m = expression(v);
    }
}

/// With a number that may be too large for a CQN.
#[inline(never)]
fn modify_cq_raw(m: &mut ModifyCqIn, v: &(u32, u32, u16, u16)) {
    *m = expression(&ModifyCq {
        cqn: Cqn::new(v.0),
        select: ModifyCqSelect::from_bits(v.1),
        period: v.2,
        max_count: v.3,
    });
}

/// Constants only.
static MODIFY_CQ: ModifyCqIn = ModifyCqIn::new()
    .with_cqn(Cqn::new(0x12345))
    .changing_cq_period(0xabc)
    .changing_cq_max_count(0x4321);

/// Nothing is encoded: it stands there.
#[inline(never)]
fn modify_cq_constant(m: &mut &'static ModifyCqIn, (): &()) {
    *m = &MODIFY_CQ;
}

// The transitions of a queue pair

struct Rst2init {
    qpn: Qpn,
    port: u8,
    pkey_index: u16,
    rre: bool,
    rwe: bool,
    rae: bool,
}

encode! { rst2init, rst2init_fields: Rst2initQpIn RST2INIT_QP, |m, v: Rst2init| {
    m.set_qpn(v.qpn);
    let qpc = m.qpc_mut();
    qpc.set_st(QpSt::RC);
    qpc.set_pm_state(PmState::MIGRATED);
    qpc.set_rre(v.rre);
    qpc.set_rwe(v.rwe);
    qpc.set_rae(v.rae);
    let path = qpc.primary_address_path_mut();
    path.set_vhca_port_num(v.port);
    path.set_pkey_index(v.pkey_index);
} }

/// By the builder, which checks that nothing is missing.
#[inline(never)]
fn rst2init_built(m: &mut Rst2initQpIn, v: &Rst2init) {
    let built = Rst2initQpIn::transition(QpSt::RC)
        .vhca_port_num(v.port)
        .pkey_index(v.pkey_index)
        .pm_state(PmState::MIGRATED)
        .rre(v.rre)
        .rwe(v.rwe)
        .rae(v.rae)
        .build();
    if let Ok(built) = built {
        *m = built.with_qpn(v.qpn);
    }
}

struct Init2rtr {
    qpn: Qpn,
    remote_qpn: Qpn,
    next_rcv_psn: u32,
    rgid: [u8; 16],
    rmac_31_0: u32,
    rmac_47_32: u16,
    udp_sport: u16,
    mtu: PathMtu,
    log_rra_max: u8,
    min_rnr_nak: u8,
    src_addr_index: u8,
    hop_limit: u8,
    dscp: u8,
    port: u8,
}

encode! { init2rtr, init2rtr_fields: Init2rtrQpIn INIT2RTR_QP, |m, v: Init2rtr| {
    m.set_qpn(v.qpn);
    let qpc = m.qpc_mut();
    qpc.set_mtu(v.mtu);
    qpc.set_log_msg_max(30);
    qpc.set_remote_qpn(v.remote_qpn);
    qpc.set_log_rra_max(v.log_rra_max);
    qpc.set_min_rnr_nak(v.min_rnr_nak);
    qpc.set_next_rcv_psn(v.next_rcv_psn);
    let path = qpc.primary_address_path_mut();
    path.set_src_addr_index(v.src_addr_index);
    path.set_hop_limit(v.hop_limit);
    path.set_rgid_rip(&v.rgid);
    path.set_dscp(v.dscp);
    path.set_udp_sport(v.udp_sport);
    path.set_vhca_port_num(v.port);
    path.set_rmac_47_32(v.rmac_47_32);
    path.set_rmac_31_0(v.rmac_31_0);
} }

/// By the builder.
#[inline(never)]
fn init2rtr_built(m: &mut Init2rtrQpIn, v: &Init2rtr) {
    let path = Ads::new()
        .with_src_addr_index(v.src_addr_index)
        .with_hop_limit(v.hop_limit)
        .with_rgid_rip(v.rgid)
        .with_dscp(v.dscp)
        .with_udp_sport(v.udp_sport)
        .with_vhca_port_num(v.port)
        .with_rmac_47_32(v.rmac_47_32)
        .with_rmac_31_0(v.rmac_31_0);
    let built = Init2rtrQpIn::transition(QpSt::RC)
        .mtu(v.mtu)
        .log_msg_max(30)
        .remote_qpn(v.remote_qpn)
        .next_rcv_psn(v.next_rcv_psn)
        .primary_address_path(path)
        .log_rra_max(v.log_rra_max)
        .min_rnr_nak(v.min_rnr_nak)
        .build();
    if let Ok(built) = built {
        *m = built.with_qpn(v.qpn);
    }
}

struct Rtr2rts {
    qpn: Qpn,
    next_send_psn: u32,
    log_ack_req_freq: u8,
    log_sra_max: u8,
    retry_count: u8,
    rnr_retry: u8,
    ack_timeout: u8,
}

encode! { rtr2rts, rtr2rts_fields: Rtr2rtsQpIn RTR2RTS_QP, |m, v: Rtr2rts| {
    m.set_qpn(v.qpn);
    let qpc = m.qpc_mut();
    qpc.set_log_ack_req_freq(v.log_ack_req_freq);
    qpc.set_log_sra_max(v.log_sra_max);
    qpc.set_retry_count(v.retry_count);
    qpc.set_rnr_retry(v.rnr_retry);
    qpc.set_next_send_psn(v.next_send_psn);
    qpc.primary_address_path_mut().set_ack_timeout(v.ack_timeout);
} }

/// By the builder.
#[inline(never)]
fn rtr2rts_built(m: &mut Rtr2rtsQpIn, v: &Rtr2rts) {
    let built = Rtr2rtsQpIn::transition(QpSt::RC)
        .log_ack_req_freq(v.log_ack_req_freq)
        .log_sra_max(v.log_sra_max)
        .retry_count(v.retry_count)
        .rnr_retry(v.rnr_retry)
        .next_send_psn(v.next_send_psn)
        .ack_timeout(v.ack_timeout)
        .build();
    if let Ok(built) = built {
        *m = built.with_qpn(v.qpn);
    }
}

/// The fields alone, cut off as the macros do, so that nothing is left to be checked.
#[inline(never)]
fn rtr2rts_fields_cut(m: &mut Rtr2rtsQpIn, v: &Rtr2rts) {
    m.set_opcode(Opcode::RTR2RTS_QP);
    m.set_qpn(v.qpn);
    let qpc = m.qpc_mut();
    qpc.set_log_ack_req_freq(v.log_ack_req_freq & 0xf);
    qpc.set_log_sra_max(v.log_sra_max & 7);
    qpc.set_retry_count(v.retry_count & 7);
    qpc.set_rnr_retry(v.rnr_retry & 7);
    qpc.set_next_send_psn(v.next_send_psn & 0xff_ffff);
    qpc.primary_address_path_mut().set_ack_timeout(v.ack_timeout & 0x1f);
}

// Receive queues and pools

struct ModifyRq {
    rqn: Rqn,
    select: ModifyRqSelect,
    from: RqState,
    to: RqState,
    vsd: bool,
    counter_set: CounterSetId,
}

encode! { modify_rq, modify_rq_fields: ModifyRqIn MODIFY_RQ, |m, v: ModifyRq| {
    m.set_rq_state(v.from);
    m.set_rqn(v.rqn);
    m.set_modify_bitmask(v.select);
    let rqc = m.ctx_mut();
    rqc.set_vsd(v.vsd);
    rqc.set_state(v.to);
    rqc.set_counter_set_id(v.counter_set);
} }

struct ModifyRmp {
    rmpn: Rmpn,
    state: RmpState,
    lwm: u16,
}

encode! { modify_rmp, modify_rmp_fields: ModifyRmpIn MODIFY_RMP, |m, v: ModifyRmp| {
    m.set_rmp_state(v.state);
    m.set_rmpn(v.rmpn);
    m.bitmask_mut().set_lwm(true);
    let rmpc = m.ctx_mut();
    rmpc.set_state(v.state);
    rmpc.wq_mut().set_lwm(v.lwm);
} }

// Queries: the number is all that they have.

encode! { query_qp_in, query_qp_in_fields: QueryQpIn QUERY_QP, |m, v: Qpn| { m.set_qpn(*v); } }
encode! { query_cq_in, query_cq_in_fields: QueryCqIn QUERY_CQ, |m, v: Cqn| { m.set_cqn(*v); } }
encode! { query_rmp_in, query_rmp_in_fields: QueryRmpIn QUERY_RMP, |m, v: Rmpn| { m.set_rmpn(*v); } }
encode! { query_rq_in, query_rq_in_fields: QueryRqIn QUERY_RQ, |m, v: Rqn| { m.set_rqn(*v); } }
encode! { query_rqt_in, query_rqt_in_fields: QueryRqtIn QUERY_RQT, |m, v: Rqtn| { m.set_rqtn(*v); } }

// Objects are made.

struct CreateQp {
    pd: Pdn,
    uar: UarPage,
    cqn_snd: Cqn,
    cqn_rcv: Cqn,
    user_index: u32,
    dbr_addr: u64,
    log_sq_size: u8,
    log_rq_size: u8,
    log_rq_stride: u8,
    ts_format: TimestampFormat,
}

encode! { create_qp, create_qp_fields: CreateQpIn CREATE_QP, |m, v: CreateQp| {
    let qpc = m.qpc_mut();
    qpc.set_st(QpSt::RC);
    qpc.set_pm_state(PmState::MIGRATED);
    qpc.set_pd(v.pd);
    qpc.set_log_rq_size(v.log_rq_size);
    qpc.set_log_rq_stride(v.log_rq_stride);
    qpc.set_log_sq_size(v.log_sq_size);
    qpc.set_ts_format(v.ts_format);
    qpc.set_uar_page(v.uar);
    qpc.set_user_index(v.user_index);
    qpc.set_cqn_snd(v.cqn_snd);
    qpc.set_cqn_rcv(v.cqn_rcv);
    qpc.set_dbr_addr(v.dbr_addr);
    qpc.set_dbr_umem_valid(true);
    m.set_wq_umem_valid(true);
} }

/// The fields alone, cut off as the macros do.
#[inline(never)]
fn create_qp_fields_cut(m: &mut CreateQpIn, v: &CreateQp) {
    m.set_opcode(Opcode::CREATE_QP);
    let qpc = m.qpc_mut();
    qpc.set_st(QpSt::RC);
    qpc.set_pm_state(PmState::MIGRATED);
    qpc.set_pd(v.pd);
    qpc.set_log_rq_size(v.log_rq_size & 0xf);
    qpc.set_log_rq_stride(v.log_rq_stride & 7);
    qpc.set_log_sq_size(v.log_sq_size & 0xf);
    qpc.set_ts_format(TimestampFormat(v.ts_format.0 & 3));
    qpc.set_uar_page(v.uar);
    qpc.set_user_index(v.user_index & 0xff_ffff);
    qpc.set_cqn_snd(v.cqn_snd);
    qpc.set_cqn_rcv(v.cqn_rcv);
    qpc.set_dbr_addr(v.dbr_addr);
    qpc.set_dbr_umem_valid(true);
    m.set_wq_umem_valid(true);
}

/// With numbers that may be too large.
#[inline(never)]
fn create_qp_raw(m: &mut CreateQpIn, v: &[u32; 4]) {
    let mut whole = CreateQpIn::new();
    let qpc = whole.qpc_mut();
    qpc.set_pd(Pdn::new(v[0]));
    qpc.set_uar_page(UarPage::new(v[1]));
    qpc.set_cqn_snd(Cqn::new(v[2]));
    qpc.set_cqn_rcv(Cqn::new(v[3]));
    *m = whole;
}

/// The same four with the types of their fields.
#[inline(never)]
fn create_qp_typed(m: &mut CreateQpIn, v: &(Pdn, UarPage, Cqn, Cqn)) {
    let mut whole = CreateQpIn::new();
    let qpc = whole.qpc_mut();
    qpc.set_pd(v.0);
    qpc.set_uar_page(v.1);
    qpc.set_cqn_snd(v.2);
    qpc.set_cqn_rcv(v.3);
    *m = whole;
}

struct CreateCq {
    uar: UarPage,
    eqn: u32,
    dbr_addr: u64,
    log_cq_size: u8,
    log_page_size: u8,
    cqe_sz: CqeSize,
    period_mode: CqPeriodMode,
    cc: bool,
    oi: bool,
    compressed: bool,
}

encode! { create_cq, create_cq_fields: CreateCqIn CREATE_CQ, |m, v: CreateCq| {
    let cqc = m.cq_context_mut();
    cqc.set_dbr_umem_valid(true);
    cqc.set_cqe_sz(v.cqe_sz);
    cqc.set_cc(v.cc);
    cqc.set_oi(v.oi);
    cqc.set_cq_period_mode(v.period_mode);
    cqc.set_cqe_comp_en(v.compressed);
    cqc.set_log_cq_size(v.log_cq_size);
    cqc.set_uar_page(v.uar);
    cqc.set_c_eqn_or_apu_element(v.eqn);
    cqc.set_log_page_size(v.log_page_size);
    cqc.set_dbr_addr(v.dbr_addr);
    m.set_cq_umem_valid(true);
} }

/// The fields alone, cut off as the macros do.
#[inline(never)]
fn create_cq_fields_cut(m: &mut CreateCqIn, v: &CreateCq) {
    m.set_opcode(Opcode::CREATE_CQ);
    let cqc = m.cq_context_mut();
    cqc.set_dbr_umem_valid(true);
    cqc.set_cqe_sz(CqeSize(v.cqe_sz.0 & 7));
    cqc.set_cc(v.cc);
    cqc.set_oi(v.oi);
    cqc.set_cq_period_mode(CqPeriodMode(v.period_mode.0 & 3));
    cqc.set_cqe_comp_en(v.compressed);
    cqc.set_log_cq_size(v.log_cq_size & 0x1f);
    cqc.set_uar_page(v.uar);
    cqc.set_c_eqn_or_apu_element(v.eqn);
    cqc.set_log_page_size(v.log_page_size & 0x1f);
    cqc.set_dbr_addr(v.dbr_addr);
    m.set_cq_umem_valid(true);
}

pub(crate) fn all(run: &mut Run) {
    macro_rules! run {
        ($Mailbox:ident, $values:expr; $($case:ident)*) => { $(
            run.write(stringify!($case), $case, &mut $Mailbox::zeroed(), $values, |m| m.as_bytes());
        )* };
    }
    run! { QueryCqIn, &(); zeros_16 }
    run! { ModifyCqIn, &(); zeros_272 }

    let v = ModifyCq {
        cqn: Cqn::new(0x12345),
        select: ModifyCqSelect::from_bits(3),
        period: 0xabc,
        max_count: 0x4321,
    };
    run! { ModifyCqIn, &v; modify_cq modify_cq_fields modify_cq_in_place modify_cq_expression modify_cq_changes }
    run.write("modify_cq_bytes", modify_cq_bytes, &mut [0; ModifyCqIn::SIZE][..], &v, |m| m);
    run! { ModifyCqIn, &(0x12345, 3, 0xabc, 0x4321); modify_cq_raw }
    static OTHER: ModifyCqIn = ModifyCqIn::zeroed();
    run.write("modify_cq_constant", modify_cq_constant, &mut &OTHER, &(), |m| m.as_bytes());

    let v = Rst2init {
        qpn: Qpn::new(0x12345),
        port: 1,
        pkey_index: 0x789,
        rre: true,
        rwe: true,
        rae: false,
    };
    run! { Rst2initQpIn, &v; rst2init rst2init_fields rst2init_built }
    let v = Init2rtr {
        qpn: Qpn::new(0x12345),
        remote_qpn: Qpn::new(0x54321),
        next_rcv_psn: 0xabcdef,
        rgid: *b"0123456789abcdef",
        rmac_31_0: 0xdead_beef,
        rmac_47_32: 0xcafe,
        udp_sport: 0xc123,
        mtu: PathMtu::BYTES_4096,
        log_rra_max: 4,
        min_rnr_nak: 12,
        src_addr_index: 3,
        hop_limit: 64,
        dscp: 26,
        port: 1,
    };
    run! { Init2rtrQpIn, &v; init2rtr init2rtr_fields init2rtr_built }
    let v = Rtr2rts {
        qpn: Qpn::new(0x12345),
        next_send_psn: 0x654321,
        log_ack_req_freq: 8,
        log_sra_max: 4,
        retry_count: 7,
        rnr_retry: 6,
        ack_timeout: 14,
    };
    run! { Rtr2rtsQpIn, &v; rtr2rts rtr2rts_fields rtr2rts_fields_cut rtr2rts_built }

    let v = ModifyRq {
        rqn: Rqn::new(0x12345),
        select: ModifyRqSelect::from_bits(0xa),
        from: RqState::RST,
        to: RqState::RDY,
        vsd: true,
        counter_set: CounterSetId::new(0x5a),
    };
    run! { ModifyRqIn, &v; modify_rq modify_rq_fields }
    let v = ModifyRmp { rmpn: Rmpn::new(0x12345), state: RmpState::RDY, lwm: 0x1234 };
    run! { ModifyRmpIn, &v; modify_rmp modify_rmp_fields }

    run! { QueryQpIn, &Qpn::new(0x12345); query_qp_in query_qp_in_fields }
    run! { QueryCqIn, &Cqn::new(0x12345); query_cq_in query_cq_in_fields }
    run! { QueryRmpIn, &Rmpn::new(0x12345); query_rmp_in query_rmp_in_fields }
    run! { QueryRqIn, &Rqn::new(0x12345); query_rq_in query_rq_in_fields }
    run! { QueryRqtIn, &Rqtn::new(0x12345); query_rqt_in query_rqt_in_fields }

    let v = CreateQp {
        pd: Pdn::new(0x12345),
        uar: UarPage::new(0x23456),
        cqn_snd: Cqn::new(0x34567),
        cqn_rcv: Cqn::new(0x45678),
        user_index: 0xabcdef,
        dbr_addr: 0x0123_4567_89ab_cdef,
        log_sq_size: 10,
        log_rq_size: 9,
        log_rq_stride: 2,
        ts_format: TimestampFormat::DEFAULT,
    };
    run! { CreateQpIn, &v; create_qp create_qp_fields create_qp_fields_cut }
    run! { CreateQpIn, &[0x12345, 0x23456, 0x34567, 0x45678]; create_qp_raw }
    let v = (Pdn::new(0x12345), UarPage::new(0x23456), Cqn::new(0x34567), Cqn::new(0x45678));
    run! { CreateQpIn, &v; create_qp_typed }
    let v = CreateCq {
        uar: UarPage::new(0x23456),
        eqn: 0x17,
        dbr_addr: 0x0123_4567_89ab_cdef,
        log_cq_size: 12,
        log_page_size: 5,
        cqe_sz: CqeSize::BYTES_128,
        period_mode: CqPeriodMode::FROM_CQE,
        cc: true,
        oi: false,
        compressed: true,
    };
    run! { CreateCqIn, &v; create_cq create_cq_fields create_cq_fields_cut }
}
