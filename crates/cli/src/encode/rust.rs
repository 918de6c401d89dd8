//! Rust that builds a mailbox with mlx5-prm.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use mlx5_prm::{Access, Count, Element, FieldDesc, Kind, LayoutDesc};
use prm_codegen::emit::names::{bare, camel, upper};

use super::mailbox::{Mailbox, Set};
use super::opcode_of;
use crate::names;

/// Statements, and the types that they use.
pub(super) fn text(mailbox: &Mailbox) -> String {
    let bytes = mailbox.finish();
    let built = match mailbox.parts() {
        [(layout, _)] if mailbox.is_whole() => built(mailbox, layout, &bytes),
        _ => None,
    };
    built.unwrap_or_else(|| raw(&bytes))
}

/// The fields that make the mailbox out of zeros, each once; all of the same bits are told by the first.
/// `begin` is what is there before. `None` when they don't make it.
pub(super) fn fields(mailbox: &Mailbox, mut begin: Vec<u8>) -> Option<Vec<&Set>> {
    let bytes = mailbox.bytes();
    begin.resize(bytes.len(), 0);
    let mut sets: Vec<&Set> = mailbox.sets().iter().collect();
    sets.sort_by_key(|set| (set.bit, set.width));
    let needed = sets.into_iter().filter(|set| {
        let mut changed = false;
        for bit in set.bit..set.bit + set.width {
            let mask = 0x80 >> (bit % 8);
            let (is, wanted) = (&mut begin[bit / 8], bytes[bit / 8] & mask);
            changed |= *is & mask != wanted;
            *is = *is & !mask | wanted;
        }
        changed
    });
    let needed = needed.collect();
    (begin == bytes).then_some(needed)
}

/// Fields that are written in one go.
pub(super) enum Piece<'s> {
    Field(&'s Set),
    /// Several elements of an array of bytes, one of which this is: the whole of it, from a bit on.
    Bytes(&'s Set, usize, usize),
}

/// The fields, but arrays of bytes, such as addresses, whole.
pub(super) fn pieces(sets: Vec<&Set>) -> Vec<Piece<'_>> {
    let array = |set: &Set| {
        let (field, index) = set.steps.last()?;
        match field.count {
            Count::Array(n) if set.width == 8 => Some((set.bit - index * 8, n as usize)),
            _ => None,
        }
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for array in sets.iter().filter_map(|set| array(set)) {
        *counts.entry(array).or_default() += 1;
    }
    let mut pieces = Vec::new();
    for set in sets {
        match array(set).and_then(|array| Some((array, counts.get_mut(&array)?))) {
            // It was told with the first of its elements.
            Some((_, 0)) => {}
            Some(((bit, n), count)) if *count > 1 => {
                *count = 0;
                pieces.push(Piece::Bytes(set, bit, n));
            }
            _ => pieces.push(Piece::Field(set)),
        }
    }
    pieces
}

fn built(mailbox: &Mailbox, layout: &'static LayoutDesc, bytes: &[u8]) -> Option<String> {
    let mut begin = vec![0; layout.size];
    if let Some(opcode) = opcode_of(layout) {
        begin[..2].copy_from_slice(&opcode.to_be_bytes());
    }
    let sets = fields(mailbox, begin)?;
    let tail = if bytes.len() > layout.size { Some(tail(layout, bytes, &sets)?) } else { None };
    let mut writer = Writer { types: BTreeSet::new(), body: String::new() };
    let (name, type_name) = (bare(layout.name), camel(layout.name));
    if let Some(tail) = &tail {
        writer.types.insert(tail.alias.clone());
        let (alias, n) = (&tail.alias, tail.len);
        let _ = writeln!(writer.body, "let mut {name} = {alias}::boxed({n});");
    } else {
        writer.types.insert(type_name.clone());
        let _ = writeln!(writer.body, "let mut {name} = {type_name}::new();");
    }
    for piece in pieces(sets) {
        writer.set(&name, tail.as_ref(), &piece, bytes)?;
    }
    let types: Vec<&str> = writer.types.iter().map(String::as_str).collect();
    let uses = format!("use mlx5_prm::{{{}}};", types.join(", "));
    let uses = if types.len() == 1 { uses.replace(['{', '}'], "") } else { wrapped(&types, uses) };
    let features = features(layout, tail.is_some());
    Some(format!("{features}{uses}\n\n{}", writer.body))
}

/// The families that mlx5-prm has by default.
const DEFAULT: [&str; 5] = ["cq", "qp", "rqt", "srq", "wq"];

/// A comment on the features of mlx5-prm that are needed besides the default ones.
fn features(layout: &LayoutDesc, boxed: bool) -> String {
    let family = Some(names::family(layout)).filter(|family| !DEFAULT.contains(family));
    let features: Vec<&str> = boxed.then_some("alloc").into_iter().chain(family).collect();
    if features.is_empty() {
        return String::new();
    }
    format!("// mlx5-prm, features = {features:?}\n")
}

/// The list of types in lines, as rustfmt writes it.
fn wrapped(types: &[&str], line: String) -> String {
    if line.len() <= 100 {
        return line;
    }
    let mut out = "use mlx5_prm::{\n   ".to_owned();
    let mut column = 3;
    for name in types {
        if column + name.len() + 2 > 100 {
            out += "\n   ";
            column = 3;
        }
        let _ = write!(out, " {name},");
        column += name.len() + 2;
    }
    out + "\n};"
}

/// The list at the end of a mailbox.
struct Tail {
    /// The type of the mailbox with it.
    alias: String,
    /// Its fields' names, the last the list itself.
    path: Vec<&'static str>,
    len: usize,
}

/// The list that the assignments filled.
fn tail(layout: &'static LayoutDesc, bytes: &[u8], sets: &[&Set]) -> Option<Tail> {
    let is_list = |(field, _): &(&FieldDesc, usize)| field.count == Count::List;
    let found = sets.iter().find_map(|set| {
        let at = set.steps.iter().position(is_list)?;
        let names: Vec<&'static str> = set.steps[..=at].iter().map(|(f, _)| f.name).collect();
        Some((names, set.steps[at].0))
    });
    // A list of zeros was not set: the first will do.
    let (path, field) = found.or_else(|| lists(layout).into_iter().next())?;
    let width = field.width() as usize;
    let behind = (bytes.len() - layout.size) * 8;
    if width == 0 || !behind.is_multiple_of(width) || !follows(layout, &path) {
        return None;
    }
    let all = lists(layout);
    let last = *path.last()?;
    let twins = all.iter().filter(|(path, _)| path.last() == Some(&last)).count();
    let from = path.len().saturating_sub(if twins > 1 { 2 } else { 1 });
    let alias = format!("{}With{}", camel(layout.name), camel(&path[from..].join("_")));
    Some(Tail { alias, path, len: behind / width })
}

/// The lists of a layout, and of those at its end.
fn lists(layout: &'static LayoutDesc) -> Vec<(Vec<&'static str>, &'static FieldDesc)> {
    let mut out = Vec::new();
    for field in layout.fields {
        match (field.element, field.count) {
            (_, Count::List) => out.push((vec![field.name], field)),
            (Element::Layout(inner), Count::One) => {
                let ends = field.bit() as usize / 8 + inner.size == layout.size;
                if ends || layout.kind == Kind::Union {
                    out.extend(lists(inner).into_iter().map(|(mut path, list)| {
                        path.insert(0, field.name);
                        (path, list)
                    }));
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether a list begins where the layout ends.
fn follows(layout: &'static LayoutDesc, path: &[&str]) -> bool {
    let (mut layout, mut at) = (layout, 0);
    let size = layout.size * 8;
    for name in path {
        let Some(field) = layout.field(name) else { return false };
        at += field.bit() as usize;
        if let (Element::Layout(inner), Count::One) = (field.element, field.count) {
            layout = inner;
        }
    }
    at == size
}

struct Writer {
    types: BTreeSet<String>,
    body: String,
}

impl Writer {
    /// A statement that sets a field. `None`: the codec has no setter for it.
    fn set(
        &mut self,
        name: &str,
        tail: Option<&Tail>,
        piece: &Piece<'_>,
        bytes: &[u8],
    ) -> Option<()> {
        let (Piece::Field(set) | Piece::Bytes(set, ..)) = *piece;
        let mut place = name.to_owned();
        let mut steps = &set.steps[..];
        if let Some(tail) = tail {
            let in_tail = steps.len() >= tail.path.len()
                && steps.iter().zip(&tail.path).all(|((field, _), name)| field.name == *name);
            if in_tail {
                let (field, index) = steps[tail.path.len() - 1];
                let _ = write!(place, ".tail[{index}]");
                steps = &steps[tail.path.len()..];
                if steps.is_empty() {
                    let value = self.value(field, set, bytes)?;
                    let _ = writeln!(self.body, "{place} = {value};");
                    return Some(());
                }
            } else {
                place += ".head";
            }
        }
        let ((field, index), way) = steps.split_last()?;
        for (step, index) in way {
            if step.access == Some(Access::Ro) {
                return None;
            }
            let accessor = bare(step.name);
            let _ = match step.count {
                Count::One => write!(place, ".{accessor}_mut()"),
                Count::Array(_) => write!(place, ".{accessor}_mut()[{index}]"),
                Count::List => return None,
            };
        }
        if field.access == Some(Access::Ro) {
            return None;
        }
        let accessor = bare(field.name);
        if let Piece::Bytes(_, bit, n) = *piece {
            let value = array(&bytes[bit / 8..bit / 8 + n]);
            let _ = writeln!(self.body, "{place}.set_{accessor}({value});");
            return Some(());
        }
        let value = self.value(field, set, bytes)?;
        let _ = match field.count {
            Count::One => writeln!(self.body, "{place}.set_{accessor}({value});"),
            Count::Array(_) if field.width() >= 8 => {
                writeln!(self.body, "{place}.{accessor}_mut()[{index}] = {value};")
            }
            _ => return None,
        };
        Some(())
    }

    /// The value of a field, as its type has it.
    fn value(&mut self, field: &FieldDesc, set: &Set, bytes: &[u8]) -> Option<String> {
        if set.width > 64 {
            let is_bytes =
                set.bit.is_multiple_of(8) && set.width.is_multiple_of(8) && set.width > 128;
            let run = &bytes[set.bit / 8..(set.bit + set.width) / 8];
            return is_bytes.then(|| array(run));
        }
        let number = set.number(bytes);
        // Elements of arrays and lists are big-endian numbers of zerocopy.
        if field.count != Count::One {
            return match set.width {
                8 => Some(format!("{number:#x}")),
                16 | 32 | 64 => Some(format!("{number:#x}.into()")),
                _ => None,
            };
        }
        let mut typed = |name: &str| {
            let name = camel(name);
            self.types.insert(name.clone());
            name
        };
        Some(match field.element {
            Element::Layout(_) => return None,
            Element::Number(of) => format!("{}::new({number:#x})", typed(of.name)),
            Element::Flags(of) => format!("{}::from_bits({number:#x})", typed(of.name)),
            Element::Enum(of) if of.is_type => match of.name_of(number.into()) {
                Some(value) => format!("{}::{}", typed(of.name), upper(value)),
                None => format!("{}({number:#x})", typed(of.name)),
            },
            Element::Enum(_) | Element::Bits if set.width == 1 => (number != 0).to_string(),
            Element::Enum(_) | Element::Bits => format!("{number:#x}"),
        })
    }
}

fn array(bytes: &[u8]) -> String {
    let text: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    format!("&[{}]", text.join(", "))
}

/// A mailbox that the accessors do not make.
fn raw(bytes: &[u8]) -> String {
    let mut out = format!("let mailbox: [u8; {}] = [\n", bytes.len());
    for line in bytes.chunks(16) {
        let text: Vec<String> = line.iter().map(|byte| format!("{byte:#04x}")).collect();
        let _ = writeln!(out, "    {},", text.join(", "));
    }
    out + "];\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_families_are_those_of_the_codec() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../prm/Cargo.toml");
        let text = std::fs::read_to_string(path).expect("it is there");
        let table: toml::Table = text.parse().expect("TOML");
        let default = table["features"]["default"].as_array().expect("a list");
        let default: Vec<&str> = default.iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(default, DEFAULT);
    }
}
