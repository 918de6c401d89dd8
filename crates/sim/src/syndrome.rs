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

macro_rules! own {
    ($($NAME:ident = $number:literal, $Status:ident, $words:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($number), "`: ", $words, ". Status `", stringify!($Status), "`.")]
            pub const $NAME: u32 = $number;
        )*

        /// What a syndrome means that the simulated firmware answers with; `None` for any other.
        ///
        /// ```
        /// use mlx5_sim::syndrome;
        ///
        /// let words = syndrome::words(syndrome::UNKNOWN_OPCODE);
        /// assert_eq!(words, Some("the opcode is not simulated"));
        /// assert_eq!(syndrome::words(0x6231e6), None);
        /// ```
        pub const fn words(syndrome: u32) -> Option<&'static str> {
            match syndrome {
                NO_SUCH_QP => Some("there is no QP of that number"),
                RQT_TOO_SMALL => Some("the table is to hold more entries than its maximum"),
                $($NAME => Some($words),)*
                _ => None,
            }
        }
    };
}

own! {
    UNKNOWN_OPCODE = 0x51_0001, BAD_OP_ERR, "the opcode is not simulated";
    SHORT_INPUT = 0x51_0002, BAD_INP_LEN_ERR, "the input is shorter than the command's layout, or than what follows it";
    SHORT_OUTPUT = 0x51_0003, BAD_OUTP_LEN_ERR, "the output has no room for the answer";
    UNKNOWN_OP_MOD = 0x51_0004, BAD_PARAM_ERR, "the command has no such `op_mod`";
    NO_SUCH_OBJECT = 0x51_0005, BAD_RES_STATE_ERR, "there is no object of that number";
    WRONG_QP_STATE = 0x51_0006, BAD_QP_STATE_ERR, "the QP is in a state that the transition does not start from";
    OPT_PARAM_NOT_ADMITTED = 0x51_0007, BAD_PARAM_ERR, "the transition does not admit a bit of `opt_param_mask`";
    UNKNOWN_SELECT_BIT = 0x51_0008, BAD_PARAM_ERR, "the select mask has a bit that selects nothing known";
    NOT_THE_PRESENT_STATE = 0x51_0009, BAD_RES_STATE_ERR, "the state that the command says the object is in is another";
    NO_SUCH_TRANSITION = 0x51_000a, BAD_RES_STATE_ERR, "the object can't go from its state to the wanted one";
    DANGLING_NUMBER = 0x51_000b, BAD_RES_STATE_ERR, "a number in the context or the list is that of no object";
    STILL_USED = 0x51_000c, BAD_RES_STATE_ERR, "another object still uses this one";
    NO_NUMBER_LEFT = 0x51_000d, NO_RES_ERR, "all numbers of that kind are taken";
    UNKNOWN_REGISTER = 0x51_000e, BAD_PARAM_ERR, "there is no register of that id in the families that are compiled in";
    NOT_ACCESSIBLE = 0x51_000f, BAD_PARAM_ERR, "the register can't be read, or not be written";
    NOT_OF_SERVICE = 0x51_0010, BAD_RES_STATE_ERR, "the transition does not exist for the QP's transport service";
    FIELD_IS_ZERO = 0x51_0011, BAD_PARAM_ERR, "a field that a QP transition needs is zero";
    UNKNOWN_OBJECT_TYPE = 0x51_0012, BAD_PARAM_ERR, "there is no general object of that type in the families that are compiled in";
    NOT_MODIFIABLE = 0x51_0013, BAD_PARAM_ERR, "no public source says which bit changes what of a general object of that type";
    UNKNOWN_PAGE = 0x51_0014, BAD_PARAM_ERR, "the adapter has no such page of capabilities";
    NO_SUCH_UMEM = 0x51_0015, BAD_RES_ERR, "a command names a umem that its context has not registered";
    TOO_LARGE = 0x51_0016, BAD_PARAM_ERR, "the queue or table is to be larger than the general page of capabilities allows";
    NO_EXTENSION = 0x51_0017, BAD_PARAM_ERR, "a bit of `opt_param_mask_95_32` is for the extension of the context, and `qpc_ext` is 0";
}
