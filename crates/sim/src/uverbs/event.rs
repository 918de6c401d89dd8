//! Events: who asked for them, and whom they come to.
//!
//! Source: `devx.c` (`is_valid_events`, `get_dec_obj_type`, `devx_event_notifier`, `devx_cq_comp`).

use std::os::fd::OwnedFd;

use mlx5_devx::Handle;
use mlx5_prm::{DeviceEventCap, EventType};
use rustix::event::{PollFd, PollFlags, poll};

use super::Device;
use crate::firmware::kinds;
use crate::kernel::{Identity, Kind};

/// Where the kernel keeps a subscription: by event, and by the object that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    event: u16,
    obj_type: u16,
    /// None for an event of the adapter itself.
    number: Option<u32>,
}

/// What a program asked for.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: u64,
    pub(super) key: Key,
    pub(super) object: Option<Handle>,
    /// The file that the events come to.
    pub(super) channel: u64,
    pub(super) cookie: u64,
    /// Events are counted here, and do not come to the file.
    pub(super) eventfd: Option<OwnedFd>,
}

impl Key {
    pub(super) fn new(event: u16, object: Option<Identity>) -> Self {
        let obj_type = object.map_or(0, |object| type_of_object(event, object.kind));
        Key { event, obj_type, number: object.map(|object| object.number) }
    }
}

/// What the kernel does not pass on: it comes too often.
const UNTOLD: [EventType; 2] = [EventType::COMMAND_INTERFACE_COMPLETION, EventType::PAGE_REQUEST];

/// Bytes of an EQE, where its data stands in it, and how many bytes that has (`struct mlx5_eqe`).
const EQE: usize = 64;
const DATA: usize = 32;
const DATA_LEN: usize = 28;

/// Where in the data of an event the number of its object stands, and its type, of one byte or two
/// (`union ev_data` of `device.h`, `affiliated_event_header` of `mlx5_ifc.h`).
struct Places {
    number: usize,
    obj_type: Option<(usize, usize)>,
}

fn places(event: EventType) -> Places {
    let (number, obj_type) = match event {
        // `struct mlx5_eqe_qp_srq`
        EventType::LOCAL_WQ_CATASTROPHIC_ERROR
        | EventType::LOCAL_ACCESS_VIOLATION_WQ_ERROR
        | EventType::INVALID_REQUEST_LOCAL_WQ_ERROR
        | EventType::LAST_WQE_REACHED
        | EventType::PATH_MIGRATED_SUCCEEDED
        | EventType::PATH_MIGRATION_FAILED
        | EventType::COMMUNICATION_ESTABLISHED
        | EventType::SEND_QUEUE_DRAINED
        | EventType::SRQ_LIMIT
        | EventType::LOCAL_SRQ_CATASTROPHIC_ERROR => (24, Some((20, 1))),
        // `struct mlx5_eqe_comp`, `_dct`
        EventType::COMPLETION
        | EventType::DCT_ALL_CONNECTIONS_CLOSED
        | EventType::DCT_ACCESS_KEY_VIOLATION => (24, None),
        // `struct mlx5_eqe_cq_err`
        EventType::CQ_ERROR => (0, None),
        // `struct mlx5_eqe_xrq_err`
        EventType::XRQ_ERROR => (20, None),
        _ => (4, Some((2, 2))),
    };
    Places { number, obj_type }
}

/// Whether the old adapters, which do not say what can be subscribed to, have the event of an
/// object (`is_legacy_obj_event_num`).
fn is_of_object(event: EventType) -> bool {
    !matches!(event, EventType::PORT_STATE_CHANGE) && places(event).number != 4
}

/// `MLX5_EVENT_QUEUE_TYPE_DCT`
const QUEUE_TYPE_DCT: u16 = 6;

/// The type of an object in the kernel's key for an event (`get_dec_obj_type`).
fn type_of_object(event: u16, kind: Kind) -> u16 {
    let is_old = u8::try_from(event).is_ok_and(|event| is_of_object(EventType(event)));
    match kind {
        // `MLX5_EVENT_QUEUE_TYPE_*`
        Kind::Named(kinds::RQ | kinds::RMP) if is_old => 1,
        Kind::Named(kinds::SQ) if is_old => 2,
        Kind::Named("dct") if is_old => QUEUE_TYPE_DCT,
        _ if is_old => 0,
        Kind::General(obj_type) => obj_type,
        // `MLX5_OBJ_TYPE_*`. The kernel does not find that of a memory key.
        Kind::Named(kinds::QP) => 0xff02,
        Kind::Named(kinds::RMP) => 0xff04,
        Kind::Named(kinds::XRC_SRQ) => 0xff05,
        Kind::Named(kinds::RQ) => 0xff06,
        Kind::Named(kinds::SQ) => 0xff07,
        Kind::Named("tir") => 0xff08,
        Kind::Named("tis") => 0xff09,
        Kind::Named("dct") => 0xff0a,
        Kind::Named(kinds::XRQ) => 0xff0b,
        Kind::Named(kinds::RQT) => 0xff0e,
        Kind::Named("flow_counter") => 0xff0f,
        Kind::Named("cq") => 0xff10,
        Kind::Named(_) | Kind::Attachment => 0,
    }
}

/// Whether a program may subscribe to an event, of an object or of none (`is_valid_events`).
pub(super) fn is_valid(event: u16, of_object: bool, masks: Option<&DeviceEventCap>) -> bool {
    let Ok(event) = u8::try_from(event).map(EventType) else { return false };
    let Some(masks) = masks else {
        return if of_object { is_of_object(event) } else { is_unaffiliated(event, None) };
    };
    if of_object {
        event == EventType::COMPLETION || is_in(masks.user_affiliated_events(), event)
    } else {
        is_unaffiliated(event, Some(masks))
    }
}

/// Whether an event is one of the adapter itself (`is_unaffiliated_event`).
fn is_unaffiliated(event: EventType, masks: Option<&DeviceEventCap>) -> bool {
    match masks {
        Some(masks) => is_in(masks.user_unaffiliated_events(), event),
        None => event == EventType::PORT_STATE_CHANGE,
    }
}

fn is_in<W: Copy + Into<u64>>(mask: &[W; 4], event: EventType) -> bool {
    let word: u64 = mask[usize::from(event.0 / 64)].into();
    word >> (event.0 % 64) & 1 != 0
}

/// The EQE of an event.
pub(super) fn eqe(event: EventType, object: Option<Identity>, given: &[u8]) -> [u8; EQE] {
    let mut eqe = [0; EQE];
    match given.len() {
        EQE => eqe.copy_from_slice(given),
        len if len <= DATA_LEN => eqe[DATA..DATA + len].copy_from_slice(given),
        len => panic!("an event has {EQE} bytes, or up to {DATA_LEN} of data, and not {len}"),
    }
    eqe[1] = event.0;
    let Some(object) = object else { return eqe };
    let places = places(event);
    let obj_type = type_of_object(event.0.into(), object.kind).to_be_bytes();
    if let Some((at, len)) = places.obj_type {
        eqe[DATA + at..][..len].copy_from_slice(&obj_type[2 - len..]);
    }
    let number = &mut eqe[DATA + places.number..][..4];
    // A number of 24 bits leaves the byte in front of it alone.
    let from = if places.number == 4 { 0 } else { 1 };
    number[from..].copy_from_slice(&object.number.to_be_bytes()[from..]);
    eqe
}

/// Where the kernel looks for the subscriptions to an event.
fn key(eqe: &[u8; EQE], masks: Option<&DeviceEventCap>) -> Key {
    let event = EventType(eqe[1]);
    if is_unaffiliated(event, masks) {
        return Key { event: event.0.into(), obj_type: 0, number: None };
    }
    let places = places(event);
    let obj_type = match (event, places.obj_type) {
        (EventType::DCT_ALL_CONNECTIONS_CLOSED | EventType::DCT_ACCESS_KEY_VIOLATION, _) => {
            QUEUE_TYPE_DCT
        }
        (_, Some((at, 1))) => eqe[DATA + at].into(),
        (_, Some((at, _))) => u16::from_be_bytes([eqe[DATA + at], eqe[DATA + at + 1]]),
        (_, None) => 0,
    };
    let at = DATA + places.number;
    let number = u32::from_be_bytes([eqe[at], eqe[at + 1], eqe[at + 2], eqe[at + 3]]);
    let number = if places.number == 4 { number } else { number & 0xff_ffff };
    Key { event: event.0.into(), obj_type, number: Some(number) }
}

impl Device {
    /// Tells an event to those who asked for it, and gives how many they are.
    pub(super) fn tell(&mut self, eqe: &[u8; EQE], masks: Option<&DeviceEventCap>) -> usize {
        if UNTOLD.contains(&EventType(eqe[1])) {
            return 0;
        }
        let key = key(eqe, masks);
        let mut told = 0;
        for subscription in self.subscriptions.iter().filter(|s| s.key == key) {
            told += 1;
            if let Some(eventfd) = &subscription.eventfd {
                count(eventfd);
            } else if let Some(channel) = self.channels.get_mut(&subscription.channel) {
                channel.tell(subscription.id, subscription.cookie, eqe);
            }
        }
        told
    }
}

/// Adds one to an eventfd; one that is full is left as it is, as the kernel does.
fn count(eventfd: &OwnedFd) {
    let mut ready = [PollFd::new(eventfd, PollFlags::OUT)];
    if poll(&mut ready, Some(&rustix::event::Timespec::default())) == Ok(1) {
        // It is an eventfd, which takes 8 bytes.
        let _ = rustix::io::write(eventfd, &1u64.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of those that the old adapters have, and one that came later.
    const OLD: EventType = EventType::LAST_WQE_REACHED;
    const NEW: EventType = EventType(0x27);

    #[test]
    fn each_kind_of_object_has_its_type() {
        let of = |event: EventType, kind| type_of_object(event.0.into(), Kind::Named(kind));
        for (kind, old, new) in [
            (kinds::QP, 0, 0xff02),
            (kinds::RMP, 1, 0xff04),
            (kinds::XRC_SRQ, 0, 0xff05),
            (kinds::RQ, 1, 0xff06),
            (kinds::SQ, 2, 0xff07),
            ("tir", 0, 0xff08),
            ("tis", 0, 0xff09),
            ("dct", 6, 0xff0a),
            (kinds::XRQ, 0, 0xff0b),
            (kinds::RQT, 0, 0xff0e),
            ("flow_counter", 0, 0xff0f),
            (kinds::CQ, 0, 0xff10),
            ("mkey", 0, 0),
        ] {
            assert_eq!((of(OLD, kind), of(NEW, kind)), (old, new), "{kind}");
        }
        assert_eq!(type_of_object(NEW.0.into(), Kind::General(0x20)), 0x20);
    }

    #[test]
    fn a_number_stands_where_its_event_has_it() {
        let object = Identity { kind: Kind::Named(kinds::XRQ), number: 0x12_3456 };
        for (event, at, first) in [
            (EventType::CQ_ERROR, 0, 0xff),
            (EventType::XRQ_ERROR, 20, 0xff),
            (OLD, 24, 0xff),
            (NEW, 4, 0),
        ] {
            let eqe = eqe(event, Some(object), &[0xff; DATA_LEN]);
            assert_eq!(eqe[DATA + at..][..4], [first, 0x12, 0x34, 0x56], "{event:?}");
        }
    }

    #[test]
    fn numbers_have_24_bits_or_32() {
        let number = |event: EventType, at: usize| {
            let mut eqe = [0; EQE];
            eqe[1] = event.0;
            eqe[DATA + at..][..4].copy_from_slice(&[0x98, 0x76, 0x54, 0x32]);
            key(&eqe, None).number
        };
        assert_eq!(number(OLD, 24), Some(0x76_5432));
        assert_eq!(number(NEW, 4), Some(0x9876_5432));
    }
}
