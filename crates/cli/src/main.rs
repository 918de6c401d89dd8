//! The `prm` command: reads, writes, explains and sends command mailboxes of mlx5 adapters.

mod arguments;
mod caps;
mod decode;
mod diff;
mod encode;
mod error;
mod explain;
mod find;
mod input;
mod list;
mod names;
mod output;
mod position;
mod progress;
mod reg;
mod send;
mod shell;
mod show;
mod spec;
mod spec_files;
mod transport;
mod view;

/// Written by prm-codegen.
mod generated {
    pub(crate) mod tables;
}

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{Error, Exit, tell};
use crate::output::Output;

/// Reads, writes, explains and sends command mailboxes of NVIDIA ConnectX and BlueField (mlx5) adapters.
#[derive(Parser)]
#[command(name = "prm", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Names are those of the PRM: modify_cq_in, MODIFY_CQ, cqc, ptys_reg. A file left out, or -, is standard input.

  prm find moderation                                what is this about
  prm show modify_cq                                 what is in it
  prm encode modify_cq cqn=0x42 --hex | prm decode   there and back
  dmesg | prm decode                                 the kernel's dumps (mlx5_core debug_mask=1)
  dmesg | prm explain                                what failed, and why

Exit: 0 done, 1 the input or an argument is wrong, 2 the options are, 3 the kernel or the firmware refused.
prm diff, spec diff: 0 the same, 1 they differ, 2 something is wrong.";

#[derive(Subcommand)]
enum Command {
    Decode(decode::Arguments),
    Encode(encode::Arguments),
    Explain(explain::Arguments),
    Show(show::Arguments),
    Find(find::Arguments),
    List(list::Arguments),
    Diff(diff::Arguments),
    Send(send::Arguments),
    Caps(caps::Arguments),
    Reg(reg::Arguments),
    Spec(spec::Arguments),
    Completions(shell::Completions),
    Man(shell::Manual),
}

fn main() -> ExitCode {
    let mut out = Output::new();
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        // `--help` and `--version` are such, too.
        Err(said) => {
            let exit = if said.use_stderr() { Exit::Usage } else { Exit::Done };
            return match said.print() {
                Err(error) if !said.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
                    tell(Error::Write(error));
                    ExitCode::from(Exit::Wrong as u8)
                }
                _ => ExitCode::from(exit as u8),
            };
        }
    };
    // As diff(1) has it.
    let compares = match &command {
        Command::Diff(_) => true,
        Command::Spec(arguments) => arguments.compares(),
        _ => false,
    };
    let run = match command {
        Command::Decode(arguments) => decode::run(&arguments, &mut out),
        Command::Encode(arguments) => encode::run(&arguments, &mut out),
        Command::Explain(arguments) => explain::run(&arguments, &mut out),
        Command::Show(arguments) => show::run(&arguments, &mut out),
        Command::Find(arguments) => find::run(&arguments, &mut out),
        Command::List(arguments) => list::run(&arguments, &mut out),
        Command::Diff(arguments) => diff::run(&arguments, &mut out),
        Command::Send(arguments) => send::run(&arguments, &mut out),
        Command::Caps(arguments) => caps::run(&arguments, &mut out),
        Command::Reg(arguments) => reg::run(&arguments, &mut out),
        Command::Spec(arguments) => spec::run(&arguments, &mut out),
        Command::Completions(arguments) => shell::completions(&arguments, Cli::command(), &mut out),
        Command::Man(arguments) => shell::manual(&arguments, Cli::command(), &mut out),
    };
    let run = run.and_then(|exit| out.flush().map(|()| exit).map_err(Error::Write));
    match run {
        Ok(exit) => ExitCode::from(exit as u8),
        // Whoever reads has seen enough: `prm list layouts | head`.
        Err(Error::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // What was written before the fault is seen before it.
            let _ = out.flush();
            tell(&error);
            let exit = match error {
                Error::Refused(_) => Exit::Refused,
                _ if compares => Exit::Usage,
                _ => Exit::Wrong,
            };
            ExitCode::from(exit as u8)
        }
    }
}
