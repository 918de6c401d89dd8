//! Mailboxes as people have them: binary, hex, or a dump by a tool or the kernel.
//!
//! The format is seen from the content. Whatever a format tells beyond the bytes, such as
//! offsets and text columns, is used to check that none of them is missing.

mod assemble;
mod fault;
mod format;
#[cfg(test)]
mod tests;

use assemble::Assembly;
pub(crate) use fault::ReadError;
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
pub(crate) fn read(file: &str, raw: &[u8]) -> Result<Vec<u8>, ReadError> {
    let Some(text) = as_text(raw) else { return Ok(raw.to_vec()) };
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(i, text)| Line { number: i + 1, text })
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    let Some(first) = lines.first() else { return Err(ReadError::empty(file)) };
    let format = Format::of(&lines).map_err(|fault| ReadError::at(file, *first, fault))?;
    let mut assembly = Assembly::default();
    for line in &lines {
        let item = format.item(line.text);
        item.and_then(|item| assembly.add(item, *line))
            .map_err(|fault| ReadError::at(file, *line, fault))?;
    }
    let bytes = assembly.finish().map_err(|(line, fault)| ReadError::at(file, line, fault))?;
    if bytes.is_empty() { Err(ReadError::empty(file)) } else { Ok(bytes) }
}

/// The content as text; `None` when it holds a byte that no dump holds.
fn as_text(raw: &[u8]) -> Option<&str> {
    let printable = |b: &u8| matches!(b, b' '..=b'~' | b'\t'..=b'\r');
    raw.iter().all(printable).then(|| str::from_utf8(raw).ok())?
}
