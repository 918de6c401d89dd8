//! What the `prm` command reads, for programs that test it.

pub mod kernel_log;
pub mod read_hex;
