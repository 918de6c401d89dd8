//! What can be wrong with a value or with the length of a mailbox.

use core::fmt;

use crate::describe::NumberDesc;

/// A value that does not fit its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldError {
    /// PRM name of the layout.
    pub layout: &'static str,
    /// PRM name of the field.
    pub field: &'static str,
    /// Bits that the field has.
    pub width: u32,
    /// The value that was given.
    pub value: u128,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldError { layout, field, width, value } = self;
        write!(f, "{layout}.{field}: {value:#x} does not fit in {width} bit{}", plural(*width))
    }
}

impl core::error::Error for FieldError {}

const fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A run of bytes that is too short, or not of the length that a layout has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeError {
    /// PRM name of the layout.
    pub layout: &'static str,
    /// Bytes of the layout, without its list.
    pub needed: usize,
    /// Bytes of an element of the list at its end; 0 without a list.
    pub element: usize,
    /// Bytes that were given.
    pub given: usize,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SizeError { layout, needed, element, given } = self;
        write!(f, "{layout} has {needed} bytes")?;
        if *element > 0 {
            write!(f, " and {element} for each element of its list")?;
        }
        write!(f, "; {given} bytes were given")
    }
}

impl core::error::Error for SizeError {}

/// A number that no object can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberError {
    /// What was wanted.
    pub wanted: &'static NumberDesc,
    /// The number that was given.
    pub value: u32,
}

impl NumberError {
    /// Refuses a number that does not fit.
    pub(crate) const fn check(wanted: &'static NumberDesc, value: u32) -> Result<(), NumberError> {
        if value as u64 >> wanted.width != 0 {
            return Err(NumberError { wanted, value });
        }
        Ok(())
    }
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NumberDesc { name, width } = self.wanted;
        write!(f, "{name}: {:#x} does not fit in {width} bit{}", self.value, plural(*width))
    }
}

impl core::error::Error for NumberError {}

/// Refuses a value as indexing refuses an index.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) const fn field_too_wide(layout: &str, field: &str, value: u128, width: u32) -> ! {
    let mut text = Text { bytes: [0; 192], len: 0 };
    text.push(layout);
    text.push(".");
    text.push(field);
    refuse(text, value, width)
}

/// Refuses the number of an object.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) const fn too_wide(name: &str, value: u128, width: u32) -> ! {
    let mut text = Text { bytes: [0; 192], len: 0 };
    text.push(name);
    refuse(text, value, width)
}

/// Refuses a change that another value of `field` is for than the changes before it.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) const fn other_variant(layout: &str, field: &str) -> ! {
    let mut text = Text { bytes: [0; 192], len: 0 };
    text.push(layout);
    text.push(": this change needs another ");
    text.push(field);
    text.push(" than was set before it: send two commands");
    text.panic()
}

/// Formatting does not work in `const`, so the message is put together by hand.
#[track_caller]
const fn refuse(mut text: Text, value: u128, width: u32) -> ! {
    text.push(": 0x");
    text.hex(value);
    text.push(" does not fit in ");
    text.decimal(width);
    text.push(" bit");
    text.push(plural(width));
    text.panic()
}

struct Text {
    bytes: [u8; 192],
    len: usize,
}

impl Text {
    #[track_caller]
    const fn panic(self) -> ! {
        let (text, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(text) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a value does not fit its field"),
        }
    }

    const fn byte(&mut self, byte: u8) {
        if self.len < self.bytes.len() {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() {
            self.byte(text[i]);
            i += 1;
        }
    }

    const fn hex(&mut self, value: u128) {
        let mut digits = 1;
        while digits < 32 && value >> (digits * 4) != 0 {
            digits += 1;
        }
        while digits > 0 {
            digits -= 1;
            self.byte(b"0123456789abcdef"[(value >> (digits * 4)) as usize & 15]);
        }
    }

    const fn decimal(&mut self, value: u32) {
        if value >= 10 {
            self.decimal(value / 10);
        }
        self.byte(b'0' + (value % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = match core::str::from_utf8(&[b'n'; 300]) {
        Ok(text) => text,
        Err(_) => "",
    };

    #[test]
    #[should_panic(
        expected = "flow.mask: 0xffffffffffffffffffffffffffffffff does not fit in 127 bits"
    )]
    fn all_digits_of_a_value_are_told() {
        field_too_wide("flow", "mask", u128::MAX, 127);
    }

    #[test]
    #[should_panic(expected = "key: 0x10 does not fit in 1 bit")]
    fn a_value_has_as_many_digits_as_it_needs() {
        too_wide("key", 0x10, 1);
    }

    #[test]
    #[should_panic(expected = "nnnnnnnnnnnnnnnn")]
    fn a_message_beyond_its_room_is_cut() {
        too_wide(LONG, 2, 1);
    }
}
