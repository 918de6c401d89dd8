use mlx5_prm::{CreateTirIn, L4ProtType, Rqtn, RxHashFieldSelect, RxHashFields, RxHashFn};
use mlx5_prm::{Tdn, TirDispType, Tirc, U32};

// UDP over IPv4, spread over the queues of a table by addresses and ports.
let addresses = RxHashFields::new().with_src_ip(true).with_dst_ip(true);
let fields = addresses.with_l4_sport(true).with_l4_dport(true);
let udp = RxHashFieldSelect::new().with_l4_prot_type(L4ProtType::UDP);
let tir = Tirc::new()
    .with_disp_type(TirDispType::INDIRECT)
    .with_indirect_table(Rqtn::new(0x17))
    .with_transport_domain(Tdn::new(0x0a))
    .with_rx_hash_fn(RxHashFn::TOEPLITZ)
    .with_rx_hash_toeplitz_key([U32::new(0x6d5a_6d5a); 10]) // both ways the same hash
    .with_rx_hash_field_selector_outer(udp.with_selected_fields(fields));
let create = CreateTirIn::new().with_ctx(tir);

assert_eq!(create.as_bytes()[0x40..0x48], [0, 0, 0, 0x17, 0x20, 0, 0, 0x0a]);
assert_eq!(create.as_bytes()[0x70..0x74], [0x40, 0, 0, 0x0f]); // UDP, four fields
