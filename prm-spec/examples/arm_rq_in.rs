use mlx5_prm::{ArmRqIn, ArmRqOpMod, Srqn};

// An event when fewer than 16 entries are left; it comes once.
let arm = ArmRqIn::new()
    .with_op_mod(ArmRqOpMod::SRQ) // what the number is of
    .with_srq_number(Srqn::new(0x21).get())
    .with_lwm(16);

assert_eq!(arm.as_bytes()[..8], [0x07, 0x03, 0, 0, 0, 0, 0, 0x01]);
assert_eq!(arm.as_bytes()[8..], [0, 0, 0, 0x21, 0, 0, 0, 16]);
