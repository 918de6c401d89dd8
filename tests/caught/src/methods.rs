//! The methods that libmlx5 calls for DEVX, for objects of verbs, and on the way there, by `rdma/ib_user_ioctl_cmds.h`,
//! `rdma/mlx5_user_ioctl_cmds.h`, and the kernel's `mlx5/devx.c`, which says of what kind and how
//! long the attributes are.

use std::ops::RangeInclusive;

use libc::c_int;

use crate::wire::{self, Call};

/// What the 8 bytes of an attribute are. The ioctl itself does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `UVERBS_ATTR_PTR_IN`: up to 8 bytes in place, more by a pointer.
    In,
    /// `UVERBS_ATTR_PTR_OUT`: a pointer, however short.
    Out,
    /// `UVERBS_ATTR_CONST_IN`: in place.
    Const,
    /// `UVERBS_ATTR_IDR`: the handle of an object.
    Handle,
    /// `UVERBS_ATTR_IDR` with `UVERBS_ACCESS_NEW`: the kernel writes the handle in place.
    NewHandle,
    /// `UVERBS_ATTR_FD` and `UVERBS_ATTR_RAW_FD`: a file descriptor in place.
    Fd,
    /// `UVERBS_ATTR_FD` with `UVERBS_ACCESS_NEW`: the kernel writes the descriptor in place.
    NewFd,
}

use Kind::*;

impl Kind {
    /// The word for it in a trace.
    pub(crate) fn word(self) -> &'static str {
        match self {
            In => "in",
            Out => "out",
            Const => "const",
            Handle => "handle",
            NewHandle => "new-handle",
            Fd => "fd",
            NewFd => "new-fd",
        }
    }
}

/// A method.
pub(crate) struct Method {
    pub(crate) object: u16,
    pub(crate) method: u16,
    pub(crate) object_name: &'static str,
    pub(crate) name: &'static str,
    pub(crate) attrs: &'static [Attr],
}

/// An attribute of a method.
pub(crate) struct Attr {
    pub(crate) id: u16,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The lengths that the kernel takes.
    pub(crate) len: RangeInclusive<u16>,
    /// The kernel refuses a call without it.
    pub(crate) mandatory: bool,
}

const LONGEST: u16 = u16::MAX;
/// A structure that a newer kernel, or a newer library, may have longer.
const ANY: RangeInclusive<u16> = 0..=LONGEST;
/// Not shorter than the header that all mailboxes begin with.
const MAILBOX: RangeInclusive<u16> = 16..=LONGEST;
/// Handles and descriptors have no length.
const NONE: RangeInclusive<u16> = 0..=0;

/// The objects.
pub(crate) mod object {
    pub(crate) const DEVICE: u16 = 0;
    pub(crate) const PD: u16 = 1;
    pub(crate) const CQ: u16 = 3;
    pub(crate) const QP: u16 = 4;
    pub(crate) const SRQ: u16 = 5;
    pub(crate) const ASYNC_EVENT: u16 = 16;
    pub(crate) const DEVX: u16 = 0x1000;
    pub(crate) const DEVX_OBJ: u16 = 0x1001;
    pub(crate) const DEVX_UMEM: u16 = 0x1002;
    pub(crate) const DEVX_ASYNC_CMD_FD: u16 = 0x1004;
    pub(crate) const DEVX_ASYNC_EVENT_FD: u16 = 0x1005;
    pub(crate) const UAR: u16 = 0x1008;
}

macro_rules! mandatory {
    () => {
        true
    };
    (given) => {
        false
    };
}

// An attribute is `NAME = id: Kind lengths`, and `if given` behind it if the kernel does without.
macro_rules! methods {
    (@attrs [$($done:tt)*]) => { &[$($done)*] };
    (@attrs [$($done:tt)*] $name:ident = $id:literal: $kind:ident $min:literal..=$max:tt $(if $given:ident)?, $($rest:tt)*) => {
        methods!(@attrs [$($done)* Attr {
            id: $id,
            name: stringify!($name),
            kind: $kind,
            len: $min..=$max,
            mandatory: mandatory!($($given)?),
        },] $($rest)*)
    };
    (@attrs [$($done:tt)*] $name:ident = $id:literal: $kind:ident $len:ident $(if $given:ident)?, $($rest:tt)*) => {
        methods!(@attrs [$($done)* Attr {
            id: $id,
            name: stringify!($name),
            kind: $kind,
            len: $len,
            mandatory: mandatory!($($given)?),
        },] $($rest)*)
    };
    ($( $object:ident $name:ident = $method:literal { $($attrs:tt)* } )*) => {
        &[ $( Method {
            object: object::$object,
            method: $method,
            object_name: stringify!($object),
            name: stringify!($name),
            attrs: methods!(@attrs [] $($attrs)*),
        }, )* ]
    };
}

const METHODS: &[Method] = methods! {
    DEVICE INVOKE_WRITE = 0 {
        CORE_IN = 0: In ANY if given,
        CORE_OUT = 1: Out ANY if given,
        WRITE_CMD = 2: Const 8..=8,
        UHW_IN = 0x1000: In ANY if given,
        UHW_OUT = 0x1001: Out ANY if given,
    }
    DEVICE QUERY_PORT = 2 {
        PORT_NUM = 0: Const 8..=8,
        RESP = 1: Out 40..=LONGEST,
    }
    DEVICE GET_CONTEXT = 3 {
        NUM_COMP_VECTORS = 0: Out 4..=4 if given,
        CORE_SUPPORT = 1: Out 8..=8 if given,
        UHW_IN = 0x1000: In ANY if given,
        UHW_OUT = 0x1001: Out ANY if given,
    }
    DEVICE MLX5_QUERY_PORT = 0x1000 {
        PORT_NUM = 0x1000: In 4..=4,
        QUERY_PORT = 0x1001: Out 8..=LONGEST,
    }
    PD DESTROY = 0 {
        HANDLE = 0: Handle NONE,
    }
    CQ CREATE = 0 {
        HANDLE = 0: NewHandle NONE,
        CQE = 1: In 4..=4,
        USER_HANDLE = 2: In 8..=8,
        COMP_CHANNEL = 3: Fd NONE if given,
        COMP_VECTOR = 4: In 4..=4,
        FLAGS = 5: In 4..=8 if given,
        RESP_CQE = 6: Out 4..=4,
        EVENT_FD = 7: Fd NONE if given,
        UHW_IN = 0x1000: In ANY if given,
        UHW_OUT = 0x1001: Out ANY if given,
    }
    CQ DESTROY = 1 {
        HANDLE = 0: Handle NONE,
        RESP = 1: Out 8..=8,
    }
    QP CREATE = 0 {
        HANDLE = 0: NewHandle NONE,
        XRCD_HANDLE = 1: Handle NONE if given,
        PD_HANDLE = 2: Handle NONE if given,
        SRQ_HANDLE = 3: Handle NONE if given,
        SEND_CQ_HANDLE = 4: Handle NONE if given,
        RECV_CQ_HANDLE = 5: Handle NONE if given,
        IND_TABLE_HANDLE = 6: Handle NONE if given,
        USER_HANDLE = 7: In 8..=8,
        CAP = 8: In 20..=LONGEST,
        TYPE = 9: Const 8..=8,
        FLAGS = 10: In 4..=8 if given,
        SOURCE_QPN = 11: In 4..=4 if given,
        EVENT_FD = 12: Fd NONE if given,
        RESP_CAP = 13: Out 20..=LONGEST,
        RESP_QP_NUM = 14: Out 4..=4,
        UHW_IN = 0x1000: In ANY if given,
        UHW_OUT = 0x1001: Out ANY if given,
    }
    QP DESTROY = 1 {
        HANDLE = 0: Handle NONE,
        RESP = 1: Out 4..=4,
    }
    SRQ CREATE = 0 {
        HANDLE = 0: NewHandle NONE,
        PD_HANDLE = 1: Handle NONE,
        XRCD_HANDLE = 2: Handle NONE if given,
        CQ_HANDLE = 3: Handle NONE if given,
        USER_HANDLE = 4: In 8..=8,
        MAX_WR = 5: In 4..=4,
        MAX_SGE = 6: In 4..=4,
        LIMIT = 7: In 4..=4,
        MAX_NUM_TAGS = 8: In 4..=4 if given,
        TYPE = 9: Const 8..=8,
        EVENT_FD = 10: Fd NONE if given,
        RESP_MAX_WR = 11: Out 4..=4,
        RESP_MAX_SGE = 12: Out 4..=4,
        RESP_SRQ_NUM = 13: Out 4..=4 if given,
        UHW_IN = 0x1000: In ANY if given,
        UHW_OUT = 0x1001: Out ANY if given,
    }
    SRQ DESTROY = 1 {
        HANDLE = 0: Handle NONE,
        RESP = 1: Out 4..=4,
    }
    ASYNC_EVENT ALLOC = 0 {
        FD_HANDLE = 0: NewFd NONE,
    }
    DEVX OTHER = 0x1000 {
        CMD_IN = 0x1000: In MAILBOX,
        CMD_OUT = 0x1001: Out MAILBOX,
    }
    DEVX QUERY_UAR = 0x1001 {
        USER_IDX = 0x1000: In 4..=4,
        DEV_IDX = 0x1001: Out 4..=4,
    }
    DEVX QUERY_EQN = 0x1002 {
        USER_VEC = 0x1000: In 4..=4,
        DEV_EQN = 0x1001: Out 4..=4,
    }
    DEVX SUBSCRIBE_EVENT = 0x1003 {
        FD_HANDLE = 0x1000: Fd NONE,
        OBJ_HANDLE = 0x1001: Handle NONE if given,
        TYPE_NUM_LIST = 0x1002: In 2..=LONGEST,
        FD_NUM = 0x1003: In 4..=4 if given,
        COOKIE = 0x1004: In 8..=8 if given,
    }
    DEVX_OBJ CREATE = 0x1000 {
        HANDLE = 0x1000: NewHandle NONE,
        CMD_IN = 0x1001: In MAILBOX,
        CMD_OUT = 0x1002: Out MAILBOX,
    }
    DEVX_OBJ DESTROY = 0x1001 {
        HANDLE = 0x1000: Handle NONE,
    }
    DEVX_OBJ MODIFY = 0x1002 {
        HANDLE = 0x1000: Handle NONE,
        CMD_IN = 0x1001: In MAILBOX,
        CMD_OUT = 0x1002: Out MAILBOX,
    }
    DEVX_OBJ QUERY = 0x1003 {
        HANDLE = 0x1000: Handle NONE,
        CMD_IN = 0x1001: In MAILBOX,
        CMD_OUT = 0x1002: Out MAILBOX,
    }
    DEVX_OBJ ASYNC_QUERY = 0x1004 {
        HANDLE = 0x1000: Handle NONE,
        CMD_IN = 0x1001: In MAILBOX,
        FD = 0x1002: Fd NONE,
        WR_ID = 0x1003: In 8..=8,
        OUT_LEN = 0x1004: Const 8..=8,
    }
    DEVX_UMEM REG = 0x1000 {
        HANDLE = 0x1000: NewHandle NONE,
        ADDR = 0x1001: In 8..=8,
        LEN = 0x1002: In 8..=8,
        ACCESS = 0x1003: In 4..=8 if given,
        OUT_ID = 0x1004: Out 4..=4,
        PGSZ_BITMAP = 0x1005: Const 8..=8 if given,
        DMABUF_FD = 0x1006: Fd NONE if given,
    }
    DEVX_UMEM DEREG = 0x1001 {
        HANDLE = 0x1000: Handle NONE,
    }
    DEVX_ASYNC_CMD_FD ALLOC = 0x1000 {
        HANDLE = 0x1000: NewFd NONE,
    }
    DEVX_ASYNC_EVENT_FD ALLOC = 0x1000 {
        HANDLE = 0x1000: NewFd NONE,
        FLAGS = 0x1001: In 4..=8,
    }
    UAR ALLOC = 0x1000 {
        HANDLE = 0x1000: NewHandle NONE,
        TYPE = 0x1001: Const 8..=8,
        MMAP_OFFSET = 0x1002: Out 8..=8,
        MMAP_LENGTH = 0x1003: Out 4..=4,
        PAGE_ID = 0x1004: Out 4..=4,
    }
    UAR DESTROY = 0x1001 {
        HANDLE = 0x1000: Handle NONE,
    }
};

/// The method with these ids, if it is known.
pub(crate) fn method(object: u16, method: u16) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.object == object && m.method == method)
}

impl Method {
    /// The attribute with a name.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Attr> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// The attribute with an id.
    pub(crate) fn attr(&self, id: u16) -> Option<&'static Attr> {
        self.attrs.iter().find(|a| a.id == id)
    }

    /// What the kernel checks before it calls the driver (`ib_uverbs_run_method`).
    pub(crate) fn check(&self, call: &Call<'_>) -> Result<(), c_int> {
        for (at, attr) in call.attrs.iter().enumerate() {
            let Some(known) = self.attr(attr.id) else {
                if attr.flags & wire::MANDATORY != 0 {
                    return Err(libc::EPROTONOSUPPORT);
                }
                continue;
            };
            let twice = call.attrs[..at].iter().any(|a| a.id == attr.id);
            if twice || !known.len.contains(&attr.len) || attr.more != 0 {
                return Err(libc::EINVAL);
            }
        }
        let given = |a: &Attr| call.attrs.iter().any(|g| g.id == a.id);
        let whole = self.attrs.iter().all(|a| !a.mandatory || given(a));
        whole.then_some(()).ok_or(libc::EINVAL)
    }
}
