//! Checks that tables are sound before anything is made from them.

mod syndromes;

pub use syndromes::is_like;

use std::collections::HashMap;

use crate::fault::{Faults, Origin};
use crate::model::*;

/// Checks everything.
///
/// # Errors
/// Every fault there is.
pub fn check(spec: &Spec) -> Result<(), Faults> {
    let mut faults = Faults::default();
    if let Err(more) = check_layouts(spec) {
        faults.0.extend(more.0);
    }
    enums(spec, &mut faults);
    sources(spec, &mut faults);
    registers(spec, &mut faults);
    aliases(spec, &mut faults);
    words(spec, &mut faults);
    commands(spec, &mut faults);
    bound(spec, &mut faults);
    selects(spec, &mut faults);
    transitions(spec, &mut faults);
    by_number(spec, &mut faults);
    opcodes(spec, &mut faults);
    spec_words(spec, &mut faults);
    examples(spec, &mut faults);
    syndromes::check(spec, &mut faults);
    faults.or(())
}

/// Checks the layouts alone: what an importer makes.
///
/// # Errors
/// Every fault of a layout.
pub fn check_layouts(spec: &Spec) -> Result<(), Faults> {
    let mut faults = Faults::default();
    unique(spec.families.iter().map(|f| (&*f.name, &f.origin)), "family", &mut faults);
    for family in &spec.families {
        identifier(&family.name, &family.origin, &mut faults);
        if TAKEN.contains(&&*family.name) || family.name.starts_with(|c: char| c.is_ascii_digit()) {
            faults.add(
                &family.origin,
                format!("a family can't be called {}", family.name),
                "it names a file and a module: no word of Rust, no digit first, and not enums, object or mod",
            );
        }
        about(&family.about, &family.origin, &mut faults);
    }
    unique(spec.layouts.iter().map(|l| (&*l.name, &l.origin)), "layout", &mut faults);
    for layout in &spec.layouts {
        if !spec.families.iter().any(|f| f.name == layout.family) {
            faults.add(
                &layout.origin,
                format!("there is no family {:?}", layout.family),
                "add it to families.toml, or move the layout to the file of another family",
            );
        }
        identifier(&layout.name, &layout.origin, &mut faults);
        unique(layout.fields.iter().map(|f| (&*f.name, &f.origin)), "field", &mut faults);
        for field in &layout.fields {
            identifier(&field.name, &field.origin, &mut faults);
            values(spec, layout, field, &mut faults);
            shape(spec, layout, field, &mut faults);
        }
        overlaps(spec, layout, &mut faults);
    }
    cycles(spec, &mut faults);
    faults.or(())
}

/// Names that a family can't have: files beside the families' own, and words of Rust.
const TAKEN: &[&str] = &[
    "enums", "object", "mod", "lib", "main", "self", "super", "crate", "type", "match", "move",
    "fn", "use", "struct", "enum", "union", "impl", "trait", "const", "static", "where", "while",
    "for", "loop", "in",
];

/// Tells the second of two things of one name.
fn unique<'a>(names: impl Iterator<Item = (&'a str, &'a Origin)>, what: &str, faults: &mut Faults) {
    let mut seen: HashMap<&str, &Origin> = HashMap::new();
    for (name, origin) in names {
        match seen.get(name) {
            Some(first) => faults.add(
                origin,
                format!("a second {what} is called {name}"),
                format!(
                    "the first stands at {}:{}: rename or remove one",
                    first.file.name,
                    first.line()
                ),
            ),
            None => {
                seen.insert(name, origin);
            }
        }
    }
}

fn identifier(name: &str, origin: &Origin, faults: &mut Faults) {
    let ok = name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
        && name.bytes().any(|b| b.is_ascii_alphanumeric());
    if !ok {
        faults.add(
            origin,
            format!("{name:?} is no PRM name"),
            "names are letters, digits and underscores, not underscores alone",
        );
    }
}

/// What is said about a thing goes into Rust as a string and as a comment.
fn about(text: &str, origin: &Origin, faults: &mut Faults) {
    if text.contains(|c: char| matches!(c, '"' | '\\') || c.is_control()) {
        faults.add(
            origin,
            "its about has a quotation mark, a backslash or a line break",
            "write about as one plain line",
        );
    }
}

/// Names and words of the semantics that go into Rust.
fn words(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    for o in &s.objects {
        identifier(&o.name, &o.origin, faults);
        if let Some(number) = &o.number {
            about(number, &o.origin, faults);
        }
        about(&o.about, &o.origin, faults);
    }
    for c in &s.commands {
        about(&c.about, &c.origin, faults);
    }
    for n in &s.numbers {
        identifier(&n.name, &n.origin, faults);
        about(&n.about, &n.origin, faults);
    }
    for e in s.enums.iter().chain(&s.flags) {
        identifier(&e.name, &e.origin, faults);
        about(&e.about, &e.origin, faults);
        for v in &e.values {
            identifier(&v.name, &v.origin, faults);
        }
    }
    for x in &s.selects {
        identifier(&x.name, &x.origin, faults);
        about(&x.about, &x.origin, faults);
        for b in &x.bits {
            identifier(&b.name, &b.origin, faults);
        }
    }
}

/// Width, count and place of one field.
fn shape(spec: &Spec, layout: &Layout, field: &Field, faults: &mut Faults) {
    let name = &field.name;
    let Some(element) = spec.element_bits(&field.element) else {
        let Element::Layout(inner) = &field.element else { unreachable!("bits have a width") };
        no_layout(spec, inner, &field.origin, faults);
        return;
    };
    let whole_bytes = field.bit.is_multiple_of(8) && element.is_multiple_of(8);
    match (&field.element, field.count) {
        (Element::Bits(0), _) => {
            faults.add(&field.origin, format!("{name} is 0 bits wide"), "correct the width");
        }
        (Element::Bits(w), Count::One) if *w > 128 && w % 8 != 0 => faults.add(
            &field.origin,
            format!("{name} is {w} bits wide, which is no whole number of bytes"),
            "fields of more than 128 bits are bytes: correct the width",
        ),
        (Element::Bits(w), Count::One)
            if *w <= 32
                && (field.bit + w - 1) / 8 - field.bit / 8 > 1
                && field.bit + w <= layout.bytes * 8
                && field.bit / 32 * 4 + 4 > layout.bytes =>
        {
            faults.add(
                &field.origin,
                format!("{name} takes 3 bytes or more of a dword that {} ends in", layout.name),
                "correct the place of the field, or the bytes of the layout",
            );
        }
        (Element::Layout(_), Count::List) if element == 0 => {
            faults.add(
                &field.origin,
                format!("the elements of {name} are 0 bytes long"),
                "correct the layout",
            );
        }
        (_, Count::Array(0)) => {
            faults.add(
                &field.origin,
                format!("{name} has 0 elements"),
                "correct the count, or write list = true",
            );
        }
        (Element::Bits(_), Count::One) if element <= 32 && field.bit % 32 + element > 32 => faults
            .add(
                &field.origin,
                format!(
                    "{name} crosses a dword: {element} bits from bit {} on",
                    31 - field.bit % 32
                ),
                "the PRM splits such a field in two; compare it with its source",
            ),
        (Element::Bits(_), Count::One) if element > 32 && !field.bit.is_multiple_of(32) => faults
            .add(
                &field.origin,
                format!("{name} is {element} bits wide and does not begin with a dword"),
                "the PRM splits such a field in two; compare it with its source",
            ),
        // Less than a byte each, packed.
        (Element::Bits(1 | 2 | 4), Count::Array(_))
            if field.bit.is_multiple_of(element) && field.access == Some(Access::Ro) => {}
        (Element::Bits(_), Count::Array(_) | Count::List)
            if !whole_bytes
                || !matches!(element, 8 | 16 | 32 | 64 | 128)
                || (element == 128 && field.count == Count::List) =>
        {
            faults.add(
                &field.origin,
                format!("the elements of {name} are {element} bits wide"),
                "elements of an array are 8, 16, 32, 64 or 128 bits (1, 2 or 4 when read only), those of \
                 a list up to 64, and they begin with a byte",
            );
        }
        // A table says of what is no part of a dword in which dword it begins, and not where in it.
        (Element::Bits(_), Count::Array(_) | Count::List)
            if !field.bit.is_multiple_of(32) && field.bit % 32 + element > 32 =>
        {
            faults.add(
                &field.origin,
                format!("the first element of {name} begins within a dword and goes on in the next"),
                "elements that do not fit the rest of a dword begin with one; compare it with its source",
            );
        }
        _ => {}
    }
    if matches!(field.element, Element::Layout(_)) && !field.bit.is_multiple_of(8) {
        faults.add(&field.origin, format!("{name} does not begin with a byte"), "correct at");
    }
    let bits = spec.field_bits(field).unwrap_or(0);
    let (end, whole) = (u64::from(field.bit) + bits, u64::from(layout.bytes) * 8);
    if end > whole {
        faults.add(
            &field.origin,
            format!(
                "{name} leaves its layout: it ends at bit {end}, and {} has {whole} bits (0x{:x} bytes)",
                layout.name, layout.bytes
            ),
            "correct the place of the field, or the bytes of the layout",
        );
    }
    if let Some(other) = &field.overlays
        && layout.field(other).is_none_or(|o| o.overlays.is_some() || o.name == field.name)
    {
        faults.add(
            &field.origin,
            format!("{name} overlays {other}, which is no field that can be overlaid"),
            "name the field of this layout whose place is shared, one without overlays of its own",
        );
    }
}

/// Names of a field's values, and what tells the members of a union.
fn values(spec: &Spec, layout: &Layout, field: &Field, faults: &mut Faults) {
    let width = match &field.element {
        Element::Bits(width) => *width,
        Element::Layout(_) => 0,
    };
    for value in &field.values {
        about(&value.name, &field.origin, faults);
        if width == 0
            || value.value > u64::from(u32::MAX)
            || (width < 32 && value.value >> width != 0)
        {
            faults.add(
                &field.origin,
                format!("{} = 0x{:x} is no value of {}", value.name, value.value, field.name),
                "values are numbers of up to 32 bits that fit their field: correct the value",
            );
        }
    }
    let path = format!("{}.{}", layout.name, field.name);
    if let Some(selector) = &field.selector
        && spec.resolve(&layout.name, selector).is_none()
    {
        no_field(&layout.name, selector, &field.origin, faults);
    }
    for text in [&field.selector, &field.when].into_iter().flatten() {
        about(text, &field.origin, faults);
    }
    let is_union = |name: &String| spec.layout(name).is_some_and(|l| l.kind == Kind::Union);
    if field.selector.is_some() && !matches!(&field.element, Element::Layout(l) if is_union(l)) {
        faults.add(
            &field.origin,
            format!("{path} has a selector, and is no union"),
            "a selector tells which member of a union counts: remove it",
        );
    }
}

/// Whether two fields of one layout may share a place.
fn may_share(a: &Field, b: &Field) -> bool {
    let anchor = |f: &Field| f.overlays.clone();
    anchor(a).as_ref() == Some(&b.name)
        || anchor(b).as_ref() == Some(&a.name)
        || (anchor(a).is_some() && anchor(a) == anchor(b))
}

fn overlaps(spec: &Spec, layout: &Layout, faults: &mut Faults) {
    if layout.kind == Kind::Union {
        for field in layout.fields.iter().filter(|f| f.bit != 0) {
            faults.add(
                &field.origin,
                format!("{} is a member of a union and does not begin at 0", field.name),
                "members of a union all begin at bit 31 of dword 0",
            );
        }
        return;
    }
    let range = |f: &Field| {
        let start = u64::from(f.bit);
        (start, start + spec.field_bits(f).unwrap_or(0))
    };
    let mut fields: Vec<&Field> = layout.fields.iter().collect();
    fields.sort_by_key(|f| f.bit);
    for (i, field) in fields.iter().enumerate() {
        let (start, end) = range(field);
        // A list goes on to the end of the mailbox.
        let end = if field.count == Count::List { u64::MAX } else { end };
        for other in &fields[i + 1..] {
            let (from, to) = range(other);
            if from >= end {
                break;
            }
            let empty = to == from && from == start && other.count != Count::List;
            if !empty && !may_share(field, other) {
                faults.add(
                    &other.origin,
                    format!("{} overlaps {} in {}", other.name, field.name, layout.name),
                    format!(
                        "{} stands at line {}: move one, or write overlays = \"{}\" if the PRM has a union here",
                        field.name,
                        field.origin.line(),
                        field.name
                    ),
                );
            }
        }
    }
}

/// How deep layouts may be nested.
const DEPTH: u32 = 64;

/// Layouts that hold themselves, or others too deep.
fn cycles(spec: &Spec, faults: &mut Faults) {
    #[derive(Clone, Copy)]
    enum Mark {
        Open,
        /// So many layouts deep.
        Done(u32),
    }
    /// Gives how deep `layout` is, itself counted; `above` layouts hold it.
    fn visit<'s>(
        index: &HashMap<&str, &'s Layout>,
        layout: &'s Layout,
        marks: &mut HashMap<&'s str, Mark>,
        above: u32,
        faults: &mut Faults,
    ) -> u32 {
        marks.insert(&layout.name, Mark::Open);
        let mut deepest = 0;
        for field in &layout.fields {
            let Element::Layout(inner) = &field.element else { continue };
            let Some(inner) = index.get(&**inner) else { continue };
            let deep = match marks.get(&*inner.name) {
                Some(Mark::Done(deep)) => *deep,
                Some(Mark::Open) => {
                    faults.add(
                        &field.origin,
                        format!("{} holds itself by {}", inner.name, field.name),
                        "a layout can't be part of itself: correct the name",
                    );
                    continue;
                }
                None if above + 1 < DEPTH => visit(index, inner, marks, above + 1, faults),
                None => DEPTH,
            };
            if deep < DEPTH {
                deepest = deepest.max(deep);
            } else {
                faults.add(
                    &field.origin,
                    format!("layouts are nested more than {DEPTH} deep here"),
                    "write them flatter",
                );
            }
        }
        marks.insert(&layout.name, Mark::Done(deepest + 1));
        deepest + 1
    }
    let index: HashMap<&str, &Layout> = spec.layouts.iter().map(|l| (&*l.name, l)).collect();
    let mut marks = HashMap::new();
    for layout in &spec.layouts {
        if !marks.contains_key(&*layout.name) {
            visit(&index, layout, &mut marks, 0, faults);
        }
    }
}

fn enums(spec: &Spec, faults: &mut Faults) {
    unique(spec.enums.iter().map(|e| (&*e.name, &e.origin)), "enum", faults);
    let values = spec.enums.iter().flat_map(|e| &e.values);
    unique(values.map(|v| (&*v.name, &v.origin)), "enum value", faults);
}

/// Sources are named once, and what is from a source is from one that is there.
fn sources(spec: &Spec, faults: &mut Faults) {
    unique(spec.sources.iter().map(|s| (&*s.name, &s.origin)), "source", faults);
    for source in &spec.sources {
        identifier(&source.name.replace(['-', '.'], "_"), &source.origin, faults);
        for file in source.files.iter().filter(|f| f.sha256.as_ref().is_some_and(|s| !is_sum(s))) {
            faults.add(
                &file.origin,
                format!("{} has no SHA-256 here", file.path),
                "a SHA-256 is 64 hexadecimal digits, in lower case",
            );
        }
    }
    let layouts = spec.layouts.iter().map(|l| (&l.from, &l.origin));
    let fields = spec.layouts.iter().flat_map(|l| &l.fields).map(|f| (&f.from, &f.origin));
    let enums = spec.enums.iter().map(|e| (&e.from, &e.origin));
    let values = spec.enums.iter().flat_map(|e| &e.values).map(|v| (&v.from, &v.origin));
    let registers = spec.registers.iter().map(|r| (&r.from, &r.origin));
    let aliases = spec.aliases.iter().map(|a| (&a.from, &a.origin));
    let conflicts = spec.conflicts.iter().map(|c| (&c.from, &c.origin));
    let all = layouts.chain(fields).chain(enums).chain(values);
    for (from, origin) in all.chain(registers).chain(aliases).chain(conflicts) {
        for name in from.iter().filter(|name| !spec.sources.iter().any(|s| s.name == **name)) {
            faults.add(
                origin,
                format!("there is no source {name}"),
                "correct from: it has names of sources.toml, with blanks between",
            );
        }
    }
}

fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn registers(spec: &Spec, faults: &mut Faults) {
    unique(spec.registers.iter().map(|r| (&*r.name, &r.origin)), "register", faults);
    let layouts = spec.registers.iter().filter_map(|r| Some((r.layout.as_deref()?, &r.origin)));
    unique(layouts, "register of a layout", faults);
    let mut seen: HashMap<u16, &Register> = HashMap::new();
    for register in &spec.registers {
        about(&register.name, &register.origin, faults);
        if let Some(other) = seen.insert(register.id, register) {
            faults.add(
                &register.origin,
                format!("{} has the id 0x{:04x} of {}", register.name, register.id, other.name),
                "correct one of the two",
            );
        }
        if let Some(layout) = &register.layout
            && spec.layout(layout).is_none()
        {
            no_layout(spec, layout, &register.origin, faults);
        }
    }
}

fn aliases(spec: &Spec, faults: &mut Faults) {
    unique(spec.aliases.iter().map(|a| (&*a.name, &a.origin)), "alias", faults);
    for alias in &spec.aliases {
        if spec.layout(&alias.of).is_none() {
            no_layout(spec, &alias.of, &alias.origin, faults);
        }
        if spec.layout(&alias.name).is_some() {
            faults.add(
                &alias.origin,
                format!("{} is a layout of its own, too", alias.name),
                "remove the layout, or the alias",
            );
        }
    }
}

fn commands(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    unique(s.objects.iter().map(|o| (&*o.name, &o.origin)), "object", faults);
    unique(s.commands.iter().map(|c| (&*c.name, &c.origin)), "command", faults);
    for object in &s.objects {
        if let Some(context) = object.context.as_ref().filter(|c| spec.layout(c).is_none()) {
            no_layout(spec, context, &object.origin, faults);
        }
    }
    // The headers' own names, and those that the enum opcode gives.
    let headers = spec.enums.iter().flat_map(|e| &e.values);
    let headers = headers.filter_map(|v| Some((v.name.strip_prefix("MLX5_CMD_OP_")?, v.value)));
    let ours = s.enums.iter().filter(|e| e.name == "opcode").flat_map(|e| &e.values);
    let opcodes: HashMap<&str, i64> = headers.chain(ours.map(|v| (&*v.name, v.value))).collect();
    let mut seen: HashMap<u16, &Command> = HashMap::new();
    for command in &s.commands {
        let place = &command.origin;
        if let Some(other) = seen.insert(command.opcode, command) {
            faults.add(
                place,
                format!("{} has the opcode 0x{:x} of {}", command.name, command.opcode, other.name),
                format!(
                    "{} stands at {}:{}: correct one",
                    other.name,
                    other.origin.file.name,
                    other.origin.line()
                ),
            );
        }
        match opcodes.get(&*command.name) {
            Some(value) if *value == i64::from(command.opcode) => {}
            Some(value) => faults.add(
                place,
                format!(
                    "{0} has opcode 0x{1:x}, and MLX5_CMD_OP_{0} is 0x{value:x}",
                    command.name, command.opcode
                ),
                "correct the opcode: layouts/enums.toml has it from the header",
            ),
            None => faults.add(
                place,
                format!("no enumeration of the headers has MLX5_CMD_OP_{}", command.name),
                "correct the name of the command: it is the header's, without MLX5_CMD_OP_",
            ),
        }
        let object = s.objects.iter().find(|o| o.name == command.object);
        if object.is_none() {
            let message = format!("there is no object {}", command.object);
            faults.add(place, message, "add an [[object]], or correct the name");
        }
        let mut whole = true;
        for layout in [&command.input, &command.output] {
            if spec.layout(layout).is_none() {
                no_layout(spec, layout, place, faults);
                whole = false;
            }
        }
        if !whole {
            continue;
        }
        for (layout, field) in [(&command.input, "opcode"), (&command.output, "status")] {
            if spec.resolve(layout, field).is_none() {
                faults.add(
                    place,
                    format!("{layout} has no field {field}, so it is no mailbox of a command"),
                    "correct the name of the layout",
                );
            }
        }
        let created = command.verb == Verb::Create;
        let carrier = if created { &command.output } else { &command.input };
        if let Some(o) = object.filter(|o| o.number.is_some() != command.number.is_some()) {
            faults.add(
                place,
                format!("{} and {} disagree whether there is a number", command.name, o.name),
                "give both a number, or neither",
            );
        }
        match command.number.as_ref().map(|number| (number, spec.resolve(carrier, number))) {
            Some((number, None)) => no_field(carrier, number, place, faults),
            Some((_, Some((_, f))))
                if matches!(f.element, Element::Bits(1..=32)) && f.count == Count::One => {}
            Some((number, Some(_))) => faults.add(
                place,
                format!("{carrier}.{number} is no number of up to 32 bits"),
                "number names the field that carries the object's number",
            ),
            None => {}
        }
        if let Some(context) = &command.context {
            let carrier =
                if command.verb == Verb::Query { &command.output } else { &command.input };
            match (spec.resolve(carrier, context), object) {
                (None, _) => no_field(carrier, context, place, faults),
                (Some((_, f)), Some(o))
                    if o.context.clone().map(Element::Layout).as_ref() != Some(&f.element) =>
                {
                    let wanted = o.context.as_deref().unwrap_or("nothing");
                    faults.add(
                        place,
                        format!("{carrier}.{context} is no {wanted}, the context of {}", o.name),
                        "context names the field that holds the object's context",
                    )
                }
                _ => {}
            }
        }
    }
}

fn no_layout(spec: &Spec, name: &str, place: &Origin, faults: &mut Faults) {
    let help = match nearest(name, spec.layouts.iter().map(|l| &*l.name)) {
        Some(near) => format!("correct the name ({near} is there), or add the layout"),
        None => "correct the name, or add the layout".to_owned(),
    };
    faults.add(place, format!("there is no layout {name}"), help);
}

fn no_field(layout: &str, path: &str, place: &Origin, faults: &mut Faults) {
    faults.add(
        place,
        format!("there is no field {path} in {layout}"),
        "correct the path: field names with dots between, as layouts/ has them",
    );
}

/// Enumerations, flags and numbers: sound in themselves, and each field in one of them at most.
fn bound(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    unique(s.enums.iter().map(|e| (&*e.name, &e.origin)), "enum", faults);
    unique(s.flags.iter().map(|e| (&*e.name, &e.origin)), "set of flags", faults);
    unique(s.numbers.iter().map(|n| (&*n.name, &n.origin)), "number", faults);
    let mut bound = HashMap::new();
    for e in &s.enums {
        bound_values(spec, e, faults);
        bound_fields(
            spec,
            &e.name,
            &e.fields,
            &mut bound,
            faults,
            &|path, field, place, faults| {
                enum_field(e, path, field, place, faults);
            },
        );
    }
    for f in &s.flags {
        bound_values(spec, f, faults);
        for value in f.values.iter().filter(|v| v.value.count_ones() != 1) {
            faults.add(
                &value.origin,
                format!("{} = 0x{:x} is no flag: it has not one bit", value.name, value.value),
                "values of flags are masks of one bit: correct it, or add it to except",
            );
        }
        bound_fields(
            spec,
            &f.name,
            &f.fields,
            &mut bound,
            faults,
            &|path, field, place, faults| {
                flags_field(f, path, field, place, faults);
            },
        );
    }
    for n in &s.numbers {
        if n.width == 0 {
            faults.add(&n.origin, format!("{} is 0 bits wide", n.name), "correct the width");
        }
        bound_fields(
            spec,
            &n.name,
            &n.fields,
            &mut bound,
            faults,
            &|path, field, place, faults| {
                if (&field.element, field.count) != (&Element::Bits(n.width), Count::One) {
                    faults.add(
                        place,
                        format!("{path} is no number of {} bits, as {} is", n.width, n.name),
                        "a number stands in fields of its own width: correct the pattern",
                    );
                }
            },
        );
    }
    enumerators(spec, faults);
}

/// The values of an enumeration or of flags.
fn bound_values(spec: &Spec, e: &BoundEnum, faults: &mut Faults) {
    unique(e.values.iter().map(|v| (&*v.name, &v.origin)), "value", faults);
    let mut seen: HashMap<i64, &EnumValue> = HashMap::new();
    for value in &e.values {
        if let Some(other) = seen.insert(value.value, value) {
            faults.add(
                &value.origin,
                format!("{} and {} are both {}", value.name, other.name, value.value),
                "an enum has one name for a value: remove one",
            );
        }
    }
    if e.values.is_empty() {
        let help = "give it values, or a prefix that values of the headers have";
        faults.add(&e.origin, format!("{} has no values", e.name), help);
    }
    for (pattern, place) in &e.of {
        let mut any = false;
        for header in
            spec.enums.iter().flat_map(|e| &e.values).filter(|v| matches(pattern, &v.name))
        {
            any = true;
            let excepted = e.except.contains(&header.name);
            // The header may have the number of the bit where we have the mask.
            let number =
                |v: &EnumValue| v.value == header.value || v.value == 1 << (header.value & 63);
            if !excepted && !e.values.iter().any(number) {
                faults.add(
                    place,
                    format!("{} has no value for {} = {}", e.name, header.name, header.value),
                    "add the value, or add the header's name to except",
                );
            }
        }
        if !any {
            faults.add(
                place,
                format!("no enumeration of the headers has {pattern}"),
                "write names of layouts/enums.toml; * stands for any run of characters",
            );
        }
    }
}

/// What looks at one field that is bound.
type LookAt<'c> = &'c dyn Fn(&str, &Field, &Origin, &mut Faults);

/// The fields that something is bound to.
fn bound_fields<'s>(
    spec: &'s Spec,
    name: &'s str,
    fields: &'s [(String, Origin)],
    bound: &mut HashMap<String, &'s str>,
    faults: &mut Faults,
    look: LookAt<'_>,
) {
    for (pattern, place) in fields {
        let mut any = false;
        for (path, field) in spec.fields_like(pattern) {
            any = true;
            look(&path, field, place, faults);
            if let Some(other) = bound.insert(path.clone(), name) {
                faults.add(
                    place,
                    format!("{path} belongs to {other} already"),
                    "a field has one enum, one set of flags or one number: remove it here or there",
                );
            }
        }
        if !any {
            faults.add(place, format!("there is no field {pattern}"), "write layout.field");
        }
    }
}

/// A field whose values an enum names.
fn enum_field(e: &BoundEnum, path: &str, field: &Field, place: &Origin, faults: &mut Faults) {
    let width = match (&field.element, field.count) {
        (Element::Bits(width), Count::One) if *width <= 32 => *width,
        _ => {
            faults.add(
                place,
                format!("{path} is no number of up to 32 bits"),
                "bind a plain field",
            );
            return;
        }
    };
    let bits = if width == 1 { "bit" } else { "bits" };
    for value in e.values.iter().filter(|v| v.value < 0 || v.value >= 1i64 << width) {
        faults.add(
            &value.origin,
            format!(
                "{} = {} does not fit {path}, a field of {width} {bits}",
                value.name, value.value
            ),
            "correct the value, or unbind the field",
        );
    }
}

/// A field that holds flags.
fn flags_field(f: &BoundEnum, path: &str, field: &Field, place: &Origin, faults: &mut Faults) {
    let width = match (&field.element, field.count) {
        (Element::Bits(width), Count::One) if *width <= 32 || *width == 64 => *width,
        _ => {
            faults.add(
                place,
                format!("{path} is no number of up to 32 bits, or of 64"),
                "bind a plain field",
            );
            return;
        }
    };
    for value in f.values.iter().filter(|v| v.value.trailing_zeros() >= width) {
        faults.add(
            &value.origin,
            format!("{} = 0x{:x} does not fit {path} of {width} bits", value.name, value.value),
            "correct the value, or unbind the field",
        );
    }
}

/// Every enumerator of the headers belongs to fields, or there is a reason why not: in tables that
/// give such reasons at all.
fn enumerators(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    if s.unbound.is_empty() {
        return;
    }
    let mut used = vec![false; s.unbound.iter().map(|u| u.names.len()).sum()];
    let all = s.enums.iter().chain(&s.flags);
    for value in spec.enums.iter().flat_map(|e| &e.values) {
        let bound = all.clone().any(|e| {
            let taken = e.prefix.as_ref().and_then(|p| value.name.strip_prefix(p.as_str()));
            taken.is_some_and(|name| !e.except.iter().any(|x| x == name))
                || e.of.iter().any(|(pattern, _)| matches(pattern, &value.name))
        });
        let reasons = s.unbound.iter().flat_map(|u| &u.names).enumerate();
        let fits: Vec<usize> =
            reasons.filter(|(_, (p, _))| matches(p, &value.name)).map(|(i, _)| i).collect();
        for i in &fits {
            used[*i] = true;
        }
        if !bound && fits.is_empty() {
            faults.add(
                &value.origin,
                format!("{} belongs to no field", value.name),
                "bind it by an [[enum]] or [[flags]] of semantics/, or say why not by an [[unbound]]",
            );
        }
        if bound && !fits.is_empty() {
            faults.add(
                &value.origin,
                format!("{} belongs to a field, and is said to be unbound", value.name),
                "remove it from the [[unbound]], or from the [[enum]]",
            );
        }
    }
    for ((pattern, place), _) in
        s.unbound.iter().flat_map(|u| &u.names).zip(used).filter(|(_, used)| !used)
    {
        faults.add(
            place,
            format!("no enumeration of the headers has {pattern}"),
            "write names of layouts/enums.toml; * stands for any run of characters",
        );
    }
}

fn selects(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    unique(s.selects.iter().map(|x| (&*x.name, &x.origin)), "select mask", faults);
    for select in &s.selects {
        unique(select.bits.iter().map(|b| (&*b.name, &b.origin)), "bit", faults);
        let mut seen: HashMap<u32, &SelectBit> = HashMap::new();
        for bit in &select.bits {
            if let Some(other) = seen.insert(bit.bit, bit) {
                faults.add(
                    &bit.origin,
                    format!("{} and {} are both bit {}", bit.name, other.name, bit.bit),
                    "correct one of the two",
                );
            }
        }
        if select.masks.is_empty() {
            faults.add(
                &select.origin,
                format!("{} stands in no field", select.name),
                "add masks = [\"layout.field\"]",
            );
        }
        for (mask, place) in &select.masks {
            select_mask(spec, select, mask, place, faults);
        }
    }
}

/// One field that holds a select mask, and what the mask says of its command.
fn select_mask(spec: &Spec, select: &Select, mask: &str, place: &Origin, faults: &mut Faults) {
    let Some((_, field)) = spec.resolve_full(mask) else {
        faults.add(
            place,
            format!("there is no field {mask}"),
            "a mask is layout.field of a command's input",
        );
        return;
    };
    let same = |other: &&Select| {
        other.op_mod == select.op_mod
            && other.when == select.when
            && other.masks.iter().any(|(m, _)| m == mask)
    };
    if spec.semantics.selects.iter().filter(same).count() > 1 {
        faults.add(
            place,
            format!("{mask} has two select masks under op_mod {}", select.op_mod),
            "merge the two, or correct one op_mod",
        );
    }
    let width = spec.element_bits(&field.element).unwrap_or(0);
    if !matches!(width, 8 | 16 | 32 | 64) {
        faults.add(
            place,
            format!("{mask} is {width} bits wide"),
            "a select mask is 8, 16, 32 or 64 bits wide: name the field that holds it",
        );
    }
    if width > 32 && (select.op_mod != 0 || select.when.is_some()) {
        faults.add(
            place,
            format!("{mask} is {width} bits wide, and counts under a condition"),
            "such a mask is up to 32 bits wide",
        );
    }
    for bit in select.bits.iter().filter(|b| b.bit >= width) {
        faults.add(
            &bit.origin,
            format!("{} is bit {} of {mask}, a mask of {width} bits", bit.name, bit.bit),
            "correct the number of the bit, 0 the least significant",
        );
    }
    let input = mask.split('.').next().unwrap_or_default();
    let s = &spec.semantics;
    let is_object = s.general_objects.iter().any(|o| o.layout.as_deref() == Ok(input));
    if !is_object && !s.commands.iter().any(|c| c.input == input) {
        faults.add(
            place,
            format!("{input} is the input of no command, and no general object"),
            "add the [[command]] or the [[general_object]], or correct the mask",
        );
    }
    if let Some((path, value)) = &select.when {
        match spec.resolve(input, path) {
            None => no_field(input, path, &select.origin, faults),
            Some((_, f)) if !matches!(f.element, Element::Bits(w @ 1..=32) if w == 32 || value >> w == 0) =>
            {
                faults.add(
                    &select.origin,
                    format!("{value} is no value of {input}.{path}"),
                    "when names a number of up to 32 bits, and is one of its values",
                );
            }
            Some(_) => {}
        }
    }
    for path in select.always.iter().filter(|p| spec.resolve(input, p).is_none()) {
        no_field(input, path, &select.origin, faults);
    }
    for bit in &select.bits {
        for path in bit.fields.iter().filter(|p| spec.resolve(input, p).is_none()) {
            faults.add(
                &bit.origin,
                format!("{} selects {path}, which is no field of {input}", bit.name),
                "write the path from the command's input, such as cq_context.cq_period",
            );
        }
    }
}

fn transitions(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    let states = s.enums.iter().find(|e| e.name == "qp_state");
    let services = s.enums.iter().find(|e| e.name == "qp_st");
    let params = s.selects.iter().find(|x| x.name == "qp_opt_param");
    for t in &s.transitions {
        let Some(command) = s.commands.iter().find(|c| c.name == t.command) else {
            let message = format!("there is no command {}", t.command);
            faults.add(&t.origin, message, "add the [[command]], or correct the name");
            continue;
        };
        for state in t.from.iter().chain([&t.to]) {
            if !states.is_some_and(|e| e.values.iter().any(|v| v.name == *state)) {
                let help = "states are the values of the enum qp_state";
                faults.add(&t.origin, format!("there is no QP state {state}"), help);
            }
        }
        about(&t.source, &t.origin, faults);
        for service in &t.services {
            if !services.is_some_and(|e| e.values.iter().any(|v| v.name == *service)) {
                let help = "services are the values of the enum qp_st";
                faults.add(&t.origin, format!("there is no service {service}"), help);
            }
        }
        if t.fields.len() > 32 {
            let help = "more than 32 fields have no room in the builder: merge some";
            faults.add(&t.origin, format!("{} takes {} fields", t.command, t.fields.len()), help);
        }
        unique(t.fields.iter().map(|f| (&*f.path, &f.origin)), "field of the transition", faults);
        for field in &t.fields {
            transition_field(spec, t, field, &command.input, params, faults);
        }
    }
}

fn transition_field(
    spec: &Spec,
    t: &Transition,
    field: &TransitionField,
    input: &str,
    params: Option<&Select>,
    faults: &mut Faults,
) {
    let TransitionField { path, requires, takes, admits, bit, origin, .. } = field;
    if spec.resolve(input, path).is_none() {
        no_field(input, path, origin, faults);
    }
    let mut seen: Vec<&String> = Vec::new();
    for service in requires.iter().chain(takes).chain(admits) {
        if !t.services.contains(service) {
            faults.add(
                origin,
                format!("{path} counts for {service}, and {} does not exist for that", t.command),
                "add the service to the transition, or remove it here",
            );
        }
        if seen.contains(&service) {
            faults.add(
                origin,
                format!("{path} has {service} twice"),
                "a field is required, taken or admitted: leave one",
            );
        }
        seen.push(service);
    }
    if admits.is_empty() != bit.is_none() {
        faults.add(
            origin,
            format!("{path} has admits without bit, or bit without admits"),
            "a field that the mask selects has both",
        );
    }
    if let Some(name) = bit {
        match params.and_then(|p| p.bits.iter().find(|b| b.name == *name)) {
            None => {
                let help = "its bits are those of the select mask qp_opt_param";
                faults.add(origin, format!("opt_param_mask has no bit {name}"), help);
            }
            Some(b) if !b.fields.contains(path) => {
                let help = "correct the bit, or its fields in the select mask qp_opt_param";
                faults.add(origin, format!("the bit {name} does not select {path}"), help);
            }
            Some(_) => {}
        }
    }
}

/// General objects and capability pages have numbers of their own, and layouts that are there.
fn by_number(spec: &Spec, faults: &mut Faults) {
    let s = &spec.semantics;
    let objects = s
        .general_objects
        .iter()
        .map(|o| (&o.name, u32::from(o.number), &o.origin, &o.layout, &o.about));
    let pages = s
        .capabilities
        .iter()
        .map(|c| (&c.name, u32::from(c.selector), &c.origin, &c.layout, &c.about));
    one_of_each(spec, "general object", objects, faults);
    one_of_each(spec, "capability page", pages, faults);
    let mut seen: HashMap<&str, &GeneralObject> = HashMap::new();
    for object in &s.general_objects {
        if let Ok(layout) = &object.layout
            && let Some(other) = seen.insert(layout, object)
        {
            faults.add(
                &object.origin,
                format!("{layout} is the layout of {}, too", other.name),
                "a layout belongs to one type of general object: correct one",
            );
        }
    }
}

/// A name, a number, where it is written, a layout or why there is none, and words.
type Numbered<'s> = (&'s String, u32, &'s Origin, &'s Result<String, String>, &'s String);

fn one_of_each<'s>(
    spec: &Spec,
    what: &str,
    all: impl Iterator<Item = Numbered<'s>> + Clone,
    faults: &mut Faults,
) {
    unique(all.clone().map(|(name, _, origin, ..)| (&**name, origin)), what, faults);
    let mut seen: HashMap<u32, &String> = HashMap::new();
    for (name, number, origin, layout, words) in all {
        identifier(name, origin, faults);
        about(words, origin, faults);
        if let Some(other) = seen.insert(number, name) {
            let message = format!("{name} has the number 0x{number:x} of {other}");
            faults.add(origin, message, "correct one of the two");
        }
        if let Ok(layout) = layout
            && spec.layout(layout).is_none()
        {
            no_layout(spec, layout, origin, faults);
        }
    }
}

/// Words are of layouts, fields and commands that are there.
fn spec_words(spec: &Spec, faults: &mut Faults) {
    let w = &spec.words;
    unique(w.layouts.iter().map(|l| (&*l.layout, &l.origin)), "words of a layout", faults);
    unique(w.commands.iter().map(|c| (&*c.name, &c.origin)), "words of a command", faults);
    for words in &w.layouts {
        if let Some(text) = &words.about {
            about(text, &words.origin, faults);
        }
        let layouts: Vec<&Layout> =
            spec.layouts.iter().filter(|l| matches(&words.layout, &l.name)).collect();
        if layouts.is_empty() {
            no_layout(spec, &words.layout, &words.origin, faults);
            continue;
        }
        unique(words.fields.iter().map(|f| (&*f.name, &f.origin)), "field", faults);
        for field in &words.fields {
            about(&field.line(), &field.origin, faults);
            if !layouts.iter().any(|l| l.field(&field.name).is_some()) {
                no_field(&words.layout, &field.name, &field.origin, faults);
            }
            if let Some(cap) = &field.cap
                && spec.resolve_full(cap).is_none()
            {
                no_field("the tables", cap, &field.origin, faults);
            }
        }
    }
    let opcodes = spec.semantics.enums.iter().find(|e| e.name == "opcode");
    for words in &w.commands {
        about(&words.about, &words.origin, faults);
        if !opcodes.is_some_and(|e| e.values.iter().any(|v| v.name == words.name)) {
            faults.add(
                &words.origin,
                format!("there is no command {}", words.name),
                "correct the name: it is the header's, without MLX5_CMD_OP_",
            );
        }
    }
}

/// Every opcode has its mailboxes, or a reason why not.
fn opcodes(spec: &Spec, faults: &mut Faults) {
    let notes = &spec.semantics.opcodes;
    unique(notes.iter().map(|n| (&*n.name, &n.origin)), "opcode", faults);
    let all = crate::opcodes::opcodes(spec);
    for note in notes {
        for layout in [&note.input, &note.output].into_iter().flatten() {
            if spec.layout(layout).is_none() {
                no_layout(spec, layout, &note.origin, faults);
            }
        }
        let paired = all.iter().find(|p| p.opcode.name == note.name);
        let (message, help) = match paired {
            None => ("is no opcode", "correct the name: it is the header's, without MLX5_CMD_OP_"),
            Some(p) if p.both().is_some() && note.why.is_some() => {
                ("has both mailboxes", "remove why")
            }
            Some(p) if p.both().is_some() && note.input.is_none() && note.output.is_none() => {
                ("has both mailboxes", "remove this entry")
            }
            _ => continue,
        };
        faults.add(&note.origin, format!("{} {message}", note.name), help);
    }
    for p in all.iter().filter(|p| p.both().is_none()) {
        if p.note.is_some_and(|n| n.why.is_some()) {
            continue;
        }
        let missing = if p.input.is_none() { "input" } else { "output" };
        faults.add(
            &p.opcode.origin,
            format!("no layout is the {missing} of {}", p.opcode.name),
            "add an [[opcode]] to semantics/ with its input and output, or with why it has none",
        );
    }
}

/// Examples are of layouts, and go into comments as they are.
fn examples(spec: &Spec, faults: &mut Faults) {
    for example in &spec.examples {
        if spec.layout(&example.layout).is_none() {
            no_layout(spec, &example.layout, &example.origin, faults);
        }
        let odd = |c: char| {
            c.is_control() && c != '\n' || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
        };
        if let Some(c) = example.code.chars().find(|c| odd(*c)) {
            faults.add(
                &example.origin,
                format!("the example has the character {c:?}"),
                "an example is lines of Rust without control characters: remove it",
            );
        }
        if example.code.lines().any(|line| line.trim_start().starts_with("```")) {
            faults.add(
                &example.origin,
                "a line of the example begins with ```, which would end it",
                "write it otherwise",
            );
        }
        if example.code.trim().is_empty() {
            faults.add(&example.origin, "the example is empty", "write one, or remove the file");
        }
    }
}

/// The name most like `name`, when one is near.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|n| (similar::TextDiff::from_chars(name, n).ratio(), n))
        .filter(|(ratio, _)| *ratio > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, n)| n)
}
