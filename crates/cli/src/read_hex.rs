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
use fault::Fault;
pub use fault::{ReadError, cut, shown};
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
    let bytes =
        of_lines(format, &lines).map_err(|(line, fault)| ReadError::at(file, line, fault))?;
    if bytes.is_empty() { Err(ReadError::empty(file)) } else { Ok(bytes) }
}

/// The bytes of a dump. Offsets are decimal if they fit nothing else.
fn of_lines<'t>(format: Format, lines: &[Line<'t>]) -> Result<Vec<u8>, (Line<'t>, Fault)> {
    let usual = assembled(format, lines);
    let Some(decimal) = format.in_decimal().map(|format| assembled(format, lines)) else {
        return usual.map(|(bytes, _)| bytes);
    };
    // Shorter lines may be whole ones that were cut.
    let decimal = decimal.map(|(bytes, first)| (bytes, first >= 8 && first.is_power_of_two()));
    match (usual, decimal) {
        // `*` leaves open how long it is. It is as usual where that makes whole rows and decimal does not.
        (Ok((bytes, _)), Ok((other, _))) if bytes != other => {
            let is_usual = bytes.len().is_multiple_of(16) && !other.len().is_multiple_of(16);
            if is_usual { Ok(bytes) } else { Err((lines[0], Fault::AnyRadix)) }
        }
        (Ok((bytes, _)), _) | (Err(_), Ok((bytes, true))) => Ok(bytes),
        // The one that came further has the fault.
        (Err(usual), Err(decimal)) if decimal.0.number > usual.0.number => Err(decimal),
        (Err(usual), _) => Err(usual),
    }
}

/// The bytes of a dump in a format, and how many of them the first line has.
fn assembled<'t>(
    format: Format,
    lines: &[Line<'t>],
) -> Result<(Vec<u8>, usize), (Line<'t>, Fault)> {
    let mut assembly = Assembly::default();
    let mut first = 0;
    for line in lines {
        let item = format.item(line.text);
        item.and_then(|item| assembly.add(item, *line)).map_err(|fault| (*line, fault))?;
        first = if first == 0 { assembly.last_line() } else { first };
    }
    Ok((assembly.finish()?, first))
}

/// The content as text; `None` when it is binary.
///
/// Text with a byte-order mark, in UTF-16, with NULs or with colours would be taken for binary, and decoded as what it is
/// not: it is refused.
fn as_text<'r>(file: &str, raw: &'r [u8]) -> Result<Option<&'r str>, ReadError> {
    let printable = |b: u8| matches!(b, b' '..=b'~' | b'\t'..=b'\r');
    let refuse = |what| Err(ReadError::NotPlain { file: file.to_owned(), what });
    if raw.iter().all(|b| printable(*b)) {
        return Ok(str::from_utf8(raw).ok());
    }
    let of_16_bits = |raw: &[u8], big: bool| {
        raw.chunks(2).all(|c| match (c, big) {
            ([0, b], true) | ([b, 0], false) => printable(*b),
            _ => false,
        })
    };
    // Enough of either that no mailbox has it.
    let has_16_bits = || raw.len() >= 32 && (of_16_bits(raw, false) || of_16_bits(raw, true));
    let has_nul = || {
        let text = raw.iter().position(|b| *b == 0).map_or(raw, |end| &raw[..end]);
        let digits = text.iter().filter(|b| b.is_ascii_hexdigit() || b.is_ascii_whitespace());
        text.len() >= 32
            && digits.count() * 2 >= text.len()
            && raw.iter().all(|b| *b == 0 || printable(*b))
    };
    match raw {
        [0xef, 0xbb, 0xbf, rest @ ..] if rest.iter().all(|b| printable(*b)) => {
            refuse("a byte-order mark")
        }
        [0xfe, 0xff, ..] if of_16_bits(&raw[2..], true) => refuse("a byte-order mark"),
        [0xff, 0xfe, ..] if of_16_bits(&raw[2..], false) => refuse("a byte-order mark"),
        _ if has_16_bits() => refuse("two bytes for each letter (UTF-16)"),
        _ if has_nul() => refuse("NUL bytes"),
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
