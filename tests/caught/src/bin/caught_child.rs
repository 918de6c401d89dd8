//! Opens the first device with libmlx5 and makes each DEVX call once. Its arguments are the names of
//! calls; without any it makes all. What works on an object or a channel is left out with the call
//! that makes it.
//!
//! It is run with `libmlx5_caught.so` preloaded, and writes two lines around the ioctls of a call to
//! the same trace: `call <name>`, and `gave <result> <errno> <output>`, with tabs between. The result
//! is that of the function; for a function that gives an address it is 0 or `null`. A line
//! `value <call> <number>` says what address or descriptor of this program the call will be given.
//!
//! It ends with the exit code 77 if libibverbs or libmlx5 is not installed.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it calls libmlx5, which takes addresses; each block says why it is sound"
)]

mod common;

use std::env;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Error;
use std::os::fd::AsRawFd;
use std::ptr::{null_mut, without_provenance_mut};

use libloading::Library;

use common::{GENERAL, NOT_INSTALLED, OBJECTS, Trace, Verbs, caught, do_not_wait, mailbox};

/// `MLX5DV_CONTEXT_FLAGS_DEVX`.
const CONTEXT_FLAGS_DEVX: u32 = 1;
/// `MLX5DV_UMEM_MASK_DMABUF`.
const UMEM_MASK_DMABUF: u64 = 1;
/// `MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA`.
const OMIT_EV_DATA: c_int = 1;
/// `MLX5DV_UAR_ALLOC_TYPE_BF` and `MLX5DV_UAR_ALLOC_TYPE_NC`.
const UAR_TYPES: [u32; 2] = [0, 1];

/// `struct mlx5dv_context_attr`.
#[repr(C)]
struct ContextAttr {
    flags: u32,
    comp_mask: u64,
    /// Newer versions have an array of descriptors here.
    more: [u64; 4],
}

/// `struct mlx5dv_devx_umem_in`.
#[repr(C)]
struct UmemIn {
    addr: *mut c_void,
    size: usize,
    access: u32,
    pgsz_bitmap: u64,
    comp_mask: u64,
    dmabuf_fd: c_int,
}

/// `struct mlx5dv_devx_umem`.
#[repr(C)]
struct Umem {
    umem_id: u32,
}

/// `struct mlx5dv_devx_uar`.
#[repr(C)]
struct Uar {
    reg_addr: *mut c_void,
    base_addr: *mut c_void,
    page_id: u32,
    mmap_off: i64,
    comp_mask: u64,
}

/// `struct mlx5dv_devx_cmd_comp` and `struct mlx5dv_devx_event_channel`.
#[repr(C)]
struct Channel {
    fd: c_int,
}

type Handle = *mut c_void;
type In = *const c_void;
type Out = *mut c_void;

/// A function of a library.
///
/// # Safety
/// `F` is its type.
unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> F {
    // SAFETY: by the contract.
    *unsafe { library.get::<F>(name) }.unwrap_or_else(|e| panic!("{e}"))
}

macro_rules! functions {
    ($( fn $name:ident($($arg:ty),*) $(-> $result:ty)?; )*) => {
        /// The functions of libmlx5, as `infiniband/mlx5dv.h` declares them.
        struct Mlx5dv {
            $( $name: unsafe extern "C" fn($($arg),*) $(-> $result)?, )*
        }

        impl Mlx5dv {
            /// # Panics
            /// If a function is missing.
            fn of(library: &'static Library) -> Self {
                $(
                    // SAFETY: the type is that of the declaration in mlx5dv.h, and the library is
                    // never unloaded.
                    let $name = unsafe {
                        function::<unsafe extern "C" fn($($arg),*) $(-> $result)?>(
                            library,
                            concat!("mlx5dv_", stringify!($name)),
                        )
                    };
                )*
                Mlx5dv { $( $name ),* }
            }
        }
    };
}

functions! {
    fn open_device(Handle, *mut ContextAttr) -> Handle;
    fn devx_obj_create(Handle, In, usize, Out, usize) -> Handle;
    fn devx_obj_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_obj_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_obj_destroy(Handle) -> c_int;
    fn devx_general_cmd(Handle, In, usize, Out, usize) -> c_int;
    fn devx_qp_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_qp_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_cq_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_cq_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_srq_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_srq_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_wq_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_wq_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_ind_tbl_query(Handle, In, usize, Out, usize) -> c_int;
    fn devx_ind_tbl_modify(Handle, In, usize, Out, usize) -> c_int;
    fn devx_create_cmd_comp(Handle) -> *mut Channel;
    fn devx_destroy_cmd_comp(*mut Channel);
    fn devx_obj_query_async(Handle, In, usize, usize, u64, *mut Channel) -> c_int;
    fn devx_get_async_cmd_comp(*mut Channel, Out, usize) -> c_int;
    fn devx_umem_reg(Handle, *mut c_void, usize, u32) -> *mut Umem;
    fn devx_umem_reg_ex(Handle, *mut UmemIn) -> *mut Umem;
    fn devx_umem_dereg(*mut Umem) -> c_int;
    fn devx_alloc_uar(Handle, u32) -> *mut Uar;
    fn devx_free_uar(*mut Uar);
    fn devx_query_eqn(Handle, u32, *mut u32) -> c_int;
    fn devx_create_event_channel(Handle, c_int) -> *mut Channel;
    fn devx_destroy_event_channel(*mut Channel);
    fn devx_subscribe_devx_event(*mut Channel, Handle, u16, *mut u16, u64) -> c_int;
    fn devx_subscribe_devx_event_fd(*mut Channel, c_int, Handle, u16) -> c_int;
    fn devx_get_event(*mut Channel, Out, usize) -> isize;
}

/// What a call gave: its result, and what it wrote.
type Gave = (String, Vec<u8>);

/// The calls, their names those of libmlx5 without `mlx5dv_devx_`; the last one is of libibverbs.
const CALLS: &[&str] = &[
    "obj_create",
    "obj_query",
    "obj_modify",
    "obj_query_async",
    "obj_query_async, an input of 65536 bytes",
    "general_cmd",
    "general_cmd, 8 bytes each",
    "general_cmd, 65535 bytes each",
    "general_cmd, an input of 65536 bytes",
    "qp_query",
    "qp_modify",
    "cq_query",
    "cq_modify",
    "srq_query",
    "srq_modify",
    "wq_query",
    "wq_modify",
    "ind_tbl_query",
    "ind_tbl_modify",
    "create_cmd_comp",
    "get_async_cmd_comp",
    "get_async_cmd_comp, none there",
    "umem_reg",
    "umem_reg_ex",
    "umem_reg_ex, dmabuf",
    "umem_dereg",
    "alloc_uar, BF",
    "alloc_uar, NC",
    "free_uar, BF",
    "query_eqn",
    "create_event_channel",
    "create_event_channel, without data",
    "subscribe_devx_event",
    "subscribe_devx_event, 4 types",
    "subscribe_devx_event, no object",
    "subscribe_devx_event, without data",
    "subscribe_devx_event_fd",
    "get_event",
    "get_event, none there",
    "get_event, without data",
    "obj_destroy",
    "close_device",
];

struct Child {
    dv: Mlx5dv,
    context: Handle,
    trace: Trace,
    /// The calls to make.
    wanted: Vec<String>,
}

impl Child {
    /// Makes a call, with lines around it.
    fn call(&mut self, name: &str, call: impl FnOnce(&Mlx5dv, Handle) -> Gave) {
        assert!(CALLS.contains(&name), "{name} is not in the list");
        if !self.wanted.is_empty() && !self.wanted.iter().any(|w| w == name) {
            return;
        }
        self.trace.call(name);
        let (result, output) = call(&self.dv, self.context);
        let errno = Error::last_os_error().raw_os_error().unwrap_or(0);
        // A call that gave no error leaves the errno of an older one.
        let errno = if matches!(result.as_str(), "null" | "-1") { errno } else { 0 };
        self.trace.gave(&result, errno, &output);
    }

    /// A call with two mailboxes.
    fn mailboxes(
        &mut self,
        name: &str,
        input: &[u8],
        output: usize,
        call: impl FnOnce(&Mlx5dv, Handle, In, usize, Out, usize) -> String,
    ) {
        self.call(name, |dv, context| {
            // Not zeros: what the call leaves alone shows.
            let mut out = vec![0xee; output];
            let result = call(
                dv,
                context,
                input.as_ptr().cast(),
                input.len(),
                out.as_mut_ptr().cast(),
                out.len(),
            );
            (result, out)
        });
    }
}

fn number(result: impl ToString) -> String {
    result.to_string()
}

/// 0, or `null`: an address says no more.
fn not_null<T>(address: *const T) -> String {
    if address.is_null() { "null".to_owned() } else { "0".to_owned() }
}

fn library(name: &str) -> &'static Library {
    // SAFETY: libibverbs and libmlx5 may be loaded at any time: their constructors register
    // themselves, and nothing else.
    match unsafe { Library::new(name) } {
        Ok(library) => Box::leak(Box::new(library)),
        Err(e) => {
            eprintln!("{name}: {e}");
            std::process::exit(NOT_INSTALLED)
        }
    }
}

/// The first device of `ibv_get_device_list`, which stays held.
fn first_device(verbs: &'static Library) -> Handle {
    // SAFETY: the type is that of the declaration in verbs.h.
    let list: unsafe extern "C" fn(*mut c_int) -> *mut Handle =
        unsafe { function(verbs, "ibv_get_device_list") };
    let mut count = 0;
    // SAFETY: the address of an int.
    let devices = unsafe { list(&mut count) };
    assert!(!devices.is_null() && count > 0, "no device: {}", Error::last_os_error());
    // SAFETY: an array of `count` addresses, and a null behind them.
    unsafe { *devices }
}

fn main() {
    caught();
    let wanted: Vec<String> = env::args().skip(1).collect();
    for name in &wanted {
        assert!(CALLS.contains(&&name[..]), "no call has the name {name:?}");
    }
    let (verbs, mlx5) = (library("libibverbs.so.1"), library("libmlx5.so.1"));
    let trace = Trace::open();
    let device = first_device(verbs);
    let dv = Mlx5dv::of(mlx5);

    let mut attr = ContextAttr { flags: CONTEXT_FLAGS_DEVX, comp_mask: 0, more: [0; 4] };
    // SAFETY: a device of the list, and attributes longer than any version reads with this mask.
    let context = unsafe { (dv.open_device)(device, &mut attr) };
    assert!(!context.is_null(), "the device does not open: {}", Error::last_os_error());

    let mut child = Child { dv, context, trace, wanted };
    objects_and_general(&mut child);
    interop(&mut child);
    umems_and_uars(&mut child);
    child.call("close_device", |_, context| {
        // SAFETY: the type is that of the declaration in verbs.h.
        let close: unsafe extern "C" fn(Handle) -> c_int =
            unsafe { function(verbs, "ibv_close_device") };
        // SAFETY: the context is not used after this, nor is what was made in it.
        (number(unsafe { close(context) }), Vec::new())
    });
}

/// `obj_*`, `general_cmd`, `query_eqn`, and the channels, which need an object.
fn objects_and_general(child: &mut Child) {
    let mut object = null_mut();
    child.mailboxes("obj_create", &mailbox(0x400, 280), 16, |dv, context, i, il, o, ol| {
        // SAFETY: the addresses and lengths of two mailboxes.
        object = unsafe { (dv.devx_obj_create)(context, i, il, o, ol) };
        not_null(object)
    });
    if !object.is_null() {
        on_object(child, object);
    }

    for (name, input, output) in GENERAL {
        child.mailboxes(name, &mailbox(0x10a, input), output, |dv, context, i, il, o, ol| {
            // SAFETY: the addresses and lengths of two mailboxes.
            number(unsafe { (dv.devx_general_cmd)(context, i, il, o, ol) })
        });
    }

    child.call("query_eqn", |dv, context| {
        let mut eqn = 0;
        // SAFETY: the address of a u32.
        let result = unsafe { (dv.devx_query_eqn)(context, 3, &mut eqn) };
        (number(result), eqn.to_ne_bytes().to_vec())
    });
}

fn on_object(child: &mut Child, object: Handle) {
    child.mailboxes("obj_query", &mailbox(0x402, 16), 80, |dv, _, i, il, o, ol| {
        // SAFETY: an object of this context, and the addresses and lengths of two mailboxes.
        number(unsafe { (dv.devx_obj_query)(object, i, il, o, ol) })
    });
    child.mailboxes("obj_modify", &mailbox(0x403, 280), 16, |dv, _, i, il, o, ol| {
        // SAFETY: as before.
        number(unsafe { (dv.devx_obj_modify)(object, i, il, o, ol) })
    });
    asynchronous(child, object);
    events(child, object);
    child.call("obj_destroy", |dv, _| {
        // SAFETY: the object is not used after this, the last call with it.
        (number(unsafe { (dv.devx_obj_destroy)(object) }), Vec::new())
    });
}

fn asynchronous(child: &mut Child, object: Handle) {
    let mut channel: *mut Channel = null_mut();
    child.call("create_cmd_comp", |dv, context| {
        // SAFETY: an open context.
        channel = unsafe { (dv.devx_create_cmd_comp)(context) };
        (not_null(channel), Vec::new())
    });
    if channel.is_null() {
        return;
    }
    let input = mailbox(0x402, 16);
    let mut sent = false;
    child.call("obj_query_async", |dv, _| {
        let (at, length) = (input.as_ptr().cast(), input.len());
        // SAFETY: an object and a channel of one context, and the address and length of a mailbox.
        let result = unsafe {
            (dv.devx_obj_query_async)(object, at, length, 80, 0x1122_3344_5566_7788, channel)
        };
        sent = result == 0;
        (number(result), Vec::new())
    });
    let long = mailbox(0x402, 0x10000);
    child.call("obj_query_async, an input of 65536 bytes", |dv, _| {
        let (at, length) = (long.as_ptr().cast(), long.len());
        // SAFETY: as before.
        let result = unsafe { (dv.devx_obj_query_async)(object, at, length, 80, 1, channel) };
        (number(result), Vec::new())
    });
    // Without a completion the read would wait for ever.
    if sent {
        child.call("get_async_cmd_comp", |dv, _| {
            let mut completion = vec![0xee; 8 + 80];
            // SAFETY: a channel, and the address and length of a buffer.
            let result = unsafe {
                (dv.devx_get_async_cmd_comp)(channel, completion.as_mut_ptr().cast(), 8 + 80)
            };
            (number(result), completion)
        });
    }
    child.call("get_async_cmd_comp, none there", |dv, _| {
        // SAFETY: a channel that was made.
        do_not_wait(unsafe { (*channel).fd });
        let mut completion = vec![0xee; 8 + 80];
        let to = completion.as_mut_ptr().cast();
        // SAFETY: a channel, and the address and length of a buffer.
        let result = unsafe { (dv.devx_get_async_cmd_comp)(channel, to, 8 + 80) };
        (number(result), completion)
    });
    // SAFETY: the channel is not used after this.
    unsafe { (child.dv.devx_destroy_cmd_comp)(channel) };
}

fn events(child: &mut Child, object: Handle) {
    let mut channels: [*mut Channel; 2] = [null_mut(); 2];
    for (channel, (name, flags)) in channels
        .iter_mut()
        .zip([("create_event_channel", 0), ("create_event_channel, without data", OMIT_EV_DATA)])
    {
        child.call(name, |dv, context| {
            // SAFETY: an open context.
            *channel = unsafe { (dv.devx_create_event_channel)(context, flags) };
            (not_null(*channel), Vec::new())
        });
    }
    let [with_data, without_data] = channels;
    let mut subscribed = [false; 2];
    if !with_data.is_null() {
        child.call("subscribe_devx_event", |dv, _| {
            let mut events = [0x1c, 0x05, 0x07, 0x12, 0x13]; // 10 bytes: by a pointer
            // SAFETY: a channel and an object of one context, and the address and length of an array.
            let result = unsafe {
                (dv.devx_subscribe_devx_event)(
                    with_data,
                    object,
                    10,
                    events.as_mut_ptr(),
                    0xc00c_1e00_0000_0001,
                )
            };
            subscribed[0] = result == 0;
            (number(result), Vec::new())
        });
        child.call("subscribe_devx_event, 4 types", |dv, _| {
            let mut events = [0x1c, 0x05, 0x07, 0x12]; // 8 bytes: in place
            let (at, length) = (events.as_mut_ptr(), 8);
            // SAFETY: as before.
            let result =
                unsafe { (dv.devx_subscribe_devx_event)(with_data, object, length, at, 4) };
            (number(result), Vec::new())
        });
        let eventfd = eventfd();
        child.trace.value("subscribe_devx_event_fd", eventfd.as_raw_fd() as u64);
        child.call("subscribe_devx_event_fd", |dv, _| {
            // SAFETY: a channel and an object of one context.
            let result = unsafe {
                (dv.devx_subscribe_devx_event_fd)(with_data, eventfd.as_raw_fd(), object, 0x00)
            };
            let mut count = vec![0; 8];
            if result == 0 {
                std::io::Read::read_exact(&mut &eventfd, &mut count).expect("the eventfd");
            }
            (number(result), count)
        });
    }
    let on_no_object = [
        (with_data, "subscribe_devx_event, no object", 2),
        (without_data, "subscribe_devx_event, without data", 3),
    ];
    for (channel, name, cookie) in on_no_object.into_iter().filter(|c| !c.0.is_null()) {
        child.call(name, |dv, _| {
            let mut events = [0x09]; // 2 bytes: in place
            let (at, length) = (events.as_mut_ptr(), 2);
            // SAFETY: a channel, and the address and length of an array.
            let result =
                unsafe { (dv.devx_subscribe_devx_event)(channel, null_mut(), length, at, cookie) };
            subscribed[usize::from(channel == without_data)] |= result == 0;
            (number(result), Vec::new())
        });
    }
    let get = |child: &mut Child, name: &str, channel: *mut Channel| {
        child.call(name, |dv, _| {
            let mut event = vec![0xee; 8 + 64];
            let to = event.as_mut_ptr().cast();
            // SAFETY: a channel, and the address and length of a buffer.
            (number(unsafe { (dv.devx_get_event)(channel, to, 8 + 64) }), event)
        });
    };
    // Without an event the read would wait for ever.
    if subscribed[0] {
        get(child, "get_event", with_data);
    }
    if !with_data.is_null() {
        // What is left: the events of the other subscriptions.
        // SAFETY: a channel that was made.
        let fd = unsafe { (*with_data).fd };
        do_not_wait(fd);
        empty(fd);
        get(child, "get_event, none there", with_data);
    }
    if subscribed[1] {
        get(child, "get_event, without data", without_data);
    }
    for channel in channels.into_iter().filter(|c| !c.is_null()) {
        // SAFETY: the channel is not used after this.
        unsafe { (child.dv.devx_destroy_event_channel)(channel) };
    }
}

/// Reads what there is on a channel that does not wait.
fn empty(fd: c_int) {
    let mut message = [0u8; 128];
    // SAFETY: the address and the length are those of the array.
    while unsafe { libc::read(fd, message.as_mut_ptr().cast(), message.len()) } > 0 {}
}

fn eventfd() -> File {
    // SAFETY: two numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    assert!(fd >= 0, "eventfd: {}", Error::last_os_error());
    // SAFETY: a new descriptor that nothing else owns.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

/// The ten calls on objects of verbs.
fn interop(child: &mut Child) {
    let dv = &child.dv;
    // In the order of `OBJECTS`.
    let functions = [
        (dv.devx_qp_query, dv.devx_qp_modify),
        (dv.devx_cq_query, dv.devx_cq_modify),
        (dv.devx_srq_query, dv.devx_srq_modify),
        (dv.devx_wq_query, dv.devx_wq_modify),
        (dv.devx_ind_tbl_query, dv.devx_ind_tbl_modify),
    ];
    for (object, (query, modify)) in OBJECTS.iter().zip(functions) {
        for (verb, function, (opcode, input, output)) in
            [("query", query, object.query), ("modify", modify, object.modify)]
        {
            let name = format!("{}_{verb}", object.name);
            let input = mailbox(opcode, input);
            child.mailboxes(&name, &input, output, |_, context, i, il, o, ol| {
                let mut verbs = Verbs::new(context, object);
                // SAFETY: an object with an open context, and the addresses and lengths of two
                // mailboxes.
                number(unsafe { function(verbs.address().as_ptr(), i, il, o, ol) })
            });
        }
    }
}

fn umems_and_uars(child: &mut Child) {
    let mut memory = vec![0u64; 1024];
    let (at, size) = (memory.as_mut_ptr().cast::<c_void>(), 8192);
    let mut umem: *mut Umem = null_mut();
    let id = |umem: *mut Umem| {
        // SAFETY: null, or a umem that was not given back.
        let id = unsafe { umem.as_ref() }.map(|u| u.umem_id.to_ne_bytes().to_vec());
        (not_null(umem), id.unwrap_or_default())
    };
    child.trace.value("umem_reg", at as u64);
    child.trace.value("umem_reg_ex", at as u64);
    child.call("umem_reg", |dv, context| {
        // SAFETY: the memory lives longer than the process uses it.
        umem = unsafe { (dv.devx_umem_reg)(context, at, size, 0x7) };
        id(umem)
    });
    let mut input =
        UmemIn { addr: at, size, access: 0x1, pgsz_bitmap: 0x1000, comp_mask: 0, dmabuf_fd: 0 };
    child.call("umem_reg_ex", |dv, context| {
        // SAFETY: as before.
        id(unsafe { (dv.devx_umem_reg_ex)(context, &mut input) })
    });
    let file = File::open("/dev/null").expect("/dev/null");
    input.comp_mask = UMEM_MASK_DMABUF;
    input.dmabuf_fd = file.as_raw_fd();
    child.trace.value("umem_reg_ex, dmabuf", input.dmabuf_fd as u64);
    input.addr = without_provenance_mut(0x1000);
    child.call("umem_reg_ex, dmabuf", |dv, context| {
        // SAFETY: with a descriptor the address is an offset.
        id(unsafe { (dv.devx_umem_reg_ex)(context, &mut input) })
    });
    if !umem.is_null() {
        child.call("umem_dereg", |dv, _| {
            // SAFETY: the umem is not used after this.
            (number(unsafe { (dv.devx_umem_dereg)(umem) }), Vec::new())
        });
    }

    let mut first = null_mut();
    for (name, kind) in ["alloc_uar, BF", "alloc_uar, NC"].into_iter().zip(UAR_TYPES) {
        child.call(name, |dv, context| {
            // SAFETY: an open context.
            let uar = unsafe { (dv.devx_alloc_uar)(context, kind) };
            if kind == UAR_TYPES[0] {
                first = uar;
            }
            // SAFETY: null, or a UAR that was not given back.
            let output = unsafe { uar.as_ref() }.map(|u| {
                assert!(!u.reg_addr.is_null() && !u.base_addr.is_null(), "a UAR is mapped");
                assert_eq!(u.comp_mask, 0);
                [&u.page_id.to_ne_bytes()[..], &u.mmap_off.to_ne_bytes()].concat()
            });
            (not_null(uar), output.unwrap_or_default())
        });
    }
    if !first.is_null() {
        child.call("free_uar, BF", |dv, _| {
            // SAFETY: the UAR is not used after this.
            unsafe { (dv.devx_free_uar)(first) };
            ("0".to_owned(), Vec::new())
        });
    }
}
