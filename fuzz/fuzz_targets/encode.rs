//! Any values of any fields: what is written is where it belongs, and nothing else changes.
//!
//! A layout, the bytes of a mailbox, and writes to it, each by the description or by one of the
//! typed accessors (`set_`, `with_`, `try_set_`, in place), and paired calls of modify commands.
//! After each the mailbox is, bit for bit, what a writer with byteorder makes of it; what is too wide
//! is refused by a message that says so, and changes nothing.
//!
//! For long: `cargo +nightly fuzz run encode -- -max_total_time=3600`
#![no_main]

use std::collections::HashMap;
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use mlx5_fuzz::accessor::{Access, Accessor, Change};
use mlx5_fuzz::reference;
use mlx5_prm::{Element, FieldDesc, FieldError, LayoutDesc, families};

/// A layout, and what writes to it.
struct Layout {
    desc: &'static LayoutDesc,
    accessors: Vec<(&'static Accessor, &'static FieldDesc)>,
    changes: Vec<&'static Change>,
}

static LAYOUTS: LazyLock<Vec<Layout>> = LazyLock::new(|| {
    let all = families().iter().flat_map(|f| f.layouts);
    let mut layouts: Vec<Layout> =
        all.map(|desc| Layout { desc, accessors: Vec::new(), changes: Vec::new() }).collect();
    let places: HashMap<&str, usize> =
        layouts.iter().enumerate().map(|(place, layout)| (layout.desc.name, place)).collect();
    for accessor in mlx5_fuzz::accessors() {
        let layout = &mut layouts[places[accessor.layout]];
        let field = layout.desc.field(accessor.field).expect("it is described");
        layout.accessors.push((accessor, field));
    }
    for change in mlx5_fuzz::changes() {
        layouts[places[change.layout]].changes.push(change);
    }
    layouts
});

/// A write, and with what.
#[derive(Debug, Arbitrary)]
struct Write {
    way: Way,
    field: u16,
    index: u16,
    value: u128,
    /// Cuts the value to the field, or so that it may be too wide by a bit or two.
    cut: Cut,
}

#[derive(Debug, Arbitrary)]
enum Way {
    Description,
    Set,
    With,
    TrySet,
    InPlace,
    Change,
}

#[derive(Debug, Arbitrary)]
enum Cut {
    Not,
    Field,
    BitMore,
}

#[derive(Debug, Arbitrary)]
struct Input {
    layout: u16,
    /// Bytes behind the layout, for lists.
    tail: u8,
    /// What the mailbox holds, over and over.
    fill: [u8; 8],
    writes: Vec<Write>,
}

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    let _: Result<()> = Input::arbitrary(&mut from).map(|input| encode(&input));
});

fn encode(input: &Input) {
    let layout = &LAYOUTS[usize::from(input.layout) % LAYOUTS.len()];
    let len = layout.desc.size + usize::from(input.tail);
    let mut mailbox: Vec<u8> = input.fill.iter().copied().cycle().take(len).collect();
    let mut expected = mailbox.clone();
    for write in &input.writes {
        match write.way {
            Way::Description => describe(layout.desc, write, &mut mailbox, &mut expected),
            Way::Change => change(layout, write, &mut mailbox, &mut expected),
            _ => access(layout, write, &mut mailbox, &mut expected),
        }
        assert_eq!(mailbox, expected, "{}: {write:?}", layout.desc.name);
    }
}

fn cut(value: u128, width: usize, cut: &Cut) -> u128 {
    let width = match cut {
        Cut::Not => 128,
        Cut::Field => width.min(128),
        Cut::BitMore => (width + 1).min(128),
    };
    value & u128::MAX.checked_shr(128 - width as u32).unwrap_or(0)
}

fn describe(layout: &'static LayoutDesc, write: &Write, mailbox: &mut [u8], expected: &mut [u8]) {
    if layout.fields.is_empty() {
        return;
    }
    let field = &layout.fields[usize::from(write.field) % layout.fields.len()];
    let elements = field.elements(mailbox.len());
    // One behind the last, too.
    let index = usize::from(write.index) % (elements + 1);
    let (bit, width) = (field.bit_of(index), field.width() as usize);
    let value = cut(write.value, width, &write.cut);
    let written = field.write(layout.name, mailbox, index, value);
    let is_number = !matches!(field.element, Element::Layout(_)) && width <= 128;
    if !is_number || index == elements || bit + width > mailbox.len() * 8 {
        assert_eq!(written, Ok(false), "{}.{}[{index}]", layout.name, field.name);
    } else if reference::fits(value, width) {
        assert_eq!(written, Ok(true), "{}.{}[{index}]", layout.name, field.name);
        reference::set(expected, bit, width, value);
        assert_eq!(field.read(mailbox, index), Some(value));
    } else {
        let error =
            FieldError { layout: layout.name, field: field.name, width: width as u32, value };
        assert!(error.to_string().contains(field.name));
        assert_eq!(written, Err(error));
    }
}

/// Bits of the type that an accessor takes.
fn type_bits(width: usize) -> usize {
    [8, 16, 32, 64, 128].into_iter().find(|bits| *bits >= width).expect("a number")
}

fn access(layout: &Layout, write: &Write, mailbox: &mut [u8], expected: &mut [u8]) {
    if layout.accessors.is_empty() {
        return;
    }
    let (accessor, field) = layout.accessors[usize::from(write.field) % layout.accessors.len()];
    let own = &mut mailbox[..accessor.size];
    let (bit, name) = (field.bit() as usize, (accessor.layout, accessor.field));
    match accessor.access {
        Access::Number { width, get, write: Some(by) } => {
            let width = width as usize;
            let value = cut(write.value, width, &write.cut);
            let (value, fits) = match (&write.way, by.try_set) {
                // What does not fit the type can't be passed.
                (Way::TrySet, Some(_)) => {
                    let value = value & (u128::MAX >> (128 - type_bits(width)));
                    (value, reference::fits(value, width))
                }
                _ => (value & (u128::MAX >> (128 - width)), true),
            };
            match (&write.way, by.try_set) {
                (Way::With, _) => (by.with)(own, value),
                (Way::TrySet, Some(try_set)) => {
                    let done = try_set(own, value);
                    let refused = FieldError {
                        layout: accessor.layout,
                        field: accessor.field,
                        width: width as u32,
                        value,
                    };
                    assert_eq!(done, if fits { Ok(()) } else { Err(refused) });
                }
                _ => (by.set)(own, value),
            }
            if fits {
                reference::set(expected, bit, width, value);
                assert_eq!(get(own), value, "{name:?}");
            }
        }
        Access::View { size, get, write: Some(by) } => {
            let value = mlx5_fuzz::accessor::repeated(write.value, size);
            match write.way {
                Way::With => (by.with)(own, &value),
                Way::InPlace => (by.get_mut)(own).copy_from_slice(&value),
                _ => (by.set)(own, &value),
            }
            assert_eq!(get(own), value, "{name:?}");
            for (at, byte) in value.iter().enumerate() {
                reference::set(expected, bit + at * 8, 8, (*byte).into());
            }
        }
        // What is read only has nothing that writes.
        _ => {}
    }
}

/// The field at the end of a path, and its first bit from the start of the layout.
fn resolve(layout: &'static LayoutDesc, path: &str) -> (usize, &'static FieldDesc) {
    let (mut layout, mut start) = (layout, 0);
    let mut names = path.split('.').peekable();
    loop {
        let name = names.next().expect("a path has names");
        let field = layout.field(name).unwrap_or_else(|| panic!("{}: no {path}", layout.name));
        start += field.bit() as usize;
        match field.element {
            Element::Layout(inner) if names.peek().is_some() => layout = inner,
            _ => return (start, field),
        }
    }
}

/// A paired call changes its field, and one bit of the mask.
fn change(layout: &Layout, write: &Write, mailbox: &mut [u8], expected: &mut [u8]) {
    if layout.changes.is_empty() {
        return;
    }
    let call = layout.changes[usize::from(write.field) % layout.changes.len()];
    let own = &mut mailbox[..layout.desc.size];
    let (mask, of) = resolve(layout.desc, call.mask);
    let (bit, field) = resolve(layout.desc, call.path);
    let before = own.to_vec();
    let width = field.width() as usize;
    let value = if call.is_view { write.value } else { cut(write.value, width, &Cut::Field) };
    let by_value = write.index % 2 == 0;
    (if by_value { call.changing } else { call.change })(own, value);
    if call.is_view {
        let bits = width * field.elements(layout.desc.size);
        let bytes = mlx5_fuzz::accessor::repeated(value, bits / 8);
        for (at, byte) in bytes.iter().enumerate() {
            reference::set(expected, bit + at * 8, 8, (*byte).into());
        }
    } else {
        reference::set(expected, bit, width, value);
    }
    // The bit is the mask's affair; it is set, and no other bit of the mask changes.
    let mask_width = of.width() as usize;
    let (was, is) = (get_wide(&before, mask, mask_width), get_wide(own, mask, mask_width));
    let added: usize = was.iter().zip(&is).filter(|(was, is)| was != is).count();
    assert!(added <= 1, "{}: {} bits of the mask change", call.path, added);
    assert!(was.iter().zip(&is).all(|(was, is)| !was || *is), "{}: a bit is gone", call.path);
    assert!(is.iter().any(|bit| *bit), "{}: no bit of the mask is set", call.path);
    for (at, is) in is.iter().enumerate() {
        reference::set(expected, mask + at, 1, (*is).into());
    }
}

fn get_wide(bytes: &[u8], first: usize, width: usize) -> Vec<bool> {
    (first..first + width).map(|at| reference::bit(bytes, at)).collect()
}
