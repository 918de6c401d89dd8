//! Waiting for a file of the kernel.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Errno;

/// Waits until there is something to read, or until the time is over. Gives whether there is.
pub(crate) fn wait(fd: BorrowedFd<'_>, timeout: Option<Duration>) -> Result<bool, Errno> {
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        // A time that does not fit is longer than anyone waits.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        match poll(&mut fds, left.as_ref()) {
            // A signal: the time that is left is counted anew.
            Err(Errno::INTR) => {}
            result => return result.map(|ready| ready != 0),
        }
    }
}

/// Reads a file of answers or events. Where there is nothing and the file does not wait, the device may
/// be gone: the kernel then says EAGAIN for ever, and that the file is hung up
/// (`devx_async_cmd_event_read` and `_poll` in `devx.c`). Here it is EIO, as for those who wait.
pub(crate) fn read_file(
    fd: BorrowedFd<'_>,
    read: impl FnOnce(BorrowedFd<'_>) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let result = read(fd);
    if result == Err(Errno::AGAIN) {
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        if poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(gone) {
            return Err(Errno::IO);
        }
    }
    result
}
