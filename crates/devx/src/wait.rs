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
