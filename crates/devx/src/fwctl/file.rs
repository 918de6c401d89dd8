//! What [`Fwctl`](super::Fwctl) needs of a device file, so that something else may stand for one.

use std::path::Path;
use std::sync::Arc;

use super::scope::Scope;
use super::wire::{DEVICE_TYPE_MLX5, InfoMlx5};
use crate::Errno;

/// An open device file of fwctl, or what stands for one: a simulated device
/// (`mlx5_sim::FwctlFile`), or a wrapper that writes down what is sent.
///
/// The methods are the calls of the file. [`Fwctl`](super::Fwctl) refuses some commands before it
/// makes one; a real file refuses more, and what stands for one may do as it does.
pub trait DeviceFile: Send + Sync {
    /// The path of the file, or what else errors shall call it.
    fn node(&self) -> &Path;

    /// `FWCTL_INFO`: what the driver says of the open file.
    ///
    /// # Errors
    /// What the kernel says: ENOTTY if the file is none of fwctl, ENODEV once the device is gone.
    /// The call is made again after EINTR.
    fn info(&self) -> Result<FileInfo, Errno>;

    /// `FWCTL_RPC`: sends a mailbox, and gives the length of the answer. When the answer is longer
    /// than `output`, that holds the first of it; when it is shorter, the rest of `output` may hold
    /// anything.
    ///
    /// A status of the firmware is success.
    ///
    /// # Errors
    /// What the kernel says: see [`RpcError`](super::RpcError). The call is made once, even after
    /// EINTR.
    fn rpc(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, Errno>;
}

/// A file in a box is one, and a shared one, so that a test keeps what it sent.
macro_rules! stands_for_file {
    ($($Holder:ty),*) => { $(
        impl<T: DeviceFile + ?Sized> DeviceFile for $Holder {
            fn node(&self) -> &Path {
                (**self).node()
            }

            fn info(&self) -> Result<FileInfo, Errno> {
                (**self).info()
            }

            fn rpc(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, Errno> {
                (**self).rpc(scope, input, output)
            }
        }
    )* };
}

stands_for_file!(Box<T>, Arc<T>);

/// What `FWCTL_INFO` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// Which driver it is: [`DEVICE_TYPE_MLX5`] and the others.
    pub device_type: u32,
    /// How many bytes the driver says of the open file.
    pub length: u32,
    /// The first of them; 0 where there are fewer.
    pub data: InfoMlx5,
}

/// What the driver of mlx5 says.
impl From<InfoMlx5> for FileInfo {
    fn from(data: InfoMlx5) -> Self {
        FileInfo { device_type: DEVICE_TYPE_MLX5, length: size_of::<InfoMlx5>() as u32, data }
    }
}
