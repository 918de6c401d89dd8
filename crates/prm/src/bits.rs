//! Fields of a big-endian mailbox. Bits are counted from the first (most significant) one.
//!
//! All of these fold to a load, a shift and a mask when the position is a constant, as it is in
//! every accessor. The accessors call free functions that take the layout as it is, so that the
//! body of each is one call without a borrow or a conversion: with thousands of accessors that is
//! what compiles fast.

use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use crate::error::{FieldError, field_too_wide};
use crate::layout::Layout;

/// A mask of `width` low bits.
#[inline(always)]
const fn mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The `LEN` bytes at `at`, as one: bytes taken singly are masked singly when the optimizer is done
/// with them, and no longer come from one load.
#[inline(always)]
const fn chunk<const LEN: usize>(bytes: &[u8], at: usize) -> &[u8; LEN] {
    match bytes.split_at(at).1.first_chunk() {
        Some(chunk) => chunk,
        None => unreachable!(),
    }
}

#[inline(always)]
const fn chunk_mut<const LEN: usize>(bytes: &mut [u8], at: usize) -> &mut [u8; LEN] {
    match bytes.split_at_mut(at).1.first_chunk_mut() {
        Some(chunk) => chunk,
        None => unreachable!(),
    }
}

#[inline(always)]
const fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(*chunk(bytes, at))
}

#[inline(always)]
const fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(*chunk(bytes, at))
}

#[inline(always)]
const fn put16(bytes: &mut [u8], at: usize, value: u16) {
    *chunk_mut(bytes, at) = value.to_be_bytes();
}

#[inline(always)]
const fn put32(bytes: &mut [u8], at: usize, value: u32) {
    *chunk_mut(bytes, at) = value.to_be_bytes();
}

/// The field of `width` bits from `bit` on. It lies within a dword.
#[inline(always)]
pub(crate) const fn get(bytes: &[u8], bit: usize, width: usize) -> u32 {
    let (first, last) = (bit / 8, (bit + width - 1) / 8);
    let after = (last + 1) * 8 - bit - width;
    let mask = mask(width) as u32;
    match last - first {
        0 => (bytes[first] as u32 >> after) & mask,
        1 => (be16(bytes, first) as u32 >> after) & mask,
        _ => (be32(bytes, bit / 32 * 4) >> (32 - bit % 32 - width)) & mask,
    }
}

/// Writes the field of `width` bits from `bit` on. It lies within a dword, and `value` fits.
///
/// What is kept beside the field is read by the byte where it is in one. When a byte of these was written
/// just before, a processor can give it to a load of that byte, and makes a load of the whole dword wait.
#[inline(always)]
pub(crate) const fn set(bytes: &mut [u8], bit: usize, width: usize, value: u32) {
    let (first, last) = (bit / 8, (bit + width - 1) / 8);
    let after = (last + 1) * 8 - bit - width;
    let mask = mask(width) as u32;
    match last - first {
        0 if width == 8 => bytes[first] = value as u8,
        0 => bytes[first] = (bytes[first] & !((mask << after) as u8)) | ((value << after) as u8),
        1 if width == 16 => put16(bytes, first, value as u16),
        1 => {
            let old = match (bit % 8, after) {
                (_, 0) => (bytes[first] as u16) << 8,
                (0, _) => bytes[last] as u16,
                _ => be16(bytes, first),
            };
            put16(bytes, first, old & !((mask << after) as u16) | ((value << after) as u16));
        }
        _ => {
            let (dword, shift) = (bit / 32 * 4, 32 - bit % 32 - width);
            let old = match (bit % 32, shift) {
                (..=8, 0) => (bytes[dword] as u32) << 24,
                (0, ..=8) => bytes[dword + 3] as u32,
                _ => be32(bytes, dword),
            };
            put32(bytes, dword, old & !(mask << shift) | (value << shift));
        }
    }
}

/// A field of 64 bits from the byte `at` on.
#[inline(always)]
pub(crate) const fn get64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(*chunk(bytes, at))
}

/// Writes a field of 64 bits from the byte `at` on.
#[inline(always)]
pub(crate) const fn set64(bytes: &mut [u8], at: usize, value: u64) {
    *chunk_mut(bytes, at) = value.to_be_bytes();
}

/// Element `index` of `n` numbers of `width` bits each, packed from bit `bit` on. No element crosses
/// a byte.
#[allow(dead_code)] // by families that have none
#[track_caller]
pub(crate) const fn packed(bytes: &[u8], bit: usize, width: usize, n: usize, index: usize) -> u8 {
    assert!(index < n, "there is no such element");
    let at = bit + index * width;
    bytes[at / 8] >> (8 - at % 8 - width) & ((1 << width) - 1)
}

/// Any field of up to 128 bits, bit order as in [`get`].
pub(crate) const fn get_wide(bytes: &[u8], bit: usize, width: usize) -> u128 {
    let mut value = 0;
    let mut at = bit;
    while at < bit + width {
        // As many bits as the byte still has for the field.
        let end = if (at / 8 + 1) * 8 < bit + width { (at / 8 + 1) * 8 } else { bit + width };
        let part = (bytes[at / 8] >> ((at / 8 + 1) * 8 - end)) as u128 & mask(end - at) as u128;
        value = value << (end - at) | part;
        at = end;
    }
    value
}

/// Writes any field of up to 128 bits; bits of `value` above `width` are not looked at.
pub(crate) const fn set_wide(bytes: &mut [u8], bit: usize, width: usize, value: u128) {
    let mut at = bit;
    while at < bit + width {
        let end = if (at / 8 + 1) * 8 < bit + width { (at / 8 + 1) * 8 } else { bit + width };
        let (after, n) = ((at / 8 + 1) * 8 - end, end - at);
        let part = ((value >> (bit + width - end)) & mask(n) as u128) as u8;
        bytes[at / 8] = bytes[at / 8] & !((mask(n) as u8) << after) | part << after;
        at = end;
    }
}

/// The accessors' functions for one type of number, in a module of its name: a field is
/// `dword[high:low]` as the PRM writes it, and `names` are those of layout and field, for errors.
macro_rules! numbers {
    ($($type:ident)*) => { $(
        pub(crate) mod $type {
            use super::{Names, refused};
            use crate::error::FieldError;

            #[inline(always)]
            pub(crate) const fn get<T, const N: usize>(layout: &super::Layout<T, N>, dword: usize, high: usize, low: usize) -> $type {
                super::get(&layout.bytes, dword * 8 + 31 - high, high - low + 1) as $type
            }

            /// Refuses a value that does not fit.
            #[inline(always)]
            #[track_caller]
            pub(crate) const fn set<T, const N: usize>(
                layout: &mut super::Layout<T, N>,
                dword: usize,
                high: usize,
                low: usize,
                value: $type,
                names: Names,
            ) {
                let width = high - low + 1;
                if value as u64 >> width != 0 {
                    refused(names, width, value as u128);
                }
                super::set(&mut layout.bytes, dword * 8 + 31 - high, width, value as u32);
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) const fn with<T, const N: usize>(
                mut layout: super::Layout<T, N>,
                dword: usize,
                high: usize,
                low: usize,
                value: $type,
                names: Names,
            ) -> super::Layout<T, N> {
                set(&mut layout, dword, high, low, value, names);
                layout
            }

            #[inline(always)]
            pub(crate) const fn with_full<T, const N: usize>(
                mut layout: super::Layout<T, N>,
                dword: usize,
                high: usize,
                value: $type,
            ) -> super::Layout<T, N> {
                put(&mut layout, dword, high, value);
                layout
            }

            /// For a field as wide as its type.
            #[inline(always)]
            pub(crate) const fn put<T, const N: usize>(layout: &mut super::Layout<T, N>, dword: usize, high: usize, value: $type) {
                super::set(&mut layout.bytes, dword * 8 + 31 - high, $type::BITS as usize, value as u32);
            }

            #[inline(always)]
            pub(crate) const fn try_set<T, const N: usize>(
                layout: &mut super::Layout<T, N>,
                dword: usize,
                high: usize,
                low: usize,
                value: $type,
                names: Names,
            ) -> Result<(), FieldError> {
                let width = high - low + 1;
                if value as u64 >> width != 0 {
                    return Err(super::error(names, width, value as u128));
                }
                super::set(&mut layout.bytes, dword * 8 + 31 - high, width, value as u32);
                Ok(())
            }
        }
    )* };
}

/// Writes a number that is known to fit.
#[inline(always)]
pub(crate) const fn put<T, const N: usize>(
    layout: &mut Layout<T, N>,
    dword: usize,
    high: usize,
    low: usize,
    value: u32,
) {
    set(&mut layout.bytes, dword * 8 + 31 - high, high - low + 1, value);
}

/// [`put`] by value.
#[inline(always)]
pub(crate) const fn with<T, const N: usize>(
    mut layout: Layout<T, N>,
    dword: usize,
    high: usize,
    low: usize,
    value: u32,
) -> Layout<T, N> {
    put(&mut layout, dword, high, low, value);
    layout
}

/// PRM names of a layout and a field.
pub(crate) type Names = (&'static str, &'static str);

/// Inlined, so that the names go to the cold function in registers, and not by way of the stack,
/// where they would be written before it is known that the value does not fit.
#[inline(always)]
#[track_caller]
const fn refused(names: Names, width: usize, value: u128) -> ! {
    field_too_wide(names.0, names.1, value, width as u32)
}

const fn error(names: Names, width: usize, value: u128) -> FieldError {
    FieldError { layout: names.0, field: names.1, width: width as u32, value }
}

numbers!(u8 u16 u32);

#[inline(always)]
pub(crate) const fn get_flag<T, const N: usize>(
    layout: &Layout<T, N>,
    dword: usize,
    bit: usize,
) -> bool {
    get(&layout.bytes, dword * 8 + 31 - bit, 1) != 0
}

#[inline(always)]
pub(crate) const fn set_flag<T, const N: usize>(
    layout: &mut Layout<T, N>,
    dword: usize,
    bit: usize,
    value: bool,
) {
    set(&mut layout.bytes, dword * 8 + 31 - bit, 1, value as u32);
}

// The two fields that need these are in families that are not always compiled in.
#[inline(always)]
pub(crate) const fn with_flag<T, const N: usize>(
    mut layout: Layout<T, N>,
    dword: usize,
    bit: usize,
    value: bool,
) -> Layout<T, N> {
    set_flag(&mut layout, dword, bit, value);
    layout
}

/// Sets the field that says which select mask counts. Bits that were set in the mask before are of
/// another mask; a value that is not 0 was chosen.
#[allow(dead_code)] // by families that have none
#[inline(always)]
#[track_caller]
pub(crate) const fn variant<T, const N: usize>(
    layout: &mut Layout<T, N>,
    names: Names,
    (dword, high, low): (usize, usize, usize),
    value: u32,
    mask: (usize, usize, usize),
) {
    let chosen = u32::get(layout, dword, high, low);
    if chosen != value {
        if chosen != 0 || u32::get(layout, mask.0, mask.1, mask.2) != 0 {
            crate::error::other_variant(names.0, names.1);
        }
        put(layout, dword, high, low, value);
    }
}

/// Writes a field of more than 32 bits, or refuses a value that does not fit.
#[track_caller]
#[allow(dead_code)]
pub(crate) const fn set_wide_checked(
    bytes: &mut [u8],
    at: usize,
    width: usize,
    value: u128,
    names: Names,
) {
    if value >> width != 0 {
        refused(names, width, value);
    }
    set_wide(bytes, at * 8, width, value);
}

#[allow(dead_code)]
pub(crate) const fn try_wide(
    bytes: &mut [u8],
    at: usize,
    width: usize,
    value: u128,
    names: Names,
) -> Result<(), FieldError> {
    if value >> width != 0 {
        return Err(error(names, width, value));
    }
    set_wide(bytes, at * 8, width, value);
    Ok(())
}

#[inline(always)]
pub(crate) const fn quad<T, const N: usize>(layout: &Layout<T, N>, at: usize) -> u64 {
    get64(&layout.bytes, at)
}

#[inline(always)]
pub(crate) const fn set_quad<T, const N: usize>(layout: &mut Layout<T, N>, at: usize, value: u64) {
    set64(&mut layout.bytes, at, value);
}

#[inline(always)]
pub(crate) const fn with_quad<T, const N: usize>(
    mut layout: Layout<T, N>,
    at: usize,
    value: u64,
) -> Layout<T, N> {
    set64(&mut layout.bytes, at, value);
    layout
}

/// The layout at byte `at` of another.
#[inline(always)]
pub(crate) const fn nested<T, const N: usize, U, const M: usize>(
    layout: &Layout<T, N>,
    at: usize,
) -> &Layout<U, M> {
    let (_, rest) = layout.bytes.split_at(at);
    match rest.first_chunk::<M>() {
        Some(nested) => zerocopy::transmute_ref!(nested),
        None => unreachable!(),
    }
}

/// [`nested`] to be written.
#[inline(always)]
pub(crate) fn nested_mut<T, const N: usize, U, const M: usize>(
    layout: &mut Layout<T, N>,
    at: usize,
) -> &mut Layout<U, M> {
    match layout.bytes[at..].first_chunk_mut::<M>() {
        Some(nested) => zerocopy::transmute_mut!(nested),
        None => unreachable!(),
    }
}

/// Writes the layout at byte `at` of another.
#[inline(always)]
pub(crate) const fn set_nested<T, const N: usize, U, const M: usize>(
    layout: &mut Layout<T, N>,
    at: usize,
    value: &Layout<U, M>,
) {
    let (_, rest) = layout.bytes.split_at_mut(at);
    match rest.first_chunk_mut::<M>() {
        Some(nested) => *nested = value.bytes,
        None => unreachable!(),
    }
}

#[inline(always)]
pub(crate) const fn with_nested<T, const N: usize, U, const M: usize>(
    mut layout: Layout<T, N>,
    at: usize,
    value: &Layout<U, M>,
) -> Layout<T, N> {
    set_nested(&mut layout, at, value);
    layout
}

/// The `LEN` bytes at `AT`, viewed as an array or bytes.
#[inline(always)]
pub(crate) const fn part<V, const AT: usize, const LEN: usize>(bytes: &[u8]) -> &V
where
    V: FromBytes + Immutable + Unaligned,
{
    let (_, rest) = bytes.split_at(AT);
    match rest.first_chunk::<LEN>() {
        Some(part) => zerocopy::transmute_ref!(part),
        None => unreachable!(),
    }
}

/// [`part`] to be written.
#[inline(always)]
pub(crate) fn part_mut<V, const AT: usize, const LEN: usize>(bytes: &mut [u8]) -> &mut V
where
    V: FromBytes + IntoBytes + Unaligned,
{
    match bytes[AT..].first_chunk_mut::<LEN>() {
        Some(part) => zerocopy::transmute_mut!(part),
        None => unreachable!(),
    }
}

/// Writes a part.
#[inline(always)]
pub(crate) const fn set_part<V, const AT: usize, const LEN: usize>(bytes: &mut [u8], value: &V)
where
    V: IntoBytes + Immutable,
{
    let value: &[u8; LEN] = zerocopy::transmute_ref!(value);
    let (_, rest) = bytes.split_at_mut(AT);
    match rest.first_chunk_mut::<LEN>() {
        Some(part) => *part = *value,
        None => unreachable!(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = ("layout", "field");

    /// Bits taken singly.
    fn bits(bytes: &[u8], bit: usize, width: usize) -> u128 {
        let bits = bit..bit + width;
        bits.fold(0, |value, at| value << 1 | u128::from(bytes[at / 8] >> (7 - at % 8) & 1))
    }

    fn with_bits<const N: usize>(mut bytes: [u8; N], bit: usize, width: usize, v: u128) -> [u8; N] {
        for (i, at) in (bit..bit + width).rev().enumerate() {
            let mask = 0x80 >> (at % 8);
            bytes[at / 8] &= !mask;
            bytes[at / 8] |= if v >> i & 1 != 0 { mask } else { 0 };
        }
        bytes
    }

    const BYTES: [u8; 12] =
        [0x5a, 0xc3, 0x0f, 0x96, 0xe1, 0x7d, 0x28, 0xb4, 0x39, 0xf0, 0x6e, 0x15];

    #[test]
    fn a_field_lies_anywhere_in_a_dword() {
        for width in 1..=32 {
            for bit in (0..=32 - width).chain(32..=64 - width) {
                assert_eq!(u128::from(get(&BYTES, bit, width)), bits(&BYTES, bit, width));
                for value in [0, 0x1234_5678, u32::MAX] {
                    let (mut bytes, value) = (BYTES, value >> (32 - width));
                    set(&mut bytes, bit, width, value);
                    assert_eq!(bytes, with_bits(BYTES, bit, width, value.into()), "{bit} {width}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_packed_from_the_first_bit_on() {
        for width in [1, 2, 4] {
            for index in 0..16 / width {
                let expected = bits(&BYTES, 8 + index * width, width) as u8;
                assert_eq!(packed(&BYTES, 8, width, 16 / width, index), expected, "{index}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "there is no such element")]
    fn there_are_no_more_packed_numbers() {
        packed(&BYTES, 0, 4, 2, 2);
    }

    #[test]
    fn a_wide_field_takes_what_fits() {
        let value = 0x9a_bcde_f012;
        let mut bytes = BYTES;
        set_wide_checked(&mut bytes, 3, 40, value, NAMES);
        assert_eq!(bytes, with_bits(BYTES, 24, 40, value));
        let mut bytes = BYTES;
        assert_eq!(try_wide(&mut bytes, 3, 40, value, NAMES), Ok(()));
        assert_eq!(bytes, with_bits(BYTES, 24, 40, value));
        let mut bytes = BYTES;
        let value = 1 << 40;
        let too_wide = FieldError { layout: "layout", field: "field", width: 40, value };
        assert_eq!(try_wide(&mut bytes, 3, 40, value, NAMES), Err(too_wide));
        assert_eq!(bytes, BYTES);
    }

    #[test]
    #[should_panic]
    fn a_wide_field_refuses_what_does_not_fit() {
        set_wide_checked(&mut BYTES.clone(), 3, 40, 1 << 40, NAMES);
    }
}
