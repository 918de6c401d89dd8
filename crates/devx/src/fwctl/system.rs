//! The system calls on a device file: the only module of this backend that is not safe Rust.
#![allow(unsafe_code, reason = "FWCTL_INFO and FWCTL_RPC, which rustix does not know")]

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use zerocopy::IntoBytes;

use super::Scope;
use super::file::{DeviceFile, FileInfo};
use super::wire::{CMD_INFO, CMD_RPC, Info, InfoMlx5, Rpc, TYPE};
use crate::Errno;

const FWCTL_INFO: Opcode = opcode::none(TYPE, CMD_INFO);
const FWCTL_RPC: Opcode = opcode::none(TYPE, CMD_RPC);

/// `FWCTL_INFO` with its memory.
struct InfoCall<'a> {
    message: Info,
    data: &'a mut InfoMlx5,
}

impl<'a> InfoCall<'a> {
    fn new(data: &'a mut InfoMlx5) -> Self {
        let message = Info {
            size: size_of::<Info>() as u32,
            device_data_len: size_of::<InfoMlx5>() as u32,
            ..Info::default()
        };
        InfoCall { message, data }
    }

    /// The message with the address of the memory, which is taken here, last before the call, so
    /// that nothing uses the memory between.
    fn addressed(&mut self) -> &mut Info {
        self.message.out_device_data = self.data.as_mut_bytes().as_mut_ptr() as u64;
        &mut self.message
    }
}

/// `FWCTL_RPC` with its memory.
struct RpcCall<'a> {
    message: Rpc,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl<'a> RpcCall<'a> {
    /// Gives `None` for a mailbox whose length does not fit 32 bits.
    fn new(scope: Scope, input: &'a [u8], output: &'a mut [u8]) -> Option<Self> {
        let message = Rpc {
            size: size_of::<Rpc>() as u32,
            scope: scope as u32,
            in_len: u32::try_from(input.len()).ok()?,
            out_len: u32::try_from(output.len()).ok()?,
            ..Rpc::default()
        };
        Some(RpcCall { message, input, output })
    }

    /// The message with the addresses of the memory, which are taken here, last before the call, so
    /// that nothing uses the memory between.
    fn addressed(&mut self) -> &mut Rpc {
        self.message.in_ = self.input.as_ptr() as u64;
        self.message.out = self.output.as_mut_ptr() as u64;
        &mut self.message
    }
}

/// A device file of fwctl.
pub(super) struct OpenFile {
    pub(super) node: PathBuf,
    pub(super) fd: OwnedFd,
}

impl DeviceFile for OpenFile {
    fn node(&self) -> &Path {
        &self.node
    }

    fn info(&self) -> Result<FileInfo, Errno> {
        let mut data = InfoMlx5::default();
        let mut call = InfoCall::new(&mut data);
        // SAFETY: The number is that of the call with an `Info`. The kernel reads and writes the 24
        // bytes that `size` says, which is all of the message, and writes `device_data_len` bytes
        // at `out_device_data`: that is the memory of `data`, with its length, which `call` borrows
        // alone for longer than the call. Any bytes are a valid `InfoMlx5`. A file that is none of
        // fwctl does not know the number.
        unsafe { ioctl(&self.fd, Updater::<FWCTL_INFO, _>::new(call.addressed())) }?;
        let Info { out_device_type: device_type, device_data_len: length, .. } = call.message;
        Ok(FileInfo { device_type, length, data })
    }

    fn rpc(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, Errno> {
        let mut call = RpcCall::new(scope, input, output).ok_or(Errno::MSGSIZE)?;
        // SAFETY: The number is that of the call with an `Rpc`. The kernel reads and writes the 32
        // bytes that `size` says, which is all of the message, reads `in_len` bytes at `in_` and
        // writes no more than `out_len` bytes at `out`: those are the memory of `input` and
        // `output`, with their lengths, which `call` borrows, the output alone, for longer than the
        // call. A file that is none of fwctl does not know the number.
        unsafe { ioctl(&self.fd, Updater::<FWCTL_RPC, _>::new(call.addressed())) }?;
        Ok(call.message.out_len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_header() {
        // _IO(0x9a, n), where no direction is 0, as on x86 and Arm.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(FWCTL_INFO, 0x9a00);
            assert_eq!(FWCTL_RPC, 0x9a01);
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
        let mut call = RpcCall::new(Scope::DebugWriteFull, &input, &mut output).expect("short");
        let mut expected = [32_u32, 3, 24, 48].as_bytes().to_vec();
        expected.extend(addresses.as_bytes());
        assert_eq!(call.addressed().as_bytes(), expected);
        assert_eq!(output, [2; 48]);
    }

    #[test]
    fn a_file_that_is_no_fwctl_device_refuses_the_calls() {
        let node = PathBuf::from("/dev/null");
        let fd = crate::device_file::open(&node, None).expect("every system has it");
        let file = OpenFile { node, fd };
        assert_eq!(file.info(), Err(Errno::NOTTY));
        assert_eq!(file.rpc(Scope::Configuration, &[0; 16], &mut [0; 16]), Err(Errno::NOTTY));
        assert_eq!(file.node(), Path::new("/dev/null"));
    }
}
