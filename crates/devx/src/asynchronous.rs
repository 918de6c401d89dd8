//! Channels that a task of tokio waits for.
#![allow(unsafe_code, reason = "tokio wants a word that the descriptor stays; it is at the call")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::{Answer, Cookies, Errno, Event, Events, Queries};

/// A channel ([`Events`], [`Cookies`] or [`Queries`]) whose reads are waited for by a task of tokio, and
/// not by a thread.
///
/// A read that is given up takes nothing from the channel.
///
/// ```
/// use mlx5_devx::{Devx, Errno, Events};
/// use mlx5_prm::EventType;
///
/// async fn watch(devx: &dyn Devx) -> Result<(), Errno> {
///     let events = Events::new(devx)?.into_async()?;
///     events.get_ref().subscribe(None, &[EventType::PORT_STATE_CHANGE], 1)?;
///     loop {
///         println!("{:?}", events.read().await?);
///     }
/// }
/// ```
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub struct Async<C: AsFd> {
    file: AsyncFd<Channel<C>>,
}

/// A channel by its descriptor, as tokio wants it.
#[derive(Debug)]
struct Channel<C>(C);

impl<C: AsFd> AsRawFd for Channel<C> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl<C: AsFd> Async<C> {
    fn new(channel: C) -> Result<Self, Errno> {
        let flags = rustix::fs::fcntl_getfl(channel.as_fd())?;
        rustix::fs::fcntl_setfl(channel.as_fd(), flags | OFlags::NONBLOCK)?;
        // SAFETY: the channels of this crate, which alone come here, keep one descriptor open until
        // they are dropped.
        let file = unsafe { AsyncFd::register_with_interest(Channel(channel), Interest::READABLE) };
        let file = file.map_err(|error| errno(error.into()))?;
        Ok(Async { file })
    }

    /// The channel. Its own reads do not wait any more: they give EAGAIN when there is nothing.
    pub fn get_ref(&self) -> &C {
        &self.file.get_ref().0
    }

    async fn when_readable<T>(
        &self,
        mut read: impl FnMut(&C) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let read = |channel: &Channel<C>| read(&channel.0).map_err(io::Error::from);
        self.file.async_io(Interest::READABLE, read).await.map_err(errno)
    }
}

impl<C: AsFd> AsFd for Async<C> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

/// The errno of an error; all that come here have one, but that of a runtime that ends.
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::CANCELED)
}

macro_rules! into_async {
    ($($Channel:ident),*) => { $(
        impl $Channel {
            /// Lets a task of tokio wait for it. The file is non-blocking from then on.
            ///
            /// # Errors
            /// The errno of `fcntl`, or of `epoll_ctl`.
            ///
            /// # Panics
            /// It is not called in a runtime of tokio that has its I/O driver enabled.
            pub fn into_async(self) -> Result<Async<Self>, Errno> {
                Async::new(self)
            }
        }
    )* };
}

into_async!(Events, Cookies, Queries);

impl Async<Events> {
    /// [`Events::read`], waited for by this task.
    ///
    /// # Errors
    /// Those of [`Events::read`] without EAGAIN; ECANCELED when the runtime ends.
    pub async fn read(&self) -> Result<Event, Errno> {
        self.when_readable(Events::read).await
    }
}

impl Async<Cookies> {
    /// [`Cookies::read`], waited for by this task.
    ///
    /// # Errors
    /// Those of [`Cookies::read`] without EAGAIN; ECANCELED when the runtime ends.
    pub async fn read(&self) -> Result<u64, Errno> {
        self.when_readable(Cookies::read).await
    }
}

impl Async<Queries> {
    /// [`Queries::read`], waited for by this task.
    ///
    /// # Errors
    /// Those of [`Queries::read`] without EAGAIN; ECANCELED when the runtime ends.
    pub async fn read(&self, output: &mut [u8]) -> Result<Answer, Errno> {
        self.when_readable(|queries| queries.read(output)).await
    }
}
