//! A simulated mlx5 adapter, to test against without hardware.
//!
//! [`Firmware`] is a function of its state and the input bytes: no threads, clocks or sockets.
//! [`Adapter`] puts the kernel's DEVX rules in front of it and is a
//! [`Transport`](mlx5_devx::Transport).
//!
//! It keeps queue pairs, completion queues, shared receive queues (SRQ, RMP, XRC SRQ, XRQ),
//! receive queues and their tables: what a modify writes a query reads back, select masks say
//! which fields count, and QP transitions follow the tables of `prm-spec/semantics`. Registers keep
//! what is written to them by ACCESS_REG, by the access of each field. Traffic is not simulated.
//!
//! Where no public source says how the firmware answers, the choice is the simulation's own: see
//! [`syndrome`].

mod adapter;
mod firmware;
mod kernel;
mod register;
pub mod syndrome;

pub use adapter::{Adapter, Made};
pub use firmware::Firmware;
