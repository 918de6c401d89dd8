//! The kernel's DEVX rules: what it refuses before the firmware sees it.
//!
//! Source: `drivers/infiniband/hw/mlx5/devx.c` (`devx_is_obj_create_cmd`,
//! `devx_is_obj_modify_cmd`, `devx_is_obj_query_cmd`, `devx_is_general_cmd`, `devx_get_obj_id`,
//! `devx_is_valid_obj_id`).

use mlx5_devx::Errno;
use mlx5_prm::{
    AllocFlowCounterIn, CreateCqIn, CreateQpIn, CreateRmpIn, CreateRqIn, CreateSqIn,
    CreateXrcSrqIn, CreateXrqIn, Described, Layout, ModifyCqIn, Opcode, Place, Wq,
};

use crate::firmware::{kinds, mkey};
use crate::general;

/// The shortest mailbox that a method takes, in bytes, and the longest.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=0xffff;

/// Commands that the method create admits, besides SET_FLOW_TABLE_ENTRY, CREATE_PSV and CREATE_MKEY. Those that
/// are not simulated are refused by the firmware.
const CREATE: &[Opcode] = &[
    Opcode::CREATE_GENERAL_OBJECT,
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
    Opcode::ADD_VXLAN_UDP_DPORT,
    Opcode::SET_L2_TABLE_ENTRY,
    Opcode::CREATE_QP,
    Opcode::CREATE_SRQ,
    Opcode::CREATE_XRC_SRQ,
    Opcode::CREATE_DCT,
    Opcode::CREATE_XRQ,
    Opcode::ATTACH_TO_MCG,
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
    Opcode::ADD_VXLAN_UDP_DPORT,
    Opcode::SET_L2_TABLE_ENTRY,
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
    Opcode::QUERY_MODIFY_HEADER_CONTEXT,
    Opcode::QUERY_SCHEDULING_ELEMENT,
    Opcode::QUERY_L2_TABLE_ENTRY,
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

/// `create_psv_in.num_psv`. Its type is in a family that need not be compiled in.
const NUM_PSV: Place = Place { bit: 0x40, width: 4 };

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
    /// That a QP belongs to a multicast group; the number is the QP's.
    Attachment,
    /// General objects of this type.
    General(u16),
}

/// Makes sure that a mailbox has a length that the methods take.
pub(crate) fn length(mailbox: &[u8]) -> Result<(), Errno> {
    if LENGTHS.contains(&mailbox.len()) { Ok(()) } else { Err(Errno::INVAL) }
}

/// Length of the input, tunnel and opcode: what the kernel looks at first. Gives the opcode.
///
/// `tunnels` says whether the adapter takes commands for another function (`vhca_tunnel_commands`).
pub(crate) fn admit(method: Method, input: &[u8], tunnels: bool) -> Result<Opcode, Errno> {
    length(input)?;
    let opcode = mlx5_prm::opcode(input).ok_or(Errno::INVAL)?;
    // `vhca_tunnel_id`: of another function. The methods on objects take none of these.
    let is_tunnelled = input[4..6] != [0, 0];
    if is_tunnelled && method != Method::General {
        return Err(Errno::INVAL);
    }
    let admitted = match method {
        // The commands of flow table entries are one opcode.
        Method::Create if opcode == Opcode::SET_FLOW_TABLE_ENTRY => input[6..8] == [0, 0],
        Method::Modify if opcode == Opcode::SET_FLOW_TABLE_ENTRY => input[6..8] == [0, 1],
        Method::Create if opcode == Opcode::CREATE_PSV => NUM_PSV.read(input) == Some(1),
        // `devx_handle_mkey_create`
        Method::Create if opcode == Opcode::CREATE_MKEY => input.len() >= mkey::CONTEXT_END,
        Method::Create => CREATE.contains(&opcode),
        Method::Modify => MODIFY.contains(&opcode),
        Method::Query => QUERY.contains(&opcode),
        Method::General => {
            is_tunnelled && tunnels
                || GENERAL_RANGE.contains(&opcode.0)
                || GENERAL.contains(&opcode)
        }
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
        Opcode::QUERY_MODIFY_HEADER_CONTEXT => {
            (kinds::MODIFY_HEADER_CONTEXT, Place { bit: 0x40, width: 32 })
        }
        Opcode::QUERY_SCHEDULING_ELEMENT => {
            (kinds::SCHEDULING_ELEMENT, Place { bit: 0x60, width: 32 })
        }
        _ => command.and_then(|c| Some((c.object.name, c.number?)))?,
    };
    place.read(input).map(|number| Identity { kind: Kind::Named(kind), number: number as u32 })
}

/// Where the number of a queue stands in every command on one.
const NUMBER: Place = Place { bit: 0x48, width: 24 };

/// How many flow counters a command makes, when it makes a bulk of them.
pub(crate) fn bulk(opcode: Opcode, input: &[u8]) -> Option<u32> {
    if opcode != Opcode::ALLOC_FLOW_COUNTER {
        return None;
    }
    let (alloc, _) = AllocFlowCounterIn::view_prefix(input).ok()?;
    match (alloc.flow_counter_bulk_log_size(), u8::from(alloc.flow_counter_bulk())) {
        (0, 0) => None,
        (0, times) => Some(128 * u32::from(times)),
        (log, _) => Some(1 << log),
    }
}

/// What the kernel writes into an input before it sends it: the context's uid, and, where a command
/// of DEVX may name umems, that it does (`devx_set_umem_valid`, `devx_handle_mkey_create`).
pub(crate) fn force(opcode: Opcode, input: &mut [u8], uid: u16, of_devx: bool) {
    input[2..4].copy_from_slice(&uid.to_be_bytes());
    if !of_devx {
        return;
    }
    match opcode {
        Opcode::MODIFY_CQ => change(input, |modify: &mut ModifyCqIn| {
            modify.set_cq_umem_valid(true);
        }),
        Opcode::CREATE_MKEY if !mkey::is_indirect(input) => {
            mkey::UMEM_VALID.write(input, 1);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What the methods admit, by the numbers of `devx_is_obj_create_cmd`, `devx_is_obj_modify_cmd`,
    /// `devx_is_obj_query_cmd` and `devx_is_general_cmd` (Linux 6.12).
    const ADMITTED: [(Method, &[u16]); 4] = [
        (
            Method::Create,
            &[
                0x200, 0x400, 0x500, 0x600, 0x700, 0x705, 0x710, 0x717, 0x771, 0x782, 0x800, 0x806,
                0x80e, 0x816, 0x827, 0x829, 0x900, 0x904, 0x908, 0x90c, 0x912, 0x916, 0x930, 0x933,
                0x936, 0x939, 0x93d, 0x940, 0xa00,
            ],
        ),
        (
            Method::Modify,
            &[
                0x403, 0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a, 0x50e, 0x703, 0x708, 0x714,
                0x71a, 0x726, 0x729, 0x72a, 0x785, 0x827, 0x829, 0x901, 0x905, 0x909, 0x90d, 0x913,
                0x917, 0x936, 0x93c, 0xa01,
            ],
        ),
        (
            Method::Query,
            &[
                0x201, 0x402, 0x50b, 0x702, 0x707, 0x713, 0x719, 0x725, 0x727, 0x773, 0x784, 0x82a,
                0x903, 0x907, 0x90b, 0x90f, 0x915, 0x919, 0x932, 0x935, 0x937, 0x93b, 0x93f, 0x942,
                0xa02,
            ],
        ),
        (
            Method::General,
            &[
                0x100, 0x101, 0x10a, 0x740, 0x750, 0x752, 0x754, 0x760, 0x762, 0x76f, 0x770, 0x80a,
                0x80d, 0x822, 0x824, 0x826, 0x842,
            ],
        ),
    ];

    /// An input of an opcode, without more than what lets it pass.
    fn input(method: Method, opcode: u16) -> [u8; 0x50] {
        let mut input = [0; 0x50];
        input[..2].copy_from_slice(&opcode.to_be_bytes());
        match (Opcode(opcode), method) {
            (Opcode::SET_FLOW_TABLE_ENTRY, Method::Modify) => input[7] = 1,
            (Opcode::CREATE_PSV, _) => input[8] = 0x10,
            _ => {}
        }
        input
    }

    #[test]
    fn methods_admit_what_the_kernel_admits() {
        for (method, admitted) in ADMITTED {
            for opcode in 0..0x1000 {
                let expected = admitted.contains(&opcode)
                    || method == Method::General && (0xb00..0xd00).contains(&opcode);
                let result = admit(method, &input(method, opcode), false);
                let expected = if expected { Ok(Opcode(opcode)) } else { Err(Errno::INVAL) };
                assert_eq!(result, expected, "{method:?} {opcode:#x}");
            }
        }
    }

    #[test]
    fn a_command_may_pass_in_one_form_alone() {
        let admit = |method, input: &[u8]| admit(method, input, false).is_ok();
        let psv = |count: u8| {
            let mut input = input(Method::Create, 0x600);
            input[8] = count << 4;
            admit(Method::Create, &input)
        };
        assert!(!psv(0) && psv(1) && !psv(2) && !psv(15));
        let mkey = input(Method::Create, 0x200);
        assert!(admit(Method::Create, &mkey) && !admit(Method::Create, &mkey[..0x4f]));
        let entry = |method, op_mod| {
            let mut input = input(Method::Create, 0x936);
            input[7] = op_mod;
            admit(method, &input)
        };
        assert!(entry(Method::Create, 0) && !entry(Method::Create, 1));
        assert!(!entry(Method::Modify, 0) && entry(Method::Modify, 1));
    }

    #[test]
    fn commands_for_another_function() {
        let tunnelled = |method, opcode, tunnels| {
            let mut input = input(method, opcode);
            input[5] = 1;
            admit(method, &input, tunnels).is_ok()
        };
        for tunnels in [false, true] {
            assert!(!tunnelled(Method::Create, 0x400, tunnels));
            assert!(!tunnelled(Method::Modify, 0x403, tunnels));
            assert!(!tunnelled(Method::Query, 0x402, tunnels));
            assert!(tunnelled(Method::General, 0x100, tunnels));
        }
        assert!(tunnelled(Method::General, 0x400, true));
        assert!(!tunnelled(Method::General, 0x400, false));
        assert!(admit(Method::General, &input(Method::General, 0x400), true).is_err());
    }
}
