//! Commands: which mailbox goes in, which comes out, and the object they work on.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bits;
use crate::describe::{Described, LayoutDesc};
use crate::layout::WithTail;
use crate::transition::TransitionDesc;

impl core::fmt::Debug for CommandDesc {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CommandDesc")
            .field("name", &self.name)
            .field("opcode", &format_args!("{:#x}", self.opcode))
            .finish_non_exhaustive()
    }
}

impl PartialEq for CommandDesc {
    fn eq(&self, other: &Self) -> bool {
        self.opcode == other.opcode
    }
}

impl Eq for CommandDesc {}

/// What a command does to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Makes it.
    Create,
    /// Changes it.
    Modify,
    /// Reads it.
    Query,
    /// Ends it.
    Destroy,
}

/// A kind of object, such as [`object::Cq`](crate::object::Cq).
pub trait ObjectKind {
    /// Its number.
    type Number: Copy + Into<u32> + TryFrom<u32>;
    /// Its description.
    const DESC: &'static ObjectDesc;
}

/// Description of a kind of object.
#[derive(Debug, PartialEq, Eq)]
pub struct ObjectDesc {
    /// Name, such as `cq`.
    pub name: &'static str,
    /// What the PRM calls its number, such as `CQN`.
    pub number: &'static str,
    /// One line about it.
    pub about: &'static str,
}

/// Where a number stands in a mailbox: first bit and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// First (most significant) bit, from the start of the mailbox.
    pub bit: u32,
    /// Bits.
    pub width: u32,
}

impl Place {
    /// `op_mod`, the variant of the command, in the input of every command; in those on general
    /// objects `obj_type`.
    pub const OP_MOD: Place = Place { bit: 48, width: 16 };

    const fn is_within(&self, len: usize) -> bool {
        (self.bit as usize + self.width as usize) <= len * 8
    }

    /// Where its dword is, how far it is from the dword's end, and its bits; `None` when it is in no
    /// dword alone, or `len` bytes end before that.
    const fn in_dword(&self, len: usize) -> Option<(usize, u32, u32)> {
        let (at, first) = ((self.bit / 32 * 4) as usize, self.bit % 32);
        if self.width == 0 || self.width > 32 - first || at + 4 > len {
            return None;
        }
        Some((at, 32 - first - self.width, u32::MAX >> (32 - self.width)))
    }

    /// The number there; `None` when `bytes` ends before it.
    #[inline]
    pub const fn read(&self, bytes: &[u8]) -> Option<u64> {
        // Most stand in one dword; where the place is known this is then a load and a shift.
        if let Some((at, shift, mask)) = self.in_dword(bytes.len()) {
            let dword = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            return Some(((u32::from_be_bytes(dword) >> shift) & mask) as u64);
        }
        if !self.is_within(bytes.len()) || self.width > 64 {
            return None;
        }
        Some(bits::get_wide(bytes, self.bit as usize, self.width as usize) as u64)
    }

    /// Writes the number; `false`, and nothing is written, when it does not fit or `bytes` ends
    /// before it.
    #[inline]
    pub const fn write(&self, bytes: &mut [u8], value: u64) -> bool {
        let fits = self.width >= 64 || value >> self.width == 0;
        if !fits || !self.is_within(bytes.len()) || self.width > 64 {
            return false;
        }
        if let Some((at, shift, mask)) = self.in_dword(bytes.len()) {
            let dword = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            let others = u32::from_be_bytes(dword) & !(mask << shift);
            let dword = (others | (value as u32) << shift).to_be_bytes();
            (bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]) =
                (dword[0], dword[1], dword[2], dword[3]);
            return true;
        }
        bits::set_wide(bytes, self.bit as usize, self.width as usize, value as u128);
        true
    }

    /// Copies the bits there to another place: from bit `bit` of `to` on. `false`, and nothing is
    /// written, when `from` or `to` ends before them.
    pub const fn copy_to(&self, from: &[u8], to: &mut [u8], bit: u32) -> bool {
        if !self.is_within(from.len()) || !(Place { bit, width: self.width }).is_within(to.len()) {
            return false;
        }
        let mut done = 0;
        while done < self.width {
            let n = if self.width - done > 64 { 64 } else { self.width - done };
            let value = bits::get_wide(from, (self.bit + done) as usize, n as usize);
            bits::set_wide(to, (bit + done) as usize, n as usize, value);
            done += n;
        }
        true
    }
}

/// Description of a command. Its `Debug` is name and opcode alone: all of it would be pages long.
pub struct CommandDesc {
    /// Name, such as `MODIFY_CQ`.
    pub name: &'static str,
    /// Opcode.
    pub opcode: u16,
    /// What it does.
    pub verb: Verb,
    /// The object it does it to.
    pub object: &'static ObjectDesc,
    /// Its input.
    pub input: &'static LayoutDesc,
    /// Its output.
    pub output: &'static LayoutDesc,
    /// Where the object's number stands, when it has one: in the output of a create, else in the
    /// input.
    pub number: Option<Place>,
    /// Where the object's context stands: in the output of a query, else in the input.
    pub context: Option<Place>,
    /// Its select masks.
    pub selects: &'static [SelectDesc],
    /// The QP transition it makes.
    pub transition: Option<TransitionDesc>,
    /// One line about it.
    pub about: &'static str,
}

/// Description of a select mask.
#[derive(Debug)]
pub struct SelectDesc {
    /// Name, such as `modify_cq_select`.
    pub name: &'static str,
    /// Where the mask stands in the input.
    pub mask: Place,
    /// The `op_mod` of the command under which it counts.
    pub op_mod: u16,
    /// The field of the input, and its value, under which it counts; whatever it holds when `None`.
    pub when: Option<(Place, u64)>,
    /// Fields of the input that count whatever the mask says.
    pub always: &'static [Place],
    /// Its bits.
    pub bits: &'static [SelectBitDesc],
}

/// One bit of a select mask.
#[derive(Debug)]
pub struct SelectBitDesc {
    /// Number of the bit, 0 the least significant.
    pub bit: u32,
    /// Name.
    pub name: &'static str,
    /// The fields it selects, in the input.
    pub fields: &'static [SelectedField],
}

/// A field that a bit of a select mask selects.
#[derive(Debug)]
pub struct SelectedField {
    /// Path in the input, such as `cq_context.cq_period`.
    pub path: &'static str,
    /// Where it stands.
    pub place: Place,
}

impl SelectDesc {
    /// Whether the mask counts in this input.
    pub fn counts(&self, input: &[u8]) -> bool {
        op_mod(input).unwrap_or_default() == self.op_mod
            && self.when.is_none_or(|(place, value)| place.read(input) == Some(value))
    }
}

/// The input of a command.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of a command",
    note = "outputs and contexts can't be sent"
)]
pub trait Request: Described {
    /// Its output, without a list.
    type Output: Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout;

    /// The mailbox as it goes to the adapter.
    fn bytes(&self) -> &[u8];
    /// The mailbox, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// The input of a command on a kind of object.
pub trait Command: Request {
    /// Its description.
    const COMMAND: &'static CommandDesc;
    /// The kind of object it works on.
    type Object: ObjectKind;
}

/// A command on an object that is there: its input carries the object's number.
pub trait OnObject: Command {
    /// Where the object's number stands.
    const NUMBER: Option<Place> = Self::COMMAND.number;

    /// The object's number.
    #[inline]
    fn number(&self) -> u32 {
        // The place is checked against the layout when it is generated.
        let number = Self::NUMBER.and_then(|place| place.read(self.bytes()));
        number.unwrap_or_default() as u32
    }

    /// Writes the object's number; `false` when it does not fit.
    #[inline]
    fn set_number(&mut self, number: u32) -> bool {
        Self::NUMBER.is_some_and(|place| place.write(self.bytes_mut(), number.into()))
    }
}

/// A command that makes an object: its output carries the object's number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command that makes an object",
    note = "one in a `Box` is given as `&*boxed`"
)]
pub trait Creates: Command {}

/// A command that changes its object.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a command that changes an object")]
pub trait Modify: OnObject {}

/// A command that reads its object.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a command that reads an object")]
pub trait Query: OnObject {}

impl<H, E> Command for WithTail<H, E>
where
    H: Command + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
    const COMMAND: &'static CommandDesc = H::COMMAND;
    type Object = H::Object;
}

impl<H, E> Request for WithTail<H, E>
where
    H: Request + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
    type Output = H::Output;

    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_mut_bytes()
    }
}

impl<H: Described, E> Described for WithTail<H, E> {
    const DESC: &'static LayoutDesc = H::DESC;
    const OPCODE: Option<u16> = H::OPCODE;
}

impl<H, E> OnObject for WithTail<H, E>
where
    H: OnObject + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
}

impl<H, E> Creates for WithTail<H, E>
where
    H: Creates + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
}

impl<H, E> Modify for WithTail<H, E>
where
    H: Modify + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
}

impl<H, E> Query for WithTail<H, E>
where
    H: Query + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
}

/// A bit of a select mask that selects a field: see [`selected_by`].
#[derive(Debug, Clone, Copy)]
pub struct SelectedBy {
    /// The layout that holds the mask: the input of a modify command, or a general object.
    pub input: &'static LayoutDesc,
    /// The mask.
    pub select: &'static SelectDesc,
    /// Its bit.
    pub bit: &'static SelectBitDesc,
}

/// The bits of select masks that select the field `field` of the layout `layout`, wherever that lies in
/// the input of a modify command or in a general object; in the families that are compiled in.
///
/// ```
/// let mut by = mlx5_prm::selected_by("cqc", "cq_period");
/// let modify_cq = by.next().expect("MODIFY_CQ can change it");
/// assert_eq!((modify_cq.input.name, modify_cq.bit.bit), ("modify_cq_in", 0));
/// ```
pub fn selected_by<'n>(
    layout: &'n str,
    field: &'n str,
) -> impl Iterator<Item = SelectedBy> + use<'n> {
    let commands = crate::families().iter().flat_map(|f| f.commands);
    let objects = crate::families().iter().flat_map(|f| f.general_objects);
    let of_commands =
        commands.flat_map(|c| {
            let all =
                c.selects.iter().flat_map(|select| select.bits.iter().map(move |b| (select, b)));
            let counts = move |select: &SelectDesc, bit: &SelectBitDesc| match &c.transition {
                // The first mask of a QP transition has bits that not every transition admits.
                Some(t) if select.mask == c.selects[0].mask => {
                    t.fields.iter().any(|f| f.bit == Some(bit.bit))
                }
                _ => true,
            };
            all.filter(move |(select, bit)| counts(select, bit))
                .map(move |(select, bit)| SelectedBy { input: c.input, select, bit })
        });
    let of_objects = objects.flat_map(|o| {
        let all = o.selects.iter().flat_map(|select| select.bits.iter().map(move |b| (select, b)));
        all.map(move |(select, bit)| SelectedBy { input: o.layout, select, bit })
    });
    of_commands
        .chain(of_objects)
        .filter(move |by| by.bit.fields.iter().any(|f| leads_to(by.input, f.path, layout, field)))
}

/// Whether a path in `from` ends at this field of this layout.
fn leads_to(mut from: &'static LayoutDesc, path: &str, layout: &str, field: &str) -> bool {
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return from.name == layout && name == field;
        }
        match from.field(name).map(|f| f.element) {
            Some(crate::Element::Layout(inner)) => from = inner,
            _ => return false,
        }
    }
    false
}

/// `opcode` of any input; `None` when it is shorter than that.
pub const fn opcode(input: &[u8]) -> Option<crate::Opcode> {
    match input.first_chunk::<2>() {
        Some(bytes) => Some(crate::Opcode(u16::from_be_bytes(*bytes))),
        None => None,
    }
}

/// `op_mod` of any input, the variant of the command; `None` when it is shorter than that.
pub const fn op_mod(input: &[u8]) -> Option<u16> {
    match input.first_chunk::<8>() {
        Some(bytes) => Some(u16::from_be_bytes([bytes[6], bytes[7]])),
        None => None,
    }
}

impl crate::Opcode {
    /// What the command does, in words.
    pub fn about(self) -> Option<&'static str> {
        let words = crate::generated::COMMAND_WORDS;
        words.iter().find(|(code, _)| *code == self.0).map(|(_, words)| *words)
    }
}

/// The command with this opcode, in the families that are compiled in and where semantics are known.
pub fn command(opcode: u16) -> Option<&'static CommandDesc> {
    crate::families().iter().flat_map(|f| f.commands).find(|c| c.opcode == opcode).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_no_mailbox_has_is_nowhere() {
        for bit in [0, 31, 32, u32::MAX] {
            for width in [0x1_0001, u32::MAX] {
                let place = Place { bit, width };
                assert_eq!(place.read(&[0xff; 64]), None, "{place:?}");
                assert!(!place.write(&mut [0; 64], 0), "{place:?}");
            }
        }
    }
}
