use mlx5_prm::{ArmXrqIn, Xrqn};

// An event when fewer than 16 entries are left; it comes once.
const ARM: ArmXrqIn = ArmXrqIn::new().with_xrqn(Xrqn::new(0x23)).with_lwm(16);

assert_eq!(ARM.as_bytes()[..8], [0x07, 0x1a, 0, 0, 0, 0, 0, 0]);
assert_eq!(ARM.as_bytes()[8..], [0, 0, 0, 0x23, 0, 0, 0, 16]);
