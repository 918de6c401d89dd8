use mlx5_prm::{Qp2rstIn, Qp2rstOut, Qpn, Status};

// The queue pair can be set up anew, beginning by RST2INIT_QP.
let reset = Qp2rstIn::new().with_qpn(Qpn::new(0x99));
assert_eq!(reset.as_bytes()[..12], [0x05, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);

let answer = [0; Qp2rstOut::SIZE];
assert_eq!(Qp2rstOut::view(&answer)?.status(), Status::OK);
# Ok::<(), mlx5_prm::SizeError>(())
