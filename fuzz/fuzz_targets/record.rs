//! Recordings, and what is played from them.
//!
//! Bytes that begin with `mlx5` are a recording: it is read, or refused with line and column; what is
//! read and written is read as the same, whatever the line ends and comments. Other bytes are
//! a program of commands (see `mlx5_fuzz::commands`) on the simulated adapter behind a recorder, whose
//! text is read.
//!
//! Either way the recording, played by itself, strictly and by key, gives every result and output that
//! it holds, and nothing is left. Calls that are changed a little are told apart from those recorded,
//! and by what.
//!
//! For long: `cargo +nightly fuzz run record -- -max_total_time=3600 -dict=fuzz/dict/record.dict`
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use mlx5_devx::record::{Call, MAX_MAILBOX, ReadError, Recorder, Recording, Replayer};
use mlx5_devx::{TargetKind, Transport};
use mlx5_fuzz::commands::{Object, Outcome, Step};
use mlx5_prm::{Cqc, Qpc};
use mlx5_sim::Adapter;

fuzz_target!(|data: &[u8]| {
    if data.starts_with(b"mlx5") {
        text(data);
    } else {
        let _: Result<()> = program(&mut Unstructured::new(data));
    }
});

fn text(data: &[u8]) {
    match Recording::read(data) {
        // Short lines make mailboxes of up to a MiB; to play all of those takes long and says no more.
        Ok(recording)
            if recording.calls().iter().map(|c| c.input.len() + c.output.len()).sum::<usize>()
                < 0x8000 =>
        {
            check(&recording);
        }
        Ok(_) => {}
        Err(error) => {
            let ReadError::Text { line, column, problem, remedy } = &error else {
                panic!("{error}: there is no file");
            };
            let lines = data.iter().filter(|b| **b == b'\n').count();
            assert!((1..=lines + 2).contains(line), "{error}");
            let row = data.split(|b| *b == b'\n').nth(line - 1).unwrap_or_default();
            assert!((1..=row.len() + 1).contains(column), "{error} in {row:?}");
            assert!(!problem.is_empty() && !remedy.is_empty());
        }
    }
}

fn program(from: &mut Unstructured<'_>) -> Result<()> {
    let adapter = Adapter::new();
    let cq = adapter.create_cq(&Cqc::new()).expect("a CQ");
    let qp = adapter.create_qp(&Qpc::new()).expect("a QP");
    let mut objects = vec![
        Object::of_verbs(TargetKind::Cq, cq.handle, "cq", cq.number.get()),
        Object::of_verbs(TargetKind::Qp, qp.handle, "qp", qp.number.get()),
    ];
    let recorder = Recorder::new(adapter, Vec::new());
    let mut made: Vec<(Step, Outcome)> = Vec::new();
    while !from.is_empty() {
        let step = Step::read(from, &objects)?;
        let said = step.call(&recorder);
        step.note(&said, &mut objects);
        made.push((step, said));
    }
    let text = recorder.finish().expect("a Vec takes everything");
    let recording = Recording::read(&*text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(recording.to_string().as_bytes(), text);
    assert_eq!(recording.calls().len(), made.len());
    for (call, (step, (result, output))) in recording.calls().iter().zip(&made) {
        assert_eq!((call.method, call.target), (step.method, step.target));
        assert_eq!((&call.input, &call.result), (&step.input, result));
        assert_eq!((&call.before, &call.output), (&step.output, output));
    }
    check(&recording);
    Ok(())
}

fn check(recording: &Recording) {
    let written = recording.to_string();
    let again: Recording = written.parse().unwrap_or_else(|e| panic!("{e}:\n{written}"));
    assert_eq!(&again, recording);
    assert_eq!(again.to_string(), written);
    let other = written.replace('\n', "  # comment\r\n\n");
    assert_eq!(other.parse::<Recording>().ok().as_ref(), Some(recording));
    let longest = recording.calls().iter().map(|c| c.input.len().max(c.output.len())).max();
    assert!(longest.unwrap_or(0) <= MAX_MAILBOX);
    play(&Replayer::by_key(recording.clone()), recording.calls());
    let strict = Replayer::strict(recording.clone());
    play(&strict, recording.calls());
    // One more is one too many.
    assert_eq!(strict.general(&[0; 16], &mut [0; 16]), Err(Replayer::MISMATCH));
    assert!(strict.finish().is_err());
    for call in recording.calls().iter().filter(|call| !call.input.is_empty()).take(4) {
        differ(recording, call);
    }
}

/// What is said of calls that are nearly the recorded one: another bit, bytes fewer, bytes more.
fn differ(recording: &Recording, call: &Call) {
    let len = call.input.len();
    let bits = [0, 7, 8, 12, 15, 16, 24].map(|at| len.saturating_sub(1).min(at)).into_iter();
    let changed = bits.chain([len / 2, len - 1]).map(|at| {
        let mut input = call.input.clone();
        input[at] ^= 0x80 >> (at % 8);
        input
    });
    let cut = [1, len / 2].map(|less| call.input[..len - less].to_vec());
    let longer = [call.input.clone(), vec![1; 5]].concat();
    for input in changed.chain(cut).chain([longer]) {
        let replayer = Replayer::by_key(recording.clone());
        let step = Step {
            method: call.method,
            target: call.target,
            object: None,
            makes: None,
            input,
            output: call.before.clone(),
        };
        let (result, _) = step.call(&replayer);
        // It may be another call of the recording, or the same but for the uid.
        let Some(mismatch) = replayer.mismatch() else { continue };
        assert_eq!(result, Err(Replayer::MISMATCH));
        assert_eq!(mismatch.number, 1);
        assert_eq!(mismatch.recorded.is_some(), !mismatch.differences.is_empty(), "{mismatch}");
        assert!(mismatch.differences.iter().all(|d| d.recorded != d.now), "{mismatch}");
    }
}

fn play(replayer: &Replayer, calls: &[Call]) {
    for call in calls {
        let step = Step {
            method: call.method,
            target: call.target,
            object: None,
            makes: None,
            input: call.input.clone(),
            output: call.before.clone(),
        };
        let (result, output) = step.call(replayer);
        assert!(replayer.mismatch().is_none(), "{}", replayer.mismatch().expect("one"));
        assert_eq!((&result, &output), (&call.result, &call.output), "{call}");
    }
    replayer.finish().unwrap_or_else(|e| panic!("{e}"));
}
