use mlx5_prm::{AllocPdIn, AllocPdOut, Mkc};

assert_eq!(AllocPdIn::new().as_bytes()[..4], [0x08, 0x00, 0, 0]); // has no fields of its own

// The number of the new PD goes into the contexts of what shall belong to it.
let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 0, 0];
let key = Mkc::new().with_pd(AllocPdOut::view(&answer)?.pd());
assert_eq!(key.as_bytes()[0x0c..0x10], [0, 0, 0, 0x12]);
# Ok::<(), mlx5_prm::SizeError>(())
