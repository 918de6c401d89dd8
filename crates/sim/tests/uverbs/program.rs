//! A program: its memory, and its calls, written out by the numbers of the headers.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use mlx5_devx::Errno;
use mlx5_devx::wire::{Input, Memory, Message, Output};
use mlx5_prm::{Cqc, CreateCqIn, Opcode};
use mlx5_sim::{Adapter, Uverbs};

/// Memory: buffers by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Buffers(pub(crate) BTreeMap<u64, Vec<u8>>);

impl Memory for Buffers {
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno> {
        match *input {
            Input::Inline { bytes, len } => Ok(bytes[..len.into()].to_vec()),
            Input::Memory { address, len } => {
                let buffer = self.0.get(&address).ok_or(Errno::FAULT)?;
                Ok(buffer.get(..len.into()).ok_or(Errno::FAULT)?.to_vec())
            }
        }
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        assert!(bytes.len() <= output.len.into());
        let buffer = self.0.get_mut(&output.address).ok_or(Errno::FAULT)?;
        buffer.get_mut(..bytes.len()).ok_or(Errno::FAULT)?.copy_from_slice(bytes);
        Ok(())
    }

    fn file(&self, number: i32) -> Result<OwnedFd, Errno> {
        FILES.with_borrow(|files| {
            let file = files.get(&number).ok_or(Errno::BADF)?;
            file.try_clone().map_err(|_| Errno::MFILE)
        })
    }
}

thread_local! {
    /// Files that calls can name.
    pub(crate) static FILES: std::cell::RefCell<BTreeMap<i32, OwnedFd>> = const {
        std::cell::RefCell::new(BTreeMap::new())
    };
}

/// An attribute of a message: its id, and what it is.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    /// A handle or a file.
    Number(u16, i64),
    /// An input.
    In(u16, Vec<u8>),
    /// An output of so many bytes.
    Out(u16, u16),
    /// An input or output of so many bytes that is nowhere.
    Nowhere(u16, u16),
    /// One that the program does not need.
    Optional(u16, Vec<u8>),
}

/// What a call left behind.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) result: Result<Option<OwnedFd>, Errno>,
    /// The numbers in the attributes, by id.
    pub(crate) numbers: BTreeMap<u16, u64>,
    /// The outputs that are marked as valid.
    pub(crate) outputs: BTreeMap<u16, Vec<u8>>,
    /// The others.
    pub(crate) untouched: BTreeMap<u16, Vec<u8>>,
}

impl Left {
    #[track_caller]
    pub(crate) fn errno(&self) -> Errno {
        *self.result.as_ref().expect_err("refused")
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.result.as_ref().expect("it is done");
        self
    }

    #[track_caller]
    pub(crate) fn file(self) -> OwnedFd {
        self.result.expect("it is done").expect("a file")
    }

    #[track_caller]
    pub(crate) fn u32(&self, id: u16) -> u32 {
        u32::from_ne_bytes(self.outputs[&id][..].try_into().expect("4 bytes"))
    }

    #[track_caller]
    pub(crate) fn u64(&self, id: u16) -> u64 {
        u64::from_ne_bytes(self.outputs[&id][..].try_into().expect("8 bytes"))
    }

    #[track_caller]
    pub(crate) fn handle(&self) -> i64 {
        self.numbers[&0x1000] as i64
    }
}

/// A program with a device file.
pub(crate) struct Program {
    pub(crate) adapter: Adapter,
    pub(crate) uverbs: Uverbs,
}

/// A message, attribute by attribute: id, length, flags, data.
pub(crate) fn message(
    object: u16,
    method: u16,
    driver: u32,
    attrs: &[(u16, u16, u16, u64)],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((24 + 16 * attrs.len() as u16).to_ne_bytes());
    bytes.extend(object.to_ne_bytes());
    bytes.extend(method.to_ne_bytes());
    bytes.extend((attrs.len() as u16).to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(driver.to_ne_bytes());
    bytes.extend([0; 4]);
    for (id, len, flags, data) in attrs {
        bytes.extend(id.to_ne_bytes());
        bytes.extend(len.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(data.to_ne_bytes());
    }
    bytes
}

impl Program {
    /// One whose file has no context.
    pub(crate) fn new() -> Self {
        let adapter = Adapter::new();
        let uverbs = Uverbs::open(&adapter);
        Program { adapter, uverbs }
    }

    /// One whose context may send commands.
    pub(crate) fn with_devx() -> Self {
        let program = Self::new();
        program.get_context(1).ok();
        program
    }

    /// One whose context may not.
    pub(crate) fn without_devx() -> Self {
        let program = Self::new();
        program.get_context(0).ok();
        program
    }

    pub(crate) fn call(&self, object: u16, method: u16, args: &[Arg]) -> Left {
        let mut memory = Buffers::default();
        let mut attrs = Vec::new();
        for arg in args {
            let address = 0x1_0000 * (attrs.len() as u64 + 1);
            let (id, len, flags, data) = match arg {
                Arg::Number(id, number) => (*id, 0, 1, *number as u64),
                Arg::In(id, bytes) | Arg::Optional(id, bytes) => {
                    let flags = matches!(arg, Arg::In(..)) as u16;
                    if bytes.len() <= 8 {
                        let mut data = [0; 8];
                        data[..bytes.len()].copy_from_slice(bytes);
                        (*id, bytes.len() as u16, flags, u64::from_ne_bytes(data))
                    } else {
                        memory.0.insert(address, bytes.clone());
                        (*id, bytes.len() as u16, flags, address)
                    }
                }
                Arg::Out(id, len) => {
                    memory.0.insert(address, vec![0xee; (*len).into()]);
                    (*id, *len, 1, address)
                }
                Arg::Nowhere(id, len) => (*id, *len, 1, address),
            };
            attrs.push((id, len, flags, data));
        }
        let bytes = message(object, method, 1, &attrs);
        let mut message = Message::parse(&bytes).expect("well-formed");
        let result = self.uverbs.ioctl(&mut message, &mut memory);
        let (mut numbers, mut outputs) = (BTreeMap::new(), BTreeMap::new());
        let mut untouched = BTreeMap::new();
        for (attr, arg) in message.attrs().zip(args) {
            match arg {
                Arg::Number(id, _) => drop(numbers.insert(*id, attr.data)),
                Arg::Out(id, _) => {
                    let of = if attr.has_output() { &mut outputs } else { &mut untouched };
                    of.insert(*id, memory.0.remove(&attr.data).expect("it is there"));
                }
                _ => assert!(!attr.has_output()),
            }
        }
        Left { result, numbers, outputs, untouched }
    }

    /// `UVERBS_METHOD_GET_CONTEXT`, as libmlx5 calls it.
    pub(crate) fn get_context(&self, flags: u32) -> Left {
        self.call(0, 3, &context(&request(flags)))
    }

    pub(crate) fn create(&self, input: &[u8], output: u16) -> Left {
        let args =
            [Arg::Number(0x1000, 0), Arg::In(0x1001, input.to_vec()), Arg::Out(0x1002, output)];
        self.call(0x1001, 0x1000, &args)
    }

    pub(crate) fn destroy(&self, handle: i64) -> Left {
        self.call(0x1001, 0x1001, &[Arg::Number(0x1000, handle)])
    }

    pub(crate) fn modify(&self, handle: i64, input: &[u8], output: u16) -> Left {
        let args = [
            Arg::Number(0x1000, handle),
            Arg::In(0x1001, input.to_vec()),
            Arg::Out(0x1002, output),
        ];
        self.call(0x1001, 0x1002, &args)
    }

    pub(crate) fn query(&self, handle: i64, input: &[u8], output: u16) -> Left {
        let args = [
            Arg::Number(0x1000, handle),
            Arg::In(0x1001, input.to_vec()),
            Arg::Out(0x1002, output),
        ];
        self.call(0x1001, 0x1003, &args)
    }

    pub(crate) fn other(&self, input: &[u8], output: u16) -> Left {
        self.call(0x1000, 0x1000, &[Arg::In(0x1000, input.to_vec()), Arg::Out(0x1001, output)])
    }

    /// A CQ: its handle and its number.
    #[track_caller]
    pub(crate) fn cq(&self) -> (i64, u32) {
        let left = self.create(&create_cq(0), 16).ok();
        let number = &left.outputs[&0x1002][8..12];
        (left.handle(), u32::from_be_bytes(number.try_into().expect("4 bytes")))
    }

    pub(crate) fn umem(&self, address: u64, length: u64, access: u32, sizes: Option<u64>) -> Left {
        let mut args = vec![
            Arg::In(0x1001, address.to_ne_bytes().to_vec()),
            Arg::In(0x1002, length.to_ne_bytes().to_vec()),
            Arg::In(0x1003, access.to_ne_bytes().to_vec()),
        ];
        args.extend(sizes.map(|sizes| Arg::Optional(0x1005, sizes.to_ne_bytes().to_vec())));
        args.extend([Arg::Out(0x1004, 4), Arg::Number(0x1000, 0)]);
        self.call(0x1002, 0x1000, &args)
    }

    pub(crate) fn uar(&self, kind: u64) -> Left {
        let args = [
            Arg::Number(0x1000, 0),
            Arg::In(0x1001, kind.to_ne_bytes().to_vec()),
            Arg::Out(0x1002, 8),
            Arg::Out(0x1003, 4),
            Arg::Out(0x1004, 4),
        ];
        self.call(0x1008, 0x1000, &args)
    }
}

/// `struct mlx5_ib_alloc_ucontext_req_v2`, as libmlx5 fills it.
pub(crate) fn request(flags: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend([16u32, 4, flags, 0].map(u32::to_ne_bytes).concat());
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(3u64.to_ne_bytes());
    bytes
}

/// The attributes of a context.
pub(crate) fn context(request: &[u8]) -> Vec<Arg> {
    vec![Arg::Out(0, 4), Arg::Out(1, 8), Arg::In(0x1000, request.to_vec()), Arg::Out(0x1001, 72)]
}

pub(crate) fn create_cq(eqn: u32) -> Vec<u8> {
    let context = Cqc::new().with_log_cq_size(4).with_c_eqn_or_apu_element(eqn);
    CreateCqIn::new().with_cq_context(context).as_bytes().to_vec()
}

/// A command on a CQ, of 16 bytes.
pub(crate) fn on_cq(opcode: Opcode, number: u32) -> Vec<u8> {
    let mut input = vec![0; 16];
    input[..2].copy_from_slice(&opcode.0.to_be_bytes());
    input[8..12].copy_from_slice(&number.to_be_bytes());
    input
}

/// Whether the firmware has an object.
pub(crate) fn exists(adapter: &Adapter, query: Opcode, number: u32) -> bool {
    let mut output = [0; 512];
    adapter.firmware(&on_cq(query, number), &mut output);
    output[0] == 0
}

/// Reads whatever is in a file, as `read(2)` does.
pub(crate) fn read_raw(file: &OwnedFd, len: usize) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = vec![0xee; len];
    let mut file = std::fs::File::from(file.try_clone().expect("a duplicate"));
    let read = file.read(&mut bytes).expect("something to read");
    bytes.truncate(read);
    bytes
}

/// Whether there is something to read.
pub(crate) fn is_readable(file: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut files = [PollFd::new(file, PollFlags::IN)];
    poll(&mut files, Some(&Timespec::default())).expect("it can be polled") == 1
}

/// Sets O_NONBLOCK.
pub(crate) fn without_waiting(file: &OwnedFd) {
    rustix::fs::fcntl_setfl(file, rustix::fs::OFlags::NONBLOCK).expect("it can be set");
}
