//! Any text as a database of registers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prm_codegen::fault::{Origin, SourceFile};
use prm_codegen::merge::{Told, merge};
use prm_codegen::model::{Family, Rulings};
use prm_codegen::{check, import};

fuzz_target!(|text: &str| {
    let file = SourceFile::new("registers.adb", text);
    let family = Family {
        name: "all".into(),
        about: "All of it.".into(),
        takes: vec!["*".into()],
        origin: Origin::whole(&file),
    };
    let told = |reading| vec![Told { source: "database".into(), reading }];
    let merged = import::adb(&file)
        .and_then(|reading| merge(told(reading), Rulings::default(), vec![family]));
    match merged {
        Ok(spec) => {
            if let Err(faults) = check::check_layouts(&spec) {
                assert!(!faults.0.is_empty());
            }
        }
        Err(faults) => {
            assert!(!faults.0.is_empty());
            assert!(faults.0.iter().all(|f| f.place.span.end <= text.len()));
            faults.render();
        }
    }
});
