//! Calls each case many times, and prints what it made, or how long it takes.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Calls of each case when instructions are counted.
const ROUNDS: u32 = 100;
/// Samples of each case when it is timed: the median counts.
const SAMPLES: usize = 15;
/// How long a sample takes at least.
const SAMPLE: Duration = Duration::from_micros(500);

/// What is done with each case.
pub(crate) enum Run {
    /// It is called, for valgrind to count.
    Count,
    /// It is timed.
    Time,
}

impl Run {
    /// Runs a case that writes a mailbox: `bytes` gives what it wrote.
    pub(crate) fn write<M: ?Sized, V: ?Sized>(
        &mut self,
        name: &str,
        case: fn(&mut M, &V),
        mailbox: &mut M,
        values: &V,
        bytes: impl Fn(&M) -> &[u8],
    ) {
        // Through its address, so that no argument is known or left out.
        let case = black_box(case);
        self.each(name, || case(black_box(&mut *mailbox), black_box(values)));
        let mut hex = String::new();
        for byte in bytes(mailbox) {
            write!(hex, "{byte:02x}").expect("a string takes all");
        }
        self.print(name, &hex);
    }

    /// Runs a case that reads a mailbox, and gives a number made of what it read.
    pub(crate) fn read<M: ?Sized>(&mut self, name: &str, case: fn(&M) -> u64, mailbox: &M) {
        let case = black_box(case);
        let mut sum = 0;
        self.each(name, || sum = case(black_box(mailbox)));
        self.print(name, &format!("{sum:#x}"));
    }

    fn print(&self, name: &str, made: &str) {
        if let Run::Count = self {
            println!("{name} {made}");
        }
    }

    fn each(&self, name: &str, mut call: impl FnMut()) {
        match self {
            Run::Count => (0..ROUNDS).for_each(|_| call()),
            Run::Time => println!("{name} {:.3}", median(call)),
        }
    }
}

/// Nanoseconds of one call: the median of samples.
fn median(mut call: impl FnMut()) -> f64 {
    let mut sample = |calls: u32| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed()
    };
    let mut calls = 16;
    while sample(calls) < SAMPLE {
        calls *= 2;
    }
    let mut samples: Vec<Duration> = (0..SAMPLES).map(|_| sample(calls)).collect();
    samples.sort_unstable();
    samples[SAMPLES / 2].as_nanos() as f64 / f64::from(calls)
}
