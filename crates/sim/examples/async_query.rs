//! Sends queries without waiting for them, and reads the answers as they come: first by poll, then
//! by a task of tokio.
//!
//! ```sh
//! cargo run -p mlx5-sim --features uverbs --example async_query -- sim
//! cargo run -p mlx5-sim --features uverbs --example async_query -- mlx5_0
//! ```

#[allow(dead_code, reason = "the other examples use the rest")]
mod common;

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use mlx5_devx::ioctl::{Device, Selector};
use mlx5_devx::{Devx, Errno, Ioctl, Queries, outcome};
use mlx5_prm::{ModifyCqIn, QueryCqIn, QueryCqOut};
use mlx5_sim::{Adapter, Uverbs};

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
        "sim" => ask(&Ioctl::on(Uverbs::open(&Adapter::new()))?, out),
        name => ask(&Ioctl::open(&Device::find(Selector::IbName(name))?)?, out),
    }
}

fn ask(devx: &dyn Devx, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let queues = [common::create(devx)?, common::create(devx)?, common::create(devx)?];
    for (period, queue) in (1..).zip(&queues) {
        queue.cq.modify(&mut ModifyCqIn::new().changing_cq_period(period))?;
    }

    // Answers carry the id of their query, and may come in another order.
    let queries = Queries::new(devx)?;
    let length = QueryCqOut::SIZE as u16;
    let send = |queries: &Queries| -> Result<(), Errno> {
        for (id, queue) in (0..).zip(&queues) {
            let query = QueryCqIn::new().with_cqn(queue.cq.number());
            queries.send(queue.cq.target(), query.as_bytes(), length, id)?;
        }
        Ok(())
    };
    send(&queries)?;
    for _ in &queues {
        if !queries.wait(Some(Duration::from_secs(5)))? {
            return Err("no answer for 5 s".into());
        }
        let mut output = [0; QueryCqOut::SIZE];
        let answer = queries.read(&mut output)?;
        writeln!(out, "by poll: {}", told(answer.id, &output)?)?;
    }

    // The same channel, waited for by a task.
    send(&queries)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let queries = queries.into_async()?;
        for _ in &queues {
            let mut output = [0; QueryCqOut::SIZE];
            let answer = queries.read(&mut output).await?;
            writeln!(out, "by tokio: {}", told(answer.id, &output)?)?;
        }
        Ok(())
    })
}

/// What an answer says. The firmware's status is in it.
fn told(id: u64, output: &[u8]) -> Result<String, Box<dyn Error>> {
    outcome(QueryCqIn::new().as_bytes(), output, Ok(()))?;
    let answer = QueryCqOut::view(output)?;
    Ok(format!("query {id} says a period of {} us", answer.cq_context().cq_period()))
}
