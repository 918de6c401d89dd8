//! A mailbox that is put together from assignments, each a path and a value.

use std::ops::Range;

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc, Place};
use serde_json::Value;

use super::value::{self, Given};
use crate::decode::json::{MISSING, RESERVED, TRAILING};
use crate::names;

/// The longest mailbox that is made; the kernel takes up to 65,535 bytes of a program.
const MOST: usize = 1 << 20;

/// What is wrong with an assignment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Of the path, in bytes; `None`: it is the value.
    pub(crate) part: Option<Range<usize>>,
    pub(crate) problem: String,
    pub(crate) remedy: String,
}

impl Fault {
    fn path(part: Range<usize>, problem: String, remedy: impl Into<String>) -> Self {
        Fault { part: Some(part), problem, remedy: remedy.into() }
    }

    pub(crate) fn value(problem: String, remedy: impl Into<String>) -> Self {
        Fault { part: None, problem, remedy: remedy.into() }
    }
}

/// A field that an assignment set.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    /// With the name of the layout.
    pub(crate) path: String,
    /// The way to it: fields, and which of their elements.
    pub(crate) steps: Vec<(&'static FieldDesc, usize)>,
    /// The part of the mailbox that it is in.
    pub(crate) part: usize,
    /// Its first bit in the mailbox, and its bits.
    pub(crate) bit: usize,
    pub(crate) width: usize,
}

impl Set {
    /// Its value in the mailbox, when it has up to 64 bits.
    pub(crate) fn number(&self, bytes: &[u8]) -> u64 {
        let bits = self.bit..self.bit + self.width;
        bits.fold(0, |n, bit| n << 1 | u64::from(bytes[bit / 8] >> (7 - bit % 8) & 1))
    }
}

/// A mailbox in the making.
#[derive(Debug)]
pub(crate) struct Mailbox {
    parts: Vec<(&'static LayoutDesc, usize)>,
    bytes: Vec<u8>,
    /// Bits that were set by assignments, as long as `bytes`.
    written: Vec<u8>,
    sets: Vec<Set>,
    /// What was said of the length may be said again.
    again: bool,
    trailing: Option<Vec<u8>>,
    missing: Option<usize>,
}

impl Mailbox {
    /// One of zeros.
    pub(crate) fn new(layouts: &[&'static LayoutDesc]) -> Self {
        let mut at = 0;
        let parts = layouts.iter().map(|layout| {
            let start = at;
            at += layout.size;
            (*layout, start)
        });
        let parts = parts.collect();
        let (bytes, written) = (vec![0; at], vec![0; at]);
        Mailbox {
            parts,
            bytes,
            written,
            sets: Vec::new(),
            again: false,
            trailing: None,
            missing: None,
        }
    }

    /// One of which no layout is known.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Mailbox { trailing: Some(bytes), ..Mailbox::new(&[]) }
    }

    /// The layouts, and where each begins.
    pub(crate) fn parts(&self) -> &[(&'static LayoutDesc, usize)] {
        &self.parts
    }

    /// What was set, in the order in which it was.
    pub(crate) fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// The bytes so far, without what follows the layouts.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was set so far may be set again.
    pub(crate) fn forget(&mut self) {
        self.written.fill(0);
        self.again = true;
    }

    /// Whether what is said of its length goes together, and takes nothing away.
    pub(crate) fn settled(&self) -> Result<(), Fault> {
        let Some(missing) = self.missing else { return Ok(()) };
        if self.trailing.is_some() {
            let problem = format!("`{MISSING}` and `{TRAILING}` do not go together");
            return Err(Fault::value(problem, "Leave one of the two out."));
        }
        match self.bytes.len().checked_sub(missing) {
            None => Err(Fault::value(
                format!("`{MISSING}` is {missing}, of {} bytes", self.bytes.len()),
                "Give no more than there are.",
            )),
            Some(left) if self.bytes[left..].iter().any(|byte| *byte != 0) => Err(Fault::value(
                format!("`{MISSING}` takes fields away that are set: those from byte {left:#x} on"),
                "Leave it out, or the fields.",
            )),
            Some(_) => Ok(()),
        }
    }

    /// Whether a path leads to a layout, or to several of something.
    pub(crate) fn holds(&self, path: &str, layout: bool) -> Result<(), Fault> {
        // A layout without fields.
        if layout && self.parts.iter().any(|(layout, _)| layout.name == path) {
            return Ok(());
        }
        let names = split(path)?;
        let (part, names) = self.part_of(&names)?;
        let mut here = Here {
            layout: self.parts[part].0,
            at: 0,
            part,
            steps: Vec::new(),
            whole_path: path,
            element: None,
        };
        let mut is = (true, false);
        for name in names {
            let field = here.field(name)?;
            let several = field.count != Count::One && name.index.is_none();
            is = (matches!(field.element, Element::Layout(_)) && !several, several);
            if let Element::Layout(inner) = field.element {
                here.layout = inner;
            }
        }
        match (layout, is) {
            (true, (true, _)) | (false, (_, true)) => Ok(()),
            (true, _) => Err(Fault::value("not a layout".to_owned(), "Give a number.")),
            (false, _) => Err(Fault::value("not an array or a list".to_owned(), "Give a number.")),
        }
    }

    /// Adds bits to the mask in a place of the first layout: a number, or a layout of single bits.
    pub(crate) fn add(&mut self, place: Place, bits: u64) {
        let (layout, _) = self.parts[0];
        let mut set = |bit: u32, width: u32, value: u64| {
            let Some(path) = path_to(layout, bit, width) else { return false };
            let value = Value::from(value);
            self.set(&format!("{}.{path}", layout.name), &Given::Json(&value)).is_ok()
        };
        if set(place.bit, place.width, bits) {
            return;
        }
        for bit in (0..place.width).filter(|bit| bits >> bit & 1 != 0) {
            set(place.bit + place.width - 1 - bit, 1, 1);
        }
    }

    /// Whether what is made is the layouts and their lists, no more and no less.
    pub(crate) fn is_whole(&self) -> bool {
        self.trailing.as_ref().is_none_or(Vec::is_empty) && self.missing.unwrap_or_default() == 0
    }

    /// The whole.
    pub(crate) fn finish(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.extend(self.trailing.iter().flatten());
        bytes.truncate(bytes.len().saturating_sub(self.missing.unwrap_or_default()));
        bytes
    }

    /// Sets what a path leads to.
    pub(crate) fn set(&mut self, path: &str, given: &Given<'_>) -> Result<(), Fault> {
        let names = split(path)?;
        let (part, names) = self.part_of(&names)?;
        let (layout, start) = self.parts[part];
        if let [only] = names
            && only.index.is_none()
            && [TRAILING, MISSING].contains(&only.text)
        {
            return self.length(part, only, given);
        }
        let steps = Vec::new();
        let mut here = Here { layout, at: start, part, steps, whole_path: path, element: None };
        self.set_in(&mut here, names, given)
    }

    /// `trailing` or `missing`: what the mailbox has more or less than its layouts.
    fn length(&mut self, part: usize, name: &Name<'_>, given: &Given<'_>) -> Result<(), Fault> {
        let is_trailing = name.text == TRAILING;
        if part + 1 != self.parts.len() {
            let problem = format!("`{}` is said of a layout that is not the last", name.text);
            return Err(Fault::path(name.part.clone(), problem, "Say it of the last layout."));
        }
        let is_there = if is_trailing { self.trailing.is_some() } else { self.missing.is_some() };
        if is_there && !std::mem::take(&mut self.again) {
            let problem = format!("`{}` is set twice", name.text);
            return Err(Fault::path(name.part.clone(), problem, "Leave one of the two out."));
        }
        if is_trailing {
            self.trailing = Some(given.bytes().ok_or_else(|| not_bytes(given))?);
            return Ok(());
        }
        let number = given.number().and_then(|n| usize::try_from(n).ok());
        self.missing = Some(number.filter(|n| *n <= MOST).ok_or_else(|| {
            Fault::value(format!("`{given}` is no number of bytes"), "Give 8, or 0x8.")
        })?);
        Ok(())
    }

    /// The part that a path is in: that which it names first, else the only one that has the field.
    fn part_of<'n, 'p>(&self, names: &'n [Name<'p>]) -> Result<(usize, &'n [Name<'p>]), Fault> {
        let first = &names[0];
        if names.len() > 1 && first.index.is_none() {
            let named = |(layout, _): &(&LayoutDesc, usize)| layout.name == first.text;
            if let Some(part) = self.parts.iter().position(named) {
                return Ok((part, &names[1..]));
            }
        }
        let has = |(layout, _): &(&LayoutDesc, usize)| layout.field(first.text).is_some();
        let mut with_it = (0..self.parts.len()).filter(|part| has(&self.parts[*part]));
        let part = with_it.next().unwrap_or(0);
        if let Some(other) = with_it.next() {
            let [this, other] = [part, other].map(|part| self.parts[part].0.name);
            let problem = format!("{this} and {other} both have a field `{}`", first.text);
            let remedy = format!("Say which: {this}.{0} or {other}.{0}.", first.text);
            return Err(Fault::path(first.part.clone(), problem, remedy));
        }
        Ok((part, names))
    }

    fn set_in(
        &mut self,
        here: &mut Here<'_>,
        names: &[Name<'_>],
        given: &Given<'_>,
    ) -> Result<(), Fault> {
        let [name, rest @ ..] = names else {
            // A path ends at a layout: only a whole object can be meant, and that is taken apart before.
            let problem = format!("`{}` is a layout, not a number", here.whole_path);
            let first = here.layout.fields.first().map_or("...", |field| field.name);
            let remedy = format!("Set its fields: {}.{first}=...", here.whole_path);
            return Err(Fault::path(0..here.whole_path.len(), problem, remedy));
        };
        if name.text == RESERVED && rest.is_empty() {
            return self.reserved(here, name, given);
        }
        let field = here.field(name)?;
        if rest.is_empty() && name.index.is_none() && field.count != Count::One {
            return self.all(here, field, given);
        }
        let index = match (field.count, name.index) {
            (Count::One, None) => 0,
            (_, Some(index)) if index < most(field) => index,
            (Count::One, Some(_)) => {
                let problem = format!("`{}` is one, not several", field.name);
                return Err(Fault::path(name.part.clone(), problem, "Leave the index out."));
            }
            (Count::Array(n), Some(index)) => {
                let problem = format!("`{}` has {n} elements; there is no {index}", field.name);
                return Err(Fault::path(name.part.clone(), problem, format!("0 to {}.", n - 1)));
            }
            (_, Some(index)) => {
                let problem = format!("`{}` would have over {MOST} bytes with {index}", field.name);
                return Err(Fault::path(name.part.clone(), problem, "Give a lower index."));
            }
            (_, None) => {
                let problem = format!("`{}` has several elements", field.name);
                let remedy = format!("Say which: {}[0].", field.name);
                return Err(Fault::path(name.part.clone(), problem, remedy));
            }
        };
        self.reach(here, field, index, &name.part)?;
        here.steps.push((field, index));
        let result = match field.element {
            Element::Layout(inner) => {
                let outer = (here.layout, here.at);
                (here.layout, here.at) = (inner, here.at + field.bit_of(index) / 8);
                let result = self.set_in(here, rest, given);
                (here.layout, here.at) = outer;
                result
            }
            _ if !rest.is_empty() => {
                let problem = format!("`{}` is a number, and has no fields", field.name);
                Err(Fault::path(rest[0].part.clone(), problem, "End the path there."))
            }
            _ => self.leaf(here, field, index, given),
        };
        here.steps.pop();
        result
    }

    /// Makes room for an element of a list.
    fn reach(
        &mut self,
        here: &Here<'_>,
        field: &FieldDesc,
        index: usize,
        part: &Range<usize>,
    ) -> Result<(), Fault> {
        let end = here.at + field.bit_of(index + 1).div_ceil(8);
        let next = self.parts.get(here.part + 1).map(|(_, at)| *at);
        if field.count != Count::List || end <= next.unwrap_or(self.bytes.len()) {
            return Ok(());
        }
        if next.is_some() {
            let problem = format!("the list `{}` is not at the end of the mailbox", field.name);
            return Err(Fault::path(part.clone(), problem, "Leave out the layout after it."));
        }
        self.bytes.resize(end, 0);
        self.written.resize(end, 0);
        Ok(())
    }

    /// Several values for an array or a list.
    fn all(
        &mut self,
        here: &mut Here<'_>,
        field: &'static FieldDesc,
        given: &Given<'_>,
    ) -> Result<(), Fault> {
        if let Element::Layout(inner) = field.element {
            // `rq_num=1,2`, for rq_num[0].rq_num=1 and rq_num[1].rq_num=2.
            if let [only] = inner.fields
                && only.count == Count::One
                && !matches!(only.element, Element::Layout(_))
            {
                return self.each(here, field, only, given);
            }
            let example = inner.fields.first().map_or("", |f| f.name);
            let problem = format!("the elements of `{}` are layouts", field.name);
            let remedy = format!("Set fields of each: {}[0].{example}=...", here.whole_path);
            return Err(Fault::path(0..here.whole_path.len(), problem, remedy));
        }
        // Bytes are written as one run, too.
        let bytes = given.bytes().filter(|bytes| field.width() == 8 && bytes.len() > 1);
        let bytes: Vec<Value> = bytes.into_iter().flatten().map(Value::from).collect();
        let values = if bytes.is_empty() {
            given.elements()
        } else {
            bytes.iter().map(Given::Json).collect()
        };
        if let Count::Array(n) = field.count
            && values.len() > n as usize
        {
            let problem = format!("{} values; `{}` has {n} elements", values.len(), field.name);
            return Err(Fault::value(problem, "Give no more."));
        }
        if values.len() > most(field) {
            let problem = format!("{} values would have over {MOST} bytes", values.len());
            return Err(Fault::value(problem, "Give fewer."));
        }
        for (index, value) in values.iter().enumerate() {
            self.reach(here, field, index, &(0..here.whole_path.len()))?;
            here.steps.push((field, index));
            here.element = Some(index);
            let result = self.leaf(here, field, index, value);
            here.element = None;
            here.steps.pop();
            result?;
        }
        Ok(())
    }

    /// Several values for a list of layouts that have one field.
    fn each(
        &mut self,
        here: &mut Here<'_>,
        field: &'static FieldDesc,
        only: &'static FieldDesc,
        given: &Given<'_>,
    ) -> Result<(), Fault> {
        let values = given.elements();
        if values.len() > most(field) {
            let problem = format!("{} values; `{}` has fewer elements", values.len(), field.name);
            return Err(Fault::value(problem, "Give no more."));
        }
        for (index, value) in values.iter().enumerate() {
            let path = format!("{}[{index}].{}", here.whole_path, only.name);
            // What is wrong with a path made here is the path that was given.
            self.set(&path, value).map_err(|fault| Fault {
                part: fault.part.map(|_| 0..here.whole_path.len()),
                ..fault
            })?;
        }
        Ok(())
    }

    fn leaf(
        &mut self,
        here: &Here<'_>,
        field: &'static FieldDesc,
        index: usize,
        given: &Given<'_>,
    ) -> Result<(), Fault> {
        let (bit, width) = (here.at * 8 + field.bit_of(index), field.width() as usize);
        let bits = value::bits(field, given)?;
        self.place(here, bit, width, &bits)
    }

    /// `reserved[0x14]=0x80`: bits of a dword that no field has.
    fn reserved(
        &mut self,
        here: &mut Here<'_>,
        name: &Name<'_>,
        given: &Given<'_>,
    ) -> Result<(), Fault> {
        let at = name.index.filter(|at| at % 4 == 0 && *at < here.layout.size);
        let Some(at) = at else {
            let problem =
                format!("`{RESERVED}` wants the offset of a dword of {}", here.layout.name);
            return Err(Fault::path(
                name.part.clone(),
                problem,
                "Such as reserved[0x8]=0x80000000.",
            ));
        };
        // Of a layout that ends within a dword, the first bits.
        let room = (here.layout.size - at).min(4) * 8;
        let bits = given.number().and_then(|number| u32::try_from(number).ok());
        let bits = bits.filter(|bits| bits.trailing_zeros() as usize >= 32 - room);
        let Some(bits) = bits else {
            let problem = format!("`{given}` is no number of the bits of a dword there");
            return Err(Fault::value(problem, "Such as 0x80000000, the first bit."));
        };
        let mut dword = vec![0; here.layout.size];
        dword[at..at + room / 8].fill(0xff);
        let free = here.layout.reserved_set(&dword).next().map_or(0, |(_, free)| free);
        let taken = bits & !free;
        if taken != 0 {
            let problem = format!("{taken:#x} of these bits belong to fields");
            return Err(Fault::value(
                problem,
                format!("`prm show {}` names them.", here.layout.name),
            ));
        }
        for bit in (0..32).filter(|bit| bits >> (31 - bit) & 1 != 0) {
            self.place(here, (here.at + at) * 8 + bit as usize, 1, &[true])?;
        }
        Ok(())
    }

    /// Writes bits, the most significant first. What shares its bits with another assignment must say the same.
    fn place(
        &mut self,
        here: &Here<'_>,
        bit: usize,
        width: usize,
        bits: &[bool],
    ) -> Result<(), Fault> {
        for (i, value) in bits.iter().enumerate() {
            let (byte, mask) = ((bit + i) / 8, 0x80 >> ((bit + i) % 8));
            let is = self.bytes[byte] & mask != 0;
            if self.written[byte] & mask != 0 && is != *value {
                return Err(self.conflict(here, bit, width));
            }
        }
        for (i, value) in bits.iter().enumerate() {
            let (byte, mask) = ((bit + i) / 8, 0x80 >> ((bit + i) % 8));
            self.written[byte] |= mask;
            if *value {
                self.bytes[byte] |= mask;
            } else {
                self.bytes[byte] &= !mask;
            }
        }
        let element = here.element.map_or_else(String::new, |index| format!("[{index}]"));
        let (path, steps) = (format!("{}{element}", here.whole_path), here.steps.clone());
        self.sets.push(Set { path, steps, part: here.part, bit, width });
        Ok(())
    }

    fn conflict(&self, here: &Here<'_>, bit: usize, width: usize) -> Fault {
        let shares = |set: &&Set| set.bit < bit + width && bit < set.bit + set.width;
        let other = self.sets.iter().find(shares).map_or("another", |set| &*set.path);
        let problem = if other == here.whole_path {
            format!("`{other}` is set twice, to different values")
        } else {
            format!("`{}` and `{other}` share bits, and differ", here.whole_path)
        };
        Fault::path(0..here.whole_path.len(), problem, "Leave one of the two out.")
    }
}

/// The path to the number of so many bits at a bit of a layout.
fn path_to(layout: &LayoutDesc, bit: u32, width: u32) -> Option<String> {
    let holds = |field: &&FieldDesc| {
        field.count == Count::One
            && field.bit() <= bit
            && bit + width <= field.bit() + field.width()
    };
    layout.fields.iter().filter(holds).find_map(|field| match field.element {
        Element::Layout(inner) => {
            let path = path_to(inner, bit - field.bit(), width)?;
            Some(format!("{}.{path}", field.name))
        }
        _ => (field.bit() == bit && field.width() == width).then(|| field.name.to_owned()),
    })
}

/// The most elements that a field may have.
fn most(field: &FieldDesc) -> usize {
    match field.count {
        Count::One => 0,
        Count::Array(n) => n as usize,
        Count::List => MOST * 8 / (field.width().max(1) as usize),
    }
}

fn not_bytes(given: &Given<'_>) -> Fault {
    Fault::value(format!("`{given}` is no run of bytes"), "Give 0x and two digits for each.")
}

/// Where in the mailbox a path has come to.
struct Here<'p> {
    layout: &'static LayoutDesc,
    at: usize,
    part: usize,
    steps: Vec<(&'static FieldDesc, usize)>,
    whole_path: &'p str,
    /// Of an array or a list that is set at once.
    element: Option<usize>,
}

impl Here<'_> {
    fn field(&self, name: &Name<'_>) -> Result<&'static FieldDesc, Fault> {
        let layout = self.layout;
        let lower = names::snake_case(name.text);
        let field = layout.field(name.text).or_else(|| layout.field(&lower));
        field.ok_or_else(|| {
            let near = names::nearest_of(name.text, layout.fields.iter().map(|f| f.name));
            let (near, found) = (names::list(&near), deeper(layout, &lower));
            let problem = format!("{} has no field `{}`{near}", layout.name, name.text);
            let remedy = match found {
                Some(path) => format!("Or do you mean {path}?"),
                None => format!("`prm show {}` shows its fields.", layout.name),
            };
            Fault::path(name.part.clone(), problem, remedy)
        })
    }
}

/// The path to a field with this name in what a layout holds.
fn deeper(layout: &LayoutDesc, name: &str) -> Option<String> {
    layout.fields.iter().find_map(|field| {
        let Element::Layout(inner) = field.element else { return None };
        let index = if field.count == Count::One { "" } else { "[0]" };
        let path = match inner.field(name) {
            Some(found) => found.name.to_owned(),
            None => deeper(inner, name)?,
        };
        Some(format!("{}{index}.{path}", field.name))
    })
}

/// A name in a path, and its index.
#[derive(Debug)]
struct Name<'p> {
    text: &'p str,
    index: Option<usize>,
    part: Range<usize>,
}

/// `cq_context.pas[3]`: names, with dots between.
fn split(path: &str) -> Result<Vec<Name<'_>>, Fault> {
    let mut at = 0;
    path.split('.')
        .map(|word| {
            let part = at..at + word.len();
            at = part.end + 1;
            let wrong = |problem: &str| {
                let remedy =
                    "A path is names with dots between, such as cq_context.cqe_sz or pas[3].";
                Fault::path(part.clone(), format!("`{word}`: {problem}"), remedy)
            };
            let (text, index) = match word.split_once('[') {
                None => (word, None),
                Some((text, rest)) => {
                    let digits =
                        rest.strip_suffix(']').ok_or_else(|| wrong("no `]` at its end"))?;
                    let index = names::number(digits).and_then(|n| usize::try_from(n).ok());
                    (text, Some(index.ok_or_else(|| wrong("the index is no number"))?))
                }
            };
            if text.is_empty() {
                return Err(wrong("a name is missing"));
            }
            Ok(Name { text, index, part })
        })
        .collect()
}
