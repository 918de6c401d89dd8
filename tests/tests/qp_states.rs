//! The state machine of queue pairs: the tables of `prm-spec`, the builders and the simulated adapter
//! agree for every service, every pair of states and every command.
//!
//! `qp_states/legal.toml` is a second reading of the kernel's tables (`qp_state_table` in
//! `drivers/infiniband/core/verbs.c`, `optab` and `modify_dci_qp_is_ok` in
//! `drivers/infiniband/hw/mlx5/qp.c`), pair by pair.

mod spec;

use std::collections::{BTreeMap, BTreeSet};

use mlx5_prm::{
    Ads, CmdOut, CommandDesc, CreateQpIn, Init2rtrQpIn, PathMtu, Place, QpOptParam, QpSt, QpState,
    Qpc, Qpn, QueryQpIn, QueryQpOut, Status, TransitionError, Why,
};
use mlx5_sim::{Adapter, syndrome};
use mlx5_tests::{Transition, transitions};
use toml::{Table, Value};

fn states() -> Vec<QpState> {
    QpState::DESC.values.iter().map(|(v, _)| QpState(*v as u8)).collect()
}

fn services() -> Vec<QpSt> {
    QpSt::DESC.values.iter().map(|(v, _)| QpSt(*v as u8)).collect()
}

fn name(service: QpSt) -> &'static str {
    service.name().expect("a service of the table")
}

/// The commands that make a transition.
fn commands() -> Vec<&'static CommandDesc> {
    let all = mlx5_prm::families().iter().flat_map(|f| f.commands).copied();
    all.filter(|c| c.transition.is_some()).collect()
}

/// A transition as the table has it.
struct Row {
    from: BTreeSet<String>,
    to: String,
    services: BTreeSet<String>,
    fields: Vec<Field>,
}

struct Field {
    path: String,
    requires: BTreeSet<String>,
    takes: BTreeSet<String>,
    admits: BTreeSet<String>,
    bit: Option<u32>,
    nonzero: bool,
}

fn table() -> BTreeMap<String, Row> {
    let text = |v: &Value| v.as_str().expect("a string").to_owned();
    let words = |v: &Value, key: &str| -> BTreeSet<String> {
        let all = v.get(key).map(text).unwrap_or_default();
        all.split_whitespace().map(str::to_owned).collect()
    };
    let params = spec::semantics("select");
    let params = params.iter().find(|s| text(&s["name"]) == "qp_opt_param").expect("the mask");
    let bits: BTreeMap<String, u32> = params["bits"]
        .as_array()
        .expect("bits")
        .iter()
        .map(|b| (text(&b["name"]), b["bit"].as_integer().expect("a number") as u32))
        .collect();
    let all = spec::semantics("transition");
    let row = |t: &Value| {
        let fields = t["fields"].as_array().expect("fields").iter().map(|f| Field {
            path: text(&f["path"]),
            requires: words(f, "requires"),
            takes: words(f, "takes"),
            admits: words(f, "admits"),
            bit: f.get("bit").map(|b| bits[&text(b)]),
            nonzero: f.get("nonzero").is_some_and(|v| v.as_bool() == Some(true)),
        });
        let from = t.get("from").and_then(Value::as_array).into_iter().flatten().map(text);
        let row = Row {
            from: from.collect(),
            to: text(&t["to"]),
            services: words(t, "services"),
            fields: fields.collect(),
        };
        (text(&t["command"]), row)
    };
    all.iter().map(row).collect()
}

/// Pairs of states that are legal, and the command of each, by service.
fn legal() -> BTreeMap<String, BTreeSet<(String, String, String)>> {
    let file: Table = include_str!("qp_states/legal.toml").parse().expect("a table");
    let text = |v: &Value| v.as_str().expect("a string").to_owned();
    let services = file["legal"].as_array().expect("services").iter().map(|entry| {
        let pairs = entry["pairs"].as_array().expect("pairs");
        let pair = |p: &Value| (text(&p["from"]), text(&p["to"]), text(&p["command"]));
        (text(&entry["service"]), pairs.iter().map(pair).collect())
    });
    services.collect()
}

/// A queue pair of a service, in a state.
fn queue_pair(service: QpSt, state: QpState) -> (Adapter, Qpn) {
    let adapter = Adapter::new();
    let create = CreateQpIn::new().with_qpc(Qpc::new().with_st(service));
    let mut output = [0; 16];
    adapter.firmware(create.as_bytes(), &mut output);
    let number = mlx5_prm::CreateQpOut::view(&output).expect("its size").qpn();
    assert!(adapter.force_qp_state(number, state));
    (adapter, number)
}

/// Sends a command; gives status, syndrome, and the state after it.
fn send(adapter: &Adapter, qpn: Qpn, mut input: Vec<u8>) -> (Status, u32, QpState) {
    // The number stands in the same place in all of them.
    assert!(Place { bit: 0x48, width: 24 }.write(&mut input, qpn.get().into()));
    let mut output = [0; 16];
    adapter.firmware(&input, &mut output);
    let (head, _) = CmdOut::view_prefix(&output).expect("its size");
    let mut answer = QueryQpOut::zeroed();
    adapter.firmware(QueryQpIn::new().with_qpn(qpn).as_bytes(), answer.as_bytes_mut());
    (head.status(), head.syndrome(), answer.qpc().state())
}

/// The command with the fields of these numbers given, each 1; without a builder, where it takes none.
fn build(
    command: &CommandDesc,
    builder: Option<&Transition>,
    service: QpSt,
    fields: &[usize],
) -> Result<Vec<u8>, TransitionError> {
    match builder {
        Some(builder) => {
            let given: Vec<(usize, u128)> = fields.iter().map(|i| (*i, 1)).collect();
            (builder.build)(service, &given)
        }
        None => {
            let mut input = vec![0; command.input.size];
            input[..2].copy_from_slice(&command.opcode.to_be_bytes());
            Ok(input)
        }
    }
}

fn of(command: &CommandDesc) -> Option<&'static Transition> {
    transitions().find(|t| t.command == command.name)
}

fn required(row: &Row, service: QpSt) -> Vec<usize> {
    let all = row.fields.iter().enumerate();
    all.filter(|(_, f)| f.requires.contains(name(service))).map(|(i, _)| i).collect()
}

#[test]
fn every_command_from_every_state_to_every_state_for_every_service() {
    let (table, legal) = (table(), legal());
    let (mut walked, mut works) = (0, 0);
    for service in services() {
        let none = BTreeSet::new();
        let legal = legal.get(name(service)).unwrap_or(&none);
        for command in commands() {
            let row = &table[command.name];
            let builder = of(command);
            assert_eq!(builder.is_some(), !row.fields.is_empty(), "{}", command.name);
            let built = build(command, builder, service, &required(row, service));
            let known = row.services.contains(name(service));
            if builder.is_some() {
                assert_eq!(built.is_ok(), known, "{} {}: {built:?}", command.name, name(service));
            }
            if let Err(error) = &built {
                assert_eq!(error.why, Why::NoSuchTransition);
            }
            for from in states() {
                let input = built.clone().unwrap_or_else(|_| {
                    let mut input = vec![0xff; command.input.size];
                    input[..2].copy_from_slice(&command.opcode.to_be_bytes());
                    input[2..].fill(0);
                    input
                });
                let (adapter, qpn) = queue_pair(service, from);
                let (status, why, now) = send(&adapter, qpn, input);
                let (from_name, now_name) = (from.name().expect("known"), now.name());
                let by_table = known && (row.from.is_empty() || row.from.contains(from_name));
                assert_eq!(
                    status == Status::OK,
                    by_table,
                    "{} {} from {from_name}: {status:?}",
                    command.name,
                    name(service)
                );
                for to in states() {
                    let to_name = to.name().expect("known").to_owned();
                    let pair = (from_name.to_owned(), to_name.clone(), command.name.to_owned());
                    // The kernel knows nothing of SUSPENDED, and calls two states SQD.
                    let mut is_legal = legal.contains(&pair);
                    if from == QpState::SUSPENDED {
                        is_legal = by_table && to_name == row.to;
                    }
                    let moves = status == Status::OK && now == to;
                    assert_eq!(
                        moves,
                        is_legal,
                        "{} {}: {from_name} to {to_name}",
                        command.name,
                        name(service)
                    );
                    walked += 1;
                    works += usize::from(moves);
                }
                if by_table {
                    assert_eq!(now_name, Some(&*row.to));
                } else {
                    assert_eq!(now, from, "a command that is refused changes nothing");
                    let expected =
                        if known { syndrome::WRONG_QP_STATE } else { syndrome::NOT_OF_SERVICE };
                    assert_eq!(why, expected);
                }
            }
        }
    }
    println!("{walked} triples of command, states and service, {works} legal, 0 disagreements");
    assert_eq!(walked, services().len() * commands().len() * states().len() * states().len());
    assert!(works > 150);
}

#[test]
fn every_required_field_is_missed_by_name() {
    let table = table();
    let mut missed = 0;
    for builder in transitions() {
        let row = &table[builder.command];
        let paths: Vec<&str> = row.fields.iter().map(|f| &*f.path).collect();
        assert_eq!(builder.fields, paths, "{}", builder.command);
        for service in services().into_iter().filter(|s| row.services.contains(name(*s))) {
            let all = required(row, service);
            for left_out in &all {
                let given: Vec<(usize, u128)> =
                    all.iter().filter(|i| *i != left_out).map(|i| (*i, 1)).collect();
                let error = (builder.build)(service, &given).expect_err("a field is missing");
                let Why::Missing(fields) = error.why else { panic!("{error}") };
                assert_eq!(
                    fields.iter().map(|f| f.path).collect::<Vec<_>>(),
                    [&*row.fields[*left_out].path]
                );
                let text = error.to_string();
                for part in [builder.command, name(service), &row.fields[*left_out].path] {
                    assert!(text.contains(part), "{text}");
                }
                missed += 1;
            }
            // Zero, where it is no legal value.
            for i in all.iter().filter(|i| row.fields[**i].nonzero) {
                let given: Vec<(usize, u128)> =
                    all.iter().map(|j| (*j, u128::from(i != j))).collect();
                let error = (builder.build)(service, &given).expect_err("a field is zero");
                assert!(matches!(error.why, Why::Zero(_)), "{error}");
            }
        }
    }
    println!("{missed} required fields missed");
    assert!(missed >= 60);
}

#[test]
fn every_field_counts_for_the_services_of_the_table() {
    let table = table();
    let mut looked_at = 0;
    for builder in transitions() {
        let row = &table[builder.command];
        let all = commands();
        let command = all.iter().find(|c| c.name == builder.command).expect("a command");
        let mask_at = command.selects[0].mask;
        for service in services().into_iter().filter(|s| row.services.contains(name(*s))) {
            let needed = required(row, service);
            let from = row.from.first().expect("a state");
            let from = states().into_iter().find(|s| s.name() == Some(from)).expect("known");
            let admitted = row.fields.iter().filter(|f| f.admits.contains(name(service)));
            let admitted = admitted.fold(0u32, |mask, f| mask | 1 << f.bit.expect("a bit"));
            for (i, field) in row.fields.iter().enumerate() {
                let mut given = needed.clone();
                if !given.contains(&i) {
                    given.push(i);
                }
                let built = build(command, Some(builder), service, &given);
                let taken =
                    field.requires.contains(name(service)) || field.takes.contains(name(service));
                let selected = field.admits.contains(name(service));
                looked_at += 1;
                match built {
                    Ok(input) => {
                        assert!(taken || selected, "{} {}", builder.command, field.path);
                        let mask = mask_at.read(&input).expect("its size") as u32;
                        let expected = if selected { 1 << field.bit.expect("a bit") } else { 0 };
                        assert_eq!(mask, expected, "{} {}", builder.command, field.path);
                        let (adapter, qpn) = queue_pair(service, from);
                        assert_eq!(send(&adapter, qpn, input).0, Status::OK);
                    }
                    Err(error) => {
                        assert!(!taken && !selected, "{error}");
                        assert!(matches!(error.why, Why::NotTaken(_)), "{error}");
                    }
                }
            }
            // Every bit of the mask, as the simulated adapter sees it.
            let plain =
                build(command, Some(builder), service, &needed).expect("all that is needed");
            for bit in 0..32 {
                let mut input = plain.clone();
                assert!(mask_at.write(&mut input, 1 << bit));
                // What the bit selects is not zero.
                for field in row.fields.iter().zip(command.transition.as_ref().expect("one").fields)
                {
                    if field.0.bit == Some(bit) && field.0.nonzero {
                        field.1.place.write(&mut input, 1);
                    }
                }
                let (adapter, qpn) = queue_pair(service, from);
                let (status, ..) = send(&adapter, qpn, input);
                assert_eq!(
                    status == Status::OK,
                    admitted >> bit & 1 != 0,
                    "{} {} bit {bit}",
                    builder.command,
                    name(service)
                );
            }
        }
    }
    println!("{looked_at} fields by service");
    assert!(looked_at > 300);
}

#[test]
fn a_zero_that_is_no_legal_value_is_told_wherever_the_field_stands() {
    let table = table();
    let mut last = 0;
    for builder in transitions() {
        let row = &table[builder.command];
        for service in services().into_iter().filter(|s| row.services.contains(name(*s))) {
            let needed = required(row, service);
            let counts =
                |f: &Field| f.requires.contains(name(service)) || f.admits.contains(name(service));
            for (i, field) in row.fields.iter().enumerate().filter(|(_, f)| f.nonzero && counts(f))
            {
                let others = needed.iter().filter(|j| **j != i).map(|j| (*j, 1));
                let given: Vec<(usize, u128)> = others.chain([(i, 0)]).collect();
                let error = (builder.build)(service, &given).expect_err("a field is zero");
                let Why::Zero(fields) = error.why else { panic!("{error}") };
                assert_eq!(fields.iter().map(|f| f.path).collect::<Vec<_>>(), [&*field.path]);
                last = last.max(i);
            }
        }
    }
    assert!(last > 0, "one of them is not the first");
}

#[test]
fn a_field_inside_of_another_counts_when_it_was_given_before() {
    let path = Ads::new().with_pkey_index(5).with_sl(3);
    let whole = Init2rtrQpIn::transition(QpSt::RC)
        .mtu(PathMtu::BYTES_1024)
        .log_msg_max(30)
        .remote_qpn(Qpn::new(7))
        .next_rcv_psn(1)
        .log_rra_max(0)
        .min_rnr_nak(0);
    let alone = whole.primary_address_path(path).build().expect("all is given");
    assert_eq!(*alone.qpc().primary_address_path(), path);
    assert_eq!(
        (alone.qpc().remote_qpn(), alone.opt_param_mask()),
        (Qpn::new(7), QpOptParam::new())
    );

    let before = whole.pkey_index(9).primary_address_path(path).build().expect("all is given");
    assert_eq!(*before.qpc().primary_address_path(), path.with_pkey_index(9));
    let behind = whole.primary_address_path(path).pkey_index(9).build().expect("all is given");
    assert_eq!(behind, before);
}

#[test]
fn missing_fields_are_compared_and_printed() {
    let table = table();
    let (builder, all) = transitions()
        .map(|builder| (builder, required(&table[builder.command], QpSt::RC)))
        .find(|(_, all)| all.len() > 1)
        .expect("a transition with two");
    let without = |left_out: usize| {
        let given: Vec<(usize, u128)> =
            all.iter().filter(|i| **i != left_out).map(|i| (*i, 1)).collect();
        match (builder.build)(QpSt::RC, &given).expect_err("a field is missing").why {
            Why::Missing(fields) => fields,
            why => panic!("{why:?}"),
        }
    };
    assert_eq!(without(all[0]), without(all[0]));
    assert_ne!(without(all[0]), without(all[1]));
    let path = &table[builder.command].fields[all[0]].path;
    assert_eq!(format!("{:?}", without(all[0])), format!("{{{path:?}}}"));
}
