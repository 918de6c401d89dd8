//! Any bytes as any layout: 2 bytes that choose the layout, and a mailbox.
//!
//! Every number, by the description and by the accessor, is what a reader bit by bit finds; written
//! back it leaves the mailbox as it was. Bits of a struct that no field claims are told as reserved.
//! Debug prints whatever is there.
//!
//! For long: `cargo +nightly fuzz run decode -- -max_total_time=3600`
#![no_main]

use std::collections::HashMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mlx5_fuzz::accessor::{Access, Accessor};
use mlx5_fuzz::reference;
use mlx5_prm::{Element, LayoutDesc, families};

static LAYOUTS: LazyLock<Vec<&'static LayoutDesc>> =
    LazyLock::new(|| families().iter().flat_map(|f| f.layouts).copied().collect());

static ACCESSORS: LazyLock<HashMap<&'static str, Vec<&'static Accessor>>> = LazyLock::new(|| {
    let mut by_layout: HashMap<_, Vec<_>> = HashMap::new();
    for accessor in mlx5_fuzz::accessors() {
        by_layout.entry(accessor.layout).or_default().push(accessor);
    }
    by_layout
});

fuzz_target!(|data: &[u8]| {
    let [high, low, mailbox @ ..] = data else { return };
    let layout = LAYOUTS[usize::from(u16::from_be_bytes([*high, *low])) % LAYOUTS.len()];
    walk(layout, mailbox);
    let typed = ACCESSORS.get(layout.name).map_or(&[][..], |all| all);
    if let Some(own) = mailbox.get(..layout.size) {
        typed.iter().for_each(|accessor| read(layout, accessor, own));
    }
    // A view takes exactly the bytes of its layout.
    if let Some(accessor) = typed.first() {
        match (accessor.view)(mailbox) {
            Ok(view) => {
                assert_eq!(mailbox.len(), layout.size);
                assert_eq!(view.copied(), mailbox);
                let text = format!("{view:?}{view:#?}");
                assert!(text.contains(layout.name), "{text}");
            }
            Err(_) => assert_ne!(mailbox.len(), layout.size, "{}", layout.name),
        }
    }
    // A list at its end.
    if let Ok(view) = mlx5_prm::QueryRqtOutWithRqNum::view(mailbox) {
        assert!(!format!("{view:?}").is_empty());
        let entries = (mailbox.len() - mlx5_prm::QueryRqtOut::SIZE) / 4;
        assert_eq!(view.tail.len(), entries);
        for (index, entry) in view.tail.iter().enumerate() {
            let at = (mlx5_prm::QueryRqtOut::SIZE + index * 4) * 8;
            let number = reference::get(mailbox, at + 8, 24);
            assert_eq!(u128::from(entry.rq_num().get()), number);
        }
    }
});

/// Reads every number, and writes it back into a copy.
fn walk(layout: &'static LayoutDesc, mailbox: &[u8]) {
    let mut copy = mailbox.to_vec();
    // Bits that no field of this layout has.
    let own = layout.size.min(mailbox.len());
    let mut reserved = mailbox[..own].to_vec();
    for field in layout.fields {
        for index in 0..field.elements(mailbox.len()) {
            let (bit, width) = (field.bit_of(index), field.width() as usize);
            let name = || format!("{}.{}[{index}]", layout.name, field.name);
            let end = (own * 8).min(bit + width);
            if bit < end {
                reference::set(&mut reserved, bit, end - bit, 0);
            }
            if let Element::Layout(inner) = field.element {
                let part = layout.part(field, mailbox, index);
                assert_eq!(mailbox.get(bit / 8..).unwrap_or(&[]).get(..part.len()), Some(part));
                if part.len() < mailbox.len() {
                    walk(inner, part);
                }
            } else if let Some(value) = field.read(mailbox, index) {
                assert_eq!(value, reference::get(mailbox, bit, width), "{}", name());
                assert_eq!(field.write(layout.name, &mut copy, index, value), Ok(true));
            } else {
                let there = bit + width <= mailbox.len() * 8;
                assert!(width > 128 || !there, "{} is not read", name());
            }
        }
    }
    assert_eq!(copy, mailbox, "{}", layout.name);
    let mut told = vec![0; own];
    for (at, bits) in layout.reserved_set(mailbox) {
        let len = (own - at).min(4);
        told[at..at + len].copy_from_slice(&bits.to_be_bytes()[..len]);
        assert_ne!(bits, 0);
    }
    assert_eq!(told, reserved, "{}: reserved bits", layout.name);
}

/// The accessor that reads a field agrees with the reader bit by bit.
fn read(layout: &LayoutDesc, accessor: &Accessor, own: &[u8]) {
    let field = layout.field(accessor.field).expect("it is described");
    let bit = field.bit() as usize;
    let name = || format!("{}.{}", accessor.layout, accessor.field);
    match accessor.access {
        Access::Number { width, get, .. } => {
            assert_eq!(get(own), reference::get(own, bit, width as usize), "{}", name());
        }
        Access::Packed { width, count, get } => {
            for index in 0..count {
                let expected = reference::get(own, field.bit_of(index), width as usize);
                assert_eq!(u128::from(get(own, index)), expected, "{}", name());
            }
        }
        Access::View { size, get, .. } => {
            assert_eq!(get(own), &own[bit / 8..bit / 8 + size], "{}", name());
        }
    }
}
