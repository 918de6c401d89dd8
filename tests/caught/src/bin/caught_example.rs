//! The example `libmlx5` of mlx5-sim, with the argument that it is given.
//!
//! It is run with `libmlx5_caught.so` preloaded and `MLX5_CAUGHT_SIM` set. It ends with the exit code
//! 77 if libibverbs or libmlx5 is not installed.
#![deny(missing_docs)]
#![allow(unsafe_code, reason = "it asks whether the library is preloaded")]

#[allow(dead_code, reason = "the other programs use the rest")]
mod common;
#[allow(dead_code, reason = "its `main` is not called")]
#[path = "../../../../crates/sim/examples/libmlx5.rs"]
mod example;

use mlx5_devx::libmlx5::{LoadError, OpenError};

fn main() {
    common::caught();
    let which = std::env::args().nth(1);
    let Err(error) = example::run(which.as_deref(), &mut std::io::stdout()) else { return };
    eprintln!("{error}");
    let is_missing =
        matches!(error.downcast_ref(), Some(OpenError::Load(LoadError::Library { .. })));
    std::process::exit(if is_missing { common::NOT_INSTALLED } else { 1 });
}
