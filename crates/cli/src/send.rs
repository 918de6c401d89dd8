//! `prm send`: sends commands, and shows what comes back.

pub(crate) mod answer;
mod object;
pub(crate) mod rules;
mod session;
mod step;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};

use crate::encode::Content;
use crate::error::{Error, Exit, tell};
use crate::output::Output;
use crate::transport::To;
use answer::Answers;
use rules::May;
use session::Session;
use step::{Source, Step};

/// Sends commands, and decodes the answers.
///
/// Fields are given as to `prm encode`. Several commands are one run, with --then between. What one of them
/// creates, later ones work on: its number goes into their field for it where that is left out, and where
/// another field wants it, @1 is the number that the first command made. Objects end with the run, the last
/// one first; DESTROY ends one before.
///
/// On a real device anything but a query wants --write. By DEVX (ioctl, libmlx5) a run reaches objects that it
/// made; by fwctl queries reach those of others, and nothing is made.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,
    /// Sends commands that are no queries to a real device, too.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    then: Then,
    /// Bytes of room for each answer; that of its layout when left out, and 4096 more for a list.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=2 << 20))]
    out_bytes: Option<u32>,
    #[command(flatten)]
    answers: Answers,
}

const EXAMPLES: &str = "\
Examples:

  prm send --to fwctl:08:00.0 query_cq cqn=0x42
  prm send --to sim create_cq cq_context.log_cq_size=10 \\
      --then modify_cq cq_context.cq_period=16 --then query_cq
  prm send --to sim alloc_transport_domain --then create_tis ctx.transport_domain=@1";

/// The commands after the first, each its name and fields.
struct Then(Vec<Vec<String>>);

impl Args for Then {
    fn augment_args(command: clap::Command) -> clap::Command {
        let then = Arg::new("then")
            .long("then")
            .value_names(["NAME", "FIELD=VALUE"])
            .num_args(1..)
            .action(ArgAction::Append)
            .help("Sends another command after that");
        command.arg(then)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Then {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if matches.value_source("then") != Some(ValueSource::CommandLine) {
            return Ok(Then(Vec::new()));
        }
        let all = matches.get_occurrences::<String>("then").into_iter().flatten();
        Ok(Then(all.map(|words| words.cloned().collect()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let way = arguments.to.way()?;
    let may = May { write: arguments.write };
    let steps = arguments.steps()?;
    // All is looked at before the first is sent.
    step::check(way, may, &steps)?;
    let line = arguments.to.open(may.limit(way))?;
    let mut writer = arguments.answers.writer(out, steps.len());
    let room = arguments.out_bytes.map(|bytes| bytes as usize);
    let mut session = Session::new(&line, room);
    let sent = steps.iter().try_for_each(|step| session.send(step, &mut writer));
    let ended = session.end();
    let recorded = line.finish();
    if let (true, Err(error)) = (sent.is_err() || ended.is_err(), &recorded) {
        tell(error);
    }
    // The first that went wrong is the cause of the others.
    sent.and(ended).and(recorded).map(|()| Exit::Done)
}

impl Arguments {
    /// The commands, in order.
    fn steps(&self) -> Result<Vec<Step>, Error> {
        let Content { name, fields, from, no_select } = &self.content;
        let select = !no_select;
        let first = match (from, name) {
            (Some(file), name) => Source::file(file, name.iter().chain(fields), select)?,
            (None, Some(name)) => Source::Words { name: name.clone(), fields: fields.clone() },
            (None, None) => unreachable!("clap wants one of the two"),
        };
        let rest = self
            .then
            .0
            .iter()
            .map(|words| Source::Words { name: words[0].clone(), fields: words[1..].to_vec() });
        Ok(std::iter::once(first).chain(rest).map(|source| Step { source, select }).collect())
    }
}
