//! Answers of the adapter, read field by field: the sum of what was read is given, so that nothing is left
//! out.

use mlx5_prm::{
    CqStatus, CqeSize, Cqn, PathMtu, Pdn, PmState, QpSt, QpState, Qpn, QueryCqOut, QueryHcaCapOut,
    QueryQpOut, QueryRqtOutWithRqNum, Status, UarPage,
};

use crate::run::Run;

/// A value of a field, as a number.
trait Number {
    fn number(self) -> u64;
}

macro_rules! numbers {
    (plain $($plain:ident)*; coded $($coded:ident)*; objects $($object:ident)*) => {
        $( impl Number for $plain { #[inline(always)] fn number(self) -> u64 { self.into() } } )*
        $( impl Number for $coded { #[inline(always)] fn number(self) -> u64 { self.0.into() } } )*
        $( impl Number for $object { #[inline(always)] fn number(self) -> u64 { self.get().into() } } )*
    };
}

numbers! {
    plain bool u8 u16 u32 u64;
    coded Status CqStatus CqeSize QpState QpSt PmState PathMtu;
    objects Cqn Qpn Pdn UarPage
}

/// The sum of fields of a layout.
macro_rules! sum {
    ($of:expr; $($field:ident)*) => { 0 $( + $of.$field().number() )* };
}

#[inline(always)]
fn cq(answer: &QueryCqOut) -> u64 {
    sum!(answer; status syndrome)
        + sum!(answer.cq_context(); status cqe_sz oi log_cq_size uar_page cq_period cq_max_count c_eqn_or_apu_element)
}

/// Ten fields of an answer that is known to be one.
#[inline(never)]
fn query_cq(answer: &QueryCqOut) -> u64 {
    cq(answer)
}

/// Ten fields of any bytes, viewed in place.
#[inline(never)]
fn query_cq_bytes(answer: &[u8]) -> u64 {
    QueryCqOut::view(answer).map_or(0, cq)
}

/// What a user looks at in the context of a queue pair.
#[inline(never)]
fn query_qp_bytes(answer: &[u8]) -> u64 {
    let Ok(answer) = QueryQpOut::view(answer) else { return 0 };
    sum!(answer; status syndrome opt_param_mask)
        + sum!(answer.qpc();
            state st pm_state pd mtu log_msg_max log_rq_size log_rq_stride log_sq_size uar_page
            user_index remote_qpn retry_count rnr_retry next_send_psn cqn_snd last_acked_psn ssn
            log_rra_max log_sra_max rre rwe rae min_rnr_nak next_rcv_psn cqn_rcv q_key
            hw_rq_counter sw_rq_counter)
        + sum!(answer.qpc().primary_address_path();
            pkey_index grh rlid ack_timeout src_addr_index hop_limit vhca_port_num)
}

/// The entries of a table, added up.
#[inline(always)]
fn rqt(answer: &QueryRqtOutWithRqNum) -> u64 {
    let entries = answer.head.rqt_context().rqt_actual_size();
    answer.tail.iter().take(entries.into()).map(|entry| u64::from(entry.rq_num().get())).sum()
}

/// Those of an answer that is known to be one.
#[inline(never)]
fn query_rqt(answer: &QueryRqtOutWithRqNum) -> u64 {
    rqt(answer)
}

/// Those of any bytes, viewed in place.
#[inline(never)]
fn query_rqt_bytes(answer: &[u8]) -> u64 {
    QueryRqtOutWithRqNum::view(answer).map_or(0, rqt)
}

/// A hundred capabilities.
#[inline(never)]
fn query_hca_cap_bytes(answer: &[u8]) -> u64 {
    let Ok(answer) = QueryHcaCapOut::view(answer) else { return 0 };
    sum!(answer.capability().cmd_hca_cap();
        shared_object_to_user_object_allowed hca_cap_2 event_on_vhca_state_teardown_request
        event_on_vhca_state_allocated log_max_qp_sz isolate_vl_tc_new ece_support uplink_follow
        max_sgl_for_optimized_performance relaxed_ordering_read_umr
        virtio_blk_device_emualtion_manager relaxed_ordering_write dump_fill_mkey
        max_indirection log_max_mrw_sz umr_extended_translation_offset log_max_ra_req_dc
        log_max_ra_res_dc roce_accl log_max_ra_res_qp cc_modify_allowed
        rts2rts_qp_counters_set_id qcam_reg vport_counters modify_rq_counter_set_id
        vport_group_manager eth_virt nic_flow_table device_memory local_ca_ack_delay ports_check
        num_ports pps_modify temp_warn_event fpga wol_s wol_b wol_u pci_sync_for_fw_update_event
        compact_address_vector ipoib_basic_offloads umr_modify_entity_size_disabled
        dc_req_scat_data_cqe wq_signature tph qos roce cq_resize pg cq_period_start_from_cqe
        vector_calc imaicl pkv ud uar_4k regexp_params umem_uid_0 driver_version log_bf_reg_size
        lag_native_fdb_selection num_lag_ports max_flow_counter_31_16 log_max_mcg log_max_xrcd
        receive_discard_vport_down invalid_command_count max_flow_counter_15_0 log_max_tir
        log_max_rmp log_max_rqt_size roce_rw_supported log_min_stride_sz_rq hairpin
        log_max_hairpin_wq_data_sz nic_vport_change_event log_min_hairpin_wq_data_sz
        log_max_current_mc_list ats ipsec_offload tls_tx log_uar_page_sz num_of_uars_per_page
        max_geneve_tlv_option_data_len log_max_dci_errored_streams mini_cqe_resp_stride_index
        cqe_compression flex_parser_id_gtpu_dw_0 rndv_offload_rc log_max_xrq num_vhca_ports
        max_num_of_monitor_counters max_num_sf sf_set_partition migration
        flex_parser_id_geneve_tlv_option_0 flex_parser_id_icmpv6_dw1
        flex_parser_id_outer_first_mpls_over_gre sf_base_id num_total_dynamic_vf_msix
        max_dynamic_vf_msix_table_size)
}

/// Bytes that look like nothing.
fn noise(bytes: &mut [u8]) {
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = (i * 37 + 11) as u8;
    }
}

pub(crate) fn all(run: &mut Run) {
    let mut cq = QueryCqOut::zeroed();
    noise(cq.as_bytes_mut());
    run.read("query_cq", query_cq, &cq);
    run.read("query_cq_bytes", query_cq_bytes, &cq.as_bytes()[..]);
    let mut qp = QueryQpOut::zeroed();
    noise(qp.as_bytes_mut());
    run.read("query_qp_bytes", query_qp_bytes, &qp.as_bytes()[..]);
    query_rqts(run, 1024);
    let mut caps = Box::new(QueryHcaCapOut::zeroed());
    noise(caps.as_bytes_mut());
    run.read("query_hca_cap_bytes", query_hca_cap_bytes, &caps.as_bytes()[..]);
}

/// QUERY_RQT with so many entries.
pub(crate) fn query_rqts(run: &mut Run, entries: u16) {
    let mut answer = vec![0; QueryRqtOutWithRqNum::size(entries.into())];
    noise(&mut answer);
    if let Ok(answer) = QueryRqtOutWithRqNum::view_mut(&mut answer) {
        answer.head.rqt_context_mut().set_rqt_actual_size(entries);
    }
    run.read("query_rqt_bytes", query_rqt_bytes, &answer[..]);
    run.read(
        "query_rqt",
        query_rqt,
        QueryRqtOutWithRqNum::view(&answer).expect("as long as it is"),
    );
}
