//! What `prm decode` writes, `prm encode` makes the same bytes of.

use mlx5_prm::LayoutDesc;
use proptest::prelude::*;
use serde_json::Value;

use super::{from_flat, from_json};
use crate::decode::{flat, json, tree};
use crate::names;
use crate::output::written;
use crate::view::View;

/// The layouts, in an order that is always the same.
fn layouts() -> Vec<&'static LayoutDesc> {
    names::all().map(|(layout, _)| layout).collect()
}

/// Through JSON, and through flat lines with and without what is zero.
fn same_bytes(layout: &'static LayoutDesc, bytes: &[u8]) {
    let view = View::of_layout(layout, bytes);
    let text = Value::from(json::object(&view, bytes)).to_string();
    let made = from_json("json", &text).unwrap_or_else(|error| panic!("{}: {error}", layout.name));
    assert!(made.finish() == bytes, "{} through JSON:\n{text}", layout.name);
    for all in [false, true] {
        let text = written(|out| flat::write(out, &view, bytes, all));
        let made = from_flat("flat", &text).unwrap_or_else(|e| panic!("{}: {e}", layout.name));
        assert!(made.finish() == bytes, "{} through flat lines:\n{text}", layout.name);
    }
    for all in [false, true] {
        let options = tree::Options { all, words: true };
        let text = written(|out| tree::write(out, &view, bytes, None, options));
        assert!(text.starts_with(layout.name), "{text}");
    }
}

/// Bytes of a linear congruential generator (the constants of MMIX).
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn every_layout_once() {
    for (seed, layout) in layouts().into_iter().enumerate() {
        let list = if layout.has_list() { 40 } else { 0 };
        same_bytes(layout, &noise(seed as u64, layout.size + list));
        same_bytes(layout, &vec![0; layout.size]);
    }
}

#[test]
fn a_mailbox_that_ends_early() {
    for name in ["modify_cq_in", "query_qp_out", "ppcnt_reg", "create_mkey_in"] {
        let layout = mlx5_prm::layout_desc(name).expect("a layout");
        for len in [1, 2, 3, 16, 17, 40, layout.size - 1] {
            same_bytes(layout, &noise(7, len.min(layout.size)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_content(which in any::<proptest::sample::Index>(), seed: u64, more in 0usize..70, sparse: bool) {
        let all = layouts();
        let layout = all[which.index(all.len())];
        let mut bytes = noise(seed, layout.size + more);
        if sparse {
            for (i, byte) in bytes.iter_mut().enumerate() {
                if i % 5 != 0 {
                    *byte = 0;
                }
            }
        }
        same_bytes(layout, &bytes);
    }
}
