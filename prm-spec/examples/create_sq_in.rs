use mlx5_prm::{CmdPas, Cqn, CreateSqInWithPas, Pdn, Sqc, Tisn, UarPage, WqType};

let mut buffer = [0; 512];
let create = CreateSqInWithPas::new_in(&mut buffer, 1)?;
let sq =
    Sqc::new().with_cqn(Cqn::new(0x4a)).with_tis_lst_sz(1).with_tis_num_0(Tisn::new(0x61));
create.head.set_ctx(&sq);
let wq = create.head.ctx_mut().wq_mut();
wq.set_wq_type(WqType::CYCLIC);
wq.set_pd(Pdn::new(0x12));
wq.set_uar_page(UarPage::new(3));
wq.set_log_wq_sz(6); // 64 entries
wq.set_log_wq_stride(6); // of 64 bytes: one page
wq.set_dbr_addr(0x1_3000_01c0);
// Address of the page: the low part is without its low 12 bits.
create.tail[0] = CmdPas::new().with_pa_h(1).with_pa_l(0x2000_0000 >> 12);

assert_eq!(create.as_bytes()[0x4c..0x50], [0, 0, 0, 0x61]);
assert_eq!(create.as_bytes()[0x110..], 0x1_2000_0000_u64.to_be_bytes());
# Ok::<(), mlx5_prm::SizeError>(())
