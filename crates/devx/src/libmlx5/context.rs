//! A context of libmlx5, and the calls that are made in it.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::LoadError;
use super::functions::{
    Address, CExportSizes, CFile, CUar, CUmem, CUmemIn, Call, Functions, Newer, UMEM_MASK_DMABUF,
};
use super::living::Living;
use rustix::io::retry_on_intr;

use crate::backend::{
    Backend, EventChannel, QueryChannel, RawUar, RawUmem, UmemMemory, read_answer,
};
use crate::devx::{CallError, NotSupported};
use crate::transport::{Handle, Target, TargetKind};
use crate::wait::read_file;
use crate::{Errno, Uar, UarKind, ibv};

/// A context: an open device.
pub(super) struct Context {
    pub(super) functions: &'static Functions,
    context: NonNull<c_void>,
    /// Whether the context is closed in the end.
    is_own: bool,
    /// The objects that may be used, by address: no other address is given to libmlx5.
    objects: Living<TargetKind>,
    /// The umems that may be used, in the same way.
    umems: Living<()>,
}

/// Held while a QP of verbs is modified: libmlx5 notes its state in its own structure, without a lock
/// (`mlx5dv_devx_qp_modify` and `set_qp_operational_state` in `verbs.c`). They are of the process,
/// because two contexts here may be one of libibverbs; which of them is a QP's its address says, so
/// that a slow command keeps few others waiting.
static MODIFYING_QP: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// Keeps other threads from modifying the same QP.
pub(super) fn modifying_qp(qp: Handle) -> MutexGuard<'static, ()> {
    lock_of(qp).lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_of(qp: Handle) -> &'static Mutex<()> {
    // The structure of a QP is longer than 256 bytes.
    &MODIFYING_QP[(qp.0 >> 8) as usize % MODIFYING_QP.len()]
}

// SAFETY: libibverbs and libmlx5 may be called by any thread, and at once but for the modify of a QP,
// which `modifying_qp` locks; the addresses that are kept here are theirs.
unsafe impl Send for Context {}
// SAFETY: as above; what is changed here is behind a lock.
unsafe impl Sync for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Context { context, is_own, objects, umems, functions: _ } = self;
        f.debug_struct("Context")
            .field("context", context)
            .field("is_own", is_own)
            .field("objects", objects)
            .field("umems", umems)
            .finish_non_exhaustive()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: it was opened here, and is closed once: what was made of it keeps it. It fails
            // only where the device is gone; nothing can be done about that.
            unsafe { (self.functions.close_device)(self.context.as_ptr()) };
        }
    }
}

impl Context {
    pub(super) fn new(
        functions: &'static Functions,
        context: NonNull<c_void>,
        is_own: bool,
    ) -> Self {
        let (objects, umems) = (Living::default(), Living::default());
        Context { functions, context, is_own, objects, umems }
    }

    pub(super) fn address(&self) -> Address {
        self.context.as_ptr()
    }

    /// Lets an object be used that libmlx5 made just now.
    pub(super) fn add(&self, object: NonNull<c_void>) -> Handle {
        let handle = handle(object.as_ptr());
        self.objects.add(handle, TargetKind::Devx);
        handle
    }

    /// Does something with an object of this kind, which can't be ended meanwhile.
    fn with<T>(
        &self,
        target: Target,
        call: impl FnOnce(Address) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.objects.with(target.handle, target.kind, || call(address(target.handle)))
    }

    /// Makes a call for an object that may be used.
    pub(super) fn call(
        &self,
        target: Target,
        function: Call,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Errno> {
        // SAFETY: an object of the kind that the function takes lives during the call.
        self.with(target, |object| unsafe { send(function, object, input, output) })
    }

    /// Ends an object that a command made; it stays when that fails. What verbs made is ended by verbs.
    pub(super) fn end(
        &self,
        handle: Handle,
        end: impl FnOnce(Address) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        self.objects.end(handle, TargetKind::Devx, || end(address(handle)))
    }

    /// Does something with a umem, after which it is there no more.
    fn end_umem(
        &self,
        handle: Handle,
        end: impl FnOnce(*mut CUmem) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        self.umems.end(handle, (), || end(address(handle).cast()))
    }

    fn add_umem(&self, umem: NonNull<CUmem>) -> RawUmem {
        let handle = handle(umem.as_ptr().cast());
        // SAFETY: libmlx5 gave it, and keeps it until it is ended.
        let id = unsafe { umem.as_ref() }.umem_id;
        self.umems.add(handle, ());
        RawUmem { handle, id }
    }

    /// How long what is exported is: of umems, and of objects.
    fn export_sizes(&self) -> Result<(usize, usize), CallError> {
        let get = newer(&self.functions.export_sizes)?;
        let mut sizes = CExportSizes::default();
        // SAFETY: libmlx5 writes as many bytes as it is told.
        unsafe { get(&mut sizes, size_of::<CExportSizes>()) };
        Ok((sizes.devx_umem_attrs_size as usize, sizes.devx_obj_attrs_size as usize))
    }
}

/// A function that the installed libmlx5 may be too old for.
fn newer<F: Copy>(function: &Newer<F>) -> Result<F, CallError> {
    function.as_ref().copied().map_err(|missing| {
        let call = match missing {
            LoadError::Symbol { symbol, .. } => symbol,
            LoadError::Library { soname, .. } => soname,
        };
        NotSupported { call, backend: "libmlx5", why: missing.to_string() }.into()
    })
}

/// Memory for a structure whose length libmlx5 alone knows, aligned as any structure of it may be.
struct Opaque {
    words: Vec<u64>,
    length: usize,
}

impl Opaque {
    fn new(length: usize) -> Self {
        Opaque { words: vec![0; length.div_ceil(8)], length }
    }

    fn of(bytes: &[u8], length: usize) -> Result<Self, CallError> {
        if bytes.len() != length {
            return Err(Errno::INVAL.into());
        }
        let mut opaque = Opaque::new(length);
        for (word, bytes) in opaque.words.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        Ok(opaque)
    }

    fn address(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(self.length);
        bytes
    }
}

fn handle(address: Address) -> Handle {
    Handle(address.expose_provenance() as u64)
}

fn address(handle: Handle) -> Address {
    std::ptr::with_exposed_provenance_mut(handle.0 as usize)
}

/// The errno of a function that gives no number: it is that of this thread.
pub(super) fn last_errno() -> Errno {
    let raw = std::io::Error::last_os_error().raw_os_error();
    raw.filter(|raw| *raw > 0).map_or(Errno::IO, Errno::from_raw_os_error)
}

/// What a function that gives 0 or an errno gave. Old versions give -1 and set errno.
pub(super) fn result(gave: c_int) -> Result<(), Errno> {
    match gave {
        0 => Ok(()),
        errno if errno > 0 => Err(Errno::from_raw_os_error(errno)),
        _ => Err(last_errno()),
    }
}

/// Calls a function that gives what it made, or null, again where a signal came: nothing was made then.
pub(super) fn made<T>(mut call: impl FnMut() -> *mut T) -> Result<NonNull<T>, Errno> {
    retry_on_intr(|| NonNull::new(call()).ok_or_else(last_errno))
}

/// Makes one call with two mailboxes.
///
/// # Safety
/// `object` is what the function takes.
pub(super) unsafe fn send(
    function: Call,
    object: Address,
    input: &[u8],
    output: &mut [u8],
) -> Result<(), Errno> {
    // SAFETY: by the contract; the mailboxes live during the call, and are as long as is said.
    let gave = unsafe {
        function(
            object,
            input.as_ptr().cast(),
            input.len(),
            output.as_mut_ptr().cast(),
            output.len(),
        )
    };
    result(gave)
}

impl Backend for Context {
    unsafe fn adopt(&self, kind: TargetKind, object: NonNull<c_void>) -> Result<Handle, Errno> {
        // SAFETY: by the contract of this function.
        let (context, _) = unsafe { ibv::context_and_handle(kind, object)? };
        if context.cast() != self.context.as_ptr() {
            return Err(Errno::INVAL);
        }
        let handle = handle(object.as_ptr());
        self.objects.adopt(handle, kind);
        Ok(handle)
    }

    fn release(&self, handle: Handle) -> bool {
        match self.objects.kind(handle) {
            None | Some(TargetKind::Devx) => false,
            Some(kind) => self.objects.end(handle, kind, || Ok(())).is_ok(),
        }
    }

    fn query_eqn(&self, vector: u32) -> Result<u32, Errno> {
        let mut eqn = 0;
        // SAFETY: the context is open; `eqn` is written, and lives during the call.
        let call =
            || result(unsafe { (self.functions.query_eqn)(self.address(), vector, &mut eqn) });
        retry_on_intr(call)?;
        Ok(eqn)
    }

    unsafe fn umem_reg(
        &self,
        memory: UmemMemory,
        access: u32,
        page_sizes: Option<u64>,
    ) -> Result<RawUmem, CallError> {
        let at = |address: u64| std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        let long = |_| CallError::from(Errno::OVERFLOW);
        let umem = match (memory, page_sizes) {
            (UmemMemory::Program { address, length }, None) => {
                let length = usize::try_from(length).map_err(long)?;
                let (reg, at) = (self.functions.umem_reg, at(address));
                // SAFETY: the context is open; the memory is as the contract says.
                made(|| unsafe { reg(self.address(), at, length, access) })?
            }
            (memory, page_sizes) => {
                let (address, length, fd) = memory.parts();
                let mut umem_in = CUmemIn {
                    addr: at(address),
                    size: usize::try_from(length).map_err(long)?,
                    access,
                    // All from 4096 bytes on, as `mlx5dv_devx_umem_reg` says.
                    pgsz_bitmap: page_sizes.unwrap_or(!0xfff),
                    comp_mask: if fd.is_some() { UMEM_MASK_DMABUF } else { 0 },
                    dmabuf_fd: fd.unwrap_or(-1),
                    more: [0; 4],
                };
                let reg = newer(&self.functions.umem_reg_ex)?;
                // SAFETY: the context is open; `umem_in` lives during the call; the memory is as
                // the contract says.
                made(|| unsafe { reg(self.address(), &mut umem_in) })?
            }
        };
        Ok(self.add_umem(umem))
    }

    fn umem_dereg(&self, handle: Handle) -> Result<(), Errno> {
        self.end_umem(handle, |umem| {
            // SAFETY: the umem is there, and is ended once: it stays when that fails, also for a
            // signal.
            retry_on_intr(|| result(unsafe { (self.functions.umem_dereg)(umem) }))
        })
    }

    fn umem_export(&self, umem: RawUmem) -> Result<Vec<u8>, CallError> {
        let (export, (length, _)) = (newer(&self.functions.umem_export)?, self.export_sizes()?);
        let mut exported = Opaque::new(length);
        self.umems.with(umem.handle, (), || {
            // SAFETY: the umem is there; libmlx5 writes as many bytes as it said.
            result(unsafe { export(address(umem.handle).cast(), exported.address()) })
        })?;
        Ok(exported.bytes())
    }

    fn umem_import(&self, exported: &[u8]) -> Result<RawUmem, CallError> {
        let (import, (length, _)) = (newer(&self.functions.umem_import)?, self.export_sizes()?);
        let mut exported = Opaque::of(exported, length)?;
        // SAFETY: the context is open; libmlx5 reads as many bytes as it said, which are numbers.
        let umem = made(|| unsafe { import(self.address(), exported.address()) })?;
        Ok(self.add_umem(umem))
    }

    fn umem_unimport(&self, handle: Handle) {
        if let Ok(unimport) = newer(&self.functions.umem_unimport) {
            let _ = self.end_umem(handle, |umem| {
                // SAFETY: the umem is there, and is forgotten once.
                unsafe { unimport(umem) };
                Ok(())
            });
        }
    }

    fn obj_export(&self, handle: Handle) -> Result<Vec<u8>, CallError> {
        let (export, (_, length)) = (newer(&self.functions.obj_export)?, self.export_sizes()?);
        let mut exported = Opaque::new(length);
        self.with(Target { kind: TargetKind::Devx, handle }, |object| {
            // SAFETY: the object is there; libmlx5 writes as many bytes as it said.
            result(unsafe { export(object, exported.address()) })
        })?;
        Ok(exported.bytes())
    }

    fn obj_import(&self, exported: &[u8]) -> Result<Handle, CallError> {
        let (import, (_, length)) = (newer(&self.functions.obj_import)?, self.export_sizes()?);
        let mut exported = Opaque::of(exported, length)?;
        // SAFETY: the context is open; libmlx5 reads as many bytes as it said, which are numbers.
        let object = made(|| unsafe { import(self.address(), exported.address()) })?;
        Ok(self.add(object))
    }

    fn obj_unimport(&self, handle: Handle) {
        if let Ok(unimport) = newer(&self.functions.obj_unimport) {
            let _ = self.end(handle, |object| {
                // SAFETY: the object is there, and is forgotten once.
                unsafe { unimport(object) };
                Ok(())
            });
        }
    }

    fn uar_alloc(&self, kind: UarKind) -> Result<RawUar, Errno> {
        // `MLX5DV_UAR_ALLOC_TYPE_BF` and `_NC` of `mlx5dv.h`.
        let kind = match kind {
            UarKind::BlueFlame => 0,
            UarKind::NonCached => 1,
        };
        // SAFETY: the context is open.
        let uar = made(|| unsafe { (self.functions.alloc_uar)(self.address(), kind) })?;
        let handle = handle(uar.as_ptr().cast());
        // SAFETY: libmlx5 gave it, and keeps it until it is freed.
        let CUar { reg_addr, page_id, mmap_off, .. } = *unsafe { uar.as_ref() };
        // The page of 4096 bytes that `page_id` names is that of the doorbell: of longer pages
        // `base_addr` may be another (`mlx5_get_dedicated_uar` in `verbs.c`).
        let send = reg_addr.addr() % Uar::LENGTH;
        let Some(base) = NonNull::new(reg_addr.cast::<u8>().wrapping_sub(send)) else {
            // SAFETY: it was allotted just now, and is freed once.
            unsafe { (self.functions.free_uar)(uar.as_ptr()) };
            return Err(Errno::NOMEM);
        };
        let (mmap_offset, length) = (mmap_off as u64, Uar::LENGTH);
        Ok(RawUar { handle, page_id, mmap_offset, length, base, send })
    }

    unsafe fn uar_free(&self, uar: RawUar) -> Result<(), Errno> {
        // SAFETY: by the contract it is there, and freed once.
        unsafe { (self.functions.free_uar)(address(uar.handle).cast()) };
        Ok(())
    }

    fn query_channel(self: Arc<Self>) -> Result<Box<dyn QueryChannel>, Errno> {
        // SAFETY: the context is open.
        let file = made(|| unsafe { (self.functions.create_cmd_comp)(self.address()) })?;
        let destroy = self.functions.destroy_cmd_comp;
        Ok(Box::new(Channel { context: self, file, destroy }))
    }

    fn event_channel(self: Arc<Self>, flags: u32) -> Result<Box<dyn EventChannel>, Errno> {
        let create = self.functions.create_event_channel;
        // SAFETY: the context is open.
        let file = made(|| unsafe { create(self.address(), flags) })?;
        let destroy = self.functions.destroy_event_channel;
        Ok(Box::new(Channel { context: self, file, destroy }))
    }
}

/// A channel of libmlx5, of answers or of events, and the context that it is of.
struct Channel {
    context: Arc<Context>,
    file: NonNull<CFile>,
    destroy: unsafe extern "C" fn(*mut CFile),
}

// SAFETY: libmlx5 may be called by any thread, and at once; the structure is not changed until it is
// destroyed.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

impl Channel {
    /// Reads once. `mlx5dv_devx_get_async_cmd_comp` and `mlx5dv_devx_get_event` are this; the first
    /// does not tell how much it read.
    fn read_once(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        retry_on_intr(|| read_file(self.as_fd(), |fd| rustix::io::read(fd, &mut *buffer)))
    }

    /// Does something with an object, or with none.
    fn with(
        &self,
        object: Option<Handle>,
        call: impl FnOnce(Address) -> c_int,
    ) -> Result<(), Errno> {
        match object {
            None => result(call(std::ptr::null_mut())),
            Some(handle) => {
                let target = Target { kind: TargetKind::Devx, handle };
                self.context.with(target, |object| result(call(object)))
            }
        }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("fd", &self.as_fd()).finish_non_exhaustive()
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: libmlx5 keeps the structure, and the descriptor in it open, until it is destroyed.
        unsafe { BorrowedFd::borrow_raw(self.file.as_ref().fd) }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: libmlx5 gave it, and it is destroyed once.
        unsafe { (self.destroy)(self.file.as_ptr()) }
    }
}

impl QueryChannel for Channel {
    fn send(&self, target: Target, input: &[u8], output_len: u16, id: u64) -> Result<(), Errno> {
        if target.kind != TargetKind::Devx {
            return Err(Errno::OPNOTSUPP);
        }
        let send = self.context.functions.obj_query_async;
        self.context.with(target, |object| {
            let (at, len) = (input.as_ptr().cast(), input.len());
            // SAFETY: the object is there; the input lives during the call, and is as long as is
            // said; the channel is there.
            result(unsafe { send(object, at, len, output_len.into(), id, self.file.as_ptr()) })
        })
    }

    fn read(&self, output: &mut [u8]) -> Result<(u64, usize), Errno> {
        read_answer(output, |buffer| self.read_once(buffer))
    }
}

impl EventChannel for Channel {
    fn subscribe(&self, object: Option<Handle>, types: &[u16], cookie: u64) -> Result<(), Errno> {
        let bytes = u16::try_from(size_of_val(types)).map_err(|_| Errno::INVAL)?;
        let subscribe = self.context.functions.subscribe_event;
        // SAFETY: the object is there, or none; the types live during the call, and are as many
        // bytes as is said; the channel is there.
        self.with(object, |object| unsafe {
            subscribe(self.file.as_ptr(), object, bytes, types.as_ptr(), cookie)
        })
    }

    fn subscribe_fd(
        &self,
        eventfd: BorrowedFd<'_>,
        object: Option<Handle>,
        event_type: u16,
    ) -> Result<(), Errno> {
        let subscribe = self.context.functions.subscribe_event_fd;
        // SAFETY: the object is there, or none; the kernel keeps the eventfd; the channel is there.
        self.with(object, |object| unsafe {
            subscribe(self.file.as_ptr(), eventfd.as_raw_fd(), object, event_type)
        })
    }

    fn read(&self, event: &mut [u8]) -> Result<usize, Errno> {
        self.read_once(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_gives_0_or_an_errno_or_sets_it() {
        assert_eq!(result(0), Ok(()));
        assert_eq!(result(Errno::INVAL.raw_os_error()), Err(Errno::INVAL));
        let _ = std::fs::metadata("/proc/there-is-no-such-file");
        assert_eq!(result(-1), Err(Errno::NOENT));
    }

    #[test]
    fn a_qp_is_modified_alone_and_others_beside_it() {
        let [this, other] = [0x7f00_0000_1000, 0x7f00_0000_1100].map(Handle);
        let held = modifying_qp(this);
        assert!(lock_of(this).try_lock().is_err());
        assert!(lock_of(other).try_lock().is_ok());
        drop(held);
    }

    #[test]
    fn what_another_program_exported_has_its_length() {
        let bytes: Vec<u8> = (1..=13).collect();
        let opaque = Opaque::of(&bytes, 13).expect("its length");
        assert_eq!(opaque.bytes(), bytes);
        assert!(Opaque::of(&bytes, 12).is_err() && Opaque::of(&bytes, 14).is_err());
    }
}
