//! An answer is not read as a command.

use mlx5_prm::{ModifyCqIn, QueryCqOut};

fn main() {
    let answer = QueryCqOut::zeroed();
    let _: &ModifyCqIn = QueryCqOut::view(answer.as_bytes()).unwrap();
}
