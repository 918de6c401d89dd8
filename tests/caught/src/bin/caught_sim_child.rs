//! A program of DEVX on the simulated adapter: with the argument `libmlx5` by the real libmlx5, with
//! `ioctl` by the backend of mlx5-devx that needs none. It checks what comes back, and prints what is
//! refused.
//!
//! It is run with `libmlx5_caught.so` preloaded and `MLX5_CAUGHT_SIM` set. It ends with the exit code
//! 77 if libibverbs or libmlx5 is not installed.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it calls libmlx5, which takes addresses; each block says why it is sound"
)]

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null_mut, with_exposed_provenance_mut};

use libloading::Library;
use libloading::os::unix::Library as Unix;
use mlx5_devx::ioctl::{Access, Device, Events, Page, Queries, Selector, Uar, UarKind, Umem};
use mlx5_devx::libmlx5::{LibMlx5, LoadError, OpenError, devices};
use mlx5_devx::{Cq, Errno, Error, Handle, IndTable, Ioctl, Qp, Srq, SrqNumber, Wq};
use mlx5_devx::{Target, TargetKind, Transport, outcome};
use mlx5_prm::{
    Cqc, Cqn, CreateCqIn, EventType, ModifyCqIn, QpSt, QpState, Qpn, QueryCqIn, QueryCqOut,
    QueryQpIn, QueryRmpIn, QueryRqIn, QueryRqtIn, QueryRqtOutWithRqNum, Rmpn, RqState, Rqn, Rqtn,
    Rst2initQpIn,
};

/// The exit code if a library is not installed.
const NOT_INSTALLED: i32 = 77;

type Address = *mut c_void;

/// Functions of the preloaded library.
struct Caught {
    make: unsafe extern "C" fn(c_int, *mut u32) -> u32,
    raise: unsafe extern "C" fn(u8, *const u8, usize) -> usize,
}

impl Caught {
    fn find() -> Self {
        let this = Unix::this();
        // SAFETY: the types are those of the functions in `sim.rs`.
        let (make, raise) =
            unsafe { (this.get(b"mlx5_caught_make"), this.get(b"mlx5_caught_raise")) };
        // Not preloaded, a command could reach a real adapter.
        let (make, raise) = (make.expect("it is preloaded"), raise.expect("it is preloaded"));
        Caught { make: *make, raise: *raise }
    }

    /// Makes an object of verbs of a kind: its handle and its number.
    fn make(&self, kind: c_int) -> (u32, u32) {
        let mut number = 0;
        // SAFETY: a number and room for one.
        let handle = unsafe { (self.make)(kind, &mut number) };
        assert_ne!(handle, 0, "MLX5_CAUGHT_SIM is set");
        (handle, number)
    }

    /// Makes the adapter tell an error of a CQ (`struct mlx5_eqe_cq_err`).
    fn cq_error(&self, number: Cqn) -> usize {
        let data = number.get().to_be_bytes();
        // SAFETY: an address and its length.
        unsafe { (self.raise)(EventType::CQ_ERROR.0, data.as_ptr(), data.len()) }
    }
}

/// Makes a CQ by DEVX, changes it, asks it, and has a command refused. Gives its handle and number.
fn cq(transport: &dyn Transport, eqn: u32) -> (Handle, Cqn) {
    let context = Cqc::new().with_log_cq_size(6).with_c_eqn_or_apu_element(eqn);
    let create = CreateCqIn::new().with_cq_context(context);
    let mut out = [0; 16];
    let handle = transport.create(create.as_bytes(), &mut out);
    let handle = outcome(create.as_bytes(), &out, handle).expect("a CQ is made");
    let number = u32::from_be_bytes([out[8], out[9], out[10], out[11]]);
    let number = Cqn::try_from(number).expect("a number");
    let target = Target { kind: TargetKind::Devx, handle };

    let modify = ModifyCqIn::new().with_cqn(number).changing_cq_period(16);
    let result = transport.modify(target, modify.as_bytes(), &mut out);
    outcome(modify.as_bytes(), &out, result).expect("it is changed");

    let query = QueryCqIn::new().with_cqn(number);
    let mut long = vec![0; size_of::<QueryCqOut>()];
    let result = transport.query(target, query.as_bytes(), &mut long);
    outcome(query.as_bytes(), &long, result).expect("it is asked");
    check(&long);

    // A bit of the select mask that selects nothing: the firmware refuses.
    let mut bad = modify.as_bytes().to_vec();
    bad[12] = 0x80;
    let result = transport.modify(target, &bad, &mut out);
    println!("{}", outcome(&bad, &out, result).expect_err("refused"));
    assert_eq!(result, Err(Errno::REMOTEIO));

    // Another number than that of the object: the kernel refuses.
    let other = modify.with_cqn(Cqn::new(0xff_ffff));
    let mut out = [0; 16];
    let result = transport.modify(target, other.as_bytes(), &mut out);
    println!("{}", outcome(other.as_bytes(), &out, result).expect_err("refused"));
    (handle, number)
}

/// The answer to a query of that CQ.
fn check(answer: &[u8]) {
    let (answer, _) = QueryCqOut::view_prefix(answer).expect("long enough");
    let context = answer.cq_context();
    assert_eq!((context.log_cq_size(), context.cq_period()), (6, 16));
}

/// Ends the CQ; what is gone is not found.
fn end(transport: &dyn Transport, handle: Handle) {
    transport.destroy(handle).expect("it ends");
    let caps = mlx5_prm::QueryHcaCapIn::new().with_op_mod(1);
    mlx5_devx::general(transport, &caps).expect("the general page");
    // ACCESS_REG does not pass.
    let mut access = [0; 16];
    access[..2].copy_from_slice(&0x805u16.to_be_bytes());
    let result = transport.general(&access, &mut [0; 16]);
    assert_eq!(result, Err(Errno::INVAL));
}

/// Functions of libmlx5, as `infiniband/mlx5dv.h` declares them.
struct Mlx5dv(&'static Library);

/// `struct mlx5dv_devx_cmd_comp` and `struct mlx5dv_devx_event_channel` begin with a descriptor.
type Channel = *mut c_int;

impl Mlx5dv {
    /// # Safety
    /// `F` is the type of the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: by the contract; the library stays loaded.
        *unsafe { self.0.get::<F>(name) }.unwrap_or_else(|e| panic!("{e}"))
    }

    /// A context with DEVX of the first device.
    fn open(&self) -> NonNull<c_void> {
        // SAFETY: it was loaded before, and its constructors ran.
        let verbs = unsafe { Library::new("libibverbs.so.1") }.expect("it is loaded");
        let verbs: &Library = Box::leak(Box::new(verbs));
        let (mut count, mut attr) = (0, [0u64; 8]);
        // `MLX5DV_CONTEXT_FLAGS_DEVX` in the first four bytes; no more fields than the mask says.
        attr[0] = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);
        // SAFETY: the types are those of the declarations; the address of an int; a device of the
        // list; attributes longer than any version reads with this mask.
        let context = unsafe {
            let list: unsafe extern "C" fn(*mut c_int) -> *mut Address =
                *verbs.get("ibv_get_device_list").expect("libibverbs has it");
            let open: unsafe extern "C" fn(Address, *mut [u64; 8]) -> Address =
                self.function("mlx5dv_open_device");
            let devices = list(&mut count);
            assert!(!devices.is_null() && count > 0, "no device");
            open(*devices, &mut attr)
        };
        NonNull::new(context).expect("the device opens")
    }

    fn eqn(&self, context: NonNull<c_void>) -> u32 {
        let mut eqn = 0;
        // SAFETY: the type is that of the declaration; a context, and room for a number.
        let result = unsafe {
            let query: unsafe extern "C" fn(Address, u32, *mut u32) -> c_int =
                self.function("mlx5dv_devx_query_eqn");
            query(context.as_ptr(), 0, &mut eqn)
        };
        assert_eq!(result, 0);
        eqn
    }

    /// Asks a CQ without waiting, and reads the answer.
    fn completion(&self, context: NonNull<c_void>, cq: Handle, number: Cqn) {
        let object: Address = with_exposed_provenance_mut(cq.0 as usize);
        let query = QueryCqIn::new().with_cqn(number);
        let mut answer = vec![0u8; 8 + size_of::<QueryCqOut>()];
        let mut short = vec![0u8; 8];
        // SAFETY: the types are those of the declarations; the context and the object live; the
        // mailboxes have the lengths that are said; the channel is destroyed once.
        unsafe {
            let make: unsafe extern "C" fn(Address) -> Channel =
                self.function("mlx5dv_devx_create_cmd_comp");
            let ask: unsafe extern "C" fn(Address, *const u8, usize, usize, u64, Channel) -> c_int =
                self.function("mlx5dv_devx_obj_query_async");
            let get: unsafe extern "C" fn(Channel, *mut u8, usize) -> c_int =
                self.function("mlx5dv_devx_get_async_cmd_comp");
            let end: unsafe extern "C" fn(Channel) = self.function("mlx5dv_devx_destroy_cmd_comp");
            let channel = make(context.as_ptr());
            assert!(!channel.is_null());
            let query = query.as_bytes();
            let len = size_of::<QueryCqOut>();
            for id in [7, 8] {
                let sent = ask(object, query.as_ptr(), query.len(), len, id, channel);
                assert_eq!(sent, 0);
            }
            for id in [7u64, 8] {
                assert_eq!(get(channel, answer.as_mut_ptr(), answer.len()), 0);
                assert_eq!(answer[..8], id.to_ne_bytes());
                check(&answer[8..]);
            }
            // Nothing is left.
            let flags = libc::fcntl(*channel, libc::F_SETFL, libc::O_NONBLOCK);
            assert_eq!(flags, 0);
            assert_eq!(get(channel, short.as_mut_ptr(), short.len()), libc::EAGAIN);
            end(channel);
        }
    }

    /// Subscribes to errors of a CQ, and reads one.
    fn event(&self, caught: &Caught, context: NonNull<c_void>, cq: Handle, number: Cqn) {
        let object: Address = with_exposed_provenance_mut(cq.0 as usize);
        let mut types = [u16::from(EventType::CQ_ERROR.0)];
        let mut event = [0u8; 8 + 64];
        // SAFETY: the types are those of the declarations; the context and the object live; the
        // list and the event have the lengths that are said; the channel is destroyed once.
        unsafe {
            let make: unsafe extern "C" fn(Address, c_int) -> Channel =
                self.function("mlx5dv_devx_create_event_channel");
            let subscribe: unsafe extern "C" fn(Channel, Address, u16, *mut u16, u64) -> c_int =
                self.function("mlx5dv_devx_subscribe_devx_event");
            let get: unsafe extern "C" fn(Channel, *mut u8, usize) -> isize =
                self.function("mlx5dv_devx_get_event");
            let end: unsafe extern "C" fn(Channel) =
                self.function("mlx5dv_devx_destroy_event_channel");
            let channel = make(context.as_ptr(), 0);
            assert!(!channel.is_null());
            assert_eq!(subscribe(channel, object, 2, types.as_mut_ptr(), 0x1234), 0);
            // An event that comes with no object.
            types[0] = EventType::CQ_ERROR.0.into();
            let refused = subscribe(channel, null_mut(), 2, types.as_mut_ptr(), 1);
            assert_eq!(refused, libc::EINVAL);
            assert_eq!(caught.cq_error(number), 1);
            assert_eq!(get(channel, event.as_mut_ptr(), event.len()), 72);
            end(channel);
        }
        let expected = number.get().to_be_bytes();
        assert_eq!(
            (&event[..8], event[9], &event[40..44]),
            (&0x1234u64.to_ne_bytes()[..], 4, &expected[..])
        );
    }
}

/// An object of verbs in the middle of zeros, as in `caught-child`.
struct Verbs(Vec<u64>);

impl Verbs {
    const MIDDLE: usize = 4096;

    /// One whose handle is at the byte `offset`.
    fn new(context: NonNull<c_void>, offset: usize, handle: u32) -> Self {
        let mut memory = vec![0u64; 2 * Self::MIDDLE];
        memory[Self::MIDDLE] = context.as_ptr() as u64;
        let word = &mut memory[Self::MIDDLE + offset / 8];
        let mut bytes = word.to_ne_bytes();
        bytes[offset % 8..][..4].copy_from_slice(&handle.to_ne_bytes());
        *word = u64::from_ne_bytes(bytes);
        Verbs(memory)
    }

    fn address(&mut self) -> NonNull<c_void> {
        NonNull::from(&mut self.0[Self::MIDDLE]).cast()
    }
}

/// Objects of verbs: they are in the adapter, and commands reach them by their handles.
fn of_verbs(caught: &Caught, transport: &LibMlx5, context: NonNull<c_void>) -> Result<(), Error> {
    let kinds = [
        (TargetKind::Qp, 48),
        (TargetKind::Cq, 24),
        (TargetKind::Srq, 24),
        (TargetKind::Wq, 36),
        (TargetKind::IndTable, 8),
    ];
    let mut objects = Vec::new();
    for (kind, (target, offset)) in kinds.into_iter().enumerate() {
        let (handle, number) = caught.make(kind as c_int);
        let mut verbs = Verbs::new(context, offset, handle);
        // SAFETY: libmlx5 reads the context and the handle alone of such an object, which lives as
        // long as `objects`.
        let adopted = unsafe { transport.adopt(target, verbs.address()) };
        objects.push((adopted, number, verbs));
    }
    let of = |at: usize| (objects[at].0, objects[at].1);

    let (handle, number) = of(0);
    let qp = Qp::new(transport, handle, Qpn::new(number));
    let init = Rst2initQpIn::transition(QpSt::RC).vhca_port_num(1).pkey_index(0);
    let mut init = init.rwe(true).rre(false).rae(false).build()?;
    qp.modify(&mut init)?;
    assert_eq!(qp.query(&mut QueryQpIn::new())?.qpc().state(), QpState::INIT);
    println!("{}", qp.modify(&mut init).expect_err("it is not in RST"));

    let (handle, number) = of(1);
    let cq = Cq::new(transport, handle, Cqn::new(number));
    cq.modify(&mut ModifyCqIn::new().changing_cq_max_count(9))?;
    assert_eq!(cq.query(&mut QueryCqIn::new())?.cq_context().cq_max_count(), 9);

    let (handle, number) = of(2);
    let srq = Srq::new(transport, handle, SrqNumber::Rmp(Rmpn::new(number)));
    srq.query(&mut QueryRmpIn::new())?;

    let (handle, number) = of(3);
    let wq = Wq::new(transport, handle, Rqn::new(number));
    assert_eq!(wq.query(&mut QueryRqIn::new())?.rq_context().state(), RqState::RST);

    let (handle, number) = of(4);
    let table = IndTable::new(transport, handle, Rqtn::new(number));
    let mut buffer = vec![0; QueryRqtOutWithRqNum::size(1)];
    let answer = QueryRqtOutWithRqNum::view_mut(&mut buffer).expect("room for an entry");
    table.query_into(&mut QueryRqtIn::new(), answer)?;
    assert_ne!(answer.tail[0].rq_num(), Rqn::new(0));
    Ok(())
}

fn by_libmlx5(caught: &Caught) {
    if let Err(OpenError::Load(LoadError::Library { soname, reason })) = devices() {
        eprintln!("{soname}: {reason}");
        std::process::exit(NOT_INSTALLED);
    }
    // SAFETY: it was loaded before, and its constructors ran.
    let library = unsafe { Library::new("libmlx5.so.1") }.expect("it is loaded");
    let mlx5 = Mlx5dv(Box::leak(Box::new(library)));
    let context = mlx5.open();
    // SAFETY: it is open, and stays so.
    let transport = unsafe { LibMlx5::from_context(context) }.expect("it was loaded before");
    let (handle, number) = cq(&transport, mlx5.eqn(context));
    mlx5.completion(context, handle, number);
    mlx5.event(caught, context, handle, number);
    end(&transport, handle);
    of_verbs(caught, &transport, context).expect("objects of verbs");
}

fn by_ioctl(caught: &Caught) {
    let sysfs = std::env::var_os("SYSFS_PATH").expect("SYSFS_PATH names the tree");
    let found = Device::find_in(Path::new(&sysfs), Selector::IbName("mlx5_0"));
    let mut device = found.expect("the device is found");
    // An absolute path stays what it is behind /dev/infiniband; the tree of the test has no links.
    device.uverbs = "/dev/zero".to_owned();
    device.driver = Some("mlx5_core".to_owned());
    let ioctl = Ioctl::open(&device).expect("it opens");
    assert_eq!(ioctl.num_comp_vectors(), Some(4));
    let (handle, number) = cq(&ioctl, ioctl.query_eqn(0).expect("its queue"));
    let target = Target { kind: TargetKind::Devx, handle };

    let queries = Queries::new(&ioctl).expect("a channel");
    let query = QueryCqIn::new().with_cqn(number);
    let len = size_of::<QueryCqOut>();
    queries.send(target, query.as_bytes(), len as u16, 7).expect("sent");
    let mut answer = vec![0; len];
    let read = queries.read(&mut answer).expect("an answer");
    assert_eq!((read.id, read.len), (7, len));
    check(&answer);

    let events = Events::new(&ioctl).expect("a channel");
    events.subscribe(Some(handle), &[EventType::CQ_ERROR], 0x1234).expect("subscribed");
    assert_eq!(caught.cq_error(number), 1);
    let event = events.read().expect("an event");
    assert_eq!((event.cookie, event.eqe[1]), (0x1234, 4));
    assert_eq!(event.eqe[32..36], number.get().to_be_bytes());

    let umem = Umem::register(&ioctl, Page::zeroed(2), Access::LOCAL_WRITE, None);
    let uar = Uar::alloc(&ioctl, UarKind::NonCached).expect("a page");
    assert_eq!(uar.mmap_offset(), 0x90_0000);
    drop((umem.expect("registered"), uar));
    end(&ioctl, handle);
}

fn main() {
    let caught = Caught::find();
    match std::env::args().nth(1).as_deref() {
        Some("libmlx5") => by_libmlx5(&caught),
        Some("ioctl") => by_ioctl(&caught),
        other => panic!("{other:?}?"),
    }
}
