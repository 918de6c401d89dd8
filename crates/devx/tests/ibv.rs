//! The beginnings of structures in `ibv` are those of `infiniband/verbs.h`, by a C compiler.

#[allow(dead_code, unused_imports, unused_macros, reason = "other tests use the rest")]
mod common;

use common::{Claims, beginning};
use mlx5_devx::ibv::*;

/// Where headers are looked for besides where they are installed.
const NO_FOLDERS: [&str; 0] = [];

const INCLUDES: &str = "#include <stddef.h>\n#include <infiniband/verbs.h>\n";

#[test]
fn structures_begin_as_in_verbs_h() {
    let Some(mut claims) = Claims::of_installed(INCLUDES) else { return };
    beginning! { claims: Context "ibv_context": device ops cmd_fd }
    beginning! { claims: QueuePair "ibv_qp":
        context qp_context pd send_cq recv_cq srq handle qp_num state qp_type
    }
    beginning! { claims: CompletionQueue "ibv_cq": context channel cq_context handle }
    beginning! { claims: SharedReceiveQueue "ibv_srq": context srq_context pd handle }
    beginning! { claims: WorkQueue "ibv_wq": context wq_context pd cq wq_num handle }
    beginning! { claims: IndirectionTable "ibv_rwq_ind_table":
        context ind_tbl_handle ind_tbl_num
    }
    claims.hold(&NO_FOLDERS);
}
