//! Fields read and written bit by bit: what the codec is compared with.
//!
//! A field is a first bit, counted from the most significant of the mailbox's first byte, and a width.
//! Nothing of the codec is used here.

use byteorder::{BigEndian, ByteOrder};

/// Mailboxes are dwords; one that ends within a dword counts as if zeros followed.
fn dword(bytes: &[u8], at: usize) -> u32 {
    let mut dword = [0; 4];
    let there = &bytes[at..bytes.len().min(at + 4)];
    dword[..there.len()].copy_from_slice(there);
    BigEndian::read_u32(&dword)
}

fn put_dword(bytes: &mut [u8], at: usize, value: u32) {
    let mut dword = [0; 4];
    BigEndian::write_u32(&mut dword, value);
    let end = bytes.len().min(at + 4);
    bytes[at..end].copy_from_slice(&dword[..end - at]);
}

/// Bit `bit` of a mailbox.
pub fn bit(bytes: &[u8], bit: usize) -> bool {
    dword(bytes, bit / 32 * 4) >> (31 - bit % 32) & 1 == 1
}

/// The number of up to 128 bits at `first`.
pub fn get(bytes: &[u8], first: usize, width: usize) -> u128 {
    (first..first + width).fold(0, |number, at| number << 1 | u128::from(bit(bytes, at)))
}

/// Writes the low `width` bits of `value` at `first`.
pub fn set(bytes: &mut [u8], first: usize, width: usize, value: u128) {
    for i in 0..width {
        let at = first + i;
        let mask = 1 << (31 - at % 32);
        let others = dword(bytes, at / 32 * 4) & !mask;
        // What is wider than a number is one of zeros in front.
        let is_set = value.checked_shr((width - 1 - i) as u32).unwrap_or(0) & 1 == 1;
        put_dword(bytes, at / 32 * 4, if is_set { others | mask } else { others });
    }
}

/// Whether a number fits so many bits.
pub fn fits(value: u128, width: usize) -> bool {
    width >= 128 || value >> width == 0
}
