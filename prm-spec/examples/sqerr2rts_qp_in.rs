use mlx5_prm::{QpSt, Qpn, Sqerr2rtsQpIn};

// A failed send brings a UD queue pair into SQER. This lets it send again, with a new Q_Key.
let rts =
    Sqerr2rtsQpIn::transition(QpSt::UD).q_key(0x1111_1111).build()?.with_qpn(Qpn::new(0x99));
assert!(rts.opt_param_mask().q_key());
assert_eq!(rts.qpc().q_key(), 0x1111_1111);

// An RC queue pair has no Q_Key.
let rc = Sqerr2rtsQpIn::transition(QpSt::RC).q_key(0x1111_1111).build();
assert_eq!(
    rc.unwrap_err().to_string(),
    "SQERR2RTS_QP of an RC queue pair does not take qpc.q_key"
);
# Ok::<(), mlx5_prm::TransitionError>(())
