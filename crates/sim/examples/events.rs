//! Waits for events of the adapter: port state changes, and errors of a completion queue.
//!
//! ```sh
//! cargo run -p mlx5-sim --features uverbs --example events -- sim
//! cargo run -p mlx5-sim --features uverbs --example events -- mlx5_0   # waits for 10 s
//! ```

#[allow(dead_code, reason = "the other examples use the rest")]
mod common;

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use mlx5_devx::ioctl::{Device, Selector};
use mlx5_devx::{Devx, Events, Ioctl};
use mlx5_prm::EventType;
use mlx5_sim::{Adapter, Uverbs};

/// What comes with an event, so that the program knows which subscription it is of.
const PORTS: u64 = 1;
const QUEUE: u64 = 2;

fn main() {
    let which = std::env::args().nth(1).unwrap_or_else(|| "sim".to_owned());
    if let Err(error) = run(&which, &mut std::io::stdout()) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Works on the device that `which` names.
pub(crate) fn run(which: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    match which {
        "sim" => {
            let adapter = Adapter::new();
            let devx = Ioctl::on(Uverbs::open(&adapter))?;
            listen(&devx, Some(&adapter), out)
        }
        name => listen(&Ioctl::open(&Device::find(Selector::IbName(name))?)?, None, out),
    }
}

fn listen(
    devx: &dyn Devx,
    simulated: Option<&Adapter>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let queue = common::create(devx)?;
    let object = queue.cq.handle();
    let events = Events::new(devx)?;
    events.subscribe(None, &[EventType::PORT_STATE_CHANGE], PORTS)?;
    events.subscribe(Some(object), &[EventType::CQ_ERROR], QUEUE)?;

    // On an adapter these come by themselves, when a cable is pulled, or the queue overflows.
    if let Some(adapter) = simulated {
        adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]);
        adapter.raise_event(EventType::CQ_ERROR, Some(object), &[]);
    }
    let patience = Duration::from_secs(if simulated.is_some() { 0 } else { 10 });
    while events.wait(Some(patience))? {
        let event = events.read()?;
        let of = if event.cookie == PORTS { "a port" } else { "the queue" };
        writeln!(out, "an event of {of}: {:?}", EventType(event.eqe[1]))?;
    }
    writeln!(out, "no more events")?;
    Ok(())
}
