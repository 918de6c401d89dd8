//! The database of registers of mstflint: `register_access_table.adb`, an XML file.
//!
//! What is written in it is read as mstflint reads it (`adb_parser/adb_xml_parser.cpp`,
//! `adb_instance.cpp`, `adb_field.cpp`); sentences (`descr`) are passed over.
//!
//! * A `node` becomes a layout, called as the node in lower case and without `_ext` at its end.
//! * An address is `0xBYTE.BIT`: the byte of a big-endian dword, and a bit counted from the dword's
//!   least significant one. A size is bytes and bits.
//! * The address of a field of up to 32 bits is that of its last (least significant) bit; the model
//!   wants the first.
//! * `low_bound` and `high_bound` make an array, and `size` is that of all elements. The address is
//!   that of the first one. Elements below 32 bits follow each other from the most significant on
//!   (`calcArrOffset`, with `big_endian_arr`).
//! * `high_bound="VARIABLE"` makes a list, and `size` is that of one element. The node's size has
//!   this one element in it; the layout's has not, as in the C that mstflint generates. How many
//!   elements there are (`arr_is_dynamic`, `size_condition`) is not read: the model has no place
//!   for it.
//! * `$(parent).name` is the field `name` of the same node; for the members of a union, of the node
//!   that holds the union.
//!
//! Some nodes are no layouts. `uint64` (two dwords `hi` and `lo`) and `enum_entry` (without
//! fields) are numbers, and fields of them become numbers. The index of registers describes the
//! database, not the adapter: see [`index`].

mod index;
mod xml;

use std::collections::HashMap;
use std::sync::Arc;

use self::index::Index;
use self::xml::Tag;
use super::{PassedOver, Reading};
use crate::fault::{Faults, Origin, SourceFile};
use crate::model::{Access, Count, Element, Field, FieldValue, Kind, Layout};

/// The largest layout that is believed, in bits: 1 MiB.
const MAX_BITS: u64 = 8 << 20;

/// Fields of one node. The largest of mstflint, an index of registers, has 626.
const MAX_FIELDS: usize = 1024;

/// So many faults are told, and the rest is not looked at.
const MAX_FAULTS: usize = 100;

/// What attributes call the fields of the same node.
const PARENT: &str = "$(parent).";

/// Reads one database. Its layouts stand in the order of the file, its registers in that of their
/// ids.
///
/// # Errors
/// Every fault of the fields, up to a hundred; when there is none, every fault of how nodes use
/// each other. XML that is broken gives its first fault only.
pub(super) fn read(file: &Arc<SourceFile>) -> Result<Reading, Faults> {
    let document = xml::parse(file)?;
    let database = Database::collect(Tag { xml: document.root_element(), file })?;
    let layouts = database.layouts()?;
    let index = Index::new(&layouts);
    index.uses()?;
    index.selectors()?;
    let registers = index.registers()?;
    let passed_over = database.nodes.iter().filter(|n| n.number || index.has(&n.name));
    let passed_over = passed_over.map(Node::passed_over).collect();
    let layouts = layouts.iter().filter(|l| !index.has(&l.name)).cloned().collect();
    Ok(Reading { layouts, enums: Vec::new(), registers, passed_over })
}

/// All nodes, and what holds for the whole file.
struct Database<'a> {
    nodes: Vec<Node<'a>>,
    /// Places in `nodes` by the names that fields use.
    names: HashMap<&'a str, usize>,
    /// Whether small elements of arrays follow each other from the most significant on.
    big_endian_arrays: bool,
}

impl<'a> Database<'a> {
    fn collect(root: Tag<'a>) -> Result<Self, Faults> {
        if !root.is("NodesDefinition") {
            return Err(Faults::one(
                &root.whole(),
                format!("{} is no database of registers", root.file.name),
                "its outermost tag is NodesDefinition: name such a file",
            ));
        }
        root.only(&[])?;
        let mut faults = Faults::default();
        let mut database =
            Database { nodes: Vec::new(), names: HashMap::new(), big_endian_arrays: false };
        let mut layouts: HashMap<String, Origin> = HashMap::new();
        for tag in root.children()? {
            if faults.0.len() >= MAX_FAULTS {
                break;
            }
            if tag.is("config") {
                let set = faults.take(tag.flag("big_endian_arr"));
                database.big_endian_arrays |= set.unwrap_or_default();
            } else if tag.is("node") {
                let Some(node) = faults.take(Node::new(tag)) else { continue };
                match layouts.get(&node.name) {
                    Some(first) => faults.add(
                        &tag.place(),
                        format!("the layout {} is defined twice", node.name),
                        format!("the first stands at line {}: remove one", first.line()),
                    ),
                    None => {
                        layouts.insert(node.name.clone(), tag.place());
                        database.names.insert(tag.need("name")?, database.nodes.len());
                        database.nodes.push(node);
                    }
                }
            } else if !tag.is("info") {
                faults.0.extend(tag.unknown("the database holds config, info and node").0);
            }
        }
        faults.or(database)
    }

    /// The layouts of all nodes that are no numbers, those of the index of registers among them.
    fn layouts(&self) -> Result<Vec<Layout>, Faults> {
        let mut faults = Faults::default();
        let mut layouts = Vec::new();
        for node in self.nodes.iter().filter(|n| !n.number) {
            if faults.0.len() >= MAX_FAULTS {
                let message = format!("{MAX_FAULTS} faults stand above: the rest is not read");
                faults.add(&node.tag.place(), message, "correct these first");
                break;
            }
            layouts.extend(faults.take(self.layout(node)));
        }
        faults.or(layouts)
    }

    /// Reads the fields of a node.
    ///
    /// Reserved ones are left out. Two that take exactly the same place are as in an unnamed union
    /// of C: the later one overlays the first.
    fn layout(&self, node: &Node<'_>) -> Result<Layout, Faults> {
        let mut faults = Faults::default();
        let read = node.fields.iter().map_while(|tag| {
            (faults.0.len() < MAX_FAULTS).then(|| faults.take(self.field(node, *tag)))
        });
        let mut fields: Vec<(Field, Place)> = read.flatten().flatten().collect();
        if node.kind == Kind::Struct {
            fields.sort_by_key(|(field, _)| field.bit);
        }
        let mut names: HashMap<String, Origin> = HashMap::new();
        let mut places: HashMap<(u32, u64), String> = HashMap::new();
        let mut bits = node.bits;
        for (field, place) in &mut fields {
            if faults.0.len() >= MAX_FAULTS {
                break;
            }
            if let Some(first) = names.insert(field.name.clone(), field.origin.clone()) {
                faults.add(
                    &field.origin,
                    format!("{} has two fields called {}", node.name, field.name),
                    format!("another stands at line {}: rename one of the two", first.line()),
                );
            }
            if field.count == Count::List && bits == node.bits {
                bits -= place.bits;
            } else if field.count == Count::List {
                let message = format!("{} has a second list, {}", node.name, field.name);
                faults.add(&field.origin, message, "only one can go on to the end: remove one");
            } else if node.kind == Kind::Struct {
                let taken = (field.bit, place.bits);
                field.overlays = places.get(&taken).cloned();
                places.entry(taken).or_insert_with(|| field.name.clone());
            }
        }
        faults.or(Layout {
            name: node.name.clone(),
            kind: node.kind,
            bytes: (bits / 8) as u32,
            fields: fields.into_iter().map(|(field, _)| field).collect(),
            family: String::new(),
            from: Vec::new(),
            origin: node.tag.place(),
        })
    }

    /// Reads one field; `None` for a reserved one.
    fn field(&self, node: &Node<'_>, tag: Tag<'_>) -> Result<Option<(Field, Place)>, Faults> {
        // `capability` is of members of the index only, and always 0 in what mstflint has.
        let known = "name descr offset size access subnode enum high_bound low_bound \
                     arr_is_dynamic size_condition selected_by union_selector condition capability";
        tag.only(&known.split(' ').collect::<Vec<_>>())?;
        let raw = tag.name()?;
        // What is called as its node, such as a member of a union, is called as the layout.
        let name = if tag.get("subnode") == Some(raw) {
            layout_name(raw)
        } else {
            raw.to_ascii_lowercase()
        };
        let place = self.place(node, tag, &name)?;
        let element = self.element(tag, &name, place.width)?;
        let field = Field {
            bit: place.first as u32,
            values: values(tag, &name, &element)?,
            element,
            count: place.count,
            overlays: None,
            access: access(tag)?,
            selector: selector(tag)?,
            when: when(tag)?,
            from: Vec::new(),
            origin: tag.place(),
            name,
        };
        Ok(if is_reserved(&field.name) { None } else { Some((field, place)) })
    }

    /// Where a field lies, which is inside its node.
    fn place(&self, node: &Node<'_>, tag: Tag<'_>, name: &str) -> Result<Place, Faults> {
        let bits = size(tag)?;
        let count = count(tag)?;
        let width = match count {
            Count::Array(n) if !bits.is_multiple_of(u64::from(n)) => {
                return Err(tag.fault(
                    "size",
                    format!("{name} has {n} elements in {bits} bits"),
                    "correct the size, which is that of all elements, or the bounds",
                ));
            }
            Count::Array(n) => bits / u64::from(n),
            Count::One | Count::List => bits,
        };
        let first = self.first_bit(tag, name, width, count)?;
        let end = first + bits;
        if end > node.bits {
            Err(tag.fault(
                "offset",
                format!("{name} leaves {}: it ends at bit {end} of {}", node.name, node.bits),
                "correct its offset or size, or the size of the node",
            ))
        } else if node.kind == Kind::Union && (first != 0 || count == Count::List) {
            Err(tag.fault(
                "offset",
                format!("{name} is a member of a union and not one thing at its start"),
                "members of a union all begin at its first bit, and are no lists",
            ))
        } else if count == Count::List && end != node.bits {
            Err(tag.fault(
                "high_bound",
                format!("the list {name} does not end {}", node.name),
                "a list of open length is the last field: correct its offset or its size",
            ))
        } else {
            Ok(Place { first, width, count, bits })
        }
    }

    /// The first (most significant) bit of a field, counted from the start of its node.
    fn first_bit(&self, tag: Tag<'_>, name: &str, width: u64, count: Count) -> Result<u64, Faults> {
        let text = tag.need("offset")?;
        let place = address(text).filter(|(byte, _)| byte.is_multiple_of(4));
        let Some((byte, bit)) = place else {
            return Err(tag.fault(
                "offset",
                format!("{text:?} is no address"),
                "write it as 0xBYTE.BIT: a multiple of 4, and a bit of the dword there, 0 the last",
            ));
        };
        let Some(dword) = byte.checked_mul(8).filter(|b| *b <= MAX_BITS) else {
            let message = format!("{name} lies past {} bytes", MAX_BITS / 8);
            return Err(tag.fault("offset", message, "no register is that long: correct it"));
        };
        if width >= 32 {
            // mstflint refuses the same.
            if !width.is_multiple_of(32) || bit != 0 {
                return Err(tag.fault(
                    "offset",
                    format!("{name} is {width} bits wide and not made of whole dwords"),
                    "what is wider than a dword is dwords, from bit 0 of one on",
                ));
            }
            return Ok(dword);
        }
        if count == Count::One && bit + width > 32 {
            return Err(tag.fault(
                "offset",
                format!("{name} crosses a dword: {width} bits, of which bit {bit} is the last"),
                "correct its offset or size: bit 0 is the dword's last",
            ));
        }
        if count != Count::One && !self.big_endian_arrays {
            return Err(tag.fault(
                "high_bound",
                format!("the order of the elements of {name} is not known"),
                "elements of less than 32 bits are read with config big_endian_arr=\"1\" only",
            ));
        }
        // Only then do elements follow each other without a gap.
        if count != Count::One && (32 % width != 0 || !bit.is_multiple_of(width)) {
            return Err(tag.fault(
                "offset",
                format!("elements of {width} bits from bit {bit} on do not fill dwords"),
                "elements are 1, 2, 4, 8 or 16 bits, and begin at a multiple of that",
            ));
        }
        Ok(dword + 32 - width - bit)
    }

    /// What a field holds.
    fn element(&self, tag: Tag<'_>, name: &str, width: u64) -> Result<Element, Faults> {
        let Some(subnode) = tag.get("subnode") else { return Ok(Element::Bits(width as u32)) };
        let Some(inner) = self.names.get(subnode).map(|at| &self.nodes[*at]) else {
            return Err(tag.fault(
                "subnode",
                format!("there is no node {subnode}"),
                "correct the name, or fetch the whole file",
            ));
        };
        if inner.bits != width {
            return Err(tag.fault(
                "size",
                format!("{name} is {width} bits long, and the node {subnode} {}", inner.bits),
                "correct one of the two",
            ));
        }
        Ok(match inner.number {
            true => Element::Bits(width as u32),
            false => Element::Layout(inner.name.clone()),
        })
    }
}

/// A node, before its fields are read.
struct Node<'a> {
    tag: Tag<'a>,
    fields: Vec<Tag<'a>>,
    name: String,
    kind: Kind,
    bits: u64,
    /// Whether it is a number rather than a layout.
    number: bool,
}

impl<'a> Node<'a> {
    fn new(tag: Tag<'a>) -> Result<Self, Faults> {
        tag.only(&["name", "descr", "size", "attr_is_union", "is_conditional"])?;
        let raw = tag.name()?;
        let bits = size(tag)?;
        if !bits.is_multiple_of(32) {
            return Err(tag.fault(
                "size",
                format!("{raw} is {bits} bits long, which is no whole number of dwords"),
                "correct the size: fields are counted from the end of a whole dword",
            ));
        }
        let kind = if tag.flag("attr_is_union")? { Kind::Union } else { Kind::Struct };
        let fields = tag.children()?;
        if fields.len() > MAX_FIELDS {
            let message = format!("{raw} has more than {MAX_FIELDS} fields");
            return Err(tag.fault("name", message, "no register has so many: write it as several"));
        }
        for field in &fields {
            if !field.is("field") {
                return Err(field.unknown("a node holds fields only"));
            }
            if let Some(inner) = field.children()?.first() {
                return Err(inner.unknown("a field holds nothing"));
            }
        }
        let number = match raw {
            "uint64" => bits == 64 && is_pair(&fields),
            "enum_entry" => bits <= 64 && fields.is_empty(),
            _ => false,
        };
        Ok(Node { tag, fields, name: layout_name(raw), kind, bits, number })
    }

    fn passed_over(&self) -> PassedOver {
        let label = format!("node {}", self.tag.get("name").unwrap_or_default());
        PassedOver { label, fault: None, origin: self.tag.place() }
    }
}

/// Where a field lies in its node, in bits.
struct Place {
    first: u64,
    /// Width of one element.
    width: u64,
    count: Count,
    /// All elements; one for a list.
    bits: u64,
}

/// Whether fields are two dwords `hi` and `lo` that say nothing else, so that one number of 64 bits
/// has all that they have.
fn is_pair(fields: &[Tag<'_>]) -> bool {
    let is = |field: &Tag<'_>, name, byte| {
        let place = |attribute| field.get(attribute).and_then(address);
        let said = field.xml.attributes().filter(|a| a.name() != "descr").count();
        field.get("name") == Some(name)
            && place("offset") == Some((byte, 0))
            && place("size") == Some((4, 0))
            && said == 3
    };
    matches!(fields, [hi, lo] if is(hi, "hi", 0) && is(lo, "lo", 4))
}

/// Whether a field of this name holds nothing.
fn is_reserved(name: &str) -> bool {
    ["reserved", "resereved", "resered", "reserverd", "rsvd"].iter().any(|r| name.starts_with(r))
}

/// Name of the layout that a node becomes.
fn layout_name(node: &str) -> String {
    let name = node.to_ascii_lowercase();
    name.strip_suffix("_ext").map(str::to_owned).unwrap_or(name)
}

/// The name of a value, with an underscore for whatever can't stand in a name.
fn value_name(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A number: hexadecimal after `0x`, else decimal. A zero before a decimal number is refused:
/// mstflint reads it as octal.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    let octal = radix == 10 && digits.len() > 1 && digits.starts_with('0');
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if octal || !plain { None } else { u64::from_str_radix(digits, radix).ok() }
}

/// An address or a size: bytes, and bits below 32.
fn address(text: &str) -> Option<(u64, u64)> {
    let (byte, bit) = text.split_once('.').unwrap_or((text, "0"));
    let bit = bit.parse().ok().filter(|b| *b < 32 && !bit.starts_with('+'))?;
    byte.starts_with("0x").then(|| number(byte))?.map(|byte| (byte, bit))
}

/// A size in bits that is believed, and not 0.
fn size(tag: Tag<'_>) -> Result<u64, Faults> {
    let text = tag.need("size")?;
    let Some((bytes, bits)) = address(text) else {
        return Err(tag.fault(
            "size",
            format!("{text:?} is no size"),
            "write bytes and bits as 0xBYTES.BITS, such as 0x4.0 or 0x0.8; bits are below 32",
        ));
    };
    let total = bytes.checked_mul(8).and_then(|b| b.checked_add(bits));
    match total.filter(|t| *t <= MAX_BITS) {
        Some(0) => Err(tag.fault("size", "its size is 0", "correct the size")),
        Some(total) => Ok(total),
        None => Err(tag.fault(
            "size",
            format!("{text} is longer than {} bytes", MAX_BITS / 8),
            "no register is that long: correct the size",
        )),
    }
}

/// How often a field's element is there. Bounds that are equal make no array, as in mstflint.
fn count(tag: Tag<'_>) -> Result<Count, Faults> {
    let (low, high) = (tag.get("low_bound"), tag.get("high_bound"));
    let list = high == Some("VARIABLE");
    if !list && (tag.flag("arr_is_dynamic")? || tag.get("size_condition").is_some()) {
        let help = "such an array has high_bound=\"VARIABLE\"";
        return Err(tag.fault("name", "an array without open length is dynamic", help));
    }
    match (low, high, low.and_then(number), high.and_then(number)) {
        (None, None, ..) => Ok(Count::One),
        (_, _, Some(_), _) if list => Ok(Count::List),
        (_, _, Some(low), Some(high)) if low == high => Ok(Count::One),
        (_, _, Some(low), Some(high)) if low < high && high - low < MAX_BITS => {
            Ok(Count::Array((high - low + 1) as u32))
        }
        _ => Err(tag.fault(
            "high_bound",
            "these are no bounds of an array",
            "write low_bound and high_bound, the lower number first, or VARIABLE for a list",
        )),
    }
}

/// Who may read and write a field.
fn access(tag: Tag<'_>) -> Result<Option<Access>, Faults> {
    let Some(text) = tag.get("access") else { return Ok(None) };
    let found = Access::ALL.into_iter().find(|a| a.name() == text);
    found.map(Some).ok_or_else(|| {
        let help = "it is RO, RW, WO, OP or INDEX";
        tag.fault("access", format!("there is no access {text:?}"), help)
    })
}

/// The field that tells which member of a union counts.
fn selector(tag: Tag<'_>) -> Result<Option<String>, Faults> {
    let Some(text) = tag.get("union_selector") else { return Ok(None) };
    let path = text.strip_prefix(PARENT).map(str::to_ascii_lowercase);
    path.map(Some).ok_or_else(|| {
        let help = "a selector is a field of the same node: $(parent).name";
        tag.fault("union_selector", format!("{text:?} names no field"), help)
    })
}

/// When a member of a union counts: a value of the selector, or a condition.
fn when(tag: Tag<'_>) -> Result<Option<String>, Faults> {
    match (tag.get("selected_by"), tag.get("condition")) {
        (Some(_), Some(_)) => Err(tag.fault(
            "condition",
            "a field has both selected_by and condition",
            "remove the one that does not count",
        )),
        (Some(value), None) => Ok(Some(value_name(value))),
        (None, text) => Ok(text.map(condition)),
    }
}

/// A condition in one line, and with fields called as the model calls them.
fn condition(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = line.split(PARENT);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let (path, rest) = part.split_at(part.find(|c| !is_path(c)).unwrap_or(part.len()));
        out.push_str(&path.to_ascii_lowercase());
        out.push_str(rest);
    }
    out
}

/// The named values of a field: `A=0x1,B=0x2`. One number may have several names; a name that is
/// told twice is kept once.
fn values(tag: Tag<'_>, name: &str, element: &Element) -> Result<Vec<FieldValue>, Faults> {
    let Some(text) = tag.get("enum") else { return Ok(Vec::new()) };
    let Element::Bits(width) = element else {
        let help = "names of values belong to a number";
        return Err(tag.fault("enum", format!("{name} is no number and has an enum"), help));
    };
    let mut faults = Faults::default();
    let mut values: Vec<FieldValue> = Vec::new();
    let mut known: HashMap<String, u64> = HashMap::new();
    let mut start = 0;
    for part in text.split(',') {
        if faults.0.len() >= MAX_FAULTS {
            break;
        }
        let span = start..start + part.len();
        let place = || tag.within("enum", span.clone());
        start = span.end + 1;
        let pair = part.split_once('=').map(|(n, v)| (value_name(n), number(v.trim())));
        let Some((name, Some(value))) = pair.filter(|(n, _)| n.contains(|c| c != '_')) else {
            faults.add(
                &place(),
                format!("{part:?} is no named value"),
                "write names and numbers as NAME=0x1, with commas between",
            );
            continue;
        };
        if *width < 64 && value >> width != 0 {
            let message = format!("{name} = {value:#x} does not fit {width} bits");
            faults.add(&place(), message, "correct the value, or the size of the field");
        }
        match known.insert(name.clone(), value) {
            None => values.push(FieldValue { name, value }),
            Some(other) if other == value => {}
            Some(other) => {
                let message = format!("{name} is both {other:#x} and {value:#x}");
                faults.add(&place(), message, "rename one of the two");
            }
        }
    }
    faults.or(values)
}
