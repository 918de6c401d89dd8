//! What a backend that has all of DEVX does, below the types that users see.
#![allow(
    unsafe_code,
    reason = "some calls give memory away, or take addresses; the contract is at each of them"
)]

use std::ffi::c_void;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::devx::CallError;
use crate::{Errno, Handle, Target, TargetKind, UarKind};

/// The memory that a umem registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UmemMemory {
    /// Memory of the program.
    Program {
        /// Where it begins.
        address: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// A part of a dma-buf.
    Dmabuf {
        /// The file descriptor of the dma-buf.
        fd: i32,
        /// Where in the dma-buf the part begins, in bytes.
        offset: u64,
        /// The length of the part in bytes.
        length: u64,
    },
}

impl UmemMemory {
    /// Where it begins, its length, and the dma-buf that it is of.
    pub(crate) fn parts(self) -> (u64, u64, Option<i32>) {
        match self {
            UmemMemory::Program { address, length } => (address, length, None),
            UmemMemory::Dmabuf { fd, offset, length } => (offset, length, Some(fd)),
        }
    }
}

/// A umem, as the backend made it.
#[derive(Debug, Clone, Copy)]
pub struct RawUmem {
    pub handle: Handle,
    pub id: u32,
}

/// A page of doorbells, as the backend made it: mapped, and writable.
#[derive(Debug, Clone, Copy)]
pub struct RawUar {
    pub handle: Handle,
    pub page_id: u32,
    pub mmap_offset: u64,
    /// The length of the mapping in bytes, at least one page of the adapter.
    pub length: usize,
    pub base: NonNull<u8>,
    /// Where in it the doorbell of send queues is, of which a page has several.
    pub send: usize,
}

/// The calls of one context. It lives as long as one of its channels does.
pub trait Backend: Send + Sync {
    /// # Safety
    /// That of [`Devx::adopt`](crate::Devx::adopt).
    unsafe fn adopt(&self, kind: TargetKind, object: NonNull<c_void>) -> Result<Handle, Errno>;

    fn release(&self, handle: Handle) -> bool;

    fn query_eqn(&self, vector: u32) -> Result<u32, Errno>;

    /// Registers memory. Without sizes of pages all from 4096 bytes on may be used.
    ///
    /// # Safety
    /// Until the umem is ended or the context is gone the memory stays what it is, and the adapter
    /// may change it.
    unsafe fn umem_reg(
        &self,
        memory: UmemMemory,
        access: u32,
        page_sizes: Option<u64>,
    ) -> Result<RawUmem, CallError>;

    fn umem_dereg(&self, handle: Handle) -> Result<(), Errno>;

    /// The umem, for a program that has the same context.
    fn umem_export(&self, umem: RawUmem) -> Result<Vec<u8>, CallError>;

    fn umem_import(&self, exported: &[u8]) -> Result<RawUmem, CallError>;

    /// Forgets a umem that was imported, and leaves it to its owner.
    fn umem_unimport(&self, handle: Handle);

    fn obj_export(&self, handle: Handle) -> Result<Vec<u8>, CallError>;

    fn obj_import(&self, exported: &[u8]) -> Result<Handle, CallError>;

    /// Forgets an object that was imported, and leaves it to its owner.
    fn obj_unimport(&self, handle: Handle);

    fn uar_alloc(&self, kind: UarKind) -> Result<RawUar, Errno>;

    /// Takes the mapping away, and gives the page back. Nothing is changed when that fails.
    ///
    /// # Safety
    /// The page is one of `uar_alloc` of this context, which nothing uses from now on unless this
    /// fails.
    unsafe fn uar_free(&self, uar: RawUar) -> Result<(), Errno>;

    fn query_channel(self: Arc<Self>) -> Result<Box<dyn QueryChannel>, Errno>;

    fn event_channel(self: Arc<Self>, flags: u32) -> Result<Box<dyn EventChannel>, Errno>;
}

/// A file that answers to queries come from.
pub trait QueryChannel: AsFd + Send + Sync + fmt::Debug {
    fn send(&self, target: Target, input: &[u8], output_len: u16, id: u64) -> Result<(), Errno>;

    /// Reads the next answer into `output`, and gives its id and length.
    fn read(&self, output: &mut [u8]) -> Result<(u64, usize), Errno>;
}

/// A file that events come from.
pub trait EventChannel: AsFd + Send + Sync + fmt::Debug {
    fn subscribe(&self, object: Option<Handle>, types: &[u16], cookie: u64) -> Result<(), Errno>;

    fn subscribe_fd(
        &self,
        eventfd: BorrowedFd<'_>,
        object: Option<Handle>,
        event_type: u16,
    ) -> Result<(), Errno>;

    /// Reads the next event as the kernel gives it, and gives its length.
    fn read(&self, event: &mut [u8]) -> Result<usize, Errno>;
}

/// The id in front of an answer (`struct mlx5_ib_uapi_devx_async_cmd_hdr` of
/// `mlx5_user_ioctl_verbs.h`).
const HEAD: usize = 8;

/// Reads an answer: its id, and into `output` the mailbox behind it. Gives the id and the length.
pub(crate) fn read_answer(
    output: &mut [u8],
    read: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
) -> Result<(u64, usize), Errno> {
    let mut bytes = vec![0; HEAD + output.len()];
    let length = read(&mut bytes)?;
    let answer = bytes.get(..length).ok_or(Errno::PROTO)?;
    let (id, answer) = answer.split_first_chunk::<HEAD>().ok_or(Errno::PROTO)?;
    output[..answer.len()].copy_from_slice(answer);
    Ok((u64::from_ne_bytes(*id), answer.len()))
}
