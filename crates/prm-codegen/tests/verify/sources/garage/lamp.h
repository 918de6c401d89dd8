/* Lamps of another source: one is called otherwise, and says some things otherwise. */
enum lamp_color {
	LAMP_COLOR_RED   = 0x0,
	LAMP_COLOR_BLUE  = 0x3,
};

enum {
	MLX5_REG_DOOR = 0x4003,
};

struct mlx5_ifc_state_lamp_bits {
	u8         on[0x1];
	u8         reserved_at_1[0x3];
	u8         color[0x4];
	u8         dim[0x8];
	u8         reserved_at_10[0x8];
	u8         heat[0x8];
};

struct mlx5_ifc_wall_bits {
	u8         bricks[0x2][0x20];
};
