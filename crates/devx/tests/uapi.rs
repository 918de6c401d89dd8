//! The numbers and structures of `wire` are those of the kernel's headers, by a C compiler.

mod common;

use common::{Claims, beginning, structure};
use mlx5_devx::wire::numbers::*;
use mlx5_devx::wire::{AllocUcontextReq, AllocUcontextResp, Attr, Header};

/// Where headers are looked for besides where they are installed.
const NO_FOLDERS: [&str; 0] = [];

macro_rules! numbers {
    ($claims:ident: $( $number:path, $C:ident; )*) => { $(
        $claims.equal(stringify!($C), $number);
    )* };
}

fn claims() -> Option<Claims> {
    let mut claims = Claims::of_installed(
        "#include <stddef.h>\n\
         #include <rdma/rdma_user_ioctl_cmds.h>\n\
         #include <rdma/ib_user_ioctl_cmds.h>\n\
         #include <rdma/ib_user_ioctl_verbs.h>\n\
         #include <rdma/mlx5_user_ioctl_cmds.h>\n\
         #include <rdma/mlx5_user_ioctl_verbs.h>\n\
         #include <rdma/mlx5-abi.h>\n",
    )?;
    numbers! { claims:
        NS_DRIVER, UVERBS_UDATA_DRIVER_DATA_FLAG;
        DRIVER_MLX5, RDMA_DRIVER_MLX5;
        FLAG_MANDATORY, UVERBS_ATTR_F_MANDATORY;
        FLAG_VALID_OUTPUT, UVERBS_ATTR_F_VALID_OUTPUT;
        IOCTL_MAGIC, RDMA_IOCTL_MAGIC;
        ALLOC_UCTX_DEVX, MLX5_IB_ALLOC_UCTX_DEVX;
        LIB_CAP_4K_UAR, MLX5_LIB_CAP_4K_UAR;
        LIB_CAP_DYN_UAR, MLX5_LIB_CAP_DYN_UAR;
        UAR_ALLOC_TYPE_BF, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF;
        UAR_ALLOC_TYPE_NC, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC;
        EVENT_CHANNEL_OMIT_DATA, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA;
        ACCESS_LOCAL_WRITE, IB_UVERBS_ACCESS_LOCAL_WRITE;
        ACCESS_REMOTE_WRITE, IB_UVERBS_ACCESS_REMOTE_WRITE;
        ACCESS_REMOTE_READ, IB_UVERBS_ACCESS_REMOTE_READ;
        ACCESS_RELAXED_ORDERING, IB_UVERBS_ACCESS_RELAXED_ORDERING;
        object::DEVICE, UVERBS_OBJECT_DEVICE;
        object::DEVX, MLX5_IB_OBJECT_DEVX;
        object::DEVX_OBJ, MLX5_IB_OBJECT_DEVX_OBJ;
        object::DEVX_UMEM, MLX5_IB_OBJECT_DEVX_UMEM;
        object::DEVX_ASYNC_CMD_FD, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD;
        object::DEVX_ASYNC_EVENT_FD, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD;
        object::UAR, MLX5_IB_OBJECT_UAR;
        method::DEVICE_GET_CONTEXT, UVERBS_METHOD_GET_CONTEXT;
        method::DEVX_OTHER, MLX5_IB_METHOD_DEVX_OTHER;
        method::DEVX_QUERY_EQN, MLX5_IB_METHOD_DEVX_QUERY_EQN;
        method::DEVX_SUBSCRIBE_EVENT, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT;
        method::DEVX_ASYNC_EVENT_FD_ALLOC, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC;
        method::DEVX_OBJ_CREATE, MLX5_IB_METHOD_DEVX_OBJ_CREATE;
        method::DEVX_OBJ_DESTROY, MLX5_IB_METHOD_DEVX_OBJ_DESTROY;
        method::DEVX_OBJ_MODIFY, MLX5_IB_METHOD_DEVX_OBJ_MODIFY;
        method::DEVX_OBJ_QUERY, MLX5_IB_METHOD_DEVX_OBJ_QUERY;
        method::DEVX_OBJ_ASYNC_QUERY, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY;
        method::DEVX_ASYNC_CMD_FD_ALLOC, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC;
        method::DEVX_UMEM_REG, MLX5_IB_METHOD_DEVX_UMEM_REG;
        method::DEVX_UMEM_DEREG, MLX5_IB_METHOD_DEVX_UMEM_DEREG;
        method::UAR_ALLOC, MLX5_IB_METHOD_UAR_OBJ_ALLOC;
        method::UAR_DESTROY, MLX5_IB_METHOD_UAR_OBJ_DESTROY;
        attr::UHW_IN, UVERBS_ATTR_UHW_IN;
        attr::UHW_OUT, UVERBS_ATTR_UHW_OUT;
        attr::GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS;
        attr::GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT;
        attr::OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN;
        attr::OTHER_CMD_OUT, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT;
        attr::QUERY_EQN_USER_VEC, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC;
        attr::QUERY_EQN_DEV_EQN, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN;
        attr::SUBSCRIBE_EVENT_FD_HANDLE, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE;
        attr::SUBSCRIBE_EVENT_OBJ_HANDLE, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE;
        attr::SUBSCRIBE_EVENT_TYPE_NUM_LIST, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST;
        attr::SUBSCRIBE_EVENT_FD_NUM, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM;
        attr::SUBSCRIBE_EVENT_COOKIE, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE;
        attr::ASYNC_EVENT_FD_ALLOC_HANDLE, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE;
        attr::ASYNC_EVENT_FD_ALLOC_FLAGS, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS;
        attr::OBJ_CREATE_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE;
        attr::OBJ_CREATE_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN;
        attr::OBJ_CREATE_CMD_OUT, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT;
        attr::OBJ_DESTROY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE;
        attr::OBJ_MODIFY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE;
        attr::OBJ_MODIFY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN;
        attr::OBJ_MODIFY_CMD_OUT, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT;
        attr::OBJ_QUERY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE;
        attr::OBJ_QUERY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN;
        attr::OBJ_QUERY_CMD_OUT, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT;
        attr::OBJ_QUERY_ASYNC_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE;
        attr::OBJ_QUERY_ASYNC_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN;
        attr::OBJ_QUERY_ASYNC_FD, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD;
        attr::OBJ_QUERY_ASYNC_WR_ID, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID;
        attr::OBJ_QUERY_ASYNC_OUT_LEN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN;
        attr::ASYNC_CMD_FD_ALLOC_HANDLE, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE;
        attr::UMEM_REG_HANDLE, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE;
        attr::UMEM_REG_ADDR, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR;
        attr::UMEM_REG_LEN, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN;
        attr::UMEM_REG_ACCESS, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS;
        attr::UMEM_REG_OUT_ID, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID;
        attr::UMEM_REG_PGSZ_BITMAP, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP;
        attr::UMEM_REG_DMABUF_FD, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD;
        attr::UMEM_DEREG_HANDLE, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE;
        attr::UAR_ALLOC_HANDLE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE;
        attr::UAR_ALLOC_TYPE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE;
        attr::UAR_ALLOC_MMAP_OFFSET, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET;
        attr::UAR_ALLOC_MMAP_LENGTH, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH;
        attr::UAR_ALLOC_PAGE_ID, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID;
        attr::UAR_DESTROY_HANDLE, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE;
    }
    // Type and number are the low 16 bits of the call's number.
    let call = u64::from(IOCTL_MAGIC) << 8 | u64::from(IOCTL_NUMBER);
    claims.equal("RDMA_VERBS_IOCTL & 0xffff", call);
    structure! { claims: Header "ib_uverbs_ioctl_hdr":
        length object_id method_id num_attrs reserved1 driver_id reserved2
    }
    structure! { claims: Attr "ib_uverbs_attr": attr_id len flags attr_data data }
    structure! { claims: AllocUcontextReq "mlx5_ib_alloc_ucontext_req_v2":
        total_num_bfregs num_low_latency_bfregs flags comp_mask max_cqe_version reserved0 reserved1
        reserved2 lib_caps
    }
    structure! { claims: AllocUcontextResp "mlx5_ib_alloc_ucontext_resp":
        qp_tab_size bf_reg_size tot_bfregs cache_line_size max_sq_desc_sz max_rq_desc_sz
        max_send_wqebb max_recv_wr max_srq_recv_wr num_ports flow_action_flags comp_mask
        response_length cqe_version cmds_supp_uhw eth_min_inline clock_info_versions
        hca_core_clock_offset log_uar_size num_uars_per_page num_dyn_bfregs dump_fill_mkey
    }
    Some(claims)
}

#[test]
fn numbers_and_structures_are_those_of_the_headers() {
    let Some(claims) = claims() else { return };
    claims.hold(&NO_FOLDERS);
}
