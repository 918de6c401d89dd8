//! `prm caps`: capabilities as tables.

mod terminal;

use terminal::{good, good_in, seen};

#[test]
fn the_pages_that_are_there() {
    insta::assert_snapshot!(seen(&[
        &["caps", "--to", "sim"],
        &["caps", "--to", "sim:fwctl", "period"],
        &["caps", "--to", "sim", "--page", "GeneralDevice", "log_max_cq"],
    ]));
}

#[test]
fn what_is_not_there_is_told() {
    insta::assert_snapshot!(seen(&[
        &["caps", "--to", "sim", "num_prts"],
        &["caps", "--to", "sim", "--page", "roce"],
        &["caps", "--to", "sim", "--page", "rocee"],
        &["caps", "--to", "smi"],
    ]));
}

#[test]
fn for_programs() {
    let text = good(&["caps", "--to", "sim", "--json"]);
    let caps: serde_json::Value = serde_json::from_str(&text).unwrap();
    let general = &caps["pages"]["general_device"];
    assert_eq!(general["layout"], "cmd_hca_cap");
    assert_eq!(general["current"]["log_max_cq"], 24);
    assert_eq!(general["maximum"]["log_max_cq"], 24);
    assert!(caps["refused"].as_array().unwrap().contains(&"roce".into()));
}

#[test]
fn recorded_and_replayed_and_changed_in_between() {
    let dir = tempfile::tempdir().unwrap();
    let first = good_in(dir.path(), &["caps", "--to", "sim", "--record", "caps.mlx5rec"]);
    assert_eq!(good_in(dir.path(), &["caps", "--to", "replay:caps.mlx5rec"]), first);

    // The answer with the current values: the second call of the general page.
    let path = dir.path().join("caps.mlx5rec");
    let recording = std::fs::read_to_string(&path).unwrap();
    let row = "    0020: 0f0f0018";
    let at = recording.rmatch_indices(row).next().unwrap_or_else(|| panic!("{recording:.3000}")).0;
    let changed = format!("{}    0020: 0f0f0012{}", &recording[..at], &recording[at + row.len()..]);
    std::fs::write(&path, changed).unwrap();
    let differing = good_in(dir.path(), &["caps", "--to", "replay:caps.mlx5rec", "log_max_qp"]);
    insta::assert_snapshot!(differing);
}
