//! Typed codec for the command mailboxes of NVIDIA ConnectX and BlueField (mlx5) adapters.
//!
//! An adapter is driven by commands: a big-endian input mailbox goes in, an output mailbox comes
//! back. Their layouts are called the PRM (Programmer's Reference Manual). Here every layout is a
//! type, a plain run of bytes of alignment 1, and every field an accessor on it:
//!
//! ```
//! use mlx5_prm::{ModifyCqIn, ModifyCqSelect, Cqc};
//!
//! const MASK: u32 = ModifyCqSelect::new().with_cq_period(true).with_cq_max_count(true).into_bits();
//!
//! let mut modify = ModifyCqIn::new().with_cqn(0x4a).with_cq_context(
//!     Cqc::new().with_cq_period(16).with_cq_max_count(64),
//! );
//! modify
//!     .modify_field_select_resize_field_select_mut()
//!     .modify_field_select_mut()
//!     .set_modify_field_select(MASK);
//!
//! assert_eq!(modify.as_bytes()[..4], [0x04, 0x03, 0, 0]); // the opcode is there already
//! assert_eq!(modify.cq_context().cq_period(), 16);
//! ```
//!
//! * Any `&[u8]` of the right length is viewed in place: [`Layout::view`].
//! * Everything but views for writing works in `const`.
//! * A value too wide for its field is never cut off: `set_` and `with_` panic (a compile error in
//!   `const`), `try_set_` gives a [`FieldError`].
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

#[cfg(feature = "alloc")]
extern crate alloc;

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

pub use capability::{Cap, CapMode, CapabilityPage, PageDesc};
pub use command::{
    Command, CommandDesc, Creates, Modify, Object, ObjectDesc, OnObject, Place, Query, Request,
    SelectBitDesc, SelectDesc, SelectedField, Verb, command, opcode,
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
