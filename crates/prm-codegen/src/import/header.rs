//! Public C headers in the dialects of `mlx5_ifc.h`.
//!
//! In those dialects one `u8` stands for one bit, so a struct's size in bytes is the layout's size
//! in bits, and `offsetof` is a bit offset.

use std::collections::{HashMap, HashSet};

use super::expr::Names;
use super::parser::{self, Body, Definition, Enum, Member, Type};
use super::{HeaderFile, PassedOver, Reading};
use crate::fault::{Faults, Origin};
use crate::model::{Count, Element, EnumValue, Enumeration, Field, Kind, Layout};

/// The largest layout that is believed, in bits: 1 MiB.
const MAX_BITS: u64 = 8 << 20;

/// How many faults of one layout, and of one header, are told before the rest is left.
const FAULTS: usize = 100;

/// Reads the headers of one source, in the order given.
///
/// A struct must be defined before it is used, as in C, in this header or one before it. If
/// `lenient`, a layout that is at fault is passed over.
///
/// # Errors
/// Every fault that could be found; a header whose grammar is broken gives its first one only.
pub(super) fn read(files: &[HeaderFile], lenient: bool) -> Result<Reading, Faults> {
    let mut faults = Faults::default();
    let mut names = Names::default();
    let mut lowering = Lowering::default();
    let mut enums = Vec::new();
    let mut passed_over = Vec::new();
    for file in files {
        let Some(header) = faults.take(parser::parse(file, &mut names, lenient)) else { continue };
        let before = faults.0.len();
        for Definition { tag, body, place } in header.definitions {
            if faults.0.len() - before >= FAULTS {
                faults.add(
                    &place,
                    format!("{FAULTS} faults were found above; what follows is not looked at"),
                    "correct those first",
                );
                break;
            }
            match lowering.definition(&tag, body, &place) {
                Err(wrong) if lenient => {
                    let label = parser::prm_name(&tag).unwrap_or(&tag).to_owned();
                    let fault = Some(wrong.0[0].message.clone());
                    passed_over.push(PassedOver { label, fault, origin: place });
                }
                result => drop(faults.take(result)),
            }
        }
        enums.extend(header.enums);
        passed_over.extend(header.passed_over);
    }
    let enums = enumerations(enums);
    faults.or(Reading { layouts: lowering.layouts, enums, registers: Vec::new(), passed_over })
}

/// Whether a field of this name holds nothing. The headers misspell it in three ways.
fn is_reserved(name: &str) -> bool {
    ["reserved", "resereved", "resered", "reserverd", "rsvd"].iter().any(|r| name.starts_with(r))
}

/// PRM name of the layout with a C tag.
fn prm_name(tag: &str, place: &Origin) -> Result<String, Faults> {
    parser::prm_name(tag).map(str::to_owned).ok_or_else(|| {
        Faults::one(
            place,
            format!("{tag} is no layout: it is not named mlx5_ifc_* or *_bits"),
            "the members of layouts are bits and layouts",
        )
    })
}

/// From what C says to positions.
#[derive(Default)]
struct Lowering {
    layouts: Vec<Layout>,
    /// Kind and size in bits of each layout, by PRM name; `None` for one that is itself at fault.
    known: HashMap<String, Option<(Kind, u64)>>,
}

impl Lowering {
    /// Lowers one struct or union. One that is at fault leaves nothing but its name.
    fn definition(
        &mut self,
        tag: &str,
        body: Result<Body, Faults>,
        place: &Origin,
    ) -> Result<(), Faults> {
        let name = prm_name(tag, place)?;
        if self.known.contains_key(&name) {
            return Err(Faults::one(
                place,
                format!("the layout {name} is defined twice"),
                "remove one of the two, or import the headers of one version only",
            ));
        }
        self.known.insert(name.clone(), None);
        let before = self.layouts.len();
        let lowered = body.and_then(|body| Ok((body.kind, self.layout(&name, &body, place)?)));
        match lowered {
            Ok(known) => {
                self.known.insert(name, Some(known));
                Ok(())
            }
            Err(faults) => {
                // Nor do those that are written in place in it.
                for inner in self.layouts.drain(before..) {
                    self.known.insert(inner.name, None);
                }
                Err(faults)
            }
        }
    }

    /// Lowers one body to a layout of its own and gives its size in bits.
    fn layout(&mut self, name: &str, body: &Body, place: &Origin) -> Result<u64, Faults> {
        let mut fields = Vec::new();
        let bits = self.members(name, body, 0, false, None, &mut fields)?;
        if !bits.is_multiple_of(8) {
            return Err(Faults::one(
                place,
                format!("{name} is {bits} bits long, which is no whole number of bytes"),
                "a width in it is wrong: compare it with the PRM",
            ));
        }
        let bytes = (bits / 8) as u32;
        let mut seen = HashSet::new();
        if let Some(twice) = fields.iter().find(|f| !seen.insert(f.name.clone())) {
            return Err(Faults::one(
                &twice.origin,
                format!("{name} has two fields called {}", twice.name),
                "rename one of the two",
            ));
        }
        self.layouts.push(Layout {
            name: name.to_owned(),
            kind: body.kind,
            bytes,
            fields,
            family: String::new(),
            from: Vec::new(),
            origin: place.clone(),
        });
        Ok(bits)
    }

    /// Lowers members that begin at bit `base`; gives how many bits they take.
    ///
    /// `unnamed` tells that the members belong to the layout around them, and `anchor` is the
    /// field whose place they share there.
    fn members(
        &mut self,
        layout: &str,
        body: &Body,
        base: u64,
        unnamed: bool,
        anchor: Option<&str>,
        fields: &mut Vec<Field>,
    ) -> Result<u64, Faults> {
        let mut faults = Faults::default();
        let mut taken = 0;
        let mut anchor = anchor.map(str::to_owned);
        // The fields of the first arm of an unnamed union.
        let mut first_arm = 0..0;
        for member in &body.members {
            if faults.0.len() >= FAULTS {
                break;
            }
            let at = if body.kind == Kind::Struct { base + taken } else { base };
            let first = fields.len();
            let Some(bits) =
                faults.take(self.member(layout, member, at, anchor.as_deref(), fields))
            else {
                continue;
            };
            if at + bits > MAX_BITS {
                faults.add(
                    &member.place,
                    format!("{layout} is longer than {} bytes here", MAX_BITS / 8),
                    "no mailbox is that long: correct the size",
                );
                break;
            }
            taken = if body.kind == Kind::Struct { taken + bits } else { taken.max(bits) };
            // Later arms of an unnamed union lie over the first field of the first one.
            if unnamed && body.kind == Kind::Union && anchor.is_none() {
                anchor = fields.get(first).map(|f| f.name.clone());
                first_arm = first..fields.len();
            }
        }
        // So do the other fields of the first one, where a later one lies over them.
        let (before, later) = fields.split_at_mut(first_arm.end);
        for field in before[first_arm].iter_mut().skip(1) {
            if later.iter().any(|l| l.bit < self.end(field) && field.bit < self.end(l)) {
                field.overlays.clone_from(&anchor);
            }
        }
        faults.or(taken)
    }

    fn member(
        &mut self,
        layout: &str,
        member: &Member,
        at: u64,
        anchor: Option<&str>,
        fields: &mut Vec<Field>,
    ) -> Result<u64, Faults> {
        let Some(name) = &member.name else {
            let Type::Inline(body) = &member.type_ else {
                unreachable!("only an inline body has no name")
            };
            return self.members(layout, body, at, true, anchor, fields);
        };
        let (element, bits, sizes) = match &member.type_ {
            Type::Bit => match member.sizes.as_slice() {
                [] => (Element::Bits(1), 1, &[][..]),
                // A list of bits of no stated shape: its element is taken to be the byte.
                [None] => (Element::Bits(8), 8, &member.sizes[..]),
                [rest @ .., Some(width)] => (Element::Bits(*width as u32), *width, rest),
                _ => return Err(self.shape(member)),
            },
            Type::Tag(kind, tag) => {
                let inner = prm_name(tag, &member.place)?;
                let bits = self.size_of(&inner, *kind, member)?;
                (Element::Layout(inner), bits, &member.sizes[..])
            }
            Type::Inline(body) => {
                let inner = format!("{layout}_{name}");
                if self.known.contains_key(&inner) {
                    return Err(Faults::one(
                        &member.place,
                        format!("the layout {inner} is defined twice"),
                        "rename the field whose type is written in place",
                    ));
                }
                let bits = self.layout(&inner, body, &member.place)?;
                self.known.insert(inner.clone(), Some((body.kind, bits)));
                (Element::Layout(inner), bits, &member.sizes[..])
            }
        };
        if bits > MAX_BITS {
            return Err(Faults::one(
                &member.place,
                format!(
                    "{name} is {bits} bits wide; the longest layout believed is {MAX_BITS} bits"
                ),
                "correct the width",
            ));
        }
        let (count, total) = match sizes {
            [] => (Count::One, bits),
            [None] => (Count::List, 0),
            [Some(n)] => {
                let total = n.checked_mul(bits).filter(|t| *t <= MAX_BITS).ok_or_else(|| {
                    Faults::one(
                        &member.place,
                        format!("{name}[{n}] is longer than {} bytes", MAX_BITS / 8),
                        "correct the number of elements",
                    )
                })?;
                (Count::Array(*n as u32), total)
            }
            _ => return Err(self.shape(member)),
        };
        if is_reserved(name) {
            return Ok(total);
        }
        if bits == 0 && count != Count::One {
            return Err(Faults::one(
                &member.place,
                format!("the elements of {name} are 0 bits wide"),
                "correct the width",
            ));
        }
        if at > MAX_BITS {
            return Err(Faults::one(
                &member.place,
                format!("{name} lies past {} bytes", MAX_BITS / 8),
                "correct the sizes",
            ));
        }
        fields.push(Field {
            name: name.clone(),
            bit: at as u32,
            element,
            count,
            overlays: anchor.map(str::to_owned),
            access: None,
            values: Vec::new(),
            selector: None,
            when: None,
            from: Vec::new(),
            origin: member.place.clone(),
        });
        Ok(total)
    }

    /// The bit behind a field.
    fn end(&self, field: &Field) -> u32 {
        let bits = match &field.element {
            Element::Bits(bits) => u64::from(*bits),
            Element::Layout(name) => self.known.get(name).copied().flatten().map_or(0, |k| k.1),
        };
        match field.count {
            // Neither is longer than `MAX_BITS`.
            Count::One => field.bit + bits as u32,
            Count::Array(n) => field.bit + bits as u32 * n,
            Count::List => u32::MAX,
        }
    }

    fn shape(&self, member: &Member) -> Faults {
        Faults::one(
            &member.place,
            "this shape of array is not understood",
            "fields are [width], [count][width] or [][width]; structs are [count] or []",
        )
    }

    fn size_of(&self, name: &str, kind: Kind, member: &Member) -> Result<u64, Faults> {
        match self.known.get(name) {
            Some(Some((k, bits))) if *k == kind => Ok(*bits),
            Some(Some(_)) => Err(Faults::one(
                &member.place,
                match kind {
                    Kind::Struct => format!("{name} is a union, and a struct is written here"),
                    Kind::Union => format!("{name} is a struct, and a union is written here"),
                },
                "write the keyword that its definition has",
            )),
            // Its own fault is told where it is defined.
            Some(None) => Err(Faults::one(
                &member.place,
                format!("{name} is not complete here"),
                "a layout can't hold itself, nor one that is at fault",
            )),
            None => Err(Faults::one(
                &member.place,
                format!("{name} is not defined above this line"),
                "import the header that defines it together with this one, before it",
            )),
        }
    }
}

/// Enums as the model has them. One without a tag is called by the common beginning of its values.
fn enumerations(enums: Vec<Enum>) -> Vec<Enumeration> {
    let mut taken: HashMap<String, u32> = HashMap::new();
    enums
        .into_iter()
        .filter(|e| !e.values.is_empty())
        .map(|e| {
            let name = e.tag.unwrap_or_else(|| common_beginning(&e.values));
            let n = taken.entry(name.clone()).or_default();
            *n += 1;
            Enumeration {
                name: if *n == 1 { name } else { format!("{name}_{n}") },
                values: e
                    .values
                    .into_iter()
                    .map(|(name, value, origin)| EnumValue {
                        name,
                        value: value as i64,
                        from: Vec::new(),
                        origin,
                    })
                    .collect(),
                from: Vec::new(),
                origin: e.place,
            }
        })
        .collect()
}

/// The words (between underscores) that all names begin with, in lower case; the whole first
/// name where they share none.
fn common_beginning(values: &[(String, i128, Origin)]) -> String {
    let first: Vec<&str> = values[0].0.split('_').collect();
    let shared = values.iter().fold(first.len(), |shared, (name, ..)| {
        first.iter().zip(name.split('_')).take(shared).take_while(|(a, b)| **a == *b).count()
    });
    let shared = if shared == 0 { first.len() } else { shared };
    first[..shared].join("_").to_lowercase()
}
