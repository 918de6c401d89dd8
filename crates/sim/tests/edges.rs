//! Edge cases of a call, each with the error that a program sees, word for word.

use std::cell::Cell;
use std::fmt::Display;
use std::fs::File;

use mlx5_devx::ioctl::{Kernel, OpenError};
use mlx5_devx::wire::{AllocUcontextReq, AllocUcontextResp, Request};
use mlx5_devx::{
    Cq, Devx, Errno, Handle, IndTable, Ioctl, Object, Target, TargetKind, Transport, general,
};
use mlx5_prm::{
    Cqc, Cqn, CreateCqIn, CreateRqtIn, CreateRqtInWithRqNum, ModifyCqIn, ModifyRqtInWithRqNum,
    QueryCqIn, QueryHcaCapIn, Rqtc, Rqtn,
};
use mlx5_sim::{Adapter, Uverbs};

#[track_caller]
fn says<T, E: Display>(result: Result<T, E>, words: &str) {
    let Err(error) = result else { panic!("no error, and not: {words}") };
    assert_eq!(error.to_string(), words);
}

/// A transport that answers each call alike: an errno, and what is in the output.
struct Answers(Result<(), Errno>, &'static [u8]);

impl Answers {
    fn answer(&self, output: &mut [u8]) -> Result<(), Errno> {
        output[..self.1.len()].copy_from_slice(self.1);
        self.0
    }
}

impl Transport for Answers {
    fn create(&self, _: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        self.answer(output).map(|()| Handle(1))
    }
    fn modify(&self, _: Target, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.answer(output)
    }
    fn query(&self, _: Target, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.answer(output)
    }
    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        self.0
    }
    fn general(&self, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.answer(output)
    }
}

/// Bad parameter, and a syndrome.
const REFUSED: &[u8] = &[3, 0, 0, 0, 0, 0x62, 0x31, 0xe6];

const BY_FIRMWARE: &str = "MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in \
                           the kernel), syndrome 0x6231e6: a value in the input is not allowed, \
                           or not together with others";

#[test]
fn a_status_is_the_firmwares_whatever_the_errno() {
    let mut modify = ModifyCqIn::new().changing_cq_period(1);
    for result in [
        Err(Errno::REMOTEIO),
        // An errno of the kernel's own, and a status.
        Err(Errno::INVAL),
        Err(Errno::IO),
        // No errno at all.
        Ok(()),
    ] {
        let transport = Answers(result, REFUSED);
        let cq = Cq::new(&transport, Handle(1), Cqn::new(7));
        says(cq.modify(&mut modify), BY_FIRMWARE);
        assert_eq!(cq.modify(&mut modify).expect_err("refused").errno(), Errno::REMOTEIO);
        let answer = transport.general(&[0; 16], &mut [0; 16]);
        assert_eq!(answer, result);
    }
    let status_alone = Answers(Err(Errno::REMOTEIO), &[]);
    says(
        Cq::new(&status_alone, Handle(1), Cqn::new(7)).modify(&mut modify),
        "the answer to MODIFY_CQ(0x403) makes no sense: the kernel reports a refusal of the \
         firmware (EREMOTEIO), and its status is 0",
    );
    let unknown = Answers(Err(Errno::REMOTEIO), &[0x7f, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    says(
        Cq::new(&unknown, Handle(1), Cqn::new(7)).modify(&mut modify),
        "MODIFY_CQ(0x403) op_mod 0x0 failed: unknown status (0x7f, EIO in the kernel), syndrome \
         0xffffffff: a status that is newer than this program",
    );
}

#[test]
fn errnos_of_the_kernel_are_told_as_they_are() {
    for (errno, words) in [
        (Errno::NOTTY, "was refused by the kernel: Inappropriate ioctl for device (os error 25)"),
        (
            Errno::OPNOTSUPP,
            "can't be done over this transport: Operation not supported (os error 95)",
        ),
        (Errno::INVAL, "was refused by the kernel: Invalid argument (os error 22)"),
        (Errno::NODEV, "was refused by the kernel: No such device (os error 19)"),
        (Errno::PROTONOSUPPORT, "was refused by the kernel: Protocol not supported (os error 93)"),
    ] {
        let transport = Answers(Err(errno), &[]);
        let error = Cq::new(&transport, Handle(1), Cqn::new(7)).query(&mut QueryCqIn::new());
        says(error, &format!("QUERY_CQ(0x402) {words}"));
    }
}

#[test]
fn mailboxes_that_are_too_long_are_not_sent() {
    let adapter = Adapter::new();
    let devx = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    let mut buffer = vec![0; CreateRqtInWithRqNum::size(16_380)];
    let create = CreateRqtInWithRqNum::new_in(&mut buffer, 16_380).expect("the size is right");
    let words = "CREATE_RQT(0x916) was not sent: a mailbox of 65792 bytes is longer than the 65535 \
                 that the kernel takes";
    for transport in [&adapter as &dyn Transport, &devx] {
        says(Object::create(transport, &*create), words);
    }
    let table = IndTable::new(&devx, Handle(1), Rqtn::new(1));
    let mut buffer = vec![0; ModifyRqtInWithRqNum::size(16_380)];
    let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 16_380).expect("the size is right");
    says(
        table.modify(modify),
        "MODIFY_RQT(0x917) was not sent: a mailbox of 65792 bytes is longer than the 65535 that \
         the kernel takes",
    );
    // By the trait itself, as libmlx5 says it.
    let target = Target { kind: TargetKind::Devx, handle: Handle(1) };
    for (input, output) in [(0x10000, 16), (16, 0x10000), (15, 16), (16, 15), (0, 0)] {
        let result = devx.query(target, &vec![4; input], &mut vec![0; output]);
        assert_eq!(result, Err(Errno::INVAL), "{input} and {output} bytes");
    }
}

#[test]
fn a_signal_is_told_where_the_command_may_have_been_done() {
    let adapter = Adapter::new();
    let devx = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    adapter.refuse_next(1, Errno::INTR);
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(2));
    let cq = Object::create(&devx, &create).expect("it is sent again");
    adapter.refuse_next(1, Errno::INTR);
    assert!(cq.query(&mut QueryCqIn::new()).is_ok(), "it is sent again");
    adapter.refuse_next(1, Errno::INTR);
    says(
        cq.modify(&mut ModifyCqIn::new().changing_cq_period(1)),
        "MODIFY_CQ(0x403) got no answer, and may have been carried out: Interrupted system call (os \
         error 4)",
    );
    let period = cq.query(&mut QueryCqIn::new()).expect("it is there").cq_context().cq_period();
    assert_eq!(period, 0, "it was not sent again");
    adapter.refuse_next(1, Errno::INTR);
    cq.destroy().expect("it is sent again");
}

#[test]
fn a_file_that_is_none_of_uverbs() {
    let null = || File::options().read(true).write(true).open("/dev/null").expect("it is there");
    let devx = Ioctl::from_context(null().into());
    says(
        general(&devx, &QueryHcaCapIn::new()),
        "QUERY_HCA_CAP(0x100) was refused by the kernel: Inappropriate ioctl for device (os error \
         25)",
    );
    assert_eq!(devx.query_eqn(0), Err(Errno::NOTTY));
}

/// A kernel whose first calls end with an errno.
struct Refuses(Uverbs, std::sync::Mutex<Cell<u32>>, Errno);

impl Kernel for Refuses {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        let left = self.1.lock().expect("no test panicked");
        if left.get() > 0 {
            left.set(left.get() - 1);
            return Err(self.2);
        }
        self.0.call(request)
    }
    fn make_file(&self, request: &mut Request<'_>) -> Result<std::os::fd::OwnedFd, Errno> {
        self.0.make_file(request)
    }
    fn file(&self) -> std::os::fd::BorrowedFd<'_> {
        Kernel::file(&self.0)
    }
}

#[test]
fn contexts_that_are_refused() {
    let opened = |times, errno| {
        let uverbs = Uverbs::open(&Adapter::new());
        Ioctl::on(Refuses(uverbs, Cell::new(times).into(), errno)).map(drop)
    };
    says(
        opened(9, Errno::NOTTY),
        "the kernel makes no context of the kernel by ioctl (Inappropriate ioctl for device (os \
         error 25)); is it older than 5.6?",
    );
    says(
        opened(9, Errno::PERM),
        "the kernel makes no context of the kernel: Operation not permitted (os error 1)",
    );
    assert!(matches!(opened(1, Errno::INVAL), Err(OpenError::NoDevx { errno: Errno::INVAL, .. })));

    // An adapter without DEVX.
    let adapter = Adapter::new();
    adapter.set_without_devx(true);
    let error = Ioctl::on(Uverbs::open(&adapter)).map(drop);
    let words = "the kernel has no DEVX for this program: the kernel makes a context without it, and \
                 with it says Invalid argument (os error 22); does the adapter have user contexts \
                 (log_max_uctx)?";
    says(error, words);
}

#[test]
fn a_context_without_a_uid() {
    let uverbs = Uverbs::open(&Adapter::new());
    let ask = AllocUcontextReq::like_libmlx5(false);
    let (mut answer, mut vectors, mut support) = (AllocUcontextResp::default(), 0, 0);
    uverbs
        .call(&mut Request::get_context(&ask, &mut answer, &mut vectors, &mut support))
        .expect("a context without DEVX");
    let devx = Ioctl::on_context(uverbs);
    says(
        Object::create(&devx, &CreateCqIn::new()),
        "CREATE_CQ(0x400) was refused by the kernel: Invalid argument (os error 22)",
    );
    // One of the commands that need none (`devx_is_whitelist_cmd`).
    assert!(general(&devx, &QueryHcaCapIn::new().with_op_mod(1)).is_ok());
}

#[test]
fn commands_that_a_method_does_not_admit() {
    let devx = Ioctl::on(Uverbs::open(&Adapter::new())).expect("a context");
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(2));
    let cq = Object::create(&devx, &create).expect("a CQ");
    let table = CreateRqtIn::new().with_rqt_context(Rqtc::new().with_rqt_max_size(1));
    let query = QueryCqIn::new().with_cqn(cq.number());
    let (input, mut output) = (table.as_bytes(), [0; 16]);
    assert_eq!(devx.query(cq.target(), input, &mut output), Err(Errno::INVAL));
    assert_eq!(devx.modify(cq.target(), query.as_bytes(), &mut output), Err(Errno::INVAL));
    assert_eq!(devx.create(query.as_bytes(), &mut output).err(), Some(Errno::INVAL));
    assert_eq!(devx.general(query.as_bytes(), &mut output), Err(Errno::INVAL));
    // The number of another object than that of the handle.
    let other = QueryCqIn::new().with_cqn(Cqn::new(0x77));
    assert_eq!(devx.query(cq.target(), other.as_bytes(), &mut [0; 272]), Err(Errno::INVAL));
    let gone = Target { handle: Handle(0x1234), ..cq.target() };
    assert_eq!(devx.query(gone, query.as_bytes(), &mut [0; 272]), Err(Errno::NOENT));
}

#[test]
fn a_device_that_goes_mid_way() {
    let adapter = Adapter::new();
    let devx = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(2));
    let cq = Object::create(&devx, &create).expect("a CQ");
    adapter.refuse_next(1, Errno::NODEV);
    says(
        cq.query(&mut QueryCqIn::new()),
        "QUERY_CQ(0x402) was refused by the kernel: No such device (os error 19)",
    );
    adapter.remove();
    says(
        cq.query(&mut QueryCqIn::new()),
        "QUERY_CQ(0x402) failed in the kernel: Input/output error (os error 5)",
    );
    let still = cq.destroy().expect_err("nothing can be ended any more");
    assert_eq!((still.errno, still.object.number().get()), (Errno::IO, 1));
}
