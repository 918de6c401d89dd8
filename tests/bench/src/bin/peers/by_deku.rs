//! By deku: a structure is read from bytes and written to them.

#![allow(dead_code, reason = "reserved bits are read, and not looked at")]

use deku::prelude::*;

use crate::{FLOW, Flow, MODIFY_CQ, ModifyCq, QUERY_CQ};

#[derive(Default, DekuWrite)]
#[deku(endian = "big")]
struct Head {
    opcode: u16,
    uid: u16,
    r0: u16,
    op_mod: u16,
    r1: u8,
    #[deku(bits = 24)]
    cqn: u32,
    select: u32,
}

#[derive(DekuRead)]
#[deku(endian = "big")]
struct Out {
    status: u8,
    #[deku(bits = 24)]
    r0: u32,
    syndrome: u32,
    r1: u64,
}

#[derive(Default, DekuRead, DekuWrite)]
#[deku(endian = "big")]
struct Cqc {
    #[deku(bits = 4)]
    status: u8,
    #[deku(bits = 1)]
    as_notify: u8,
    #[deku(bits = 1)]
    initiator_src_dct: u8,
    #[deku(bits = 1)]
    dbr_umem_valid: u8,
    #[deku(bits = 1)]
    apu_cq: u8,
    #[deku(bits = 3)]
    cqe_sz: u8,
    #[deku(bits = 1)]
    cc: u8,
    #[deku(bits = 1)]
    r0: u8,
    #[deku(bits = 1)]
    scqe_break_moderation_en: u8,
    #[deku(bits = 1)]
    oi: u8,
    #[deku(bits = 2)]
    cq_period_mode: u8,
    #[deku(bits = 1)]
    cqe_comp_en: u8,
    #[deku(bits = 2)]
    mini_cqe_res_format: u8,
    #[deku(bits = 4)]
    st: u8,
    #[deku(bits = 1)]
    always_armed_cq: u8,
    #[deku(bits = 3)]
    ext_element_type: u8,
    #[deku(bits = 2)]
    r1: u8,
    #[deku(bits = 2)]
    cqe_compression_layout: u8,
    dbr_umem_id: u32,
    #[deku(bits = 20)]
    r2: u32,
    #[deku(bits = 6)]
    page_offset: u8,
    #[deku(bits = 2)]
    r3: u8,
    #[deku(bits = 2)]
    mini_cqe_res_format_ext: u8,
    #[deku(bits = 2)]
    cq_timestamp_format: u8,
    #[deku(bits = 3)]
    r4: u8,
    #[deku(bits = 5)]
    log_cq_size: u8,
    #[deku(bits = 24)]
    uar_page: u32,
    #[deku(bits = 4)]
    r5: u8,
    #[deku(bits = 12)]
    cq_period: u16,
    cq_max_count: u16,
    c_eqn_or_apu_element: u32,
    #[deku(bits = 3)]
    r6: u8,
    #[deku(bits = 5)]
    log_page_size: u8,
    #[deku(bits = 24)]
    r7: u32,
    r8: u32,
    r9: u8,
    #[deku(bits = 24)]
    last_notified_index: u32,
    r10: u8,
    #[deku(bits = 24)]
    last_solicit_index: u32,
    r11: u8,
    #[deku(bits = 24)]
    consumer_counter: u32,
    r12: u8,
    #[deku(bits = 24)]
    producer_counter: u32,
    #[deku(bits = 12)]
    local_partition_id: u16,
    #[deku(bits = 20)]
    process_id: u32,
    r13: u32,
    dbr_addr: u64,
}

#[derive(Default, DekuWrite)]
#[deku(endian = "big")]
struct Match {
    smac_47_16: u32,
    smac_15_0: u16,
    ethertype: u16,
    dmac_47_16: u32,
    dmac_15_0: u16,
    #[deku(bits = 3)]
    first_prio: u8,
    #[deku(bits = 1)]
    first_cfi: u8,
    #[deku(bits = 12)]
    first_vid: u16,
    ip_protocol: u8,
    #[deku(bits = 6)]
    ip_dscp: u8,
    #[deku(bits = 2)]
    ip_ecn: u8,
    #[deku(bits = 1)]
    cvlan_tag: u8,
    #[deku(bits = 1)]
    svlan_tag: u8,
    #[deku(bits = 1)]
    frag: u8,
    #[deku(bits = 4)]
    ip_version: u8,
    #[deku(bits = 9)]
    tcp_flags: u16,
    tcp_sport: u16,
    tcp_dport: u16,
    #[deku(bits = 2)]
    l4_type: u8,
    #[deku(bits = 4)]
    l4_type_ext: u8,
    #[deku(bits = 10)]
    r0: u16,
    #[deku(bits = 4)]
    ipv4_ihl: u8,
    #[deku(bits = 1)]
    l3_ok: u8,
    #[deku(bits = 1)]
    l4_ok: u8,
    #[deku(bits = 1)]
    ipv4_checksum_ok: u8,
    #[deku(bits = 1)]
    l4_checksum_ok: u8,
    ttl_hoplimit: u8,
    udp_sport: u16,
    udp_dport: u16,
    #[deku(bits = 96)]
    r1: u128,
    src_ipv4: u32,
    #[deku(bits = 96)]
    r2: u128,
    dst_ipv4: u32,
}

#[inline(never)]
pub(crate) fn deku_modify_cq(to: &mut [u8; MODIFY_CQ], v: &ModifyCq) {
    let head = Head { opcode: 0x403, cqn: v.cqn, select: v.select, ..Head::default() };
    let cqc = Cqc { cq_period: v.period, cq_max_count: v.max_count, ..Cqc::default() };
    to.fill(0);
    let fits = head.to_slice(&mut to[..16]).and(cqc.to_slice(&mut to[16..80]));
    fits.expect("room for both");
}

#[inline(never)]
pub(crate) fn deku_query_cq(bytes: &[u8; QUERY_CQ]) -> u64 {
    let Ok((_, out)) = Out::from_bytes((bytes, 0)) else { return 0 };
    let Ok((_, cqc)) = Cqc::from_bytes((&bytes[16..], 0)) else { return 0 };
    u64::from(out.status)
        + u64::from(out.syndrome)
        + u64::from(cqc.status)
        + u64::from(cqc.cqe_sz)
        + u64::from(cqc.oi)
        + u64::from(cqc.log_cq_size)
        + u64::from(cqc.uar_page)
        + u64::from(cqc.cq_period)
        + u64::from(cqc.cq_max_count)
        + u64::from(cqc.c_eqn_or_apu_element)
}

#[inline(never)]
pub(crate) fn deku_flow(to: &mut [u8; FLOW], v: &Flow) {
    let outer = Match {
        dmac_47_16: v.dmac_47_16,
        dmac_15_0: v.dmac_15_0,
        ethertype: 0x0800,
        ip_version: 4,
        ip_protocol: v.protocol,
        tcp_sport: v.source_port,
        tcp_dport: v.destination_port,
        src_ipv4: v.source,
        dst_ipv4: v.destination,
        ..Match::default()
    };
    outer.to_slice(to).expect("room for it");
}
