//! A number that no object can have is found by the compiler.

use mlx5_prm::Cqn;

const CQN: Cqn = Cqn::new(0x0100_0000);

fn main() {
    println!("{CQN:?}");
}
