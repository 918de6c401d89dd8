//! The driver's part of making a context: `mlx5_ib_alloc_ucontext_{req_v2,resp}` of `mlx5-abi.h`.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::numbers::{ALLOC_UCTX_DEVX, LIB_CAP_4K_UAR, LIB_CAP_DYN_UAR};

/// What a program asks of a new context: `struct mlx5_ib_alloc_ucontext_req_v2`, 32 bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct AllocUcontextReq {
    /// How many doorbell registers the kernel allots at once. Kernels that know
    /// [`LIB_CAP_DYN_UAR`] allot none when it is asked for.
    pub total_num_bfregs: u32,
    /// How many of them for low latency.
    pub num_low_latency_bfregs: u32,
    /// [`ALLOC_UCTX_DEVX`] or 0.
    pub flags: u32,
    /// 0.
    pub comp_mask: u32,
    /// The newest format of completions that the program knows: 0 or 1.
    pub max_cqe_version: u8,
    /// 0.
    pub reserved0: u8,
    /// 0.
    pub reserved1: u16,
    /// 0.
    pub reserved2: u32,
    /// What the program can do: [`LIB_CAP_4K_UAR`], [`LIB_CAP_DYN_UAR`].
    pub lib_caps: u64,
}

impl AllocUcontextReq {
    /// What libmlx5 asks: 16 doorbell registers, 4 of them for low latency, completions of format
    /// 1 and both capabilities (`mlx5_alloc_context` in rdma-core's `providers/mlx5/mlx5.c`), with
    /// DEVX or without.
    pub const fn like_libmlx5(devx: bool) -> Self {
        AllocUcontextReq {
            total_num_bfregs: 16,
            num_low_latency_bfregs: 4,
            flags: if devx { ALLOC_UCTX_DEVX } else { 0 },
            comp_mask: 0,
            max_cqe_version: 1,
            reserved0: 0,
            reserved1: 0,
            reserved2: 0,
            lib_caps: LIB_CAP_4K_UAR | LIB_CAP_DYN_UAR,
        }
    }
}

/// What the driver says of a new context: `struct mlx5_ib_alloc_ucontext_resp`, 72 bytes. The
/// kernel writes as much of it as it knows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct AllocUcontextResp {
    /// How many QPs there can be.
    pub qp_tab_size: u32,
    /// The size of a doorbell register, in bytes.
    pub bf_reg_size: u32,
    /// How many doorbell registers were allotted.
    pub tot_bfregs: u32,
    /// The size of a cache line of the machine, in bytes.
    pub cache_line_size: u32,
    /// The largest descriptor of a send queue, in bytes.
    pub max_sq_desc_sz: u16,
    /// The largest descriptor of a receive queue, in bytes.
    pub max_rq_desc_sz: u16,
    /// How many basic blocks of 64 bytes a send queue can have.
    pub max_send_wqebb: u32,
    /// How many receive requests a receive queue can have.
    pub max_recv_wr: u32,
    /// How many receive requests a shared receive queue can have.
    pub max_srq_recv_wr: u32,
    /// How many ports the device has.
    pub num_ports: u16,
    /// `MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_*`.
    pub flow_action_flags: u16,
    /// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_*`: which of the optional facts hold.
    pub comp_mask: u32,
    /// How much of this the kernel wrote, in bytes.
    pub response_length: u32,
    /// The format of completions.
    pub cqe_version: u8,
    /// `MLX5_USER_CMDS_SUPP_UHW_*`.
    pub cmds_supp_uhw: u8,
    /// How much of a packet must stand in a descriptor: `MLX5_USER_INLINE_MODE_*`, 0 for unknown.
    pub eth_min_inline: u8,
    /// Which versions of the clock page there are, one bit each.
    pub clock_info_versions: u8,
    /// Where in its page the adapter's clock is.
    pub hca_core_clock_offset: u64,
    /// The size of a UAR, as a power of two.
    pub log_uar_size: u32,
    /// How many UARs a page of the machine has.
    pub num_uars_per_page: u32,
    /// How many doorbell registers can be allotted later.
    pub num_dyn_bfregs: u32,
    /// The memory key for writes that are thrown away.
    pub dump_fill_mkey: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_header() {
        assert_eq!(size_of::<AllocUcontextReq>(), 32);
        assert_eq!(size_of::<AllocUcontextResp>(), 72);
        assert_eq!(std::mem::offset_of!(AllocUcontextReq, lib_caps), 24);
        assert_eq!(std::mem::offset_of!(AllocUcontextResp, num_ports), 32);
        assert_eq!(std::mem::offset_of!(AllocUcontextResp, response_length), 40);
        assert_eq!(std::mem::offset_of!(AllocUcontextResp, hca_core_clock_offset), 48);
    }

    #[test]
    fn the_request_is_that_of_libmlx5() {
        let mut expected = [0; 32];
        expected[0..4].copy_from_slice(&16u32.to_ne_bytes());
        expected[4..8].copy_from_slice(&4u32.to_ne_bytes());
        expected[8..12].copy_from_slice(&1u32.to_ne_bytes());
        expected[16] = 1;
        expected[24..32].copy_from_slice(&3u64.to_ne_bytes());
        assert_eq!(AllocUcontextReq::like_libmlx5(true).as_bytes(), expected);
        expected[8..12].fill(0);
        assert_eq!(AllocUcontextReq::like_libmlx5(false).as_bytes(), expected);
    }
}
