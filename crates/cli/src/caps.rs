//! `prm caps`: what an adapter can do, as tables.

use std::io::Write;

use clap::Args;
use mlx5_devx::Caps;
use mlx5_devx::fwctl::Limit;
use mlx5_prm::caps::page::PAGES;
use mlx5_prm::{CapMode, PageDesc, QueryHcaCapIn};
use serde_json::{Map, Value, json};

use crate::arguments::ArgumentFault;
use crate::decode::leaves::{self, Leaf};
use crate::decode::{json, value};
use crate::error::{Error, Exit};
use crate::names;
use crate::output::{Output, Paint};
use crate::progress::Waiting;
use crate::transport::{Line, To};
use crate::view::View;

/// Shows the capabilities of an adapter.
///
/// It asks for every page of QUERY_HCA_CAP, the values that are now and those that could be set. Where the two
/// differ, the line begins with *.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,
    /// Only those whose name contains this.
    part: Option<String>,
    /// Only this page, such as general_device.
    #[arg(long, value_name = "NAME")]
    page: Option<String>,
    /// Shows also those that are zero.
    #[arg(long)]
    all: bool,
    /// Writes JSON, with every field.
    #[arg(long, conflicts_with_all = ["all", "part"])]
    json: bool,
}

/// A page that the adapter has: the values that are now, and those that could be.
struct Page<'c> {
    desc: &'static PageDesc,
    current: Option<&'c [u8]>,
    maximum: Option<&'c [u8]>,
}

/// A capability.
struct Row {
    name: String,
    current: Option<Leaf>,
    maximum: Option<Leaf>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let only = arguments.page.as_deref().map(page).transpose()?;
    arguments.to.way()?;
    let line = arguments.to.open(Limit::ReadOnly)?;
    let asked = ask(&line);
    line.finish()?;
    let caps = asked?;
    if let Some(only) = only
        && !caps.pages().any(|(page, ..)| page.selector == only.selector)
    {
        let refused = caps.refused().iter().find(|(page, ..)| page.selector == only.selector);
        let why = refused.map(|(_, _, error)| error.to_string()).unwrap_or_default();
        return Err(Error::Refused(format!("the adapter has no page {}: {why}", only.name)));
    }
    let pages = pages(&caps, only);
    if arguments.json {
        writeln!(out, "{:#}", for_programs(&caps, &pages))?;
        return Ok(Exit::Done);
    }
    let mut shown = 0;
    for page in &pages {
        let rows = page.rows(arguments);
        // A page without anything is worth a line only where nothing else is asked for.
        if rows.is_empty() && arguments.part.is_some() {
            continue;
        }
        if shown > 0 {
            writeln!(out)?;
        }
        shown += 1;
        page.write(out, &rows)?;
    }
    match &arguments.part {
        Some(part) if shown == 0 => Err(nothing_like(part, &pages).into()),
        None if only.is_none() => {
            missing(out, &caps)?;
            Ok(Exit::Done)
        }
        _ => Ok(Exit::Done),
    }
}

/// The page with a name.
fn page(name: &str) -> Result<&'static PageDesc, ArgumentFault> {
    names::page(name).ok_or_else(|| {
        let near = names::list(&names::nearest_of(name, PAGES.iter().map(|page| page.name)));
        let remedy = "`prm caps` without --page names all.";
        ArgumentFault::whole(name, format!("no page is called `{name}`{near}"), remedy)
    })
}

fn ask(line: &Line) -> Result<Caps, Error> {
    let _waiting = Waiting::new("the capabilities");
    Caps::query(line.transport())
        .map_err(|error| Error::Refused(line.why(QueryHcaCapIn::new().as_bytes(), &error)))
}

/// The pages that are there, by number.
fn pages<'c>(caps: &'c Caps, only: Option<&PageDesc>) -> Vec<Page<'c>> {
    let mut pages: Vec<Page<'c>> = Vec::new();
    for (desc, mode, bytes) in caps.pages() {
        if only.is_some_and(|only| only.selector != desc.selector) {
            continue;
        }
        if pages.last().is_none_or(|page| page.desc.selector != desc.selector) {
            pages.push(Page { desc, current: None, maximum: None });
        }
        if let Some(page) = pages.last_mut() {
            match mode {
                CapMode::Current => page.current = Some(bytes),
                CapMode::Maximum => page.maximum = Some(bytes),
            }
        }
    }
    pages
}

impl Page<'_> {
    /// The rows that are wanted.
    fn rows(&self, arguments: &Arguments) -> Vec<Row> {
        let wanted = arguments.part.as_deref().map(names::snake_case);
        let mut rows = self.all();
        rows.retain(|row| {
            let is_wanted = wanted.as_ref().is_none_or(|part| row.name.contains(part.as_str()));
            is_wanted && (arguments.all || arguments.part.is_some() || row.is_set())
        });
        rows
    }

    fn all(&self) -> Vec<Row> {
        let of = |bytes: Option<&[u8]>| {
            let view = View::of_layouts(vec![self.desc.layout], None);
            bytes.map(|bytes| leaves::all(&view, bytes)).unwrap_or_default()
        };
        let (current, maximum) = (of(self.current), of(self.maximum));
        let mut rows: Vec<Row> = Vec::with_capacity(current.len().max(maximum.len()));
        let mut other = maximum.into_iter().peekable();
        for (name, leaf) in current {
            // What only the one has are reserved bits that are set, in between.
            while let Some((name, leaf)) =
                other.next_if(|(next, _)| *next != name && is_extra(next))
            {
                rows.push(Row { name, current: None, maximum: Some(leaf) });
            }
            let maximum = other.next_if(|(next, _)| *next == name).map(|(_, leaf)| leaf);
            rows.push(Row { name, current: Some(leaf), maximum });
        }
        rows.extend(other.map(|(name, leaf)| Row { name, current: None, maximum: Some(leaf) }));
        rows
    }

    fn write(&self, out: &mut Output, rows: &[Row]) -> Result<(), Error> {
        let look = out.look;
        let (name, layout) = (self.desc.name, self.desc.layout.name);
        writeln!(out, "{} ({layout})", look.paint(Paint::Title, name))?;
        if !self.desc.about.is_empty() {
            writeln!(out, "{}", look.paint(Paint::Dim, look.wrap(self.desc.about, 0)))?;
        }
        if rows.is_empty() {
            writeln!(out, "every field is zero")?;
            return Ok(());
        }
        let cells: Vec<[String; 4]> = rows.iter().map(Row::cells).collect();
        let heads = ["name", "current", "maximum"];
        let width = |column: usize| {
            let cells = cells.iter().map(|cells| cells[column].len());
            cells.max().unwrap_or(0).max(heads[column].len())
        };
        let (names, currents, maxima) = (width(0), width(1), width(2));
        writeln!(out, "  {:names$}  {:currents$}  {}", heads[0], heads[1], heads[2])?;
        for (row, [name, current, maximum, meaning]) in rows.iter().zip(&cells) {
            let mark = look.paint(Paint::Alarm, if row.differs() { '*' } else { ' ' });
            let (pad, name) = (names - name.len(), look.paint(Paint::Name, name));
            write!(out, "{mark} {name}{:pad$}  {current:currents$}  ", "")?;
            if meaning.is_empty() {
                writeln!(out, "{maximum}")?;
            } else {
                writeln!(out, "{maximum:maxima$}  {}", look.paint(Paint::Meaning, meaning))?;
            }
        }
        Ok(())
    }
}

fn is_extra(name: &str) -> bool {
    name.contains(json::RESERVED)
}

impl Row {
    fn is_set(&self) -> bool {
        let is = |leaf: &Option<Leaf>| match leaf {
            Some(Leaf::Number(_, number)) => *number != 0,
            Some(Leaf::Bytes(bytes)) => bytes.iter().any(|byte| *byte != 0),
            None => false,
        };
        is(&self.current) || is(&self.maximum)
    }

    fn differs(&self) -> bool {
        self.current != self.maximum
    }

    /// Name, current and maximum value, and what they stand for.
    fn cells(&self) -> [String; 4] {
        let text = |leaf: &Option<Leaf>| leaf.as_ref().map_or_else(|| "-".to_owned(), number);
        let meaning = match (&self.current, &self.maximum) {
            (Some(current), Some(maximum)) if current != maximum => {
                match (meaning(current), meaning(maximum)) {
                    (Some(current), Some(maximum)) => format!("{current}, could be {maximum}"),
                    (current, maximum) => current.or(maximum).unwrap_or_default(),
                }
            }
            (current, maximum) => {
                current.as_ref().or(maximum.as_ref()).and_then(meaning).unwrap_or_default()
            }
        };
        [self.name.clone(), text(&self.current), text(&self.maximum), meaning]
    }
}

/// A value without what it stands for.
fn number(leaf: &Leaf) -> String {
    match leaf {
        Leaf::Number(field, number) if *number > 9 && field.width() <= 64 => {
            format!("{number:#x} ({number})")
        }
        Leaf::Number(_, number) => format!("{number:#x}"),
        Leaf::Bytes(_) => leaf.text(),
    }
}

fn meaning(leaf: &Leaf) -> Option<String> {
    match leaf {
        Leaf::Number(field, number) => value::meaning(field, *number),
        Leaf::Bytes(_) => None,
    }
}

/// The pages that the adapter refuses, in a paragraph.
fn missing(out: &mut Output, caps: &Caps) -> Result<(), Error> {
    let mut names: Vec<&str> = caps.refused().iter().map(|(page, ..)| page.name).collect();
    names.dedup();
    if !names.is_empty() {
        let look = out.look;
        let text = format!("Pages that the adapter refuses: {}", names.join(", "));
        writeln!(out, "\n{}", look.paint(Paint::Dim, look.wrap(&text, 0)))?;
    }
    Ok(())
}

fn nothing_like(part: &str, pages: &[Page<'_>]) -> ArgumentFault {
    let all: Vec<String> = pages.iter().flat_map(|page| page.all()).map(|row| row.name).collect();
    let near = names::list(&names::nearest_of(part, all.iter().map(String::as_str)));
    let problem = format!("no capability's name contains `{part}`{near}");
    ArgumentFault::whole(part, problem, format!("`prm find {part}` searches words, too."))
}

fn for_programs(caps: &Caps, pages: &[Page<'_>]) -> Value {
    let mut all = Map::new();
    for page in pages {
        let fields = |bytes: Option<&[u8]>| {
            let view = View::of_layouts(vec![page.desc.layout], None);
            bytes.map_or(Value::Null, |bytes| {
                json::object(&view, bytes)[page.desc.layout.name].clone()
            })
        };
        let value = json!({
            "selector": page.desc.selector,
            "layout": page.desc.layout.name,
            "current": fields(page.current),
            "maximum": fields(page.maximum),
        });
        all.insert(page.desc.name.to_owned(), value);
    }
    let mut refused: Vec<&str> = caps.refused().iter().map(|(page, ..)| page.name).collect();
    refused.dedup();
    json!({ "pages": all, "refused": refused })
}
