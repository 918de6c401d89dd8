//! Making the context of a device file (`mlx5_ib_alloc_ucontext` in `main.c`).

use mlx5_devx::Errno;
use mlx5_devx::wire::numbers::{ALLOC_UCTX_DEVX, LIB_CAP_DYN_UAR};
use mlx5_devx::wire::{AllocUcontextReq, AllocUcontextResp};
use zerocopy::{FromZeros, IntoBytes};

/// How many completion vectors the simulated device has.
pub(super) const COMP_VECTORS: u32 = 4;

/// `IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS` of `ib_user_verbs.h`.
pub(super) const CORE_SUPPORT: u64 = 1;

/// The number of the event queue behind a completion vector: another number than the vector's.
pub(super) fn eqn(vector: u16) -> Option<u32> {
    COMP_VECTORS.checked_sub(1 + u32::from(vector))
}

/// The length of the older request, `struct mlx5_ib_alloc_ucontext_req`.
const OLDER: usize = 8;

/// Where in a request that what may be left out begins.
const SHORTEST: usize = std::mem::offset_of!(AllocUcontextReq, max_cqe_version);

/// `MLX5_MAX_BFREGS`, and how many a UAR has (`MLX5_NON_FP_BFREGS_PER_UAR`), of `device.h`.
const MAX_BFREGS: u32 = 512;
const BFREGS_PER_UAR: u32 = 2;

/// The context of a device file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    /// It may send commands: `devx_uid` is not 0.
    pub(super) devx: bool,
}

/// Makes a context as the program asks for it, and says what the driver answers.
pub(super) fn make(ask: &[u8], can_devx: bool) -> Result<(Context, AllocUcontextResp), Errno> {
    if ask.len() != OLDER && ask.len() < SHORTEST {
        return Err(Errno::INVAL);
    }
    let mut req = AllocUcontextReq::new_zeroed();
    let len = ask.len().min(size_of::<AllocUcontextReq>());
    req.as_mut_bytes()[..len].copy_from_slice(&ask[..len]);
    if req.flags & !ALLOC_UCTX_DEVX != 0
        || req.comp_mask != 0
        || req.reserved0 != 0
        || req.reserved1 != 0
        || req.reserved2 != 0
    {
        return Err(Errno::OPNOTSUPP);
    }
    // The driver calculates with 32 bits that wrap around.
    let round_up = |n: u32| n.wrapping_add(BFREGS_PER_UAR - 1) & !(BFREGS_PER_UAR - 1);
    let total = round_up(req.total_num_bfregs);
    if req.num_low_latency_bfregs > total.wrapping_sub(1) {
        return Err(Errno::INVAL);
    }
    let devx = req.flags & ALLOC_UCTX_DEVX != 0;
    // `mlx5_ib_devx_create`
    if devx && !can_devx {
        return Err(Errno::INVAL);
    }
    let dynamic = req.lib_caps & LIB_CAP_DYN_UAR != 0;
    // `calc_total_bfregs`
    if !dynamic && total == 0 {
        return Err(Errno::INVAL);
    }
    if !dynamic && total > MAX_BFREGS {
        return Err(Errno::NOMEM);
    }
    let answer = AllocUcontextResp {
        qp_tab_size: 1 << 18,
        bf_reg_size: 512,
        tot_bfregs: if dynamic { 0 } else { total },
        cache_line_size: 64,
        max_sq_desc_sz: 1024,
        max_rq_desc_sz: 512,
        max_send_wqebb: 1 << 15,
        max_recv_wr: 1 << 15,
        max_srq_recv_wr: 1 << 15,
        num_ports: 1,
        response_length: 0,
        cqe_version: req.max_cqe_version.min(1),
        // `MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE` and `_CREATE_AH`
        cmds_supp_uhw: 3,
        eth_min_inline: 1,
        log_uar_size: 12,
        num_uars_per_page: 1,
        num_dyn_bfregs: if dynamic { 0 } else { MAX_BFREGS },
        ..AllocUcontextResp::default()
    };
    Ok((Context { devx }, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(req: &AllocUcontextReq) -> Result<AllocUcontextResp, Errno> {
        make(req.as_bytes(), true).map(|(_, answer)| answer)
    }

    #[test]
    fn the_driver_says_what_it_has() {
        let expected = AllocUcontextResp {
            qp_tab_size: 0x4_0000,
            bf_reg_size: 512,
            cache_line_size: 64,
            max_sq_desc_sz: 1024,
            max_rq_desc_sz: 512,
            max_send_wqebb: 0x8000,
            max_recv_wr: 0x8000,
            max_srq_recv_wr: 0x8000,
            num_ports: 1,
            cqe_version: 1,
            cmds_supp_uhw: 3,
            eth_min_inline: 1,
            log_uar_size: 12,
            num_uars_per_page: 1,
            ..AllocUcontextResp::new_zeroed()
        };
        let dynamic = AllocUcontextReq::like_libmlx5(true);
        assert_eq!(answer(&dynamic).expect("a context").as_bytes(), expected.as_bytes());
        let fixed = AllocUcontextReq { lib_caps: 0, ..dynamic };
        let expected = AllocUcontextResp { tot_bfregs: 16, num_dyn_bfregs: 512, ..expected };
        assert_eq!(answer(&fixed).expect("a context").as_bytes(), expected.as_bytes());
    }

    #[test]
    fn one_register_is_left_that_is_not_for_low_latency() {
        let with = |low| AllocUcontextReq {
            num_low_latency_bfregs: low,
            ..AllocUcontextReq::like_libmlx5(false)
        };
        assert!(answer(&with(15)).is_ok());
        assert_eq!(answer(&with(16)).err(), Some(Errno::INVAL));
    }
}
