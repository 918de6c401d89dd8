//! `prm show`: a layout, a command, a register, an enumeration or a field, as the tables have it.

mod diagram;
mod json;
mod svg;

use std::io::Write;

use clap::Args;
use mlx5_prm::{
    Access, CommandDesc, Count, Element, FieldDesc, Kind, LayoutDesc, Opcode, RegisterDesc,
};

use crate::arguments::ArgumentFault;
use crate::error::{Error, Exit};
use crate::names;
use crate::output::{Output, Paint};
use crate::position::position;
use crate::spec_files;

/// Shows a layout: its fields, their places and words, and a diagram of its bits.
///
/// Takes a layout (cqc), a command (MODIFY_CQ: its input, its output, and what it does), a register
/// (PTYS), an enumeration (qp_state), the number of an object (cqn), a capability (CQ_MODERATION, or Cap::ROCE where
/// something else has the name) or a page of them (general_device), or a field (cqc.cq_period).
#[derive(Args)]
pub(crate) struct Arguments {
    /// The name, and after a dot a field.
    name: String,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
    /// Writes the diagram as SVG.
    #[arg(long, conflicts_with = "json")]
    svg: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let name = &arguments.name;
    if let Some((layout, path)) = name.split_once('.') {
        let found = field(name, layout, path)?;
        if arguments.json {
            writeln!(out, "{:#}", json::field(found.layout, found.field, found.base))?;
        } else if arguments.svg {
            return Err(not_drawn(name).into());
        } else {
            one_field(out, &found)?;
        }
        return Ok(Exit::Done);
    }
    // A name that is a layout's as it is means that; else a command's or a register's counts.
    let exact = mlx5_prm::layout_desc(name);
    if exact.is_none()
        && let Some((code, command)) = names::opcode(name)
    {
        return shown_command(arguments, code, command, out);
    }
    let register = || names::register(name).filter(|_| names::number(name).is_none());
    let found = exact.or_else(|| register().map(|r| r.layout)).or_else(|| names::find(name));
    // `CreateRqtInWithRqNum` of the codec: a layout with its list.
    let with_list = || {
        let (head, list) = name.split_once("With")?;
        let list = names::snake_case(list);
        let is_its =
            |layout: &&'static LayoutDesc| lists(layout).iter().any(|(_, f)| f.name == list);
        names::find(head).filter(is_its)
    };
    let wanted = names::snake_case(name);
    let page = || names::page(name).map(|page| page.layout);
    // Of Rust's names a page's own counts before another name of a layout, which is no type.
    let found = match found.or_else(with_list) {
        Some(layout) if *name != wanted && layout.name != wanted => page().or(Some(layout)),
        found => found.or_else(page),
    };
    if let Some(layout) = found {
        return shown_layout(arguments, layout, out);
    }
    let is_values = names::enums().iter().any(|e| e.name == wanted)
        || names::flags().iter().any(|f| f.name == wanted)
        || names::numbers().iter().any(|n| n.name == wanted);
    if is_values {
        return values(name, &wanted, arguments, out);
    }
    if let Some(path) = names::capability(name) {
        if arguments.svg {
            return Err(not_drawn(name).into());
        }
        return run(&Arguments { name: path, ..*arguments }, out);
    }
    let all = names::all().map(|(layout, _)| layout.name);
    let all = all.chain(Opcode::DESC.values.iter().map(|(_, name)| *name));
    let all = all.chain(names::registers().map(|r| r.name));
    let all = all.chain(names::enums().into_iter().map(|e| e.name));
    let all = all.chain(names::flags().into_iter().map(|f| f.name));
    let all = all.chain(names::numbers().into_iter().map(|n| n.name));
    let all = all.chain(names::pages()).chain(names::capabilities());
    let near = names::list(&names::nearest_of(name, all));
    let problem = format!("nothing is called `{name}`{near}");
    Err(ArgumentFault::whole(name, problem, "`prm find TEXT` searches names and words.").into())
}

fn not_drawn(name: &str) -> ArgumentFault {
    ArgumentFault::whole(name, "no diagram is drawn of this", "Name a layout.")
}

/// The field that a path leads to.
struct Found {
    /// The path, as the tables write it.
    path: String,
    layout: &'static LayoutDesc,
    field: &'static FieldDesc,
    /// Where the layout begins in what the path begins with, in bits.
    base: usize,
}

fn field(argument: &str, layout: &str, path: &str) -> Result<Found, ArgumentFault> {
    let mut at = layout.len() + 1;
    let page = || names::page(layout).map(|page| page.layout);
    let mut here = names::find(layout).or_else(page).ok_or_else(|| {
        let near = names::list(&names::nearest(layout));
        let problem = format!("no layout or command is called `{layout}`{near}");
        let remedy = "`prm find TEXT` searches names and words.";
        ArgumentFault::new(argument, 0..layout.len(), problem, remedy)
    })?;
    let (mut told, mut base) = (here.name.to_owned(), 0);
    let mut words = path.split('.').peekable();
    loop {
        let word = words.next().unwrap_or_default();
        let part = at..at + word.len();
        at = part.end + 1;
        let bare = word.split('[').next().unwrap_or_default();
        let found = here.field(bare).or_else(|| here.field(&names::snake_case(bare)));
        let field = found.ok_or_else(|| {
            let near = names::nearest_of(bare, here.fields.iter().map(|f| f.name));
            let problem = format!("{} has no field `{bare}`{}", here.name, names::list(&near));
            let remedy = format!("`prm show {}` shows its fields.", here.name);
            ArgumentFault::new(argument, part.clone(), problem, remedy)
        })?;
        told = format!("{told}.{}", field.name);
        if words.peek().is_none() {
            return Ok(Found { path: told, layout: here, field, base });
        }
        let Element::Layout(inner) = field.element else {
            let problem = format!("`{}` is a number, and has no fields", field.name);
            return Err(ArgumentFault::new(argument, part, problem, "End the path there."));
        };
        base += field.bit() as usize;
        here = inner;
    }
}

fn shown_command(
    arguments: &Arguments,
    code: u16,
    name: &'static str,
    out: &mut Output,
) -> Result<Exit, Error> {
    let layouts = match names::general_verb(Opcode(code)) {
        // The object that these have behind their head is one of many.
        Some(_) => ["general_obj_in_cmd_hdr", "general_obj_out_cmd_hdr"].map(mlx5_prm::layout_desc),
        None => [names::input_of(name), names::output_of(name)],
    };
    if arguments.json {
        writeln!(out, "{:#}", json::command(code, name, layouts))?;
        return Ok(Exit::Done);
    }
    if arguments.svg {
        let input = layouts[0].ok_or_else(|| not_drawn(&arguments.name))?;
        out.write_all(svg::text(input).as_bytes())?;
        return Ok(Exit::Done);
    }
    let look = out.look;
    writeln!(out, "{}", look.paint(Paint::Title, format_args!("{name}({code:#x})")))?;
    let known = names::commands().find(|command| command.name == name);
    let about = known.map(|command| command.about).or_else(|| Opcode(code).about());
    if let Some(about) = about {
        writeln!(out, "{}", look.wrap(about, 0))?;
    }
    if let Some(command) = known {
        facts(out, command)?;
    }
    for layout in layouts.into_iter().flatten() {
        writeln!(out)?;
        table(out, layout)?;
    }
    if layouts.iter().all(Option::is_none) {
        writeln!(out, "No public source has its layouts.")?;
    }
    Ok(Exit::Done)
}

/// What is known of a command beyond its layouts.
fn facts(out: &mut Output, command: &CommandDesc) -> Result<(), Error> {
    let look = out.look;
    let object = command.object;
    writeln!(out, "Works on: {} ({})", object.name, object.about.trim_end_matches('.'))?;
    if let Some(transition) = &command.transition {
        let from: Vec<&str> = transition.from.iter().filter_map(|state| state.name()).collect();
        let from = if from.is_empty() { "any state".to_owned() } else { from.join(", ") };
        let to = transition.to.name().unwrap_or_default();
        writeln!(out, "Leads from {from} to {to}")?;
        let rows = transition.fields.iter().filter(|field| field.requires.iter().next().is_some());
        let needed: Vec<String> = rows
            .map(|field| {
                let services: Vec<&str> =
                    field.requires.iter().filter_map(|service| service.name()).collect();
                format!("{} ({})", field.path, services.join(", "))
            })
            .collect();
        if !needed.is_empty() {
            writeln!(out, "Needs: {}", look.wrap(&needed.join(", "), 7))?;
        }
    }
    for select in command.selects {
        writeln!(out, "Select mask {}, op_mod {}:", select.name, select.op_mod)?;
        for bit in select.bits {
            let paths: Vec<&str> = bit.fields.iter().map(|field| field.path).collect();
            let paths = if paths.is_empty() {
                "for no field of the layout".to_owned()
            } else {
                paths.join(", ")
            };
            let line = format!("  bit {:<2}  {:24}", bit.bit, bit.name);
            writeln!(out, "{line}  {}", look.wrap(&paths, line.len() + 2))?;
        }
    }
    Ok(())
}

fn shown_layout(
    arguments: &Arguments,
    layout: &'static LayoutDesc,
    out: &mut Output,
) -> Result<Exit, Error> {
    if arguments.json {
        writeln!(out, "{:#}", json::layout(layout))?;
    } else if arguments.svg {
        out.write_all(svg::text(layout).as_bytes())?;
    } else {
        table(out, layout)?;
        let used = used_in(layout);
        if !used.is_empty() {
            writeln!(out, "\nUsed in: {}", out.look.wrap(&used.join(", "), 9))?;
        }
        let sources = spec_files::of_layout(layout.name, names::family(layout));
        if let Some(sources) = sources {
            writeln!(out, "Sources: {}", out.look.wrap(&sources.whole.join(", "), 9))?;
            for (field, from) in sources.fields {
                writeln!(out, "  {field}: {}", out.look.wrap(&from.join(", "), field.len() + 4))?;
            }
        }
        writeln!(out)?;
        out.write_all(diagram::text(layout).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The fields of other layouts that are this one.
fn used_in(layout: &LayoutDesc) -> Vec<String> {
    let of = |outer: &'static LayoutDesc| {
        let is = |field: &&FieldDesc| matches!(field.element, Element::Layout(inner) if inner.name == layout.name);
        outer.fields.iter().filter(is).map(|field| format!("{}.{}", outer.name, field.name))
    };
    let mut used: Vec<String> = names::all().flat_map(|(outer, _)| of(outer)).collect();
    used.sort_unstable();
    used
}

/// The fields as a table, and the values of their enumerations.
fn table(out: &mut Output, layout: &'static LayoutDesc) -> Result<(), Error> {
    let look = out.look;
    let list = if layout.has_list() { " and a list" } else { "" };
    let register = register(layout)
        .map_or_else(String::new, |r| format!(", register {} ({:#06x})", r.name, r.id));
    let title = look.paint(Paint::Title, layout.name);
    let (kind, size, family) = (kind(layout), layout.size, names::family(layout));
    writeln!(out, "{title}: {kind} of {size} bytes{list}, family {family}{register}")?;
    if let Some(about) = layout.about {
        writeln!(out, "{}", look.wrap(about, 0))?;
    }
    // What is longer than this does not push the types of all others aside.
    let names = layout.fields.iter().map(|field| field.name.len()).filter(|len| *len <= 32);
    let width = names.max().unwrap_or(0).max(4);
    writeln!(out, "at         bits  width  {:width$}  type", "name")?;
    for field in layout.fields {
        row(out, layout, field, 0, width)?;
    }
    // A list of its own has a row.
    for (path, list) in lists(layout).into_iter().filter(|(path, _)| path.contains('.')) {
        writeln!(out, "At its end: {path}, {} []", element_text(list))?;
    }
    element_names(out, layout.fields)?;
    Ok(())
}

/// The lists at the end of a layout and of what it holds, with the way to each.
fn lists(layout: &'static LayoutDesc) -> Vec<(String, &'static FieldDesc)> {
    let of = |field: &'static FieldDesc| match (field.count, field.element) {
        (Count::List, _) => vec![(field.name.to_owned(), field)],
        (Count::One, Element::Layout(inner)) => {
            let within = lists(inner).into_iter();
            within.map(|(path, list)| (format!("{}.{path}", field.name), list)).collect()
        }
        _ => Vec::new(),
    };
    layout.fields.iter().flat_map(of).collect()
}

/// Where the names of fields begin.
const INDENT: usize = 24;

fn row(
    out: &mut Output,
    layout: &LayoutDesc,
    field: &FieldDesc,
    base: usize,
    width: usize,
) -> Result<(), Error> {
    let look = out.look;
    let (at, bits) = place(field, base);
    let (wide, kind) = (field.width(), type_text(field));
    let access = field.access.map_or_else(String::new, |access| format!(", {}", word(access)));
    let pad = width.saturating_sub(field.name.len());
    let width = width.max(field.name.len());
    let name = look.paint(Paint::Name, field.name);
    write!(out, "{at:#05x}  {bits:>8}  {wide:>5}  {name}")?;
    if INDENT + width + 2 + kind.len() + access.len() <= look.width {
        writeln!(out, "{:pad$}  {kind}{access}", "")?;
    } else {
        let kind = look.wrap(&format!("{kind}{access}"), INDENT);
        writeln!(out, "\n{:INDENT$}{kind}", "")?;
    }
    if let Some(words) = field.words {
        writeln!(out, "{:INDENT$}{}", "", look.paint(Paint::Dim, look.wrap(words, INDENT)))?;
    }
    for by in mlx5_prm::selected_by(layout.name, field.name) {
        let (bit, select, input) = (by.bit.bit, by.select.name, by.input.name);
        let text = format!("Selected by bit {bit} of {select} in {input}.");
        writeln!(out, "{:INDENT$}{}", "", look.paint(Paint::Dim, look.wrap(&text, INDENT)))?;
    }
    Ok(())
}

fn one_field(out: &mut Output, found: &Found) -> Result<(), Error> {
    let Found { path, layout, field, base } = found;
    writeln!(out, "{}", out.look.paint(Paint::Title, path))?;
    row(out, layout, field, *base, field.name.len())?;
    element_names(out, std::slice::from_ref(*field))?;
    if let Some(sources) = spec_files::of_layout(layout.name, names::family(layout)) {
        let own = sources.fields.into_iter().find(|(name, _)| name == field.name);
        let from = own.map_or(sources.whole, |(_, from)| from);
        writeln!(out, "Sources: {}", out.look.wrap(&from.join(", "), 9))?;
    }
    Ok(())
}

/// The values and flags of some fields, each enumeration once.
fn element_names(out: &mut Output, fields: &[FieldDesc]) -> Result<(), Error> {
    let mut told: Vec<&str> = Vec::new();
    for field in fields {
        match field.element {
            Element::Flags(of) if !told.contains(&of.name) => told.push(of.name),
            Element::Enum(of) if !told.contains(&of.name) => told.push(of.name),
            _ => continue,
        }
        writeln!(out)?;
        names_of(out, field)?;
    }
    Ok(())
}

/// The values of an enumeration, or flags and their bits.
fn names_of(out: &mut Output, field: &FieldDesc) -> Result<(), Error> {
    match field.element {
        Element::Flags(flags) => {
            writeln!(out, "{}:", flags.name)?;
            for (bit, name) in flags.bits {
                writeln!(out, "  bit {bit:<2}  {name}")?;
            }
        }
        // The opcodes have a list of their own.
        Element::Enum(names) if names.values.len() > 100 => {
            writeln!(out, "{}: `prm list enums {}`", names.name, names.name)?;
        }
        Element::Enum(names) => {
            writeln!(out, "{}:", names.name)?;
            for (value, name) in names.values {
                writeln!(out, "  {value:#06x}  {name}")?;
            }
        }
        Element::Number(number) => {
            writeln!(out, "{}: a number of {} bits", number.name, number.width)?;
        }
        _ => {}
    }
    Ok(())
}

/// Those of an enumeration, of flags, or of the numbers of objects.
fn values(
    name: &str,
    wanted: &str,
    arguments: &Arguments,
    out: &mut Output,
) -> Result<Exit, Error> {
    if arguments.svg {
        return Err(not_drawn(name).into());
    }
    let fields =
        names::all().flat_map(|(layout, _)| layout.fields.iter().map(move |f| (layout, f)));
    let of: Vec<_> = fields
        .filter(|(_, field)| match field.element {
            Element::Enum(of) => of.name == wanted,
            Element::Flags(of) => of.name == wanted,
            Element::Number(of) => of.name == wanted,
            _ => false,
        })
        .collect();
    if arguments.json {
        let all: serde_json::Value = of.iter().map(|(l, f)| json::field(l, f, 0)).collect();
        writeln!(out, "{all:#}")?;
        return Ok(Exit::Done);
    }
    if let Some((_, field)) = of.first() {
        names_of(out, field)?;
    }
    let used: Vec<String> = of.iter().map(|(l, f)| format!("{}.{}", l.name, f.name)).collect();
    writeln!(out, "\nUsed in: {}", out.look.wrap(&used.join(", "), 9))?;
    let mut families: Vec<&str> = of.iter().map(|(layout, _)| names::family(layout)).collect();
    families.sort_unstable();
    families.dedup();
    writeln!(out, "Families: {}", out.look.wrap(&families.join(", "), 10))?;
    Ok(Exit::Done)
}

/// The register that a layout is.
fn register(layout: &LayoutDesc) -> Option<&'static RegisterDesc> {
    names::registers().find(|r| r.layout.name == layout.name)
}

/// Position of one element, of a layout that begins at bit `base`. A layout has no bits of its own.
fn place(field: &FieldDesc, base: usize) -> (usize, String) {
    let (at, bits) = position(base + field.bit() as usize, field.width() as usize);
    let is_layout = matches!(field.element, Element::Layout(_));
    (at, if is_layout { String::new() } else { bits })
}

fn element_text(field: &FieldDesc) -> String {
    match field.element {
        Element::Bits => "number".to_owned(),
        Element::Number(number) => format!("number {}", number.name),
        Element::Enum(names) => format!("enum {}", names.name),
        Element::Flags(flags) => format!("flags {}", flags.name),
        Element::Layout(inner) => format!("{} {}", kind(inner), inner.name),
    }
}

fn type_text(field: &FieldDesc) -> String {
    let one = element_text(field);
    match field.count {
        Count::One => one,
        Count::Array(n) => format!("{one} [{n}]"),
        Count::List => format!("{one} [], a list to the end of the mailbox"),
    }
}

/// The PRM's word for who may read and write a field of a register.
fn word(access: Access) -> &'static str {
    match access {
        Access::Ro => "RO",
        Access::Rw => "RW",
        Access::Wo => "WO",
        Access::Op => "OP",
        Access::Index => "INDEX",
    }
}

fn kind(layout: &LayoutDesc) -> &'static str {
    match layout.kind {
        Kind::Struct => "struct",
        Kind::Union => "union",
    }
}
