//! Commands with a list behind them.

use mlx5_prm::{
    CreateMkeyIn, DestFormatStruct, FlowActions, FlowDestinationType, FlowIndex, FlowTableId,
    FlowTableType, Klm, Mkey, ModifyRqtInWithRqNum, Pdn, Qpn, RqNum, Rqn, Rqtn, SetFteIn, WithTail,
};

use crate::run::Run;

/// CREATE_MKEY with KLMs, which the PRM gives as dwords.
type CreateMkeyWithKlms = WithTail<CreateMkeyIn, Klm>;
/// SET_FLOW_TABLE_ENTRY with destinations of the short form.
type SetFteWithDestinations = WithTail<SetFteIn, DestFormatStruct>;

struct ModifyRqt {
    rqtn: Rqtn,
    queues: Vec<Rqn>,
}

/// Zeros, head and list.
#[inline(never)]
fn modify_rqt(buffer: &mut [u8], v: &ModifyRqt) {
    let Ok(m) = ModifyRqtInWithRqNum::new_in(buffer, v.queues.len()) else { return };
    m.head.set_rqtn(v.rqtn);
    m.head.change_rqt_actual_size(v.queues.len() as u16);
    for (entry, queue) in m.tail.iter_mut().zip(&v.queues) {
        *entry = RqNum::new().with_rq_num(*queue);
    }
}

/// The list alone, into a mailbox.
#[inline(never)]
fn modify_rqt_fields(m: &mut ModifyRqtInWithRqNum, v: &ModifyRqt) {
    for (entry, queue) in m.tail.iter_mut().zip(&v.queues) {
        entry.set_rq_num(*queue);
    }
}

/// The same with numbers that may be too large.
#[inline(never)]
fn modify_rqt_raw(m: &mut ModifyRqtInWithRqNum, v: &[u32]) {
    for (entry, queue) in m.tail.iter_mut().zip(v) {
        entry.set_rq_num(Rqn::new(*queue));
    }
}

struct CreateMkey {
    pd: Pdn,
    start: u64,
    length: u64,
    key: u8,
    klms: Vec<(u32, Mkey, u64)>,
}

/// Zeros, head and list.
#[inline(never)]
fn create_mkey(buffer: &mut [u8], v: &CreateMkey) {
    let Ok(m) = CreateMkeyWithKlms::new_in(buffer, v.klms.len()) else { return };
    let octwords = v.klms.len() as u32;
    m.head.set_translations_octword_actual_size(octwords);
    let mkc = m.head.memory_key_mkey_entry_mut();
    mkc.set_umr_en(true);
    mkc.set_rw(true);
    mkc.set_rr(true);
    mkc.set_lw(true);
    mkc.set_lr(true);
    mkc.set_access_mode_1_0(2);
    mkc.set_qpn(Qpn::new(0xffffff));
    mkc.set_mkey_7_0(v.key);
    mkc.set_pd(v.pd);
    mkc.set_start_addr(v.start);
    mkc.set_len(v.length);
    mkc.set_translations_octword_size(octwords);
    for (klm, (byte_count, mkey, address)) in m.tail.iter_mut().zip(&v.klms) {
        *klm = Klm::new().with_byte_count(*byte_count).with_mkey(*mkey).with_address(*address);
    }
}

/// The list alone, into a mailbox.
#[inline(never)]
fn create_mkey_fields(m: &mut CreateMkeyWithKlms, v: &CreateMkey) {
    for (klm, (byte_count, mkey, address)) in m.tail.iter_mut().zip(&v.klms) {
        klm.set_byte_count(*byte_count);
        klm.set_mkey(*mkey);
        klm.set_address(*address);
    }
}

struct SetFte {
    table: FlowTableId,
    index: FlowIndex,
    group: u32,
    tag: u32,
    dmac_47_16: u32,
    dmac_15_0: u16,
    source: u32,
    destination: u32,
    source_port: u16,
    destination_port: u16,
    protocol: u8,
    tir: u32,
}

/// An entry for a flow of five parts, to a TIR.
#[inline(never)]
fn set_fte(buffer: &mut [u8], v: &SetFte) {
    let Ok(m) = SetFteWithDestinations::new_in(buffer, 1) else { return };
    set_fte_all(m, v, [v.tag, v.tir]);
}

/// The same, cut off as the macros do.
#[inline(never)]
fn set_fte_cut(buffer: &mut [u8], v: &SetFte) {
    let Ok(m) = SetFteWithDestinations::new_in(buffer, 1) else { return };
    set_fte_all(m, v, [v.tag & 0xff_ffff, v.tir & 0xff_ffff]);
}

/// The fields alone, into a mailbox.
#[inline(never)]
fn set_fte_fields(m: &mut SetFteWithDestinations, v: &SetFte) {
    m.head.set_opcode(mlx5_prm::Opcode::SET_FLOW_TABLE_ENTRY);
    set_fte_all(m, v, [v.tag, v.tir]);
}

/// The fields alone, cut off as the macros do.
#[inline(never)]
fn set_fte_fields_cut(m: &mut SetFteWithDestinations, v: &SetFte) {
    m.head.set_opcode(mlx5_prm::Opcode::SET_FLOW_TABLE_ENTRY);
    set_fte_all(m, v, [v.tag & 0xff_ffff, v.tir & 0xff_ffff]);
}

#[inline(always)]
fn set_fte_all(m: &mut SetFteWithDestinations, v: &SetFte, [tag, tir]: [u32; 2]) {
    m.head.set_table_type(FlowTableType::NIC_RX);
    m.head.set_table_id(v.table);
    m.head.set_flow_index(v.index);
    let context = m.head.flow_context_mut();
    context.set_group_id(v.group);
    context.set_flow_tag(tag);
    context.set_action(FlowActions::new().with_fwd_dest(true));
    context.set_destination_list_size(1);
    let outer = context.match_value_mut().outer_headers_mut();
    outer.set_dmac_47_16(v.dmac_47_16);
    outer.set_dmac_15_0(v.dmac_15_0);
    outer.set_ethertype(0x0800);
    outer.set_ip_version(4);
    outer.set_ip_protocol(v.protocol);
    outer.set_tcp_sport(v.source_port);
    outer.set_tcp_dport(v.destination_port);
    outer.src_ipv4_src_ipv6_mut().ipv4_layout_mut().set_ipv4(v.source);
    outer.dst_ipv4_dst_ipv6_mut().ipv4_layout_mut().set_ipv4(v.destination);
    if let Some(destination) = m.tail.first_mut() {
        destination.set_destination_type(FlowDestinationType::TIR);
        destination.set_destination_id(tir);
    }
}

/// Zeros alone.
#[inline(never)]
fn zeros_4368(m: &mut [u8; 4368], (): &()) {
    *m = [0; 4368];
}

pub(crate) fn all(run: &mut Run) {
    run.write("zeros_4368", zeros_4368, &mut [0xff; 4368], &(), |m| &m[..]);
    modify_rqts(run, 1024);
    create_mkeys(run, 512);

    let v = SetFte {
        table: FlowTableId::new(0x12345),
        index: FlowIndex::new(0x89ab_cdef),
        group: 7,
        tag: 0x654321,
        dmac_47_16: 0x0011_2233,
        dmac_15_0: 0x4455,
        source: 0x0a00_0001,
        destination: 0x0a00_0002,
        source_port: 0x8123,
        destination_port: 443,
        protocol: 6,
        tir: 0x345678,
    };
    let mut buffer = [0; SetFteWithDestinations::size(1)];
    run.write("set_fte", set_fte, &mut buffer[..], &v, |m| m);
    run.write("set_fte_cut", set_fte_cut, &mut buffer[..], &v, |m| m);
    let mut m = SetFteWithDestinations::boxed(1);
    run.write("set_fte_fields", set_fte_fields, &mut *m, &v, |m| m.as_bytes());
    run.write("set_fte_fields_cut", set_fte_fields_cut, &mut *m, &v, |m| m.as_bytes());
}

/// MODIFY_RQT with so many entries.
pub(crate) fn modify_rqts(run: &mut Run, entries: u32) {
    let numbers: Vec<u32> = (0..entries).map(|i| 0x10000 + i * 3).collect();
    let v = ModifyRqt {
        rqtn: Rqtn::new(0x12345),
        queues: numbers.iter().map(|&number| Rqn::new(number)).collect(),
    };
    let mut buffer = vec![0; ModifyRqtInWithRqNum::size(numbers.len())];
    run.write("modify_rqt", modify_rqt, &mut buffer[..], &v, |m| m);
    buffer.fill(0);
    let m = ModifyRqtInWithRqNum::view_mut(&mut buffer).expect("as long as it is");
    run.write("modify_rqt_fields", modify_rqt_fields, m, &v, |m| m.as_bytes());
    run.write("modify_rqt_raw", modify_rqt_raw, m, &numbers[..], |m| m.as_bytes());
}

/// CREATE_MKEY with so many KLMs.
pub(crate) fn create_mkeys(run: &mut Run, klms: u32) {
    let klm = |i: u32| (0x1000 + i, Mkey::new(i * 256 + 7), 0x0001_0000_0000 + u64::from(i) * 4096);
    let v = CreateMkey {
        pd: Pdn::new(0x12345),
        start: 0x7f00_1234_5000,
        length: u64::from(klms) * 4096,
        key: 0x5a,
        klms: (0..klms).map(klm).collect(),
    };
    let mut buffer = vec![0; CreateMkeyWithKlms::size(v.klms.len())];
    run.write("create_mkey", create_mkey, &mut buffer[..], &v, |m| m);
    buffer.fill(0);
    let m = CreateMkeyWithKlms::view_mut(&mut buffer).expect("as long as it is");
    run.write("create_mkey_fields", create_mkey_fields, m, &v, |m| m.as_bytes());
}
