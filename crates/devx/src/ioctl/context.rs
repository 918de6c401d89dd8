//! The context of a device file, and the calls that are made in it.
#![allow(unsafe_code, reason = "pages of doorbells are mapped; each block says why it is sound")]

use std::ffi::c_void;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::io::retry_on_intr;
use rustix::mm::{MapFlags, ProtFlags};

use super::Kernel;
use crate::backend::{
    Backend, EventChannel, QueryChannel, RawUar, RawUmem, UmemMemory, read_answer,
};
use crate::devx::CallError;
use crate::uar::FIRST_BFREG;
use crate::wait::read_file;
use crate::wire::numbers::{UAR_ALLOC_TYPE_BF, UAR_ALLOC_TYPE_NC};
use crate::wire::{AllocUcontextReq, AllocUcontextResp, Request};
use crate::{Errno, Handle, Target, TargetKind, Uar, UarKind, ibv};

/// A context on a device file.
pub(super) struct Context {
    pub(super) kernel: Box<dyn Kernel>,
    /// `None` for a context that was there already.
    pub(super) made: Option<Made>,
    /// The address of the context in libibverbs, when it is one of that.
    pub(super) verbs: Option<usize>,
}

/// What the kernel said when it made the context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub(super) num_comp_vectors: u32,
    pub(super) driver: AllocUcontextResp,
}

impl Made {
    /// Makes a context on an open device file, with DEVX or without.
    pub(super) fn context(kernel: &dyn Kernel, devx: bool) -> Result<Self, Errno> {
        let ask = AllocUcontextReq::like_libmlx5(devx);
        let (mut driver, mut num_comp_vectors) = (AllocUcontextResp::default(), 0);
        let mut core_support = 0;
        let mut request =
            Request::get_context(&ask, &mut driver, &mut num_comp_vectors, &mut core_support);
        retry_on_intr(|| kernel.call(&mut request))?;
        Ok(Made { num_comp_vectors, driver })
    }
}

/// Whether a call that a signal interrupted is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    Again,
    GiveUp,
}

impl Context {
    #[inline]
    pub(super) fn call(
        &self,
        request: &mut Request<'_>,
        interrupted: Interrupted,
    ) -> Result<(), Errno> {
        match interrupted {
            Interrupted::Again => retry_on_intr(|| self.kernel.call(request)),
            Interrupted::GiveUp => self.kernel.call(request),
        }
    }

    /// A call that makes an object. Gives its handle.
    pub(super) fn make(&self, request: &mut Request<'_>) -> Result<Handle, Errno> {
        self.call(request, Interrupted::Again)?;
        // Handles of uverbs are never wider than 32 bits.
        request.new_handle().map(|handle| Handle(handle.into())).ok_or(Errno::OVERFLOW)
    }

    /// A call that makes a file.
    fn make_file(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        retry_on_intr(|| self.kernel.make_file(request))
    }
}

/// The handle as uverbs has it. One that is wider is none of its handles.
#[inline]
pub(super) fn narrow(handle: Handle) -> Result<u32, Errno> {
    u32::try_from(handle.0).map_err(|_| Errno::NOENT)
}

/// What a program exports: the handle, and of a umem its number.
fn words<const N: usize>(exported: &[u8]) -> Result<[u32; N], CallError> {
    let (words, rest) = exported.as_chunks::<4>();
    match <[[u8; 4]; N]>::try_from(words) {
        Ok(words) if rest.is_empty() => Ok(words.map(u32::from_ne_bytes)),
        _ => Err(Errno::INVAL.into()),
    }
}

impl Backend for Context {
    unsafe fn adopt(&self, kind: TargetKind, object: NonNull<c_void>) -> Result<Handle, Errno> {
        // SAFETY: by the contract of this function.
        let (context, handle) = unsafe { ibv::context_and_handle(kind, object)? };
        if self.verbs != Some(context.expose_provenance()) {
            return Err(Errno::INVAL);
        }
        Ok(Handle(handle.into()))
    }

    fn release(&self, _: Handle) -> bool {
        false
    }

    fn query_eqn(&self, vector: u32) -> Result<u32, Errno> {
        let mut eqn = 0;
        self.call(&mut Request::query_eqn(vector, &mut eqn), Interrupted::Again)?;
        Ok(eqn)
    }

    unsafe fn umem_reg(
        &self,
        memory: UmemMemory,
        access: u32,
        page_sizes: Option<u64>,
    ) -> Result<RawUmem, CallError> {
        let mut id = 0;
        let handle = self.make(&mut Request::umem_reg(memory, access, page_sizes, &mut id))?;
        Ok(RawUmem { handle, id })
    }

    fn umem_dereg(&self, handle: Handle) -> Result<(), Errno> {
        self.call(&mut Request::umem_dereg(narrow(handle)?), Interrupted::Again)
    }

    fn umem_export(&self, umem: RawUmem) -> Result<Vec<u8>, CallError> {
        Ok([narrow(umem.handle)?, umem.id].map(u32::to_ne_bytes).concat())
    }

    fn umem_import(&self, exported: &[u8]) -> Result<RawUmem, CallError> {
        let [handle, id] = words(exported)?;
        Ok(RawUmem { handle: Handle(handle.into()), id })
    }

    fn umem_unimport(&self, _: Handle) {}

    fn obj_export(&self, handle: Handle) -> Result<Vec<u8>, CallError> {
        Ok(narrow(handle)?.to_ne_bytes().to_vec())
    }

    fn obj_import(&self, exported: &[u8]) -> Result<Handle, CallError> {
        let [handle] = words(exported)?;
        Ok(Handle(handle.into()))
    }

    fn obj_unimport(&self, _: Handle) {}

    fn uar_alloc(&self, kind: UarKind) -> Result<RawUar, Errno> {
        let kind = match kind {
            UarKind::BlueFlame => UAR_ALLOC_TYPE_BF,
            UarKind::NonCached => UAR_ALLOC_TYPE_NC,
        };
        let (mut mmap_offset, mut mmap_length, mut page_id) = (0, 0, 0);
        let mut request =
            Request::uar_alloc(kind, &mut mmap_offset, &mut mmap_length, &mut page_id);
        let handle = self.make(&mut request)?;
        let length = mmap_length as usize;
        map(self.kernel.file(), mmap_offset, length)
            .map(|base| RawUar { handle, page_id, mmap_offset, length, base, send: FIRST_BFREG })
            .inspect_err(|_| {
                // What did not map is of no use. If it can't be given back either, it ends with
                // the context.
                let _ = self.uar_destroy(handle);
            })
    }

    unsafe fn uar_free(&self, uar: RawUar) -> Result<(), Errno> {
        self.uar_destroy(uar.handle)?;
        // SAFETY: it was mapped with this length, and by the contract nothing uses it any more. The page
        // is given back already, so that a mapping that stays is only an address that is not free.
        let _ = unsafe { rustix::mm::munmap(uar.base.as_ptr().cast(), uar.length) };
        Ok(())
    }

    fn query_channel(self: Arc<Self>) -> Result<Box<dyn QueryChannel>, Errno> {
        let file = self.make_file(&mut Request::async_cmd_fd_alloc())?;
        Ok(Box::new(Channel { context: self, file }))
    }

    fn event_channel(self: Arc<Self>, flags: u32) -> Result<Box<dyn EventChannel>, Errno> {
        let file = self.make_file(&mut Request::async_event_fd_alloc(flags))?;
        Ok(Box::new(Channel { context: self, file }))
    }
}

impl Context {
    fn uar_destroy(&self, handle: Handle) -> Result<(), Errno> {
        self.call(&mut Request::uar_destroy(narrow(handle)?), Interrupted::Again)
    }
}

/// Maps a page of doorbells, as libmlx5 does: for writing alone (`mlx5_alloc_dyn_uar` of
/// rdma-core's `verbs.c`).
fn map(file: BorrowedFd<'_>, offset: u64, length: usize) -> Result<NonNull<u8>, Errno> {
    if length < Uar::LENGTH {
        return Err(Errno::PROTO);
    }
    let (protection, flags) = (ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: the kernel chooses where, so that nothing that is there already is touched.
    let page =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, file, offset)? };
    NonNull::new(page.cast()).ok_or(Errno::NOMEM)
}

/// A file that the kernel made, of answers or of events, and the context that it is of.
struct Channel {
    context: Arc<Context>,
    file: OwnedFd,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("file", &self.file).finish_non_exhaustive()
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Channel {
    /// Reads once, and again when a signal came: that takes nothing.
    fn read_once(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let kernel = &self.context.kernel;
        retry_on_intr(|| read_file(self.file.as_fd(), |fd| kernel.read(fd, buffer)))
    }
}

impl QueryChannel for Channel {
    fn send(&self, target: Target, input: &[u8], output_len: u16, id: u64) -> Result<(), Errno> {
        let handle = narrow(target.handle)?;
        let fd = self.file.as_raw_fd();
        let mut request = Request::obj_query_async(fd, handle, input, output_len, id);
        // Were it sent twice, two answers would come.
        self.context.call(&mut request, Interrupted::GiveUp)
    }

    fn read(&self, output: &mut [u8]) -> Result<(u64, usize), Errno> {
        read_answer(output, |buffer| self.read_once(buffer))
    }
}

impl EventChannel for Channel {
    fn subscribe(&self, object: Option<Handle>, types: &[u16], cookie: u64) -> Result<(), Errno> {
        let object = object.map(narrow).transpose()?;
        let mut request = Request::subscribe_event(self.file.as_raw_fd(), cookie, object, types);
        // Were the first try not undone, events would come twice.
        self.context.call(&mut request, Interrupted::GiveUp)
    }

    fn subscribe_fd(
        &self,
        eventfd: BorrowedFd<'_>,
        object: Option<Handle>,
        event_type: u16,
    ) -> Result<(), Errno> {
        let object = object.map(narrow).transpose()?;
        let file = self.file.as_raw_fd();
        let mut request = Request::subscribe_event_fd(file, eventfd, object, &event_type);
        self.context.call(&mut request, Interrupted::GiveUp)
    }

    fn read(&self, event: &mut [u8]) -> Result<usize, Errno> {
        self.read_once(event)
    }
}
