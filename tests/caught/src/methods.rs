//! The methods that libmlx5 calls for DEVX and on the way there, by `rdma/ib_user_ioctl_cmds.h`,
//! `rdma/mlx5_user_ioctl_cmds.h`, and the kernel's `mlx5/devx.c`, which says of what kind the
//! attributes are.

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
    pub(crate) attrs: &'static [(u16, &'static str, Kind)],
}

/// The objects.
pub(crate) mod object {
    pub(crate) const DEVICE: u16 = 0;
    pub(crate) const ASYNC_EVENT: u16 = 16;
    pub(crate) const DEVX: u16 = 0x1000;
    pub(crate) const DEVX_OBJ: u16 = 0x1001;
    pub(crate) const DEVX_UMEM: u16 = 0x1002;
    pub(crate) const DEVX_ASYNC_CMD_FD: u16 = 0x1004;
    pub(crate) const DEVX_ASYNC_EVENT_FD: u16 = 0x1005;
    pub(crate) const UAR: u16 = 0x1008;
}

macro_rules! methods {
    ($( $object:ident $name:ident = $method:literal { $( $attr:ident = $id:literal: $kind:ident, )* } )*) => {
        &[ $( Method {
            object: object::$object,
            method: $method,
            object_name: stringify!($object),
            name: stringify!($name),
            attrs: &[ $( ($id, stringify!($attr), $kind), )* ],
        }, )* ]
    };
}

const METHODS: &[Method] = methods! {
    DEVICE INVOKE_WRITE = 0 {
        CORE_IN = 0: In,
        CORE_OUT = 1: Out,
        WRITE_CMD = 2: Const,
        UHW_IN = 0x1000: In,
        UHW_OUT = 0x1001: Out,
    }
    DEVICE QUERY_PORT = 2 {
        PORT_NUM = 0: Const,
        RESP = 1: Out,
    }
    DEVICE GET_CONTEXT = 3 {
        NUM_COMP_VECTORS = 0: Out,
        CORE_SUPPORT = 1: Out,
        UHW_IN = 0x1000: In,
        UHW_OUT = 0x1001: Out,
    }
    DEVICE MLX5_QUERY_PORT = 0x1000 {
        PORT_NUM = 0x1000: In,
        QUERY_PORT = 0x1001: Out,
    }
    ASYNC_EVENT ALLOC = 0 {
        FD_HANDLE = 0: NewFd,
    }
    DEVX OTHER = 0x1000 {
        CMD_IN = 0x1000: In,
        CMD_OUT = 0x1001: Out,
    }
    DEVX QUERY_UAR = 0x1001 {
        USER_IDX = 0x1000: In,
        DEV_IDX = 0x1001: Out,
    }
    DEVX QUERY_EQN = 0x1002 {
        USER_VEC = 0x1000: In,
        DEV_EQN = 0x1001: Out,
    }
    DEVX SUBSCRIBE_EVENT = 0x1003 {
        FD_HANDLE = 0x1000: Fd,
        OBJ_HANDLE = 0x1001: Handle,
        TYPE_NUM_LIST = 0x1002: In,
        FD_NUM = 0x1003: In,
        COOKIE = 0x1004: In,
    }
    DEVX_OBJ CREATE = 0x1000 {
        HANDLE = 0x1000: NewHandle,
        CMD_IN = 0x1001: In,
        CMD_OUT = 0x1002: Out,
    }
    DEVX_OBJ DESTROY = 0x1001 {
        HANDLE = 0x1000: Handle,
    }
    DEVX_OBJ MODIFY = 0x1002 {
        HANDLE = 0x1000: Handle,
        CMD_IN = 0x1001: In,
        CMD_OUT = 0x1002: Out,
    }
    DEVX_OBJ QUERY = 0x1003 {
        HANDLE = 0x1000: Handle,
        CMD_IN = 0x1001: In,
        CMD_OUT = 0x1002: Out,
    }
    DEVX_OBJ ASYNC_QUERY = 0x1004 {
        HANDLE = 0x1000: Handle,
        CMD_IN = 0x1001: In,
        FD = 0x1002: Fd,
        WR_ID = 0x1003: In,
        OUT_LEN = 0x1004: Const,
    }
    DEVX_UMEM REG = 0x1000 {
        HANDLE = 0x1000: NewHandle,
        ADDR = 0x1001: In,
        LEN = 0x1002: In,
        ACCESS = 0x1003: In,
        OUT_ID = 0x1004: Out,
        PGSZ_BITMAP = 0x1005: Const,
        DMABUF_FD = 0x1006: Fd,
    }
    DEVX_UMEM DEREG = 0x1001 {
        HANDLE = 0x1000: Handle,
    }
    DEVX_ASYNC_CMD_FD ALLOC = 0x1000 {
        HANDLE = 0x1000: NewFd,
    }
    DEVX_ASYNC_EVENT_FD ALLOC = 0x1000 {
        HANDLE = 0x1000: NewFd,
        FLAGS = 0x1001: In,
    }
    UAR ALLOC = 0x1000 {
        HANDLE = 0x1000: NewHandle,
        TYPE = 0x1001: Const,
        MMAP_OFFSET = 0x1002: Out,
        MMAP_LENGTH = 0x1003: Out,
        PAGE_ID = 0x1004: Out,
    }
    UAR DESTROY = 0x1001 {
        HANDLE = 0x1000: Handle,
    }
};

/// The method with these ids, if it is known.
pub(crate) fn method(object: u16, method: u16) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.object == object && m.method == method)
}

impl Method {
    /// The attribute with a name.
    pub(crate) fn id(&self, name: &str) -> Option<u16> {
        self.attrs.iter().find(|a| a.1 == name).map(|a| a.0)
    }

    /// The name and kind of an attribute.
    pub(crate) fn attr(&self, id: u16) -> Option<(&'static str, Kind)> {
        self.attrs.iter().find(|a| a.0 == id).map(|a| (a.1, a.2))
    }
}
