//! Files of events and answers that the program closes: nothing of them stays.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use mlx5_devx::ioctl::Kernel;
use mlx5_devx::wire::Request;
use mlx5_devx::{Devx, Errno, Events, Ioctl, Queries};
use mlx5_prm::EventType;
use mlx5_sim::{Adapter, Uverbs};
use rustix::net::{Shutdown, shutdown};

const PORT: EventType = EventType::PORT_STATE_CHANGE;
const SUBSCRIBED: [u16; 1] = [PORT.0 as u16];

fn open(adapter: &Adapter) -> Uverbs {
    let uverbs = Uverbs::open(adapter);
    Ioctl::on(uverbs.clone()).expect("a context");
    uverbs
}

fn event_file(uverbs: &Uverbs) -> OwnedFd {
    uverbs.make_file(&mut Request::async_event_fd_alloc(0)).expect("a file")
}

fn subscribe(uverbs: &Uverbs, file: i32) -> Result<(), Errno> {
    uverbs.call(&mut Request::subscribe_event(file, 1, None, &SUBSCRIBED))
}

#[test]
fn a_device_file_ends_with_its_channels_alone() {
    let adapter = Adapter::new();
    let [first, second] = [(), ()].map(|()| open(&adapter));
    let files = [&first, &second].map(event_file);
    for (uverbs, file) in [&first, &second].into_iter().zip(&files) {
        subscribe(uverbs, file.as_raw_fd()).expect("subscribed");
    }
    assert_eq!(adapter.raise_event(PORT, None, &[]), 2);
    drop(first);
    assert_eq!(adapter.raise_event(PORT, None, &[]), 1);
    let read = || second.read(files[1].as_fd(), &mut [0; 72]);
    assert_eq!((read(), read()), (Ok(72), Ok(72)));
    drop(second);
    assert_eq!(adapter.raise_event(PORT, None, &[]), 0);
}

#[test]
fn a_device_file_has_a_number() {
    let adapter = Adapter::new();
    let [first, second] = [(), ()].map(|()| format!("{:?}", Uverbs::open(&adapter)));
    assert_eq!((&*first, &*second), ("Uverbs { number: 1, .. }", "Uverbs { number: 2, .. }"));
}

fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("it is mounted").count()
}

#[test]
fn channels_leave_nothing_behind() {
    const ROUNDS: usize = 2000;
    let adapter = Adapter::new();
    let devx = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    let before = files();
    let mut most = 0;
    for _ in 0..ROUNDS {
        let events = Events::new(&devx).expect("a channel");
        let queries = Queries::new(&devx).expect("a channel");
        events.subscribe(None, &[PORT], 1).expect("subscribed");
        assert_eq!(adapter.raise_event(PORT, None, &[]), 1, "those before are gone");
        assert_eq!(events.wait(Some(Duration::ZERO)), Ok(true));
        drop((events, queries));
        most = most.max(files());
    }
    assert_eq!(adapter.raise_event(PORT, None, &[]), 0);
    // Other tests have files, too.
    assert!(most < before + 100, "{before} and then {most}");
    assert!(files() < before + 100);
}

#[test]
fn subscriptions_of_an_eventfd_end_with_their_channel() {
    let adapter = Adapter::new();
    let devx: &dyn Devx = &Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    let eventfd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).expect("one");
    let events = Events::new(devx).expect("a channel");
    events.subscribe_fd(eventfd.as_fd(), None, PORT).expect("subscribed");
    assert_eq!(adapter.raise_event(PORT, None, &[]), 1);
    drop(events);
    assert_eq!(adapter.raise_event(PORT, None, &[]), 0);
}

#[test]
fn a_number_of_a_closed_file_is_none() {
    let uverbs = open(&Adapter::new());
    let file = event_file(&uverbs);
    let number = file.as_raw_fd();
    subscribe(&uverbs, number).expect("subscribed");
    drop(file);
    assert_eq!(subscribe(&uverbs, number), Err(Errno::BADF));
}

#[test]
fn a_duplicate_keeps_a_file_open() {
    let adapter = Adapter::new();
    let uverbs = open(&adapter);
    let file = event_file(&uverbs);
    let number = file.as_raw_fd();
    subscribe(&uverbs, number).expect("subscribed");
    // A high number, so that the lower one is free for the next file.
    let copy = rustix::io::fcntl_dupfd_cloexec(&file, 500).expect("a duplicate");
    drop(file);
    let another = event_file(&uverbs);
    subscribe(&uverbs, another.as_raw_fd()).expect("subscribed");
    assert_eq!(adapter.raise_event(PORT, None, &[]), 2);
    let mut buffer = [0; 72];
    assert_eq!(uverbs.read(copy.as_fd(), &mut buffer), Ok(72));
    assert_eq!(uverbs.read(another.as_fd(), &mut buffer), Ok(72));
    drop(copy);
    assert_eq!(adapter.raise_event(PORT, None, &[]), 1, "the other one");
}

#[test]
fn a_file_that_is_shut_down_is_at_its_end() {
    for how in [Shutdown::Read, Shutdown::Both] {
        let adapter = Adapter::new();
        let uverbs = open(&adapter);
        let file = event_file(&uverbs);
        subscribe(&uverbs, file.as_raw_fd()).expect("subscribed");
        adapter.raise_event(PORT, None, &[]);
        shutdown(&file, how).expect("it is a socket");
        adapter.raise_event(PORT, None, &[]);
        let mut buffer = [0; 72];
        let mut read = || uverbs.read(file.as_fd(), &mut buffer);
        assert_eq!((read(), read(), read()), (Ok(72), Err(Errno::IO), Err(Errno::IO)));
    }
}

/// A read that waits when the file is shut down.
#[test]
fn a_shutdown_ends_a_wait() {
    let uverbs = open(&Adapter::new());
    let file = event_file(&uverbs);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| uverbs.read(file.as_fd(), &mut [0; 72]));
        std::thread::sleep(Duration::from_millis(20));
        shutdown(&file, Shutdown::Both).expect("it is a socket");
        assert_eq!(waits.join().expect("it ends"), Err(Errno::IO));
    });
}
