use mlx5_prm::{QueryRqtIn, QueryRqtOutWithRqNum, RqNum, Rqn, Rqtn};

let query = QueryRqtIn::new().with_rqtn(Rqtn::new(0x17));
assert_eq!(query.as_bytes()[..12], [0x09, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x17]);

// What the adapter answers: the list may be shorter than the mailbox that was given for it.
let mut answer = [0; QueryRqtOutWithRqNum::size(8)];
answer[0x38..0x3c].copy_from_slice(&[0, 0, 0, 2]); // rqt_actual_size
answer[0x110..0x118].copy_from_slice(&[0, 0, 0, 0x51, 0, 0, 0, 0x52]);

let answer = QueryRqtOutWithRqNum::view(&answer)?;
let len = answer.head.rqt_context().rqt_actual_size().into();
let queues: Vec<Rqn> = answer.tail[..len].iter().map(RqNum::rq_num).collect();
assert_eq!(queues, [Rqn::new(0x51), Rqn::new(0x52)]);
# Ok::<(), mlx5_prm::SizeError>(())
