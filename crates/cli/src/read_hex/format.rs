//! The formats: which one a text is in, and what a line of it says.

use super::Line;
use super::assemble::Item;
use super::fault::Fault;

/// A format of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Hex digits, and nothing else; also `xxd -p`.
    Plain,
    /// `offset: groups`, and after two spaces a text column.
    Xxd,
    /// `offset bytes`, and the offset of the end in a line of its own; offsets are octal or hex.
    Od { octal: bool },
    /// `offset  bytes  |text|`, and the offset of the end in a line of its own.
    Hexdump,
    /// Numbers in an array of C or Rust: `{0x04, 3}`, `[0x04, 3]`.
    Array,
}

impl Format {
    /// The format of a text, of which `lines` are those that are not blank.
    pub(super) fn of(lines: &[Line<'_>]) -> Result<Self, Fault> {
        let mut telling = lines.iter().map(|line| line.text.trim()).filter(|text| *text != "*");
        let (first, second) = (telling.next().unwrap_or(""), telling.next());
        if first.split_whitespace().next().is_some_and(is_offset_with_colon) {
            return Ok(Format::Xxd);
        }
        if first.contains('|') {
            return Ok(Format::Hexdump);
        }
        if lines.iter().any(|line| line.text.contains(['{', '['])) {
            return Ok(Format::Array);
        }
        Ok(od(first, second)?.unwrap_or(Format::Plain))
    }

    /// What a line says.
    pub(super) fn item(self, line: &str) -> Result<Item, Fault> {
        let line = line.trim();
        if line == "*" {
            return if self == Format::Plain {
                Err(Fault::RepeatInPlainHex)
            } else {
                Ok(Item::Repeat)
            };
        }
        match self {
            Format::Plain => plain(line),
            Format::Xxd => xxd(line),
            Format::Od { octal } => od_line(line, octal),
            Format::Hexdump => hexdump(line),
            // It is read as a whole.
            Format::Array => Ok(Item::Frame),
        }
    }
}

/// Whether a text is by od, of which these are the first two lines that are not `*`.
///
/// Plain hex may begin with zeros too, so it takes more to be an offset: a number of digits that
/// no bytes have, or the like at the start of the second line.
fn od(first: &str, second: Option<&str>) -> Result<Option<Format>, Fault> {
    let mut words = first.split_whitespace();
    let offset = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let digits = offset.len();
    if digits < 6 || offset.bytes().any(|b| b != b'0') || rest.is_empty() {
        return Ok(None);
    }
    if digits < 8 && rest.iter().all(|word| word.len() > 2) {
        return Err(Fault::Words);
    }
    if !rest.iter().any(|word| word.len() == 2) {
        return Ok(None);
    }
    let next = second.and_then(|line| line.split_whitespace().next());
    match digits == 7 || next.is_some_and(|word| word.len() == digits) {
        true => Ok(Some(Format::Od { octal: digits == 7 })),
        false => Err(Fault::OffsetOrBytes(offset.to_owned())),
    }
}

fn plain(line: &str) -> Result<Item, Fault> {
    let words = line.split(|c: char| c.is_ascii_whitespace() || c == ',');
    Ok(Item::Bytes(None, hex_words(words.filter(|word| !word.is_empty()))?))
}

fn xxd(line: &str) -> Result<Item, Fault> {
    let first = line.split_whitespace().next().unwrap_or("");
    if !is_offset_with_colon(first) {
        return Err(not_offset(first, "hex, with a colon"));
    }
    let at = offset(first.trim_end_matches(':'), false)?;
    let rest = line[first.len()..].trim_start();
    let (groups, text) = rest.split_once("  ").unwrap_or((rest, ""));
    let bytes = hex_words(groups.split_whitespace())?;
    if bytes.is_empty() {
        return Err(Fault::NoBytes);
    }
    // The text column may have been left out.
    if !text.trim().is_empty() {
        check_text(&bytes, text)?;
    }
    Ok(Item::Bytes(Some(at), bytes))
}

fn od_line(line: &str, octal: bool) -> Result<Item, Fault> {
    let mut words = line.split_whitespace();
    let at = offset(words.next().unwrap_or(""), octal)?;
    let bytes = single_bytes(words)?;
    Ok(if bytes.is_empty() { Item::End(at) } else { Item::Bytes(Some(at), bytes) })
}

fn hexdump(line: &str) -> Result<Item, Fault> {
    let (head, text) = line.split_once('|').unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let at = offset(words.next().unwrap_or(""), false)?;
    let bytes = single_bytes(words)?;
    if bytes.is_empty() && text.is_empty() {
        return Ok(Item::End(at));
    }
    let text = text.strip_suffix('|').ok_or(Fault::TextColumnOpen)?;
    check_text(&bytes, text)?;
    Ok(Item::Bytes(Some(at), bytes))
}

fn is_hex(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_offset_with_colon(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(|digits| is_hex(without_0x(digits)))
}

fn without_0x(word: &str) -> &str {
    word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word)
}

fn offset(word: &str, octal: bool) -> Result<u64, Fault> {
    let (radix, name) = if octal { (8, "octal") } else { (16, "hex") };
    let digits = without_0x(word);
    let number = is_hex(digits).then(|| u64::from_str_radix(digits, radix).ok()).flatten();
    number.ok_or_else(|| not_offset(word, name))
}

fn not_offset(word: &str, radix: &'static str) -> Fault {
    Fault::NotOffset { word: word.to_owned(), radix }
}

fn hex_words<'t>(words: impl Iterator<Item = &'t str>) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    for word in words {
        hex_word(word, &mut bytes)?;
    }
    Ok(bytes)
}

/// Bytes of two digits, each a word.
fn single_bytes<'t>(words: impl Iterator<Item = &'t str>) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    for word in words {
        if word.len() != 2 || !is_hex(word) {
            return Err(Fault::NotByte(word.to_owned()));
        }
        hex_word(word, &mut bytes)?;
    }
    Ok(bytes)
}

fn hex_word(word: &str, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    let digits = without_0x(word);
    if !is_hex(digits) {
        return Err(Fault::NotHex(word.to_owned()));
    }
    if !digits.len().is_multiple_of(2) {
        return Err(Fault::OddDigits(word.to_owned()));
    }
    // Every digit was seen to be one.
    let nibble = |b: u8| char::from(b).to_digit(16).unwrap_or_default() as u8;
    bytes.extend(digits.as_bytes().chunks(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
    Ok(())
}

/// A text column has a character for each byte. Spaces at its ends may be padding, or lost by an
/// editor; which characters they are is not looked at, as people change the bytes and leave the
/// text.
fn check_text(bytes: &[u8], text: &str) -> Result<(), Fault> {
    let shown = text.trim().len();
    let is_shown = |b: &u8| *b != b' ';
    let first = bytes.iter().position(is_shown).unwrap_or(0);
    let last = bytes.iter().rposition(is_shown).map_or(first, |last| last + 1);
    if shown == last - first {
        return Ok(());
    }
    Err(Fault::TextColumn { shown, bytes: last - first })
}
