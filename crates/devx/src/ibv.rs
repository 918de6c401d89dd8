//! The beginnings of the public structures of libibverbs, of which the backends read the handle, the
//! number and the context (`infiniband/verbs.h`). Programs are compiled with them, so that libibverbs
//! does not change them.
#![allow(
    unsafe_code,
    reason = "they are read by address, which the caller vouches for; each block says why it may"
)]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use mlx5_prm::{Cqn, Qpn, Rqn, Rqtn};

use crate::devx::Devx;
use crate::{Cq, Errno, Handle, IndTable, Qp, Srq, SrqNumber, TargetKind, Wq};

/// `struct ibv_context`.
#[derive(Debug)]
#[repr(C)]
pub struct Context {
    /// `struct ibv_device *`.
    pub device: *mut c_void,
    /// `struct ibv_context_ops`: 32 functions.
    pub ops: [*mut c_void; 32],
    /// The descriptor of the device file.
    pub cmd_fd: c_int,
}

macro_rules! structures {
    ($( $(#[$doc:meta])* $Name:ident { $( $field:ident: $type:ty, )* } )*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(C)]
        #[allow(missing_docs, reason = "the fields are those of the structure in C")]
        pub struct $Name {
            pub context: *mut Context,
            $( pub $field: $type, )*
        }
    )* };
}

structures! {
    /// `struct ibv_qp`.
    QueuePair {
        qp_context: *mut c_void,
        pd: *mut c_void,
        send_cq: *mut c_void,
        recv_cq: *mut c_void,
        srq: *mut c_void,
        handle: u32,
        qp_num: u32,
        state: u32,
        qp_type: u32,
    }
    /// `struct ibv_cq`.
    CompletionQueue { channel: *mut c_void, cq_context: *mut c_void, handle: u32, }
    /// `struct ibv_srq`.
    SharedReceiveQueue { srq_context: *mut c_void, pd: *mut c_void, handle: u32, }
    /// `struct ibv_wq`.
    WorkQueue {
        wq_context: *mut c_void,
        pd: *mut c_void,
        cq: *mut c_void,
        wq_num: u32,
        handle: u32,
    }
    /// `struct ibv_rwq_ind_table`.
    IndirectionTable { ind_tbl_handle: c_int, ind_tbl_num: c_int, }
}

/// The context that an object of this kind is of, and its handle.
///
/// # Safety
/// `object` is a structure of verbs of this kind, which is not [`TargetKind::Devx`].
pub(crate) unsafe fn context_and_handle(
    kind: TargetKind,
    object: NonNull<c_void>,
) -> Result<(*mut Context, u32), Errno> {
    // SAFETY: by the contract, in each of them.
    unsafe {
        Ok(match kind {
            TargetKind::Qp => {
                let QueuePair { context, handle, .. } = object.cast().as_ref();
                (*context, *handle)
            }
            TargetKind::Cq => {
                let CompletionQueue { context, handle, .. } = object.cast().as_ref();
                (*context, *handle)
            }
            TargetKind::Srq => {
                let SharedReceiveQueue { context, handle, .. } = object.cast().as_ref();
                (*context, *handle)
            }
            TargetKind::Wq => {
                let WorkQueue { context, handle, .. } = object.cast().as_ref();
                (*context, *handle)
            }
            TargetKind::IndTable => {
                let IndirectionTable { context, ind_tbl_handle, .. } = object.cast().as_ref();
                (*context, *ind_tbl_handle as u32)
            }
            TargetKind::Devx => return Err(Errno::INVAL),
        })
    }
}

/// Objects that a program made by verbs, with any binding: sideway, rdma-mummy-sys, ibverbs, C.
///
/// The context must be one that has DEVX: of `mlx5dv_open_device` with `MLX5DV_CONTEXT_FLAGS_DEVX`,
/// or of `ibv_open_device`, which asks for DEVX too and goes on without it where there is none
/// (`mlx5_alloc_context` in rdma-core's `mlx5.c`).
///
/// ```no_run
/// use std::ffi::c_void;
/// use std::ptr::NonNull;
/// use mlx5_devx::{Cq, Ioctl};
/// use mlx5_prm::{Cqn, ModifyCqIn};
///
/// /// `context` and `cq` are an `ibv_context *` and an `ibv_cq *` of it.
/// unsafe fn moderate(
///     context: NonNull<c_void>,
///     cq: NonNull<c_void>,
///     cqn: Cqn,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     // SAFETY: by the contract of this function.
///     let devx = unsafe { Ioctl::from_ibv_context(context)? };
///     // SAFETY: by the contract of this function.
///     let cq = unsafe { Cq::from_ibv(&devx, cq, cqn)? };
///     cq.modify(&mut ModifyCqIn::new().changing_cq_period(16))?;
///     Ok(())
/// }
/// ```
impl<'t, D: Devx + ?Sized> Qp<'t, D> {
    /// A QP that verbs made: a `struct ibv_qp *` of any binding. Its QPN stands there (`qp_num`).
    ///
    /// # Safety
    /// `qp` points to a `struct ibv_qp` of the context of `devx`, and lives as long as that context is
    /// used here, by `devx`, a clone of it or what was made of them, or until it is
    /// [released](Devx::release). While it is modified here, verbs does not use it: libmlx5 notes the
    /// new state where posting reads it.
    ///
    /// # Errors
    /// EINVAL for an object of another context, and for a number that is none.
    pub unsafe fn from_ibv<T>(devx: &'t D, qp: NonNull<T>) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let handle = unsafe { devx.adopt(TargetKind::Qp, qp.cast())? };
        // SAFETY: by the contract of this function.
        let number = unsafe { qp.cast::<QueuePair>().as_ref() }.qp_num;
        made(devx, handle, Qpn::try_from(number), Qp::new)
    }
}

impl<'t, D: Devx + ?Sized> Cq<'t, D> {
    /// A CQ that verbs made: a `struct ibv_cq *` of any binding. The structure does not have its
    /// CQN; libmlx5 tells it (`LibMlx5::cqn`, or `mlx5dv_init_obj` in C).
    ///
    /// # Safety
    /// `cq` points to a `struct ibv_cq` of the context of `devx`, and lives as long as that context is
    /// used here, by `devx`, a clone of it or what was made of them, or until it is
    /// [released](Devx::release).
    ///
    /// # Errors
    /// EINVAL for an object of another context.
    pub unsafe fn from_ibv<T>(devx: &'t D, cq: NonNull<T>, number: Cqn) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let handle = unsafe { devx.adopt(TargetKind::Cq, cq.cast())? };
        Ok(Cq::new(devx, handle, number))
    }
}

impl<'t, D: Devx + ?Sized> Srq<'t, D> {
    /// An SRQ that verbs made: a `struct ibv_srq *` of any binding. The structure does not have its
    /// number; libmlx5 tells it (`LibMlx5::srq_number`, or `mlx5dv_init_obj` in C), and what it
    /// numbers is as [`Srq`] says.
    ///
    /// # Safety
    /// `srq` points to a `struct ibv_srq` of the context of `devx`, and lives as long as that context is
    /// used here, by `devx`, a clone of it or what was made of them, or until it is
    /// [released](Devx::release).
    ///
    /// # Errors
    /// EINVAL for an object of another context.
    pub unsafe fn from_ibv<T>(
        devx: &'t D,
        srq: NonNull<T>,
        number: impl Into<SrqNumber>,
    ) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let handle = unsafe { devx.adopt(TargetKind::Srq, srq.cast())? };
        Ok(Srq::new(devx, handle, number))
    }
}

impl<'t, D: Devx + ?Sized> Wq<'t, D> {
    /// A WQ that verbs made: a `struct ibv_wq *` of any binding. Its RQN stands there (`wq_num`).
    ///
    /// # Safety
    /// `wq` points to a `struct ibv_wq` of the context of `devx`, and lives as long as that context is
    /// used here, by `devx`, a clone of it or what was made of them, or until it is
    /// [released](Devx::release).
    ///
    /// # Errors
    /// EINVAL for an object of another context, and for a number that is none.
    pub unsafe fn from_ibv<T>(devx: &'t D, wq: NonNull<T>) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let handle = unsafe { devx.adopt(TargetKind::Wq, wq.cast())? };
        // SAFETY: by the contract of this function.
        let number = unsafe { wq.cast::<WorkQueue>().as_ref() }.wq_num;
        made(devx, handle, Rqn::try_from(number), Wq::new)
    }
}

impl<'t, D: Devx + ?Sized> IndTable<'t, D> {
    /// An indirection table that verbs made: a `struct ibv_rwq_ind_table *` of any binding. Its RQTN
    /// stands there (`ind_tbl_num`).
    ///
    /// # Safety
    /// `table` points to a `struct ibv_rwq_ind_table` of the context of `devx`, and lives as long as
    /// that context is used here, by `devx`, a clone of it or what was made of them, or until it is
    /// [released](Devx::release).
    ///
    /// # Errors
    /// EINVAL for an object of another context, and for a number that is none.
    pub unsafe fn from_ibv<T>(devx: &'t D, table: NonNull<T>) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let handle = unsafe { devx.adopt(TargetKind::IndTable, table.cast())? };
        // SAFETY: by the contract of this function.
        let number = unsafe { table.cast::<IndirectionTable>().as_ref() }.ind_tbl_num;
        made(devx, handle, Rqtn::try_from(number as u32), IndTable::new)
    }
}

/// The object, unless its number is none; then it is released again.
fn made<'t, D: Devx + ?Sized, N, E, V>(
    devx: &'t D,
    handle: Handle,
    number: Result<N, E>,
    new: impl FnOnce(&'t D, Handle, N) -> V,
) -> Result<V, Errno> {
    match number {
        Ok(number) => Ok(new(devx, handle, number)),
        Err(_) => {
            devx.release(handle);
            Err(Errno::INVAL)
        }
    }
}
