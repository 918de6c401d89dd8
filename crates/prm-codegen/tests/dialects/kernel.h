/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As Linux writes them. The layouts of these files are made up. */
#ifndef KERNEL_H
#define KERNEL_H

#include <linux/types.h>
#include "other.h"

#ifdef CONFIG_MADE_UP
#define KERNEL_WIDTH 0x8
#else
#define KERNEL_WIDTH 0x10
#endif

enum {
	KERNEL_OP_MAKE = 0x100,
	KERNEL_OP_BREAK,
};

enum kernel_caps {
	KERNEL_CAP_FIRST = BIT_ULL(0),
	KERNEL_CAP_LAST  = BIT_ULL(0x23),
};

union mlx5_ifc_ctrl {
	u8         raw[0x20];
};

struct mlx5_ifc_entry_bits {
	u8         kind[0x4];
	u8         reserved_at_4[0xc];
	u8         value[KERNEL_WIDTH];

	union mlx5_ifc_ctrl ctrl;
};

struct mlx5_ifc_make_in_bits {
	u8         opcode[0x10];
	u8         reserved_at_10[0x10];

	struct mlx5_ifc_entry_bits entries[0x2];

	union {
		DECLARE_FLEX_ARRAY(struct mlx5_ifc_entry_bits, entry);
		DECLARE_FLEX_ARRAY(union mlx5_ifc_ctrl, ctrl);
	};
};

#endif /* KERNEL_H */
