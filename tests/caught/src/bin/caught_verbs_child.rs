//! Makes a completion queue, a shared receive queue and a queue pair by libibverbs, as a C program does,
//! prints the number of each, as `cq 1026`, and reads each through libmlx5 and by the kernel's interface.
//!
//! It is run with `libmlx5_caught.so` preloaded. It ends with the exit code 77 if libibverbs or libmlx5 is not
//! installed.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it calls libibverbs, which takes addresses; each block says why it is sound"
)]

use std::ffi::{c_int, c_void};
use std::io::Error;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

use libloading::Library;
use libloading::os::unix::Library as Unix;
use mlx5_devx::{Cq, Handle, Ioctl, LibMlx5, Qp, Srq, TargetKind, Transport};
use mlx5_prm::{Cqn, Qpn, QueryCqIn, QueryQpIn, QueryRmpIn, Rmpn};

/// Any structure of libibverbs, by its address.
type Address = *mut c_void;

/// `struct ibv_srq_init_attr`.
#[repr(C)]
struct SrqInitAttr {
    srq_context: Address,
    max_wr: u32,
    max_sge: u32,
    srq_limit: u32,
}

/// `struct ibv_qp_init_attr`.
#[repr(C)]
struct QpInitAttr {
    qp_context: Address,
    send_cq: Address,
    recv_cq: Address,
    srq: Address,
    max_send_wr: u32,
    max_recv_wr: u32,
    max_send_sge: u32,
    max_recv_sge: u32,
    max_inline_data: u32,
    qp_type: u32,
    sq_sig_all: c_int,
}

/// `IBV_QPT_RC`.
const QPT_RC: u32 = 2;

/// Offsets of u32s in the structures of `infiniband/verbs.h`, behind pointers of 8 bytes.
mod at {
    pub(super) const CONTEXT_CMD_FD: usize = 264;
    pub(super) const CQ_HANDLE: usize = 24;
    pub(super) const SRQ_HANDLE: usize = 24;
    pub(super) const QP_HANDLE: usize = 48;
    pub(super) const QP_NUM: usize = 52;
}

/// The exit code if a library is not installed.
const NOT_INSTALLED: i32 = 77;

/// The functions of libibverbs, as `infiniband/verbs.h` declares them.
struct Verbs {
    library: Library,
}

impl Verbs {
    fn load() -> Self {
        // SAFETY: libibverbs may be loaded at any time.
        match unsafe { Library::new("libibverbs.so.1") } {
            Ok(library) => Verbs { library },
            Err(e) => {
                eprintln!("libibverbs.so.1: {e}");
                std::process::exit(NOT_INSTALLED)
            }
        }
    }

    /// # Safety
    /// `F` is the type of the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: by the contract.
        *unsafe { self.library.get::<F>(name) }.unwrap_or_else(|e| panic!("{e}"))
    }

    fn first_device(&self) -> Address {
        let mut count = 0;
        // SAFETY: the type is that of the declaration, and `count` is written.
        let list = unsafe {
            self.function::<unsafe extern "C" fn(*mut c_int) -> *mut Address>("ibv_get_device_list")(
                &mut count,
            )
        };
        assert!(!list.is_null() && count > 0, "no device: {}", Error::last_os_error());
        // SAFETY: an array of `count` addresses.
        unsafe { *list }
    }

    /// A function of one address that gives an address.
    ///
    /// # Safety
    /// The function is one, and `of` is what it takes.
    unsafe fn get(&self, name: &str, of: Address) -> Address {
        // SAFETY: by the contract.
        let got = unsafe { self.function::<unsafe extern "C" fn(Address) -> Address>(name)(of) };
        made(name, got)
    }

    /// A function of two addresses, the second that of attributes, that gives an address.
    ///
    /// # Safety
    /// The function is one, and `of` and `attr` are what it takes.
    unsafe fn make<A>(&self, name: &str, of: Address, attr: &mut A) -> Address {
        type Make<A> = unsafe extern "C" fn(Address, *mut A) -> Address;
        // SAFETY: by the contract.
        made(name, unsafe { self.function::<Make<A>>(name)(of, attr) })
    }

    /// A function that ends an object.
    ///
    /// # Safety
    /// The function is one, `object` is what it takes, and is not used after it.
    unsafe fn end(&self, name: &str, object: Address) {
        // SAFETY: by the contract.
        let gave = unsafe { self.function::<unsafe extern "C" fn(Address) -> c_int>(name)(object) };
        assert_eq!(gave, 0, "{name}");
    }
}

fn made(name: &str, address: Address) -> Address {
    assert!(!address.is_null(), "{name}: {}", Error::last_os_error());
    address
}

/// # Safety
/// A u32 is at this offset of the structure at `address`.
unsafe fn word(address: Address, offset: usize) -> u32 {
    // SAFETY: by the contract.
    unsafe { address.cast::<u8>().add(offset).cast::<u32>().read() }
}

/// What the objects are called in the backend, and their numbers.
struct Objects {
    cq: (Handle, Cqn),
    srq: (Handle, Rmpn),
    qp: (Handle, Qpn),
}

/// Reads each, and finds that none is read by the number of another.
fn read(transport: &dyn Transport, objects: &Objects) {
    let Objects { cq, srq, qp } = objects;
    Cq::new(transport, cq.0, cq.1).query(&mut QueryCqIn::new()).expect("a CQ");
    Srq::new(transport, srq.0, srq.1).query(&mut QueryRmpIn::new()).expect("an SRQ");
    Qp::new(transport, qp.0, qp.1).query(&mut QueryQpIn::new()).expect("a QP");
    let other = Cqn::new(qp.1.get());
    let wrong = Cq::new(transport, cq.0, other).query(&mut QueryCqIn::new());
    let wrong = wrong.expect_err("the number of the QP").to_string();
    assert!(wrong.ends_with("Invalid argument (os error 22)"), "{wrong}");
}

fn main() {
    // SAFETY: a symbol that is looked for, and not called.
    let found = unsafe { Unix::this().get::<unsafe extern "C" fn()>("mlx5_caught") }.is_ok();
    assert!(found, "libmlx5_caught.so is not preloaded: a command must not reach a real adapter");
    let verbs = Verbs::load();
    type CreateCq = unsafe extern "C" fn(Address, c_int, Address, Address, c_int) -> Address;
    // SAFETY: the functions are declared so, and given what they take: a device of the list, and then what they
    // made themselves.
    let (context, pd, channel, cq) = unsafe {
        let context = verbs.get("ibv_open_device", verbs.first_device());
        let pd = verbs.get("ibv_alloc_pd", context);
        let channel = verbs.get("ibv_create_comp_channel", context);
        let create: CreateCq = verbs.function("ibv_create_cq");
        let cq = made("ibv_create_cq", create(context, 100, null_mut(), channel, 0));
        (context, pd, channel, cq)
    };
    let mut attr = SrqInitAttr { srq_context: null_mut(), max_wr: 16, max_sge: 1, srq_limit: 0 };
    // SAFETY: as before.
    let srq = unsafe { verbs.make("ibv_create_srq", pd, &mut attr) };
    let mut attr = QpInitAttr {
        qp_context: null_mut(),
        send_cq: cq,
        recv_cq: cq,
        srq,
        max_send_wr: 4,
        max_recv_wr: 0,
        max_send_sge: 1,
        max_recv_sge: 0,
        max_inline_data: 0,
        qp_type: QPT_RC,
        sq_sig_all: 0,
    };
    // SAFETY: as before.
    let qp = unsafe { verbs.make("ibv_create_qp", pd, &mut attr) };

    let not_null = |address| NonNull::new(address).expect("it was made");
    // SAFETY: the context is open until the end.
    let libmlx5 = match unsafe { LibMlx5::from_context(not_null(context)) } {
        Ok(libmlx5) => libmlx5,
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(NOT_INSTALLED)
        }
    };
    // SAFETY: objects of this context, that live until they are released, and are used by nothing else.
    let objects = unsafe {
        let cqn = libmlx5.cqn(not_null(cq)).expect("a number");
        let rmpn = Rmpn::new(libmlx5.srq_number(not_null(srq)).expect("a number"));
        Objects {
            cq: (libmlx5.adopt(TargetKind::Cq, not_null(cq)), cqn),
            srq: (libmlx5.adopt(TargetKind::Srq, not_null(srq)), rmpn),
            qp: (libmlx5.adopt(TargetKind::Qp, not_null(qp)), Qpn::new(word(qp, at::QP_NUM))),
        }
    };
    let Objects { cq: (_, cqn), srq: (_, rmpn), qp: (_, qpn) } = objects;
    println!("cq {}\nsrq {}\nqp {}", cqn.get(), rmpn.get(), qpn.get());
    read(&libmlx5, &objects);
    for handle in [objects.cq.0, objects.srq.0, objects.qp.0] {
        assert!(libmlx5.release(handle));
    }

    // SAFETY: the structures have these fields, and the descriptor is open until the end.
    let (file, objects) = unsafe {
        let file = BorrowedFd::borrow_raw(word(context, at::CONTEXT_CMD_FD) as c_int);
        let handle = |address, offset| Handle(word(address, offset).into());
        let objects = Objects {
            cq: (handle(cq, at::CQ_HANDLE), cqn),
            srq: (handle(srq, at::SRQ_HANDLE), rmpn),
            qp: (handle(qp, at::QP_HANDLE), qpn),
        };
        (file.try_clone_to_owned().expect("a descriptor"), objects)
    };
    read(&Ioctl::from_context(file), &objects);

    // SAFETY: what was made, what uses others before them, and none used again.
    unsafe {
        verbs.end("ibv_destroy_qp", qp);
        verbs.end("ibv_destroy_srq", srq);
        verbs.end("ibv_destroy_cq", cq);
        verbs.end("ibv_destroy_comp_channel", channel);
        verbs.end("ibv_dealloc_pd", pd);
        verbs.end("ibv_close_device", context);
    }
}
