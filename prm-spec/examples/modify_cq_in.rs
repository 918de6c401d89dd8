use mlx5_prm::{Cqn, ModifyCqIn};

// Each change sets a field of the context and the bit of the mask that says that it counts.
const MODIFY: ModifyCqIn =
    ModifyCqIn::new().with_cqn(Cqn::new(0x4a)).changing_cq_period(16).changing_cq_max_count(64);

assert_eq!(MODIFY.cq_context().cq_period(), 16);
let select = MODIFY.modify_field_select_resize_field_select().modify_field_select();
assert!(select.modify_field_select().cq_period() && !select.modify_field_select().oi());
