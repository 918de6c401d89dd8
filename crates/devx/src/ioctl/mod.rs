//! The backend without a C library: [`Ioctl`] opens the uverbs device file itself, makes a DEVX
//! context, and sends commands by `RDMA_VERBS_IOCTL`.
//!
//! ```no_run
//! use mlx5_devx::ioctl::{Device, Ioctl, Selector};
//! use mlx5_devx::Transport;
//!
//! let device = Device::find(Selector::Netdev("eth2"))?;
//! let transport: Box<dyn Transport> = Box::new(Ioctl::open(&device)?);
//!
//! let query = mlx5_prm::QueryHcaCapIn::new().with_op_mod(1); // general capabilities, as they are
//! let answer = mlx5_devx::general(&*transport, &query)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It needs a kernel that makes contexts by ioctl, as those do from about Linux 5.6, and a user who
//! may open the device file.
//!
//! # Signals
//! A call that a signal interrupted (EINTR) is made again where that changes nothing: opening the
//! file, making the context, reading, making an object (the kernel keeps nothing of one that it
//! failed to make: `bundle_destroy` in `uverbs_ioctl.c`), and ending one (the object stays when
//! that fails). [`Transport::modify`] and [`Transport::general`] give EINTR to the caller: the
//! command may have reached the firmware, and not every command can be sent twice. So do
//! [`Events::subscribe`](crate::Events::subscribe), [`Queries::send`](crate::Queries::send), and
//! [`Transport::query`] where the query clears the counters that it reads.

mod context;
mod device;
mod error;
#[cfg(test)]
pub(crate) mod fake;
mod kernel;

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use context::{Context, Interrupted, Made};
pub use device::{Device, Selector};
pub use error::OpenError;
use kernel::DeviceFile;
pub use kernel::Kernel;

use crate::backend::Backend;
use crate::clears::clears;
use crate::devx::{Devx, Sealed, Token};
use crate::wire::{AllocUcontextResp, Request};
use crate::{Errno, Handle, Target, Transport, device_file, ibv};

/// A DEVX context of a device, made and used by ioctl.
///
/// Clones are the same context. The kernel ends it, and every object in it, when the last of them
/// and of what was made of it ([`Devx`]) is dropped.
///
/// # Objects
/// A [`Target`] of any kind is sent alike: the kernel finds the kind by the handle
/// (`MLX5_IB_METHOD_DEVX_OBJ_MODIFY` and `_QUERY` in `devx.c` take any object), and refuses a
/// command that does not belong to the object with EINVAL (`devx_is_valid_obj_id`). Objects belong
/// to the context that made them: for those of libibverbs see [`Ioctl::from_ibv_context`].
///
/// # Errors
/// Besides what [`Transport`] says: ENOENT for a handle that the context does not have, EINVAL for
/// a mailbox of less than 16 or more than 65535 bytes, EIO once the device is gone.
/// [`Transport::destroy`] has no output, so that the kernel makes an errno of the firmware's status
/// ([`StillThere::errno`](crate::StillThere::errno)).
#[derive(Clone)]
pub struct Ioctl {
    context: Arc<Context>,
}

impl Ioctl {
    /// Opens the device file of a device, and makes a DEVX context.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(device: &Device) -> Result<Self, OpenError> {
        if !device.is_mlx5() {
            let driver = device.driver.clone();
            return Err(OpenError::NotMlx5 { device: device.ib_name.clone(), driver });
        }
        let node = device.node();
        let file =
            device_file::open(&node, device.number).map_err(|why| OpenError::of_file(node, why))?;
        Ioctl::with_new_context(Box::new(DeviceFile(file)), &device.ib_name)
    }

    /// A context that exists already: `fd` is a device file on which someone made one, with DEVX.
    ///
    /// That may be a descriptor that another process sent, as for `ibv_import_device`. Objects of
    /// libibverbs are reached by their `handle`; for a context of this process see
    /// [`Ioctl::from_ibv_context`].
    ///
    /// Nothing is asked of the kernel here: a file of another driver answers EINVAL to every call,
    /// as does a context without DEVX to most (`devx_get_uid` in `devx.c`).
    pub fn from_context(fd: OwnedFd) -> Self {
        Ioctl::new(Box::new(DeviceFile(fd)), None)
    }

    /// A context of libibverbs: a `struct ibv_context *` of any binding, whose objects are then taken by
    /// [`Qp::from_ibv`](crate::Qp::from_ibv) and its like. It is used by a descriptor of its own, and is
    /// not closed here; no library is called.
    ///
    /// # Safety
    /// `context` points to a `struct ibv_context` of an mlx5 device.
    ///
    /// # Errors
    /// The errno of duplicating its descriptor.
    #[allow(unsafe_code, reason = "the structure is read by address")]
    pub unsafe fn from_ibv_context<T>(context: NonNull<T>) -> Result<Self, Errno> {
        // SAFETY: by the contract of this function.
        let cmd_fd = unsafe { context.cast::<ibv::Context>().as_ref() }.cmd_fd;
        // SAFETY: libibverbs keeps it open as long as the context is there.
        let file = unsafe { BorrowedFd::borrow_raw(cmd_fd) };
        let file = rustix::io::fcntl_dupfd_cloexec(file, 0)?;
        let verbs = Some(context.as_ptr().expose_provenance());
        let kernel = Box::new(DeviceFile(file));
        Ok(Ioctl { context: Arc::new(Context { kernel, made: None, verbs }) })
    }

    /// A context that exists already, on what stands for a device file.
    pub fn on_context(kernel: impl Kernel + 'static) -> Self {
        Ioctl::new(Box::new(kernel), None)
    }

    /// How many completion vectors the device has; `None` for a context that was there already.
    pub fn num_comp_vectors(&self) -> Option<u32> {
        self.context.made.map(|made| made.num_comp_vectors)
    }

    /// What the driver said when it made the context; `None` for one that was there already.
    pub fn driver_facts(&self) -> Option<&AllocUcontextResp> {
        self.context.made.as_ref().map(|made| &made.driver)
    }

    /// Makes a DEVX context on what stands for an open device file: a simulated kernel.
    ///
    /// # Errors
    /// See [`OpenError`]; the device is named `kernel` in it.
    pub fn on(kernel: impl Kernel + 'static) -> Result<Self, OpenError> {
        Ioctl::with_new_context(Box::new(kernel), "the kernel")
    }

    fn new(kernel: Box<dyn Kernel>, made: Option<Made>) -> Self {
        Ioctl { context: Arc::new(Context { kernel, made, verbs: None }) }
    }

    /// Makes a context on an open device file that has none.
    fn with_new_context(kernel: Box<dyn Kernel>, device: &str) -> Result<Self, OpenError> {
        let device = || device.to_owned();
        match Made::context(&*kernel, true) {
            Ok(made) => Ok(Ioctl::new(kernel, Some(made))),
            Err(errno @ (Errno::NOTTY | Errno::PROTONOSUPPORT)) => {
                Err(OpenError::NoIoctl { device: device(), errno })
            }
            // The errno does not say whether DEVX is what is missing: EINVAL for an adapter without
            // user contexts, others when the firmware refuses CREATE_UCTX (`mlx5_ib_devx_create`).
            // So the kernel is asked for a context without, as libmlx5 does; it is not kept.
            Err(errno) => Err(match Made::context(&*kernel, false) {
                Ok(_) => OpenError::NoDevx { device: device(), errno },
                Err(_) => OpenError::NoContext { device: device(), errno },
            }),
        }
    }
}

impl fmt::Debug for Ioctl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fd = self.context.kernel.file();
        f.debug_struct("Ioctl").field("fd", &fd).field("made", &self.context.made).finish()
    }
}

/// The device file, for calls that this crate does not make.
impl AsFd for Ioctl {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.context.kernel.file()
    }
}

impl Sealed for Ioctl {
    fn backend(&self, _: Token) -> Arc<dyn Backend> {
        self.context.clone()
    }

    fn backend_name(&self, _: Token) -> &'static str {
        "ioctl"
    }
}

impl Devx for Ioctl {}

impl Transport for Ioctl {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        self.context.make(&mut Request::obj_create(input, output))
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let mut request = Request::obj_modify(context::narrow(target.handle)?, input, output);
        self.context.call(&mut request, Interrupted::GiveUp)
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let mut request = Request::obj_query(context::narrow(target.handle)?, input, output);
        let interrupted = if clears(input) { Interrupted::GiveUp } else { Interrupted::Again };
        self.context.call(&mut request, interrupted)
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        self.context.call(&mut Request::obj_destroy(context::narrow(handle)?), Interrupted::Again)
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.context.call(&mut Request::other(input, output), Interrupted::GiveUp)
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::IntoBytes;

    use super::fake::Fake;
    use super::*;
    use crate::wire::handwritten::{at, message, word};
    use crate::wire::numbers::attr;
    use crate::{Cq, Error, TargetKind};
    use mlx5_prm::{Cqn, ModifyCqIn, Opcode, QueryCqIn, Status};

    const KINDS: [TargetKind; 6] = [
        TargetKind::Devx,
        TargetKind::Qp,
        TargetKind::Cq,
        TargetKind::Srq,
        TargetKind::Wq,
        TargetKind::IndTable,
    ];

    #[test]
    fn create_sends_the_command_and_gives_the_handle() {
        let fake = Fake::new();
        fake.answer(|request, message| {
            request.output(attr::OBJ_CREATE_CMD_OUT).expect("it is there").fill(0xab);
            message.set_handle(attr::OBJ_CREATE_HANDLE, 0xffff_fff0);
            Ok(())
        });
        let (input, mut output) = ([1; 32], [0; 16]);
        let output_at = at(output.as_ptr());
        assert_eq!(fake.ioctl().create(&input, &mut output), Ok(Handle(0xffff_fff0)));
        assert_eq!(output, [0xab; 16]);
        let attrs =
            [(0x1000, 0, word(0)), (0x1001, 32, at(input.as_ptr())), (0x1002, 16, output_at)];
        assert_eq!(fake.sent(), [message(0x1001, 0x1000, &attrs)]);
    }

    #[test]
    fn modify_and_query_are_the_same_for_every_kind() {
        for (handle, kind) in (7..).zip(KINDS) {
            let fake = Fake::new();
            fake.answer(|_, _| Ok(()));
            fake.answer(|_, _| Ok(()));
            let (input, mut output) = ([1; 32], [0; 16]);
            let attrs = [
                (0x1000, 0, word(handle)),
                (0x1001, 32, at(input.as_ptr())),
                (0x1002, 16, at(output.as_ptr())),
            ];
            let target = Target { kind, handle: Handle(handle) };
            assert_eq!(fake.ioctl().modify(target, &input, &mut output), Ok(()));
            assert_eq!(fake.ioctl().query(target, &input, &mut output), Ok(()));
            let expected = [message(0x1001, 0x1002, &attrs), message(0x1001, 0x1003, &attrs)];
            assert_eq!(fake.sent(), expected);
        }
    }

    #[test]
    fn destroy_and_general_send_what_they_should() {
        let fake = Fake::new();
        fake.answer(|_, _| Ok(()));
        fake.answer(|_, _| Ok(()));
        let (input, mut output) = ([1; 16], [0; 16]);
        let attrs = [(0x1000, 16, at(input.as_ptr())), (0x1001, 16, at(output.as_ptr()))];
        assert_eq!(fake.ioctl().destroy(Handle(5)), Ok(()));
        assert_eq!(fake.ioctl().general(&input, &mut output), Ok(()));
        let expected =
            [message(0x1001, 0x1001, &[(0x1000, 0, word(5))]), message(0x1000, 0x1000, &attrs)];
        assert_eq!(fake.sent(), expected);
    }

    #[test]
    fn query_eqn_gives_the_number() {
        let fake = Fake::new();
        fake.answer(|request, _| {
            let eqn = request.output(attr::QUERY_EQN_DEV_EQN).expect("it is there");
            eqn.copy_from_slice(&17u32.to_ne_bytes());
            Ok(())
        });
        assert_eq!(Devx::query_eqn(&fake.ioctl(), 3), Ok(17));
        fake.answer(|_, _| Err(Errno::NOENT));
        assert_eq!(Devx::query_eqn(&fake.ioctl(), 99), Err(Errno::NOENT));
    }

    #[test]
    fn handles_that_uverbs_cannot_have_are_not_sent() {
        let fake = Fake::new();
        let handle = Handle(1 << 32);
        let target = Target { kind: TargetKind::Qp, handle };
        assert_eq!(fake.ioctl().modify(target, &[0; 16], &mut [0; 16]), Err(Errno::NOENT));
        assert_eq!(fake.ioctl().query(target, &[0; 16], &mut [0; 16]), Err(Errno::NOENT));
        assert_eq!(fake.ioctl().destroy(handle), Err(Errno::NOENT));
        assert!(fake.sent().is_empty());
    }

    #[test]
    fn the_kernels_errno_is_given_as_it_is() {
        let target = Target { kind: TargetKind::Cq, handle: Handle(1) };
        for errno in [
            Errno::NOTTY,
            Errno::OPNOTSUPP,
            Errno::PROTONOSUPPORT,
            Errno::INVAL,
            Errno::NODEV,
            Errno::IO,
            Errno::REMOTEIO,
        ] {
            let fake = Fake::new();
            (0..5).for_each(|_| fake.answer(move |_, _| Err(errno)));
            let ioctl = fake.ioctl();
            assert_eq!(ioctl.create(&[0; 16], &mut [0; 16]), Err(errno));
            assert_eq!(ioctl.modify(target, &[0; 16], &mut [0; 16]), Err(errno));
            assert_eq!(ioctl.query(target, &[0; 16], &mut [0; 16]), Err(errno));
            assert_eq!(ioctl.destroy(Handle(1)), Err(errno));
            assert_eq!(ioctl.general(&[0; 16], &mut [0; 16]), Err(errno));
        }
    }

    #[test]
    fn a_refusal_of_the_firmware_has_its_status() {
        let fake = Fake::new();
        fake.answer(|request, message| {
            let output = request.output(attr::OBJ_MODIFY_CMD_OUT).expect("it is there");
            output[..8].copy_from_slice(&[3, 0, 0, 0, 0x00, 0x62, 0x31, 0xe6]);
            message.set_output_valid(attr::OBJ_MODIFY_CMD_OUT);
            Err(Errno::REMOTEIO)
        });
        let ioctl = fake.ioctl();
        let cq = Cq::new(&ioctl, Handle(1), Cqn::new(9));
        let error = cq.modify(&mut ModifyCqIn::new()).expect_err("it is refused");
        let expected = Error::Firmware {
            opcode: Opcode::MODIFY_CQ,
            op_mod: 0,
            status: Status::BAD_PARAM_ERR,
            syndrome: 0x6231e6,
        };
        assert_eq!(error, expected);
    }

    #[test]
    fn a_refusal_of_the_kernel_is_told_from_one_of_the_firmware() {
        let fake = Fake::new();
        fake.answer(|_, _| Err(Errno::NODEV));
        let ioctl = fake.ioctl();
        let error = Cq::new(&ioctl, Handle(1), Cqn::new(9)).query(&mut QueryCqIn::new());
        let expected = Error::Kernel { opcode: Opcode::QUERY_CQ, errno: Errno::NODEV };
        assert_eq!(error.err(), Some(expected));
    }

    #[test]
    fn calls_are_made_again_where_that_changes_nothing() {
        let target = Target { kind: TargetKind::Qp, handle: Handle(1) };
        let interrupted = |ioctl: &dyn Fn(&Ioctl) -> Result<(), Errno>| {
            let fake = Fake::new();
            fake.answer(|_, _| Err(Errno::INTR));
            fake.answer(|_, _| Ok(()));
            (ioctl(&fake.ioctl()), fake.sent().len())
        };
        let (i, o) = ([0; 16], || [0; 16]);
        assert_eq!(interrupted(&|t| t.create(&i, &mut o()).map(drop)), (Ok(()), 2));
        assert_eq!(interrupted(&|t| t.query(target, &i, &mut o())), (Ok(()), 2));
        assert_eq!(interrupted(&|t| t.destroy(Handle(1))), (Ok(()), 2));
        assert_eq!(interrupted(&|t| Devx::query_eqn(t, 0).map(drop)), (Ok(()), 2));
        assert_eq!(interrupted(&|t| t.modify(target, &i, &mut o())), (Err(Errno::INTR), 1));
        assert_eq!(interrupted(&|t| t.general(&i, &mut o())), (Err(Errno::INTR), 1));
    }

    #[test]
    fn a_query_that_clears_is_not_made_again() {
        let target = Target { kind: TargetKind::Devx, handle: Handle(1) };
        let query = |opcode: Opcode, at: usize, bits: u8| {
            let fake = Fake::new();
            fake.answer(|_, _| Err(Errno::INTR));
            fake.answer(|_, _| Ok(()));
            let mut input = [0; 32];
            input[..2].copy_from_slice(&opcode.0.to_be_bytes());
            input[at] = bits;
            (fake.ioctl().query(target, &input, &mut [0; 16]), fake.sent().len())
        };
        for opcode in [Opcode::QUERY_Q_COUNTER, Opcode::QUERY_FLOW_COUNTER] {
            assert_eq!(query(opcode, 0x18, 0x80), (Err(Errno::INTR), 1), "{opcode:?}");
            assert_eq!(query(opcode, 0x18, 0x7f), (Ok(()), 2), "{opcode:?}");
        }
        assert_eq!(query(Opcode::QUERY_CQ, 0x18, 0x80), (Ok(()), 2));
    }

    /// The driver's part of a GET_CONTEXT: whether it asks for DEVX.
    fn asks_devx(request: &mut Request<'_>) -> bool {
        let ask = request.input(attr::UHW_IN).expect("it is there");
        assert_eq!(ask.len(), 32);
        assert_eq!(ask[12..16], [0; 4]);
        ask[8..12] == 1u32.to_ne_bytes()
    }

    #[test]
    fn a_context_has_devx() {
        let fake = Fake::new();
        fake.answer(|request, message| {
            assert!(asks_devx(request));
            let mut answer = AllocUcontextResp { num_ports: 2, ..AllocUcontextResp::default() };
            answer.response_length = 72;
            let output = request.output(attr::UHW_OUT).expect("it is there");
            output.copy_from_slice(answer.as_bytes());
            let vectors = request.output(attr::GET_CONTEXT_NUM_COMP_VECTORS).expect("it is there");
            vectors.copy_from_slice(&63u32.to_ne_bytes());
            message.set_output_valid(attr::UHW_OUT);
            Ok(())
        });
        let ioctl = Ioctl::with_new_context(Box::new(fake.clone()), "mlx5_0").expect("a context");
        assert_eq!(ioctl.num_comp_vectors(), Some(63));
        assert_eq!(ioctl.driver_facts().map(|facts| facts.num_ports), Some(2));
        let sent = fake.sent().concat();
        assert_eq!(sent.len(), 24 + 4 * 16);
        // The header, and ids and lengths of the attributes; where they point is checked by wire.
        let mut expected = vec![];
        for half in [88u16, 0, 3, 4] {
            expected.extend(half.to_ne_bytes());
        }
        assert_eq!(sent[..8], expected);
        for (at, (id, len)) in (24..).step_by(16).zip([(0, 4), (1, 8), (0x1000, 32), (0x1001, 72)])
        {
            let expected = [id, len, 1, 0].map(u16::to_ne_bytes).concat();
            assert_eq!(sent[at..at + 8], expected);
        }
    }

    #[test]
    fn a_context_without_devx_is_refused() {
        for errno in [Errno::INVAL, Errno::OPNOTSUPP, Errno::REMOTEIO] {
            let fake = Fake::new();
            fake.answer(move |request, _| {
                assert!(asks_devx(request));
                Err(errno)
            });
            fake.answer(|request, _| {
                assert!(!asks_devx(request));
                Ok(())
            });
            let error =
                Ioctl::with_new_context(Box::new(fake.clone()), "mlx5_0").expect_err("no DEVX");
            assert_eq!(error, OpenError::NoDevx { device: "mlx5_0".into(), errno });
            assert!(error.to_string().starts_with("mlx5_0 has no DEVX for this program: "));
        }
    }

    #[test]
    fn no_context_at_all_is_another_error() {
        for errno in [Errno::NODEV, Errno::IO, Errno::NOMEM, Errno::AGAIN, Errno::INVAL] {
            let fake = Fake::new();
            fake.answer(move |_, _| Err(errno));
            fake.answer(|_, _| Err(Errno::NODEV));
            let error =
                Ioctl::with_new_context(Box::new(fake.clone()), "mlx5_0").expect_err("no context");
            assert_eq!(error, OpenError::NoContext { device: "mlx5_0".into(), errno });
        }
    }

    #[test]
    fn a_kernel_without_the_call_is_another_error() {
        for errno in [Errno::NOTTY, Errno::PROTONOSUPPORT] {
            let fake = Fake::new();
            fake.answer(move |_, _| Err(errno));
            let error =
                Ioctl::with_new_context(Box::new(fake.clone()), "mlx5_0").expect_err("no ioctl");
            assert_eq!(error, OpenError::NoIoctl { device: "mlx5_0".into(), errno });
            assert_eq!(fake.sent().len(), 1);
        }
    }

    fn device(uverbs: &str, driver: Option<&str>) -> Device {
        Device {
            ib_name: "dev0".into(),
            uverbs: uverbs.into(),
            number: Some((231, 192)),
            bus_name: None,
            driver: driver.map(str::to_owned),
            netdevs: vec![],
        }
    }

    #[test]
    fn a_device_of_another_driver_is_not_opened() {
        let error = Ioctl::open(&device("uverbs0", Some("irdma"))).expect_err("no mlx5");
        assert_eq!(error.to_string(), "dev0 is no mlx5 device: its driver is irdma");
        let error = Ioctl::open(&device("uverbs0", None)).expect_err("no mlx5");
        assert_eq!(error.to_string(), "dev0 is no mlx5 device: sysfs names no driver of it");
    }

    #[test]
    fn a_device_file_that_is_missing_or_of_another_device_is_told() {
        let error = Ioctl::open(&device("no-such-file", Some("mlx5_core"))).expect_err("no file");
        let node = std::path::PathBuf::from("/dev/infiniband/no-such-file");
        assert_eq!(error, OpenError::NotOpened { node, errno: Errno::NOENT });
        let error = Ioctl::open(&device("../null", Some("mlx5_core"))).err();
        // Where /dev/infiniband is, the file is /dev/null, which has another number.
        let node = std::path::PathBuf::from("/dev/infiniband/../null");
        let is = (1, 3);
        let other = OpenError::OtherNode { node: node.clone(), is, expected: (231, 192) };
        let missing = OpenError::NotOpened { node, errno: Errno::NOENT };
        assert!(error == Some(other) || error == Some(missing));
    }

    #[test]
    fn it_is_a_transport_for_threads() {
        fn check<T: Transport + Send + Sync + Clone + 'static>() {}
        check::<Ioctl>();
        let file = std::fs::File::open("/dev/null").expect("every system has it");
        let ioctl = Ioctl::from_context(file.into());
        assert_eq!(ioctl.general(&[0; 16], &mut [0; 16]), Err(Errno::NOTTY));
        assert_eq!(ioctl.num_comp_vectors(), None);
    }
}
