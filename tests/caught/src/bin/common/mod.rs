//! What both programs send, and the lines that they write around it: what one does by libmlx5 the
//! other does by a backend, and the test compares the two.

use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Error, Write as _};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use libloading::Library;
use libloading::os::unix::Library as Unix;

/// The exit code if a library is not installed.
pub(crate) const NOT_INSTALLED: i32 = 77;

/// Ends unless ioctls are caught: a command must not reach a real adapter.
pub(crate) fn caught() {
    // SAFETY: a symbol that is looked for, and not called.
    let found = unsafe { Unix::this().get::<unsafe extern "C" fn()>("mlx5_caught") }.is_ok();
    assert!(found, "libmlx5_caught.so is not preloaded");
}

/// Makes reads of a channel give EAGAIN when there is nothing to read.
pub(crate) fn do_not_wait(fd: c_int) {
    // SAFETY: numbers.
    let result = unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_RDWR | libc::O_NONBLOCK) };
    assert_eq!(result, 0, "fcntl: {}", Error::last_os_error());
}

/// A mailbox: the opcode, then bytes that count up.
pub(crate) fn mailbox(opcode: u16, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
    bytes[..2].copy_from_slice(&opcode.to_be_bytes());
    bytes
}

/// General commands: name, and lengths of input and output.
pub(crate) const GENERAL: [(&str, usize, usize); 4] = [
    ("general_cmd", 16, 112),
    ("general_cmd, 8 bytes each", 8, 8),
    ("general_cmd, 65535 bytes each", 0xffff, 0xffff),
    ("general_cmd, an input of 65536 bytes", 0x10000, 16),
];

/// A kind of objects of verbs.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    /// As it is called in the names of functions.
    pub(crate) name: &'static str,
    /// Where the handle stands in the structure of `infiniband/verbs.h`, behind pointers of 8 bytes.
    pub(crate) offset: usize,
    pub(crate) handle: u32,
    /// Of the query: opcode, and lengths of input and output.
    pub(crate) query: (u16, usize, usize),
    /// The same of the modify.
    pub(crate) modify: (u16, usize, usize),
}

#[rustfmt::skip]
pub(crate) const OBJECTS: [Object; 5] = [
    Object { name: "qp", offset: 48, handle: 0x51, query: (0x50b, 16, 272), modify: (0x505, 272, 16) },
    Object { name: "cq", offset: 24, handle: 0x52, query: (0x402, 16, 80), modify: (0x403, 280, 16) },
    Object { name: "srq", offset: 24, handle: 0x53, query: (0x90f, 16, 272), modify: (0x90d, 272, 16) },
    Object { name: "wq", offset: 36, handle: 0x54, query: (0x90b, 16, 272), modify: (0x909, 272, 16) },
    Object { name: "ind_tbl", offset: 8, handle: 0x55, query: (0x919, 16, 272), modify: (0x917, 272, 16) },
];

/// An object of verbs, of which libmlx5 reads the context and the handle (`mlx5/verbs.c`). Newer
/// versions also note a QP's state in what surrounds it (`to_mqp`): the object stands in the middle
/// of zeros.
pub(crate) struct Verbs {
    memory: Vec<u64>,
}

impl Verbs {
    const MIDDLE: usize = 4096;

    pub(crate) fn new(context: *mut c_void, object: &Object) -> Self {
        let mut memory = vec![0u64; 2 * Self::MIDDLE];
        memory[Self::MIDDLE] = context as u64;
        let word = &mut memory[Self::MIDDLE + object.offset / 8];
        let mut bytes = word.to_ne_bytes();
        bytes[object.offset % 8..][..4].copy_from_slice(&object.handle.to_ne_bytes());
        *word = u64::from_ne_bytes(bytes);
        Verbs { memory }
    }

    pub(crate) fn address(&mut self) -> NonNull<c_void> {
        NonNull::from(&mut self.memory[Self::MIDDLE]).cast()
    }
}

/// The file that the caught ioctls are written to as well.
pub(crate) struct Trace(File);

impl Trace {
    pub(crate) fn open() -> Self {
        let path =
            std::env::var_os("MLX5_CAUGHT_TRACE").expect("MLX5_CAUGHT_TRACE names the trace");
        let file = OpenOptions::new().append(true).create(true).open(path);
        Trace(file.expect("the trace"))
    }

    /// Says that a call begins.
    pub(crate) fn call(&mut self, name: &str) {
        writeln!(self.0, "call\t{name}").expect("the trace");
    }

    /// Says what the call gave.
    pub(crate) fn gave(&mut self, result: &str, errno: i32, output: &[u8]) {
        let mut hex = String::new();
        for byte in output {
            write!(hex, "{byte:02x}").expect("a String takes all");
        }
        let hex = if hex.is_empty() { "-" } else { &hex };
        writeln!(self.0, "gave\t{result}\t{errno}\t{hex}").expect("the trace");
    }

    /// Says that what comes now is not compared: the program ends what it left open.
    #[allow(dead_code, reason = "caught-child leaves it to the kernel")]
    pub(crate) fn end(&mut self) {
        writeln!(self.0, "end").expect("the trace");
    }

    /// Says what address or descriptor of this program a call will be given.
    pub(crate) fn value(&mut self, name: &str, number: u64) {
        writeln!(self.0, "value\t{name}\t{number}").expect("the trace");
    }
}

/// A context as a program of verbs would have made it: `mlx5dv_open_device` of the first device.
/// [`close_of_verbs`] ends it.
#[allow(dead_code, reason = "caught-child opens one by its own functions")]
pub(crate) fn context_of_verbs() -> NonNull<c_void> {
    // SAFETY: libibverbs and libmlx5 may be loaded at any time.
    let libraries = unsafe { ["libibverbs.so.1", "libmlx5.so.1"].map(|name| Library::new(name)) };
    let [verbs, mlx5] = libraries.map(|library| match library {
        // It stays loaded, as the context is open.
        Ok(library) => ManuallyDrop::new(library),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(NOT_INSTALLED)
        }
    });
    type List = unsafe extern "C" fn(*mut c_int) -> *mut *mut c_void;
    type Free = unsafe extern "C" fn(*mut *mut c_void);
    type Open = unsafe extern "C" fn(*mut c_void, *mut [u64; 8]) -> *mut c_void;
    let mut count = 0;
    // `MLX5DV_CONTEXT_FLAGS_DEVX` in the first four bytes; no more fields than the mask says.
    let mut attr = [0u64; 8];
    attr[0] = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);
    // SAFETY: the types are those of the declarations in verbs.h and mlx5dv.h. The address of an int;
    // an array of devices, the first of which is opened; attributes longer than any version reads with
    // this mask. A context outlives the array.
    let context = unsafe {
        let list = *verbs.get::<List>("ibv_get_device_list").expect("libibverbs has it");
        let open = *mlx5.get::<Open>("mlx5dv_open_device").expect("libmlx5 has it");
        let devices = list(&mut count);
        assert!(!devices.is_null() && count > 0, "no device");
        let context = open(*devices, &mut attr);
        verbs.get::<Free>("ibv_free_device_list").expect("libibverbs has it")(devices);
        context
    };
    NonNull::new(context).expect("the device opens")
}

/// Closes a context of verbs.
///
/// # Safety
/// It came from [`context_of_verbs`], and is not used after it.
#[allow(dead_code, reason = "as above")]
pub(crate) unsafe fn close_of_verbs(context: NonNull<c_void>) {
    type Close = unsafe extern "C" fn(*mut c_void) -> c_int;
    // SAFETY: the library is loaded; the type is that of the declaration in verbs.h, and the context is
    // closed once, by the contract.
    let gave = unsafe {
        let verbs = Library::new("libibverbs.so.1").expect("it is loaded");
        let close = *verbs.get::<Close>("ibv_close_device").expect("libibverbs has it");
        close(context.as_ptr())
    };
    assert_eq!(gave, 0, "ibv_close_device");
}
