//! A state has a name.

use mlx5_prm::Qpc;

fn main() {
    let _ = Qpc::new().with_state(3);
}
