//! A simulated mlx5 adapter, to test against without hardware.
//!
//! [`Firmware`] is a function of its state and the input bytes: no threads, clocks or sockets.
//! [`Adapter`] puts the kernel's DEVX rules in front of it and is a
//! [`Transport`](mlx5_devx::Transport). With the feature `uverbs`, `Uverbs` is the same kernel by
//! its `RDMA_VERBS_IOCTL`, which `mlx5_devx::ioctl` and libmlx5 talk to. With the feature `fwctl`,
//! `FwctlFile` puts the kernel's fwctl driver in front of it.
//!
//! It keeps the objects that commands make, and those that are always there, such as virtual ports:
//! what a modify writes a query reads back, select masks say which fields count, and QP transitions
//! follow the tables of `prm-spec/semantics`. So do general objects. Registers keep what is written
//! to them by ACCESS_REG, by the access of each field. QUERY_HCA_CAP gives the pages that were set.
//! Which commands there are depends on the families of `mlx5-prm` that are compiled in. Traffic is
//! not simulated, counters stay zero, and a flow table entry goes by its index alone, whatever its
//! table.
//!
//! Where no public source says how the firmware answers, the choice is the simulation's own: see
//! [`syndrome`].
#![deny(missing_docs)]

mod adapter;
mod capability;
mod firmware;
#[cfg(feature = "fwctl")]
mod fwctl;
mod general;
mod hooks;
mod kernel;
mod register;
mod select;
mod state;
pub mod syndrome;
mod transition;
#[cfg(feature = "uverbs")]
mod uverbs;

pub use adapter::{Adapter, Made};
pub use firmware::Firmware;
#[cfg(feature = "fwctl")]
pub use fwctl::FwctlFile;
pub use hooks::Refusals;
#[cfg(feature = "uverbs")]
pub use uverbs::Uverbs;
