//! The number of a queue pair is not that of a completion queue.

use mlx5_prm::{ModifyCqIn, Qpn};

fn main() {
    let _ = ModifyCqIn::new().with_cqn(Qpn::new(7));
}
