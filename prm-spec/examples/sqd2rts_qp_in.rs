use mlx5_prm::{QpSt, Qpn, Sqd2rtsQpIn};

// The send queue is drained. Before it goes on, the other side gets the right to write.
let rts = Sqd2rtsQpIn::transition(QpSt::RC).rwe(true).build()?.with_qpn(Qpn::new(0x99));

assert_eq!(rts.as_bytes()[..12], [0x05, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);
assert!(rts.opt_param_mask().rwe() && rts.qpc().rwe());
assert!(!rts.opt_param_mask().rre()); // reads stay as they are
# Ok::<(), mlx5_prm::TransitionError>(())
