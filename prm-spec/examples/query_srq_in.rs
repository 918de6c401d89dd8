use mlx5_prm::{QuerySrqIn, QuerySrqOut, SrqState, Srqn};

let query = QuerySrqIn::new().with_srqn(Srqn::new(0x21));
assert_eq!(query.as_bytes()[..12], [0x07, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x21]);

// What the adapter answers: the context from byte 0x10 on.
let mut answer = [0; QuerySrqOut::SIZE];
answer[0x10] = 0x17; // state, log_srq_size
answer[0x2c..0x2e].copy_from_slice(&[0, 16]); // lwm

let srq = QuerySrqOut::view(&answer)?.srq_context_entry();
assert_eq!(srq.state(), SrqState::ERROR);
assert_eq!(1 << srq.log_srq_size(), 128);
assert_eq!(srq.lwm(), 16); // 0 when the limit event is not armed
# Ok::<(), mlx5_prm::SizeError>(())
