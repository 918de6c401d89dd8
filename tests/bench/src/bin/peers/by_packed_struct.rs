//! By packed_struct: a structure is packed and unpacked as a whole.

use packed_struct::prelude::*;

use crate::{FLOW, Flow, MODIFY_CQ, ModifyCq, QUERY_CQ};

#[derive(Default, PackedStruct)]
#[packed_struct(bit_numbering = "msb0", endian = "msb", size_bytes = "16")]
struct Head {
    #[packed_field(bits = "0..=15")]
    opcode: u16,
    #[packed_field(bits = "16..=31")]
    uid: u16,
    #[packed_field(bits = "32..=47")]
    r0: u16,
    #[packed_field(bits = "48..=63")]
    op_mod: u16,
    #[packed_field(bits = "64..=71")]
    r1: u8,
    #[packed_field(bits = "72..=95")]
    cqn: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "96..=127")]
    select: u32,
}

#[derive(Default, PackedStruct)]
#[packed_struct(bit_numbering = "msb0", endian = "msb", size_bytes = "16")]
struct Out {
    #[packed_field(bits = "0..=7")]
    status: u8,
    #[packed_field(bits = "8..=31")]
    r0: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "32..=63")]
    syndrome: u32,
    #[packed_field(bits = "64..=127")]
    r1: u64,
}

#[derive(Default, PackedStruct)]
#[packed_struct(bit_numbering = "msb0", endian = "msb", size_bytes = "64")]
struct Cqc {
    #[packed_field(bits = "0..=3")]
    status: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "4..=4")]
    as_notify: bool,
    #[packed_field(bits = "5..=5")]
    initiator_src_dct: bool,
    #[packed_field(bits = "6..=6")]
    dbr_umem_valid: bool,
    #[packed_field(bits = "7..=7")]
    apu_cq: bool,
    #[packed_field(bits = "8..=10")]
    cqe_sz: Integer<u8, packed_bits::Bits<3>>,
    #[packed_field(bits = "11..=11")]
    cc: bool,
    #[packed_field(bits = "12..=12")]
    r0: bool,
    #[packed_field(bits = "13..=13")]
    scqe_break_moderation_en: bool,
    #[packed_field(bits = "14..=14")]
    oi: bool,
    #[packed_field(bits = "15..=16")]
    cq_period_mode: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "17..=17")]
    cqe_comp_en: bool,
    #[packed_field(bits = "18..=19")]
    mini_cqe_res_format: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "20..=23")]
    st: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "24..=24")]
    always_armed_cq: bool,
    #[packed_field(bits = "25..=27")]
    ext_element_type: Integer<u8, packed_bits::Bits<3>>,
    #[packed_field(bits = "28..=29")]
    r1: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "30..=31")]
    cqe_compression_layout: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "32..=63")]
    dbr_umem_id: u32,
    #[packed_field(bits = "64..=83")]
    r2: Integer<u32, packed_bits::Bits<20>>,
    #[packed_field(bits = "84..=89")]
    page_offset: Integer<u8, packed_bits::Bits<6>>,
    #[packed_field(bits = "90..=91")]
    r3: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "92..=93")]
    mini_cqe_res_format_ext: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "94..=95")]
    cq_timestamp_format: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "96..=98")]
    r4: Integer<u8, packed_bits::Bits<3>>,
    #[packed_field(bits = "99..=103")]
    log_cq_size: Integer<u8, packed_bits::Bits<5>>,
    #[packed_field(bits = "104..=127")]
    uar_page: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "128..=131")]
    r5: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "132..=143")]
    cq_period: Integer<u16, packed_bits::Bits<12>>,
    #[packed_field(bits = "144..=159")]
    cq_max_count: u16,
    #[packed_field(bits = "160..=191")]
    c_eqn_or_apu_element: u32,
    #[packed_field(bits = "192..=194")]
    r6: Integer<u8, packed_bits::Bits<3>>,
    #[packed_field(bits = "195..=199")]
    log_page_size: Integer<u8, packed_bits::Bits<5>>,
    #[packed_field(bits = "200..=223")]
    r7: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "224..=255")]
    r8: u32,
    #[packed_field(bits = "256..=263")]
    r9: u8,
    #[packed_field(bits = "264..=287")]
    last_notified_index: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "288..=295")]
    r10: u8,
    #[packed_field(bits = "296..=319")]
    last_solicit_index: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "320..=327")]
    r11: u8,
    #[packed_field(bits = "328..=351")]
    consumer_counter: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "352..=359")]
    r12: u8,
    #[packed_field(bits = "360..=383")]
    producer_counter: Integer<u32, packed_bits::Bits<24>>,
    #[packed_field(bits = "384..=395")]
    local_partition_id: Integer<u16, packed_bits::Bits<12>>,
    #[packed_field(bits = "396..=415")]
    process_id: Integer<u32, packed_bits::Bits<20>>,
    #[packed_field(bits = "416..=447")]
    r13: u32,
    #[packed_field(bits = "448..=511")]
    dbr_addr: u64,
}

#[derive(Default, PackedStruct)]
#[packed_struct(bit_numbering = "msb0", endian = "msb", size_bytes = "64")]
struct Match {
    #[packed_field(bits = "0..=31")]
    smac_47_16: u32,
    #[packed_field(bits = "32..=47")]
    smac_15_0: u16,
    #[packed_field(bits = "48..=63")]
    ethertype: u16,
    #[packed_field(bits = "64..=95")]
    dmac_47_16: u32,
    #[packed_field(bits = "96..=111")]
    dmac_15_0: u16,
    #[packed_field(bits = "112..=114")]
    first_prio: Integer<u8, packed_bits::Bits<3>>,
    #[packed_field(bits = "115..=115")]
    first_cfi: bool,
    #[packed_field(bits = "116..=127")]
    first_vid: Integer<u16, packed_bits::Bits<12>>,
    #[packed_field(bits = "128..=135")]
    ip_protocol: u8,
    #[packed_field(bits = "136..=141")]
    ip_dscp: Integer<u8, packed_bits::Bits<6>>,
    #[packed_field(bits = "142..=143")]
    ip_ecn: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "144..=144")]
    cvlan_tag: bool,
    #[packed_field(bits = "145..=145")]
    svlan_tag: bool,
    #[packed_field(bits = "146..=146")]
    frag: bool,
    #[packed_field(bits = "147..=150")]
    ip_version: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "151..=159")]
    tcp_flags: Integer<u16, packed_bits::Bits<9>>,
    #[packed_field(bits = "160..=175")]
    tcp_sport: u16,
    #[packed_field(bits = "176..=191")]
    tcp_dport: u16,
    #[packed_field(bits = "192..=193")]
    l4_type: Integer<u8, packed_bits::Bits<2>>,
    #[packed_field(bits = "194..=197")]
    l4_type_ext: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "198..=207")]
    r0: Integer<u16, packed_bits::Bits<10>>,
    #[packed_field(bits = "208..=211")]
    ipv4_ihl: Integer<u8, packed_bits::Bits<4>>,
    #[packed_field(bits = "212..=212")]
    l3_ok: bool,
    #[packed_field(bits = "213..=213")]
    l4_ok: bool,
    #[packed_field(bits = "214..=214")]
    ipv4_checksum_ok: bool,
    #[packed_field(bits = "215..=215")]
    l4_checksum_ok: bool,
    #[packed_field(bits = "216..=223")]
    ttl_hoplimit: u8,
    #[packed_field(bits = "224..=239")]
    udp_sport: u16,
    #[packed_field(bits = "240..=255")]
    udp_dport: u16,
    #[packed_field(bits = "256..=351")]
    r1: [u8; 12],
    #[packed_field(bits = "352..=383")]
    src_ipv4: u32,
    #[packed_field(bits = "384..=479")]
    r2: [u8; 12],
    #[packed_field(bits = "480..=511")]
    dst_ipv4: u32,
}

#[inline(never)]
pub(crate) fn packed_struct_modify_cq(to: &mut [u8; MODIFY_CQ], v: &ModifyCq) {
    let head = Head { opcode: 0x403, cqn: v.cqn.into(), select: v.select, ..Head::default() };
    let cqc = Cqc { cq_period: v.period.into(), cq_max_count: v.max_count, ..Cqc::default() };
    to.fill(0);
    to[..16].copy_from_slice(&head.pack().expect("it fits"));
    to[16..80].copy_from_slice(&cqc.pack().expect("it fits"));
}

#[inline(never)]
pub(crate) fn packed_struct_query_cq(bytes: &[u8; QUERY_CQ]) -> u64 {
    let Ok(out) = Out::unpack_from_slice(&bytes[..16]) else { return 0 };
    let Ok(cqc) = Cqc::unpack_from_slice(&bytes[16..80]) else { return 0 };
    u64::from(out.status)
        + u64::from(out.syndrome)
        + u64::from(*cqc.status)
        + u64::from(*cqc.cqe_sz)
        + u64::from(cqc.oi)
        + u64::from(*cqc.log_cq_size)
        + u64::from(*cqc.uar_page)
        + u64::from(*cqc.cq_period)
        + u64::from(cqc.cq_max_count)
        + u64::from(cqc.c_eqn_or_apu_element)
}

#[inline(never)]
pub(crate) fn packed_struct_flow(to: &mut [u8; FLOW], v: &Flow) {
    let outer = Match {
        dmac_47_16: v.dmac_47_16,
        dmac_15_0: v.dmac_15_0,
        ethertype: 0x0800,
        ip_version: 4.into(),
        ip_protocol: v.protocol,
        tcp_sport: v.source_port,
        tcp_dport: v.destination_port,
        src_ipv4: v.source,
        dst_ipv4: v.destination,
        ..Match::default()
    };
    *to = outer.pack().expect("it fits");
}
