//! The way through libmlx5, which is loaded when it is first asked for.
//!
//! The libraries are found by their names, `libibverbs.so.1` and `libmlx5.so.1`, as rdma-core installs
//! them: nothing of rdma-core is needed to build, and where it is absent the error says so.

#![allow(
    unsafe_code,
    reason = "it calls C functions that take addresses; each block says why it is sound"
)]

mod context;
mod error;
mod functions;
mod living;
mod number;

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use context::{Context, last_errno, made, modifying_qp, result, send};
pub use error::{LoadError, OpenError};
use functions::{Address, CONTEXT_FLAGS_DEVX, ContextAttr, Functions, functions};

use mlx5_prm::Opcode;
use rustix::io::retry_on_intr;

use crate::Errno;
use crate::backend::Backend;
use crate::clears::clears;
use crate::devx::{Devx, Sealed, Token};
use crate::transport::{Handle, Target, TargetKind, Transport};

/// The names of the devices that libibverbs knows, of any maker.
///
/// # Errors
/// libmlx5 can't be used, or libibverbs can't list the devices.
pub fn devices() -> Result<Vec<String>, OpenError> {
    Ok(List::get(functions()?)?.names())
}

/// The list of devices, which is freed again.
struct List {
    functions: &'static Functions,
    list: NonNull<Address>,
    len: usize,
}

impl List {
    fn get(functions: &'static Functions) -> Result<Self, OpenError> {
        let mut len = 0;
        // SAFETY: `len` is written, and lives during the call.
        let list = unsafe { (functions.get_device_list)(&mut len) };
        let list = NonNull::new(list).ok_or_else(|| OpenError::List { errno: last_errno() })?;
        Ok(List { functions, list, len: usize::try_from(len).unwrap_or(0) })
    }

    /// The devices, and their names.
    fn devices(&self) -> impl Iterator<Item = (Address, String)> {
        (0..self.len).map(|i| {
            // SAFETY: the list has `len` addresses, until it is freed.
            let device = unsafe { *self.list.as_ptr().add(i) };
            // SAFETY: a device of a list that is not freed yet has a name, a C string.
            let name = unsafe { CStr::from_ptr((self.functions.get_device_name)(device)) };
            (device, name.to_string_lossy().into_owned())
        })
    }

    fn names(&self) -> Vec<String> {
        self.devices().map(|(_, name)| name).collect()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list came from `ibv_get_device_list`, and is freed once.
        unsafe { (self.functions.free_device_list)(self.list.as_ptr()) }
    }
}

/// An mlx5 device, opened by libmlx5 with DEVX.
///
/// ```no_run
/// use mlx5_devx::LibMlx5;
/// use mlx5_devx::{Transport, general};
/// use mlx5_prm::NopIn;
///
/// let adapter = LibMlx5::open("mlx5_0")?;
/// let transport: Box<dyn Transport> = Box::new(adapter);
/// general(&*transport, &NopIn::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An object that a program made by verbs, in the same context, is [adopted](Devx::adopt) before
/// commands are sent for it. Objects of [`Transport::create`] that are not destroyed end with the
/// context: the kernel ends them. libmlx5 frees what it keeps of an object only when that is destroyed.
///
/// Clones are the same context. It is closed when the last of them and of what was made of it
/// ([`Devx`]) is dropped.
#[derive(Debug, Clone)]
pub struct LibMlx5 {
    context: Arc<Context>,
}

impl LibMlx5 {
    /// Opens the device of this name, such as `mlx5_0`, with a DEVX context of its own.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(device: &str) -> Result<Self, OpenError> {
        let functions = functions()?;
        let list = List::get(functions)?;
        let Some((address, _)) = list.devices().find(|(_, name)| name == device) else {
            return Err(OpenError::NoSuchDevice { wanted: device.to_owned(), there: list.names() });
        };
        let mut attr = ContextAttr { flags: CONTEXT_FLAGS_DEVX, comp_mask: 0, more: [0; 4] };
        // SAFETY: the device is in a list that is not freed yet; `attr` lives during the call.
        let context = unsafe { (functions.open_device)(address, &mut attr) };
        let Some(context) = NonNull::new(context) else {
            return Err(OpenError::Refused { device: device.to_owned(), errno: last_errno() });
        };
        Ok(LibMlx5 { context: Arc::new(Context::new(functions, context, true)) })
    }

    /// A context that is open already: a `struct ibv_context *` of any binding. It is not closed here.
    ///
    /// The kernel refuses commands (`EINVAL`) in a context that has no DEVX.
    ///
    /// # Safety
    /// `context` is one of an mlx5 device, and stays open as long as the result, its clones and what
    /// was made of it are used.
    ///
    /// # Errors
    /// libmlx5 can't be used.
    pub unsafe fn from_ibv_context<T>(context: NonNull<T>) -> Result<Self, LoadError> {
        let (functions, context) = (functions()?, context.cast());
        Ok(LibMlx5 { context: Arc::new(Context::new(functions, context, false)) })
    }
}

impl Sealed for LibMlx5 {
    fn backend(&self, _: Token) -> Arc<dyn Backend> {
        self.context.clone()
    }

    fn backend_name(&self, _: Token) -> &'static str {
        "libmlx5"
    }
}

impl Devx for LibMlx5 {}

impl Transport for LibMlx5 {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        // libmlx5 reads in the mailboxes what it made, whatever their length (`set_devx_obj_info` in
        // `verbs.c`): at most the head of each, and of a flow table entry its index.
        let is_entry = mlx5_prm::opcode(input) == Some(Opcode::SET_FLOW_TABLE_ENTRY);
        if input.len() < if is_entry { 0x40 } else { 16 } || output.len() < 16 {
            return Err(Errno::INVAL);
        }
        let create = self.context.functions.obj_create;
        // SAFETY: the context is open; the mailboxes live during the call, and are as long as is said.
        let object = made(|| unsafe {
            create(
                self.context.address(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        })?;
        Ok(self.context.add(object))
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let f = self.context.functions;
        let function = match target.kind {
            TargetKind::Devx => f.obj_modify,
            TargetKind::Qp => f.qp_modify,
            TargetKind::Cq => f.cq_modify,
            TargetKind::Srq => f.srq_modify,
            TargetKind::Wq => f.wq_modify,
            TargetKind::IndTable => f.ind_tbl_modify,
        };
        let _alone = (target.kind == TargetKind::Qp).then(|| modifying_qp(target.handle));
        self.context.call(target, function, input, output)
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let f = self.context.functions;
        let function = match target.kind {
            TargetKind::Devx => f.obj_query,
            TargetKind::Qp => f.qp_query,
            TargetKind::Cq => f.cq_query,
            TargetKind::Srq => f.srq_query,
            TargetKind::Wq => f.wq_query,
            TargetKind::IndTable => f.ind_tbl_query,
        };
        let mut call = || self.context.call(target, function, input, output);
        // What a query cleared before a signal came would be lost.
        if clears(input) { call() } else { retry_on_intr(call) }
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        self.context.end(handle, |object| {
            // SAFETY: it was made by `mlx5dv_devx_obj_create`, and is not destroyed yet: it stays when
            // that fails, also for a signal.
            retry_on_intr(|| result(unsafe { (self.context.functions.obj_destroy)(object) }))
        })
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        // SAFETY: the context is open, and is what the function takes.
        unsafe { send(self.context.functions.general_cmd, self.context.address(), input, output) }
    }
}
