use mlx5_prm::{CreateQpOut, DestroyQpIn};

// The number comes from the answer to CREATE_QP, and has the right type already.
let created = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99, 0, 0, 0, 0];
let destroy = DestroyQpIn::new().with_qpn(CreateQpOut::view(&created)?.qpn());

assert_eq!(destroy.as_bytes()[..12], [0x05, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);
# Ok::<(), mlx5_prm::SizeError>(())
