//! The way through libmlx5, which is loaded when it is first asked for.
//!
//! The libraries are found by their names, `libibverbs.so.1` and `libmlx5.so.1`, as rdma-core installs
//! them: nothing of rdma-core is needed to build, and where it is absent the error says so.

#![allow(
    unsafe_code,
    reason = "it calls C functions that take addresses; each block says why it is sound"
)]

mod number;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use libloading::os::unix::Library;

use crate::Errno;
use crate::transport::{Handle, Target, TargetKind, Transport};

/// Any structure of libibverbs or libmlx5, by its address.
type Address = *mut c_void;
/// A call on an object: the object, the input, the output.
type Call = unsafe extern "C" fn(Address, *const c_void, usize, *mut c_void, usize) -> c_int;

/// `MLX5DV_CONTEXT_FLAGS_DEVX` (`mlx5dv.h`).
const CONTEXT_FLAGS_DEVX: u32 = 1;

/// `struct mlx5dv_context_attr` (`mlx5dv.h`).
#[repr(C)]
struct ContextAttr {
    flags: u32,
    comp_mask: u64,
    /// Newer versions have fields here, which `comp_mask` says are there.
    more: [u64; 4],
}

/// Why libmlx5 can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A library is not there, or can't be loaded.
    #[error(
        "{soname} can't be loaded ({reason}): install rdma-core's libibverbs and its mlx5 provider"
    )]
    Library {
        /// Its name, such as `libmlx5.so.1`.
        soname: &'static str,
        /// What the loader says.
        reason: String,
    },
    /// It has no function of that name: it is older than what is asked of it.
    #[error("{soname} has no {symbol}, which came with rdma-core {since}: update rdma-core")]
    Symbol {
        /// The name of the library.
        soname: &'static str,
        /// The function.
        symbol: &'static str,
        /// The version of rdma-core that it came with.
        since: u32,
    },
}

/// Why a device can't be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// libmlx5 can't be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// libibverbs can't list the devices.
    #[error("the devices can't be listed: {0}")]
    List(Errno),
    /// There is no such device.
    #[error("there is no device {wanted}; there {}", there_are(there))]
    NoSuchDevice {
        /// The name that was asked for.
        wanted: String,
        /// The names that are there.
        there: Vec<String>,
    },
    /// libmlx5 could not open it. `EOPNOTSUPP`: it is no mlx5 device, or has no DEVX; `EACCES`: see
    /// the access of `/dev/infiniband/uverbs*`.
    #[error("{device} can't be opened with DEVX: {errno}")]
    Refused {
        /// Its name.
        device: String,
        /// What libmlx5 says.
        errno: Errno,
    },
}

fn there_are(names: &[String]) -> String {
    match names {
        [] => "is none".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", several.join(", ")),
    }
}

macro_rules! functions {
    ($( $soname:literal { $( $name:ident = $symbol:literal since $since:literal: $type:ty; )* } )*) => {
        /// The functions that are called.
        #[derive(Clone, Copy)]
        struct Functions {
            $( $( $name: $type, )* )*
        }

        impl Functions {
            fn load() -> Result<Self, LoadError> {
                $(
                    let library = load($soname)?;
                    $(
                        // SAFETY: the type is that of the declaration in verbs.h or mlx5dv.h, and
                        // the library stays loaded, so that the address stays good.
                        let found = unsafe { library.get::<$type>($symbol.as_bytes()) };
                        let $name = *found.map_err(|_| LoadError::Symbol {
                            soname: $soname,
                            symbol: $symbol,
                            since: $since,
                        })?;
                    )*
                    // Objects and their functions may live as long as the program.
                    std::mem::forget(library);
                )*
                Ok(Functions { $( $( $name, )* )* })
            }
        }
    };
}

// The versions are those of debian/ibverbs-providers.symbols in rdma-core.
functions! {
    "libibverbs.so.1" {
        get_device_list = "ibv_get_device_list" since 1: unsafe extern "C" fn(*mut c_int) -> *mut Address;
        free_device_list = "ibv_free_device_list" since 1: unsafe extern "C" fn(*mut Address);
        get_device_name = "ibv_get_device_name" since 1: unsafe extern "C" fn(Address) -> *const c_char;
        close_device = "ibv_close_device" since 1: unsafe extern "C" fn(Address) -> c_int;
    }
    "libmlx5.so.1" {
        open_device = "mlx5dv_open_device" since 21: unsafe extern "C" fn(Address, *mut ContextAttr) -> Address;
        init_obj = "mlx5dv_init_obj" since 15: number::InitObj;
        obj_create = "mlx5dv_devx_obj_create" since 21: unsafe extern "C" fn(Address, *const c_void, usize, *mut c_void, usize) -> Address;
        obj_destroy = "mlx5dv_devx_obj_destroy" since 21: unsafe extern "C" fn(Address) -> c_int;
        obj_modify = "mlx5dv_devx_obj_modify" since 21: Call;
        obj_query = "mlx5dv_devx_obj_query" since 21: Call;
        general_cmd = "mlx5dv_devx_general_cmd" since 21: Call;
        qp_modify = "mlx5dv_devx_qp_modify" since 22: Call;
        qp_query = "mlx5dv_devx_qp_query" since 22: Call;
        cq_modify = "mlx5dv_devx_cq_modify" since 22: Call;
        cq_query = "mlx5dv_devx_cq_query" since 22: Call;
        srq_modify = "mlx5dv_devx_srq_modify" since 22: Call;
        srq_query = "mlx5dv_devx_srq_query" since 22: Call;
        wq_modify = "mlx5dv_devx_wq_modify" since 22: Call;
        wq_query = "mlx5dv_devx_wq_query" since 22: Call;
        ind_tbl_modify = "mlx5dv_devx_ind_tbl_modify" since 22: Call;
        ind_tbl_query = "mlx5dv_devx_ind_tbl_query" since 22: Call;
    }
}

fn load(soname: &'static str) -> Result<Library, LoadError> {
    // SAFETY: the initializers of these libraries may run at any time: they are made to be loaded
    // by programs.
    unsafe { Library::new(soname) }
        .map_err(|e| LoadError::Library { soname, reason: e.to_string() })
}

/// The functions, loaded once.
fn functions() -> Result<Functions, LoadError> {
    static FUNCTIONS: OnceLock<Result<Functions, LoadError>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).clone()
}

/// The names of the devices that libibverbs knows, of any maker.
///
/// # Errors
/// libmlx5 can't be used, or libibverbs can't list the devices.
pub fn devices() -> Result<Vec<String>, OpenError> {
    Ok(List::get(functions()?)?.names())
}

/// The list of devices, which is freed again.
struct List {
    functions: Functions,
    list: NonNull<Address>,
    len: usize,
}

impl List {
    fn get(functions: Functions) -> Result<Self, OpenError> {
        let mut len = 0;
        // SAFETY: `len` is written, and lives during the call.
        let list = unsafe { (functions.get_device_list)(&mut len) };
        let list = NonNull::new(list).ok_or_else(|| OpenError::List(last_errno()))?;
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

/// The errno of a function that gives no number: it is that of this thread.
fn last_errno() -> Errno {
    let raw = std::io::Error::last_os_error().raw_os_error();
    raw.filter(|raw| *raw > 0).map_or(Errno::IO, Errno::from_raw_os_error)
}

/// What a function that gives 0 or an errno gave. Old versions give -1 and set errno.
fn result(gave: c_int) -> Result<(), Errno> {
    match gave {
        0 => Ok(()),
        errno if errno > 0 => Err(Errno::from_raw_os_error(errno)),
        _ => Err(last_errno()),
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
/// An object that a program made by verbs, in the same context, is [adopted](LibMlx5::adopt) before
/// commands are sent for it. Objects of [`Transport::create`] that are not destroyed end with the
/// context: the kernel ends them.
pub struct LibMlx5 {
    functions: Functions,
    context: NonNull<c_void>,
    /// Whether the context is closed in the end.
    is_own: bool,
    /// The objects that may be used, by address: no other address is given to libmlx5.
    objects: RwLock<BTreeMap<Handle, TargetKind>>,
}

// SAFETY: libibverbs and libmlx5 may be called by any thread, and at once; the addresses that are kept
// here are theirs.
unsafe impl Send for LibMlx5 {}
// SAFETY: as above; what is changed here is behind a lock.
unsafe impl Sync for LibMlx5 {}

impl std::fmt::Debug for LibMlx5 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LibMlx5 { context, is_own, objects, .. } = self;
        f.debug_struct("LibMlx5")
            .field("context", context)
            .field("is_own", is_own)
            .field("objects", objects)
            .finish_non_exhaustive()
    }
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
        Ok(LibMlx5 { functions, context, is_own: true, objects: RwLock::default() })
    }

    /// A context that is open already: a `struct ibv_context *` of any binding. It is not closed here.
    ///
    /// The kernel refuses commands (`EINVAL`) when it was opened without
    /// `MLX5DV_CONTEXT_FLAGS_DEVX`.
    ///
    /// # Safety
    /// `context` is one of an mlx5 device, and stays open as long as the result is used.
    ///
    /// # Errors
    /// libmlx5 can't be used.
    pub unsafe fn from_context(context: NonNull<c_void>) -> Result<Self, LoadError> {
        let functions = functions()?;
        Ok(LibMlx5 { functions, context, is_own: false, objects: RwLock::default() })
    }

    /// Lets commands be sent for an object that verbs made: a `struct ibv_qp *`, `ibv_cq *`,
    /// `ibv_srq *`, `ibv_wq *` or `ibv_rwq_ind_table *` of any binding, as `kind` says.
    ///
    /// # Safety
    /// `object` is of that kind, of the context that is used here, and lives until it is
    /// [released](LibMlx5::release). `kind` is not [`TargetKind::Devx`].
    pub unsafe fn adopt(&self, kind: TargetKind, object: NonNull<c_void>) -> Handle {
        let handle = handle(object.as_ptr());
        self.objects_mut().insert(handle, kind);
        handle
    }

    /// Sends no more commands for an object that was adopted: before it is destroyed. Gives whether it
    /// was adopted.
    pub fn release(&self, handle: Handle) -> bool {
        let mut objects = self.objects_mut();
        let is_adopted = objects.get(&handle).is_some_and(|kind| *kind != TargetKind::Devx);
        is_adopted && objects.remove(&handle).is_some()
    }

    /// The objects, none of which ends as long as this is held.
    fn objects(&self) -> RwLockReadGuard<'_, BTreeMap<Handle, TargetKind>> {
        // The map is whole after a panic: each change is one call.
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn objects_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<Handle, TargetKind>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call for an object that may be used. It can't be ended meanwhile.
    fn call(
        &self,
        target: Target,
        function: Call,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Errno> {
        let objects = self.objects();
        match objects.get(&target.handle) {
            None => Err(Errno::NOENT),
            Some(kind) if *kind != target.kind => Err(Errno::INVAL),
            // SAFETY: an object of the kind that the function takes lives until it is removed from
            // `objects`, which is locked.
            Some(_) => unsafe { send(function, address(target.handle), input, output) },
        }
    }
}

fn handle(address: Address) -> Handle {
    Handle(address.expose_provenance() as u64)
}

fn address(handle: Handle) -> Address {
    std::ptr::with_exposed_provenance_mut(handle.0 as usize)
}

/// Makes one call with two mailboxes.
///
/// # Safety
/// `object` is what the function takes.
unsafe fn send(
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

impl Transport for LibMlx5 {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        // SAFETY: the context is open; the mailboxes live during the call, and are as long as is said.
        let object = unsafe {
            (self.functions.obj_create)(
                self.context.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        };
        if object.is_null() {
            return Err(last_errno());
        }
        let handle = handle(object);
        self.objects_mut().insert(handle, TargetKind::Devx);
        Ok(handle)
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let f = &self.functions;
        let function = match target.kind {
            TargetKind::Devx => f.obj_modify,
            TargetKind::Qp => f.qp_modify,
            TargetKind::Cq => f.cq_modify,
            TargetKind::Srq => f.srq_modify,
            TargetKind::Wq => f.wq_modify,
            TargetKind::IndTable => f.ind_tbl_modify,
        };
        self.call(target, function, input, output)
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let f = &self.functions;
        let function = match target.kind {
            TargetKind::Devx => f.obj_query,
            TargetKind::Qp => f.qp_query,
            TargetKind::Cq => f.cq_query,
            TargetKind::Srq => f.srq_query,
            TargetKind::Wq => f.wq_query,
            TargetKind::IndTable => f.ind_tbl_query,
        };
        self.call(target, function, input, output)
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        let mut objects = self.objects_mut();
        match objects.get(&handle) {
            None => return Err(Errno::NOENT),
            // What verbs made is ended by verbs.
            Some(kind) if *kind != TargetKind::Devx => return Err(Errno::INVAL),
            Some(_) => {}
        }
        // SAFETY: it was made by `mlx5dv_devx_obj_create`, and is not destroyed yet: else it would not
        // be in `objects`, which is locked.
        let gave = unsafe { (self.functions.obj_destroy)(address(handle)) };
        // When it fails, the object is still there.
        result(gave)?;
        objects.remove(&handle);
        Ok(())
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        // SAFETY: the context is open, and is what the function takes.
        unsafe { send(self.functions.general_cmd, self.context.as_ptr(), input, output) }
    }
}

impl Drop for LibMlx5 {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: it was opened here, and is closed once. It fails only where the device is gone;
            // nothing can be done about that.
            unsafe { (self.functions.close_device)(self.context.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let missing = load("libnothing-of-the-kind.so.1").expect_err("there is none");
        let text = missing.to_string();
        assert!(text.starts_with("libnothing-of-the-kind.so.1 can't be loaded ("), "{text}");
        assert!(text.ends_with("install rdma-core's libibverbs and its mlx5 provider"), "{text}");
        let (soname, symbol) = ("libmlx5.so.1", "mlx5dv_devx_qp_modify");
        assert_eq!(
            LoadError::Symbol { soname, symbol, since: 22 }.to_string(),
            "libmlx5.so.1 has no mlx5dv_devx_qp_modify, which came with rdma-core 22: update rdma-core"
        );
    }

    #[test]
    fn what_is_there_is_told() {
        let there = |names: &[&str]| OpenError::NoSuchDevice {
            wanted: "mlx5_9".to_owned(),
            there: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(there(&[]).to_string(), "there is no device mlx5_9; there is none");
        assert_eq!(there(&["mlx5_0"]).to_string(), "there is no device mlx5_9; there is mlx5_0");
        assert_eq!(
            there(&["mlx5_0", "rxe0"]).to_string(),
            "there is no device mlx5_9; there are mlx5_0, rxe0"
        );
    }

    #[test]
    fn numbers_of_old_and_new_versions() {
        assert_eq!(result(0), Ok(()));
        assert_eq!(result(121), Err(Errno::REMOTEIO));
        assert!(result(-1).is_err());
    }
}
