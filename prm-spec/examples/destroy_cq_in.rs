use mlx5_prm::{Cqn, DestroyCqIn, DestroyCqOut, Status};

let destroy = DestroyCqIn::new().with_cqn(Cqn::new(0x4a));
assert_eq!(destroy.as_bytes()[..12], [0x04, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4a]);

// A CQ that queue pairs still use is not destroyed.
let mut answer = [0; DestroyCqOut::SIZE];
answer[0] = 0x09;
assert_eq!(DestroyCqOut::view(&answer)?.status(), Status::BAD_RES_STATE_ERR);
# Ok::<(), mlx5_prm::SizeError>(())
