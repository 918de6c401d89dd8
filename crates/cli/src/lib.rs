//! What the `prm` command reads, for programs that test it.

pub mod read_hex;
