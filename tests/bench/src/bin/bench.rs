//! Counts and times, and writes `docs/benchmarks.md`; with the argument `ratios` it writes what the test
//! `instructions` compares with.

use std::process::ExitCode;

use mlx5_bench::baseline::{Ratios, file};
use mlx5_bench::callgrind::is_installed;
use mlx5_bench::programs::Program;
use mlx5_bench::rows::PARTS;

fn main() -> ExitCode {
    if !is_installed() {
        return ExitCode::FAILURE;
    }
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    let scratch = scratch.path();
    let (our_program, c_program) = (Program::ours(), Program::c("gcc", scratch).expect("gcc"));
    let (ours, c) = (our_program.count(&[], scratch), c_program.count(&[], scratch));
    for part in PARTS {
        println!("{}", part.title);
        for row in part.rows {
            let ratio = row.ratio(&ours, &c);
            println!(
                "  {:<60} {:>6} {:>6} {ratio:>6.2}",
                row.title,
                ours.cost(row.ours),
                c.cost(row.c)
            );
        }
    }
    let now = Ratios::of((&our_program, &ours), (&c_program, &c));
    println!("geometric mean {:.3}", now.mean());
    std::fs::write(file(), now.text()).expect("a place to write to");
    ExitCode::SUCCESS
}
