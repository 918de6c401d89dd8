//! The check against the outside: do the tables, and the accessors made from them, agree with what
//! gcc makes of the public kernel headers?
//!
//! * `dwarf` has gcc compile the headers and reads the layouts back out of the debug information,
//!   so that the compiler, and no parser of ours, enumerates the structures and fields;
//! * `spec` reads the tables, by code that shares nothing with the generator;
//! * `compare` compares the two;
//! * `ccode` is a C library, generated from the headers, that sets and gets every field with the
//!   DEVX macros of the installed `infiniband/mlx5dv.h`;
//! * `values` drives that library and the generated accessors side by side over the same mailboxes.
//!
//! Nothing here is skipped: where gcc, headers or macros are missing, the tests fail and say what
//! to install. `MLX5_HEADERS` names a further `include/linux/mlx5` to compare with, and
//! `MLX5_HEADERS_SERIES` the kernel series it is of.

mod ccode;
mod compare;
mod dwarf;
#[path = "../headers/mod.rs"]
mod headers;
#[path = "../spec/mod.rs"]
mod spec;
mod values;

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use byteorder::{BigEndian, ByteOrder};
use mlx5_prm::{FieldDesc, LayoutDesc, layout_desc};
use mlx5_tests::{Access, Accessor};

use ccode::CCode;
use compare::{compare_layouts, fields_alike};
use dwarf::c_layouts;
use headers::{Headers, INSTALL, headers};
use spec::{Count, Element, Field, TableLayout};
use values::{Noise, Ours, compare_values};

/// A struct or union of the C headers, as gcc laid it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CLayout {
    /// The name of the layout: the tag without `mlx5_ifc_` and `_bits`; of a type written in place,
    /// `outer_member`.
    pub(crate) name: String,
    /// The C tag; of a type written in place, the tag of the outer one, a dot, and the member.
    pub(crate) tag: String,
    /// An expression that names the type in C.
    pub(crate) c_type: String,
    /// Whether it is a union.
    pub(crate) is_union: bool,
    /// Whether it is a type without a tag, written in place with a member name.
    pub(crate) inline: bool,
    /// The size in bits.
    pub(crate) bits: u64,
    /// The fields that are not reserved, in the order of the header; members of unnamed inner
    /// structs and unions are among them.
    pub(crate) fields: Vec<Field>,
    /// How many reserved fields it has.
    pub(crate) reserved: usize,
}

fn layouts_of(headers: &Headers) -> Vec<CLayout> {
    c_layouts(&headers.dir).unwrap_or_else(|e| panic!("{e}\n{INSTALL}"))
}

fn library(headers: &Headers, layouts: &[CLayout]) -> CCode {
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    CCode::build(layouts, &headers.dir, scratch.path()).unwrap_or_else(|e| panic!("{e}\n{INSTALL}"))
}

fn table() -> Vec<TableLayout> {
    spec::read(&spec::folder()).expect("the tables can be read")
}

/// `MLX5_TEST_SEED` (decimal) repeats a run.
fn seed() -> u64 {
    match std::env::var("MLX5_TEST_SEED") {
        Ok(seed) => seed.parse().expect("MLX5_TEST_SEED is a decimal number"),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64),
    }
}

fn known_file(series: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("known-differences")
        .join(format!("linux-{series}.txt"))
}

/// The differences that are known for a kernel series: none without a list.
fn known_differences(series: Option<&str>) -> Vec<String> {
    let Some(text) = series.and_then(|series| std::fs::read_to_string(known_file(series)).ok())
    else {
        return Vec::new();
    };
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn renew(series: &str, found: &[String]) {
    let mut text = format!(
        "# Where the headers of Linux {series} differ from the tables, which are those of a newer kernel.\n\
         #\n\
         # A field that only the newer headers have is no difference. What is listed here was renamed,\n\
         # resized or taken away since. The test c_compiler finds exactly these lines, or fails; it\n\
         # writes this file anew when UPDATE_KNOWN_DIFFERENCES=1 is set.\n\n"
    );
    for line in found {
        text += line;
        text.push('\n');
    }
    let file = known_file(series);
    std::fs::write(&file, text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    println!("{} written anew: {} differences", file.display(), found.len());
}

#[test]
fn gcc_agrees_on_every_layout_and_value() {
    let table = table();
    let ours = Generated::new(&table);
    let mut failures = Vec::new();
    for headers in headers() {
        let series = headers.series.as_deref();
        println!("{} (series {})", headers.dir.display(), series.unwrap_or("not known"));
        let layouts = layouts_of(&headers);
        let report = compare_layouts(&layouts, &table);
        print!("{report}");
        assert!(
            report.structures > 500 && report.compared > 3000,
            "the headers were not read whole"
        );

        let c = library(&headers, &layouts);
        println!("C library: {} fields by macros", c.fields());
        for field in c.odd_qwords() {
            println!("  at an odd dword, which DEVX_SET64 misses; compared as bytes: {field}");
        }
        assert!(
            c.without_macro().len() <= 2,
            "fields that no macro reaches: {:?}",
            c.without_macro()
        );
        let values = compare_values(&c, &layouts, &table, &ours, seed(), 20);
        print!("{values}");
        let by_bits = by_bits(&c, &layouts, &table, &ours);
        println!("  {} fields without a macro compared bit by bit", by_bits);
        assert_eq!(by_bits, values.without_macro.len());
        assert_eq!(values.fields + by_bits, fields_alike(&layouts, &table).len());
        assert!(values.not_in_ours.is_empty(), "no accessors: {:?}", values.not_in_ours);
        assert_eq!(
            values.differing, 0,
            "values differ; MLX5_TEST_SEED={} repeats this",
            values.seed
        );

        let mut known = known_differences(series);
        if let Some(series) = series
            && std::env::var_os("UPDATE_KNOWN_DIFFERENCES").is_some_and(|set| set == "1")
        {
            renew(series, &report.differences);
            known = known_differences(Some(series));
        }
        let new = report
            .differences
            .iter()
            .filter(|line| !known.contains(line))
            .map(|line| ("new", line));
        let gone = known
            .iter()
            .filter(|line| !report.differences.contains(line))
            .map(|line| ("not there", line));
        let changed: Vec<String> =
            new.chain(gone).map(|(what, line)| format!("  {what}: {line}")).collect();
        if !changed.is_empty() || known.len() != report.differences.len() {
            let advice = match series {
                Some(series) => format!(
                    "if the headers are right to differ, renew {} by running this test with \
                     UPDATE_KNOWN_DIFFERENCES=1",
                    known_file(series).display()
                ),
                None => {
                    "name their kernel series in MLX5_HEADERS_SERIES to use its list".to_owned()
                }
            };
            failures.push(format!("{}:\n{}\n{advice}", headers.dir.display(), changed.join("\n")));
        }
    }
    assert!(
        failures.is_empty(),
        "differences other than the known ones\n{}",
        failures.join("\n\n")
    );
}

/// Compares the fields no macro reaches with a reference that goes bit by bit; gives their number.
fn by_bits(c: &CCode, layouts: &[CLayout], table: &[TableLayout], ours: &Generated) -> usize {
    let mut compared = 0;
    for (layout, field) in fields_alike(layouts, table) {
        if c.has(&layout.name, &field.name) {
            continue;
        }
        let Element::Bits(width) = field.element else { panic!("{}: a layout", field.name) };
        assert!(field.count == Count::One && width <= 128, "{}: not one number", field.name);
        let (accessor, ..) = ours.fields[&(layout.name.as_str(), field.name.as_str())];
        let Some(Accessor { access: Access::Number { get, set, with, .. }, size, .. }) = accessor
        else {
            panic!("{}: no accessor of a number", field.name)
        };
        let bits = field.bit as usize..(field.bit + width) as usize;
        let mut noise = Noise::new(seed());
        for step in 0..1000 {
            // One bit after the other, then any.
            let value = if step < width { 1 << step } else { noise.number() >> (128 - width) };
            let mailbox = noise.bytes(*size);
            let (mut expected, mut a, mut b) = (mailbox.clone(), mailbox.clone(), mailbox.clone());
            write_bits(&mut expected, bits.clone(), value);
            set(&mut a, value);
            with(&mut b, value);
            assert_eq!((&a, &b), (&expected, &expected), "{}: {value:#x} written", field.name);
            assert_eq!(get(&a), value, "{}: read back", field.name);
            assert_eq!(get(&mailbox), read_bits(&mailbox, bits.clone()), "{}: read", field.name);
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

/// The accessors of the codec, with values as the C library has them.
struct Generated {
    /// The accessor if there is one, the field, and bits of one element.
    fields: HashMap<(&'static str, &'static str), (Option<&'static Accessor>, Field, usize)>,
    /// Counts the values written: `set_` and `with_` take turns.
    written: Cell<usize>,
}

impl Generated {
    fn new(table: &[TableLayout]) -> Generated {
        let sizes = spec::sizes(table);
        let accessors: HashMap<_, _> =
            mlx5_tests::accessors().map(|a| ((a.layout, a.field), a)).collect();
        let mut fields = HashMap::new();
        for layout in table {
            let described =
                layout_desc(&layout.name).expect("a layout of the table is in the codec");
            for field in &layout.fields {
                // Names that live as long as the program.
                let name = described.field(&field.name).expect("and its fields").name;
                let key = (described.name, name);
                let bits = spec::element_bits(field, &sizes) as usize;
                fields.insert(key, (accessors.get(&key).copied(), field.clone(), bits));
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

/// Whether elements of this field are numbers of 8 bytes in the values of the C library.
fn is_number(field: &Field, bits: usize) -> bool {
    matches!(field.element, Element::Bits(_))
        && bits <= 64
        && (bits != 8 || field.count == Count::One)
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
        let Some((accessor, field, _)) = self.fields.get(&(layout, field)) else { return false };
        accessor.is_some() || field.count == Count::List
    }

    fn set(&self, layout: &str, name: &str, mailbox: &mut [u8], value: &[u8]) {
        let (accessor, field, bits) = &self.fields[&(layout, name)];
        let Some(accessor) = accessor else { return set_list(layout, name, mailbox, value) };
        let mailbox = &mut mailbox[..accessor.size];
        match accessor.access {
            Access::Number { set, with, .. } => {
                let number = value.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
                if self.next_is_with() { with(mailbox, number) } else { set(mailbox, number) }
            }
            Access::View { set, with, .. } => {
                let value =
                    if is_number(field, *bits) { narrow(value, bits / 8) } else { value.to_vec() };
                if self.next_is_with() { with(mailbox, &value) } else { set(mailbox, &value) }
            }
        }
    }

    fn get(&self, layout: &str, name: &str, mailbox: &[u8]) -> Vec<u8> {
        let (accessor, field, bits) = &self.fields[&(layout, name)];
        let Some(accessor) = accessor else { return get_list(layout, name, mailbox) };
        let mailbox = &mailbox[..accessor.size];
        match accessor.access {
            Access::Number { get, .. } => {
                let bytes = if *bits <= 64 { 8 } else { bits / 8 };
                get(mailbox).to_be_bytes()[16 - bytes..].to_vec()
            }
            Access::View { get, .. } if is_number(field, *bits) => widen(get(mailbox), bits / 8),
            Access::View { get, .. } => get(mailbox).to_vec(),
        }
    }
}

// Lists go through the description of the codec at run time: the types that pair a mailbox with its
// list have no table that could be walked. tests/properties.rs compares some of them with it.

fn list(layout: &str, name: &str) -> (&'static LayoutDesc, &'static FieldDesc) {
    let layout = layout_desc(layout).expect("a layout of the codec");
    (layout, layout.field(name).expect("a field of it"))
}

/// Bytes that one element has in a value, and whether it is a number there.
fn list_element(field: &FieldDesc) -> (usize, bool) {
    let bits = field.width() as usize;
    let number = !matches!(field.element, mlx5_prm::Element::Layout(_)) && bits <= 64 && bits != 8;
    (if number { 8 } else { bits / 8 }, number)
}

fn set_list(layout: &str, name: &str, mailbox: &mut [u8], value: &[u8]) {
    let (layout, field) = list(layout, name);
    let (bytes, number) = list_element(field);
    for (i, element) in value.chunks(bytes.max(1)).enumerate() {
        if number || field.width() <= 128 && !matches!(field.element, mlx5_prm::Element::Layout(_))
        {
            let value = element.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
            assert_eq!(field.write(layout.name, mailbox, i, value), Ok(true), "{}", field.name);
        } else {
            let at = field.bit_of(i) / 8;
            mailbox[at..at + bytes].copy_from_slice(element);
        }
    }
}

fn get_list(layout: &str, name: &str, mailbox: &[u8]) -> Vec<u8> {
    let (layout, field) = list(layout, name);
    let (bytes, _) = list_element(field);
    let mut value = Vec::new();
    for i in 0..field.elements(mailbox.len()) {
        match field.read(mailbox, i) {
            Some(number) => value.extend_from_slice(&number.to_be_bytes()[16 - bytes..]),
            None => value.extend_from_slice(layout.part(field, mailbox, i)),
        }
    }
    value
}

/// The check itself finds what is wrong: each layout of another size and kind, each field moved or
/// resized.
#[test]
fn wrong_tables_are_found() {
    let table = table();
    for headers in headers() {
        let layouts = layouts_of(&headers);
        let mut wrong = 0;
        for right in &table {
            let one: Vec<CLayout> =
                layouts.iter().filter(|c| c.name == right.name).cloned().collect();
            let right = std::slice::from_ref(right);
            // What differs already can't show that one more difference is found.
            if one.is_empty() || !compare_layouts(&one, right).differences.is_empty() {
                continue;
            }
            for layout in spoil(&right[0], &one[0]) {
                let report = compare_layouts(&one, std::slice::from_ref(&layout));
                assert_eq!(
                    report.differences.len(),
                    1,
                    "{}: {:?}",
                    layout.name,
                    report.differences
                );
                wrong += 1;
            }
        }
        println!("{}: {wrong} wrong tables found", headers.dir.display());
        assert!(wrong > 4000);
    }
}

/// The table of a layout with one mistake in it, in all ways, in fields that the header has too.
fn spoil(right: &TableLayout, header: &CLayout) -> Vec<TableLayout> {
    let mut wrong = vec![
        TableLayout { bits: right.bits + 32, ..right.clone() },
        TableLayout { is_union: !right.is_union, ..right.clone() },
    ];
    for (i, field) in right.fields.iter().enumerate() {
        if !header.fields.iter().any(|other| other.name == field.name) {
            continue;
        }
        let mut copy = right.clone();
        let field = &mut copy.fields[i];
        match (&mut field.element, &mut field.count) {
            (_, Count::Array(n)) => *n += 1,
            (Element::Bits(width), Count::List) => *width *= 2,
            (Element::Layout(name), _) => name.push_str("_wrong"),
            (Element::Bits(_), Count::One) => field.bit ^= 1,
        }
        wrong.push(copy);
    }
    wrong
}

/// The check itself finds wrong accessors, by every single value: the lowest bit of each is flipped.
#[test]
fn wrong_accessors_are_found() {
    struct Wrong(Generated);
    impl Ours for Wrong {
        fn has(&self, layout: &str, field: &str) -> bool {
            self.0.has(layout, field)
        }
        fn set(&self, layout: &str, field: &str, mailbox: &mut [u8], value: &[u8]) {
            let mut value = value.to_vec();
            if let Some(last) = value.last_mut() {
                *last ^= 1;
            }
            self.0.set(layout, field, mailbox, &value);
        }
        fn get(&self, layout: &str, field: &str, mailbox: &[u8]) -> Vec<u8> {
            let mut value = self.0.get(layout, field, mailbox);
            if let Some(last) = value.last_mut() {
                *last ^= 1;
            }
            value
        }
    }
    let table = table();
    let ours = Wrong(Generated::new(&table));
    let headers = &headers()[0];
    // Layouts nested in these are among them; a list may hold larger ones.
    let some: Vec<CLayout> = layouts_of(headers)
        .into_iter()
        .filter(|layout| layout.bits > 0 && layout.bits <= 0x40)
        .collect();
    let report = compare_values(&library(headers, &some), &some, &table, &ours, seed(), 20);
    println!(
        "{} fields, {} of {} values found wrong",
        report.fields,
        report.differing,
        report.writes + report.reads
    );
    assert!(report.fields > 100);
    assert_eq!(report.differing, report.writes + report.reads);
}
