use mlx5_prm::{QueryTirIn, QueryTirOut, Rqn, TirDispType, Tirn};

let query = QueryTirIn::new().with_tirn(Tirn::new(0x71));
assert_eq!(query.as_bytes()[..12], [0x09, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x71]);

// What the adapter answers: the context from byte 0x20 on.
let mut answer = [0; QueryTirOut::SIZE];
answer[0x3f] = 0x51; // inline_rqn

let tir = QueryTirOut::view(&answer)?.tir_context();
assert_eq!(tir.disp_type(), TirDispType::DIRECT);
assert_eq!(tir.inline_rqn(), Rqn::new(0x51)); // the one queue that gets the packets
# Ok::<(), mlx5_prm::SizeError>(())
