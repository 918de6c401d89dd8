//! What gcc sees in headers: layouts and enumerators, read from the debug information that it writes
//! for them. So the compiler, and no parser of ours, enumerates them.

use std::collections::{HashMap, HashSet};
use std::process::Stdio;

use gimli::constants as dw;
use object::{Object, ObjectSection};

use super::{Headers, file_name, finish, gcc, scratch, write};
use crate::spec::{Count, Element, Field};

/// What gcc sees in the headers of one source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The layouts, in the order of the headers; those written in place follow the outer one.
    pub(crate) layouts: Vec<CLayout>,
    /// What is called like a layout, and can't be one.
    pub(crate) faulty: Vec<Faulty>,
    /// The enumerations: their enumerators and the values of those.
    pub(crate) enumerations: Vec<Vec<(String, i64)>>,
}

/// A struct or union of the C headers, as gcc laid it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CLayout {
    /// The name of the layout: the tag without what stands around it; of a type written in place,
    /// `outer_member`.
    pub(crate) name: String,
    /// The C tag; of a type written in place, the tag of the outer one, a dot, and the member.
    pub(crate) tag: String,
    /// An expression that names the type in C.
    pub(crate) c_type: String,
    /// Whether it is a union.
    pub(crate) is_union: bool,
    /// Whether it is a type without a tag, written in place with a member name.
    pub(crate) inline: bool,
    /// The size in bits.
    pub(crate) bits: u64,
    /// The fields that are not reserved, in the order of the header; members of unnamed inner
    /// structs and unions are among them.
    pub(crate) fields: Vec<Field>,
    /// How many reserved fields it has.
    pub(crate) reserved: usize,
}

/// A struct or union that is called like a layout, and can't be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Faulty {
    /// Its name, as of a layout.
    pub(crate) name: String,
    /// Why it is none.
    pub(crate) why: String,
}

/// Why something that is called like a layout is none: a pointer is in it.
pub(crate) const POINTER: &str = "a pointer";
/// The same: it holds another one that is none.
pub(crate) const HOLDS_FAULTY: &str = "holds what is no layout";

/// Why something that is called like a layout is none: it ends within a byte.
fn odd_size(bits: u64) -> String {
    format!("{bits} bits long")
}

/// What the names of fields that hold nothing begin with. The headers misspell it in three ways.
const RESERVED: [&str; 5] = ["reserved", "resereved", "resered", "reserverd", "rsvd"];

/// Place of an entry in the debug information.
type At = gimli::UnitOffset<usize>;
/// A borrowed section.
type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;

/// What we need of one entry of the debug information.
struct Entry {
    tag: gimli::DwTag,
    name: Option<String>,
    declaration: bool,
    /// The file it stands in, by number.
    file: Option<u64>,
    /// Size in bytes, where it has one.
    size: Option<u64>,
    /// Its type, where it has one.
    of: Option<At>,
    /// Of a member: where it is. 0 in a union.
    location: u64,
    /// Of a dimension of an array: its length; none or 0 if open.
    length: Option<u64>,
    /// Of an enumerator: its value.
    value: Option<i64>,
    children: Vec<At>,
}

/// What gcc sees in these headers.
pub(crate) fn see(headers: &Headers) -> Result<Seen, String> {
    let scratch = scratch();
    let (source, binary) = (scratch.path().join("headers.c"), scratch.path().join("headers.so"));
    write(&source, &headers.prepare(scratch.path())?)?;
    // Linked, so that the debug information has no relocations left in it.
    let child = gcc(scratch.path())
        .args(["-g", "-gz=none", "-fno-eliminate-unused-debug-types"])
        .args(["-shared", "-nostdlib", "-fPIC", "-o"])
        .args([&binary, &source])
        .stderr(Stdio::piped())
        .spawn();
    finish(&format!("the headers of {}", headers.name), child)?;
    let data = std::fs::read(&binary).map_err(|e| format!("{}: {e}", binary.display()))?;
    read_debug_info(&data, headers)
        .map_err(|e| format!("debug information of {}: {e}", headers.name))
}

fn read_debug_info(binary: &[u8], headers: &Headers) -> Result<Seen, String> {
    let file = object::File::parse(binary).map_err(|e| e.to_string())?;
    let endian = if file.is_little_endian() {
        gimli::RunTimeEndian::Little
    } else {
        gimli::RunTimeEndian::Big
    };
    let sections = gimli::DwarfSections::load(|id| match file.section_by_name(id.name()) {
        Some(section) => section.uncompressed_data().map_err(|e| format!("{}: {e}", id.name())),
        None => Ok(Default::default()),
    })?;
    let dwarf = sections.borrow(|data| gimli::EndianSlice::new(data, endian));
    let mut seen = Seen::default();
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(|e| e.to_string())? {
        let unit = dwarf.unit(header).map_err(|e| e.to_string())?;
        let (entries, order) = read_entries(&dwarf, &unit).map_err(|e| e.to_string())?;
        let files = file_names(&dwarf, &unit).map_err(|e| e.to_string())?;
        Reader { entries, files, headers }.read(&order, &mut seen)?;
    }
    seen.remove_holders();
    Ok(seen)
}

/// The files of a unit, by number, without the folders they lie in.
fn file_names(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
) -> gimli::Result<HashMap<u64, String>> {
    let mut names = HashMap::new();
    let Some(program) = &unit.line_program else { return Ok(names) };
    let header = program.header();
    for number in 0..=header.file_names().len() as u64 {
        let Some(file) = header.file(number) else { continue };
        let path = dwarf.attr_string(unit, file.path_name())?.to_string_lossy().into_owned();
        names.insert(number, path.rsplit('/').next().unwrap_or(&path).to_owned());
    }
    Ok(names)
}

impl Seen {
    /// All enumerators.
    pub(crate) fn enumerators(&self) -> impl Iterator<Item = &(String, i64)> {
        self.enumerations.iter().flatten()
    }

    /// Takes what holds something faulty for faulty too.
    fn remove_holders(&mut self) {
        let mut faulty: HashSet<String> = self.faulty.iter().map(|f| f.name.clone()).collect();
        loop {
            let holds = |layout: &CLayout| {
                let mut fields = layout.fields.iter();
                fields.any(|f| matches!(&f.element, Element::Layout(name) if faulty.contains(name)))
            };
            let Some(i) = self.layouts.iter().position(holds) else { return };
            let CLayout { name, .. } = self.layouts.remove(i);
            faulty.insert(name.clone());
            self.faulty.push(Faulty { name, why: HOLDS_FAULTY.to_owned() });
        }
    }
}

/// All entries of a unit, and their order.
fn read_entries(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
) -> gimli::Result<(HashMap<At, Entry>, Vec<At>)> {
    let mut entries: HashMap<At, Entry> = HashMap::new();
    let mut order = Vec::new();
    let mut path: Vec<(isize, At)> = Vec::new();
    let mut cursor = unit.entries();
    while let Some(die) = cursor.next_dfs()? {
        let number = |at| die.attr_value(at).and_then(|value| value.udata_value());
        let entry = Entry {
            tag: die.tag(),
            name: match die.attr_value(dw::DW_AT_name) {
                Some(name) => Some(dwarf.attr_string(unit, name)?.to_string_lossy().into_owned()),
                None => None,
            },
            declaration: die.attr(dw::DW_AT_declaration).is_some(),
            size: number(dw::DW_AT_byte_size),
            of: match die.attr_value(dw::DW_AT_type) {
                Some(gimli::AttributeValue::UnitRef(at)) => Some(at),
                _ => None,
            },
            file: match die.attr_value(dw::DW_AT_decl_file) {
                Some(gimli::AttributeValue::FileIndex(number)) => Some(number),
                _ => None,
            },
            location: number(dw::DW_AT_data_member_location).unwrap_or(0),
            length: number(dw::DW_AT_count)
                .or_else(|| number(dw::DW_AT_upper_bound).map(|last| last + 1)),
            value: die.attr_value(dw::DW_AT_const_value).and_then(constant),
            children: Vec::new(),
        };
        while path.last().is_some_and(|(depth, _)| *depth >= die.depth()) {
            path.pop();
        }
        if let Some((_, parent)) = path.last()
            && let Some(parent) = entries.get_mut(parent)
        {
            parent.children.push(die.offset());
        }
        path.push((die.depth(), die.offset()));
        order.push(die.offset());
        entries.insert(die.offset(), entry);
    }
    Ok((entries, order))
}

/// The value of an enumerator. gcc writes those below 0 with a sign, and the others without.
fn constant(value: gimli::AttributeValue<Slice<'_>>) -> Option<i64> {
    match value {
        gimli::AttributeValue::Sdata(value) => Some(value),
        value => value.udata_value().map(|value| value as i64),
    }
}

/// Turns entries into layouts and enumerators.
struct Reader<'a> {
    entries: HashMap<At, Entry>,
    files: HashMap<u64, String>,
    headers: &'a Headers,
}

impl Reader<'_> {
    fn read(&self, order: &[At], seen: &mut Seen) -> Result<(), String> {
        for at in order {
            let entry = self.entry(*at)?;
            let file = entry.file.and_then(|number| self.files.get(&number));
            let Some(file) = file.filter(|_| !entry.declaration) else { continue };
            let layouts = self.headers.files.iter().any(|path| file_name(path) == *file);
            let takes = self.headers.takes.iter().find(|(path, _)| file_name(path) == *file);
            if entry.tag == dw::DW_TAG_enumeration_type && (layouts || takes.is_some()) {
                let takes = takes.map(|(_, takes)| &takes[..]);
                seen.enumerations.push(self.enumerators(entry, takes)?);
            }
            let (Some(tag), Some(keyword)) = (&entry.name, keyword(entry.tag)) else { continue };
            if let Some(name) = layout_name(tag).filter(|_| layouts) {
                let (name, c_type) = (name.to_owned(), format!("{keyword} {tag}"));
                let mut new = Vec::new();
                match self.layout(name.clone(), tag.clone(), c_type, false, entry, &mut new) {
                    Ok(()) => seen.layouts.append(&mut new),
                    Err(why) => seen.faulty.push(Faulty { name, why }),
                }
            }
        }
        Ok(())
    }

    /// The enumerators of an enumeration; those with one of the beginnings `takes`, if told.
    fn enumerators(
        &self,
        entry: &Entry,
        takes: Option<&[String]>,
    ) -> Result<Vec<(String, i64)>, String> {
        let mut enumerators = Vec::new();
        for at in &entry.children {
            let child = self.entry(*at)?;
            let (Some(name), Some(value)) = (&child.name, child.value) else {
                return Err("an enumerator without a name and a value".into());
            };
            let taken = takes.is_none_or(|takes| takes.iter().any(|t| name.starts_with(&**t)));
            if taken && !self.headers.is_foreign(name) {
                enumerators.push((name.clone(), value));
            }
        }
        Ok(enumerators)
    }

    /// Adds one layout, and then the ones written in place inside it.
    fn layout(
        &self,
        name: String,
        tag: String,
        c_type: String,
        inline: bool,
        entry: &Entry,
        layouts: &mut Vec<CLayout>,
    ) -> Result<(), String> {
        let bits = entry.size.ok_or_else(|| format!("{c_type} has no size"))?;
        if !bits.is_multiple_of(8) {
            return Err(odd_size(bits));
        }
        let is_union = entry.tag == dw::DW_TAG_union_type;
        let (fields, reserved) = (Vec::new(), 0);
        let mut new = CLayout { name, tag, c_type, is_union, inline, bits, fields, reserved };
        let mut in_place = Vec::new();
        self.members(entry, 0, &mut new, &mut in_place)?;
        let outer = (new.name.clone(), new.tag.clone(), new.c_type.clone());
        layouts.push(new);
        for (member, entry) in in_place {
            let (name, tag) = (format!("{}_{member}", outer.0), format!("{}.{member}", outer.1));
            let c_type = format!("__typeof__((({} *)0)->{member})", outer.2);
            self.layout(name, tag, c_type, true, entry, layouts)?;
        }
        Ok(())
    }

    /// Adds the members of a struct or union to `layout`, those of unnamed inner ones included;
    /// members whose type is written in place also to `in_place`.
    fn members<'a>(
        &'a self,
        entry: &Entry,
        base: u64,
        layout: &mut CLayout,
        in_place: &mut Vec<(String, &'a Entry)>,
    ) -> Result<(), String> {
        for at in &entry.children {
            let member = self.entry(*at)?;
            if member.tag != dw::DW_TAG_member {
                continue;
            }
            let bit = base + member.location;
            let of = self.type_of(member)?;
            let Some(name) = member.name.clone() else {
                if keyword(of.tag).is_none() {
                    return Err("a member has no name".into());
                }
                self.members(of, bit, layout, in_place)?;
                continue;
            };
            if RESERVED.iter().any(|beginning| name.starts_with(beginning)) {
                layout.reserved += 1;
                continue;
            }
            let (element, count) = self.element(of)?;
            let element = match element {
                Some(element) => element,
                None if count == Count::One => {
                    in_place.push((name.clone(), of));
                    Element::Layout(format!("{}_{name}", layout.name))
                }
                None => return Err(format!("{name} is an array of a type in place")),
            };
            layout.fields.push(Field { name, bit, element, count });
        }
        Ok(())
    }

    /// What a member of this type holds. No element: a struct or union written in place.
    fn element(&self, of: &Entry) -> Result<(Option<Element>, Count), String> {
        let mut dimensions = Vec::new();
        let mut inner = of;
        while inner.tag == dw::DW_TAG_array_type {
            for at in &inner.children {
                let child = self.entry(*at)?;
                if child.tag == dw::DW_TAG_subrange_type {
                    dimensions.push(child.length.filter(|length| *length != 0));
                }
            }
            inner = self.type_of(inner)?;
        }
        let count = |length: Option<u64>| length.map_or(Count::List, Count::Array);
        if keyword(inner.tag).is_some() {
            let element = match &inner.name {
                Some(tag) => match layout_name(tag) {
                    Some(name) => Some(Element::Layout(name.to_owned())),
                    None => return Err(HOLDS_FAULTY.to_owned()),
                },
                None => None,
            };
            return match dimensions[..] {
                [] => Ok((element, Count::One)),
                [length] => Ok((element, count(length))),
                _ => Err("an array of more dimensions of a struct".into()),
            };
        }
        if inner.tag == dw::DW_TAG_pointer_type {
            return Err(POINTER.to_owned());
        }
        if inner.tag != dw::DW_TAG_base_type || inner.size != Some(1) {
            return Err(format!("a type that is neither u8 nor a struct ({})", inner.tag));
        }
        let (width, count) = match dimensions[..] {
            [] => (1, Count::One),
            [None] => (8, Count::List),
            [Some(width)] => (width, Count::One),
            [length, Some(width)] => (width, count(length)),
            _ => return Err("an array of u8 of more than two dimensions".into()),
        };
        Ok((Some(Element::Bits(width)), count))
    }

    /// The type of an entry, with names for types (`typedef`) and `const` taken away.
    fn type_of(&self, entry: &Entry) -> Result<&Entry, String> {
        let mut of = self.entry(entry.of.ok_or("an entry without a type")?)?;
        while of.tag == dw::DW_TAG_typedef || of.tag == dw::DW_TAG_const_type {
            of = self.entry(of.of.ok_or("a typedef without a type")?)?;
        }
        Ok(of)
    }

    fn entry(&self, at: At) -> Result<&Entry, String> {
        self.entries.get(&at).ok_or_else(|| format!("no entry at {:#x}", at.0))
    }
}

/// `struct` or `union`, if it is one.
fn keyword(tag: gimli::DwTag) -> Option<&'static str> {
    match tag {
        dw::DW_TAG_structure_type => Some("struct"),
        dw::DW_TAG_union_type => Some("union"),
        _ => None,
    }
}

/// The name of the layout a C tag stands for: `mlx5_ifc_NAME` with or without `_bits` behind it,
/// `uct_ib_mlx5_NAME_bits`, or `NAME_bits`.
fn layout_name(tag: &str) -> Option<&str> {
    let bits = tag.strip_suffix("_bits");
    match tag.strip_prefix("mlx5_ifc_") {
        Some(name) => Some(name.strip_suffix("_bits").unwrap_or(name)),
        None => bits.map(|name| name.strip_prefix("uct_ib_mlx5_").unwrap_or(name)),
    }
}
