//! Opens device files.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::Errno;

/// Why a device file was not opened: each backend has words of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// What the kernel said.
    Errno(Errno),
    /// It is the file of another device.
    Other { is: (u32, u32), expected: (u32, u32) },
}

/// Opens the file of a device whose number is `expected`, major and minor, when that is known. A
/// file that is no device has the number 0:0.
///
/// Being interrupted by a signal (EINTR) leaves nothing behind: opening is tried again.
pub(crate) fn open(node: &Path, expected: Option<(u32, u32)>) -> Result<OwnedFd, NotOpened> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::io::retry_on_intr(|| rustix::fs::open(node, flags, Mode::empty()))
        .map_err(NotOpened::Errno)?;
    let device = rustix::fs::fstat(&file).map_err(NotOpened::Errno)?.st_rdev;
    let is = (rustix::fs::major(device), rustix::fs::minor(device));
    match expected {
        Some(expected) if expected != is => Err(NotOpened::Other { is, expected }),
        _ => Ok(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_number_of_its_device() {
        let null = Path::new("/dev/null");
        assert!(open(null, None).is_ok());
        assert!(open(null, Some((1, 3))).is_ok());
        let other = NotOpened::Other { is: (1, 3), expected: (510, 0) };
        assert_eq!(open(null, Some((510, 0))).err(), Some(other));
        let file = tempfile::NamedTempFile::new().expect("a file");
        let other = NotOpened::Other { is: (0, 0), expected: (510, 0) };
        assert_eq!(open(file.path(), Some((510, 0))).err(), Some(other));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_opened() {
        let error = open(Path::new("/dev/no-such-directory/file"), Some((1, 3))).err();
        assert_eq!(error, Some(NotOpened::Errno(Errno::NOENT)));
    }
}
