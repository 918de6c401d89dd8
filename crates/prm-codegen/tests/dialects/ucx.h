/**
* SPDX-License-Identifier: MIT OR Apache-2.0
* As UCX writes them: another prefix, and uint8_t for a bit.
*/
#ifndef UCX_H_
#define UCX_H_

#include <stdint.h>

#define __uct_made_up(_typ) ((struct uct_ib_mlx5_##_typ##_bits *)0)
#define UCT_MADE_UP_SET(_typ, _p, _v) \
    do { \
        char *___p = _p; \
    } while (0)

enum {
    UCT_IB_MLX5_MADE_OP_QUERY  = 0x100,
    UCT_IB_MLX5_MADE_OP_CREATE = 0x200
};

typedef enum {
    UCT_IB_MLX5_ATOMIC_SWAP = UCS_BIT(0),
    UCT_IB_MLX5_ATOMIC_ADD  = UCS_BIT(1)
} UCS_S_PACKED uct_ib_mlx5_atomic_t;

typedef enum uct_ib_mlx5_state {
    UCT_IB_MLX5_STATE_RST
} __attribute__((packed)) uct_ib_mlx5_state_t;

struct uct_ib_mlx5_cap_bits {
    uint8_t    reserved_at_0[0x10];
    uint8_t    vhca_id[0x10];
};

union uct_ib_mlx5_cap_union_bits {
    struct uct_ib_mlx5_cap_bits cap;
    uint8_t    reserved_at_0[0x40];
};

/* A struct of the host: its name has the prefix and does not end in _bits. */
typedef struct uct_ib_mlx5_md {
    uint8_t                  flags;
    struct ibv_pd            *pd;
} uct_ib_mlx5_md_t;

static inline unsigned uct_ib_mlx5_made_up(unsigned size, int dc)
{
    return (size > 32) ? UCT_IB_MLX5_ATOMIC_ADD :
         (size && !dc) ? UCT_IB_MLX5_ATOMIC_SWAP :
                         0;
}

typedef struct uct_ib_mlx5_typed_bits {
    uint8_t    id[0x20];
} uct_ib_mlx5_typed_t;

struct uct_ib_mlx5_query_out_bits {
    uint8_t    status[0x8];
    uint8_t    reserved_at_8[0x18];

    union uct_ib_mlx5_cap_union_bits capability;
};

#endif
