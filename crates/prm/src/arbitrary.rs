//! Random layouts and commands, for property tests.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use proptest::arbitrary::{Arbitrary, any};
use proptest::collection::vec;
use proptest::sample::Index;
use proptest::strategy::{BoxedStrategy, Strategy};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::Place;
use crate::bits;
use crate::describe::{Count, Described, Element, EnumDesc, FlagsDesc, Kind, LayoutDesc};
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

/// Any value in every field, by [`Content`]. Of a union the fields of one member are set, which is the one
/// that counts where `op_mod` says that.
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
        let mut first = |_: &LayoutDesc| {
            unions += 1;
            0
        };
        leaves(T::DESC, 0, &mut first, &mut fields);
        let is_op_mod = |leaf: &Leaf| T::OPCODE.is_some() && leaf.bit == Place::OP_MOD.bit as usize;
        // Some fields are set, one after the other: those that do not matter go when it shrinks.
        let values = vec((any::<Index>(), any::<u128>()), 0..=2 * fields.len());
        let members = vec(any::<u8>(), unions);
        let reserved = vec(any::<u8>(), if content.reserved { N } else { 0 });
        (any::<u128>(), members, values, reserved)
            .prop_map(move |(op_mod, members, values, reserved)| {
                let mut layout = Self::zeroed();
                let bytes = layout.as_bytes_mut();
                bytes[..reserved.len()].copy_from_slice(&reserved);
                // The members of unions are those that count with the `op_mod`, which comes first.
                if let Some(leaf) = fields.iter().find(|leaf| is_op_mod(leaf)) {
                    leaf.put(bytes, content, op_mod);
                    address(T::OPCODE, T::DESC, bytes);
                }
                let op_mod = T::OPCODE.and_then(|_| crate::op_mod(bytes));
                let mut members = members.into_iter();
                let mut member = |union: &LayoutDesc| {
                    let count = |at: &usize| {
                        op_mod.is_none_or(|op_mod| union.counts(&union.fields[*at], op_mod))
                    };
                    let counting: Vec<usize> = (0..union.fields.len()).filter(count).collect();
                    let any = usize::from(members.next().unwrap_or(0));
                    counting.get(any % counting.len().max(1)).copied().unwrap_or(0)
                };
                let mut fields = Vec::new();
                leaves(T::DESC, 0, &mut member, &mut fields);
                fields.retain(|leaf| !is_op_mod(leaf));
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

/// Numbers of so many bits.
pub(crate) fn number<N: core::fmt::Debug + 'static>(
    width: u32,
    of: fn(u32) -> N,
) -> BoxedStrategy<N> {
    (0..=u32::MAX >> (32 - width)).prop_map(of).boxed()
}

/// Values that have a name.
pub(crate) fn value<V: core::fmt::Debug + 'static>(
    names: &'static EnumDesc,
    of: fn(u32) -> V,
) -> BoxedStrategy<V> {
    any::<Index>().prop_map(move |at| of(names.values[at.index(names.values.len())].0)).boxed()
}

/// Any of the flags that have a name.
pub(crate) fn flags<F: core::fmt::Debug + 'static>(
    names: &'static FlagsDesc,
    of: fn(u64) -> F,
) -> BoxedStrategy<F> {
    let known = names.bits.iter().fold(0, |all, (bit, _)| all | 1_u64 << bit);
    any::<u64>().prop_map(move |bits| of(bits & known)).boxed()
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
/// member of a union is set.
fn leaves(
    layout: &'static LayoutDesc,
    begin: usize,
    member: &mut impl FnMut(&LayoutDesc) -> usize,
    all: &mut Vec<Leaf>,
) {
    let fields = match layout.kind {
        Kind::Union if !layout.fields.is_empty() => {
            core::slice::from_ref(&layout.fields[member(layout)])
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

#[cfg(test)]
mod tests {
    use proptest::arbitrary::any_with;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::describe::tests::{field, layout};

    /// A name that the field has no bits for; the other values are 1 and 5.
    static VALUES: EnumDesc = EnumDesc {
        name: "values",
        values: &[(1, "ONE"), (0x13, "TOO_WIDE"), (5, "FIVE")],
        is_type: true,
    };
    static FLAGS: FlagsDesc =
        FlagsDesc { name: "flags", bits: &[(0, "first"), (2, "third"), (7, "last")] };
    static INNER: LayoutDesc =
        layout("inner", Kind::Struct, 4, &[field("half", Element::Bits, Count::One, 16, 16)]);
    static EITHER: LayoutDesc = layout(
        "either",
        Kind::Union,
        4,
        &[
            field("first", Element::Bits, Count::One, 0, 8),
            field("last", Element::Bits, Count::One, 24, 8),
        ],
    );
    static NOTHING: LayoutDesc = layout("nothing", Kind::Union, 4, &[]);

    static EVERYTHING: LayoutDesc = layout(
        "everything",
        Kind::Struct,
        SIZE,
        &[
            field("value", Element::Enum(&VALUES), Count::One, 0, 4),
            field("flags", Element::Flags(&FLAGS), Count::One, 8, 8),
            field("number", Element::Bits, Count::One, 20, 12),
            field("either", Element::Layout(&EITHER), Count::One, 32, 32),
            field("nothing", Element::Layout(&NOTHING), Count::One, 64, 32),
            field("bytes", Element::Bits, Count::One, 96, 200),
            field("wide", Element::Bits, Count::One, 320, 128),
            field("array", Element::Bits, Count::Array(3), 448, 8),
            field("inner", Element::Layout(&INNER), Count::Array(2), 480, 32),
            field("list", Element::Bits, Count::List, SIZE as u32 * 8, 32),
        ],
    );

    struct Everything;

    impl Described for Everything {
        const DESC: &'static LayoutDesc = &EVERYTHING;
    }

    const SIZE: usize = 68;

    /// The bits of fields, of unions those of any member.
    const FIELDS: [u8; SIZE] = {
        let mut all = [0; SIZE];
        [all[0], all[1], all[2], all[3]] = [0xf0, 0xff, 0x0f, 0xff];
        [all[4], all[7]] = [0xff; 2];
        [all[62], all[63], all[66], all[67]] = [0xff; 4];
        let mut at = 12;
        while at < 59 {
            all[at] = if at < 37 || at >= 40 { 0xff } else { 0 };
            at += 1;
        }
        all
    };

    fn made<T: Described + 'static, const N: usize>(content: Content) -> Vec<[u8; N]> {
        let mut runner = TestRunner::deterministic();
        let all = any_with::<Layout<T, N>>(content);
        let one = |_| *all.new_tree(&mut runner).expect("it is made").current().as_bytes();
        (0..2000).map(one).collect()
    }

    fn everything(unknown: bool, reserved: bool) -> Vec<[u8; SIZE]> {
        made::<Everything, SIZE>(Content { unknown, reserved })
    }

    /// Which bits are set in some of them.
    fn set(all: &[[u8; SIZE]]) -> [u8; SIZE] {
        core::array::from_fn(|at| all.iter().fold(0, |set, bytes| set | bytes[at]))
    }

    #[test]
    fn every_bit_of_a_field_is_set_in_some_and_no_other() {
        let mut expected = FIELDS;
        // Names alone: 1 and 5, and the bits 0, 2 and 7.
        [expected[0], expected[1]] = [0x50, 0x85];
        assert_eq!(set(&everything(false, false)), expected);
        assert_eq!(set(&everything(true, false)), FIELDS);
        assert_eq!(set(&everything(true, true)), [0xff; SIZE]);
        assert_eq!(set(&everything(false, true))[..2], [0x5f, 0x85]);
    }

    #[test]
    fn values_have_a_name_unless_others_are_asked_for() {
        let values = |unknown| {
            let mut values: Vec<u8> =
                everything(unknown, false).iter().map(|bytes| bytes[0] >> 4).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        assert_eq!(values(false), [0, 1, 5], "0 is what is not set");
        assert_eq!(values(true), (0..16).collect::<Vec<u8>>());
        let mut flags: Vec<u8> = everything(false, false).iter().map(|bytes| bytes[1]).collect();
        flags.sort_unstable();
        flags.dedup();
        assert_eq!(flags, [0, 1, 4, 5, 0x80, 0x81, 0x84, 0x85]);
    }

    #[test]
    fn one_member_of_a_union_is_set_and_any() {
        let all = everything(false, false);
        let [first, last] = [4, 7].map(|at| all.iter().filter(|bytes| bytes[at] != 0).count());
        assert!(first > 100 && last > 100, "{first} {last}");
        assert!(all.iter().all(|bytes| bytes[4] == 0 || bytes[7] == 0));
    }

    #[test]
    #[cfg(feature = "cq")]
    fn numbers_values_and_flags_are_those_that_fit_or_have_a_name() {
        use crate::{Cqn, ModifyCqSelect, Status};

        let mut runner = TestRunner::deterministic();
        let mut made = |_| {
            let all = (any::<Cqn>(), any::<Status>(), any::<ModifyCqSelect>());
            all.new_tree(&mut runner).expect("it is made").current()
        };
        let all: Vec<_> = (0..2000).map(&mut made).collect();
        let bits = all.iter().fold((0, 0), |(numbers, flags), (number, _, select)| {
            (numbers | number.get(), flags | select.into_bits())
        });
        assert_eq!(bits, (0xff_ffff, 0b1_1111));
        let named = |value: u32| all.iter().any(|(_, status, _)| u32::from(status.0) == value);
        assert!(Status::DESC.values.iter().all(|(value, _)| named(*value)));
        assert!(all.iter().all(|(_, status, _)| status.name().is_some()));
    }

    #[test]
    #[cfg(feature = "cq")]
    fn the_member_of_a_union_is_the_one_of_the_op_mod() {
        use crate::ModifyCqIn;

        let mut runner = TestRunner::deterministic();
        let all = any_with::<ModifyCqIn>(Content::default());
        let mut masks = [0, 0];
        for _ in 0..2000 {
            let modify = all.new_tree(&mut runner).expect("it is made").current();
            let op_mod = usize::from(modify.op_mod().0);
            masks[op_mod] |= bits::get(modify.as_bytes(), 0x0c * 8, 32) as u32;
        }
        // ModifyCqSelect has five bits, ResizeCqSelect three.
        assert_eq!(masks, [0b1_1111u32, 0b111]);
    }

    #[test]
    fn every_field_may_be_set_at_once_or_none() {
        static BYTES: LayoutDesc = layout(
            "bytes",
            Kind::Struct,
            16,
            &[field("byte", Element::Bits, Count::Array(16), 0, 8)],
        );
        struct Bytes;
        impl Described for Bytes {
            const DESC: &'static LayoutDesc = &BYTES;
        }
        let all = made::<Bytes, 16>(Content::default());
        assert!(all.iter().any(|bytes| bytes.iter().all(|byte| *byte != 0)));
        assert!(all.contains(&[0; 16]));
    }
}
