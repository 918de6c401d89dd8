//! The system calls on a device file of uverbs, and what may stand in for them.
#![allow(unsafe_code, reason = "RDMA_VERBS_IOCTL, which rustix does not know")]

use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::Errno;
use crate::wire::numbers::{IOCTL_MAGIC, IOCTL_NUMBER};
use crate::wire::{DRIVER_MLX5, Header, Request};

const RDMA_VERBS_IOCTL: Opcode = opcode::read_write::<Header>(IOCTL_MAGIC, IOCTL_NUMBER);

/// An open device file of uverbs, or what stands for one: a simulated kernel, or a test.
///
/// `mlx5_sim::Uverbs` is one. [`Ioctl::on`](super::Ioctl::on) makes a context on it.
pub trait Kernel: Send + Sync {
    /// Makes a call, and takes over into `request` what the kernel wrote into the message
    /// ([`Request::read_back`]).
    ///
    /// # Errors
    /// The errno of the call.
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno>;

    /// Makes a call that makes a file, and gives the file.
    ///
    /// # Errors
    /// The errno of the call; EBADF when it made none.
    fn make_file(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno>;

    /// Reads a file of such a call, once: whole answers and events, as the kernel gives them.
    ///
    /// # Errors
    /// The errno of `read`.
    fn read(&self, file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(file, buffer)
    }

    /// The device file, which pages of doorbells are mapped from. It is as long as they say, and does
    /// not become shorter: a doorbell behind its end is a signal (SIGBUS).
    fn file(&self) -> BorrowedFd<'_>;
}

/// A device file of uverbs.
pub(super) struct DeviceFile(pub(super) OwnedFd);

impl Kernel for DeviceFile {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        // libibverbs answers EINVAL for a buffer that does not fit (`execute_ioctl`).
        let message = request.message(DRIVER_MLX5).map_err(|_| Errno::INVAL)?;
        // SAFETY: The number is that of the call with such a message. It is well-formed, so the
        // kernel reads and writes no more of it than there is. Its addresses are those of the
        // buffers of `request`, inputs for reading and outputs for writing, with their lengths;
        // `request` is borrowed for longer than the call. The memory that a umem registers is not
        // touched by the call; what owns it (`Umem`) lets the adapter write to it. A file that is
        // none of uverbs does not know the number of the call.
        let result = unsafe { ioctl(&self.0, Updater::<RDMA_VERBS_IOCTL, _>::new(message)) };
        request.read_back_own();
        result
    }

    fn make_file(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        self.call(request)?;
        let fd = request.new_fd().filter(|fd| *fd >= 0).ok_or(Errno::BADF)?;
        // SAFETY: The call succeeded, so the kernel has just put a new file there, which nobody
        // else knows of.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is none of uverbs.
    fn null() -> DeviceFile {
        let node = std::path::Path::new("/dev/null");
        DeviceFile(crate::device_file::open(node, None).expect("every system has it"))
    }

    #[test]
    fn the_number_is_that_of_the_header() {
        // _IOWR(0x1b, 1, 24 bytes) where reading is 2 and writing 1, as on x86 and Arm.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(RDMA_VERBS_IOCTL, 0xc018_1b01);
        }
    }

    #[test]
    fn a_file_that_is_no_uverbs_device_refuses_the_call() {
        let file = null();
        assert_eq!(file.call(&mut Request::obj_destroy(1)).err(), Some(Errno::NOTTY));
    }

    #[test]
    fn a_call_that_fails_makes_no_file() {
        let file = null();
        let errno = file.make_file(&mut Request::async_event_fd_alloc(0)).err();
        assert_eq!(errno, Some(Errno::NOTTY));
    }

    #[test]
    fn too_long_a_mailbox_does_not_reach_the_kernel() {
        let file = null();
        let long = vec![0; 0x10000];
        assert_eq!(file.call(&mut Request::other(&long, &mut [0; 16])).err(), Some(Errno::INVAL));
    }
}
