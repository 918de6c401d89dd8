use mlx5_prm::{Command, Qp2errIn, QpSt, QpState, Qpn};

// Flushes what is posted: each entry left is completed with an error.
const FLUSH: Qp2errIn = Qp2errIn::new().with_qpn(Qpn::new(0x99));
assert_eq!(FLUSH.as_bytes()[..12], [0x05, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);

// It takes no fields, and starts from any state.
let transition = Qp2errIn::COMMAND.transition.as_ref().unwrap();
assert!(transition.is_from(QpState::RTS, QpSt::RC) && transition.fields.is_empty());
