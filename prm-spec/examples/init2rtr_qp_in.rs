use mlx5_prm::{Ads, Init2rtrQpIn, PathMtu, QpSt, Qpn};

// Over RoCE v2, to 192.0.2.7 at the MAC address 02:00:00:00:00:07.
let path = Ads::new().with_vhca_port_num(1).with_src_addr_index(3).with_hop_limit(64);
let path = path.with_rgid_rip([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7]);
let path = path.with_rmac_47_32(0x0200).with_rmac_31_0(0x07).with_udp_sport(0xc000);
let rtr = Init2rtrQpIn::transition(QpSt::RC)
    .mtu(PathMtu::BYTES_4096)
    .log_msg_max(30)
    .remote_qpn(Qpn::new(0x1b2))
    .next_rcv_psn(0x1234) // what the other side sends first
    .primary_address_path(path)
    .log_rra_max(4) // 16 reads and atomics at a time
    .min_rnr_nak(12)
    .build()?
    .with_qpn(Qpn::new(0x99));
assert_eq!(rtr.as_bytes()[0x20], 0xbe); // the MTU in bits 7:5, 30 below
assert_eq!(rtr.as_bytes()[0x56..0x5c], [2, 0, 0, 0, 0, 7]); // the MAC address
# Ok::<(), mlx5_prm::TransitionError>(())
