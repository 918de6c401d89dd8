//! Calls from the side of the program: arguments by type, and the buffers a message points to.
#![allow(
    unsafe_code,
    reason = "outputs are known by address, as the kernel knows them; see `Buffer`"
)]

use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use zerocopy::{Immutable, IntoBytes};

use super::context::{AllocUcontextReq, AllocUcontextResp};
use super::memory::Memory;
use super::message::{Attr, Header, Message};
use super::numbers::{FLAG_MANDATORY, attr, method, object};
use super::{Input, Output};
use crate::Errno;
pub use crate::backend::UmemMemory;

/// One call: the method, its arguments, and the buffers of its inputs and outputs.
///
/// It holds the buffers for as long as a message made from it points to them.
///
/// Attributes are filled as rdma-core does (`libibverbs/cmd_ioctl.h`): an input of up to 8 bytes
/// stands in the attribute itself, a longer one is pointed to, an output always is; handles and
/// file descriptors have length 0; every attribute is mandatory but one.
#[derive(Debug)]
pub struct Request<'a> {
    message: ShortMessage,
    /// Whether the kernel may have written into the message.
    is_sent: bool,
    /// What the message points to, each with the index of its attribute; the first `buffer_count` are.
    buffers: [(u8, Buffer<'a>); MOST_BUFFERS],
    buffer_count: u8,
    /// The file that the message names by its number besides those that the kernel made.
    eventfd: Option<BorrowedFd<'a>>,
    /// The length of a buffer that does not fit its attribute.
    too_long: Option<usize>,
    /// The index of the attribute that the kernel writes a handle or descriptor into.
    made_at: Option<u8>,
    /// What the kernel wrote there.
    made: u64,
}

/// The most arguments that a call has: `DEVX_UMEM_REG`.
const MOST_ARGS: usize = 7;

/// The most buffers that a call has: `GET_CONTEXT`.
const MOST_BUFFERS: usize = 4;

#[derive(Debug)]
enum Buffer<'a> {
    In(&'a [u8]),
    /// By its address, as in the message: a reference that is kept beside it would claim that nothing
    /// else writes there.
    Out(NonNull<[u8]>, PhantomData<&'a mut [u8]>),
}

/// A message of as many attributes as a [`Request`] has at most; those behind the last are 0, and are
/// not looked at.
#[derive(Debug, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct ShortMessage {
    header: Header,
    attrs: [Attr; MOST_ARGS],
}

#[derive(Debug)]
enum Value<'a> {
    /// A handle or a file descriptor.
    Object(u64),
    /// A handle or a file descriptor that the kernel writes.
    Made,
    /// An input given by value.
    U64(u64),
    /// The same, which kernels that do not know it may leave aside.
    OptionalU64(u64),
    /// An input given by value.
    U32(u32),
    /// An input.
    In(&'a [u8]),
    /// An output: one that the request borrows alone.
    Out(NonNull<[u8]>),
}

/// An input or output is longer than the 16 bits of its length say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are longer than the 65535 that an attribute can have")]
pub struct TooLong(pub usize);

impl<'a> Value<'a> {
    #[inline]
    fn out(output: &'a mut [u8]) -> Self {
        Value::Out(NonNull::from(output))
    }
}

impl Buffer<'_> {
    /// The bytes of an output.
    fn out(&mut self) -> Option<&mut [u8]> {
        match self {
            // SAFETY: it was made of a reference that the request borrows alone, for longer than it
            // lives; only one request has it, and it is borrowed alone here.
            Buffer::Out(output, _) => Some(unsafe { output.as_mut() }),
            Buffer::In(_) => None,
        }
    }
}

/// The calls that carry a command, `DEVX_OBJ_MODIFY` and `DEVX_OBJ_QUERY` for every kind of object:
/// the kernel finds the kind by the handle (`UVERBS_IDR_ANY_OBJECT` in `devx.c`).
impl<'a> Request<'a> {
    /// `DEVX_OBJ_CREATE`: a command that makes an object. The new handle is in
    /// [`Request::new_handle`] afterwards.
    #[inline]
    pub fn obj_create(input: &'a [u8], output: &'a mut [u8]) -> Self {
        Request::new(object::DEVX_OBJ, method::DEVX_OBJ_CREATE)
            .with(attr::OBJ_CREATE_HANDLE, Value::Made)
            .with(attr::OBJ_CREATE_CMD_IN, Value::In(input))
            .with(attr::OBJ_CREATE_CMD_OUT, Value::out(output))
    }

    /// `DEVX_OBJ_MODIFY`: a command that changes the object.
    #[inline]
    pub fn obj_modify(handle: u32, input: &'a [u8], output: &'a mut [u8]) -> Self {
        Request::new(object::DEVX_OBJ, method::DEVX_OBJ_MODIFY)
            .with(attr::OBJ_MODIFY_HANDLE, Value::Object(handle.into()))
            .with(attr::OBJ_MODIFY_CMD_IN, Value::In(input))
            .with(attr::OBJ_MODIFY_CMD_OUT, Value::out(output))
    }

    /// `DEVX_OBJ_QUERY`: a command that reads the object.
    #[inline]
    pub fn obj_query(handle: u32, input: &'a [u8], output: &'a mut [u8]) -> Self {
        Request::new(object::DEVX_OBJ, method::DEVX_OBJ_QUERY)
            .with(attr::OBJ_QUERY_HANDLE, Value::Object(handle.into()))
            .with(attr::OBJ_QUERY_CMD_IN, Value::In(input))
            .with(attr::OBJ_QUERY_CMD_OUT, Value::out(output))
    }

    /// `DEVX_OTHER`: a command that works on no object.
    #[inline]
    pub fn other(input: &'a [u8], output: &'a mut [u8]) -> Self {
        Request::new(object::DEVX, method::DEVX_OTHER)
            .with(attr::OTHER_CMD_IN, Value::In(input))
            .with(attr::OTHER_CMD_OUT, Value::out(output))
    }
}

/// The other calls.
impl<'a> Request<'a> {
    /// `GET_CONTEXT`: makes the context of an open device file.
    ///
    /// `num_comp_vectors` becomes the number of completion vectors, `core_support` the
    /// `IB_UVERBS_CORE_SUPPORT_*` bits.
    pub fn get_context(
        ask: &'a AllocUcontextReq,
        answer: &'a mut AllocUcontextResp,
        num_comp_vectors: &'a mut u32,
        core_support: &'a mut u64,
    ) -> Self {
        Request::new(object::DEVICE, method::DEVICE_GET_CONTEXT)
            .with(attr::GET_CONTEXT_NUM_COMP_VECTORS, Value::out(num_comp_vectors.as_mut_bytes()))
            .with(attr::GET_CONTEXT_CORE_SUPPORT, Value::out(core_support.as_mut_bytes()))
            .with(attr::UHW_IN, Value::In(ask.as_bytes()))
            .with(attr::UHW_OUT, Value::out(answer.as_mut_bytes()))
    }

    /// `DEVX_QUERY_EQN`: the number of the event queue behind a completion vector.
    pub fn query_eqn(vector: u32, eqn: &'a mut u32) -> Self {
        Request::new(object::DEVX, method::DEVX_QUERY_EQN)
            .with(attr::QUERY_EQN_USER_VEC, Value::U32(vector))
            .with(attr::QUERY_EQN_DEV_EQN, Value::out(eqn.as_mut_bytes()))
    }

    /// `DEVX_UMEM_REG`: registers memory. `access` are `ACCESS_*` bits. The new handle is in
    /// [`Request::new_handle`] afterwards, the umem's number in `umem_id`.
    ///
    /// `page_sizes` are the sizes of pages that the adapter may use, one bit each. Without it all
    /// sizes from 4096 bytes on are sent, and kernels that do not know the attribute may leave it
    /// aside, as for `mlx5dv_devx_umem_reg`.
    pub fn umem_reg(
        memory: UmemMemory,
        access: u32,
        page_sizes: Option<u64>,
        umem_id: &'a mut u32,
    ) -> Self {
        let (address, length, fd) = memory.parts();
        let mut request = Request::new(object::DEVX_UMEM, method::DEVX_UMEM_REG)
            .with(attr::UMEM_REG_ADDR, Value::U64(address))
            .with(attr::UMEM_REG_LEN, Value::U64(length))
            .with(attr::UMEM_REG_ACCESS, Value::U32(access));
        if let Some(fd) = fd {
            // The kernel reads 64 bits with a sign.
            request = request.with(attr::UMEM_REG_DMABUF_FD, Value::Object(i64::from(fd) as u64));
        }
        let page_sizes = page_sizes.map_or(Value::OptionalU64(!0xfff), Value::U64);
        request
            .with(attr::UMEM_REG_PGSZ_BITMAP, page_sizes)
            .with(attr::UMEM_REG_OUT_ID, Value::out(umem_id.as_mut_bytes()))
            .with(attr::UMEM_REG_HANDLE, Value::Made)
    }

    /// `DEVX_ASYNC_CMD_FD_ALLOC`: makes a file that the answers to [`Request::obj_query_async`] are
    /// read from. Its descriptor is in [`Request::new_fd`] afterwards.
    pub fn async_cmd_fd_alloc() -> Self {
        Request::new(object::DEVX_ASYNC_CMD_FD, method::DEVX_ASYNC_CMD_FD_ALLOC)
            .with(attr::ASYNC_CMD_FD_ALLOC_HANDLE, Value::Made)
    }

    /// `DEVX_OBJ_ASYNC_QUERY`: a command that reads the object, whose answer of `output_len` bytes
    /// comes to the file `fd` with `id`.
    pub fn obj_query_async(
        fd: i32,
        handle: u32,
        input: &'a [u8],
        output_len: u16,
        id: u64,
    ) -> Self {
        Request::new(object::DEVX_OBJ, method::DEVX_OBJ_ASYNC_QUERY)
            .with(attr::OBJ_QUERY_ASYNC_HANDLE, Value::Object(handle.into()))
            .with(attr::OBJ_QUERY_ASYNC_CMD_IN, Value::In(input))
            .with(attr::OBJ_QUERY_ASYNC_OUT_LEN, Value::U64(output_len.into()))
            .with(attr::OBJ_QUERY_ASYNC_WR_ID, Value::U64(id))
            .with(attr::OBJ_QUERY_ASYNC_FD, Value::Object(i64::from(fd) as u64))
    }

    /// `DEVX_ASYNC_EVENT_FD_ALLOC`: makes a file that events are read from. `flags` are 0 or
    /// [`EVENT_CHANNEL_OMIT_DATA`](super::numbers::EVENT_CHANNEL_OMIT_DATA). Its descriptor is in
    /// [`Request::new_fd`] afterwards.
    pub fn async_event_fd_alloc(flags: u32) -> Self {
        Request::new(object::DEVX_ASYNC_EVENT_FD, method::DEVX_ASYNC_EVENT_FD_ALLOC)
            .with(attr::ASYNC_EVENT_FD_ALLOC_HANDLE, Value::Made)
            .with(attr::ASYNC_EVENT_FD_ALLOC_FLAGS, Value::U32(flags))
    }

    /// `DEVX_SUBSCRIBE_EVENT`: events of these types, of an object or of none, come to the file
    /// `fd` with `cookie`.
    pub fn subscribe_event(fd: i32, cookie: u64, object: Option<u32>, types: &'a [u16]) -> Self {
        let mut request = Request::new(object::DEVX, method::DEVX_SUBSCRIBE_EVENT)
            .with(attr::SUBSCRIBE_EVENT_FD_HANDLE, Value::Object(i64::from(fd) as u64))
            .with(attr::SUBSCRIBE_EVENT_COOKIE, Value::U64(cookie));
        if let Some(handle) = object {
            request = request.with(attr::SUBSCRIBE_EVENT_OBJ_HANDLE, Value::Object(handle.into()));
        }
        request.with(attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST, Value::In(types.as_bytes()))
    }

    /// `DEVX_SUBSCRIBE_EVENT` with an eventfd: events of one type, of an object or of none, are
    /// counted by the file `eventfd`. They do not come to the file `fd`, to which the subscription
    /// belongs.
    pub fn subscribe_event_fd(
        fd: i32,
        eventfd: BorrowedFd<'a>,
        object: Option<u32>,
        event_type: &'a u16,
    ) -> Self {
        let mut request = Request::new(object::DEVX, method::DEVX_SUBSCRIBE_EVENT)
            .with(attr::SUBSCRIBE_EVENT_FD_HANDLE, Value::Object(i64::from(fd) as u64));
        if let Some(handle) = object {
            request = request.with(attr::SUBSCRIBE_EVENT_OBJ_HANDLE, Value::Object(handle.into()));
        }
        request.eventfd = Some(eventfd);
        request
            .with(attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST, Value::In(event_type.as_bytes()))
            .with(attr::SUBSCRIBE_EVENT_FD_NUM, Value::U32(eventfd.as_raw_fd() as u32))
    }

    /// `UAR_OBJ_ALLOC`: allots a page of doorbells. `kind` is
    /// [`UAR_ALLOC_TYPE_BF`](super::numbers::UAR_ALLOC_TYPE_BF) or
    /// [`UAR_ALLOC_TYPE_NC`](super::numbers::UAR_ALLOC_TYPE_NC). The new handle is in
    /// [`Request::new_handle`] afterwards.
    ///
    /// `mmap_offset` and `mmap_length` become where the page is in the device file and its length
    /// in bytes, `page_id` the number by which commands name it.
    pub fn uar_alloc(
        kind: u64,
        mmap_offset: &'a mut u64,
        mmap_length: &'a mut u32,
        page_id: &'a mut u32,
    ) -> Self {
        Request::new(object::UAR, method::UAR_ALLOC)
            .with(attr::UAR_ALLOC_HANDLE, Value::Made)
            .with(attr::UAR_ALLOC_TYPE, Value::U64(kind))
            .with(attr::UAR_ALLOC_MMAP_OFFSET, Value::out(mmap_offset.as_mut_bytes()))
            .with(attr::UAR_ALLOC_MMAP_LENGTH, Value::out(mmap_length.as_mut_bytes()))
            .with(attr::UAR_ALLOC_PAGE_ID, Value::out(page_id.as_mut_bytes()))
    }
}

/// The calls that end an object.
impl Request<'static> {
    /// `DEVX_OBJ_DESTROY`: ends an object of `DEVX_OBJ_CREATE`.
    pub fn obj_destroy(handle: u32) -> Self {
        Request::new(object::DEVX_OBJ, method::DEVX_OBJ_DESTROY)
            .with(attr::OBJ_DESTROY_HANDLE, Value::Object(handle.into()))
    }

    /// `DEVX_UMEM_DEREG`: ends the registration of memory.
    pub fn umem_dereg(handle: u32) -> Self {
        Request::new(object::DEVX_UMEM, method::DEVX_UMEM_DEREG)
            .with(attr::UMEM_DEREG_HANDLE, Value::Object(handle.into()))
    }

    /// `UAR_OBJ_DESTROY`: gives a page of doorbells back.
    pub fn uar_destroy(handle: u32) -> Self {
        Request::new(object::UAR, method::UAR_DESTROY)
            .with(attr::UAR_DESTROY_HANDLE, Value::Object(handle.into()))
    }
}

impl<'a> Request<'a> {
    #[inline]
    fn new(object_id: u16, method_id: u16) -> Self {
        let length = size_of::<Header>() as u16;
        Request {
            message: ShortMessage {
                header: Header { length, object_id, method_id, ..Header::default() },
                attrs: [Attr::default(); MOST_ARGS],
            },
            is_sent: false,
            buffers: [const { (0, Buffer::In(&[])) }; MOST_BUFFERS],
            buffer_count: 0,
            eventfd: None,
            too_long: None,
            made_at: None,
            made: 0,
        }
    }

    #[inline(always)]
    fn with(mut self, attr_id: u16, value: Value<'a>) -> Self {
        let at = self.message.header.num_attrs;
        let mut flags = FLAG_MANDATORY;
        let (len, data) = match &value {
            Value::Object(number) => (0, *number),
            Value::Made => {
                self.made_at = Some(at as u8);
                (0, 0)
            }
            Value::U64(number) => (8, *number),
            Value::OptionalU64(number) => {
                flags = 0;
                (8, *number)
            }
            Value::U32(number) => (4, inlined(number.as_bytes())),
            Value::In(input) if input.len() <= 8 => (input.len(), inlined(input)),
            Value::In(input) => (input.len(), input.as_ptr().expose_provenance() as u64),
            Value::Out(output) => {
                (output.len(), output.as_ptr().cast::<u8>().expose_provenance() as u64)
            }
        };
        if len > usize::from(u16::MAX) {
            self.too_long = Some(len);
        }
        self.message.attrs[usize::from(at)] =
            Attr { attr_id, len: len as u16, flags, attr_data: 0, data };
        self.message.header.num_attrs = at + 1;
        self.message.header.length += size_of::<Attr>() as u16;
        let buffer = match value {
            Value::In(input) => Buffer::In(input),
            Value::Out(output) => Buffer::Out(output, PhantomData),
            _ => return self,
        };
        self.buffers[usize::from(self.buffer_count)] = (at as u8, buffer);
        self.buffer_count += 1;
        self
    }

    /// The message, which points to the buffers of this request.
    ///
    /// # Errors
    /// A buffer is longer than an attribute can say.
    pub fn encode(&mut self, driver_id: u32) -> Result<Message, TooLong> {
        let ShortMessage { header, attrs } = self.message(driver_id)?;
        Ok(Message::new(*header, &attrs[..header.num_attrs.into()]))
    }

    /// The same message in its place, for the kernel to write into.
    #[inline]
    pub(crate) fn message(&mut self, driver_id: u32) -> Result<&mut ShortMessage, TooLong> {
        if let Some(len) = self.too_long {
            return Err(TooLong(len));
        }
        if self.is_sent {
            self.restore();
        }
        self.is_sent = true;
        self.message.header.driver_id = driver_id;
        Ok(&mut self.message)
    }

    /// Takes back what the kernel wrote into the message when it was sent before.
    #[cold]
    fn restore(&mut self) {
        for attr in &mut self.message.attrs {
            attr.flags &= FLAG_MANDATORY;
        }
        if let Some(at) = self.made_at {
            self.message.attrs[usize::from(at)].data = 0;
        }
    }

    /// Takes over what the kernel wrote into the message: the handle of what the call made.
    ///
    /// The request stays as it was: a call that failed leaves the handle of an object that is gone
    /// in the message, and the next message made of this request does not have it.
    pub fn read_back(&mut self, message: &Message) {
        if let Some(at) = self.made_at
            && let Some(attr) = message.attrs().nth(at.into())
        {
            self.made = attr.data;
        }
    }

    /// [`Request::read_back`] of the message in its place.
    #[inline]
    pub(crate) fn read_back_own(&mut self) {
        if let Some(at) = self.made_at {
            self.made = self.message.attrs[usize::from(at)].data;
        }
    }

    /// Whether what the call makes is a file, and not an object with a handle.
    fn makes_a_file(&self) -> bool {
        let object = self.message.header.object_id;
        matches!(object, object::DEVX_ASYNC_EVENT_FD | object::DEVX_ASYNC_CMD_FD)
    }

    /// The handle of the object that the call made, once [`Request::read_back`] has it; `None` for
    /// a call that makes none.
    pub fn new_handle(&self) -> Option<u32> {
        // The handles of uverbs have 32 bits (`fill_attr_in_obj` of rdma-core).
        let made = self.made_at.filter(|_| !self.makes_a_file());
        made.and_then(|_| u32::try_from(self.made).ok())
    }

    /// The file descriptor that the call made, once [`Request::read_back`] has it; `None` for a
    /// call that makes none.
    pub fn new_fd(&self) -> Option<i32> {
        let made = self.made_at.filter(|_| self.makes_a_file());
        made.and_then(|_| i32::try_from(self.made).ok())
    }

    /// The buffer that an attribute points to.
    fn buffer(&mut self, attr_id: u16) -> Option<&mut Buffer<'a>> {
        let at = self.message.attrs.iter().position(|attr| attr.attr_id == attr_id)?;
        let mut buffers = self.buffers[..self.buffer_count.into()].iter_mut();
        buffers.find(|(index, _)| usize::from(*index) == at).map(|(_, buffer)| buffer)
    }

    /// The buffer of an output, for what stands in for the kernel in tests.
    #[cfg(test)]
    pub(crate) fn output(&mut self, attr_id: u16) -> Option<&mut [u8]> {
        self.buffer(attr_id).and_then(Buffer::out)
    }

    /// What an input points to, for what stands in for the kernel in tests.
    #[cfg(test)]
    pub(crate) fn input(&mut self, attr_id: u16) -> Option<&[u8]> {
        match self.buffer(attr_id) {
            Some(Buffer::In(input)) => Some(input),
            _ => None,
        }
    }
}

/// The buffers of a request are the memory of its message.
impl Memory for Request<'_> {
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno> {
        match *input {
            Input::Inline { bytes, len } => {
                Ok(bytes.get(..len.into()).ok_or(Errno::FAULT)?.to_vec())
            }
            Input::Memory { address, len } => {
                let buffers = &self.buffers[..self.buffer_count.into()];
                let mut inputs = buffers.iter().filter_map(|(_, buffer)| match buffer {
                    Buffer::In(input) => Some(*input),
                    Buffer::Out(..) => None,
                });
                let is_there = |input: &&[u8]| input.as_ptr().addr() as u64 == address;
                let input = inputs.find(is_there).ok_or(Errno::FAULT)?;
                Ok(input.get(..len.into()).ok_or(Errno::FAULT)?.to_vec())
            }
        }
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        let to = self.buffer(output.attr_id).and_then(Buffer::out).ok_or(Errno::FAULT)?;
        to.get_mut(..bytes.len()).ok_or(Errno::FAULT)?.copy_from_slice(bytes);
        Ok(())
    }

    fn file(&self, number: i32) -> Result<OwnedFd, Errno> {
        let file = self.eventfd.filter(|file| file.as_raw_fd() == number).ok_or(Errno::BADF)?;
        rustix::io::fcntl_dupfd_cloexec(file, 0)
    }
}

/// Up to 8 bytes as they stand at the beginning of an attribute's data.
#[inline]
fn inlined(bytes: &[u8]) -> u64 {
    let mut data = [0; 8];
    data[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(data)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::fd::AsFd;

    use super::super::DRIVER_MLX5;
    use super::super::numbers::FLAG_VALID_OUTPUT;
    use super::*;

    /// A message as the headers say it, attribute by attribute: id, length, the 8 bytes of data.
    pub(crate) fn message(object: u16, method: u16, attrs: &[(u16, u16, [u8; 8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((24 + 16 * attrs.len() as u16).to_ne_bytes());
        bytes.extend(object.to_ne_bytes());
        bytes.extend(method.to_ne_bytes());
        bytes.extend((attrs.len() as u16).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(1u32.to_ne_bytes()); // RDMA_DRIVER_MLX5
        bytes.extend([0; 4]);
        for (id, len, data) in attrs {
            bytes.extend(id.to_ne_bytes());
            bytes.extend(len.to_ne_bytes());
            bytes.extend(1u16.to_ne_bytes()); // UVERBS_ATTR_F_MANDATORY
            bytes.extend([0; 2]);
            bytes.extend(data);
        }
        bytes
    }

    fn check(mut request: Request<'_>, object: u16, method: u16, attrs: &[(u16, u16, [u8; 8])]) {
        let expected = message(object, method, attrs);
        let encoded = request.encode(DRIVER_MLX5).expect("it fits");
        assert_eq!(encoded.as_bytes(), expected);
        let short = request.message(DRIVER_MLX5).expect("it fits");
        let (sent, rest) = short.as_bytes().split_at(expected.len());
        assert_eq!(sent, expected);
        assert!(rest.iter().all(|byte| *byte == 0));
    }

    pub(crate) fn word(value: u64) -> [u8; 8] {
        value.to_ne_bytes()
    }

    pub(crate) fn half(value: u32) -> [u8; 8] {
        let mut data = [0; 8];
        data[..4].copy_from_slice(&value.to_ne_bytes());
        data
    }

    pub(crate) fn at<T: ?Sized>(place: *const T) -> [u8; 8] {
        word(place.cast::<u8>() as u64)
    }

    // The numbers in these tests are written out from the enums of `ib_user_ioctl_cmds.h` and
    // `mlx5_user_ioctl_cmds.h`, and not taken from the constants that they check.

    #[test]
    fn obj_create_is_that_of_rdma_core() {
        let (input, mut output) = ([1; 16], [0; 24]);
        let attrs = [
            (0x1000, 0, word(0)),
            (0x1001, 16, at(&raw const input)),
            (0x1002, 24, at(&raw const output)),
        ];
        check(Request::obj_create(&input, &mut output), 0x1001, 0x1000, &attrs);
    }

    #[test]
    fn obj_destroy_is_that_of_rdma_core() {
        check(Request::obj_destroy(9), 0x1001, 0x1001, &[(0x1000, 0, word(9))]);
    }

    #[test]
    fn obj_modify_is_that_of_rdma_core() {
        let (input, mut output) = ([1; 0x110], [0; 16]);
        let attrs = [
            (0x1000, 0, word(0xffff_fffe)),
            (0x1001, 0x110, at(&raw const input)),
            (0x1002, 16, at(&raw const output)),
        ];
        check(Request::obj_modify(0xffff_fffe, &input, &mut output), 0x1001, 0x1002, &attrs);
    }

    #[test]
    fn obj_query_is_that_of_rdma_core() {
        let (input, mut output) = ([1; 16], vec![0; 0xffff]);
        let attrs = [
            (0x1000, 0, word(3)),
            (0x1001, 16, at(&raw const input)),
            (0x1002, 0xffff, at(output.as_ptr())),
        ];
        check(Request::obj_query(3, &input, &mut output), 0x1001, 0x1003, &attrs);
    }

    #[test]
    fn other_is_that_of_rdma_core() {
        let (input, mut output) = ([1; 16], [0; 16]);
        let attrs = [(0x1000, 16, at(&raw const input)), (0x1001, 16, at(&raw const output))];
        check(Request::other(&input, &mut output), 0x1000, 0x1000, &attrs);
    }

    #[test]
    fn query_eqn_is_that_of_rdma_core() {
        let mut eqn = 0;
        let attrs = [(0x1000, 4, half(0x1234_5678)), (0x1001, 4, at(&raw const eqn))];
        check(Request::query_eqn(0x1234_5678, &mut eqn), 0x1000, 0x1002, &attrs);
    }

    #[test]
    fn get_context_is_that_of_rdma_core() {
        let (ask, mut answer) =
            (AllocUcontextReq::like_libmlx5(true), AllocUcontextResp::default());
        let (mut vectors, mut support) = (0u32, 0u64);
        let attrs = [
            (0, 4, at(&raw const vectors)),
            (1, 8, at(&raw const support)),
            (0x1000, 32, at(&raw const ask)),
            (0x1001, 72, at(&raw const answer)),
        ];
        let request = Request::get_context(&ask, &mut answer, &mut vectors, &mut support);
        check(request, 0, 3, &attrs);
    }

    #[test]
    fn umem_reg_is_that_of_rdma_core() {
        let mut id = 0;
        let memory = UmemMemory::Program { address: 0x7f00_0000_1000, length: 0x2000 };
        let attrs = [
            (0x1001, 8, word(0x7f00_0000_1000)),
            (0x1002, 8, word(0x2000)),
            (0x1003, 4, half(1)),
            (0x1005, 8, word(0x1000)),
            (0x1004, 4, at(&raw const id)),
            (0x1000, 0, word(0)),
        ];
        check(Request::umem_reg(memory, 1, Some(0x1000), &mut id), 0x1002, 0x1000, &attrs);

        // `mlx5dv_devx_umem_reg` says all sizes, and that the kernel need not know them.
        let mut all = attrs;
        all[3].2 = word(!0xfff);
        let expected = message(0x1002, 0x1000, &all);
        let sent = Request::umem_reg(memory, 1, None, &mut id).encode(DRIVER_MLX5);
        assert_eq!(sent.expect("it fits").as_bytes(), optional(&expected, 3));
    }

    /// A message whose attribute of this index is not mandatory.
    pub(crate) fn optional(message: &[u8], index: usize) -> Vec<u8> {
        let mut message = message.to_vec();
        message[24 + index * 16 + 4..][..2].fill(0);
        message
    }

    #[test]
    fn umem_reg_of_a_dmabuf_is_that_of_rdma_core() {
        let mut id = 0;
        let memory = UmemMemory::Dmabuf { fd: 5, offset: 0x1000, length: 0x2000 };
        let attrs = [
            (0x1001, 8, word(0x1000)),
            (0x1002, 8, word(0x2000)),
            (0x1003, 4, half(7)),
            (0x1006, 0, word(5)),
            (0x1005, 8, word(!0xfff)),
            (0x1004, 4, at(&raw const id)),
            (0x1000, 0, word(0)),
        ];
        check(Request::umem_reg(memory, 7, Some(!0xfff), &mut id), 0x1002, 0x1000, &attrs);
    }

    #[test]
    fn a_negative_fd_keeps_its_sign() {
        let mut id = 0;
        let memory = UmemMemory::Dmabuf { fd: -1, offset: 0, length: 1 };
        let message = Request::umem_reg(memory, 0, None, &mut id).encode(1).expect("it fits");
        assert_eq!(message.attrs().nth(3).map(|attr| attr.data), Some(u64::MAX));
    }

    #[test]
    fn umem_dereg_is_that_of_rdma_core() {
        check(Request::umem_dereg(2), 0x1002, 0x1001, &[(0x1000, 0, word(2))]);
    }

    #[test]
    fn uar_alloc_is_that_of_rdma_core() {
        let (mut offset, mut length, mut page) = (0u64, 0u32, 0u32);
        let attrs = [
            (0x1000, 0, word(0)),
            (0x1001, 8, word(1)),
            (0x1002, 8, at(&raw const offset)),
            (0x1003, 4, at(&raw const length)),
            (0x1004, 4, at(&raw const page)),
        ];
        let request = Request::uar_alloc(1, &mut offset, &mut length, &mut page);
        check(request, 0x1008, 0x1000, &attrs);
    }

    #[test]
    fn async_queries_are_those_of_rdma_core() {
        check(Request::async_cmd_fd_alloc(), 0x1004, 0x1000, &[(0x1000, 0, word(0))]);
        let input = [1; 16];
        let attrs = [
            (0x1000, 0, word(9)),
            (0x1001, 16, at(&raw const input)),
            (0x1004, 8, word(0xffff)),
            (0x1003, 8, word(0xabcd)),
            (0x1002, 0, word(6)),
        ];
        let request = Request::obj_query_async(6, 9, &input, 0xffff, 0xabcd);
        check(request, 0x1001, 0x1004, &attrs);
    }

    #[test]
    fn async_event_fd_alloc_is_that_of_rdma_core() {
        let attrs = [(0x1000, 0, word(0)), (0x1001, 4, half(1))];
        check(Request::async_event_fd_alloc(1), 0x1005, 0x1000, &attrs);
    }

    #[test]
    fn subscribe_event_is_that_of_rdma_core() {
        // Up to 4 types stand in the attribute.
        let few = [0x13u16, 0xffff];
        let mut inlined = [0; 8];
        inlined[..4].copy_from_slice(&few.map(u16::to_ne_bytes).concat());
        let attrs = [
            (0x1000, 0, word(6)),
            (0x1004, 8, word(0xabcd)),
            (0x1001, 0, word(9)),
            (0x1002, 4, inlined),
        ];
        check(Request::subscribe_event(6, 0xabcd, Some(9), &few), 0x1000, 0x1003, &attrs);

        let many = [1, 2, 3, 4, 5];
        let attrs = [attrs[0], attrs[1], (0x1002, 10, at(&raw const many))];
        check(Request::subscribe_event(6, 0xabcd, None, &many), 0x1000, 0x1003, &attrs);
    }

    #[test]
    fn subscribe_event_fd_is_that_of_rdma_core() {
        let (file, event_type) = (std::fs::File::open("/dev/null").expect("a file"), 0x13);
        let eventfd = file.as_fd();
        let mut of_type = [0; 8];
        of_type[..2].copy_from_slice(&0x13u16.to_ne_bytes());
        let attrs = [
            (0x1000, 0, word(6)),
            (0x1001, 0, word(9)),
            (0x1002, 2, of_type),
            (0x1003, 4, half(eventfd.as_raw_fd() as u32)),
        ];
        let request = Request::subscribe_event_fd(6, eventfd, Some(9), &event_type);
        check(request, 0x1000, 0x1003, &attrs);
        let request = Request::subscribe_event_fd(6, eventfd, None, &event_type);
        check(request, 0x1000, 0x1003, &[attrs[0], attrs[2], attrs[3]]);
    }

    #[test]
    fn uar_destroy_is_that_of_rdma_core() {
        check(Request::uar_destroy(4), 0x1008, 0x1001, &[(0x1000, 0, word(4))]);
    }

    #[test]
    fn inputs_of_up_to_8_bytes_stand_in_the_attribute() {
        let long = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for len in 0..=9 {
            let mut output = [0; 1];
            let message = Request::other(&long[..len], &mut output).encode(1).expect("it fits");
            let mut expected = [0; 8];
            if len <= 8 {
                expected[..len].copy_from_slice(&long[..len]);
            } else {
                expected = at(&raw const long);
            }
            let attrs: Vec<Attr> = message.attrs().collect();
            assert_eq!((attrs[0].len, attrs[0].data.to_ne_bytes()), (len as u16, expected));
            assert_eq!(attrs[1].data.to_ne_bytes(), at(&raw const output));
        }
    }

    #[test]
    fn lengths_have_16_bits() {
        let long = vec![0; 0x10000];
        let mut out = vec![0; 0x10000];
        assert_eq!(Request::other(&long, &mut []).encode(1), Err(TooLong(0x10000)));
        assert_eq!(Request::other(&[], &mut out).encode(1), Err(TooLong(0x10000)));
    }

    #[test]
    fn handles_come_back() {
        let mut output = [0; 16];
        let mut request = Request::obj_create(&[0; 16], &mut output);
        let mut message = request.encode(DRIVER_MLX5).expect("it fits");
        message.set_handle(attr::OBJ_CREATE_HANDLE, 0x8000_0001);
        request.read_back(&message);
        assert_eq!(request.new_handle(), Some(0x8000_0001));
        assert_eq!((request.new_fd(), Request::obj_destroy(1).new_handle()), (None, None));

        let mut request = Request::async_event_fd_alloc(0);
        let mut message = request.encode(DRIVER_MLX5).expect("it fits");
        message.set_handle(attr::ASYNC_EVENT_FD_ALLOC_HANDLE, 5);
        request.read_back(&message);
        assert_eq!((request.new_fd(), request.new_handle()), (Some(5), None));
    }

    #[test]
    fn what_the_kernel_left_is_not_sent_again() {
        let mut output = [0; 16];
        let mut request = Request::obj_create(&[0; 16], &mut output);
        let first = request.encode(DRIVER_MLX5).expect("it fits");
        // The kernel writes the handle before the command is sent, and a signal ends the call.
        let mut answered = first.clone();
        answered.set_handle(attr::OBJ_CREATE_HANDLE, 7);
        answered.set_output_valid(attr::OBJ_CREATE_CMD_OUT);
        request.read_back(&answered);
        assert_eq!(request.encode(DRIVER_MLX5).as_ref(), Ok(&first));
        // The same where the kernel writes into the request's own.
        let own = request.message(DRIVER_MLX5).expect("it fits");
        own.attrs[0].data = 7;
        own.attrs[2].flags |= FLAG_VALID_OUTPUT;
        request.read_back_own();
        assert_eq!(request.new_handle(), Some(7));
        assert_eq!(request.encode(DRIVER_MLX5), Ok(first));
    }
}
