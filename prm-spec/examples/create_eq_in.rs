use mlx5_prm::{CreateEqInWithPas, CreateEqOut, Eqc, Eqn, EventType, UarPage};

// 64 entries of 64 bytes, one page, for errors of CQs and changes of ports.
let mut buffer = [0; 512];
let create = CreateEqInWithPas::new_in(&mut buffer, 1)?;
create.head.set_eq_context_entry(
    &Eqc::new().with_log_eq_size(6).with_uar_page(UarPage::new(3)).with_intr(1),
);
let events = 1 << EventType::CQ_ERROR.0 | 1 << EventType::PORT_STATE_CHANGE.0;
create.head.event_bitmask_mut()[0].set(events); // types 0 to 63
create.tail[0].set(0x1_2000_0000);

assert_eq!(create.as_bytes()[0x1c..0x20], [0x06, 0, 0, 3]);
assert_eq!(create.as_bytes()[0x58..0x60], [0, 0, 0, 0, 0, 0, 0x02, 0x10]);

let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0];
assert_eq!(CreateEqOut::view(&answer)?.eq_number(), Eqn::new(7));
# Ok::<(), mlx5_prm::SizeError>(())
