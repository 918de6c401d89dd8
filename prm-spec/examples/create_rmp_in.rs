use mlx5_prm::{CmdPas, CreateRmpInWithPas, Pdn, RmpState, Rmpc, Wq, WqType};

// 128 entries of 32 bytes: one page.
let wq = Wq::new().with_wq_type(WqType::LINKED_LIST).with_log_wq_sz(7).with_log_wq_stride(5);
let wq = wq.with_pd(Pdn::new(0x12)).with_dbr_addr(0x1_3000_0140);
let mut buffer = [0; 512];
let create = CreateRmpInWithPas::new_in(&mut buffer, 1)?;
create.head.set_ctx(&Rmpc::new().with_state(RmpState::RDY).with_wq(wq));
// Address of the page: the low part is without its low 12 bits.
create.tail[0] = CmdPas::new().with_pa_h(1).with_pa_l(0x2000_0000 >> 12);

assert_eq!(create.as_bytes()[0x20..0x24], [0, 0x10, 0, 0]); // state
assert_eq!(create.as_bytes()[0x110..], 0x1_2000_0000_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
