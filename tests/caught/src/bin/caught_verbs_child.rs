//! Makes a completion queue, a shared receive queue and a queue pair by libibverbs, as a C program does,
//! prints the number of each, as `cq 1026`, and reads each through libmlx5 and by the kernel's interface.
//! With the argument `raw` it makes a completion queue and a raw packet QP.
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
use std::ptr::{NonNull, null_mut};

use libloading::Library;
use libloading::os::unix::Library as Unix;
use mlx5_devx::ibv::QueuePair;
use mlx5_devx::{Cq, Devx, Errno, Ioctl, LibMlx5, Qp, RawPacketQp, Srq};
use mlx5_prm::{
    Cqn, Qpn, QueryCqIn, QueryQpIn, QueryRmpIn, QueryRqIn, QuerySqIn, QueryTirIn, QueryTisIn, Rmpn,
    Rqn, Sqn, Tirn, Tisn,
};

/// Any structure of libibverbs, by its address.
type Address = *mut c_void;

/// `struct ibv_srq_init_attr`.
#[repr(C)]
struct SrqInitAttr {
    srq_context: Address,
    max_wr: u32,
    max_sge: u32,
    srq_limit: u32,
    /// The structure of C ends with as much that has no name. `ibv_cmd_create_srq` copies it too, and then reads
    /// it: `comp_mask` of `struct ibv_srq_init_attr_ex` is there.
    unnamed: u32,
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
/// `IBV_QPT_RAW_PACKET`.
const QPT_RAW_PACKET: u32 = 8;
/// `IBV_QPT_DRIVER`.
const QPT_DRIVER: u32 = 0xff;

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

    /// A context of the first device.
    fn open_first(&self) -> Address {
        let mut count = 0;
        // SAFETY: the type is that of the declaration, and `count` is written.
        let list = unsafe {
            self.function::<unsafe extern "C" fn(*mut c_int) -> *mut Address>("ibv_get_device_list")(
                &mut count,
            )
        };
        if list.is_null() || count == 0 {
            eprintln!("libibverbs knows no device: is the provider of mlx5 installed?");
            std::process::exit(NOT_INSTALLED);
        }
        // SAFETY: an array of `count` addresses, freed once; a device that is open outlives it.
        unsafe {
            let context = self.get("ibv_open_device", *list);
            self.function::<unsafe extern "C" fn(*mut Address)>("ibv_free_device_list")(list);
            context
        }
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

/// The objects of verbs, and the numbers that their structures do not have.
struct Objects {
    cq: (NonNull<c_void>, Cqn),
    srq: (NonNull<c_void>, Rmpn),
    qp: NonNull<c_void>,
}

/// Reads each, and finds that none is read by the number of another. Gives the number of the QP.
fn read(devx: &dyn Devx, objects: &Objects) -> Qpn {
    let Objects { cq, srq, qp } = objects;
    // SAFETY: objects of this context, that live until the end, and are used by nothing else.
    let (of_verbs, srq, qp, wrong) = unsafe {
        let of_verbs = Cq::from_ibv(devx, cq.0, cq.1).expect("a CQ of the context");
        let srq = Srq::from_ibv(devx, srq.0, srq.1).expect("an SRQ of the context");
        let qp = Qp::from_ibv(devx, *qp).expect("a QP of the context");
        let wrong = Cq::from_ibv(devx, cq.0, Cqn::new(qp.number().get()));
        (of_verbs, srq, qp, wrong.expect("a CQ of the context"))
    };
    of_verbs.query(&mut QueryCqIn::new()).expect("a CQ");
    srq.query(&mut QueryRmpIn::new()).expect("an SRQ");
    qp.query(&mut QueryQpIn::new()).expect("a QP");
    let wrong = wrong.query(&mut QueryCqIn::new()).expect_err("the number of the QP").to_string();
    assert!(wrong.ends_with("Invalid argument (os error 22)"), "{wrong}");
    qp.number()
}

/// Reads what a raw packet QP is made of, and finds that it is read as nothing else.
fn read_raw(devx: &dyn Devx, qp: NonNull<c_void>, numbers: RawPacketQp) {
    let RawPacketQp { rqn: Some(rqn), tirn: Some(tirn), sqn: Some(sqn), tisn: Some(tisn) } =
        numbers
    else {
        panic!("it receives and sends: {numbers:?}");
    };
    // SAFETY: a QP of this context, that lives until the end, and is used by nothing else.
    let qp = unsafe { Qp::from_ibv(devx, qp) }.expect("a QP of the context");
    assert_eq!(qp.number().get(), sqn.get());
    qp.rq(rqn).query(&mut QueryRqIn::new()).expect("an RQ");
    qp.tir(tirn).query(&mut QueryTirIn::new()).expect("a TIR");
    qp.sq(sqn).query(&mut QuerySqIn::new()).expect("an SQ");
    qp.tis(tisn).query(&mut QueryTisIn::new()).expect("a TIS");
    let as_qp = qp.query(&mut QueryQpIn::new()).expect_err("no QP of the PRM");
    let wrong = Rqn::new(sqn.get());
    let wrong = qp.rq(wrong).query(&mut QueryRqIn::new()).expect_err("the number of the SQ");
    for refused in [as_qp.to_string(), wrong.to_string()] {
        assert!(refused.ends_with("Invalid argument (os error 22)"), "{refused}");
    }
}

/// Makes a raw packet QP, prints its number and those of what it is made of, reads it by both ways, and ends it.
///
/// # Safety
/// `context` is open, and `pd` and `cq` are of it.
unsafe fn raw_packet_qp(verbs: &Verbs, context: Address, pd: Address, cq: Address) {
    let mut attr = QpInitAttr {
        qp_context: null_mut(),
        send_cq: cq,
        recv_cq: cq,
        srq: null_mut(),
        max_send_wr: 4,
        max_recv_wr: 4,
        max_send_sge: 1,
        max_recv_sge: 1,
        max_inline_data: 0,
        qp_type: QPT_RAW_PACKET,
        sq_sig_all: 0,
    };
    // SAFETY: by the contract; the QP is of the context, and used by nothing else.
    unsafe {
        let qp = verbs.make("ibv_create_qp", pd, &mut attr);
        let libmlx5 = libmlx5(context);
        let numbers = libmlx5.raw_packet_qp(not_null(qp)).expect("numbers");
        // Of a DCT, which has this type, libmlx5 would read a doorbell that it has not.
        let kind = &raw mut (*qp.cast::<QueuePair>()).qp_type;
        assert_eq!(kind.replace(QPT_DRIVER), QPT_RAW_PACKET);
        assert_eq!(libmlx5.raw_packet_qp(not_null(qp)), Err(Errno::INVAL));
        kind.write(QPT_RAW_PACKET);
        read_raw(&libmlx5, not_null(qp), numbers);
        let ioctl = Ioctl::from_ibv_context(not_null(context)).expect("a descriptor");
        read_raw(&ioctl, not_null(qp), numbers);
        verbs.end("ibv_destroy_qp", qp);
        let RawPacketQp { rqn, tirn, sqn, tisn } = numbers;
        let [rqn, tirn] = [rqn.map(Rqn::get), tirn.map(Tirn::get)].map(Option::unwrap_or_default);
        let [sqn, tisn] = [sqn.map(Sqn::get), tisn.map(Tisn::get)].map(Option::unwrap_or_default);
        println!("tirn {tirn}\ntisn {tisn}\nrqn {rqn}\nsqn {sqn}");
    }
}

fn not_null(address: Address) -> NonNull<c_void> {
    NonNull::new(address).expect("it was made")
}

/// The context through libmlx5.
///
/// # Safety
/// The context is open until the end.
unsafe fn libmlx5(context: Address) -> LibMlx5 {
    // SAFETY: by the contract.
    unsafe { LibMlx5::from_ibv_context(not_null(context)) }.unwrap_or_else(|e| {
        eprintln!("{e}");
        std::process::exit(NOT_INSTALLED)
    })
}

fn main() {
    // SAFETY: a symbol that is looked for, and not called.
    let found = unsafe { Unix::this().get::<unsafe extern "C" fn()>("mlx5_caught") }.is_ok();
    assert!(found, "libmlx5_caught.so is not preloaded: a command must not reach a real adapter");
    let verbs = Verbs::load();
    type CreateCq = unsafe extern "C" fn(Address, c_int, Address, Address, c_int) -> Address;
    let context = verbs.open_first();
    // SAFETY: the functions are declared so, and given what they take: the context, and then what they made
    // themselves.
    let (pd, channel, cq) = unsafe {
        let pd = verbs.get("ibv_alloc_pd", context);
        let channel = verbs.get("ibv_create_comp_channel", context);
        let create: CreateCq = verbs.function("ibv_create_cq");
        let cq = made("ibv_create_cq", create(context, 100, null_mut(), channel, 0));
        (pd, channel, cq)
    };
    let end = || {
        // SAFETY: what was made, and none used again.
        unsafe {
            verbs.end("ibv_destroy_cq", cq);
            verbs.end("ibv_destroy_comp_channel", channel);
            verbs.end("ibv_dealloc_pd", pd);
            verbs.end("ibv_close_device", context);
        }
    };
    if std::env::args().nth(1).as_deref() == Some("raw") {
        // SAFETY: they were just made.
        unsafe { raw_packet_qp(&verbs, context, pd, cq) };
        return end();
    }
    let mut attr =
        SrqInitAttr { srq_context: null_mut(), max_wr: 16, max_sge: 1, srq_limit: 0, unnamed: 0 };
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

    // SAFETY: the context is open until the end.
    let libmlx5 = unsafe { libmlx5(context) };
    // SAFETY: objects of this context, that live until the end, and are used by nothing else.
    let (cqn, rmpn) = unsafe {
        let cqn = libmlx5.cqn(not_null(cq)).expect("a number");
        (cqn, Rmpn::new(libmlx5.srq_number(not_null(srq)).expect("a number")))
    };
    let objects = Objects { cq: (not_null(cq), cqn), srq: (not_null(srq), rmpn), qp: not_null(qp) };
    let qpn = read(&libmlx5, &objects);
    println!("cq {}\nsrq {}\nqp {}", cqn.get(), rmpn.get(), qpn.get());
    // SAFETY: the context is open until the end.
    let ioctl = unsafe { Ioctl::from_ibv_context(not_null(context)) }.expect("a descriptor");
    assert_eq!(read(&ioctl, &objects), qpn);

    // SAFETY: what was made, what uses others before them, and none used again.
    unsafe {
        verbs.end("ibv_destroy_qp", qp);
        verbs.end("ibv_destroy_srq", srq);
    }
    end();
}
