//! What usually makes commands fail, and what to look at: by status, by command, by way of waiting.
//!
//! Only what the public drivers show is here: what they check before they send a command, what they do
//! when it is refused, and what its fields are bounded by. What a syndrome means is not here.

use super::errno::Errno;
use super::failure::{Failure, Stop, Wait};
use super::syndromes::is_like;
use crate::names;

/// Causes that are usual, and what to look at next. `COMMAND` stands for the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Advice {
    cause: &'static str,
    look: &'static str,
}

/// What is known about a failure.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Causes that are usual; empty when none are known.
    pub(super) cause: &'static str,
    /// What to look at next, the most particular first.
    pub(super) look: Vec<String>,
}

/// How the input of a command is seen.
///
/// Sources: `dump_command` of mlx5_core's `cmd.c`, and its module parameter `debug_mask` in `main.c`.
pub(super) const INPUT: &str = "To see what a command was sent: `echo 1 > \
    /sys/module/mlx5_core/parameters/debug_mask` and `echo 'module mlx5_core file cmd.c +p' > \
    /sys/kernel/debug/dynamic_debug/control`, let it fail again, and give the kernel's log to `prm decode`.";

/// How the status of a command of DEVX is seen, which its program does not tell.
///
/// Source: `mlx5_cmd_err_trace` of mlx5_core's `cmd.c`; the kernel's log has no command of a user.
const TRACE: &str = "Its status and op_mod, which the kernel's trace tells also of DEVX: `echo 1 > \
    /sys/kernel/tracing/events/mlx5/mlx5_cmd/enable`, let it fail again, and give \
    /sys/kernel/tracing/trace to `prm explain`.";

/// Of a call that the kernel refused.
///
/// Source: mlx5_ib's `devx.c`: `devx_get_uid`, `devx_is_obj_create_cmd` and its kin,
/// `devx_is_valid_obj_id`.
const OF_KERNEL: Advice = Advice {
    cause: "A call that does not take this command, or not on this object; a context that was not opened \
            for DEVX; a kernel or adapter without DEVX; a mailbox that is too short.",
    look: "How the context was opened (MLX5DV_CONTEXT_FLAGS_DEVX); whether the object that the input names \
           is the one of the call.",
};

/// Of a command that fwctl does not let through.
///
/// Source: `mlx5ctl_validate_rpc` and `mlx5ctl_fw_rpc` of the kernel's `drivers/fwctl/mlx5/main.c`.
const OF_FWCTL: Advice = Advice {
    cause: "A command that is not on the list of the driver, which has queries, accesses to registers and a \
            few changes of settings; a scope that is too narrow for it; or a mailbox of less than 16 bytes.",
    look: "mlx5_devx::fwctl::admitted, and Fwctl::check of the input; the kernel's version, whose list may be \
           shorter.",
};

/// Of a call that is not there.
///
/// Source: libmlx5, whose calls of DEVX give EOPNOTSUPP without `mlx5_get_dv_ops` of the context, or without
/// the call in them.
const OF_NO_CALL: Advice = Advice {
    cause: "A context that is not of an mlx5 device, or whose driver lacks the call, as that of VFIO may; or \
            fwctl, which makes and ends no objects.",
    look: "Which device the program opened, and how.",
};

/// Of a CREATE_CQ whose event queue the kernel did not find.
const OF_EQN: Advice = Advice {
    cause: "The number of the event queue in the input is not that of one for completions, or not of this \
            function.",
    look: "cqc.c_eqn_or_apu_element in the input, against what the query for the EQN of a vector gives \
           (mlx5dv_devx_query_eqn).",
};

/// Of a call on an object that the kernel did not find (`lookup_get_idr_uobject` in `rdma_core.c`).
const OF_HANDLE: Advice = Advice {
    cause: "The handle of the call is that of no object of its context: the object was ended, or is of another \
            context.",
    look: "Whether the object, or its context, was ended before the call.",
};

/// Of a call whose mailboxes the kernel could not read or write.
const OF_BUFFERS: Advice = Advice {
    cause: "A mailbox in memory that the program has not, or may not write: the command may be carried out \
            all the same, when it is the answer that did not get back.",
    look: "The addresses and lengths of both mailboxes in the program.",
};

/// Of a call that a signal ended.
const OF_SIGNAL: Advice = Advice {
    cause: "A signal that the program handles: a timer, a debugger, an end of it from outside.",
    look: "The state of the object, by the query command of it, before the command is sent again.",
};

/// Of a command that the kernel had no memory for.
const OF_MEMORY: Advice = Advice {
    cause: "A host that is short of memory, or a mailbox that is very large.",
    look: "The kernel's log for failed allocations; the length of the mailboxes.",
};

/// Advice for commands with one of these statuses, or with any where there is none.
///
/// Commands are names with blanks between; `*` stands for any run of characters.
type OfCommand = (&'static str, &'static [u8], Advice);

// As in `mlx5_prm::Status`.
const INT: u8 = 0x1;
const OP: u8 = 0x2;
const PARAM: u8 = 0x3;
const SYS_STATE: u8 = 0x4;
const RES: u8 = 0x5;
const BUSY: u8 = 0x6;
const NOT_READY: u8 = 0x7;
const LIMIT: u8 = 0x8;
const RES_STATE: u8 = 0x9;
const INDEX: u8 = 0xa;
const NO_RES: u8 = 0xf;
const QP_STATE: u8 = 0x10;
const PACKET: u8 = 0x30;
const SIZE: u8 = 0x40;
const IN_LEN: u8 = 0x50;
const OUT_LEN: u8 = 0x51;
const ABORTED: u8 = super::status::ABORTED;

const BY_STATUS: &[(u8, Advice)] = &[
    (
        INT,
        Advice {
            cause: "A fault inside the firmware, or memory of the host that it could not reach.",
            look: "The driver's lines about health around it (assert_var, synd, health compromised); \
                   `devlink health show`; the firmware's version (`devlink dev info`), and whether there is \
                   a newer one.",
        },
    ),
    (
        OP,
        Advice {
            cause: "A driver or program newer than the firmware; a feature that is off in the firmware's \
                    configuration; a VF or SF that is not allowed what its PF is.",
            look: "Whether the capability for it is set (`prm find NAME`, then `prm show` the page); the \
                   same command on the PF; `mlxconfig -d DEVICE query`; the firmware's version.",
        },
    ),
    (
        PARAM,
        Advice {
            cause: "A field beyond what the capabilities allow; fields that contradict each other; a field \
                    that the firmware does not know yet, in a driver or program newer than it.",
            look: "The input itself (below is how to see it), against the range and the capability that \
                   `prm show COMMAND` tells of each field.",
        },
    ),
    // mlx5_function_setup of mlx5_core's main.c: ENABLE_HCA, then pages, then INIT_HCA.
    (
        SYS_STATE,
        Advice {
            cause: "The function is not enabled or not initialized, or is being torn down or reset.",
            look: "What happened before it: probe, reset, or removal of the device; which command failed \
                   first.",
        },
    ),
    // devx_is_valid_obj_id of mlx5_ib's devx.c keeps DEVX from objects of others; what gets by is no
    // object, or one of another uid.
    (
        RES,
        Advice {
            cause: "A number that is no object's (any more), or an object of another user (uid), function \
                    or protection domain.",
            look: "The numbers in the input (`prm decode`), against what made those objects and whether \
                   they were ended before; whether all were made with the same DEVX context.",
        },
    ),
    (
        BUSY,
        Advice {
            cause: "Another object or command still uses it.",
            look: "What was made upon the object, and whether a command on it is under way; try again.",
        },
    ),
    (
        NOT_READY,
        Advice {
            cause: "The firmware is still at it, or something that it needs is not there yet.",
            look: "Try again after a while; if it stays, what the command waits for.",
        },
    ),
    (
        LIMIT,
        Advice {
            cause: "As many objects as the function may have, an object larger than it may be, or too \
                    little memory given to the firmware.",
            look: "How many such objects there are, and who made them (`rdma resource show`); log_max_* of \
                   `prm show cmd_hca_cap`; whether they are ended again; MANAGE_PAGES failures before it.",
        },
    ),
    // mlx5_core's fs_core.c and mlx5_ib's devx.c end objects in the reverse order.
    (
        RES_STATE,
        Advice {
            cause: "The object is still used by another one (of a destroy), or is not in the state that the \
                    command is for. Often it follows from an earlier failure that left an object behind.",
            look: "The first failure in the log; which objects hold this one, and whether they are ended \
                   before it; its state, by the query command of the object.",
        },
    ),
    (
        INDEX,
        Advice {
            cause: "An index beyond its table: of a GID, P_Key, port, vport, or entry.",
            look: "The index fields of the input (`prm decode`), against the size of the table in the \
                   capabilities.",
        },
    ),
    (
        NO_RES,
        Advice {
            cause: "The adapter has nothing left of what is asked for, be it its own memory, doorbell pages \
                    or entries of a table. The kernel makes EAGAIN of it.",
            look: "What holds such resources (`rdma resource show`, other VFs, SFs and containers); the \
                   configuration of the firmware (`mlxconfig -d DEVICE query`).",
        },
    ),
    // The table of transitions: crates/prm/src/generated/qp_state_machine.md.
    (
        QP_STATE,
        Advice {
            cause: "A step left out or done twice; the QP went to the error state in between; two threads \
                    that modify one QP.",
            look: "The state, by QUERY_QP (`ibv_query_qp`); the completions and asynchronous events before \
                   it; the order RST, INIT, RTR, RTS.",
        },
    ),
    (
        PACKET,
        Advice {
            cause: "A management packet that the firmware drops: wrong class, method or key, or an \
                    attribute that it does not answer.",
            look: "Which program sends MADs (subnet manager, ibdiagnet, counters of the port), and the \
                   attribute it asks for.",
        },
    ),
    (
        SIZE,
        Advice {
            cause: "A CQ was to become smaller than what stands in it.",
            look: "Poll the CQ empty before it is resized, or make it larger.",
        },
    ),
    (
        IN_LEN,
        Advice {
            cause: "A mailbox that is shorter than its layout, or than the length of the list that a field \
                    of it tells.",
            look: "The length that is sent, against `prm show COMMAND`; the field that counts the list \
                   (pages, KLMs, entries).",
        },
    ),
    (
        OUT_LEN,
        Advice {
            cause: "Room for the answer that is too small, often after a newer firmware made it longer.",
            look: "The length of the output, against `prm show COMMAND_out`; where it has a list, the length \
                   of that.",
        },
    ),
    // mlx5_internal_err_ret_value and mlx5_cmd_is_down of mlx5_core's cmd.c.
    (
        ABORTED,
        Advice {
            cause: "The device is in error, in a reset, or its PCI function is offline; the driver answers \
                    for it.",
            look: "What happened before: health, AER or PCI messages, the first command that timed out; \
                   `devlink health show`.",
        },
    ),
];

/// Commands that change an object; the advice is on their select masks.
const MODIFIES: &str = "MODIFY_*";

const BY_COMMAND: &[OfCommand] = &[
    // reg_create of mlx5_ib's mr.c fills these; the limits are in cmd_hca_cap.
    (
        "CREATE_MKEY",
        &[PARAM],
        Advice {
            cause: "A length, page size or number of translation entries that do not fit each other or the \
                    capabilities; access or UMR bits that the function may not set.",
            look: "mkc.log_page_size, mkc.translations_octword_size, mkc.len and \
                   create_mkey_in.translations_octword_actual_size in the input.",
        },
    ),
    (
        "CREATE_MKEY",
        &[LIMIT, NO_RES],
        Advice {
            cause: "More memory regions, or larger ones, than the adapter has room for; many processes that \
                    each register their buffers.",
            look: "`rdma resource show mr`; cmd_hca_cap.log_max_mkey and cmd_hca_cap.log_max_klm_list_size; \
                   what keeps registrations in a cache (UCX, MPI), and huge pages.",
        },
    ),
    // mlx5_ib's cq.c (create_cq_user), qp.c (create_user_qp, create_rq, create_raw_packet_qp_sq) and srq_cmd.c
    // fill these; the limits are in cmd_hca_cap.
    (
        "CREATE_CQ",
        &[PARAM],
        Advice {
            cause: "More entries than the capabilities allow, a size of entry or compression that the \
                    adapter has not, or a buffer whose page size and offset do not fit.",
            look: "cqc.log_cq_size against cmd_hca_cap.log_max_cq_sz; cqc.cqe_sz, cqc.log_page_size and \
                   cqc.page_offset in the input.",
        },
    ),
    (
        "CREATE_CQ",
        &[RES, INDEX],
        Advice {
            cause: "The number of a UAR page, event queue or umem that is not there, or not this user's.",
            look: "cqc.uar_page, cqc.c_eqn_or_apu_element, create_cq_in.cq_umem_id and cqc.dbr_umem_id in \
                   the input, against what made them.",
        },
    ),
    (
        "CREATE_QP",
        &[PARAM],
        Advice {
            cause: "A queue larger than the capabilities allow, a transport service or a feature that the \
                    adapter or the port has not, or a buffer whose page size and offset do not fit.",
            look: "qpc.st; qpc.log_sq_size and qpc.log_rq_size against cmd_hca_cap.log_max_qp_sz; \
                   qpc.log_rq_stride, qpc.log_page_size and qpc.page_offset in the input.",
        },
    ),
    (
        "CREATE_QP",
        &[RES, INDEX],
        Advice {
            cause: "The number of a PD, UAR page, CQ, SRQ, XRC domain or umem that is not there, or not \
                    this user's.",
            look: "qpc.pd, qpc.uar_page, qpc.cqn_snd, qpc.cqn_rcv, qpc.srqn_rmpn_xrqn, \
                   create_qp_in.wq_umem_id and qpc.dbr_umem_id in the input, against what made them.",
        },
    ),
    (
        "CREATE_SQ CREATE_RQ CREATE_RMP CREATE_XRQ",
        &[PARAM],
        Advice {
            cause: "A queue larger than the capabilities allow, entries whose size does not fit the type of \
                    queue, a feature that the adapter has not, or a buffer whose page size and offset do \
                    not fit.",
            look: "wq.wq_type; wq.log_wq_sz against cmd_hca_cap.log_max_wq_sz; wq.log_wq_stride, \
                   wq.log_wq_pg_sz and wq.page_offset in the input; for a hairpin queue \
                   cmd_hca_cap.log_max_hairpin_wq_data_sz and cmd_hca_cap.log_max_hairpin_num_packets.",
        },
    ),
    (
        "CREATE_SQ CREATE_RQ CREATE_RMP CREATE_XRQ",
        &[RES, INDEX],
        Advice {
            cause: "The number of a PD, UAR page, CQ, TIS, RMP or umem that is not there, or not this \
                    user's.",
            look: "wq.pd, wq.uar_page, wq.wq_umem_id and wq.dbr_umem_id in the input; of an SQ sqc.cqn and \
                   sqc.tis_num_0, of an RQ rqc.cqn and rqc.rmpn, of an XRQ xrqc.cqn; what made them.",
        },
    ),
    (
        "CREATE_SRQ CREATE_XRC_SRQ",
        &[PARAM],
        Advice {
            cause: "A queue larger than the capabilities allow, or a buffer whose page size and offset do \
                    not fit.",
            look: "srqc.log_srq_size or xrc_srqc.log_xrc_srq_size, against cmd_hca_cap.log_max_srq_sz; \
                   log_rq_stride, log_page_size and page_offset in the input.",
        },
    ),
    (
        "CREATE_SRQ CREATE_XRC_SRQ",
        &[RES, INDEX],
        Advice {
            cause: "The number of a PD, CQ, XRC domain or umem that is not there, or not this user's.",
            look: "pd, cqn, xrcd and the numbers of umems in the input, against what made them.",
        },
    ),
    (
        "CREATE_EQ",
        &[PARAM],
        Advice {
            cause: "A vector beyond those of the function, or events in the mask that the firmware does \
                    not know: a driver that takes the capabilities for others than they are.",
            look: "eqc.intr and create_eq_in.event_bitmask in the input; the MSI-X vectors of the function \
                   (`lspci -vv`).",
        },
    ),
    // mlx5_core's uar.c (alloc_uars_page); BAR size by mlxconfig.
    (
        "ALLOC_UAR",
        &[LIMIT, NO_RES],
        Advice {
            cause: "More doorbell pages than the BAR of the function holds: many processes, threads or \
                    contexts.",
            look: "How many contexts are open (`rdma resource show ctx`); the size of the BAR \
                   (`lspci -vv`), and its settings in `mlxconfig`.",
        },
    ),
    // mlx5_ib's qp.c (__mlx5_ib_modify_qp) fills the path from the address handle.
    (
        "RST2INIT_QP INIT2RTR_QP RTR2RTS_QP RTS2RTS_QP INIT2INIT_QP SQERR2RTS_QP",
        &[PARAM, INDEX],
        Advice {
            cause: "An attribute of ibv_modify_qp beyond its range or that the port has not: port, P_Key \
                    index, GID index, MTU larger than the port's, retry counts (3 bits), timeouts (5 bits), \
                    RDMA depth beyond the capability, access flags.",
            look: "The attributes that the program gives, in particular the GID index and MTU of RoCE \
                   (`ibv_devinfo -v`, /sys/class/infiniband/*/ports/*/gids); `prm show COMMAND` says which fields each transition \
                   takes.",
        },
    ),
    (
        "2RST_QP 2ERR_QP DESTROY_*",
        &[RES],
        Advice {
            cause: "The object is gone already: ended twice, or lost when the function was reset.",
            look: "Resets of the function before it (`FLR`, VFs that were disabled); double destroys in the \
                   program.",
        },
    ),
    // mlx5_core_access_reg of mlx5_core's port.c sets op_mod to 1 to read. mstflint (mtcr_ul/fwctrl.c) reads
    // a bad system state as a register that is not there.
    (
        "ACCESS_REG ACCESS_REGISTER_USER",
        &[OP, PARAM, SYS_STATE, RES, INDEX],
        Advice {
            cause: "A register that the firmware or this function has not, that can only be read, or an \
                    index in it (port, module, lane) that does not exist. op_mod 1 reads, 0 writes. Tools \
                    that ask every register leave such lines without harm.",
            look: "Which register: register_id and the data in the input (`prm decode`); who asks \
                   (`ethtool`, monitoring, mlxlink); whether a PF may do what this VF may not.",
        },
    ),
    // HCA_CAP_OPMOD_GET_MAX and _CUR of include/linux/mlx5/device.h.
    (
        "QUERY_HCA_CAP",
        &[OP, PARAM, INDEX],
        Advice {
            cause: "A page of capabilities that the adapter has not: no fault when a program asks for all. \
                    Or other_function without the right to it.",
            look: "The page, from op_mod without its last bit (`prm show query_hca_cap_in`).",
        },
    ),
    (
        "SET_HCA_CAP",
        &[PARAM],
        Advice {
            cause: "A value above the maximum that the adapter tells, or fields that were not read before \
                    they were written back.",
            look: "The capability in the input, against QUERY_HCA_CAP with op_mod 0 (maximum) of its page.",
        },
    ),
    // mlx5_core's fs_cmd.c builds these; the limits are in flow_table_nic_cap and its kin.
    (
        "SET_FLOW_TABLE_ENTRY CREATE_FLOW_GROUP",
        &[PARAM, LIMIT, RES, INDEX],
        Advice {
            cause: "A match on fields that the table's type can't match, or outside of the group's mask; \
                    an action or a combination of actions that the table does not support; a destination \
                    of a lower level or that is gone.",
            look: "match_criteria_enable, the actions and the destinations in the input; the capability \
                   pages nic_flow_table and esw_flow_table (ft_field_support, and the bits of actions of the \
                   table's type).",
        },
    ),
    (
        "CREATE_FLOW_TABLE MODIFY_FLOW_TABLE",
        &[PARAM, LIMIT],
        Advice {
            cause: "A level or size beyond the capabilities of the table's type, or a flag that it has not.",
            look: "table_type, level and log_size in the input; log_max_ft_size and max_ft_level of the \
                   table's type (`prm show flow_table_prop_layout`).",
        },
    ),
    (
        "ALLOC_PACKET_REFORMAT_CONTEXT ALLOC_MODIFY_HEADER_CONTEXT ALLOC_FLOW_COUNTER",
        &[LIMIT, NO_RES, PARAM],
        Advice {
            cause: "More of them, or larger ones, than the adapter has room for, or an action that the \
                    table's type does not support.",
            look: "How many rules hold one; max_modify_header_actions and the reformat bits of \
                   `prm show flow_table_prop_layout`.",
        },
    ),
    (
        "DESTROY_FLOW_TABLE DESTROY_FLOW_GROUP DEALLOC_* DESTROY_*",
        &[RES_STATE, BUSY],
        Advice {
            cause: "Something that was made upon the object is still there, often left behind by an \
                    earlier failure.",
            look: "The failed destroy or delete before this one.",
        },
    ),
    // devx_is_obj_create_cmd of mlx5_ib's devx.c; general_obj_types of cmd_hca_cap.
    (
        "CREATE_GENERAL_OBJECT MODIFY_GENERAL_OBJECT QUERY_GENERAL_OBJECT",
        &[OP, PARAM],
        Advice {
            cause: "A type of object that the adapter has not, or a field of the object's own layout.",
            look: "obj_type in the input, against cmd_hca_cap.general_obj_types; the layout of the object \
                   (`prm decode` knows it by its type).",
        },
    ),
    // mlx5_core's pagealloc.c: give_pages, reclaim_pages.
    (
        "MANAGE_PAGES",
        &[],
        Advice {
            cause: "Pages that the firmware asked for and that the host could not give (op_mod 0 says so, 1 \
                    gives, 2 takes back), or a function that is gone.",
            look: "Memory of the host, and its IOMMU; the counters of pages in /sys/kernel/debug/mlx5; the function_id \
                   in the input.",
        },
    ),
    (
        "INIT_HCA ENABLE_HCA SET_ISSI QUERY_ISSI",
        &[],
        Advice {
            cause: "The start of a function: firmware and driver do not agree, or a VF or SF whose PF or \
                    embedded CPU did not prepare it.",
            look: "The firmware's version and configuration; on BlueField whether the embedded CPU is up; \
                   for a VF the log of its PF.",
        },
    ),
    (
        "QUERY_VPORT_STATE MODIFY_VPORT_STATE QUERY_NIC_VPORT_CONTEXT MODIFY_NIC_VPORT_CONTEXT \
         QUERY_ESW_VPORT_CONTEXT MODIFY_ESW_VPORT_CONTEXT QUERY_HCA_VPORT_CONTEXT \
         MODIFY_HCA_VPORT_CONTEXT QUERY_VPORT_COUNTER",
        &[OP, PARAM, RES, INDEX],
        Advice {
            cause: "A vport that does not exist, or another's vport asked for by a function that does not \
                    manage it (other_vport without vport_group_manager); a VF that is not trusted.",
            look: "other_vport and vport_number in the input; cmd_hca_cap.vport_group_manager and \
                   cmd_hca_cap.eswitch_manager; `ip link show` for trust of the VF.",
        },
    ),
    (
        "SET_ROCE_ADDRESS QUERY_ROCE_ADDRESS",
        &[],
        Advice {
            cause: "A GID, MAC or RoCE version that the function does not take.",
            look: "The MAC of the network interface (no multicast address), roce_address_index and \
                   roce_version in the input; the capability page roce.",
        },
    ),
    (
        "ADD_VXLAN_UDP_DPORT SET_L2_TABLE_ENTRY",
        &[LIMIT, NO_RES, PARAM],
        Advice {
            cause: "A table of the port that is full, or an entry that is there already.",
            look: "How many UDP ports of tunnels, or MAC addresses, are set (`ip -d link`, `bridge fdb`).",
        },
    ),
    (
        "MAD_IFC",
        &[],
        Advice {
            cause: "A management packet that this port has no answer to, such as one of a subnet manager on \
                    an Ethernet port or on a VF.",
            look: "Who sends it (opensm, ibdiagnet, perfquery, monitoring), and on which port.",
        },
    ),
    (
        MODIFIES,
        &[PARAM, RES_STATE],
        Advice {
            cause: "A field changed without the right of its select mask, or one that can't be changed in \
                    the state of the object.",
            look: "The select mask and the fields in the input (`prm show COMMAND` tells which bit is of \
                   which field); the object's state.",
        },
    ),
];

// wait_func, wait_func_handle_exec_timeout, cb_timeout_handler and cmd_work_handler of mlx5_core's cmd.c.
const BY_WAIT: &[(Wait, Advice)] = &[
    (
        Wait::NoAnswer,
        Advice {
            cause: "The firmware hangs or is busy for long, the device was lost (PCI error, reset, power), \
                    or its interrupts do not arrive. The driver gives the command up, and its slot in the \
                    queue is lost until the answer comes.",
            look: "What comes before the first of these: health and AER messages, resets, `devlink health \
                   show`; whether interrupts of the command queue count up in /proc/interrupts.",
        },
    ),
    (
        Wait::Recovered,
        Advice {
            cause: "The answer was there, and its interrupt came late or got lost: the command was done.",
            look: "Load and latency of the host (long sections with interrupts off, a virtual machine that \
                   was paused); interrupts of the device.",
        },
    ),
    (
        Wait::NoSlot,
        Advice {
            cause: "All slots of the command queue are taken by commands that are not answered, or many \
                    commands are sent at once. This one was never sent.",
            look: "Commands with `No done completion` or `leak of a command resource` before it; who sends \
                   so many commands.",
        },
    ),
];

/// What is known about a failure.
pub(super) fn about(failure: &Failure) -> About {
    let advice = advice(failure);
    let mut look: Vec<String> =
        advice.iter().map(|advice| with_command(advice.look, failure)).collect();
    if failure.form.is_devx() && failure.status.is_none() && failure.stop().is_none() {
        look.push(TRACE.to_owned());
    }
    About { cause: advice.first().map_or("", |advice| advice.cause), look }
}

/// Advice with the command that it is about.
fn with_command(look: &str, failure: &Failure) -> String {
    let known = failure.opcode.and_then(names::opcode_name);
    let Some(command) = known.filter(|_| look.contains("COMMAND")) else {
        return look.to_owned();
    };
    let find = format!("prm find {}", command.to_ascii_lowercase());
    let show =
        |layout: Option<&str>| layout.map_or_else(|| find.clone(), |l| format!("prm show {l}"));
    let output = names::output_of(command).map(|output| output.name);
    let input = names::input_of(command).map(|input| input.name.trim_end_matches("_in"));
    look.replace("prm show COMMAND_out", &show(output)).replace("prm show COMMAND", &show(input))
}

/// The advice for a failure, the most particular first.
fn advice(failure: &Failure) -> Vec<Advice> {
    let waits = |wait: Wait| BY_WAIT.iter().filter(move |(of, _)| *of == wait).map(|(_, a)| *a);
    let has = |status: u8| BY_STATUS.iter().filter(move |(of, _)| *of == status).map(|(_, a)| *a);
    let command = failure.command().unwrap_or_default();
    if let Some(wait) = failure.wait {
        return waits(wait).collect();
    }
    match failure.stop() {
        None => {}
        // mlx5_create_cq of mlx5_core's cq.c looks for the event queue of the EQN.
        Some(Stop::Refused)
            if command == "CREATE_CQ" && failure.errno == Errno::named("ENOENT") =>
        {
            return vec![OF_EQN];
        }
        Some(Stop::Refused) if failure.errno == Errno::named("ENOENT") => return vec![OF_HANDLE],
        Some(Stop::Refused) => return vec![OF_KERNEL],
        Some(Stop::NoAnswer) => return waits(Wait::NoAnswer).collect(),
        Some(Stop::Interrupted) => return vec![OF_SIGNAL],
        Some(Stop::NoSlot) => return waits(Wait::NoSlot).collect(),
        Some(Stop::NotDelivered) if failure.errno == Errno::named("EFAULT") => {
            return vec![OF_BUFFERS];
        }
        Some(Stop::Down | Stop::NotDelivered) => return has(ABORTED).collect(),
        Some(Stop::NoMemory) => return vec![OF_MEMORY],
        Some(Stop::KeptBack) => return vec![OF_FWCTL],
        Some(Stop::NoCall) => return vec![OF_NO_CALL],
    }

    let is_of = |commands: &str| commands.split_whitespace().any(|of| is_like(command, of));
    let selects =
        |command| names::commands().any(|known| known.name == command && !known.selects.is_empty());
    let of_command = BY_COMMAND.iter().find(|(commands, statuses, _)| {
        let of_status =
            |status| status != ABORTED && (statuses.is_empty() || statuses.contains(&status));
        // Where the status is not told, what is usual for the command is still worth a look.
        is_of(commands)
            && (*commands != MODIFIES || selects(command))
            && failure.status.map_or(!failure.cut, of_status)
    });
    let of_status = BY_STATUS.iter().find(|(of, _)| Some(*of) == failure.status);
    of_command.map(|(.., advice)| *advice).into_iter().chain(of_status.map(|(_, a)| *a)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explain::failure::Form;
    use crate::explain::words;

    fn all() -> impl Iterator<Item = Advice> {
        let by_status = BY_STATUS.iter().map(|(_, a)| *a);
        by_status.chain(BY_COMMAND.iter().map(|(.., a)| *a)).chain(BY_WAIT.iter().map(|(_, a)| *a))
    }

    #[test]
    fn every_status_has_advice() {
        let known = mlx5_prm::Status::DESC.values.iter().map(|(n, _)| *n as u8).filter(|n| *n != 0);
        let of: BTreeSet<u8> = BY_STATUS.iter().map(|(status, _)| *status).collect();
        assert_eq!(of, known.chain([ABORTED]).collect());
    }

    #[test]
    fn names_in_the_advice_exist() {
        for (commands, ..) in BY_COMMAND {
            for name in commands.split_whitespace().filter(|name| !name.contains('*')) {
                assert!(words::named(name).is_some(), "{name}");
            }
        }
        for advice in all() {
            let text = format!("{} {}", advice.cause, advice.look);
            let paths = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)));
            for path in paths.map(|path| path.trim_matches('.')) {
                let Some((layout, field)) = path.split_once('.') else { continue };
                if layout.contains('_') || mlx5_prm::layout_desc(layout).is_some() {
                    let layout = mlx5_prm::layout_desc(layout).expect(path);
                    assert!(layout.field(field).is_some(), "{path}");
                }
            }
            for name in text.split("`prm show ").skip(1) {
                let name = name.split('`').next().unwrap();
                assert!(name.starts_with("COMMAND") || names::find(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn the_command_comes_before_the_status() {
        let failure = |opcode, status| Failure {
            opcode: Some(opcode),
            status: Some(status),
            ..Failure::new(Form::Kernel)
        };
        let about_504 = about(&failure(0x504, PARAM));
        assert!(about_504.cause.contains("retry counts") && about_504.look.len() == 2);
        assert!(about_504.look[0].contains("`prm show rtr2rts_qp`"), "{:?}", about_504.look);
        assert_eq!(about(&failure(0x504, INT)).look.len(), 1);
        assert_eq!(about(&failure(0x504, 0x77)), About::default());
        assert_eq!(about(&failure(0x200, ABORTED)).look.len(), 1);
        // Where there is no mask, nothing is said of one; what is to be shown is there.
        let looks = |opcode, status| about(&failure(opcode, status)).look.join(" ");
        assert!(looks(0x403, RES_STATE).contains("select mask"));
        for opcode in [0x823, 0x207, 0x72a] {
            assert!(!looks(opcode, PARAM).contains("select mask"), "{opcode:#x}");
        }
        assert!(looks(0x304, OUT_LEN).contains("`prm find gen_eqe`"), "{}", looks(0x304, OUT_LEN));
        assert!(looks(0x402, OUT_LEN).contains("`prm show query_cq_out`"));
    }
}
