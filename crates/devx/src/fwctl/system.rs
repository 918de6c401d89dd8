//! The system calls on a device file: the only module of this backend that is not safe Rust.
#![allow(unsafe_code, reason = "FWCTL_INFO and FWCTL_RPC, which rustix does not know")]

use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};
use zerocopy::IntoBytes;

use super::wire::{CMD_INFO, CMD_RPC, Info, InfoMlx5, Rpc, TYPE};
use crate::Errno;

/// An open device file, or what stands in for one in a test.
pub(super) trait System: Send + Sync {
    /// `FWCTL_INFO`.
    fn info(&self, call: &mut InfoCall<'_>) -> Result<(), Errno>;

    /// `FWCTL_RPC`.
    fn rpc(&self, call: &mut RpcCall<'_>) -> Result<(), Errno>;
}

/// `FWCTL_INFO` with its memory.
pub(super) struct InfoCall<'a> {
    message: Info,
    data: &'a mut InfoMlx5,
}

impl<'a> InfoCall<'a> {
    pub(super) fn new(data: &'a mut InfoMlx5) -> Self {
        let message = Info {
            size: size_of::<Info>() as u32,
            device_data_len: size_of::<InfoMlx5>() as u32,
            ..Info::default()
        };
        InfoCall { message, data }
    }

    /// After the call, what the kernel said.
    pub(super) fn message(&self) -> &Info {
        &self.message
    }

    /// The message with the address of the memory, which is taken here, last before the call, so
    /// that nothing uses the memory between.
    fn addressed(&mut self) -> &mut Info {
        self.message.out_device_data = self.data.as_mut_bytes().as_mut_ptr() as u64;
        &mut self.message
    }
}

/// `FWCTL_RPC` with its memory.
pub(super) struct RpcCall<'a> {
    message: Rpc,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl<'a> RpcCall<'a> {
    /// Gives `None` for a mailbox whose length does not fit 32 bits.
    pub(super) fn new(scope: u32, input: &'a [u8], output: &'a mut [u8]) -> Option<Self> {
        let message = Rpc {
            size: size_of::<Rpc>() as u32,
            scope,
            in_len: u32::try_from(input.len()).ok()?,
            out_len: u32::try_from(output.len()).ok()?,
            ..Rpc::default()
        };
        Some(RpcCall { message, input, output })
    }

    /// After the call, what the kernel said.
    pub(super) fn message(&self) -> &Rpc {
        &self.message
    }

    /// The message with the addresses of the memory, which are taken here, last before the call, so
    /// that nothing uses the memory between.
    fn addressed(&mut self) -> &mut Rpc {
        self.message.in_ = self.input.as_ptr() as u64;
        self.message.out = self.output.as_mut_ptr() as u64;
        &mut self.message
    }
}

/// What a test's stand-in for the kernel reads and writes.
#[cfg(test)]
mod memory {
    use super::{Info, InfoCall, InfoMlx5, Rpc, RpcCall};

    impl InfoCall<'_> {
        pub(in super::super) fn parts(&mut self) -> (&mut Info, &mut InfoMlx5) {
            self.addressed();
            (&mut self.message, self.data)
        }
    }

    impl RpcCall<'_> {
        pub(in super::super) fn parts(&mut self) -> (&mut Rpc, &[u8], &mut [u8]) {
            self.addressed();
            (&mut self.message, self.input, self.output)
        }
    }
}

/// A device file of fwctl.
pub(super) struct DeviceFile(OwnedFd);

impl DeviceFile {
    /// Opens a device file. Being interrupted by a signal (EINTR) leaves nothing behind: it is
    /// tried again.
    pub(super) fn open(node: &Path) -> Result<Self, Errno> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        rustix::io::retry_on_intr(|| rustix::fs::open(node, flags, Mode::empty())).map(DeviceFile)
    }

    /// The number of the device, major and minor; 0 and 0 for a file that is no device.
    pub(super) fn number(&self) -> Result<(u32, u32), Errno> {
        let device = rustix::fs::fstat(&self.0)?.st_rdev;
        Ok((rustix::fs::major(device), rustix::fs::minor(device)))
    }
}

impl System for DeviceFile {
    fn info(&self, call: &mut InfoCall<'_>) -> Result<(), Errno> {
        // SAFETY: The kernel reads and writes the 24 bytes that `size` says, which is all of the
        // message, and writes `device_data_len` bytes at `out_device_data`: that is the memory of
        // `data`, with its length, which `call` borrows alone for longer than the call. Any bytes
        // are a valid `InfoMlx5`. A file that is none of fwctl does not know the number.
        unsafe { rustix::ioctl::ioctl(&self.0, Numbered::<_, CMD_INFO>(call.addressed())) }
    }

    fn rpc(&self, call: &mut RpcCall<'_>) -> Result<(), Errno> {
        // SAFETY: The kernel reads and writes the 32 bytes that `size` says, which is all of the
        // message, reads `in_len` bytes at `in_` and writes no more than `out_len` bytes at `out`:
        // those are the memory of `input` and `output`, with their lengths, which `call` borrows,
        // the output alone, for longer than the call. A file that is none of fwctl does not know
        // the number.
        unsafe { rustix::ioctl::ioctl(&self.0, Numbered::<_, CMD_RPC>(call.addressed())) }
    }
}

/// A call with a message, by its number among those of fwctl.
struct Numbered<'a, M, const NUMBER: u8>(&'a mut M);

// SAFETY: The number is that of the call, which reads and writes the message; the message is
// borrowed for as long as this value lives. The calls give nothing but success. That the type of
// the message belongs to the number is seen to where the value is made, twice above.
unsafe impl<M, const NUMBER: u8> Ioctl for Numbered<'_, M, NUMBER> {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::none(TYPE, NUMBER)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> Result<(), Errno> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_header() {
        // _IO(0x9a, n), where no direction is 0, as on x86 and Arm.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(Numbered::<_, CMD_INFO>(&mut Info::default()).opcode(), 0x9a00);
            assert_eq!(Numbered::<_, CMD_RPC>(&mut Rpc::default()).opcode(), 0x9a01);
        }
    }

    #[test]
    fn messages_are_built_byte_by_byte() {
        let mut data = InfoMlx5::default();
        let address = (&raw const data) as u64;
        let mut call = InfoCall::new(&mut data);
        let mut expected = [24_u32, 0, 0, 8].as_bytes().to_vec();
        expected.extend(address.to_ne_bytes());
        assert_eq!(call.addressed().as_bytes(), expected);

        let (input, mut output) = ([1; 24], [2; 48]);
        let addresses = [input.as_ptr() as u64, output.as_ptr() as u64];
        let mut call = RpcCall::new(3, &input, &mut output).expect("short");
        let mut expected = [32_u32, 3, 24, 48].as_bytes().to_vec();
        expected.extend(addresses.as_bytes());
        assert_eq!(call.addressed().as_bytes(), expected);
        assert_eq!(output, [2; 48]);
    }

    #[test]
    fn a_file_that_is_no_fwctl_device_refuses_the_calls() {
        let file = DeviceFile::open(Path::new("/dev/null")).expect("every system has it");
        let mut data = InfoMlx5::default();
        assert_eq!(file.info(&mut InfoCall::new(&mut data)), Err(Errno::NOTTY));
        let mut output = [0; 16];
        let mut call = RpcCall::new(0, &[0; 16], &mut output).expect("short");
        assert_eq!(file.rpc(&mut call), Err(Errno::NOTTY));
        assert_eq!(file.number(), Ok((1, 3)));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_opened() {
        let errno = DeviceFile::open(Path::new("/dev/fwctl/no-such-fwctl")).err();
        assert_eq!(errno, Some(Errno::NOENT));
    }
}
