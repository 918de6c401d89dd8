use mlx5_prm::{ModifySqIn, PacketPacingRateLimitIndex, SqState, Sqc, Sqn};

// sq_state is the state now, that of ctx the one to come.
let ready = ModifySqIn::new()
    .with_sq_state(SqState::RST)
    .with_sqn(Sqn::new(0x41))
    .with_ctx(Sqc::new().with_state(SqState::RDY));
assert_eq!(ready.as_bytes()[8..12], [0, 0, 0, 0x41]);
assert_eq!(ready.as_bytes()[0x20..0x24], [0, 0x10, 0, 0]);

// At work: limits the rate. No change of state, and a bit of the mask.
let limit = ready
    .with_sq_state(SqState::RDY)
    .changing_packet_pacing_rate_limit_index(PacketPacingRateLimitIndex::new(2));
assert_eq!(limit.as_bytes()[0x10..0x18], [0, 0, 0, 0, 0, 0, 0, 0x01]);
assert_eq!(limit.as_bytes()[0x3c..0x40], [0, 0, 0, 2]);
