//! Any text as a database of registers.
//!
//! It gives layouts and registers, or faults with places and remedies. What passes the checks is sound,
//! bit by bit, and is the same when it is written as a table and read again.
//!
//! For long: `cargo +nightly fuzz run adb -- -max_total_time=3600 -only_ascii=1 -dict=fuzz/dict/adb.dict`
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_fuzz::tables;
use prm_codegen::fault::SourceFile;
use prm_codegen::import;

fuzz_target!(|text: &str| {
    let file = SourceFile::new("registers.adb", text);
    match import::adb(&file).and_then(|reading| tables::of_one_source(&file, reading)) {
        Ok(spec) => tables::imported(&spec, &file),
        Err(faults) => tables::faults(&faults, &file),
    }
});
