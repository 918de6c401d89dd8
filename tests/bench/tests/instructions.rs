//! The instructions that the codec takes, against the DEVX macros compiled by `gcc -O2`: a ratio may not
//! worsen by more than 5 % of what `ratios.toml` keeps, nor, for most, be over 1.
//!
//! Both programs run under `valgrind --tool=callgrind`, which counts instructions exactly: the same in
//! every run. Calls made by a function, such as to `memset`, count as its own.

use mlx5_bench::baseline::{RENEW, Ratios};
use mlx5_bench::callgrind::is_installed;
use mlx5_bench::programs::Program;
use mlx5_bench::rows::{Asked, Row, rows};

#[test]
fn ours_take_no_more_than_the_macros() {
    if !is_installed() {
        return;
    }
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    let (ours, c) = (Program::ours(), Program::c("gcc", scratch.path()).expect("gcc; install it"));
    let (our_counts, c_counts) = (ours.count(&[], scratch.path()), c.count(&[], scratch.path()));
    let now = Ratios::of((&ours, &our_counts), (&c, &c_counts));
    // Other processors have other instructions; that both do the same is all that is asked there.
    if cfg!(target_arch = "x86_64") {
        let kept = Ratios::kept().unwrap_or_else(|e| panic!("{e}"));
        let faults = now.faults(&kept, rows());
        assert!(
            faults.is_empty(),
            "instructions, ours over C:\n  {}\nIf this is as it should be: {RENEW}",
            faults.join("\n  ")
        );
    }
}

#[test]
fn what_worsens_is_told() {
    const ROWS: [Row; 2] = [
        Row { title: "one", ours: "one", c: "one", asked: Asked::NoMore, unchecked: None },
        Row {
            title: "two",
            ours: "two",
            c: "two",
            asked: Asked::NoWorse("it is so"),
            unchecked: None,
        },
    ];
    let ratios = |pairs: &[(&str, f64)]| Ratios {
        ratios: pairs.iter().map(|(case, ratio)| ((*case).to_owned(), *ratio)).collect(),
        ..Ratios::default()
    };
    let kept = ratios(&[("one", 0.5), ("two", 1.2)]);
    let faults = |pairs: &[(&str, f64)]| ratios(pairs).faults(&kept, ROWS.iter());

    assert_eq!(faults(&[("one", 0.52), ("two", 1.25)]), [""; 0], "4 % is let pass");
    assert_eq!(
        faults(&[("one", 0.53), ("two", 1.2)]),
        ["one: takes 0.530 of what C takes, and took 0.500"]
    );
    assert_eq!(
        faults(&[("one", 0.5)]),
        ["two: it was not counted", "two is kept, and no such case is counted"]
    );
    let over = faults(&[("one", 1.01), ("two", 1.2)]);
    assert_eq!(over[0], "one: takes 1.010 of what C takes");
    assert_eq!(over.last().expect("some"), "the geometric mean is 1.101, more than 0.90");
    let none_kept = ratios(&[("one", 0.5), ("two", 0.5)]).faults(&Ratios::default(), ROWS.iter());
    assert_eq!(none_kept.len(), 2, "{none_kept:?}");
}
