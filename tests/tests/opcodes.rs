//! Opcodes: their numbers as gcc has them from the public headers, and the mailboxes that go with
//! them.

mod headers;
mod spec;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use headers::{INSTALL, at_hand, see};
use mlx5_prm::{Opcode, command, families, layout_desc};
use spec::{Enumerator, OpcodeNote};

/// What the names of opcodes begin with in the headers.
const BEGINNINGS: [&str; 3] = ["MLX5_CMD_OP_", "MLX5_CMD_OPCODE_", "UCT_IB_MLX5_CMD_OP_"];
/// What a few begin with, in an enumeration of opcodes.
const SHORT: &str = "MLX5_CMD_";

/// What begins so and is no opcode: limits, and values of `op_mod`.
const NO_OPCODES: [&str; 4] =
    ["MAX", "GENERAL_START", "GENERAL_END", "MOD_UPDATE_HEADER_MODIFY_ARGUMENT"];

/// Second names of opcodes in the headers, and what the codec calls them.
const SECOND_NAMES: [(&str, &str); 5] = [
    ("ACCESS_REGISTER", "ACCESS_REG"),
    ("CREATE_FLOW_COUNTER", "ALLOC_FLOW_COUNTER"),
    ("QP_2ERR", "2ERR_QP"),
    ("QP_2RST", "2RST_QP"),
    ("SQD2RTS_QP", "SQD_RTS_QP"),
];

/// The name of an opcode of the headers.
fn name_of(enumerator: &str) -> Option<&str> {
    BEGINNINGS.iter().find_map(|beginning| enumerator.strip_prefix(beginning))
}

/// The opcodes of an enumeration: if any is one, all are.
fn opcodes_of(enumeration: &[(String, i64)]) -> Vec<(&str, i64)> {
    if !enumeration.iter().any(|(name, _)| name_of(name).is_some()) {
        return Vec::new();
    }
    let name = |name| name_of(name).or(name.strip_prefix(SHORT)).unwrap_or(name);
    let all = enumeration.iter().map(|(enumerator, value)| (name(enumerator), *value));
    all.filter(|(name, _)| !NO_OPCODES.contains(name)).collect()
}

/// Whether an enumerator of the tables is this opcode.
fn is(enumerator: &Enumerator, name: &str, number: u16) -> bool {
    let theirs = name_of(&enumerator.name).or(enumerator.name.strip_prefix(SHORT));
    theirs == Some(name) && enumerator.value == i64::from(number)
}

/// Names and numbers of the codec's opcodes.
fn opcodes() -> impl Iterator<Item = (&'static str, u16)> {
    let number = |number: u32| u16::try_from(number).expect("opcodes have 16 bits");
    Opcode::DESC.values.iter().map(move |(value, name)| (*name, number(*value)))
}

#[test]
fn no_number_has_two_names() {
    let mut names = BTreeMap::new();
    for (name, number) in opcodes() {
        let before = names.insert(number, name);
        assert_eq!(before, None, "{number:#x} is {name} too");
        assert_eq!(Opcode(number).name(), Some(name));
    }
    let different: BTreeSet<&str> = names.values().copied().collect();
    assert_eq!(different.len(), names.len(), "a name is there twice");
    println!("{} opcodes", names.len());
    assert!(names.len() > 200);
    assert_eq!((Opcode::MODIFY_CQ.0, Opcode::MODIFY_CQ.name()), (0x403, Some("MODIFY_CQ")));
}

#[test]
fn gcc_agrees_on_every_opcode() {
    let ours: HashMap<&str, u16> = opcodes().collect();
    let tables = spec::tables();
    let (mut wrong, mut most) = (Vec::new(), 0);
    for headers in at_hand() {
        let seen = see(headers).unwrap_or_else(|e| panic!("{e}\n{INSTALL}"));
        let mut there = BTreeSet::new();
        let (mut same, mut second) = (0, 0);
        for (name, value) in seen.enumerations.iter().flat_map(|all| opcodes_of(all)) {
            let known = SECOND_NAMES.iter().find(|(second, _)| *second == name);
            let ours_is = known.map_or(name, |(_, ours)| ours);
            let ours = ours.get(ours_is);
            if ours.map(|number| i64::from(*number)) != Some(value) {
                let ours = ours.map_or("nothing".to_owned(), |number| format!("{number:#x}"));
                wrong.push(format!("{}: {name} is {value:#x}, in the codec {ours}", headers.name));
            } else {
                *(if known.is_some() { &mut second } else { &mut same }) += 1;
            }
            there.insert(ours_is);
        }
        println!("{}: {same} opcodes have the same number, {second} by second names", headers.name);
        most = most.max(same);
        // What the tables have from this source is in its headers.
        let Some(source) = &headers.source else { continue };
        let from = tables.enumerators.iter().filter(|e| e.from.contains(source));
        for (name, number) in opcodes() {
            let said = from.clone().any(|e| is(e, name, number));
            if said && !there.contains(name) {
                wrong.push(format!("{}: the tables say that it has {name}", headers.name));
            }
        }
    }
    assert!(most > 150, "no headers were read whole");
    // No opcode is made up.
    for (name, number) in opcodes() {
        if !tables.enumerators.iter().any(|e| is(e, name, number)) {
            wrong.push(format!("{name} {number:#x} is in no header"));
        }
    }
    assert!(wrong.is_empty(), "gcc and the codec do not agree on opcodes:\n{}", wrong.join("\n"));
}

/// The mailboxes of an opcode by the tables: named by hand, or called as it is.
fn mailboxes(
    name: &str,
    note: Option<&OpcodeNote>,
) -> (Option<&'static str>, Option<&'static str>) {
    let find = |named: Option<&String>, end: &str, field: &str| {
        let own = format!("{}_{end}", name.to_lowercase());
        let layout = layout_desc(named.unwrap_or(&own))?;
        layout.field(field).map(|_| layout.name)
    };
    let (input, output) = match note {
        Some(note) => (note.input.as_ref(), note.output.as_ref()),
        None => (None, None),
    };
    (find(input, "in", "opcode"), find(output, "out", "status"))
}

/// The layouts that the codec says are inputs of one command, with its opcode.
fn requests() -> BTreeMap<&'static str, u16> {
    let mut requests = BTreeMap::new();
    let mut before = "";
    for accessor in mlx5_tests::accessors() {
        if std::mem::replace(&mut before, accessor.layout) == accessor.layout {
            continue;
        }
        let bytes = vec![0; accessor.size];
        let viewed = (accessor.view)(&bytes).expect("its size");
        let new = viewed.new_bytes();
        match viewed.opcode() {
            Some(opcode) => {
                requests.insert(accessor.layout, opcode);
                assert_eq!(new[..2], opcode.to_be_bytes(), "{}: new", accessor.layout);
                assert!(new[2..].iter().all(|byte| *byte == 0), "{}: new", accessor.layout);
            }
            None => assert_eq!(new, bytes, "{}: new", accessor.layout),
        }
    }
    requests
}

/// Inputs and the outputs that `Request` gives them, by PRM name: no table of the codec has them
/// all, so the generated lines are read.
fn outputs() -> BTreeMap<String, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/prm/src/generated");
    let (mut names, mut pairs) = (HashMap::new(), Vec::new());
    for entry in std::fs::read_dir(&dir).expect("generated code") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("layout! { ") {
                let mut words = rest.split(", ");
                let (ty, name) = (words.next(), words.nth(1));
                let (ty, name) = (ty.expect("a type"), name.expect("a name"));
                names.insert(ty.to_owned(), name.trim_matches('"').to_owned());
            }
            if let Some(rest) = line.strip_prefix("request! { ") {
                let pair = rest.trim_end_matches(" }").split_once(" => ").expect("two types");
                pairs.push((pair.0.to_owned(), pair.1.to_owned()));
            }
        }
    }
    pairs.iter().map(|(input, output)| (names[input].clone(), names[output].clone())).collect()
}

#[test]
fn every_opcode_has_its_mailboxes_or_a_reason() {
    let notes = spec::opcode_notes("opcode").expect("notes");
    let commands = spec::opcode_notes("command").expect("commands");
    let (requests, outputs) = (requests(), outputs());
    let mut by_input: BTreeMap<&str, Vec<(&str, u16, &str)>> = BTreeMap::new();
    let mut without = 0;
    for (name, number) in opcodes() {
        let note = notes.iter().find(|note| note.name == name);
        let why = note.and_then(|note| note.why.as_ref());
        let command = commands.iter().find(|command| command.name == name);
        match mailboxes(name, command.or(note)) {
            (Some(input), Some(output)) => {
                assert_eq!(why, None, "{name} has {input} and {output}, and a reason to have none");
                by_input.entry(input).or_default().push((name, number, output));
            }
            (input, output) => {
                assert!(why.is_some(), "{name} has {input:?} and {output:?}, and no reason");
                let claims = requests.iter().find(|(_, opcode)| **opcode == number);
                assert_eq!(claims, None, "{name}: why has it none?");
                without += 1;
            }
        }
    }
    for note in notes.iter().chain(&commands) {
        assert!(opcodes().any(|(name, _)| name == note.name), "{} is no opcode", note.name);
    }
    let mut shared = Vec::new();
    for (input, all) in &by_input {
        let answered = outputs.get(*input).map(String::as_str);
        match all[..] {
            [(name, number, output)] => {
                assert_eq!(requests.get(input), Some(&number), "{name}: opcode of {input}");
                assert_eq!(answered, Some(output), "{name}: output of {input}");
                // Where semantics are known, they are of the same mailboxes.
                if let Some(command) = command(number) {
                    let described = (command.name, command.input.name, command.output.name);
                    assert_eq!(described, (name, *input, output));
                }
            }
            _ => {
                // Which of its opcodes it is sent with, and so that it is a request, it can't know.
                let names = all.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
                let known = (requests.get(input), answered);
                assert_eq!(known, (None, None), "{input} is the input of {names:?}");
                shared.push((*input, names));
            }
        }
    }
    let inputs: BTreeSet<&str> = by_input.keys().copied().collect();
    let claimed: BTreeSet<&str> = requests.keys().copied().collect();
    assert_eq!(claimed.difference(&inputs).next(), None, "an input of no opcode");
    assert_eq!(outputs.len(), inputs.len() - shared.len(), "inputs that have an output");
    let general = ["CREATE", "MODIFY", "QUERY", "DESTROY"];
    let general = general.map(|verb| format!("{verb}_GENERAL_OBJECT"));
    assert_eq!(shared.len(), 1, "{shared:?}");
    assert_eq!(shared[0].0, "general_obj_in_cmd_hdr");
    assert_eq!(shared[0].1, general);
    let described: usize = families().iter().map(|family| family.commands.len()).sum();
    assert_eq!(described, commands.len(), "commands with semantics");
    println!(
        "{} opcodes: {} inputs of one, {} that share one, {without} without mailboxes; {described} \
         with semantics",
        opcodes().count(),
        inputs.len() - shared.len(),
        general.len()
    );
}
