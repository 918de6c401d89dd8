//! What can be told of tables: how two differ, how a source differs from them, what each source
//! gave.

mod counts;
mod diff;
mod verify;

pub use counts::counts;
pub use diff::diff;
pub use verify::{Verified, verify};
