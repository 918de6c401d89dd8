//! Arrays of bytes in C or Rust, such as `xxd -i` writes them.

use super::Line;
use super::fault::Fault;

/// The numbers between the brackets that open last, with what is said around them passed over: a type, a
/// name, comments. The length that `xxd -i` adds is compared.
pub(super) fn read<'t>(lines: &[Line<'t>]) -> Result<Vec<u8>, (Line<'t>, Fault)> {
    let mut bytes = Vec::new();
    let mut state = State::Before;
    let mut comment = false;
    for line in lines {
        let code = without_comments(line.text, &mut comment);
        let mut rest = &*code;
        while !rest.is_empty() {
            rest = state.step(rest, &mut bytes).map_err(|fault| (*line, fault))?;
        }
    }
    match (state, lines.first(), lines.last()) {
        (State::In { .. }, _, Some(last)) => Err((*last, Fault::ArrayOpen)),
        (State::Before, Some(first), _) => Err((*first, Fault::NoArray)),
        _ => Ok(bytes),
    }
}

/// Where in the text it is.
enum State {
    Before,
    /// How long the array is to be, if that is said.
    In {
        close: char,
        len: Option<u64>,
    },
    After,
}

impl State {
    /// Takes a piece of a line, and gives what is left of it.
    fn step<'t>(&mut self, text: &'t str, bytes: &mut Vec<u8>) -> Result<&'t str, Fault> {
        match self {
            State::Before => {
                // `uint8_t in[16] = {`: the brackets of a type hold no list of their own.
                let Some((before, after)) = opening(text) else {
                    return if text.contains('}') { Err(Fault::ArrayClosed) } else { Ok("") };
                };
                let close = if text[before..].starts_with('{') { '}' } else { ']' };
                *self = State::In { close, len: of_bytes(&text[..before])? };
                Ok(&text[after..])
            }
            State::In { close, len } => {
                let (close, len) = (*close, *len);
                let end = text.find(close).unwrap_or(text.len());
                for word in text[..end].split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
                    bytes.push(number(word)?);
                }
                if end < text.len() {
                    *self = State::After;
                    let is = bytes.len();
                    if let Some(said) = len.filter(|said| *said != is as u64) {
                        return Err(Fault::ArrayLength { name: format!("[{said}]"), said, is });
                    }
                    return Ok(&text[end + 1..]);
                }
                Ok("")
            }
            State::After => {
                if opening(text).is_some() {
                    return Err(Fault::SecondArray(bytes.len()));
                }
                // `unsigned int dump_len = 272;`
                if let Some((name, value)) = text.split_once('=') {
                    let name = name.split_whitespace().last().unwrap_or_default();
                    let said = value.trim().trim_end_matches(';').parse().ok();
                    if let Some(said) = said.filter(|_| name.ends_with("_len"))
                        && said != bytes.len() as u64
                    {
                        let name = name.to_owned();
                        return Err(Fault::ArrayLength { name, said, is: bytes.len() });
                    }
                }
                Ok("")
            }
        }
    }
}

/// What is said before a list: its elements must be bytes; how many they are, if that is a number.
fn of_bytes(head: &str) -> Result<Option<u64>, Fault> {
    // C and the kernel, and Rust.
    const LONGER: [&str; 21] = [
        "uint16_t", "uint32_t", "uint64_t", "int16_t", "int32_t", "int64_t", "short", "int",
        "long", "u16", "u32", "u64", "i16", "i32", "i64", "__be16", "__be32", "__be64", "__u16",
        "__u32", "__u64",
    ];
    let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '_');
    if let Some(longer) = words.find(|word| LONGER.contains(word)) {
        return Err(Fault::NotBytes(longer.to_owned()));
    }
    let inside = head.rsplit_once(']').and_then(|(head, _)| head.rsplit_once('['));
    let len = inside.map(|(_, len)| len.rsplit(';').next().unwrap_or(len).trim());
    Ok(len.and_then(|len| len.parse().ok()))
}

/// Where the list opens: at a `{`, or at a `[` that is no length or type in front of one. Gives its place and
/// that behind it.
fn opening(text: &str) -> Option<(usize, usize)> {
    if let Some(at) = text.find('{') {
        return Some((at, at + 1));
    }
    // Rust: `let bytes: [u8; 4] = [4, 3, 0, 0];`, or the list alone.
    let from = text.rfind('=').map_or(0, |at| at + 1);
    let rest = text[from..].trim_start().trim_start_matches('&').trim_start();
    let at = text.len() - rest.len();
    let inside = rest.strip_prefix('[')?;
    // The list ends with the line, or goes on: else it is a time in a log.
    let is_list = match inside.split_once(']') {
        None => inside.trim().is_empty() || inside.contains(','),
        Some((numbers, after)) => !numbers.contains(';') && matches!(after.trim(), "" | ";"),
    };
    is_list.then_some((at, at + 1))
}

fn number(word: &str) -> Result<u8, Fault> {
    let lower = word.to_ascii_lowercase();
    let lower = lower.strip_suffix("u8").or_else(|| lower.strip_suffix('u')).unwrap_or(&lower);
    let lower = lower.trim_end_matches('_');
    let not = || Fault::NotNumber(word.to_owned());
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if lower.len() > 1 && lower.starts_with('0') => {
            return Err(Fault::Octal(word.to_owned()));
        }
        None => (lower, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(not());
    }
    u8::from_str_radix(digits, radix).map_err(|_| Fault::NotOneByte(word.to_owned()))
}

/// A line without its comments; `comment`: one that is open.
fn without_comments(text: &str, comment: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    loop {
        if *comment {
            let Some((_, after)) = rest.split_once("*/") else { return out };
            (*comment, rest) = (false, after);
        }
        let (open, line) = (rest.find("/*"), rest.find("//"));
        match (open, line) {
            (Some(open), line) if line.is_none_or(|line| open < line) => {
                out += &rest[..open];
                out.push(' ');
                (*comment, rest) = (true, &rest[open + 2..]);
            }
            (_, Some(line)) => return out + &rest[..line],
            _ => return out + rest,
        }
    }
}
