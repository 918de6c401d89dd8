//! Catches the ioctls that don't go through the C library: rustix, unless told otherwise, makes its
//! system calls itself, and no preloaded symbol sees them.
//!
//! A seccomp filter makes the kernel send SIGSYS instead of `RDMA_VERBS_IOCTL`, and the handler of the
//! signal answers. It runs where the call was made, so it may do what the caller may: no lock is
//! held there but the caller's own.

use libc::{c_int, c_void, siginfo_t, sock_filter, sock_fprog, ucontext_t};

/// `AUDIT_ARCH_*` of this target (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// Offsets in `struct seccomp_data` (`linux/seccomp.h`). These are little-endian targets.
mod data {
    pub(super) const NR: u32 = 0;
    pub(super) const ARCH: u32 = 4;
    pub(super) const REQUEST: u32 = 16 + 8;
}

fn load(offset: u32) -> sock_filter {
    let code = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    sock_filter { code, jt: 0, jf: 0, k: offset }
}

/// Goes on if the loaded word is `k`, else over `skip` instructions.
fn unless(k: u32, skip: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    sock_filter { code, jt: 0, jf: skip, k }
}

fn end(k: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k }
}

/// Catches the ioctls of this process, and of the threads that it will make.
///
/// # Panics
/// If the kernel takes no filter.
pub(crate) fn install() {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = trapped;
    // SAFETY: all zeros are a `struct sigaction` with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
    // SAFETY: a handler of the type that SA_SIGINFO asks for.
    let mut failed = unsafe { libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()) };
    failed |= filter(libc::SECCOMP_RET_TRAP);
    assert_eq!(failed, 0, "no seccomp filter: {}", std::io::Error::last_os_error());
}

/// Lets every such ioctl succeed, and do nothing: for counting what leads to it.
///
/// # Panics
/// If the kernel takes no filter.
pub(crate) fn grant() {
    let failed = filter(libc::SECCOMP_RET_ERRNO); // the errno 0
    assert_eq!(failed, 0, "no seccomp filter: {}", std::io::Error::last_os_error());
}

/// Makes the kernel do this instead of the ioctl. Gives 0, or what is not if it can't.
fn filter(instead: u32) -> c_int {
    let mut filter = [
        load(data::ARCH),
        unless(ARCH, 5),
        load(data::NR),
        unless(libc::SYS_ioctl as u32, 3),
        load(data::REQUEST),
        unless(crate::RDMA_VERBS_IOCTL, 1),
        end(instead),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: numbers. Without it only root may have a filter.
    let failed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the program lives during the call, which copies it.
    failed | unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) }
}

/// The handler of SIGSYS.
extern "C" fn trapped(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives the registers of the call to a handler with SA_SIGINFO.
    let machine = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    let (fd, argument, result) = {
        let fd = machine.gregs[libc::REG_RDI as usize] as c_int;
        let argument = machine.gregs[libc::REG_RDX as usize] as *mut c_void;
        (fd, argument, &mut machine.gregs[libc::REG_RAX as usize])
    };
    #[cfg(target_arch = "aarch64")]
    let (fd, argument, result) =
        (machine.regs[0] as c_int, machine.regs[2] as *mut c_void, &mut machine.regs[0]);
    // What the system call gives is 0, or an errno below it; the caller's own errno stays.
    // SAFETY: the address of the calling thread's errno is always valid.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the filter lets only `RDMA_VERBS_IOCTL` come here, and this is its argument.
    let answer = unsafe { crate::verbs_ioctl(fd, argument) };
    *result = answer.map_or_else(|errno| -i64::from(errno), |()| 0) as _;
    // SAFETY: as before.
    unsafe { *libc::__errno_location() = errno };
}
