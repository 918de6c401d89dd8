use mlx5_prm::{ModifyRqIn, RqState, Rqc, Rqn};

// rq_state is the state now, that of ctx the one to come.
let ready = ModifyRqIn::new()
    .with_rq_state(RqState::RST)
    .with_rqn(Rqn::new(0x51))
    .with_ctx(Rqc::new().with_state(RqState::RDY));
assert_eq!(ready.as_bytes()[8..12], [0, 0, 0, 0x51]);
assert_eq!(ready.as_bytes()[0x20..0x24], [0, 0x10, 0, 0]);

// At work: VLAN tags are left on the packets. No change of state, and a bit of the mask.
let keep_tags = ready.with_rq_state(RqState::RDY).changing_vsd(true);
assert!(keep_tags.ctx().vsd() && keep_tags.modify_bitmask().vsd());
assert_eq!(keep_tags.as_bytes()[0x10..0x18], [0, 0, 0, 0, 0, 0, 0, 0x02]);
