use mlx5_prm::caps::page::GeneralDevice;
use mlx5_prm::{Cap, CapMode, QueryHcaCapIn, QueryHcaCapOut};

// The general capabilities, as they are now.
let query = QueryHcaCapIn::of::<GeneralDevice>(CapMode::Current);
assert_eq!(query.as_bytes()[..8], [0x01, 0x00, 0, 0, 0, 0, 0, 0x01]);

// What the adapter answers: the page from byte 0x10 on.
let mut answer = [0; QueryHcaCapOut::SIZE];
answer[0x29] = 22; // log_max_cq_sz
answer[0x54] = 0x20; // cq_moderation

let caps = QueryHcaCapOut::view(&answer)?.page::<GeneralDevice>();
assert_eq!(caps.log_max_cq_sz(), 22); // a CQ has up to 4 million entries
assert!(caps.cq_moderation());
assert!(Cap::CQ_MODERATION.is_in(caps.as_bytes())); // the same, by a name to pass around
# Ok::<(), mlx5_prm::SizeError>(())
