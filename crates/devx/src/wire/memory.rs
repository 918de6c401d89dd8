//! What a message points to, from the side of the kernel.

use std::os::fd::OwnedFd;

use super::call::{Input, Output};
use crate::Errno;

/// The memory of the program that a message points to.
///
/// What stands in for the kernel reads inputs and writes outputs by it: in a test a map of
/// buffers, in a process whose calls are caught the memory itself. A [`Request`](super::Request) is the
/// memory of its own message.
pub trait Memory {
    /// The bytes of an input. Those of [`Input::Inline`] are in it.
    ///
    /// # Errors
    /// EFAULT for what is not there.
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno>;

    /// Writes the beginning of an output: `bytes` is never longer than it.
    ///
    /// # Errors
    /// EFAULT for what is not there, or can't be written.
    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno>;

    /// A duplicate of the file that the program has under a number: of the eventfd that
    /// `DEVX_SUBSCRIBE_EVENT` may name. A program that has none need not say how.
    ///
    /// # Errors
    /// EBADF for a number without a file.
    fn file(&self, number: i32) -> Result<OwnedFd, Errno> {
        let _ = number;
        Err(Errno::BADF)
    }
}
