//! Makes a completion queue with sideway, a binding of verbs, and changes what sideway has no call for: how
//! many completions are gathered before an event, and for how long. It is done by DEVX, through libmlx5 and
//! then by the kernel's interface, and each time read back from the adapter.
//!
//! ```sh
//! cargo run -p mlx5-sideway --features sideway -- mlx5_0
//! ```
//!
//! sideway is built with cmake and libclang: on Debian, `apt-get install cmake libclang-dev`. Without a name
//! the first device is taken. It says of each way:
//!
//! ```text
//! libmlx5: CQ 0x401 waits for 64 completions, or 16 us
//! ```
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it hands addresses of one library to another; each block says why it is sound"
)]

use std::error::Error;
use std::process::ExitCode;

use mlx5_devx::{Cq, Ioctl, LibMlx5, Transport};
use mlx5_prm::{ModifyCqIn, QueryCqIn};
use sideway::ibverbs::completion::CompletionQueue;
use sideway::ibverbs::device::{DeviceInfo, DeviceList};

fn main() -> ExitCode {
    let Err(error) = example(std::env::args().nth(1)) else { return ExitCode::SUCCESS };
    eprint!("{error}");
    let mut source = error.source();
    while let Some(error) = source {
        eprint!(": {error}");
        source = error.source();
    }
    eprintln!();
    ExitCode::FAILURE
}

fn example(wanted: Option<String>) -> Result<(), Box<dyn Error>> {
    let devices = DeviceList::new()?;
    let device = devices
        .iter()
        .find(|device| wanted.as_ref().is_none_or(|name| device.name() == *name))
        .ok_or("there is no such device")?;

    // sideway opens with `ibv_open_device`, which for an mlx5 device asks for DEVX first, and does without it
    // if the kernel refuses (`mlx5_alloc_context` in rdma-core): the commands below then end in EINVAL.
    let context = device.open()?;
    let cq = context.create_cq_builder().setup_cqe(1000).build_ex()?;

    // Through libmlx5, which also knows the number of the queue.
    // SAFETY: the context is that of an mlx5 device, and `context` keeps it open until the end.
    let libmlx5 = unsafe { LibMlx5::from_ibv_context(context.context())? };
    // SAFETY: the queue is of that context, it lives until the end, and nothing polls it.
    let cqn = unsafe { libmlx5.cqn(cq.cq().cast())? };
    // SAFETY: as above.
    let by_libmlx5 = unsafe { Cq::from_ibv(&libmlx5, cq.cq(), cqn)? };
    gather("libmlx5", &by_libmlx5, Gather { completions: 64, microseconds: 16 })?;

    // By the kernel's interface: no C library is asked.
    // SAFETY: as above.
    let ioctl = unsafe { Ioctl::from_ibv_context(context.context())? };
    // SAFETY: as above.
    let by_ioctl = unsafe { Cq::from_ibv(&ioctl, cq.cq(), cqn)? };
    gather("ioctl", &by_ioctl, Gather { completions: 32, microseconds: 8 })?;
    Ok(())
}

/// When an event is sent: after so many completions, or so long after the first of them.
struct Gather {
    completions: u16,
    microseconds: u16,
}

/// Changes the queue, reads it back, and says what the adapter has.
fn gather<T: Transport>(way: &str, cq: &Cq<'_, T>, wanted: Gather) -> Result<(), mlx5_devx::Error> {
    let mut modify = ModifyCqIn::new()
        .changing_cq_period(wanted.microseconds)
        .changing_cq_max_count(wanted.completions);
    cq.modify(&mut modify)?;

    let answer = cq.query(&mut QueryCqIn::new())?;
    let has = answer.cq_context();
    println!(
        "{way}: CQ {:#x} waits for {} completions, or {} us",
        cq.number().get(),
        has.cq_max_count(),
        has.cq_period()
    );
    Ok(())
}
