use mlx5_prm::{ArmXrcSrqIn, ArmXrcSrqOpMod, XrcSrqn};

// An event when fewer than 16 entries are left; it comes once.
let arm = ArmXrcSrqIn::new()
    .with_op_mod(ArmXrcSrqOpMod::XRC_SRQ) // the one there is, but it is not 0
    .with_xrc_srqn(XrcSrqn::new(0x22))
    .with_lwm(16);

assert_eq!(arm.as_bytes()[..8], [0x07, 0x08, 0, 0, 0, 0, 0, 0x01]);
assert_eq!(arm.as_bytes()[8..], [0, 0, 0, 0x22, 0, 0, 0, 16]);
