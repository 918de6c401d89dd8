//! Counts and times, and writes `docs/benchmarks.md` with its plots; with the argument `ratios` it only
//! counts, and writes what the test `instructions` compares with; with that of a section it writes this to
//! standard output.

use std::process::ExitCode;

use mlx5_bench::baseline::{Ratios, file};
use mlx5_bench::callgrind::is_installed;
use mlx5_bench::programs::{Counted, Program};
use mlx5_bench::report::Report;

/// What can be had alone.
const SECTIONS: [&str; 4] = ["instructions", "logs", "growth", "build"];

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if let Some(other) = argument.as_deref().filter(|a| *a != "ratios" && !SECTIONS.contains(a)) {
        eprintln!("{other}: the argument is `ratios`, or one of {}", SECTIONS.join(", "));
        return ExitCode::FAILURE;
    }
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
    let count = || {
        let counted = (ours.count(&[], scratch), gcc.count(&[], scratch));
        let ratios = Ratios::of((&ours, &counted.0), (&gcc, &counted.1));
        (counted, ratios)
    };
    let instructions = |report: &mut Report, counted: &(Counted, Counted), ratios: &Ratios| {
        report.instructions(&counted.0, &counted.1, ratios);
        report.other_compiler("clang", &counted.0, scratch);
    };
    if let Some(section) = argument.as_deref().filter(|a| SECTIONS.contains(a)) {
        let mut report = Report::empty();
        match section {
            "instructions" => {
                let (counted, ratios) = count();
                instructions(&mut report, &counted, &ratios);
            }
            "logs" => report.dumps(),
            "growth" => report.growth(&ours, &gcc, scratch),
            _ => report.build_cost(),
        }
        print!("{}", report.text());
        return ExitCode::SUCCESS;
    }
    let (counted, ratios) = count();
    if argument.is_some() {
        std::fs::write(file(), ratios.text()).expect("a place to write to");
        println!("written: {}; geometric mean {:.3}", file().display(), ratios.mean());
        return ExitCode::SUCCESS;
    }
    let mut report = Report::new(&ours, &gcc);
    instructions(&mut report, &counted, &ratios);
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
