//! The files that completions and events are read from.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use mlx5_devx::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};

use super::own::{self, Identity};

/// How many bytes of answers may be on their way (`MAX_ASYNC_BYTES_IN_USE` in `devx.c`).
const MOST_BYTES: usize = 1024 * 1024;

/// How many events wait to be read before others are lost. In the kernel they are lost when there is
/// no memory (`deliver_event` in `devx.c`).
const MOST_EVENTS: usize = 1024;

/// Bytes of the id in front of an answer (`struct mlx5_ib_uapi_devx_async_cmd_hdr`).
const HEAD: usize = 8;

/// What is read from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Completions,
    /// Events, or of each event its cookie alone.
    Events {
        omit_data: bool,
    },
}

/// A file that the program reads: one end of a pair of sockets that keep messages whole.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) kind: Kind,
    /// The device file that it was made on, and the number by which messages name it.
    pub(super) of: (u64, RawFd),
    /// The end that is written to; none when the device is gone.
    kernel: Option<OwnedFd>,
    program: End,
    identity: Identity,
    /// What is in the socket.
    sent: VecDeque<Sent>,
    /// What is to follow, as soon as there is room in the socket.
    waiting: VecDeque<(Vec<u8>, u64)>,
    /// Events were lost.
    lost: bool,
}

/// The end that is read. By it is seen what was read.
#[derive(Debug)]
enum End {
    /// It is the program's alone, which has it under this number.
    At(RawFd),
    /// A duplicate, where the program's can't be had by its number: that the program closes its own
    /// is then not seen.
    Kept(OwnedFd),
}

impl End {
    /// Runs something on the end, unless no number of this process stands for it any more.
    fn with<R>(&mut self, is: Identity, run: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        match self {
            End::At(number) => own::find(number, is).map(|file| run(file.as_fd())),
            End::Kept(file) => Some(run(file.as_fd())),
        }
    }
}

/// A message in the socket.
#[derive(Debug)]
struct Sent {
    len: usize,
    /// The subscription that it comes from; 0 for a completion.
    subscription: u64,
}

/// What a read leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// So many bytes.
    Read(usize),
    /// There is nothing.
    Nothing,
}

impl Channel {
    /// A file of a device file, and the program's end of it.
    pub(super) fn new(file: u64, kind: Kind) -> Result<(Self, OwnedFd), Errno> {
        Self::new_with(file, kind, |number| own::duplicate(number).is_ok())
    }

    fn new_with(
        file: u64,
        kind: Kind,
        can_be_had: impl FnOnce(RawFd) -> bool,
    ) -> Result<(Self, OwnedFd), Errno> {
        let (kernel, program) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // The longest answer must fit. More than the machine allows is not given, and no error.
        rustix::net::sockopt::set_socket_send_buffer_size(&kernel, MOST_BYTES)?;
        let number = program.as_raw_fd();
        let end = if can_be_had(number) {
            End::At(number)
        } else {
            End::Kept(program.try_clone().map_err(|_| Errno::MFILE)?)
        };
        let identity = own::identity(program.as_fd())?;
        let channel = Channel {
            kind,
            of: (file, number),
            kernel: Some(kernel),
            program: end,
            identity,
            sent: VecDeque::new(),
            waiting: VecDeque::new(),
            lost: false,
        };
        Ok((channel, program))
    }

    pub(super) fn is(&self, identity: Identity) -> bool {
        self.identity == identity
    }

    pub(super) fn is_destroyed(&self) -> bool {
        self.kernel.is_none()
    }

    /// The end that the kernel writes to. When it is hung up, the program's may be closed.
    pub(super) fn kernel(&self) -> Option<BorrowedFd<'_>> {
        self.kernel.as_ref().map(AsFd::as_fd)
    }

    /// Whether the program has no end, after the kernel's is hung up: it may be shut down alone.
    pub(super) fn is_closed(&mut self) -> bool {
        self.program.with(self.identity, |_| ()).is_none()
    }

    /// Whether a new file of this number means that this one is closed.
    pub(super) fn ends_with(&self, number: RawFd) -> bool {
        matches!(self.program, End::Kept(_)) && self.of.1 == number
    }

    /// The device is gone: nothing can be read any more.
    pub(super) fn destroy(&mut self) {
        self.kernel = None;
        self.waiting.clear();
        self.program.with(self.identity, |end| {
            while recv(end, &mut [0u8; 1], RecvFlags::DONTWAIT).is_ok_and(|(n, _)| n > 0) {}
        });
        self.sent.clear();
        self.lost = false;
    }

    /// Whether an answer of so many bytes may be asked for.
    pub(super) fn has_room(&mut self, len: usize) -> bool {
        self.see();
        let sent = self.sent.iter().map(|sent| sent.len - HEAD);
        let waiting = self.waiting.iter().map(|(message, _)| message.len() - HEAD);
        sent.chain(waiting).sum::<usize>() + len <= MOST_BYTES
    }

    /// Puts an answer into the file.
    pub(super) fn complete(&mut self, id: u64, answer: &[u8]) {
        self.put([&id.to_ne_bytes(), answer].concat(), 0);
    }

    /// Puts an event into the file (`deliver_event`).
    pub(super) fn tell(&mut self, subscription: u64, cookie: u64, eqe: &[u8; 64]) {
        self.see();
        let mut message = cookie.to_ne_bytes().to_vec();
        if self.kind == (Kind::Events { omit_data: true }) {
            // The cookie of a subscription stands there once, however many events there are.
            let mut all = self.sent.iter().map(|sent| sent.subscription);
            if all.any(|s| s == subscription)
                || self.waiting.iter().any(|(_, s)| *s == subscription)
            {
                return;
            }
        } else {
            message.extend(eqe);
            if self.sent.len() + self.waiting.len() >= MOST_EVENTS {
                self.lost = true;
                return;
            }
        }
        self.put(message, subscription);
    }

    /// Reads the next message from the program's end.
    pub(super) fn read(&mut self, end: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Next, Errno> {
        self.settle(end);
        if std::mem::take(&mut self.lost) {
            return Err(Errno::OVERFLOW);
        }
        let Some(next) = self.sent.front() else { return Ok(Next::Nothing) };
        if next.len > buffer.len() {
            return Err(match self.kind {
                Kind::Completions => Errno::NOSPC,
                Kind::Events { .. } => Errno::INVAL,
            });
        }
        match recv(end, buffer, RecvFlags::DONTWAIT) {
            Ok((len, _)) => {
                self.settle(end);
                Ok(Next::Read(len))
            }
            // Another read was faster.
            Err(Errno::AGAIN) => Ok(Next::Nothing),
            Err(errno) => Err(errno),
        }
    }

    fn put(&mut self, message: Vec<u8>, subscription: u64) {
        self.waiting.push_back((message, subscription));
        self.fill();
    }

    /// Sees what was read. Where another process alone has the program's end, it counts as unread.
    fn see(&mut self) {
        if let Some(unread) = self.program.with(self.identity, unread) {
            self.forget(unread);
        }
        self.fill();
    }

    /// Sees what was read of the program's end, and fills up the socket.
    fn settle(&mut self, end: BorrowedFd<'_>) {
        self.forget(unread(end));
        self.fill();
    }

    /// Forgets what is in the socket no more, of which so many bytes are unread.
    fn forget(&mut self, unread: usize) {
        let mut there: usize = self.sent.iter().map(|sent| sent.len).sum();
        while there > unread
            && let Some(read) = self.sent.pop_front()
        {
            there -= read.len;
        }
    }

    /// Fills up the socket.
    fn fill(&mut self) {
        let Some(kernel) = &self.kernel else { return };
        while let Some((message, subscription)) = self.waiting.front() {
            if send(kernel, message, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).is_err() {
                return;
            }
            self.sent.push_back(Sent { len: message.len(), subscription: *subscription });
            self.waiting.pop_front();
        }
    }
}

/// All bytes that are unread, of a SOCK_SEQPACKET (`unix_inq_len`).
fn unread(end: BorrowedFd<'_>) -> usize {
    rustix::io::ioctl_fionread(end).unwrap_or(0) as usize
}

/// Whether nothing comes to the program's end any more.
pub(super) fn is_at_its_end(end: BorrowedFd<'_>) -> bool {
    // No message is empty.
    let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
    matches!(recv(end, &mut [0u8; 1], flags), Ok((0, _)))
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_hung_up(channel: &Channel) -> bool {
        let kernel = channel.kernel().expect("the device is there");
        let mut all = [PollFd::from_borrowed_fd(kernel, PollFlags::empty())];
        poll(&mut all, Some(&Timespec::default())) == Ok(1)
    }

    #[test]
    fn what_was_read_is_seen_by_either_way() {
        for can_be_had in [true, false] {
            let (mut channel, program) =
                Channel::new_with(1, Kind::Completions, |_| can_be_had).expect("a file");
            channel.complete(1, &vec![0; MOST_BYTES / 2]);
            assert!(channel.has_room(MOST_BYTES / 2) && !channel.has_room(MOST_BYTES / 2 + 1));
            recv(&program, &mut [0u8; 8], RecvFlags::DONTWAIT).expect("a message");
            assert!(channel.has_room(MOST_BYTES), "{can_be_had}");
        }
    }

    #[test]
    fn a_file_that_is_closed_is_hung_up() {
        let (mut channel, program) = Channel::new(1, Kind::Completions).expect("a file");
        let (mut kept, other) = Channel::new_with(1, Kind::Completions, |_| false).expect("a file");
        assert!(!is_hung_up(&channel) && !channel.is_closed());
        drop((program, other));
        assert!(is_hung_up(&channel) && channel.is_closed());
        assert!(!is_hung_up(&kept) && !kept.is_closed());
    }

    #[test]
    fn a_duplicate_is_found() {
        let (mut channel, program) = Channel::new(1, Kind::Completions).expect("a file");
        let copy = program.try_clone().expect("a duplicate");
        drop(program);
        assert!(!is_hung_up(&channel));
        channel.complete(1, &[0; MOST_BYTES - 1]);
        assert!(!channel.has_room(2));
        recv(&copy, &mut [0u8; 8], RecvFlags::DONTWAIT).expect("a message");
        assert!(channel.has_room(2));
    }
}
