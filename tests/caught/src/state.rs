//! What the kernel would remember between ioctls.

use std::collections::BTreeMap;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use libc::c_int;

use crate::script::Script;
use crate::sim;

/// The bit of an event channel that says that events have no data
/// (`MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA`).
const OMIT_DATA: u32 = 1;

/// The length of an EQE, which an event channel gives as it is.
const EQE: usize = 64;

/// No completion queue has more completions than 2 to this power: the field of the PRM has 5 bits, and
/// libmlx5 asks for no more (`mlx5_create_cq`).
const LOG_MAX_CQ_SZ: u32 = 24;

/// Not a handle: what is named by the wrong one of the two shows.
const FIRST_NUMBER: u32 = 0x400;

/// An open channel: the end that the kernel writes to.
#[derive(Debug)]
pub(crate) struct Channel {
    end: OwnedFd,
    flags: u32,
}

/// What the kernel would remember. Its maps are found by valgrind at the end, which those of the standard
/// library that hash are not: they keep an address in the middle of what they allocate.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) script: Script,
    channels: BTreeMap<RawFd, Channel>,
    handles: u32,
    /// The objects of verbs, by handle: their kinds and numbers.
    verbs: BTreeMap<u32, (VerbsKind, u32)>,
    /// What raw packet QPs are made of, by their handles.
    parts: BTreeMap<u32, Parts>,
}

/// The numbers of what a raw packet QP is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) tirn: u32,
    pub(crate) tisn: u32,
    pub(crate) rqn: u32,
    pub(crate) sqn: u32,
}

/// A kind of objects of verbs that have a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbsKind {
    Cq,
    Qp,
    Srq,
}

/// What to make.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Make {
    /// A completion queue for 2 to this power of completions.
    Cq {
        log_cq_size: u32,
    },
    Qp,
    Srq,
}

/// An object of verbs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    /// What the kernel calls it.
    pub(crate) handle: u32,
    /// What the adapter calls it.
    pub(crate) number: u32,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| {
    Mutex::new(State {
        script: Script::of_environment(),
        channels: BTreeMap::new(),
        handles: 0,
        verbs: BTreeMap::new(),
        parts: BTreeMap::new(),
    })
});

/// The state, for one ioctl.
pub(crate) fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// A handle that no object has yet.
    pub(crate) fn new_handle(&mut self) -> u32 {
        self.handles += 1;
        self.handles
    }

    /// Makes an object of verbs.
    pub(crate) fn make(&mut self, what: Make) -> Result<Made, c_int> {
        let kind = match what {
            Make::Cq { log_cq_size } if log_cq_size > LOG_MAX_CQ_SZ => return Err(libc::EINVAL),
            Make::Cq { .. } => VerbsKind::Cq,
            Make::Qp => VerbsKind::Qp,
            Make::Srq => VerbsKind::Srq,
        };
        let simulated = match what {
            Make::Cq { log_cq_size } => sim::make_cq(log_cq_size),
            Make::Qp => sim::make_qp(),
            Make::Srq => sim::make_srq(),
        };
        let (handle, number) = simulated.unwrap_or_else(|| {
            let handle = self.new_handle();
            (handle, FIRST_NUMBER + handle)
        });
        self.verbs.insert(handle, (kind, number));
        Ok(Made { handle, number })
    }

    /// Makes a raw packet QP that receives and sends: it goes by the number of its SQ.
    pub(crate) fn make_raw_packet_qp(&mut self) -> (Made, Parts) {
        let (handle, parts) = sim::make_raw_packet_qp().unwrap_or_else(|| {
            let handle = self.new_handle();
            // No two are alike.
            let [sqn, tisn, rqn, tirn] = [1, 2, 3, 4].map(|n| n * FIRST_NUMBER + handle);
            (handle, Parts { tirn, tisn, rqn, sqn })
        });
        self.verbs.insert(handle, (VerbsKind::Qp, parts.sqn));
        self.parts.insert(handle, parts);
        (Made { handle, number: parts.sqn }, parts)
    }

    /// What a QP is made of, if it is a raw packet QP.
    pub(crate) fn parts(&self, handle: u32) -> Option<Parts> {
        self.parts.get(&handle).copied()
    }

    /// The kind and the number of an object of verbs, if the handle is that of one.
    pub(crate) fn verbs(&self, handle: u32) -> Option<(VerbsKind, u32)> {
        self.verbs.get(&handle).copied()
    }

    /// Ends an object of verbs.
    pub(crate) fn end(&mut self, kind: VerbsKind, handle: u32) -> Result<(), c_int> {
        match self.verbs(handle) {
            None => Err(libc::ENOENT),
            Some((is, _)) if is != kind => Err(libc::EINVAL),
            Some(_) => {
                sim::end(kind, handle)?;
                self.verbs.remove(&handle);
                self.parts.remove(&handle);
                Ok(())
            }
        }
    }

    /// Opens a channel, and gives the end for the caller. Each read of it takes one message, as from
    /// the kernel's files.
    pub(crate) fn new_channel(&mut self, flags: u32) -> Result<RawFd, c_int> {
        let mut ends = [0; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: the array has room for two descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } < 0 {
            return Err(Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE));
        }
        // SAFETY: a new descriptor that nothing else owns.
        let end = unsafe { OwnedFd::from_raw_fd(ends[1]) };
        // An older channel of that number was closed by the caller: the number was free.
        self.channels.insert(ends[0], Channel { end, flags });
        Ok(ends[0])
    }

    /// Sends an event: the cookie, and an EQE unless the channel wants none.
    pub(crate) fn event(&self, fd: RawFd, cookie: u64, data: &[u8]) -> Result<(), c_int> {
        let channel = self.channels.get(&fd).ok_or(libc::EBADF)?;
        let mut message = cookie.to_ne_bytes().to_vec();
        if channel.flags & OMIT_DATA == 0 {
            message.extend(data);
            message.resize(8 + EQE, 0);
        }
        channel.send(&message)
    }

    /// Sends the answer of a command: its id, and the output mailbox.
    pub(crate) fn completion(&self, fd: RawFd, id: u64, mailbox: &[u8]) -> Result<(), c_int> {
        let channel = self.channels.get(&fd).ok_or(libc::EBADF)?;
        channel.send(&[&id.to_ne_bytes()[..], mailbox].concat())
    }
}

impl Channel {
    fn send(&self, message: &[u8]) -> Result<(), c_int> {
        // SAFETY: the address and the length are those of the slice.
        let sent = unsafe {
            libc::send(
                self.end.as_raw_fd(),
                message.as_ptr().cast(),
                message.len(),
                libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { Err(libc::EIO) } else { Ok(()) }
    }
}
