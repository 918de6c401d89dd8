//! `prm explain`: what the failed commands of a log mean.

mod errno;
mod failure;
mod forms;
mod json;
mod knowledge;
mod lines;
mod notices;
mod record;
mod status;
mod syndromes;
mod tally;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit};
use crate::output::Output;
use syndromes::Syndromes;
use tally::Tally;

/// Explains the failed commands of a log: of the kernel, UCX, DPDK, libdpcp, rdma-core or this project.
///
/// The log is read as it was pasted: with or without times and host names, quoted, wrapped, cut off.
/// Failures that are alike are told once, with their number. The number after "syndrome" is the
/// firmware's own: it is explained where somebody did so in public, and else not guessed at.
///
/// Exit: 0 when a failure was found, 1 when there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = [EXAMPLES, TABLE].concat())]
pub(crate) struct Arguments {
    /// The log; standard input when left out, or `-`.
    file: Option<PathBuf>,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
    /// A table of syndromes of your own, which comes first: TOML, see the end of this help.
    #[arg(long, value_name = "FILE")]
    syndromes: Option<PathBuf>,
}

const EXAMPLES: &str = "  dmesg | prm explain\n  prm explain --json messages.log";

const TABLE: &str = "

A table of syndromes, as prm-spec/semantics/syndromes.toml has it:

  [[syndrome]]
  number = 0x6231e6
  command = \"MODIFY_CQ\"          # or \"*\"
  cause = \"What was wrong.\"
  remedy = \"What to do.\"
  certainty = \"stated\"           # or \"reported\"
  source = \"Where it is written.\"";

/// What errors call it.
const STANDARD_INPUT: &str = "standard input";

/// Reads the log, and writes what is to be said of it.
pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let syndromes = Syndromes::load(arguments.syndromes.as_deref())?;
    let file = arguments.file.as_deref().filter(|path| path.as_os_str() != "-");
    let name = file.map_or(STANDARD_INPUT.to_owned(), |path| path.display().to_string());
    let tally = read(file, &name)?;
    let found = tally.failures() > 0;
    if arguments.json {
        out.write_all(json::report(&tally, &syndromes).as_bytes())?;
        return Ok(if found { Exit::Done } else { Exit::Wrong });
    }
    if !found {
        return Err(Error::Input(nothing(&name, &tally)));
    }
    out.write_all(text::report(&tally, &syndromes, out.look).as_bytes())?;
    Ok(Exit::Done)
}

fn read(file: Option<&Path>, name: &str) -> Result<Tally, Error> {
    let open = |source| Error::Open { file: name.to_owned(), source };
    match file {
        Some(path) => tally(BufReader::new(File::open(path).map_err(open)?), name),
        None => tally(io::stdin().lock(), name),
    }
}

fn tally(mut log: impl BufRead, name: &str) -> Result<Tally, Error> {
    let open = |source| Error::Open { file: name.to_owned(), source };
    let start = log.fill_buf().map_err(open)?;
    if let Some((_, tool)) = PACKED.iter().find(|(mark, _)| start.starts_with(mark)) {
        let file = if name == STANDARD_INPUT { "FILE" } else { name };
        let problem = format!("{name} is compressed: try `{tool} {file} | prm explain`");
        return Err(Error::Input(problem));
    }
    let mut tally = Tally::default();
    tally.lines = lines::read(log, &mut tally).map_err(open)?;
    Ok(tally)
}

/// How compressed files begin, and what reads them.
pub(crate) const PACKED: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "zcat"),
    (b"\xfd7zXZ\0", "xzcat"),
    (b"\x28\xb5\x2f\xfd", "zstdcat"),
    (b"BZh", "bzcat"),
];

/// What is said of a log without failures.
fn nothing(name: &str, tally: &Tally) -> String {
    let mut words =
        format!("{name}: no message of a failed command in {}", text::count(tally.lines, "line"));
    for note in text::notes(tally) {
        words += &format!("\nnote: {note}");
    }
    if tally.dumps {
        words += "\nThere are dumps of commands in it: whether one failed, its output says, which `prm decode` shows.";
    }
    words + LOOKED_FOR
}

const LOOKED_FOR: &str = "
What is looked for are lines such as
  mlx5_core ...: CREATE_CQ(0x400) op_mod(0x0) failed, status ..., syndrome (0x1)
  mlx5_core ...: CREATE_CQ(0x400) timeout. Will cause a leak of a command resource
  mlx5dv_devx_obj_create(CQ) failed on mlx5_0, syndrome 0x1: Remote I/O error
  mlx5_common: DevX create CQ failed errno=121 status=0x3 syndrome=0x1
  CREATE_CQ(0x400) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome 0x1: ...
Commands that programs send by DEVX are not in the kernel's log. Their failures
are in the program's, or in the kernel's trace:
  echo 1 > /sys/kernel/tracing/events/mlx5/mlx5_cmd/enable";
