//! The backend that needs no RDMA context: [`Fwctl`] sends commands through `/dev/fwctl/fwctlN` of
//! Linux 6.15 and newer, module `mlx5_fwctl`.
//!
//! ```no_run
//! use mlx5_devx::fwctl::{Device, Fwctl, Limit, Selector};
//! use mlx5_devx::Transport;
//!
//! let device = Device::find(Selector::Pci("08:00.0"))?;
//! let transport: Box<dyn Transport> = Box::new(Fwctl::open(&device, Limit::ReadOnly)?);
//!
//! let query = mlx5_prm::QueryHcaCapIn::new().with_op_mod(1); // general capabilities, as they are
//! let answer = mlx5_devx::general(&*transport, &query)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is for tools that look, and a few that configure: the driver lets queries, accesses to
//! registers and a few changes of settings through ([`admitted`]), and nothing that makes, changes
//! or ends an object. A user who may open the device file is all that it needs; the kernel makes
//! the file for root.
//!
//! # Scopes
//! The kernel wants to be told how far a command may reach, its [`Scope`], and the driver refuses a
//! command that needs a wider one. [`Fwctl`] says the narrowest that the command needs, so that it
//! never taints the kernel without need, and sends nothing beyond its [`Limit`].
//!
//! Sources: `include/uapi/fwctl/fwctl.h`, `include/uapi/fwctl/mlx5.h`, `drivers/fwctl/main.c` and
//! `drivers/fwctl/mlx5/main.c` of Linux.

mod device;
mod error;
#[cfg(test)]
mod fake;
mod scope;
mod system;
pub mod wire;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mlx5_prm::Opcode;

pub use device::{Device, Selector};
pub use error::{OpenError, RpcError};
pub use scope::{Admitted, Limit, Scope, admitted, changes, scope_needed};

use crate::{Errno, Handle, Target, Transport};
use system::{DeviceFile, InfoCall, RpcCall, System};
use wire::{DEVICE_TYPE_MLX5, HEADER, InfoMlx5, MAX_RPC_LEN};

/// An open device file of fwctl.
///
/// Clones are the same file, and the same user context of the firmware, in whose name every command
/// runs: the driver writes its number into the mailbox. The kernel ends it when the last of them is
/// dropped.
///
/// # As a [`Transport`]
/// The kernel takes a mailbox, and knows no objects:
/// - [`Transport::general`], [`Transport::query`] and [`Transport::modify`] are alike. The
///   [`Target`] does not count: which object is meant stands in the mailbox. The driver lets no
///   command through that modifies an object.
/// - [`Transport::create`] and [`Transport::destroy`] give EOPNOTSUPP and send nothing: the driver
///   lets no command through that makes an object, so there is no handle to end.
///
/// A refusal of the firmware is success to the kernel, with the status in the output
/// (`mlx5ctl_fw_rpc` takes EREMOTEIO for an answer); here it is [`Errno::REMOTEIO`], as
/// [`Transport`] says.
///
/// # Errors
/// Those of [`RpcError`], as errnos ([`RpcError::errno`]): EBADMSG for a command that no scope lets
/// through, EACCES for one beyond the [`Limit`]; neither is sent. [`Fwctl::check`] says the same in
/// words, as does [`Fwctl::rpc`]. EINTR goes to the caller: the command may have reached the
/// firmware.
#[derive(Clone)]
pub struct Fwctl {
    file: Arc<dyn System>,
    info: InfoMlx5,
    limit: Limit,
}

impl Fwctl {
    /// Opens the device file of a device, to send what `limit` lets through.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(device: &Device, limit: Limit) -> Result<Self, OpenError> {
        let node = device.node();
        let refused = |errno| OpenError::of_node(node.clone(), errno);
        let file = DeviceFile::open(&node).map_err(refused)?;
        let is = file.number().map_err(refused)?;
        match device.number {
            Some(expected) if expected != is => Err(OpenError::OtherNode { node, is, expected }),
            _ => Fwctl::on(Box::new(file), node, limit),
        }
    }

    /// Asks an open file what it is.
    fn on(file: Box<dyn System>, node: PathBuf, limit: Limit) -> Result<Self, OpenError> {
        let mut info = InfoMlx5::default();
        let (device_type, length) = loop {
            let mut call = InfoCall::new(&mut info);
            match file.info(&mut call) {
                Ok(()) => break (call.message().out_device_type, call.message().device_data_len),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(OpenError::of_info(node, errno)),
            }
        };
        if device_type != DEVICE_TYPE_MLX5 {
            return Err(OpenError::NotMlx5 { node, device_type });
        }
        if (length as usize) < size_of::<InfoMlx5>() {
            return Err(OpenError::ShortInfo { node, length });
        }
        Ok(Fwctl { file: file.into(), info, limit })
    }

    /// What the driver said of the open file.
    pub fn info(&self) -> &InfoMlx5 {
        &self.info
    }

    /// What it lets through.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Whether a mailbox would be sent, and in which scope: the narrowest that the driver wants.
    ///
    /// # Errors
    /// [`RpcError::NotAdmitted`], [`RpcError::Changes`], [`RpcError::OverLimit`].
    pub fn check(&self, input: &[u8]) -> Result<Scope, RpcError> {
        let scope = scope_needed(input).ok_or(RpcError::NotAdmitted { opcode: opcode(input) })?;
        self.within_limit(input, scope)?;
        Ok(scope)
    }

    /// Sends a mailbox in the narrowest scope that it needs, and gives the length of the answer;
    /// what is left of `output` becomes 0.
    ///
    /// A refusal of the firmware is no error here: [`outcome`](crate::outcome) makes one of it.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub fn rpc(&self, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        check_lengths(input, output)?;
        let scope = self.check(input)?;
        self.call(scope, input, output)
    }

    /// [`Fwctl::rpc`] in a scope that the caller chooses: whether it lets the command through is
    /// left to the driver, whose list may be newer than [`admitted`].
    ///
    /// # Errors
    /// See [`RpcError`]. The [`Limit`] holds; [`Limit::ReadOnly`] keeps back every command that is
    /// not known here.
    pub fn rpc_in(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        check_lengths(input, output)?;
        self.within_limit(input, scope)?;
        self.call(scope, input, output)
    }

    fn within_limit(&self, input: &[u8], needs: Scope) -> Result<(), RpcError> {
        let (opcode, limit) = (opcode(input), self.limit);
        if limit == Limit::ReadOnly && changes(input) {
            let op_mod = input.get(6..8).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
            return Err(RpcError::Changes { opcode, op_mod });
        }
        if needs > limit.scope() {
            return Err(RpcError::OverLimit { opcode, needs, limit });
        }
        Ok(())
    }

    fn call(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        let lengths = (input.len(), output.len());
        let mut call = RpcCall::new(scope as u32, input, output)
            .ok_or(RpcError::Length { input: lengths.0, output: lengths.1 })?;
        self.file
            .rpc(&mut call)
            .map_err(|errno| RpcError::of_call(errno, opcode(input), scope, lengths))?;
        // The kernel says how long the answer is, and writes no more of it than there is room for.
        let length = (call.message().out_len as usize).min(output.len());
        output[length..].fill(0);
        if length < HEADER {
            return Err(RpcError::ShortAnswer(length));
        }
        Ok(length)
    }

    /// A call of [`Transport`].
    fn send(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.rpc(input, output).map_err(|error| error.errno())?;
        // The status is the first byte of every output.
        if output[0] == 0 { Ok(()) } else { Err(Errno::REMOTEIO) }
    }
}

/// Refuses what the driver would refuse for its length.
fn check_lengths(input: &[u8], output: &[u8]) -> Result<(), RpcError> {
    let may = HEADER..=MAX_RPC_LEN;
    if may.contains(&input.len()) && may.contains(&output.len()) {
        return Ok(());
    }
    Err(RpcError::Length { input: input.len(), output: output.len() })
}

fn opcode(input: &[u8]) -> Opcode {
    mlx5_prm::opcode(input).unwrap_or_default()
}

impl Transport for Fwctl {
    fn create(&self, _: &[u8], _: &mut [u8]) -> Result<Handle, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn modify(&self, _: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }

    fn query(&self, _: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }

    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }
}

impl fmt::Debug for Fwctl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fwctl")
            .field("info", &self.info)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use mlx5_prm::{
        Cqn, CreateCqIn, ModifyCqIn, PaosReg, PortAdminStatus, PpcntReg, QueryCqIn, QueryHcaCapIn,
        QueryHcaCapOut, Request, Status,
    };

    use super::fake::{Fake, UID};
    use super::*;
    use crate::{Cq, Error, general, read_register, write_register};

    fn open(fake: &Fake, limit: Limit) -> Fwctl {
        Fwctl::on(fake.system(), PathBuf::from("/dev/fwctl/fwctl0"), limit).expect("a device")
    }

    fn header(opcode: u16, op_mod: u16) -> [u8; 16] {
        let mut input = [0; 16];
        input[..2].copy_from_slice(&opcode.to_be_bytes());
        input[6..8].copy_from_slice(&op_mod.to_be_bytes());
        input
    }

    #[test]
    fn an_open_file_says_what_it_is() {
        let fake = Fake::default();
        fake.set(|state| state.interrupts = 2);
        let fwctl = open(&fake, Limit::ReadOnly);
        assert_eq!(*fwctl.info(), InfoMlx5 { uid: UID.into(), uctx_caps: 4 });
        assert_eq!(fwctl.clone().limit(), Limit::ReadOnly);
    }

    #[test]
    fn what_is_no_mlx5_device_is_not_opened() {
        let node = PathBuf::from("/dev/fwctl/fwctl0");
        let refused = |change: fn(&mut fake::State)| {
            let fake = Fake::default();
            fake.set(change);
            Fwctl::on(fake.system(), node.clone(), Limit::ReadOnly).expect_err("no device")
        };
        let cxl = refused(|state| state.device_type = Some(2));
        assert_eq!(cxl.to_string(), "/dev/fwctl/fwctl0 is no mlx5 device: its type is CXL");
        let short = refused(|state| state.info_len = Some(4));
        assert_eq!(short, OpenError::ShortInfo { node: node.clone(), length: 4 });
        let other = refused(|state| state.refuse = Some(Errno::NOTTY));
        assert_eq!(other, OpenError::NotFwctl { node: node.clone() });
        let gone = refused(|state| state.refuse = Some(Errno::NODEV));
        assert_eq!(gone, OpenError::Gone { node: node.clone() });
        let errno = Errno::NOMEM;
        let error = refused(|state| state.refuse = Some(Errno::NOMEM));
        assert_eq!(error, OpenError::NoInfo { node: node.clone(), errno });
    }

    #[test]
    fn a_device_whose_file_is_missing_is_not_opened() {
        let root = tempfile::tempdir().expect("a directory");
        let device = root.path().join("class/fwctl/fwctl4095");
        std::fs::create_dir_all(&device).expect("a directory");
        std::fs::write(device.join("dev"), "510:4095\n").expect("a file");
        let device =
            Device::find_in(root.path(), Selector::Name("fwctl4095")).expect("it was just made");
        let error = Fwctl::open(&device, Limit::ReadOnly).expect_err("no file");
        assert_eq!(error, OpenError::NoNode { node: device.node() });
    }

    #[test]
    fn registers_are_read_and_written() -> Result<(), Error> {
        let fake = Fake::default();
        let tool = open(&fake, Limit::UpTo(Scope::DebugReadOnly));
        let port = PaosReg::new().with_local_port(1);
        write_register(&tool, port.with_admin_status(PortAdminStatus::UP).with_ase(true))?;
        let reader = open(&fake, Limit::ReadOnly);
        assert_eq!(read_register(&reader, port)?.admin_status(), PortAdminStatus::UP);
        let scopes: Vec<u32> = fake.sent().iter().map(|(scope, _)| *scope).collect();
        assert_eq!(scopes, [0, 1]);
        // ACCESS_REG, to read, PAOS, port 1.
        let mut expected = header(0x805, 1).to_vec();
        expected[10..12].copy_from_slice(&[0x50, 0x06]);
        expected.extend([0, 1, 0, 0]);
        expected.resize(0x10 + size_of::<PaosReg>(), 0);
        assert_eq!(fake.sent()[1].1, expected);
        Ok(())
    }

    #[test]
    fn a_reader_never_sends_what_changes() {
        let fake = Fake::default();
        let reader = open(&fake, Limit::ReadOnly);
        let port = PaosReg::new().with_local_port(1);
        let refused = write_register(&reader, port).expect_err("a write");
        assert_eq!(refused.errno(), Errno::ACCESS);
        let cleared = read_register(&reader, PpcntReg::new().with_clr(true)).expect_err("a clear");
        assert_eq!(cleared.errno(), Errno::ACCESS);
        let mut output = [0; 16];
        for command in admitted() {
            let input = header(command.opcode.0, 0);
            let result = reader.rpc(&input, &mut output);
            if command.write.is_some() {
                let opcode = command.opcode;
                assert_eq!(result, Err(RpcError::Changes { opcode, op_mod: 0 }));
            } else {
                assert_eq!(result, Ok(16), "{}", command.name);
            }
        }
        // Nor when the caller chooses the scope, and of commands that are not known here.
        for opcode in [0x109, 0x820, 0x400, 0xffff] {
            let error = reader.rpc_in(Scope::Configuration, &header(opcode, 1), &mut output);
            assert!(matches!(error, Err(RpcError::Changes { .. })), "{error:?}");
        }
        assert!(fake.sent().iter().all(|(scope, input)| *scope <= 1 && !changes(input)));
    }

    #[test]
    fn nothing_goes_beyond_the_limit() {
        let fake = Fake::default();
        for limit in
            [Scope::Configuration, Scope::DebugReadOnly, Scope::DebugWrite, Scope::DebugWriteFull]
        {
            let fwctl = open(&fake, Limit::UpTo(limit));
            for (input, needs) in [
                (header(0x100, 1), Scope::Configuration),
                (header(0x805, 0), Scope::Configuration),
                (header(0x805, 1), Scope::DebugReadOnly),
                (header(0x402, 0), Scope::DebugReadOnly),
                (header(0x820, 0), Scope::DebugWrite),
            ] {
                let before = fake.sent().len();
                let result = fwctl.rpc(&input, &mut [0; 16]);
                if needs <= limit {
                    assert_eq!(result, Ok(16));
                    assert_eq!(fwctl.check(&input), Ok(needs));
                    assert_eq!(fake.sent()[before..], [(needs as u32, input.to_vec())]);
                } else {
                    let opcode = opcode(&input);
                    let error = RpcError::OverLimit { opcode, needs, limit: Limit::UpTo(limit) };
                    assert_eq!(result, Err(error));
                    assert_eq!(fwctl.check(&input), Err(error));
                    assert_eq!(fake.sent().len(), before);
                }
            }
        }
        let fwctl = open(&fake, Limit::UpTo(Scope::DebugReadOnly));
        let refused = fwctl.rpc(&header(0x820, 0), &mut [0; 16]).expect_err("over the limit");
        assert_eq!(
            refused.to_string(),
            "SET_DIAGNOSTIC_PARAMS(0x820) was not sent: it needs scope debug write, and the limit \
             is scope debug read only"
        );
        let result = fwctl.rpc_in(Scope::DebugWrite, &header(0x402, 0), &mut [0; 16]);
        assert!(matches!(result, Err(RpcError::OverLimit { .. })));
    }

    #[test]
    fn what_no_scope_lets_through_is_not_sent() {
        let fake = Fake::default();
        let fwctl = open(&fake, Limit::UpTo(Scope::DebugWriteFull));
        let error = fwctl.check(CreateCqIn::new().bytes()).expect_err("it makes an object");
        assert_eq!(
            error.to_string(),
            "CREATE_CQ(0x400) was not sent: the fwctl driver lets no such command through in any \
             scope; the backends ioctl and libmlx5 may"
        );
        let cq = Cq::new(&fwctl, Handle(0), Cqn::new(7));
        let error = cq.modify(&mut ModifyCqIn::new()).expect_err("it changes an object");
        assert_eq!(error.errno(), Errno::BADMSG);
        let made = fwctl.create(CreateCqIn::new().bytes(), &mut [0; 16]);
        assert_eq!(made, Err(Errno::OPNOTSUPP));
        assert_eq!(fwctl.destroy(Handle(0)), Err(Errno::OPNOTSUPP));
        assert_eq!(fake.sent(), []);
        // A driver with another list has its own say.
        let opcode = Opcode(0x403);
        let scope = Scope::DebugWrite;
        assert_eq!(
            fwctl.rpc_in(scope, &header(0x403, 0), &mut [0; 16]),
            Err(RpcError::NotAdmittedByDriver { opcode, scope })
        );
    }

    #[test]
    fn a_refusal_of_the_firmware_is_one_here() {
        let fake = Fake::default();
        let fwctl = open(&fake, Limit::ReadOnly);
        let cq = Cq::new(&fwctl, Handle(0), Cqn::new(7));
        let error = cq.query(&mut QueryCqIn::new()).expect_err("there is no such CQ");
        let Error::Firmware { opcode, status, syndrome, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(opcode, Opcode::QUERY_CQ);
        assert!(status != Status::OK && syndrome != 0);
        // The kernel itself calls it success.
        let mut output = [0xff; 0x110];
        let input = QueryCqIn::new().with_cqn(Cqn::new(7));
        assert_eq!(fwctl.rpc(input.bytes(), &mut output), Ok(0x110));
        assert_eq!(output[0], status.0);
        assert_eq!(output[4..8], syndrome.to_be_bytes());
    }

    #[test]
    fn the_answer_is_as_long_as_the_kernel_says() {
        let fake = Fake::default();
        let fwctl = open(&fake, Limit::ReadOnly);
        let query = QueryHcaCapIn::new().with_op_mod(1);
        let answer = general(&fwctl, &query).expect("capabilities");
        assert!(answer.as_bytes()[16..].iter().any(|byte| *byte != 0));
        let mut output = [0xff; size_of::<QueryHcaCapOut>()];
        fake.set(|state| state.out_len = Some(0x20));
        assert_eq!(fwctl.rpc(query.bytes(), &mut output), Ok(0x20));
        assert_eq!(output[..0x20], answer.as_bytes()[..0x20]);
        assert_eq!(output[0x20..], [0; size_of::<QueryHcaCapOut>() - 0x20]);
        fake.set(|state| state.out_len = Some(u32::MAX));
        assert_eq!(fwctl.rpc(query.bytes(), &mut output), Ok(output.len()));
        fake.set(|state| state.out_len = Some(8));
        assert_eq!(fwctl.rpc(query.bytes(), &mut output), Err(RpcError::ShortAnswer(8)));
        assert_eq!(fwctl.general(query.bytes(), &mut output), Err(Errno::IO));
    }

    #[test]
    fn mailboxes_of_a_wrong_length_are_not_sent() {
        let fake = Fake::default();
        let fwctl = open(&fake, Limit::ReadOnly);
        let long = vec![0; MAX_RPC_LEN + 1];
        let good = header(0x402, 0);
        for (input, output) in
            [(&good[..8], 16), (&good, 8), (&long, 16), (&good, MAX_RPC_LEN + 1), (&[], 0)]
        {
            let error = RpcError::Length { input: input.len(), output };
            assert_eq!(fwctl.rpc(input, &mut vec![0; output]), Err(error));
            assert_eq!(fwctl.general(input, &mut vec![0; output]), Err(Errno::MSGSIZE));
        }
        assert_eq!(fake.sent(), []);
        assert_eq!(fwctl.rpc(&good, &mut vec![0; MAX_RPC_LEN]), Ok(MAX_RPC_LEN));
    }

    #[test]
    fn what_the_kernel_says_is_kept() {
        let fake = Fake::default();
        let fwctl = open(&fake, Limit::UpTo(Scope::DebugWriteFull));
        let (opcode, scope) = (Opcode::QUERY_CQ, Scope::DebugReadOnly);
        for (errno, error) in [
            (Errno::NOTTY, RpcError::NotFwctl),
            (Errno::PERM, RpcError::NotPermitted { scope }),
            (Errno::MSGSIZE, RpcError::Length { input: 16, output: 16 }),
            (Errno::TOOBIG, RpcError::OlderKernel),
            (Errno::NODEV, RpcError::Gone),
            (Errno::BADMSG, RpcError::NotAdmittedByDriver { opcode, scope }),
            (Errno::INTR, RpcError::Kernel { opcode, errno: Errno::INTR }),
        ] {
            fake.set(|state| state.refuse = Some(errno));
            let before = fake.sent().len();
            assert_eq!(fwctl.rpc(&header(0x402, 0), &mut [0; 16]), Err(error));
            assert_eq!(fake.sent().len(), before + 1, "{errno}: sent once");
            assert_eq!(fwctl.general(&header(0x402, 0), &mut [0; 16]), Err(errno));
        }
    }
}
