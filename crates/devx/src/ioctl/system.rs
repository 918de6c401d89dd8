//! The system calls on a device file: the only module that is not safe Rust.
#![allow(unsafe_code, reason = "RDMA_VERBS_IOCTL, which rustix does not know")]

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};

use crate::Errno;
use crate::wire::numbers::{IOCTL_MAGIC, IOCTL_NUMBER};
use crate::wire::{DRIVER_MLX5, Header, Request};

/// An open device file, or what stands in for one in a test.
pub(super) trait System: Send + Sync {
    /// Makes a call, and takes over into `request` what the kernel wrote into the message.
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno>;

    /// Makes a call that makes a file, and gives the file.
    fn make_fd(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno>;

    /// The device file.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// A device file of uverbs.
pub(super) struct DeviceFile(pub(super) OwnedFd);

impl System for DeviceFile {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        // libibverbs answers EINVAL for a buffer that does not fit (`execute_ioctl`).
        let mut message = request.encode(DRIVER_MLX5).map_err(|_| Errno::INVAL)?;
        // SAFETY: The message is well-formed, so the kernel reads and writes as many words as it
        // has. Its addresses are those of the buffers of `request`, inputs for reading and outputs
        // for writing, with their lengths; `request` is borrowed for longer than the call. The
        // memory that a umem registers is not touched by the call; what owns it (`Umem`) lets the
        // adapter write to it. A file that is none of uverbs does not know the number of the call.
        let result = unsafe { rustix::ioctl::ioctl(&self.0, VerbsIoctl(message.words_mut())) };
        request.read_back(&message);
        result
    }

    fn make_fd(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        self.call(request)?;
        let fd = request.new_fd().filter(|fd| *fd >= 0).ok_or(Errno::BADF)?;
        // SAFETY: The call succeeded, so the kernel has just put a new file there, which nobody
        // else knows of.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// `RDMA_VERBS_IOCTL` with a message.
struct VerbsIoctl<'a>(&'a mut [u64]);

// SAFETY: The number is that of the call, which reads and writes the message; the message is
// borrowed for as long as this value lives. The call gives nothing but success.
unsafe impl Ioctl for VerbsIoctl<'_> {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::read_write::<Header>(IOCTL_MAGIC, IOCTL_NUMBER)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> Result<(), Errno> {
        Ok(())
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
            assert_eq!(VerbsIoctl(&mut []).opcode(), 0xc018_1b01);
        }
    }

    #[test]
    fn a_file_that_is_no_uverbs_device_refuses_the_call() {
        let file = null();
        assert_eq!(file.call(&mut Request::obj_destroy(1)), Err(Errno::NOTTY));
    }

    #[test]
    fn a_call_that_fails_makes_no_file() {
        let file = null();
        let errno = file.make_fd(&mut Request::async_event_fd_alloc(0)).err();
        assert_eq!(errno, Some(Errno::NOTTY));
    }

    #[test]
    fn too_long_a_mailbox_does_not_reach_the_kernel() {
        let file = null();
        let long = vec![0; 0x10000];
        assert_eq!(file.call(&mut Request::other(&long, &mut [0; 16])), Err(Errno::INVAL));
    }
}
