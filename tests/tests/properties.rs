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
use spec::{Count, Element};

/// Layouts of the tables.
const LAYOUTS: usize = 775;
/// Fields of the tables.
const FIELDS: usize = 4934;
/// Fields that are lists of open length, and so have no accessor.
const LISTS: usize = 42;

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
}

/// All fields that have an accessor.
static FIELDS_WALKED: LazyLock<Vec<Walked>> = LazyLock::new(|| {
    let table = spec::read(&spec::folder()).expect("the tables can be read");
    let sizes = spec::sizes(&table);
    let accessors: HashMap<_, _> =
        mlx5_tests::accessors().map(|a| ((a.layout, a.field), a)).collect();
    assert_eq!(accessors.len(), mlx5_tests::accessors().count(), "a field has two accessors");
    let (mut walked, mut lists) = (Vec::new(), 0);
    for layout in &table {
        let desc = layout_desc(&layout.name).expect("a layout of the tables is in the codec");
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
            match (&field.element, described.element) {
                (Element::Layout(inner), prm::Element::Layout(other)) => {
                    assert_eq!(inner, other.name, "{name}")
                }
                (Element::Bits(_), prm::Element::Bits | prm::Element::Enum(_)) => {}
                (table, codec) => panic!("{name}: {table:?} in the table, {codec:?} in the codec"),
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
            match accessor.access {
                Access::Number { width, .. } => assert_eq!(width as usize, bits, "{name}: width"),
                Access::View { size, .. } => assert_eq!(size * 8, bits, "{name}: size"),
            }
            walked.push(Walked { accessor, layout: desc, field: described, bit, bits, element });
        }
    }
    let described: usize = prm::families().iter().map(|family| family.layouts.len()).sum();
    println!(
        "{} layouts, {} fields of the tables: {} with accessors, {lists} lists",
        table.len(),
        walked.len() + lists,
        walked.len()
    );
    assert_eq!((table.len(), described), (LAYOUTS, LAYOUTS));
    assert_eq!((walked.len() + lists, lists), (FIELDS, LISTS));
    assert_eq!(accessors.len() + lists, FIELDS);
    walked
});

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
                Access::Number { width, get, set, with, try_set } => {
                    let value = value >> (128 - width);
                    write_bits(&mut expected, bit, walked.bits, value);
                    set(&mut a, value);
                    with(&mut b, value);
                    assert_eq!(get(&a), value, "{name}: read back");
                    if let Some(try_set) = try_set {
                        let mut c = mailbox.to_vec();
                        assert_eq!(try_set(&mut c, value), Ok(()), "{name}: {value:#x}");
                        assert_eq!(c, expected, "{name}: try_set_ of {value:#x}");
                    }
                }
                Access::View { size, get, get_mut, set, with } => {
                    // Other bytes than those that are there.
                    let value: Vec<u8> =
                        bytes[LARGEST - size..].iter().map(|b| b ^ value as u8).collect();
                    expected[bit / 8..bit / 8 + size].copy_from_slice(&value);
                    set(&mut a, &value);
                    with(&mut b, &value);
                    assert_eq!(get(&a), value, "{name}: read back");
                    let mut c = mailbox.to_vec();
                    get_mut(&mut c).copy_from_slice(&value);
                    assert_eq!(c, expected, "{name}: written in place");
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
        let looked_for =
            info.payload_as_str().is_some_and(|text| text.contains(" does not fit in "));
        if !looked_for || std::thread::current().id() != here {
            print(info);
        }
    }));
    let narrow = FIELDS_WALKED.iter().filter(|walked| {
        let Access::Number { width, try_set, .. } = walked.accessor.access else { return false };
        // One bit is a bool; all that fills its type has no value too wide.
        assert_eq!(try_set.is_some(), width != 1 && width != type_bits(width), "{}", walked.name());
        try_set.is_some()
    });
    let narrow: Vec<&Walked> = narrow.collect();
    println!("{} fields are narrower than their type", narrow.len());
    assert!(narrow.len() > 800);
    check(16, |bytes, number| {
        for walked in &narrow {
            let Access::Number { width, set, with, try_set: Some(try_set), .. } =
                walked.accessor.access
            else {
                panic!("filtered above")
            };
            let (name, accessor) = (walked.name(), walked.accessor);
            let extra = type_bits(width) - width;
            // Any value that the type holds, with one bit at least that the field has not.
            let value = number >> (128 - type_bits(width)) | 1 << (width + number as u32 % extra);
            let error = FieldError { layout: accessor.layout, field: accessor.field, width, value };
            let s = if width == 1 { "" } else { "s" };
            let text = format!("{name}: {value:#x} does not fit in {width} bit{s}");
            assert_eq!(error.to_string(), text);
            let mailbox = &bytes[..accessor.size];
            let mut copy = mailbox.to_vec();
            assert_eq!(try_set(&mut copy, value), Err(error));
            assert_eq!(copy, mailbox, "{name}: try_set_ changed something");
            for write in [set, with] {
                let panic = catch_unwind(AssertUnwindSafe(|| write(&mut copy, value)));
                let panic = panic.expect_err("a panic");
                assert_eq!(panic.downcast_ref::<String>(), Some(&text));
                assert_eq!(copy, mailbox, "{name}: changed before the panic");
            }
            // The description refuses the same.
            assert_eq!(walked.field.write(walked.layout.name, &mut copy, 0, value), Err(error));
            assert_eq!(copy, mailbox, "{name}: the description changed something");
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
    assert_eq!(layouts.len() + without.len(), LAYOUTS);
    assert!(without.len() < 10);
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
                    Access::Number { get, set, with, .. } => {
                        let value = get(mailbox);
                        set(&mut copy, value);
                        with(&mut copy, value);
                    }
                    Access::View { get, set, with, .. } => {
                        let value = get(mailbox);
                        set(&mut copy, value);
                        with(&mut copy, value);
                    }
                }
                assert_eq!(copy, mailbox, "{}: written back", walked.name());
            }
        }
    });
}

#[test]
fn unknown_values_of_enumerations_survive() {
    let coded = FIELDS_WALKED.iter().filter_map(|walked| match walked.field.element {
        prm::Element::Enum(names) => Some((walked, names)),
        _ => None,
    });
    let (mut fields, mut unknown) = (0, 0);
    for (walked, names) in coded {
        let Access::Number { width, get, set, .. } = walked.accessor.access else {
            panic!("{}: an enumeration that is no number", walked.name())
        };
        fields += 1;
        let last = if width >= 64 { u128::from(u64::MAX) } else { (1 << width) - 1 };
        for value in
            (0..=last.min(0xff)).chain([last]).filter(|value| names.name_of(*value).is_none())
        {
            let mut mailbox = vec![0; walked.accessor.size];
            set(&mut mailbox, value);
            assert_eq!(get(&mailbox), value, "{}", walked.name());
            let printed = format!("{:?}", (walked.accessor.view)(&mailbox).expect("its size"));
            if value != 0 {
                let text = format!("{}: {value:#x}", walked.accessor.field);
                assert!(printed.contains(&text), "{printed}: no {text}");
            }
            unknown += 1;
        }
    }
    println!("{unknown} unknown values of {fields} fields");
    assert!(fields > 100 && unknown > 1000);
}

#[test]
fn the_description_agrees_with_the_accessors() {
    check(12, |bytes, value| {
        for walked in FIELDS_WALKED.iter() {
            let (name, field) = (walked.name(), walked.field);
            let mailbox = &bytes[..walked.accessor.size];
            let mut copy = mailbox.to_vec();
            match walked.accessor.access {
                Access::Number { width, get, set, .. } => {
                    assert_eq!(field.read(mailbox, 0), Some(get(mailbox)), "{name}: read");
                    let (value, mut other) = (value >> (128 - width), mailbox.to_vec());
                    assert_eq!(
                        field.write(walked.layout.name, &mut copy, 0, value),
                        Ok(true),
                        "{name}"
                    );
                    set(&mut other, value);
                    assert_eq!(copy, other, "{name}: written");
                    assert_eq!(field.read(mailbox, 1), None, "{name}: there is one of it");
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
