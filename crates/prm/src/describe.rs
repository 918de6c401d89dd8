//! What a layout can say about itself at run time.
//!
//! Debug, the decoder of the `prm` command, comparisons and fuzzers all stand on this one
//! description. It is static data: nothing is allocated.

use core::fmt;

use crate::bits;
use crate::error::FieldError;

/// A type that has a description.
pub trait Described {
    /// Its layout.
    const DESC: &'static LayoutDesc;
    /// The opcode, where the layout is the input of a command.
    const OPCODE: Option<u16> = None;
}

/// A family of layouts: one module and one cargo feature.
#[derive(Debug)]
pub struct Family {
    /// Name of the module and the feature.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its layouts.
    pub layouts: &'static [&'static LayoutDesc],
    /// Its commands that have semantics.
    pub commands: &'static [&'static crate::CommandDesc],
    /// Its registers.
    pub registers: &'static [&'static crate::RegisterDesc],
    /// Its general objects.
    pub general_objects: &'static [&'static crate::GeneralObjectDesc],
}

/// Whether members follow each other or share one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Members follow each other.
    Struct,
    /// Members share one place.
    Union,
}

/// Description of a layout. Its `Debug` is the name alone: all of it would be pages long.
pub struct LayoutDesc {
    /// PRM name, such as `cqc`.
    pub name: &'static str,
    /// Struct or union.
    pub kind: Kind,
    /// Bytes, without a list at the end.
    pub size: usize,
    /// What it is, in words, where they are known.
    pub about: Option<&'static str>,
    /// Fields that are not reserved, by position.
    pub fields: &'static [FieldDesc],
}

/// Description of a field.
#[derive(Debug)]
pub struct FieldDesc {
    /// PRM name.
    pub name: &'static str,
    /// What one element of it is.
    pub element: Element,
    /// How many elements there are.
    pub count: Count,
    /// Who may read and write it: known of fields of registers.
    pub access: Option<Access>,
    /// What it means, in words: meaning, unit, range and the capability that gates it, where they
    /// are known.
    pub words: Option<&'static str>,
    /// Byte offset of the dword that it begins in.
    pub(crate) at: u32,
    /// Its first bit in that dword, 31 the most significant.
    pub(crate) high: i32,
    /// Its last bit, counted on below 0 into the dwords that follow. That bit and width are worked
    /// out when they are asked for saves a noticeable part of the crate's build time.
    pub(crate) low: i32,
}

/// Who may read and write a field of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only: it has no accessor that writes.
    Ro,
    /// Read and written.
    Rw,
    /// Written only.
    Wo,
    /// Written to make something happen.
    Op,
    /// Written to say which of several registers is meant, when reading too.
    Index,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Element {
    /// A number.
    Bits,
    /// The number of an object.
    Number(&'static NumberDesc),
    /// A number whose values have names.
    Enum(&'static EnumDesc),
    /// A number whose bits have names.
    Flags(&'static FlagsDesc),
    /// Another layout.
    Layout(&'static LayoutDesc),
}

/// How often a field's element is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Once.
    One,
    /// An array of so many.
    Array(u32),
    /// To the end of the mailbox.
    List,
}

/// Names of the values of an enumeration.
#[derive(Debug)]
pub struct EnumDesc {
    /// Name of the enumeration; that of the field where the values belong to it alone.
    pub name: &'static str,
    /// Values and their names.
    pub values: &'static [(u32, &'static str)],
    /// Whether it is a type, such as [`Opcode`](crate::Opcode); else it belongs to one field, whose
    /// accessors take plain numbers.
    pub is_type: bool,
}

/// Names of the bits of a word of flags.
#[derive(Debug)]
pub struct FlagsDesc {
    /// Name of the flags.
    pub name: &'static str,
    /// Bits, 0 the least significant, and their names.
    pub bits: &'static [(u32, &'static str)],
}

impl FlagsDesc {
    /// The names of the bits that are set, and what is left: bits that have no name.
    pub fn names_of(&self, value: u128) -> (impl Iterator<Item = &'static str>, u128) {
        let is_set = move |bit: u32| value >> bit & 1 != 0;
        let known = self.bits.iter().fold(0, |known, (bit, _)| known | 1u128 << bit);
        let names = self.bits.iter().filter(move |(bit, _)| is_set(*bit)).map(|(_, name)| *name);
        (names, value & !known)
    }

    /// Prints the names of the bits that are set, and what is left; `0x0` for none.
    pub(crate) fn print(&self, value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, unknown) = self.names_of(value);
        let mut separator = "";
        for name in names {
            write!(f, "{separator}{name}")?;
            separator = " | ";
        }
        if unknown != 0 || value == 0 {
            write!(f, "{separator}{unknown:#x}")?;
        }
        Ok(())
    }
}

/// What the number of an object is.
#[derive(Debug, PartialEq, Eq)]
pub struct NumberDesc {
    /// Name, such as `cqn`.
    pub name: &'static str,
    /// Bits.
    pub width: u32,
}

impl EnumDesc {
    /// The name of a value, when it has one.
    pub fn name_of(&self, value: u128) -> Option<&'static str> {
        self.values.iter().find(|(v, _)| u128::from(*v) == value).map(|(_, name)| *name)
    }
}

impl fmt::Debug for LayoutDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayoutDesc").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LayoutDesc {
    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&'static FieldDesc> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// Whether a list of open length ends the layout, its own or that of a layout at its end.
    pub fn has_list(&self) -> bool {
        self.fields.iter().any(|f| match f.element {
            _ if f.count == Count::List => true,
            Element::Layout(inner) if f.count == Count::One => inner.has_list(),
            _ => false,
        })
    }

    /// Whether a member of this union counts in a command with this `op_mod`, in its input or its output.
    /// What is no union, or one that nothing is known of, has all its fields.
    ///
    /// ```
    /// let mask = mlx5_prm::layout_desc("modify_field_select_resize_field_select_auto").expect("a union");
    /// let resize = mask.field("resize_field_select").expect("a member");
    /// assert!(mask.counts(resize, 1) && !mask.counts(resize, 0));
    /// ```
    pub fn counts(&self, member: &FieldDesc, op_mod: u16) -> bool {
        match self.name {
            // MODIFY_CQ: 1 resizes.
            "modify_field_select_resize_field_select_auto" => {
                (member.name == "resize_field_select") == (op_mod == 1)
            }
            // The page of capabilities: `op_mod` is selector << 1 | mode.
            #[cfg(feature = "caps")]
            "hca_cap_union" => {
                let mut pages = crate::caps::page::PAGES.iter();
                // The headers leave some pages out of the union, and have one under two names.
                let of_page = pages.find(|page| page.selector == op_mod >> 1).and_then(|page| {
                    self.fields.iter().find(|field| {
                        matches!(field.element, Element::Layout(l) if l.name == page.layout.name)
                    })
                });
                of_page.is_none_or(|of_page| of_page.name == member.name)
            }
            _ => true,
        }
    }

    /// The bytes of element `index` of a field of this layout, `bytes` being the whole mailbox
    /// from the layout on. Empty when `bytes` ends before it.
    ///
    /// A nested layout that ends with this one, or is a member of a union, goes to the end of the
    /// mailbox: a list of its own may follow.
    pub fn part<'b>(&self, field: &FieldDesc, bytes: &'b [u8], index: usize) -> &'b [u8] {
        let from = field.bit_of(index);
        if index >= field.elements(bytes.len()) {
            return &[];
        }
        let mut to = from + field.width() as usize;
        if let (Element::Layout(_), Count::One) = (field.element, field.count)
            && (to == self.size * 8 || self.kind == Kind::Union)
        {
            to = to.max(bytes.len() * 8);
        }
        bytes.get(from / 8..to.div_ceil(8).min(bytes.len())).unwrap_or_default()
    }

    /// Bits that are set and belong to no field: byte offset of the dword, and the bits in it.
    ///
    /// What a nested layout has reserved is told by that layout, not by this one.
    pub fn reserved_set(&self, bytes: &[u8]) -> impl Iterator<Item = (usize, u32)> {
        let own = self.size.min(bytes.len());
        bytes[..own].chunks(4).enumerate().filter_map(move |(i, chunk)| {
            let mut dword = [0; 4];
            dword[..chunk.len()].copy_from_slice(chunk);
            let dword = u32::from_be_bytes(dword);
            if dword == 0 {
                return None;
            }
            let set = dword & !self.claimed(i * 4, bytes.len());
            (set != 0).then_some((i * 4, set))
        })
    }

    /// The bits of the dword at byte `at` that a field claims, in a mailbox of `len` bytes.
    fn claimed(&self, at: usize, len: usize) -> u32 {
        let (dword, end) = (at * 8, at * 8 + 32);
        let mut mask = 0;
        for field in self.fields {
            let from = field.bit_of(0).max(dword);
            let to = field.bit_of(field.elements(len)).min(end);
            if from < to {
                mask |= (((1u64 << (to - from)) - 1) << (end - to)) as u32;
            }
        }
        mask
    }
}

impl FieldDesc {
    /// Its first (most significant) bit, from the start of the layout.
    pub const fn bit(&self) -> u32 {
        self.at * 8 + 31 - self.high as u32
    }

    /// Bits of one element.
    pub const fn width(&self) -> u32 {
        (self.high - self.low + 1) as u32
    }

    /// Number of whole elements in a mailbox of `len` bytes.
    pub fn elements(&self, len: usize) -> usize {
        let width = self.width() as usize;
        match self.count {
            Count::One => 1,
            Count::Array(n) => n as usize,
            Count::List if width == 0 => 0,
            Count::List => len.saturating_mul(8).saturating_sub(self.bit() as usize) / width,
        }
    }

    /// The first bit of element `index`, from the start of the layout.
    pub fn bit_of(&self, index: usize) -> usize {
        (self.bit() as usize).saturating_add(index.saturating_mul(self.width() as usize))
    }

    /// Reads element `index` of a number of up to 128 bits.
    ///
    /// `None`: the field is a layout or wider, or `bytes` ends before it.
    #[inline]
    pub fn read(&self, bytes: &[u8], index: usize) -> Option<u128> {
        if self.low < 0 || self.count != Count::One || index > 0 {
            return self.read_any(bytes, index);
        }
        // One number in one dword, which is what most are.
        let dword = bytes.get(self.at as usize..).and_then(|rest| rest.first_chunk());
        match (self.element, dword) {
            (Element::Layout(_), _) => None,
            (_, Some(dword)) => {
                let mask = u32::MAX >> (31 - self.high + self.low);
                Some((u32::from_be_bytes(*dword) >> self.low & mask).into())
            }
            _ => self.read_any(bytes, index),
        }
    }

    fn read_any(&self, bytes: &[u8], index: usize) -> Option<u128> {
        let (bit, width) = (self.bit_of(index), self.width() as usize);
        let number = !matches!(self.element, Element::Layout(_)) && width <= 128;
        let there =
            index < self.elements(bytes.len()) && bit.saturating_add(width) <= bytes.len() * 8;
        (number && there).then(|| bits::get_wide(bytes, bit, width))
    }

    /// Writes element `index` of a number of up to 128 bits. `layout` is the name for the error.
    ///
    /// Gives `false`, and writes nothing, where [`FieldDesc::read`] gives `None`.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn write(
        &self,
        layout: &'static str,
        bytes: &mut [u8],
        index: usize,
        value: u128,
    ) -> Result<bool, FieldError> {
        if self.read(bytes, index).is_none() {
            return Ok(false);
        }
        let width = self.width();
        if width < 128 && value >> width != 0 {
            return Err(FieldError { layout, field: self.name, width, value });
        }
        bits::set_wide(bytes, self.bit_of(index), width as usize, value);
        Ok(true)
    }
}

/// The layout called `name`, in the families that are compiled in. Second names that other headers
/// have for a layout are known, too: `2rst_qp_in` is `qp_2rst_in`.
pub fn layout_desc(name: &str) -> Option<&'static LayoutDesc> {
    let alias = crate::generated::ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    crate::families().iter().flat_map(|f| f.layouts).find(|l| l.name == name).copied()
}

/// Prints the fields of `bytes` that are not zero, and reserved bits that are set. `{:#?}` says what
/// the layout is, too.
pub(crate) fn debug<T: Described>(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let layout = T::DESC;
    // The input of a command says which members of its unions count.
    let op_mod = T::OPCODE.and_then(|_| crate::command::op_mod(bytes));
    print(layout, layout.about.filter(|_| f.alternate()), bytes, op_mod, f)
}

/// Bytes of a union whose bytes are shown once for each member. Those of a longer one, such as all pages
/// of capabilities, are shown as they are, without the zeros at their end.
const LONGEST_UNION: usize = 64;

fn print(
    layout: &'static LayoutDesc,
    about: Option<&str>,
    bytes: &[u8],
    op_mod: Option<u16>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if layout.kind == Kind::Union {
        f.write_str("union ")?;
    }
    f.write_str(layout.name)?;
    if layout.kind == Kind::Union && layout.size > LONGEST_UNION {
        let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        f.write_str(" 0x")?;
        return bytes[..end].iter().try_for_each(|b| write!(f, "{b:02x}"));
    }
    if let Some(about) = about {
        write!(f, " ({about})")?;
    }
    let mut out = f.debug_struct("");
    for field in layout.fields {
        let values = Values { layout, field, bytes, op_mod };
        let counts = op_mod.is_none_or(|op_mod| layout.counts(field, op_mod));
        if !counts || values.iter().all(|v| v.is_zero()) {
            continue;
        }
        match field.count {
            Count::One => out.field(field.name, &values.at(0)),
            Count::Array(_) | Count::List => out.field(field.name, &values),
        };
    }
    if layout.reserved_set(bytes).next().is_some() {
        out.field("reserved", &Reserved { layout, bytes });
    }
    out.finish()
}

/// All elements of a field, for printing.
#[derive(Clone, Copy)]
struct Values<'a> {
    layout: &'static LayoutDesc,
    field: &'static FieldDesc,
    bytes: &'a [u8],
    /// Of the command that it is in the input of.
    op_mod: Option<u16>,
}

impl<'a> Values<'a> {
    fn at(self, index: usize) -> Value<'a> {
        Value { all: self, index }
    }

    fn iter(self) -> impl Iterator<Item = Value<'a>> {
        (0..self.field.elements(self.bytes.len())).map(move |index| self.at(index))
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// One element of a field, for printing.
struct Value<'a> {
    all: Values<'a>,
    index: usize,
}

impl Value<'_> {
    fn part(&self) -> &[u8] {
        self.all.layout.part(self.all.field, self.all.bytes, self.index)
    }

    fn number(&self) -> Option<u128> {
        self.all.field.read(self.all.bytes, self.index)
    }

    fn is_zero(&self) -> bool {
        match (self.all.field.element, self.number()) {
            (Element::Layout(inner), _) => {
                let part = self.part();
                let own = &part[..inner.size.min(part.len())];
                own.iter().all(|b| *b == 0) && (!inner.has_list() || part.iter().all(|b| *b == 0))
            }
            (_, Some(value)) => value == 0,
            (_, None) => self.part().iter().all(|b| *b == 0),
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.all.field.element, self.number()) {
            (Element::Layout(inner), _) => print(inner, None, self.part(), self.all.op_mod, f),
            (Element::Enum(names), Some(value)) => match names.name_of(value) {
                Some(name) => write!(f, "{value:#x} ({name})"),
                None => write!(f, "{value:#x}"),
            },
            (Element::Flags(flags), Some(value)) if flags.names_of(value).1 != value => {
                write!(f, "{value:#x} (")?;
                flags.print(value, f)?;
                f.write_str(")")
            }
            (_, Some(value)) => write!(f, "{value:#x}"),
            (_, None) => {
                f.write_str("0x")?;
                self.part().iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
        }
    }
}

/// Reserved bits that are set, for printing.
struct Reserved<'a> {
    layout: &'static LayoutDesc,
    bytes: &'a [u8],
}

impl fmt::Debug for Reserved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (at, set) in self.layout.reserved_set(self.bytes) {
            map.entry(&format_args!("{at:#04x}"), &format_args!("{set:#010x}"));
        }
        map.finish()
    }
}

#[cfg(all(test, feature = "alloc"))]
pub(crate) mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    /// A field by its first bit.
    pub(crate) const fn field(
        name: &'static str,
        element: Element,
        count: Count,
        bit: u32,
        width: u32,
    ) -> FieldDesc {
        let high = 31 - (bit % 32) as i32;
        let (at, low) = (bit / 32 * 4, high - width as i32 + 1);
        FieldDesc { name, element, count, access: None, words: None, at, high, low }
    }

    pub(crate) const fn layout(
        name: &'static str,
        kind: Kind,
        size: usize,
        fields: &'static [FieldDesc],
    ) -> LayoutDesc {
        LayoutDesc { name, kind, size, about: None, fields }
    }

    fn text(layout: &'static LayoutDesc, bytes: &[u8]) -> String {
        struct Shown<'b>(&'static LayoutDesc, &'b [u8]);
        impl fmt::Debug for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.0, self.0.about.filter(|_| f.alternate()), self.1, None, f)
            }
        }
        format!("{:?}", Shown(layout, bytes))
    }

    static WORD: LayoutDesc =
        layout("word", Kind::Struct, 4, &[field("half", Element::Bits, Count::One, 16, 16)]);
    static LISTED: LayoutDesc = layout(
        "listed",
        Kind::Struct,
        4,
        &[
            field("half", Element::Bits, Count::One, 16, 16),
            field("list", Element::Bits, Count::List, 32, 8),
        ],
    );

    #[test]
    #[cfg(feature = "cq")]
    fn the_mask_that_counts_is_shown() {
        let [modifies, resizes] =
            ["modify_field_select: 0x1 (cq_period)", "resize_field_select: 0x1 (log_cq_size)"];
        let shown = |text: &str| (text.contains(modifies), text.contains(resizes));
        let mut modify = crate::ModifyCqIn::new().changing_cq_period(16);
        assert_eq!(shown(&format!("{modify:?}")), (true, false));
        modify.set_op_mod(crate::ModifyCqOpMod::RESIZE_CQ);
        assert_eq!(shown(&format!("{modify:?}")), (false, true));
        // Not the input of a command: nothing tells.
        let mask = modify.modify_field_select_resize_field_select();
        assert_eq!(shown(&format!("{mask:?}")), (true, true));
    }

    #[test]
    fn a_union_is_shown_by_member_up_to_64_bytes() {
        static SHORT: LayoutDesc = layout(
            "short",
            Kind::Union,
            64,
            &[
                field("all", Element::Bits, Count::One, 0, 512),
                field("word", Element::Layout(&WORD), Count::One, 0, 32),
            ],
        );
        static LONG: LayoutDesc = layout(
            "long",
            Kind::Union,
            68,
            &[field("word", Element::Layout(&WORD), Count::One, 0, 32)],
        );
        let mut bytes = [0; 68];
        assert_eq!(text(&LONG, &bytes), "union long 0x");
        bytes[3] = 7;
        let zeros = "00".repeat(60);
        assert_eq!(
            text(&SHORT, &bytes[..64]),
            format!("union short {{ all: 0x00000007{zeros}, word: word {{ half: 0x7 }} }}")
        );
        assert_eq!(text(&LONG, &bytes), "union long 0x00000007");
        bytes[67] = 1;
        assert_eq!(
            text(&LONG, &bytes),
            format!("union long 0x00000007{}00000001", "00".repeat(60))
        );
        bytes = [0; 68];
        bytes[0] = 1;
        assert_eq!(text(&LONG, &bytes), "union long 0x01");
    }

    #[test]
    fn what_is_zero_is_not_shown() {
        static BOTH: LayoutDesc = layout(
            "both",
            Kind::Struct,
            24,
            &[
                field("word", Element::Layout(&WORD), Count::One, 0, 32),
                field("bytes", Element::Bits, Count::One, 32, 136),
            ],
        );
        let mut bytes = [0; 24];
        assert_eq!(text(&BOTH, &bytes), "both");
        bytes[20] = 0xab;
        assert_eq!(text(&BOTH, &bytes), format!("both {{ bytes: 0x{}ab }}", "00".repeat(16)));
        bytes[3] = 2;
        bytes[20] = 0;
        assert_eq!(text(&BOTH, &bytes), "both { word: word { half: 0x2 } }");
    }

    #[test]
    fn a_layout_at_the_end_goes_to_the_end_of_the_mailbox() {
        static OPEN: LayoutDesc = layout(
            "open",
            Kind::Struct,
            8,
            &[
                field("before", Element::Layout(&LISTED), Count::One, 0, 32),
                field("listed", Element::Layout(&LISTED), Count::One, 32, 32),
            ],
        );
        static CLOSED: LayoutDesc = layout(
            "closed",
            Kind::Struct,
            8,
            &[field("word", Element::Layout(&WORD), Count::One, 32, 32)],
        );
        static EITHER: LayoutDesc = layout(
            "either",
            Kind::Union,
            8,
            &[field("listed", Element::Layout(&LISTED), Count::One, 0, 32)],
        );
        let part = |layout: &LayoutDesc, name, len| {
            let field = layout.field(name).expect("it has it");
            layout.part(field, &[0; 16][..len], 0).len()
        };
        assert_eq!((part(&OPEN, "before", 12), part(&OPEN, "listed", 12)), (4, 8));
        assert_eq!((part(&OPEN, "listed", 8), part(&OPEN, "listed", 6)), (4, 2));
        assert_eq!((part(&EITHER, "listed", 8), part(&EITHER, "listed", 4)), (8, 4));

        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 5];
        assert_eq!(text(&OPEN, &bytes), "open { listed: listed { list: [0x0, 0x5] } }");
        assert_eq!(text(&OPEN, &bytes[..9]), "open");
        assert_eq!(text(&CLOSED, &bytes), "closed", "what is behind belongs to nothing");
        assert_eq!(text(&CLOSED, &[0, 0, 0, 0, 0, 0, 0, 5]), "closed { word: word { half: 0x5 } }");
    }

    #[test]
    fn flags_without_any_name_are_a_number() {
        static FLAGS: FlagsDesc = FlagsDesc { name: "flags", bits: &[(0, "first"), (2, "third")] };
        static FLAGGED: LayoutDesc = layout(
            "flagged",
            Kind::Struct,
            4,
            &[field("flags", Element::Flags(&FLAGS), Count::One, 24, 8)],
        );
        let text = |flags| text(&FLAGGED, &[0, 0, 0, flags]);
        assert_eq!(text(5), "flagged { flags: 0x5 (first | third) }");
        assert_eq!(text(0x84), "flagged { flags: 0x84 (third | 0x80) }");
        assert_eq!(text(0x80), "flagged { flags: 0x80 }");
    }

    #[test]
    fn a_layout_is_no_number_and_nothing_has_no_elements() {
        static NOTHING: LayoutDesc = layout("nothing", Kind::Struct, 0, &[]);
        let bytes = [1; 32];
        for width in [32, 64, 128, 160] {
            let nested = field("nested", Element::Layout(&WORD), Count::One, 0, width);
            assert_eq!(nested.read(&bytes, 0), None, "{width}");
            let array = field("nested", Element::Layout(&WORD), Count::Array(1), 0, width);
            assert_eq!(array.read(&bytes, 0), None, "{width}");
            let number = field("number", Element::Bits, Count::One, 0, width);
            assert_eq!(number.read(&bytes, 0).is_some(), width <= 128, "{width}");
        }
        let list = field("list", Element::Layout(&NOTHING), Count::List, 32, 0);
        assert_eq!(list.elements(8), 0);
        let list = field("list", Element::Bits, Count::List, 0, 32);
        assert_eq!(list.elements(usize::MAX), usize::MAX / 32);
    }
}
