//! Which commands the driver lets through, and in which scope: `mlx5ctl_validate_rpc` in
//! `drivers/fwctl/mlx5/main.c`.

use std::fmt;

use mlx5_prm::Opcode;

use crate::clears::clears;

/// How far a command may reach: `enum fwctl_rpc_scope`.
///
/// A wider scope admits all that a narrower one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Scope {
    /// `FWCTL_RPC_CONFIGURATION`: reads and writes the configuration of the device, which stays a
    /// supported one.
    Configuration = 0,
    /// `FWCTL_RPC_DEBUG_READ_ONLY`: reads what helps to debug, too.
    DebugReadOnly = 1,
    /// `FWCTL_RPC_DEBUG_WRITE`: writes for debugging. The kernel logs it, and counts itself as
    /// tainted from then on.
    DebugWrite = 2,
    /// `FWCTL_RPC_DEBUG_WRITE_FULL`: everything. It needs CAP_SYS_RAWIO, and taints the kernel. No
    /// command of [`admitted`] needs it.
    DebugWriteFull = 3,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Configuration => "configuration",
            Scope::DebugReadOnly => "debug read only",
            Scope::DebugWrite => "debug write",
            Scope::DebugWriteFull => "debug write full",
        })
    }
}

/// What a user lets a [`Fwctl`](super::Fwctl) send.
///
/// The scopes alone do not keep a tool from writing: the driver lets SET_HCA_CAP and writes of
/// registers through in [`Scope::Configuration`], the narrowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Only what reads, in no wider scope than [`Scope::DebugReadOnly`].
    ///
    /// Not sent are commands that change something, writes of registers, commands that this crate
    /// does not know, and reads that are asked for more than to read: the bits `clear` and
    /// `dump_to_memory` of a query of counters, a bit such as `clr` of a register (see [`changes`]).
    ReadOnly,
    /// All that the driver lets through in this scope.
    UpTo(Scope),
}

impl Limit {
    /// The widest scope that it lets a command have.
    pub const fn scope(self) -> Scope {
        match self {
            Limit::ReadOnly => Scope::DebugReadOnly,
            Limit::UpTo(scope) => scope,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::ReadOnly => f.write_str("read only"),
            Limit::UpTo(scope) => write!(f, "scope {scope}"),
        }
    }
}

/// A command that the driver lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admitted {
    /// Its opcode.
    pub opcode: Opcode,
    /// Its name in the driver, without `MLX5_CMD_OP_`.
    pub name: &'static str,
    /// The narrowest scope in which it reads; `None` when it does not only read.
    pub read: Option<Scope>,
    /// The narrowest scope in which it changes something; `None` when it does not.
    pub write: Option<Scope>,
    /// Whether it came after Linux 6.15, whose driver answers EBADMSG to it.
    pub later: bool,
}

/// What a kind of command needs: scope of reading, scope of changing, whether it came later.
type Kind = (Option<Scope>, Option<Scope>, bool);

const QUERY: Kind = (Some(Scope::DebugReadOnly), None, false);
const LATER_QUERY: Kind = (Some(Scope::DebugReadOnly), None, true);
const QUERY_CONFIGURATION: Kind = (Some(Scope::Configuration), None, false);
const CONFIGURE: Kind = (None, Some(Scope::Configuration), false);
const LATER_CONFIGURE: Kind = (None, Some(Scope::Configuration), true);
const DEBUG: Kind = (None, Some(Scope::DebugWrite), false);
/// The driver tells a write by `op_mod` 0, and wants less for it than for a read.
const REGISTER: Kind = (Some(Scope::DebugReadOnly), Some(Scope::Configuration), false);

macro_rules! commands {
    ($( $code:literal $name:ident $kind:ident, )*) => {
        /// What the driver lets through, by opcode.
        const ADMITTED: &[Admitted] = &[ $( Admitted {
            opcode: Opcode($code),
            name: stringify!($name),
            read: $kind.0,
            write: $kind.1,
            later: $kind.2,
        }, )* ];
    };
}

commands! {
    0x100 QUERY_HCA_CAP QUERY_CONFIGURATION,
    0x101 QUERY_ADAPTER QUERY_CONFIGURATION,
    0x107 QUERY_PAGES QUERY,
    0x109 SET_HCA_CAP CONFIGURE,
    0x10a QUERY_ISSI QUERY,
    0x10c QUERY_DRIVER_VERSION QUERY,
    0x10e QUERY_OTHER_HCA_CAP QUERY_CONFIGURATION,
    0x111 QUERY_SF_PARTITION QUERY,
    0x117 QUERY_VHCA_MIGRATION_STATE QUERY,
    0x201 QUERY_MKEY QUERY,
    0x203 QUERY_SPECIAL_CONTEXTS QUERY,
    0x303 QUERY_EQ QUERY,
    0x402 QUERY_CQ QUERY,
    0x50b QUERY_QP QUERY,
    0x512 QUERY_RDB QUERY,
    0x602 QUERY_PSV QUERY,
    0x702 QUERY_SRQ QUERY,
    0x707 QUERY_XRC_SRQ QUERY,
    0x713 QUERY_DCT QUERY,
    0x716 QUERY_DC_CNAK_TRACE QUERY,
    0x719 QUERY_XRQ QUERY,
    0x722 QUERY_NVMF_BACKEND_CONTROLLER QUERY,
    0x725 QUERY_XRQ_DC_PARAMS_ENTRY QUERY,
    0x727 QUERY_XRQ_ERROR_PARAMS QUERY,
    0x728 QUERY_NVMF_NAMESPACE_CONTEXT QUERY,
    0x730 QUERY_ADJACENT_FUNCTIONS_ID LATER_QUERY,
    0x731 DELEGATE_VHCA_MANAGEMENT LATER_CONFIGURE,
    0x732 QUERY_DELEGATED_VHCA LATER_QUERY,
    0x740 QUERY_ESW_FUNCTIONS QUERY_CONFIGURATION,
    0x750 QUERY_VPORT_STATE QUERY,
    0x752 QUERY_ESW_VPORT_CONTEXT QUERY,
    0x754 QUERY_NIC_VPORT_CONTEXT QUERY,
    0x760 QUERY_ROCE_ADDRESS QUERY_CONFIGURATION,
    0x762 QUERY_HCA_VPORT_CONTEXT QUERY_CONFIGURATION,
    0x764 QUERY_HCA_VPORT_GID QUERY,
    0x765 QUERY_HCA_VPORT_PKEY QUERY,
    0x76f QUERY_VNIC_ENV QUERY,
    0x770 QUERY_VPORT_COUNTER QUERY,
    0x773 QUERY_Q_COUNTER QUERY,
    0x781 QUERY_RATE_LIMIT QUERY,
    0x784 QUERY_SCHEDULING_ELEMENT QUERY,
    0x805 ACCESS_REG REGISTER,
    0x80b QUERY_MAD_DEMUX QUERY,
    0x80d NOP QUERY,
    0x813 QUERY_BURST_SIZE QUERY,
    0x819 QUERY_DIAGNOSTIC_PARAMS QUERY,
    0x820 SET_DIAGNOSTIC_PARAMS DEBUG,
    0x821 QUERY_DIAGNOSTIC_COUNTERS QUERY,
    0x822 QUERY_CONG_STATUS QUERY,
    0x823 MODIFY_CONG_STATUS LATER_CONFIGURE,
    0x824 QUERY_CONG_PARAMS QUERY,
    0x826 QUERY_CONG_STATISTICS QUERY,
    0x82a QUERY_L2_TABLE_ENTRY QUERY,
    0x831 QUERY_WOL_ROL QUERY,
    0x842 QUERY_LAG QUERY,
    0x903 QUERY_TIR QUERY,
    0x907 QUERY_SQ QUERY,
    0x90b QUERY_RQ QUERY,
    0x90f QUERY_RMP QUERY,
    0x911 QUERY_DELAY_DROP_PARAMS QUERY,
    0x915 QUERY_TIS QUERY,
    0x919 QUERY_RQT QUERY,
    0x932 QUERY_FLOW_TABLE QUERY,
    0x935 QUERY_FLOW_GROUP QUERY,
    0x937 QUERY_FLOW_TABLE_ENTRY QUERY,
    0x93b QUERY_FLOW_COUNTER QUERY,
    0x93f QUERY_PACKET_REFORMAT_CONTEXT QUERY,
    0x942 QUERY_MODIFY_HEADER_CONTEXT QUERY,
    0x962 FPGA_QUERY_QP QUERY,
    0x964 FPGA_QUERY_QP_COUNTERS QUERY,
    0x971 QUERY_AFU QUERY,
    0x981 QUERY_CAPI_PEC QUERY,
    0xa02 QUERY_GENERAL_OBJECT QUERY,
    0xa05 QUERY_UCTX QUERY,
    0xa09 QUERY_UMEM QUERY,
    0xb02 QUERY_NVMF_CC_RESPONSE QUERY,
    0xb03 QUERY_EMULATED_FUNCTIONS_INFO QUERY,
    0xb05 QUERY_REGEXP_PARAMS QUERY,
    0xb07 QUERY_REGEXP_REGISTER QUERY,
    0xb08 USER_QUERY_XRQ_DC_PARAMS_ENTRY QUERY,
    0xb0a USER_QUERY_XRQ_ERROR_PARAMS QUERY,
    0xb0c ACCESS_REGISTER_USER REGISTER,
    0xb0d QUERY_VHCA_STATE QUERY,
    0xb0f QUERY_EMULATION_DEVICE_EQ_MSIX_MAPPING QUERY,
    0xb13 QUERY_MATCH_SAMPLE_INFO QUERY,
    0xb14 QUERY_CRYPTO_STATE QUERY,
    0xb22 QUERY_VUID QUERY_CONFIGURATION,
    0xb28 QUERY_DPA_PARTITION QUERY,
    0xb2a QUERY_DPA_PARTITIONS QUERY,
    0xb2e POSTPONE_CONNECTED_QP_TIMEOUT CONFIGURE,
    0xb2f QUERY_EMULATED_RESOURCES_INFO QUERY,
    0x8000 QUERY_RSV_RESOURCES QUERY,
    0x8001 QUERY_MTT QUERY,
    0x8006 QUERY_SCHED_QUEUE QUERY,
}

/// The commands that the driver lets through, by opcode: those of `mlx5ctl_validate_rpc` at commit
/// 42d3b66d4cdb of Linux.
///
/// None makes or ends an object: the driver would not end it when the file is closed.
///
/// ```
/// use mlx5_devx::fwctl::{Scope, admitted};
///
/// let without_debug = admitted().iter().filter(|c| c.read == Some(Scope::Configuration));
/// assert!(without_debug.into_iter().any(|c| c.name == "QUERY_HCA_CAP"));
/// ```
pub const fn admitted() -> &'static [Admitted] {
    ADMITTED
}

/// The row of a command.
pub(super) fn row(opcode: Opcode) -> Option<&'static Admitted> {
    let place = ADMITTED.binary_search_by_key(&opcode.0, |command| command.opcode.0).ok()?;
    Some(&ADMITTED[place])
}

/// The narrowest scope in which the driver lets a mailbox through; `None` when no scope does.
pub fn scope_needed(input: &[u8]) -> Option<Scope> {
    let command = row(mlx5_prm::opcode(input)?)?;
    match (command.read, command.write) {
        (Some(_), Some(write)) if op_mod(input) == 0 => Some(write),
        (read, write) => read.or(write),
    }
}

/// Whether a mailbox changes something, or may: it is no command that is known to read, a write of
/// a register, a query of counters with the bit `clear` or `dump_to_memory`, or the read of a register
/// with a field set that by its name clears or resets something (`clr`), or starts, ends or keeps a
/// measurement (`snap`, `abort`). Of pages that share their place the fields of all count. `mtr` of MTMP is
/// one of them: the kernel resets the highest temperature by reading with it (`mlx5_hwmon_reset_max_temp`
/// of mlx5_core's `hwmon.c`).
///
/// ```
/// use mlx5_devx::fwctl::changes;
/// use mlx5_prm::{PpcntReg, RegisterIn, Request};
///
/// let counters = PpcntReg::new().with_local_port(1);
/// assert!(!changes(RegisterIn::read(counters).bytes()));
/// assert!(changes(RegisterIn::read(counters.with_clr(true)).bytes()));
/// ```
///
/// Other effects that a read may have are not looked for: the public tables do not mark them.
pub fn changes(input: &[u8]) -> bool {
    let Some(command) = mlx5_prm::opcode(input).and_then(row) else { return true };
    let is_set = |&(at, mask): &(usize, u8)| input.get(at).is_some_and(|byte| byte & mask != 0);
    match (command.read, command.write) {
        // The driver takes any op_mod but 0 for a read, and the PRM has 1 alone.
        (Some(_), Some(_)) => {
            op_mod(input) != 1 || acting_bits_of_register(input).iter().any(is_set)
        }
        (Some(_), None) => clears(input) || is_dumped(input),
        (None, _) => true,
    }
}

fn op_mod(input: &[u8]) -> u16 {
    mlx5_prm::op_mod(input).unwrap_or_default()
}

/// Whether the adapter writes the answer of a query to memory: the bit `dump_to_memory`.
fn is_dumped(input: &[u8]) -> bool {
    let is_set = input.get(0x18).is_some_and(|byte| byte & 0x40 != 0);
    is_set && mlx5_prm::opcode(input) == Some(Opcode::QUERY_FLOW_COUNTER)
}

/// Where the data of a register begin in ACCESS_REG.
const REGISTER_DATA: usize = 0x10;

/// The bits of the register that ACCESS_REG names that do something, whatever else the access does: the
/// byte of each, and its mask there. Their fields are those that a host may set and whose name says so:
/// `clr`, `clear`, `rst` or `reset` is a part of it, or, where it can't be read back, `snap`, `abort` or
/// `measure`, or it restarts a training. `mtr` of MTMP is a "max temperature reset".
fn acting_bits_of_register(input: &[u8]) -> &'static [(usize, u8)] {
    const AT: usize = REGISTER_DATA;
    match input.get(0x0a..0x0c).map_or(0, |id| u16::from_be_bytes([id[0], id[1]])) {
        // PPBMP
        0x5051 => &[(AT, 0x80)],
        // PPBMC: clr, clr_stat
        0x5052 => &[(AT, 0x80), (AT + 0x06, 0x02)],
        // PPCNT, MPCNT
        0x5008 | 0x9051 => &[(AT + 0x04, 0x80)],
        // PMAOS: rst
        0x5012 => &[(AT, 0x80)],
        // PTASv2: page_data.ptasv2_7nm.restart_training
        0x502e => &[(AT + 0x3c, 0x80)],
        // SLRED: abort
        0x505a => &[(AT + 0x06, 0x40)],
        // PBSR: clear_wm_buff_mask, clear_wm
        0x5038 => &[(AT + 0x06, 0x03), (AT + 0x07, 0xff), (AT + 0x08, 0x80)],
        // PLDS: link_dwn_rmt_reset_cfg
        0x5076 => &[(AT + 0x0a, 0xe0)],
        // SLPRR: start_measure, stop_measure
        0x507b => &[(AT, 0xc0)],
        // PMAC: restart_training_host, restart_training_line
        0x507e => &[(AT + 0x08, 0x80), (AT + 0x0c, 0x80)],
        // PCCT: page_data.plu_general_tracer_page.clr
        0x5086 => &[(AT + 0x08, 0x80)],
        // MTMP: mtr
        0x900a => &[(AT + 0x08, 0x40)],
        // MFRL: rst_type_sel, pci_reset_req_method, reset_level
        0x9028 => &[(AT + 0x04, 0x07), (AT + 0x05, 0xe0), (AT + 0x07, 0xff)],
        // MVTS: clear_all_ts_flag
        0x902c => &[(AT, 0x80)],
        // MGNLE
        0x9036 => &[(AT + 0x07, 0x01)],
        // MGCR: gpio_clear
        0x903a => &[(AT + 0x10, 0xff), (AT + 0x11, 0xff), (AT + 0x12, 0xff), (AT + 0x13, 0xff)],
        // MPTFC: filter_sw_rst, reset_at_log_event
        0x9703 => &[(AT + 0x4f, 0x02), (AT + 0x69, 0x02)],
        // MPTTC: trigger_sw_rst
        0x9706 => &[(AT + 0x5b, 0x02)],
        // SBPR: snap, clr
        0xb001 => &[(AT, 0x40), (AT + 0x10, 0x80)],
        // SBCM: snap, clr
        0xb002 => &[(AT, 0x40), (AT + 0x14, 0x80)],
        // VHCA_ICM_CTRL, VHCA_GROUP_ICM_CTRL: rst_max_reached_alloc_icm
        0xc010 | 0xc021 => &[(AT + 0x04, 0x20)],
        // ADP_RETX_HISTOGRAM_CONFIG: clear_on_read
        0xc01d => &[(AT, 0x40)],
        // HOST_OS_INIT_CTRL: delay_host_os_init_clr
        0xc020 => &[(AT, 0x40)],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(opcode: u16, op_mod: u16) -> [u8; 16] {
        let mut input = [0; 16];
        input[..2].copy_from_slice(&opcode.to_be_bytes());
        input[6..8].copy_from_slice(&op_mod.to_be_bytes());
        input
    }

    #[test]
    fn the_rows_are_in_order_and_named_as_in_the_prm() {
        assert!(ADMITTED.is_sorted_by(|a, b| a.opcode.0 < b.opcode.0));
        assert_eq!(ADMITTED.len(), 94);
        let names = ADMITTED.iter().filter_map(|c| Some((c.opcode.name()?, c.name)));
        assert!(names.clone().count() > 60);
        let others: Vec<_> = names.filter(|(in_prm, in_driver)| in_prm != in_driver).collect();
        let expected = [
            ("QUERY_REGEX_PARAMS", "QUERY_REGEXP_PARAMS"),
            ("QUERY_REGEX_REGISTERS", "QUERY_REGEXP_REGISTER"),
        ];
        assert_eq!(others, expected);
    }

    #[test]
    fn scopes_are_those_of_the_driver() {
        let needed = |opcode, op_mod| scope_needed(&input(opcode, op_mod));
        assert_eq!(needed(0x100, 1), Some(Scope::Configuration)); // QUERY_HCA_CAP
        assert_eq!(needed(0x109, 0), Some(Scope::Configuration)); // SET_HCA_CAP
        assert_eq!(needed(0x402, 0), Some(Scope::DebugReadOnly)); // QUERY_CQ
        assert_eq!(needed(0x820, 0), Some(Scope::DebugWrite)); // SET_DIAGNOSTIC_PARAMS
        for access in [0x805, 0xb0c] {
            assert_eq!(needed(access, 0), Some(Scope::Configuration));
            assert_eq!(needed(access, 1), Some(Scope::DebugReadOnly));
            assert_eq!(needed(access, 2), Some(Scope::DebugReadOnly));
        }
        // CREATE_CQ, MODIFY_CQ, DESTROY_CQ, what there is not, and what has no opcode.
        for opcode in [0x400, 0x403, 0x401, 0, 0xffff] {
            assert_eq!(needed(opcode, 0), None, "{opcode:#x}");
        }
        assert_eq!(scope_needed(&[1]), None);
        let widest = ADMITTED.iter().filter_map(|c| c.read.max(c.write)).max();
        assert_eq!(widest, Some(Scope::DebugWrite));
    }

    #[test]
    fn what_only_reads_is_told_from_what_changes() {
        let named: Vec<&str> = ADMITTED
            .iter()
            .filter(|command| changes(&input(command.opcode.0, 0)))
            .map(|command| command.name)
            .collect();
        let expected = [
            "SET_HCA_CAP",
            "DELEGATE_VHCA_MANAGEMENT",
            "ACCESS_REG",
            "SET_DIAGNOSTIC_PARAMS",
            "MODIFY_CONG_STATUS",
            "ACCESS_REGISTER_USER",
            "POSTPONE_CONNECTED_QP_TIMEOUT",
        ];
        assert_eq!(named, expected);
        assert!(!changes(&input(0x805, 1)));
        assert!(changes(&input(0x805, 2)), "no op_mod that the PRM has");
        assert!(changes(&input(0x400, 0)), "CREATE_CQ");
        assert!(changes(&[]));
    }
}
