//! Recordings: what is replayed is what was recorded, and what is damaged is refused.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use mlx5_devx::record::{Call, Method, ReadError, Recorder, Recording, Replayer};
use mlx5_devx::{Cq, Errno, Handle, Target, TargetKind, Transport, write_register};
use mlx5_prm::{
    CqStatus, Cqc, Cqn, CreateCqIn, ModifyCqIn, ModifyCqOpMod, PaosReg, PortAdminStatus, QueryCqIn,
};
use mlx5_sim::Adapter;
use proptest::prelude::*;

/// A call that a program makes, before a handle is known.
#[derive(Debug, Clone)]
struct Step {
    method: Method,
    kind: TargetKind,
    handle: u64,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// What a call gives: result and output.
type Answer = (Result<Option<Handle>, Errno>, Vec<u8>);

fn play(transport: &dyn Transport, steps: &[Step]) -> Vec<Answer> {
    let play_one = |step: &Step| {
        let target = Target { kind: step.kind, handle: Handle(step.handle) };
        let (input, mut output) = (&step.input, step.output.clone());
        let result = match step.method {
            Method::Create => transport.create(input, &mut output).map(Some),
            Method::Modify => transport.modify(target, input, &mut output).map(|()| None),
            Method::Query => transport.query(target, input, &mut output).map(|()| None),
            Method::Destroy => transport.destroy(target.handle).map(|()| None),
            Method::General => transport.general(input, &mut output).map(|()| None),
        };
        (result, output)
    };
    steps.iter().map(play_one).collect()
}

fn record(transport: impl Transport, steps: &[Step]) -> (Vec<Answer>, String) {
    let recorder = Recorder::new(transport, Vec::new());
    let answers = play(&recorder, steps);
    (answers, String::from_utf8(recorder.finish().unwrap()).unwrap())
}

/// An adapter with a verbs CQ, whose handle and number are the first.
fn adapter() -> Adapter {
    let adapter = Adapter::new();
    adapter.create_cq(&Cqc::new().with_log_cq_size(10)).unwrap();
    adapter
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![
        Method::Create,
        Method::Modify,
        Method::Query,
        Method::Destroy,
        Method::General,
    ])
}

fn kind() -> impl Strategy<Value = TargetKind> {
    prop::sample::select(vec![
        TargetKind::Devx,
        TargetKind::Qp,
        TargetKind::Cq,
        TargetKind::Srq,
        TargetKind::Wq,
        TargetKind::IndTable,
    ])
}

/// Inputs that the adapter takes, some with a byte changed, and bytes of no meaning.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let number = 0u32..4;
    prop_oneof![
        (0u8..12).prop_map(|log| {
            let context = Cqc::new().with_log_cq_size(log);
            CreateCqIn::new().with_cq_context(context).as_bytes().to_vec()
        }),
        (number.clone(), any::<u16>(), any::<u16>()).prop_map(|(number, period, uid)| {
            let modify = ModifyCqIn::new().with_cqn(Cqn::new(number)).with_uid(uid);
            modify.changing_cq_period(period & 0xfff).as_bytes().to_vec()
        }),
        number.prop_map(|number| QueryCqIn::new().with_cqn(Cqn::new(number)).as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..70),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // Most targets are the CQ that is there, so that most calls reach the firmware.
    let target = prop_oneof![
        3 => Just((TargetKind::Cq, 1)),
        2 => (1u64..5).prop_map(|handle| (TargetKind::Devx, handle)),
        1 => (kind(), any::<u64>()),
    ];
    let output = prop_oneof![
        3 => Just(vec![0; 272]),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ];
    (method(), target, input(), output).prop_map(|(method, (kind, handle), input, output)| {
        if method == Method::Destroy {
            // It has no mailboxes.
            return Step { method, kind, handle, input: vec![], output: vec![] };
        }
        Step { method, kind, handle, input, output }
    })
}

fn call() -> impl Strategy<Value = Call> {
    let bytes = || {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..80),
            // Runs of zeros have a row of their own.
            prop::collection::vec(prop_oneof![40 => Just(0), 1 => any::<u8>()], 0..200),
        ]
    };
    let errno = (1i32..4096).prop_map(Errno::from_raw_os_error);
    let result = prop::result::maybe_err(any::<u64>(), errno);
    (method(), kind(), any::<u64>(), any::<u64>(), bytes(), bytes(), any::<u8>(), result).prop_map(
        |(method, kind, handle, at, input, output, xor, result)| {
            let kind = if method == Method::Destroy { TargetKind::Devx } else { kind };
            let target = Target { kind, handle: Handle(handle) };
            let mailboxes = method.has_mailboxes();
            let or_none = |bytes: Vec<u8>| if mailboxes { bytes } else { Vec::new() };
            Call {
                method,
                target: method.has_target().then_some(target),
                at: Duration::from_micros(at),
                before: or_none(output.iter().map(|byte| byte & xor).collect()),
                input: or_none(input),
                output: or_none(output),
                result: result.map(|made| (method == Method::Create).then_some(Handle(made))),
            }
        },
    )
}

/// Reading must not panic, and an error must name a place in the text.
fn read_any(bytes: &[u8]) -> Option<Recording> {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    match Recording::read(bytes) {
        Ok(recording) => Some(recording),
        Err(ReadError::Text { line, column, problem, remedy }) => {
            assert!((1..=lines + 1).contains(&line), "line {line} of {lines}");
            assert!((1..=4097).contains(&column), "column {column}");
            assert!(!problem.is_empty() && !remedy.is_empty());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_gives_the_recorded_answers(steps in prop::collection::vec(step(), 0..20)) {
        let bare = play(&adapter(), &steps);
        let boxed: Box<dyn Transport> = Box::new(adapter());
        let (answers, text) = record(boxed, &steps);
        prop_assert_eq!(&bare, &answers, "a recorder changes nothing");

        let recording: Recording = text.parse().unwrap();
        prop_assert_eq!(recording.calls().len(), steps.len());
        prop_assert_eq!(recording.to_string(), text);
        for replayer in [Replayer::strict(recording.clone()), Replayer::by_key(recording)] {
            prop_assert_eq!(&play(&replayer, &steps), &answers);
            prop_assert_eq!(replayer.finish(), Ok(()));
        }
    }

    #[test]
    fn a_changed_request_is_told(
        steps in prop::collection::vec(step(), 1..8),
        index in any::<prop::sample::Index>(),
        byte in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let (_, text) = record(adapter(), &steps);
        let mut changed = steps.clone();
        let which = index.index(steps.len());
        let step = &mut changed[which];
        if step.input.is_empty() {
            return Ok(());
        }
        // The uid, bytes 2 and 3, may differ.
        let at = match byte.index(step.input.len()) {
            2 | 3 => 0,
            at => at,
        };
        step.input[at] ^= flip;
        let replayer = Replayer::strict(text.parse().unwrap());
        let answers = play(&replayer, &changed);
        prop_assert_eq!(&answers[which].0, &Err(Replayer::MISMATCH));
        let mismatch = replayer.mismatch().unwrap();
        prop_assert_eq!(mismatch.number, which + 1);
        prop_assert!(!mismatch.differences.is_empty());
        prop_assert!(!mismatch.to_string().is_empty());
    }

    #[test]
    fn what_is_written_is_read(calls in prop::collection::vec(call(), 0..6)) {
        let recording = Recording::new(calls);
        prop_assert_eq!(recording.to_string().parse::<Recording>().unwrap(), recording);
    }

    #[test]
    fn a_cut_recording_has_whole_calls_or_is_refused(
        calls in prop::collection::vec(call(), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = Recording::new(calls.clone()).to_string();
        if let Some(read) = read_any(&text.as_bytes()[..cut.index(text.len())]) {
            prop_assert!(calls.starts_with(read.calls()));
        }
    }

    #[test]
    fn a_lost_line_is_noticed(
        calls in prop::collection::vec(call(), 1..4),
        lost in any::<prop::sample::Index>(),
    ) {
        let text = Recording::new(calls.clone()).to_string();
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let lost = lines.remove(lost.index(lines.len()));
        let read = read_any(lines.concat().as_bytes());
        // An empty line says nothing.
        prop_assert_eq!(read.is_some(), lost.trim().is_empty(), "{}", lost);
    }

    #[test]
    fn noise_in_a_recording_does_not_panic(
        calls in prop::collection::vec(call(), 1..4),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut bytes = Recording::new(calls).to_string().into_bytes();
        for (place, byte, what) in places {
            let at = place.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        read_any(&bytes);
    }

    #[test]
    fn noise_does_not_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        text in "(mlx5-recording 1\n)?([a-z0-9: #\n]{0,20}(modify cq|at|input|output|result errno) [0-9a-fx]{0,24}\n){0,6}",
    ) {
        read_any(&bytes);
        read_any(text.as_bytes());
    }
}

/// A recording that is right.
const GOOD: &str = "\
mlx5-recording 1

modify cq 0x1
  at 42
  input 16
    0000: 04030000 00000000 00000001 00000000
  output 16
    0000: 16 zeros
  result ok
";

#[test]
fn faults_name_line_column_and_remedy() {
    let cases = [
        ("mlx5-recording 1", "mlx5-recording 2", "line 1, column 1: this is no recording of a"),
        ("modify", "change", "line 3, column 1: `change` is no method; a call begins with"),
        ("modify", "destroy", "line 3, column 9: destroy does not end a cq; it ends objects of"),
        ("cq", "cqq", "line 3, column 8: `cqq` is no kind of object; the kinds are devx, qp"),
        ("0x1\n", "0x1 2\n", "line 3, column 15: `2` is too much; the line ends before it"),
        ("0x1\n", "\n", "line 3, column 10: the handle is missing; a handle is a hex number"),
        ("0x1\n", "0x10000000000000000\n", "line 3, column 11: `0x10000000000000000` is no handle"),
        (
            "at 42",
            "at 18446744073709551616",
            "line 4, column 6: `18446744073709551616` is no number",
        ),
        ("at 42", "at", "line 4, column 5: a number is missing; write microseconds"),
        ("  at 42\n", "", "line 4, column 3: `input` is out of place; a line that begins with at"),
        ("input 16", "input 9999999", "line 5, column 9: `9999999` is no number from 0 to 1048576"),
        ("input 16", "input 17", "line 7, column 3: `output` is no such row; the mailbox has 17"),
        ("input 16", "input 15", "line 6, column 46: the row has 16 bytes; 15 belong here"),
        ("04030000 ", "0403000 ", "line 6, column 11: an odd number of hex digits, 7; each byte"),
        ("04030000 ", "04x30000 ", "line 6, column 13: `x` is no hex digit; bytes are written as"),
        ("16 zeros", "17 zeros", "line 8, column 11: `17` is no number from 0 to 16; write a"),
        ("16 zeros", "0 zeros", "line 8, column 11: a row of nothing; a number of zeros from 1"),
        ("0000: 16", "0010: 16", "line 8, column 5: `0010:` is no such row; the mailbox has 16"),
        ("result ok", "result handle 0x1", "line 9, column 10: `handle` is no result of modify"),
        ("result ok", "result errno 0", "line 9, column 16: 0 is no errno; an errno is from 1 to"),
        ("result ok", "result errno 4096", "line 9, column 16: `4096` is no number from 0 to 4095"),
        (
            "  result ok\n",
            "",
            "line 9, column 1: the call is cut off; a line that begins with result",
        ),
        ("result ok\n", "result ok", "line 9, column 12: the line has no end; end the last line"),
        (
            "  output",
            "  before 4\n 0000: 00000001\n  output",
            "line 9, column 10: the output has 16",
        ),
    ];
    assert!(GOOD.parse::<Recording>().is_ok());
    for (from, to, message) in cases {
        assert!(GOOD.contains(from), "{from}");
        let error = GOOD.replacen(from, to, 1).parse::<Recording>().unwrap_err().to_string();
        assert!(error.starts_with(message), "{to}: {error}");
    }
    let create = "create\n at 1\n input 4\n 0000: 0a000000\n output 0\n result ok\n";
    let error = format!("mlx5-recording 1\n{create}").parse::<Recording>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 7, column 9: `ok` is no result of create; create ends with `result handle 0x1` or \
         `result errno 22`"
    );
    let longest = format!("mlx5-recording 1\n#{}\n", "x".repeat(4094));
    assert_eq!(longest.parse::<Recording>().unwrap(), Recording::default());
    let long = format!("mlx5-recording 1\n#{}", "x".repeat(5000));
    let error = long.parse::<Recording>().unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 4097: the line is longer than 4096"), "{error}");
    let error = Recording::read(&b"mlx5-recording 1\n\xc3\xa4\xff\n"[..]).unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 2: this is not UTF-8"), "{error}");
}

#[test]
fn a_refusal_is_told_beside_its_output() {
    let recorder = Recorder::new(adapter(), Vec::new());
    let cq = Cq::new(&recorder, Handle(1), Cqn::new(1));
    cq.modify(&mut ModifyCqIn::new().with_op_mod(ModifyCqOpMod(7))).expect_err("refused");
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(1)).expect("changed");
    cq.query(&mut QueryCqIn::new()).expect("its context");
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    assert!(text.contains("  output 16  # bad parameter, syndrome 0x510004\n"), "{text}");
    assert_eq!(text.matches("syndrome").count(), 1, "{text}");
    let again = Recording::read(text.as_bytes()).expect("it is read");
    assert_ne!(again, Recording::default());
    assert_eq!(again, Recording::read(text.as_bytes()).expect("it is read"));
}

#[test]
fn short_lines_do_not_fill_the_memory() {
    let mut text = "mlx5-recording 1\n".to_owned();
    for _ in 0..200 {
        text += "general\n at 1\n input 1048576\n 0000: 1048576 zeros\n output 1048576\n \
                 0000: 1048576 zeros\n result ok\n";
    }
    let error = text.parse::<Recording>().unwrap_err().to_string();
    assert!(error.contains("more than 268435456 bytes together; cut the recording"), "{error}");

    // What is before an output counts, too: 3 MiB each, and 1 MiB.
    let whole = "general\n at 1\n input 1048576\n 0000: 1048576 zeros\n output 1048576\n \
                 0000: 1048576 zeros\n result ok\n";
    let last = "general\n at 1\n input 1048576\n 0000: 1048576 zeros\n output 0\n result ok\n";
    let most = format!("mlx5-recording 1\n{}{last}", whole.repeat(85));
    assert_eq!(most.parse::<Recording>().expect("not too much").calls().len(), 86);
    let more = format!("{most}general\n at 1\n input 1\n 0000: 00\n output 0\n result ok\n");
    assert!(more.parse::<Recording>().is_err());
}

/// Records one change of the period of the CQ.
fn period_of(period: u16) -> Recording {
    let recorder = Recorder::new(adapter(), Vec::new());
    let cq = Cq::new(&recorder, Handle(1), number());
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(period)).unwrap();
    String::from_utf8(recorder.finish().unwrap()).unwrap().parse().unwrap()
}

/// The number of the CQ that the adapter has.
fn number() -> Cqn {
    Cqn::new(1)
}

#[test]
fn a_mismatch_names_fields() {
    let replayer = Replayer::strict(period_of(16));
    let cq = Cq::new(&replayer, Handle(1), number());
    let error = cq.modify(&mut ModifyCqIn::new().changing_cq_period(32)).unwrap_err();
    assert_eq!(error.errno(), Replayer::MISMATCH);
    let text = replayer.mismatch().unwrap().to_string();
    let expected = "\
call 1 of the replay is not in the recording: modify cq 0x1, MODIFY_CQ(0x403)
  compared with call 1 (line 3): modify cq 0x1, MODIFY_CQ(0x403)
  what                  recorded  now
  cq_context.cq_period  0x10      0x20";
    assert_eq!(text, expected);
    // What follows fails, too, and the first difference is kept.
    assert!(cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)).is_err());
    assert_eq!(replayer.mismatch().unwrap().to_string(), text);
    let unfinished = replayer.finish().unwrap_err();
    assert_eq!(unfinished.not_made.len(), 1);
    assert!(unfinished.to_string().ends_with(
        "1 recorded call was not made:\n  call 1 (line 3): modify cq 0x1, MODIFY_CQ(0x403)"
    ));
}

fn differences(recorded: &[u8], now: &[u8]) -> Vec<(String, String, String)> {
    let recorder = Recorder::new(Adapter::new(), Vec::new());
    let _ = recorder.general(recorded, &mut [0; 16]);
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    let replayer = Replayer::strict(text.parse().unwrap());
    assert_eq!(replayer.general(now, &mut [0; 16]), Err(Replayer::MISMATCH));
    let all = replayer.mismatch().unwrap().differences;
    all.into_iter().map(|d| (d.what, d.recorded, d.now)).collect()
}

fn told(what: &str, recorded: &str, now: &str) -> (String, String, String) {
    (what.to_owned(), recorded.to_owned(), now.to_owned())
}

#[test]
fn differences_without_a_field_are_bytes() {
    let query = *QueryCqIn::new().as_bytes();
    let mut reserved = query;
    reserved[13] = 7;
    assert_eq!(differences(&query, &reserved), [told("bytes 0xc..0x10", "00000000", "00070000")]);
    let unknown = [0xff, 0xfe, 0, 0, 0, 0, 0, 1];
    let other = [0xff, 0xfe, 0, 0, 0, 0, 0, 2, 9];
    assert_eq!(
        differences(&unknown, &other),
        [
            told("length of the input", "8 bytes", "9 bytes"),
            told("bytes 0x4..0x9", "0000000100", "0000000209"),
        ]
    );
    assert_eq!(
        differences(&query, ModifyCqIn::new().as_bytes()),
        [
            told("length of the input", "16 bytes", "272 bytes"),
            told("opcode", "QUERY_CQ(0x402)", "MODIFY_CQ(0x403)"),
        ]
    );
}

#[test]
fn differences_have_the_names_of_values_and_bits() {
    let modify = ModifyCqIn::new().with_cqn(number());
    let context = Cqc::new().with_status(CqStatus::OVERFLOW).with_oi(true).with_cc(true);
    let now = modify.changing_cq_period(1).with_cq_context(context);
    assert_eq!(
        differences(modify.as_bytes(), now.as_bytes()),
        [
            told(
                "modify_field_select_resize_field_select.modify_field_select.modify_field_select",
                "0x0",
                "0x1 (cq_period)"
            ),
            told("cq_context.status", "0x0 (OK)", "0x9 (OVERFLOW)"),
            told("cq_context.cc", "0x0", "0x1"),
            told("cq_context.oi", "0x0", "0x1"),
        ]
    );
    // A field within is told where each byte of the layout differs.
    let mut all = modify;
    all.as_bytes_mut()[0xc..0x10].fill(0xff);
    let fields = differences(modify.as_bytes(), all.as_bytes());
    assert!(fields[0].0.starts_with("modify_field_select_resize_field_select."), "{fields:?}");
    assert_eq!(fields.len(), 1, "{fields:?}");
    // The input ends before its context.
    let [short, other] =
        [modify, modify.with_cqn(Cqn::new(7))].map(|m| m.as_bytes()[..12].to_vec());
    assert_eq!(differences(&short, &other), [told("cqn", "0x1", "0x7")]);
}

#[test]
fn differences_in_a_register_are_its_fields() {
    let port = PaosReg::new().with_local_port(1).with_ase(true);
    let recorder = Recorder::new(Adapter::new(), Vec::new());
    let _ = write_register(&recorder, port.with_admin_status(PortAdminStatus::UP));
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    let replayer = Replayer::by_key(text.parse().unwrap());
    let _ = write_register(&replayer, port);
    let mismatch = replayer.mismatch().unwrap();
    assert_eq!(mismatch.differences.len(), 1, "{mismatch}");
    assert_eq!(mismatch.differences[0].what, "paos_reg.admin_status");
}

/// Inputs that end before the layout that they name, of which some are as long as what names it.
#[test]
fn differences_in_short_inputs_are_bytes() {
    let create = [0x0a, 0, 0, 0, 0, 0, 0, 0x0d];
    let paos = [0x08, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0x50, 6];
    for input in [&create[..], &paos] {
        for len in input.len()..20 {
            let mut recorded = input.to_vec();
            recorded.resize(len, 0);
            let mut now = recorded.clone();
            now[4] = 1;
            let all = differences(&recorded, &now);
            assert_eq!(all.len(), 1, "{len}: {all:?}");
        }
    }
}

#[test]
fn by_key_the_most_similar_call_is_compared() {
    let recorder = Recorder::new(adapter(), Vec::new());
    let modify = |transport: &dyn Transport, period, count| {
        let cq = Cq::new(transport, Handle(1), number());
        cq.modify(&mut ModifyCqIn::new().changing_cq_period(period).changing_cq_max_count(count))
    };
    for period in [1, 2, 3] {
        modify(&recorder, period, period).unwrap();
    }
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    let replayer = Replayer::by_key(text.parse().unwrap());
    modify(&replayer, 2, 7).unwrap_err();
    let mismatch = replayer.mismatch().unwrap();
    assert_eq!(mismatch.recorded.unwrap().number, 2);
    assert_eq!(mismatch.differences.len(), 1);
    assert_eq!(mismatch.differences[0].what, "cq_context.cq_max_count");
}

/// Recordings of queries of objects: kind, handle and input of each.
fn queries(all: &[(TargetKind, u64, &[u8])]) -> Recording {
    let call = |(kind, handle, input): &(TargetKind, u64, &[u8])| Call {
        method: Method::Query,
        target: Some(Target { kind: *kind, handle: Handle(*handle) }),
        at: Duration::ZERO,
        input: input.to_vec(),
        before: Vec::new(),
        output: Vec::new(),
        result: Ok(None),
    };
    Recording::new(all.iter().map(call).collect())
}

/// The number of the recorded query that another is compared with, and what differs.
fn compared(
    recording: &Recording,
    query: (TargetKind, u64, &[u8]),
) -> (Option<usize>, Vec<String>) {
    let replayer = Replayer::by_key(recording.clone());
    let target = Target { kind: query.0, handle: Handle(query.1) };
    assert_eq!(replayer.query(target, query.2, &mut []), Err(Replayer::MISMATCH));
    let mismatch = replayer.mismatch().unwrap();
    let what = mismatch.differences.into_iter().map(|d| d.what).collect();
    (mismatch.recorded.map(|place| place.number), what)
}

#[test]
fn the_most_similar_call_is_of_the_same_command_and_counts_object_bytes_and_length() {
    use TargetKind::{Cq, Devx, Qp};
    let query = [4, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let [mut other, mut far] = [query; 2];
    other[11] = 2;
    far[8..].fill(9);
    let both = queries(&[(Devx, 1, &query), (Devx, 2, &query)]);
    // The same bytes for another object, and another byte for one of the two.
    assert_eq!(compared(&both, (Devx, 3, &query)), (Some(1), vec!["object".into()]));
    assert_eq!(compared(&both, (Devx, 2, &other)), (Some(2), vec!["cqn".into()]));
    assert_eq!(compared(&both, (Devx, 1, &other)), (Some(1), vec!["cqn".into()]));
    // Bytes that are missing differ.
    let lengths = queries(&[(Devx, 1, &far), (Devx, 1, &query[..10])]);
    assert_eq!(compared(&lengths, (Devx, 1, &query)).0, Some(2));
    let lengths = queries(&[(Devx, 1, &query[..4]), (Devx, 1, &other)]);
    assert_eq!(compared(&lengths, (Devx, 1, &query)).0, Some(2));
    // Another command of the same method is not compared.
    assert_eq!(compared(&both, (Devx, 1, &[4, 1, 0, 0])), (None, vec![]));
    // An object of another kind is another, whatever its handle.
    let (number, what) = compared(&queries(&[(Cq, 1, &query)]), (Qp, 1, &query));
    assert_eq!((number, what), (Some(1), vec!["object".to_owned()]));
}

#[test]
fn a_devx_object_is_the_recorded_one() {
    let query = [4, 2, 0, 0];
    let replayer = Replayer::strict(queries(&[(TargetKind::Devx, 1, &query)]));
    let target = |handle| Target { kind: TargetKind::Devx, handle: Handle(handle) };
    assert_eq!(replayer.query(target(2), &query, &mut []), Err(Replayer::MISMATCH));
    let mismatch = replayer.mismatch().unwrap();
    assert_eq!(mismatch.differences[0].what, "object");
}

#[test]
fn the_uid_and_the_handles_of_verbs_may_differ() {
    let modify = |period, handle, uid, transport: &dyn Transport| {
        let input = ModifyCqIn::new().with_cqn(number()).with_uid(uid).changing_cq_period(period);
        let target = Target { kind: TargetKind::Cq, handle: Handle(handle) };
        transport.modify(target, input.as_bytes(), &mut [0; 16])
    };
    let recorder = Recorder::new(adapter(), Vec::new());
    modify(16, 1, 0, &recorder).unwrap();
    modify(17, 1, 0, &recorder).unwrap();
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();

    let replayer = Replayer::strict(text.parse().unwrap());
    modify(16, 0x7fff_0000, 5, &replayer).unwrap();
    // From here on the handle stands for the recorded one.
    assert_eq!(modify(17, 1, 5, &replayer), Err(Replayer::MISMATCH));
    let mismatch = replayer.mismatch().unwrap();
    assert_eq!(mismatch.differences.len(), 1);
    assert_eq!(mismatch.differences[0].what, "object");
}

#[test]
fn by_key_repeats_what_can_be_repeated() {
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(4));
    let recorder = Recorder::new(adapter(), Vec::new());
    let handle = recorder.create(create.as_bytes(), &mut [0; 16]).unwrap();
    let cq = Cq::new(&recorder, Handle(1), number());
    cq.query(&mut QueryCqIn::new()).unwrap();
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)).unwrap();
    cq.query(&mut QueryCqIn::new()).unwrap();
    recorder.destroy(handle).unwrap();
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();

    let replayer = Replayer::by_key(text.parse().unwrap());
    let cq = Cq::new(&replayer, Handle(1), number());
    let period = || cq.query(&mut QueryCqIn::new()).unwrap().cq_context().cq_period();
    assert_eq!([period(), period(), period()], [0, 16, 16]);
    replayer.destroy(handle).unwrap();
    assert_eq!(replayer.create(create.as_bytes(), &mut [0; 16]), Ok(handle));
    assert_eq!(replayer.finish().unwrap_err().not_made.len(), 1);
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)).unwrap();
    assert_eq!(replayer.finish(), Ok(()));

    let again = replayer.create(create.as_bytes(), &mut [0; 16]);
    assert_eq!(again, Err(Replayer::MISMATCH));
    assert!(replayer.mismatch().unwrap().to_string().contains("given once"));
    assert_eq!(period(), 16); // a mismatch ends nothing here
}

#[test]
fn an_answer_fills_the_output_unless_the_recorded_call_left_it_alone() {
    let query = |transport: &dyn Transport, cqn, before| {
        let target = Target { kind: TargetKind::Cq, handle: Handle(1) };
        let mut output = vec![before; 272];
        let input = QueryCqIn::new().with_cqn(Cqn::new(cqn));
        (transport.query(target, input.as_bytes(), &mut output), output)
    };
    let recorder = Recorder::new(adapter(), Vec::new());
    let (answered, answer) = query(&recorder, 1, 0);
    let modify = |transport: &dyn Transport, before| {
        let target = Target { kind: TargetKind::Cq, handle: Handle(1) };
        let mut output = [before; 16];
        let input = ModifyCqIn::new().with_cqn(number()).changing_cq_period(1);
        (transport.modify(target, input.as_bytes(), &mut output), output)
    };
    // Zeros upon zeros: that the answer was written can't be seen.
    assert_eq!(modify(&recorder, 0), (Ok(()), [0; 16]));
    let (refused, _) = query(&recorder, 9, 0); // the kernel refuses it: another object
    assert_eq!((answered, refused), (Ok(()), Err(Errno::INVAL)));
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();

    let replayer = Replayer::strict(text.parse().unwrap());
    assert_eq!(query(&replayer, 1, 0xff), (Ok(()), answer));
    assert_eq!(modify(&replayer, 0xff), (Ok(()), [0; 16]));
    assert_eq!(query(&replayer, 9, 0xff), (Err(Errno::INVAL), vec![0xff; 272]));
    assert_eq!(replayer.finish(), Ok(()));
}

/// With EREMOTEIO there is a status, also where the output held the same before.
#[test]
fn a_refusal_is_replayed_into_any_output() {
    let adapter = adapter();
    let unknown = QueryCqIn::new().with_cqn(number()).with_op_mod(7);
    let query = |transport: &dyn Transport, output: &mut [u8]| {
        let target = Target { kind: TargetKind::Cq, handle: Handle(1) };
        transport.query(target, unknown.as_bytes(), output)
    };
    let recorder = Recorder::new(adapter, Vec::new());
    let mut output = [0; 272];
    for _ in 0..2 {
        assert_eq!(query(&recorder, &mut output), Err(Errno::REMOTEIO));
    }
    let text = String::from_utf8(recorder.finish().unwrap()).unwrap();
    let replayer = Replayer::strict(text.parse().unwrap());
    for _ in 0..2 {
        let mut replayed = [0; 272];
        assert_eq!(query(&replayer, &mut replayed), Err(Errno::REMOTEIO));
        assert_eq!(replayed, output);
        assert_ne!(replayed[0], 0);
    }
}

/// A writer that panics the second time.
struct PanicsOnce(usize);

impl Write for PanicsOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        assert!(self.0 != 2, "as a broken writer does");
        assert!(self.0 < 2, "nothing is written after a failure");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_panics_has_failed() {
    let recorder = Recorder::new(adapter(), PanicsOnce(0));
    let query = || {
        let cq = Cq::new(&recorder, Handle(1), number());
        cq.query(&mut QueryCqIn::new()).unwrap();
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(query)).expect_err("the writer panics");
    query();
    assert_eq!(recorder.failure().unwrap().0, io::ErrorKind::Other);
    query();
    assert_eq!(recorder.finish().err().unwrap().to_string(), "the writer panicked");

    let recorder = Recorder::new(adapter(), PanicsOnce(0));
    let call = || recorder.general(&[0; 16], &mut [0; 16]);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).expect_err("the writer panics");
    assert!(recorder.finish().is_err());
}

/// A writer that fails the second time.
struct FailsOnce(usize);

impl Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        assert!(self.0 <= 2, "nothing is written after a failure");
        if self.0 == 2 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failing_writer_is_told_and_stops_no_call() {
    let recorder = Recorder::new(adapter(), FailsOnce(0));
    assert_eq!(recorder.failure(), None);
    let cq = Cq::new(&recorder, Handle(1), number());
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)).unwrap();
    assert_eq!(cq.query(&mut QueryCqIn::new()).unwrap().cq_context().cq_period(), 16);
    assert_eq!(recorder.failure().unwrap().0, io::ErrorKind::StorageFull);
    assert_eq!(recorder.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);

    let recorder = Recorder::new(adapter(), Vec::new());
    let _ = recorder.general(&vec![0; (1 << 20) + 1], &mut [0; 16]);
    assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let recorder = Recorder::new(adapter(), Vec::new());
    let _ = recorder.general(&vec![0; 1 << 20], &mut [0; 16]);
    assert_eq!(format!("{recorder:?}"), "Recorder { .. }");
    assert!(recorder.finish().is_ok(), "this is the longest");
}

#[test]
fn both_go_between_threads_and_behind_an_arc() {
    fn shared<T: Send + Sync>(_: &T) {}
    let recorder = Arc::new(Recorder::new(adapter(), Vec::new()));
    let replayer = Replayer::strict(Recording::default());
    shared(&recorder);
    shared(&replayer);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let transport: Box<dyn Transport + Send> = Box::new(recorder.clone());
            scope.spawn(move || {
                let cq = Cq::new(&*transport, Handle(1), number());
                cq.query(&mut QueryCqIn::new()).unwrap();
            });
        }
    });
    let bytes = Arc::into_inner(recorder).unwrap().finish().unwrap();
    assert_eq!(Recording::read(&*bytes).unwrap().calls().len(), 4);
}

#[test]
fn the_recordings_in_the_documentation_are_read() {
    let page = include_str!("../../../docs/recordings.md");
    let blocks: Vec<&str> = page
        .split("```text\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|block| block.starts_with("mlx5-recording"))
        .collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        block.parse::<Recording>().unwrap();
    }
}
