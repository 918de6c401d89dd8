//! `prm spec`: the tables of this program, and those of folders.

use std::fs;
use std::path::{Path, PathBuf};

mod terminal;

use terminal::{good, prm, seen_in, text};

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prm-spec")
}

/// A copy of the tables, in a folder of its own.
fn copy() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for below in ["", "layouts", "semantics", "words"] {
        fs::create_dir_all(dir.path().join("tables").join(below)).unwrap();
        for entry in fs::read_dir(tables().join(below)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let to = dir.path().join("tables").join(below).join(entry.file_name());
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    dir
}

#[test]
fn its_own_tables_are_those_of_the_workspace() {
    let own = good(&["spec", "check"]);
    assert!(own.starts_with("sound: ") && own.contains(" layouts, "), "{own}");
    let dir = tables();
    let dir = dir.to_str().unwrap();
    assert_eq!(good(&["spec", "diff", dir]), "the two say the same\n");
}

#[test]
fn a_changed_table_differs() {
    let dir = copy();
    let file = dir.path().join("tables/layouts/cq.toml");
    let text = fs::read_to_string(&file).unwrap();
    let line = "{ at = 0x00, bits = \"17:17\", name = \"oi\" }";
    assert!(text.contains(line));
    fs::write(&file, text.replace(line, &line.replace("17", "19"))).unwrap();
    insta::assert_snapshot!(seen_in(dir.path(), &[&["spec", "diff", "tables"]]));
    fs::write(&file, text.replace(line, &line.replace("17", "20"))).unwrap();
    insta::assert_snapshot!(
        "faults",
        seen_in(
            dir.path(),
            &[&["spec", "check", "tables"], &["spec", "check", "none"], &["spec", "diff", "none"]]
        )
    );
}

#[test]
fn a_header_is_compared_with_its_own_tables() {
    let dir = tempfile::tempdir().unwrap();
    let header = "struct mlx5_ifc_modify_field_select_bits {\n\tu8 modify_field_select[0x20];\n};\n\
                  struct mlx5_ifc_lamp_bits {\n\tu8 on[0x20];\n};\n";
    fs::write(dir.path().join("lamp.h"), header).unwrap();
    let out = terminal::prm_in(dir.path(), &["spec", "verify", "--header", "lamp.h"]);
    let told = text(&[], out, 1);
    let new: Vec<&str> = told.lines().take(2).collect();
    insta::assert_snapshot!(new.join("\n"), @r"
    new: not in the tables: 1
      lamp: struct of 0x04 bytes
    ");
    let none = terminal::prm_in(dir.path(), &["spec", "verify", "--header", "none.h"]);
    text(&[], none, 2);
    text(&[], prm(&["spec", "verify"]), 2);
}
