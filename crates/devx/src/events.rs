//! Events that the adapter tells.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use mlx5_prm::EventType;

use crate::backend::EventChannel;
use crate::devx::{Devx, Token};
use crate::wait::wait;
use crate::{Errno, Handle};

/// A channel of events of a context: what the adapter tells of objects, and of itself.
///
/// It is a file ([`AsFd`]), so that an event loop can wait for it; with the feature `tokio` see
/// [`Events::into_async`]. It keeps its context.
///
/// ```
/// use mlx5_devx::{Devx, Errno, Events};
/// use mlx5_prm::EventType;
///
/// fn example(devx: &dyn Devx) -> Result<(), Errno> {
///     let events = Events::new(devx)?;
///     events.subscribe(None, &[EventType::PORT_STATE_CHANGE], 1)?;
///     let event = events.read()?;
///     println!("subscription {}, event type {:#x}", event.cookie, event.eqe[1]);
///     Ok(())
/// }
/// ```
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub struct Events {
    channel: Box<dyn EventChannel>,
}

/// A channel of events of which only the cookie comes: what an [`Events`] is without its data.
///
/// Where one subscription has many events that were not read, the kernel keeps one of them
/// (`dispatch_event_fd` in `devx.c`): they are never lost for want of memory.
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub struct Cookies {
    channel: Box<dyn EventChannel>,
}

/// An event (`struct mlx5_ib_uapi_devx_async_event_hdr` of `mlx5_user_ioctl_verbs.h`, and an EQE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What the subscription gave.
    pub cookie: u64,
    /// The entry of the event queue, `eqe` of the PRM (`mlx5_prm::Eqe` with the feature `eq`).
    pub eqe: [u8; 64],
}

/// The length of a cookie as it is read, and that of an event.
const COOKIE: usize = 8;
const EVENT: usize = COOKIE + 64;

/// `MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA` of `mlx5_user_ioctl_verbs.h`.
const OMIT_DATA: u32 = 1;

/// What both channels have.
macro_rules! subscriptions {
    ($Channel:ident, $flags:expr, $how:literal) => {
        impl $Channel {
            #[doc = concat!("Makes a channel (`mlx5dv_devx_create_event_channel`, ", $how, " the data of events).")]
            ///
            /// # Errors
            /// The errno of the call.
            pub fn new(devx: &dyn Devx) -> Result<Self, Errno> {
                Ok($Channel { channel: devx.backend(Token::HERE).event_channel($flags)? })
            }

            /// Asks for events of these types: of an object that [`Transport::create`] made, or,
            /// with `None`, of the adapter itself (`mlx5dv_devx_subscribe_devx_event`).
            ///
            /// `cookie` comes with each of the events. A subscription ends with its object or with
            /// the channel.
            ///
            /// # Errors
            /// The errno of the call. EINVAL for more than 16 types, and for a type that the adapter
            /// does not tell for such an object (`is_valid_events` in `devx.c`). EINTR when a signal
            /// came: were the first try not undone, events would come twice.
            ///
            /// [`Transport::create`]: crate::Transport::create
            pub fn subscribe(
                &self,
                object: Option<Handle>,
                types: &[EventType],
                cookie: u64,
            ) -> Result<(), Errno> {
                let types: Vec<u16> = types.iter().map(|t| t.0.into()).collect();
                self.channel.subscribe(object, &types, cookie)
            }

            /// Asks for events of one type to be counted by an eventfd, which wakes who waits for
            /// it; nothing comes to the channel (`mlx5dv_devx_subscribe_devx_event_fd`).
            ///
            /// The kernel keeps the eventfd until the subscription ends: with its object, or with
            /// the channel.
            ///
            /// # Errors
            /// The errno of the call: EBADF or EINVAL for a file that is no eventfd, and those of
            #[doc = concat!("[`", stringify!($Channel), "::subscribe`].")]
            pub fn subscribe_fd(
                &self,
                eventfd: BorrowedFd<'_>,
                object: Option<Handle>,
                event_type: EventType,
            ) -> Result<(), Errno> {
                self.channel.subscribe_fd(eventfd, object, event_type.0.into())
            }

            /// Waits until there is an event to read, or until the time is over. Gives whether there
            /// is.
            ///
            /// Without a time it waits for as long as it takes; signals do not end it.
            ///
            /// # Errors
            /// The errno of `poll`.
            pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, Errno> {
                wait(self.as_fd(), timeout)
            }
        }

        impl AsFd for $Channel {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.channel.as_fd()
            }
        }
    };
}

subscriptions!(Events, 0, "with");
subscriptions!(Cookies, OMIT_DATA, "without");

impl Events {
    /// Reads the next event (`mlx5dv_devx_get_event`).
    ///
    /// It waits for the event as long as it takes, and for ever where none comes: see
    /// [`Events::wait`]. A signal does not end it: it takes no event.
    ///
    /// # Errors
    /// The errno of `read`: EOVERFLOW once when events were lost, EIO when the device is gone,
    /// EAGAIN when the file was made non-blocking and there is none. EPROTO for what is no event.
    pub fn read(&self) -> Result<Event, Errno> {
        let mut bytes = [0; EVENT];
        let read = self.channel.read(&mut bytes)?;
        let (cookie, eqe) = bytes.split_at(COOKIE);
        match (cookie.try_into(), eqe.try_into()) {
            (Ok(cookie), Ok(eqe)) if read == EVENT => {
                Ok(Event { cookie: u64::from_ne_bytes(cookie), eqe })
            }
            _ => Err(Errno::PROTO),
        }
    }
}

impl Cookies {
    /// Reads the cookie of the next event (`mlx5dv_devx_get_event`).
    ///
    /// It waits for the event as long as it takes, and for ever where none comes: see
    /// [`Cookies::wait`]. A signal does not end it: it takes no event.
    ///
    /// # Errors
    /// Those of [`Events::read`].
    pub fn read(&self) -> Result<u64, Errno> {
        let mut bytes = [0; COOKIE];
        match self.channel.read(&mut bytes)? {
            COOKIE => Ok(u64::from_ne_bytes(bytes)),
            _ => Err(Errno::PROTO),
        }
    }
}

#[cfg(all(test, feature = "ioctl"))]
mod tests {
    use std::io::{PipeWriter, Write};
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::ioctl::fake::Fake;
    use crate::wire::handwritten::{half, message, word};

    /// A channel whose events the test writes.
    fn events(fake: &Fake) -> (Events, PipeWriter) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        fake.give_fd(reader.into());
        (Events::new(&fake.ioctl()).expect("a channel"), writer)
    }

    #[test]
    fn a_channel_is_made_and_subscribed() {
        let fake = Fake::new();
        let (events, _writer) = events(&fake);
        fake.answer(|_, _| Ok(()));
        fake.answer(|_, _| Ok(()));
        let types = [EventType(0x13), EventType(0x80)];
        events.subscribe(Some(Handle(9)), &types, 0x1234).expect("subscribed");
        events.subscribe(None, &types[..1], 5).expect("subscribed");

        let fd = (0x1000, 0, word(events.as_fd().as_raw_fd() as u64));
        let mut both = [0; 8];
        both[..4].copy_from_slice(&[0x13u16, 0x80].map(u16::to_ne_bytes).concat());
        let mut first = [0; 8];
        first[..2].copy_from_slice(&0x13u16.to_ne_bytes());
        let of_object = [fd, (0x1004, 8, word(0x1234)), (0x1001, 0, word(9)), (0x1002, 4, both)];
        let of_adapter = [fd, (0x1004, 8, word(5)), (0x1002, 2, first)];
        let expected = [
            message(0x1005, 0x1000, &[(0x1000, 0, word(0)), (0x1001, 4, half(0))]),
            message(0x1000, 0x1003, &of_object),
            message(0x1000, 0x1003, &of_adapter),
        ];
        assert_eq!(fake.sent(), expected);
    }

    #[test]
    fn refusals_are_given_as_they_are() {
        let fake = Fake::new();
        fake.answer(|_, _| Err(Errno::OPNOTSUPP));
        assert_eq!(Events::new(&fake.ioctl()).err(), Some(Errno::OPNOTSUPP));
        let (events, _writer) = events(&fake);
        for errno in [Errno::INVAL, Errno::INTR] {
            fake.answer(move |_, _| Err(errno));
            assert_eq!(events.subscribe(None, &[EventType(1)], 0), Err(errno));
        }
        let sent = fake.sent().len();
        assert_eq!(events.subscribe(Some(Handle(1 << 32)), &[], 0), Err(Errno::NOENT));
        assert_eq!(fake.sent().len(), sent);
    }

    #[test]
    fn events_are_waited_for_and_read() {
        let fake = Fake::new();
        let (events, mut writer) = events(&fake);
        assert_eq!(events.wait(Some(Duration::ZERO)), Ok(false));
        assert_eq!(events.wait(Some(Duration::from_millis(5))), Ok(false));
        let mut bytes = 0xfedc_ba98_7654_3210_u64.to_ne_bytes().to_vec();
        bytes.extend(0..64);
        writer.write_all(&bytes).expect("room in the pipe");
        assert_eq!(events.wait(None), Ok(true));
        assert_eq!(events.wait(Some(Duration::MAX)), Ok(true));
        let event = events.read().expect("an event");
        assert_eq!(event.cookie, 0xfedc_ba98_7654_3210);
        assert_eq!(event.eqe, std::array::from_fn(|at| at as u8));
        assert_eq!(events.wait(Some(Duration::ZERO)), Ok(false));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        let fake = Fake::new();
        let (events, mut writer) = events(&fake);
        writer.write_all(&[0; 8]).expect("room in the pipe");
        assert_eq!(events.read(), Err(Errno::PROTO));
        drop(writer);
        assert_eq!(events.read(), Err(Errno::PROTO));
    }
}
