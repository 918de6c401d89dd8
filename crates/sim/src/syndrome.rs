//! Syndromes that the simulated firmware answers with.
//!
//! The meaning of real ones is the vendor's. Two are known from public texts; the others are the
//! simulation's own, all from `0x51_0000` on, so that they are not taken for real ones.

/// The QP number is not that of a QP: real, status `BAD_RES_STATE_ERR`. Source: the mlx5
/// maintainer's answer on linux-kernel, 21 January 2022, on 2ERR_QP and 2RST_QP.
pub const NO_SUCH_QP: u32 = 0x7e_a02d;

/// A receive queue table is to hold more entries than its maximum: real, status `BAD_PARAM_ERR`.
/// Source: commit text of the mlx5e driver on CREATE_RQT.
pub const RQT_TOO_SMALL: u32 = 0x53_8faf;

/// The opcode is not simulated. Status `BAD_OP_ERR`.
pub const UNKNOWN_OPCODE: u32 = 0x51_0001;
/// The input is shorter than the command's layout, or than its list. Status `BAD_INP_LEN_ERR`.
pub const SHORT_INPUT: u32 = 0x51_0002;
/// The output has no room for the answer. Status `BAD_OUTP_LEN_ERR`.
pub const SHORT_OUTPUT: u32 = 0x51_0003;
/// The command has no such `op_mod`. Status `BAD_PARAM_ERR`.
pub const UNKNOWN_OP_MOD: u32 = 0x51_0004;
/// There is no object of that number. Status `BAD_RES_STATE_ERR`, as for a QP.
pub const NO_SUCH_OBJECT: u32 = 0x51_0005;
/// The QP is in a state that the transition does not start from. Status `BAD_QP_STATE_ERR`.
pub const WRONG_QP_STATE: u32 = 0x51_0006;
/// The transition does not admit a bit of `opt_param_mask`. Status `BAD_PARAM_ERR`.
pub const OPT_PARAM_NOT_ADMITTED: u32 = 0x51_0007;
/// The select mask has a bit that selects nothing known. Status `BAD_PARAM_ERR`.
pub const UNKNOWN_SELECT_BIT: u32 = 0x51_0008;
/// The state that the command says the object is in is another. Status `BAD_RES_STATE_ERR`.
pub const NOT_THE_PRESENT_STATE: u32 = 0x51_0009;
/// The object can't go from its state to the wanted one. Status `BAD_RES_STATE_ERR`.
pub const NO_SUCH_TRANSITION: u32 = 0x51_000a;
/// A number in the context or the list is that of no object. Status `BAD_RES_STATE_ERR`.
pub const DANGLING_NUMBER: u32 = 0x51_000b;
/// Another object still uses this one. Status `BAD_RES_STATE_ERR`.
pub const STILL_USED: u32 = 0x51_000c;
/// There is no register of that id in the families that are compiled in. Status `BAD_PARAM_ERR`.
pub const UNKNOWN_REGISTER: u32 = 0x51_000e;
/// The register can't be read, or not be written. Status `BAD_PARAM_ERR`.
pub const NOT_ACCESSIBLE: u32 = 0x51_000f;
/// All numbers of that kind are taken. Status `NO_RES_ERR`.
pub const NO_NUMBER_LEFT: u32 = 0x51_000d;
/// The transition does not exist for the QP's transport service. Status `BAD_RES_STATE_ERR`.
pub const NOT_OF_SERVICE: u32 = 0x51_0010;
/// A field that a QP transition needs is zero. Status `BAD_PARAM_ERR`.
pub const FIELD_IS_ZERO: u32 = 0x51_0011;
/// There is no general object of that type in the families that are compiled in. Status
/// `BAD_PARAM_ERR`.
pub const UNKNOWN_OBJECT_TYPE: u32 = 0x51_0012;
/// No public source says what can be changed of a general object of that type. Status
/// `BAD_PARAM_ERR`.
pub const NOT_MODIFIABLE: u32 = 0x51_0013;
/// The adapter has no such page of capabilities. Status `BAD_PARAM_ERR`.
pub const UNKNOWN_PAGE: u32 = 0x51_0014;
/// A command names a umem that its context has not registered. Status `BAD_RES_ERR`.
pub const NO_SUCH_UMEM: u32 = 0x51_0015;
/// The queue or table is to be larger than the general page of capabilities allows. Status
/// `BAD_PARAM_ERR`.
pub const TOO_LARGE: u32 = 0x51_0016;
