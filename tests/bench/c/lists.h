/* The commands of lists.rs. */

struct modify_rqt {
	uint32_t rqtn, entries;
	uint32_t *queues;
};

OPAQUE_FN void modify_rqt(void *in, const void *values)
{
	const struct modify_rqt *v = values;
	void *rqtc = DEVX_ADDR_OF(modify_rqt_in, in, ctx);

	memset(in, 0, DEVX_ST_SZ_BYTES(modify_rqt_in) + v->entries * 4);
	DEVX_SET(modify_rqt_in, in, opcode, MLX5_CMD_OP_MODIFY_RQT);
	DEVX_SET(modify_rqt_in, in, rqtn, v->rqtn);
	DEVX_SET(modify_rqt_in, in, bitmask.rqn_list, 1);
	DEVX_SET(rqtc, rqtc, rqt_actual_size, v->entries);
	for (uint32_t i = 0; i < v->entries; i++)
		DEVX_SET(rqtc, rqtc, rq_num[i].rq_num, v->queues[i]);
}

OPAQUE_FN void modify_rqt_fields(void *in, const void *values)
{
	const struct modify_rqt *v = values;
	void *rqtc = DEVX_ADDR_OF(modify_rqt_in, in, ctx);

	for (uint32_t i = 0; i < v->entries; i++)
		DEVX_SET(rqtc, rqtc, rq_num[i].rq_num, v->queues[i]);
}

/* As DPDK has it: Linux 6.1 has no such layout. */
struct mlx5_ifc_bench_klm_bits {
	uint8_t byte_count[0x20];
	uint8_t mkey[0x20];
	uint8_t address[0x40];
};

struct klm {
	uint32_t byte_count, mkey;
	uint64_t address;
};

struct create_mkey {
	uint32_t pd;
	uint64_t start, length;
	uint8_t key;
	uint32_t entries;
	struct klm *klms;
};

static inline __attribute__((always_inline)) void klms(void *in, const struct create_mkey *v)
{
	uint8_t *klm = (uint8_t *)in + DEVX_ST_SZ_BYTES(create_mkey_in);

	for (uint32_t i = 0; i < v->entries; i++) {
		DEVX_SET(bench_klm, klm, byte_count, v->klms[i].byte_count);
		DEVX_SET(bench_klm, klm, mkey, v->klms[i].mkey);
		DEVX_SET64(bench_klm, klm, address, v->klms[i].address);
		klm += DEVX_ST_SZ_BYTES(bench_klm);
	}
}

OPAQUE_FN void create_mkey(void *in, const void *values)
{
	const struct create_mkey *v = values;
	void *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	memset(in, 0, DEVX_ST_SZ_BYTES(create_mkey_in) + v->entries * DEVX_ST_SZ_BYTES(bench_klm));
	DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	DEVX_SET(create_mkey_in, in, translations_octword_actual_size, v->entries);
	DEVX_SET(mkc, mkc, umr_en, 1);
	DEVX_SET(mkc, mkc, rw, 1);
	DEVX_SET(mkc, mkc, rr, 1);
	DEVX_SET(mkc, mkc, lw, 1);
	DEVX_SET(mkc, mkc, lr, 1);
	DEVX_SET(mkc, mkc, access_mode_1_0, 2);
	DEVX_SET(mkc, mkc, qpn, 0xffffff);
	DEVX_SET(mkc, mkc, mkey_7_0, v->key);
	DEVX_SET(mkc, mkc, pd, v->pd);
	DEVX_SET64(mkc, mkc, start_addr, v->start);
	DEVX_SET64(mkc, mkc, len, v->length);
	DEVX_SET(mkc, mkc, translations_octword_size, v->entries);
	klms(in, v);
}

OPAQUE_FN void create_mkey_fields(void *in, const void *values)
{
	klms(in, values);
}

struct set_fte {
	uint32_t table, index, group, tag, dmac_47_16;
	uint16_t dmac_15_0;
	uint32_t source, destination;
	uint16_t source_port, destination_port;
	uint8_t protocol;
	uint32_t tir;
};

static inline __attribute__((always_inline)) void set_fte_all(void *in, const struct set_fte *v)
{
	void *context = DEVX_ADDR_OF(set_fte_in, in, flow_context);
	void *outer = DEVX_ADDR_OF(flow_context, context, match_value.outer_headers);
	uint8_t *to = (uint8_t *)in + DEVX_ST_SZ_BYTES(set_fte_in);

	DEVX_SET(set_fte_in, in, opcode, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
	DEVX_SET(set_fte_in, in, table_type, 0);
	DEVX_SET(set_fte_in, in, table_id, v->table);
	DEVX_SET(set_fte_in, in, flow_index, v->index);
	DEVX_SET(flow_context, context, group_id, v->group);
	DEVX_SET(flow_context, context, flow_tag, v->tag);
	DEVX_SET(flow_context, context, action, 4);
	DEVX_SET(flow_context, context, destination_list_size, 1);
	DEVX_SET(fte_match_set_lyr_2_4, outer, dmac_47_16, v->dmac_47_16);
	DEVX_SET(fte_match_set_lyr_2_4, outer, dmac_15_0, v->dmac_15_0);
	DEVX_SET(fte_match_set_lyr_2_4, outer, ethertype, 0x0800);
	DEVX_SET(fte_match_set_lyr_2_4, outer, ip_version, 4);
	DEVX_SET(fte_match_set_lyr_2_4, outer, ip_protocol, v->protocol);
	DEVX_SET(fte_match_set_lyr_2_4, outer, tcp_sport, v->source_port);
	DEVX_SET(fte_match_set_lyr_2_4, outer, tcp_dport, v->destination_port);
	DEVX_SET(fte_match_set_lyr_2_4, outer, src_ipv4_src_ipv6.ipv4_layout.ipv4, v->source);
	DEVX_SET(fte_match_set_lyr_2_4, outer, dst_ipv4_dst_ipv6.ipv4_layout.ipv4, v->destination);
	DEVX_SET(dest_format_struct, to, destination_type, 2);
	DEVX_SET(dest_format_struct, to, destination_id, v->tir);
}

#define SET_FTE_BYTES (DEVX_ST_SZ_BYTES(set_fte_in) + DEVX_ST_SZ_BYTES(dest_format_struct))

OPAQUE_FN void set_fte(void *in, const void *v)
{
	memset(in, 0, SET_FTE_BYTES);
	set_fte_all(in, v);
}

OPAQUE_FN void set_fte_fields(void *in, const void *v)
{
	set_fte_all(in, v);
}

OPAQUE_FN void zeros_4368(void *in, const void *v)
{
	(void)v;
	memset(in, 0, 4368);
}

static void modify_rqts(uint32_t entries)
{
	struct modify_rqt v = { 0x12345, entries, room(entries * sizeof(uint32_t)) };
	size_t len = DEVX_ST_SZ_BYTES(modify_rqt_in) + entries * 4;

	for (uint32_t i = 0; i < entries; i++)
		v.queues[i] = 0x10000 + i * 3;
	run_write("modify_rqt", modify_rqt, len, &v);
	run_write("modify_rqt_fields", modify_rqt_fields, len, &v);
	free(v.queues);
}

static void create_mkeys(uint32_t entries)
{
	struct create_mkey v = {
		0x12345, 0x7f0012345000, entries * 4096ull, 0x5a, entries, room(entries * sizeof(struct klm)),
	};
	size_t len = DEVX_ST_SZ_BYTES(create_mkey_in) + entries * DEVX_ST_SZ_BYTES(bench_klm);

	for (uint32_t i = 0; i < entries; i++)
		v.klms[i] = (struct klm){ 0x1000 + i, i * 256 + 7, 0x100000000 + i * 4096ull };
	run_write("create_mkey", create_mkey, len, &v);
	run_write("create_mkey_fields", create_mkey_fields, len, &v);
	free(v.klms);
}

static void lists(void)
{
	const struct set_fte v = { 0x12345, 0x89abcdef, 7, 0x654321, 0x00112233, 0x4455,
				   0x0a000001, 0x0a000002, 0x8123, 443, 6, 0x345678 };

	run_write("zeros_4368", zeros_4368, 4368, NULL);
	modify_rqts(1024);
	create_mkeys(512);
	run_write("set_fte", set_fte, SET_FTE_BYTES, &v);
	run_write("set_fte_fields", set_fte_fields, SET_FTE_BYTES, &v);
}
