//! `prm diff`: two mailboxes of one layout, field by field.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::decode::leaves::{self, Leaf};
use crate::decode::{Which, tree, unfilled};
use crate::error::{Error, Exit};
use crate::input::Source;
use crate::output::{Output, Paint};

/// Compares two mailboxes, field by field.
///
/// Ends with 0 when they are the same, with 1 when they differ, and with 2 when something is wrong.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The one; `-` is standard input.
    a: PathBuf,
    /// The other.
    b: PathBuf,
    #[command(flatten)]
    which: Which,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

/// What a path holds in the one and in the other.
type Pair = (String, Option<Leaf>, Option<Leaf>);

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let why = "`prm diff` compares two";
    let name = |path: &PathBuf| path.display().to_string();
    let asked = arguments.which.asked()?;
    let read = |path: &PathBuf| {
        let (mut bytes, is_dump) = Source::open(Some(path))?.mailbox(why)?;
        let view = asked.of(&name(path), &bytes)?;
        if is_dump {
            bytes.truncate(unfilled(&view, &bytes));
        }
        Ok::<_, Error>((view, bytes))
    };
    let ((view_a, a), (view_b, b)) = (read(&arguments.a)?, read(&arguments.b)?);
    let title = |view: &crate::view::View| -> String {
        view.layouts().iter().map(|layout| layout.name).collect::<Vec<_>>().join("+")
    };
    if title(&view_a) != title(&view_b) {
        return Err(Error::Input(format!(
            "{} is {}, and {} is {}\nCompare mailboxes of one layout, or say --layout NAME.",
            name(&arguments.a),
            title(&view_a),
            name(&arguments.b),
            title(&view_b)
        )));
    }
    let pairs = differences(leaves::all(&view_a, &a), leaves::all(&view_b, &b));
    if arguments.json {
        let mut all = Map::new();
        for (path, a, b) in &pairs {
            let value = |leaf: &Option<Leaf>| leaf.as_ref().map_or(Value::Null, Leaf::json);
            all.insert(path.clone(), json!([value(a), value(b)]));
        }
        writeln!(out, "{:#}", Value::from(all))?;
    } else {
        text(out, &title(&view_a), &pairs)?;
    }
    Ok(if pairs.is_empty() { Exit::Done } else { Exit::Wrong })
}

/// Two runs of the same layout, which differ in the length of lists at most.
fn differences(a: Vec<(String, Leaf)>, b: Vec<(String, Leaf)>) -> Vec<Pair> {
    let mut other: std::collections::HashMap<String, Leaf> = b.iter().cloned().collect();
    let mut out: Vec<Pair> = Vec::new();
    for (path, leaf) in a {
        let theirs = other.remove(&path);
        if theirs.as_ref() != Some(&leaf) {
            out.push((path, Some(leaf), theirs));
        }
    }
    out.extend(
        b.into_iter()
            .filter(|(path, _)| other.contains_key(path))
            .map(|(p, leaf)| (p, None, Some(leaf))),
    );
    out
}

fn text(out: &mut Output, title: &str, pairs: &[Pair]) -> Result<(), Error> {
    let look = out.look;
    if pairs.is_empty() {
        writeln!(out, "{title}: no difference")?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: {}",
        look.paint(Paint::Title, title),
        tree::count(pairs.len(), "difference")
    )?;
    let value = |leaf: &Option<Leaf>| leaf.as_ref().map_or("not there".to_owned(), Leaf::text);
    let rows: Vec<[String; 3]> =
        pairs.iter().map(|(path, a, b)| [path.clone(), value(a), value(b)]).collect();
    let widest =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (path, a, b) = (widest(0).max(5), widest(1), widest(2));
    if 2 + path + 2 + a + 2 + b <= look.width {
        for [name, ours, theirs] in &rows {
            let pad = path - name.len();
            writeln!(out, "  {}{:pad$}  {ours:a$}  {theirs}", look.paint(Paint::Name, name), "")?;
        }
    } else {
        for [name, ours, theirs] in &rows {
            writeln!(out, "  {}", look.paint(Paint::Name, name))?;
            writeln!(out, "    - {ours}\n    + {theirs}")?;
        }
    }
    Ok(())
}
