//! The numbers of objects that verbs made, where the structures of verbs don't have them.
//!
//! Those of the others are fields there (`infiniband/verbs.h`): `ibv_qp.qp_num`, `ibv_wq.wq_num` and
//! `ibv_rwq_ind_table.ind_tbl_num`. A raw packet QP is made of several, which have numbers of their own.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

use mlx5_prm::Cqn;

use super::{LibMlx5, result};
use crate::ibv::QueuePair;
use crate::{Errno, RawPacketQp};

/// `mlx5dv_init_obj`, in its version of rdma-core 15: that of 13 gives another address of the UAR.
pub(super) type InitObj = unsafe extern "C" fn(*mut Obj, u64) -> c_int;

/// `IBV_QPT_DRIVER` (`infiniband/verbs.h`): a DCT, a DCI.
const QPT_DRIVER: u32 = 0xff;
/// `MLX5DV_OBJ_QP` (`mlx5dv.h`).
const OBJ_QP: u64 = 1 << 0;
/// `MLX5DV_OBJ_CQ` (`mlx5dv.h`).
const OBJ_CQ: u64 = 1 << 1;
/// `MLX5DV_OBJ_SRQ` (`mlx5dv.h`).
const OBJ_SRQ: u64 = 1 << 2;
/// `MLX5DV_QP_MASK_RAW_QP_HANDLES` (`mlx5dv.h`).
const QP_MASK_RAW_QP_HANDLES: u64 = 1 << 1;
/// `MLX5DV_SRQ_MASK_SRQN` (`mlx5dv.h`).
const SRQ_MASK_SRQN: u64 = 1;

/// `struct mlx5dv_obj` (`mlx5dv.h`): what is asked about, and where the answer goes. A kind that is not
/// asked about is not read.
#[repr(C)]
pub(super) struct Obj {
    qp: InOut,
    cq: InOut,
    srq: InOut,
    /// WQ, DM, AH and PD; room for more of newer versions.
    more: [InOut; 12],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct InOut {
    object: *mut c_void,
    answer: *mut c_void,
}

impl Obj {
    const EMPTY: InOut = InOut { object: null_mut(), answer: null_mut() };

    fn new() -> Self {
        Obj { qp: Obj::EMPTY, cq: Obj::EMPTY, srq: Obj::EMPTY, more: [Obj::EMPTY; 12] }
    }
}

/// `struct mlx5dv_qp` (`mlx5dv.h`).
#[repr(C)]
struct DvQp {
    dbrec: *mut c_void,
    sq: DvRing,
    rq: DvRing,
    bf: DvBlueFlame,
    /// Which of the fields behind it are asked for, and then which were given.
    comp_mask: u64,
    /// An `off_t` of 64 bits.
    uar_mmap_offset: i64,
    tirn: u32,
    tisn: u32,
    rqn: u32,
    sqn: u32,
    tir_icm_addr: u64,
}

/// `sq` and `rq` of `struct mlx5dv_qp`.
#[repr(C)]
struct DvRing {
    buf: *mut c_void,
    wqe_cnt: u32,
    stride: u32,
}

/// `bf` of `struct mlx5dv_qp`.
#[repr(C)]
struct DvBlueFlame {
    reg: *mut c_void,
    size: u32,
}

/// `struct mlx5dv_cq` (`mlx5dv.h`).
#[repr(C)]
struct DvCq {
    buf: *mut c_void,
    dbrec: *mut c_void,
    cqe_cnt: u32,
    cqe_size: u32,
    cq_uar: *mut c_void,
    cqn: u32,
    comp_mask: u64,
}

/// `struct mlx5dv_srq` (`mlx5dv.h`).
#[repr(C)]
struct DvSrq {
    buf: *mut c_void,
    dbrec: *mut c_void,
    stride: u32,
    head: u32,
    tail: u32,
    /// Which of the fields behind it are asked for, and then which were given.
    comp_mask: u64,
    srqn: u32,
}

impl LibMlx5 {
    /// The number of a completion queue that verbs made: a `struct ibv_cq *` of any binding, for
    /// [`Cq::from_ibv`](crate::Cq::from_ibv).
    ///
    /// libmlx5 takes it that who asks will read the queue without it: from then on, when a QP is reset
    /// or destroyed, it leaves the QP's completions in the queue (`MLX5_CQ_FLAGS_DV_OWNED` and
    /// `__mlx5_cq_clean` in rdma-core, `cq.c`), where a later poll by verbs fails at them. Poll them
    /// all before.
    ///
    /// # Safety
    /// `cq` is a completion queue of the context that is used here, is not destroyed before this
    /// returns, and no other thread polls it or asks for its number meanwhile, nor resets or destroys
    /// a QP of it: libmlx5 notes in its structure, without a lock, that it was asked.
    ///
    /// # Errors
    /// The errno that libmlx5 gives; EINVAL for a number that is none.
    pub unsafe fn cqn(&self, cq: NonNull<c_void>) -> Result<Cqn, Errno> {
        let mut answer = DvCq {
            buf: null_mut(),
            dbrec: null_mut(),
            cqe_cnt: 0,
            cqe_size: 0,
            cq_uar: null_mut(),
            cqn: 0,
            comp_mask: 0,
        };
        let mut obj = Obj::new();
        obj.cq = InOut { object: cq.as_ptr(), answer: (&raw mut answer).cast() };
        // SAFETY: the queue is one by the contract, and `answer` has the form that the function writes.
        result(unsafe { (self.context.functions.init_obj)(&mut obj, OBJ_CQ) })?;
        Cqn::try_from(answer.cqn).map_err(|_| Errno::INVAL)
    }

    /// The number of a shared receive queue that verbs made: a `struct ibv_srq *` of any binding.
    ///
    /// What it numbers depends on the queue, which its maker knows: see
    /// [`SrqNumber`](crate::SrqNumber).
    ///
    /// # Safety
    /// `srq` is a shared receive queue of the context that is used here, and is not destroyed before
    /// this returns.
    ///
    /// # Errors
    /// The errno that libmlx5 gives; EOPNOTSUPP if it is too old to say the number.
    pub unsafe fn srq_number(&self, srq: NonNull<c_void>) -> Result<u32, Errno> {
        let mut answer = DvSrq {
            buf: null_mut(),
            dbrec: null_mut(),
            stride: 0,
            head: 0,
            tail: 0,
            comp_mask: SRQ_MASK_SRQN,
            srqn: 0,
        };
        let mut obj = Obj::new();
        obj.srq = InOut { object: srq.as_ptr(), answer: (&raw mut answer).cast() };
        // SAFETY: as in `cqn`.
        result(unsafe { (self.context.functions.init_obj)(&mut obj, OBJ_SRQ) })?;
        let is_given = answer.comp_mask & SRQ_MASK_SRQN != 0;
        is_given.then_some(answer.srqn).ok_or(Errno::OPNOTSUPP)
    }

    /// The numbers of what a raw packet QP that verbs made is made of: a `struct ibv_qp *` of any binding.
    /// For [`Qp::sq`](crate::Qp::sq) and its like.
    ///
    /// The kernel tells them to a context that has DEVX. Of a QP of the PRM there are none.
    ///
    /// # Safety
    /// `qp` is a QP of the context that is used here, was made in this program, without an indirection table
    /// (`IBV_QP_INIT_ATTR_RX_HASH`), and is not destroyed before this returns. libmlx5 reads the QP's doorbell
    /// unasked (`mlx5dv_get_qp`), and has none for a QP with an indirection table or of `ibv_open_qp`.
    ///
    /// # Errors
    /// The errno that libmlx5 gives; EOPNOTSUPP if it is too old to say the numbers; EINVAL for a QP of the
    /// driver's own types, such as a DCT, and for a number that is none.
    pub unsafe fn raw_packet_qp(&self, qp: NonNull<c_void>) -> Result<RawPacketQp, Errno> {
        let ring = || DvRing { buf: null_mut(), wqe_cnt: 0, stride: 0 };
        let mut answer = DvQp {
            dbrec: null_mut(),
            sq: ring(),
            rq: ring(),
            bf: DvBlueFlame { reg: null_mut(), size: 0 },
            comp_mask: QP_MASK_RAW_QP_HANDLES,
            uar_mmap_offset: 0,
            tirn: 0,
            tisn: 0,
            rqn: 0,
            sqn: 0,
            tir_icm_addr: 0,
        };
        // SAFETY: by the contract it is one. A DCT has no doorbell either.
        if unsafe { qp.cast::<QueuePair>().as_ref() }.qp_type == QPT_DRIVER {
            return Err(Errno::INVAL);
        }
        let mut obj = Obj::new();
        obj.qp = InOut { object: qp.as_ptr(), answer: (&raw mut answer).cast() };
        // SAFETY: as in `cqn`.
        result(unsafe { (self.context.functions.init_obj)(&mut obj, OBJ_QP) })?;
        if answer.comp_mask & QP_MASK_RAW_QP_HANDLES == 0 {
            return Err(Errno::OPNOTSUPP);
        }
        Ok(RawPacketQp {
            rqn: unless_none(answer.rqn)?,
            tirn: unless_none(answer.tirn)?,
            sqn: unless_none(answer.sqn)?,
            tisn: unless_none(answer.tisn)?,
        })
    }
}

/// The number, unless it is 0: then libmlx5 was told none.
fn unless_none<N: TryFrom<u32>>(number: u32) -> Result<Option<N>, Errno> {
    match number {
        0 => Ok(None),
        number => N::try_from(number).map(Some).map_err(|_| Errno::INVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::super::functions::common::{Claims, beginning, structure};
    use super::*;

    const INCLUDES: &str = "#include <stddef.h>\n#include <infiniband/mlx5dv.h>\n";
    const NO_FOLDERS: [&str; 0] = [];

    #[test]
    fn structures_are_those_of_mlx5dv_h() {
        let Some(mut claims) = Claims::of_installed(INCLUDES) else { return };
        beginning! { claims: Obj "mlx5dv_obj": qp cq srq }
        structure! { claims: DvQp "mlx5dv_qp": dbrec sq rq bf comp_mask uar_mmap_offset tirn tisn rqn sqn tir_icm_addr }
        structure! { claims: DvCq "mlx5dv_cq": buf dbrec cqe_cnt cqe_size cq_uar cqn comp_mask }
        structure! { claims: DvSrq "mlx5dv_srq": buf dbrec stride head tail comp_mask srqn }
        claims.equal("sizeof(((struct mlx5dv_obj *)0)->cq)", size_of::<InOut>() as u64);
        claims.equal("sizeof(struct mlx5dv_obj) <= sizeof(void *) * 30", 1u64);
        claims.equal("IBV_QPT_DRIVER", QPT_DRIVER);
        claims.equal("MLX5DV_OBJ_QP", OBJ_QP);
        claims.equal("MLX5DV_OBJ_CQ", OBJ_CQ);
        claims.equal("MLX5DV_OBJ_SRQ", OBJ_SRQ);
        claims.equal("MLX5DV_QP_MASK_RAW_QP_HANDLES", QP_MASK_RAW_QP_HANDLES);
        claims.equal("MLX5DV_SRQ_MASK_SRQN", SRQ_MASK_SRQN);
        claims.hold(&NO_FOLDERS);
    }
}
