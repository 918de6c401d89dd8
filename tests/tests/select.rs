//! Select masks: after any paired calls the mask has the bits of the fields that were set and no
//! others, and the simulated adapter changes those fields and no others.
//!
//! Masks, bits and fields are read from `prm-spec` by code that shares nothing with the generator.

mod spec;

use std::collections::{BTreeMap, BTreeSet};

use mlx5_prm::{QpState, Qpn};
use mlx5_sim::Firmware;
use mlx5_tests::accessor::repeated;
use mlx5_tests::{Change, changes};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use spec::{Element, Tables, element_bits, sizes};
use toml::Value;

/// The first bit of something in a mailbox, and how many there are.
type Range = (usize, usize);

/// Where `path` lies in `layout`.
fn place(tables: &Tables, layout: &str, path: &str) -> Range {
    let sizes = sizes(&tables.layouts);
    let (mut layout, mut start, mut names) = (layout.to_owned(), 0, path.split('.').peekable());
    loop {
        let name = names.next().expect("a path has a last name");
        let table = tables.layouts.iter().find(|l| l.name == layout);
        let fields = &table.unwrap_or_else(|| panic!("no layout {layout}")).fields;
        let field = fields.iter().find(|f| f.name == name);
        let field = field.unwrap_or_else(|| panic!("no field {path} in {layout}"));
        start += field.bit;
        let times = match field.count {
            spec::Count::Array(n) => n,
            _ => 1,
        };
        let width = element_bits(field, &sizes) * times;
        match (&field.element, names.peek()) {
            (_, None) => return (start as usize, width as usize),
            (Element::Layout(inner), Some(_)) => layout = inner.clone(),
            (Element::Bits(_), Some(name)) => panic!("{path}: {name} is in no layout"),
        }
    }
}

fn get(bytes: &[u8], (bit, width): Range) -> Vec<bool> {
    (bit..bit + width).map(|i| bytes[i / 8] >> (7 - i % 8) & 1 != 0).collect()
}

fn put(bytes: &mut [u8], (bit, _): Range, bits: &[bool]) {
    for (i, on) in (bit..).zip(bits) {
        let mask = 1 << (7 - i % 8);
        bytes[i / 8] = if *on { bytes[i / 8] | mask } else { bytes[i / 8] & !mask };
    }
}

/// A select mask of the tables, in one layout.
struct Select {
    layout: String,
    mask: Range,
    op_mod: u16,
    when: Option<(Range, u64)>,
    always: Vec<Range>,
    /// Number of the bit, by path.
    bits: BTreeMap<String, (u32, Range)>,
}

fn selects(tables: &Tables) -> BTreeMap<(String, String), Select> {
    let mut all = BTreeMap::new();
    for entry in spec::semantics("select") {
        let text = |v: &Value| v.as_str().expect("a string").to_owned();
        let name = text(&entry["name"]);
        for mask in entry["masks"].as_array().expect("masks") {
            let mask = text(mask);
            let (layout, path) = mask.split_once('.').expect("layout.path");
            let at = |path: &str| place(tables, layout, path);
            let paths = |v: Option<&Value>| -> Vec<String> {
                v.and_then(Value::as_array).into_iter().flatten().map(text).collect()
            };
            let mut bits = BTreeMap::new();
            for bit in entry["bits"].as_array().expect("bits") {
                let number = bit["bit"].as_integer().expect("a number") as u32;
                for path in paths(bit.get("fields")) {
                    bits.insert(path.clone(), (number, at(&path)));
                }
            }
            let select = Select {
                layout: layout.to_owned(),
                mask: at(path),
                op_mod: entry.get("op_mod").and_then(Value::as_integer).unwrap_or(0) as u16,
                when: entry.get("when").map(|when| {
                    (at(&text(when)), entry["is"].as_integer().expect("a number") as u64)
                }),
                always: paths(entry.get("always")).iter().map(|p| at(p)).collect(),
                bits,
            };
            all.insert((layout.to_owned(), name.clone()), select);
        }
    }
    all
}

/// A property over any choice of calls and values.
fn check<T: std::fmt::Debug>(cases: u32, strategy: impl Strategy<Value = T>, test: impl Fn(T)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |value| {
            test(value);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

/// Calls of one mask: which, and with what value.
fn calls(n: usize) -> impl Strategy<Value = Vec<(usize, u128)>> {
    proptest::collection::vec((0..n, any::<u128>()), 0..12)
}

/// The paired calls, by layout and mask.
fn by_mask() -> BTreeMap<(String, String), Vec<&'static Change>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for change in changes() {
        let key = (change.layout.to_owned(), change.select.to_owned());
        all.entry(key).or_default().push(change);
    }
    all
}

/// Makes the calls by one way of both, and gives the mailbox and the value of each path as it must
/// now be.
fn call<'c>(
    select: &Select,
    all: &[&'c Change],
    calls: &[(usize, u128)],
) -> (Vec<u8>, BTreeMap<&'c str, Vec<bool>>) {
    let mut mailbox = (all[0].new_bytes)();
    let mut other = mailbox.clone();
    let mut values = BTreeMap::new();
    for (index, value) in calls {
        let change = all[*index];
        let (_, range) = select.bits[change.path];
        let value = if change.is_view { *value } else { fitting(*value, range.1) };
        (change.change)(&mut mailbox, value);
        (change.changing)(&mut other, value);
        let bits = if change.is_view {
            get(&repeated(value, range.1 / 8), (0, range.1))
        } else {
            get(&value.to_be_bytes(), (128 - range.1, range.1))
        };
        // A field inside of another, or the other way round, is set along with it.
        let inside = |(b, w): Range, (outer, n): Range| outer <= b && b + w <= outer + n;
        values.retain(|path: &&str, _| {
            let there = select.bits[*path].1;
            !inside(there, range) && !inside(range, there)
        });
        values.insert(change.path, bits);
    }
    assert_eq!(mailbox, other, "{}: changing_ is not as change_ is", select.layout);
    (mailbox, values)
}

/// The low bits of a value.
fn fitting(value: u128, width: usize) -> u128 {
    if width < 128 { value & ((1 << width) - 1) } else { value }
}

#[test]
fn the_mask_has_the_bits_of_the_fields_that_were_set() {
    let tables = spec::tables();
    let selects = selects(&tables);
    let mut calls_there = 0;
    for (key, all) in by_mask() {
        let select = selects.get(&key).unwrap_or_else(|| panic!("{key:?} is not in the tables"));
        calls_there += all.len();
        let paths: BTreeSet<&str> = all.iter().map(|c| c.path).collect();
        assert_eq!(paths.len(), all.len(), "{key:?}: two calls for one field");
        for path in select.bits.keys() {
            // A list has no paired call: it follows the layout.
            let list = path.rsplit('.').next() == Some("destination")
                || path.ends_with("current_uc_mac_address");
            assert!(list || paths.contains(&**path), "{key:?}: no call for {path}");
        }
        check(64, calls(all.len()), |calls| {
            let (mailbox, values) = call(select, &all, &calls);
            let mut expected = (all[0].new_bytes)();
            let mut mask = vec![false; select.mask.1];
            for (index, _) in &calls {
                let (bit, _) = select.bits[all[*index].path];
                mask[select.mask.1 - 1 - bit as usize] = true;
            }
            assert_eq!(get(&mailbox, select.mask), mask, "{key:?}: the mask after {calls:?}");
            for (path, value) in &values {
                assert_eq!(&get(&mailbox, select.bits[*path].1), value, "{key:?}: {path}");
            }
            // Nothing else is touched but what says which mask counts.
            put(&mut expected, select.mask, &mask);
            for (index, _) in &calls {
                let (_, range) = select.bits[all[*index].path];
                let now = get(&mailbox, range);
                put(&mut expected, range, &now);
            }
            if !calls.is_empty() {
                if select.op_mod != 0 {
                    expected[6..8].copy_from_slice(&select.op_mod.to_be_bytes());
                }
                if let Some((range, value)) = select.when {
                    let bits = get(&value.to_be_bytes(), (64 - range.1, range.1));
                    put(&mut expected, range, &bits);
                }
            }
            assert_eq!(mailbox, expected, "{key:?}: another field was touched");
        });
    }
    println!("{} masks, {calls_there} paired calls", by_mask().len());
    // Those of QP transitions go by builders, and a mask may be for no field of its layout.
    let is_without = |(_, name): &(String, String), select: &Select| {
        name == "qp_opt_param" || select.bits.is_empty()
    };
    let without = selects.iter().filter(|(key, select)| is_without(key, select)).count();
    assert_eq!(by_mask().len(), selects.len() - without, "a mask without calls");
}

/// What the simulated firmware holds, and how a mailbox reaches it.
struct Subject {
    firmware: Firmware,
    /// The number of the object in the input, and where; none where there is one such object.
    number: Option<(Range, u64)>,
    /// The type of a general object.
    obj_type: Option<u16>,
    /// How what it holds is read.
    read: Read,
    /// Where the context lies in the input of the modify.
    context: Range,
}

/// How the context of an object is read.
enum Read {
    /// By this input; so many bytes of answer, and the context from this byte on.
    Query { input: Vec<u8>, room: usize, at: usize },
    /// No command that has a status reads it: QUERY_SCHEDULING_ELEMENT.
    Context(&'static str),
}

#[track_caller]
fn works(firmware: &mut Firmware, input: &[u8], room: usize) -> Vec<u8> {
    let mut output = vec![0; room];
    firmware.execute(input, &mut output);
    assert_eq!(output[0], 0, "refused: {:02x?} of {:02x?}", &output[..8], &input[..16]);
    output
}

/// Contexts that must not be anything when the object is made, or that a modify checks.
const DELICATE: &[&str] = &["cq", "qp", "rq", "sq", "rmp", "rqt"];

/// Makes an object with this content.
fn command_subject(layout: &str, content: &[u8]) -> Option<Subject> {
    let all = || mlx5_prm::families().iter().flat_map(|f| f.commands).copied();
    let modify = all().find(|c| c.input.name == layout)?;
    let of = |verb| {
        all().find(move |c| {
            c.object.name == modify.object.name && c.verb == verb && c.context.is_some()
        })
    };
    let mut firmware = Firmware::new();
    let mut number = 3;
    let range = |place: mlx5_prm::Place| (place.bit as usize, place.width as usize);
    if let Some(create) = of(mlx5_prm::Verb::Create) {
        let mut input = vec![0; create.input.size];
        input[..2].copy_from_slice(&create.opcode.to_be_bytes());
        let place = range(create.context?);
        if !DELICATE.contains(&modify.object.name) {
            let content: Vec<u8> = content.iter().copied().cycle().take(place.1 / 8).collect();
            input[place.0 / 8..(place.0 + place.1) / 8].copy_from_slice(&content);
        }
        let output = works(&mut firmware, &input, create.output.size.max(16));
        number = create.number.and_then(|n| n.read(&output)).unwrap_or(0);
    }
    if modify.object.name == "qp" {
        let qpn = Qpn::new(number as u32);
        assert!(firmware.force_qp_state(qpn, QpState::RTS));
    }
    let read = match of(mlx5_prm::Verb::Query) {
        Some(query) => {
            let mut input = vec![0; query.input.size];
            input[..2].copy_from_slice(&query.opcode.to_be_bytes());
            if let Some(place) = query.number {
                assert!(place.write(&mut input, number));
            }
            Read::Query { input, room: query.output.size, at: query.context?.bit as usize / 8 }
        }
        None => Read::Context(modify.object.name),
    };
    Some(Subject {
        firmware,
        number: modify.number.map(|n| (range(n), number)),
        obj_type: None,
        read,
        context: range(modify.context?),
    })
}

fn object_subject(layout: &str, content: &[u8]) -> Option<Subject> {
    let all = mlx5_prm::families().iter().flat_map(|f| f.general_objects);
    let desc = all.copied().find(|o| o.layout.name == layout)?;
    let mut firmware = Firmware::new();
    let size = desc.layout.size;
    let mut input = vec![0; 16];
    input[..2].copy_from_slice(&mlx5_prm::Opcode::CREATE_GENERAL_OBJECT.0.to_be_bytes());
    input[6..8].copy_from_slice(&desc.obj_type.0.to_be_bytes());
    input.extend(content.iter().copied().cycle().take(size));
    let output = works(&mut firmware, &input, 16);
    let mut query = input[..16].to_vec();
    query[..2].copy_from_slice(&mlx5_prm::Opcode::QUERY_GENERAL_OBJECT.0.to_be_bytes());
    query[8..12].copy_from_slice(&output[8..12]);
    Some(Subject {
        firmware,
        number: None,
        obj_type: Some(desc.obj_type.0),
        read: Read::Query { input: query, room: 16 + size, at: 16 },
        context: (0, size * 8),
    })
}

#[test]
fn the_adapter_changes_what_is_selected() {
    let tables = spec::tables();
    let selects = selects(&tables);
    for (key, all) in by_mask() {
        let select = &selects[&key];
        let strategy = (calls(all.len()), proptest::collection::vec(any::<u8>(), 64));
        check(24, strategy, |(calls, content)| {
            let mut subject = command_subject(&select.layout, &content)
                .or_else(|| object_subject(&select.layout, &content))
                .unwrap_or_else(|| panic!("{key:?} is the input of no command, and no object"));
            // The table of receive queues has room for none here.
            let calls: Vec<_> = match &*select.layout {
                "modify_rqt_in" => calls.iter().map(|(i, _)| (*i, 0)).collect(),
                // The size of a CQ has a limit.
                "modify_cq_in" => calls
                    .iter()
                    .map(|(i, value)| match all[*i].path {
                        "cq_context.log_cq_size" => (*i, value & 0xf),
                        _ => (*i, *value),
                    })
                    .collect(),
                _ => calls,
            };
            let (mut input, _) = call(select, &all, &calls);
            // What is not selected must not count, whatever it is.
            if calls.is_empty() && select.op_mod != 0 {
                input[6..8].copy_from_slice(&select.op_mod.to_be_bytes());
            }
            if let (true, Some((range, value))) = (calls.is_empty(), select.when) {
                put(&mut input, range, &get(&value.to_be_bytes(), (64 - range.1, range.1)));
            }
            let named: BTreeSet<&str> = calls.iter().map(|(i, _)| all[*i].path).collect();
            let selected: BTreeSet<u32> = named.iter().map(|path| select.bits[*path].0).collect();
            let others = select.bits.values().filter(|(bit, _)| !selected.contains(bit));
            for (_, range) in others {
                let taken = select.bits.values().any(|(bit, (b, w))| {
                    selected.contains(bit) && *b < range.0 + range.1 && range.0 < b + w
                });
                // A list follows the layout.
                let list = range.0 + range.1 > input.len() * 8;
                if !taken && !list && !select.layout.starts_with("modify_rqt") {
                    let noise = get(&vec![0xa5; range.1 / 8 + 1], (0, range.1));
                    put(&mut input, *range, &noise);
                }
            }
            if select.layout == "modify_rmp_in" {
                // An RMP is ready when it is made, and stays so.
                let state = place(&tables, "modify_rmp_in", "rmp_state");
                let wanted = place(&tables, "modify_rmp_in", "ctx.state");
                for range in [state, wanted] {
                    put(&mut input, range, &[false, false, false, true]);
                }
            }
            if let Some((range, number)) = subject.number
                && select.when.is_none_or(|(when, _)| when != range)
            {
                put(&mut input, range, &get(&number.to_be_bytes(), (64 - range.1, range.1)));
            }
            if let (Some((range, value)), Read::Query { input: query, .. }) =
                (select.when, &mut subject.read)
                && let Some((number, _)) = subject.number
                && number == range
            {
                // The number of the object is what says which mask counts.
                put(query, range, &get(&value.to_be_bytes(), (64 - range.1, range.1)));
            }
            let read = |firmware: &mut Firmware| match &subject.read {
                Read::Query { input, room, at } => works(firmware, input, *room)[*at..].to_vec(),
                Read::Context(kind) => {
                    let number = subject.number.expect("it has one").1 as u32;
                    firmware.context(kind, number).expect("it is there").to_vec()
                }
            };
            let before = read(&mut subject.firmware);
            let modify = match (subject.obj_type, &subject.read) {
                (Some(_), Read::Query { input: query, .. }) => {
                    let mut head = query.clone();
                    let opcode = mlx5_prm::Opcode::MODIFY_GENERAL_OBJECT.0;
                    head[..2].copy_from_slice(&opcode.to_be_bytes());
                    [head, input.clone()].concat()
                }
                _ => input.clone(),
            };
            works(&mut subject.firmware, &modify, 16);
            let after = read(&mut subject.firmware);
            let mut expected = before;
            let (start, width) = subject.context;
            let by_bit = select.bits.values().filter(|(bit, _)| selected.contains(bit));
            for range in by_bit.map(|(_, range)| range).chain(&select.always) {
                if range.0 >= start && range.0 + range.1 <= start + width {
                    put(&mut expected, (range.0 - start, range.1), &get(&input, *range));
                }
            }
            assert_eq!(after, expected, "{key:?} after {calls:?}");
        });
    }
}
