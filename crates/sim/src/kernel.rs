//! The kernel's DEVX rules: what it refuses before the firmware sees it.
//!
//! Source: `drivers/infiniband/hw/mlx5/devx.c` (`devx_is_obj_create_cmd`,
//! `devx_is_obj_modify_cmd`, `devx_is_obj_query_cmd`, `devx_is_general_cmd`, `devx_get_obj_id`,
//! `devx_is_valid_obj_id`).

use mlx5_devx::Errno;
use mlx5_prm::{
    CreateCqIn, CreateQpIn, CreateRmpIn, CreateRqIn, CreateSqIn, CreateXrcSrqIn, CreateXrqIn,
    Described, Layout, ModifyCqIn, Opcode, Place, Wq,
};

use crate::firmware::kinds;
use crate::general;

/// The shortest mailbox that a method takes, in bytes, and the longest.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=0xffff;

/// Commands that the method create admits, of those that are simulated, besides SET_FLOW_TABLE_ENTRY.
const CREATE: &[Opcode] = &[
    Opcode::CREATE_GENERAL_OBJECT,
    Opcode::CREATE_MKEY,
    Opcode::CREATE_CQ,
    Opcode::ALLOC_PD,
    Opcode::ALLOC_TRANSPORT_DOMAIN,
    Opcode::CREATE_RMP,
    Opcode::CREATE_SQ,
    Opcode::CREATE_RQ,
    Opcode::CREATE_RQT,
    Opcode::CREATE_TIR,
    Opcode::CREATE_TIS,
    Opcode::ALLOC_Q_COUNTER,
    Opcode::CREATE_FLOW_TABLE,
    Opcode::CREATE_FLOW_GROUP,
    Opcode::ALLOC_FLOW_COUNTER,
    Opcode::ALLOC_PACKET_REFORMAT_CONTEXT,
    Opcode::ALLOC_MODIFY_HEADER_CONTEXT,
    Opcode::CREATE_SCHEDULING_ELEMENT,
    Opcode::CREATE_QP,
    Opcode::CREATE_SRQ,
    Opcode::CREATE_XRC_SRQ,
    Opcode::CREATE_DCT,
    Opcode::CREATE_XRQ,
    Opcode::ALLOC_XRCD,
];

/// Commands that the method modify admits, besides SET_FLOW_TABLE_ENTRY.
///
/// SQD_RTS_QP is not among them: the kernel does not let it through.
const MODIFY: &[Opcode] = &[
    Opcode::MODIFY_GENERAL_OBJECT,
    Opcode::MODIFY_CQ,
    Opcode::MODIFY_RMP,
    Opcode::MODIFY_SQ,
    Opcode::MODIFY_RQ,
    Opcode::MODIFY_RQT,
    Opcode::MODIFY_TIR,
    Opcode::MODIFY_TIS,
    Opcode::MODIFY_FLOW_TABLE,
    Opcode::MODIFY_SCHEDULING_ELEMENT,
    Opcode::RST2INIT_QP,
    Opcode::INIT2RTR_QP,
    Opcode::INIT2INIT_QP,
    Opcode::RTR2RTS_QP,
    Opcode::RTS2RTS_QP,
    Opcode::SQERR2RTS_QP,
    Opcode::N2ERR_QP,
    Opcode::N2RST_QP,
    Opcode::ARM_XRC_SRQ,
    Opcode::ARM_RQ,
    Opcode::ARM_DCT_FOR_KEY_VIOLATION,
    Opcode::ARM_XRQ,
    Opcode::SET_XRQ_DC_PARAMS_ENTRY,
    Opcode::RELEASE_XRQ_ERROR,
    Opcode::MODIFY_XRQ,
];

/// Commands that the method query admits.
const QUERY: &[Opcode] = &[
    Opcode::QUERY_GENERAL_OBJECT,
    Opcode::QUERY_MKEY,
    Opcode::QUERY_CQ,
    Opcode::QUERY_RMP,
    Opcode::QUERY_SQ,
    Opcode::QUERY_RQ,
    Opcode::QUERY_RQT,
    Opcode::QUERY_TIR,
    Opcode::QUERY_TIS,
    Opcode::QUERY_Q_COUNTER,
    Opcode::QUERY_FLOW_TABLE,
    Opcode::QUERY_FLOW_GROUP,
    Opcode::QUERY_FLOW_TABLE_ENTRY,
    Opcode::QUERY_FLOW_COUNTER,
    Opcode::QUERY_QP,
    Opcode::QUERY_SRQ,
    Opcode::QUERY_XRC_SRQ,
    Opcode::QUERY_DCT,
    Opcode::QUERY_XRQ,
    Opcode::QUERY_XRQ_DC_PARAMS_ENTRY,
    Opcode::QUERY_XRQ_ERROR_PARAMS,
    Opcode::QUERY_PACKET_REFORMAT_CONTEXT,
];

/// Commands that the general method admits besides the range of general commands.
const GENERAL: &[Opcode] = &[
    Opcode::QUERY_HCA_CAP,
    Opcode::QUERY_HCA_VPORT_CONTEXT,
    Opcode::QUERY_ADAPTER,
    Opcode::QUERY_ISSI,
    Opcode::QUERY_NIC_VPORT_CONTEXT,
    Opcode::QUERY_ROCE_ADDRESS,
    Opcode::QUERY_VNIC_ENV,
    Opcode::QUERY_VPORT_COUNTER,
    Opcode::GET_DROPPED_PACKET_LOG,
    Opcode::NOP,
    Opcode::QUERY_CONG_STATUS,
    Opcode::QUERY_CONG_PARAMS,
    Opcode::QUERY_CONG_STATISTICS,
    Opcode::QUERY_LAG,
    Opcode::QUERY_ESW_VPORT_CONTEXT,
    Opcode::QUERY_VPORT_STATE,
    Opcode::QUERY_ESW_FUNCTIONS,
];

/// The range of general commands (`MLX5_CMD_OP_GENERAL_START` and `_END`).
const GENERAL_RANGE: std::ops::Range<u16> = 0xb00..0xd00;

/// A method of the DEVX interface that carries a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Create,
    Modify,
    Query,
    General,
}

/// An object as the kernel identifies it: the kind that its creating command makes, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) number: u32,
}

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One with commands of its own, by name.
    Named(&'static str),
    /// General objects of this type.
    General(u16),
}

/// Makes sure that a mailbox has a length that the methods take.
pub(crate) fn length(mailbox: &[u8]) -> Result<(), Errno> {
    if LENGTHS.contains(&mailbox.len()) { Ok(()) } else { Err(Errno::INVAL) }
}

/// Length of the input, tunnel and opcode: what the kernel looks at first. Gives the opcode.
pub(crate) fn admit(method: Method, input: &[u8]) -> Result<Opcode, Errno> {
    length(input)?;
    let opcode = mlx5_prm::opcode(input).ok_or(Errno::INVAL)?;
    // `vhca_tunnel_id`: a command for another function, which needs a capability.
    if input[4..6] != [0, 0] {
        return Err(Errno::INVAL);
    }
    let admitted = match method {
        // The commands of flow table entries are one opcode.
        Method::Create if opcode == Opcode::SET_FLOW_TABLE_ENTRY => input[6..8] == [0, 0],
        Method::Modify if opcode == Opcode::SET_FLOW_TABLE_ENTRY => input[6..8] == [0, 1],
        Method::Create => CREATE.contains(&opcode),
        Method::Modify => MODIFY.contains(&opcode),
        Method::Query => QUERY.contains(&opcode),
        Method::General => GENERAL_RANGE.contains(&opcode.0) || GENERAL.contains(&opcode),
    };
    if admitted { Ok(opcode) } else { Err(Errno::INVAL) }
}

/// The object that a command names, as the kernel reads it.
///
/// ARM_RQ is read as a command on a receive queue, so it fits no shared receive queue.
pub(crate) fn named(opcode: Opcode, input: &[u8]) -> Option<Identity> {
    if matches!(opcode, Opcode::MODIFY_GENERAL_OBJECT | Opcode::QUERY_GENERAL_OBJECT) {
        let (obj_type, number) = general::key(input);
        return Some(Identity { kind: Kind::General(obj_type), number });
    }
    let command = mlx5_prm::command(opcode.0);
    let (kind, place) = match opcode {
        Opcode::ARM_RQ => (kinds::RQ, NUMBER),
        Opcode::SET_XRQ_DC_PARAMS_ENTRY
        | Opcode::RELEASE_XRQ_ERROR
        | Opcode::MODIFY_XRQ
        | Opcode::QUERY_XRQ_DC_PARAMS_ENTRY
        | Opcode::QUERY_XRQ_ERROR_PARAMS => (kinds::XRQ, NUMBER),
        _ => command.and_then(|c| Some((c.object.name, c.number?)))?,
    };
    place.read(input).map(|number| Identity { kind: Kind::Named(kind), number: number as u32 })
}

/// Where the number of a queue stands in every command on one.
const NUMBER: Place = Place { bit: 0x48, width: 24 };

/// What the kernel writes into an input before it sends it: the context's uid, and, where a command
/// of DEVX may name umems, that it does (`devx_set_umem_valid`).
///
/// That a memory key is made of a umem (`devx_handle_mkey_create`) is not written.
pub(crate) fn force(opcode: Opcode, input: &mut [u8], uid: u16, of_devx: bool) {
    input[2..4].copy_from_slice(&uid.to_be_bytes());
    if !of_devx {
        return;
    }
    match opcode {
        Opcode::MODIFY_CQ => change(input, |modify: &mut ModifyCqIn| {
            modify.set_cq_umem_valid(true);
        }),
        Opcode::CREATE_CQ => change(input, |create: &mut CreateCqIn| {
            create.set_cq_umem_valid(true);
            create.cq_context_mut().set_dbr_umem_valid(true);
        }),
        Opcode::CREATE_QP => change(input, |create: &mut CreateQpIn| {
            create.set_wq_umem_valid(true);
            create.qpc_mut().set_dbr_umem_valid(true);
        }),
        Opcode::CREATE_RQ => change(input, |create: &mut CreateRqIn| {
            in_umems(create.ctx_mut().wq_mut());
        }),
        Opcode::CREATE_SQ => change(input, |create: &mut CreateSqIn| {
            in_umems(create.ctx_mut().wq_mut());
        }),
        Opcode::CREATE_RMP => change(input, |create: &mut CreateRmpIn| {
            in_umems(create.ctx_mut().wq_mut());
        }),
        Opcode::CREATE_XRQ => change(input, |create: &mut CreateXrqIn| {
            in_umems(create.xrq_context_mut().wq_mut());
        }),
        Opcode::CREATE_XRC_SRQ => change(input, |create: &mut CreateXrcSrqIn| {
            create.set_xrc_srq_umem_valid(true);
            create.xrc_srq_context_entry_mut().set_dbr_umem_valid(true);
        }),
        _ => {}
    }
}

fn in_umems(wq: &mut Wq) {
    wq.set_dbr_umem_valid(true);
    wq.set_wq_umem_valid(true);
}

/// Changes the layout that an input begins with; one that is too short is left alone, and refused by
/// the firmware.
fn change<T: Described, const N: usize>(input: &mut [u8], change: impl FnOnce(&mut Layout<T, N>)) {
    if let Some(Ok(layout)) = input.get_mut(..N).map(Layout::view_mut) {
        change(layout);
    }
}

/// Whether a command may be sent by a context without DEVX (`devx_is_whitelist_cmd`).
#[cfg(feature = "uverbs")]
pub(crate) fn needs_no_context(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::QUERY_HCA_CAP
            | Opcode::QUERY_HCA_VPORT_CONTEXT
            | Opcode::QUERY_ESW_VPORT_CONTEXT
            | Opcode::QUERY_ESW_FUNCTIONS
    )
}
