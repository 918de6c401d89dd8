/* The answers of read.rs. */

#define CASE_READ(name) OPAQUE_FN uint64_t name(const void *out)
#define GET(layout, field) (uint64_t)DEVX_GET(layout, out, field)

CASE_READ(query_cq)
{
#define F(field) + GET(query_cq_out, field)
	return 0 F(status) F(syndrome) F(cq_context.status) F(cq_context.cqe_sz)
		F(cq_context.oi) F(cq_context.log_cq_size) F(cq_context.uar_page)
		F(cq_context.cq_period) F(cq_context.cq_max_count)
		F(cq_context.c_eqn_or_apu_element);
#undef F
}

CASE_READ(query_qp)
{
#define F(field) + GET(query_qp_out, field)
#define Q(field) F(qpc.field)
#define P(field) F(qpc.primary_address_path.field)
	return 0 F(status) F(syndrome) F(opt_param_mask)
		Q(state) Q(st) Q(pm_state) Q(pd) Q(mtu) Q(log_msg_max) Q(log_rq_size)
		Q(log_rq_stride) Q(log_sq_size) Q(uar_page) Q(user_index) Q(remote_qpn)
		Q(retry_count) Q(rnr_retry) Q(next_send_psn) Q(cqn_snd) Q(last_acked_psn)
		Q(ssn) Q(log_rra_max) Q(log_sra_max) Q(rre) Q(rwe) Q(rae) Q(min_rnr_nak)
		Q(next_rcv_psn) Q(cqn_rcv) Q(q_key) Q(hw_rq_counter) Q(sw_rq_counter)
		P(pkey_index) P(grh) P(rlid) P(ack_timeout) P(src_addr_index) P(hop_limit)
		P(vhca_port_num);
#undef F
#undef Q
#undef P
}

CASE_READ(query_rqt)
{
	const void *rqtc = DEVX_ADDR_OF(query_rqt_out, out, rqt_context);
	uint32_t entries = DEVX_GET(rqtc, rqtc, rqt_actual_size);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < entries; i++)
		sum += DEVX_GET(rqtc, rqtc, rq_num[i].rq_num);
	return sum;
}

CASE_READ(query_hca_cap)
{
#define F(field) + GET(query_hca_cap_out, capability.cmd_hca_cap.field)
	return 0
		F(shared_object_to_user_object_allowed) F(hca_cap_2)
		F(event_on_vhca_state_teardown_request) F(event_on_vhca_state_allocated)
		F(log_max_qp_sz) F(isolate_vl_tc_new) F(ece_support) F(uplink_follow)
		F(max_sgl_for_optimized_performance) F(relaxed_ordering_read_umr)
		F(virtio_blk_device_emualtion_manager) F(relaxed_ordering_write)
		F(dump_fill_mkey) F(max_indirection) F(log_max_mrw_sz)
		F(umr_extended_translation_offset) F(log_max_ra_req_dc) F(log_max_ra_res_dc)
		F(roce_accl) F(log_max_ra_res_qp) F(cc_modify_allowed)
		F(rts2rts_qp_counters_set_id) F(qcam_reg) F(vport_counters)
		F(modify_rq_counter_set_id) F(vport_group_manager) F(eth_virt)
		F(nic_flow_table) F(device_memory) F(local_ca_ack_delay) F(ports_check)
		F(num_ports) F(pps_modify) F(temp_warn_event) F(fpga) F(wol_s) F(wol_b)
		F(wol_u) F(pci_sync_for_fw_update_event) F(compact_address_vector)
		F(ipoib_basic_offloads) F(umr_modify_entity_size_disabled)
		F(dc_req_scat_data_cqe) F(wq_signature) F(tph) F(qos) F(roce) F(cq_resize)
		F(pg) F(cq_period_start_from_cqe) F(vector_calc) F(imaicl) F(pkv) F(ud)
		F(uar_4k) F(regexp_params) F(umem_uid_0) F(driver_version) F(log_bf_reg_size)
		F(lag_native_fdb_selection) F(num_lag_ports) F(max_flow_counter_31_16)
		F(log_max_mcg) F(log_max_xrcd) F(receive_discard_vport_down)
		F(invalid_command_count) F(max_flow_counter_15_0) F(log_max_tir)
		F(log_max_rmp) F(log_max_rqt_size) F(roce_rw_supported)
		F(log_min_stride_sz_rq) F(hairpin) F(log_max_hairpin_wq_data_sz)
		F(nic_vport_change_event) F(log_min_hairpin_wq_data_sz)
		F(log_max_current_mc_list) F(ats) F(ipsec_offload) F(tls_tx)
		F(log_uar_page_sz) F(num_of_uars_per_page) F(max_geneve_tlv_option_data_len)
		F(log_max_dci_errored_streams) F(mini_cqe_resp_stride_index)
		F(cqe_compression) F(flex_parser_id_gtpu_dw_0) F(rndv_offload_rc)
		F(log_max_xrq) F(num_vhca_ports) F(max_num_of_monitor_counters) F(max_num_sf)
		F(sf_set_partition) F(migration) F(flex_parser_id_geneve_tlv_option_0)
		F(flex_parser_id_icmpv6_dw1) F(flex_parser_id_outer_first_mpls_over_gre)
		F(sf_base_id) F(num_total_dynamic_vf_msix) F(max_dynamic_vf_msix_table_size);
#undef F
}

static void noise(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
}

static void query_rqts(uint32_t entries)
{
	size_t len = DEVX_ST_SZ_BYTES(query_rqt_out) + entries * 4;
	void *out = room(len), *rqtc = DEVX_ADDR_OF(query_rqt_out, out, rqt_context);

	noise(out, len);
	DEVX_SET(rqtc, rqtc, rqt_actual_size, entries);
	run_read("query_rqt", query_rqt, out);
	free(out);
}

static void reads(void)
{
	size_t len = DEVX_ST_SZ_BYTES(query_hca_cap_out);
	void *out = room(len);

	noise(out, len);
	run_read("query_cq", query_cq, out);
	run_read("query_qp", query_qp, out);
	query_rqts(1024);
	run_read("query_hca_cap", query_hca_cap, out);
	free(out);
}
