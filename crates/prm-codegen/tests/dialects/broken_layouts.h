/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Layouts that are at fault, as published headers have a few. */
struct mlx5_ifc_sound_bits {
	u8 a[0x20];
};

struct mlx5_ifc_token_bits {
	u8 token[0x1];
};

struct mlx5_ifc_pointer_bits {
	struct {
		u8 b[0x20];
		struct mlx5_ifc_sound_bits *sound;
	} inner;
};

struct mlx5_ifc_twice_bits {
	union {
		u8 c[0x20];
	} part;
	u8 d[0x10];
	u8 d[0x10];
};

struct mlx5_ifc_holder_bits {
	struct mlx5_ifc_token_bits token;
};

struct mlx5_ifc_holder_of_part_bits {
	union mlx5_ifc_twice_part_bits part;
};

struct mlx5_ifc_after_bits {
	struct mlx5_ifc_sound_bits sound[2];
};
