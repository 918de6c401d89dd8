use mlx5_prm::{QpSt, Qpn, Rtr2rtsQpIn};

let rts = Rtr2rtsQpIn::transition(QpSt::RC)
    .next_send_psn(0x00_5678) // what the other side waits for
    .ack_timeout(14) // 4.096 microseconds, 14 times doubled: 67 milliseconds
    .retry_count(7)
    .rnr_retry(7) // without end
    .log_sra_max(4)
    .min_rnr_nak(12) // not required: counts by its bit of the mask
    .build()?
    .with_qpn(Qpn::new(0x99));

assert_eq!(rts.as_bytes()[0x10..0x14], [0, 0, 0, 0x40]);
assert!(rts.opt_param_mask().rnr_timeout());
assert_eq!(rts.qpc().primary_address_path().ack_timeout(), 14);
# Ok::<(), mlx5_prm::TransitionError>(())
