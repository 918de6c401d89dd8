//! The main job: a MODIFY_CQ built by name, sent to a simulated adapter, and read back; then a
//! command that the adapter refuses.
//!
//! ```sh
//! cargo run -p mlx5-sim --example modify_cq
//! ```

use mlx5_devx::{Cq, Error, Qp, Transport};
use mlx5_prm::{Cqc, Described, ModifyCqIn, Qpc, QueryCqIn, Rtr2rtsQpIn};
use mlx5_sim::{Adapter, syndrome};

fn main() -> Result<(), Error> {
    // A simulated adapter, with a CQ and a QP as a verbs program would have made them.
    let adapter = Adapter::new();
    let made_cq = adapter.create_cq(&Cqc::new().with_log_cq_size(10).with_cq_period(8))?;
    let made_qp = adapter.create_qp(&Qpc::new())?;

    // Only what carries the mailboxes is known from here on: libmlx5 or the ioctl would do as well.
    let transport: Box<dyn Transport> = Box::new(adapter);
    let cq = Cq::new(&*transport, made_cq.handle, made_cq.number);

    // One interrupt for 64 completions or 16 microseconds, whichever comes first.
    // Each change sets a field and the bit of the select mask that says that it counts.
    let mut modify =
        ModifyCqIn::new().with_cqn(cq.number()).changing_cq_period(16).changing_cq_max_count(64);

    println!("MODIFY_CQ as the adapter gets it:");
    print_hex(modify.as_bytes());
    println!("\nand by name:\n{modify:#?}");

    let before = *cq.query(&mut QueryCqIn::new())?.cq_context();
    cq.modify(&mut modify)?;
    let after = *cq.query(&mut QueryCqIn::new())?.cq_context();

    println!("\nThe adapter took it. Changed in the CQ:");
    for field in Cqc::DESC.fields {
        let (old, new) = (field.read(before.as_bytes(), 0), field.read(after.as_bytes(), 0));
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            println!("  {}: {old} -> {new}", field.name);
        }
    }

    // A QP that is in state RST can't go to RTS.
    let qp = Qp::new(&*transport, made_qp.handle, made_qp.number);
    match qp.modify(&mut Rtr2rtsQpIn::new()) {
        Err(error @ Error::Firmware { syndrome, .. }) => {
            println!("\nA command that it refuses:\n  {error}");
            // A real adapter's syndromes are the vendor's, and `prm explain` knows those that are public.
            if let Some(words) = syndrome::words(syndrome) {
                println!("\nWhat the simulated adapter means by {syndrome:#x}:\n  {words}");
            }
        }
        other => unreachable!("a QP in RST went to RTS: {other:?}"),
    }
    Ok(())
}

/// Offset and four dwords a line, as the kernel dumps mailboxes and `prm decode` reads them.
fn print_hex(bytes: &[u8]) {
    for (i, line) in bytes.chunks(16).enumerate() {
        let dwords =
            line.chunks(4).map(|d| d.iter().map(|b| format!("{b:02x}")).collect::<String>());
        println!("{:03x}: {}", i * 16, dwords.collect::<Vec<_>>().join(" "));
    }
}
