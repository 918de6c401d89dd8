use mlx5_prm::{Cqc, Cqn, CreateCqInWithPas, CreateCqOut, U64, UarPage};

// 256 entries of 64 bytes: four pages. EQ 2 tells of completions.
let cq = Cqc::new().with_log_cq_size(8).with_uar_page(UarPage::new(3));
let cq = cq.with_c_eqn_or_apu_element(2).with_dbr_addr(0x1_3000_0040);
let pages = [0x1_2000_0000, 0x1_2000_1000, 0x1_2000_2000, 0x1_2000_3000].map(U64::new);
let mut buffer = [0; 512];
let create = CreateCqInWithPas::new_in(&mut buffer, pages.len())?;
create.head.set_cq_context(&cq);
create.tail.copy_from_slice(&pages);
assert_eq!(create.as_bytes().len(), 0x110 + 4 * 8); // so many bytes go to the adapter
assert_eq!(create.as_bytes()[0x118..0x120], [0, 0, 0, 1, 0x20, 0, 0x10, 0]);

let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4a, 0, 0, 0, 0];
assert_eq!(CreateCqOut::view(&answer)?.cqn(), Cqn::new(0x4a));
# Ok::<(), mlx5_prm::SizeError>(())
