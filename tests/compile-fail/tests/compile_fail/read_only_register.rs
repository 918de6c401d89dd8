//! A register that is read only is not written.

use mlx5_prm::{McamReg, RegisterIn};

fn main() {
    let _ = RegisterIn::write(McamReg::new());
}
