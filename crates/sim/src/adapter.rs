//! The adapter as a program meets it: the kernel's rules in front of the firmware.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlx5_devx::{Errno, Error, Handle, RawPacketQp, Target, TargetKind, Transport};
use mlx5_prm::{
    CapMode, CapabilityPage, Cqc, Cqn, CreateCqIn, CreateDctIn, CreateQpIn, CreateRmpIn,
    CreateRqIn, CreateRqtInWithRqNum, CreateSrqIn, CreateXrcSrqIn, CreateXrqIn, Dctc, Dctn,
    QpState, Qpc, Qpn, Rmpc, Rmpn, RqNum, Rqc, Rqn, Rqtc, Rqtn, Sqc, Srqc, Srqn, XrcSrqc, XrcSrqn,
    Xrqc, Xrqn,
};

use crate::kernel::{self, Method};
use crate::state::{Fault, Sender, State};

/// A simulated adapter with the kernel in front of it.
///
/// Clones are the same adapter, so that a test keeps one while a transport owns the other.
#[derive(Debug, Clone, Default)]
pub struct Adapter {
    state: Arc<Mutex<State>>,
}

/// An object that the simulated kernel made for verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made<N> {
    /// What the transport calls it.
    pub handle: Handle,
    /// Its number: QPN, CQN, ...
    pub number: N,
}

macro_rules! verbs_objects {
    ($( $(#[$doc:meta])* $create:ident($Context:ident) $kind:ident $Number:ident = $Input:ident.$with:ident; )*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// The firmware refuses the context.
        pub fn $create(&self, context: &$Context) -> Result<Made<$Number>, Error> {
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
        create_qp(Qpc) Qp Qpn = CreateQpIn.with_qpc;
        /// What `ibv_create_cq` leads to.
        create_cq(Cqc) Cq Cqn = CreateCqIn.with_cq_context;
        /// What `ibv_create_srq` leads to: an RMP, in state RDY.
        create_srq(Rmpc) Srq Rmpn = CreateRmpIn.with_ctx;
        /// What `ibv_create_srq` leads to on an adapter without ISSI: an SRQ of the PRM.
        create_srq_without_issi(Srqc) Srq Srqn = CreateSrqIn.with_srq_context_entry;
        /// What `ibv_create_srq_ex` leads to for XRC.
        create_xrc_srq(XrcSrqc) Srq XrcSrqn = CreateXrcSrqIn.with_xrc_srq_context_entry;
        /// What `ibv_create_srq_ex` leads to for tag matching.
        create_xrq(Xrqc) Srq Xrqn = CreateXrqIn.with_xrq_context;
        /// What `ibv_create_wq` leads to: an RQ in state RST.
        create_wq(Rqc) Wq Rqn = CreateRqIn.with_ctx;
        /// What `mlx5dv_create_qp` and `ibv_modify_qp` to RTR lead to for a QP of type DCT.
        create_dct(Dctc) Qp Dctn = CreateDctIn.with_dct_context_entry;
    }

    /// What `ibv_create_qp` leads to for a raw packet QP (`IBV_QPT_RAW_PACKET`): a TIS and an SQ where it
    /// sends, an RQ and a TIR where it receives, both queues in state RST. Its number is that of the SQ,
    /// else of the RQ (`create_raw_packet_qp` in the kernel). It is no QP of the PRM: one of those may have
    /// the same number, and [`Adapter::force_qp_state`] means that one.
    ///
    /// When it [ends](Adapter::end), so do they; one that can't end is left, and nobody is told, as in the
    /// kernel (`destroy_raw_packet_qp`).
    ///
    /// # Errors
    /// EINVAL for one that neither receives nor sends, EIO after [`Adapter::remove`]; else the firmware
    /// refuses one of them, and those before it are ended.
    pub fn create_raw_packet_qp(
        &self,
        receive: Option<&Rqc>,
        send: Option<&Sqc>,
    ) -> Result<(Made<Qpn>, RawPacketQp), Error> {
        let (handle, number, numbers) = self.lock().create_raw_packet_qp(receive, send)?;
        Ok((Made { handle, number }, numbers))
    }

    /// What `ibv_create_rwq_ind_table` leads to: a table of the receive queues `rqns`.
    ///
    /// # Errors
    /// The firmware refuses it: a number that is no RQ's, more than `rqt_max_size`, or a table larger
    /// than the capabilities of the adapter say, which is 8192 entries if they were not set.
    ///
    /// # Panics
    /// `rqns` is longer than 65535.
    pub fn create_ind_table(&self, context: &Rqtc, rqns: &[Rqn]) -> Result<Made<Rqtn>, Error> {
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

    /// What `ibv_destroy_*` leads to: ends an object that was made for verbs.
    ///
    /// # Errors
    /// ENOENT without such an object, EINVAL for one of another kind; for a refusal of the firmware
    /// the errno that belongs to its status.
    pub fn end(&self, target: Target) -> Result<(), Errno> {
        let mut state = self.lock();
        if state.hooks.is_removed() {
            return Err(Errno::IO);
        }
        state.end(target)
    }

    /// Puts a QP into a state that no command leads to, as an error of traffic does: SQER, SQD,
    /// SUSPENDED. Gives `false` when there is no such QP, or the state has more than 4 bits.
    pub fn force_qp_state(&self, qpn: Qpn, state: QpState) -> bool {
        self.lock().firmware.force_qp_state(qpn, state)
    }

    /// The field that the firmware refused the last command for, by its path in the input. `None` when
    /// it did not refuse it, or not for one field. Objects that end are no commands here.
    ///
    /// ```
    /// use mlx5_devx::Qp;
    /// use mlx5_prm::{Qpc, Rst2initQpIn};
    ///
    /// let adapter = mlx5_sim::Adapter::new();
    /// let made = adapter.create_qp(&Qpc::new())?;
    /// let qp = Qp::new(&adapter, made.handle, made.number);
    /// assert!(qp.modify(&mut Rst2initQpIn::new()).is_err());
    /// assert_eq!(adapter.refused_field(), Some("qpc.primary_address_path.vhca_port_num"));
    /// # Ok::<(), mlx5_devx::Error>(())
    /// ```
    pub fn refused_field(&self) -> Option<&'static str> {
        self.lock().refused_field
    }

    /// Sets a page of capabilities that QUERY_HCA_CAP gives.
    ///
    /// ```
    /// use mlx5_prm::{CapMode, RoceCap, caps::page};
    ///
    /// let adapter = mlx5_sim::Adapter::new();
    /// adapter.set_page::<page::Roce>(CapMode::Current, &RoceCap::new().with_roce_address_table_size(16));
    /// ```
    pub fn set_page<P: CapabilityPage>(&self, mode: CapMode, page: &P::Layout) {
        self.lock().firmware.capabilities.set::<P>(mode, page);
    }

    /// A command that reaches the firmware without the kernel's rules.
    pub fn firmware(&self, input: &[u8], output: &mut [u8]) {
        self.lock().run(input, output);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // What may panic is a program's `Memory` in `Uverbs::ioctl`, before a command or after it, and
        // not in its midst. After one that made an object, no program has its handle: it ends with its
        // device file.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make<N: TryFrom<u32>>(&self, kind: TargetKind, input: &[u8]) -> Result<Made<N>, Error> {
        let mut output = [0; 16];
        let mut state = self.lock();
        let made = match state.hooks.is_removed() {
            true => Err(Errno::IO),
            false => state.create(Sender::Verbs(kind), input, &mut output).map_err(Fault::errno),
        };
        drop(state);
        let result = made.and_then(|(handle, number)| {
            // The firmware gives numbers that fit.
            let number = N::try_from(number).map_err(|_| Errno::OVERFLOW)?;
            Ok(Made { handle, number })
        });
        mlx5_devx::outcome(input, &output, result)
    }
}

impl Adapter {
    /// Makes a call of the transport. The output is left alone unless the firmware answered.
    fn call<R>(
        &self,
        output: &mut [u8],
        run: impl FnOnce(&mut State, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Errno> {
        let mut state = self.lock();
        state.hooks.pass()?;
        kernel::length(output)?;
        let mut answer = vec![0; output.len()];
        let result = run(&mut state, &mut answer);
        if !matches!(result, Err(Fault::Kernel(_))) {
            output.copy_from_slice(&answer);
        }
        result.map_err(Fault::errno)
    }

    fn on_object(
        &self,
        method: Method,
        target: Target,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Errno> {
        self.call(output, |state, output| {
            state.is_of(target)?;
            let sent = state.on_object(Sender::Transport, method, target.handle, input, output);
            state.said(sent)
        })
    }
}

impl Transport for Adapter {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        let made =
            self.call(output, |state, output| state.create(Sender::Transport, input, output));
        made.map(|(handle, _)| handle)
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.on_object(Method::Modify, target, input, output)
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.on_object(Method::Query, target, input, output)
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        let mut state = self.lock();
        state.hooks.pass()?;
        state.destroy(handle)
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.call(output, |state, output| {
            let sent = state.general(input, output);
            state.said(sent)
        })
    }
}
