//! The commands of a run, before they are sent.

use std::path::Path;

use mlx5_prm::Verb;

use super::object::OnObject;
use super::rules::May;
use crate::arguments::ArgumentFault;
use crate::encode::{self, mailbox::Mailbox};
use crate::error::Error;
use crate::names;
use crate::transport::{Interface, Way};
use crate::view::Request;

/// A command of a run.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) source: Source,
    /// Whether select masks are set for the fields given.
    pub(super) select: bool,
}

/// What a command is made of.
#[derive(Debug)]
pub(super) enum Source {
    /// A name and fields of the command line.
    Words { name: String, fields: Vec<String> },
    /// A mailbox that was read from a file.
    File { name: String, input: Vec<u8> },
}

impl Source {
    /// A mailbox from a file, and fields of the command line over it.
    pub(super) fn file<'f>(
        file: &Path,
        fields: impl Iterator<Item = &'f String>,
        select: bool,
    ) -> Result<Self, Error> {
        let fields: Vec<&str> = fields.map(String::as_str).collect();
        let input = encode::from_file(file, &fields, select)?.finish();
        if mlx5_prm::opcode(&input).is_none_or(|opcode| opcode.0 == 0) {
            let problem =
                format!("{}: no input of a command\nGive one with its opcode.", file.display());
            return Err(Error::Input(problem));
        }
        Ok(Source::File { name: file.display().to_string(), input })
    }
}

impl Step {
    /// The argument that names the command.
    pub(super) fn argument(&self) -> &str {
        match &self.source {
            Source::Words { name, .. } | Source::File { name, .. } => name,
        }
    }

    /// The input, where the commands before made objects of these numbers.
    pub(super) fn input(&self, made: &[Option<u64>]) -> Result<Vec<u8>, ArgumentFault> {
        let (name, fields) = match &self.source {
            Source::File { input, .. } => return Ok(input.clone()),
            Source::Words { name, fields } => (name, fields),
        };
        let resolved = fields.iter().map(|field| resolved(field, made));
        let words = resolved.collect::<Result<Vec<_>, _>>()?;
        let as_typed = |fault: ArgumentFault, words: &[String]| {
            words.iter().zip(fields).fold(fault, |fault, (made, typed)| {
                let same = typed.find('=').map_or(typed.len(), |equals| equals + 1);
                fault.moved_to(made, typed, same)
            })
        };
        let is_known = |name: &str| name.contains('+') || names::find(name).is_some();
        let mailbox = is_known(name).then(|| encode::from_arguments(name, &words, self.select));
        match mailbox.transpose().map_err(|fault| as_typed(fault, &words))? {
            Some(mailbox) if is_command(&mailbox) => Ok(mailbox.finish()),
            None if names::opcode(name).is_some() => {
                let problem = format!("no public source has the layout of `{name}`");
                Err(ArgumentFault::whole(name, problem, "`prm list commands` says which have one."))
            }
            Some(mailbox) if mailbox.parts()[0].0.field("opcode").is_some() => {
                let given = fields.iter().find(|field| field.starts_with("opcode"));
                let problem = "opcode 0 is no command";
                let remedy = "Name a command, whose opcode is there already.";
                Err(ArgumentFault::whole(given.unwrap_or(name), problem, remedy))
            }
            _ => {
                let all = mlx5_prm::Opcode::DESC.values.iter().map(|(_, name)| *name);
                let near = names::list(&names::nearest_of(name, all));
                let problem = format!("`{name}` is no command{near}");
                Err(ArgumentFault::whole(name, problem, "`prm list commands` lists them."))
            }
        }
    }
}

/// Whether a mailbox is the input of a command.
fn is_command(mailbox: &Mailbox) -> bool {
    let (head, _) = mailbox.parts()[0];
    let opcode = mlx5_prm::opcode(mailbox.bytes()).unwrap_or_default();
    (head.field("opcode").is_some() || encode::has_general_head(head)) && opcode.0 != 0
}

/// `field=@1` with the number that command 1 made.
fn resolved(field: &str, made: &[Option<u64>]) -> Result<String, ArgumentFault> {
    let Some((path, reference)) = field.split_once("=@") else { return Ok(field.to_owned()) };
    let fault = |problem: String| {
        let remedy =
            "@1 is the number of what the first command creates, @2 of what the second does.";
        ArgumentFault::new(field, path.len() + 1..field.len(), problem, remedy)
    };
    let which = names::number(reference).and_then(|n| usize::try_from(n).ok());
    let which = which.filter(|which| (1..=made.len()).contains(which));
    let which =
        which.ok_or_else(|| fault(format!("no command `{reference}` comes before this one")))?;
    match made[which - 1] {
        Some(number) => Ok(format!("{path}={number:#x}")),
        None => Err(fault(format!("command {which} makes no object with a number"))),
    }
}

/// Makes sure of all commands that they may be sent, as far as that is known before.
pub(super) fn check(way: Way<'_>, may: May, steps: &[Step]) -> Result<(), Error> {
    let mut kinds = Vec::new();
    // The numbers are not known yet.
    let mut made = Vec::new();
    for step in steps {
        let (argument, input) = (step.argument(), step.input(&made)?);
        may.check(way, argument, &input)?;
        let on = OnObject::of(&input);
        made.push(on.filter(|on| on.verb == Verb::Create).map(|_| 0));
        let Some(on) = on.filter(|_| way.interface() == Some(Interface::Devx)) else { continue };
        match on.verb {
            Verb::Create => kinds.push(on.kind),
            _ if kinds.contains(&on.kind) => {}
            _ => return Err(nothing_to_work_on(argument, &input, on).into()),
        }
    }
    Ok(())
}

fn nothing_to_work_on(argument: &str, input: &[u8], on: OnObject) -> ArgumentFault {
    let command = Request::of(input).unwrap_or_default().name();
    let kind = on.kind_text();
    let problem = format!("{command} works on an object ({kind}), and no command before makes one");
    let reads = if on.verb == Verb::Query { " fwctl:DEV reads those of others." } else { "" };
    let remedy =
        format!("By DEVX a run reaches only what it made: create one, --then {argument}.{reads}");
    ArgumentFault::whole(argument, problem, remedy)
}
