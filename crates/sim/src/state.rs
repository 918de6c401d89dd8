//! What the simulated kernel and the adapter remember, and the commands that programs send.

use std::collections::BTreeMap;

use mlx5_devx::{Errno, Handle, Target, TargetKind, status_errno};
use mlx5_prm::{Opcode, Status, Verb};

use crate::firmware::Firmware;
use crate::general;
use crate::hooks::Hooks;
use crate::kernel::{Identity, Kind, Method, admit, force, named};

/// The uid of the DEVX context that every program gets.
const UID: u16 = 1;

/// The state of an adapter, and of the kernel in front of it.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) firmware: Firmware,
    pub(crate) hooks: Hooks,
    handles: BTreeMap<Handle, Object>,
    /// All handles up to this one are taken.
    taken: u64,
    #[cfg(feature = "uverbs")]
    pub(crate) uverbs: crate::uverbs::Device,
}

/// What a handle stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object {
    pub(crate) what: What,
    /// The device file that it was made on; none for objects of verbs, and of the transport.
    #[cfg(feature = "uverbs")]
    pub(crate) file: Option<u64>,
}

/// A kind of objects with handles.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// What a command made, by DEVX or for verbs.
    Command(TargetKind, Identity),
    /// Registered memory.
    #[cfg(feature = "uverbs")]
    Umem,
    /// A page of doorbells: which one of its device file.
    #[cfg(feature = "uverbs")]
    Uar(u32),
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
    /// Runs an admitted command, of DEVX or for verbs, and gives the firmware's status.
    fn execute(
        &mut self,
        kind: TargetKind,
        opcode: Opcode,
        input: &[u8],
        output: &mut [u8],
    ) -> Status {
        let mut input = input.to_vec();
        force(opcode, &mut input, UID, kind == TargetKind::Devx);
        self.firmware.execute(&input, output);
        output.first().map_or(Status::OK, |status| Status(*status))
    }

    /// Makes an object by a command, and gives its handle and its number.
    pub(crate) fn create(
        &mut self,
        kind: TargetKind,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(Handle, u32), Fault> {
        let opcode = admit(Method::Create, input)?;
        let general = opcode == Opcode::CREATE_GENERAL_OBJECT;
        let command = mlx5_prm::command(opcode.0);
        if command.is_none() && !general {
            return Err(Fault::Kernel(Errno::INVAL));
        }
        match self.execute(kind, opcode, input, output) {
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
                // A flow table entry is made by a command that names it.
                let carrier: &[u8] = if command.verb == Verb::Create { output } else { input };
                let number = command.number.and_then(|place| place.read(carrier));
                Identity {
                    kind: Kind::Named(command.object.name),
                    number: number.unwrap_or_default() as u32,
                }
            }
        };
        let handle = self.next_handle();
        self.insert(handle, What::Command(kind, identity));
        Ok((handle, identity.number))
    }

    /// Sends a command for an object of any kind, and gives the firmware's status.
    pub(crate) fn on_object(
        &mut self,
        method: Method,
        handle: Handle,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Status, Errno> {
        let object = self.object(handle)?;
        let opcode = admit(method, input)?;
        match object.what {
            What::Command(_, identity) if named(opcode, input) == Some(identity) => {}
            _ => return Err(Errno::INVAL),
        }
        Ok(self.execute(TargetKind::Devx, opcode, input, output))
    }

    /// Sends a command for no object, and gives the firmware's status.
    pub(crate) fn general(&mut self, input: &[u8], output: &mut [u8]) -> Result<Status, Errno> {
        let opcode = admit(Method::General, input)?;
        Ok(self.execute(TargetKind::Devx, opcode, input, output))
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
        let (opcode, input) = destroy(identity).ok_or(Errno::INVAL)?;
        match self.execute(TargetKind::Devx, opcode, &input, &mut [0; 16]) {
            Status::OK => {}
            status => return Err(status_errno(status)),
        }
        self.remove(handle);
        #[cfg(feature = "uverbs")]
        self.uverbs.ended(handle);
        Ok(())
    }

    /// The object with a handle.
    pub(crate) fn object(&self, handle: Handle) -> Result<Object, Errno> {
        self.handles.get(&handle).copied().ok_or(Errno::NOENT)
    }

    /// Makes sure that an object is of the kind that the transport says.
    pub(crate) fn is_of(&self, target: Target) -> Result<(), Errno> {
        match self.object(target.handle)?.what {
            What::Command(kind, _) if kind == target.kind => Ok(()),
            _ => Err(Errno::INVAL),
        }
    }

    /// The lowest handle that no object has, as the kernel gives them. The kernel begins with 0.
    pub(crate) fn next_handle(&mut self) -> Handle {
        while self.handles.contains_key(&Handle(self.taken + 1)) {
            self.taken += 1;
        }
        Handle(self.taken + 1)
    }

    fn remove(&mut self, handle: Handle) {
        if self.handles.remove(&handle).is_some() {
            self.taken = self.taken.min(handle.0.saturating_sub(1));
        }
    }

    pub(crate) fn insert(&mut self, handle: Handle, what: What) {
        let object = Object {
            what,
            #[cfg(feature = "uverbs")]
            file: None,
        };
        self.handles.insert(handle, object);
    }
}

#[cfg(feature = "uverbs")]
impl State {
    /// Takes the handle of an object that is no command's.
    pub(crate) fn take(&mut self, handle: Handle) {
        self.remove(handle);
    }

    /// Says on which device file an object was made.
    pub(crate) fn belongs_to(&mut self, handle: Handle, file: u64) {
        if let Some(object) = self.handles.get_mut(&handle) {
            object.file = Some(file);
        }
    }

    /// The handles of the objects that were made on a device file, the newest first.
    pub(crate) fn made_on(&self, file: u64) -> Vec<Handle> {
        let of_file = self.handles.iter().filter(|(_, object)| object.file == Some(file));
        of_file.rev().map(|(handle, _)| *handle).collect()
    }

    /// Forgets every object: their device is gone.
    pub(crate) fn forget(&mut self) {
        self.handles.clear();
        self.taken = 0;
    }
}

/// The command that ends an object.
fn destroy(identity: Identity) -> Option<(Opcode, Vec<u8>)> {
    let kind = match identity.kind {
        Kind::General(obj_type) => {
            let input = general::destroy((obj_type, identity.number));
            return Some((Opcode::DESTROY_GENERAL_OBJECT, input.to_vec()));
        }
        Kind::Named(kind) => kind,
    };
    let mut all = mlx5_prm::families().iter().flat_map(|f| f.commands);
    let command = all.find(|c| c.verb == Verb::Destroy && c.object.name == kind)?;
    let mut input = vec![0; command.input.size];
    input[..2].copy_from_slice(&command.opcode.to_be_bytes());
    if let Some(place) = command.number {
        place.write(&mut input, identity.number.into());
    }
    Some((Opcode(command.opcode), input))
}
