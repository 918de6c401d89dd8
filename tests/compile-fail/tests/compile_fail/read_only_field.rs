//! A field of a register that is read only has nothing that writes it.

use mlx5_prm::PtysReg;

fn main() {
    PtysReg::new().set_an_status(1);
}
