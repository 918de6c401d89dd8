//! Objects made by verbs, and the commands that they take.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use mlx5_prm::{
    Cqn, Dctn, Described, Modify, ObjectKind, OnObject, Opcode, Qpn, Query, Rmpn, Rqn, Rqtn, Sqn,
    Srqn, Tirn, Tisn, XrcSrqn, Xrqn, object, opcode,
};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::Errno;
use crate::error::{Error, NotSent, outcome};
use crate::transport::{Handle, Target, TargetKind, Transport};

/// The longest mailbox: the kernel's attribute has 16 bits for its length (`fill_attr_in` of
/// rdma-core, `uverbs_ioctl.c`).
const LONGEST: usize = 0xffff;

/// A kind of verbs object.
pub trait VerbsKind {
    /// What made it.
    const KIND: TargetKind;
    /// Its number: a QPN, a CQN, ...
    type Number: Copy + Into<u32>;
}

/// The number of a shared receive queue, by what it is in the PRM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SrqNumber {
    /// A receive memory pool.
    Rmp(Rmpn),
    /// An XRC SRQ.
    XrcSrq(XrcSrqn),
    /// An XRQ.
    Xrq(Xrqn),
    /// An SRQ of adapters without ISSI.
    Srq(Srqn),
}

macro_rules! srq_numbers {
    ($($Kind:ident $Number:ident),*) => { $(
        impl From<$Number> for SrqNumber {
            fn from(number: $Number) -> Self {
                SrqNumber::$Kind(number)
            }
        }
    )* };
}

srq_numbers!(Rmp Rmpn, XrcSrq XrcSrqn, Xrq Xrqn, Srq Srqn);

impl From<SrqNumber> for u32 {
    fn from(number: SrqNumber) -> u32 {
        match number {
            SrqNumber::Rmp(n) => n.get(),
            SrqNumber::XrcSrq(n) => n.get(),
            SrqNumber::Xrq(n) => n.get(),
            SrqNumber::Srq(n) => n.get(),
        }
    }
}

/// Says that a verbs object is an object of the PRM, so that its commands work on it.
#[diagnostic::on_unimplemented(
    message = "this command works on `{O}`, which a verbs object of kind `{Self}` is not",
    note = "a QP takes commands on QPs, a CQ those on CQs, an SRQ those on RMPs, XRC SRQs and XRQs, \
            a WQ those on RQs, an indirection table those on RQTs; what a raw packet QP is made of \
            is `Qp::rq`, `sq`, `tir` and `tis`, and a QP of type DCT is `Qp::dct`"
)]
pub trait Accepts<O: ObjectKind>: VerbsKind {}

/// The kinds of verbs objects.
pub mod kind {
    /// A queue pair.
    #[derive(Debug, Clone, Copy)]
    pub enum Qp {}
    /// A completion queue.
    #[derive(Debug, Clone, Copy)]
    pub enum Cq {}
    /// A shared receive queue.
    #[derive(Debug, Clone, Copy)]
    pub enum Srq {}
    /// A work queue.
    #[derive(Debug, Clone, Copy)]
    pub enum Wq {}
    /// An indirection table.
    #[derive(Debug, Clone, Copy)]
    pub enum IndTable {}
    /// The receive queue of a raw packet QP.
    #[derive(Debug, Clone, Copy)]
    pub enum QpRq {}
    /// The send queue of a raw packet QP.
    #[derive(Debug, Clone, Copy)]
    pub enum QpSq {}
    /// The TIR of a raw packet QP.
    #[derive(Debug, Clone, Copy)]
    pub enum QpTir {}
    /// The TIS of a raw packet QP.
    #[derive(Debug, Clone, Copy)]
    pub enum QpTis {}
    /// The DCT that a QP of that type is.
    #[derive(Debug, Clone, Copy)]
    pub enum QpDct {}
}

macro_rules! kinds {
    ($( $(#[$doc:meta])* $Kind:ident($Target:ident) $Number:ident: $( $Object:ident )*; )*) => { $(
        $(#[$doc])*
        pub type $Kind<'t, T = dyn Transport + 't> = Verbs<'t, kind::$Kind, T>;

        impl VerbsKind for kind::$Kind {
            const KIND: TargetKind = TargetKind::$Target;
            type Number = $Number;
        }

        $( impl Accepts<object::$Object> for kind::$Kind {} )*
    )* };
}

kinds! {
    /// A verbs QP: `mlx5dv_devx_qp_modify`, `mlx5dv_devx_qp_query`.
    Qp(Qp) Qpn: Qp;
    /// A verbs CQ: `mlx5dv_devx_cq_modify`, `mlx5dv_devx_cq_query`.
    Cq(Cq) Cqn: Cq;
    /// A verbs SRQ: `mlx5dv_devx_srq_modify`, `mlx5dv_devx_srq_query`.
    ///
    /// It is an RMP, an XRC SRQ or an XRQ, and an SRQ of the PRM on adapters without ISSI
    /// (`mlx5_cmd_create_srq` in the kernel): the kernel takes only the commands of that one.
    Srq(Srq) SrqNumber: Rmp XrcSrq Xrq Srq;
    /// A verbs WQ, an RQ of the PRM: `mlx5dv_devx_wq_modify`, `mlx5dv_devx_wq_query`.
    Wq(Wq) Rqn: Rq;
    /// A verbs indirection table, an RQT of the PRM: `mlx5dv_devx_ind_tbl_modify`,
    /// `mlx5dv_devx_ind_tbl_query`.
    IndTable(IndTable) Rqtn: Rqt;
    /// The receive queue of a verbs QP of type `IBV_QPT_RAW_PACKET`, or of one that has a source QPN:
    /// [`Qp::rq`].
    QpRq(Qp) Rqn: Rq;
    /// The send queue of such a QP: [`Qp::sq`].
    QpSq(Qp) Sqn: Sq;
    /// The TIR in front of the receive queue of such a QP: [`Qp::tir`].
    QpTir(Qp) Tirn: Tir;
    /// The TIS behind the send queue of such a QP: [`Qp::tis`].
    QpTis(Qp) Tisn: Tis;
    /// A DCT, which verbs makes as a QP (`MLX5DV_DCTYPE_DCT`): [`Qp::dct`].
    QpDct(Qp) Dctn: Dct;
}

/// An object made by verbs, and the way to its adapter: `T`, any [`Transport`] where that is not said.
/// It goes to another thread where `T` may be used by several, as a backend may.
///
/// ```compile_fail,E0277
/// # use mlx5_devx::{Cq, Handle, Transport};
/// # use mlx5_prm::Qpn;
/// fn wrong(transport: &dyn Transport) {
///     Cq::new(transport, Handle(1), Qpn::new(7)); // a QPN where a CQN belongs
/// }
/// ```
pub struct Verbs<'t, K: VerbsKind, T: Transport + ?Sized = dyn Transport + 't> {
    transport: &'t T,
    handle: Handle,
    number: K::Number,
    kind: PhantomData<K>,
}

impl<K: VerbsKind, T: Transport + ?Sized> Clone for Verbs<'_, K, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: VerbsKind, T: Transport + ?Sized> Copy for Verbs<'_, K, T> {}

impl<K: VerbsKind, T: Transport + ?Sized> fmt::Debug for Verbs<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number: u32 = self.number.into();
        // `Qp`, or `QpSq` where that is what it is.
        let kind = type_name::<K>().rsplit("::").next();
        f.debug_struct("Verbs")
            .field("kind", &format_args!("{}", kind.unwrap_or_default()))
            .field("number", &format_args!("{number:#x}"))
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

impl<'t, K: VerbsKind, T: Transport + ?Sized> Verbs<'t, K, T> {
    /// An object that verbs made: what the backend calls it, and its number (QPN, CQN, ...).
    pub fn new(transport: &'t T, handle: Handle, number: impl Into<K::Number>) -> Self {
        Verbs { transport, handle, number: number.into(), kind: PhantomData }
    }

    /// Its number.
    pub fn number(&self) -> K::Number {
        self.number
    }

    /// What the transport calls it: for [`Devx::release`](crate::Devx::release).
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// What it is for the transport: for commands that have no type.
    pub fn target(&self) -> Target {
        Target { kind: K::KIND, handle: self.handle }
    }

    /// Changes the object. A number of 0 in the command is the object's own while it is sent, and 0
    /// again then: the command serves for other objects, too.
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn modify<C>(&self, command: &mut C) -> Result<C::Output, Error>
    where
        C: Modify + ?Sized,
        K: Accepts<C::Object>,
    {
        let mut output = C::Output::new_zeroed();
        self.send(command, output.as_mut_bytes(), |input, output| {
            self.transport.modify(self.target(), input, output)
        })?;
        Ok(output)
    }

    /// Reads the object. A number of 0 in the command is the object's own while it is sent, and 0
    /// again then.
    ///
    /// The answer is the layout alone: for a list at its end use [`Verbs::query_into`].
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn query<C>(&self, command: &mut C) -> Result<C::Output, Error>
    where
        C: Query + ?Sized,
        K: Accepts<C::Object>,
    {
        let mut output = C::Output::new_zeroed();
        self.read(command, output.as_mut_bytes())?;
        Ok(output)
    }

    /// [`Verbs::query`] into a mailbox of the caller's, so that a list fits at its end. All of the
    /// mailbox is overwritten.
    ///
    /// ```
    /// use mlx5_devx::IndTable;
    /// use mlx5_prm::{QueryRqtIn, QueryRqtOutWithRqNum, Rqtc, RqNum};
    /// # use mlx5_prm::{Rqc, RqState};
    ///
    /// # let adapter = mlx5_sim::Adapter::new();
    /// # let rqn = adapter.create_wq(&Rqc::new())?.number;
    /// # let made = adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(2), &[rqn, rqn])?;
    /// let table = IndTable::new(&adapter, made.handle, made.number);
    /// let mut buffer = [0; 0x110 + 2 * 4];
    /// let answer = QueryRqtOutWithRqNum::view_mut(&mut buffer).expect("room for two entries");
    /// table.query_into(&mut QueryRqtIn::new(), answer)?;
    /// assert_eq!(answer.tail[1].rq_num(), rqn);
    /// # Ok::<(), mlx5_devx::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; a command that names another object is not sent.
    pub fn query_into<C, O>(&self, command: &mut C, output: &mut O) -> Result<(), Error>
    where
        C: Query + ?Sized,
        K: Accepts<C::Object>,
        O: Holds<C::Output> + FromBytes + IntoBytes + Immutable + KnownLayout + ?Sized,
    {
        output.as_mut_bytes().fill(0);
        self.read(command, output.as_mut_bytes())
    }

    fn read<C: Query + ?Sized>(&self, command: &mut C, output: &mut [u8]) -> Result<(), Error> {
        self.send(command, output, |input, output| {
            self.transport.query(self.target(), input, output)
        })
    }

    fn send<C: OnObject + ?Sized>(
        &self,
        command: &mut C,
        output: &mut [u8],
        call: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Error> {
        on_object(self.number.into(), command, output, call)
    }
}

/// What a QP is that is no QP of the PRM. The kernel takes commands on these by the QP's handle, and none on a
/// QP (`devx_is_valid_obj_id` in `devx.c`).
///
/// libmlx5 says the numbers of a raw packet QP: `LibMlx5::raw_packet_qp`, or `mlx5dv_init_obj` in C.
///
/// ```
/// use mlx5_devx::Qp;
/// use mlx5_prm::{ModifySqIn, QuerySqIn, Rqc, SqState, Sqc};
///
/// let adapter = mlx5_sim::Adapter::new();
/// let (made, numbers) = adapter.create_raw_packet_qp(Some(&Rqc::new()), Some(&Sqc::new()))?;
/// let qp = Qp::new(&adapter, made.handle, made.number);
/// let sq = qp.sq(numbers.sqn.expect("it sends"));
///
/// // The state that it is in, and the one to come.
/// let ready = ModifySqIn::new().with_sq_state(SqState::RST).changing_state(SqState::RDY);
/// sq.modify(&mut { ready })?;
/// assert_eq!(sq.query(&mut QuerySqIn::new())?.sq_context().state(), SqState::RDY);
/// # Ok::<(), mlx5_devx::Error>(())
/// ```
impl<'t, T: Transport + ?Sized> Qp<'t, T> {
    /// The receive queue of a raw packet QP.
    pub fn rq(&self, number: Rqn) -> QpRq<'t, T> {
        Verbs::new(self.transport, self.handle, number)
    }

    /// The send queue of a raw packet QP.
    pub fn sq(&self, number: Sqn) -> QpSq<'t, T> {
        Verbs::new(self.transport, self.handle, number)
    }

    /// The TIR in front of the receive queue of a raw packet QP. Its commands are in the family `tir_tis`.
    pub fn tir(&self, number: Tirn) -> QpTir<'t, T> {
        Verbs::new(self.transport, self.handle, number)
    }

    /// The TIS behind the send queue of a raw packet QP. Its commands are in the family `tir_tis`.
    pub fn tis(&self, number: Tisn) -> QpTis<'t, T> {
        Verbs::new(self.transport, self.handle, number)
    }

    /// The DCT that this is. Its number is that of the QP (`ibv_qp.qp_num`), once it is in RTR: before,
    /// there is none. Before Linux 5.13 the kernel takes no command on it ("RDMA/mlx5: Fix query DCT via
    /// DEVX").
    pub fn dct(&self, number: Dctn) -> QpDct<'t, T> {
        Verbs::new(self.transport, self.handle, number)
    }
}

/// The numbers of what a raw packet QP is made of. One that only sends or only receives has half of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawPacketQp {
    /// Its receive queue.
    pub rqn: Option<Rqn>,
    /// The TIR in front of that.
    pub tirn: Option<Tirn>,
    /// Its send queue.
    pub sqn: Option<Sqn>,
    /// The TIS behind that.
    pub tisn: Option<Tisn>,
}

/// Sends a command on the object that has the number `is`, which is filled in where the command has
/// none, and taken out again.
pub(crate) fn on_object<C: OnObject + ?Sized>(
    is: u32,
    command: &mut C,
    output: &mut [u8],
    call: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Errno>,
) -> Result<(), Error> {
    not_too_long(command.bytes(), output)?;
    let named = command.number();
    if named == 0 {
        if !command.set_number(is) {
            return Err(not_sent(command, |kind| NotSent::NumberTooWide { kind, number: is }));
        }
    } else if named != is && !may_be_within(command.bytes(), named, is) {
        return Err(not_sent(command, |kind| NotSent::WrongObject { kind, named, is }));
    }
    let result = call(command.bytes(), output);
    // 0 fits every number.
    command.set_number(named);
    outcome(command.bytes(), output, result)
}

/// Whether a command may be on a part of an object: one of a bulk of flow counters, which are one object.
/// How many there are the kernel knows (`devx_is_valid_obj_id`).
#[cold]
fn may_be_within(input: &[u8], named: u32, is: u32) -> bool {
    opcode(input) == Some(Opcode::QUERY_FLOW_COUNTER) && named > is
}

#[cold]
fn not_sent<C: OnObject + ?Sized>(
    command: &C,
    reason: impl FnOnce(&'static str) -> NotSent,
) -> Error {
    let opcode = opcode(command.bytes()).unwrap_or_default();
    Error::NotSent { opcode, reason: reason(C::Object::DESC.number) }
}

/// Refuses mailboxes that are longer than the kernel takes.
#[inline]
pub(crate) fn not_too_long(input: &[u8], output: &[u8]) -> Result<(), Error> {
    let long = input.len().max(output.len());
    if long <= LONGEST {
        return Ok(());
    }
    let opcode = opcode(input).unwrap_or_default();
    Err(Error::NotSent { opcode, reason: NotSent::TooLong(long) })
}

/// A mailbox that begins with the layout `L`: the layout itself, or with a list behind it.
pub trait Holds<L> {}

impl<T: Described, const N: usize> Holds<mlx5_prm::Layout<T, N>> for mlx5_prm::Layout<T, N> {}

impl<H, E> Holds<H> for mlx5_prm::WithTail<H, E> {}
