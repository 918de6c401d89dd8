//! `prm decode`: what mailboxes say.

pub(crate) mod flat;
pub(crate) mod json;
pub(crate) mod leaves;
mod requests;
mod reserved;
mod several;
pub(crate) mod tree;
pub(crate) mod value;
mod walk;
mod workers;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use mlx5_devx::record::{Call, Method};
use mlx5_prm::LayoutDesc;
use mlx5_prm_cli::kernel_log::{Damage, Dump};
use serde_json::{Value, json};

use crate::arguments::ArgumentFault;
use crate::error::{Error, Exit};
use crate::input::{Item, Source};
use crate::names;
use crate::output::{Output, Paint};
use crate::view::{Direction, Request, View};

use requests::{Place, Requests};
use several::{Entry, Mailbox, Origin, What};
use workers::Workers;

/// Decodes mailboxes.
///
/// They are read as binary, plain hex, an array of C, a dump by xxd, od -t x1, hexdump -C, from a log with
/// the kernel's dumps (mlx5_core with debug_mask=1; several commands, interleaved too), or from a recording;
/// which one it is, is seen from the content. The command is seen from its opcode: an output has none, so
/// name its command with --reply-to, or the layout.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The file; standard input when left out, or `-`.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    shown: Shown,
}

/// How much of mailboxes is written, and in which form.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Shows also the fields that are zero, and all members of unions.
    #[arg(long)]
    all: bool,
    /// Leaves out the words about each field, as it is done for several mailboxes.
    #[arg(long, short)]
    terse: bool,
    /// Writes JSON, with every field; of several mailboxes an object a line.
    #[arg(long, conflicts_with_all = ["flat", "terse", "all"])]
    json: bool,
    /// Writes lines of path=value, which `prm encode` takes.
    #[arg(long, conflicts_with = "terse")]
    flat: bool,
}

/// What a mailbox is, where its opcode does not say it.
#[derive(Args)]
pub(crate) struct Which {
    /// The layout, such as cqc; several that follow each other as a+b.
    #[arg(long, short, conflicts_with = "reply_to")]
    layout: Option<String>,
    /// The mailbox is the output of this command, such as QUERY_CQ.
    #[arg(long, short, value_name = "COMMAND")]
    reply_to: Option<String>,
    /// The op_mod of that command, such as the page of QUERY_HCA_CAP.
    #[arg(long, value_name = "NUMBER", requires = "reply_to")]
    op_mod: Option<String>,
}

/// Bytes of status and syndrome, with which every output begins.
const HEAD: usize = 8;

/// How mailboxes are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Tree(tree::Options),
    Json,
    Flat { all: bool },
}

/// What the arguments say of the mailboxes.
pub(crate) enum Asked {
    Nothing,
    Layouts(Vec<&'static LayoutDesc>),
    Reply(Request),
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let asked = arguments.which.asked()?;
    let form = arguments.shown.form(false);
    let source = Source::open(arguments.file.as_deref())?;
    let name = source.name().to_owned();
    let mut decoder =
        Decoder { out, form, asked, requests: Requests::default(), workers: Workers::new(form) };
    let tally = source.items(&mut |item| match item {
        Item::Whole(bytes) => decoder.whole(&name, bytes),
        Item::Dump(dump) => decoder.dump(dump),
        Item::Damaged(Damage { device, slot, title, .. }) => {
            decoder.requests.damaged(Place { device, slot }, title);
            Ok(())
        }
        Item::Call(line, call) => decoder.call(line, call),
    });
    // What was found before an input went wrong is written, too.
    decoder.workers.finish(decoder.out)?;
    let tally = tally?;
    Ok(if tally.damaged > 0 { Exit::Wrong } else { Exit::Done })
}

impl Shown {
    /// The form of one mailbox, or of several.
    pub(crate) fn form(&self, several: bool) -> Form {
        match (self.json, self.flat) {
            (true, _) => Form::Json,
            (_, true) => Form::Flat { all: self.all },
            _ => Form::Tree(tree::Options { all: self.all, words: !self.terse && !several }),
        }
    }
}

impl Which {
    /// What is asked for.
    pub(crate) fn asked(&self) -> Result<Asked, ArgumentFault> {
        if let Some(layouts) = &self.layout {
            return Ok(Asked::Layouts(names::layouts(layouts)?));
        }
        let Some(command) = &self.reply_to else { return Ok(Asked::Nothing) };
        Ok(Asked::Reply(reply(command, self.op_mod.as_deref())?))
    }
}

/// The command that a mailbox is the output of.
fn reply(command: &str, op_mod: Option<&str>) -> Result<Request, ArgumentFault> {
    let opcode = names::opcode(command).or_else(|| {
        // The name of one of its mailboxes will do.
        let stem = command.strip_suffix("_in").or_else(|| command.strip_suffix("_out"));
        stem.and_then(names::opcode)
    });
    let (opcode, _) = opcode.ok_or_else(|| {
        let all = mlx5_prm::Opcode::DESC.values.iter().map(|(_, name)| *name);
        let near = names::list(&names::nearest_of(command, all));
        let problem = format!("no command is called `{command}`{near}");
        ArgumentFault::whole(command, problem, "`prm list commands` lists them.")
    })?;
    let number = |text: &str| {
        let number = names::number(text).and_then(|number| u16::try_from(number).ok());
        number.ok_or_else(|| {
            let problem = format!("`{text}` is no number of 16 bits");
            ArgumentFault::whole(text, problem, "Give 1, or 0x1.")
        })
    };
    let op_mod = op_mod.map(number).transpose()?;
    Ok(Request { op_mod, ..Request::unknown(opcode) })
}

/// Writes what is decoded.
struct Decoder<'o> {
    out: &'o mut Output,
    form: Form,
    asked: Asked,
    requests: Requests,
    workers: Workers,
}

impl Decoder<'_> {
    fn whole(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let view = self.asked.of(name, bytes)?;
        match self.form {
            Form::Tree(options) => tree::write(self.out, &view, bytes, None, options)?,
            Form::Flat { all } => flat::write(self.out, &view, bytes, all)?,
            Form::Json => {
                writeln!(self.out, "{:#}", Value::from(json::object(&view, bytes)))?;
            }
        }
        Ok(())
    }

    fn dump(&mut self, dump: Dump) -> Result<(), Error> {
        let Dump { line, slot, device, title, mut bytes } = dump;
        let is_input = match (title, &self.asked) {
            (Some(title), _) => title.is_input,
            // Behind the status an output has zeros, where an input has the rest of its opcode and its uid.
            (None, Asked::Reply(_)) if matches!(bytes[..], [_, 0, 0, 0, ..]) => {
                let is_whole = |view: View| view.is_whole(bytes.len());
                !Request::is_output(&bytes) && View::of_input(&bytes).is_some_and(is_whole)
            }
            (None, _) => !Request::is_output(&bytes),
        };
        let direction = if is_input { Direction::Input } else { Direction::Output };
        let place = Place { device, slot };
        let mut request = None;
        if is_input {
            request = Request::of(&bytes);
            if let Some(request) = request {
                self.requests.input(place, request);
            }
        } else if let Some(title) = title {
            request = Some(self.requests.output(&place, title.opcode));
        } else {
            self.requests.lost(&place);
        }
        // What the log says counts, and an op_mod that was given.
        if let (Asked::Reply(asked), false) = (&self.asked, is_input)
            && title.is_none_or(|title| title.opcode == asked.opcode)
        {
            let known = request.unwrap_or(*asked);
            request = Some(Request { op_mod: asked.op_mod.or(known.op_mod), ..known });
        }
        let view = match (&self.asked, is_input) {
            (Asked::Layouts(_), _) => self.asked.view(&bytes),
            (_, true) => View::of_input(&bytes),
            (_, false) => match request {
                Some(request) => View::of_output(request),
                None => mlx5_prm::layout_desc("cmd_out").map(|l| View::of_layout(l, &bytes)),
            },
        };
        if let Some(view) = &view {
            bytes.truncate(unfilled(view, &bytes));
        }
        let origin = Origin::Dump { line, slot };
        let mailbox = Mailbox { request, direction, view, bytes };
        Ok(self.workers.take(Entry { origin, what: What::Mailbox(mailbox) }, self.out)?)
    }

    fn call(&mut self, line: usize, call: &Call) -> Result<(), Error> {
        let request = Request::of(&call.input);
        let origin = Origin::Call {
            line,
            method: call.method,
            summary: call.summary(),
            at: call.at.as_micros() as u64,
        };
        if call.method != Method::Destroy {
            for direction in [Direction::Input, Direction::Output] {
                let (view, bytes) = match direction {
                    Direction::Input => (View::of_input(&call.input), &call.input),
                    Direction::Output => (request.and_then(View::of_output), &call.output),
                };
                let mailbox = Mailbox { request, direction, view, bytes: bytes.clone() };
                let what = What::Mailbox(mailbox);
                self.workers.take(Entry { origin: origin.clone(), what }, self.out)?;
            }
        }
        Ok(self.workers.take(Entry { origin, what: What::Result(call.result) }, self.out)?)
    }
}

impl Asked {
    /// What a whole mailbox is.
    pub(crate) fn of(&self, name: &str, bytes: &[u8]) -> Result<View, Error> {
        if let (Asked::Nothing, Some((status, syndrome))) = (self, Request::refused(bytes)) {
            return Err(Error::Input(format!(
                "{name}: an output: status {status}, syndrome {syndrome:#x}\nSay whose: --reply-to COMMAND."
            )));
        }
        let view = self.view(bytes).ok_or_else(|| self.unknown(name, bytes))?;
        // The output of a command that was refused is often all that somebody has.
        let is_enough = matches!(self, Asked::Reply(_)) && bytes.len() >= HEAD;
        if !view.is_whole(bytes.len()) && !is_enough {
            let layouts: Vec<&str> = view.layouts().iter().map(|layout| layout.name).collect();
            return Err(Error::Input(format!(
                "{} needs {} bytes; {name} has {}\nGive the whole mailbox, or another layout: `prm list layouts` \
                 lists them with their sizes.",
                layouts.join("+"),
                view.least(),
                bytes.len()
            )));
        }
        Ok(view)
    }

    /// What a mailbox is that nothing else is known of.
    fn view(&self, bytes: &[u8]) -> Option<View> {
        match self {
            Asked::Nothing => View::of_input(bytes),
            Asked::Layouts(layouts) => match layouts[..] {
                [layout] => Some(View::of_layout(layout, bytes)),
                _ => Some(View::of_layouts(layouts.clone(), None)),
            },
            Asked::Reply(request) => View::of_output(*request),
        }
    }

    /// Why nothing is known of a mailbox.
    fn unknown(&self, name: &str, bytes: &[u8]) -> Error {
        let no_layout =
            |request: Request| format!("{name}: no layout is known for {}", request.name());
        let what = match (self, Request::of(bytes)) {
            (Asked::Reply(request), _) => {
                let remedy = "Say the layout, if it is another's: --layout NAME.";
                return Error::Input(format!("{}\n{remedy}", no_layout(*request)));
            }
            (_, None) => {
                format!(
                    "{name}: {}, too short to name its command",
                    tree::count(bytes.len(), "byte")
                )
            }
            (_, Some(request)) if names::opcode_name(request.opcode).is_some() => {
                no_layout(request)
            }
            (_, Some(request)) => format!("{name}: {:#06x} is no known opcode", request.opcode),
        };
        Error::Input(format!(
            "{what}\nFor the output of a command say --reply-to COMMAND, for anything else --layout NAME."
        ))
    }
}

/// The length of a mailbox without what the kernel filled its last line of 16 bytes up with.
pub(crate) fn unfilled(view: &View, bytes: &[u8]) -> usize {
    let size = view.size();
    let rest = bytes.get(size..).unwrap_or_default();
    let is_filling = !rest.is_empty() && rest.len() < 16 && rest.iter().all(|byte| *byte == 0);
    let has_list = || view.layouts().last().is_some_and(|layout| layout.has_list());
    if is_filling && !has_list() { size } else { bytes.len() }
}

/// Bytes that no layout is known of.
pub(crate) fn raw(out: &mut Output, title: tree::Title<'_>, bytes: &[u8]) -> io::Result<()> {
    out.in_colour(Paint::Title, title);
    writeln!(out, ", {}, no layout is known", tree::count(bytes.len(), "byte"))?;
    for (row, line) in bytes.chunks(16).enumerate() {
        out.hex(row as u128 * 16, 3);
        out.text(" ");
        for dword in line.chunks(4) {
            out.text(" ");
            out.bytes(dword);
        }
        out.end_line()?;
    }
    Ok(())
}
