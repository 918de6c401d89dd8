/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As rdma-core writes them: with names of enums, and a little less orderly. */
#ifndef RDMA_CORE_H
#define RDMA_CORE_H

#define __made_up_bits(typ) sizeof(struct mlx5_ifc_##typ##_bits)
#define made_up_pad 0x8

enum made_up_mode {
	MADE_UP_MAX	= 0,
	MADE_UP_CUR	= 1,
};

enum made_up_mask {
	MADE_UP_MASK_A	= 1 << 3,
	MADE_UP_MASK_B	= 1ULL << 62,
	MADE_UP_MASK_AB	= MADE_UP_MASK_A | MADE_UP_MASK_B,
};

struct  mlx5_ifc_spaced_bits {
	u8 flag;
	u8 reserved_at_1[made_up_pad - 1];
	__u8 level[0x08];
};

struct mlx5_ifc_caps_bits {
	struct mlx5_ifc_spaced_bits spaced;
	u8 reserved_at_10[0x10];
	struct {
		u8 high[0x10];
		u8 low[0x10];
	} part[2];
	u8 list[0][0x20];
};

#endif
