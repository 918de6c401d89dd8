/* What src/bin/counted.rs does, with the DEVX macros. The headers are included before this text. */
#include <stdio.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

#define ROUNDS 100
/* The compiler must not know the value. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x) : : "memory")

static inline __attribute__((always_inline)) void
fields(void *in, uint32_t cqn, uint32_t select, uint16_t period, uint16_t max_count)
{
	DEVX_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	DEVX_SET(modify_cq_in, in, cqn, cqn);
	DEVX_SET(modify_cq_in, in,
		 modify_field_select_resize_field_select.modify_field_select.modify_field_select,
		 select);
	DEVX_SET(modify_cq_in, in, cq_context.cq_period, period);
	DEVX_SET(modify_cq_in, in, cq_context.cq_max_count, max_count);
}

__attribute__((noipa)) void
encode(void *in, uint32_t cqn, uint32_t select, uint16_t period, uint16_t max_count)
{
	memset(in, 0, DEVX_ST_SZ_BYTES(modify_cq_in));
	fields(in, cqn, select, period, max_count);
}

__attribute__((noipa)) void encode_zeros(void *in)
{
	memset(in, 0, DEVX_ST_SZ_BYTES(modify_cq_in));
}

__attribute__((noipa)) void
encode_fields(void *in, uint32_t cqn, uint32_t select, uint16_t period, uint16_t max_count)
{
	fields(in, cqn, select, period, max_count);
}

#define GET(fld) (uint64_t)DEVX_GET(query_cq_out, out, fld)

__attribute__((noipa)) uint64_t read_ten(const void *out)
{
	return GET(status) + GET(syndrome) + GET(cq_context.status) + GET(cq_context.cqe_sz) +
	       GET(cq_context.oi) + GET(cq_context.log_cq_size) + GET(cq_context.uar_page) +
	       GET(cq_context.cq_period) + GET(cq_context.cq_max_count) +
	       GET(cq_context.c_eqn_or_apu_element);
}

int main(void)
{
	static uint64_t answer[DEVX_ST_SZ_QW(query_cq_out)];
	static uint64_t in[DEVX_ST_SZ_QW(modify_cq_in)], parts[DEVX_ST_SZ_QW(modify_cq_in)];
	uint64_t sums = 0;

	for (int i = 0; i < 0x50; i++)
		((uint8_t *)answer)[i] = (uint8_t)(i * 37 + 11);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t cqn = 0x12345 + round, select = 0x3;
		uint16_t period = 0xabc, max_count = 0x4321;

		OPAQUE(cqn);
		OPAQUE(select);
		OPAQUE(period);
		OPAQUE(max_count);
		encode(in, cqn, select, period, max_count);
		encode_zeros(parts);
		encode_fields(parts, cqn, select, period, max_count);
		sums += read_ten(answer);
	}
	if (memcmp(in, parts, sizeof(in)))
		return 1;
	for (size_t i = 0; i < sizeof(in); i++)
		printf("%02x", ((uint8_t *)in)[i]);
	printf(" %#llx\n", (unsigned long long)sums);
	return 0;
}
