use mlx5_prm::{Cqn, CreateQpInWithPas, CreateQpOut, Pdn, QpSt, Qpc, Qpn, UarPage};

// 32 receive entries of 64 bytes (16, doubled twice), 32 blocks of 64 to send from: one page.
let qp = Qpc::new().with_log_rq_size(5).with_log_rq_stride(2).with_log_sq_size(5);
let qp = qp.with_st(QpSt::RC).with_pd(Pdn::new(0x12)).with_uar_page(UarPage::new(3));
let qp = qp.with_cqn_snd(Cqn::new(0x4a)).with_cqn_rcv(Cqn::new(0x4b));
let mut buffer = [0; 512];
let create = CreateQpInWithPas::new_in(&mut buffer, 1)?;
create.head.set_qpc(&qp.with_dbr_addr(0x1_3000_0080));
create.tail[0].set(0x1_2000_0000);
assert_eq!(create.as_bytes()[0x20..0x24], [0, 0x2a, 0x28, 0]); // the sizes
assert_eq!(create.as_bytes()[0x110..], [0, 0, 0, 1, 0x20, 0, 0, 0]);

let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99, 0, 0, 0, 0];
assert_eq!(CreateQpOut::view(&answer)?.qpn(), Qpn::new(0x99));
# Ok::<(), mlx5_prm::SizeError>(())
