//! Sends mlx5 commands: a pluggable [`Transport`], typed objects, and errors that name the command.
//!
//! The objects are those that verbs makes, QP, CQ, SRQ, WQ and indirection table, and the calls the
//! ten of libmlx5, `mlx5dv_devx_{qp,cq,srq,wq,ind_tbl}_{modify,query}`. An object takes only the
//! commands that work on it:
//!
//! ```
//! use mlx5_devx::{Cq, Transport};
//! use mlx5_prm::{Cqc, ModifyCqIn, QueryCqIn};
//! use mlx5_sim::Adapter;
//!
//! let adapter = Adapter::new();
//! let made = adapter.create_cq(&Cqc::new().with_log_cq_size(10))?;
//!
//! let transport: Box<dyn Transport> = Box::new(adapter);
//! let cq = Cq::new(&*transport, made.handle, made.number);
//!
//! let mut modify = ModifyCqIn::new().changing_cq_period(16); // the field and its select bit
//! cq.modify(&mut modify)?;
//!
//! assert_eq!(cq.query(&mut QueryCqIn::new())?.cq_context().cq_period(), 16);
//! # Ok::<(), mlx5_devx::Error>(())
//! ```
//!
//! ```compile_fail,E0271
//! # use mlx5_devx::{Qp, Transport};
//! # use mlx5_prm::ModifyCqIn;
//! fn wrong(qp: &Qp<'_>) {
//!     qp.modify(&mut ModifyCqIn::new()); // MODIFY_CQ does not work on a QP
//! }
//! ```
//!
//! # Ways to an adapter
//! - feature `ioctl`: `ioctl::Ioctl` makes a DEVX context of its own by the kernel's interface, with
//!   no C library. `wire` is the form of its calls.
//! - feature `fwctl`: `fwctl::Fwctl` sends queries and accesses to registers by `/dev/fwctl` of
//!   Linux 6.15, without an RDMA context.
//! - the package mlx5-sim: a simulated adapter, and a simulated device file for `fwctl::Fwctl`.
#![deny(missing_docs)]

#[cfg(all(feature = "tokio", any(feature = "ioctl", feature = "libmlx5")))]
mod asynchronous;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod backend;
#[cfg(feature = "caps")]
mod caps;
#[cfg(any(feature = "ioctl", feature = "fwctl"))]
mod device_file;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod devx;
mod error;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod events;
#[cfg(feature = "fwctl")]
pub mod fwctl;
mod general;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub mod ibv;
#[cfg(feature = "ioctl")]
pub mod ioctl;
#[cfg(feature = "libmlx5")]
pub mod libmlx5;
mod object;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod queries;
#[cfg(feature = "record")]
pub mod record;
#[cfg(any(feature = "ioctl", feature = "fwctl"))]
mod sysfs;
mod transport;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod uar;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod umem;
mod verbs;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod wait;
#[cfg(feature = "ioctl")]
pub mod wire;

#[cfg(all(feature = "tokio", any(feature = "ioctl", feature = "libmlx5")))]
pub use asynchronous::Async;
#[cfg(feature = "caps")]
pub use caps::Caps;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub use devx::{CallError, Devx, NotSupported};
pub use error::{BadAnswer, Error, NotSent, outcome, status_errno, status_meaning, status_words};
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub use events::{Cookies, Event, Events};
#[cfg(feature = "fwctl")]
pub use fwctl::Fwctl;
pub use general::{general, read_register, write_register};
#[cfg(feature = "ioctl")]
pub use ioctl::Ioctl;
#[cfg(feature = "libmlx5")]
#[doc(no_inline)]
pub use libmlx5::LibMlx5;
pub use object::{General, Object, StillThere};
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub use queries::{Answer, Queries};
pub use transport::{Handle, Target, TargetKind, Transport};
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub use uar::{Uar, UarKind};
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
pub use umem::{Access, Page, Umem};
pub use verbs::{Accepts, Cq, Holds, IndTable, Qp, Srq, SrqNumber, Verbs, VerbsKind, Wq, kind};

/// An errno of the kernel.
pub use rustix::io::Errno;

/// The examples of the page for those who know DEVX in C.
#[cfg(all(
    doctest,
    feature = "caps",
    feature = "ioctl",
    feature = "libmlx5",
    feature = "tokio"
))]
#[doc = include_str!("../../../docs/from-c.md")]
struct FromC;
