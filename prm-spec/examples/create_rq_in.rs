use mlx5_prm::{CmdPas, Cqn, CreateRqInWithPas, Pdn, Rqc, Wq, WqType};

// 256 entries of 16 bytes: one page.
let wq = Wq::new().with_wq_type(WqType::CYCLIC).with_log_wq_sz(8).with_log_wq_stride(4);
let wq = wq.with_pd(Pdn::new(0x12)).with_dbr_addr(0x1_3000_0180);
let mut buffer = [0; 512];
let create = CreateRqInWithPas::new_in(&mut buffer, 1)?;
create.head.set_ctx(&Rqc::new().with_cqn(Cqn::new(0x4a)).with_wq(wq));
// Address of the page: the low part is without its low 12 bits.
create.tail[0] = CmdPas::new().with_pa_h(1).with_pa_l(0x2000_0000 >> 12);

assert_eq!(create.as_bytes()[0x28..0x2c], [0, 0, 0, 0x4a]);
assert_eq!(create.as_bytes()[0x70..0x74], [0, 4, 0, 8]); // stride, page size, size
assert_eq!(create.as_bytes()[0x110..], 0x1_2000_0000_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
