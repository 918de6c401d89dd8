use mlx5_prm::{ModifyTirIn, PacketMergeMask, Tirn};

// Merges received packets of TCP, over IPv4 and IPv6. One bit stands for all three fields.
let modify = ModifyTirIn::new()
    .with_tirn(Tirn::new(0x71))
    .changing_packet_merge_mask(PacketMergeMask::new().with_ipv4_lro(true).with_ipv6_lro(true))
    .changing_lro_timeout_period_usecs(32)
    .changing_lro_max_ip_payload_size(0xff); // times 256 bytes

assert!(modify.bitmask().packet_merge() && !modify.bitmask().hash_());
assert_eq!(modify.as_bytes()[0x30..0x34], [0x00, 0x02, 0x03, 0xff]);
