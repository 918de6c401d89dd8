//! The select mask of MODIFY_RQ is not that of MODIFY_CQ.

use mlx5_prm::{ModifyFieldSelect, ModifyRqSelect};

fn main() {
    let _ = ModifyFieldSelect::new().with_modify_field_select(ModifyRqSelect::new());
}
