//! A program of DEVX on the simulated adapter: with the argument `libmlx5` by the real libmlx5, with
//! `ioctl` by the backend of mlx5-devx that needs none. What it does is in `scenario`; it prints what
//! came of it: of `commands`, which it also records, and checks that the recording gives the same; or,
//! with a second argument, of what is `beyond`, or of `exports`.
//!
//! It is run with `libmlx5_caught.so` preloaded and `MLX5_CAUGHT_SIM` set. It ends with the exit code
//! 77 if libibverbs or libmlx5 is not installed.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it calls the preloaded library and libmlx5; each block says why it is sound"
)]

#[allow(dead_code, reason = "the other programs use the rest")]
mod common;
#[path = "../../scenario/mod.rs"]
mod scenario;

use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd};

use libloading::os::unix::{Library as Unix, Symbol};
use mlx5_devx::record::{Recorder, Recording, Replayer};
use mlx5_devx::{Devx, Errno, Ioctl, LibMlx5, TargetKind};
use mlx5_prm::{Cqn, EventType};

use common::{OBJECTS, Verbs, caught};
use mlx5_sim::Refusals;
use scenario::{Hooks, OfVerbs, Replayed, beyond, commands, exports};

/// Functions of the preloaded library.
struct Caught {
    make: Symbol<unsafe extern "C" fn(c_int, *mut u32) -> u32>,
    raise: Symbol<unsafe extern "C" fn(u8, *const u8, usize) -> usize>,
    refuse_next: Symbol<extern "C" fn(c_int)>,
    set_refusals: Symbol<extern "C" fn(c_int)>,
    remove: Symbol<extern "C" fn()>,
}

impl Caught {
    fn find() -> Self {
        let this = Unix::this();
        // SAFETY: the types are those of the functions in `sim.rs`.
        unsafe {
            Caught {
                make: this.get(b"mlx5_caught_make").expect("it is preloaded"),
                raise: this.get(b"mlx5_caught_raise").expect("it is preloaded"),
                refuse_next: this.get(b"mlx5_caught_refuse_next").expect("it is preloaded"),
                set_refusals: this.get(b"mlx5_caught_set_refusals").expect("it is preloaded"),
                remove: this.get(b"mlx5_caught_remove").expect("it is preloaded"),
            }
        }
    }

    /// Makes an object of verbs of a kind: its handle and its number.
    fn make(&self, kind: usize) -> (u32, u32) {
        let mut number = 0;
        // SAFETY: a number and room for one.
        let handle = unsafe { (self.make)(kind as c_int, &mut number) };
        assert_ne!(handle, 0, "MLX5_CAUGHT_SIM is set");
        (handle, number)
    }
}

impl Hooks for Caught {
    fn refuse_next(&self, errno: Errno) {
        (self.refuse_next)(errno.raw_os_error());
    }

    fn set_refusals(&self, refusals: Refusals) {
        (self.set_refusals)(refusals as c_int);
    }

    fn cq_error(&self, number: Cqn) -> usize {
        // `struct mlx5_eqe_cq_err`.
        let data = number.get().to_be_bytes();
        // SAFETY: an address and its length.
        unsafe { (self.raise)(EventType::CQ_ERROR.0, data.as_ptr(), data.len()) }
    }

    fn remove(&self) {
        (self.remove)();
    }
}

fn eventfd() -> OwnedFd {
    // SAFETY: two numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    assert!(fd >= 0, "eventfd: {}", std::io::Error::last_os_error());
    // SAFETY: a new descriptor that nothing else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// All of it on one context, whose objects of verbs are in `objects`. `guest` is that context again.
fn run(
    devx: &dyn Devx,
    guest: &dyn Devx,
    hooks: &Caught,
    objects: &mut [Verbs; 5],
    numbers: [u32; 5],
) {
    match std::env::args().nth(2).as_deref() {
        Some("beyond") => return print!("{}", beyond(devx, hooks, eventfd())),
        Some("exports") => return print!("{}", exports(devx, guest)),
        _ => {}
    }
    let kinds =
        [TargetKind::Qp, TargetKind::Cq, TargetKind::Srq, TargetKind::Wq, TargetKind::IndTable];
    let mut handles = kinds.into_iter().zip(objects).map(|(kind, verbs)| {
        // SAFETY: the context and the handle of such an object are read alone; it lives until the end.
        unsafe { devx.adopt(kind, verbs.address()) }.expect("of this context")
    });
    let of_verbs: OfVerbs = numbers.map(|number| (handles.next().expect("five"), number));
    let recorder = Recorder::new(devx, Vec::new());
    let said = commands(&recorder, &of_verbs, hooks);
    print!("{said}");
    let text = String::from_utf8(recorder.finish().expect("a Vec takes all")).expect("text");
    let recording: Recording = text.parse().expect("a recording");
    let replayer = Replayer::strict(recording);
    assert_eq!(commands(&replayer, &of_verbs, &Replayed), said, "{:?}", replayer.mismatch());
    replayer.finish().expect("every call is made again");
}

fn main() {
    caught();
    let hooks = Caught::find();
    let context = common::context_of_verbs();
    let made: [(u32, u32); 5] = std::array::from_fn(|kind| hooks.make(kind));
    let mut objects: [Verbs; 5] = std::array::from_fn(|at| {
        Verbs::new(context.as_ptr(), &common::Object { handle: made[at].0, ..OBJECTS[at] })
    });
    let numbers = made.map(|(_, number)| number);
    match std::env::args().nth(1).as_deref() {
        Some("libmlx5") => {
            // SAFETY: it is open until the end.
            let [libmlx5, guest] = [0; 2].map(|_| unsafe { LibMlx5::from_ibv_context(context) });
            let libmlx5 = libmlx5.expect("it was loaded before");
            let guest = guest.expect("it was loaded before");
            run(&libmlx5, &guest, &hooks, &mut objects, numbers);
        }
        Some("ioctl") => {
            // SAFETY: as above.
            let [ioctl, guest] =
                [0; 2].map(|_| unsafe { Ioctl::from_ibv_context(context) }.expect("a descriptor"));
            run(&ioctl, &guest, &hooks, &mut objects, numbers);
        }
        other => panic!("{other:?}?"),
    }
    // SAFETY: the backends are gone.
    unsafe { common::close_of_verbs(context) };
}
