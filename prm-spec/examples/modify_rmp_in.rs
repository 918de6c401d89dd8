use mlx5_prm::{ModifyRmpIn, RmpState, Rmpc, Rmpn};

// Arms the limit event: rmp_state is the state now, that of ctx the one to come. Here they are
// the same.
let modify = ModifyRmpIn::new()
    .with_rmp_state(RmpState::RDY)
    .with_rmpn(Rmpn::new(0x24))
    .with_ctx(Rmpc::new().with_state(RmpState::RDY))
    .changing_lwm(16); // after with_ctx, which replaces all of ctx

assert_eq!(modify.as_bytes()[8..12], [0x10, 0, 0, 0x24]);
assert_eq!(modify.as_bytes()[0x54..0x58], [0, 0, 0, 16]);
assert!(modify.bitmask().lwm());
