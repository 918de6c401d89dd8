use mlx5_prm::{CreateSrqInWithPas, Pdn, Srqc};

// 128 entries of 32 bytes (16, doubled once): one page.
let srq = Srqc::new().with_log_srq_size(7).with_log_rq_stride(1);
let srq = srq.with_pd(Pdn::new(0x12)).with_dbr_addr(0x1_3000_00c0);
let mut buffer = [0; 512];
let create = CreateSrqInWithPas::new_in(&mut buffer, 1)?;
create.head.set_srq_context_entry(&srq);
create.tail[0].set(0x1_2000_0000);

assert_eq!(create.as_bytes()[..4], [0x07, 0x00, 0, 0]);
assert_eq!(create.as_bytes()[0x10..0x18], [0x07, 0, 0, 0, 0x01, 0, 0, 0]);
assert_eq!(create.as_bytes()[0x110..], 0x1_2000_0000_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
