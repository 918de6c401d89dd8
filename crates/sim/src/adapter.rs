//! The adapter as a program meets it: the kernel's rules in front of the firmware.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlx5_devx::{Errno, Error, Handle, Target, TargetKind, Transport};
use mlx5_prm::{
    Cqc, CreateCqIn, CreateQpIn, CreateRmpIn, CreateRqIn, CreateRqtInWithRqNum, CreateSrqIn,
    CreateXrcSrqIn, CreateXrqIn, Opcode, QpState, Qpc, Rmpc, RqNum, Rqc, Rqtc, Srqc, Verb, XrcSrqc,
    Xrqc,
};

use crate::firmware::Firmware;
use crate::kernel::{Identity, Method, admit, force, named};

/// The uid of the DEVX context that every program gets.
const UID: u16 = 1;

/// A simulated adapter with the kernel in front of it.
///
/// Clones are the same adapter, so that a test keeps one while a transport owns the other.
#[derive(Debug, Clone, Default)]
pub struct Adapter {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    firmware: Firmware,
    handles: BTreeMap<Handle, (TargetKind, Identity)>,
    last: u64,
}

/// An object that the simulated kernel made for verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// What the transport calls it.
    pub handle: Handle,
    /// Its number: QPN, CQN, ...
    pub number: u32,
}

macro_rules! verbs_objects {
    ($( $(#[$doc:meta])* $create:ident($Context:ident) $kind:ident = $Input:ident.$with:ident; )*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// The firmware refuses the context.
        pub fn $create(&self, context: &$Context) -> Result<Made, Error> {
            self.make(TargetKind::$kind, $Input::new().$with(*context).as_bytes())
        }
    )* };
}

impl Adapter {
    /// An adapter without objects.
    pub fn new() -> Self {
        Self::default()
    }

    verbs_objects! {
        /// What `ibv_create_qp` leads to: a QP in state RST.
        create_qp(Qpc) Qp = CreateQpIn.with_qpc;
        /// What `ibv_create_cq` leads to.
        create_cq(Cqc) Cq = CreateCqIn.with_cq_context;
        /// What `ibv_create_srq` leads to: an RMP, in state RDY.
        create_srq(Rmpc) Srq = CreateRmpIn.with_ctx;
        /// What `ibv_create_srq` leads to on an adapter without ISSI: an SRQ of the PRM.
        create_srq_without_issi(Srqc) Srq = CreateSrqIn.with_srq_context_entry;
        /// What `ibv_create_srq_ex` leads to for XRC.
        create_xrc_srq(XrcSrqc) Srq = CreateXrcSrqIn.with_xrc_srq_context_entry;
        /// What `ibv_create_srq_ex` leads to for tag matching.
        create_xrq(Xrqc) Srq = CreateXrqIn.with_xrq_context;
        /// What `ibv_create_wq` leads to: an RQ in state RST.
        create_wq(Rqc) Wq = CreateRqIn.with_ctx;
    }

    /// What `ibv_create_rwq_ind_table` leads to: a table of the receive queues `rqns`.
    ///
    /// # Errors
    /// The firmware refuses it: a number that is no RQ's, or more than `rqt_max_size`. The kernel
    /// takes mailboxes of up to 65535 bytes, which is 16315 entries.
    ///
    /// # Panics
    /// `rqns` is longer than 65535, or holds a number of more than 24 bits.
    pub fn create_ind_table(&self, context: &Rqtc, rqns: &[u32]) -> Result<Made, Error> {
        let mut buffer = vec![0; CreateRqtInWithRqNum::size(rqns.len())];
        let create =
            CreateRqtInWithRqNum::new_in(&mut buffer, rqns.len()).expect("the size is right");
        let len = u16::try_from(rqns.len()).expect("a table has up to 65535 entries");
        create.head.set_rqt_context(&context.with_rqt_actual_size(len));
        for (entry, rqn) in create.tail.iter_mut().zip(rqns) {
            *entry = RqNum::new().with_rq_num(*rqn);
        }
        self.make(TargetKind::IndTable, create.as_bytes())
    }

    /// Puts a QP into a state that no command leads to, as an error of traffic does: SQER, SQD,
    /// SUSPENDED. Gives `false` when there is no such QP, or the state has more than 4 bits.
    pub fn force_qp_state(&self, qpn: u32, state: QpState) -> bool {
        self.lock().firmware.force_qp_state(qpn, state)
    }

    /// A command that reaches the firmware without the kernel's rules.
    pub fn firmware(&self, input: &[u8], output: &mut [u8]) {
        self.lock().firmware.execute(input, output);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in another thread leaves the objects as they were before its command.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, kind: TargetKind, input: &[u8]) -> Result<Made, Error> {
        let mut output = [0; 16];
        let result = self.lock().create(kind, input, &mut output);
        mlx5_devx::outcome(input, &output, result).map(|(handle, number)| Made { handle, number })
    }
}

impl State {
    /// Runs an admitted command, and says what the kernel says of it.
    fn execute(&mut self, opcode: Opcode, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let mut input = input.to_vec();
        force(opcode, &mut input, UID);
        self.firmware.execute(&input, output);
        if output[0] == 0 { Ok(()) } else { Err(Errno::REMOTEIO) }
    }

    fn create(
        &mut self,
        kind: TargetKind,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(Handle, u32), Errno> {
        let opcode = admit(Method::Create, input, output)?;
        self.execute(opcode, input, output)?;
        let command = mlx5_prm::command(opcode.0).ok_or(Errno::INVAL)?;
        let number = command.number.read(output).ok_or(Errno::INVAL)? as u32;
        self.last += 1;
        let handle = Handle(self.last);
        self.handles.insert(handle, (kind, Identity { kind: command.object.name, number }));
        Ok((handle, number))
    }

    fn on_object(
        &mut self,
        method: Method,
        target: Target,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Errno> {
        let (kind, identity) = *self.handles.get(&target.handle).ok_or(Errno::NOENT)?;
        if kind != target.kind {
            return Err(Errno::INVAL);
        }
        let opcode = admit(method, input, output)?;
        if named(opcode, input) != Some(identity) {
            return Err(Errno::INVAL);
        }
        self.execute(opcode, input, output)
    }
}

impl Transport for Adapter {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        self.lock().create(TargetKind::Devx, input, output).map(|(handle, _)| handle)
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.lock().on_object(Method::Modify, target, input, output)
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.lock().on_object(Method::Query, target, input, output)
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        let mut state = self.lock();
        let (kind, identity) = *state.handles.get(&handle).ok_or(Errno::NOENT)?;
        // What verbs made is ended by verbs: the method takes objects of DEVX only.
        if kind != TargetKind::Devx {
            return Err(Errno::INVAL);
        }
        let families = mlx5_prm::families().iter().flat_map(|f| f.commands);
        let destroy =
            families.copied().find(|c| c.verb == Verb::Destroy && c.object.name == identity.kind);
        let destroy = destroy.ok_or(Errno::INVAL)?;
        let (mut input, mut output) = ([0; 16], [0; 16]);
        input[..2].copy_from_slice(&destroy.opcode.to_be_bytes());
        destroy.number.write(&mut input, identity.number.into());
        state.execute(Opcode(destroy.opcode), &input, &mut output)?;
        state.handles.remove(&handle);
        Ok(())
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let opcode = admit(Method::General, input, output)?;
        self.lock().execute(opcode, input, output)
    }
}
