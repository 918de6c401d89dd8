//! The firmware: a function of its state and the input bytes.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use mlx5_prm::{
    AccessRegisterIn, ArmRqIn, ArmXrcSrqIn, ArmXrqIn, CmdOut, CommandDesc, Cqc, Described, Layout,
    ModifyRmpIn, ModifyRqIn, Opcode, Place, QpRqType, QpState, Qpc, Qpn, QueryHcaCapIn, RmpState,
    Rmpc, RqNum, RqState, RqVhca, Rqc, Rqtc, Srqc, Status, Verb, XrcSrqc, Xrqc,
};

use crate::capability::Capabilities;
use crate::flow_counter::FlowCounters;
use crate::general::GeneralObjects;
use crate::handles::Map;
use crate::register::Registers;
use crate::select::{self, Change};
use crate::{syndrome, transition};

/// Names of the kinds of objects.
pub(crate) mod kinds {
    use mlx5_prm::{ObjectKind, object};

    pub(crate) const CQ: &str = object::Cq::DESC.name;
    pub(crate) const QP: &str = object::Qp::DESC.name;
    pub(crate) const SRQ: &str = object::Srq::DESC.name;
    pub(crate) const RMP: &str = object::Rmp::DESC.name;
    pub(crate) const XRC_SRQ: &str = object::XrcSrq::DESC.name;
    pub(crate) const XRQ: &str = object::Xrq::DESC.name;
    pub(crate) const RQ: &str = object::Rq::DESC.name;
    pub(crate) const RQT: &str = object::Rqt::DESC.name;
    pub(crate) const MKEY: &str = object::Mkey::DESC.name;
    pub(crate) const SQ: &str = object::Sq::DESC.name;
    pub(crate) const MODIFY_HEADER_CONTEXT: &str = object::ModifyHeaderContext::DESC.name;
    pub(crate) const SCHEDULING_ELEMENT: &str = object::SchedulingElement::DESC.name;
}

/// What is looked at of `create_mkey_in`. Its type is in a family that need not be compiled in.
pub(crate) mod mkey {
    use mlx5_prm::Place;

    pub(crate) const UMEM_VALID: Place = Place { bit: 0x61, width: 1 };
    const MODE_4_2: Place = Place { bit: 0x83, width: 3 };
    const MODE_1_0: Place = Place { bit: 0x96, width: 2 };
    /// The end of the context, in bytes.
    pub(crate) const CONTEXT_END: usize = 0x50;
    const ACTUAL_SIZE: Place = Place { bit: 0x300, width: 32 };
    const UMEM_ID: Place = Place { bit: 0x320, width: 32 };

    /// Whether the key is one of other keys (`MLX5_MKC_ACCESS_MODE_KLMS` or `_KSM`).
    pub(crate) fn is_indirect(input: &[u8]) -> bool {
        MODE_4_2.read(input) == Some(0) && matches!(MODE_1_0.read(input), Some(2 | 3))
    }

    /// Bytes of the translation that follows the mailbox: of a umem there is none.
    pub(super) fn translation(input: &[u8]) -> u64 {
        let read = |place: Place| place.read(input).unwrap_or_default();
        if !is_indirect(input) && read(UMEM_VALID) != 0 && read(UMEM_ID) != 0 {
            return 0;
        }
        16 * read(ACTUAL_SIZE)
    }
}

/// How the firmware refuses a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Status.
    pub(crate) status: Status,
    /// Syndrome: see [`crate::syndrome`].
    pub(crate) syndrome: u32,
    /// The path of the field that is at fault, where the refusal is about one.
    pub(crate) field: Option<&'static str>,
}

pub(crate) const fn refuse<T>(status: Status, syndrome: u32) -> Result<T, Refusal> {
    Err(Refusal { status, syndrome, field: None })
}

/// Refuses a command for one of its fields.
pub(crate) const fn refuse_field<T>(
    status: Status,
    syndrome: u32,
    field: &'static str,
) -> Result<T, Refusal> {
    Err(Refusal { status, syndrome, field: Some(field) })
}

/// Refuses the state that a queue is to have.
const fn refuse_state() -> Result<(), Refusal> {
    refuse_field(Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_TRANSITION, "ctx.state")
}

impl Refusal {
    /// The answer to the command.
    pub(crate) fn answer(self, output: &mut [u8]) {
        output.fill(0);
        if let Some(head) = output.get_mut(..HEAD) {
            let answer = CmdOut::new().with_status(self.status).with_syndrome(self.syndrome);
            head.copy_from_slice(&answer.as_bytes()[..HEAD]);
        }
    }
}

/// Kind of an object, by name, and its number.
type Key = (&'static str, u32);

/// Objects of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Objects {
    /// The context of each as QUERY gives it, with its list.
    contexts: Map<u32, Vec<u8>>,
    /// The last number given out.
    last: u32,
}

impl Objects {
    /// The next number of `width` bits that is not taken; 0 is left out.
    fn next_number(&mut self, width: u32) -> Result<u32, Refusal> {
        let max = ((1u64 << width) - 1) as u32;
        let mut numbers = (self.last..max).chain(0..self.last).map(|n| n + 1);
        match numbers.find(|n| !self.contexts.contains_key(n)) {
            Some(number) => {
                self.last = number;
                Ok(number)
            }
            None => refuse(Status::NO_RES_ERR, syndrome::NO_NUMBER_LEFT),
        }
    }
}

/// Objects and their contexts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Firmware {
    /// By the name of their kind.
    objects: BTreeMap<&'static str, Objects>,
    /// How many entries of tables name a receive queue, by its number.
    in_tables: Map<u32, usize>,
    registers: Registers,
    general_objects: GeneralObjects,
    flow_counters: FlowCounters,
    pub(crate) capabilities: Capabilities,
}

/// Bytes of the shortest output that the firmware takes.
const SHORTEST_OUTPUT: usize = 16;

/// Bytes of status and syndrome at the start of every output.
const HEAD: usize = 8;

impl Firmware {
    /// A firmware without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs one command: status, syndrome and answer go to `output`, all of which is written.
    ///
    /// An output of less than 8 bytes has no room for them and stays zero.
    pub fn execute(&mut self, input: &[u8], output: &mut [u8]) {
        // The output says how it was refused.
        let _ = self.answer(input, output);
    }

    /// The same, and gives how the command was refused.
    pub(crate) fn answer(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Refusal> {
        output.fill(0);
        self.run(input, output).inspect_err(|refusal| refusal.answer(output))
    }

    /// The context of an object, as QUERY gives it.
    pub fn context(&self, kind: &'static str, number: u32) -> Option<&[u8]> {
        self.get((kind, number)).map(Vec::as_slice)
    }

    /// Puts a QP into a state that no command leads to, as an error of traffic does: SQER, SQD,
    /// SUSPENDED. Gives `false` when there is no such QP, or the state has more than 4 bits.
    pub fn force_qp_state(&mut self, qpn: Qpn, state: QpState) -> bool {
        let context = self.get_mut((kinds::QP, qpn.get()));
        context.is_some_and(|c| with(c, |qpc: &mut Qpc| qpc.try_set_state(state)).is_ok())
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Refusal> {
        let opcode = mlx5_prm::opcode(input).unwrap_or_default();
        match opcode {
            Opcode::ACCESS_REG => {
                lengths(AccessRegisterIn::SIZE, input, output)?;
                return self.registers.access(input, output);
            }
            Opcode::QUERY_HCA_CAP => {
                lengths(QueryHcaCapIn::SIZE, input, output)?;
                return self.capabilities.query(op_mod(input), output);
            }
            Opcode::ALLOC_FLOW_COUNTER
            | Opcode::QUERY_FLOW_COUNTER
            | Opcode::DEALLOC_FLOW_COUNTER => {
                let command = mlx5_prm::command(opcode.0);
                lengths(command.map_or(HEAD, |command| command.input.size), input, output)?;
                only_op_mod(input, 0)?;
                return self.flow_counters.run(opcode, input, output);
            }
            Opcode::CREATE_GENERAL_OBJECT
            | Opcode::MODIFY_GENERAL_OBJECT
            | Opcode::QUERY_GENERAL_OBJECT
            | Opcode::DESTROY_GENERAL_OBJECT => {
                lengths(SHORTEST_OUTPUT, input, output)?;
                return self.general_objects.run(opcode, input, output);
            }
            _ => {}
        }
        let Some(command) = mlx5_prm::command(opcode.0) else {
            return refuse(Status::BAD_OP_ERR, syndrome::UNKNOWN_OPCODE);
        };
        lengths(command.input.size, input, output)?;
        match command.verb {
            Verb::Create => self.create(command, input, output),
            Verb::Query => self.query(command, input, output),
            Verb::Modify => self.modify(command, opcode, input),
            Verb::Destroy => self.destroy(command, input),
        }
    }

    fn create(
        &mut self,
        command: &CommandDesc,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        only_op_mod(input, 0)?;
        let kind = command.object.name;
        // What has no context, such as a protection domain, is a number alone.
        let place = command.context.unwrap_or(Place { bit: 0, width: 0 });
        let mut context = input[place.bit as usize / 8..].to_vec();
        match kind {
            kinds::RQT => self.check_table(
                &mut context,
                ["rqt_context.rqt_actual_size", "rqt_context.rq_num", "rqt_context.rq_vhca"],
            )?,
            kinds::MKEY => {
                if ((input.len() - command.input.size) as u64) < mkey::translation(input) {
                    return refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
                }
                context.truncate(place.width as usize / 8);
            }
            // A list of page addresses may follow: it is no part of the context.
            _ => context.truncate(place.width as usize / 8),
        }
        self.check_size(kind, &context)?;
        match kind {
            kinds::QP => with(&mut context, |qpc: &mut Qpc| qpc.set_state(QpState::RST)),
            kinds::RQ if with(&mut context, |rqc: &mut Rqc| rqc.state()) != RqState::RST => {
                return refuse_state();
            }
            kinds::SQ if at_state(&context, SQC_STATE) != 0 => return refuse_state(),
            // An RMP has no state RST: it is ready when it is made.
            kinds::RMP => with(&mut context, |rmpc: &mut Rmpc| rmpc.set_state(RmpState::RDY)),
            _ => {}
        }
        let number = match command.number {
            Some(place) => {
                let number = self.objects.entry(kind).or_default().next_number(place.width)?;
                place.write(output, number.into());
                number
            }
            None if self.get((kind, 0)).is_some() => {
                return refuse(Status::NO_RES_ERR, syndrome::NO_NUMBER_LEFT);
            }
            None => 0,
        };
        self.put((kind, number), context);
        Ok(())
    }

    fn get(&self, (kind, number): Key) -> Option<&Vec<u8>> {
        self.objects.get(kind)?.contexts.get(&number)
    }

    fn get_mut(&mut self, (kind, number): Key) -> Option<&mut Vec<u8>> {
        self.objects.get_mut(kind)?.contexts.get_mut(&number)
    }

    /// Gives an object a context, in place of the one that it has.
    fn put(&mut self, (kind, number): Key, context: Vec<u8>) {
        if kind == kinds::RQT {
            for rqn in entries(&context) {
                *self.in_tables.entry(rqn).or_default() += 1;
            }
        }
        let before = self.objects.entry(kind).or_default().contexts.insert(number, context);
        self.ended(kind, before);
    }

    fn remove(&mut self, (kind, number): Key) {
        let before = self.objects.get_mut(kind).and_then(|all| all.contexts.remove(&number));
        self.ended(kind, before);
    }

    /// The receive queues that a table named are free of it.
    fn ended(&mut self, kind: &str, context: Option<Vec<u8>>) {
        for rqn in context.iter().filter(|_| kind == kinds::RQT).flat_map(|c| entries(c)) {
            if let Entry::Occupied(mut count) = self.in_tables.entry(rqn) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }

    /// The object that a command names. One that no command makes, such as a virtual port, is
    /// always there.
    fn key(&self, command: &CommandDesc, input: &[u8]) -> Result<Key, Refusal> {
        let kind = command.object.name;
        let number = command.number.and_then(|place| place.read(input)).unwrap_or_default();
        let key = (kind, number as u32);
        if self.get(key).is_some() || is_standing(kind) {
            return Ok(key);
        }
        let why = if kind == kinds::QP { syndrome::NO_SUCH_QP } else { syndrome::NO_SUCH_OBJECT };
        refuse(Status::BAD_RES_STATE_ERR, why)
    }

    /// The context of an object; all zero where none was written.
    fn context_of(&self, key: Key, command: &CommandDesc) -> Vec<u8> {
        let width = command.context.map_or(0, |place| place.width);
        self.get(key).cloned().unwrap_or_else(|| vec![0; width as usize / 8])
    }

    fn query(
        &mut self,
        command: &CommandDesc,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        only_op_mod(input, 0)?;
        let key = self.key(command, input)?;
        let Some(place) = command.context else { return Ok(()) };
        let (at, context) = (place.bit as usize / 8, self.context_of(key, command));
        match output.get_mut(at..at + context.len()) {
            Some(room) => {
                room.copy_from_slice(&context);
                Ok(())
            }
            None => refuse(Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT),
        }
    }

    fn destroy(&mut self, command: &CommandDesc, input: &[u8]) -> Result<(), Refusal> {
        only_op_mod(input, 0)?;
        let key = self.key(command, input)?;
        if key.0 == kinds::RQ && self.in_tables.contains_key(&key.1) {
            return refuse(Status::BAD_RES_STATE_ERR, syndrome::STILL_USED);
        }
        self.remove(key);
        Ok(())
    }

    fn modify(
        &mut self,
        command: &CommandDesc,
        opcode: Opcode,
        input: &[u8],
    ) -> Result<(), Refusal> {
        match opcode {
            Opcode::ARM_RQ | Opcode::ARM_XRC_SRQ | Opcode::ARM_XRQ => {
                return self.arm(command, opcode, input);
            }
            _ => {}
        }
        let key = self.key(command, input)?;
        let mut context = self.context_of(key, command);
        let start = command.context.map_or(0, |place| place.bit);
        let change = Change { start, input };
        if let Some(transition) = &command.transition {
            only_op_mod(input, 0)?;
            transition::make(transition, command, &change, &mut context)?;
        } else if command.selects.iter().any(|select| select.counts(input)) {
            may_move(key.0, &mut context, input)?;
            let mut any = false;
            for select in command.selects.iter().filter(|select| select.counts(input)) {
                any |= select::apply(select, &change, &mut context)? != 0;
            }
            if key.0 == kinds::CQ && any {
                self.check_size(key.0, &context)?;
            }
            if key.0 == kinds::RQT && any {
                context.truncate(Rqtc::SIZE);
                context.extend_from_slice(&input[command.input.size..]);
                self.check_table(
                    &mut context,
                    ["ctx.rqt_actual_size", "ctx.rq_num", "ctx.rq_vhca"],
                )?;
            }
        } else if is_standing(key.0) && op_mod(input) == 0 {
            // A command that sets the whole of something, such as SET_FLOW_TABLE_ENTRY.
            let from = start as usize / 8;
            let to = from + context.len();
            context.copy_from_slice(&input[from..to]);
        } else if op_mod(input) != 0 || !command.selects.is_empty() {
            return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
        }
        self.put(key, context);
        Ok(())
    }

    /// Sets the limit of a shared receive queue.
    fn arm(&mut self, command: &CommandDesc, opcode: Opcode, input: &[u8]) -> Result<(), Refusal> {
        let kind = match (opcode, op_mod(input)) {
            (Opcode::ARM_RQ, 1) => kinds::SRQ,
            (Opcode::ARM_RQ, 2) | (Opcode::ARM_XRQ, 0) => kinds::XRQ,
            (Opcode::ARM_XRC_SRQ, 1) => kinds::XRC_SRQ,
            _ => return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD),
        };
        let lwm = match opcode {
            Opcode::ARM_RQ => read(input, ArmRqIn::lwm),
            Opcode::ARM_XRC_SRQ => read(input, ArmXrcSrqIn::lwm),
            _ => read(input, ArmXrqIn::lwm),
        };
        let number = command.number.and_then(|place| place.read(input)).unwrap_or_default();
        let Some(context) = self.get_mut((kind, number as u32)) else {
            return refuse(Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_OBJECT);
        };
        match kind {
            kinds::SRQ => with(context, |srqc: &mut Srqc| srqc.set_lwm(lwm)),
            kinds::XRC_SRQ => with(context, |xrc_srqc: &mut XrcSrqc| xrc_srqc.set_lwm(lwm)),
            _ => with(context, |xrqc: &mut Xrqc| xrqc.wq_mut().set_lwm(lwm)),
        }
        Ok(())
    }

    /// Makes sure that a queue or a table is not larger than the general page of capabilities allows.
    /// A limit that the page leaves 0 is none.
    fn check_size(&self, kind: &str, context: &[u8]) -> Result<(), Refusal> {
        let Some(limits) = self.capabilities.general() else { return Ok(()) };
        let is_over = |log: u8, limit: u8| limit != 0 && log > limit;
        let too_large = match kind {
            kinds::CQ => {
                is_over(read(context, |cqc: &Cqc| cqc.log_cq_size()), limits.log_max_cq_sz())
            }
            // The size of a queue that the QP has not says nothing.
            kinds::QP => read(context, |qpc: &Qpc| {
                let limit = limits.log_max_qp_sz();
                let has_rq = qpc.rq_type() == QpRqType::NON_ZERO_RQ;
                !qpc.no_sq() && is_over(qpc.log_sq_size(), limit)
                    || has_rq && is_over(qpc.log_rq_size(), limit)
            }),
            kinds::SRQ => {
                is_over(read(context, |srqc: &Srqc| srqc.log_srq_size()), limits.log_max_srq_sz())
            }
            kinds::XRC_SRQ => is_over(
                read(context, |xrc_srqc: &XrcSrqc| xrc_srqc.log_xrc_srq_size()),
                limits.log_max_srq_sz(),
            ),
            kinds::RQT => {
                let limit = limits.log_max_rqt_size();
                let size = read(context, |rqtc: &Rqtc| u64::from(rqtc.rqt_max_size()));
                limit != 0 && size > 1 << limit
            }
            _ => false,
        };
        if too_large { refuse(Status::BAD_PARAM_ERR, syndrome::TOO_LARGE) } else { Ok(()) }
    }

    /// Makes sure that a table's list is there, fits it, and names receive queues; cuts off what
    /// follows its last entry. The fields are those of its size and of its lists in the input.
    fn check_table(
        &self,
        context: &mut Vec<u8>,
        [size_field, rq_num, rq_vhca]: [&'static str; 3],
    ) -> Result<(), Refusal> {
        let (len, max, size) = read(context, |rqtc: &Rqtc| {
            (
                usize::from(rqtc.rqt_actual_size()),
                usize::from(rqtc.rqt_max_size()),
                entry_size(rqtc),
            )
        });
        if len > max {
            return refuse_field(Status::BAD_PARAM_ERR, syndrome::RQT_TOO_SMALL, size_field);
        }
        let end = Rqtc::SIZE + len * size;
        if context.len() < end {
            return refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
        }
        context.truncate(end);
        if entries(context).all(|rqn| self.get((kinds::RQ, rqn)).is_some()) {
            Ok(())
        } else {
            let list = if size == RqVhca::SIZE { rq_vhca } else { rq_num };
            refuse_field(Status::BAD_RES_STATE_ERR, syndrome::DANGLING_NUMBER, list)
        }
    }
}

/// Whether objects of a kind are always there, because no command makes them.
fn is_standing(kind: &str) -> bool {
    let mut all = mlx5_prm::families().iter().flat_map(|f| f.commands);
    !all.any(|c| c.verb == Verb::Create && c.object.name == kind)
}

/// Bytes of one entry of a table's list.
fn entry_size(rqtc: &Rqtc) -> usize {
    if rqtc.rq_vhca_id_format() { RqVhca::SIZE } else { RqNum::SIZE }
}

/// The receive queues in a table's list.
fn entries(context: &[u8]) -> impl Iterator<Item = u32> {
    let size = read(context, entry_size);
    context[Rqtc::SIZE.min(context.len())..].chunks_exact(size).map(move |entry| {
        let rqn = if size == RqVhca::SIZE {
            read(entry, RqVhca::rq_num)
        } else {
            read(entry, RqNum::rq_num)
        };
        rqn.get()
    })
}

/// Reads from the layout that `bytes` begins with; their length was checked before.
pub(crate) fn read<T: Described, const N: usize, R>(
    bytes: &[u8],
    get: impl FnOnce(&Layout<T, N>) -> R,
) -> R {
    let (layout, _) = Layout::view_prefix(bytes).expect("the length was checked");
    get(layout)
}

/// Changes the layout that `bytes` begins with; their length was checked before.
pub(crate) fn with<T: Described, const N: usize, R>(
    bytes: &mut [u8],
    change: impl FnOnce(&mut Layout<T, N>) -> R,
) -> R {
    change(Layout::view_mut(&mut bytes[..N]).expect("the length was checked"))
}

/// Makes sure that the input holds a layout of `size` bytes, and the output an answer.
fn lengths(size: usize, input: &[u8], output: &[u8]) -> Result<(), Refusal> {
    if input.len() < size {
        return refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
    }
    if output.len() < SHORTEST_OUTPUT {
        return refuse(Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT);
    }
    Ok(())
}

pub(crate) fn op_mod(input: &[u8]) -> u16 {
    mlx5_prm::op_mod(input).unwrap_or_default()
}

fn only_op_mod(input: &[u8], wanted: u16) -> Result<(), Refusal> {
    if op_mod(input) == wanted {
        Ok(())
    } else {
        refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD)
    }
}

/// The state in `sqc`, the one that MODIFY_SQ says the queue is in, and the one that it wants. Their
/// types are in a family that need not be compiled in.
const SQC_STATE: Place = Place { bit: 8, width: 4 };
const MODIFY_SQ_STATE: Place = Place { bit: 0x40, width: 4 };
const MODIFY_SQ_WANTED: Place = Place { bit: 0x108, width: 4 };

fn at_state(bytes: &[u8], place: Place) -> u8 {
    place.read(bytes).unwrap_or_default() as u8
}

/// Whether an RQ, an SQ or an RMP may go from the state that the command says it is in to the wanted one.
fn may_move(kind: &str, context: &mut [u8], input: &[u8]) -> Result<(), Refusal> {
    let (at, present, said, wanted, legal): (_, u8, u8, u8, &[(u8, u8)]) = match kind {
        // What the kernel (mlx5_ib_modify_wq, mlx5e) and DPDK (mlx5_devx_modify_rq) do.
        kinds::RQ => (
            "rq_state",
            with(context, |rqc: &mut Rqc| rqc.state().0),
            read(input, |m: &ModifyRqIn| m.rq_state().0),
            read(input, |m: &ModifyRqIn| m.ctx().state().0),
            &[(0, 0), (0, 1), (1, 1), (1, 3), (1, 0), (3, 3), (3, 0)],
        ),
        kinds::SQ => (
            "sq_state",
            at_state(context, SQC_STATE),
            at_state(input, MODIFY_SQ_STATE),
            at_state(input, MODIFY_SQ_WANTED),
            // What the kernel (modify_raw_packet_qp of mlx5_ib, mlx5e) and DPDK do. A raw packet QP
            // in INIT or RTR has a queue in RST, which 2ERR_QP moves to ERR.
            &[(0, 0), (0, 1), (0, 3), (1, 1), (1, 3), (1, 0), (3, 3), (3, 0)],
        ),
        kinds::RMP => (
            "rmp_state",
            with(context, |rmpc: &mut Rmpc| rmpc.state().0),
            read(input, |m: &ModifyRmpIn| m.rmp_state().0),
            read(input, |m: &ModifyRmpIn| m.ctx().state().0),
            &[(1, 1), (1, 3), (3, 3)],
        ),
        _ => return Ok(()),
    };
    if present != said {
        return refuse_field(Status::BAD_RES_STATE_ERR, syndrome::NOT_THE_PRESENT_STATE, at);
    }
    if legal.contains(&(present, wanted)) { Ok(()) } else { refuse_state() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_again_behind_the_last() {
        let mut objects = Objects { last: 0xff_fffe, ..Objects::default() };
        assert_eq!(objects.next_number(24), Ok(0xff_ffff));
        assert_eq!(objects.next_number(24), Ok(1));
    }
}
