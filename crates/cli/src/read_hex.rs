//! Mailboxes as people have them: binary, hex, an array of C, or a dump by a tool.
//!
//! The format is seen from the content. Whatever a format tells beyond the bytes, such as
//! offsets and text columns, is used to check that none of them is missing.

mod array;
mod assemble;
mod fault;
mod format;
#[cfg(test)]
mod tests;

use assemble::Assembly;
pub use fault::ReadError;
use format::Format;

/// A line that is not blank.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: usize,
    text: &'t str,
}

/// The bytes of a mailbox. `file` is what errors call the input.
///
/// # Errors
/// The first line that is wrong, or that there is nothing at all.
pub fn read(file: &str, raw: &[u8]) -> Result<Vec<u8>, ReadError> {
    let Some(text) = as_text(file, raw)? else { return Ok(raw.to_vec()) };
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(i, text)| Line { number: i + 1, text })
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    let Some(first) = lines.first() else { return Err(ReadError::empty(file)) };
    let format = Format::of(&lines).map_err(|fault| ReadError::at(file, *first, fault))?;
    if format == Format::Array {
        let bytes =
            array::read(&lines).map_err(|(line, fault)| ReadError::at(file, line, fault))?;
        return if bytes.is_empty() { Err(ReadError::empty(file)) } else { Ok(bytes) };
    }
    let mut assembly = Assembly::default();
    for line in &lines {
        let item = format.item(line.text);
        item.and_then(|item| assembly.add(item, *line))
            .map_err(|fault| ReadError::at(file, *line, fault))?;
    }
    let bytes = assembly.finish().map_err(|(line, fault)| ReadError::at(file, line, fault))?;
    if bytes.is_empty() { Err(ReadError::empty(file)) } else { Ok(bytes) }
}

/// The content as text; `None` when it is binary.
///
/// Text with a byte-order mark or with colours would be taken for binary, and decoded as what it is
/// not: it is refused.
fn as_text<'r>(file: &str, raw: &'r [u8]) -> Result<Option<&'r str>, ReadError> {
    let printable = |b: u8| matches!(b, b' '..=b'~' | b'\t'..=b'\r');
    let refuse = |what| Err(ReadError::NotPlain { file: file.to_owned(), what });
    if raw.iter().all(|b| printable(*b)) {
        return Ok(str::from_utf8(raw).ok());
    }
    let of_16_bits = |big: bool| {
        raw[2..].chunks(2).all(|c| match (c, big) {
            ([0, b], true) | ([b, 0], false) => printable(*b),
            _ => false,
        })
    };
    match raw {
        [0xef, 0xbb, 0xbf, rest @ ..] if rest.iter().all(|b| printable(*b)) => {
            refuse("a byte-order mark")
        }
        [0xfe, 0xff, ..] if of_16_bits(true) => refuse("a byte-order mark"),
        [0xff, 0xfe, ..] if of_16_bits(false) => refuse("a byte-order mark"),
        _ if raw.iter().all(|b| printable(*b) || *b == 0x1b) => refuse("colour codes"),
        // A mailbox is never that much like text; a few odd letters in a dump are.
        _ if raw.len() >= 32
            && raw.iter().filter(|b| printable(**b)).count() * 10 >= raw.len() * 9 =>
        {
            refuse("bytes that are not ASCII")
        }
        _ => Ok(None),
    }
}
