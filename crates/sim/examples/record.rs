//! Records what a program does to the simulated adapter, replays it without one, and shows what a
//! program that does something else is told.
//!
//! ```sh
//! cargo run -p mlx5-sim --example record
//! ```

use std::error::Error;

use mlx5_devx::record::{Recorder, Recording, Replayer};
use mlx5_devx::{Cq, Handle, Transport};
use mlx5_prm::{Cqc, Cqn, ModifyCqIn, QueryCqIn};
use mlx5_sim::Adapter;

fn main() -> Result<(), Box<dyn Error>> {
    let adapter = Adapter::new();
    let made = adapter.create_cq(&Cqc::new().with_log_cq_size(10))?;

    // Any transport can be recorded, and any writer takes it, such as a file.
    let transport: Box<dyn Transport> = Box::new(adapter);
    let recorder = Recorder::new(transport, Vec::new());
    let period = moderate(&recorder, made.handle, made.number, 16)?;
    let text = String::from_utf8(recorder.finish()?)?;
    println!("{text}");

    // The same program gets the same answers, here without an adapter.
    let recording: Recording = text.parse()?;
    let replayer = Replayer::strict(recording.clone());
    assert_eq!(moderate(&replayer, made.handle, made.number, 16)?, period);
    replayer.finish()?;
    println!("Replayed: {} calls, the same answers.\n", recording.calls().len());

    // Another period is another request.
    let replayer = Replayer::strict(recording);
    let error = moderate(&replayer, made.handle, made.number, 32).expect_err("it was 16");
    println!("{error}");
    println!("{}", replayer.mismatch().expect("the replayer knows why"));
    Ok(())
}

/// Sets the moderation period of a CQ, and gives the one that it has then.
fn moderate(
    transport: &dyn Transport,
    handle: Handle,
    number: Cqn,
    period: u16,
) -> Result<u16, mlx5_devx::Error> {
    let cq = Cq::new(transport, handle, number);
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(period))?;
    Ok(cq.query(&mut QueryCqIn::new())?.cq_context().cq_period())
}
