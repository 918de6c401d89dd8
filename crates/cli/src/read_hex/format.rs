//! The formats: which one a text is in, and what a line of it says.

use super::Line;
use super::assemble::{Item, MOST};
use super::fault::Fault;

/// A format of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Hex digits, and nothing else; also `xxd -p`.
    Plain,
    /// `offset: groups`, and after two spaces a text column.
    Xxd(Radix),
    /// `offset bytes`, and the offset of the end in a line of its own.
    Od(Radix),
    /// `offset groups`, and after three spaces there may be a text column: offsets in hex without a colon.
    Columns,
    /// `offset  bytes  |text|`, and the offset of the end in a line of its own.
    Hexdump,
    /// Numbers in an array of C or Rust: `{0x04, 3}`, `[0x04, 3]`.
    Array,
}

/// What offsets are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Radix {
    Octal,
    Decimal,
    Hex,
}

impl Format {
    /// The format of a text, of which `lines` are those that are not blank.
    pub(super) fn of(lines: &[Line<'_>]) -> Result<Self, Fault> {
        let mut telling = lines.iter().map(|line| line.text.trim()).filter(|text| *text != "*");
        let (first, second) = (telling.next().unwrap_or(""), telling.next());
        if let Some((word, rest)) = before_colon(first) {
            // Behind an address; the text column of xxd would tell the order.
            let is_address = offset(word, Radix::Hex).is_ok_and(|at| at > MOST);
            if is_address && !rest.contains("  ") && has_words(rest) {
                return Err(Fault::Words);
            }
            return Ok(Format::Xxd(Radix::Hex));
        }
        if first.contains('|') && without_marked_text(first).is_none() {
            return Ok(Format::Hexdump);
        }
        if let Some(format) = od(first, second)? {
            return Ok(format);
        }
        if counts_up(lines) {
            let word = first.split_whitespace().next().unwrap_or("");
            return Err(Fault::OffsetOrBytes(word.to_owned()));
        }
        let is_array = lines.iter().any(|line| line.text.contains(['{', '[']));
        Ok(if is_array { Format::Array } else { Format::Plain })
    }

    /// The same with decimal offsets, where a tool writes those on demand and nothing but their values tells.
    pub(super) fn in_decimal(self) -> Option<Self> {
        match self {
            Format::Xxd(_) => Some(Format::Xxd(Radix::Decimal)),
            Format::Od(Radix::Octal) => Some(Format::Od(Radix::Decimal)),
            _ => None,
        }
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
            Format::Xxd(radix) => xxd(line, radix),
            Format::Od(radix) => od_line(line, radix),
            Format::Columns => columns(line),
            Format::Hexdump => hexdump(line),
            // It is read as a whole.
            Format::Array => Ok(Item::Frame),
        }
    }
}

/// Whether a text has offsets without a colon, as od writes them; these are its first two lines that are not
/// `*`.
///
/// Plain hex may begin with zeros too, so it takes more to be an offset: a number of digits that
/// no bytes have, or the like at the start of the second line.
fn od(first: &str, second: Option<&str>) -> Result<Option<Format>, Fault> {
    let first = without_marked_text(first).map_or(first, |(head, _)| head);
    let (word, rest) = first_word(first);
    let offset = without_0x(word);
    let groups = rest.trim_start().split("   ").next().unwrap_or("");
    let rest: Vec<&str> = groups.split_whitespace().map(without_0x).collect();
    let digits = offset.len();
    if digits < 4 || offset.bytes().any(|b| b != b'0') || rest.is_empty() {
        return Ok(None);
    }
    let is_number = |word: &&str| word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit());
    let is_decimal = |word: &&str| word.len() == 1 || !word.starts_with('0');
    let is_octal = |word: &&str| word.len() == 3;
    if digits == 7
        && rest.iter().all(is_number)
        && rest.iter().any(|word| word.len() != 2)
        && (rest.iter().all(is_decimal) || rest.iter().all(is_octal))
    {
        return Err(Fault::NotHexBytes);
    }
    if matches!(digits, 6 | 7) && rest.iter().all(|word| word.len() > 2) {
        return Err(Fault::Words);
    }
    if digits == 7 && rest.iter().any(|word| word.len() == 2) {
        return Ok(Some(Format::Od(Radix::Octal)));
    }
    let next = second.map(|line| without_0x(first_word(line).0)).filter(|word| is_hex(word));
    let has_next = next.is_some_and(|word| word.len() == digits);
    let group = rest[0].len();
    let bytes: usize = rest.iter().map(|word| word.len() / 2).sum();
    // Of the same width as what follows it, it is a column of offsets if it counts what follows.
    if group == digits {
        let counts = next.and_then(|next| usize::from_str_radix(next, 16).ok()) == Some(bytes);
        let is_row = has_next && counts && digits <= 8 && bytes >= 8 && bytes.is_power_of_two();
        return if is_row { Err(Fault::OffsetOrBytes(word.to_owned())) } else { Ok(None) };
    }
    // Offsets are wider than what follows them, but where they are short.
    if group > digits && digits > 5 {
        return Ok(None);
    }
    let is_even = |word: &&str| word.len() <= group && word.len().is_multiple_of(2) && is_hex(word);
    if digits < 6 && !rest.iter().all(is_even) {
        return Ok(None);
    }
    match has_next {
        true if digits > 5 && rest.iter().any(|word| word.len() == 2) => {
            Ok(Some(Format::Od(Radix::Hex)))
        }
        true => Ok(Some(Format::Columns)),
        false if digits > 5 && group > 2 => Ok(None),
        false => Err(Fault::OffsetOrBytes(word.to_owned())),
    }
}

/// Whether the first words of all lines count the bytes of those before, in hex or decimal, as offsets do and
/// no content does; it takes four lines to say so.
fn counts_up(lines: &[Line<'_>]) -> bool {
    let row = |line: &Line<'_>| -> Option<(String, usize)> {
        let (word, rest) = first_word(line.text.trim());
        let groups = rest.trim_start().split("   ").next().unwrap_or("");
        let digits: usize = groups.split_whitespace().map(|word| without_0x(word).len()).sum();
        let is_row = is_hex(without_0x(word)) && digits > 0 && digits.is_multiple_of(2);
        is_row.then(|| (without_0x(word).to_owned(), digits / 2))
    };
    let counts = |radix: u32| {
        let mut at = 0u64;
        lines.iter().all(|line| {
            let Some((word, bytes)) = row(line) else { return false };
            let is_next = u64::from_str_radix(&word, radix).ok() == Some(at);
            at += bytes as u64;
            is_next
        })
    };
    lines.len() >= 4 && (counts(16) || counts(10))
}

/// The first word of a line, and what follows it.
fn first_word(line: &str) -> (&str, &str) {
    line.split_at(line.find(|c: char| c.is_ascii_whitespace()).unwrap_or(line.len()))
}

/// A line of od without the text that `z` adds, `>...<`, and that.
fn without_marked_text(line: &str) -> Option<(&str, &str)> {
    let (head, text) = line.split_once('>')?;
    Some((head, text.strip_suffix('<')?))
}

fn plain(line: &str) -> Result<Item, Fault> {
    let words = line.split(|c: char| c.is_ascii_whitespace() || c == ',');
    Ok(Item::Bytes(None, hex_words(words.filter(|word| !word.is_empty()))?))
}

fn xxd(line: &str, radix: Radix) -> Result<Item, Fault> {
    let Some((word, rest)) = before_colon(line) else {
        let first = line.split_whitespace().next().unwrap_or("");
        return Err(not_offset(first, "hex, with a colon"));
    };
    let at = offset(word, radix)?;
    // gdb writes addresses, and longer numbers as the machine has them.
    let is_number = |word: &str| without_0x(word).len() < word.len();
    if is_number(word) && rest.split_whitespace().all(is_number) {
        if has_words(rest) {
            return Err(Fault::Words);
        }
        let bytes = hex_words(rest.split_whitespace())?;
        // No offset in a mailbox has a name, or goes so far.
        let is_address = line.contains('<') || at > 0xffff;
        return Ok(if is_address { Item::Memory(at, bytes) } else { Item::Bytes(Some(at), bytes) });
    }
    let (groups, text) = rest.split_once("  ").unwrap_or((rest, ""));
    groups_and_text(at, groups, text)
}

fn columns(line: &str) -> Result<Item, Fault> {
    let (first, rest) = first_word(line);
    let at = offset(first, Radix::Hex)?;
    let rest = rest.trim_start();
    let (groups, text) = rest.split_once("   ").unwrap_or((rest, ""));
    if groups.is_empty() { Ok(Item::End(at)) } else { groups_and_text(at, groups, text) }
}

fn groups_and_text(at: u64, groups: &str, text: &str) -> Result<Item, Fault> {
    let words = || groups.split_whitespace();
    let bytes = hex_words(words())?;
    if bytes.is_empty() {
        return Err(Fault::NoBytes);
    }
    // The text column may have been left out.
    if !text.trim().is_empty() {
        let is_binary =
            |word: &str| word.len() == 8 && word.bytes().all(|b| matches!(b, b'0' | b'1'));
        if words().all(is_binary) && text.trim().len() <= words().count() {
            return Err(Fault::BinaryDigits);
        }
        check_text(&bytes, text)?;
        let swapped: Vec<u8> = words()
            .flat_map(|word| hex_words(std::iter::once(word)).unwrap_or_default().into_iter().rev())
            .collect();
        if !is_text_of(&bytes, text) && is_text_of(&swapped, text) {
            return Err(Fault::Swapped);
        }
    }
    Ok(Item::Bytes(Some(at), bytes))
}

fn od_line(line: &str, radix: Radix) -> Result<Item, Fault> {
    let (head, text) = without_marked_text(line).unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let at = offset(words.next().unwrap_or(""), radix)?;
    let bytes = single_bytes(words)?;
    if !text.is_empty() {
        check_text(&bytes, text)?;
    }
    Ok(if bytes.is_empty() { Item::End(at) } else { Item::Bytes(Some(at), bytes) })
}

fn hexdump(line: &str) -> Result<Item, Fault> {
    let (head, text) = line.split_once('|').unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let at = offset(words.next().unwrap_or(""), Radix::Hex)?;
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

/// The offset at the start of a line, which a colon ends, and what follows; gdb has a name before the colon,
/// `0x4040 <in+8>:`.
fn before_colon(line: &str) -> Option<(&str, &str)> {
    let (first, after) = first_word(line);
    let (word, rest) = match first.strip_suffix(':') {
        Some(word) => (word, after),
        None => (first, after.trim_start().strip_prefix('<')?.split_once(">:")?.1),
    };
    is_hex(without_0x(word)).then_some((word, rest.trim_start()))
}

/// Whether there are numbers of several bytes.
fn has_words(groups: &str) -> bool {
    groups.split_whitespace().any(|word| without_0x(word).len() > 2)
}

fn without_0x(word: &str) -> &str {
    word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word)
}

fn offset(word: &str, radix: Radix) -> Result<u64, Fault> {
    let (radix, name) = match radix {
        Radix::Octal => (8, "octal"),
        Radix::Decimal => (10, "decimal"),
        Radix::Hex => (16, "hex"),
    };
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

/// Whether a text column shows these bytes, with a point for each that is no letter.
fn is_text_of(bytes: &[u8], text: &str) -> bool {
    let shown = bytes.iter().map(|b| if matches!(b, b' '..=b'~') { *b as char } else { '.' });
    shown.collect::<String>().trim() == text.trim()
}
