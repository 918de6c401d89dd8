//! Arrays of bytes in C or Rust, such as `xxd -i` writes them.

use super::Line;
use super::assemble::MOST;
use super::fault::Fault;

/// The numbers between the brackets that open last, with what is said around them passed over: a type, a
/// name, comments. The length that `xxd -i` adds is compared.
pub(super) fn read<'t>(lines: &[Line<'t>]) -> Result<Vec<u8>, (Line<'t>, Fault)> {
    let mut bytes = Vec::new();
    let mut state = State::Before { head: String::new() };
    let mut comment = false;
    for line in lines {
        let code = without_comments(line.text, &mut comment);
        // What `prm encode --c` and `--rust` write, and programs like it.
        if ["DEVX_SET", "MLX5_SET", "mlx5_prm::"].iter().any(|word| code.contains(word)) {
            return Err((*line, Fault::Program));
        }
        // What the preprocessor takes declares nothing.
        let is_directive =
            code.trim_start().strip_prefix('#').is_some_and(|rest| !rest.starts_with('['));
        if is_directive {
            continue;
        }
        let mut rest = &*code;
        while !rest.is_empty() {
            rest = state.step(rest, &mut bytes).map_err(|fault| (*line, fault))?;
        }
    }
    match (state, lines.first(), lines.last()) {
        (State::In { .. }, _, Some(last)) => Err((*last, Fault::ArrayOpen)),
        (State::Before { .. }, Some(first), _) => Err((*first, Fault::NoArray)),
        _ => Ok(bytes),
    }
}

/// How much of a declaration is looked at, in bytes.
const LONGEST_HEAD: usize = 1024;

/// Where in the text it is.
enum State {
    /// What a declaration says so far that is not at its list yet.
    Before {
        head: String,
    },
    /// `said`: how long the array is to be, and how that is written; `element`: one follows the last comma.
    In {
        close: char,
        said: Option<(u64, String)>,
        element: bool,
    },
    After,
}

impl State {
    /// Takes a piece of a line, and gives what is left of it.
    fn step<'t>(&mut self, text: &'t str, bytes: &mut Vec<u8>) -> Result<&'t str, Fault> {
        match self {
            State::Before { head } => {
                // `uint8_t in[16] = {`: the brackets of a type hold no list of their own.
                let Some((before, after)) = opening(text) else {
                    let whole = format!("{head} {text}");
                    let from = whole.len().saturating_sub(LONGEST_HEAD);
                    *head = declared(whole.get(from..).unwrap_or("")).to_owned();
                    return if text.contains('}') { Err(Fault::ArrayClosed) } else { Ok("") };
                };
                let close = if text[before..].starts_with('{') { '}' } else { ']' };
                let head = format!("{head} {}", &text[..before]);
                let said = of_bytes(declared(&head))?;
                *self = State::In { close, said, element: false };
                Ok(&text[after..])
            }
            State::In { close, said, element } => {
                let end = text.find(*close).unwrap_or(text.len());
                for (i, piece) in text[..end].split(',').enumerate() {
                    if i > 0 && !std::mem::replace(element, false) {
                        return Err(Fault::NoElement);
                    }
                    for word in piece.split_whitespace() {
                        bytes.push(number(word)?);
                        *element = true;
                    }
                }
                if end < text.len() {
                    let is = bytes.len();
                    match said.take() {
                        // C fills up with zeros.
                        Some((said, _))
                            if *close == '}' && is > 0 && (is as u64..MOST).contains(&said) =>
                        {
                            bytes.resize(said as usize, 0);
                        }
                        Some((said, name)) if said != is as u64 => {
                            return Err(Fault::ArrayLength { name, said, is });
                        }
                        _ => {}
                    }
                    *self = State::After;
                    return Ok(&text[end + 1..]);
                }
                Ok("")
            }
            State::After => {
                if opening(text).is_some() {
                    return Err(Fault::SecondArray(bytes.len()));
                }
                // `in[8] = 5;`
                let first = text.split_whitespace().next().unwrap_or("");
                if first.contains('[') && text.contains('=') {
                    return Err(Fault::AfterArray(text.trim().to_owned()));
                }
                let mut words = text.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty());
                let all = words.clone().all(is_number);
                let begins = |word: &&str| all || word.starts_with(|c: char| c.is_ascii_digit());
                if let Some(word) = words.next().filter(begins) {
                    return Err(Fault::AfterArray(word.to_owned()));
                }
                // `unsigned int dump_len = 272;`
                if let Some((name, value)) = text.split_once('=') {
                    let name = name.split_whitespace().last().unwrap_or_default();
                    let said = length(value.trim().trim_end_matches(';'));
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

/// The declaration that a text ends in: what is behind the last `;` that stands in no brackets; or the type of
/// the literal whose list follows, `(uint8_t []){`.
fn declared(text: &str) -> &str {
    if let Some(of) = literal(text) {
        return of;
    }
    let mut depth = 0usize;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '<' => depth += 1,
            ']' | '>' => depth = depth.saturating_sub(1),
            ';' | ')' if depth == 0 => from = at + 1,
            _ => {}
        }
    }
    &text[from..]
}

/// The type in the brackets that a text ends with, if it is an array's.
fn literal(text: &str) -> Option<&str> {
    let inside =
        text.trim_end().strip_suffix(')').filter(|inside| inside.trim_end().ends_with(']'))?;
    let mut depth = 1usize;
    let opens = inside.char_indices().rev().find(|(_, c)| {
        match c {
            '(' => depth -= 1,
            ')' => depth += 1,
            _ => {}
        }
        depth == 0
    });
    opens.map(|(at, _)| &inside[at + 1..])
}

/// What is said before a list: its elements must be bytes; how many they are, if that is a number.
fn of_bytes(head: &str) -> Result<Option<(u64, String)>, Fault> {
    // Words before a list alone are no types.
    if head.contains(['=', '[', '<']) {
        let types = without_lengths(head);
        let mut words = types.split(|c: char| !c.is_alphanumeric() && c != '_');
        // `unsigned char`
        let of_chars = words.clone().any(|word| word == "char");
        let is_longer = |word: &&str| is_longer(word) && !(of_chars && *word == "unsigned");
        if let Some(longer) = words.find(is_longer) {
            return Err(Fault::NotBytes(longer.to_owned()));
        }
    }
    let inside = head.rsplit_once(']').and_then(|(head, _)| head.rsplit_once('['));
    let text = inside.map(|(_, len)| len.rsplit(';').next().unwrap_or(len).trim());
    Ok(text.and_then(|text| Some((length(text)?, format!("[{text}]")))))
}

/// A declaration without what stands in brackets, but for the type in those of Rust: `[u32; 4]`.
fn without_lengths(head: &str) -> String {
    let mut out = String::new();
    let mut rest = head;
    while let Some((before, inside)) = rest.split_once('[') {
        let (inside, after) = inside.split_once(']').unwrap_or((inside, ""));
        let of = inside.split_once(';').map_or("", |(of, _)| of);
        out.extend([before, " ", of, " "]);
        rest = after;
    }
    out + rest
}

/// Whether a word is a type of C, the kernel, Windows or Rust that has more than a byte.
fn is_longer(word: &str) -> bool {
    const LONGER: [&str; 25] = [
        "short",
        "int",
        "long",
        "unsigned",
        "signed",
        "float",
        "double",
        "size_t",
        "ssize_t",
        "usize",
        "isize",
        "uintptr_t",
        "intptr_t",
        "wchar_t",
        "ushort",
        "uint",
        "ulong",
        "WORD",
        "DWORD",
        "QWORD",
        "SHORT",
        "INT",
        "LONG",
        "UINT",
        "ULONG",
    ];
    const BEFORE_BITS: [&str; 26] = [
        "rte_be",
        "rte_le",
        "gint",
        "guint",
        "int_least",
        "uint_least",
        "int_fast",
        "uint_fast",
        "u",
        "i",
        "f",
        "s",
        "int",
        "uint",
        "u_int",
        "char",
        "__u",
        "__s",
        "__be",
        "__le",
        "be",
        "le",
        "INT",
        "UINT",
        "DWORD",
        "ULONG",
    ];
    let bits = word.strip_suffix("_t").unwrap_or(word);
    let before = ["16", "32", "64", "128"].iter().find_map(|bits_of| bits.strip_suffix(bits_of));
    LONGER.contains(&word) || before.is_some_and(|before| BEFORE_BITS.contains(&before))
}

/// The number that a length is written as: decimal or hex.
fn length(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        // Octal in C, and not in Rust.
        None if text.len() > 1 && text.starts_with('0') => None,
        None => text.parse().ok(),
    }
}

/// Whether a word is a number, as it stands in a dump or in an array.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
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
        let begins = |(at, _): &(usize, &str)| rest[at + 1..].starts_with(['*', '/']);
        let Some((at, _)) = rest.match_indices('/').find(begins) else { return out + rest };
        out += &rest[..at];
        if rest[at + 1..].starts_with('/') {
            return out;
        }
        out.push(' ');
        (*comment, rest) = (true, &rest[at + 2..]);
    }
}
