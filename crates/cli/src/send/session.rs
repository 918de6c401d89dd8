//! A run: commands are sent, each on the objects that those before made.

use mlx5_devx::record::{Method, Replayer};
use mlx5_devx::{Errno, Handle, Target, TargetKind, outcome};
use mlx5_prm::Verb;

use super::answer::Writer;
use super::object::{Kind, OnObject};
use super::step::Step;
use crate::decode::value;
use crate::error::{Error, tell};
use crate::progress::Waiting;
use crate::transport::{Interface, Line};
use crate::view::{Request, View};

/// Room for a list whose length is not known.
const LIST: usize = 4096;

/// Room for an answer of which no layout is known.
const UNKNOWN: usize = 512;

/// The shortest output that the kernel takes.
const HEAD: usize = 16;

/// An object that this run made.
#[derive(Debug)]
struct Made {
    kind: Kind,
    number: u64,
    handle: Handle,
    /// For people.
    name: String,
}

/// What was done so far.
pub(super) struct Session<'l> {
    line: &'l Line,
    /// Bytes of room for each answer.
    room: Option<usize>,
    objects: Vec<Made>,
    /// The numbers that the commands made, for references.
    numbers: Vec<Option<u64>>,
}

/// How a command goes to the transport.
enum Send {
    Create,
    Modify(Target),
    Query(Target),
    General,
    End(usize),
}

impl<'l> Session<'l> {
    pub(super) fn new(line: &'l Line, room: Option<usize>) -> Self {
        Session { line, room, objects: Vec::new(), numbers: Vec::new() }
    }

    /// Sends a command, and writes its answer.
    pub(super) fn send(&mut self, step: &Step, writer: &mut Writer<'_>) -> Result<(), Error> {
        let mut input = step.input(&self.numbers)?;
        let on = OnObject::of(&input);
        let send = self.how(on, &mut input)?;
        let request = Request::of(&input).unwrap_or_default();
        writer.request(&input)?;
        let waiting = Waiting::new(request.name());
        if let Send::End(index) = send {
            let object = self.objects.remove(index);
            self.line
                .transport()
                .destroy(object.handle)
                .map_err(|errno| not_ended(&object, errno))?;
            self.numbers.push(None);
            return writer.done(&request.name(), &format!("{} ended", object.name));
        }
        let view = View::of_output(request);
        let mut output = vec![0; self.room(&input, view.as_ref())];
        let transport = self.line.transport();
        let result = match send {
            Send::Create => transport.create(&input, &mut output).map(Some),
            Send::Modify(target) => transport.modify(target, &input, &mut output).map(|()| None),
            Send::Query(target) => transport.query(target, &input, &mut output).map(|()| None),
            _ => transport.general(&input, &mut output).map(|()| None),
        };
        drop(waiting);
        let shown = self.trimmed(view.as_ref(), &output);
        match outcome(&input, &output, result) {
            Ok(handle) => {
                let note = self.keep(on, handle, &input, &output);
                writer.answer(request, shown, note.as_deref())
            }
            Err(error) => {
                if let mlx5_devx::Error::Firmware { .. } = error {
                    writer.answer(request, shown, None)?;
                }
                Err(Error::Refused(self.line.why(&input, &error)))
            }
        }
    }

    /// Ends the objects, the last one first.
    pub(super) fn end(self) -> Result<(), Error> {
        let mut result = Ok(());
        for object in self.objects.iter().rev() {
            match self.line.transport().destroy(object.handle) {
                Ok(()) => {}
                // What was recorded ended by itself.
                Err(Replayer::MISMATCH) if self.line.interface().is_none() => {}
                Err(errno) if result.is_ok() => result = Err(not_ended(object, errno)),
                Err(errno) => tell(not_ended(object, errno)),
            }
        }
        result
    }

    /// How the command goes; the number of an object that the run made is put into it.
    fn how(&self, on: Option<OnObject>, input: &mut [u8]) -> Result<Send, Error> {
        if let Some(on) = on.filter(|_| self.line.interface() != Some(Interface::Fwctl)) {
            if on.verb == Verb::Create {
                return Ok(Send::Create);
            }
            if let Some(index) = self.object(on, input)? {
                let object = &self.objects[index];
                on.place.write(input, object.number);
                let target = Target { kind: TargetKind::Devx, handle: object.handle };
                return Ok(match on.verb {
                    Verb::Query => Send::Query(target),
                    Verb::Destroy => Send::End(index),
                    _ => Send::Modify(target),
                });
            }
        }
        // A recording says how it went.
        let recorded = self.line.recorded(input).map(|call| (call.method, call.target));
        Ok(match recorded {
            Some((Method::Create, _)) => Send::Create,
            Some((Method::Modify, Some(target))) => Send::Modify(target),
            Some((Method::Query, Some(target))) => Send::Query(target),
            _ => Send::General,
        })
    }

    /// The object that is meant: that with the number, or the last one of its kind when there is none.
    fn object(&self, on: OnObject, input: &[u8]) -> Result<Option<usize>, Error> {
        let number = on.place.read(input).unwrap_or_default();
        let meant =
            |object: &Made| object.kind == on.kind && (number == 0 || object.number == number);
        let found = self.objects.iter().rposition(meant);
        if found.is_some() || self.line.interface().is_none() {
            return Ok(found);
        }
        let command = Request::of(input).unwrap_or_default().name();
        Err(Error::Input(match number {
            0 => format!("{command} works on an object ({}), and none is left", on.kind_text()),
            _ => format!(
                "{command} names {}, which this run did not make\nLeave the number out for the last one.",
                on.called(number)
            ),
        }))
    }

    /// Keeps what a command made, and tells it.
    fn keep(
        &mut self,
        on: Option<OnObject>,
        handle: Option<Handle>,
        input: &[u8],
        output: &[u8],
    ) -> Option<String> {
        let made = handle.map(|handle| {
            let number = on.and_then(|on| on.place.read(if on.named { input } else { output }));
            (handle, number)
        });
        self.numbers.push(made.and_then(|(_, number)| number));
        let (handle, number) = made?;
        let kind = on.map_or(Kind::Named(""), |on| on.kind);
        let name = match (on, number) {
            (Some(on), Some(number)) => on.called(number),
            _ => "an object without a number".to_owned(),
        };
        let note = format!("made {name}, handle {:#x}; it ends with this run", handle.0);
        self.objects.push(Made { kind, number: number.unwrap_or_default(), handle, name });
        Some(note)
    }

    /// Bytes of room for the answer.
    fn room(&self, input: &[u8], view: Option<&View>) -> usize {
        let recorded = self.line.recorded(input).map(|call| call.output.len());
        let own = || match view {
            Some(view) if has_list(view) => view.size() + LIST,
            Some(view) => view.size(),
            None => UNKNOWN,
        };
        self.room.or(recorded).unwrap_or_else(own).max(HEAD)
    }

    /// An answer without the room that its list did not need.
    fn trimmed<'b>(&self, view: Option<&View>, output: &'b [u8]) -> &'b [u8] {
        let Some(view) = view.filter(|view| self.room.is_none() && has_list(view)) else {
            return output;
        };
        let used = output.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let whole = |len: &usize| value::trailing(view, &output[..*len]).is_empty();
        let len = (used.max(view.size())..output.len()).find(whole);
        &output[..len.unwrap_or(output.len())]
    }
}

fn has_list(view: &View) -> bool {
    view.layouts().last().is_some_and(|layout| layout.has_list())
}

fn not_ended(object: &Made, errno: Errno) -> Error {
    Error::Refused(format!("{} can't be ended: {errno}", object.name))
}
