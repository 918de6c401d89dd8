use mlx5_prm::{CreateRqtInWithRqNum, RqNum, Rqn, Rqtc};

// Eight entries, spread over two receive queues.
let queues = [Rqn::new(0x51), Rqn::new(0x52)];
let mut buffer = [0; 512];
let create = CreateRqtInWithRqNum::new_in(&mut buffer, 8)?;
create.head.set_rqt_context(&Rqtc::new().with_rqt_max_size(128).with_rqt_actual_size(8));
for (entry, queue) in create.tail.iter_mut().zip(queues.into_iter().cycle()) {
    *entry = RqNum::new().with_rq_num(queue);
}

assert_eq!(create.as_bytes().len(), 0x110 + 8 * 4);
assert_eq!(create.as_bytes()[0x34..0x3c], [0, 0, 0, 128, 0, 0, 0, 8]);
assert_eq!(create.as_bytes()[0x110..0x118], [0, 0, 0, 0x51, 0, 0, 0, 0x52]);
# Ok::<(), mlx5_prm::SizeError>(())
