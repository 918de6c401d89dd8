//! Files of this process, by their numbers.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::linux::fs::MetadataExt;

use mlx5_devx::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// Which file it is, whatever its number: device and inode.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(file: BorrowedFd<'_>) -> Result<Identity, Errno> {
    rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino))
}

/// A duplicate of what is under a number.
///
/// # Errors
/// EBADF: nothing is. What the machine does not permit, or does not have: Linux 5.6 does.
pub(super) fn duplicate(number: RawFd) -> Result<OwnedFd, Errno> {
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty())
}

/// A duplicate of a file that was under a number. If it is there no more, but under another, that
/// number is the new one.
pub(super) fn find(number: &mut RawFd, is: Identity) -> Option<OwnedFd> {
    let at = |number| {
        let file = duplicate(number).ok()?;
        (identity(std::os::fd::AsFd::as_fd(&file)) == Ok(is)).then_some(file)
    };
    if let Some(file) = at(*number) {
        return Some(file);
    }
    let all = std::fs::read_dir("/proc/self/fd").ok()?;
    let other = all.flatten().find(|entry| {
        let file = std::fs::metadata(entry.path());
        file.is_ok_and(|file| (file.st_dev(), file.st_ino()) == is)
    })?;
    *number = other.file_name().to_str()?.parse().ok()?;
    at(*number)
}
