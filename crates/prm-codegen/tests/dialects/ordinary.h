/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A header of a driver, from which only some enumerators are taken. */
#ifndef ORDINARY_H
#define ORDINARY_H

#include <linux/pci.h>

#if defined(__LITTLE_ENDIAN)
#define ORDINARY_ORDER 0
#elif defined(__BIG_ENDIAN)
#define ORDINARY_ORDER 1
#else
#error the order of bytes isn't known
#endif

#define ORDINARY_SET(p, v) do { \
	u32 _v = v; \
	*(p) = cpu_to_be32(_v); \
} while (0)

enum {
	ORDINARY_NAME_LEN = 64,
	ORDINARY_HUGE = ~0ULL,
};

enum ordinary_regs {
	ORDINARY_FIRST = 0x4000,
	MADE_REG_ALPHA,
	ORDINARY_MIDDLE = ORDINARY_FIRST + 0x10,
	ORDINARY_NEXT,
	MADE_REG_BETA,
	MADE_REG_GAMMA	= 0xB01F,
	MADE_REG_SIZED	= sizeof(struct ordinary),
	MADE_REG_AFTER,
	MADE_FLAG	= 1 << 3,
};

struct mlx5_ifc_not_taken_bits {
	int (*call)(void);
};

struct ordinary {
	struct list_head list;
#ifdef CONFIG_MORE
	int more;
#endif
	char name[ORDINARY_NAME_LEN];
	enum { ORDINARY_ON, ORDINARY_OFF } state;
};

typedef void (*ordinary_call_t)(int status, void *context);

extern struct dentry *ordinary_root;

int ordinary_open(struct ordinary *dev,
		  u32 flags);

static inline bool ordinary_is_open(const struct ordinary *dev)
{
	if (dev->name[0] == '}' || dev->name[1] == '\'')
		return "}";	/* } */
	return !!dev; // }
}

#endif
