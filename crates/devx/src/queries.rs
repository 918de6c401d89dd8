//! Queries whose answers come later.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use crate::backend::QueryChannel;
use crate::devx::{Devx, Token};
use crate::wait::wait;
use crate::{Errno, Target};

/// A channel of queries of a context: they are sent without waiting, and the answers read as they
/// come.
///
/// It is a file ([`AsFd`]), so that an event loop can wait for it; with the feature `tokio` see
/// [`Queries::into_async`]. It keeps its context.
///
/// ```
/// use mlx5_devx::{Devx, Queries, Target, outcome};
///
/// fn example(
///     devx: &dyn Devx,
///     counter: Target,
///     query: &[u8],
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let queries = Queries::new(devx)?;
///     queries.send(counter, query, 32, 7)?;
///     let mut output = [0; 32];
///     let answer = queries.read(&mut output)?;
///     assert_eq!((answer.id, answer.len), (7, 32));
///     outcome(query, &output, Ok(()))?; // what the firmware says
///     Ok(())
/// }
/// ```
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub struct Queries {
    channel: Box<dyn QueryChannel>,
}

/// An answer that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What was given with the query.
    pub id: u64,
    /// How many bytes the answer has.
    pub len: usize,
}

impl Queries {
    /// Makes a channel (`mlx5dv_devx_create_cmd_comp`).
    ///
    /// # Errors
    /// The errno of the call.
    pub fn new(devx: &dyn Devx) -> Result<Self, Errno> {
        Ok(Queries { channel: devx.backend(Token::HERE).query_channel()? })
    }

    /// Sends a query of an object, whose answer has `output_len` bytes
    /// (`mlx5dv_devx_obj_query_async`). `id` comes with the answer.
    ///
    /// By libmlx5 the object is one of [`Transport::create`](crate::Transport::create); by ioctl
    /// also one of verbs.
    ///
    /// # Errors
    /// The errno of the call. EAGAIN when too many bytes of answers are on their way
    /// (`MAX_ASYNC_BYTES_IN_USE` in `devx.c`, 1 MiB), EINVAL for a command that is no query of the
    /// object. EINTR when a signal came: the query may have been sent. What the firmware says is in
    /// the answer.
    pub fn send(
        &self,
        target: Target,
        input: &[u8],
        output_len: u16,
        id: u64,
    ) -> Result<(), Errno> {
        self.channel.send(target, input, output_len, id)
    }

    /// Waits until there is an answer to read, or until the time is over. Gives whether there is.
    ///
    /// Without a time it waits for as long as it takes; signals do not end it.
    ///
    /// # Errors
    /// The errno of `poll`.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, Errno> {
        wait(self.as_fd(), timeout)
    }

    /// Reads the next answer into the beginning of `output` (`mlx5dv_devx_get_async_cmd_comp`).
    ///
    /// It waits for the answer as long as it takes, and for ever where no query was sent: see
    /// [`Queries::wait`]. A signal does not end it: it takes no answer.
    ///
    /// The status of the firmware is in the answer: see [`outcome`](crate::outcome).
    ///
    /// # Errors
    /// The errno of `read`: ENOSPC when `output` is too short, and the answer stays; EIO when the
    /// device is gone; EAGAIN when the file was made non-blocking and there is none. EPROTO for
    /// what is no answer.
    pub fn read(&self, output: &mut [u8]) -> Result<Answer, Errno> {
        let (id, len) = self.channel.read(output)?;
        Ok(Answer { id, len })
    }
}

impl AsFd for Queries {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

#[cfg(all(test, feature = "ioctl"))]
mod tests {
    use std::io::{PipeWriter, Write};
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::ioctl::fake::Fake;
    use crate::wire::handwritten::{at, message, word};
    use crate::{Handle, TargetKind};

    const TARGET: Target = Target { kind: TargetKind::Devx, handle: Handle(9) };

    /// A channel whose answers the test writes.
    fn queries(fake: &Fake) -> (Queries, PipeWriter) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        fake.give_fd(reader.into());
        (Queries::new(&fake.ioctl()).expect("a channel"), writer)
    }

    #[test]
    fn queries_are_sent() {
        let fake = Fake::new();
        let (queries, _writer) = queries(&fake);
        fake.answer(|_, _| Ok(()));
        let input = [1; 16];
        queries.send(TARGET, &input, 0x20, 0xabcd).expect("sent");
        let attrs = [
            (0x1000, 0, word(9)),
            (0x1001, 16, at(&raw const input)),
            (0x1004, 8, word(0x20)),
            (0x1003, 8, word(0xabcd)),
            (0x1002, 0, word(queries.as_fd().as_raw_fd() as u64)),
        ];
        let expected =
            [message(0x1004, 0x1000, &[(0x1000, 0, word(0))]), message(0x1001, 0x1004, &attrs)];
        assert_eq!(fake.sent(), expected);
    }

    #[test]
    fn refusals_are_given_as_they_are() {
        let fake = Fake::new();
        fake.answer(|_, _| Err(Errno::OPNOTSUPP));
        assert_eq!(Queries::new(&fake.ioctl()).err(), Some(Errno::OPNOTSUPP));
        let (queries, _writer) = queries(&fake);
        for errno in [Errno::AGAIN, Errno::INVAL, Errno::INTR] {
            fake.answer(move |_, _| Err(errno));
            assert_eq!(queries.send(TARGET, &[0; 16], 16, 0), Err(errno));
        }
        let wide = Target { handle: Handle(1 << 32), ..TARGET };
        assert_eq!(queries.send(wide, &[0; 16], 16, 0), Err(Errno::NOENT));
    }

    #[test]
    fn answers_are_waited_for_and_read() {
        let fake = Fake::new();
        let (queries, mut writer) = queries(&fake);
        assert_eq!(queries.wait(Some(Duration::ZERO)), Ok(false));
        let mut bytes = 7u64.to_ne_bytes().to_vec();
        bytes.extend(1..=16);
        writer.write_all(&bytes).expect("room in the pipe");
        assert_eq!(queries.wait(None), Ok(true));
        let mut output = [0xff; 20];
        assert_eq!(queries.read(&mut output), Ok(Answer { id: 7, len: 16 }));
        let expected = std::array::from_fn(|at| if at < 16 { at as u8 + 1 } else { 0xff });
        assert_eq!(output, expected);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let fake = Fake::new();
        let (queries, mut writer) = queries(&fake);
        writer.write_all(&[0; 7]).expect("room in the pipe");
        assert_eq!(queries.read(&mut [0; 16]), Err(Errno::PROTO));
        drop(writer);
        assert_eq!(queries.read(&mut [0; 16]), Err(Errno::PROTO));
    }
}
