//! Stands between libibverbs and the kernel: preloaded into a process (`LD_PRELOAD`), it lets the real
//! libmlx5 open a device that does not exist, writes down every `RDMA_VERBS_IOCTL`, and answers it.
//!
//! It replaces these functions of the C library:
//! - `ioctl` writes `RDMA_VERBS_IOCTL` down and answers it; every other request goes to the kernel.
//! - `open`, `open64` and `stat` give `/dev/zero` for what is in `/dev/infiniband`, a path fixed in libibverbs.
//!   `/dev/zero` is a character device that anyone may open and map, so root is not needed, and
//!   nothing is made in `/dev`.
//! - `mmap` and `mmap64` give memory for a shared mapping of that file, so that doorbells can be rung.
//! - `socket` knows no `NETLINK_RDMA`: libibverbs then looks for devices in sysfs, whose root is in
//!   the environment (`SYSFS_PATH`).
//!
//! The environment says the rest:
//! - [`TRACE`]: the file that lines are appended to, one for each ioctl (`trace.rs`).
//! - [`ANSWERS`]: the file that says how DEVX calls end (`script.rs`). Without it all succeed, with
//!   outputs of zeros.
//! - [`OLD_UAR`]: if set, the kernel is one that gives UARs to a context before it asks for them.
//! - [`RAW`]: if set, ioctls are caught that don't go through the C library, as those of rustix.
//! - [`GRANTED`]: if set, those succeed and do nothing.
//! - [`SIM`]: if set, the simulated kernel and adapter of mlx5-sim answer what is of DEVX and of UARs, and
//!   make the contexts (`sim.rs`); the file of answers is not looked at for these. Events and completions
//!   are read by the real `read`, which gives whole messages, and not the errnos of the kernel's files.
//!   [`mlx5_caught_make`] makes objects of verbs in that adapter, [`mlx5_caught_raise`] events.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it stands in for functions of the C library, which take addresses; each block says why it is sound"
)]

mod answer;
mod methods;
mod script;
mod sim;
mod state;
mod trace;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod trap;
mod wire;

use std::ffi::CStr;

use libc::{c_char, c_int, c_long, c_ulong, c_void, mode_t};

pub use sim::{
    mlx5_caught_make, mlx5_caught_raise, mlx5_caught_refuse_next, mlx5_caught_remove,
    mlx5_caught_set_refusals,
};

/// The variable that names the file of caught ioctls.
pub const TRACE: &str = "MLX5_CAUGHT_TRACE";
/// The variable that names the file of answers.
pub const ANSWERS: &str = "MLX5_CAUGHT_ANSWERS";
/// The variable that asks for a kernel without UARs on demand.
pub const OLD_UAR: &str = "MLX5_CAUGHT_OLD_UAR";

/// The variable that asks for ioctls that don't go through the C library to be caught too.
pub const RAW: &str = "MLX5_CAUGHT_RAW";

/// The variable that lets ioctls that don't go through the C library succeed, and do nothing: for counting
/// what leads to them.
pub const GRANTED: &str = "MLX5_CAUGHT_GRANTED";

/// The variable that asks for the simulated kernel and adapter.
pub const SIM: &str = "MLX5_CAUGHT_SIM";

/// `_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)`: direction, size 24, type 0x1b, number 1.
const RDMA_VERBS_IOCTL: u32 = 3 << 30 | 24 << 16 | 0x1b << 8 | 1;

/// `NETLINK_RDMA` (`linux/netlink.h`).
const NETLINK_RDMA: c_int = 20;

/// What stands for the device.
const DEVICE: &CStr = c"/dev/zero";

/// The path to give to the kernel for one that libibverbs asks for.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn instead(path: *const c_char) -> *const c_char {
    if path.is_null() {
        return path;
    }
    // SAFETY: not null, and by the contract a C string that lives during the call.
    let asked = unsafe { CStr::from_ptr(path) };
    if asked.to_bytes().starts_with(b"/dev/infiniband/") { DEVICE.as_ptr() } else { path }
}

fn fail(errno: c_int) -> c_int {
    // SAFETY: the address of the calling thread's errno is always valid.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// What a system call gave, for a function that returns an `int`.
fn int(result: c_long) -> c_int {
    c_int::try_from(result).expect("these system calls return ints")
}

/// Called when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    match (is_set(RAW), is_set(GRANTED)) {
        (true, _) => trap::install(),
        (false, true) => trap::grant(),
        (false, false) => {}
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    assert!(!is_set(RAW) && !is_set(GRANTED), "{RAW} and {GRANTED}: on x86_64 and aarch64 alone");
}

/// Says that this library is loaded: without it, a child would talk to a real adapter.
#[unsafe(no_mangle)]
pub extern "C" fn mlx5_caught() {}

/// `ioctl(2)`.
///
/// It is variadic in C, and every caller gives it one argument or none. On the ABIs of 64-bit Linux a
/// variadic argument comes in the register of a named one.
///
/// # Safety
/// That of `ioctl(2)`: `arg` is what `request` wants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    // The kernel looks at the low 32 bits alone, and so do libraries that give an int.
    if request as u32 != RDMA_VERBS_IOCTL {
        // SAFETY: the caller's own call, handed on.
        return int(unsafe { libc::syscall(libc::SYS_ioctl, fd, request, arg) });
    }
    // SAFETY: the argument of this request, by the contract.
    match unsafe { verbs_ioctl(fd, arg) } {
        Ok(()) => 0,
        Err(errno) => fail(errno),
    }
}

/// Answers an `RDMA_VERBS_IOCTL`, and writes it down.
///
/// # Safety
/// `arg` is the argument of such a call.
unsafe fn verbs_ioctl(fd: c_int, arg: *mut c_void) -> Result<(), c_int> {
    // SAFETY: the argument is a `struct ib_uverbs_ioctl_hdr` with its attributes, that nothing else
    // uses during the call.
    let mut call = unsafe { wire::Call::at(arg) }.ok_or(libc::EFAULT)?;
    let mut state = state::lock();
    let before = trace::Before::of(&call);
    // SAFETY: the pointers of the attributes are what the caller says that they are.
    let result = match unsafe { sim::answer(fd, &mut call) } {
        Some(result) => result,
        // SAFETY: as before.
        None => unsafe { answer::answer(&mut state, &mut call) },
    };
    // SAFETY: as before.
    unsafe { trace::write(&before, &call, result) };
    result
}

/// `open(2)`. Variadic in C, like [`ioctl`]: without `O_CREAT` the mode is not looked at.
///
/// # Safety
/// That of `open(2)`: `path` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: by the contract of this function.
    let to_open = unsafe { instead(path) };
    // SAFETY: the caller's own call, with a path that is a C string too.
    let fd = int(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, to_open, flags, mode) });
    if to_open != path {
        sim::opened(fd);
    }
    fd
}

/// `open64(2)`, which Rust's own library calls: on 64-bit Linux it is [`open`].
///
/// # Safety
/// That of [`open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's own call.
    unsafe { open(path, flags, mode) }
}

/// `stat(2)`.
///
/// # Safety
/// That of `stat(2)`: `path` is a C string, `to` has room for a `struct stat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat(path: *const c_char, to: *mut libc::stat) -> c_int {
    // SAFETY: by the contract of this function.
    let path = unsafe { instead(path) };
    // SAFETY: the caller's own call, with a path that is a C string too. On 64-bit Linux `struct stat`
    // of the C library is that of this system call.
    int(unsafe { libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path, to, 0) })
}

/// `mmap(2)`.
///
/// # Safety
/// That of `mmap(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // /dev/zero has nothing to share at an offset.
    let (flags, fd, offset) = if flags & libc::MAP_SHARED != 0 && is_device(fd) {
        (flags | libc::MAP_ANONYMOUS, -1, 0)
    } else {
        (flags, fd, offset)
    };
    // SAFETY: the caller's own call, or one for as much memory.
    let gave =
        unsafe { libc::syscall(libc::SYS_mmap, address, length, protection, flags, fd, offset) };
    gave as *mut c_void
}

/// `mmap64(2)`: on 64-bit Linux it is [`mmap`].
///
/// # Safety
/// That of [`mmap`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: the caller's own call.
    unsafe { mmap(address, length, protection, flags, fd, offset) }
}

/// Whether a descriptor is what stands for the device.
fn is_device(fd: c_int) -> bool {
    if fd < 0 {
        return false;
    }
    // SAFETY: all zeros are a `struct stat`, which is written by the call.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor, and room for the structure.
    let failed = unsafe { libc::syscall(libc::SYS_fstat, fd, &raw mut stat) };
    failed == 0 && stat.st_rdev == libc::makedev(1, 5)
}

/// `socket(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if domain == libc::AF_NETLINK && protocol == NETLINK_RDMA {
        return fail(libc::EPROTONOSUPPORT);
    }
    // SAFETY: three ints, and no address.
    int(unsafe { libc::syscall(libc::SYS_socket, domain, kind, protocol) })
}
