use mlx5_prm::{ModifyTisIn, Tisn};

// The send queues behind this TIS leave by the second port of the bond.
const SECOND_PORT: ModifyTisIn =
    ModifyTisIn::new().with_tisn(Tisn::new(0x61)).changing_lag_tx_port_affinity(2);

assert!(SECOND_PORT.bitmask().lag_tx_port_affinity() && !SECOND_PORT.bitmask().prio());
assert_eq!(SECOND_PORT.as_bytes()[0x20..0x24], [0x02, 0, 0, 0]);
