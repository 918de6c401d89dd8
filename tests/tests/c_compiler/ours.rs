//! The accessors of the codec, with values as the C library has them.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};
use mlx5_prm::{FieldDesc, LayoutDesc, layout_desc};
use mlx5_tests::{Access, Accessor};

use crate::ccode::CCode;
use crate::compare::Alike;
use crate::spec::{self, Count, Element, Field, Tables};
use crate::values::{Noise, Ours};

/// The accessors of the codec.
pub(crate) struct Generated {
    fields: HashMap<(&'static str, &'static str), Known>,
    /// Counts the values written: `set_` and `with_` take turns.
    written: Cell<usize>,
}

/// A field of the codec.
struct Known {
    /// Lists have none.
    accessor: Option<&'static Accessor>,
    layout: &'static LayoutDesc,
    desc: &'static FieldDesc,
    /// The field by the tables.
    field: Field,
    /// Bits of one element, by the tables.
    bits: usize,
}

impl Generated {
    pub(crate) fn new(tables: &Tables) -> Generated {
        let sizes = spec::sizes(&tables.layouts);
        let accessors: HashMap<_, _> =
            mlx5_tests::accessors().map(|a| ((a.layout, a.field), a)).collect();
        let mut fields = HashMap::new();
        for table in &tables.layouts {
            let layout = layout_desc(&table.name).expect("a layout of the table is in the codec");
            for field in &table.fields {
                let desc = layout.field(&field.name).expect("and its fields");
                // Names that live as long as the program.
                let key = (layout.name, desc.name);
                let bits = spec::element_bits(field, &sizes) as usize;
                let accessor = accessors.get(&key).copied();
                let field = field.field.clone();
                fields.insert(key, Known { accessor, layout, desc, field, bits });
            }
        }
        Generated { fields, written: Cell::new(0) }
    }

    fn next_is_with(&self) -> bool {
        let written = self.written.get();
        self.written.set(written + 1);
        written % 2 == 1
    }
}

impl Known {
    /// Whether elements of this field are numbers of 8 bytes in the values of the C library.
    fn is_number(&self) -> bool {
        matches!(self.field.element, Element::Bits(_))
            && self.bits <= 64
            && (self.bits != 8 || self.field.count == Count::One)
    }

    /// Bytes that one element has in a value.
    fn value_bytes(&self) -> usize {
        if self.is_number() { 8 } else { self.bits / 8 }
    }

    /// Writes what has no accessor that writes: a list, or a field that is read only. Numbers go
    /// through the description of the codec, and bytes to their place.
    fn write(&self, mailbox: &mut [u8], value: &[u8]) {
        let bytes = self.value_bytes();
        for (i, element) in value.chunks(bytes.max(1)).enumerate() {
            let number = !matches!(self.desc.element, mlx5_prm::Element::Layout(_));
            if number && self.bits <= 128 {
                let value = element.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
                let written = self.desc.write(self.layout.name, mailbox, i, value);
                assert_eq!(written, Ok(true), "{}", self.field.name);
            } else {
                let at = self.desc.bit_of(i) / 8;
                mailbox[at..at + bytes].copy_from_slice(element);
            }
        }
    }

    /// Reads a list. The types that pair a mailbox with its list have no table that could be walked;
    /// tests/properties.rs compares some of them with the description that is used here.
    fn read_list(&self, mailbox: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        for i in 0..self.desc.elements(mailbox.len()) {
            match self.desc.read(mailbox, i) {
                Some(number) => {
                    value.extend_from_slice(&number.to_be_bytes()[16 - self.value_bytes()..]);
                }
                None => value.extend_from_slice(self.layout.part(self.desc, mailbox, i)),
            }
        }
        value
    }
}

/// Numbers of 8 bytes as elements of `bytes` bytes.
fn narrow(value: &[u8], bytes: usize) -> Vec<u8> {
    value.chunks(8).flat_map(|number| number[8 - bytes..].to_vec()).collect()
}

/// Elements of `bytes` bytes as numbers of 8 bytes.
fn widen(elements: &[u8], bytes: usize) -> Vec<u8> {
    elements.chunks(bytes).flat_map(|element| [&[0; 8][bytes..], element].concat()).collect()
}

impl Ours for Generated {
    fn has(&self, layout: &str, field: &str) -> bool {
        // Lists have no accessor: they are reached through the description.
        self.fields
            .get(&(layout, field))
            .is_some_and(|known| known.accessor.is_some() || known.field.count == Count::List)
    }

    fn set(&self, layout: &str, name: &str, mailbox: &mut [u8], value: &[u8]) {
        let known = &self.fields[&(layout, name)];
        match known.accessor.map(|a| (a.access, a.size)) {
            Some((Access::Number { write: Some(write), .. }, size)) => {
                let number = value.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
                let write = if self.next_is_with() { write.with } else { write.set };
                write(&mut mailbox[..size], number);
            }
            Some((Access::View { write: Some(write), .. }, size)) => {
                let narrowed = known.is_number().then(|| narrow(value, known.bits / 8));
                let write = if self.next_is_with() { write.with } else { write.set };
                write(&mut mailbox[..size], narrowed.as_deref().unwrap_or(value));
            }
            // Nothing of the codec's types writes it.
            Some(_) | None => known.write(mailbox, value),
        }
    }

    fn get(&self, layout: &str, name: &str, mailbox: &[u8]) -> Vec<u8> {
        let known = &self.fields[&(layout, name)];
        let Some(accessor) = known.accessor else { return known.read_list(mailbox) };
        let mailbox = &mailbox[..accessor.size];
        match accessor.access {
            Access::Number { get, .. } => {
                get(mailbox).to_be_bytes()[16 - known.value_bytes()..].to_vec()
            }
            Access::Packed { count, get, .. } => {
                (0..count).flat_map(|i| u64::from(get(mailbox, i)).to_be_bytes()).collect()
            }
            Access::View { get, .. } if known.is_number() => widen(get(mailbox), known.bits / 8),
            Access::View { get, .. } => get(mailbox).to_vec(),
        }
    }
}

/// Compares the fields that no macro reaches with a reference that goes bit by bit; gives their
/// number.
pub(crate) fn by_bits(c: &CCode, alike: &[Alike<'_>], ours: &Generated, seed: u64) -> usize {
    let without = alike.iter().filter(|one| !c.has(&one.theirs.name, &one.field.name));
    let mut compared = 0;
    for one in without {
        let (name, field) = (one.name(), one.field);
        let Element::Bits(width) = field.element else { panic!("{name}: a layout") };
        assert!(field.count == Count::One && width <= 128, "{name}: not one number");
        let known = &ours.fields[&(&*one.ours.name, &*field.name)];
        let Some(Accessor { access: Access::Number { get, write, .. }, size, .. }) = known.accessor
        else {
            panic!("{name}: no accessor of a number")
        };
        let bits = field.bit as usize..(field.bit + width) as usize;
        let mut noise = Noise::new(seed);
        for step in 0..1000 {
            // One bit after the other, then any.
            let value = if step < width { 1 << step } else { noise.number() >> (128 - width) };
            let mailbox = noise.bytes(*size);
            let mut expected = mailbox.clone();
            write_bits(&mut expected, bits.clone(), value);
            for write in write.iter().flat_map(|write| [write.set, write.with]) {
                let mut written = mailbox.clone();
                write(&mut written, value);
                assert_eq!(written, expected, "{name}: {value:#x} written");
            }
            let mut written = mailbox.clone();
            assert_eq!(known.desc.write(known.layout.name, &mut written, 0, value), Ok(true));
            assert_eq!(written, expected, "{name}: {value:#x} written by the description");
            assert_eq!(get(&expected), value, "{name}: read back");
            assert_eq!(get(&mailbox), read_bits(&mailbox, bits.clone()), "{name}: read");
        }
        compared += 1;
    }
    compared
}

fn read_bits(mailbox: &[u8], bits: Range<usize>) -> u128 {
    bits.fold(0, |value, bit| {
        let dword = BigEndian::read_u32(&mailbox[bit / 32 * 4..]);
        value << 1 | u128::from(dword >> (31 - bit % 32) & 1)
    })
}

fn write_bits(mailbox: &mut [u8], bits: Range<usize>, value: u128) {
    for (i, bit) in bits.rev().enumerate() {
        let dword = &mut mailbox[bit / 32 * 4..];
        let mask = 1 << (31 - bit % 32);
        let others = BigEndian::read_u32(dword) & !mask;
        BigEndian::write_u32(dword, if value >> i & 1 == 1 { others | mask } else { others });
    }
}
