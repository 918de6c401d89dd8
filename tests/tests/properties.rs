//! What holds for every field of every layout, whatever its value and whatever is around it.
//!
//! Positions are those of `prm-spec/layouts`, read by plain `toml`: nothing of the codec, and
//! nothing of its generator, says here where a field is.

mod spec;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use mlx5_prm as prm;
use mlx5_prm::{Described, FieldDesc, FieldError, LayoutDesc, SizeError, layout_desc};
use mlx5_tests::{Access, Accessor};
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestRunner};
use spec::{Count, Element, TableField};

/// A field that has an accessor.
struct Walked {
    accessor: &'static Accessor,
    layout: &'static LayoutDesc,
    field: &'static FieldDesc,
    /// First bit, by the table.
    bit: usize,
    /// Bits of all elements, by the table.
    bits: usize,
    /// Bits of one element, by the table.
    element: usize,
}

impl Walked {
    fn name(&self) -> String {
        format!("{}.{}", self.accessor.layout, self.accessor.field)
    }

    /// Writes element `index` by the description, whatever the accessors may.
    fn describe(&self, mailbox: &mut [u8], index: usize, value: u128) {
        let written = self.field.write(self.layout.name, mailbox, index, value);
        assert_eq!(written, Ok(true), "{}[{index}]: {value:#x}", self.name());
    }

    /// Writes bytes that are viewed in place: by the description where its elements are numbers.
    fn describe_bytes(&self, mailbox: &mut [u8], value: &[u8]) {
        let bytes = (self.element / 8).max(1);
        for (i, element) in value.chunks(bytes).enumerate() {
            if matches!(self.field.element, prm::Element::Layout(_)) || self.element > 128 {
                let at = self.bit / 8 + i * bytes;
                mailbox[at..at + element.len()].copy_from_slice(element);
            } else {
                self.describe(mailbox, i, element.iter().fold(0, |n, b| n << 8 | u128::from(*b)));
            }
        }
    }
}

/// What the tables say, by the reader that shares nothing with the generator.
static TABLES: LazyLock<spec::Tables> = LazyLock::new(spec::tables);

/// All fields that have an accessor.
static FIELDS_WALKED: LazyLock<Vec<Walked>> = LazyLock::new(|| {
    let sizes = spec::sizes(&TABLES.layouts);
    let enums = spec::bound_enums().expect("enumerations of fields");
    // Flags, select masks and numbers: see the test `meaning`.
    let other = |element: &prm::Element| {
        matches!(element, prm::Element::Flags(_) | prm::Element::Number(_))
    };
    let accessors: HashMap<_, _> =
        mlx5_tests::accessors().map(|a| ((a.layout, a.field), a)).collect();
    assert_eq!(accessors.len(), mlx5_tests::accessors().count(), "a field has two accessors");
    let (mut walked, mut lists, mut read_only, mut named) = (Vec::new(), 0, 0, 0);
    for layout in &TABLES.layouts {
        let desc = layout_desc(&layout.name).expect("a layout of the tables is in the codec");
        assert_eq!(desc.name, layout.name);
        assert_eq!(desc.size * 8, layout.bits as usize, "{}: size", layout.name);
        assert_eq!(desc.kind == prm::Kind::Union, layout.is_union, "{}: kind", layout.name);
        assert_eq!(desc.fields.len(), layout.fields.len(), "{}: number of fields", layout.name);
        for field in &layout.fields {
            let name = format!("{}.{}", layout.name, field.name);
            let described = desc.field(&field.name).expect("a field of the tables is in the codec");
            let element = spec::element_bits(field, &sizes) as usize;
            let (bit, width) = (described.bit() as usize, described.width() as usize);
            assert_eq!((bit, width), (field.bit as usize, element), "{name}: place");
            let count = match field.count {
                Count::One => prm::Count::One,
                Count::Array(n) => prm::Count::Array(n as u32),
                Count::List => prm::Count::List,
            };
            assert_eq!(described.count, count, "{name}: count");
            // Of lists the codec does not tell it.
            if field.count != Count::List {
                let access = described.access.map(|access| format!("{access:?}").to_uppercase());
                assert_eq!(access, field.access, "{name}: who may read and write it");
            }
            let bound =
                enums.iter().find(|(_, fields)| fields.iter().any(|f| spec::fits(f, &name)));
            if other(&described.element) {
                assert!(bound.is_none(), "{name}: it has an enumeration");
                assert!(matches!(field.element, Element::Bits(_)), "{name}: no number");
            } else {
                let bound = bound.map(|(e, _)| &**e);
                named += usize::from(same_element(&name, field, described, bound));
            }
            let elements = match field.count {
                Count::One => 1,
                Count::Array(n) => n as usize,
                Count::List => {
                    assert!(
                        !accessors.contains_key(&(desc.name, described.name)),
                        "{name}: an accessor"
                    );
                    lists += 1;
                    continue;
                }
            };
            let accessor = accessors.get(&(desc.name, described.name));
            let accessor = accessor.unwrap_or_else(|| panic!("{name} has no accessor"));
            assert_eq!(accessor.size, desc.size, "{name}: size of the layout");
            assert!(accessor.size <= LARGEST, "{name}: a larger layout than {LARGEST:#x} bytes");
            let bits = element * elements;
            let writes = match accessor.access {
                Access::Number { width, write, .. } => {
                    assert_eq!(width as usize, bits, "{name}: width");
                    write.is_some()
                }
                Access::Packed { width, count, .. } => {
                    assert_eq!((width as usize, count), (element, elements), "{name}: numbers");
                    false
                }
                Access::View { size, write, .. } => {
                    assert_eq!(size * 8, bits, "{name}: size");
                    write.is_some()
                }
            };
            assert_eq!(writes, field.access.as_deref() != Some("RO"), "{name}: can be written");
            read_only += usize::from(!writes);
            walked.push(Walked { accessor, layout: desc, field: described, bit, bits, element });
        }
    }
    let described: usize = prm::families().iter().map(|family| family.layouts.len()).sum();
    let fields = walked.len() + lists;
    println!(
        "{} layouts, {fields} fields of the tables: {} with accessors, {read_only} of them read only, \
         {lists} lists, {named} with named values",
        TABLES.layouts.len(),
        walked.len(),
    );
    assert_eq!(described, TABLES.layouts.len(), "layouts of the codec");
    assert_eq!(accessors.len(), walked.len(), "accessors of the codec");
    // The tables were read whole.
    assert!(described > 1_300 && fields > 12_000 && lists > 40 && read_only > 4_000 && named > 600);
    walked
});

/// The description of a field says what its elements are, as the tables do. Whether they have names.
fn same_element(name: &str, table: &TableField, codec: &FieldDesc, bound: Option<&str>) -> bool {
    let single = match (&table.element, table.count) {
        (Element::Bits(width), Count::One) => *width <= 32,
        (Element::Bits(width), Count::Array(_)) => *width < 8,
        _ => false,
    };
    match (&table.element, codec.element) {
        (Element::Layout(inner), prm::Element::Layout(other)) => assert_eq!(inner, other.name),
        (Element::Bits(_), prm::Element::Enum(names)) if bound.is_some() => {
            assert_eq!(Some(names.name), bound, "{name}: enumeration");
        }
        (Element::Bits(_), prm::Element::Enum(names)) => {
            let mut ours: Vec<(String, u64)> =
                names.values.iter().map(|(n, name)| (name.to_string(), u64::from(*n))).collect();
            let mut theirs = table.values.clone();
            ours.sort();
            theirs.sort();
            assert_eq!(ours, theirs, "{name}: named values");
            assert!(!ours.is_empty(), "{name}: no named values");
        }
        // Numbers that are viewed in place have none.
        (Element::Bits(_), prm::Element::Bits) => assert!(
            !single || (table.values.is_empty() && bound.is_none()),
            "{name}: names of values are not in the codec"
        ),
        (table, codec) => panic!("{name}: {table:?} in the table, {codec:?} in the codec"),
    }
    matches!(codec.element, prm::Element::Enum(_))
}

/// Bytes enough for the largest layout.
const LARGEST: usize = 0x4010;

/// Bytes that a seed grows into. When a property fails the seed is printed, and not the bytes.
struct Bytes {
    seed: u64,
    bytes: Vec<u8>,
}

impl Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bytes of seed {:#x}", self.seed)
    }
}

/// All zeros, all ones, or by the generator SplitMix64.
fn bytes() -> impl Strategy<Value = Bytes> {
    any::<u64>().prop_map(|seed| {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let bytes = match seed {
            0 => vec![0; LARGEST],
            1 => vec![0xff; LARGEST],
            _ => (0..LARGEST / 8).flat_map(|_| next().to_be_bytes()).collect(),
        };
        Bytes { seed, bytes }
    })
}

/// Runs a property over mailboxes of any bytes, zeros and ones first, and a number of any value.
fn check(cases: u32, property: impl Fn(&[u8], u128)) {
    property(&[0; LARGEST], u128::MAX);
    property(&[0xff; LARGEST], 0);
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
    TestRunner::new(config)
        .run(&(bytes(), any::<u128>()), |(bytes, value)| {
            property(&bytes.bytes, value);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

/// The bits of a number written one by one.
fn write_bits(mailbox: &mut [u8], bit: usize, bits: usize, value: u128) {
    for i in 0..bits {
        let (byte, mask) = ((bit + i) / 8, 0x80 >> ((bit + i) % 8));
        if value >> (bits - 1 - i) & 1 == 1 {
            mailbox[byte] |= mask
        } else {
            mailbox[byte] &= !mask
        }
    }
}

/// Bits of the type that an accessor takes.
fn type_bits(width: u32) -> u32 {
    [8, 16, 32, 64, 128].into_iter().find(|bits| *bits >= width).expect("not wider than 128 bits")
}

#[test]
fn what_is_set_is_read_and_no_other_bit_changes() {
    check(24, |bytes, value| {
        for walked in FIELDS_WALKED.iter() {
            let (name, bit) = (walked.name(), walked.bit);
            let mailbox = &bytes[..walked.accessor.size];
            let (mut expected, mut a, mut b) =
                (mailbox.to_vec(), mailbox.to_vec(), mailbox.to_vec());
            match walked.accessor.access {
                Access::Number { width, get, write } => {
                    let value = value >> (128 - width);
                    write_bits(&mut expected, bit, walked.bits, value);
                    assert_eq!(get(&expected), value, "{name}: read back");
                    match write {
                        Some(write) => {
                            (write.set)(&mut a, value);
                            (write.with)(&mut b, value);
                        }
                        None => {
                            walked.describe(&mut a, 0, value);
                            b.clone_from(&expected);
                        }
                    }
                    if let Some(try_set) = write.and_then(|write| write.try_set) {
                        let mut c = mailbox.to_vec();
                        assert_eq!(try_set(&mut c, value), Ok(()), "{name}: {value:#x}");
                        assert_eq!(c, expected, "{name}: try_set_ of {value:#x}");
                    }
                }
                Access::Packed { width, count, get } => {
                    let mask = (1 << width) - 1;
                    let values = (0..count).map(|i| (value >> (i * width as usize % 96)) & mask);
                    for (i, value) in values.clone().enumerate() {
                        write_bits(&mut expected, bit + i * walked.element, walked.element, value);
                        walked.describe(&mut a, i, value);
                    }
                    for (i, value) in values.enumerate() {
                        assert_eq!(u128::from(get(&expected, i)), value, "{name}[{i}]: read back");
                    }
                    b.clone_from(&expected);
                }
                Access::View { size, get, write } => {
                    // Other bytes than those that are there.
                    let value: Vec<u8> =
                        bytes[LARGEST - size..].iter().map(|b| b ^ value as u8).collect();
                    expected[bit / 8..bit / 8 + size].copy_from_slice(&value);
                    assert_eq!(get(&expected), value, "{name}: read back");
                    if let Some(write) = write {
                        (write.set)(&mut a, &value);
                        (write.with)(&mut b, &value);
                        let mut c = mailbox.to_vec();
                        (write.get_mut)(&mut c).copy_from_slice(&value);
                        assert_eq!(c, expected, "{name}: written in place");
                    } else {
                        walked.describe_bytes(&mut a, &value);
                        b.clone_from(&expected);
                    }
                }
            }
            assert_eq!(a, expected, "{name}: set_");
            assert_eq!(b, expected, "{name}: with_");
        }
    });
}

#[test]
fn a_value_too_wide_is_refused_and_nothing_changes() {
    // The panics that are looked for are not to be printed; all others are.
    let (print, here) = (std::panic::take_hook(), std::thread::current().id());
    std::panic::set_hook(Box::new(move |info| {
        let looked_for = info.payload_as_str().is_some_and(|text| {
            text.contains(" does not fit in ") || text == "there is no such element"
        });
        if !looked_for || std::thread::current().id() != here {
            print(info);
        }
    }));
    let narrow = FIELDS_WALKED.iter().filter(|walked| match walked.accessor.access {
        Access::Number { width, write, .. } => {
            let refuses = write.map(|write| write.try_set.is_some());
            match walked.field.element {
                // One bit is a bool; all that fills its type has no value too wide.
                prm::Element::Bits => {
                    let narrow = width != 1 && width != type_bits(width);
                    assert!(refuses.is_none_or(|refuses| refuses == narrow), "{}", walked.name());
                    narrow
                }
                // The number of an object fits.
                prm::Element::Number(_) => {
                    assert!(refuses.is_none_or(|refuses| !refuses), "{}", walked.name());
                    false
                }
                // The type is as wide as the widest field that has it.
                _ => refuses.unwrap_or(width != type_bits(width)),
            }
        }
        Access::Packed { .. } => true,
        Access::View { .. } => false,
    });
    let narrow: Vec<&Walked> = narrow.collect();
    let writes =
        |walked: &&&Walked| matches!(walked.accessor.access, Access::Number { write: Some(_), .. });
    let writable = narrow.iter().filter(writes).count();
    println!("{} fields are narrower than their type, {writable} can be written", narrow.len());
    assert!(writable > 800 && narrow.len() > writable);
    for walked in FIELDS_WALKED.iter() {
        if let Access::Packed { count, get, .. } = walked.accessor.access {
            let behind = catch_unwind(|| get(&vec![0; walked.accessor.size], count));
            behind.expect_err("there is no element behind the last");
        }
    }
    check(16, |bytes, number| {
        for walked in &narrow {
            let (name, accessor) = (walked.name(), walked.accessor);
            let width = walked.element as u32;
            let wide = type_bits(width + 1);
            // Any value that the type holds, with one bit at least that the field has not.
            let value = number >> (128 - wide) | 1 << (width + number as u32 % (wide - width));
            let error = FieldError { layout: accessor.layout, field: accessor.field, width, value };
            let s = if width == 1 { "" } else { "s" };
            let text = format!("{name}: {value:#x} does not fit in {width} bit{s}");
            assert_eq!(error.to_string(), text);
            let mailbox = &bytes[..accessor.size];
            let mut copy = mailbox.to_vec();
            if let Access::Number { write: Some(write), .. } = accessor.access {
                let try_set = write.try_set.expect("looked at above");
                assert_eq!(try_set(&mut copy, value), Err(error));
                assert_eq!(copy, mailbox, "{name}: try_set_ changed something");
                for write in [write.set, write.with] {
                    let panic = catch_unwind(AssertUnwindSafe(|| write(&mut copy, value)));
                    let panic = panic.expect_err("a panic");
                    assert_eq!(panic.downcast_ref::<String>(), Some(&text));
                    assert_eq!(copy, mailbox, "{name}: changed before the panic");
                }
            }
            // The description refuses the same, for every element.
            for i in 0..walked.field.elements(accessor.size) {
                assert_eq!(walked.field.write(walked.layout.name, &mut copy, i, value), Err(error));
                assert_eq!(copy, mailbox, "{name}: the description changed something");
            }
        }
    });
}

/// One accessor of every layout that has one, and all others of it.
fn by_layout() -> BTreeMap<&'static str, Vec<&'static Walked>> {
    let mut layouts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for walked in FIELDS_WALKED.iter() {
        layouts.entry(walked.accessor.layout).or_default().push(walked);
    }
    layouts
}

#[test]
fn any_bytes_are_viewed_printed_and_kept() {
    let layouts = by_layout();
    let without: Vec<&str> = prm::families()
        .iter()
        .flat_map(|family| family.layouts)
        .map(|layout| layout.name)
        .filter(|name| !layouts.contains_key(name))
        .collect();
    println!("{} layouts viewed; without an accessor: {without:?}", layouts.len());
    // Those have nothing but lists, or nothing at all.
    let no_accessor = TABLES
        .layouts
        .iter()
        .filter(|layout| layout.fields.iter().all(|field| field.count == Count::List));
    assert_eq!(without.len(), no_accessor.count());
    assert_eq!(layouts.len() + without.len(), TABLES.layouts.len());
    check(12, |bytes, number| {
        for (name, fields) in &layouts {
            let (view, size) = (fields[0].accessor.view, fields[0].accessor.size);
            let mailbox = &bytes[..size];
            let viewed = view(mailbox).expect("bytes as many as the layout has");
            assert_eq!(viewed.copied(), mailbox, "{name}");
            let printed = format!("{viewed:?}{viewed:#?}");
            // A union says so before its name.
            let named = printed.strip_prefix("union ").unwrap_or(&printed);
            assert!(named.starts_with(name), "{printed}");
            for given in [0, size.saturating_sub(1), size + 1, number as usize % LARGEST] {
                let expected = SizeError { layout: name, needed: size, element: 0, given };
                match view(&bytes[..given]) {
                    Ok(_) => assert_eq!(given, size, "{name}: a view of a wrong length"),
                    Err(error) => assert_eq!(error, expected),
                }
            }
            // All fields read and written back are no change, be reserved bits set or not.
            let mut copy = mailbox.to_vec();
            for walked in fields {
                match walked.accessor.access {
                    Access::Number { get, write, .. } => {
                        let value = get(mailbox);
                        match write {
                            Some(write) => {
                                (write.set)(&mut copy, value);
                                (write.with)(&mut copy, value);
                            }
                            None => walked.describe(&mut copy, 0, value),
                        }
                    }
                    Access::Packed { count, get, .. } => {
                        for i in 0..count {
                            walked.describe(&mut copy, i, get(mailbox, i).into());
                        }
                    }
                    Access::View { get, write, .. } => {
                        let value = get(mailbox);
                        match write {
                            Some(write) => {
                                (write.set)(&mut copy, value);
                                (write.with)(&mut copy, value);
                            }
                            None => walked.describe_bytes(&mut copy, value),
                        }
                    }
                }
                assert_eq!(copy, mailbox, "{}: written back", walked.name());
            }
        }
    });
}

#[test]
fn values_of_enumerations_are_named_and_unknown_ones_survive() {
    let coded = FIELDS_WALKED.iter().filter_map(|walked| match walked.field.element {
        prm::Element::Enum(names) => Some((walked, names)),
        _ => None,
    });
    let (mut fields, mut named, mut unknown) = (0, 0, 0);
    for (walked, names) in coded {
        let width = walked.element;
        fields += 1;
        let last = if width >= 64 { u128::from(u64::MAX) } else { (1 << width) - 1 };
        let known = names.values.iter().map(|(value, _)| u128::from(*value));
        // Of an array the last element, for all are alike.
        let index = walked.field.elements(walked.accessor.size) - 1;
        for value in (0..=last.min(0xff)).chain([last]).chain(known) {
            let mut mailbox = vec![0; walked.accessor.size];
            let got = match walked.accessor.access {
                Access::Number { get, write, .. } => {
                    match write {
                        Some(write) => (write.set)(&mut mailbox, value),
                        None => walked.describe(&mut mailbox, 0, value),
                    }
                    get(&mailbox)
                }
                Access::Packed { get, .. } => {
                    walked.describe(&mut mailbox, index, value);
                    get(&mailbox, index).into()
                }
                Access::View { .. } => {
                    walked.describe(&mut mailbox, index, value);
                    walked.field.read(&mailbox, index).expect("a number")
                }
            };
            assert_eq!(got, value, "{}", walked.name());
            // One number may have two names: then the first counts.
            let name = names.name_of(value);
            let first = names.values.iter().find(|(v, _)| u128::from(*v) == value);
            assert_eq!(name, first.map(|(_, name)| *name), "{}: {value:#x}", walked.name());
            *(if name.is_some() { &mut named } else { &mut unknown }) += 1;
            if value != 0 {
                let printed = format!("{:?}", (walked.accessor.view)(&mailbox).expect("its size"));
                let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
                let zeros = "0x0, ".repeat(index);
                let text = match walked.field.count {
                    prm::Count::One => format!("{}: {value:#x}{name}", walked.field.name),
                    _ => format!("{}: [{zeros}{value:#x}{name}]", walked.field.name),
                };
                // Zeros may have a name of their own.
                let zero = names.name_of(0).map(|name| format!("0x0 ({name}), "));
                let text = match zero {
                    Some(zero) => text.replace("0x0, ", &zero),
                    None => text,
                };
                assert!(printed.contains(&text), "{printed}: no {text}");
            }
        }
    }
    println!("{named} named and {unknown} unknown values of {fields} fields");
    assert!(fields > 600 && named > 5_000 && unknown > 10_000);
}

#[test]
fn the_description_agrees_with_the_accessors() {
    check(12, |bytes, value| {
        for walked in FIELDS_WALKED.iter() {
            let (name, field) = (walked.name(), walked.field);
            let mailbox = &bytes[..walked.accessor.size];
            let mut copy = mailbox.to_vec();
            match walked.accessor.access {
                Access::Number { width, get, write } => {
                    assert_eq!(field.read(mailbox, 0), Some(get(mailbox)), "{name}: read");
                    let (value, mut other) = (value >> (128 - width), mailbox.to_vec());
                    walked.describe(&mut copy, 0, value);
                    match write {
                        Some(write) => (write.set)(&mut other, value),
                        None => write_bits(&mut other, walked.bit, walked.bits, value),
                    }
                    assert_eq!(copy, other, "{name}: written");
                    assert_eq!(field.read(mailbox, 1), None, "{name}: there is one of it");
                }
                Access::Packed { width, count, get } => {
                    let (mask, mut other) = ((1 << width) - 1, mailbox.to_vec());
                    for i in 0..count {
                        let read = field.read(mailbox, i);
                        assert_eq!(read, Some(get(mailbox, i).into()), "{name}[{i}]: read");
                        let (value, at) =
                            (value >> (i % 64) & mask, walked.bit + i * walked.element);
                        walked.describe(&mut copy, i, value);
                        write_bits(&mut other, at, walked.element, value);
                    }
                    assert_eq!(copy, other, "{name}: written");
                    assert_eq!(field.read(mailbox, count), None, "{name}: behind it");
                }
                Access::View { get, .. } => {
                    let number =
                        !matches!(field.element, prm::Element::Layout(_)) && walked.element <= 128;
                    for (i, element) in get(mailbox).chunks((walked.element / 8).max(1)).enumerate()
                    {
                        // Of a layout that a list may follow, the part goes on to the end.
                        let part = walked.layout.part(field, mailbox, i);
                        assert_eq!(part.get(..element.len()), Some(element), "{name}[{i}]");
                        assert!(part.len() == element.len() || !number, "{name}");
                        let expected =
                            element.iter().take(16).fold(0, |n, b| n << 8 | u128::from(*b));
                        assert_eq!(
                            field.read(mailbox, i),
                            number.then_some(expected),
                            "{name}[{i}]"
                        );
                        let written = field.write(walked.layout.name, &mut copy, i, expected);
                        assert_eq!(written, Ok(number), "{name}[{i}]");
                    }
                    assert_eq!(copy, mailbox, "{name}: written back");
                    assert_eq!(
                        field.read(mailbox, field.elements(mailbox.len())),
                        None,
                        "{name}: behind it"
                    );
                }
            }
            // What ends before the field has no value, and nothing is written to it.
            let short = &mut copy[..(walked.bit + walked.bits).saturating_sub(1) / 8];
            assert_eq!(
                field.read(short, field.elements(0).saturating_sub(1)),
                None,
                "{name}: short"
            );
        }
    });
}

/// Views any number of bytes as a layout with a list; prints them.
fn any_length<T: ?Sized + Debug>(
    bytes: &[u8],
    desc: &'static LayoutDesc,
    element: usize,
    view: impl Fn(&[u8]) -> Result<&T, SizeError>,
    as_bytes: impl Fn(&T) -> &[u8],
) {
    let (needed, given) = (desc.size, bytes.len());
    let whole = given >= needed && (given - needed).is_multiple_of(element);
    match view(bytes) {
        Ok(viewed) => {
            assert!(whole, "{}: {given} bytes viewed", desc.name);
            assert_eq!(as_bytes(viewed), bytes, "{}", desc.name);
            assert!(format!("{viewed:?}").starts_with(desc.name));
        }
        Err(error) => {
            assert!(!whole, "{}: {given} bytes refused", desc.name);
            assert_eq!(error, SizeError { layout: desc.name, needed, element, given });
        }
    }
}

macro_rules! any_length {
    ($bytes:expr, $at:expr; $($Type:ident $size:literal,)*) => { $({
        type Type = prm::$Type;
        let desc = <Type as Described>::DESC;
        // Around the layout's own size, where the list begins, and anywhere.
        for length in [desc.size + $at % 70, desc.size + $at / 70 % 30 * $size, $at % LARGEST] {
            any_length(&$bytes[..length.min(LARGEST)], desc, $size, Type::view, Type::as_bytes);
        }
    })* };
}

#[test]
fn any_bytes_are_viewed_with_their_list() {
    check(256, |bytes, value| {
        let at = value as usize >> 8;
        any_length!(bytes, at;
            ModifyRqtInWithRqNum 4, ModifyRqtInWithRqVhca 8, QueryRqtOutWithRqNum 4, QueryRqtOutWithRqVhca 8,
            CreateRqtInWithRqNum 4, RqtcWithRqNum 4, ModifyCqInWithPas 8, QueryCqOutWithPas 8,
            CreateCqInWithPas 8, CreateMkeyInWithKlmPasMtt 4, QueryQpOutWithQpcExtAndPasListPas 8,
            CreateQpInWithPas 8, CreateEqInWithPas 8, QueryEqOutWithPas 8, QuerySqOutWithPas 8,
            CreateRqInWithPas 8, CreateXrcSrqInWithPas 8, CreateUmemInWithMtt 8, McdaRegWithData 4,
            MtrcStdbWithStringDbData 1, AccessRegisterInWithRegisterData 4, FpgaAccessRegWithData 1,
            SetFteInWithDestination 16, QueryFlowCounterOutWithFlowStatistics 16,
            ModifyNicVportContextInWithCurrentUcMacAddress 8, QueryVuidOutWithVuid 128, ManagePagesInWithPas 8,
        );
        // Lists that begin before the end of their layout: no length is refused.
        let some = &bytes[..at % LARGEST];
        for (from, list, element) in [
            (
                0x10,
                prm::QueryEswFunctionsOut::net_function_params(some).len(),
                size_of::<prm::NetFunctionParams>(),
            ),
            (0x110, prm::QueryQpOut::qp_pas_list_pas(some).len(), size_of::<prm::CmdPas>()),
        ] {
            assert_eq!(list, some.len().saturating_sub(from) / element);
        }
    });
}

#[test]
fn lists_are_what_their_description_says() {
    check(256, |bytes, value| {
        let n = value as usize % 20;
        let list = |desc: &'static LayoutDesc, field| desc.field(field).expect("a list");

        let bytes_of = |size: usize, element: usize| &bytes[..size + n * element];
        let mailbox = bytes_of(prm::ModifyCqIn::SIZE, 8);
        let pas = list(prm::ModifyCqIn::DESC, "pas");
        let view = prm::ModifyCqInWithPas::view(mailbox).expect("its size");
        assert_eq!((view.tail.len(), pas.elements(mailbox.len())), (n, n));
        for (i, entry) in view.tail.iter().enumerate() {
            assert_eq!(pas.read(mailbox, i), Some(entry.get().into()));
        }
        assert_eq!(pas.read(mailbox, n), None);

        let mailbox = bytes_of(prm::CreateMkeyIn::SIZE, 4);
        let mtt = list(prm::CreateMkeyIn::DESC, "klm_pas_mtt");
        let view = prm::CreateMkeyInWithKlmPasMtt::view(mailbox).expect("its size");
        assert_eq!((view.tail.len(), mtt.elements(mailbox.len())), (n, n));
        for (i, entry) in view.tail.iter().enumerate() {
            assert_eq!(mtt.read(mailbox, i), Some(entry.get().into()));
        }

        let mailbox = bytes_of(prm::Rqtc::SIZE, 4);
        let rqs = list(prm::Rqtc::DESC, "rq_num");
        let view = prm::RqtcWithRqNum::view(mailbox).expect("its size");
        assert_eq!((view.tail.len(), rqs.elements(mailbox.len())), (n, n));
        for (i, entry) in view.tail.iter().enumerate() {
            assert_eq!(view.head.as_bytes(), &mailbox[..prm::Rqtc::SIZE]);
            assert_eq!(prm::Rqtc::DESC.part(rqs, mailbox, i), entry.as_bytes());
        }
    });
}
