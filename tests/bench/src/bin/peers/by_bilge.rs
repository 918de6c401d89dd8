//! By bilge and byteorder: a structure for each dword that has parts, least significant bits first, which
//! is read and written where it stands.

#![allow(dead_code, reason = "a dword has more fields than are used")]

use bilge::prelude::*;
use byteorder::{BigEndian, ByteOrder};

use crate::{FLOW, Flow, MODIFY_CQ, ModifyCq, QUERY_CQ};

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Head0 {
    uid: u16,
    opcode: u16,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Head2 {
    cqn: u24,
    reserved: u8,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Cqc0 {
    cqe_compression_layout: u2,
    reserved: u2,
    ext_element_type: u3,
    always_armed_cq: bool,
    st: u4,
    mini_cqe_res_format: u2,
    cqe_comp_en: bool,
    cq_period_mode: u2,
    oi: bool,
    scqe_break_moderation_en: bool,
    reserved: bool,
    cc: bool,
    cqe_sz: u3,
    apu_cq: bool,
    dbr_umem_valid: bool,
    initiator_src_dct: bool,
    as_notify: bool,
    status: u4,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Cqc3 {
    uar_page: u24,
    log_cq_size: u5,
    reserved: u3,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Cqc4 {
    cq_max_count: u16,
    cq_period: u12,
    reserved: u4,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Match1 {
    ethertype: u16,
    smac_15_0: u16,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Match3 {
    first_vid: u12,
    first_cfi: bool,
    first_prio: u3,
    dmac_15_0: u16,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Match4 {
    tcp_flags: u9,
    ip_version: u4,
    frag: bool,
    svlan_tag: bool,
    cvlan_tag: bool,
    ip_ecn: u2,
    ip_dscp: u6,
    ip_protocol: u8,
}

#[bitsize(32)]
#[derive(FromBits, Clone, Copy)]
struct Match5 {
    tcp_dport: u16,
    tcp_sport: u16,
}

/// Writes a dword.
fn put(to: &mut [u8], dword: usize, value: u32) {
    BigEndian::write_u32(&mut to[dword * 4..], value);
}

fn dword(bytes: &[u8], dword: usize) -> u32 {
    BigEndian::read_u32(&bytes[dword * 4..])
}

#[inline(never)]
pub(crate) fn bilge_modify_cq(to: &mut [u8; MODIFY_CQ], v: &ModifyCq) {
    to.fill(0);
    put(to, 0, Head0::new(0, 0x403).value);
    put(to, 2, Head2::new(u24::new(v.cqn)).value);
    put(to, 3, v.select);
    put(to, 4 + 4, Cqc4::new(v.max_count, u12::new(v.period)).value);
}

#[inline(never)]
pub(crate) fn bilge_query_cq(bytes: &[u8; QUERY_CQ]) -> u64 {
    let (cqc0, cqc3, cqc4) = (
        Cqc0::from(dword(bytes, 4)),
        Cqc3::from(dword(bytes, 4 + 3)),
        Cqc4::from(dword(bytes, 4 + 4)),
    );
    u64::from(bytes[0])
        + u64::from(dword(bytes, 1))
        + u64::from(cqc0.status().value())
        + u64::from(cqc0.cqe_sz().value())
        + u64::from(cqc0.oi())
        + u64::from(cqc3.log_cq_size().value())
        + u64::from(cqc3.uar_page().value())
        + u64::from(cqc4.cq_period().value())
        + u64::from(cqc4.cq_max_count())
        + u64::from(dword(bytes, 4 + 5))
}

#[inline(never)]
pub(crate) fn bilge_flow(to: &mut [u8; FLOW], v: &Flow) {
    let mut parts = Match4::from(0);
    parts.set_ip_version(u4::new(4));
    parts.set_ip_protocol(v.protocol);
    to.fill(0);
    put(to, 1, Match1::new(0x0800, 0).value);
    put(to, 2, v.dmac_47_16);
    put(to, 3, Match3::new(u12::new(0), false, u3::new(0), v.dmac_15_0).value);
    put(to, 4, parts.value);
    put(to, 5, Match5::new(v.destination_port, v.source_port).value);
    put(to, 11, v.source);
    put(to, 15, v.destination);
}
