//! Any text as a table of layouts and as a table of semantics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prm_codegen::fault::SourceFile;
use prm_codegen::{check, tables};

fuzz_target!(|text: &str| {
    let file = SourceFile::new("table.toml", text);
    for read in [tables::read_layout_file, tables::read_semantics_file] {
        let checked = read(&file).and_then(|spec| check::check(&spec).map(|()| spec));
        if let Err(faults) = checked {
            assert!(!faults.0.is_empty());
            assert!(faults.0.iter().all(|f| f.place.span.end <= f.place.file.text.len()));
            faults.render();
        }
    }
});
