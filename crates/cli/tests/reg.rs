//! `prm reg`: registers are read.

mod terminal;

use terminal::{good, good_in, seen};

#[test]
fn a_register_of_the_simulated_adapter() {
    insta::assert_snapshot!(seen(&[
        &["reg", "--to", "sim", "PAOS", "local_port=1"],
        &["reg", "--to", "sim", "ptys_reg", "local_port=1", "proto_mask=4", "--show-request", "-t"],
        &["reg", "--to", "sim:fwctl", "0x5006", "--flat"],
    ]));
}

#[test]
fn a_register_by_its_name_in_c() {
    let by = |name| good(&["reg", "--to", "sim", name, "local_port=1"]);
    assert_eq!(by("MLX5_REG_PAOS"), by("PAOS"));
    assert_eq!(by("mlx5_ifc_paos_reg_bits"), by("PAOS"));
}

#[test]
fn a_register_for_programs() {
    let text = good(&["reg", "--to", "sim", "paos", "local_port=1", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["paos_reg"]["local_port"], 1);
}

#[test]
fn a_register_that_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let run = ["reg", "--to", "sim", "PAOS", "local_port=1"];
    let recorded = good_in(dir.path(), &[&run[..], &["--record", "reg.mlx5rec"]].concat());
    let replay = ["reg", "--to", "replay:reg.mlx5rec", "PAOS", "local_port=1"];
    assert_eq!(good_in(dir.path(), &replay), recorded);
    let other = ["reg", "--to", "replay:reg.mlx5rec", "PAOS", "local_port=2"];
    insta::assert_snapshot!(terminal::seen_in(dir.path(), &[&other]));
}

#[test]
fn what_is_not_read_is_told() {
    insta::assert_snapshot!(seen(&[
        &["reg", "--to", "ioctl:mlx5_0", "PAOS", "local_port=1"],
        &["reg", "--to", "libmlx5:mlx5_0", "PAOS"],
        &["reg", "--to", "sim", "PAO"],
        &["reg", "--to", "sim", "PAOS", "local_prt=1"],
        &["reg", "--to", "sim", "PAOS", "oper_status=1"],
        &["reg", "--to", "sim", "PAOS", "local_port"],
        &["reg", "--to", "sim", "PAOS", "local_port=300"],
        &["reg", "--to", "sim", "PPCNT", "clr=1"],
    ]));
}
