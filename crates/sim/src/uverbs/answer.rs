//! Answers one message.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use mlx5_devx::wire::numbers::{
    DRIVER_MLX5, EVENT_CHANNEL_OMIT_DATA, UAR_ALLOC_TYPE_BF, UAR_ALLOC_TYPE_NC, attr, method,
    object,
};
use mlx5_devx::wire::{Call, Input, Memory, Message, Output, Refused, UmemMemory};
use mlx5_devx::{Errno, Handle, TargetKind};
use mlx5_prm::{CreateCqIn, Opcode};
use zerocopy::IntoBytes;

use super::channel::Kind;
use super::context::{self, COMP_VECTORS, CORE_SUPPORT, Context};
use super::event::{self, Key, Subscription};
use super::{PAGE, umem};
use crate::kernel::{self, Method};
use crate::state::{Fault, Sender, State, What};

/// How many types of events a subscription can have (`MAX_NUM_EVENTS` in `devx.c`).
const MOST_EVENT_TYPES: usize = 16;

/// Where in a device file the pages of doorbells begin (`MLX5_IB_MMAP_OFFSET_START` of `mlx5_ib.h`),
/// and how many there are.
const FIRST_COMMAND: u64 = 9;
const UARS: usize = 0x1_0000;

/// A message that is being answered.
pub(super) struct Answering<'a> {
    pub(super) state: &'a mut State,
    pub(super) file: u64,
    pub(super) pages: BorrowedFd<'a>,
    pub(super) message: &'a mut Message,
    pub(super) memory: &'a mut dyn Memory,
}

/// The attribute that gets the handle of the object that a method makes.
fn new_handle(object: u16, method: u16) -> Option<u16> {
    match (object, method) {
        (object::DEVX_OBJ, method::DEVX_OBJ_CREATE) => Some(attr::OBJ_CREATE_HANDLE),
        (object::DEVX_UMEM, method::DEVX_UMEM_REG) => Some(attr::UMEM_REG_HANDLE),
        (object::UAR, method::UAR_ALLOC) => Some(attr::UAR_ALLOC_HANDLE),
        _ => None,
    }
}

/// Whether a kernel without DEVX contexts does not know the methods of an object
/// (`mlx5_ib_devx_defs`).
fn is_devx(object: u16) -> bool {
    matches!(
        object,
        object::DEVX
            | object::DEVX_OBJ
            | object::DEVX_UMEM
            | object::DEVX_ASYNC_CMD_FD
            | object::DEVX_ASYNC_EVENT_FD
    )
}

impl Answering<'_> {
    /// Answers the message; gives the program's end of a file that it made.
    pub(super) fn answer(mut self) -> Result<Option<OwnedFd>, Errno> {
        let header = self.message.header();
        // `ib_uverbs_ioctl`, `ib_uverbs_cmd_verbs`
        if u64::from(header.length) > PAGE || header.driver_id != DRIVER_MLX5 {
            return Err(Errno::INVAL);
        }
        let call = Call::of(self.message);
        if let Err(refused @ Refused::Method { .. }) = call {
            return Err(refused.errno());
        }
        if self.state.hooks.without_devx && is_devx(header.object_id) {
            return Err(Errno::PROTONOSUPPORT);
        }
        // The methods of the driver are gone with it (`ib_uverbs_run_method`).
        if self.state.hooks.is_removed() && header.object_id != object::DEVICE {
            return Err(Errno::IO);
        }
        let made = match new_handle(header.object_id, header.method_id) {
            Some(id) if self.reaches(id, &call) => {
                // `alloc_uobj`
                self.context()?;
                let handle = self.state.next_handle();
                // Handles have 32 bits.
                self.message.set_handle(id, handle.0 as u32);
                Some(handle)
            }
            _ => None,
        };
        self.run(call.map_err(Refused::errno)?, made)
    }

    /// Whether the kernel comes as far as an attribute before it refuses the message, if it does.
    fn reaches(&self, id: u16, call: &Result<Call, Refused>) -> bool {
        let place = |id| self.message.attrs().position(|attr| attr.attr_id == id);
        match call {
            Ok(_) | Err(Refused::Missing(_)) => place(id).is_some(),
            Err(
                Refused::Unknown(fault)
                | Refused::Twice(fault)
                | Refused::Value(fault)
                | Refused::Length { attr: fault, .. },
            ) => matches!((place(id), place(*fault)), (Some(id), Some(fault)) if id < fault),
            Err(_) => false,
        }
    }

    fn run(&mut self, call: Call, made: Option<Handle>) -> Result<Option<OwnedFd>, Errno> {
        // The methods that make an object have one.
        let made = made.unwrap_or(Handle(0));
        match call {
            Call::GetContext { ask, answer, num_comp_vectors, core_support } => {
                return self
                    .get_context(ask, answer, num_comp_vectors, core_support)
                    .map(|()| None);
            }
            Call::ObjCreate { input, output } => self.create(made, &input, &output)?,
            Call::ObjDestroy { handle } => {
                let handle = self.of_devx(handle)?;
                self.state.hooks.pass()?;
                self.state.destroy(handle)?;
            }
            Call::ObjModify { handle, input, output } => {
                self.on_object(Method::Modify, handle, &input, &output)?;
            }
            Call::ObjQuery { handle, input, output } => {
                self.on_object(Method::Query, handle, &input, &output)?;
            }
            Call::Other { input, output } => self.other(&input, &output)?,
            Call::QueryEqn { vector, eqn } => {
                self.context()?;
                self.state.hooks.pass()?;
                // `mlx5_comp_eqn_get` of the kernel's `mlx5/core/eq.c` (6.12), which takes 16 bits of
                // it; before, `mlx5_vector2eqn` (6.1) gives ENOENT.
                let number = context::eqn(vector as u16).ok_or(Errno::INVAL)?;
                self.put(&eqn, &number.to_ne_bytes())?;
            }
            Call::UmemReg { memory, access, page_sizes, umem_id } => {
                self.register(made, memory, access, page_sizes, &umem_id)?;
            }
            Call::UmemDereg { handle } => {
                let handle = self.existing(handle)?;
                let What::Umem(_) = self.own(handle)? else { return Err(Errno::INVAL) };
                self.state.hooks.pass()?;
                self.state.deregister(handle)?;
            }
            Call::UarAlloc { kind, mmap_offset, mmap_length, page_id } => {
                self.uar(made, kind, [&mmap_offset, &page_id, &mmap_length])?;
            }
            Call::UarDestroy { handle } => {
                let handle = self.existing(handle)?;
                let What::Uar(index) = self.own(handle)? else { return Err(Errno::INVAL) };
                self.state.hooks.pass()?;
                self.state.remove(handle);
                self.free_uar(index);
            }
            Call::AsyncCmdFdAlloc => {
                self.context()?;
                self.state.hooks.pass()?;
                return self.state.uverbs.new_channel(self.file, Kind::Completions).map(Some);
            }
            Call::ObjQueryAsync { handle, input, output_len, id, fd } => {
                self.query_async(handle, &input, output_len, id, fd)?;
            }
            Call::AsyncEventFdAlloc { flags } => {
                self.context()?;
                // `uverbs_get_flags32`
                if flags & !EVENT_CHANNEL_OMIT_DATA != 0 {
                    return Err(Errno::INVAL);
                }
                self.state.hooks.pass()?;
                let omit_data = flags & EVENT_CHANNEL_OMIT_DATA != 0;
                let kind = Kind::Events { omit_data };
                return self.state.uverbs.new_channel(self.file, kind).map(Some);
            }
            Call::SubscribeEvent { fd, cookie, object, types, eventfd } => {
                self.subscribe(fd, cookie, object, &types, eventfd)?;
            }
            // A call that this kernel does not have.
            _ => return Err(Errno::PROTONOSUPPORT),
        }
        Ok(None)
    }

    /// The context of the file (`ib_uverbs_get_ucontext_file`).
    fn context(&self) -> Result<Context, Errno> {
        let file = self.state.uverbs.files.get(&self.file);
        file.and_then(|file| file.context).ok_or(Errno::INVAL)
    }

    /// Makes sure that the context may send commands (`devx_get_uid`).
    fn with_devx(&self) -> Result<(), Errno> {
        if self.context()?.devx { Ok(()) } else { Err(Errno::INVAL) }
    }

    /// The object that a handle stands for, of any kind (`lookup_get_idr_uobject`).
    fn existing(&self, handle: i64) -> Result<Handle, Errno> {
        let handle = Handle(u64::try_from(handle).map_err(|_| Errno::INVAL)?);
        // A file without a context has no objects.
        self.context().map_err(|_| Errno::NOENT)?;
        self.state.object(handle).map(|_| handle)
    }

    /// What a handle stands for, where files know only their own of it: memory and doorbells.
    fn own(&self, handle: Handle) -> Result<What, Errno> {
        let object = self.state.object(handle)?;
        match object.what {
            What::Umem(_) | What::Uar(_) if object.of != Sender::File(self.file) => {
                Err(Errno::NOENT)
            }
            what => Ok(what),
        }
    }

    /// The object of DEVX that a handle stands for: one of another kind is refused
    /// (`rdma_lookup_get_uobject`).
    fn of_devx(&self, handle: i64) -> Result<Handle, Errno> {
        let handle = self.existing(handle)?;
        match self.state.object(handle)?.what {
            What::Command(TargetKind::Devx, _) => Ok(handle),
            _ => Err(Errno::INVAL),
        }
    }

    /// The file of events or completions that a number stands for (`lookup_get_fd_uobject`).
    fn channel(&self, fd: i64, is: impl Fn(Kind) -> bool) -> Result<u64, Errno> {
        let of = (self.file, i32::try_from(fd).map_err(|_| Errno::INVAL)?);
        // The newest: one before it lives on by a duplicate of another number.
        let mut all = self.state.uverbs.channels.iter().rev();
        match all.find(|(_, channel)| channel.of == of) {
            Some((id, channel)) if is(channel.kind) => Ok(*id),
            _ => Err(Errno::BADF),
        }
    }

    /// Writes an output, as much of it as fits, and marks it (`uverbs_copy_to`).
    fn put(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        let len = bytes.len().min(output.len.into());
        self.memory.write(output, &bytes[..len])?;
        self.message.set_output_valid(output.attr_id);
        Ok(())
    }

    /// Writes the output of a command that the firmware answered, whatever it said.
    fn answered<R>(
        &mut self,
        result: Result<R, Fault>,
        output: &Output,
        bytes: &[u8],
    ) -> Result<R, Errno> {
        if !matches!(result, Err(Fault::Kernel(_))) {
            self.put(output, bytes)?;
        }
        result.map_err(Fault::errno)
    }

    fn get_context(
        &mut self,
        ask: Option<Input>,
        answer: Option<Output>,
        num_comp_vectors: Option<Output>,
        core_support: Option<Output>,
    ) -> Result<(), Errno> {
        // These are written whatever comes then.
        if let Some(output) = num_comp_vectors {
            self.put(&output, &COMP_VECTORS.to_ne_bytes())?;
        }
        if let Some(output) = core_support {
            self.put(&output, &CORE_SUPPORT.to_ne_bytes())?;
        }
        // `ib_alloc_ucontext`, `ib_init_ucontext`
        self.state.hooks.pass()?;
        if self.context().is_ok() {
            return Err(Errno::INVAL);
        }
        let ask = ask.map_or(Ok(Vec::new()), |ask| self.memory.read(&ask))?;
        let (context, mut said) = context::make(&ask, !self.state.hooks.without_devx)?;
        if let Some(output) = answer {
            let room = usize::from(output.len).min(size_of_val(&said));
            said.response_length = room as u32;
            self.put(&output, &said.as_bytes()[..room])?;
        }
        if let Some(file) = self.state.uverbs.files.get_mut(&self.file) {
            file.context = Some(context);
        }
        Ok(())
    }

    fn create(&mut self, made: Handle, input: &Input, output: &Output) -> Result<(), Errno> {
        let input = self.memory.read(input)?;
        self.with_devx()?;
        self.state.hooks.pass()?;
        let general = self.state.firmware.capabilities.general();
        has_eq(&input, general.is_some_and(|page| page.apu()))?;
        let mut answer = vec![0; output.len.into()];
        let result = self.state.create(Sender::File(self.file), &input, &mut answer);
        if let Ok((handle, _)) = result {
            debug_assert_eq!(handle, made, "nothing else takes a handle meanwhile");
        }
        let written = self.answered(result, output, &answer);
        if let (Ok((handle, _)), Err(_)) = (result, written) {
            // There is no room for the answer: the object ends again.
            let _ = self.state.destroy(handle);
        }
        written.map(|_| ())
    }

    fn on_object(
        &mut self,
        method: Method,
        handle: i64,
        input: &Input,
        output: &Output,
    ) -> Result<(), Errno> {
        let handle = self.existing(handle)?;
        let input = self.memory.read(input)?;
        self.with_devx()?;
        self.state.hooks.pass()?;
        let mut answer = vec![0; output.len.into()];
        let sender = Sender::File(self.file);
        let sent = self.state.on_object(sender, method, handle, &input, &mut answer);
        self.answered(self.state.said(sent), output, &answer)
    }

    fn other(&mut self, input: &Input, output: &Output) -> Result<(), Errno> {
        let input = self.memory.read(input)?;
        let context = self.context()?;
        // `devx_get_uid`: the kernel has a uid of its own for these, if the adapter has any.
        let opcode = mlx5_prm::opcode(&input).unwrap_or_default();
        if !context.devx && !kernel::needs_no_context(opcode) {
            return Err(Errno::INVAL);
        }
        self.state.hooks.pass()?;
        let mut answer = vec![0; output.len.into()];
        let sent = self.state.general(&input, &mut answer);
        self.answered(self.state.said(sent), output, &answer)
    }

    fn register(
        &mut self,
        made: Handle,
        memory: UmemMemory,
        access: u32,
        page_sizes: Option<u64>,
        umem_id: &Output,
    ) -> Result<(), Errno> {
        self.with_devx()?;
        umem::check(memory, access, page_sizes)?;
        self.state.hooks.pass()?;
        let id = self.state.uverbs.last_umem + 1;
        // Should this fail, the object is not there (`bundle_destroy`).
        self.put(umem_id, &id.to_ne_bytes())?;
        self.state.uverbs.last_umem = id;
        let handle = self.state.insert(Sender::File(self.file), What::Umem(id));
        debug_assert_eq!(handle, made, "nothing else takes a handle meanwhile");
        Ok(())
    }

    /// Allots a page of doorbells; the outputs are offset, number and length, in the order in which
    /// they are written.
    fn uar(&mut self, made: Handle, kind: u64, outputs: [&Output; 3]) -> Result<(), Errno> {
        // `uverbs_get_const` of an enum, which has 32 bits.
        if kind > u32::MAX.into() {
            return Err(Errno::INVAL);
        }
        if kind != UAR_ALLOC_TYPE_BF && kind != UAR_ALLOC_TYPE_NC {
            return Err(Errno::OPNOTSUPP);
        }
        self.state.hooks.pass()?;
        let device = &mut self.state.uverbs;
        let uars = &mut device.files.get_mut(&self.file).ok_or(Errno::INVAL)?.uars;
        let index = uars.iter().position(|taken| !taken).unwrap_or(uars.len());
        if index >= UARS {
            // `xa_alloc` finds no number.
            return Err(Errno::BUSY);
        }
        let page = device.last_uar + 1;
        let offset = uar_offset(index as u64);
        let end = offset + PAGE;
        if rustix::fs::fstat(self.pages)?.st_size < end as i64 {
            rustix::fs::ftruncate(self.pages, end)?;
        }
        let [offset_out, page_out, length_out] = outputs;
        self.put(offset_out, &offset.to_ne_bytes())?;
        self.put(page_out, &page.to_ne_bytes())?;
        self.put(length_out, &(PAGE as u32).to_ne_bytes())?;
        let device = &mut self.state.uverbs;
        device.last_uar = page;
        if let Some(file) = device.files.get_mut(&self.file) {
            file.uars.resize(file.uars.len().max(index + 1), false);
            file.uars[index] = true;
        }
        let handle = self.state.insert(Sender::File(self.file), What::Uar(index as u32));
        debug_assert_eq!(handle, made, "nothing else takes a handle meanwhile");
        Ok(())
    }

    fn free_uar(&mut self, index: u32) {
        let file = self.state.uverbs.files.get_mut(&self.file);
        if let Some(taken) = file.and_then(|file| file.uars.get_mut(index as usize)) {
            *taken = false;
        }
    }

    fn query_async(
        &mut self,
        handle: i64,
        input: &Input,
        output_len: u16,
        id: u64,
        fd: i64,
    ) -> Result<(), Errno> {
        let handle = self.existing(handle)?;
        let input = self.memory.read(input)?;
        let channel = self.channel(fd, |kind| kind == Kind::Completions)?;
        self.with_devx()?;
        self.state.hooks.pass()?;
        let has_room = self
            .state
            .uverbs
            .channels
            .get_mut(&channel)
            .is_some_and(|channel| channel.has_room(output_len.into()));
        let mut answer = vec![0; output_len.into()];
        // What the kernel refuses it refuses before it counts bytes; the query changes nothing.
        // What the firmware says is in the answer.
        let sender = Sender::File(self.file);
        self.state.on_object(sender, Method::Query, handle, &input, &mut answer)?;
        if !has_room {
            return Err(Errno::AGAIN);
        }
        if let Some(channel) = self.state.uverbs.channels.get_mut(&channel) {
            channel.complete(id, &answer);
        }
        Ok(())
    }

    fn subscribe(
        &mut self,
        fd: i64,
        cookie: Option<u64>,
        object: Option<i64>,
        types: &Input,
        eventfd: Option<i32>,
    ) -> Result<(), Errno> {
        let channel = self.channel(fd, |kind| matches!(kind, Kind::Events { .. }))?;
        let object = object.map(|handle| self.of_devx(handle)).transpose()?;
        let types = self.memory.read(types)?;
        self.with_devx()?;
        if cookie.is_some() && eventfd.is_some() {
            return Err(Errno::INVAL);
        }
        let (types, rest) = types.as_chunks::<2>();
        if !rest.is_empty() || types.len() > MOST_EVENT_TYPES {
            return Err(Errno::INVAL);
        }
        let types: Vec<u16> = types.iter().map(|bytes| u16::from_ne_bytes(*bytes)).collect();
        let masks = self.state.firmware.capabilities.event_masks();
        let is_valid = |event: &u16| event::is_valid(*event, object.is_some(), masks.as_ref());
        if !types.iter().all(is_valid) {
            return Err(Errno::INVAL);
        }
        self.state.hooks.pass()?;
        let identity = match object.map(|handle| self.state.object(handle)).transpose()? {
            Some(object) => match object.what {
                What::Command(_, identity) => Some(identity),
                _ => return Err(Errno::INVAL),
            },
            None => None,
        };
        let mut made = Vec::new();
        for event in types {
            let eventfd = eventfd.map(|number| self.eventfd(number)).transpose()?;
            let id = self.state.uverbs.last_subscription + 1 + made.len() as u64;
            let (key, cookie) = (Key::new(event, identity), cookie.unwrap_or(0));
            made.push(Subscription { id, key, object, channel, cookie, eventfd });
        }
        self.state.uverbs.last_subscription += made.len() as u64;
        self.state.uverbs.subscriptions.extend(made);
        Ok(())
    }

    /// The eventfd of the program (`eventfd_ctx_fdget`).
    fn eventfd(&self, number: i32) -> Result<OwnedFd, Errno> {
        let file = self.memory.file(number)?;
        // What such a file is called by the real kernel, where it can be seen.
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        match link {
            Ok(name) if name.as_os_str() != "anon_inode:[eventfd]" => Err(Errno::INVAL),
            _ => Ok(file),
        }
    }
}

/// Makes sure that the event queue of a new CQ is one of completions (`mlx5_create_cq` of the
/// kernel's `mlx5/core/cq.c`). One of an APU has none, where the adapter has APUs (`is_apu_cq` of
/// `devx.c`).
fn has_eq(input: &[u8], has_apus: bool) -> Result<(), Errno> {
    if mlx5_prm::opcode(input) != Some(Opcode::CREATE_CQ) {
        return Ok(());
    }
    // What is too short for a context is refused later on.
    let create = input.get(..CreateCqIn::SIZE).and_then(|input| CreateCqIn::view(input).ok());
    let Some(context) = create.map(CreateCqIn::cq_context) else { return Ok(()) };
    let of_apu = has_apus && context.apu_cq();
    if of_apu || context.c_eqn_or_apu_element() < COMP_VECTORS { Ok(()) } else { Err(Errno::NOENT) }
}

/// Where a page of doorbells is in the device file (`mlx5_entry_to_mmap_offset` in `main.c`).
fn uar_offset(index: u64) -> u64 {
    ((index >> 8) << 16 | FIRST_COMMAND << 8 | index & 0xff) * PAGE
}
