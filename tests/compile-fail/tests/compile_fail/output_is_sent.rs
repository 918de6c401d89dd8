//! An answer is no command that can be sent.

use mlx5_devx::{Transport, general};
use mlx5_prm::QueryCqOut;

fn wrong(transport: &dyn Transport) {
    let _ = general(transport, &QueryCqOut::zeroed());
}

fn main() {}
