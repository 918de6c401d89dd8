//! The simulated kernel as a program meets it that makes system calls: `RDMA_VERBS_IOCTL` on a
//! device file of uverbs, and reads of the files that it gives.
//!
//! Sources: `ib_uverbs_ioctl` and what it calls (`drivers/infiniband/core/uverbs_ioctl.c`,
//! `rdma_core.c`), and the methods in `drivers/infiniband/hw/mlx5/devx.c` and `main.c`.

mod answer;
mod channel;
mod context;
mod event;
mod own;
mod program;
mod umem;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use mlx5_devx::wire::{Memory, Message};
use mlx5_devx::{Errno, Handle, TargetKind};
use mlx5_prm::EventType;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, SealFlags};

use crate::adapter::Adapter;
use crate::state::{State, What};
use answer::Answering;
use channel::{Channel, Next};
use context::Context;
use event::Subscription;

/// The size of a page of memory, on the simulated machine.
const PAGE: u64 = 4096;

/// An open device file of uverbs in the simulated kernel.
///
/// The backend `ioctl` works on it, with all that DEVX has besides commands:
///
/// ```
/// use mlx5_devx::{Access, Devx, Events, Ioctl, Page, Umem};
/// use mlx5_prm::EventType;
/// use mlx5_sim::{Adapter, Uverbs};
///
/// let adapter = Adapter::new();
/// let devx = Ioctl::on(Uverbs::open(&adapter))?;
/// let umem = Umem::register(&devx, Page::zeroed(1), Access::LOCAL_WRITE, None)?;
/// println!("umem {}, event queue {}", umem.id(), devx.query_eqn(0)?);
///
/// let events = Events::new(&devx)?;
/// events.subscribe(None, &[EventType::PORT_STATE_CHANGE], 7)?;
/// adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]);
/// assert_eq!(events.read()?.cookie, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Clones are the same file. It begins without a context, and the first message makes one. Objects
/// and handles are the adapter's: what [`Adapter`] makes for verbs can be named in messages, as
/// objects of libibverbs by its `cmd_fd`. What was made by messages ends with the file, when its
/// last clone is dropped.
///
/// ```
/// use mlx5_devx::Errno;
/// use mlx5_devx::wire::{DRIVER_MLX5, Input, Memory, Output, Request};
/// use mlx5_sim::{Adapter, Uverbs};
///
/// /// The memory of a program whose messages point nowhere.
/// struct Nothing;
///
/// impl Memory for Nothing {
///     fn read(&self, _: &Input) -> Result<Vec<u8>, Errno> {
///         Err(Errno::FAULT)
///     }
///     fn write(&mut self, _: &Output, _: &[u8]) -> Result<(), Errno> {
///         Err(Errno::FAULT)
///     }
/// }
///
/// let uverbs = Uverbs::open(&Adapter::new());
/// let mut message = Request::obj_destroy(7).encode(DRIVER_MLX5)?;
/// let result = uverbs.ioctl(&mut message, &mut Nothing);
/// assert_eq!(result.err(), Some(Errno::NOENT));
/// # Ok::<(), mlx5_devx::wire::TooLong>(())
/// ```
///
/// # What is otherwise than in a kernel
/// - Files know each other's objects, but not each other's umems and pages of doorbells, and handles
///   begin with 1, not 0.
/// - The files that events and completions are read from are sockets. That the program closed one,
///   and all its duplicates, is seen at the next call of any device file of the adapter, or of
///   [`Adapter::raise_event`]; its subscriptions end then. Where the machine does not permit
///   `pidfd_getfd` (it is in Linux 5.6) the kernel keeps both ends: then files and subscriptions end
///   with the device file, or when a new file gets the number.
/// - Such a file is known by the number that it got; a duplicate of it can be read by
///   [`Uverbs::read`], but not named in messages. What another process reads of it, which alone has
///   it, counts as unread.
/// - After `shutdown(2)` of such a file [`Uverbs::read`] gives EIO.
/// - A `read(2)` of such a file that does not go through [`Uverbs::read`] gets whole messages; a
///   message that is longer than its buffer is cut off, and after [`Adapter::remove`] it gets
///   nothing, and not EIO. Of very many bytes that are to be read some come only after another call
///   of [`Uverbs`].
/// - A umem is in use by the objects whose commands named it, until they end: a command that names
///   one that is not registered on its device file is refused
///   ([`NO_SUCH_UMEM`](crate::syndrome::NO_SUCH_UMEM)), and so is to end one in use, with EINVAL. No
///   public source says how the firmware refuses either.
/// - What an adapter may refuse and this does not: see [the crate](crate#what-it-does-not-refuse).
#[derive(Clone)]
pub struct Uverbs {
    file: Arc<File>,
}

/// What all clones share.
struct File {
    adapter: Adapter,
    number: u64,
    /// What stands for the pages of doorbells.
    pages: OwnedFd,
}

/// What the kernel remembers of a device besides objects.
#[derive(Debug, Default)]
pub(crate) struct Device {
    files: BTreeMap<u64, OpenFile>,
    last_file: u64,
    /// Files of events and completions, in the order in which they were made.
    channels: BTreeMap<u64, Channel>,
    last_channel: u64,
    subscriptions: Vec<Subscription>,
    last_subscription: u64,
    last_umem: u32,
    last_uar: u32,
}

/// What the kernel remembers of an open device file.
#[derive(Debug, Default)]
struct OpenFile {
    context: Option<Context>,
    /// Which of its pages of doorbells are taken.
    uars: Vec<bool>,
}

impl Uverbs {
    /// Opens the device file of an adapter.
    ///
    /// # Panics
    /// The real kernel gives no file.
    pub fn open(adapter: &Adapter) -> Self {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let pages = rustix::fs::memfd_create("uverbs", flags).expect("the kernel gives a file");
        // Pages that are mapped must stay: writing to one behind the file's end is a signal.
        rustix::fs::fcntl_add_seals(&pages, SealFlags::SHRINK).expect("it may be sealed");
        let mut state = adapter.lock();
        let device = &mut state.uverbs;
        device.last_file += 1;
        let number = device.last_file;
        device.files.insert(number, OpenFile::default());
        drop(state);
        Uverbs { file: Arc::new(File { adapter: adapter.clone(), number, pages }) }
    }

    /// Answers a message: what `ioctl(2)` does with `RDMA_VERBS_IOCTL`.
    ///
    /// Handles and flags are written into the message, outputs to `memory`, which is not to call
    /// the adapter. For a call that makes a file, the program's end of it comes back: its number
    /// belongs into the message, and is known from now on.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn ioctl(
        &self,
        message: &mut Message,
        memory: &mut dyn Memory,
    ) -> Result<Option<OwnedFd>, Errno> {
        let mut state = self.file.adapter.lock();
        state.uverbs.see_closed();
        let pages = self.file.pages.as_fd();
        Answering { state: &mut state, file: self.file.number, pages, message, memory }.answer()
    }

    /// What stands for the pages of doorbells: it can be mapped where `UAR_OBJ_ALLOC` says.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.pages.as_fd()
    }

    /// Reads a file of events or completions: what `read(2)` does. It waits for something to read,
    /// if the file is not set to O_NONBLOCK.
    ///
    /// # Errors
    /// What the kernel says (`devx_async_cmd_event_read`, `devx_async_event_read`): ENOSPC for a
    /// completion that is longer than `buffer`, EINVAL for an event, which then stay; EAGAIN;
    /// EOVERFLOW once when events were lost; EIO when the device is gone; EINTR for a signal. EBADF
    /// for another file.
    pub fn read(&self, file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
        loop {
            let mut is_destroyed = false;
            let next = self.channel(file, |channel| {
                is_destroyed = channel.is_destroyed();
                channel.read(file, buffer)
            })?;
            if let Next::Read(len) = next {
                return Ok(len);
            }
            // Nothing is there, and nothing comes after `shutdown(2)`.
            if !is_destroyed && channel::is_at_its_end(file) {
                return Err(Errno::IO);
            }
            if rustix::fs::fcntl_getfl(file)?.contains(OFlags::NONBLOCK) {
                return Err(Errno::AGAIN);
            }
            if is_destroyed {
                return Err(Errno::IO);
            }
            poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::IN)], None)?;
        }
    }

    fn channel<R>(
        &self,
        file: BorrowedFd<'_>,
        run: impl FnOnce(&mut Channel) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        let is = own::identity(file)?;
        let mut state = self.file.adapter.lock();
        let mut all = state.uverbs.channels.values_mut();
        let channel = all.find(|channel| channel.of.0 == self.file.number && channel.is(is));
        run(channel.ok_or(Errno::BADF)?)
    }
}

impl fmt::Debug for Uverbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uverbs").field("number", &self.file.number).finish_non_exhaustive()
    }
}

impl Drop for File {
    /// Ends what was made on the file (`uverbs_destroy_ufile_hw`): round by round, as long as that
    /// ends any object. What then is left is forgotten, and the firmware keeps it.
    fn drop(&mut self) {
        let mut state = self.adapter.lock();
        while state.made_on(self.number).into_iter().fold(false, |any, handle| {
            let ended = match state.object(handle).map(|object| object.what) {
                Ok(What::Command(TargetKind::Devx, _)) => state.destroy(handle).is_ok(),
                Ok(What::Umem(_)) => state.deregister(handle).is_ok(),
                _ => true,
            };
            if ended {
                state.remove(handle);
            }
            any | ended
        }) {}
        for handle in state.made_on(self.number) {
            state.remove(handle);
        }
        state.uverbs.close(self.number);
    }
}

impl Device {
    /// An object is gone: subscriptions to its events end (`devx_obj_cleanup`).
    pub(crate) fn ended(&mut self, handle: Handle) {
        self.subscriptions.retain(|subscription| subscription.object != Some(handle));
    }

    /// The device is gone, and with it everything that is to be read.
    pub(crate) fn remove(&mut self) {
        self.subscriptions.clear();
        self.channels.values_mut().for_each(Channel::destroy);
    }

    /// A device file is closed.
    fn close(&mut self, file: u64) {
        self.files.remove(&file);
        self.retain_channels(|_, channel| channel.of.0 != file);
    }

    /// Ends files that the program closed since the last call.
    fn see_closed(&mut self) {
        let (ids, mut ends): (Vec<u64>, Vec<_>) = self
            .channels
            .iter()
            .filter_map(|(id, channel)| channel.kernel().map(|end| (*id, end)))
            // A hang-up is told without being asked for.
            .map(|(id, end)| (id, PollFd::from_borrowed_fd(end, PollFlags::empty())))
            .unzip();
        if ends.is_empty() || poll(&mut ends, Some(&Timespec::default())) == Ok(0) {
            return;
        }
        let hung_up = |end: &PollFd<'_>| end.revents().contains(PollFlags::HUP);
        let ids: BTreeSet<u64> =
            ids.into_iter().zip(&ends).filter(|(_, end)| hung_up(end)).map(|(id, _)| id).collect();
        self.retain_channels(|id, channel| !ids.contains(&id) || !channel.is_closed());
    }

    /// Ends files, and the subscriptions that come to them (`devx_async_event_destroy_uobj`).
    fn retain_channels(&mut self, mut stays: impl FnMut(u64, &mut Channel) -> bool) {
        self.channels.retain(|id, channel| stays(*id, channel));
        let Device { channels, subscriptions, .. } = self;
        subscriptions.retain(|subscription| channels.contains_key(&subscription.channel));
    }

    /// Makes a file of events or completions, and gives the program's end.
    fn new_channel(&mut self, file: u64, kind: channel::Kind) -> Result<OwnedFd, Errno> {
        let (channel, program) = Channel::new(file, kind)?;
        self.retain_channels(|_, older| !older.ends_with(program.as_raw_fd()));
        self.last_channel += 1;
        self.channels.insert(self.last_channel, channel);
        Ok(program)
    }
}

/// For tests: events.
impl Adapter {
    /// Makes the adapter tell an event, and gives how many subscriptions it comes to.
    ///
    /// `event` are the 64 bytes of an EQE, or its data alone, up to 28 bytes (`union ev_data` of the
    /// kernel's `device.h`), after which zeros follow. The type of the event is filled in, and, where
    /// `object` says an object that a command made, its number and its type where this type of event
    /// has them. Which subscriptions an event comes to goes by these.
    ///
    /// # Panics
    /// `event` has another length.
    pub fn raise_event(
        &self,
        event_type: EventType,
        object: Option<Handle>,
        event: &[u8],
    ) -> usize {
        let mut state = self.lock();
        let state: &mut State = &mut state;
        state.uverbs.see_closed();
        let object = object.and_then(|handle| state.object(handle).ok()).map(|object| object.what);
        let identity = match object {
            Some(What::Command(_, identity)) => Some(identity),
            _ => None,
        };
        let eqe = event::eqe(event_type, identity, event);
        let masks = state.firmware.capabilities.event_masks();
        state.uverbs.tell(&eqe, masks.as_ref())
    }
}
