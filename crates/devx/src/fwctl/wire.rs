//! The numbers and structures of the interface: `include/uapi/fwctl/fwctl.h` and `fwctl/mlx5.h` of
//! Linux 6.15.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `FWCTL_TYPE`: the type of the calls' numbers.
pub const TYPE: u8 = 0x9a;
/// `FWCTL_CMD_INFO`: the number of `FWCTL_INFO`, an `_IO` without size.
pub const CMD_INFO: u8 = 0;
/// `FWCTL_CMD_RPC`: the number of `FWCTL_RPC`, an `_IO` without size.
pub const CMD_RPC: u8 = 1;

/// `FWCTL_DEVICE_TYPE_MLX5`: [`Info::out_device_type`] of an mlx5 device.
pub const DEVICE_TYPE_MLX5: u32 = 1;
/// `FWCTL_DEVICE_TYPE_CXL`.
pub const DEVICE_TYPE_CXL: u32 = 2;
/// `FWCTL_DEVICE_TYPE_BNXT` (not in Linux 6.15).
pub const DEVICE_TYPE_BNXT: u32 = 3;
/// `FWCTL_DEVICE_TYPE_PDS`.
pub const DEVICE_TYPE_PDS: u32 = 4;

/// The longest mailbox that the kernel takes, in or out: `MAX_RPC_LEN` in `drivers/fwctl/main.c`.
pub const MAX_RPC_LEN: usize = 2 << 20;
/// The shortest input and output that the driver takes: the headers `mbox_in_hdr` and
/// `mbox_out_hdr` in `drivers/fwctl/mlx5/main.c`.
pub const HEADER: usize = 16;

/// The argument of `FWCTL_INFO`: `struct fwctl_info`, 24 bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Info {
    /// 24.
    pub size: u32,
    /// 0.
    pub flags: u32,
    /// Which driver it is: [`DEVICE_TYPE_MLX5`] and the others.
    pub out_device_type: u32,
    /// In, the length of the memory at `out_device_data`; out, how many bytes the driver has.
    pub device_data_len: u32,
    /// The address of an [`InfoMlx5`].
    pub out_device_data: u64,
}

/// What an mlx5 device says in `FWCTL_INFO`: `struct fwctl_info_mlx5`, 8 bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct InfoMlx5 {
    /// The user context of the firmware that the open file has: the driver writes it into every
    /// command.
    pub uid: u32,
    /// What the user context may do, bits of `uctx.cap` in the PRM. Bit 2 is TOOLS_RESOURCES, which
    /// newer firmware has: without it a command may do no more than through DEVX
    /// (`mlx5ctl_open_uctx`).
    pub uctx_caps: u32,
}

/// The argument of `FWCTL_RPC`: `struct fwctl_rpc`, 32 bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Rpc {
    /// 32.
    pub size: u32,
    /// The number of a [`Scope`](super::Scope).
    pub scope: u32,
    /// The length of the input.
    pub in_len: u32,
    /// In, the room for the output; out, how long the output is.
    pub out_len: u32,
    /// The address of the input.
    pub in_: u64,
    /// The address of the output.
    pub out: u64,
}

const _: () = assert!(size_of::<Info>() == 24 && size_of::<Rpc>() == 32);
