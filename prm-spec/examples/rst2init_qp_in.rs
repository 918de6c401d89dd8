use mlx5_prm::{QpSt, Qpn, Rst2initQpIn};

let init = Rst2initQpIn::transition(QpSt::RC)
    .vhca_port_num(1)
    .pkey_index(0) // has to be given, though it is 0
    .rre(true)
    .rwe(true)
    .rae(false)
    .build()?
    .with_qpn(Qpn::new(0x99));
assert_eq!(init.as_bytes()[..12], [0x05, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99]);
assert_eq!(init.opt_param_mask().into_bits(), 0); // all of these count without the mask

// UD has no RDMA, but a Q_Key.
let ud = Rst2initQpIn::transition(QpSt::UD).vhca_port_num(1).pkey_index(0).build();
assert_eq!(ud.unwrap_err().to_string(), "RST2INIT_QP of a UD queue pair lacks qpc.q_key");
# Ok::<(), mlx5_prm::TransitionError>(())
