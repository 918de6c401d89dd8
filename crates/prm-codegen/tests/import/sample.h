/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every construct of the dialect once. The layouts are made up.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/types.h>

#define SAMPLE_WIDTH 0x10 /* Bits. */
#define SAMPLE_TWICE (2 * SAMPLE_WIDTH)
#define SAMPLE_LONG \
	(SAMPLE_TWICE + SAMPLE_WIDTH)
#define SAMPLE_ADDRESS(base, n) ((base) + (n)) // never a size

enum {
	SAMPLE_MODE_OFF,
	SAMPLE_MODE_ON,
	SAMPLE_MODE_FAST = 0x10,
	SAMPLE_MODE_FASTER,
};

enum sample_flags {
	SAMPLE_FLAG_FIRST = BIT(0),
	SAMPLE_FLAG_LAST = BIT_ULL(33),
	SAMPLE_FLAG_BOTH = SAMPLE_FLAG_FIRST | SAMPLE_FLAG_LAST,
	SAMPLE_FLAG_MASK = ((u64)0xf << 4) & 0xf0,
	SAMPLE_FLAG_LESS = (SAMPLE_MODE_FAST >> 2) - 1,
	SAMPLE_FLAG_NONE = -1,
	SAMPLE_FLAG_OCTAL = 017UL
};

enum {
	SAMPLE_MODE_AGAIN = SAMPLE_MODE_FASTER * 2,
	SAMPLE_MODE_OTHER = SAMPLE_WIDTH / 4,
};

enum {
	LONELY_VALUE = 5,
};

/* One word. */
struct mlx5_ifc_half_bits {
	u8         value[0x10];
};

struct mlx5_ifc_nothing_bits {
};

struct mlx5_ifc_word_bits {
	u8         flag;
	u8         reserved_at_1[0x7];
	u8         type[0x8];
	u8         value[SAMPLE_WIDTH];
};

union mlx5_ifc_word_half_auto_bits {
	struct mlx5_ifc_word_bits word;
	struct mlx5_ifc_half_bits half;
	u8         reserved_at_0[0x40];
};

struct mlx5_ifc_widths_bits {
	u8         reserved_at_0[0x14];
	u8         twelve[SAMPLE_TWICE - 20];

	u8         long_value[SAMPLE_LONG];
	u8         reserved_at_50[0x4];
	u8         resereved_at_54[0xc];

	u8         odd[108];
	u8         rsvd_at_cc[20];

	u8         odder[0x7b];
	u8         reserved_at_15b[0x5];

	u8         digest[208];
	u8         reserved_at_230[0x10];

	u8         data[1024];
	u8         quad[0x40];
};

struct mlx5_ifc_arrays_bits {
	u8         octets[0x4][0x8];
	u8         words[2][0x20];
	struct mlx5_ifc_word_bits pair[0x2];
	struct mlx5_ifc_nothing_bits nothing;
	u8         128_octets[0x20];
	u8         self[0x20];
	u8         64b_count[0x20];
	u8         match[0x20];
};

struct mlx5_ifc_list_open_in_bits {
	u8         opcode[0x10];
	u8         reserved_at_10[0x10];

	u8         pas[][0x40];
};

struct mlx5_ifc_list_old_in_bits {
	u8         opcode[SAMPLE_WIDTH];
	u8         reserved_at_10[0x10];

	u8         pas[0][0x40];
};

struct mlx5_ifc_list_bytes_bits {
	u8         length[0x20];
	u8         data[];
};

struct mlx5_ifc_list_zero_bits {
	u8         length[0x20];
	struct mlx5_ifc_word_bits word[0];
};

struct mlx5_ifc_list_either_bits {
	u8         length[0x20];
	union {
		DECLARE_FLEX_ARRAY(struct mlx5_ifc_word_bits, word);
		DECLARE_FLEX_ARRAY(struct mlx5_ifc_half_bits, half);
	};
};

struct mlx5_ifc_nested_bits {
	struct mlx5_ifc_word_bits first;
	union mlx5_ifc_word_half_auto_bits second;

	struct {
		u8         in_place[0x8];
		u8         reserved_at_8[0x18];
	} part;

	union {
		u8         whole[0x20];
		struct {
			u8         high[0x10];
			u8         low[0x10];
		};
		struct mlx5_ifc_word_bits as_word;
	};

	struct {
		u8         unnamed_high[0x10];
		u8         unnamed_low[0x10];
	};

	union {
		struct mlx5_ifc_word_bits word;
		u8         number[0x20];
	} choice[0x2];
};

#endif /* SAMPLE_H */
