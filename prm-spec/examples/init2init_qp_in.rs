use mlx5_prm::{Init2initQpIn, QpSt, Qpn};

// A queue pair that is in INIT already, but on the wrong port.
let init =
    Init2initQpIn::transition(QpSt::RC).vhca_port_num(2).build()?.with_qpn(Qpn::new(0x99));

assert_eq!(init.as_bytes()[..4], [0x05, 0x0e, 0, 0]);
assert!(init.opt_param_mask().pri_port() && !init.opt_param_mask().pkey_index());
assert_eq!(init.qpc().primary_address_path().vhca_port_num(), 2);
# Ok::<(), mlx5_prm::TransitionError>(())
