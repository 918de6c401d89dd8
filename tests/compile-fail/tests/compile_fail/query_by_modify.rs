//! QUERY_CQ reads a completion queue, and does not change it.

use mlx5_devx::Cq;
use mlx5_prm::QueryCqIn;

fn wrong(cq: &Cq<'_>) {
    let _ = cq.modify(&mut QueryCqIn::new());
}

fn main() {}
