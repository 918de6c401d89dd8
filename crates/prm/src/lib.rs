//! Typed codec for the command mailboxes of NVIDIA ConnectX and BlueField (mlx5) adapters.
//!
//! An adapter is driven by commands: a big-endian input mailbox goes in, an output mailbox comes
//! back. Their layouts are called the PRM (Programmer's Reference Manual). Here every layout is a
//! type, a plain run of bytes of alignment 1, and every field an accessor on it:
//!
//! ```
//! use mlx5_prm::{Cqn, ModifyCqIn};
//!
//! const MODIFY: ModifyCqIn = ModifyCqIn::new()
//!     .with_cqn(Cqn::new(0x4a))
//!     .changing_cq_period(16) // sets the field, and the bit of the mask that says that it counts
//!     .changing_cq_max_count(64);
//!
//! assert_eq!(MODIFY.as_bytes()[..4], [0x04, 0x03, 0, 0]); // the opcode is there already
//! assert_eq!(MODIFY.cq_context().cq_period(), 16);
//! ```
//!
//! * Any `&[u8]` of the right length is viewed in place: [`Layout::view`].
//! * Everything but views for writing works in `const`.
//! * A value too wide for its field is never cut off: `set_` and `with_` panic (a compile error in
//!   `const`), `try_set_` gives a [`FieldError`].
//! * Numbers of objects ([`Cqn`]), enumerations ([`QpState`]) and flags have types of their own; values
//!   that are not known are kept.
//! * A modify command changes a field and its select bit by one call, `change_` or `changing_`.
//! * The state machine of queue pairs: [`QpTransition`]. Capabilities: [`Cap`]. General objects:
//!   [`GeneralObject`].
//! * Mailboxes with a list of open length at their end are [`WithTail`].
//! * Every layout describes itself at run time: [`Described`], [`families`].
//!
//! Layouts are grouped in families, each a module and a cargo feature; what a family does not
//! need is not compiled. `cq`, `qp`, `rqt`, `srq` and `wq` are there by default, `full` is all.
//!
//! The positions come from the public headers that `prm-spec/sources.toml` of the repository
//! names.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "proptest")]
mod arbitrary;
mod bits;
mod capability;
mod command;
mod describe;
mod error;
mod general;
mod layout;
mod register;
mod transition;
#[macro_use]
mod macros;
#[rustfmt::skip]
mod generated;

#[cfg(feature = "proptest")]
pub use arbitrary::{Content, any_with_tail};
pub use capability::{Cap, CapMode, CapabilityPage, PageDesc};
pub use command::{
    Command, CommandDesc, Creates, Modify, ObjectDesc, ObjectKind, OnObject, Place, Query, Request,
    SelectBitDesc, SelectDesc, SelectedBy, SelectedField, Verb, command, op_mod, opcode,
    selected_by,
};
pub use describe::{
    Access, Count, Described, Element, EnumDesc, Family, FieldDesc, FlagsDesc, Kind, LayoutDesc,
    NumberDesc, layout_desc,
};
pub use error::{FieldError, NumberError, SizeError};
#[cfg(feature = "general_object")]
pub use general::{CreateObject, DestroyObject, ModifyObject, ObjectOut, QueryObject};
pub use general::{GeneralObject, GeneralObjectDesc, general_object};
pub use generated::*;
pub use layout::{Layout, WithTail};
pub use register::{
    ReadRegister, Register, RegisterDesc, RegisterIn, RegisterOut, WriteRegister, register,
};
pub use transition::{
    QpTransition, Services, Transition, TransitionDesc, TransitionError, TransitionField,
    TransitionFields, Why,
};

/// Big-endian numbers as they stand in arrays and lists of a mailbox.
pub use zerocopy::byteorder::big_endian::{U16, U32, U64};
