use mlx5_prm::{QueryRmpIn, QueryRmpOut, RmpState, Rmpn};

let query = QueryRmpIn::new().with_rmpn(Rmpn::new(0x24));
assert_eq!(query.as_bytes()[..12], [0x09, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x24]);

// What the adapter answers: the context from byte 0x20 on, in it the work queue.
let mut answer = [0; QueryRmpOut::SIZE];
answer[0x21] = 0x10; // state
answer[0x56..0x58].copy_from_slice(&[0, 16]); // lwm
answer[0x73] = 7; // log_wq_sz

let rmp = QueryRmpOut::view(&answer)?.rmp_context();
assert_eq!(rmp.state(), RmpState::RDY);
assert_eq!((rmp.wq().log_wq_sz(), rmp.wq().lwm()), (7, 16));
# Ok::<(), mlx5_prm::SizeError>(())
