//! MODIFY_CQ does not work on a queue pair.

use mlx5_devx::Qp;
use mlx5_prm::ModifyCqIn;

fn wrong(qp: &Qp<'_>) {
    let _ = qp.modify(&mut ModifyCqIn::new());
}

fn main() {}
