use mlx5_prm::{Cqn, CreateXrcSrqInWithPas, Pdn, XrcSrqc, Xrcdn};

// 128 entries of 32 bytes (16, doubled once): one page.
let srq = XrcSrqc::new().with_log_xrc_srq_size(7).with_log_rq_stride(1);
let srq = srq.with_xrcd(Xrcdn::new(0x31)).with_cqn(Cqn::new(0x4a)).with_pd(Pdn::new(0x12));
// Address of the doorbell record: the low part is without its low 2 bits.
let srq = srq.with_db_record_addr_h(1).with_db_record_addr_l(0x3000_0100 >> 2);
let mut buffer = [0; 512];
let create = CreateXrcSrqInWithPas::new_in(&mut buffer, 1)?;
create.head.set_xrc_srq_context_entry(&srq);
create.tail[0].set(0x1_2000_0000);

assert_eq!(create.as_bytes()[0x14..0x18], [0x01, 0, 0, 0x31]); // stride, XRC domain
assert_eq!(create.as_bytes()[0x38..0x40], 0x1_3000_0100_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
