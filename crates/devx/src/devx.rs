//! What DEVX has besides commands.
#![allow(unsafe_code, reason = "objects of C are taken by address; the contract is at the call")]

use std::convert::Infallible;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::backend::Backend;
use crate::{Errno, Handle, TargetKind, Transport};

/// A context of DEVX: a [`Transport`] that also registers memory, allots pages of doorbells, and
/// gives channels of events and of queries that do not wait.
///
/// It is what [`Umem`](crate::Umem), [`Uar`](crate::Uar), [`Events`](crate::Events) and
/// [`Queries`](crate::Queries) are made of, whichever backend it is. These keep the context: it
/// ends with the last of them.
///
/// It may be used by several threads at once: an `Arc<dyn Devx>` goes into tasks.
///
/// The backends `ioctl` and `libmlx5` have it, and `ioctl` on the simulated kernel
/// (`mlx5_sim::Uverbs`). It can't be implemented outside of this crate.
pub trait Devx: Transport + Sealed + Send + Sync {
    /// The number of the event queue behind a completion vector, as CREATE_CQ wants it
    /// (`mlx5dv_devx_query_eqn`).
    ///
    /// It is a plain number, as `c_eqn_or_apu_element` takes it: that has 32 bits, because it may name an
    /// APU element instead; an [`Eqn`](mlx5_prm::Eqn) has 8.
    ///
    /// # Errors
    /// The errno of the call: one for a vector that the device does not have.
    fn query_eqn(&self, vector: u32) -> Result<u32, Errno> {
        self.backend(Token::HERE).query_eqn(vector)
    }

    /// Lets commands be sent for an object that verbs made: a `struct ibv_qp *`, `ibv_cq *`,
    /// `ibv_srq *`, `ibv_wq *` or `ibv_rwq_ind_table *` of any binding, as `kind` says. Most programs
    /// take [`Qp::from_ibv`](crate::Qp::from_ibv) and its like.
    ///
    /// A context that is not of verbs has no such objects: see `LibMlx5::from_ibv_context` and
    /// `Ioctl::from_ibv_context`.
    ///
    /// # Safety
    /// `object` points to a structure of that kind, of the context that is used here, and lives as
    /// long as this context is used, by `self`, a clone of it or what was made of them, or until it
    /// is [released](Devx::release): the handle stays good that long. While a QP is modified
    /// here, verbs does not use it: libmlx5 notes the new state where posting reads it.
    ///
    /// # Errors
    /// EINVAL for an object of another context, and for [`TargetKind::Devx`].
    unsafe fn adopt(&self, kind: TargetKind, object: NonNull<c_void>) -> Result<Handle, Errno> {
        // SAFETY: by the contract of this function.
        unsafe { self.backend(Token::HERE).adopt(kind, object) }
    }

    /// Sends no more commands for an object that was adopted: before verbs destroys it. Gives whether
    /// it was adopted; the backend `ioctl` keeps no account of that, and gives `false`.
    fn release(&self, handle: Handle) -> bool {
        self.backend(Token::HERE).release(handle)
    }

    /// An interrupt vector of one's own (`mlx5dv_devx_alloc_msi_vector`).
    ///
    /// # Errors
    /// Always [`NotSupported`]: rdma-core has it for contexts over VFIO alone, which none of the
    /// backends makes.
    fn alloc_msi_vector(&self) -> Result<Infallible, NotSupported> {
        Err(over_vfio_alone(self, "mlx5dv_devx_alloc_msi_vector"))
    }

    /// An event queue of one's own (`mlx5dv_devx_create_eq`).
    ///
    /// # Errors
    /// Always [`NotSupported`]: see [`Devx::alloc_msi_vector`]. Events of objects come by
    /// [`Events`](crate::Events).
    fn create_eq(&self) -> Result<Infallible, NotSupported> {
        Err(over_vfio_alone(self, "mlx5dv_devx_create_eq"))
    }
}

/// What stands for a context is one, too.
macro_rules! stands_for_devx {
    ($($Way:ty),*) => { $(
        impl<T: Devx + ?Sized> Sealed for $Way {
            fn backend(&self, token: Token) -> Arc<dyn Backend> {
                (**self).backend(token)
            }

            fn backend_name(&self, token: Token) -> &'static str {
                (**self).backend_name(token)
            }
        }

        impl<T: Devx + ?Sized> Devx for $Way {}
    )* };
}

stands_for_devx!(&T, Box<T>, Arc<T>);

pub(crate) use sealed::{Sealed, Token};

mod sealed {
    use super::*;

    /// What only this crate can implement, and call.
    pub trait Sealed {
        #[doc(hidden)]
        fn backend(&self, token: Token) -> Arc<dyn Backend>;

        #[doc(hidden)]
        fn backend_name(&self, token: Token) -> &'static str;
    }

    /// What only this crate has: a supertrait's methods can be called by anyone, and those of a
    /// backend end objects that others use.
    #[derive(Debug, Clone, Copy)]
    pub struct Token(());

    impl Token {
        pub(crate) const HERE: Token = Token(());
    }
}

fn over_vfio_alone(devx: &(impl Devx + ?Sized), call: &'static str) -> NotSupported {
    let why = "rdma-core has it for contexts over VFIO alone".to_owned();
    NotSupported { call, backend: devx.backend_name(Token::HERE), why }
}

/// A backend does not have a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} is not supported by the backend {backend}: {why}")]
#[non_exhaustive]
pub struct NotSupported {
    /// The call, by its name in `mlx5dv.h`.
    pub call: &'static str,
    /// The backend.
    pub backend: &'static str,
    /// Why not.
    pub why: String,
}

/// Why a call besides commands failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// What the kernel said, or libmlx5.
    #[error("{0}")]
    Errno(Errno),
    /// The backend does not have the call, or the libmlx5 that is installed does not.
    #[error(transparent)]
    NotSupported(#[from] NotSupported),
}

impl From<Errno> for CallError {
    fn from(errno: Errno) -> Self {
        CallError::Errno(errno)
    }
}

impl CallError {
    /// The errno: EOPNOTSUPP for what is not supported.
    pub fn errno(&self) -> Errno {
        match self {
            CallError::Errno(errno) => *errno,
            CallError::NotSupported(_) => Errno::OPNOTSUPP,
        }
    }
}
