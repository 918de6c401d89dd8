//! Answers calls from a recording.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::call::{Call, Method, Request};
use super::difference::differences;
use super::mismatch::{Mismatch, Unfinished};
use super::recording::Recording;
use crate::{Errno, Handle, Target, TargetKind, Transport};

/// A transport that answers from a [`Recording`], without an adapter.
///
/// A request is the recorded one when method, object, input and length of the output are. Two
/// things are not compared as they stand:
/// * `uid`, bytes 2 and 3 of an input: the kernel replaces whatever a program puts there.
/// * The handle of an object that verbs made: each run has its own, in libmlx5 an address. The
///   first request that may stand for a recorded one ties the two handles together, and from then
///   on each goes with the other only. Handles of objects that `create` makes come from the
///   recording, so they are compared as they are.
///
/// Numbers in the mailboxes (a CQN, a PD) are compared: a test gives its objects the recorded ones.
/// What the output holds before a call is not compared.
///
/// An answer fills the whole output with what was recorded. A failed call that had left its output
/// alone does so again, but for EREMOTEIO, with which the output always has the refusal. Time is not
/// replayed.
///
/// ```
/// use mlx5_devx::record::{Recording, Replayer};
/// use mlx5_devx::Transport;
///
/// let recording: Recording = "mlx5-recording 1
/// general
///   at 12
///   input 4  # NOP
///     0000: 080d0000
///   output 16
///     0000: 16 zeros
///   result errno 22  # EINVAL
/// ".parse()?;
///
/// let replayer = Replayer::strict(recording);
/// let mut output = [0; 16];
/// assert_eq!(replayer.general(&[0x08, 0x0d, 0, 0], &mut output).unwrap_err().raw_os_error(), 22);
/// replayer.finish()?; // every recorded call was made
///
/// assert_eq!(replayer.general(&[0x08, 0x0d, 0, 0], &mut output), Err(Replayer::MISMATCH));
/// println!("{}", replayer.mismatch().expect("a call too many"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replayer {
    recording: Recording,
    /// By key: the calls of each key, in the order of the recording. `None`: strictly.
    by_key: Option<HashMap<Key, Vec<usize>>>,
    state: Mutex<State>,
}

/// What is compared of a request but its handle.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    method: Method,
    kind: Option<TargetKind>,
    input: Vec<u8>,
    output_len: usize,
}

impl Key {
    fn of(request: &Request<'_>) -> Self {
        Key {
            method: request.method,
            kind: request.target.map(|target| target.kind),
            input: request.compared_input(),
            output_len: request.output_len,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    /// Calls of the replay.
    requests: usize,
    /// Which recorded calls were made.
    made: Vec<bool>,
    /// Strictly: the recorded call whose turn it is.
    next: usize,
    handles: Handles,
    mismatch: Option<Mismatch>,
}

/// Handles of verbs objects: the recorded one and that of this run, each way.
#[derive(Debug, Default)]
struct Handles {
    now: HashMap<Target, Handle>,
    recorded: HashMap<Target, Handle>,
}

impl Handles {
    /// Whether both may stand for one object.
    fn agree(&self, recorded: Option<Target>, now: Option<Target>) -> bool {
        let (Some(recorded), Some(now)) = (recorded, now) else { return recorded == now };
        if recorded.kind != now.kind || recorded.kind == TargetKind::Devx {
            return recorded == now;
        }
        self.now.get(&recorded).is_none_or(|handle| *handle == now.handle)
            && self.recorded.get(&now).is_none_or(|handle| *handle == recorded.handle)
    }

    fn tie(&mut self, recorded: Option<Target>, now: Option<Target>) {
        if let (Some(recorded), Some(now)) = (recorded, now) {
            self.now.insert(recorded, now.handle);
            self.recorded.insert(now, recorded.handle);
        }
    }
}

impl Replayer {
    /// What a request fails with that the recording does not have: `EBADE`, invalid exchange, which
    /// neither the kernel's DEVX interface nor libmlx5 gives.
    pub const MISMATCH: Errno = Errno::BADE;

    /// Answers calls in the recorded order only.
    ///
    /// After the first request that differs, every call fails with [`Replayer::MISMATCH`]: what
    /// would follow is not known, and the first difference is the cause of the others.
    pub fn strict(recording: Recording) -> Self {
        Self::new(recording, None)
    }

    /// Answers calls in any order.
    ///
    /// A request that was recorded several times gets the answers in their order. When all were
    /// given, modify, query and general get the last one again, as often as they ask; create and
    /// destroy don't, because an object is not made or ended twice. A request that is not there
    /// fails with [`Replayer::MISMATCH`], and those after it are still answered.
    pub fn by_key(recording: Recording) -> Self {
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for (index, call) in recording.calls().iter().enumerate() {
            by_key.entry(Key::of(&call.request())).or_default().push(index);
        }
        Self::new(recording, Some(by_key))
    }

    fn new(recording: Recording, by_key: Option<HashMap<Key, Vec<usize>>>) -> Self {
        let made = vec![false; recording.calls().len()];
        Replayer { recording, by_key, state: Mutex::new(State { made, ..State::default() }) }
    }

    /// The first request that the recording does not have.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.state().mismatch.clone()
    }

    /// Makes sure that the replay is what was recorded. The replayer may be used on.
    ///
    /// # Errors
    /// There was a request that the recording does not have, or a recorded call was not made; by
    /// key, too, where that may be what a test wants.
    pub fn finish(&self) -> Result<(), Unfinished> {
        let state = self.state();
        let left = state.made.iter().enumerate().filter(|(_, made)| !**made);
        let not_made: Vec<_> = left.map(|(index, _)| self.recording.place(index)).collect();
        if state.mismatch.is_none() && not_made.is_empty() {
            return Ok(());
        }
        Err(Unfinished { mismatch: state.mismatch.clone().map(Box::new), not_made })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, now: Request<'_>, output: &mut [u8]) -> Result<Option<Handle>, Errno> {
        let mut state = self.state();
        state.requests += 1;
        let found = match &self.by_key {
            None => self.next_in_order(&state, &now),
            Some(keys) => self.next_of_key(keys, &state, &now),
        };
        let index = match found {
            Ok(index) => index,
            Err(compared) => {
                if state.mismatch.is_none() {
                    state.mismatch = Some(self.describe(&state, &now, compared));
                }
                return Err(Self::MISMATCH);
            }
        };
        let call = &self.recording.calls()[index];
        state.made[index] = true;
        state.next = index + 1;
        state.handles.tie(call.target, now.target);
        // A buffer that is used again may have held the same refusal before.
        let answered = matches!(call.result, Ok(_) | Err(Errno::REMOTEIO));
        if answered || call.output != call.before {
            // The lengths were compared.
            output.copy_from_slice(&call.output);
        }
        call.result
    }

    /// The recorded call whose turn it is; an error with it when the request is another, and with
    /// nothing after the last.
    fn next_in_order(&self, state: &State, now: &Request<'_>) -> Result<usize, Option<usize>> {
        let index = state.next;
        let call = self.recording.calls().get(index).ok_or(None)?;
        let same = state.mismatch.is_none()
            && Key::of(&call.request()) == Key::of(now)
            && state.handles.agree(call.target, now.target);
        if same { Ok(index) } else { Err(Some(index)) }
    }

    /// The recorded call that answers the request; an error with the most similar.
    fn next_of_key(
        &self,
        keys: &HashMap<Key, Vec<usize>>,
        state: &State,
        now: &Request<'_>,
    ) -> Result<usize, Option<usize>> {
        let calls = self.recording.calls();
        let all = keys.get(&Key::of(now)).map_or(&[][..], |indices| indices);
        let agree = |index: &&usize| state.handles.agree(calls[**index].target, now.target);
        let mut last = None;
        for index in all.iter().filter(agree) {
            if !state.made[*index] {
                return Ok(*index);
            }
            last = Some(*index);
        }
        match last {
            Some(index) if !matches!(now.method, Method::Create | Method::Destroy) => Ok(index),
            Some(index) => Err(Some(index)),
            None => Err(self.most_similar(now)),
        }
    }

    fn most_similar(&self, now: &Request<'_>) -> Option<usize> {
        let opcode = mlx5_prm::opcode(now.input);
        let calls = self.recording.calls().iter().enumerate();
        calls
            .filter(|(_, call)| {
                call.method == now.method && mlx5_prm::opcode(&call.input) == opcode
            })
            .min_by_key(|(_, call)| unlikeness(call, now))
            .map(|(index, _)| index)
    }

    fn describe(&self, state: &State, now: &Request<'_>, compared: Option<usize>) -> Mismatch {
        let differences = compared.map(|index| {
            let recorded = self.recording.calls()[index].request();
            let same_object = state.handles.agree(recorded.target, now.target);
            differences(&recorded, now, same_object)
        });
        Mismatch {
            number: state.requests,
            request: now.summary(),
            recorded: compared.map(|index| self.recording.place(index)),
            differences: differences.unwrap_or_default(),
        }
    }
}

/// How many bytes differ; another object counts as one.
fn unlikeness(call: &Call, now: &Request<'_>) -> usize {
    let bytes = call.input.iter().zip(now.input).filter(|(a, b)| a != b).count();
    bytes + call.input.len().abs_diff(now.input.len()) + usize::from(call.target != now.target)
}

impl Transport for Replayer {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        let output_len = output.len();
        let now = Request { method: Method::Create, target: None, input, output_len };
        // A create without a handle can't be read, but it can be made in memory.
        self.answer(now, output)?.ok_or(Errno::PROTO)
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let (target, output_len) = (Some(target), output.len());
        self.answer(Request { method: Method::Modify, target, input, output_len }, output)?;
        Ok(())
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let (target, output_len) = (Some(target), output.len());
        self.answer(Request { method: Method::Query, target, input, output_len }, output)?;
        Ok(())
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        let target = Some(Target { kind: TargetKind::Devx, handle });
        let now = Request { method: Method::Destroy, target, input: &[], output_len: 0 };
        self.answer(now, &mut [])?;
        Ok(())
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        let output_len = output.len();
        let now = Request { method: Method::General, target: None, input, output_len };
        self.answer(now, output)?;
        Ok(())
    }
}
