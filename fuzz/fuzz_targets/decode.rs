//! Any bytes, as any layout.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_prm::{Element, LayoutDesc, families};

fuzz_target!(|data: &[u8]| {
    let [high, low, mailbox @ ..] = data else { return };
    let layouts: Vec<&LayoutDesc> = families().iter().flat_map(|f| f.layouts).copied().collect();
    let layout = layouts[usize::from(u16::from_be_bytes([*high, *low])) % layouts.len()];
    walk(layout, mailbox);
    // Types whose Debug stands on the description.
    if let Ok(view) = mlx5_prm::ModifyCqIn::view(mailbox) {
        assert!(!format!("{view:?}").is_empty());
    }
    if let Ok(view) = mlx5_prm::QueryRqtOutWithRqNum::view(mailbox) {
        assert!(!format!("{view:?}").is_empty());
    }
});

/// Reads every number, and writes it back into a copy.
fn walk(layout: &'static LayoutDesc, mailbox: &[u8]) {
    let mut copy = mailbox.to_vec();
    for field in layout.fields {
        for index in 0..field.elements(mailbox.len()) {
            if let Element::Layout(inner) = field.element {
                let part = layout.part(field, mailbox, index);
                if part.len() < mailbox.len() {
                    walk(inner, part);
                }
            } else if let Some(value) = field.read(mailbox, index) {
                assert_eq!(field.write(layout.name, &mut copy, index, value), Ok(true));
            }
        }
    }
    assert_eq!(copy, mailbox, "{}", layout.name);
    for (at, bits) in layout.reserved_set(mailbox) {
        assert!(at < layout.size && bits != 0);
    }
}
