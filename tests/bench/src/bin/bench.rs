//! Counts and times, and writes `docs/benchmarks.md` with its plots; with the argument `ratios` it only
//! counts, and writes what the test `instructions` compares with.

use std::process::ExitCode;

use mlx5_bench::baseline::{Ratios, file};
use mlx5_bench::callgrind::is_installed;
use mlx5_bench::programs::Program;
use mlx5_bench::report::Report;

fn main() -> ExitCode {
    let only_ratios = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("ratios") => true,
        Some(other) => {
            eprintln!("{other}: the only argument is `ratios`");
            return ExitCode::FAILURE;
        }
    };
    if !is_installed() {
        return ExitCode::FAILURE;
    }
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    let scratch = scratch.path();
    let Some(gcc) = Program::c("gcc", scratch) else {
        eprintln!("no gcc; run: apt-get install gcc");
        return ExitCode::FAILURE;
    };
    let ours = Program::ours();
    let counted = (ours.count(&[], scratch), gcc.count(&[], scratch));
    let ratios = Ratios::of((&ours, &counted.0), (&gcc, &counted.1));
    if only_ratios {
        std::fs::write(file(), ratios.text()).expect("a place to write to");
        println!("written: {}; geometric mean {:.3}", file().display(), ratios.mean());
        return ExitCode::SUCCESS;
    }
    let mut report = Report::new(&ours, &gcc);
    report.instructions(&counted.0, &counted.1, &ratios);
    report.other_compiler("clang", &counted.0, scratch);
    report.times(&ours, &gcc);
    report.peers(&ours, scratch);
    report.dumps();
    report.transports(scratch);
    report.growth(&ours, &gcc, scratch);
    report.sizes(scratch);
    report.build_cost();
    println!("written: {}", report.write().display());
    ExitCode::SUCCESS
}
