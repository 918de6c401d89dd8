//! Messages of `RDMA_VERBS_IOCTL`, one after the other, to the simulated kernel, and the memory that
//! they point to. What one is made of:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 0 to 15: a method of the kernel's (`METHODS`); 16 to 31: the same, with the attributes of a good message, which the following ones change; 32 to 47: a command to memory (`mlx5_fuzz::commands`); else bytes to be parsed as a message |
//! | 1 | how many attributes follow |
//! | 1, 2, 1, 1, 8 each | which attribute, its length, flags, reserved, data |
//!
//! No message panics. An errno is from 1 to 4095. A handle that is given is that of no object that is
//! there, and one that was ended is no longer there; so there are never fewer than none. An output is
//! marked as written if and only if it was, and no byte behind its end is written. A message is read
//! as it was written, and so is the call that it makes, whatever the order of its attributes. A
//! refused message changes no handle that was there.
//!
//! For long: `cargo +nightly fuzz run uverbs -- -max_total_time=3600`
#![no_main]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd};

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use mlx5_devx::Errno;
use mlx5_devx::wire::numbers::{FLAG_MANDATORY, FLAG_VALID_OUTPUT, attr, method, object};
use mlx5_devx::wire::{Attr, Call, DRIVER_MLX5, Header, Input, Malformed, Memory, Message, Output};
use mlx5_devx::{Handle, Target, TargetKind};
use mlx5_fuzz::commands::{Kind, Object, Step};
use mlx5_prm::{Cqc, EventType, Verb};
use mlx5_sim::{Adapter, Uverbs};

/// What an attribute is in a good message.
#[derive(Clone, Copy, PartialEq)]
enum As {
    /// The handle of a new object.
    New,
    /// That of an object that is there, or a file.
    Handle,
    /// A command, and its output.
    Command,
    Answer,
    /// An input in the message, of so many bytes, and what it is.
    Small(u16, u64),
    /// An output of so many bytes.
    Out(u16),
    /// The driver's part of GET_CONTEXT.
    Ask,
}

type Method = (u16, u16, &'static [(u16, As)]);

/// The methods, as the kernel declares them (`mlx5_user_ioctl_cmds.h`).
const METHODS: [Method; 16] = [
    (
        object::DEVICE,
        method::DEVICE_GET_CONTEXT,
        &[
            (attr::GET_CONTEXT_NUM_COMP_VECTORS, As::Out(4)),
            (attr::GET_CONTEXT_CORE_SUPPORT, As::Out(8)),
            (attr::UHW_IN, As::Ask),
            (attr::UHW_OUT, As::Out(72)),
        ],
    ),
    (
        object::DEVX_OBJ,
        method::DEVX_OBJ_CREATE,
        &[
            (attr::OBJ_CREATE_HANDLE, As::New),
            (attr::OBJ_CREATE_CMD_IN, As::Command),
            (attr::OBJ_CREATE_CMD_OUT, As::Answer),
        ],
    ),
    (object::DEVX_OBJ, method::DEVX_OBJ_DESTROY, &[(attr::OBJ_DESTROY_HANDLE, As::Handle)]),
    (
        object::DEVX_OBJ,
        method::DEVX_OBJ_MODIFY,
        &[
            (attr::OBJ_MODIFY_HANDLE, As::Handle),
            (attr::OBJ_MODIFY_CMD_IN, As::Command),
            (attr::OBJ_MODIFY_CMD_OUT, As::Answer),
        ],
    ),
    (
        object::DEVX_OBJ,
        method::DEVX_OBJ_QUERY,
        &[
            (attr::OBJ_QUERY_HANDLE, As::Handle),
            (attr::OBJ_QUERY_CMD_IN, As::Command),
            (attr::OBJ_QUERY_CMD_OUT, As::Answer),
        ],
    ),
    (
        object::DEVX,
        method::DEVX_OTHER,
        &[(attr::OTHER_CMD_IN, As::Command), (attr::OTHER_CMD_OUT, As::Answer)],
    ),
    (
        object::DEVX,
        method::DEVX_QUERY_EQN,
        &[(attr::QUERY_EQN_USER_VEC, As::Small(4, 1)), (attr::QUERY_EQN_DEV_EQN, As::Out(4))],
    ),
    (
        object::DEVX_UMEM,
        method::DEVX_UMEM_REG,
        &[
            (attr::UMEM_REG_HANDLE, As::New),
            (attr::UMEM_REG_ADDR, As::Small(8, 0x1000)),
            (attr::UMEM_REG_LEN, As::Small(8, 0x2000)),
            (attr::UMEM_REG_ACCESS, As::Small(4, 1)),
            (attr::UMEM_REG_OUT_ID, As::Out(4)),
        ],
    ),
    (object::DEVX_UMEM, method::DEVX_UMEM_DEREG, &[(attr::UMEM_DEREG_HANDLE, As::Handle)]),
    (
        object::UAR,
        method::UAR_ALLOC,
        &[
            (attr::UAR_ALLOC_HANDLE, As::New),
            (attr::UAR_ALLOC_TYPE, As::Small(8, 0)),
            (attr::UAR_ALLOC_MMAP_OFFSET, As::Out(8)),
            (attr::UAR_ALLOC_MMAP_LENGTH, As::Out(4)),
            (attr::UAR_ALLOC_PAGE_ID, As::Out(4)),
        ],
    ),
    (object::UAR, method::UAR_DESTROY, &[(attr::UAR_DESTROY_HANDLE, As::Handle)]),
    (
        object::DEVX_ASYNC_CMD_FD,
        method::DEVX_ASYNC_CMD_FD_ALLOC,
        &[(attr::ASYNC_CMD_FD_ALLOC_HANDLE, As::New)],
    ),
    (
        object::DEVX_ASYNC_EVENT_FD,
        method::DEVX_ASYNC_EVENT_FD_ALLOC,
        &[
            (attr::ASYNC_EVENT_FD_ALLOC_HANDLE, As::New),
            (attr::ASYNC_EVENT_FD_ALLOC_FLAGS, As::Small(4, 0)),
        ],
    ),
    (
        object::DEVX_OBJ,
        method::DEVX_OBJ_ASYNC_QUERY,
        &[
            (attr::OBJ_QUERY_ASYNC_HANDLE, As::Handle),
            (attr::OBJ_QUERY_ASYNC_CMD_IN, As::Command),
            (attr::OBJ_QUERY_ASYNC_OUT_LEN, As::Small(8, 0x200)),
            (attr::OBJ_QUERY_ASYNC_FD, As::Handle),
            (attr::OBJ_QUERY_ASYNC_WR_ID, As::Small(8, 7)),
        ],
    ),
    (
        object::DEVX,
        method::DEVX_SUBSCRIBE_EVENT,
        &[
            (attr::SUBSCRIBE_EVENT_FD_HANDLE, As::Handle),
            // PORT_STATE_CHANGE
            (attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST, As::Small(2, 0x09)),
            (attr::SUBSCRIBE_EVENT_COOKIE, As::Small(8, 7)),
        ],
    ),
    (object::DEVX_OBJ, 0x1fff, &[]),
];

/// Where inputs and outputs are: addresses below the length of these.
const INPUTS: u64 = 0x1_0000;
const OUTPUTS: u64 = 0x10_0000;

/// The memory of a program: a command, the request for a context, and whatever else is asked for below
/// `INPUTS`; outputs are noted.
struct Program {
    command: Vec<u8>,
    written: Vec<(Output, usize)>,
    reads: Cell<usize>,
}

impl Memory for Program {
    fn read(&self, input: &Input) -> std::result::Result<Vec<u8>, Errno> {
        self.reads.set(self.reads.get() + 1);
        match input {
            Input::Inline { bytes, len } => Ok(bytes[..usize::from(*len).min(8)].to_vec()),
            Input::Memory { address, len } if *address < INPUTS => {
                // The command, and zeros behind it.
                let from = (*address as usize).min(self.command.len());
                let bytes = self.command[from..].iter().copied().chain(std::iter::repeat(0));
                Ok(bytes.take((*len).into()).collect())
            }
            Input::Memory { .. } => Err(Errno::FAULT),
        }
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> std::result::Result<(), Errno> {
        assert!(bytes.len() <= output.len.into(), "{output:?}: {} bytes", bytes.len());
        if output.address >= OUTPUTS {
            return Err(Errno::FAULT);
        }
        self.written.push((*output, bytes.len()));
        Ok(())
    }
}

/// What there is by handle.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Devx,
    Umem,
    Uar,
}

struct Run {
    adapter: Adapter,
    uverbs: Uverbs,
    memory: Program,
    live: BTreeMap<u32, What>,
    /// Those of `live` that commands work on.
    objects: Vec<Object>,
    files: Vec<OwnedFd>,
}

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    let adapter = Adapter::new();
    let made = adapter.create_cq(&Cqc::new()).expect("a CQ");
    let cq = Object::of_verbs(TargetKind::Cq, made.handle, "cq", made.number.get());
    let mut run = Run {
        uverbs: Uverbs::open(&adapter),
        memory: Program { command: Vec::new(), written: Vec::new(), reads: Cell::new(0) },
        live: BTreeMap::new(),
        objects: vec![cq],
        files: Vec::new(),
        adapter,
    };
    while !from.is_empty() && run.step(&mut from).is_ok() {}
    run.end();
});

impl Run {
    fn step(&mut self, from: &mut Unstructured<'_>) -> Result<()> {
        let what = from.arbitrary::<u8>()?;
        match what {
            0..=31 => {
                let message = self.message(what, from)?;
                self.send(message);
            }
            32..=47 => self.memory.command = Step::read(from, &self.objects)?.input,
            _ => {
                let bytes = from.bytes(usize::from(what).min(from.len()))?;
                match Message::parse(bytes) {
                    Ok(message) => {
                        assert!(bytes.starts_with(message.as_bytes()));
                        self.send(message);
                    }
                    Err(malformed) => refused(malformed, bytes),
                }
            }
        }
        Ok(())
    }

    fn message(&self, what: u8, from: &mut Unstructured<'_>) -> Result<Message> {
        let (object_id, method_id, known) = METHODS[usize::from(what % 16)];
        let header = Header { object_id, method_id, driver_id: DRIVER_MLX5, ..Header::default() };
        let count = from.arbitrary::<u8>()? % 16;
        let newest = self.live.keys().next_back().copied().unwrap_or(0);
        let of_command = self.objects.last().map_or(0, |object| object.target.handle.0);
        let file = self.files.last().map_or(0, |file| file.as_raw_fd() as u64);
        let mut attrs = Vec::new();
        if what >= 16 {
            for (attr_id, kind) in known {
                let (len, data) = match kind {
                    As::New => (0, 0),
                    As::Handle if attr_id == &attr::OBJ_QUERY_ASYNC_FD => (0, file),
                    As::Handle if method_id == method::DEVX_SUBSCRIBE_EVENT => (0, file),
                    As::Handle if known.len() == 1 => (0, newest.into()),
                    As::Handle => (0, of_command),
                    As::Command => (self.memory.command.len() as u16, 0),
                    As::Answer => (0x400, 0x2000),
                    As::Small(len, data) => (*len, *data),
                    As::Out(len) => (*len, 0x3000),
                    // DEVX: 8 bytes in, as `mlx5_ib_alloc_ucontext_req_v2` has it; zeros follow.
                    As::Ask => (32, 0),
                };
                attrs.push(Attr {
                    attr_id: *attr_id,
                    len,
                    flags: FLAG_MANDATORY,
                    attr_data: 0,
                    data,
                });
            }
        }
        for _ in 0..count {
            let which = usize::from(from.arbitrary::<u8>()?);
            let attr = Attr {
                attr_id: match known.get(which % 16) {
                    Some((id, _)) => *id,
                    None => which as u16 & 0xf | (which as u16 & 0x10) << 8,
                },
                len: from.arbitrary()?,
                flags: from.arbitrary::<u8>()?.into(),
                attr_data: from.arbitrary::<u8>()?.into(),
                data: from.arbitrary()?,
            };
            // It replaces one that is there, if it says so.
            let place = attrs.iter().position(|a: &Attr| a.attr_id == attr.attr_id);
            match place {
                Some(place) if which & 0x80 == 0 => attrs[place] = attr,
                _ => attrs.push(attr),
            }
        }
        Ok(Message::new(header, &attrs))
    }

    /// Sends a message, and looks at what came of it.
    fn send(&mut self, mut message: Message) {
        round_trip(&message);
        self.ask(&message);
        let before: Vec<Attr> = message.attrs().collect();
        let call = Call::of(&message);
        self.memory.written.clear();
        let result = self.uverbs.ioctl(&mut message, &mut self.memory);
        let after: Vec<Attr> = message.attrs().collect();
        assert_eq!(before.len(), after.len());
        for (was, is) in before.iter().zip(&after) {
            let marked = is.flags & !was.flags;
            assert_eq!(is.flags & !FLAG_VALID_OUTPUT, was.flags & !FLAG_VALID_OUTPUT);
            assert_eq!((is.attr_id, is.len, is.attr_data), (was.attr_id, was.len, was.attr_data));
            let written = self.memory.written.iter().any(|(out, _)| out.attr_id == is.attr_id);
            assert_eq!(is.has_output(), was.has_output() || written, "{call:?}: {is:?}");
            assert!(marked & !FLAG_VALID_OUTPUT == 0);
        }
        let new = new_handle(&message);
        for (was, is) in before.iter().zip(&after) {
            assert!(was.data == is.data || Some(is.attr_id) == new.map(|(id, _)| id), "{is:?}");
        }
        match result {
            Err(errno) => assert!((1..4096).contains(&errno.raw_os_error()), "{errno:?}"),
            Ok(file) => self.note(call.expect("it is a call"), new, &after, file),
        }
    }

    /// GET_CONTEXT reads its request from where the command is.
    fn ask(&mut self, message: &Message) {
        let header = message.header();
        let get = (object::DEVICE, method::DEVICE_GET_CONTEXT);
        if (header.object_id, header.method_id) == get {
            // `flags` at 8: DEVX; the number of doorbells first.
            self.memory.command = [16u32, 4, 1].map(u32::to_ne_bytes).concat();
        }
    }

    fn note(
        &mut self,
        call: Call,
        new: Option<(u16, What)>,
        attrs: &[Attr],
        file: Option<OwnedFd>,
    ) {
        if let Some((id, what)) = new {
            let handle = attrs.iter().find(|a| a.attr_id == id).expect("it is needed").data;
            let handle = u32::try_from(handle).expect("handles have 32 bits");
            assert!(!self.objects.iter().any(|o| o.target.handle == Handle(handle.into())));
            assert!(self.live.insert(handle, what).is_none(), "{handle} is given twice");
            self.add(handle, what);
        }
        let ended = match call {
            Call::ObjDestroy { handle } => Some((handle, What::Devx)),
            Call::UmemDereg { handle } => Some((handle, What::Umem)),
            Call::UarDestroy { handle } => Some((handle, What::Uar)),
            _ => None,
        };
        if let Some((handle, what)) = ended {
            let handle = u32::try_from(handle).expect("it was there");
            assert_eq!(self.live.remove(&handle), Some(what), "{handle} was not there");
            self.objects.retain(|o| o.target.handle != Handle(handle.into()));
        }
        let makes_file = matches!(call, Call::AsyncCmdFdAlloc | Call::AsyncEventFdAlloc { .. });
        assert_eq!(file.is_some(), makes_file);
        self.files.extend(file);
        let mut read = [0; 0x400];
        if let Call::ObjQueryAsync { output_len, id, .. } = call {
            let there = self.files.iter().any(|file| {
                let flags = rustix_nonblock(file);
                flags
                    && matches!(self.uverbs.read(std::os::fd::AsFd::as_fd(file), &mut read), Ok(_))
            });
            // An answer that is longer than the buffer stays.
            if there && output_len <= 0x3f8 {
                assert_eq!(read[..8], id.to_ne_bytes());
            }
        }
        if let Call::SubscribeEvent { object: None, .. } = call {
            let told = self.adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]);
            assert!(told <= 16 * 64);
        }
    }

    fn add(&mut self, handle: u32, what: What) {
        let command = mlx5_prm::opcode(&self.memory.command)
            .and_then(|opcode| mlx5_prm::command(opcode.0))
            .filter(|command| command.verb == Verb::Create && what == What::Devx);
        if let Some(command) = command {
            let target = Target { kind: TargetKind::Devx, handle: Handle(handle.into()) };
            // Numbers count from 1; a wrong one makes refusals, which are welcome, too.
            let kind = Kind::Named(command.object.name);
            let number = 1 + self.objects.iter().filter(|o| o.kind == kind).count() as u32;
            self.objects.push(Object { target, kind, number });
        }
    }

    /// Every object that is there can be named, and when the file is closed none is left.
    fn end(self) {
        let Run { adapter, uverbs, live, objects, .. } = self;
        for handle in live.keys() {
            let handle = Handle((*handle).into());
            let target = Target { kind: TargetKind::Cq, handle };
            assert_ne!(adapter.end(target), Err(Errno::NOENT), "{handle:?}");
        }
        drop(uverbs);
        for handle in live.keys() {
            let handle = Handle((*handle).into());
            let target = Target { kind: TargetKind::Cq, handle };
            assert_eq!(adapter.end(target), Err(Errno::NOENT), "{handle:?} is left");
        }
        // What verbs made stays.
        assert_eq!(adapter.end(objects[0].target), Ok(()));
    }
}

/// The attribute that gets the handle of a new object, and what that is.
fn new_handle(message: &Message) -> Option<(u16, What)> {
    let header = message.header();
    match (header.object_id, header.method_id) {
        (object::DEVX_OBJ, method::DEVX_OBJ_CREATE) => Some((attr::OBJ_CREATE_HANDLE, What::Devx)),
        (object::DEVX_UMEM, method::DEVX_UMEM_REG) => Some((attr::UMEM_REG_HANDLE, What::Umem)),
        (object::UAR, method::UAR_ALLOC) => Some((attr::UAR_ALLOC_HANDLE, What::Uar)),
        _ => None,
    }
}

/// Sets a file to O_NONBLOCK, so that a read does not wait.
fn rustix_nonblock(file: &OwnedFd) -> bool {
    rustix::fs::fcntl_setfl(file, rustix::fs::OFlags::NONBLOCK).is_ok()
}

/// A message is read as it was written; what a call is does not depend on the order of its attributes.
fn round_trip(message: &Message) {
    assert_eq!(Message::parse(message.as_bytes()).as_ref(), Ok(message));
    let mut attrs: Vec<Attr> = message.attrs().collect();
    assert_eq!(&Message::new(message.header(), &attrs), message);
    for cut in [0, 23, 24, message.as_bytes().len() - 1] {
        if let Some(bytes) =
            message.as_bytes().get(..cut).filter(|b| b.len() < message.as_bytes().len())
        {
            assert!(Message::parse(bytes).is_err());
        }
    }
    attrs.reverse();
    let reversed = Call::of(&Message::new(message.header(), &attrs));
    match Call::of(message) {
        Ok(call) => assert_eq!(reversed, Ok(call)),
        // Another fault may be the first.
        Err(_) => assert!(reversed.is_err()),
    }
}

/// Bytes that are no message are none for a reason that they have.
fn refused(malformed: Malformed, bytes: &[u8]) {
    let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    match malformed {
        Malformed::NoHeader(len) => assert!(len == bytes.len() && len < 24),
        Malformed::Length { length, attrs } => {
            assert_eq!((length, attrs), (half(0), half(6)));
            assert_ne!(usize::from(length), 24 + usize::from(attrs) * 16);
        }
        Malformed::Reserved => assert!(bytes[8..16] != [0; 8] || bytes[20..24] != [0; 4]),
        Malformed::Cut { length, there } => {
            assert!(there == bytes.len() && there < usize::from(length));
        }
        other => panic!("{other}"),
    }
    assert!((1..4096).contains(&malformed.errno().raw_os_error()));
}
