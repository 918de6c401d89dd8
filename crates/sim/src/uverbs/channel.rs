//! The files that completions and events are read from.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};

use mlx5_devx::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};

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
    /// The end that is written to; none when the device is gone.
    kernel: Option<OwnedFd>,
    /// The end that is read, by which is seen what was read.
    program: OwnedFd,
    identity: Identity,
    /// What is in the socket.
    sent: VecDeque<Sent>,
    /// What is to follow, as soon as there is room in the socket.
    waiting: VecDeque<(Vec<u8>, u64)>,
    /// Events were lost.
    lost: bool,
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

/// Which file it is, whatever its number: device and inode.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(file: BorrowedFd<'_>) -> Result<Identity, Errno> {
    rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino))
}

impl Channel {
    /// A file, and the program's end of it.
    pub(super) fn new(kind: Kind) -> Result<(Self, OwnedFd), Errno> {
        let (kernel, program) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // The longest answer must fit. More than the machine allows is not given, and no error.
        rustix::net::sockopt::set_socket_send_buffer_size(&kernel, MOST_BYTES)?;
        let copy = program.try_clone().map_err(|_| Errno::MFILE)?;
        let identity = identity(std::os::fd::AsFd::as_fd(&program))?;
        let channel = Channel {
            kind,
            kernel: Some(kernel),
            program: copy,
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

    /// The device is gone: nothing can be read any more.
    pub(super) fn destroy(&mut self) {
        self.kernel = None;
        self.waiting.clear();
        while recv(&self.program, &mut [0u8; 1], RecvFlags::DONTWAIT).is_ok_and(|(n, _)| n > 0) {}
        self.sent.clear();
        self.lost = false;
    }

    /// Whether an answer of so many bytes may be asked for.
    pub(super) fn has_room(&mut self, len: usize) -> bool {
        self.settle();
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
        self.settle();
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

    /// Reads the next message.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<Next, Errno> {
        self.settle();
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
        match recv(&self.program, buffer, RecvFlags::DONTWAIT) {
            Ok((len, _)) => {
                self.settle();
                Ok(Next::Read(len))
            }
            // Another read was faster.
            Err(Errno::AGAIN) => Ok(Next::Nothing),
            Err(errno) => Err(errno),
        }
    }

    fn put(&mut self, message: Vec<u8>, subscription: u64) {
        self.waiting.push_back((message, subscription));
        self.settle();
    }

    /// Sees what was read, and fills up the socket.
    fn settle(&mut self) {
        // All that is unread, of a SOCK_SEQPACKET (`unix_inq_len`).
        let unread = rustix::io::ioctl_fionread(&self.program).unwrap_or(0) as usize;
        let mut there: usize = self.sent.iter().map(|sent| sent.len).sum();
        while there > unread
            && let Some(read) = self.sent.pop_front()
        {
            there -= read.len;
        }
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
