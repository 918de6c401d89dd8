/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As DPDK writes them: among structs, macros and functions of the host. */
#ifndef DPDK_H_
#define DPDK_H_

#include <rte_vect.h>

/* Sizes of the host. */
#define MADE_UP_SEG_SIZE sizeof(struct made_up_seg)
#define MADE_UP_ALIGNMENT rte_mem_page_size()
#define MADE_UP_MAX_LEN (2u + 3u * MADE_UP_SEG_SIZE - \
			 MADE_UP_ALIGNMENT)

#ifndef HAVE_MADE_UP
#define MADE_UP_OPCODE 0x29u
#endif

#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define MADE_UP_VALID(val) ((val) & 0xffffff00)
#else
#define MADE_UP_VALID(val) ((val) & 0xffffff)
#endif

enum made_up_field {
	MADE_UP_OUT_NONE = -1,
	MADE_UP_OUT_FIRST = 1,
	MADE_UP_OUT_SECOND,
	MADE_UP_OUT_INVALID = INT_MAX,
};

/* A segment. */
struct __rte_aligned(MADE_UP_SEG_SIZE) __rte_packed_begin made_up_seg {
	uint32_t opcode;
	union {
		uint8_t inline_data[12];
		struct __rte_packed_begin {
			uint32_t lkey;
			uint64_t pbuf;
		} __rte_packed_end;
	};
} __rte_packed_end;

struct made_up_cqe {
#if (RTE_CACHE_LINE_SIZE == 128)
	uint8_t padding[64];
#endif
	uint8_t op_own;
};

struct made_up_modification {
	union {
		rte_be32_t data0;
		struct {
			unsigned int length:5;
			unsigned int rsvd0:3;
		};
	};
	__extension__ union {
		uint32_t data1;
	};
};

union made_up_opaque {
	uint32_t data[16];
} made_up_opaque_none = { .data = { 0 } };

typedef uint8_t u8;
typedef int (*made_up_call)(struct made_up_cqe *cqe, int n);

__extension__ extern const char *made_up_names[];

#ifdef PEDANTIC
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

struct mlx5_ifc_fields_bits {
	u8 reserved_at_0[0x18];
	union {
		struct {
			u8 reg_1[0x1];
			u8 reserved_at_19[0x2];
			u8 reg_0[0x5];
		};
		u8 reg_x[0x8];
	}; /* end of DW0 */
	u8 reserved[0x4 * CHAR_BIT];
#ifndef HAVE_INFINIBAND_VERBS_H
	u8 reserved_1[0x20];
#endif
	u8 id[0x20];
};

#ifdef PEDANTIC
#pragma GCC diagnostic error "-Wpedantic"
#endif

/* A name without the prefix. */
struct select_params_bits {
	u8 which[0x20];
};

struct mlx5_ifc_uses_bits {
	struct select_params_bits select;
	union {
		struct {
			u8 root_0[0x20];
			u8 root_1[0x20];
		};
		struct {
			u8 wide[0x40];
		};
	};
};

static __rte_always_inline enum made_up_field
made_up_index(enum made_up_field val)
{
	return val == MADE_UP_OUT_FIRST ?
		MADE_UP_OUT_SECOND : MADE_UP_OUT_INVALID;
}

/**
 * Not a mark, as don't and {} show.
 */
static inline uint32_t
made_up_mark_get(uint32_t val)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return (val >> 8) - 1;
#else
	return val - 1; {
#endif
}

RTE_MADE_UP(made_up)
struct mlx5_ifc_last_bits {
	u8 a[0x8];
};

RTE_BEGIN_DECLS
__extension__ struct mlx5_ifc_very_last_bits {
	u8 a[0x8];
};
struct made_up_later;
enum made_up_later_too;
struct mlx5_ifc_last_bits *made_up_last(void);

#endif /* DPDK_H_ */
