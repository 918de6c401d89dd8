//! The kernel's DEVX rules: what it refuses before the firmware sees it.
//!
//! Source: `drivers/infiniband/hw/mlx5/devx.c` (`devx_is_obj_create_cmd`,
//! `devx_is_obj_modify_cmd`, `devx_is_obj_query_cmd`, `devx_is_general_cmd`, `devx_get_obj_id`,
//! `devx_is_valid_obj_id`).

use mlx5_devx::Errno;
use mlx5_prm::{Opcode, Place, Verb};

use crate::firmware::kinds;

/// The shortest mailbox that a method takes, in bytes, and the longest.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=0xffff;

/// Where the number of an object stands in every command on one that is simulated.
const NUMBER: Place = Place { bit: 0x48, width: 24 };

/// Commands that the method modify admits, of those on simulated objects.
///
/// SQD_RTS_QP is not among them: the kernel does not let it through.
const MODIFY: &[Opcode] = &[
    Opcode::MODIFY_CQ,
    Opcode::MODIFY_RMP,
    Opcode::MODIFY_RQ,
    Opcode::MODIFY_RQT,
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
    Opcode::ARM_XRQ,
    Opcode::SET_XRQ_DC_PARAMS_ENTRY,
    Opcode::RELEASE_XRQ_ERROR,
    Opcode::MODIFY_XRQ,
];

/// Commands that the method query admits, of those on simulated objects.
const QUERY: &[Opcode] = &[
    Opcode::QUERY_CQ,
    Opcode::QUERY_RMP,
    Opcode::QUERY_RQ,
    Opcode::QUERY_RQT,
    Opcode::QUERY_QP,
    Opcode::QUERY_SRQ,
    Opcode::QUERY_XRC_SRQ,
    Opcode::QUERY_XRQ,
    Opcode::QUERY_XRQ_DC_PARAMS_ENTRY,
    Opcode::QUERY_XRQ_ERROR_PARAMS,
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
    pub(crate) kind: &'static str,
    pub(crate) number: u32,
}

/// Lengths, tunnel and opcode: what the kernel looks at first. Gives the opcode.
pub(crate) fn admit(method: Method, input: &[u8], output: &[u8]) -> Result<Opcode, Errno> {
    if !LENGTHS.contains(&input.len()) || !LENGTHS.contains(&output.len()) {
        return Err(Errno::INVAL);
    }
    let opcode = mlx5_prm::opcode(input).ok_or(Errno::INVAL)?;
    // `vhca_tunnel_id`: a command for another function, which needs a capability.
    if input[4..6] != [0, 0] {
        return Err(Errno::INVAL);
    }
    let admitted = match method {
        Method::Create => mlx5_prm::command(opcode.0).is_some_and(|c| c.verb == Verb::Create),
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
    let kind = match opcode {
        Opcode::MODIFY_CQ | Opcode::QUERY_CQ => kinds::CQ,
        Opcode::MODIFY_RMP | Opcode::QUERY_RMP => kinds::RMP,
        Opcode::MODIFY_RQ | Opcode::QUERY_RQ | Opcode::ARM_RQ => kinds::RQ,
        Opcode::MODIFY_RQT | Opcode::QUERY_RQT => kinds::RQT,
        Opcode::QUERY_SRQ => kinds::SRQ,
        Opcode::ARM_XRC_SRQ | Opcode::QUERY_XRC_SRQ => kinds::XRC_SRQ,
        Opcode::ARM_XRQ
        | Opcode::MODIFY_XRQ
        | Opcode::SET_XRQ_DC_PARAMS_ENTRY
        | Opcode::RELEASE_XRQ_ERROR
        | Opcode::QUERY_XRQ
        | Opcode::QUERY_XRQ_DC_PARAMS_ENTRY
        | Opcode::QUERY_XRQ_ERROR_PARAMS => kinds::XRQ,
        _ => kinds::QP,
    };
    NUMBER.read(input).map(|number| Identity { kind, number: number as u32 })
}

/// What the kernel writes into an input before it sends it: the context's uid, and, where a command
/// may name a umem, that it does.
pub(crate) fn force(opcode: Opcode, input: &mut [u8], uid: u16) {
    input[2..4].copy_from_slice(&uid.to_be_bytes());
    if opcode == Opcode::MODIFY_CQ
        && let Some(bytes) = input.get_mut(..mlx5_prm::ModifyCqIn::SIZE)
        && let Ok(modify) = mlx5_prm::ModifyCqIn::view_mut(bytes)
    {
        modify.set_cq_umem_valid(true);
    }
}
