// Written by: PRM_BUILT=write cargo test -p mlx5-prm-cli --test built

pub(crate) type Make = fn() -> Vec<u8>;

pub(crate) fn given_modify_cq() -> Vec<u8> {
    use mlx5_prm::{Cqn, ModifyCqIn, ModifyCqSelect};

    let mut modify_cq_in = ModifyCqIn::new();
    modify_cq_in.set_cqn(Cqn::new(0x42));
    modify_cq_in.modify_field_select_resize_field_select_mut().modify_field_select_mut().set_modify_field_select(ModifyCqSelect::from_bits(0x3));
    modify_cq_in.cq_context_mut().set_cq_period(0x10);
    modify_cq_in.cq_context_mut().set_cq_max_count(0x20);
    modify_cq_in.as_bytes().to_vec()
}

pub(crate) fn given_create_cq() -> Vec<u8> {
    // mlx5-prm, features = ["alloc"]
    use mlx5_prm::CreateCqInWithPas;

    let mut create_cq_in = CreateCqInWithPas::boxed(2);
    create_cq_in.head.cq_context_mut().set_log_cq_size(0xa);
    create_cq_in.head.cq_context_mut().set_dbr_addr(0x7f00123456780040);
    create_cq_in.tail[0] = 0x1000.into();
    create_cq_in.tail[1] = 0x2000.into();
    create_cq_in.as_bytes().to_vec()
}

pub(crate) fn given_create_qp() -> Vec<u8> {
    use mlx5_prm::{CreateQpIn, Pdn};

    let mut create_qp_in = CreateQpIn::new();
    create_qp_in.qpc_mut().set_pd(Pdn::new(0x5));
    create_qp_in.qpc_mut().primary_address_path_mut().set_rgid_rip(&[0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]);
    create_qp_in.qpc_mut().set_rwe(true);
    create_qp_in.as_bytes().to_vec()
}

pub(crate) fn given_init2rtr_qp() -> Vec<u8> {
    use mlx5_prm::{Init2rtrQpIn, PathMtu, Qpn};

    let mut init2rtr_qp_in = Init2rtrQpIn::new();
    init2rtr_qp_in.set_qpn(Qpn::new(0x7));
    init2rtr_qp_in.qpc_mut().set_mtu(PathMtu::BYTES_4096);
    init2rtr_qp_in.qpc_mut().set_remote_qpn(Qpn::new(0xabcdef));
    init2rtr_qp_in.qpc_mut().primary_address_path_mut().set_rmac_47_32(0x1234);
    init2rtr_qp_in.as_bytes().to_vec()
}

pub(crate) fn given_rtr2rts_qp() -> Vec<u8> {
    use mlx5_prm::{Qpn, Rtr2rtsQpIn};

    let mut rtr2rts_qp_in = Rtr2rtsQpIn::new();
    rtr2rts_qp_in.set_qpn(Qpn::new(0x7));
    rtr2rts_qp_in.qpc_mut().set_retry_count(0x7);
    rtr2rts_qp_in.qpc_mut().set_rnr_retry(0x6);
    rtr2rts_qp_in.qpc_mut().set_next_send_psn(0x123456);
    rtr2rts_qp_in.as_bytes().to_vec()
}

pub(crate) fn given_create_rqt() -> Vec<u8> {
    // mlx5-prm, features = ["alloc"]
    use mlx5_prm::{CreateRqtInWithRqNum, Rqn};

    let mut create_rqt_in = CreateRqtInWithRqNum::boxed(2);
    create_rqt_in.head.rqt_context_mut().set_rqt_max_size(0x4);
    create_rqt_in.head.rqt_context_mut().set_rqt_actual_size(0x2);
    create_rqt_in.tail[1].set_rq_num(Rqn::new(0x101));
    create_rqt_in.as_bytes().to_vec()
}

pub(crate) fn given_create_mkey() -> Vec<u8> {
    // mlx5-prm, features = ["alloc", "mkey"]
    use mlx5_prm::CreateMkeyInWithKlmPasMtt;

    let mut create_mkey_in = CreateMkeyInWithKlmPasMtt::boxed(4);
    create_mkey_in.head.memory_key_mkey_entry_mut().set_start_addr(0x7f0000000000);
    create_mkey_in.head.memory_key_mkey_entry_mut().set_len(0x100000);
    create_mkey_in.tail[0] = 0x1.into();
    create_mkey_in.tail[1] = 0x2.into();
    create_mkey_in.tail[2] = 0x3.into();
    create_mkey_in.tail[3] = 0x4.into();
    create_mkey_in.as_bytes().to_vec()
}

pub(crate) fn given_set_fte() -> Vec<u8> {
    // mlx5-prm, features = ["flow"]
    use mlx5_prm::{FlowActions, FlowTableId, SetFteIn};

    let mut set_fte_in = SetFteIn::new();
    set_fte_in.set_table_id(FlowTableId::new(0x9));
    set_fte_in.flow_context_mut().set_action(FlowActions::from_bits(0x4));
    set_fte_in.flow_context_mut().set_destination_list_size(0x1);
    set_fte_in.flow_context_mut().match_value_mut().outer_headers_mut().set_ethertype(0x800);
    set_fte_in.flow_context_mut().match_value_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv4_layout_mut().set_ipv4(0xa000001);
    set_fte_in.as_bytes().to_vec()
}

pub(crate) fn given_query_hca_cap() -> Vec<u8> {
    // mlx5-prm, features = ["caps"]
    use mlx5_prm::QueryHcaCapIn;

    let mut query_hca_cap_in = QueryHcaCapIn::new();
    query_hca_cap_in.set_op_mod(0x1);
    query_hca_cap_in.as_bytes().to_vec()
}

pub(crate) fn given_modify_rq() -> Vec<u8> {
    use mlx5_prm::{ModifyRqIn, RqState, Rqn};

    let mut modify_rq_in = ModifyRqIn::new();
    modify_rq_in.set_rqn(Rqn::new(0x3));
    modify_rq_in.ctx_mut().set_state(RqState::RDY);
    modify_rq_in.as_bytes().to_vec()
}

pub(crate) fn given_paos_reg() -> Vec<u8> {
    // mlx5-prm, features = ["ports"]
    use mlx5_prm::{PaosReg, PortAdminStatus};

    let mut paos_reg = PaosReg::new();
    paos_reg.set_local_port(0x1);
    paos_reg.set_admin_status(PortAdminStatus::UP);
    paos_reg.as_bytes().to_vec()
}

pub(crate) fn given_create_tir() -> Vec<u8> {
    // mlx5-prm, features = ["tir_tis"]
    use mlx5_prm::{CreateTirIn, Rqtn, TirDispType};

    let mut create_tir_in = CreateTirIn::new();
    create_tir_in.ctx_mut().set_disp_type(TirDispType::INDIRECT);
    create_tir_in.ctx_mut().set_indirect_table(Rqtn::new(0x8));
    create_tir_in.ctx_mut().rx_hash_toeplitz_key_mut()[0] = 0x102.into();
    create_tir_in.ctx_mut().rx_hash_toeplitz_key_mut()[1] = 0x3.into();
    create_tir_in.as_bytes().to_vec()
}

pub(crate) fn filled_modify_cq_in() -> Vec<u8> {
    use mlx5_prm::{
        CqPeriodMode, CqSt, CqStatus, CqeSize, Cqn, MiniCqeFormat, ModifyCqIn, ModifyCqOpMod,
        ModifyCqSelect, TimestampFormat, UarPage,
    };

    let mut modify_cq_in = ModifyCqIn::new();
    modify_cq_in.set_uid(0x557a);
    modify_cq_in.set_op_mod(ModifyCqOpMod(0xe90e));
    modify_cq_in.set_cqn(Cqn::new(0x587da2));
    modify_cq_in.modify_field_select_resize_field_select_mut().modify_field_select_mut().set_modify_field_select(ModifyCqSelect::from_bits(0xc7ec1136));
    modify_cq_in.cq_context_mut().set_status(CqStatus(0x5));
    modify_cq_in.cq_context_mut().set_as_notify(true);
    modify_cq_in.cq_context_mut().set_dbr_umem_valid(true);
    modify_cq_in.cq_context_mut().set_apu_cq(true);
    modify_cq_in.cq_context_mut().set_cqe_sz(CqeSize(0x4));
    modify_cq_in.cq_context_mut().set_cq_period_mode(CqPeriodMode::FROM_CQE);
    modify_cq_in.cq_context_mut().set_mini_cqe_res_format(MiniCqeFormat::FTAG_STRIDX);
    modify_cq_in.cq_context_mut().set_st(CqSt(0x5));
    modify_cq_in.cq_context_mut().set_always_armed_cq(true);
    modify_cq_in.cq_context_mut().set_ext_element_type(0x4);
    modify_cq_in.cq_context_mut().set_cqe_compression_layout(0x2);
    modify_cq_in.cq_context_mut().set_dbr_umem_id(0xef14395e);
    modify_cq_in.cq_context_mut().set_page_offset(0x37);
    modify_cq_in.cq_context_mut().set_cq_timestamp_format(TimestampFormat::REAL_TIME);
    modify_cq_in.cq_context_mut().set_log_cq_size(0x17);
    modify_cq_in.cq_context_mut().set_uar_page(UarPage::new(0x3c6186));
    modify_cq_in.cq_context_mut().set_cq_period(0xbd0);
    modify_cq_in.cq_context_mut().set_cq_max_count(0xf51a);
    modify_cq_in.cq_context_mut().set_c_eqn_or_apu_element(0x3f6489ae);
    modify_cq_in.cq_context_mut().set_log_page_size(0x13);
    modify_cq_in.cq_context_mut().set_last_notified_index(0x20456a);
    modify_cq_in.cq_context_mut().set_last_solicit_index(0xb4d9fe);
    modify_cq_in.cq_context_mut().set_consumer_counter(0x486d92);
    modify_cq_in.cq_context_mut().set_producer_counter(0xdc0126);
    modify_cq_in.cq_context_mut().set_local_partition_id(0x4b7);
    modify_cq_in.cq_context_mut().set_process_id(0x95ba);
    modify_cq_in.cq_context_mut().set_dbr_addr(0x7398bde2072c5176);
    modify_cq_in.as_bytes().to_vec()
}

pub(crate) fn filled_create_srq_in() -> Vec<u8> {
    use mlx5_prm::{Cqn, CreateSrqIn, Pdn, SrqState, Xrcdn};

    let mut create_srq_in = CreateSrqIn::new();
    create_srq_in.set_uid(0x557a);
    create_srq_in.set_op_mod(0xe90e);
    create_srq_in.srq_context_entry_mut().set_state(SrqState(0x5));
    create_srq_in.srq_context_entry_mut().set_log_srq_size(0xb);
    create_srq_in.srq_context_entry_mut().set_wq_signature(true);
    create_srq_in.srq_context_entry_mut().set_cont_srq(true);
    create_srq_in.srq_context_entry_mut().set_log_rq_stride(0x7);
    create_srq_in.srq_context_entry_mut().set_xrcd(Xrcdn::new(0x14395e));
    create_srq_in.srq_context_entry_mut().set_page_offset(0x20);
    create_srq_in.srq_context_entry_mut().set_cqn(Cqn::new(0xa8cdf2));
    create_srq_in.srq_context_entry_mut().set_log_page_size(0x2b);
    create_srq_in.srq_context_entry_mut().set_pd(Pdn::new(0xf81d42));
    create_srq_in.srq_context_entry_mut().set_lwm(0x678c);
    create_srq_in.srq_context_entry_mut().set_wqe_cnt(0xb1d6);
    create_srq_in.srq_context_entry_mut().set_dbr_addr(0x23486d92b7dc0126);
    create_srq_in.as_bytes().to_vec()
}

pub(crate) fn filled_create_tis_in() -> Vec<u8> {
    // mlx5-prm, features = ["tir_tis"]
    use mlx5_prm::{CreateTisIn, Pdn, Qpn, Tdn};

    let mut create_tis_in = CreateTisIn::new();
    create_tis_in.set_uid(0x557a);
    create_tis_in.set_op_mod(0xe90e);
    create_tis_in.ctx_mut().set_strict_lag_tx_port_affinity(true);
    create_tis_in.ctx_mut().set_nvmeotcp_en(true);
    create_tis_in.ctx_mut().set_lag_tx_port_affinity(0xb);
    create_tis_in.ctx_mut().set_transport_domain(Tdn::new(0x4294e));
    create_tis_in.ctx_mut().set_underlay_qpn(Qpn::new(0x98bde2));
    create_tis_in.ctx_mut().set_pd(Pdn::new(0x2c5176));
    create_tis_in.as_bytes().to_vec()
}

pub(crate) fn filled_modify_nic_vport_context_in() -> Vec<u8> {
    // mlx5-prm, features = ["vport"]
    use mlx5_prm::{InlineMode, ModifyNicVportContextIn, VportNumber};

    let mut modify_nic_vport_context_in = ModifyNicVportContextIn::new();
    modify_nic_vport_context_in.set_uid(0x557a);
    modify_nic_vport_context_in.set_op_mod(0xe90e);
    modify_nic_vport_context_in.set_vport_number(VportNumber::new(0x7da2));
    modify_nic_vport_context_in.field_select_mut().set_port_guid(true);
    modify_nic_vport_context_in.field_select_mut().set_change_event(true);
    modify_nic_vport_context_in.field_select_mut().set_promisc(true);
    modify_nic_vport_context_in.field_select_mut().set_addresses_list(true);
    modify_nic_vport_context_in.field_select_mut().set_roce_en(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_min_wqe_inline_mode(InlineMode::TCP_UDP);
    modify_nic_vport_context_in.nic_vport_context_mut().set_disable_uc_local_lb(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_arm_change_event(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_event_on_promisc_change(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_event_on_vlan_change(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_event_on_mc_address_change(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_affiliation_criteria(0x8);
    modify_nic_vport_context_in.nic_vport_context_mut().set_affiliated_vhca_id(0x7da2);
    modify_nic_vport_context_in.nic_vport_context_mut().set_sd_group(0x2);
    modify_nic_vport_context_in.nic_vport_context_mut().set_sd_group_size(0xd0);
    modify_nic_vport_context_in.nic_vport_context_mut().set_mtu(0x89ae);
    modify_nic_vport_context_in.nic_vport_context_mut().set_system_image_guid(0xd3f81d42678cb1d6);
    modify_nic_vport_context_in.nic_vport_context_mut().set_port_guid(0xfb20456a8fb4d9fe);
    modify_nic_vport_context_in.nic_vport_context_mut().set_node_guid(0x23486d92b7dc0126);
    modify_nic_vport_context_in.nic_vport_context_mut().set_qkey_violation_counter(0x1338);
    modify_nic_vport_context_in.nic_vport_context_mut().set_promisc_uc(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_promisc_all(true);
    modify_nic_vport_context_in.nic_vport_context_mut().set_allowed_list_type(0x3);
    modify_nic_vport_context_in.nic_vport_context_mut().set_allowed_list_size(0x52a);
    modify_nic_vport_context_in.nic_vport_context_mut().permanent_address_mut().set_mac_addr_47_32(0x99be);
    modify_nic_vport_context_in.nic_vport_context_mut().permanent_address_mut().set_mac_addr_31_0(0xe3082d52);
    modify_nic_vport_context_in.as_bytes().to_vec()
}

pub(crate) fn filled_create_flow_group_in() -> Vec<u8> {
    // mlx5-prm, features = ["flow"]
    use mlx5_prm::{
        CreateFlowGroupIn, FlowIndex, FlowTableId, FlowTableType, MatchCriteria, PacketL4Type,
        SampleFieldId, VhcaId, VportNumber,
    };

    let mut create_flow_group_in = CreateFlowGroupIn::new();
    create_flow_group_in.set_uid(0x557a);
    create_flow_group_in.set_op_mod(0xe90e);
    create_flow_group_in.set_vport_number(VportNumber::new(0x7da2));
    create_flow_group_in.set_table_type(FlowTableType(0x5b));
    create_flow_group_in.set_eswitch_owner_vhca_id(VhcaId::new(0xa5ca));
    create_flow_group_in.set_table_id(FlowTableId::new(0x14395e));
    create_flow_group_in.set_source_eswitch_owner_vhca_id_valid(true);
    create_flow_group_in.set_start_flow_index(FlowIndex::new(0x173c6186));
    create_flow_group_in.set_end_flow_index(FlowIndex::new(0x3f6489ae));
    create_flow_group_in.set_match_definer_id(0x1d42);
    create_flow_group_in.set_match_criteria_enable(MatchCriteria::from_bits(0x26));
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_smac_47_16(0x4b7095ba);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_smac_15_0(0xdf04);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_ethertype(0x294e);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_dmac_47_16(0x7398bde2);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_dmac_15_0(0x72c);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_first_prio(0x2);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_first_cfi(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_first_vid(0x176);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_ip_protocol(0x9b);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_ip_dscp(0x30);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_cvlan_tag(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_svlan_tag(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_frag(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_ip_version(0x2);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_tcp_flags(0x10a);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_tcp_sport(0x2f54);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_tcp_dport(0x799e);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_l4_type(PacketL4Type(0x3));
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_l3_ok(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_l4_ok(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_l4_checksum_ok(true);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_ttl_hoplimit(0x32);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_udp_sport(0x577c);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().set_udp_dport(0xa1c6);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().src_ipv4_src_ipv6_mut().ipv6_layout_mut().set_ipv6(&[0xeb, 0x10, 0x35, 0x5a, 0x7f, 0xa4, 0xc9, 0xee, 0x13, 0x38, 0x5d, 0x82, 0xa7, 0xcc, 0xf1, 0x16]);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_127_96(0xeb10355a);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_95_64(0x7fa4c9ee);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_63_32(0x13385d82);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_31_0(0xa7ccf116);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_layout_mut().set_ipv6(&[0x3b, 0x60, 0x85, 0xaa, 0xcf, 0xf4, 0x19, 0x3e, 0x63, 0x88, 0xad, 0xd2, 0xf7, 0x1c, 0x41, 0x66]);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_127_96(0x3b6085aa);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_95_64(0xcff4193e);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_63_32(0x6388add2);
    create_flow_group_in.match_criteria_mut().outer_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_31_0(0xf71c4166);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_gre_c_present(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_source_vhca_port(0xb);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_source_sqn(0xb0d5fa);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_source_eswitch_owner_vhca_id(0x1f44);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_source_port(0x698e);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_outer_second_prio(0x5);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_outer_second_cfi(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_outer_second_vid(0x3d8);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_second_prio(0x7);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_second_cfi(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_second_vid(0xd22);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_second_cvlan_tag(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_gre_protocol(0x91b6);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().gre_key_mut().nvgre_mut().set_hi(0xdb0025);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().gre_key_mut().set_key(0xdb00254a);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_vxlan_vni(0x6f94b9);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_bth_opcode(0xde);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_geneve_vni(0x3284d);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_lag_rx_port_affinity(0x7);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_geneve_tlv_option_0_exist(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_outer_ipv6_flow_label(0xce106);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_ipv6_flow_label(0x759a);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_geneve_opt_len(0x24);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_geneve_protocol_type(0x92e);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_bth_dst_qp(0x789dc2);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_inner_esp_spi(0xe70c3156);
    create_flow_group_in.match_criteria_mut().misc_parameters_mut().set_outer_esp_spi(0x7ba0c5ea);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_smac_47_16(0xcbf0153a);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_smac_15_0(0x5f84);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ethertype(0xa9ce);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_dmac_47_16(0xf3183d62);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_dmac_15_0(0x87ac);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_first_prio(0x6);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_first_cfi(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_first_vid(0x1f6);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ip_protocol(0x1b);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ip_dscp(0x10);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_svlan_tag(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_frag(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ip_version(0x2);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_tcp_flags(0x18a);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_tcp_sport(0xafd4);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_tcp_dport(0xf91e);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_l4_type(PacketL4Type::TCP);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ipv4_ihl(0x8);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_l3_ok(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_l4_ok(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_l4_checksum_ok(true);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_ttl_hoplimit(0xb2);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_udp_sport(0xd7fc);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().set_udp_dport(0x2146);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().src_ipv4_src_ipv6_mut().ipv6_layout_mut().set_ipv6(&[0x6b, 0x90, 0xb5, 0xda, 0xff, 0x24, 0x49, 0x6e, 0x93, 0xb8, 0xdd, 0x02, 0x27, 0x4c, 0x71, 0x96]);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_127_96(0x6b90b5da);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_95_64(0xff24496e);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_63_32(0x93b8dd02);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().src_ipv4_src_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_31_0(0x274c7196);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_layout_mut().set_ipv6(&[0xbb, 0xe0, 0x05, 0x2a, 0x4f, 0x74, 0x99, 0xbe, 0xe3, 0x08, 0x2d, 0x52, 0x77, 0x9c, 0xc1, 0xe6]);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_127_96(0xbbe0052a);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_95_64(0x4f7499be);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_63_32(0xe3082d52);
    create_flow_group_in.match_criteria_mut().inner_headers_mut().dst_ipv4_dst_ipv6_mut().ipv6_simple_layout_mut().set_ipv6_31_0(0x779cc1e6);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_mut().set_mpls_label(0xb305);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_mut().set_mpls_exp(0x2);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_mut().set_mpls_s_bos(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_mut().set_mpls_ttl(0x7a);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().inner_first_mpls_mut().set_mpls_label(0x9fc4e);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().inner_first_mpls_mut().set_mpls_exp(0x4);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().inner_first_mpls_mut().set_mpls_s_bos(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().inner_first_mpls_mut().set_mpls_ttl(0xe);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_gre_mut().set_mpls_label(0x33587);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_gre_mut().set_mpls_exp(0x6);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_gre_mut().set_mpls_s_bos(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_gre_mut().set_mpls_ttl(0xa2);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_udp_mut().set_mpls_label(0xc7ec1);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_udp_mut().set_mpls_s_bos(true);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().outer_first_mpls_over_udp_mut().set_mpls_ttl(0x36);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_7(0x5b80a5ca);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_6(0xef14395e);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_5(0x83a8cdf2);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_4(0x173c6186);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_3(0xabd0f51a);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_2(0x3f6489ae);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_1(0xd3f81d42);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_c_0(0x678cb1d6);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_metadata_reg_a(0xfb20456a);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_psp_syndrome(0x8f);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_macsec_syndrome(0xb4);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_ipsec_syndrome(0xd9);
    create_flow_group_in.match_criteria_mut().misc_parameters_2_mut().set_ipsec_next_header(0xfe);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_inner_tcp_seq_num(0x4b7095ba);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_outer_tcp_seq_num(0xdf04294e);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_inner_tcp_ack_num(0x7398bde2);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_outer_tcp_ack_num(0x72c5176);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_outer_vxlan_gpe_vni(0xc0e50a);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_outer_vxlan_gpe_next_protocol(0x2f);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_outer_vxlan_gpe_flags(0x54);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmp_header_data(0xc3e80d32);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmpv6_header_data(0x577ca1c6);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmp_type(0xeb);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmp_code(0x10);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmpv6_type(0x35);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_icmpv6_code(0x5a);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_geneve_tlv_option_0_data(0x7fa4c9ee);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_teid(0x13385d82);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_msg_type(0xa7);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_msg_flags(0xcc);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_dw_2(0x3b6085aa);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_first_ext_dw_0(0xcff4193e);
    create_flow_group_in.match_criteria_mut().misc_parameters_3_mut().set_gtpu_dw_0(0x6388add2);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_0(0x8bb0d5fa);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_0(SampleFieldId::new(0x1f44698e));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_1(0xb3d8fd22);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_1(SampleFieldId::new(0x476c91b6));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_2(0xdb00254a);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_2(SampleFieldId::new(0x6f94b9de));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_3(0x3284d72);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_3(SampleFieldId::new(0x97bce106));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_4(0x2b50759a);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_4(SampleFieldId::new(0xbfe4092e));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_5(0x53789dc2);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_5(SampleFieldId::new(0xe70c3156));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_6(0x7ba0c5ea);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_6(SampleFieldId::new(0xf34597e));
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_value_7(0xa3c8ed12);
    create_flow_group_in.match_criteria_mut().misc_parameters_4_mut().set_prog_sample_field_id_7(SampleFieldId::new(0x375c81a6));
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_macsec_tag_0(0xcbf0153a);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_macsec_tag_1(0x5f84a9ce);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_macsec_tag_2(0xf3183d62);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_macsec_tag_3(0x87acd1f6);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_tunnel_header_0(0x1b40658a);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_tunnel_header_1(0xafd4f91e);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_tunnel_header_2(0x43688db2);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_tunnel_header_3(0xd7fc2146);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_metadata_reg_c_8(0xbbe0052a);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_metadata_reg_c_9(0x4f7499be);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_metadata_reg_c_10(0xe3082d52);
    create_flow_group_in.match_criteria_mut().misc_parameters_5_mut().set_metadata_reg_c_11(0x779cc1e6);
    create_flow_group_in.match_criteria_mut().misc_parameters_6_mut().set_psp_version(0xe);
    create_flow_group_in.as_bytes().to_vec()
}

pub(crate) fn filled_create_eq_in() -> Vec<u8> {
    // mlx5-prm, features = ["eq"]
    use mlx5_prm::{CreateEqIn, EqSt, EqStatus, UarPage};

    let mut create_eq_in = CreateEqIn::new();
    create_eq_in.set_uid(0x557a);
    create_eq_in.set_op_mod(0xe90e);
    create_eq_in.eq_context_entry_mut().set_status(EqStatus(0x5));
    create_eq_in.eq_context_entry_mut().set_st(EqSt(0x5));
    create_eq_in.eq_context_entry_mut().set_page_offset(0x37);
    create_eq_in.eq_context_entry_mut().set_log_eq_size(0x17);
    create_eq_in.eq_context_entry_mut().set_uar_page(UarPage::new(0x3c6186));
    create_eq_in.eq_context_entry_mut().set_intr(0x9ae);
    create_eq_in.eq_context_entry_mut().set_log_page_size(0x13);
    create_eq_in.eq_context_entry_mut().set_consumer_counter(0x486d92);
    create_eq_in.eq_context_entry_mut().set_producer_counter(0xdc0126);
    create_eq_in.event_bitmask_mut()[0] = 0xc3e80d32577ca1c6.into();
    create_eq_in.event_bitmask_mut()[1] = 0xeb10355a7fa4c9ee.into();
    create_eq_in.event_bitmask_mut()[2] = 0x13385d82a7ccf116.into();
    create_eq_in.event_bitmask_mut()[3] = 0x3b6085aacff4193e.into();
    create_eq_in.as_bytes().to_vec()
}

pub(crate) fn filled_create_scheduling_element_in() -> Vec<u8> {
    // mlx5-prm, features = ["vport"]
    use mlx5_prm::{
        CreateSchedulingElementIn, SchedulingElementId, SchedulingElementType, SchedulingHierarchy,
        VportNumber,
    };

    let mut create_scheduling_element_in = CreateSchedulingElementIn::new();
    create_scheduling_element_in.set_uid(0x557a);
    create_scheduling_element_in.set_op_mod(0xe90e);
    create_scheduling_element_in.set_scheduling_hierarchy(SchedulingHierarchy(0x33));
    create_scheduling_element_in.scheduling_context_mut().set_element_type(SchedulingElementType(0xab));
    create_scheduling_element_in.scheduling_context_mut().element_attributes_mut().tsar_mut().set_traffic_class(0x3);
    create_scheduling_element_in.scheduling_context_mut().element_attributes_mut().vport_mut().set_eswitch_owner_vhca_id_valid(true);
    create_scheduling_element_in.scheduling_context_mut().element_attributes_mut().vport_mut().set_eswitch_owner_vhca_id(0x764);
    create_scheduling_element_in.scheduling_context_mut().element_attributes_mut().vport_mut().set_vport_number(VportNumber::new(0x89ae));
    create_scheduling_element_in.scheduling_context_mut().set_parent_element_id(SchedulingElementId::new(0xd3f81d42));
    create_scheduling_element_in.scheduling_context_mut().set_bw_share(0x8fb4d9fe);
    create_scheduling_element_in.scheduling_context_mut().set_max_average_bw(0x23486d92);
    create_scheduling_element_in.scheduling_context_mut().set_max_bw_obj_id(0xb7dc0126);
    create_scheduling_element_in.as_bytes().to_vec()
}

pub(crate) const ALL: &[(&str, Make)] = &[
    ("given_modify_cq", given_modify_cq),
    ("given_create_cq", given_create_cq),
    ("given_create_qp", given_create_qp),
    ("given_init2rtr_qp", given_init2rtr_qp),
    ("given_rtr2rts_qp", given_rtr2rts_qp),
    ("given_create_rqt", given_create_rqt),
    ("given_create_mkey", given_create_mkey),
    ("given_set_fte", given_set_fte),
    ("given_query_hca_cap", given_query_hca_cap),
    ("given_modify_rq", given_modify_rq),
    ("given_paos_reg", given_paos_reg),
    ("given_create_tir", given_create_tir),
    ("filled_modify_cq_in", filled_modify_cq_in),
    ("filled_create_srq_in", filled_create_srq_in),
    ("filled_create_tis_in", filled_create_tis_in),
    ("filled_modify_nic_vport_context_in", filled_modify_nic_vport_context_in),
    ("filled_create_flow_group_in", filled_create_flow_group_in),
    ("filled_create_eq_in", filled_create_eq_in),
    ("filled_create_scheduling_element_in", filled_create_scheduling_element_in),
];
