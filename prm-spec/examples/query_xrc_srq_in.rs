use mlx5_prm::{QueryXrcSrqIn, QueryXrcSrqOut, SrqState, XrcSrqn};

let query = QueryXrcSrqIn::new().with_xrc_srqn(XrcSrqn::new(0x22));
assert_eq!(query.as_bytes()[..12], [0x07, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x22]);

// What the adapter answers: the context from byte 0x10 on.
let mut answer = [0; QueryXrcSrqOut::SIZE];
answer[0x10] = 0x07; // state, log_xrc_srq_size
answer[0x2c..0x2e].copy_from_slice(&[0, 16]); // lwm

let srq = QueryXrcSrqOut::view(&answer)?.xrc_srq_context_entry();
assert_eq!(srq.state(), SrqState::GOOD);
assert_eq!((srq.log_xrc_srq_size(), srq.lwm()), (7, 16));
# Ok::<(), mlx5_prm::SizeError>(())
