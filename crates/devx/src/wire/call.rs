//! Calls from the side of the kernel: what a message asks, by the kernel's rules.

use super::message::{Attr, Message};
use super::numbers::{attr, method, object};
use super::request::UmemMemory;
use crate::Errno;

/// What a message asks of the kernel.
///
/// `handle` is the object that the call is for. The handle of an object that the call makes is
/// written into the message: [`Message::set_handle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the arguments of the Request of the same name")]
pub enum Call {
    /// See [`Request::get_context`](super::Request::get_context).
    GetContext {
        ask: Option<Input>,
        answer: Option<Output>,
        num_comp_vectors: Option<Output>,
        core_support: Option<Output>,
    },
    /// See [`Request::obj_create`](super::Request::obj_create).
    ObjCreate { input: Input, output: Output },
    /// See [`Request::obj_destroy`](super::Request::obj_destroy).
    ObjDestroy { handle: i64 },
    /// See [`Request::obj_modify`](super::Request::obj_modify).
    ObjModify { handle: i64, input: Input, output: Output },
    /// See [`Request::obj_query`](super::Request::obj_query).
    ObjQuery { handle: i64, input: Input, output: Output },
    /// See [`Request::other`](super::Request::other).
    Other { input: Input, output: Output },
    /// See [`Request::query_eqn`](super::Request::query_eqn).
    QueryEqn { vector: u32, eqn: Output },
    /// See [`Request::umem_reg`](super::Request::umem_reg).
    UmemReg { memory: UmemMemory, access: u32, page_sizes: Option<u64>, umem_id: Output },
    /// See [`Request::umem_dereg`](super::Request::umem_dereg).
    UmemDereg { handle: i64 },
    /// See [`Request::uar_alloc`](super::Request::uar_alloc).
    UarAlloc { kind: u64, mmap_offset: Output, mmap_length: Output, page_id: Output },
    /// See [`Request::uar_destroy`](super::Request::uar_destroy).
    UarDestroy { handle: i64 },
    /// See [`Request::async_cmd_fd_alloc`](super::Request::async_cmd_fd_alloc).
    AsyncCmdFdAlloc,
    /// See [`Request::obj_query_async`](super::Request::obj_query_async).
    ObjQueryAsync { handle: i64, input: Input, output_len: u16, id: u64, fd: i64 },
    /// See [`Request::async_event_fd_alloc`](super::Request::async_event_fd_alloc).
    AsyncEventFdAlloc { flags: u32 },
    /// See [`Request::subscribe_event`](super::Request::subscribe_event). With `eventfd` the
    /// events are counted there: see
    /// [`Request::subscribe_event_fd`](super::Request::subscribe_event_fd).
    SubscribeEvent {
        fd: i64,
        cookie: Option<u64>,
        object: Option<i64>,
        types: Input,
        eventfd: Option<i32>,
    },
}

/// Where an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// In the message: the first `len` bytes, the others being 0 in every message of this crate.
    Inline {
        /// The bytes.
        bytes: [u8; 8],
        /// How many.
        len: u16,
    },
    /// In the memory of the program.
    Memory {
        /// Where.
        address: u64,
        /// How many bytes.
        len: u16,
    },
}

/// Where an output goes: in the memory of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// The attribute, for [`Message::set_output_valid`].
    pub attr_id: u16,
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub len: u16,
}

/// Why the kernel refuses a message before it looks at what the message points to
/// (`ib_uverbs_cmd_verbs`, `uverbs_set_attr` and `uverbs_process_attr` in `uverbs_ioctl.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It is none of the calls that this module knows.
    #[error("object {object:#x} has no method {method:#x} here")]
    Method {
        /// The kind of object.
        object: u16,
        /// The method.
        method: u16,
    },
    /// The method has no such attribute, and the program says that it must.
    #[error("the method has no attribute {0:#x}")]
    Unknown(u16),
    /// An attribute is there twice.
    #[error("attribute {0:#x} is there twice")]
    Twice(u16),
    /// An attribute has a length that the method does not take.
    #[error("attribute {attr:#x} cannot have {len} bytes")]
    Length {
        /// The attribute.
        attr: u16,
        /// Its length.
        len: u16,
    },
    /// A reserved field is not 0, or a file descriptor is none.
    #[error("attribute {0:#x} has a value that it cannot have")]
    Value(u16),
    /// An attribute is missing.
    #[error("attribute {0:#x} is missing")]
    Missing(u16),
}

impl Refused {
    /// What the kernel says of it.
    pub const fn errno(self) -> Errno {
        match self {
            Refused::Method { .. } | Refused::Unknown(_) => Errno::PROTONOSUPPORT,
            _ => Errno::INVAL,
        }
    }
}

/// What a method says of an attribute.
struct Spec {
    id: u16,
    kind: Kind,
    mandatory: bool,
}

enum Kind {
    /// A handle.
    Handle,
    /// A file descriptor of anything.
    Fd,
    /// An input of so many bytes.
    In(std::ops::RangeInclusive<u16>),
    /// An output of so many bytes.
    Out(std::ops::RangeInclusive<u16>),
}

const fn must(id: u16, kind: Kind) -> Spec {
    Spec { id, kind, mandatory: true }
}

const fn may(id: u16, kind: Kind) -> Spec {
    Spec { id, kind, mandatory: false }
}

/// A command's mailbox: at least the head that every command has (`general_obj_in_cmd_hdr`).
const COMMAND: std::ops::RangeInclusive<u16> = 16..=u16::MAX;
/// The driver's part of a call (`UVERBS_ATTR_UHW`).
const ANY: std::ops::RangeInclusive<u16> = 0..=u16::MAX;
const U32: std::ops::RangeInclusive<u16> = 4..=4;
const U64: std::ops::RangeInclusive<u16> = 8..=8;
/// Flags (`UVERBS_ATTR_FLAGS_IN`): 4 or 8 bytes, of which 5 to 7 are refused later on.
const FLAGS: std::ops::RangeInclusive<u16> = 4..=8;

/// The attributes of a method, from its declaration in the kernel: `uverbs_std_types_device.c`,
/// `devx.c`, `main.c`.
fn specs(object: u16, method: u16) -> Option<Vec<Spec>> {
    use Kind::{Fd, Handle, In, Out};
    Some(match (object, method) {
        (object::DEVICE, method::DEVICE_GET_CONTEXT) => vec![
            may(attr::GET_CONTEXT_NUM_COMP_VECTORS, Out(U32)),
            may(attr::GET_CONTEXT_CORE_SUPPORT, Out(U64)),
            may(attr::UHW_IN, In(ANY)),
            may(attr::UHW_OUT, Out(ANY)),
        ],
        (object::DEVX_OBJ, method::DEVX_OBJ_CREATE) => vec![
            must(attr::OBJ_CREATE_HANDLE, Handle),
            must(attr::OBJ_CREATE_CMD_IN, In(COMMAND)),
            must(attr::OBJ_CREATE_CMD_OUT, Out(COMMAND)),
        ],
        (object::DEVX_OBJ, method::DEVX_OBJ_DESTROY) => {
            vec![must(attr::OBJ_DESTROY_HANDLE, Handle)]
        }
        (object::DEVX_OBJ, method::DEVX_OBJ_MODIFY) => vec![
            must(attr::OBJ_MODIFY_HANDLE, Handle),
            must(attr::OBJ_MODIFY_CMD_IN, In(COMMAND)),
            must(attr::OBJ_MODIFY_CMD_OUT, Out(COMMAND)),
        ],
        (object::DEVX_OBJ, method::DEVX_OBJ_QUERY) => vec![
            must(attr::OBJ_QUERY_HANDLE, Handle),
            must(attr::OBJ_QUERY_CMD_IN, In(COMMAND)),
            must(attr::OBJ_QUERY_CMD_OUT, Out(COMMAND)),
        ],
        (object::DEVX, method::DEVX_OTHER) => {
            vec![must(attr::OTHER_CMD_IN, In(COMMAND)), must(attr::OTHER_CMD_OUT, Out(COMMAND))]
        }
        (object::DEVX, method::DEVX_QUERY_EQN) => {
            vec![must(attr::QUERY_EQN_USER_VEC, In(U32)), must(attr::QUERY_EQN_DEV_EQN, Out(U32))]
        }
        (object::DEVX_UMEM, method::DEVX_UMEM_REG) => vec![
            must(attr::UMEM_REG_HANDLE, Handle),
            must(attr::UMEM_REG_ADDR, In(U64)),
            must(attr::UMEM_REG_LEN, In(U64)),
            may(attr::UMEM_REG_DMABUF_FD, Fd),
            may(attr::UMEM_REG_ACCESS, In(FLAGS)),
            may(attr::UMEM_REG_PGSZ_BITMAP, In(U64)),
            must(attr::UMEM_REG_OUT_ID, Out(U32)),
        ],
        (object::DEVX_UMEM, method::DEVX_UMEM_DEREG) => {
            vec![must(attr::UMEM_DEREG_HANDLE, Handle)]
        }
        (object::UAR, method::UAR_ALLOC) => vec![
            must(attr::UAR_ALLOC_HANDLE, Handle),
            must(attr::UAR_ALLOC_TYPE, In(U64)),
            must(attr::UAR_ALLOC_MMAP_OFFSET, Out(U64)),
            must(attr::UAR_ALLOC_MMAP_LENGTH, Out(U32)),
            must(attr::UAR_ALLOC_PAGE_ID, Out(U32)),
        ],
        (object::UAR, method::UAR_DESTROY) => vec![must(attr::UAR_DESTROY_HANDLE, Handle)],
        (object::DEVX_ASYNC_CMD_FD, method::DEVX_ASYNC_CMD_FD_ALLOC) => {
            vec![must(attr::ASYNC_CMD_FD_ALLOC_HANDLE, Handle)]
        }
        (object::DEVX_OBJ, method::DEVX_OBJ_ASYNC_QUERY) => vec![
            must(attr::OBJ_QUERY_ASYNC_HANDLE, Handle),
            must(attr::OBJ_QUERY_ASYNC_CMD_IN, In(COMMAND)),
            must(attr::OBJ_QUERY_ASYNC_OUT_LEN, In(U64)),
            must(attr::OBJ_QUERY_ASYNC_FD, Handle),
            must(attr::OBJ_QUERY_ASYNC_WR_ID, In(U64)),
        ],
        (object::DEVX_ASYNC_EVENT_FD, method::DEVX_ASYNC_EVENT_FD_ALLOC) => vec![
            must(attr::ASYNC_EVENT_FD_ALLOC_HANDLE, Handle),
            must(attr::ASYNC_EVENT_FD_ALLOC_FLAGS, In(FLAGS)),
        ],
        (object::DEVX, method::DEVX_SUBSCRIBE_EVENT) => vec![
            must(attr::SUBSCRIBE_EVENT_FD_HANDLE, Handle),
            may(attr::SUBSCRIBE_EVENT_OBJ_HANDLE, Handle),
            must(attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST, In(2..=u16::MAX)),
            may(attr::SUBSCRIBE_EVENT_COOKIE, In(U64)),
            may(attr::SUBSCRIBE_EVENT_FD_NUM, In(U32)),
        ],
        _ => return None,
    })
}

impl Call {
    /// Reads what a message asks.
    ///
    /// An attribute that the method does not have is passed over when it is not mandatory.
    ///
    /// # Errors
    /// See [`Refused`]. The first fault in the order in which the kernel looks.
    pub fn of(message: &Message) -> Result<Self, Refused> {
        let header = message.header();
        let (object, method) = (header.object_id, header.method_id);
        let specs = specs(object, method).ok_or(Refused::Method { object, method })?;
        let args = Args::check(message, &specs)?;
        args.call(object, method)
    }
}

/// The attributes of a message that its method has.
struct Args(Vec<Attr>);

impl Args {
    fn check(message: &Message, specs: &[Spec]) -> Result<Self, Refused> {
        let mut args: Vec<Attr> = Vec::new();
        for attr in message.attrs() {
            let id = attr.attr_id;
            let Some(spec) = specs.iter().find(|spec| spec.id == id) else {
                if attr.is_mandatory() {
                    return Err(Refused::Unknown(id));
                }
                continue;
            };
            if args.iter().any(|known| known.attr_id == id) {
                return Err(Refused::Twice(id));
            }
            let fits = match &spec.kind {
                Kind::Handle | Kind::Fd => attr.len == 0,
                Kind::In(lengths) | Kind::Out(lengths) => lengths.contains(&attr.len),
            };
            if !fits {
                return Err(Refused::Length { attr: id, len: attr.len });
            }
            let is_fd = matches!(spec.kind, Kind::Fd);
            if attr.attr_data != 0 || (is_fd && i32::try_from(attr.data as i64).is_err()) {
                return Err(Refused::Value(id));
            }
            args.push(attr);
        }
        let is_there = |spec: &&Spec| args.iter().any(|attr| attr.attr_id == spec.id);
        match specs.iter().find(|spec| spec.mandatory && !is_there(spec)) {
            Some(missing) => Err(Refused::Missing(missing.id)),
            None => Ok(Args(args)),
        }
    }

    fn call(&self, object: u16, method: u16) -> Result<Call, Refused> {
        Ok(match (object, method) {
            (object::DEVICE, method::DEVICE_GET_CONTEXT) => Call::GetContext {
                ask: self.find(attr::UHW_IN).map(input),
                answer: self.find(attr::UHW_OUT).map(output),
                num_comp_vectors: self.find(attr::GET_CONTEXT_NUM_COMP_VECTORS).map(output),
                core_support: self.find(attr::GET_CONTEXT_CORE_SUPPORT).map(output),
            },
            (object::DEVX_OBJ, method::DEVX_OBJ_CREATE) => Call::ObjCreate {
                input: self.input(attr::OBJ_CREATE_CMD_IN)?,
                output: self.output(attr::OBJ_CREATE_CMD_OUT)?,
            },
            (object::DEVX_OBJ, method::DEVX_OBJ_DESTROY) => {
                Call::ObjDestroy { handle: self.handle(attr::OBJ_DESTROY_HANDLE)? }
            }
            (object::DEVX_OBJ, method::DEVX_OBJ_MODIFY) => Call::ObjModify {
                handle: self.handle(attr::OBJ_MODIFY_HANDLE)?,
                input: self.input(attr::OBJ_MODIFY_CMD_IN)?,
                output: self.output(attr::OBJ_MODIFY_CMD_OUT)?,
            },
            (object::DEVX_OBJ, method::DEVX_OBJ_QUERY) => Call::ObjQuery {
                handle: self.handle(attr::OBJ_QUERY_HANDLE)?,
                input: self.input(attr::OBJ_QUERY_CMD_IN)?,
                output: self.output(attr::OBJ_QUERY_CMD_OUT)?,
            },
            (object::DEVX, method::DEVX_OTHER) => Call::Other {
                input: self.input(attr::OTHER_CMD_IN)?,
                output: self.output(attr::OTHER_CMD_OUT)?,
            },
            (object::DEVX, method::DEVX_QUERY_EQN) => Call::QueryEqn {
                vector: first_half(self.need(attr::QUERY_EQN_USER_VEC)?.data),
                eqn: self.output(attr::QUERY_EQN_DEV_EQN)?,
            },
            (object::DEVX_UMEM, method::DEVX_UMEM_REG) => self.umem_reg()?,
            (object::DEVX_UMEM, method::DEVX_UMEM_DEREG) => {
                Call::UmemDereg { handle: self.handle(attr::UMEM_DEREG_HANDLE)? }
            }
            (object::UAR, method::UAR_ALLOC) => Call::UarAlloc {
                kind: self.need(attr::UAR_ALLOC_TYPE)?.data,
                mmap_offset: self.output(attr::UAR_ALLOC_MMAP_OFFSET)?,
                mmap_length: self.output(attr::UAR_ALLOC_MMAP_LENGTH)?,
                page_id: self.output(attr::UAR_ALLOC_PAGE_ID)?,
            },
            (object::UAR, method::UAR_DESTROY) => {
                Call::UarDestroy { handle: self.handle(attr::UAR_DESTROY_HANDLE)? }
            }
            (object::DEVX_ASYNC_CMD_FD, method::DEVX_ASYNC_CMD_FD_ALLOC) => Call::AsyncCmdFdAlloc,
            (object::DEVX_OBJ, method::DEVX_OBJ_ASYNC_QUERY) => Call::ObjQueryAsync {
                handle: self.handle(attr::OBJ_QUERY_ASYNC_HANDLE)?,
                input: self.input(attr::OBJ_QUERY_ASYNC_CMD_IN)?,
                output_len: u16::try_from(self.need(attr::OBJ_QUERY_ASYNC_OUT_LEN)?.data)
                    .map_err(|_| Refused::Value(attr::OBJ_QUERY_ASYNC_OUT_LEN))?,
                id: self.need(attr::OBJ_QUERY_ASYNC_WR_ID)?.data,
                fd: self.handle(attr::OBJ_QUERY_ASYNC_FD)?,
            },
            (object::DEVX_ASYNC_EVENT_FD, method::DEVX_ASYNC_EVENT_FD_ALLOC) => {
                Call::AsyncEventFdAlloc { flags: self.flags(attr::ASYNC_EVENT_FD_ALLOC_FLAGS)? }
            }
            (object::DEVX, method::DEVX_SUBSCRIBE_EVENT) => Call::SubscribeEvent {
                fd: self.handle(attr::SUBSCRIBE_EVENT_FD_HANDLE)?,
                cookie: self.find(attr::SUBSCRIBE_EVENT_COOKIE).map(|attr| attr.data),
                object: self.find(attr::SUBSCRIBE_EVENT_OBJ_HANDLE).map(|attr| attr.data as i64),
                types: self.input(attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST)?,
                eventfd: self
                    .find(attr::SUBSCRIBE_EVENT_FD_NUM)
                    .map(|attr| first_half(attr.data) as i32),
            },
            _ => return Err(Refused::Method { object, method }),
        })
    }

    fn umem_reg(&self) -> Result<Call, Refused> {
        let address = self.need(attr::UMEM_REG_ADDR)?.data;
        let length = self.need(attr::UMEM_REG_LEN)?.data;
        let memory = match self.find(attr::UMEM_REG_DMABUF_FD) {
            None => UmemMemory::Program { address, length },
            // `Args::check` saw that it fits.
            Some(fd) => UmemMemory::Dmabuf { fd: fd.data as i32, offset: address, length },
        };
        Ok(Call::UmemReg {
            memory,
            access: self.flags(attr::UMEM_REG_ACCESS)?,
            page_sizes: self.find(attr::UMEM_REG_PGSZ_BITMAP).map(|attr| attr.data),
            umem_id: self.output(attr::UMEM_REG_OUT_ID)?,
        })
    }

    /// Flags: none when they are not there; those of 8 bytes must fit 4 (`uverbs_get_flags32`).
    fn flags(&self, id: u16) -> Result<u32, Refused> {
        match self.find(id) {
            None => Ok(0),
            Some(Attr { len: 4, data, .. }) => Ok(first_half(data)),
            Some(Attr { len: 8, data, .. }) => u32::try_from(data).map_err(|_| Refused::Value(id)),
            Some(Attr { len, .. }) => Err(Refused::Length { attr: id, len }),
        }
    }

    fn find(&self, id: u16) -> Option<Attr> {
        self.0.iter().find(|attr| attr.attr_id == id).copied()
    }

    fn need(&self, id: u16) -> Result<Attr, Refused> {
        self.find(id).ok_or(Refused::Missing(id))
    }

    fn handle(&self, id: u16) -> Result<i64, Refused> {
        self.need(id).map(|attr| attr.data as i64)
    }

    fn input(&self, id: u16) -> Result<Input, Refused> {
        self.need(id).map(input)
    }

    fn output(&self, id: u16) -> Result<Output, Refused> {
        self.need(id).map(output)
    }
}

fn input(attr: Attr) -> Input {
    if attr.len <= 8 {
        Input::Inline { bytes: attr.data.to_ne_bytes(), len: attr.len }
    } else {
        Input::Memory { address: attr.data, len: attr.len }
    }
}

fn output(attr: Attr) -> Output {
    Output { attr_id: attr.attr_id, address: attr.data, len: attr.len }
}

/// The 32 bits that stand first in an attribute's data.
fn first_half(data: u64) -> u32 {
    let [a, b, c, d, ..] = data.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::super::{AllocUcontextReq, AllocUcontextResp, DRIVER_MLX5, Header, Request};
    use super::*;

    fn call(mut request: Request<'_>) -> Call {
        let message = request.encode(DRIVER_MLX5).expect("it fits");
        let message = Message::parse(message.as_bytes()).expect("it is well-formed");
        Call::of(&message).expect("the kernel takes it")
    }

    fn memory<T>(place: *const T, len: u16) -> Input {
        Input::Memory { address: place as u64, len }
    }

    fn out<T>(attr_id: u16, place: *const T, len: u16) -> Output {
        Output { attr_id, address: place as u64, len }
    }

    #[test]
    fn every_request_is_read_as_it_was_meant() {
        let (i, mut o) = ([1; 16], [0; 24]);
        let input = memory(&raw const i, 16);
        let o_at = (&raw const o).cast::<u8>();
        let output = |id| out(id, o_at, 24);
        assert_eq!(
            call(Request::obj_create(&i, &mut o)),
            Call::ObjCreate { input, output: output(0x1002) }
        );
        assert_eq!(
            call(Request::obj_modify(u32::MAX, &i, &mut o)),
            Call::ObjModify { handle: 0xffff_ffff, input, output: output(0x1002) }
        );
        assert_eq!(
            call(Request::obj_query(7, &i, &mut o)),
            Call::ObjQuery { handle: 7, input, output: output(0x1002) }
        );
        assert_eq!(call(Request::other(&i, &mut o)), Call::Other { input, output: output(0x1001) });
        assert_eq!(call(Request::obj_destroy(7)), Call::ObjDestroy { handle: 7 });
        assert_eq!(call(Request::umem_dereg(7)), Call::UmemDereg { handle: 7 });
        assert_eq!(call(Request::uar_destroy(7)), Call::UarDestroy { handle: 7 });

        let mut word = 0u32;
        let word_at = &raw const word;
        assert_eq!(
            call(Request::query_eqn(0x8000_0001, &mut word)),
            Call::QueryEqn { vector: 0x8000_0001, eqn: out(0x1001, word_at, 4) }
        );
        let umem_id = out(0x1004, word_at, 4);
        for memory in [
            UmemMemory::Program { address: 0x1000, length: 0x2000 },
            UmemMemory::Dmabuf { fd: 3, offset: 0x1000, length: 0x2000 },
            UmemMemory::Dmabuf { fd: -1, offset: 0, length: 0 },
        ] {
            for page_sizes in [None, Some(0x1000)] {
                let sent = call(Request::umem_reg(memory, 5, page_sizes, &mut word));
                let page_sizes = page_sizes.or(Some(!0xfff));
                assert_eq!(sent, Call::UmemReg { memory, access: 5, page_sizes, umem_id });
            }
        }
    }

    #[test]
    fn get_context_and_uar_alloc_are_read_as_they_were_meant() {
        let (mut long, mut a, mut b) = (0u64, 0u32, 0u32);
        let (long_at, a_at, b_at) = (&raw const long, &raw const a, &raw const b);
        assert_eq!(
            call(Request::uar_alloc(1, &mut long, &mut a, &mut b)),
            Call::UarAlloc {
                kind: 1,
                mmap_offset: out(0x1002, long_at, 8),
                mmap_length: out(0x1003, a_at, 4),
                page_id: out(0x1004, b_at, 4),
            }
        );
        let ask = AllocUcontextReq::like_libmlx5(true);
        let mut answer = AllocUcontextResp::default();
        let answer_at = &raw const answer;
        assert_eq!(
            call(Request::get_context(&ask, &mut answer, &mut a, &mut long)),
            Call::GetContext {
                ask: Some(memory(&raw const ask, 32)),
                answer: Some(out(0x1001, answer_at, 72)),
                num_comp_vectors: Some(out(0, a_at, 4)),
                core_support: Some(out(1, long_at, 8)),
            }
        );
    }

    #[test]
    fn async_queries_are_read_as_they_were_meant() {
        assert_eq!(call(Request::async_cmd_fd_alloc()), Call::AsyncCmdFdAlloc);
        let i = [1; 16];
        let input = memory(&raw const i, 16);
        assert_eq!(
            call(Request::obj_query_async(6, 9, &i, 0xffff, 5)),
            Call::ObjQueryAsync { handle: 9, input, output_len: 0xffff, id: 5, fd: 6 }
        );
        let message = Request::obj_query_async(6, 9, &i, 0, 5).encode(1).expect("it fits");
        let mut attrs: Vec<Attr> = message.attrs().collect();
        attrs[2].data = 0x10000;
        let long = Call::of(&Message::new(message.header(), &attrs));
        assert_eq!(long, Err(Refused::Value(0x1004)));
    }

    #[test]
    fn events_are_read_as_they_were_meant() {
        let alloc = call(Request::async_event_fd_alloc(1));
        assert_eq!(alloc, Call::AsyncEventFdAlloc { flags: 1 });
        let types = [1u16, 2, 3, 4, 5];
        assert_eq!(
            call(Request::subscribe_event(6, 7, Some(8), &types)),
            Call::SubscribeEvent {
                fd: 6,
                cookie: Some(7),
                object: Some(8),
                types: memory(&raw const types, 10),
                eventfd: None,
            }
        );
        let mut bytes = [0; 8];
        bytes[..2].copy_from_slice(&1u16.to_ne_bytes());
        assert_eq!(
            call(Request::subscribe_event(6, 7, None, &types[..1])),
            Call::SubscribeEvent {
                fd: 6,
                cookie: Some(7),
                object: None,
                types: Input::Inline { bytes, len: 2 },
                eventfd: None,
            }
        );
    }

    fn query(attrs: &[Attr]) -> Result<Call, Refused> {
        let header = Header {
            object_id: object::DEVX_OBJ,
            method_id: method::DEVX_OBJ_QUERY,
            driver_id: DRIVER_MLX5,
            ..Header::default()
        };
        Call::of(&Message::new(header, attrs))
    }

    #[test]
    fn faults_are_refused_as_the_kernel_does() {
        let handle = Attr { attr_id: 0x1000, flags: 1, data: 7, ..Attr::default() };
        let input = Attr { attr_id: 0x1001, len: 16, flags: 1, data: 0x1000, ..Attr::default() };
        let output = Attr { attr_id: 0x1002, len: 16, flags: 1, data: 0x2000, ..Attr::default() };
        assert!(query(&[handle, input, output]).is_ok());
        assert!(query(&[output, input, handle]).is_ok(), "the order is free");

        let refuse = |attrs: &[Attr], refused: Refused, errno: Errno| {
            assert_eq!(query(attrs), Err(refused));
            assert_eq!(refused.errno(), errno);
        };
        refuse(&[handle, input], Refused::Missing(0x1002), Errno::INVAL);
        refuse(&[handle, input, output, handle], Refused::Twice(0x1000), Errno::INVAL);
        let short = Attr { len: 15, ..input };
        let refused = Refused::Length { attr: 0x1001, len: 15 };
        refuse(&[handle, short, output], refused, Errno::INVAL);
        let long = Attr { len: 8, ..handle };
        let refused = Refused::Length { attr: 0x1000, len: 8 };
        refuse(&[long, input, output], refused, Errno::INVAL);
        let reserved = Attr { attr_data: 1, ..output };
        refuse(&[handle, input, reserved], Refused::Value(0x1002), Errno::INVAL);

        let unknown = Attr { attr_id: 0x1003, ..handle };
        let refused = Refused::Unknown(0x1003);
        refuse(&[handle, input, output, unknown], refused, Errno::PROTONOSUPPORT);
        let optional = Attr { flags: 0, ..unknown };
        assert!(query(&[handle, input, output, optional]).is_ok());
    }

    #[test]
    fn what_is_no_method_is_refused() {
        let header = Header { object_id: 0x1001, method_id: 0x1005, ..Header::default() };
        let refused = Refused::Method { object: 0x1001, method: 0x1005 };
        assert_eq!(Call::of(&Message::new(header, &[])), Err(refused));
        assert_eq!(refused.errno(), Errno::PROTONOSUPPORT);
    }

    #[test]
    fn access_and_descriptors_of_memory_must_fit() {
        let register = |change: &dyn Fn(&mut Vec<Attr>)| {
            let mut id = 0;
            let memory = UmemMemory::Dmabuf { fd: 3, offset: 0, length: 1 };
            let message = Request::umem_reg(memory, 1, None, &mut id).encode(1).expect("it fits");
            let mut attrs = message.attrs().collect();
            change(&mut attrs);
            Call::of(&Message::new(message.header(), &attrs))
        };
        // Third is the access, fourth the dma-buf.
        assert!(register(&|_| ()).is_ok());
        let wide = |data| move |a: &mut Vec<Attr>| (a[2].len, a[2].data) = (8, data);
        assert!(matches!(register(&wide(3)), Ok(Call::UmemReg { access: 3, .. })));
        assert_eq!(register(&wide(1 << 32)), Err(Refused::Value(0x1003)));
        let odd = register(&|a| a[2].len = 6);
        assert_eq!(odd, Err(Refused::Length { attr: 0x1003, len: 6 }));
        let none = register(&|a| a.retain(|attr| attr.attr_id != 0x1003));
        assert!(matches!(none, Ok(Call::UmemReg { access: 0, .. })));
        assert_eq!(register(&|a| a[3].data = 1 << 31), Err(Refused::Value(0x1006)));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        // Every message of random bytes is refused or read; a fixed sequence, so that a failure
        // comes again.
        let mut state = 0x1234_5678_9abc_def0_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        let ids = [0, 1, 3, 0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1006, 0x1008];
        let lengths = [0, 4, 8, 16, 32, 72, 0xffff];
        for _ in 0..20_000 {
            let header = Header {
                object_id: ids[next() % ids.len()],
                method_id: ids[next() % ids.len()],
                ..Header::default()
            };
            let attrs: Vec<Attr> = (0..next() % 8)
                .map(|_| Attr {
                    attr_id: ids[next() % ids.len()],
                    len: lengths[next() % lengths.len()],
                    flags: (next() % 4) as u16,
                    attr_data: (next() % 8 == 0) as u16,
                    data: (next() as u64) << (next() % 64),
                })
                .collect();
            let message = Message::new(header, &attrs);
            let cut = next() % (message.as_bytes().len() + 1);
            let _ = Message::parse(&message.as_bytes()[..cut]).map(|m| Call::of(&m));
            let _ = Call::of(&message);
        }
    }
}
