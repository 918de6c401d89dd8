//! Makes a completion queue by DEVX without a C library, changes it, and reads it back.
//!
//! ```sh
//! cargo run -p mlx5-sim --features uverbs --example ioctl              # which devices there are
//! cargo run -p mlx5-sim --features uverbs --example ioctl -- sim      # on the simulated kernel
//! cargo run -p mlx5-sim --features uverbs --example ioctl -- mlx5_0   # on an adapter
//! ```

#[allow(dead_code, reason = "the other examples use the rest")]
mod common;

use std::error::Error;
use std::io::Write;

use mlx5_devx::ioctl::{Device, Selector};
use mlx5_devx::{Devx, Errno, Ioctl, Uar};
use mlx5_prm::{CqStatus, ModifyCqIn, QueryCqIn};
use mlx5_sim::{Adapter, Uverbs};

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
            for device in Device::list()? {
                writeln!(out, "{device}")?;
            }
            Ok(())
        }
        Some("sim") => queue(&Ioctl::on(Uverbs::open(&Adapter::new()))?, out),
        Some(name) => queue(&Ioctl::open(&Device::find(Selector::IbName(name))?)?, out),
    }
}

/// The same on every backend that has DEVX.
pub(crate) fn queue(devx: &dyn Devx, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let queue = common::create(devx)?;
    writeln!(out, "CQ {} in umem {}", queue.cq.number(), queue.memory.id())?;

    queue.cq.modify(&mut ModifyCqIn::new().changing_cq_period(16).changing_cq_max_count(64))?;
    let answer = queue.cq.query(&mut QueryCqIn::new())?;
    let context = answer.cq_context();
    writeln!(
        out,
        "it has 2^{} entries, and tells after {} completions or {} us",
        context.log_cq_size(),
        context.cq_max_count(),
        context.cq_period()
    )?;
    if context.status() != CqStatus::OK {
        return Err(format!("its status is {:?}", context.status()).into());
    }

    // Its doorbell is rung: arm it for the next completion (command 0, sequence 0, index 0).
    queue.uar.write(Uar::CQ_DOORBELL, queue.cq.number().get().into());

    // Something that the adapter refuses: a bit of the select mask that is none.
    let mut command = ModifyCqIn::new().changing_cq_period(1);
    command.as_bytes_mut()[12] |= 0x80;
    match queue.cq.modify(&mut command) {
        Ok(_) => writeln!(out, "this adapter takes unknown select bits")?,
        Err(error) => writeln!(out, "refused, as it should be: {error}")?,
    }

    // Dropping it would end it, too; this tells when that fails.
    queue.cq.destroy().map_err(Errno::from)?;
    writeln!(out, "ended")?;
    Ok(())
}
