use mlx5_prm::{PathMtu, QpSt, QpState, Qpn, QueryQpIn, QueryQpOut};

let query = QueryQpIn::new().with_qpn(Qpn::new(0x99));
assert_eq!(query.as_bytes()[..12], [0x05, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);

// What the adapter answers: the context from byte 0x18 on.
let mut answer = [0; QueryQpOut::SIZE];
answer[0x18] = 0x30; // state
answer[0x20] = 0xa0; // mtu
answer[0x2d..0x30].copy_from_slice(&[0, 0x01, 0xb2]); // remote_qpn
answer[0x91..0x94].copy_from_slice(&[0, 0x56, 0x78]); // next_send_psn

let qpc = QueryQpOut::view(&answer)?.qpc();
assert_eq!((qpc.state(), qpc.st()), (QpState::RTS, QpSt::RC));
assert_eq!(qpc.mtu(), PathMtu::BYTES_4096);
assert_eq!(qpc.remote_qpn(), Qpn::new(0x1b2));
assert_eq!(qpc.next_send_psn(), 0x5678);
# Ok::<(), mlx5_prm::SizeError>(())
