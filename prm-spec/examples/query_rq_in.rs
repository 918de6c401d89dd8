use mlx5_prm::{Cqn, QueryRqIn, QueryRqOut, RqState, Rqn};

let query = QueryRqIn::new().with_rqn(Rqn::new(0x51));
assert_eq!(query.as_bytes()[..12], [0x09, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x51]);

// What the adapter answers: the context from byte 0x20 on, in it the work queue.
let mut answer = [0; QueryRqOut::SIZE];
answer[0x21] = 0x30; // state
answer[0x2b] = 0x4a; // cqn
answer[0x68..0x70].copy_from_slice(&[0, 0, 0, 250, 0, 0, 1, 0]); // hw_counter, sw_counter

let rq = QueryRqOut::view(&answer)?.rq_context();
assert_eq!((rq.state(), rq.cqn()), (RqState::ERR, Cqn::new(0x4a)));
assert_eq!(rq.wq().sw_counter().wrapping_sub(rq.wq().hw_counter()), 6); // not yet used
# Ok::<(), mlx5_prm::SizeError>(())
