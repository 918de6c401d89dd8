//! What commands cost in the simulated adapter while so many objects live in it, as its argument says:
//! each kind of command is a function of its own, whose instructions valgrind counts.

use std::hint::black_box;

use mlx5_devx::{Cq, Errno, Error, Target, TargetKind, Transport};
use mlx5_prm::{Cqc, Cqn, ModifyCqIn, QueryCqIn};
use mlx5_sim::{Adapter, Made};

#[inline(never)]
fn create_all(adapter: &Adapter, objects: usize) -> Result<Vec<Made<Cqn>>, Error> {
    let context = Cqc::new().with_log_cq_size(10);
    (0..objects).map(|_| adapter.create_cq(black_box(&context))).collect()
}

#[inline(never)]
fn modify_all(transport: &dyn Transport, made: &[Made<Cqn>]) -> Result<(), Error> {
    for cq in made {
        let mut modify = ModifyCqIn::new().changing_cq_period(16).changing_cq_max_count(64);
        black_box(Cq::new(transport, cq.handle, cq.number).modify(&mut modify)?);
    }
    Ok(())
}

#[inline(never)]
fn query_all(transport: &dyn Transport, made: &[Made<Cqn>]) -> Result<(), Error> {
    for cq in made {
        black_box(Cq::new(transport, cq.handle, cq.number).query(&mut QueryCqIn::new())?);
    }
    Ok(())
}

#[inline(never)]
fn destroy_all(adapter: &Adapter, made: &[Made<Cqn>]) -> Result<(), Errno> {
    // Not in the order in which they were made: each is as likely the next. 7919 is a prime, so that all get
    // their turn.
    (0..made.len())
        .map(|n| &made[n * 7919 % made.len()])
        .try_for_each(|cq| adapter.end(Target { kind: TargetKind::Cq, handle: cq.handle }))
}

fn main() -> Result<(), Error> {
    let objects =
        std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("a number of objects");
    let adapter = Adapter::new();
    let made = create_all(&adapter, objects)?;
    modify_all(&adapter, &made)?;
    query_all(&adapter, &made)?;
    destroy_all(&adapter, &made).expect("they live");
    println!("{objects}");
    Ok(())
}
