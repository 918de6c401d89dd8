//! Sends mlx5 commands: a pluggable [`Transport`], typed objects, and errors that name the command.
//!
//! An object takes only the commands that work on it. Here it is one that verbs made:
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
//! # What is here
//! - [`Transport`] carries mailboxes as bytes, and is all that a way to an adapter must be.
//!   [`general`] sends a command that works on no object, and [`outcome`] makes one result of what
//!   a transport says and what stands in the output.
//! - [`Object`] and [`General`] are objects that commands make; they end when they are dropped.
//! - [`Qp`], [`Cq`], [`Srq`], [`Wq`] and [`IndTable`] are objects that verbs made, such as an
//!   `ibv_cq *` of any binding (`Cq::from_ibv`).
//! - [`Error`] says whether the command never left, the kernel refused it, the firmware refused it,
//!   or the answer makes no sense.
//! - [`Devx`] is a [`Transport`] that has what DEVX has besides commands: memory that the adapter
//!   may use ([`Umem`]), doorbells ([`Uar`]), events ([`Events`], or [`Cookies`] without their data),
//!   queries that don't wait ([`Queries`]), and with the feature `tokio` tasks that wait for either
//!   ([`Async`]).
//! - [`Caps`] are the capabilities of an adapter (feature `caps`); [`read_register`] and
//!   [`write_register`] its registers.
//!
//! # Ways to an adapter
//! | way | feature | needs | is |
//! |---|---|---|---|
//! | [`Ioctl`]: the kernel's interface, with no C library | `ioctl` | Linux 5.6, for [`Uar`] 5.7 | [`Devx`] |
//! | [`LibMlx5`]: libmlx5, loaded at run time | `libmlx5` | rdma-core 25 | [`Devx`] |
//! | [`Fwctl`]: `/dev/fwctl`, for queries and registers without an RDMA context | `fwctl` | Linux 6.15 | [`Transport`] |
//! | [`Recorder`](record::Recorder): writes down what goes through another one | `record` | another one | [`Transport`] |
//! | [`Replayer`](record::Replayer): answers from what was written down | `record` | a recording | [`Transport`] |
//! | `mlx5_sim::Adapter`: a simulated adapter | of mlx5-sim | nothing | [`Transport`] |
//! | [`Ioctl`] on `mlx5_sim::Uverbs`: the simulated kernel in front of it | `ioctl`, and `uverbs` of mlx5-sim | nothing | [`Devx`] |
//! | [`Fwctl`] over `mlx5_sim::FwctlFile`: its fwctl driver | `fwctl`, and that of mlx5-sim | nothing | [`Transport`] |
//!
//! A program that takes `&dyn Devx` works with either backend, and is tested without an adapter:
//!
//! ```
//! use mlx5_devx::{Access, Devx, Ioctl, Object, Page, Umem};
//! use mlx5_prm::{Cqc, CreateCqIn};
//! use mlx5_sim::{Adapter, Uverbs};
//!
//! fn program(devx: &dyn Devx) -> Result<(), Box<dyn std::error::Error>> {
//!     let umem = Umem::register(devx, Page::zeroed(1), Access::LOCAL_WRITE, None)?;
//!     let context = Cqc::new().with_log_cq_size(4).with_c_eqn_or_apu_element(devx.query_eqn(0)?);
//!     let create = CreateCqIn::new().with_cq_umem_id(umem.id()).with_cq_context(context);
//!     let cq = Object::create(devx, &create)?; // it ends before the umem
//!     println!("{cq:?}");
//!     Ok(())
//! }
//!
//! let devx = Ioctl::on(Uverbs::open(&Adapter::new()))?; // or Ioctl::open, or LibMlx5::open
//! program(&devx)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Those who know DEVX in C find each of its functions and macros in `docs/from-c.md` of the
//! repository.
//!
#![deny(missing_docs)]
// What a feature that is off would bring has no page to link to.
#![cfg_attr(
    not(all(
        feature = "caps",
        feature = "fwctl",
        feature = "ioctl",
        feature = "libmlx5",
        feature = "record",
        feature = "tokio"
    )),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(all(feature = "tokio", any(feature = "ioctl", feature = "libmlx5")))]
mod asynchronous;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod backend;
#[cfg(feature = "caps")]
mod caps;
#[cfg(any(feature = "ioctl", feature = "libmlx5", feature = "fwctl"))]
mod clears;
#[cfg(any(feature = "ioctl", feature = "fwctl"))]
mod device_file;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
mod devx;
mod errno;
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
pub use verbs::{
    Accepts, Cq, Holds, IndTable, Qp, QpDct, QpRq, QpSq, QpTir, QpTis, RawPacketQp, Srq, SrqNumber,
    Verbs, VerbsKind, Wq, kind,
};

/// An errno of the kernel.
pub use rustix::io::Errno;

/// The examples of the page for those who know C; those of the README run in `tests`.
#[cfg(all(
    doctest,
    feature = "caps",
    feature = "fwctl",
    feature = "ioctl",
    feature = "libmlx5",
    feature = "record",
    feature = "tokio"
))]
mod pages {
    #[doc = include_str!("../../../docs/from-c.md")]
    struct FromC;
}
