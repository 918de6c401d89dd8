//! Numbers of the interface: objects, methods, attributes, flags.
//!
//! A number with [`NS_DRIVER`] set belongs to the driver, here mlx5; the others are those of every
//! RDMA driver.

/// Constants, each with its name in C and the header that has it.
macro_rules! numbers {
    ($file:literal, $type:ty: $( $NAME:ident = $value:expr, $c:literal; )*) => { $(
        #[doc = concat!("`", $c, "` of `", $file, "`.")]
        pub const $NAME: $type = $value;
    )* };
}

numbers! { "ib_user_ioctl_cmds.h", u16:
    NS_DRIVER = 1 << 12, "UVERBS_UDATA_DRIVER_DATA_FLAG";
}

numbers! { "ib_user_ioctl_verbs.h", u32:
    DRIVER_MLX5 = 1, "RDMA_DRIVER_MLX5";
}

numbers! { "rdma_user_ioctl_cmds.h", u16:
    FLAG_MANDATORY = 1 << 0, "UVERBS_ATTR_F_MANDATORY";
    FLAG_VALID_OUTPUT = 1 << 1, "UVERBS_ATTR_F_VALID_OUTPUT";
}

numbers! { "rdma_user_ioctl_cmds.h", u8:
    IOCTL_MAGIC = 0x1b, "RDMA_IOCTL_MAGIC";
    IOCTL_NUMBER = 1, "RDMA_VERBS_IOCTL";
}

numbers! { "mlx5-abi.h", u32:
    ALLOC_UCTX_DEVX = 1 << 0, "MLX5_IB_ALLOC_UCTX_DEVX";
}

numbers! { "mlx5-abi.h", u64:
    LIB_CAP_4K_UAR = 1 << 0, "MLX5_LIB_CAP_4K_UAR";
    LIB_CAP_DYN_UAR = 1 << 1, "MLX5_LIB_CAP_DYN_UAR";
}

numbers! { "mlx5_user_ioctl_verbs.h", u64:
    UAR_ALLOC_TYPE_BF = 0, "MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF";
    UAR_ALLOC_TYPE_NC = 1, "MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC";
}

numbers! { "ib_user_ioctl_verbs.h", u32:
    ACCESS_LOCAL_WRITE = 1 << 0, "IB_UVERBS_ACCESS_LOCAL_WRITE";
    ACCESS_REMOTE_WRITE = 1 << 1, "IB_UVERBS_ACCESS_REMOTE_WRITE";
    ACCESS_REMOTE_READ = 1 << 2, "IB_UVERBS_ACCESS_REMOTE_READ";
    ACCESS_RELAXED_ORDERING = 1 << 20, "IB_UVERBS_ACCESS_RELAXED_ORDERING";
}

/// Kinds of objects.
pub mod object {
    use super::NS_DRIVER;

    numbers! { "ib_user_ioctl_cmds.h", u16:
        DEVICE = 0, "UVERBS_OBJECT_DEVICE";
    }
    numbers! { "mlx5_user_ioctl_cmds.h", u16:
        DEVX = NS_DRIVER, "MLX5_IB_OBJECT_DEVX";
        DEVX_OBJ = NS_DRIVER + 1, "MLX5_IB_OBJECT_DEVX_OBJ";
        DEVX_UMEM = NS_DRIVER + 2, "MLX5_IB_OBJECT_DEVX_UMEM";
        UAR = NS_DRIVER + 8, "MLX5_IB_OBJECT_UAR";
    }
}

/// Methods, each of the object that its name begins with.
pub mod method {
    use super::NS_DRIVER;

    numbers! { "ib_user_ioctl_cmds.h", u16:
        DEVICE_GET_CONTEXT = 3, "UVERBS_METHOD_GET_CONTEXT";
    }
    numbers! { "mlx5_user_ioctl_cmds.h", u16:
        DEVX_OTHER = NS_DRIVER, "MLX5_IB_METHOD_DEVX_OTHER";
        DEVX_QUERY_EQN = NS_DRIVER + 2, "MLX5_IB_METHOD_DEVX_QUERY_EQN";
        DEVX_OBJ_CREATE = NS_DRIVER, "MLX5_IB_METHOD_DEVX_OBJ_CREATE";
        DEVX_OBJ_DESTROY = NS_DRIVER + 1, "MLX5_IB_METHOD_DEVX_OBJ_DESTROY";
        DEVX_OBJ_MODIFY = NS_DRIVER + 2, "MLX5_IB_METHOD_DEVX_OBJ_MODIFY";
        DEVX_OBJ_QUERY = NS_DRIVER + 3, "MLX5_IB_METHOD_DEVX_OBJ_QUERY";
        DEVX_UMEM_REG = NS_DRIVER, "MLX5_IB_METHOD_DEVX_UMEM_REG";
        DEVX_UMEM_DEREG = NS_DRIVER + 1, "MLX5_IB_METHOD_DEVX_UMEM_DEREG";
        UAR_ALLOC = NS_DRIVER, "MLX5_IB_METHOD_UAR_OBJ_ALLOC";
        UAR_DESTROY = NS_DRIVER + 1, "MLX5_IB_METHOD_UAR_OBJ_DESTROY";
    }
}

/// Attributes, each of the method that its name begins with.
pub mod attr {
    use super::NS_DRIVER;

    numbers! { "ib_user_ioctl_cmds.h", u16:
        UHW_IN = NS_DRIVER, "UVERBS_ATTR_UHW_IN";
        UHW_OUT = NS_DRIVER + 1, "UVERBS_ATTR_UHW_OUT";
        GET_CONTEXT_NUM_COMP_VECTORS = 0, "UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS";
        GET_CONTEXT_CORE_SUPPORT = 1, "UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT";
    }
    numbers! { "mlx5_user_ioctl_cmds.h", u16:
        OTHER_CMD_IN = NS_DRIVER, "MLX5_IB_ATTR_DEVX_OTHER_CMD_IN";
        OTHER_CMD_OUT = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT";
        QUERY_EQN_USER_VEC = NS_DRIVER, "MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC";
        QUERY_EQN_DEV_EQN = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN";
        OBJ_CREATE_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE";
        OBJ_CREATE_CMD_IN = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN";
        OBJ_CREATE_CMD_OUT = NS_DRIVER + 2, "MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT";
        OBJ_DESTROY_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE";
        OBJ_MODIFY_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE";
        OBJ_MODIFY_CMD_IN = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN";
        OBJ_MODIFY_CMD_OUT = NS_DRIVER + 2, "MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT";
        OBJ_QUERY_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE";
        OBJ_QUERY_CMD_IN = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN";
        OBJ_QUERY_CMD_OUT = NS_DRIVER + 2, "MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT";
        UMEM_REG_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE";
        UMEM_REG_ADDR = NS_DRIVER + 1, "MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR";
        UMEM_REG_LEN = NS_DRIVER + 2, "MLX5_IB_ATTR_DEVX_UMEM_REG_LEN";
        UMEM_REG_ACCESS = NS_DRIVER + 3, "MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS";
        UMEM_REG_OUT_ID = NS_DRIVER + 4, "MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID";
        UMEM_REG_PGSZ_BITMAP = NS_DRIVER + 5, "MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP";
        UMEM_REG_DMABUF_FD = NS_DRIVER + 6, "MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD";
        UMEM_DEREG_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE";
        UAR_ALLOC_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE";
        UAR_ALLOC_TYPE = NS_DRIVER + 1, "MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE";
        UAR_ALLOC_MMAP_OFFSET = NS_DRIVER + 2, "MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET";
        UAR_ALLOC_MMAP_LENGTH = NS_DRIVER + 3, "MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH";
        UAR_ALLOC_PAGE_ID = NS_DRIVER + 4, "MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID";
        UAR_DESTROY_HANDLE = NS_DRIVER, "MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE";
    }
}
