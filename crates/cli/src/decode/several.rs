//! Mailboxes among several: of a log, or of a recording.

use std::io::{self, Write};

use mlx5_devx::record::Method;
use mlx5_devx::{Errno, Handle};
use serde_json::{Map, Value};

use super::{Form, flat, json, raw, tree};
use crate::names;
use crate::output::{Output, Paint};
use crate::view::{Direction, Request, View};

/// What is written in one go.
pub(super) struct Entry {
    pub(super) origin: Origin,
    pub(super) what: What,
}

/// Where it was found.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// In a log.
    Dump { line: u64, slot: Option<u32> },
    /// In a recording; `at` in microseconds.
    Call { line: usize, method: Method, summary: String, at: u64 },
}

pub(super) enum What {
    Mailbox(Mailbox),
    /// How a call ended.
    Result(Result<Option<Handle>, Errno>),
}

/// A mailbox, and what is known of it.
pub(super) struct Mailbox {
    pub(super) request: Option<Request>,
    pub(super) direction: Direction,
    pub(super) view: Option<View>,
    pub(super) bytes: Vec<u8>,
}

impl Entry {
    /// Writes it. `gap`: there is something before it.
    pub(super) fn write(&self, out: &mut Output, form: Form, gap: bool) -> io::Result<()> {
        if gap && matches!(form, Form::Tree(_)) {
            out.end_line()?;
        }
        match &self.what {
            What::Mailbox(mailbox) => mailbox.write(out, form, &self.origin),
            What::Result(result) => self.origin.write_result(out, form, *result),
        }
    }
}

impl Mailbox {
    fn write(&self, out: &mut Output, form: Form, origin: &Origin) -> io::Result<()> {
        let Mailbox { request, direction, view, bytes } = self;
        let title = |out: &mut Output| {
            origin.write(out);
            out.text(": ");
            match request {
                Some(request) => request.write(out),
                None => out.text(UNKNOWN),
            }
            out.text(" ");
            out.text(direction.word());
        };
        match form {
            Form::Json => {
                let mut facts = origin.facts();
                facts.insert("direction".to_owned(), direction.word().into());
                let command = request.map_or_else(|| UNKNOWN.to_owned(), Request::name);
                facts.insert("command".to_owned(), command.into());
                match view {
                    Some(view) => facts.extend(json::object(view, bytes)),
                    None => drop(facts.insert(json::BYTES.to_owned(), json::hex(bytes).into())),
                }
                writeln!(out, "{}", Value::from(facts))
            }
            Form::Flat { all } => {
                out.text("# ");
                title(out);
                out.end_line()?;
                match view {
                    Some(view) => flat::write(out, view, bytes, all),
                    None => writeln!(out, "# {}", json::hex(bytes)),
                }
            }
            Form::Tree(options) => {
                let options = tree::Options { words: false, ..options };
                match view {
                    Some(view) => tree::write(out, view, bytes, Some(&title), options),
                    None => raw(out, &title, bytes),
                }
            }
        }
    }
}

/// What a command is called that nothing names.
const UNKNOWN: &str = "unknown command";

impl Origin {
    /// For people.
    fn write(&self, out: &mut Output) {
        out.text("line ");
        match self {
            Origin::Dump { line, slot } => {
                out.decimal(*line);
                if let Some(slot) = slot {
                    out.text(", cmd[");
                    out.decimal((*slot).into());
                    out.text("]");
                }
            }
            Origin::Call { line, method, .. } => {
                out.decimal(*line as u64);
                out.text(", ");
                out.text(method.word());
            }
        }
    }

    /// For programs.
    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        match self {
            Origin::Dump { line, slot } => {
                facts.insert("line".to_owned(), (*line).into());
                if let Some(slot) = slot {
                    facts.insert("cmd".to_owned(), (*slot).into());
                }
            }
            Origin::Call { line, summary, at, .. } => {
                facts.insert("line".to_owned(), (*line).into());
                facts.insert("call".to_owned(), summary.as_str().into());
                facts.insert("at".to_owned(), (*at).into());
            }
        }
        facts
    }

    fn write_result(
        &self,
        out: &mut Output,
        form: Form,
        result: Result<Option<Handle>, Errno>,
    ) -> io::Result<()> {
        let said = match result {
            Ok(Some(handle)) => format!("handle {:#x}", handle.0),
            Ok(None) => "ok".to_owned(),
            Err(errno) => {
                let text = errno.to_string();
                // It ends with the number.
                let text = text.split(" (os error").next().unwrap_or_default();
                format!("errno {}: {text}", errno.raw_os_error())
            }
        };
        // A log has none.
        let Origin::Call { line, summary, at, .. } = self else { return Ok(()) };
        match form {
            Form::Json => {
                let mut facts = self.facts();
                facts.insert("result".to_owned(), said.into());
                writeln!(out, "{}", Value::from(facts))
            }
            Form::Tree(_) => {
                let paint = if result.is_ok() { Paint::Title } else { Paint::Alarm };
                out.painted(paint, &format!("line {line}, {summary}: {said}"));
                writeln!(out, ", at {at} us")
            }
            Form::Flat { .. } => writeln!(out, "# line {line}, {summary}: {said}"),
        }
    }
}

impl Request {
    /// Its [name](Request::name).
    fn write(self, out: &mut Output) {
        out.text(names::opcode_name(self.opcode).unwrap_or(Request::UNKNOWN));
        out.text("(");
        out.hex(self.opcode.into(), 1);
        out.text(")");
    }
}
