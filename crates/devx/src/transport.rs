//! What carries mailboxes to an adapter and back.

use std::sync::Arc;

use crate::Errno;

/// A way to an adapter.
///
/// The methods are those of the kernel's DEVX interface (the ioctl methods of the objects
/// `DEVX_OBJ` and `DEVX` in `mlx5_user_ioctl_cmds.h`). Input and output are whole mailboxes.
/// The trait is object-safe: a test swaps one way for another behind `Box<dyn Transport>`.
///
/// # Errors
/// Every method gives the errno of the call. [`Errno::REMOTEIO`] says that the firmware refused:
/// `output` then holds its status and syndrome. Kernels before 5.18 gave the errno of the status
/// ([`status_errno`](crate::status_errno)), and no output.
pub trait Transport {
    /// Sends a command that makes an object, and keeps the object until it is destroyed.
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno>;

    /// Sends a command that changes `target`.
    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno>;

    /// Sends a command that reads `target`.
    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno>;

    /// Ends an object made by [`Transport::create`].
    fn destroy(&self, handle: Handle) -> Result<(), Errno>;

    /// Sends a command that works on no object.
    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno>;
}

/// What stands for a transport is one, too, so that a wrapper takes any of them.
macro_rules! stands_for_transport {
    ($($Way:ty),*) => { $(
        impl<T: Transport + ?Sized> Transport for $Way {
            fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
                (**self).create(input, output)
            }

            fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
                (**self).modify(target, input, output)
            }

            fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
                (**self).query(target, input, output)
            }

            fn destroy(&self, handle: Handle) -> Result<(), Errno> {
                (**self).destroy(handle)
            }

            fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
                (**self).general(input, output)
            }
        }
    )* };
}

stands_for_transport!(&T, Box<T>, Arc<T>);

/// What a backend calls an object: the handle of uverbs, or an address in libmlx5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u64);

/// The object that a command is sent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// What made it.
    pub kind: TargetKind,
    /// What the backend calls it.
    pub handle: Handle,
}

/// What made an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// [`Transport::create`].
    Devx,
    /// `ibv_create_qp`.
    Qp,
    /// `ibv_create_cq`.
    Cq,
    /// `ibv_create_srq`.
    Srq,
    /// `ibv_create_wq`.
    Wq,
    /// `ibv_create_rwq_ind_table`.
    IndTable,
}
