use mlx5_prm::{QuerySqIn, QuerySqOut, SqState, Sqn, Tisn};

let query = QuerySqIn::new().with_sqn(Sqn::new(0x41));
assert_eq!(query.as_bytes()[..12], [0x09, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x41]);

// What the adapter answers: the context from byte 0x20 on, in it the work queue.
let mut answer = [0; QuerySqOut::SIZE];
answer[0x21] = 0x30; // state
answer[0x4f] = 0x61; // tis_num_0
answer[0x6a..0x6c].copy_from_slice(&[0x01, 0x20]); // hw_counter

let sq = QuerySqOut::view(&answer)?.sq_context();
assert_eq!((sq.state(), sq.tis_num_0()), (SqState::ERR, Tisn::new(0x61)));
assert_eq!(sq.wq().hw_counter(), 0x120); // the entry at which the queue stopped
# Ok::<(), mlx5_prm::SizeError>(())
