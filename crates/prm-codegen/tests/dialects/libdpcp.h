/* SPDX-License-Identifier: MIT OR Apache-2.0 */
// As libdpcp writes them: C++. \
   (A comment that goes on.)
#ifndef LIBDPCP_H_
#define LIBDPCP_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define u8 uint8_t

#ifndef MLX5_IFC_H
#define MLX5_IFC_H

struct mlx5_ifc_calc_op {
    u8 op_min[0x1];
    u8 reserved_at_1[0x1e];
    u8 op_add[0x1];
};

enum : unsigned long long {
    MADE_UP_TYPE = (1ULL << 0x21),
    MADE_UP_OTHER = (1ULL << 0x22)
};

enum class made_up : uint8_t { MADE_UP_ONE = 1, MADE_UP_TWO };

#endif

extern "C" {
int made_up_c(void);
}

extern "C" int made_up_alone(void);

namespace prm::inner {
using word = uint32_t;

class made_up_class : public base {
    static const int a = '{';
    void run() override { stop("}"); }
};

struct mlx5_ifc_inside_bits {
    struct mlx5_ifc_calc_op calc0;
};
} // namespace prm::inner

static_assert(sizeof(mlx5_ifc_calc_op) == 0x20, "{");

#endif
