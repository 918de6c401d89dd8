//! `prm encode`: mailboxes from fields and their values.

mod c;
pub(crate) mod mailbox;
#[cfg(test)]
mod round_trip;
mod rust;
pub(crate) mod select;
mod unique;
mod value;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use mlx5_prm::{Element, GeneralObjectDesc, LayoutDesc, ObjectType, Opcode, Place};
use mlx5_prm_cli::read_hex::{cut, shown};
use serde_json::Value;

use crate::arguments::ArgumentFault;
use crate::decode::json::{BYTES, MISSING, RESERVED};
use crate::error::{Error, Exit, tell_once};
use crate::input::Source;
use crate::names;
use crate::output::Output;
use mailbox::{Fault, Mailbox};
use unique::Unique;
use value::Given;

/// Encodes a mailbox.
///
/// Fields are paths with dots, elements of arrays and lists have an index: `cq_context.log_cq_size=10`,
/// `pas[1]=0x1000`, or all at once: `pas=0x1000,0x2000`. Values are numbers of any base (10, 0x1f, 0b1, 0o17),
/// names of enumerations, and flags with | between.
///
/// The opcode is there already. Of a command that modifies, the bits of its select mask are set that belong
/// to the fields given, unless the mask is given too.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    form: Form,
}

/// What a mailbox is made of.
#[derive(Args)]
pub(crate) struct Content {
    /// The command or the layout, such as modify_cq; several that follow each other as a+b.
    #[arg(required_unless_present = "from")]
    pub(crate) name: Option<String>,
    /// Fields and their values.
    #[arg(value_name = "FIELD=VALUE")]
    pub(crate) fields: Vec<String>,
    /// Takes what `prm decode --json` or `--flat` wrote, before the fields; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Leaves select masks alone.
    #[arg(long)]
    pub(crate) no_select: bool,
}

/// How a mailbox is written.
#[derive(Args)]
#[group(multiple = false)]
struct Form {
    /// Writes hex (the default).
    #[arg(long)]
    hex: bool,
    /// Writes the bytes.
    #[arg(long)]
    binary: bool,
    /// Writes Rust that builds it with mlx5-prm.
    #[arg(long)]
    rust: bool,
    /// Writes C that builds it with DEVX_SET.
    #[arg(long)]
    c: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let Content { name, fields, from, no_select } = &arguments.content;
    let mailbox = match (from, name) {
        (Some(file), name) => {
            if let Some(name) = name.as_ref().filter(|name| !name.contains('=')) {
                let problem = "the file says which layout it is";
                let remedy = "Leave the name out; fields are set over what the file says.";
                return Err(ArgumentFault::whole(name, problem, remedy).into());
            }
            let given: Vec<&str> = name.iter().chain(fields).map(String::as_str).collect();
            from_file(file, &given, !no_select)?
        }
        (None, Some(name)) => from_arguments(name, fields, !no_select)?,
        (None, None) => unreachable!("clap wants one of the two"),
    };
    if arguments.form.rust {
        out.write_all(rust::text(&mailbox).as_bytes())?;
    } else if arguments.form.c {
        out.write_all(c::text(&mailbox).as_bytes())?;
    } else if arguments.form.binary {
        out.write_all(&mailbox.finish())?;
    } else {
        hex(out, &mailbox.finish())?;
    }
    Ok(Exit::Done)
}

/// A mailbox from a name and fields, as they stand on the command line.
pub(crate) fn from_arguments(
    name: &str,
    fields: &[String],
    select: bool,
) -> Result<Mailbox, ArgumentFault> {
    if let Some(at) = name.find('=') {
        let problem = "the layout or the command comes first";
        let remedy = "Such as: prm encode modify_cq cqn=5";
        return Err(ArgumentFault::new(name, 0..at, problem, remedy));
    }
    let layouts = names::layouts(name)?;
    let mut mailbox = Mailbox::new(&layouts);
    for field in fields {
        assign(&mut mailbox, field)?;
    }
    mailbox.settled().map_err(|fault| {
        let last = fields.iter().rfind(|field| field.contains(MISSING)).unwrap_or(&fields[0]);
        ArgumentFault::whole(last, fault.problem, fault.remedy)
    })?;
    if let Some(opcode) = names::general(name.split('+').next().unwrap_or_default()) {
        fill(&mut mailbox, "general_obj_in_cmd_hdr.opcode", OPCODE, opcode.0);
    }
    finish(&mut mailbox, 0, select);
    Ok(mailbox)
}

/// Sets what belongs to the fields given, which are those from the `first` on.
fn finish(mailbox: &mut Mailbox, first: usize, select: bool) {
    complete(mailbox);
    if names::general_verb(mlx5_prm::opcode(mailbox.bytes()).unwrap_or_default()).is_some()
        && mlx5_prm::op_mod(mailbox.bytes()) == Some(0)
        && !mailbox.sets().iter().any(|set| set.part == 0 && set.bit == OBJ_TYPE)
    {
        tell_once(
            "note: obj_type is 0; give the type of the general object: `prm list enums object_type`",
        );
    }
    if select {
        if let Some(op_mod) = select::op_mod(mailbox, first) {
            mailbox.add(Place::OP_MOD, op_mod.into());
        }
        select::set(mailbox, first);
        for note in select::unselected(mailbox, first) {
            tell_once(format_args!("note: {note}"));
        }
    }
}

/// `path=value` of the command line.
fn assign(mailbox: &mut Mailbox, argument: &str) -> Result<(), ArgumentFault> {
    let Some((path, value)) = argument.split_once('=') else {
        let problem = format!("`{argument}` is no field and value");
        return Err(ArgumentFault::whole(argument, problem, "Write field=value."));
    };
    mailbox.set(path.trim_end(), &Given::Text(value.trim())).map_err(|fault| {
        let Fault { part, problem, remedy } = fault;
        let value = path.len() + 1..argument.len();
        ArgumentFault::new(argument, part.unwrap_or(value), problem, remedy)
    })
}

/// Sets what a command needs and nobody gave: the opcode, and what the second layout is.
fn complete(mailbox: &mut Mailbox) {
    let [(head, _), rest @ ..] = mailbox.parts() else { return };
    let (head, second) = (*head, rest.first().map(|(layout, _)| *layout));
    let path = |field: &str| format!("{}.{field}", head.name);
    if let Some(opcode) = opcode_of(head) {
        fill(mailbox, &path("opcode"), OPCODE, opcode);
    }
    let register = second.and_then(|l| names::registers().find(|r| r.layout.name == l.name));
    if let (Some(register), Some(id)) = (register, head.field("register_id")) {
        fill(mailbox, &path("register_id"), id.bit() as usize, register.id);
    }
    if let Some(object) = second.and_then(general_object) {
        fill(mailbox, &path("obj_type"), OBJ_TYPE, object.obj_type.0);
    }
    // Some sources have the head and the object of such a command as one layout.
    if let [first, rest @ ..] = head.fields
        && has_general_head(head)
    {
        let verb = head.name.split('_').next().unwrap_or_default();
        if let Some(opcode) = names::general(&format!("{verb}_general_object")) {
            fill(mailbox, &path(&format!("{}.opcode", first.name)), OPCODE, opcode.0);
        }
        let object = match rest.first().map(|field| field.element) {
            Some(Element::Layout(object)) => general_object(object),
            _ => None,
        };
        let named = || {
            let name = head.name.strip_prefix(verb)?.strip_prefix('_')?.strip_suffix("_in")?;
            object_type(name.strip_suffix("_obj").unwrap_or(name))
        };
        if let Some(obj_type) = object.map(|object| object.obj_type).or_else(named) {
            fill(mailbox, &path(&format!("{}.obj_type", first.name)), OBJ_TYPE, obj_type.0);
        }
    }
}

/// The type of a general object, by its name in any case.
fn object_type(name: &str) -> Option<ObjectType> {
    let mut all = ObjectType::DESC.values.iter();
    let (value, _) = all.find(|(_, is)| is.eq_ignore_ascii_case(name))?;
    u16::try_from(*value).ok().map(ObjectType)
}

/// Whether the input of a command begins with the head of those on general objects.
pub(crate) fn has_general_head(layout: &LayoutDesc) -> bool {
    let first = layout.fields.first().map(|field| field.element);
    layout.name.ends_with("_in")
        && matches!(first, Some(Element::Layout(head)) if head.name == "general_obj_in_cmd_hdr")
}

/// Sets a number in the first layout, which begins with this bit, unless it was given.
fn fill(mailbox: &mut Mailbox, path: &str, bit: usize, value: u16) {
    if !mailbox.sets().iter().any(|set| set.part == 0 && set.bit == bit) {
        // The layout may not have it; a value of the tables fits.
        let _ = mailbox.set(path, &Given::Json(&Value::from(value)));
    }
}

/// Where an opcode stands in every head, and the type of a general object in its.
const OPCODE: usize = 0;
const OBJ_TYPE: usize = Place::OP_MOD.bit as usize;

/// The general object that a layout is of; none where it is of several.
fn general_object(layout: &LayoutDesc) -> Option<&'static GeneralObjectDesc> {
    let all = mlx5_prm::families().iter().flat_map(|f| f.general_objects);
    let mut of_it = all.filter(|object| object.layout.name == layout.name);
    of_it.next().copied().filter(|_| of_it.next().is_none())
}

/// The opcode of the command that a layout is the input of.
pub(crate) fn opcode_of(layout: &LayoutDesc) -> Option<u16> {
    let is_its = |name: &str| names::input_of(name).is_some_and(|input| input.name == layout.name);
    let mut all = Opcode::DESC.values.iter();
    all.find(|(_, name)| is_its(name)).and_then(|(code, _)| u16::try_from(*code).ok())
}

/// A mailbox from a file that `prm decode` wrote, and fields of the command line.
pub(crate) fn from_file(file: &Path, fields: &[&str], select: bool) -> Result<Mailbox, Error> {
    let source = Source::open(Some(file))?;
    let (name, text) = (source.name().to_owned(), source.text()?);
    from_text(&name, &text, fields, select)
}

/// A mailbox from what `prm decode` wrote, and fields of the command line.
fn from_text(file: &str, text: &str, fields: &[&str], select: bool) -> Result<Mailbox, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut mailbox = if text.trim_start().starts_with('{') {
        from_json(file, text)?
    } else {
        from_flat(file, text)?
    };
    if mailbox.parts().is_empty() {
        let problem = "no layout is known of the mailbox in the file";
        return match fields.first() {
            Some(field) => Err(ArgumentFault::whole(field, problem, "Leave the field out.").into()),
            None => Ok(mailbox),
        };
    }
    // What is given on the command line is said over what the file says.
    mailbox.forget();
    let first = mailbox.sets().len();
    for field in fields {
        assign(&mut mailbox, field)?;
    }
    mailbox.settled().map_err(|Fault { problem, remedy, .. }| {
        Error::Input(format!("{file}: {problem}\n{remedy}"))
    })?;
    finish(&mut mailbox, first, select);
    Ok(mailbox)
}

/// What a line of a log or a recording has besides the mailbox.
const FACTS: [&str; 7] = ["line", "cmd", "direction", "command", "call", "at", "result"];

/// How much of what is wrong is told, in characters: there may be a long name of the file in it.
const TOLD: usize = 400;

fn from_json(file: &str, text: &str) -> Result<Mailbox, Error> {
    let fault = |problem: String, remedy: &str| {
        Error::Input(format!("{file}: {}\n{remedy}", cut(&problem, TOLD)))
    };
    let Unique(value) = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let error = error.to_string();
        // It says the place itself.
        let error = error.split(" at line ").next().unwrap_or_default();
        Error::Input(format!(
            "{file}, line {line}, column {column}: {error}\nGive what `prm decode --json` writes of one mailbox."
        ))
    })?;
    let Value::Object(object) = value else {
        return Err(fault("no object".to_owned(), "Give what `prm decode --json` writes."));
    };
    let names = || object.keys().filter(|name| !FACTS.contains(&name.as_str()));
    if let (Some(value), true) = (object.get(BYTES), names().count() == 1) {
        let bytes = Given::Json(value).bytes().filter(|bytes| !bytes.is_empty());
        return bytes.map(Mailbox::of_bytes).ok_or_else(|| {
            let problem = format!("{BYTES}: `{}` is no run of bytes", Given::Json(value));
            fault(problem, "Give 0x and two digits for each byte.")
        });
    }
    let mut layouts = Vec::new();
    for name in names() {
        let near = || names::list(&names::nearest(name));
        layouts.push(mlx5_prm::layout_desc(name).ok_or_else(|| {
            let problem = format!("no layout is called `{name}`{}", near());
            fault(problem, "`prm find TEXT` searches names and words.")
        })?);
    }
    if layouts.is_empty() {
        return Err(fault("no layout".to_owned(), "Give what `prm decode --json` writes."));
    }
    if let Some(name) = layouts.iter().map(|l| l.name).find(|name| !object[*name].is_object()) {
        let problem = format!("{name}: not an object of fields");
        return Err(fault(problem, "Give what `prm decode --json` writes."));
    }
    let mut mailbox = Mailbox::new(&layouts);
    for layout in layouts {
        json(&mut mailbox, &mut layout.name.to_owned(), &object[layout.name]).map_err(
            |(path, Fault { problem, remedy, .. })| fault(format!("{path}: {problem}"), &remedy),
        )?;
    }
    Ok(mailbox)
}

/// Takes a value of JSON apart; a fault has its path.
fn json(mailbox: &mut Mailbox, path: &mut String, value: &Value) -> Result<(), (String, Fault)> {
    let length = path.len();
    let inner = |mailbox: &mut Mailbox, path: &mut String, more: &str, value: &Value| {
        path.push_str(more);
        let result = json(mailbox, path, value);
        path.truncate(length);
        result
    };
    match value {
        // Nothing is set, and yet it is to be there.
        Value::Object(fields) if fields.is_empty() => {
            mailbox.holds(path, true).map_err(|fault| (path.clone(), fault))
        }
        Value::Array(values) if values.is_empty() => {
            mailbox.holds(path, false).map_err(|fault| (path.clone(), fault))
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == RESERVED {
                    reserved(mailbox, path, value)?;
                } else {
                    inner(mailbox, path, &format!(".{name}"), value)?;
                }
            }
            Ok(())
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                inner(mailbox, path, &format!("[{index}]"), value)?;
            }
            Ok(())
        }
        _ => mailbox.set(path, &Given::Json(value)).map_err(|fault| (path.clone(), fault)),
    }
}

/// `[{ "at": 8, "bits": 1 }]`
fn reserved(mailbox: &mut Mailbox, path: &str, value: &Value) -> Result<(), (String, Fault)> {
    let path = format!("{path}.{RESERVED}");
    let wrong = || {
        let problem = "not the bits of dwords".to_owned();
        (path.clone(), Fault::value(problem, "Such as [{ \"at\": 8, \"bits\": 2147483648 }]."))
    };
    for dword in value.as_array().ok_or_else(wrong)? {
        if dword.as_object().is_none_or(|dword| dword.len() != 2) {
            return Err(wrong());
        }
        let number = |key: &str| dword.get(key).and_then(Value::as_u64).ok_or_else(wrong);
        let (path, bits) = (format!("{path}[{}]", number("at")?), Value::from(number("bits")?));
        mailbox.set(&path, &Given::Json(&bits)).map_err(|fault| (path, fault))?;
    }
    Ok(())
}

fn from_flat(file: &str, text: &str) -> Result<Mailbox, Error> {
    let lines = || {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    };
    let fault = |number: usize, line: &str, problem: String, remedy: &str| {
        let (problem, line) = (cut(&problem, TOLD), shown(line));
        Error::Input(format!("{file}, line {number}: {problem}\n  {line}\n{remedy}"))
    };
    let raw = one_mailbox(text).map_err(|number| {
        Error::Input(format!(
            "{file}, line {number}: another mailbox begins\nLeave one in the file."
        ))
    })?;
    if let Some(bytes) = raw {
        return Ok(Mailbox::of_bytes(bytes));
    }
    let mut layouts: Vec<&'static LayoutDesc> = Vec::new();
    for (number, line) in lines() {
        let name = line.split(['.', '=']).next().unwrap_or_default();
        if layouts.last().is_some_and(|layout| layout.name == name) {
            continue;
        }
        if layouts.iter().any(|layout| layout.name == name) {
            let problem = format!("{name} was there before: another mailbox begins");
            return Err(fault(number, line, problem, "Leave one in the file."));
        }
        layouts.push(mlx5_prm::layout_desc(name).ok_or_else(|| {
            let problem = format!("no layout is called `{name}`");
            fault(number, line, problem, "Give what `prm decode --flat` writes.")
        })?);
    }
    if layouts.is_empty() {
        return Err(Error::Input(format!("{file}: empty\nGive what `prm decode --flat` writes.")));
    }
    let mut mailbox = Mailbox::new(&layouts);
    for (number, line) in lines() {
        if layouts.iter().any(|layout| layout.name == line) {
            continue;
        }
        let Some((path, value)) = line.split_once('=') else {
            let problem = "no field and value".to_owned();
            return Err(fault(number, line, problem, "Write path=value."));
        };
        mailbox
            .set(path.trim_end(), &Given::Text(value.trim()))
            .map_err(|Fault { problem, remedy, .. }| fault(number, line, problem, &remedy))?;
    }
    Ok(mailbox)
}

/// The bytes of flat lines if no layout is known of them. An error is the line where another mailbox begins.
fn one_mailbox(text: &str) -> Result<Option<Vec<u8>>, usize> {
    let (mut raw, mut any, mut after_head) = (None, false, false);
    for (at, line) in text.lines().map(str::trim).enumerate() {
        let is_head = is_head(line);
        let bytes = line.strip_prefix("# ").filter(|_| after_head);
        let bytes = bytes.and_then(|text| Given::Text(text).bytes());
        let is_content = bytes.is_some() || !line.is_empty() && !line.starts_with('#');
        if is_head && any || is_content && raw.is_some() {
            return Err(at + 1);
        }
        raw = raw.or(bytes.filter(|bytes| !bytes.is_empty()));
        any |= is_head || is_content;
        after_head = is_head;
    }
    Ok(raw)
}

/// Whether a line is what `prm decode` or `prm send` write before a mailbox: `# line 7, cmd[0]: MODIFY_CQ(0x403)
/// input`, or without its place.
fn is_head(line: &str) -> bool {
    let is_named = || [") input", ") output"].iter().any(|end| line.ends_with(end));
    line.starts_with("# line ") || line.starts_with("# ") && is_named()
}

/// Four dwords a line.
fn hex(out: &mut Output, bytes: &[u8]) -> Result<(), Error> {
    for line in bytes.chunks(16) {
        for (i, dword) in line.chunks(4).enumerate() {
            write!(out, "{}", if i > 0 { " " } else { "" })?;
            dword.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
