//! Errnos as logs write them: numbers of Linux, and the words of the C library.

use std::fmt;

/// An errno of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Errno(pub(super) u32);

/// Number, name and the words of glibc, for what verbs and commands of mlx5 give.
const KNOWN: &[(u32, &str, &str)] = &[
    (1, "EPERM", "Operation not permitted"),
    (2, "ENOENT", "No such file or directory"),
    (4, "EINTR", "Interrupted system call"),
    (5, "EIO", "Input/output error"),
    (6, "ENXIO", "No such device or address"),
    (7, "E2BIG", "Argument list too long"),
    (9, "EBADF", "Bad file descriptor"),
    (11, "EAGAIN", "Resource temporarily unavailable"),
    (12, "ENOMEM", "Cannot allocate memory"),
    (13, "EACCES", "Permission denied"),
    (14, "EFAULT", "Bad address"),
    (16, "EBUSY", "Device or resource busy"),
    (17, "EEXIST", "File exists"),
    (19, "ENODEV", "No such device"),
    (22, "EINVAL", "Invalid argument"),
    (24, "EMFILE", "Too many open files"),
    (25, "ENOTTY", "Inappropriate ioctl for device"),
    (28, "ENOSPC", "No space left on device"),
    (34, "ERANGE", "Numerical result out of range"),
    (38, "ENOSYS", "Function not implemented"),
    (42, "ENOMSG", "No message of desired type"),
    (53, "EBADR", "Invalid request descriptor"),
    (62, "ETIME", "Timer expired"),
    (71, "EPROTO", "Protocol error"),
    (74, "EBADMSG", "Bad message"),
    (75, "EOVERFLOW", "Value too large for defined data type"),
    (90, "EMSGSIZE", "Message too long"),
    (93, "EPROTONOSUPPORT", "Protocol not supported"),
    (95, "EOPNOTSUPP", "Operation not supported"),
    (104, "ECONNRESET", "Connection reset by peer"),
    (110, "ETIMEDOUT", "Connection timed out"),
    (114, "EALREADY", "Operation already in progress"),
    (121, "EREMOTEIO", "Remote I/O error"),
    (125, "ECANCELED", "Operation canceled"),
];

impl Errno {
    /// What the kernel's DEVX gives when the firmware refused, with the output.
    pub(super) const REMOTEIO: Errno = Errno(121);

    /// Its name, where it is one that commands give.
    pub(super) fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(number, ..)| *number == self.0).map(|(_, name, _)| *name)
    }

    /// The errno with a name.
    pub(super) fn named(name: &str) -> Option<Errno> {
        KNOWN.iter().find(|(_, known, _)| *known == name).map(|(number, ..)| Errno(*number))
    }

    /// The errno whose words some bytes without white space begin with, and how many bytes they are.
    pub(super) fn of_words(bytes: &[u8]) -> Option<(Errno, usize)> {
        let squeezed = |words: &str| -> Vec<u8> { words.bytes().filter(|b| *b != b' ').collect() };
        let fits = KNOWN.iter().map(|(number, _, words)| (Errno(*number), squeezed(words)));
        // ENXIO begins as ENODEV does.
        let fits = fits.filter(|(_, words)| bytes.starts_with(words));
        fits.map(|(errno, words)| (errno, words.len())).max_by_key(|(_, len)| *len)
    }

    /// The errno that the kernel makes of a status.
    pub(super) fn of_status(status: u8) -> Errno {
        let errno = mlx5_devx::status_errno(mlx5_prm::Status(status));
        Errno(errno.raw_os_error().unsigned_abs())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "errno {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names() {
        assert_eq!(Errno::of_words(b"RemoteI/Oerrorandmore"), Some((Errno::REMOTEIO, 14)));
        assert_eq!(Errno::of_words(b"Nosuchdeviceoraddress"), Some((Errno(6), 21)));
        assert_eq!(Errno::of_words(b"Nosuchdevice"), Some((Errno(19), 12)));
        assert_eq!(Errno::of_words(b"Nosuchthing"), None);
        assert_eq!(Errno::named("EINVAL"), Some(Errno(22)));
        assert_eq!(Errno::of_status(0x3).to_string(), "EINVAL (22)");
        assert_eq!(Errno(4000).to_string(), "errno 4000");
    }
}
