//! `prm list`: all names of a kind.

use std::io::Write;

use clap::{Args, Subcommand};
use mlx5_prm::{LayoutDesc, Opcode, Verb};
use serde_json::{Value, json};

use crate::arguments::ArgumentFault;
use crate::decode::value::grouped;
use crate::error::{Error, Exit};
use crate::names;
use crate::output::{Output, Paint};
use crate::spec_files;

/// Lists commands, layouts, registers, enumerations or sources.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The commands: opcode, what it works on, and what it does.
    Commands(Filter),
    /// The layouts: bytes, family, and whether a list of open length follows.
    Layouts(Filter),
    /// The registers that ACCESS_REG reaches: id, layout, and whether they are read or written.
    Registers(Filter),
    /// The enumerations and flags; of one, its values.
    Enums(Filter),
    /// The public headers and databases that the tables are from.
    Sources(Filter),
}

#[derive(Args)]
struct Filter {
    /// Only those whose name contains this.
    part: Option<String>,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

/// A line of a list, and what it is for programs.
struct Line {
    name: String,
    text: String,
    about: Option<String>,
    json: Value,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let (kind, filter, mut lines) = match &arguments.what {
        What::Commands(filter) => ("command", filter, commands()),
        What::Layouts(filter) => ("layout", filter, layouts()),
        What::Registers(filter) => ("register", filter, registers()),
        What::Enums(filter) => {
            if let Some(lines) = filter.part.as_deref().and_then(values) {
                write(out, filter, lines)?;
                return Ok(Exit::Done);
            }
            ("enumeration", filter, enums())
        }
        What::Sources(filter) => ("source", filter, sources()),
    };
    if let Some(part) = &filter.part {
        let wanted = names::snake_case(part);
        let all: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
        lines.retain(|line| line.name.to_ascii_lowercase().contains(&wanted));
        if lines.is_empty() {
            let near = names::list(&names::nearest_of(part, all.iter().map(String::as_str)));
            let problem = format!("no {kind}'s name contains `{part}`{near}");
            let remedy = format!("`prm find {part}` searches words, too.");
            return Err(ArgumentFault::whole(part, problem, remedy).into());
        }
    }
    write(out, filter, lines)?;
    Ok(Exit::Done)
}

fn write(out: &mut Output, filter: &Filter, lines: Vec<Line>) -> Result<(), Error> {
    if filter.json {
        let all: Value = lines.into_iter().map(|line| line.json).collect();
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    let look = out.look;
    // A few long names do not push all others aside.
    let lengths = lines.iter().map(|line| line.name.len()).filter(|len| *len <= look.width / 2);
    let width = lengths.max().unwrap_or(0);
    for line in lines {
        let pad = width.saturating_sub(line.name.len());
        write!(out, "{}{:pad$}  {}", look.paint(Paint::Name, &line.name), "", line.text)?;
        writeln!(out)?;
        if let Some(about) = line.about {
            writeln!(out, "    {}", look.paint(Paint::Dim, look.wrap(&about, 4)))?;
        }
    }
    Ok(())
}

fn commands() -> Vec<Line> {
    let line = |(code, name): &(u32, &'static str)| {
        let known = names::commands().find(|command| command.name == *name);
        let about = known.map(|command| command.about);
        let about = about.or_else(|| Opcode(*code as u16).about());
        let works = known.map_or_else(String::new, |command| {
            let verb = match command.verb {
                Verb::Create => "creates",
                Verb::Query => "queries",
                Verb::Modify => "modifies",
                Verb::Destroy => "destroys",
            };
            format!("{verb} {}", command.object.name)
        });
        let (input, output) = (names::input_of(name), names::output_of(name));
        let json = json!({
            "name": name,
            "opcode": code,
            "object": known.map(|command| command.object.name),
            "input": input.map(|layout| layout.name),
            "output": output.map(|layout| layout.name),
            "about": about,
        });
        let missing = if input.is_none() { "no public layout" } else { "" };
        let text = format!("{code:#06x}  {works}{missing}").trim_end().to_owned();
        Line { name: (*name).to_owned(), text, about: about.map(str::to_owned), json }
    };
    Opcode::DESC.values.iter().map(line).collect()
}

fn layouts() -> Vec<Line> {
    let mut all: Vec<_> = names::all().collect();
    all.sort_unstable_by_key(|(layout, _)| layout.name);
    let line = |(layout, family): (&'static LayoutDesc, &str)| {
        let list = if layout.has_list() { "+ list" } else { "" };
        Line {
            name: layout.name.to_owned(),
            text: format!("{:>6} bytes {list:6}  {family}", grouped(layout.size as u64)),
            about: None,
            json: json!({
                "name": layout.name,
                "bytes": layout.size,
                "list": layout.has_list(),
                "family": family,
            }),
        }
    };
    all.into_iter().map(line).collect()
}

fn registers() -> Vec<Line> {
    let mut all: Vec<_> = names::registers().collect();
    all.sort_unstable_by_key(|register| register.id);
    let line = |register: &mlx5_prm::RegisterDesc| {
        let access = match (register.read, register.write) {
            (true, true) => "read, write",
            (true, false) => "read",
            (false, true) => "write",
            (false, false) => "",
        };
        Line {
            name: register.name.to_owned(),
            text: format!("{:#06x}  {}, {access}", register.id, register.layout.name),
            about: register.layout.about.map(str::to_owned),
            json: json!({
                "name": register.name,
                "id": register.id,
                "layout": register.layout.name,
                "read": register.read,
                "write": register.write,
            }),
        }
    };
    all.into_iter().map(line).collect()
}

fn enums() -> Vec<Line> {
    let of = |name: &str, what: &str, count: usize| Line {
        name: name.to_owned(),
        text: format!("{count} {what}"),
        about: None,
        json: json!({ "name": name, what: count }),
    };
    let values = names::enums().into_iter().map(|e| of(e.name, "values", e.values.len()));
    let flags = names::flags().into_iter().map(|f| of(f.name, "flags", f.bits.len()));
    let mut all: Vec<Line> = values.chain(flags).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The values of an enumeration, or the bits of flags.
fn values(name: &str) -> Option<Vec<Line>> {
    let name = names::snake_case(name);
    let line = |name: &str, value: u32, text: String, key: &str| Line {
        name: name.to_owned(),
        text,
        about: None,
        json: json!({ "name": name, key: value }),
    };
    if let Some(of) = names::enums().into_iter().find(|e| e.name == name) {
        let all = of.values.iter();
        return Some(all.map(|(v, n)| line(n, *v, format!("{v:#x} ({v})"), "value")).collect());
    }
    let of = names::flags().into_iter().find(|flags| flags.name == name)?;
    let all = of.bits.iter();
    Some(all.map(|(bit, n)| line(n, *bit, format!("bit {bit}"), "bit")).collect())
}

fn sources() -> Vec<Line> {
    let line = |source: spec_files::Source| Line {
        text: format!("{} {}", source.package, source.version),
        about: Some(source.files.join(", ")),
        json: json!({
            "name": source.name,
            "package": source.package,
            "version": source.version,
            "files": source.files,
        }),
        name: source.name,
    };
    spec_files::sources().into_iter().map(line).collect()
}
