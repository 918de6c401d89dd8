//! What comes back of a command, written as mailboxes are.

use std::io::Write;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::decode::{self, Form, Shown, flat, json, tree};
use crate::error::Error;
use crate::output::{Output, Paint};
use crate::view::{Direction, Request, View};

/// How answers are written.
#[derive(Debug, Args)]
pub(crate) struct Answers {
    #[command(flatten)]
    shown: Shown,
    /// Writes what is sent, too.
    #[arg(long)]
    show_request: bool,
}

/// Writes mailboxes.
pub(crate) struct Writer<'o> {
    out: &'o mut Output,
    form: Form,
    show_request: bool,
    /// Whether there is more than one mailbox.
    several: bool,
    any: bool,
}

impl Answers {
    /// A writer of the answers of so many commands.
    pub(crate) fn writer<'o>(&self, out: &'o mut Output, commands: usize) -> Writer<'o> {
        let several = commands > 1 || self.show_request;
        let form = self.shown.form(several);
        Writer { out, form, show_request: self.show_request, several, any: false }
    }
}

impl Writer<'_> {
    /// Writes what is sent, if that is asked for.
    pub(crate) fn request(&mut self, input: &[u8]) -> Result<(), Error> {
        match Request::of(input) {
            Some(request) if self.show_request => {
                self.mailbox(request, Direction::Input, View::of_input(input), input, None)
            }
            _ => Ok(()),
        }
    }

    /// Writes what came back; `note` says what it made.
    pub(crate) fn answer(
        &mut self,
        request: Request,
        output: &[u8],
        note: Option<&str>,
    ) -> Result<(), Error> {
        self.mailbox(request, Direction::Output, View::of_output(request), output, note)
    }

    /// Writes what was done without an answer.
    pub(crate) fn done(&mut self, command: &str, note: &str) -> Result<(), Error> {
        match self.form {
            Form::Json => {
                let facts = json!({ "command": command, "result": note });
                self.json(facts)
            }
            Form::Flat { .. } => Ok(writeln!(self.out, "# {command}: {note}")?),
            Form::Tree(_) => {
                self.gap()?;
                let title = self.out.look.paint(Paint::Title, command);
                Ok(writeln!(self.out, "{title}: {note}")?)
            }
        }
    }

    fn mailbox(
        &mut self,
        request: Request,
        direction: Direction,
        view: Option<View>,
        bytes: &[u8],
        note: Option<&str>,
    ) -> Result<(), Error> {
        let title = format!("{} {}", request.name(), direction.word());
        match self.form {
            Form::Json => {
                let mut facts = Map::new();
                if self.several {
                    facts.insert("direction".to_owned(), direction.word().into());
                    facts.insert("command".to_owned(), request.name().into());
                }
                match &view {
                    Some(view) => facts.extend(json::object(view, bytes)),
                    None => drop(facts.insert("bytes".to_owned(), json::hex(bytes).into())),
                }
                if let Some(note) = note {
                    facts.insert("result".to_owned(), note.into());
                }
                return self.json(facts.into());
            }
            Form::Flat { all } => {
                writeln!(self.out, "# {title}")?;
                match &view {
                    Some(view) => flat::write(self.out, view, bytes, all)?,
                    None => writeln!(self.out, "# {}", json::hex(bytes))?,
                }
                if let Some(note) = note {
                    writeln!(self.out, "# {note}")?;
                }
            }
            Form::Tree(options) => {
                self.gap()?;
                let title = |out: &mut Output| out.text(&title);
                match &view {
                    Some(view) => tree::write(self.out, view, bytes, Some(&title), options)?,
                    None => decode::raw(self.out, &title, bytes)?,
                }
                if let Some(note) = note {
                    writeln!(self.out, "{note}")?;
                }
            }
        }
        Ok(())
    }

    fn json(&mut self, value: Value) -> Result<(), Error> {
        if self.several {
            writeln!(self.out, "{value}")?;
        } else {
            writeln!(self.out, "{value:#}")?;
        }
        Ok(())
    }

    /// An empty line between two.
    fn gap(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.any, true) {
            writeln!(self.out)?;
        }
        Ok(())
    }
}
