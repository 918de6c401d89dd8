//! The backend `fwctl` over a simulated device file: what is sent, in which scope, and what is not.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use mlx5_devx::fwctl::wire::{InfoMlx5, MAX_RPC_LEN};
use mlx5_devx::fwctl::{
    Device, DeviceFile, FileInfo, Limit, OpenError, RpcError, Scope, Selector, admitted, changes,
};
use mlx5_devx::{
    Cq, Errno, Error, Fwctl, Handle, Transport, general, read_register, write_register,
};
use mlx5_prm::{
    Cqn, CreateCqIn, ModifyCqIn, Opcode, PaosReg, PortAdminStatus, PpcntReg, QueryCqIn,
    QueryHcaCapIn, QueryHcaCapOut, Request, Status,
};
use mlx5_sim::{Adapter, FwctlFile};

const NODE: &str = "/dev/fwctl/fwctl0";

/// A simulated file that keeps what it is sent, and says otherwise where a test wants it.
struct Fake {
    file: FwctlFile,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    /// Scope and input of each command that came.
    sent: Vec<(Scope, Vec<u8>)>,
    /// What each call is answered with.
    refuse: Option<Errno>,
    /// How long the answer to a command is said to be.
    out_len: Option<usize>,
    device_type: Option<u32>,
    info_len: Option<u32>,
    /// How many calls are interrupted before one is answered.
    interrupts: u32,
}

impl Fake {
    fn new() -> Arc<Self> {
        Arc::new(Fake { file: FwctlFile::new(Adapter::new()), told: Mutex::default() })
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().expect("no test panicked")
    }

    fn set(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told());
    }

    /// Scope and input of each command that came.
    fn sent(&self) -> Vec<(Scope, Vec<u8>)> {
        self.told().sent.clone()
    }
}

impl Told {
    fn may_answer(&mut self) -> Result<(), Errno> {
        if self.interrupts > 0 {
            self.interrupts -= 1;
            return Err(Errno::INTR);
        }
        self.refuse.map_or(Ok(()), Err)
    }
}

impl DeviceFile for Fake {
    fn node(&self) -> &Path {
        Path::new(NODE)
    }

    fn info(&self) -> Result<FileInfo, Errno> {
        let mut told = self.told();
        told.may_answer()?;
        let mut info = self.file.info()?;
        info.device_type = told.device_type.unwrap_or(info.device_type);
        info.length = told.info_len.unwrap_or(info.length);
        Ok(info)
    }

    fn rpc(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, Errno> {
        let mut told = self.told();
        told.sent.push((scope, input.to_vec()));
        told.may_answer()?;
        let length = self.file.rpc(scope, input, output)?;
        Ok(told.out_len.unwrap_or(length))
    }
}

fn open(fake: &Arc<Fake>, limit: Limit) -> Fwctl {
    Fwctl::over(Arc::clone(fake), limit).expect("a device")
}

fn header(opcode: u16, op_mod: u16) -> [u8; 16] {
    let mut input = [0; 16];
    input[..2].copy_from_slice(&opcode.to_be_bytes());
    input[6..8].copy_from_slice(&op_mod.to_be_bytes());
    input
}

#[test]
fn an_open_file_says_what_it_is() {
    let fake = Fake::new();
    fake.set(|state| state.interrupts = 2);
    let fwctl = open(&fake, Limit::ReadOnly);
    assert_eq!(*fwctl.info(), InfoMlx5 { uid: 2, uctx_caps: 4 });
    assert_eq!(fwctl.clone().limit(), Limit::ReadOnly);
    let text = format!("{fwctl:?}");
    assert_eq!(text, "Fwctl { info: InfoMlx5 { uid: 2, uctx_caps: 4 }, limit: ReadOnly, .. }");
}

#[test]
fn what_is_no_mlx5_device_is_not_opened() {
    let node = PathBuf::from(NODE);
    let refused = |change: fn(&mut Told)| {
        let fake = Fake::new();
        fake.set(change);
        Fwctl::over(fake, Limit::ReadOnly).expect_err("no device")
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
    let fake = Fake::new();
    let tool = open(&fake, Limit::UpTo(Scope::DebugReadOnly));
    let port = PaosReg::new().with_local_port(1);
    write_register(&tool, port.with_admin_status(PortAdminStatus::UP).with_ase(true))?;
    let reader = open(&fake, Limit::ReadOnly);
    assert_eq!(read_register(&reader, port)?.admin_status(), PortAdminStatus::UP);
    let scopes: Vec<Scope> = fake.sent().iter().map(|(scope, _)| *scope).collect();
    assert_eq!(scopes, [Scope::Configuration, Scope::DebugReadOnly]);
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
    let fake = Fake::new();
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
    assert!(
        fake.sent().iter().all(|(scope, input)| *scope <= Scope::DebugReadOnly && !changes(input))
    );
}

#[test]
fn nothing_goes_beyond_the_limit() {
    let fake = Fake::new();
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
                assert_eq!(fake.sent()[before..], [(needs, input.to_vec())]);
            } else {
                let opcode = mlx5_prm::opcode(&input).expect("it has one");
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
    let fake = Fake::new();
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
    let fake = Fake::new();
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
    let fake = Fake::new();
    let fwctl = open(&fake, Limit::ReadOnly);
    let query = QueryHcaCapIn::new().with_op_mod(1);
    let answer = general(&fwctl, &query).expect("capabilities");
    assert!(answer.as_bytes()[16..].iter().any(|byte| *byte != 0));
    let mut output = [0xff; size_of::<QueryHcaCapOut>()];
    fake.set(|state| state.out_len = Some(0x20));
    assert_eq!(fwctl.rpc(query.bytes(), &mut output), Ok(0x20));
    assert_eq!(output[..0x20], answer.as_bytes()[..0x20]);
    assert_eq!(output[0x20..], [0; size_of::<QueryHcaCapOut>() - 0x20]);
    fake.set(|state| state.out_len = Some(usize::MAX));
    assert_eq!(fwctl.rpc(query.bytes(), &mut output), Ok(output.len()));
    fake.set(|state| state.out_len = Some(8));
    assert_eq!(fwctl.rpc(query.bytes(), &mut output), Err(RpcError::ShortAnswer(8)));
    assert!(output.iter().all(|byte| *byte == 0), "it is no status");
    assert_eq!(fwctl.general(query.bytes(), &mut output), Err(Errno::IO));
}

#[test]
fn mailboxes_of_a_wrong_length_are_not_sent() {
    let fake = Fake::new();
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
    let fake = Fake::new();
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
