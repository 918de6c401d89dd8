//! Any text as a table of layouts, as one of semantics, and, where a line of `---` parts it, as both
//! together.
//!
//! It is read, or refused with places and remedies. Layouts that pass the checks are sound, bit by
//! bit, and the same when they are written and read again; what passes all checks becomes Rust, or is
//! told why not.
//!
//! For long: `cargo +nightly fuzz run tables -- -max_total_time=3600 -only_ascii=1 -dict=fuzz/dict/tables.dict`
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_fuzz::tables as hold;
use prm_codegen::fault::{Origin, SourceFile};
use prm_codegen::model::{Family, Spec};
use prm_codegen::{check, emit, tables};

fuzz_target!(|text: &str| {
    let (layouts, semantics) = text.split_once("\n---\n").unwrap_or((text, text));
    let layouts = SourceFile::new("table.toml", layouts);
    let semantics = SourceFile::new("table.toml", semantics);
    let mut spec = Spec::default();
    match tables::read_layout_file(&layouts) {
        Ok(read) => spec = read,
        Err(faults) => hold::faults(&faults, &layouts),
    }
    // The family that a layout is of is the name of its file.
    spec.families = vec![Family {
        name: "table".into(),
        about: "All of it.".into(),
        takes: vec!["*".into()],
        origin: Origin::whole(&layouts),
    }];
    hold::imported(&spec, &layouts);
    match tables::read_semantics_file(&semantics) {
        Ok(read) => spec.semantics = read.semantics,
        Err(faults) => hold::faults(&faults, &semantics),
    }
    match check::check(&spec) {
        Ok(()) => match emit::emit(&spec) {
            Ok(files) => assert!(!files.is_empty()),
            Err(faults) => assert!(!faults.0.is_empty()),
        },
        Err(faults) => {
            assert!(!faults.0.is_empty());
            for fault in &faults.0 {
                let span = fault.place.span.clone();
                assert!(fault.place.file.text.get(span).is_some(), "{fault}");
                assert!(!fault.message.is_empty() && !fault.help.is_empty(), "{fault}");
            }
        }
    }
});
