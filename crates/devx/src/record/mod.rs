//! Recordings: what goes through a transport, in a text that a person reads and a replayer answers
//! from.
//!
//! A [`Recorder`] wraps any transport. Its text is how a bug is reported, and how a test runs that
//! once met an adapter: a [`Replayer`] is a transport, too.
//!
//! ```
//! use mlx5_devx::record::{Recorder, Recording, Replayer};
//! use mlx5_devx::Cq;
//! use mlx5_prm::{Cqc, ModifyCqIn, QueryCqIn};
//!
//! let adapter = mlx5_sim::Adapter::new();
//! let made = adapter.create_cq(&Cqc::new().with_log_cq_size(10))?;
//! let recorder = Recorder::new(adapter, Vec::new()); // a File is a writer, too
//! Cq::new(&recorder, made.handle, made.number).query(&mut QueryCqIn::new())?;
//! let text = String::from_utf8(recorder.finish()?)?;
//!
//! let replayer = Replayer::strict(text.parse::<Recording>()?);
//! let cq = Cq::new(&replayer, made.handle, made.number);
//! assert_eq!(cq.query(&mut QueryCqIn::new())?.cq_context().log_cq_size(), 10);
//! replayer.finish()?;
//!
//! assert!(cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)).is_err());
//! assert_eq!(replayer.mismatch().unwrap().number, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The format
//! ```text
//! mlx5-recording 1
//!
//! modify cq 0x1
//!   at 42
//!   input 16  # MODIFY_CQ
//!     0000: 04030000 00000000 00000001 00000000
//!   output 16  # bad parameter, syndrome 0x6231e6
//!     0000: 03000000 006231e6 00000000 00000000
//!   result errno 121  # EREMOTEIO
//! ```
//!
//! UTF-8 text, a statement a line, the last ended, too. Space at the beginning and the end of a line,
//! empty lines, and what follows a `#` say nothing to the reader. The first statement is
//! `mlx5-recording` and the version of the format, 1. Each call is then, in this order:
//!
//! | statement | of | meaning |
//! |---|---|---|
//! | `create`, `general` | | the method |
//! | `modify KIND HANDLE`, `query KIND HANDLE`, `destroy devx HANDLE` | | the method and the object; `KIND` is `devx`, `qp`, `cq`, `srq`, `wq` or `ind_table`, `HANDLE` hex with `0x`, up to 64 bits |
//! | `at MICROSECONDS` | all | when the call began, since the recorder was made; decimal |
//! | `input LENGTH` and rows | all but destroy | the input; bytes, decimal |
//! | `before LENGTH` and rows | as input | what the output held before the call; left out when that was zeros |
//! | `output LENGTH` and rows | as input | what it held afterwards, all of it |
//! | `result ok`, `result handle HANDLE`, `result errno NUMBER` | all | `handle` is of create, `ok` of the others; the errno is Linux's, 1 to 4095 |
//!
//! A row is an offset (4 hex digits or more) and a colon, then 16 bytes in hex, fewer only in the last
//! row, with spaces between bytes where one likes, or `NUMBER zeros` for so many zero bytes. Rows
//! follow each other without gaps, and lines are ended, so that what got lost is noticed.
//!
//! Calls have no numbers, and the time has a line of its own, so that two runs are compared by
//! `diff -I '^  at '`. Names stand in comments, because the numbers are what counts.
//!
//! The limits are those of [`Recording::read`].

mod call;
mod difference;
mod mismatch;
mod read;
mod recorder;
mod recording;
mod replayer;
mod write;

pub use call::{Call, MAX_MAILBOX, Method};
pub use difference::Difference;
pub use mismatch::{Mismatch, Unfinished};
pub use read::{Calls, ReadError};
pub use recorder::Recorder;
pub use recording::{RecordedCall, Recording};
pub use replayer::Replayer;

/// The examples of the page for users run, too.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/recordings.md")]
struct Page;
