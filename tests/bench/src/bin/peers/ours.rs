//! By this codec.

use mlx5_prm::{Cqn, FteMatchSetLyr2_4, ModifyCqIn, ModifyCqSelect, QueryCqOut};

use crate::{FLOW, Flow, MODIFY_CQ, ModifyCq, QUERY_CQ};

#[inline(never)]
pub(crate) fn ours_modify_cq(to: &mut [u8; MODIFY_CQ], v: &ModifyCq) {
    let mut m = ModifyCqIn::new().with_cqn(Cqn::new(v.cqn));
    m.modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(ModifyCqSelect::from_bits(v.select));
    let cqc = m.cq_context_mut();
    cqc.set_cq_period(v.period);
    cqc.set_cq_max_count(v.max_count);
    *to = *m.as_bytes();
}

#[inline(never)]
pub(crate) fn ours_query_cq(bytes: &[u8; QUERY_CQ]) -> u64 {
    let Ok((answer, _)) = QueryCqOut::view_prefix(bytes) else { return 0 };
    let cqc = answer.cq_context();
    u64::from(answer.status().0)
        + u64::from(answer.syndrome())
        + u64::from(cqc.status().0)
        + u64::from(cqc.cqe_sz().0)
        + u64::from(cqc.oi())
        + u64::from(cqc.log_cq_size())
        + u64::from(cqc.uar_page().get())
        + u64::from(cqc.cq_period())
        + u64::from(cqc.cq_max_count())
        + u64::from(cqc.c_eqn_or_apu_element())
}

#[inline(never)]
pub(crate) fn ours_flow(to: &mut [u8; FLOW], v: &Flow) {
    let mut outer = FteMatchSetLyr2_4::new()
        .with_dmac_47_16(v.dmac_47_16)
        .with_dmac_15_0(v.dmac_15_0)
        .with_ethertype(0x0800)
        .with_ip_version(4)
        .with_ip_protocol(v.protocol)
        .with_tcp_sport(v.source_port)
        .with_tcp_dport(v.destination_port);
    outer.src_ipv4_src_ipv6_mut().ipv4_layout_mut().set_ipv4(v.source);
    outer.dst_ipv4_dst_ipv6_mut().ipv4_layout_mut().set_ipv4(v.destination);
    *to = *outer.as_bytes();
}
