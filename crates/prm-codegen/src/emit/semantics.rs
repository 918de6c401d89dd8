//! Enumerations, objects, commands and select masks as Rust.

use std::fmt::Write as _;

use super::bindings::{Bindings, FlagWord};
use super::capabilities::{ANSWER, capabilities};
use super::changes::{self, changes};
use super::names::{camel, snake, upper};
use super::transitions::{builder, description, transition};
use super::{head, type_name};
use crate::model::*;

/// `enums.rs`: the enumerations that belong to fields.
pub(super) fn enums(spec: &Spec, bindings: &Bindings<'_>) -> String {
    let mut text = head("Enumerations that belong to fields.");
    for (e, number) in bindings.enums(&spec.semantics.enums) {
        let _ = write!(
            text,
            "coded! {{\n    /// {} Unknown values are kept.\n    ///\n    /// Of {}.\n    {}: {} = \"{}\" {{\n",
            e.about,
            listed(e.fields.iter().map(|(f, _)| f)),
            camel(&e.name),
            number,
            e.name
        );
        for v in &e.values {
            let words = command_words(spec, &v.name).filter(|_| e.name == "opcode");
            let words = words.map_or_else(String::new, |words| format!(" \"{words}\""));
            let _ = writeln!(
                text,
                "        {} \"{}\" = 0x{:x}{words},",
                upper(&v.name),
                v.name,
                v.value
            );
        }
        text.push_str("    }\n}\n\n");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// `numbers.rs`: the numbers of objects.
pub(super) fn numbers(spec: &Spec) -> String {
    let mut text = head("Numbers of objects, each of its own type.");
    for n in &spec.semantics.numbers {
        let _ = write!(
            text,
            "number! {{\n    /// {} {} bits.\n    ///\n    /// Of {}.\n    {}: {} = \"{}\"\n}}\n\n",
            n.about,
            n.width,
            listed(n.fields.iter().map(|(f, _)| f)),
            camel(&n.name),
            n.width,
            n.name
        );
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Names as code, with commas between.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    names.into_iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// `object.rs`: the kinds of objects.
pub(super) fn objects(spec: &Spec, bindings: &Bindings<'_>) -> String {
    let mut text = head("Kinds of objects that commands work on.");
    text.push_str("use crate::{ObjectDesc, ObjectKind};\n");
    for o in &spec.semantics.objects {
        let (ty, name, about) = (camel(&o.name), &o.name, &o.about);
        let (number, says) = match &o.number {
            Some(number) => (&**number, format!("Its number is the {number}")),
            None => ("number", "It has no number".to_owned()),
        };
        let _ = write!(
            text,
            "\n/// {about} {says}{context}.\n#[derive(Debug, Clone, Copy)]\n\
             pub enum {ty} {{}}\n\nimpl ObjectKind for {ty} {{\n    type Number = {};\n    \
             const DESC: &'static ObjectDesc =\n        \
             &ObjectDesc {{ name: \"{name}\", number: \"{number}\", about: \"{about}\" }};\n}}\n",
            number_of(spec, bindings, o),
            context =
                o.context.as_ref().map_or_else(String::new, |c| format!(", its context `{c}`")),
        );
    }
    text
}

/// The type of an object's number.
fn number_of(spec: &Spec, bindings: &Bindings<'_>, object: &Object) -> String {
    let commands = spec.semantics.commands.iter().filter(|c| c.object == object.name);
    let mut numbers = commands.filter_map(|c| {
        let carrier = if c.verb == Verb::Create { &c.output } else { &c.input };
        let (layout, field) = spec.leaf(&format!("{carrier}.{}", c.number.as_ref()?))?;
        bindings.of(&layout.name, &field.name)
    });
    numbers.next().map_or_else(|| "u32".to_owned(), |n| format!("crate::{}", camel(n.name)))
}

/// What a command does, in words.
pub(super) fn command_words<'s>(spec: &'s Spec, name: &str) -> Option<&'s str> {
    let command = spec.semantics.commands.iter().find(|c| c.name == name);
    command.map(|c| &*c.about).or_else(|| spec.words.command(name))
}

/// Lines of documentation: what a transition takes, and the types of the select masks.
pub(super) fn meaning(spec: &Spec, layout: &Layout) -> String {
    let mut text = String::new();
    let commands = spec.semantics.commands.iter().filter(|c| c.input == layout.name);
    if commands.clone().any(|c| builder(spec, c).is_some()) {
        let _ = write!(
            text,
            "///\n/// To be sure that nothing is missing, build it by [`{}::transition`].\n",
            type_name(&layout.name)
        );
    }
    for select in &spec.semantics.selects {
        for (mask, _) in &select.masks {
            let Some(path) = mask.strip_prefix(&layout.name).and_then(|m| m.strip_prefix('.'))
            else {
                continue;
            };
            let ty = match spec.resolve(&layout.name, path).map(|(_, field)| &field.element) {
                Some(Element::Layout(inner)) => type_name(inner),
                _ => camel(&select.name),
            };
            let _ = write!(text, "///\n/// Select mask `{path}`: [`{ty}`].");
            let paired = !spec.semantics.is_of_transitions(select)
                && changes::paths(select).next().is_some();
            text.push_str(if paired { " The `changing_` calls set its bits.\n" } else { "\n" });
        }
    }
    text
}

/// The commands whose input belongs to a family.
fn of_family<'s>(spec: &'s Spec, family: &'s Family) -> impl Iterator<Item = &'s Command> {
    let of = |c: &Command| spec.layout(&c.input).is_some_and(|l| l.family == family.name);
    spec.semantics.commands.iter().filter(move |c| of(c))
}

/// The list of a family's commands.
pub(super) fn command_list(spec: &Spec, family: &Family) -> String {
    let mut text = String::from(
        "\n/// The commands of this family.\npub(crate) const COMMANDS: &[&crate::CommandDesc] = &[",
    );
    let mut any = false;
    for c in of_family(spec, family) {
        let _ = write!(text, "\n    &{},", upper(&c.name));
        any = true;
    }
    text.push_str(if any { "\n];\n" } else { "];\n" });
    text
}

/// The list of a family's registers.
pub(super) fn register_list(spec: &Spec, family: &Family) -> String {
    let of = |name: &&String| spec.layout(name).is_some_and(|l| l.family == family.name);
    let layouts = spec.registers.iter().filter_map(|r| r.layout.as_ref()).filter(of);
    let mut text = String::from(
        "\n/// The registers of this family.\npub(crate) const REGISTERS: &[&crate::RegisterDesc] = &[",
    );
    let mut any = false;
    for layout in layouts {
        let _ = write!(text, "\n    <{} as crate::Register>::REGISTER,", type_name(layout));
        any = true;
    }
    text.push_str(if any { "\n];\n" } else { "];\n" });
    text
}

/// The register that a layout is, for the codec's macro, and a line of documentation.
pub(super) fn register(spec: &Spec, layout: &Layout) -> Option<(String, String)> {
    let register = spec.registers.iter().find(|r| r.layout.as_ref() == Some(&layout.name))?;
    let any = |access: &[Access]| {
        layout.fields.iter().any(|f| f.access.is_none_or(|a| access.contains(&a)))
    };
    let read = any(&[Access::Ro, Access::Rw]);
    let write = any(&[Access::Rw, Access::Wo, Access::Op]);
    let (verbs, words) = match (read, write) {
        (true, true) => ("read write", "read and written"),
        (true, false) => ("read", "read"),
        // What has index fields alone can be written at least.
        (false, _) => ("write", "written"),
    };
    let Register { name, id, .. } = register;
    let line =
        format!("register! {{ {}, \"{name}\" 0x{id:04x} {verbs} }}\n", type_name(&layout.name));
    Some((line, format!("///\n/// Register {name} (0x{id:04x}), {words} by ACCESS_REG.\n")))
}

/// A place as Rust, for `path` in `layout`.
pub(super) fn place(spec: &Spec, layout: &str, path: &str) -> String {
    let (bit, field) = spec.resolve(layout, path).expect("checked");
    let width = spec.field_bits(field).unwrap_or(0);
    format!("place!(0x{:02x}[{}] {width})", bit / 32 * 4, 31 - bit % 32)
}

fn places(spec: &Spec, layout: &str, paths: &[String]) -> String {
    paths.iter().map(|p| place(spec, layout, p)).collect::<Vec<_>>().join(", ")
}

/// The commands of a family, and the flag words whose fields belong to it first.
pub(super) fn commands(spec: &Spec, bindings: &Bindings<'_>, family: &Family) -> String {
    let mut text = String::new();
    for word in bindings.words(spec).filter(|w| w.family == family.name) {
        flag_word(&mut text, &word);
    }
    for c in of_family(spec, family) {
        command(&mut text, spec, c);
        if let Some(t) = builder(spec, c) {
            transition(&mut text, spec, bindings, c, t);
        }
    }
    for layout in spec.layouts.iter().filter(|l| l.family == family.name) {
        changes(&mut text, spec, bindings, layout);
    }
    for (object, layout) in general_objects(spec, family) {
        general_object(&mut text, spec, object, layout);
    }
    if spec.layout(ANSWER).is_some_and(|l| l.family == family.name) {
        capabilities(&mut text, spec);
    }
    text
}

/// The general objects whose layouts belong to a family.
fn general_objects<'s>(
    spec: &'s Spec,
    family: &'s Family,
) -> impl Iterator<Item = (&'s GeneralObject, &'s Layout)> {
    let all = spec.semantics.general_objects.iter();
    all.filter_map(|o| Some((o, spec.layout(o.layout.as_ref().ok()?)?)))
        .filter(|(_, layout)| layout.family == family.name)
}

/// The list of a family's general objects.
pub(super) fn general_object_list(spec: &Spec, family: &Family) -> String {
    let lines: String = general_objects(spec, family)
        .map(|(_, layout)| {
            format!("\n    <{} as crate::GeneralObject>::GENERAL,", type_name(&layout.name))
        })
        .collect();
    let end = if lines.is_empty() { "" } else { "\n" };
    format!(
        "\n/// The general objects of this family.\npub(crate) const GENERAL_OBJECTS: \
         &[&crate::GeneralObjectDesc] = &[{lines}{end}];\n"
    )
}

fn general_object(text: &mut String, spec: &Spec, object: &GeneralObject, layout: &Layout) {
    let _ = write!(
        text,
        "\ngeneral_object! {{\n    {}, \"{}\" 0x{:04x}, selects &[",
        type_name(&layout.name),
        object.name,
        object.number
    );
    let any = select_descs(text, spec, &layout.name);
    let _ = write!(text, "{}], \"{}\"\n}}\n", if any { "\n    " } else { "" }, object.about);
}

/// The descriptions of a layout's select masks; whether there are any.
fn select_descs(text: &mut String, spec: &Spec, layout: &str) -> bool {
    let mut any = false;
    for select in &spec.semantics.selects {
        for (mask, _) in select.masks.iter().filter(|(m, _)| m.split('.').next() == Some(layout)) {
            select_desc(text, spec, select, mask);
            any = true;
        }
    }
    any
}

/// A word of flags as one bitfield. An attribute of a field goes to its accessors; `new` takes none.
fn flag_word(text: &mut String, word: &FlagWord<'_>) {
    let FlagWord { name, about, of, width, .. } = word;
    let ty = camel(name);
    let _ = write!(
        text,
        "\n/// {about}\n///\n/// Of {}.\n#[bitfield_struct::bitfield(u{width}, new = false, debug = false)]\n#[derive(PartialEq, Eq, Hash)]\npub struct {ty} {{\n",
        listed(of.iter().copied()),
    );
    let mut next = 0;
    let mut gap = |text: &mut String, to: u32| {
        if to > next {
            let _ = writeln!(text, "    #[bits({})]\n    __: u{width},", to - next);
        }
        next = to + 1;
    };
    for bit in &word.bits {
        gap(text, bit.bit);
        let _ = writeln!(
            text,
            "    /// Bit {}: {}.\n    #[inline]\n    pub {}: bool,",
            bit.bit,
            bit.about,
            snake(bit.name)
        );
    }
    gap(text, *width);
    let names: Vec<String> =
        word.bits.iter().map(|b| format!("({}, \"{}\")", b.bit, b.name)).collect();
    let _ = write!(
        text,
        "}}\n\nimpl {ty} {{\n    /// No flag.\n    #[inline]\n    pub const fn new() -> Self {{\n        {ty}(0)\n    }}\n\n    \
         /// Names of the bits.\n    pub const DESC: &'static crate::FlagsDesc =\n        \
         &crate::FlagsDesc {{ name: \"{name}\", bits: &[{}] }};\n}}\n\nflags_debug! {{ {ty} }}\n",
        names.join(", ")
    );
}

fn command(text: &mut String, spec: &Spec, c: &Command) {
    let (input, output) = (type_name(&c.input), type_name(&c.output));
    let verb = camel(c.verb.name());
    let without = if c.number.is_some() { "" } else { "Only" };
    let object = camel(&c.object);
    let carrier = if c.verb == Verb::Create { &c.output } else { &c.input };
    let holder = if c.verb == Verb::Query { &c.output } else { &c.input };
    let context = match &c.context {
        Some(path) => format!("Some({})", place(spec, holder, path)),
        None => "None".into(),
    };
    let _ = write!(
        text,
        "\ncommand! {{\n    {input}, {without}{verb} {object}, {id}, crate::CommandDesc {{\n        \
         name: \"{name}\",\n        opcode: 0x{opcode:03x},\n        verb: crate::Verb::{verb},\n        \
         object: <crate::object::{object} as crate::ObjectKind>::DESC,\n        \
         input: <{input} as crate::Described>::DESC,\n        output: <{output} as crate::Described>::DESC,\n        \
         number: {number},\n        context: {context},\n        selects: &[",
        id = upper(&c.name),
        name = c.name,
        opcode = c.opcode,
        number = match &c.number {
            Some(path) => format!("Some({})", place(spec, carrier, path)),
            None => "None".into(),
        },
    );
    let any = select_descs(text, spec, &c.input);
    text.push_str(if any { "\n        ],\n" } else { "],\n" });
    match spec.semantics.transitions.iter().find(|t| t.command == c.name) {
        Some(t) => description(text, spec, c, t),
        None => text.push_str("        transition: None,\n"),
    }
    let _ = write!(text, "        about: \"{}\",\n    }}\n}}\n", c.about);
}

fn select_desc(text: &mut String, spec: &Spec, select: &Select, mask: &str) {
    let (input, path) = mask.split_once('.').expect("checked");
    let _ = write!(
        text,
        "\n            crate::SelectDesc {{\n                name: \"{}\",\n                mask: {},\n                \
         op_mod: {},\n                when: {},\n                always: &[{}],\n                bits: &[",
        select.name,
        place(spec, input, path),
        select.op_mod,
        select.when.as_ref().map_or_else(
            || "None".to_owned(),
            |(path, value)| format!("Some(({}, {value}))", place(spec, input, path))
        ),
        places(spec, input, &select.always),
    );
    for b in &select.bits {
        let fields = b.fields.iter().map(|path| {
            let place = place(spec, input, path);
            format!("\n                        selected!(\"{path}\" {place}),")
        });
        let _ = write!(
            text,
            "\n                    crate::SelectBitDesc {{ bit: {}, name: \"{}\", fields: &[{}\n                    ] }},",
            b.bit,
            b.name,
            fields.collect::<String>()
        );
    }
    text.push_str("\n                ],\n            },");
}
