//! Any text as a header, in the dialects of Linux and of the others (typedefs, C++, macros, what is no
//! layout at all), read strictly and leniently.
//!
//! Strictly it gives layouts, or faults with places and remedies. Leniently it gives the same layouts
//! where it passed strictly, and passes over those at fault else. What passes the checks is sound, bit
//! by bit, and is the same when it is written as a table and read again.
//!
//! For long: `cargo +nightly fuzz run header -- -max_total_time=3600 -only_ascii=1 -dict=fuzz/dict/header.dict`
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_fuzz::tables;
use prm_codegen::fault::SourceFile;
use prm_codegen::import::{self, HeaderFile};

fuzz_target!(|text: &str| {
    let file = SourceFile::new("header.h", text);
    let headers = [HeaderFile { file: file.clone(), takes: Vec::new() }];
    let strict = import::headers(&headers);
    let lenient = import::headers_leniently(&headers);
    match (&strict, &lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert_eq!(format!("{:?}", strict.layouts), format!("{:?}", lenient.layouts));
            assert_eq!(format!("{:?}", strict.enums), format!("{:?}", lenient.enums));
        }
        (Ok(_), Err(faults)) => panic!("strictly it passes:\n{}", faults.render()),
        (Err(_), Ok(lenient)) => {
            let at_fault = lenient.passed_over.iter().any(|passed| passed.fault.is_some());
            assert!(at_fault, "nothing is at fault:\n{text}");
        }
        (Err(_), Err(faults)) => tables::faults(faults, &file),
    }
    for reading in [strict, lenient].into_iter() {
        match reading.and_then(|reading| tables::of_one_source(&file, reading)) {
            Ok(spec) => tables::imported(&spec, &file),
            Err(faults) => tables::faults(&faults, &file),
        }
    }
});
