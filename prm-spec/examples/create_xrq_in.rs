use mlx5_prm::{CmdPas, Cqn, CreateXrqInWithPas, Pdn, Wq, XrqTopology};

let mut buffer = [0; 512];
let create = CreateXrqInWithPas::new_in(&mut buffer, 1)?;
let xrq = create.head.xrq_context_mut();
xrq.set_topology(XrqTopology::TAG_MATCHING);
xrq.set_cqn(Cqn::new(0x4a));
xrq.tag_matching_topology_context_mut().set_log_matching_list_sz(6); // 64 tags
// 128 entries of 32 bytes: one page.
xrq.set_wq(&Wq::new().with_pd(Pdn::new(0x12)).with_log_wq_sz(7).with_log_wq_stride(5));
// Address of the page: the low part is without its low 12 bits.
create.tail[0] = CmdPas::new().with_pa_h(1).with_pa_l(0x2000_0000 >> 12);

assert_eq!(create.as_bytes()[0x12], 0x01); // topology
assert_eq!(create.as_bytes()[0x30], 0x60); // size of the list
assert_eq!(create.as_bytes()[0x150..], 0x1_2000_0000_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
