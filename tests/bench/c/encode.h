/* The commands of encode.rs. A case of each name makes the whole mailbox, zeros and fields; _fields
 * writes the fields alone. */

#define ENCODE(name, layout, op)                                                                   \
	static inline __attribute__((always_inline)) void name##_all(void *in,                     \
								     const struct name *v);        \
	OPAQUE_FN void name(void *in, const void *v)                                               \
	{                                                                                          \
		memset(in, 0, DEVX_ST_SZ_BYTES(layout));                                           \
		DEVX_SET(layout, in, opcode, op);                                                  \
		name##_all(in, v);                                                                 \
	}                                                                                          \
	OPAQUE_FN void name##_fields(void *in, const void *v)                                      \
	{                                                                                          \
		DEVX_SET(layout, in, opcode, op);                                                  \
		name##_all(in, v);                                                                 \
	}                                                                                          \
	static inline __attribute__((always_inline)) void name##_all(void *in, const struct name *v)

OPAQUE_FN void zeros_16(void *in, const void *v)
{
	(void)v;
	memset(in, 0, DEVX_ST_SZ_BYTES(query_cq_in));
}

OPAQUE_FN void zeros_272(void *in, const void *v)
{
	(void)v;
	memset(in, 0, DEVX_ST_SZ_BYTES(modify_cq_in));
}

struct modify_cq {
	uint32_t cqn, select;
	uint16_t period, max_count;
};

ENCODE(modify_cq, modify_cq_in, MLX5_CMD_OP_MODIFY_CQ)
{
	DEVX_SET(modify_cq_in, in, cqn, v->cqn);
	DEVX_SET(modify_cq_in, in,
		 modify_field_select_resize_field_select.modify_field_select.modify_field_select,
		 v->select);
	DEVX_SET(modify_cq_in, in, cq_context.cq_period, v->period);
	DEVX_SET(modify_cq_in, in, cq_context.cq_max_count, v->max_count);
}

/* With constants, which the macros write one by one all the same. */
OPAQUE_FN void modify_cq_constant(void *in, const void *none)
{
	static const struct modify_cq v = { 0x12345, 3, 0xabc, 0x4321 };

	(void)none;
	memset(in, 0, DEVX_ST_SZ_BYTES(modify_cq_in));
	DEVX_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	modify_cq_all(in, &v);
}

struct rst2init {
	uint32_t qpn;
	uint8_t port;
	uint16_t pkey_index;
	bool rre, rwe, rae;
};

ENCODE(rst2init, rst2init_qp_in, MLX5_CMD_OP_RST2INIT_QP)
{
	void *qpc = DEVX_ADDR_OF(rst2init_qp_in, in, qpc);

	DEVX_SET(rst2init_qp_in, in, qpn, v->qpn);
	DEVX_SET(qpc, qpc, st, 0);
	DEVX_SET(qpc, qpc, pm_state, 3);
	DEVX_SET(qpc, qpc, rre, v->rre);
	DEVX_SET(qpc, qpc, rwe, v->rwe);
	DEVX_SET(qpc, qpc, rae, v->rae);
	DEVX_SET(qpc, qpc, primary_address_path.vhca_port_num, v->port);
	DEVX_SET(qpc, qpc, primary_address_path.pkey_index, v->pkey_index);
}

struct init2rtr {
	uint32_t qpn, remote_qpn, next_rcv_psn;
	uint8_t rgid[16];
	uint32_t rmac_31_0;
	uint16_t rmac_47_32, udp_sport;
	uint8_t mtu, log_rra_max, min_rnr_nak, src_addr_index, hop_limit, dscp, port;
};

ENCODE(init2rtr, init2rtr_qp_in, MLX5_CMD_OP_INIT2RTR_QP)
{
	void *qpc = DEVX_ADDR_OF(init2rtr_qp_in, in, qpc);

	DEVX_SET(init2rtr_qp_in, in, qpn, v->qpn);
	DEVX_SET(qpc, qpc, mtu, v->mtu);
	DEVX_SET(qpc, qpc, log_msg_max, 30);
	DEVX_SET(qpc, qpc, remote_qpn, v->remote_qpn);
	DEVX_SET(qpc, qpc, log_rra_max, v->log_rra_max);
	DEVX_SET(qpc, qpc, min_rnr_nak, v->min_rnr_nak);
	DEVX_SET(qpc, qpc, next_rcv_psn, v->next_rcv_psn);
	DEVX_SET(qpc, qpc, primary_address_path.src_addr_index, v->src_addr_index);
	DEVX_SET(qpc, qpc, primary_address_path.hop_limit, v->hop_limit);
	memcpy(DEVX_ADDR_OF(qpc, qpc, primary_address_path.rgid_rip), v->rgid, sizeof(v->rgid));
	DEVX_SET(qpc, qpc, primary_address_path.dscp, v->dscp);
	DEVX_SET(qpc, qpc, primary_address_path.udp_sport, v->udp_sport);
	DEVX_SET(qpc, qpc, primary_address_path.vhca_port_num, v->port);
	DEVX_SET(qpc, qpc, primary_address_path.rmac_47_32, v->rmac_47_32);
	DEVX_SET(qpc, qpc, primary_address_path.rmac_31_0, v->rmac_31_0);
}

struct rtr2rts {
	uint32_t qpn, next_send_psn;
	uint8_t log_ack_req_freq, log_sra_max, retry_count, rnr_retry, ack_timeout;
};

ENCODE(rtr2rts, rtr2rts_qp_in, MLX5_CMD_OP_RTR2RTS_QP)
{
	void *qpc = DEVX_ADDR_OF(rtr2rts_qp_in, in, qpc);

	DEVX_SET(rtr2rts_qp_in, in, qpn, v->qpn);
	DEVX_SET(qpc, qpc, log_ack_req_freq, v->log_ack_req_freq);
	DEVX_SET(qpc, qpc, log_sra_max, v->log_sra_max);
	DEVX_SET(qpc, qpc, retry_count, v->retry_count);
	DEVX_SET(qpc, qpc, rnr_retry, v->rnr_retry);
	DEVX_SET(qpc, qpc, next_send_psn, v->next_send_psn);
	DEVX_SET(qpc, qpc, primary_address_path.ack_timeout, v->ack_timeout);
}

struct modify_rq {
	uint32_t rqn;
	uint64_t select;
	uint8_t from, to;
	bool vsd;
	uint32_t counter_set;
};

ENCODE(modify_rq, modify_rq_in, MLX5_CMD_OP_MODIFY_RQ)
{
	void *rqc = DEVX_ADDR_OF(modify_rq_in, in, ctx);

	DEVX_SET(modify_rq_in, in, rq_state, v->from);
	DEVX_SET(modify_rq_in, in, rqn, v->rqn);
	DEVX_SET64(modify_rq_in, in, modify_bitmask, v->select);
	DEVX_SET(rqc, rqc, vsd, v->vsd);
	DEVX_SET(rqc, rqc, state, v->to);
	DEVX_SET(rqc, rqc, counter_set_id, v->counter_set);
}

struct modify_rmp {
	uint32_t rmpn;
	uint8_t state;
	uint16_t lwm;
};

ENCODE(modify_rmp, modify_rmp_in, MLX5_CMD_OP_MODIFY_RMP)
{
	void *rmpc = DEVX_ADDR_OF(modify_rmp_in, in, ctx);

	DEVX_SET(modify_rmp_in, in, rmp_state, v->state);
	DEVX_SET(modify_rmp_in, in, rmpn, v->rmpn);
	DEVX_SET(modify_rmp_in, in, bitmask.lwm, 1);
	DEVX_SET(rmpc, rmpc, state, v->state);
	DEVX_SET(rmpc, rmpc, wq.lwm, v->lwm);
}

#define QUERY(name, layout, number, op)                                                            \
	struct name {                                                                              \
		uint32_t number;                                                                   \
	};                                                                                         \
	ENCODE(name, layout, op)                                                                   \
	{                                                                                          \
		DEVX_SET(layout, in, number, v->number);                                           \
	}

QUERY(query_qp_in, query_qp_in, qpn, MLX5_CMD_OP_QUERY_QP)
QUERY(query_cq_in, query_cq_in, cqn, MLX5_CMD_OP_QUERY_CQ)
QUERY(query_rmp_in, query_rmp_in, rmpn, MLX5_CMD_OP_QUERY_RMP)
QUERY(query_rq_in, query_rq_in, rqn, MLX5_CMD_OP_QUERY_RQ)
QUERY(query_rqt_in, query_rqt_in, rqtn, MLX5_CMD_OP_QUERY_RQT)

struct create_qp {
	uint32_t pd, uar, cqn_snd, cqn_rcv, user_index;
	uint64_t dbr_addr;
	uint8_t log_sq_size, log_rq_size, log_rq_stride, ts_format;
};

ENCODE(create_qp, create_qp_in, MLX5_CMD_OP_CREATE_QP)
{
	void *qpc = DEVX_ADDR_OF(create_qp_in, in, qpc);

	DEVX_SET(qpc, qpc, st, 0);
	DEVX_SET(qpc, qpc, pm_state, 3);
	DEVX_SET(qpc, qpc, pd, v->pd);
	DEVX_SET(qpc, qpc, log_rq_size, v->log_rq_size);
	DEVX_SET(qpc, qpc, log_rq_stride, v->log_rq_stride);
	DEVX_SET(qpc, qpc, log_sq_size, v->log_sq_size);
	DEVX_SET(qpc, qpc, ts_format, v->ts_format);
	DEVX_SET(qpc, qpc, uar_page, v->uar);
	DEVX_SET(qpc, qpc, user_index, v->user_index);
	DEVX_SET(qpc, qpc, cqn_snd, v->cqn_snd);
	DEVX_SET(qpc, qpc, cqn_rcv, v->cqn_rcv);
	DEVX_SET64(qpc, qpc, dbr_addr, v->dbr_addr);
	DEVX_SET(qpc, qpc, dbr_umem_valid, 1);
	DEVX_SET(create_qp_in, in, wq_umem_valid, 1);
}

/* Four numbers of objects. */
struct create_qp_four {
	uint32_t pd, uar, cqn_snd, cqn_rcv;
};

ENCODE(create_qp_four, create_qp_in, MLX5_CMD_OP_CREATE_QP)
{
	void *qpc = DEVX_ADDR_OF(create_qp_in, in, qpc);

	DEVX_SET(qpc, qpc, pd, v->pd);
	DEVX_SET(qpc, qpc, uar_page, v->uar);
	DEVX_SET(qpc, qpc, cqn_snd, v->cqn_snd);
	DEVX_SET(qpc, qpc, cqn_rcv, v->cqn_rcv);
}

struct create_cq {
	uint32_t uar, eqn;
	uint64_t dbr_addr;
	uint8_t log_cq_size, log_page_size, cqe_sz, period_mode;
	bool cc, oi, compressed;
};

ENCODE(create_cq, create_cq_in, MLX5_CMD_OP_CREATE_CQ)
{
	void *cqc = DEVX_ADDR_OF(create_cq_in, in, cq_context);

	DEVX_SET(cqc, cqc, dbr_umem_valid, 1);
	DEVX_SET(cqc, cqc, cqe_sz, v->cqe_sz);
	DEVX_SET(cqc, cqc, cc, v->cc);
	DEVX_SET(cqc, cqc, oi, v->oi);
	DEVX_SET(cqc, cqc, cq_period_mode, v->period_mode);
	DEVX_SET(cqc, cqc, cqe_comp_en, v->compressed);
	DEVX_SET(cqc, cqc, log_cq_size, v->log_cq_size);
	DEVX_SET(cqc, cqc, uar_page, v->uar);
	DEVX_SET(cqc, cqc, c_eqn_or_apu_element, v->eqn);
	DEVX_SET(cqc, cqc, log_page_size, v->log_page_size);
	DEVX_SET64(cqc, cqc, dbr_addr, v->dbr_addr);
	DEVX_SET(create_cq_in, in, cq_umem_valid, 1);
}

/* Both cases of a command, with these values. */
#define RUN(name, layout, ...)                                                                     \
	do {                                                                                       \
		const struct name values = { __VA_ARGS__ };                                        \
		run_write(#name, name, DEVX_ST_SZ_BYTES(layout), &values);                         \
		run_write(#name "_fields", name##_fields, DEVX_ST_SZ_BYTES(layout), &values);      \
	} while (0)

static void encodes(void)
{
	run_write("zeros_16", zeros_16, DEVX_ST_SZ_BYTES(query_cq_in), NULL);
	run_write("zeros_272", zeros_272, DEVX_ST_SZ_BYTES(modify_cq_in), NULL);
	RUN(modify_cq, modify_cq_in, 0x12345, 3, 0xabc, 0x4321);
	run_write("modify_cq_constant", modify_cq_constant, DEVX_ST_SZ_BYTES(modify_cq_in), NULL);
	RUN(rst2init, rst2init_qp_in, 0x12345, 1, 0x789, true, true, false);
	RUN(init2rtr, init2rtr_qp_in, 0x12345, 0x54321, 0xabcdef,
	    { '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f' },
	    0xdeadbeef, 0xcafe, 0xc123, 5, 4, 12, 3, 64, 26, 1);
	RUN(rtr2rts, rtr2rts_qp_in, 0x12345, 0x654321, 8, 4, 7, 6, 14);
	RUN(modify_rq, modify_rq_in, 0x12345, 0xa, 0, 1, true, 0x5a);
	RUN(modify_rmp, modify_rmp_in, 0x12345, 1, 0x1234);
	RUN(query_qp_in, query_qp_in, 0x12345);
	RUN(query_cq_in, query_cq_in, 0x12345);
	RUN(query_rmp_in, query_rmp_in, 0x12345);
	RUN(query_rq_in, query_rq_in, 0x12345);
	RUN(query_rqt_in, query_rqt_in, 0x12345);
	RUN(create_qp, create_qp_in, 0x12345, 0x23456, 0x34567, 0x45678, 0xabcdef,
	    0x0123456789abcdef, 10, 9, 2, 1);
	RUN(create_qp_four, create_qp_in, 0x12345, 0x23456, 0x34567, 0x45678);
	RUN(create_cq, create_cq_in, 0x23456, 0x17, 0x0123456789abcdef, 12, 5, 1, 1, true, false,
	    true);
}
#undef RUN
