//! What the simulated kernel and the adapter remember, and the commands that programs send.

use std::collections::BTreeSet;

use mlx5_devx::{Errno, Handle, Target, TargetKind, status_errno};
use mlx5_prm::{CommandDesc, Opcode, Status, Verb};

use crate::firmware::{Firmware, Refusal};
use crate::general;
use crate::handles::{Handles, Map};
use crate::hooks::Hooks;
use crate::kernel::{Identity, Kind, Method, admit, bulk, force, named};
use crate::{syndrome, umems};

/// The uid of the DEVX context that every program gets.
const UID: u16 = 1;

/// The state of an adapter, and of the kernel in front of it.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) firmware: Firmware,
    pub(crate) hooks: Hooks,
    /// The field that the firmware refused the last command for.
    pub(crate) refused_field: Option<&'static str>,
    handles: Handles<Object>,
    /// How many flow counters a handle stands for, where it is a bulk of them.
    bulks: Map<Handle, u32>,
    /// What a raw packet QP is made of, in the order in which it was made.
    parts: Map<Handle, Vec<Identity>>,
    /// The umems that objects lie in.
    used: Map<Handle, BTreeSet<u32>>,
    /// The umems, by their numbers in commands. Without `Uverbs` there are none.
    umems: Map<u32, Umem>,
    #[cfg(feature = "uverbs")]
    pub(crate) uverbs: crate::uverbs::Device,
}

/// What a handle stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object {
    pub(crate) what: What,
    /// Who made it.
    #[cfg_attr(not(feature = "uverbs"), expect(dead_code, reason = "there are no files"))]
    pub(crate) of: Sender,
}

/// A kind of objects with handles.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// What a command made, by DEVX or for verbs.
    Command(TargetKind, Identity),
    /// Registered memory: its number in commands.
    #[cfg(feature = "uverbs")]
    Umem(u32),
    /// A page of doorbells: which one of its device file.
    #[cfg(feature = "uverbs")]
    Uar(u32),
}

/// Registered memory.
#[derive(Debug)]
struct Umem {
    /// Who registered it.
    #[cfg_attr(not(feature = "uverbs"), expect(dead_code, reason = "there are no files"))]
    of: Sender,
    /// How many objects lie in it.
    objects: usize,
}

impl Umem {
    /// Whether it may be named by a command: that of a device file names umems of this file, any other
    /// those of all.
    fn is_reached_by(&self, sender: Sender) -> bool {
        match sender {
            #[cfg(feature = "uverbs")]
            Sender::File(_) => self.of == sender,
            _ => true,
        }
    }
}

/// Who sends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The kernel, for an object of verbs of this kind.
    Verbs(TargetKind),
    /// A program, by the transport: it has no device file.
    Transport,
    /// A program, by a device file.
    #[cfg(feature = "uverbs")]
    File(u64),
}

impl Sender {
    /// The kind of the objects that it makes.
    fn kind(self) -> TargetKind {
        match self {
            Sender::Verbs(kind) => kind,
            _ => TargetKind::Devx,
        }
    }
}

/// Why a command has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel refused it.
    Kernel(Errno),
    /// The firmware refused it: the output says how, and the kernel this.
    Firmware(Errno),
}

impl Fault {
    pub(crate) const fn errno(self) -> Errno {
        let (Fault::Kernel(errno) | Fault::Firmware(errno)) = self;
        errno
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Fault::Kernel(errno)
    }
}

impl State {
    /// Runs an admitted command, of DEVX or for verbs, and gives the firmware's status, and the umems
    /// that the command names.
    fn execute(
        &mut self,
        sender: Sender,
        opcode: Opcode,
        input: &[u8],
        output: &mut [u8],
    ) -> (Status, Vec<u32>) {
        let mut sent = input.to_vec();
        force(opcode, &mut sent, UID, sender.kind() == TargetKind::Devx);
        let umems = match sender.kind() {
            TargetKind::Devx => umems::named(opcode, input, &sent),
            _ => Vec::new(),
        };
        let reached = |id| self.umems.get(id).is_some_and(|umem| umem.is_reached_by(sender));
        let refusal = match self.hooks.refusal() {
            None if umems.iter().all(reached) => None,
            None => {
                let (status, syndrome) = (Status::BAD_RES_ERR, syndrome::NO_SUCH_UMEM);
                Some(Refusal { status, syndrome, field: None })
            }
            asked_for => asked_for,
        };
        self.answer(refusal, &sent, output);
        (output.first().map_or(Status::OK, |status| Status(*status)), umems)
    }

    /// Runs a command on the firmware, without the kernel's rules: one of a program by `fwctl`.
    #[cfg(feature = "fwctl")]
    pub(crate) fn send(&mut self, input: &[u8], output: &mut [u8]) {
        let refusal = self.hooks.refusal();
        self.answer(refusal, input, output);
    }

    /// Runs a command on the firmware, which refuses none that it would not refuse by itself.
    pub(crate) fn run(&mut self, input: &[u8], output: &mut [u8]) {
        self.answer(None, input, output);
    }

    /// Refuses a command so, or runs it.
    fn answer(&mut self, refusal: Option<Refusal>, input: &[u8], output: &mut [u8]) {
        let result = match refusal {
            Some(refusal) => {
                refusal.answer(output);
                Err(refusal)
            }
            None => self.firmware.answer(input, output),
        };
        self.refused_field = result.err().and_then(|refusal| refusal.field);
    }

    /// Length and opcode of a command, by the kernel's rules.
    fn admit(&self, method: Method, input: &[u8]) -> Result<Opcode, Errno> {
        let general = self.firmware.capabilities.general();
        admit(method, input, general.is_some_and(|page| page.vhca_tunnel_commands() != 0))
    }

    /// Makes an object by a command, and gives its handle and its number.
    pub(crate) fn create(
        &mut self,
        sender: Sender,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(Handle, u32), Fault> {
        let (identity, umems) = self.make(sender, input, output)?;
        let handle = self.insert(sender, What::Command(sender.kind(), identity));
        let opcode = mlx5_prm::opcode(input).unwrap_or_default();
        if let Some(count) = bulk(opcode, input) {
            self.bulks.insert(handle, count);
        }
        self.uses(handle, umems);
        Ok((handle, identity.number))
    }

    /// Gives a raw packet QP its handle.
    pub(crate) fn insert_whole(
        &mut self,
        sender: Sender,
        whole: Identity,
        parts: Vec<Identity>,
    ) -> Handle {
        let handle = self.insert(sender, What::Command(sender.kind(), whole));
        self.parts.insert(handle, parts);
        handle
    }

    /// Makes an object without a handle by a command, and gives the umems that the command names.
    pub(crate) fn make(
        &mut self,
        sender: Sender,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(Identity, Vec<u32>), Fault> {
        self.refused_field = None;
        let kind = sender.kind();
        let opcode = self.admit(Method::Create, input)?;
        let command = mlx5_prm::command(opcode.0);
        let (status, umems) = self.execute(sender, opcode, input, output);
        match status {
            status if kind == TargetKind::Devx => self.hooks.said(status)?,
            Status::OK => {}
            // Verbs are not asked what the kernel makes of it.
            _ => return Err(Fault::Firmware(Errno::REMOTEIO)),
        }
        let identity = match command {
            None => Identity {
                kind: Kind::General(general::key(input).0),
                number: general::created(output),
            },
            Some(command) => {
                // An entry of a table, and an attachment, is made by a command that names it.
                let carrier: &[u8] = if command.verb == Verb::Create { output } else { input };
                let number = command.number.and_then(|place| place.read(carrier));
                let kind = match opcode {
                    Opcode::ATTACH_TO_MCG => Kind::Attachment,
                    _ => Kind::Named(command.object.name),
                };
                Identity { kind, number: number.unwrap_or_default() as u32 }
            }
        };
        Ok((identity, umems))
    }

    /// Sends a command for an object of any kind, and gives the firmware's status.
    pub(crate) fn on_object(
        &mut self,
        sender: Sender,
        method: Method,
        handle: Handle,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Status, Errno> {
        self.refused_field = None;
        let object = self.object(handle)?;
        let opcode = self.admit(method, input)?;
        let is_reached = match (object.what, named(opcode, input)) {
            (What::Command(_, of), Some(named)) => self.is_reached(handle, of, opcode, named),
            _ => false,
        };
        if !is_reached {
            return Err(Errno::INVAL);
        }
        let (status, umems) = self.execute(sender, opcode, input, output);
        if status == Status::OK {
            self.uses(handle, umems);
        }
        Ok(status)
    }

    /// Whether a command on what it names may be sent by a handle, which is that of `of`.
    fn is_reached(&self, handle: Handle, of: Identity, opcode: Opcode, named: Identity) -> bool {
        if let Some(parts) = self.parts.get(&handle) {
            return parts.contains(&named);
        }
        // A query of flow counters may begin within a bulk.
        let count = match opcode {
            Opcode::QUERY_FLOW_COUNTER => self.bulks.get(&handle).copied().unwrap_or(1),
            _ => 1,
        };
        named.kind == of.kind && named.number.checked_sub(of.number).is_some_and(|at| at < count)
    }

    /// Sends a command for no object, which then names no umems, and gives the firmware's status.
    pub(crate) fn general(&mut self, input: &[u8], output: &mut [u8]) -> Result<Status, Errno> {
        self.refused_field = None;
        let opcode = self.admit(Method::General, input)?;
        Ok(self.execute(Sender::Transport, opcode, input, output).0)
    }

    /// What the kernel says of a command that was sent, or refused.
    pub(crate) fn said(&self, sent: Result<Status, Errno>) -> Result<(), Fault> {
        self.hooks.said(sent?)
    }

    /// Ends an object of DEVX.
    pub(crate) fn destroy(&mut self, handle: Handle) -> Result<(), Errno> {
        self.end(Target { kind: TargetKind::Devx, handle })
    }

    /// Ends an object of this kind: the method of DEVX takes its own only, and verbs what verbs made.
    /// There is no output: the errno is made of the firmware's status.
    pub(crate) fn end(&mut self, target: Target) -> Result<(), Errno> {
        let Target { kind, handle } = target;
        let identity = match self.object(handle)?.what {
            What::Command(is, identity) if is == kind => identity,
            _ => return Err(Errno::INVAL),
        };
        match self.parts.remove(&handle) {
            None => self.unmake(kind, identity)?,
            Some(parts) => self.end_parts(&parts),
        }
        self.remove(handle);
        #[cfg(feature = "uverbs")]
        self.uverbs.ended(handle);
        Ok(())
    }

    /// Ends what was made, without its handle.
    pub(crate) fn unmake(&mut self, kind: TargetKind, identity: Identity) -> Result<(), Errno> {
        let (opcode, mut input) = destroy(identity).ok_or(Errno::INVAL)?;
        force(opcode, &mut input, UID, kind == TargetKind::Devx);
        // The refusals that a test asks for are those of commands of the program, and so is the field that
        // one was refused for: what is dropped after it does not take that away.
        let mut output = [0; 16];
        match self.firmware.answer(&input, &mut output) {
            Ok(()) => Ok(()),
            Err(_) => Err(status_errno(Status(output[0]))),
        }
    }

    /// The object with a handle.
    pub(crate) fn object(&self, handle: Handle) -> Result<Object, Errno> {
        self.handles.get(handle).copied().ok_or(Errno::NOENT)
    }

    /// Makes sure that an object is of the kind that the transport says.
    pub(crate) fn is_of(&self, target: Target) -> Result<(), Errno> {
        match self.object(target.handle)?.what {
            What::Command(kind, _) if kind == target.kind => Ok(()),
            _ => Err(Errno::INVAL),
        }
    }

    /// Remembers the umems that an object lies in, besides those before: until it ends.
    fn uses(&mut self, handle: Handle, umems: Vec<u32>) {
        for id in umems {
            if self.used.entry(handle).or_default().insert(id)
                && let Some(umem) = self.umems.get_mut(&id)
            {
                umem.objects += 1;
            }
        }
    }

    /// Forgets an object, and frees its handle.
    pub(crate) fn remove(&mut self, handle: Handle) {
        self.bulks.remove(&handle);
        self.parts.remove(&handle);
        for id in self.used.remove(&handle).into_iter().flatten() {
            if let Some(umem) = self.umems.get_mut(&id) {
                umem.objects -= 1;
            }
        }
        let Some(object) = self.handles.remove(handle) else { return };
        match object.what {
            What::Command(..) => {}
            #[cfg(feature = "uverbs")]
            What::Uar(_) => {}
            #[cfg(feature = "uverbs")]
            What::Umem(id) => {
                self.umems.remove(&id);
            }
        }
    }

    /// Gives out the lowest handle that is free.
    pub(crate) fn insert(&mut self, sender: Sender, what: What) -> Handle {
        #[cfg(feature = "uverbs")]
        if let What::Umem(id) = what {
            self.umems.insert(id, Umem { of: sender, objects: 0 });
        }
        self.handles.insert(Object { what, of: sender })
    }
}

#[cfg(feature = "uverbs")]
impl State {
    /// The handle that the next object gets.
    pub(crate) fn next_handle(&self) -> Handle {
        self.handles.next()
    }

    /// Takes the handle of registered memory, as long as no object lies in it.
    ///
    /// # Errors
    /// The errno that belongs to the status of DESTROY_UMEM. That the firmware refuses it so, as it
    /// refuses to end other objects in use, is the simulation's own choice.
    pub(crate) fn deregister(&mut self, handle: Handle) -> Result<(), Errno> {
        let What::Umem(id) = self.object(handle)?.what else { return Err(Errno::INVAL) };
        if self.umems.get(&id).is_some_and(|umem| umem.objects != 0) {
            return Err(status_errno(Status::BAD_RES_STATE_ERR));
        }
        self.remove(handle);
        Ok(())
    }

    /// The handles of the objects that were made on a device file, the newest first.
    pub(crate) fn made_on(&self, file: u64) -> Vec<Handle> {
        let of_file = self.handles.iter().filter(|(_, object)| object.of == Sender::File(file));
        of_file.rev().map(|(handle, _)| handle).collect()
    }

    /// Forgets every object: their device is gone.
    pub(crate) fn forget(&mut self) {
        self.handles = Handles::default();
        self.bulks.clear();
        self.parts.clear();
        self.used.clear();
        self.umems.clear();
    }
}

/// The command that ends an object.
fn destroy(Identity { kind, number }: Identity) -> Option<(Opcode, Vec<u8>)> {
    let kind = match kind {
        Kind::General(obj_type) => {
            let input = general::destroy((obj_type, number));
            return Some((Opcode::DESTROY_GENERAL_OBJECT, input.to_vec()));
        }
        // The simulated firmware does not tell groups, so that theirs is left out.
        Kind::Attachment => {
            return on_number(mlx5_prm::command(Opcode::DETACH_FROM_MCG.0)?, number);
        }
        Kind::Named(kind) => kind,
    };
    let mut all = mlx5_prm::families().iter().flat_map(|f| f.commands);
    on_number(all.find(|c| c.verb == Verb::Destroy && c.object.name == kind)?, number)
}

/// A command that has the number of an object and nothing else.
fn on_number(command: &CommandDesc, number: u32) -> Option<(Opcode, Vec<u8>)> {
    let mut input = vec![0; command.input.size];
    input[..2].copy_from_slice(&command.opcode.to_be_bytes());
    if let Some(place) = command.number {
        place.write(&mut input, number.into());
    }
    Some((Opcode(command.opcode), input))
}
