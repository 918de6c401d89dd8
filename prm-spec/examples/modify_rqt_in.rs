use mlx5_prm::{ModifyRqtInWithRqNum, RqNum, Rqn, Rqtn};

// Four entries instead of what was there.
let mut buffer = [0; 512];
let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 4)?;
modify.head.set_rqtn(Rqtn::new(0x17));
modify.head.change_rqt_actual_size(4); // and says that the list counts
for (entry, queue) in modify.tail.iter_mut().zip(0x51..) {
    *entry = RqNum::new().with_rq_num(Rqn::new(queue));
}

assert!(modify.head.bitmask().rqn_list());
assert_eq!(modify.as_bytes()[0x11c..], [0, 0, 0, 0x54]);
# Ok::<(), mlx5_prm::SizeError>(())
