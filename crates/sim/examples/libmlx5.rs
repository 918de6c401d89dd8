//! Makes a completion queue by DEVX through libmlx5, which is loaded when the program runs.
//!
//! ```sh
//! cargo run -p mlx5-sim --features uverbs --example libmlx5            # which devices there are
//! cargo run -p mlx5-sim --features uverbs --example libmlx5 -- mlx5_0  # on an adapter
//! ```
//!
//! It does what the example `ioctl` does; only the way to the adapter is another.

#[allow(dead_code, reason = "its `main` and its `run` are of the other way")]
#[path = "ioctl.rs"]
mod ioctl;

use std::error::Error;
use std::io::Write;

use mlx5_devx::libmlx5::{LibMlx5, devices};

fn main() {
    let which = std::env::args().nth(1);
    if let Err(error) = run(which.as_deref(), &mut std::io::stdout()) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Lists the devices, or works on the one that `which` names.
pub(crate) fn run(which: Option<&str>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    match which {
        None => {
            for name in devices()? {
                writeln!(out, "{name}")?;
            }
            Ok(())
        }
        Some(name) => ioctl::queue(&LibMlx5::open(name)?, out),
    }
}
