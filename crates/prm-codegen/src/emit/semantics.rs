//! Enumerations, objects, commands and select masks as Rust.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::accessors::number_type;
use super::names::{camel, snake, upper};
use super::{head, type_name};
use crate::model::*;
use crate::opcodes::{Paired, opcodes};

/// `enums.rs`: the enumerations that belong to fields.
pub(super) fn enums(spec: &Spec, bindings: &Bindings<'_>) -> String {
    let mut text = head("Enumerations that belong to fields.");
    for Bound { of: e, number } in &bindings.enums {
        let fields: Vec<String> = e.fields.iter().map(|(f, _)| format!("`{f}`")).collect();
        let _ = write!(
            text,
            "coded! {{\n    /// {} Unknown values are kept.\n    ///\n    /// Of {}.\n    {}: {} = \"{}\" {{\n",
            e.about,
            fields.join(", "),
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

/// An enumeration as a field has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'s> {
    pub(super) of: &'s BoundEnum,
    /// The type of its numbers: as wide as its widest field.
    pub(super) number: &'static str,
}

/// Which field has which enumeration, worked out once.
pub(super) struct Bindings<'s> {
    enums: Vec<Bound<'s>>,
    /// The place in `enums`, by `layout.field`.
    fields: HashMap<String, usize>,
    /// Opcode and output of each input, by its name.
    requests: HashMap<&'s str, (&'s EnumValue, &'s Layout)>,
    /// Names that other sources have for the bits of a field, by `layout.field`.
    others: HashMap<String, Vec<&'s str>>,
}

impl<'s> Bindings<'s> {
    pub(super) fn new(spec: &'s Spec) -> Self {
        let paired = opcodes(spec);
        // An input that several opcodes share, such as the head of general objects, has none of
        // its own.
        let shared = |input: &Layout| {
            paired.iter().filter(|p| p.input.is_some_and(|i| i.name == input.name)).count() > 1
        };
        let both = |p: &Paired<'s>| {
            p.both().filter(|(i, _)| !shared(i)).map(|(i, o)| (&*i.name, (p.opcode, o)))
        };
        let requests = paired.iter().filter_map(both).collect();
        let mut others: HashMap<String, Vec<&str>> = HashMap::new();
        for c in spec.conflicts.iter().filter(|c| c.why == "renamed") {
            // Ours is the name and the place.
            if let (Some((layout, theirs)), Some((ours, _))) =
                (c.at.split_once('.'), c.ours.split_once(' '))
            {
                others.entry(format!("{layout}.{ours}")).or_default().push(theirs);
            }
        }
        let fields = HashMap::new();
        let mut bindings = Bindings { enums: Vec::new(), fields, requests, others };
        for (i, of) in spec.semantics.enums.iter().enumerate() {
            let fields = of.fields.iter().flat_map(|(pattern, _)| spec.fields_like(pattern));
            let mut widest = None;
            for (path, field) in fields {
                widest = widest.max(spec.element_bits(&field.element));
                bindings.fields.insert(path, i);
            }
            bindings.enums.push(Bound { of, number: number_type(widest.unwrap_or(32)) });
        }
        bindings
    }

    /// The opcode and the output of a layout that is the input of a command.
    pub(super) fn request(&self, layout: &str) -> Option<(&'s EnumValue, &'s Layout)> {
        self.requests.get(layout).copied()
    }

    /// The opcodes that a layout is the output of.
    pub(super) fn answered(&self, layout: &str) -> Vec<&'s EnumValue> {
        let of = self.requests.values().filter(|(_, output)| output.name == layout);
        let mut opcodes: Vec<_> = of.map(|(opcode, _)| *opcode).collect();
        opcodes.sort_by_key(|opcode| opcode.value);
        opcodes
    }

    /// Names that other sources have for the bits of a field.
    pub(super) fn other_names(&self, layout: &str, field: &str) -> &[&'s str] {
        self.others.get(&format!("{layout}.{field}")).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of(&self, layout: &str, field: &str) -> Option<Bound<'s>> {
        self.fields.get(&format!("{layout}.{field}")).map(|i| self.enums[*i])
    }
}

/// `object.rs`: the kinds of objects.
pub(super) fn objects(spec: &Spec) -> String {
    let mut text = head("Kinds of objects that commands work on.");
    text.push_str("use crate::{Object, ObjectDesc};\n");
    for o in &spec.semantics.objects {
        let (ty, name, number, about) = (camel(&o.name), &o.name, &o.number, &o.about);
        let _ = write!(
            text,
            "\n/// {about} Its number is the {number}, its context `{context}`.\n#[derive(Debug, Clone, Copy)]\n\
             pub enum {ty} {{}}\n\nimpl Object for {ty} {{\n    const DESC: &'static ObjectDesc =\n        \
             &ObjectDesc {{ name: \"{name}\", number: \"{number}\", about: \"{about}\" }};\n}}\n",
            context = o.context,
        );
    }
    text
}

/// What a command does, in words.
pub(super) fn command_words<'s>(spec: &'s Spec, name: &str) -> Option<&'s str> {
    let command = spec.semantics.commands.iter().find(|c| c.name == name);
    command.map(|c| &*c.about).or_else(|| spec.words.command(name))
}

/// Lines of documentation: what a transition takes, and the types of the select masks.
pub(super) fn meaning(spec: &Spec, layout: &Layout) -> String {
    let mut text = String::new();
    let listed =
        |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let commands = spec.semantics.commands.iter().filter(|c| c.input == layout.name);
    for t in
        commands.flat_map(|c| spec.semantics.transitions.iter().filter(|t| t.command == c.name))
    {
        if !t.takes.is_empty() {
            let _ = write!(text, "///\n/// It always takes {}.\n", listed(&t.takes));
        }
        if !t.admits.is_empty() {
            let _ = write!(text, "///\n/// Its mask admits {}.\n", listed(&t.admits));
        }
    }
    for select in &spec.semantics.selects {
        for (mask, _) in &select.masks {
            if let Some(path) = mask.strip_prefix(&layout.name).and_then(|m| m.strip_prefix('.')) {
                let _ =
                    write!(text, "///\n/// Select mask `{path}`: [`{}`].\n", camel(&select.name));
            }
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
fn place(spec: &Spec, layout: &str, path: &str) -> String {
    let (bit, field) = spec.resolve(layout, path).expect("checked");
    let width = spec.field_bits(field).unwrap_or(0);
    format!("place!(0x{:02x}[{}] {width})", bit / 32 * 4, 31 - bit % 32)
}

fn places(spec: &Spec, layout: &str, paths: &[String]) -> String {
    paths.iter().map(|p| place(spec, layout, p)).collect::<Vec<_>>().join(", ")
}

/// The commands of a family and the flag words of their select masks.
pub(super) fn commands(spec: &Spec, family: &Family) -> String {
    let mut text = String::new();
    for select in &spec.semantics.selects {
        let input = select.masks.first().and_then(|(m, _)| m.split('.').next()).unwrap_or_default();
        if spec.layout(input).is_some_and(|l| l.family == family.name) {
            flag_word(&mut text, spec, select);
        }
    }
    for c in of_family(spec, family) {
        command(&mut text, spec, c);
    }
    text
}

fn flag_word(text: &mut String, spec: &Spec, select: &Select) {
    let width = select.masks.first().and_then(|(m, _)| spec.resolve_full(m));
    let width = width.and_then(|(_, f)| spec.element_bits(&f.element)).unwrap_or(32);
    let masks: Vec<String> = select.masks.iter().map(|(m, _)| format!("`{m}`")).collect();
    let _ = write!(
        text,
        "\n/// {}\n///\n/// Of {}.\n#[bitfield_struct::bitfield(u{width})]\n#[derive(PartialEq, Eq)]\npub struct {} {{\n",
        select.about,
        masks.join(", "),
        camel(&select.name)
    );
    let mut bits: Vec<&SelectBit> = select.bits.iter().collect();
    bits.sort_by_key(|b| b.bit);
    let mut next = 0;
    let mut gap = |text: &mut String, to: u32| {
        if to > next {
            let _ = writeln!(text, "    #[bits({})]\n    __: u{width},", to - next);
        }
        next = to + 1;
    };
    for bit in bits {
        gap(text, bit.bit);
        let fields: Vec<String> = bit.fields.iter().map(|f| format!("`{f}`")).collect();
        let _ = writeln!(
            text,
            "    /// Bit {}: {}.\n    pub {}: bool,",
            bit.bit,
            fields.join(", "),
            snake(&bit.name)
        );
    }
    gap(text, width);
    text.push_str("}\n");
}

fn command(text: &mut String, spec: &Spec, c: &Command) {
    let (input, output) = (type_name(&c.input), type_name(&c.output));
    let verb = camel(c.verb.name());
    let object = camel(&c.object);
    let carrier = if c.verb == Verb::Create { &c.output } else { &c.input };
    let holder = if c.verb == Verb::Query { &c.output } else { &c.input };
    let context = match &c.context {
        Some(path) => format!("Some({})", place(spec, holder, path)),
        None => "None".into(),
    };
    let _ = write!(
        text,
        "\ncommand! {{\n    {input}, {verb} {object}, {id}, crate::CommandDesc {{\n        \
         name: \"{name}\",\n        opcode: 0x{opcode:03x},\n        verb: crate::Verb::{verb},\n        \
         object: <crate::object::{object} as crate::Object>::DESC,\n        \
         input: <{input} as crate::Described>::DESC,\n        output: <{output} as crate::Described>::DESC,\n        \
         number: {number},\n        context: {context},\n        selects: &[",
        id = upper(&c.name),
        name = c.name,
        opcode = c.opcode,
        number = place(spec, carrier, &c.number),
    );
    let mut any = false;
    for select in &spec.semantics.selects {
        for (mask, _) in select.masks.iter().filter(|(m, _)| m.split('.').next() == Some(&*c.input))
        {
            select_desc(text, spec, select, mask);
            any = true;
        }
    }
    text.push_str(if any { "\n        ],\n" } else { "],\n" });
    match spec.semantics.transitions.iter().find(|t| t.command == c.name) {
        Some(t) => transition(text, spec, c, t),
        None => text.push_str("        transition: None,\n"),
    }
    let _ = write!(text, "        about: \"{}\",\n    }}\n}}\n", c.about);
}

fn select_desc(text: &mut String, spec: &Spec, select: &Select, mask: &str) {
    let (input, path) = mask.split_once('.').expect("checked");
    let _ = write!(
        text,
        "\n            crate::SelectDesc {{\n                name: \"{}\",\n                mask: {},\n                \
         op_mod: {},\n                always: &[{}],\n                bits: &[",
        select.name,
        place(spec, input, path),
        select.op_mod,
        places(spec, input, &select.always),
    );
    for b in &select.bits {
        let _ = write!(
            text,
            "\n                    crate::SelectBitDesc {{ bit: {}, name: \"{}\", fields: &[{}] }},",
            b.bit,
            b.name,
            places(spec, input, &b.fields)
        );
    }
    text.push_str("\n                ],\n            },");
}

fn transition(text: &mut String, spec: &Spec, c: &Command, t: &Transition) {
    let states: Vec<String> =
        t.from.iter().map(|s| format!("crate::QpState::{}", upper(s))).collect();
    let bits =
        spec.semantics.selects.iter().filter(|s| s.name == "qp_opt_param").flat_map(|s| &s.bits);
    let admits =
        bits.filter(|b| t.admits.contains(&b.name)).fold(0u32, |mask, b| mask | 1 << b.bit);
    let _ = write!(
        text,
        "        transition: Some(crate::TransitionDesc {{\n            from: &[{}],\n            \
         to: crate::QpState::{},\n            takes: &[{}],\n            admits: 0x{admits:08x},\n        }}),\n",
        states.join(", "),
        upper(&t.to),
        places(spec, &c.input, &t.takes),
    );
}
