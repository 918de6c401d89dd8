//! Objects that commands of DEVX make, and that end with the value that stands for them.

use std::fmt;
use std::marker::PhantomData;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
use std::sync::Arc;

use mlx5_prm::{
    CreateObject, Creates, GeneralObject, GeneralObjectId, Modify, ModifyObject, OnObject, Query,
    QueryObject, Request, opcode,
};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
use crate::backend::Backend;
#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
use crate::devx::{CallError, Devx, Token};
use crate::error::{BadAnswer, Error, outcome};
use crate::verbs::{Holds, not_too_long, on_object};
use crate::{Errno, Handle, Target, TargetKind, Transport};

/// Something that could not be ended, and is there still.
#[derive(Debug, thiserror::Error)]
#[error("{object:?} could not be ended: {errno}")]
pub struct StillThere<T: fmt::Debug> {
    /// What it is.
    pub object: T,
    /// What the kernel said. For a refusal of the firmware it is an errno that the kernel makes of
    /// the status (`cmd_status_to_err` in mlx5_core's `cmd.c`): EBUSY for an object that another
    /// one uses, EINVAL for a bad resource or state, EIO for most others: see
    /// [`status_errno`](crate::status_errno).
    pub errno: Errno,
}

/// So that `?` gives the errno. The object is dropped with it, which tries once more to end it, and tells
/// nothing; whoever wants it otherwise takes it out of [`StillThere::object`].
impl<T: fmt::Debug> From<StillThere<T>> for Errno {
    fn from(still: StillThere<T>) -> Errno {
        still.errno
    }
}

/// An object that a command of DEVX made: a CQ, a TIR, a memory key, ... of the kind `O`, such as
/// [`object::Cq`](mlx5_prm::object::Cq).
///
/// It takes only the commands that work on it. It ends when it is dropped, which cannot tell a
/// failure: the kernel then ends it with the context. [`Object::destroy`] tells.
///
/// ```
/// use mlx5_devx::{Object, Transport};
/// use mlx5_prm::{CreateCqIn, Cqc, ModifyCqIn, QueryCqIn};
/// use mlx5_sim::Adapter;
///
/// let adapter: Box<dyn Transport> = Box::new(Adapter::new());
/// let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(4));
/// let cq = Object::create(&adapter, &create)?;
/// cq.modify(&mut ModifyCqIn::new().changing_cq_period(16))?;
/// assert_eq!(cq.query(&mut QueryCqIn::new())?.cq_context().cq_period(), 16);
/// cq.destroy().map_err(|still| still.errno).expect("nothing uses it");
/// # Ok::<(), mlx5_devx::Error>(())
/// ```
///
/// ```compile_fail,E0271
/// # use mlx5_devx::{Object, Transport};
/// # use mlx5_prm::{ModifyCqIn, object};
/// fn wrong(rq: &Object<&dyn Transport, object::Rq>) {
///     rq.modify(&mut ModifyCqIn::new()); // MODIFY_CQ does not work on an RQ
/// }
/// ```
///
/// `T` is the way to the adapter: a reference, or an [`Arc`](std::sync::Arc), or a backend itself. What is made
/// over a `&Adapter` is another type than what is made over a `&dyn Transport`: where both shall be taken, make
/// them over the latter.
#[must_use = "it ends when it is dropped"]
pub struct Object<T: Transport, O: mlx5_prm::ObjectKind> {
    made: Made<T>,
    number: O::Number,
    kind: PhantomData<O>,
}

impl<T: Transport, O: mlx5_prm::ObjectKind> Object<T, O> {
    /// Sends a command that makes an object.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn create<C>(transport: T, command: &C) -> Result<Self, Error>
    where
        C: Creates<Object = O> + ?Sized,
    {
        Object::create_into(transport, command, &mut C::Output::new_zeroed())
    }

    /// [`Object::create`] that keeps the answer, for those that say more than the number.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn create_into<C>(transport: T, command: &C, output: &mut C::Output) -> Result<Self, Error>
    where
        C: Creates<Object = O> + ?Sized,
    {
        let made = Made::create(transport, command, output)?;
        // The place is checked against the layout when it is generated.
        let number = C::COMMAND.number.and_then(|place| place.read(output.as_bytes()));
        let number = number.unwrap_or_default() as u32;
        let opcode = opcode(command.bytes()).unwrap_or_default();
        let reason = BadAnswer::NumberTooWide(number);
        let number = O::Number::try_from(number).map_err(|_| Error::Answer { opcode, reason })?;
        Ok(Object { made, number, kind: PhantomData })
    }

    /// An object that was left before: see [`Object::leave`].
    pub fn from_handle(transport: T, handle: Handle, number: O::Number) -> Self {
        Object { made: Made::new(transport, handle), number, kind: PhantomData }
    }

    /// Its number: a CQN, a TIRN, ...
    pub fn number(&self) -> O::Number {
        self.number
    }

    /// What the transport calls it: for events of it.
    pub fn handle(&self) -> Handle {
        self.target().handle
    }

    /// What it is for the transport: for [`Queries`](crate::Queries), and for commands that have no
    /// type.
    pub fn target(&self) -> Target {
        self.made.target()
    }

    /// Changes the object. A number of 0 in the command is the object's own while it is sent, and 0
    /// again then: the command serves for other objects, too.
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn modify<C>(&self, command: &mut C) -> Result<C::Output, Error>
    where
        C: Modify<Object = O> + ?Sized,
    {
        let mut output = C::Output::new_zeroed();
        self.on(command, output.as_mut_bytes(), |input, output| {
            self.made.transport.modify(self.target(), input, output)
        })?;
        Ok(output)
    }

    /// Reads the object. A number of 0 in the command is the object's own while it is sent, and 0
    /// again then.
    ///
    /// The answer is the layout alone: for a list at its end use [`Object::query_into`].
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn query<C>(&self, command: &mut C) -> Result<C::Output, Error>
    where
        C: Query<Object = O> + ?Sized,
    {
        let mut output = C::Output::new_zeroed();
        self.read(command, output.as_mut_bytes())?;
        Ok(output)
    }

    /// [`Object::query`] into a mailbox of the caller's, so that a list fits at its end. All of the
    /// mailbox is overwritten.
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn query_into<C, A>(&self, command: &mut C, output: &mut A) -> Result<(), Error>
    where
        C: Query<Object = O> + ?Sized,
        A: Holds<C::Output> + FromBytes + IntoBytes + Immutable + KnownLayout + ?Sized,
    {
        output.as_mut_bytes().fill(0);
        self.read(command, output.as_mut_bytes())
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the kernel said, and the object, which is still there.
    pub fn destroy(mut self) -> Result<(), StillThere<Self>> {
        self.made.end().map_err(|errno| StillThere { object: self, errno })
    }

    /// Leaves the object as it is, so that it ends with the context, or by
    /// [`Transport::destroy`]. One that was imported is forgotten here, as by [`Object::destroy`].
    pub fn leave(mut self) -> Handle {
        self.made.leave()
    }

    fn read<C>(&self, command: &mut C, output: &mut [u8]) -> Result<(), Error>
    where
        C: Query<Object = O> + ?Sized,
    {
        self.on(command, output, |input, output| {
            self.made.transport.query(self.target(), input, output)
        })
    }

    fn on<C: OnObject + ?Sized>(
        &self,
        command: &mut C,
        output: &mut [u8],
        call: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Error> {
        on_object(self.number.into(), command, output, call)
    }
}

#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
impl<T: Devx, O: mlx5_prm::ObjectKind> Object<T, O> {
    /// What another program needs to use the object (`mlx5dv_devx_obj_export`): one that has the
    /// same context, by the descriptor of the device file, as for `ibv_import_device`. It needs the
    /// number, too.
    ///
    /// The object stays with this program, and ends when this program ends it.
    ///
    /// # Errors
    /// [`CallError::NotSupported`] by a libmlx5 older than rdma-core 63.
    pub fn export(&self) -> Result<Vec<u8>, CallError> {
        self.made.export()
    }

    /// An object of another program (`mlx5dv_devx_obj_import`), of the backend that exported it and
    /// of the same version of libmlx5. Dropping it leaves the object to that program
    /// (`mlx5dv_devx_obj_unimport`), and so does [`Object::destroy`].
    ///
    /// # Errors
    /// EINVAL for bytes that [`Object::export`] never gives; [`CallError::NotSupported`] by a
    /// libmlx5 older than rdma-core 63. The kernel is not asked.
    pub fn import(devx: T, exported: &[u8], number: O::Number) -> Result<Self, CallError> {
        Ok(Object { made: Made::import(devx, exported)?, number, kind: PhantomData })
    }
}

impl<T: Transport, O: mlx5_prm::ObjectKind> fmt::Debug for Object<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (desc, number) = (O::DESC, self.number.into());
        f.debug_struct("Object")
            .field(desc.number, &format_args!("{number:#x}"))
            .field("handle", &self.made.handle)
            .finish_non_exhaustive()
    }
}

/// A general object that CREATE_GENERAL_OBJECT made, of the type `O`. Like [`Object`] otherwise.
///
/// ```
/// use mlx5_devx::{General, Transport};
/// use mlx5_prm::SamplerObj;
///
/// fn example(transport: &dyn Transport) -> Result<(), mlx5_devx::Error> {
///     let sampler = General::create(transport, SamplerObj::new().with_sample_ratio(4))?;
///     println!("{:#x}: ratio {}", sampler.id().get(), sampler.query()?.sample_ratio());
///     Ok(())
/// }
/// ```
#[must_use = "it ends when it is dropped"]
pub struct General<T: Transport, O: GeneralObject> {
    made: Made<T>,
    id: GeneralObjectId,
    kind: PhantomData<O>,
}

impl<T: Transport, O: GeneralObject> General<T, O> {
    /// Makes an object of this type.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn create(transport: T, object: O) -> Result<Self, Error> {
        let command = CreateObject::new(object);
        let mut output = FromZeros::new_zeroed();
        let made = Made::create(transport, &command, &mut output)?;
        Ok(General { made, id: output.obj_id(), kind: PhantomData })
    }

    /// An object that was left before: see [`General::leave`].
    pub fn from_handle(transport: T, handle: Handle, id: GeneralObjectId) -> Self {
        General { made: Made::new(transport, handle), id, kind: PhantomData }
    }

    /// Its number.
    pub fn id(&self) -> GeneralObjectId {
        self.id
    }

    /// What the transport calls it: for events of it.
    pub fn handle(&self) -> Handle {
        self.target().handle
    }

    /// What it is for the transport.
    pub fn target(&self) -> Target {
        self.made.target()
    }

    /// Changes the object to what the select mask in `object` selects of it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn modify(&self, object: O) -> Result<(), Error> {
        let command = ModifyObject::new(self.id, object);
        let mut output = mlx5_prm::GeneralObjOutCmdHdr::new();
        let (input, output) = (command.as_bytes(), output.as_bytes_mut());
        not_too_long(input, output)?;
        let result = self.made.transport.modify(self.target(), input, output);
        outcome(input, output, result)
    }

    /// Reads the object.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn query(&self) -> Result<O, Error> {
        let command = QueryObject::<O>::new(self.id);
        let mut output = mlx5_prm::ObjectOut::<O>::new_zeroed();
        let input = command.as_bytes();
        not_too_long(input, output.as_bytes())?;
        let result = self.made.transport.query(self.target(), input, output.as_mut_bytes());
        outcome(input, output.as_bytes(), result)?;
        Ok(output.object)
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the kernel said, and the object, which is still there.
    pub fn destroy(mut self) -> Result<(), StillThere<Self>> {
        self.made.end().map_err(|errno| StillThere { object: self, errno })
    }

    /// Leaves the object as it is, so that it ends with the context, or by
    /// [`Transport::destroy`]. One that was imported is forgotten here, as by [`General::destroy`].
    pub fn leave(mut self) -> Handle {
        self.made.leave()
    }
}

#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
impl<T: Devx, O: GeneralObject> General<T, O> {
    /// As [`Object::export`].
    ///
    /// # Errors
    /// Those of [`Object::export`].
    pub fn export(&self) -> Result<Vec<u8>, CallError> {
        self.made.export()
    }

    /// As [`Object::import`].
    ///
    /// # Errors
    /// Those of [`Object::import`].
    pub fn import(devx: T, exported: &[u8], id: GeneralObjectId) -> Result<Self, CallError> {
        Ok(General { made: Made::import(devx, exported)?, id, kind: PhantomData })
    }
}

impl<T: Transport, O: GeneralObject> fmt::Debug for General<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("General")
            .field("type", &O::GENERAL.name)
            .field("id", &self.id)
            .field("handle", &self.made.handle)
            .finish_non_exhaustive()
    }
}

/// What was made, and is ended here.
struct Made<T: Transport> {
    transport: T,
    /// `None` once it is ended, or left.
    handle: Option<Handle>,
    /// What it is imported by, when it is another program's.
    #[cfg(any(feature = "ioctl", feature = "libmlx5"))]
    imported: Option<Arc<dyn Backend>>,
}

impl<T: Transport> Made<T> {
    fn new(transport: T, handle: Handle) -> Self {
        Made {
            transport,
            handle: Some(handle),
            #[cfg(any(feature = "ioctl", feature = "libmlx5"))]
            imported: None,
        }
    }

    fn create<C>(transport: T, command: &C, output: &mut C::Output) -> Result<Self, Error>
    where
        C: Request + ?Sized,
    {
        output.as_mut_bytes().fill(0);
        not_too_long(command.bytes(), output.as_bytes())?;
        // What has a handle ends here, whatever the answer says.
        let made = match transport.create(command.bytes(), output.as_mut_bytes()) {
            Ok(handle) => Ok(Made::new(transport, handle)),
            Err(errno) => Err(errno),
        };
        outcome(command.bytes(), output.as_bytes(), made)
    }

    fn target(&self) -> Target {
        // Nobody can ask once it is gone: ending and leaving take the value.
        Target { kind: TargetKind::Devx, handle: self.handle.unwrap_or(Handle(u64::MAX)) }
    }

    fn end(&mut self) -> Result<(), Errno> {
        let Some(handle) = self.handle else { return Ok(()) };
        #[cfg(any(feature = "ioctl", feature = "libmlx5"))]
        if let Some(backend) = &self.imported {
            backend.obj_unimport(handle);
            self.handle = None;
            return Ok(());
        }
        self.transport.destroy(handle)?;
        self.handle = None;
        Ok(())
    }

    fn leave(&mut self) -> Handle {
        let handle = self.handle.take().unwrap_or(Handle(u64::MAX));
        #[cfg(any(feature = "ioctl", feature = "libmlx5"))]
        if let Some(backend) = &self.imported {
            backend.obj_unimport(handle);
        }
        handle
    }
}

#[cfg(any(feature = "ioctl", feature = "libmlx5"))]
impl<T: Devx> Made<T> {
    fn export(&self) -> Result<Vec<u8>, CallError> {
        self.transport.backend(Token::HERE).obj_export(self.target().handle)
    }

    fn import(devx: T, exported: &[u8]) -> Result<Self, CallError> {
        let backend = devx.backend(Token::HERE);
        let handle = backend.obj_import(exported)?;
        let mut made = Made::new(devx, handle);
        made.imported = Some(backend);
        Ok(made)
    }
}

impl<T: Transport> Drop for Made<T> {
    fn drop(&mut self) {
        // The kernel ends what is left when the context ends.
        let _ = self.end();
    }
}
