/* Lamps. They are made up. */
enum {
	MLX5_CMD_OP_SET_LAMP = 0x100,
};

enum lamp_color {
	LAMP_COLOR_RED   = 0x0,
	LAMP_COLOR_GREEN = 0x1,
	LAMP_COLOR_BLUE  = 0x2,
};

enum {
	MLX5_REG_LAMP = 0x4001,
	MLX5_REG_BULB = 0x4002,
};

struct mlx5_ifc_lamp_state_bits {
	u8         on[0x1];
	u8         reserved_at_1[0x3];
	u8         color[0x4];
	u8         reserved_at_8[0x8];
	u8         heat[0x8];
	u8         reserved_at_18[0x8];
};

struct mlx5_ifc_set_lamp_in_bits {
	u8         opcode[0x10];
	u8         reserved_at_10[0x10];

	u8         number[0x20];

	struct mlx5_ifc_lamp_state_bits state;
};

struct mlx5_ifc_set_lamp_out_bits {
	u8         status[0x8];
	u8         reserved_at_8[0x18];
};

struct mlx5_ifc_lamp_reg_bits {
	u8         slot[0x8];
	u8         reserved_at_8[0x18];

	u8         watt[0x20];
};
