//! Reads `prm-spec/` into the model.

use std::path::Path;
use std::sync::Arc;

use super::folder::Folder;
use super::toml_walk::{Table, each_entry};
use crate::fault::{Faults, Origin, SourceFile};
use crate::model::*;

/// Reads all of `prm-spec/`: families, layouts and semantics. What it reads is well formed, not
/// yet sound: see [`crate::check`].
///
/// # Errors
/// Every fault of every file.
pub fn read_spec<'a>(folder: impl Into<Folder<'a>>) -> Result<Spec, Faults> {
    let folder = folder.into();
    let mut faults = Faults::default();
    let mut spec = Spec::default();
    if let Some(families) = faults.take(read_families(folder)) {
        spec.families = families;
    }
    each_file(folder, "layouts", "toml", &mut faults, |file, family, faults| {
        read_layouts(file, family, &mut spec, faults);
    });
    let order: Vec<String> = spec.families.iter().map(|f| f.name.clone()).collect();
    spec.layouts.sort_by_key(|l| order.iter().position(|name| *name == l.family));
    read_single(folder, &SINGLE, &mut spec, &mut faults);
    each_file(folder, "semantics", "toml", &mut faults, |file, _, faults| {
        read_semantics(file, &mut spec.semantics, faults);
    });
    if folder.has("words") {
        each_file(folder, "words", "toml", &mut faults, |file, _, faults| {
            read_words(file, &mut spec.words, faults);
        });
    }
    if folder.has("examples") {
        each_file(folder, "examples", "rs", &mut faults, |file, layout, _| {
            let (layout, code) = (layout.to_owned(), file.text.clone());
            spec.examples.push(Example { layout, code, origin: Origin::whole(file) });
        });
    }
    take_values(&mut spec);
    faults.or(spec)
}

/// Gives every file with this extension of a folder below, with its name without the extension.
fn each_file(
    folder: Folder<'_>,
    below: &str,
    extension: &str,
    faults: &mut Faults,
    mut each: impl FnMut(&Arc<SourceFile>, &str, &mut Faults),
) {
    for path in folder.files(below, extension, faults) {
        if let Some(file) = faults.take(folder.read(&path)) {
            let stem = Path::new(&path).file_stem().unwrap_or_default();
            each(&file, &stem.to_string_lossy(), faults);
        }
    }
}

/// Reads one entry of a file into the spec: the array it stands in, the entry.
type ReadEntry = fn(&mut Spec, &str, &mut Table<'_, '_>, &mut Faults);

/// A file: its name, the arrays it holds, and what reads an entry.
type SingleFile = (&'static str, &'static [(&'static str, &'static str)], ReadEntry);

/// Files beside `layouts/` and `semantics/` that may be absent, and their arrays.
const SINGLE: [SingleFile; 5] = [
    ("sources.toml", &[("source", "a source")], |spec, _, t, faults| {
        spec.sources.extend(read_source(t, faults));
    }),
    (
        "rulings.toml",
        &[
            ("alias", "an alias"),
            ("distinct", "a pair"),
            ("register", "a register"),
            ("reason", "a reason"),
        ],
        |spec, key, t, faults| read_ruling(key, t, &mut spec.rulings, faults),
    ),
    ("registers.toml", &[("register", "a register")], |spec, _, t, faults| {
        spec.registers.extend(read_register(t, faults));
    }),
    ("aliases.toml", &[("alias", "an alias")], |spec, _, t, faults| {
        let from = t.words("from", faults);
        if let Some(NamePair { name, of, origin }) = read_pair(t, faults) {
            spec.aliases.push(Alias { name, of, from, origin });
        }
    }),
    ("conflicts.toml", &[("conflict", "a conflict")], |spec, _, t, faults| {
        spec.conflicts.extend(read_conflict(t, faults));
    }),
];

fn read_source(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Source> {
    let name = t.need_text("name", faults);
    let package = t.need_text("package", faults);
    let version = t.need_text("version", faults);
    let mut files = Vec::new();
    t.tables("files", "a file", faults, |t, faults| {
        let path = t.need_text("path", faults);
        let sha256 = t.text("sha256", faults);
        let takes = names(t.texts("takes", faults));
        files.extend(path.map(|path| SourceEntry {
            path,
            sha256,
            takes,
            origin: t.origin.clone(),
        }));
    });
    Some(Source {
        name: name?,
        package: package?,
        version: version?,
        files,
        origin: t.origin.clone(),
    })
}

fn read_ruling(key: &str, t: &mut Table<'_, '_>, rulings: &mut Rulings, faults: &mut Faults) {
    match key {
        "alias" => rulings.aliases.extend(read_pair(t, faults)),
        "register" => rulings.registers.extend(read_pair(t, faults)),
        "distinct" => rulings.distinct.extend(read_pair(t, faults)),
        _ => {
            let at = t.need_text("at", faults);
            let from = t.text("from", faults);
            let why = t.need_text("why", faults);
            if let (Some(at), Some(why)) = (at, why) {
                rulings.reasons.push(Reason { at, from, why, origin: t.origin.clone() });
            }
        }
    }
}

fn read_pair(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<NamePair> {
    let name = t.need_text("name", faults);
    let of = t.need_text("of", faults);
    Some(NamePair { name: name?, of: of?, origin: t.origin.clone() })
}

fn read_register(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Register> {
    let name = t.need_text("name", faults);
    let id = t.need_u32("id", 0xffff, faults);
    let layout = t.text("layout", faults);
    let from = t.words("from", faults);
    Some(Register { name: name?, id: id? as u16, layout, from, origin: t.origin.clone() })
}

fn read_conflict(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Conflict> {
    let at = t.need_text("at", faults);
    let ours = t.need_text("ours", faults);
    let theirs = t.need_text("theirs", faults);
    let from = t.words("from", faults);
    let why = t.need_text("why", faults);
    Some(Conflict {
        at: at?,
        ours: ours?,
        theirs: theirs?,
        from,
        why: why?,
        origin: t.origin.clone(),
    })
}

/// Reads those of `files` that are there.
fn read_single(folder: Folder<'_>, files: &[SingleFile], spec: &mut Spec, faults: &mut Faults) {
    for (name, arrays, read) in files {
        if folder.has(name)
            && let Some(file) = faults.take(folder.read(name))
        {
            each_entry(&file, arrays, faults, |key, t, faults| read(spec, key, t, faults));
        }
    }
}

/// Reads `sources.toml` and `rulings.toml`: what an import is told by hand.
///
/// # Errors
/// Every fault of the two.
pub fn read_sources<'a>(folder: impl Into<Folder<'a>>) -> Result<(Vec<Source>, Rulings), Faults> {
    let mut faults = Faults::default();
    let mut spec = Spec::default();
    read_single(folder.into(), &SINGLE[..2], &mut spec, &mut faults);
    faults.or((spec.sources, spec.rulings))
}

/// Reads `families.toml`.
///
/// # Errors
/// Every fault of the file.
pub fn read_families<'a>(folder: impl Into<Folder<'a>>) -> Result<Vec<Family>, Faults> {
    let file = folder.into().read("families.toml")?;
    let mut faults = Faults::default();
    let mut families = Vec::new();
    each_entry(&file, &[("family", "a family")], &mut faults, |_, t, faults| {
        let name = t.need_text("name", faults);
        let about = t.need_text("about", faults);
        let takes = t.texts("takes", faults).into_iter().map(|(text, _)| text).collect();
        if let (Some(name), Some(about)) = (name, about) {
            families.push(Family { name, about, takes, origin: t.origin.clone() });
        }
    });
    faults.or(families)
}

/// Reads one file of `layouts/` on its own: its family is the file's name.
///
/// # Errors
/// Every fault of the file.
pub fn read_layout_file(file: &Arc<SourceFile>) -> Result<Spec, Faults> {
    let mut faults = Faults::default();
    let mut spec = Spec::default();
    let family = Path::new(&file.name).file_stem().unwrap_or_default().to_string_lossy();
    read_layouts(file, &family, &mut spec, &mut faults);
    faults.or(spec)
}

/// Reads one file of `semantics/` on its own.
///
/// # Errors
/// Every fault of the file.
pub fn read_semantics_file(file: &Arc<SourceFile>) -> Result<Spec, Faults> {
    let mut faults = Faults::default();
    let mut spec = Spec::default();
    read_semantics(file, &mut spec.semantics, &mut faults);
    faults.or(spec)
}

fn read_layouts(file: &Arc<SourceFile>, family: &str, spec: &mut Spec, faults: &mut Faults) {
    let arrays = [("layout", "a layout"), ("enum", "an enum")];
    each_entry(file, &arrays, faults, |key, t, faults| match key {
        "layout" => {
            if let Some(layout) = read_layout(t, family, faults) {
                spec.layouts.push(layout);
            }
        }
        _ => {
            let name = t.need_text("name", faults);
            let from = t.words("from", faults);
            let values = read_values(t, faults);
            if let Some(name) = name {
                spec.enums.push(Enumeration { name, values, from, origin: t.origin.clone() });
            }
        }
    });
}

fn read_layout(t: &mut Table<'_, '_>, family: &str, faults: &mut Faults) -> Option<Layout> {
    let name = t.need_text("name", faults);
    let kind = match t.text("kind", faults).as_deref() {
        None | Some("struct") => Kind::Struct,
        Some("union") => Kind::Union,
        Some(other) => {
            let place = t.place("kind");
            faults.add(
                &place,
                format!("{other:?} is no kind of layout"),
                "write \"struct\" or \"union\"",
            );
            Kind::Struct
        }
    };
    let bytes = t.need_u32("bytes", 1 << 20, faults);
    let from = t.words("from", faults);
    let mut fields = Vec::new();
    t.tables("fields", "a field", faults, |t, faults| fields.extend(read_field(t, faults)));
    Some(Layout {
        name: name?,
        kind,
        bytes: bytes?,
        fields,
        family: family.to_owned(),
        from,
        origin: t.origin.clone(),
    })
}

fn read_field(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Field> {
    let name = t.need_text("name", faults);
    let at = t.need_u32("at", 1 << 20, faults);
    let bits = t.text("bits", faults);
    let width = t.u32("width", 8 << 20, faults);
    let layout = t.text("layout", faults);
    let count = t.u32("count", 8 << 20, faults);
    let list = t.flag("list", faults);
    let overlays = t.text("overlays", faults);
    let access = t.text("access", faults).and_then(|text| access(t, &text, faults));
    let values = t.numbers("values", faults);
    let selector = t.text("selector", faults);
    let when = t.text("when", faults);
    let from = t.words("from", faults);
    let (first, element) = match (bits, width, layout) {
        (Some(bits), None, None) => {
            let parsed = bits.split_once(':').and_then(|(high, low)| {
                let (high, low): (u32, u32) = (high.trim().parse().ok()?, low.trim().parse().ok()?);
                (high <= 31 && low <= high).then_some((high, low))
            });
            let Some((high, low)) = parsed else {
                faults.add(
                    &t.place("bits"),
                    format!("{bits:?} is no range of bits in a dword"),
                    "write \"high:low\", 31 the first bit of the dword and 0 its last",
                );
                return None;
            };
            (31 - high, Element::Bits(high - low + 1))
        }
        (None, Some(width), None) => (0, Element::Bits(width)),
        (None, None, Some(layout)) => (0, Element::Layout(layout)),
        (None, None, None) if t.has("bits") || t.has("width") || t.has("layout") => return None,
        _ => {
            faults.add(
                &t.origin,
                "a field has exactly one of bits, width and layout",
                "bits = \"high:low\" within a dword, width = N from a dword's first bit on, \
                 layout = \"name\" for a layout in it",
            );
            return None;
        }
    };
    let at = at?;
    if at % 4 != 0 && !matches!(element, Element::Layout(_)) {
        faults.add(
            &t.place("at"),
            format!("at = 0x{at:x} is not the offset of a dword"),
            "write the offset of the dword (a multiple of 4), and the bits in it",
        );
        return None;
    }
    let count = match (count, list) {
        (None, false) => Count::One,
        (Some(n), false) => Count::Array(n),
        (None, true) => Count::List,
        (Some(_), true) => {
            faults.add(
                &t.origin,
                "a field with both count and list",
                "a list has no count: remove one",
            );
            return None;
        }
    };
    Some(Field {
        name: name?,
        bit: at * 8 + first,
        element,
        count,
        overlays,
        access,
        values,
        selector,
        when,
        from,
        origin: t.origin.clone(),
    })
}

fn access(t: &Table<'_, '_>, text: &str, faults: &mut Faults) -> Option<Access> {
    let access = Access::ALL.into_iter().find(|a| a.name() == text);
    if access.is_none() {
        faults.add(
            &t.place("access"),
            format!("{text:?} is no access"),
            "write \"RO\", \"RW\", \"WO\", \"OP\" or \"INDEX\"",
        );
    }
    access
}

fn read_values(t: &mut Table<'_, '_>, faults: &mut Faults) -> Vec<EnumValue> {
    let mut values = Vec::new();
    t.tables("values", "a value", faults, |t, faults| {
        let name = t.need_text("name", faults);
        let value = t.number("value", faults);
        let from = t.words("from", faults);
        if value.is_none() && !t.has("value") {
            t.missing("value", faults);
        }
        if let (Some(name), Some(value)) = (name, value) {
            values.push(EnumValue { name, value, from, origin: t.origin.clone() });
        }
    });
    values
}

fn names(list: Vec<(String, Origin)>) -> Vec<String> {
    list.into_iter().map(|(name, _)| name).collect()
}

fn read_semantics(file: &Arc<SourceFile>, semantics: &mut Semantics, faults: &mut Faults) {
    let arrays = [
        ("object", "an object"),
        ("command", "a command"),
        ("number", "a number"),
        ("enum", "an enum"),
        ("flags", "flags"),
        ("unbound", "unbound enumerators"),
        ("select", "a select mask"),
        ("transition", "a transition"),
        ("general_object", "a general object"),
        ("capability", "a capability page"),
        ("opcode", "an opcode"),
        ("syndrome", "a syndrome"),
    ];
    each_entry(file, &arrays, faults, |key, t, faults| match key {
        "object" => semantics.objects.extend(read_object(t, faults)),
        "command" => semantics.commands.extend(read_command(t, faults)),
        "number" => semantics.numbers.extend(read_number(t, faults)),
        "enum" => semantics.enums.extend(read_bound_enum(t, faults)),
        "flags" => semantics.flags.extend(read_bound_enum(t, faults)),
        "unbound" => semantics.unbound.extend(read_unbound(t, faults)),
        "select" => semantics.selects.extend(read_select(t, faults)),
        "transition" => semantics.transitions.extend(read_transition(t, faults)),
        "general_object" => semantics.general_objects.extend(read_general_object(t, faults)),
        "capability" => semantics.capabilities.extend(read_capability(t, faults)),
        "syndrome" => semantics.syndromes.extend(read_syndrome(t, faults)),
        _ => semantics.opcodes.extend(read_opcode(t, faults)),
    });
}

fn read_words(file: &Arc<SourceFile>, words: &mut Words, faults: &mut Faults) {
    each_entry(file, &[("words", "words")], faults, |_, t, faults| {
        let layout = t.text("layout", faults);
        let command = t.text("command", faults);
        let about = t.text("about", faults);
        let mut fields = Vec::new();
        if t.has("fields") {
            t.tables("fields", "a field", faults, |t, faults| {
                fields.extend(read_field_words(t, faults))
            });
        }
        let origin = t.origin.clone();
        match (layout, command, about) {
            (Some(layout), None, about) => {
                words.layouts.push(LayoutWords { layout, about, fields, origin });
            }
            (None, Some(name), Some(about)) if fields.is_empty() => {
                words.commands.push(CommandWords { name, about, origin });
            }
            _ => faults.add(
                &origin,
                "words are of a layout, with about or fields, or of a command, with about",
                "write layout = \"NAME\" or command = \"NAME\"",
            ),
        }
    });
}

fn read_field_words(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<FieldWords> {
    let name = t.need_text("name", faults);
    let about = t.need_text("about", faults);
    let unit = t.text("unit", faults);
    let range = t.text("range", faults);
    let cap = t.text("cap", faults);
    let unsure = t.flag("unsure", faults);
    let origin = t.origin.clone();
    Some(FieldWords { name: name?, about: about?, unit, range, cap, unsure, origin })
}

fn read_opcode(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<OpcodeNote> {
    let name = t.need_text("name", faults);
    let input = t.text("input", faults);
    let output = t.text("output", faults);
    let why = t.text("why", faults);
    Some(OpcodeNote { name: name?, input, output, why, origin: t.origin.clone() })
}

fn read_syndrome(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Syndrome> {
    let number = t.need_u32("number", u32::MAX, faults);
    let command = t.need_text("command", faults);
    let op_mod = t.u32("op_mod", 0xffff, faults).map(|n| n as u16);
    let status = t.text("status", faults);
    let status_number = t.u32("status_number", 0xff, faults).map(|n| n as u8);
    let certainty = t.need_text("certainty", faults);
    let mut words = Vec::new();
    let mut keep = |key, text: Option<String>, place| {
        let there = text.is_some();
        words.extend(text.map(|text| (key, text, place)));
        there
    };
    let cause = t.need_text("cause", faults);
    let cause = keep("cause", cause, t.place("cause"));
    let source = t.need_text("source", faults);
    let source = keep("source", source, t.place("source"));
    for key in ["detail", "remedy", "adapter", "firmware"] {
        let text = t.text(key, faults);
        keep(key, text, t.place(key));
    }
    for (text, place) in t.texts("also", faults) {
        keep("also", Some(text), place);
    }
    let places = SyndromePlaces {
        number: t.place("number"),
        status: t.place("status"),
        status_number: t.place("status_number"),
        certainty: t.place("certainty"),
    };
    if !cause || !source {
        return None;
    }
    Some(Syndrome {
        number: number?,
        command: command?,
        op_mod,
        status,
        status_number,
        certainty: certainty?,
        words,
        places,
        origin: t.origin.clone(),
    })
}

fn read_object(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Object> {
    let name = t.need_text("name", faults);
    let number = t.text("number", faults);
    let context = t.text("context", faults);
    let about = t.need_text("about", faults);
    Some(Object { name: name?, number, context, about: about?, origin: t.origin.clone() })
}

fn read_command(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Command> {
    let name = t.need_text("name", faults);
    let opcode = t.need_u32("opcode", 0xffff, faults);
    let input = t.need_text("input", faults);
    let output = t.need_text("output", faults);
    let verb = t.need_text("verb", faults);
    let object = t.need_text("object", faults);
    let number = t.text("number", faults);
    let context = t.text("context", faults);
    let about = t.need_text("about", faults);
    let verb = verb?;
    let verb = [Verb::Create, Verb::Modify, Verb::Query, Verb::Destroy]
        .into_iter()
        .find(|v| v.name() == verb);
    if verb.is_none() {
        let help = "write \"create\", \"modify\", \"query\" or \"destroy\"";
        faults.add(&t.place("verb"), "this is no verb of a command", help);
    }
    Some(Command {
        name: name?,
        opcode: opcode? as u16,
        input: input?,
        output: output?,
        verb: verb?,
        object: object?,
        number,
        context,
        about: about?,
        origin: t.origin.clone(),
    })
}

fn read_general_object(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<GeneralObject> {
    let name = t.need_text("name", faults);
    let number = t.need_u32("type", 0xffff, faults);
    let layout = read_layout_or_why(t, faults);
    let about = t.need_text("about", faults);
    let (layout, origin) = (layout?, t.origin.clone());
    Some(GeneralObject { name: name?, number: number? as u16, layout, about: about?, origin })
}

fn read_capability(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Capability> {
    let name = t.need_text("name", faults);
    let selector = t.need_u32("selector", 0x7fff, faults);
    let layout = read_layout_or_why(t, faults);
    let about = t.need_text("about", faults);
    let (layout, origin) = (layout?, t.origin.clone());
    Some(Capability { name: name?, selector: selector? as u16, layout, about: about?, origin })
}

/// A layout, or why there is none.
fn read_layout_or_why(
    t: &mut Table<'_, '_>,
    faults: &mut Faults,
) -> Option<Result<String, String>> {
    match (t.text("layout", faults), t.text("why", faults)) {
        (Some(layout), None) => Some(Ok(layout)),
        (None, Some(why)) => Some(Err(why)),
        _ => {
            faults.add(
                &t.origin,
                "an entry with both layout and why, or with neither",
                "write layout = \"NAME\", or why = \"why no source has it\"",
            );
            None
        }
    }
}

fn read_number(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Number> {
    let name = t.need_text("name", faults);
    let width = t.need_u32("width", 32, faults);
    let about = t.need_text("about", faults);
    let fields = t.texts("fields", faults);
    let origin = t.origin.clone();
    Some(Number { name: name?, width: width?, about: about?, fields, origin })
}

fn read_unbound(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Unbound> {
    let names = t.texts("names", faults);
    let why = t.need_text("why", faults);
    Some(Unbound { names, why: why?, origin: t.origin.clone() })
}

fn read_bound_enum(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<BoundEnum> {
    let name = t.need_text("name", faults);
    let about = t.need_text("about", faults);
    let prefix = t.text("prefix", faults);
    let of = t.texts("of", faults);
    let except = names(t.texts("except", faults));
    let values =
        if prefix.is_none() || t.has("values") { read_values(t, faults) } else { Vec::new() };
    let fields = t.texts("fields", faults);
    let origin = t.origin.clone();
    Some(BoundEnum { name: name?, about: about?, values, prefix, of, except, fields, origin })
}

/// Gives the enums that take their values from the headers those values.
fn take_values(spec: &mut Spec) {
    for e in spec.semantics.enums.iter_mut().chain(&mut spec.semantics.flags) {
        let Some(prefix) = &e.prefix else { continue };
        let all = spec.enums.iter().flat_map(|e| &e.values);
        let taken: Vec<EnumValue> = all
            .filter_map(|v| v.name.strip_prefix(prefix.as_str()).map(|name| (name, v)))
            .filter(|(name, _)| !e.except.iter().any(|x| x == name))
            .map(|(name, v)| EnumValue {
                name: name.to_owned(),
                value: v.value,
                from: Vec::new(),
                origin: v.origin.clone(),
            })
            .collect();
        e.values.splice(0..0, taken);
    }
}

fn read_select(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Select> {
    let name = t.need_text("name", faults);
    let about = t.need_text("about", faults);
    let masks = t.texts("masks", faults);
    let op_mod = t.u32("op_mod", 0xffff, faults).unwrap_or(0) as u16;
    let when = t.text("when", faults);
    let is = t.u32("is", u32::MAX, faults);
    if when.is_some() != is.is_some() {
        faults.add(
            &t.origin,
            "a select mask with when and no is, or with is and no when",
            "write when = \"FIELD\" and is = VALUE, or neither",
        );
    }
    let always = names(t.texts("always", faults));
    let mut bits = Vec::new();
    t.tables("bits", "a bit", faults, |t, faults| {
        let bit = t.need_u32("bit", 63, faults);
        let name = t.need_text("name", faults);
        let fields = names(t.texts("fields", faults));
        if let (Some(bit), Some(name)) = (bit, name) {
            bits.push(SelectBit { bit, name, fields, origin: t.origin.clone() });
        }
    });
    Some(Select {
        name: name?,
        about: about?,
        masks,
        op_mod,
        when: when.zip(is),
        always,
        bits,
        origin: t.origin.clone(),
    })
}

fn read_transition(t: &mut Table<'_, '_>, faults: &mut Faults) -> Option<Transition> {
    let command = t.need_text("command", faults);
    let from = names(t.texts("from", faults));
    let to = t.need_text("to", faults);
    let services = t.words("services", faults);
    let mut fields = Vec::new();
    t.tables("fields", "a field", faults, |t, faults| {
        let path = t.need_text("path", faults);
        let requires = t.words("requires", faults);
        let takes = t.words("takes", faults);
        let admits = t.words("admits", faults);
        let bit = t.text("bit", faults);
        let nonzero = t.flag("nonzero", faults);
        let origin = t.origin.clone();
        fields.extend(path.map(|path| TransitionField {
            path,
            requires,
            takes,
            admits,
            bit,
            nonzero,
            origin,
        }));
    });
    let source = t.need_text("source", faults);
    let origin = t.origin.clone();
    Some(Transition { command: command?, from, to: to?, services, fields, source: source?, origin })
}
