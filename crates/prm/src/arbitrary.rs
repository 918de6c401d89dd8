//! Random layouts and commands, for property tests.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use proptest::arbitrary::{Arbitrary, any};
use proptest::collection::vec;
use proptest::sample::Index;
use proptest::strategy::{BoxedStrategy, Strategy};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bits;
use crate::describe::{Count, Described, Element, Kind, LayoutDesc};
use crate::layout::{Layout, WithTail};

/// What random layouts may have besides the values that the PRM names.
///
/// By default neither: what is made is then what a program would send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// Values of enumerations and bits of flags that have no name: what newer firmware answers.
    pub unknown: bool,
    /// Reserved bits that are set.
    pub reserved: bool,
}

/// Any value in every field, by [`Content`]. Of a union the fields of one member are set.
///
/// The input of a command has its opcode; `uid` and `vhca_tunnel_id`, which the kernel fills in or
/// refuses, are 0, and so is an `op_mod` whose values have no names.
///
/// ```
/// use mlx5_prm::{Content, ModifyCqIn, Opcode, QueryCqOut};
/// use proptest::prelude::*;
///
/// proptest! {
///     # #![proptest_config(ProptestConfig::with_cases(8))]
///     # fn doc(
///     command in any::<ModifyCqIn>(),
///     answer in any_with::<QueryCqOut>(Content { unknown: true, ..Content::default() }),
///     # ) {
///     prop_assert_eq!(command.opcode(), Opcode::MODIFY_CQ);
///     prop_assert!(answer.cq_context().log_cq_size() < 32);
///     # }
/// }
/// # doc();
/// ```
impl<T: Described + 'static, const N: usize> Arbitrary for Layout<T, N> {
    type Parameters = Content;
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with(content: Content) -> Self::Strategy {
        let (mut fields, mut unions) = (Vec::new(), 0);
        leaves(
            T::DESC,
            0,
            &mut |_| {
                unions += 1;
                0
            },
            &mut fields,
        );
        // Some fields are set, one after the other: those that do not matter go when it shrinks.
        let values = vec((any::<Index>(), any::<u128>()), 0..=2 * fields.len());
        let members = vec(any::<u8>(), unions);
        let reserved = vec(any::<u8>(), if content.reserved { N } else { 0 });
        (members, values, reserved)
            .prop_map(move |(members, values, reserved)| {
                let mut layout = Self::zeroed();
                let bytes = layout.as_bytes_mut();
                bytes[..reserved.len()].copy_from_slice(&reserved);
                let mut members = members.into_iter();
                let mut member = |count| usize::from(members.next().unwrap_or(0)) % count;
                let mut fields = Vec::new();
                leaves(T::DESC, 0, &mut member, &mut fields);
                if content.reserved {
                    fields.iter().for_each(|field| field.put(bytes, content, 0));
                }
                if !fields.is_empty() {
                    for (at, value) in values {
                        fields[at.index(fields.len())].put(bytes, content, value);
                    }
                }
                address(T::OPCODE, T::DESC, bytes);
                layout
            })
            .boxed()
    }
}

/// A mailbox with a list at its end, of so many elements; both by [`Content`].
///
/// ```
/// use mlx5_prm::{Content, ModifyRqtIn, RqNum, any_with_tail};
/// use proptest::prelude::*;
///
/// proptest! {
///     # #![proptest_config(ProptestConfig::with_cases(8))]
///     # fn doc(
///     command in any_with_tail::<ModifyRqtIn, RqNum>(0..9, Content::default()),
///     # ) {
///     prop_assert!(command.tail.len() < 9);
///     # }
/// }
/// # doc();
/// ```
pub fn any_with_tail<H, E>(
    length: Range<usize>,
    content: Content,
) -> impl Strategy<Value = Box<WithTail<H, E>>>
where
    H: Described + Arbitrary<Parameters = Content> + FromBytes + IntoBytes,
    H: Unaligned + Immutable + KnownLayout,
    E: Arbitrary<Parameters = Content> + FromBytes + IntoBytes,
    E: Unaligned + Immutable + KnownLayout,
{
    let head = proptest::arbitrary::any_with::<H>(content);
    let tail = vec(proptest::arbitrary::any_with::<E>(content), length);
    (head, tail).prop_map(|(head, tail): (H, Vec<E>)| {
        let mut mailbox = WithTail::boxed(tail.len());
        mailbox.head = head;
        for (to, from) in mailbox.tail.iter_mut().zip(tail) {
            *to = from;
        }
        mailbox
    })
}

/// A number somewhere in a layout.
struct Leaf {
    bit: usize,
    width: usize,
    element: Element,
}

impl Leaf {
    fn put(&self, bytes: &mut [u8], content: Content, value: u128) {
        let fits = |value: u128| self.width >= 128 || value >> self.width == 0;
        let value = match self.element {
            // 0 may have no name: it is what a field holds that is not set.
            Element::Enum(names) if !content.unknown => {
                let chosen = (value % (names.values.len() as u128 + 1)) as usize;
                let named = chosen.checked_sub(1).map_or(0, |at| names.values[at].0.into());
                if fits(named) { named } else { 0 }
            }
            Element::Flags(flags) if !content.unknown => {
                flags.bits.iter().fold(0, |all, (bit, _)| all | value & 1 << bit)
            }
            _ => value,
        };
        let value = if self.width < 128 { value & ((1 << self.width) - 1) } else { value };
        bits::set_wide(bytes, self.bit, self.width, value);
    }
}

/// The numbers of a layout that begins at this bit, lists at the end aside. `member` says which
/// member of a union counts, of so many.
fn leaves(
    layout: &'static LayoutDesc,
    begin: usize,
    member: &mut impl FnMut(usize) -> usize,
    all: &mut Vec<Leaf>,
) {
    let fields = match layout.kind {
        Kind::Union if !layout.fields.is_empty() => {
            core::slice::from_ref(&layout.fields[member(layout.fields.len())])
        }
        _ => layout.fields,
    };
    for field in fields.iter().filter(|field| field.count != Count::List) {
        for index in 0..field.elements(0) {
            let (bit, width) = (begin + field.bit_of(index), field.width() as usize);
            match field.element {
                Element::Layout(inner) => leaves(inner, bit, member, all),
                // Wider numbers are plain bytes.
                element => all.extend((0..width).step_by(128).map(|at| Leaf {
                    bit: bit + at,
                    width: (width - at).min(128),
                    element,
                })),
            }
        }
    }
}

/// What stands at the head of a command.
fn address(opcode: Option<u16>, layout: &'static LayoutDesc, bytes: &mut [u8]) {
    let Some(opcode) = opcode else { return };
    bits::set(bytes, 0, 16, opcode.into());
    for name in ["uid", "vhca_tunnel_id", "op_mod"] {
        if let Some(field) = layout.field(name)
            && !matches!(field.element, Element::Enum(_))
        {
            bits::set_wide(bytes, field.bit() as usize, field.width() as usize, 0);
        }
    }
}
