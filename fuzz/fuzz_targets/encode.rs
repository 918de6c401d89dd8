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
use mlx5_prm::{Element, FieldDesc, FieldError, LayoutDesc, Place, SelectDesc, families};

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

/// Those that have paired calls, which are few.
static MODIFIED: LazyLock<Vec<&Layout>> =
    LazyLock::new(|| LAYOUTS.iter().filter(|layout| !layout.changes.is_empty()).collect());

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
    /// From 0x8000 on, of those with paired calls.
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
    let number = usize::from(input.layout);
    let layout = match number.checked_sub(0x8000) {
        Some(number) => MODIFIED[number % MODIFIED.len()],
        None => &LAYOUTS[number % LAYOUTS.len()],
    };
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

/// The masks of a command whose input this is.
fn selects(layout: &'static LayoutDesc) -> &'static [SelectDesc] {
    let mut all = families().iter().flat_map(|f| f.commands);
    all.find(|command| command.input.name == layout.name).map_or(&[], |command| command.selects)
}

/// The field that says which mask counts, and what it says when this one does.
fn variant(select: &SelectDesc, of_several: bool) -> Option<(Place, u64)> {
    const OP_MOD: Place = Place { bit: 0x30, width: 16 };
    let op_mod = (OP_MOD, u64::from(select.op_mod));
    select.when.or((of_several || select.op_mod != 0).then_some(op_mod))
}

/// A paired call changes its field, its bit of the mask, and the field that says which mask counts.
fn change(layout: &Layout, write: &Write, mailbox: &mut [u8], expected: &mut [u8]) {
    if layout.changes.is_empty() {
        return;
    }
    let call = layout.changes[usize::from(write.field) % layout.changes.len()];
    let own = &mut mailbox[..layout.desc.size];
    let (mask, of) = resolve(layout.desc, call.mask);
    let (bit, field) = resolve(layout.desc, call.path);
    let masks = selects(layout.desc);
    let select = masks.iter().find(|s| s.name == call.select).expect("it is described");
    if let Some((place, value)) = variant(select, masks.len() > 1) {
        let (first, bits) = (place.bit as usize, place.width as usize);
        let chosen = reference::get(own, first, bits);
        if chosen != value.into() {
            // Changes under another mask were made, or the field was set: a panic says so.
            if chosen != 0 || reference::get(own, mask, of.width() as usize) != 0 {
                return;
            }
            reference::set(expected, first, bits, value.into());
        }
    }
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
    // A field that counts whatever the mask says has no bit.
    let selected = select.bits.iter().find(|b| b.fields.iter().any(|f| f.path == call.path));
    if let Some(selected) = selected {
        reference::set(expected, mask + of.width() as usize - 1 - selected.bit as usize, 1, 1);
    } else {
        let always = select.always.iter().any(|place| place.bit as usize == bit);
        assert!(always, "{}: no bit of the mask is for it", call.path);
    }
}
