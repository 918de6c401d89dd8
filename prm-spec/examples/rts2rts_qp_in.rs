use mlx5_prm::{CounterSetId, QpSt, Qpn, Rts2rtsQpIn};

// Binds a queue pair at work to a Q counter, and forbids the other side to read.
let rts = Rts2rtsQpIn::transition(QpSt::RC)
    .counter_set_id(CounterSetId::new(5))
    .rre(false)
    .build()?
    .with_qpn(Qpn::new(0x99));
let mask = rts.opt_param_mask();
assert!(mask.counter_set_id() && mask.rre() && !mask.rwe());

// The UDP source port has its bit in a second mask, and is not for the builder.
let moved = rts.changing_udp_sport(0xc123);
assert_eq!(moved.as_bytes()[0x50..0x54], [0, 0, 0xc1, 0x23]);
assert!(moved.opt_param_mask_95_32().udp_sport());
# Ok::<(), mlx5_prm::TransitionError>(())
