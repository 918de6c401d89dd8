//! The layouts of the headers, read from the debug information gcc writes for them.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;

use gimli::constants as dw;
use object::{Object, ObjectSection};

use crate::CLayout;
use crate::headers::{PRELUDE, finish, gcc};
use crate::spec::{Count, Element, Field};

/// Place of an entry in the debug information.
type At = gimli::UnitOffset<usize>;
/// A borrowed section.
type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;

/// What we need of one entry of the debug information.
struct Entry {
    tag: gimli::DwTag,
    name: Option<String>,
    declaration: bool,
    /// Size in bytes, where it has one.
    size: Option<u64>,
    /// Its type, where it has one.
    of: Option<At>,
    /// Of a member: where it is. 0 in a union.
    location: u64,
    /// Of a dimension of an array: its length; none or 0 if open.
    length: Option<u64>,
    children: Vec<At>,
}

/// Every struct and union of the headers in `header_dir`, in the order of the headers; types
/// written in place follow the outer one.
pub(crate) fn c_layouts(header_dir: &Path) -> Result<Vec<CLayout>, String> {
    let scratch = tempfile::tempdir()
        .map_err(|e| format!("no temporary folder ({e}); make room, or set TMPDIR"))?;
    let (source, binary) = (scratch.path().join("headers.c"), scratch.path().join("headers.so"));
    write(&source, PRELUDE)?;
    // Linked, so that the debug information has no relocations left in it.
    let child = gcc(header_dir)?
        .args(["-g", "-gz=none", "-fno-eliminate-unused-debug-types"])
        .args(["-shared", "-nostdlib", "-fPIC", "-o"])
        .args([&binary, &source])
        .stderr(Stdio::piped())
        .spawn();
    finish("the kernel headers", child)?;
    let data = std::fs::read(&binary).map_err(|e| format!("{}: {e}", binary.display()))?;
    read_debug_info(&data).map_err(|e| format!("debug information of the kernel headers: {e}"))
}

/// Writes a file, with the path in the error.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: cannot write ({e})", path.display()))
}

fn read_debug_info(binary: &[u8]) -> Result<Vec<CLayout>, String> {
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
    let mut layouts = Vec::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(|e| e.to_string())? {
        let unit = dwarf.unit(header).map_err(|e| e.to_string())?;
        let (entries, order) = read_entries(&dwarf, &unit).map_err(|e| e.to_string())?;
        layouts.extend(Reader { entries }.layouts(&order)?);
    }
    Ok(layouts)
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
            location: number(dw::DW_AT_data_member_location).unwrap_or(0),
            length: number(dw::DW_AT_count)
                .or_else(|| number(dw::DW_AT_upper_bound).map(|last| last + 1)),
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

/// Turns entries into layouts.
struct Reader {
    entries: HashMap<At, Entry>,
}

impl Reader {
    fn layouts(&self, order: &[At]) -> Result<Vec<CLayout>, String> {
        let mut layouts = Vec::new();
        for at in order {
            let entry = self.entry(*at)?;
            let (Some(tag), Some(keyword)) = (&entry.name, keyword(entry.tag)) else { continue };
            if entry.declaration {
                continue;
            }
            let Some(name) = layout_name(tag) else {
                return Err(format!("{keyword} {tag} has no mlx5_ifc_ before its name"));
            };
            let c_type = format!("{keyword} {tag}");
            self.layout(name, tag.clone(), c_type, false, entry, &mut layouts)?;
        }
        Ok(layouts)
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
                    return Err(format!("{}: a member without a name", layout.c_type));
                }
                self.members(of, bit, layout, in_place)?;
                continue;
            };
            if ["reserved", "resereved", "rsvd"].iter().any(|prefix| name.starts_with(prefix)) {
                layout.reserved += 1;
                continue;
            }
            let (element, count) = self
                .element(of)
                .map_err(|e| format!("{}.{name}: {e}; teach dwarf.rs about it", layout.c_type))?;
            let element = match element {
                Some(element) => element,
                None if count == Count::One => {
                    in_place.push((name.clone(), of));
                    Element::Layout(format!("{}_{name}", layout.name))
                }
                None => return Err(format!("{}.{name}: array of a type in place", layout.c_type)),
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
                Some(tag) => Some(Element::Layout(
                    layout_name(tag).ok_or_else(|| format!("{tag} is no layout"))?,
                )),
                None => None,
            };
            return match dimensions[..] {
                [] => Ok((element, Count::One)),
                [length] => Ok((element, count(length))),
                _ => Err("an array of more dimensions of a struct".into()),
            };
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

/// The name of the layout a C tag stands for.
fn layout_name(tag: &str) -> Option<String> {
    let name = tag.strip_prefix("mlx5_ifc_")?;
    Some(name.strip_suffix("_bits").unwrap_or(name).to_owned())
}
