//! The check against the outside: do the tables, and the accessors made from them, agree with what
//! gcc makes of the public headers?
//!
//! * `headers` finds the headers that are at hand, has gcc compile them, and reads the layouts and
//!   enumerators back out of the debug information, so that the compiler, and no parser of ours,
//!   enumerates them;
//! * `spec` reads the tables, by code that shares nothing with the generator;
//! * `compare` compares the two: all that gcc sees in the headers of a source, the tables say of that
//!   source, and the other way round;
//! * `ccode` is a C library, generated from the headers, that sets and gets every field with the
//!   DEVX macros of the installed `infiniband/mlx5dv.h`;
//! * `values` drives that library and the generated accessors side by side over the same mailboxes;
//! * `spoil` makes mistakes, each of which has to be found;
//! * `provenance` looks at what the tables say of sources without any of this.
//!
//! The headers of Linux that are installed are always compared. `MLX5_SOURCES` names a folder with
//! the headers of more sources: in it is a folder for each, called as in `prm-spec/sources.toml`, with
//! the files that stand there. `MLX5_HEADERS` names a further `include/linux/mlx5`, and
//! `MLX5_HEADERS_SERIES` the kernel series it is of. Which sources were not compared is told on the
//! terminal; where gcc or macros are missing, the tests fail and say what to install.
//!
//! Headers of Linux whose files are none that `sources.toml` names, as those of another series, are
//! compared with a weaker rule: what both have must be the same, or `conflicts.toml` must know some
//! source that says otherwise there. What only they have is printed.

mod ccode;
mod claim;
mod compare;
#[path = "../headers/mod.rs"]
mod headers;
mod ours;
mod provenance;
#[path = "../spec/mod.rs"]
mod spec;
mod spoil;
mod values;

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use ccode::CCode;
use compare::{Comparison, Counts, compare_loosely};
use headers::{CLayout, Headers, INSTALL, Seen, at_hand, see};
use ours::{Generated, by_bits};
use spec::Tables;
use values::{Ours, compare_values};

/// All headers at hand, and what gcc sees in them.
fn seen() -> &'static [(&'static Headers, Seen)] {
    static SEEN: LazyLock<Vec<(&'static Headers, Seen)>> = LazyLock::new(|| {
        let see = |headers| (headers, see(headers).unwrap_or_else(|e| panic!("{e}\n{INSTALL}")));
        at_hand().iter().map(see).collect()
    });
    &SEEN
}

fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(spec::tables);
    &TABLES
}

fn library(headers: &Headers, layouts: &[CLayout]) -> CCode {
    CCode::build(layouts, headers).unwrap_or_else(|e| panic!("{e}\n{INSTALL}"))
}

/// `MLX5_TEST_SEED` (decimal) repeats a run.
fn seed() -> u64 {
    match std::env::var("MLX5_TEST_SEED") {
        Ok(seed) => seed.parse().expect("MLX5_TEST_SEED is a decimal number"),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64),
    }
}

/// Lines below each other, not too many.
fn list<T: ToString>(lines: &[T]) -> String {
    const SHOWN: usize = 100;
    let mut text: String =
        lines.iter().take(SHOWN).map(|line| format!("\n  {}", line.to_string())).collect();
    if lines.len() > SHOWN {
        text += &format!("\n  and {} more", lines.len() - SHOWN);
    }
    text
}

#[test]
fn gcc_agrees_on_every_layout() {
    let mut failures = Vec::new();
    for (headers, seen) in seen() {
        let inline = seen.layouts.iter().filter(|layout| layout.inline).count();
        let reserved: usize = seen.layouts.iter().map(|layout| layout.reserved).sum();
        println!(
            "{}: gcc sees {} structures and {inline} written in place, {reserved} reserved fields, {} that \
             can't be layouts",
            headers.name,
            seen.layouts.len() - inline,
            seen.faulty.len()
        );
        let Some(source) = &headers.source else {
            let loosely = compare_loosely(seen, tables());
            println!("  no source of the tables; {} fields are the same", loosely.same);
            println!("  known conflicts:{}", list(&loosely.known));
            println!("  only there:{}", list(&loosely.new));
            assert!(loosely.same > 3000, "{}: not read whole", headers.name);
            if !loosely.wrong.is_empty() {
                let what = "differs from the tables, and no source is known to say so";
                failures.push(format!("{} {what}:{}", headers.name, list(&loosely.wrong)));
            }
            continue;
        };
        let comparison = Comparison::new(source, seen, tables());
        let counts = Counts::of(&comparison.facts_seen(seen, tables()), seen);
        println!("  {counts}");
        assert!(counts.layouts > 50 && counts.fields > 500, "{}: not read whole", headers.name);
        let differences = comparison.differences(seen, tables());
        if !differences.is_empty() {
            let other = headers.other_files.iter().map(|other| format!("\n  ({other})"));
            let other: String = other.collect();
            failures.push(format!("{}:{}{other}", headers.name, list(&differences)));
        }
    }
    assert!(
        failures.is_empty(),
        "gcc and the tables do not agree; import the sources again, or find who is wrong\n{}",
        failures.join("\n")
    );
}

#[test]
fn gcc_agrees_on_every_value() {
    let ours = Generated::new(tables());
    // What is the same in several sources gets most of its values in the first of them.
    let mut before: HashSet<String> = HashSet::new();
    for (headers, seen) in seen() {
        let source = headers.source.as_deref().unwrap_or("");
        let alike = Comparison::new(source, seen, tables()).alike(seen, tables());
        let c = library(headers, &seen.layouts);
        println!("{}: C library of {} fields by macros", headers.name, c.fields());
        for field in c.odd_qwords() {
            println!("  at an odd dword, which DEVX_SET64 misses; compared as bytes: {field}");
        }
        let new = before.len();
        let report = compare_values(&c, &seen.layouts, &alike, &ours, seed(), |one| {
            if before.insert(one.name()) { 20 } else { 2 }
        });
        print!("{report}");
        let by_bits = by_bits(&c, &alike, &ours, seed());
        println!(
            "  {by_bits} fields without a macro compared bit by bit; {} fields are in no source before",
            before.len() - new
        );
        assert_eq!(by_bits, report.without_macro.len());
        assert!(by_bits <= 4, "fields that no macro reaches: {:?}", report.without_macro);
        assert_eq!(report.fields + by_bits, alike.len());
        assert!(report.not_in_ours.is_empty(), "no accessors: {:?}", report.not_in_ours);
        assert_eq!(
            report.differing, 0,
            "values differ; MLX5_TEST_SEED={} repeats this",
            report.seed
        );
    }
}

/// The check itself finds wrong accessors, by every single value: the lowest bit of each is flipped.
#[test]
fn wrong_accessors_are_found() {
    struct Wrong(Generated);
    impl Ours for Wrong {
        fn has(&self, layout: &str, field: &str) -> bool {
            self.0.has(layout, field)
        }
        fn set(&self, layout: &str, field: &str, mailbox: &mut [u8], value: &[u8]) {
            let mut value = value.to_vec();
            if let Some(last) = value.last_mut() {
                *last ^= 1;
            }
            self.0.set(layout, field, mailbox, &value);
        }
        fn get(&self, layout: &str, field: &str, mailbox: &[u8]) -> Vec<u8> {
            let mut value = self.0.get(layout, field, mailbox);
            if let Some(last) = value.last_mut() {
                *last ^= 1;
            }
            value
        }
    }
    let ours = Wrong(Generated::new(tables()));
    for (headers, seen) in seen() {
        // Layouts nested in these are among them; a list may hold larger ones.
        let small = |layout: &&CLayout| layout.bits > 0 && layout.bits <= 0x40;
        let layouts = seen.layouts.iter().filter(small).cloned().collect();
        let some = Seen { layouts, ..Seen::default() };
        let source = headers.source.as_deref().unwrap_or("");
        let alike = Comparison::new(source, &some, tables()).alike(&some, tables());
        let c = library(headers, &some.layouts);
        let report = compare_values(&c, &some.layouts, &alike, &ours, seed(), |_| 20);
        println!(
            "{}: {} fields, {} of {} values found wrong",
            headers.name,
            report.fields,
            report.differing,
            report.writes + report.reads
        );
        assert!(report.fields > 5);
        assert_eq!(report.differing, report.writes + report.reads);
    }
}
