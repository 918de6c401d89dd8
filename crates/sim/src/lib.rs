//! A simulated mlx5 adapter, to test against without hardware.
//!
//! A program that takes a [`Transport`] or a `Devx` of [`mlx5_devx`] does not know it from a real one:
//!
//! ```
//! use mlx5_devx::{Object, Transport};
//! use mlx5_prm::{Cqc, CreateCqIn, ModifyCqIn, QueryCqIn};
//! use mlx5_sim::Adapter;
//!
//! fn program(transport: &dyn Transport) -> Result<u16, mlx5_devx::Error> {
//!     let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(4));
//!     let cq = Object::create(transport, &create)?;
//!     cq.modify(&mut ModifyCqIn::new().changing_cq_period(16))?;
//!     Ok(cq.query(&mut QueryCqIn::new())?.cq_context().cq_period())
//! }
//!
//! assert_eq!(program(&Adapter::new())?, 16);
//! # Ok::<(), mlx5_devx::Error>(())
//! ```
//!
//! | what | feature | what it is | for |
//! |---|---|---|---|
//! | [`Firmware`] | | the firmware: a function of its state and the input bytes, without threads, clocks or sockets | mailboxes alone |
//! | [`Adapter`] | | the kernel's rules of DEVX in front of it; a [`Transport`] | a program of commands |
//! | [`Uverbs`] | `uverbs` | the same kernel by its `RDMA_VERBS_IOCTL`, with memory, doorbells, events and queries that don't wait; for `mlx5_devx::Ioctl::on`, which is a `Devx` | a program that takes a `Devx` |
//! | [`FwctlFile`] | `fwctl` | the kernel's fwctl driver in front of the adapter; for `mlx5_devx::Fwctl::over` | queries and registers |
//!
//! All are made of one [`Adapter`], whose clones are the same adapter. By it a test makes what verbs
//! would make ([`Adapter::create_cq`] and its like), and does what no program can: refuse calls
//! ([`Adapter::refuse_next`]), be an older kernel ([`Adapter::set_refusals`]), tell events
//! ([`Adapter::raise_event`]), go away ([`Adapter::remove`]).
//!
//! It keeps the objects that commands make, and those that are always there, such as virtual ports:
//! what a modify writes a query reads back, select masks say which fields count, and QP transitions
//! follow the tables of `prm-spec/semantics`. So do general objects. Registers keep what is written
//! to them by ACCESS_REG, by the access of each field. QUERY_HCA_CAP gives the pages that were set, and
//! of a new adapter the general one, which says what is simulated; it says 0 of what has a page of its
//! own, such as flow tables.
//! Which commands there are depends on the families of `mlx5-prm` that are compiled in. Traffic is
//! not simulated, counters stay zero, a flow table entry goes by its index alone, whatever its
//! table, and the extension of a QP's context (`qpc_ext`) must be there where a mask says so, and is not
//! kept. Of what has no context in the tables, such as an entry of the L2 table, a query answers that it
//! is there.
//!
//! Where no public source says how the firmware answers, the choice is the simulation's own. An error of
//! [`mlx5_devx`] has the syndrome as a number; what the simulated adapter means by one of its own,
//! [`syndrome::words`] says, and [`Adapter::refused_field`] which field it is about.
//!
//! # What it does not refuse
//! A command that passes here may be refused by an adapter. It looks at the umems that commands of
//! DEVX name (`x_umem_id` where `x_umem_valid` is set, by the program or by the kernel; of these 0 is
//! none where the program did not set the bit, and of a context in a change only what is selected
//! counts), which are registered by [`Uverbs`] alone, so that on an
//! [`Adapter`] without one every other id is refused; and at the sizes of CQs, QPs, SRQs, XRC SRQs and
//! tables, against the general page, where that names a limit. It does not look at:
//!
//! - whether a queue fits into its umem, its offsets, and the memory's access and page size;
//! - umems that lie in fields of another form: those of virtio queues (`umem_1_id`), and of XRC SRQs
//!   and of MODIFY_CQ, whose public layouts have no id;
//! - page addresses in the mailbox (`pas`), and the translation of a memory key, which must be as long
//!   as the command says, and is not kept: QUERY_MKEY gives zeros for it. A key of DEVX with such a list
//!   and umem 0 is made, though the kernel sets `mkey_umem_valid` for it;
//! - what a QP transition requires and may be zero, such as the `q_key` of a UD QP: zero may be what was
//!   given, or a mailbox for another service. It is the QP's own service that counts;
//! - numbers of other objects (`pd`, `cqn`, `uar_page`, `tisn`, ...), other than the RQs of a table,
//!   and whether one in use is ended, other than such an RQ and a umem;
//! - how many objects there are, and sizes of RQs, SQs and RMPs;
//! - which function a command is for (`vhca_tunnel_id`), and which group a QP is attached to;
//! - capabilities that gate a field or a command, and reserved fields.
//!
//! [`Transport`]: mlx5_devx::Transport
#![deny(missing_docs)]
// What a feature that is off would bring has no page to link to.
#![cfg_attr(
    not(all(feature = "fwctl", feature = "uverbs")),
    allow(rustdoc::broken_intra_doc_links)
)]

mod adapter;
mod capability;
mod firmware;
mod flow_counter;
#[cfg(feature = "fwctl")]
mod fwctl;
mod general;
mod handles;
mod hooks;
mod kernel;
mod raw_packet_qp;
mod register;
mod select;
mod state;
pub mod syndrome;
mod transition;
mod umems;
#[cfg(feature = "uverbs")]
mod uverbs;

pub use adapter::{Adapter, Made};
pub use firmware::Firmware;
#[cfg(feature = "fwctl")]
pub use fwctl::FwctlFile;
pub use hooks::Refusals;
#[cfg(feature = "uverbs")]
pub use uverbs::Uverbs;
