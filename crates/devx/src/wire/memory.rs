//! The memory of the program that a message points to.

use super::{Input, Output};
use crate::Errno;

/// The memory of the program that a message points to, as the kernel reads and writes it.
///
/// A [`Request`](super::Request) is the memory of its own message.
pub trait Memory {
    /// The bytes of an input, also of one that stands in the message itself.
    ///
    /// # Errors
    /// EFAULT for what is not there.
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno>;

    /// Writes the beginning of an output.
    ///
    /// # Errors
    /// EFAULT for what is not there, and for more bytes than the output has.
    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno>;
}
