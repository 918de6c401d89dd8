//! Makes the calls of `Transport` by one of the backends of mlx5-devx, with the mailboxes and handles
//! of `caught-child`, and writes the same lines around them to the trace.
//!
//! Its argument is the backend: `libmlx5` or `ioctl`; `libmlx5-alone` and `ioctl-alone` make the calls
//! that a backend has beyond the trait, on a context that it opens. It ends with the exit code 77 if
//! libibverbs or libmlx5 is not installed, and is asked for.
//!
//! `functions` prints the names of the DEVX functions that the installed libmlx5 has.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it makes objects as verbs would, for libmlx5 to read; each block says why it is sound"
)]

mod common;

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::Mutex;

use mlx5_devx::ioctl::{Device, Selector};
use mlx5_devx::libmlx5::{LibMlx5, LoadError, OpenError, devices};
use mlx5_devx::{
    Access, CallError, Cookies, Devx, Errno, Events, Handle, Ioctl, Page, Queries, StillThere,
    Target, TargetKind, Transport, Uar, UarKind, Umem,
};
use mlx5_prm::EventType;

use common::{GENERAL, NOT_INSTALLED, OBJECTS, Verbs, caught, do_not_wait, mailbox};

/// The kinds of [`OBJECTS`].
const KINDS: [TargetKind; 5] =
    [TargetKind::Qp, TargetKind::Cq, TargetKind::Srq, TargetKind::Wq, TargetKind::IndTable];

/// The trace, and the calls of a backend.
struct Trace(common::Trace);

impl Trace {
    /// Makes a call, with lines around it.
    fn call<T>(
        &mut self,
        name: &str,
        room: usize,
        call: impl FnOnce(&mut Vec<u8>) -> Result<T, Errno>,
    ) -> Option<T> {
        self.0.call(name);
        // Not zeros: what the call leaves alone shows.
        let mut output = vec![0xee; room];
        let result = call(&mut output);
        let (word, errno) = match &result {
            Ok(_) => ("0", 0),
            Err(errno) => ("errno", errno.raw_os_error()),
        };
        self.0.gave(word, errno, &output);
        result.ok()
    }

    /// Says what address or descriptor of this program a call will be given.
    fn value(&mut self, name: &str, number: u64) {
        self.0.value(name, number);
    }
}

/// All calls of the trait; the targets are those of [`OBJECTS`].
fn calls(transport: &dyn Transport, targets: &[Target], trace: &mut Trace) {
    let create = mailbox(0x400, 280);
    let made = trace.call("obj_create", 16, |out| transport.create(&create, out));
    if let Some(handle) = made {
        let target = Target { kind: TargetKind::Devx, handle };
        let (query, modify) = (mailbox(0x402, 16), mailbox(0x403, 280));
        trace.call("obj_query", 80, |out| transport.query(target, &query, out));
        trace.call("obj_modify", 16, |out| transport.modify(target, &modify, out));
        trace.call("obj_destroy", 0, |_| transport.destroy(handle));
    }
    for (name, input, output) in GENERAL {
        let input = mailbox(0x10a, input);
        trace.call(name, output, |out| transport.general(&input, out));
    }
    for (object, target) in OBJECTS.iter().zip(targets) {
        let name_of = |verb: &str| format!("{}_{verb}", object.name);
        let (opcode, input, output) = object.query;
        let input = mailbox(opcode, input);
        trace.call(&name_of("query"), output, |out| transport.query(*target, &input, out));
        let (opcode, input, output) = object.modify;
        let input = mailbox(opcode, input);
        trace.call(&name_of("modify"), output, |out| transport.modify(*target, &input, out));
    }
}

/// The calls that a backend has beyond the trait, in the order of `caught-child`, so that the handles
/// that they make are the same.
fn beyond_the_trait(devx: &dyn Devx, libmlx5: bool, trace: &mut Trace) {
    let non_cached = |trace: &mut Trace| uar(devx, "alloc_uar, NC", UarKind::NonCached, trace);
    // libmlx5 allots this one when it opens the context.
    let first = if libmlx5 { None } else { non_cached(trace) };
    let create = mailbox(0x400, 280);
    let made = trace.call("obj_create", 16, |out| devx.create(&create, out));
    if let Some(handle) = made {
        queries(devx, handle, trace);
        events(devx, handle, trace);
        trace.call("obj_destroy", 0, |_| devx.destroy(handle));
    }
    trace.call("query_eqn", 0, |out| {
        let eqn = devx.query_eqn(3);
        out.extend(eqn.unwrap_or(0).to_ne_bytes());
        eqn
    });
    umems(devx, trace);
    let blue_flame = uar(devx, "alloc_uar, BF", UarKind::BlueFlame, trace);
    let non_cached = if libmlx5 { non_cached(trace) } else { first };
    if let Some(uar) = blue_flame {
        trace.call("free_uar, BF", 0, |_| uar.free().map_err(given_up));
    }
    match non_cached {
        // libmlx5 keeps this one.
        Some(uar) if libmlx5 => drop(uar),
        Some(uar) => {
            trace.call("free_uar, NC", 0, |_| uar.free().map_err(given_up));
        }
        None => {}
    }
}

/// What is not ended before the trace is.
static KEPT: Mutex<Vec<Box<dyn Send>>> = Mutex::new(Vec::new());

/// Keeps something until [`end`].
fn keep(object: impl Send + 'static) {
    KEPT.lock().expect("no thread panicked").push(Box::new(object));
}

/// Ends the trace, and what was kept.
fn end(mut trace: Trace) {
    trace.0.end();
    KEPT.lock().expect("no thread panicked").clear();
}

/// The errno of something that could not be ended. It is not tried again when it is dropped: libmlx5
/// does not either.
fn given_up<T: std::fmt::Debug + Send + 'static>(still: StillThere<T>) -> Errno {
    keep(still.object);
    still.errno
}

fn uar(devx: &dyn Devx, name: &str, kind: UarKind, trace: &mut Trace) -> Option<Uar> {
    trace.call(name, 0, |out| {
        let uar = Uar::alloc(devx, kind)?;
        // What stands for the device has no memory to write to there.
        assert!(!uar.address().is_null(), "a UAR is mapped");
        out.extend(uar.page_id().get().to_ne_bytes());
        out.extend(uar.mmap_offset().to_ne_bytes());
        Ok(uar)
    })
}

fn queries(devx: &dyn Devx, handle: Handle, trace: &mut Trace) {
    let Some(queries) = trace.call("create_cmd_comp", 0, |_| Queries::new(devx)) else { return };
    let target = Target { kind: TargetKind::Devx, handle };
    let query = mailbox(0x402, 16);
    let sent = trace
        .call("obj_query_async", 0, |_| queries.send(target, &query, 80, 0x1122_3344_5566_7788));
    let long = mailbox(0x402, 0x10000);
    trace.call("obj_query_async, an input of 65536 bytes", 0, |_| {
        queries.send(target, &long, 80, 1)
    });
    let read = |trace: &mut Trace, name: &str| {
        // As libmlx5 gives it: the id in front of the mailbox.
        trace.call(name, 8 + 80, |out| {
            let answer = queries.read(&mut out[8..])?;
            assert_eq!(answer.len, 80);
            out[..8].copy_from_slice(&answer.id.to_ne_bytes());
            Ok(())
        });
    };
    // Without an answer the read would wait for ever.
    if sent.is_some() {
        read(trace, "get_async_cmd_comp");
    }
    do_not_wait(queries.as_fd().as_raw_fd());
    read(trace, "get_async_cmd_comp, none there");
}

fn eventfd() -> File {
    // SAFETY: two numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    assert!(fd >= 0, "eventfd: {}", std::io::Error::last_os_error());
    // SAFETY: a new descriptor that nothing else owns.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

fn events(devx: &dyn Devx, handle: Handle, trace: &mut Trace) {
    let events = trace.call("create_event_channel", 0, |_| Events::new(devx));
    let cookies = trace.call("create_event_channel, without data", 0, |_| Cookies::new(devx));
    let mut subscribed = None;
    if let Some(events) = &events {
        let types = [0x1c, 0x05, 0x07, 0x12, 0x13].map(EventType);
        subscribed = trace.call("subscribe_devx_event", 0, |_| {
            events.subscribe(Some(handle), &types, 0xc00c_1e00_0000_0001)
        });
        trace.call("subscribe_devx_event, 4 types", 0, |_| {
            events.subscribe(Some(handle), &types[..4], 4)
        });
        let file = eventfd();
        trace.value("subscribe_devx_event_fd", file.as_raw_fd() as u64);
        trace.call("subscribe_devx_event_fd", 8, |out| {
            out.fill(0);
            events.subscribe_fd(file.as_fd(), Some(handle), EventType(0x00))?;
            (&file).read_exact(out).expect("the eventfd");
            Ok(())
        });
        trace.call("subscribe_devx_event, no object", 0, |_| {
            events.subscribe(None, &[EventType(0x09)], 2)
        });
    }
    let without_data = cookies.as_ref().and_then(|cookies| {
        trace.call("subscribe_devx_event, without data", 0, |_| {
            cookies.subscribe(None, &[EventType(0x09)], 3)
        })
    });
    if let Some(events) = &events {
        let read = |trace: &mut Trace, name: &str| {
            trace.call(name, 8 + 64, |out| {
                let event = events.read()?;
                out[..8].copy_from_slice(&event.cookie.to_ne_bytes());
                out[8..].copy_from_slice(&event.eqe);
                Ok(())
            });
        };
        // Without an event the read would wait for ever.
        if subscribed.is_some() {
            read(trace, "get_event");
        }
        // What is left: the events of the other subscriptions.
        do_not_wait(events.as_fd().as_raw_fd());
        while events.read().is_ok() {}
        read(trace, "get_event, none there");
    }
    if let (Some(cookies), Some(())) = (&cookies, without_data) {
        trace.call("get_event, without data", 8 + 64, |out| {
            out[..8].copy_from_slice(&cookies.read()?.to_ne_bytes());
            Ok(())
        });
    }
}

fn umems(devx: &dyn Devx, trace: &mut Trace) {
    let with_id = |out: &mut Vec<u8>, umem: Umem| {
        out.extend(umem.id().to_ne_bytes());
        umem
    };
    let errno = |error: CallError| error.errno();
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
    let mut pages = |name: &str| {
        let pages = Page::zeroed(2);
        trace.value(name, pages.as_ptr().expose_provenance() as u64);
        pages
    };
    let (first, second) = (pages("umem_reg"), pages("umem_reg_ex"));
    let umem = trace.call("umem_reg", 0, |out| {
        let umem = Umem::register(devx, first, access, None);
        umem.map(|umem| with_id(out, umem)).map_err(errno)
    });
    let ex = trace.call("umem_reg_ex", 0, |out| {
        let umem = Umem::register(devx, second, Access::LOCAL_WRITE, Some(0x1000));
        umem.map(|umem| with_id(out, umem)).map_err(errno)
    });
    let file = File::open("/dev/null").expect("/dev/null");
    trace.value("umem_reg_ex, dmabuf", file.as_raw_fd() as u64);
    let dmabuf = trace.call("umem_reg_ex, dmabuf", 0, |out| {
        let (fd, access) = (file.as_fd(), Access::LOCAL_WRITE);
        let umem = Umem::register_dmabuf(devx, fd, 0x1000, 8192, access, Some(0x1000));
        umem.map(|umem| with_id(out, umem)).map_err(errno)
    });
    if let Some(umem) = umem {
        trace.call("umem_dereg", 0, |_| umem.deregister().map_err(given_up));
    }
    // libmlx5 leaves them to the kernel too.
    keep((ex, dmabuf));
}

/// A context that `Ioctl` opens by itself, as it opens a device that it found; only that the file is
/// the one that stands for the device: no preloaded function sees that it is opened.
fn opened() -> Result<Ioctl, mlx5_devx::ioctl::OpenError> {
    let sysfs = std::env::var_os("SYSFS_PATH").expect("SYSFS_PATH names the tree");
    let mut device = Device::find_in(Path::new(&sysfs), Selector::IbName("mlx5_0"))?;
    // An absolute path stays what it is behind /dev/infiniband.
    device.uverbs = "/dev/zero".to_owned();
    // The tree of the test has no links, and so no driver.
    device.driver = Some("mlx5_core".to_owned());
    Ioctl::open(&device)
}

/// Prints the names of the DEVX functions that are in the file of the installed libmlx5.
fn functions() {
    drop(installed(devices()));
    let maps = std::fs::read_to_string("/proc/self/maps").expect("it is always there");
    let path = maps
        .lines()
        .filter_map(|line| line.split_once('/'))
        .map(|(_, path)| format!("/{path}"))
        .find(|path| path.contains("/libmlx5.so") || path.contains("/libmlx5-"))
        .expect("libmlx5 is loaded");
    let file = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut names: Vec<&str> = file
        .split(|byte| *byte == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .filter(|word| word.starts_with("mlx5dv_devx_"))
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        println!("{name}");
    }
}

/// Ends when the error is that a library is not installed.
fn installed<T, E: Into<OpenError>>(result: Result<T, E>) -> T {
    match result.map_err(Into::into) {
        Ok(value) => value,
        Err(OpenError::Load(LoadError::Library { soname, reason })) => {
            eprintln!("{soname}: {reason}");
            std::process::exit(NOT_INSTALLED)
        }
        Err(e) => panic!("{e}"),
    }
}

/// The objects of verbs as targets. One of another context is refused.
fn adopted(devx: &dyn Devx, objects: &mut [Verbs; 5]) -> Vec<Target> {
    let mut stranger = Verbs::new(std::ptr::dangling_mut(), &OBJECTS[0]);
    // SAFETY: the context and the handle of such an object are read alone.
    let refused = unsafe { devx.adopt(TargetKind::Qp, stranger.address()) };
    assert_eq!(refused, Err(Errno::INVAL));
    // SAFETY: as above.
    let no_verbs = unsafe { devx.adopt(TargetKind::Devx, objects[0].address()) };
    assert_eq!(no_verbs, Err(Errno::INVAL));
    let adopt = |(kind, verbs): (TargetKind, &mut Verbs)| {
        // SAFETY: libmlx5 and the backends read the context and the handle alone of such an object,
        // which lives until the end.
        let handle = unsafe { devx.adopt(kind, verbs.address()) };
        Target { kind, handle: handle.expect("it is of this context") }
    };
    KINDS.into_iter().zip(objects).map(adopt).collect()
}

fn main() {
    caught();
    let open = || Trace(common::Trace::open());
    match std::env::args().nth(1).as_deref() {
        Some("libmlx5") => {
            assert_eq!(installed(devices()), ["mlx5_0"]);
            let missing = LibMlx5::open("mlx5_9").expect_err("there is no such device");
            assert_eq!(missing.to_string(), "there is no device mlx5_9; there is mlx5_0");
            // One of its own is opened, and closed again.
            drop(installed(LibMlx5::open("mlx5_0")));
            let context = common::context_of_verbs();
            // SAFETY: it is open until the end.
            let transport = installed(unsafe { LibMlx5::from_ibv_context(context) });
            let mut objects = OBJECTS.map(|object| Verbs::new(context.as_ptr(), &object));
            let targets = adopted(&transport, &mut objects);
            let mut trace = open();
            calls(&transport, &targets, &mut trace);
            // What is no object of its own is not given to libmlx5.
            let nothing = Target { kind: TargetKind::Qp, handle: Handle(0x1000) };
            assert_eq!(transport.query(nothing, &[0; 16], &mut [0; 16]), Err(Errno::NOENT));
            let qp = targets[0].handle;
            let other = Target { kind: TargetKind::Cq, handle: qp };
            assert_eq!(transport.query(other, &[0; 16], &mut [0; 16]), Err(Errno::INVAL));
            assert_eq!(transport.destroy(qp), Err(Errno::INVAL));
            assert!(transport.release(qp) && !transport.release(qp));
            let gone = Target { kind: TargetKind::Qp, handle: qp };
            assert_eq!(transport.query(gone, &[0; 16], &mut [0; 16]), Err(Errno::NOENT));
            end(trace);
            drop(transport);
            // SAFETY: it was opened above, and nothing uses it any more.
            unsafe { common::close_of_verbs(context) };
        }
        Some("ioctl") => {
            drop(installed(devices()));
            let context = common::context_of_verbs();
            // SAFETY: it is open until the end.
            let transport = unsafe { Ioctl::from_ibv_context(context) }.expect("a descriptor");
            let mut objects = OBJECTS.map(|object| Verbs::new(context.as_ptr(), &object));
            let targets = adopted(&transport, &mut objects);
            let handles = OBJECTS.map(|object| Handle(object.handle.into()));
            assert!(targets.iter().map(|target| target.handle).eq(handles));
            let mut trace = open();
            calls(&transport, &targets, &mut trace);
            end(trace);
            drop(transport);
            // SAFETY: it was opened above, and nothing uses it any more.
            unsafe { common::close_of_verbs(context) };
        }
        Some("ioctl-alone") => match opened() {
            Ok(ioctl) => {
                let mut trace = open();
                beyond_the_trait(&ioctl, false, &mut trace);
                end(trace);
            }
            Err(e) => {
                eprintln!("the device does not open: {e}");
                std::process::exit(1)
            }
        },
        Some("libmlx5-alone") => {
            let libmlx5 = installed(LibMlx5::open("mlx5_0"));
            let mut trace = open();
            beyond_the_trait(&libmlx5, true, &mut trace);
            end(trace);
        }
        Some("functions") => functions(),
        other => panic!("no backend is called {other:?}"),
    }
}
