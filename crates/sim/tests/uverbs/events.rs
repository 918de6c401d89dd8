//! Events (`UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT)`, `devx_event_notifier`,
//! `devx_async_event_read`).

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use mlx5_devx::{Errno, Handle};
use mlx5_prm::{CapMode, CmdHcaCap, Cqc, CreateRqIn, DeviceEventCap, EventType, Rqc, caps::page};
use rustix::event::EventfdFlags;

use crate::program::{Arg, FILES, Left, Program, is_readable, read_raw, without_waiting};

fn file(program: &Program, flags: u32) -> Left {
    let args = [Arg::Number(0x1000, 0), Arg::In(0x1001, flags.to_ne_bytes().to_vec())];
    program.call(0x1005, 0x1000, &args)
}

fn number(file: &OwnedFd) -> i64 {
    file.as_raw_fd().into()
}

/// Subscribes: the file, the cookie, the object.
fn subscribe(
    program: &Program,
    file: i64,
    cookie: Option<u64>,
    object: Option<i64>,
    types: &[EventType],
) -> Left {
    let types: Vec<u8> = types.iter().flat_map(|t| u16::from(t.0).to_ne_bytes()).collect();
    let mut args = vec![Arg::Number(0x1000, file)];
    args.extend(cookie.map(|cookie| Arg::In(0x1004, cookie.to_ne_bytes().to_vec())));
    args.extend(object.map(|handle| Arg::Number(0x1001, handle)));
    args.push(Arg::In(0x1002, types));
    program.call(0x1000, 0x1003, &args)
}

fn cookie(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes[..8].try_into().expect("8 bytes"))
}

const PORT: EventType = EventType::PORT_STATE_CHANGE;

#[test]
fn events_come_to_those_who_asked() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    let ((first, _), (second, cqn)) = (program.cq(), program.cq());
    let types = [EventType::CQ_ERROR, EventType::COMPLETION];
    subscribe(&program, number(&file), Some(0xabc), Some(second), &types).ok();
    subscribe(&program, number(&file), None, None, &[PORT]).ok();
    let raise = |event, handle: Option<i64>, data: &[u8]| {
        program.adapter.raise_event(event, handle.map(|h| Handle(h as u64)), data)
    };
    assert_eq!(raise(EventType::CQ_ERROR, Some(first), &[]), 0, "nobody asked");
    assert_eq!(raise(EventType::SRQ_LIMIT, Some(second), &[]), 0, "nobody asked");
    assert!(!is_readable(&file));

    let mut data = [0; 12];
    data[11] = 1; // the syndrome of `struct mlx5_eqe_cq_err`
    assert_eq!(raise(EventType::CQ_ERROR, Some(second), &data), 1);
    assert_eq!(raise(EventType::COMPLETION, Some(second), &[]), 1);
    let mut port = [0; 64];
    port[3] = 4; // the sub type
    port[40] = 0x10; // `struct mlx5_eqe_port_state`
    assert_eq!(raise(PORT, None, &port), 1);

    let mut buffer = [0; 72];
    let mut read = || {
        assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer), Ok(72));
        (cookie(&buffer), buffer[8..].to_vec())
    };
    let (of, eqe) = read();
    assert_eq!((of, eqe[1], &eqe[32..36], eqe[43]), (0xabc, 4, &cqn.to_be_bytes()[..], 1));
    let (of, eqe) = read();
    assert_eq!((of, eqe[1], &eqe[56..60]), (0xabc, 0, &cqn.to_be_bytes()[..]));
    let (of, eqe) = read();
    assert_eq!((of, eqe[1], eqe[3], eqe[40]), (0, 9, 4, 0x10), "no cookie is 0");
    assert!(!is_readable(&file));
}

/// `get_legacy_obj_type`, `get_event_obj_type`: queues of several kinds share their numbers.
#[test]
fn numbers_of_several_kinds_are_kept_apart() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    let rq = program.create(CreateRqIn::new().with_ctx(Rqc::new()).as_bytes(), 16).ok();
    let rqn = &rq.outputs[&0x1002][8..12];
    let limit = EventType::SRQ_LIMIT;
    subscribe(&program, number(&file), Some(1), Some(rq.handle()), &[limit]).ok();
    // `struct mlx5_eqe_qp_srq`: the type at 20, the number at 24.
    let mut data = [0; 28];
    data[24..].copy_from_slice(rqn);
    assert_eq!(program.adapter.raise_event(limit, None, &data), 0, "that of a QP");
    data[20] = 1; // MLX5_EVENT_QUEUE_TYPE_RQ
    assert_eq!(program.adapter.raise_event(limit, None, &data), 1);
    let handle = Handle(rq.handle() as u64);
    assert_eq!(program.adapter.raise_event(limit, Some(handle), &[]), 1);
    let (by_number, by_handle) = (read_raw(&file, 72), read_raw(&file, 72));
    assert_eq!(by_number, by_handle);
}

#[test]
fn a_file_without_data_has_each_cookie_once() {
    let program = Program::with_devx();
    let file = file(&program, 1).file();
    let ((first, _), (second, _)) = (program.cq(), program.cq());
    for (cookie, cq) in [(1, first), (2, second)] {
        let types = [EventType::COMPLETION];
        subscribe(&program, number(&file), Some(cookie), Some(cq), &types).ok();
    }
    let raise =
        |cq: i64| program.adapter.raise_event(EventType::COMPLETION, Some(Handle(cq as u64)), &[]);
    for cq in [second, first, second, second] {
        assert_eq!(raise(cq), 1);
    }
    let mut buffer = [0xee; 72];
    assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer[..7]), Err(Errno::INVAL));
    assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer), Ok(8));
    assert_eq!((cookie(&buffer), buffer[8]), (2, 0xee));
    raise(second);
    assert_eq!(cookie(&read_raw(&file, 72)), 1);
    assert_eq!(cookie(&read_raw(&file, 72)), 2, "it was read before, and comes again");
    assert!(!is_readable(&file));
    // What was read without the simulated kernel is seen, too.
    raise(first);
    assert_eq!(read_raw(&file, 72).len(), 8);
}

#[test]
fn reads_are_those_of_the_kernel() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    subscribe(&program, number(&file), Some(1), None, &[PORT]).ok();
    let read = |len: usize| program.uverbs.read(file.as_fd(), &mut vec![0; len]);
    without_waiting(&file);
    assert_eq!(read(72), Err(Errno::AGAIN));
    program.adapter.raise_event(PORT, None, &[]);
    assert_eq!((read(71), read(72), read(72)), (Err(Errno::INVAL), Ok(72), Err(Errno::AGAIN)));
    // As many as can wait, and one more.
    for _ in 0..1024 {
        program.adapter.raise_event(PORT, None, &[]);
    }
    for _ in 0..1024 {
        assert_eq!(read(72), Ok(72));
    }
    assert_eq!(read(72), Err(Errno::AGAIN));
    for _ in 0..1025 {
        program.adapter.raise_event(PORT, None, &[]);
    }
    assert_eq!((read(72), read(72)), (Err(Errno::OVERFLOW), Ok(72)));
    for _ in 0..1023 {
        assert_eq!(read(72), Ok(72));
    }
    assert_eq!(read(72), Err(Errno::AGAIN));
}

#[test]
fn events_are_counted_by_an_eventfd() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    let eventfd = rustix::event::eventfd(0, EventfdFlags::NONBLOCK).expect("an eventfd");
    let null = std::fs::File::open("/dev/null").expect("every system has it");
    let copy = eventfd.try_clone().expect("a duplicate");
    FILES.set([(40, copy), (41, null.into())].into());
    let with = |fd: i32, cookie: bool| {
        let mut args = vec![
            Arg::Number(0x1000, number(&file)),
            Arg::In(0x1002, u16::from(PORT.0).to_ne_bytes().to_vec()),
            Arg::In(0x1003, fd.to_ne_bytes().to_vec()),
        ];
        args.extend(cookie.then(|| Arg::In(0x1004, vec![0; 8])));
        program.call(0x1000, 0x1003, &args)
    };
    assert_eq!(with(40, true).errno(), Errno::INVAL, "an eventfd has no cookie");
    // `eventfd_ctx_fdget`
    assert_eq!((with(39, false).errno(), with(41, false).errno()), (Errno::BADF, Errno::INVAL));
    with(40, false).ok();
    for _ in 0..3 {
        assert_eq!(program.adapter.raise_event(PORT, None, &[]), 1);
    }
    assert_eq!(read_raw(&eventfd, 8), 3u64.to_ne_bytes());
    assert!(!is_readable(&file));
}

#[test]
fn what_the_kernel_refuses() {
    let program = Program::with_devx();
    assert_eq!(file(&program, 2).errno(), Errno::INVAL, "uverbs_get_flags32");
    let file = file(&program, 0).file();
    let (cq, _) = program.cq();
    let refused =
        |fd, object, types: &[EventType]| subscribe(&program, fd, Some(1), object, types).errno();
    let fd = number(&file);
    assert_eq!(refused(0, None, &[PORT]), Errno::BADF);
    assert_eq!(refused(fd, Some(99), &[EventType::CQ_ERROR]), Errno::NOENT);
    // An object of DEVX (`MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE`).
    let verbs = program.adapter.create_cq(&Cqc::new()).expect("a CQ");
    assert_eq!(refused(fd, Some(verbs.handle.0 as i64), &[EventType::CQ_ERROR]), Errno::INVAL);
    // `MAX_NUM_EVENTS`
    subscribe(&program, fd, None, Some(cq), &[EventType::CQ_ERROR; 16]).ok();
    assert_eq!(refused(fd, Some(cq), &[EventType::CQ_ERROR; 17]), Errno::INVAL);
    let odd = [Arg::Number(0x1000, fd), Arg::In(0x1002, vec![9, 0, 9])];
    assert_eq!(program.call(0x1000, 0x1003, &odd).errno(), Errno::INVAL);
    let nowhere = [Arg::Number(0x1000, fd), Arg::Nowhere(0x1002, 10)];
    assert_eq!(program.call(0x1000, 0x1003, &nowhere).errno(), Errno::FAULT);
    // `is_valid_events_legacy`
    assert_eq!(refused(fd, None, &[EventType::CQ_ERROR]), Errno::INVAL);
    assert_eq!(refused(fd, Some(cq), &[PORT]), Errno::INVAL);
    assert_eq!(
        refused(fd, Some(cq), &[EventType::CQ_ERROR, EventType::OBJECT_CHANGE]),
        Errno::INVAL
    );
    let wide = [Arg::Number(0x1000, fd), Arg::In(0x1002, 0x109u16.to_ne_bytes().to_vec())];
    assert_eq!(program.call(0x1000, 0x1003, &wide).errno(), Errno::INVAL);
}

/// `is_valid_events`: an adapter that says which events there are.
#[test]
fn capabilities_say_which_events_there_are() {
    let program = Program::with_devx();
    let general = CmdHcaCap::new().with_event_cap(true);
    program.adapter.set_page::<page::GeneralDevice>(CapMode::Current, &general);
    let mut events = DeviceEventCap::new();
    events.user_affiliated_events_mut()[0] = (1u64 << 0x27).into();
    events.user_unaffiliated_events_mut()[2] = (1u64 << 1).into();
    program.adapter.set_page::<page::DeviceEvent>(CapMode::Current, &events);
    let file = file(&program, 0).file();
    let (cq, cqn) = program.cq();
    let subscribe = |object, event| subscribe(&program, number(&file), Some(1), object, &[event]);
    subscribe(Some(cq), EventType::OBJECT_CHANGE).ok();
    subscribe(Some(cq), EventType::COMPLETION).ok();
    subscribe(None, EventType(0x81)).ok();
    assert_eq!(subscribe(Some(cq), EventType::CQ_ERROR).errno(), Errno::INVAL);
    assert_eq!(subscribe(None, PORT).errno(), Errno::INVAL);
    // `affiliated_event_header`: the type of the object, and its number.
    let raise = |event| program.adapter.raise_event(event, Some(Handle(cq as u64)), &[]);
    assert_eq!(raise(EventType::OBJECT_CHANGE), 1);
    let eqe = &read_raw(&file, 72)[8..];
    assert_eq!((&eqe[34..36], &eqe[36..40]), (&[0xff, 0x10][..], &cqn.to_be_bytes()[..]));
    assert_eq!(program.adapter.raise_event(EventType(0x81), None, &[]), 1);
}

#[test]
fn subscriptions_end_with_their_object() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    let (cq, _) = program.cq();
    subscribe(&program, number(&file), Some(1), Some(cq), &[EventType::CQ_ERROR]).ok();
    program.destroy(cq).ok();
    assert_eq!(program.cq().0, cq, "another one, with the same handle");
    let told = program.adapter.raise_event(EventType::CQ_ERROR, Some(Handle(cq as u64)), &[]);
    assert_eq!(told, 0);
}

#[test]
#[should_panic(expected = "an event has 64 bytes, or up to 28 of data, and not 29")]
fn an_event_has_a_length() {
    Program::with_devx().adapter.raise_event(PORT, None, &[0; 29]);
}

#[test]
fn subscriptions_to_other_objects_stay() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    let ((first, first_number), (second, second_number)) = (program.cq(), program.cq());
    for (cookie, object) in [(1, first), (2, second)] {
        let types = [EventType::CQ_ERROR];
        subscribe(&program, number(&file), Some(cookie), Some(object), &types).ok();
    }
    let raise =
        |number: u32| program.adapter.raise_event(EventType::CQ_ERROR, None, &number.to_be_bytes());
    assert_eq!((raise(first_number), raise(second_number)), (1, 1));
    program.destroy(first).ok();
    assert_eq!((raise(first_number), raise(second_number)), (0, 1));
}

#[test]
fn nothing_is_left_of_events_when_the_device_goes() {
    let program = Program::with_devx();
    let file = file(&program, 0).file();
    subscribe(&program, number(&file), Some(1), None, &[PORT]).ok();
    program.adapter.raise_event(PORT, None, &[]);
    program.adapter.remove();
    assert_eq!(read_raw(&file, 72), [0; 0], "it is at its end");
}
