use mlx5_prm::{CreateMkeyIn, CreateMkeyInWithKlmPasMtt, CreateMkeyOut, Klm};
use mlx5_prm::{Mkc, Mkey, Pdn, Qpn, U32, WithTail};

let key = Mkc::new().with_access_mode_1_0(1).with_lr(true).with_lw(true); // 1: MTTs
let key = key.with_qpn(Qpn::new(0xff_ffff)).with_pd(Pdn::new(0x12)).with_mkey_7_0(0x5a);
let key = key.with_start_addr(0x7f00_0000_0000).with_len(0x2000).with_log_page_size(12);
// Two MTTs fill 16 bytes: each the address of a page, with bits 1:0 for the access.
let mtts = [1, 0x2000_0003, 1, 0x2345_6003].map(U32::new);
let mut buffer = [0; 512];
let create = CreateMkeyInWithKlmPasMtt::new_in(&mut buffer, mtts.len())?;
create.head.set_memory_key_mkey_entry(&key.with_translations_octword_size(1));
create.head.set_translations_octword_actual_size(1);
create.tail.copy_from_slice(&mtts);
assert_eq!(create.as_bytes()[0x118..], [0, 0, 0, 1, 0x23, 0x45, 0x60, 0x03]);

// The adapter answers all of the key but the low byte, which we chose.
let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0];
let index = CreateMkeyOut::view(&answer)?.mkey_index().get();
assert_eq!(index << 8 | u32::from(key.mkey_7_0()), 0x0012_345a);

// In mode KLM the list is of pieces of memory that other keys reach, 16 bytes each.
let piece = Klm::new().with_byte_count(0x1000).with_mkey(Mkey::new(0x0012_345a));
let create = WithTail::<CreateMkeyIn, Klm>::new_in(&mut buffer, 4)?;
create.tail[0] = piece.with_address(0x7f00_0000_0000);
create.head.set_memory_key_mkey_entry(&key.with_access_mode_1_0(2).with_translations_octword_size(4));
create.head.set_translations_octword_actual_size(4);
assert_eq!(create.as_bytes()[0x110..0x118], [0, 0, 0x10, 0, 0, 0x12, 0x34, 0x5a]);
# Ok::<(), mlx5_prm::SizeError>(())
