//! A send queue is no entry of a receive queue table.

use mlx5_prm::{RqNum, Sqn};

fn main() {
    let _ = RqNum::new().with_rq_num(Sqn::new(7));
}
