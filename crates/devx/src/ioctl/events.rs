//! Events that the adapter tells.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use mlx5_prm::EventType;

use super::wait::wait;
use super::{Interrupted, Ioctl, narrow};
use crate::wire::Request;
use crate::{Errno, Handle};

/// A channel of events of a context: what the adapter tells of objects, and of itself.
///
/// It is a file ([`AsFd`]), so that an event loop can wait for it. It keeps its context.
///
/// ```no_run
/// use mlx5_devx::ioctl::{Device, Events, Ioctl, Selector};
/// use mlx5_prm::EventType;
///
/// let ioctl = Ioctl::open(&Device::find(Selector::IbName("mlx5_0"))?)?;
/// let events = Events::new(&ioctl)?;
/// events.subscribe(None, &[EventType::PORT_STATE_CHANGE], 1)?;
/// let event = events.read()?;
/// println!("subscription {}, event type {:#x}", event.cookie, event.eqe[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Events {
    ioctl: Ioctl,
    fd: OwnedFd,
}

/// An event (`struct mlx5_ib_uapi_devx_async_event_hdr` of `mlx5_user_ioctl_verbs.h`, and an EQE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What the subscription gave.
    pub cookie: u64,
    /// The entry of the event queue, `eqe` of the PRM (`mlx5_prm::Eqe` with the feature `eq`).
    pub eqe: [u8; 64],
}

/// The length of an event as it is read.
const EVENT: usize = 8 + 64;

impl Events {
    /// Makes a channel (`mlx5dv_devx_create_event_channel`, with the data of events).
    ///
    /// # Errors
    /// The errno of the call.
    pub fn new(ioctl: &Ioctl) -> Result<Self, Errno> {
        let fd = ioctl.make_fd(&mut Request::async_event_fd_alloc(0))?;
        Ok(Events { ioctl: ioctl.clone(), fd })
    }

    /// Asks for events of these types: of an object that [`Transport::create`] made, or, with
    /// `None`, of the adapter itself (`mlx5dv_devx_subscribe_devx_event`).
    ///
    /// `cookie` comes with each of the events. A subscription ends with its object or with the
    /// channel.
    ///
    /// # Errors
    /// The errno of the call. EINVAL for more than 16 types, and for a type that the adapter does
    /// not tell for such an object (`is_valid_events` in `devx.c`).
    ///
    /// [`Transport::create`]: crate::Transport::create
    pub fn subscribe(
        &self,
        object: Option<Handle>,
        types: &[EventType],
        cookie: u64,
    ) -> Result<(), Errno> {
        let object = object.map(narrow).transpose()?;
        let types: Vec<u16> = types.iter().map(|event_type| event_type.0.into()).collect();
        let mut request = Request::subscribe_event(self.fd.as_raw_fd(), cookie, object, &types);
        // Were the first try not undone, events would come twice.
        self.ioctl.call(&mut request, Interrupted::GiveUp)
    }

    /// Waits until there is an event to read, or until the time is over. Gives whether there is.
    ///
    /// Without a time it waits for as long as it takes; signals do not end it.
    ///
    /// # Errors
    /// The errno of `poll`.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, Errno> {
        wait(self.fd.as_fd(), timeout)
    }

    /// Reads the next event, and waits for it. A signal does not end it: it takes no event.
    ///
    /// # Errors
    /// The errno of `read`: EOVERFLOW once when events were lost, EIO when the device is gone,
    /// EAGAIN when the file was made non-blocking and there is none. EPROTO for what is no event.
    pub fn read(&self) -> Result<Event, Errno> {
        let mut bytes = [0; EVENT];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.fd, &mut bytes[..]))? {
            EVENT => Ok(Event::of(&bytes)),
            _ => Err(Errno::PROTO),
        }
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Event {
    fn of(bytes: &[u8; EVENT]) -> Self {
        let (mut cookie, mut eqe) = ([0; 8], [0; 64]);
        cookie.copy_from_slice(&bytes[..8]);
        eqe.copy_from_slice(&bytes[8..]);
        Event { cookie: u64::from_ne_bytes(cookie), eqe }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write};

    use super::super::fake::Fake;
    use super::*;
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

        let fd = (0x1000, 0, word(events.fd.as_raw_fd() as u64));
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
