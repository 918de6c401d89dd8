use mlx5_prm::{CqSt, Cqn, QueryCqIn, QueryCqOutWithPas};

let query = QueryCqIn::new().with_cqn(Cqn::new(0x4a));
assert_eq!(query.as_bytes()[..12], [0x04, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4a]);

// What the adapter answers: the context from byte 0x10 on, behind it the pages.
let mut answer = [0; QueryCqOutWithPas::size(1)];
answer[0x12] = 0x09; // st
answer[0x39..0x3c].copy_from_slice(&[0, 0, 5]); // consumer_counter
answer[0x3d..0x40].copy_from_slice(&[0, 0, 8]); // producer_counter
answer[0x110..].copy_from_slice(&0x1_2345_6000_u64.to_be_bytes());

let answer = QueryCqOutWithPas::view(&answer)?;
let cq = answer.head.cq_context();
assert_eq!(cq.st(), CqSt::NOTIFICATION_REQUEST_ARMED);
let new_entries = cq.producer_counter().wrapping_sub(cq.consumer_counter());
assert_eq!(new_entries & 0xff_ffff, 3); // the counters have 24 bits
assert_eq!(answer.tail[0].get(), 0x1_2345_6000);
# Ok::<(), mlx5_prm::SizeError>(())
