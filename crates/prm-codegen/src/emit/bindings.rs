//! What fields mean: which enumeration, flags or number each has, worked out once.

use std::collections::HashMap;

use super::accessors::number_type;
use crate::model::*;
use crate::opcodes::{Paired, opcodes};

/// What a field's number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// One of several values.
    Enum,
    /// A set of flags.
    Flags,
    /// The number of an object.
    Number,
}

/// The type of a field's number, where it has one of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'s> {
    /// What it means.
    pub(super) meaning: Meaning,
    /// The name of the enumeration, the flags or the number.
    pub(super) name: &'s str,
    /// The type of the plain number in it: as wide as the widest field.
    pub(super) number: &'static str,
}

/// A word of flags that becomes a type.
pub(super) struct FlagWord<'s> {
    pub(super) name: &'s str,
    pub(super) about: &'s str,
    /// The fields that hold it.
    pub(super) of: Vec<&'s String>,
    /// Their family; the one that is always there when they are of several.
    pub(super) family: &'s str,
    pub(super) width: u32,
    /// By number.
    pub(super) bits: Vec<Flag<'s>>,
}

/// One flag.
pub(super) struct Flag<'s> {
    pub(super) bit: u32,
    pub(super) name: &'s str,
    pub(super) about: String,
}

/// Everything that is bound to layouts and fields.
pub(super) struct Bindings<'s> {
    /// By `layout.field`.
    fields: HashMap<String, Bound<'s>>,
    /// The number type of each enumeration and each set of flags.
    numbers: HashMap<&'s str, &'static str>,
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
        let (fields, numbers) = (HashMap::new(), HashMap::new());
        let mut bindings = Bindings { fields, numbers, requests, others };
        let s = &spec.semantics;
        for (all, meaning) in [(&s.enums, Meaning::Enum), (&s.flags, Meaning::Flags)] {
            for of in all {
                bindings.bind(spec, meaning, &of.name, &of.fields);
            }
        }
        for number in &s.numbers {
            bindings.bind(spec, Meaning::Number, &number.name, &number.fields);
        }
        // A field that is one mask in one command and another in the next is a plain number.
        let mut masks: HashMap<String, Vec<(&str, u32)>> = HashMap::new();
        for select in &s.selects {
            for (layout, field) in select.masks.iter().filter_map(|(m, _)| spec.leaf(m)) {
                if let Element::Bits(width) = field.element {
                    let all = masks.entry(format!("{}.{}", layout.name, field.name)).or_default();
                    all.push((&select.name, width));
                }
            }
        }
        for (path, selects) in masks {
            let (name, width) = selects[0];
            let number = number_type(width);
            bindings.numbers.insert(name, number);
            if selects.iter().all(|(other, _)| *other == name) {
                bindings.fields.insert(path, Bound { meaning: Meaning::Flags, name, number });
            }
        }
        bindings
    }

    fn bind(
        &mut self,
        spec: &'s Spec,
        meaning: Meaning,
        name: &'s str,
        patterns: &'s [(String, crate::fault::Origin)],
    ) {
        let fields: Vec<(String, &Field)> =
            patterns.iter().flat_map(|(pattern, _)| spec.fields_like(pattern)).collect();
        let widest = fields.iter().filter_map(|(_, f)| spec.element_bits(&f.element)).max();
        let number = number_type(widest.unwrap_or(32));
        self.numbers.insert(name, number);
        for (path, _) in fields {
            self.fields.insert(path, Bound { meaning, name, number });
        }
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

    /// What a field means.
    pub(super) fn of(&self, layout: &str, field: &str) -> Option<Bound<'s>> {
        self.fields.get(&format!("{layout}.{field}")).copied()
    }

    /// Enumerations with the types of their numbers.
    pub(super) fn enums(
        &self,
        all: &'s [BoundEnum],
    ) -> impl Iterator<Item = (&'s BoundEnum, &'static str)> {
        all.iter().map(|e| (e, self.numbers.get(&*e.name).copied().unwrap_or("u32")))
    }

    /// Every word of flags that becomes a type: flags, and select masks that are numbers.
    pub(super) fn words(&self, spec: &'s Spec) -> impl Iterator<Item = FlagWord<'s>> {
        let flags = spec.semantics.flags.iter().filter_map(|f| {
            let bits = f.values.iter().map(|v| Flag {
                bit: v.value.trailing_zeros(),
                name: &v.name,
                about: format!("0x{:x}", v.value),
            });
            self.word(spec, &f.name, &f.about, &f.fields, bits.collect())
        });
        let selects = spec.semantics.selects.iter().filter_map(|s| {
            let bits = s.bits.iter().map(|b| Flag {
                bit: b.bit,
                name: &b.name,
                about: if b.fields.is_empty() {
                    "for no field of the layout".to_owned()
                } else {
                    super::semantics::listed(&b.fields)
                },
            });
            self.word(spec, &s.name, &s.about, &s.masks, bits.collect())
        });
        flags.chain(selects)
    }

    fn word(
        &self,
        spec: &'s Spec,
        name: &'s str,
        about: &'s str,
        of: &'s [(String, crate::fault::Origin)],
        mut bits: Vec<Flag<'s>>,
    ) -> Option<FlagWord<'s>> {
        bits.sort_by_key(|b| b.bit);
        let width = self.numbers.get(name)?[1..].parse().ok()?;
        let holders = self.fields.iter().filter(|(_, bound)| bound.name == name);
        let mut families =
            holders.filter_map(|(path, _)| Some(&*spec.layout(path.split_once('.')?.0)?.family));
        let first = families.next()?;
        let family = if families.all(|f| f == first) { first } else { super::COMMON };
        Some(FlagWord { name, about, of: of.iter().map(|(f, _)| f).collect(), family, width, bits })
    }
}
