//! What a source says of a place or a number, in the words of `conflicts.toml`.

use std::fmt;

use crate::headers::{HOLDS_FAULTY, POINTER};
use crate::spec::{Count, Element, Field};

/// What is said of a layout, a field, an enumerator or a register.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Of a layout: `struct of 0x40 bytes`.
    Extent { is_union: bool, bytes: u64 },
    /// Of a field: `0x0c 28:24`, `0x110 width 64 []`, `0x10 cqc [3]`.
    Place { byte: u64, what: What, count: Count },
    /// Of an enumerator: `0x403`.
    Number(i64),
    /// Of a layout: that it is none, and why. Of a register: its name.
    Word(String),
}

/// What lies at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// Bits of the dword at the byte, the first and the last.
    Bits(u64, u64),
    /// So many bits from the byte on.
    Width(u64),
    /// A layout.
    Layout(String),
}

impl Claim {
    /// The kind and size of a layout.
    pub(crate) fn extent(is_union: bool, bits: u64) -> Claim {
        Claim::Extent { is_union, bytes: bits / 8 }
    }

    /// The place of a field.
    pub(crate) fn place(field: &Field) -> Claim {
        let within = field.bit % 32;
        let (byte, what) = match &field.element {
            Element::Bits(width) if *width > 0 && within + width <= 32 => {
                (field.bit / 32 * 4, What::Bits(31 - within, 32 - within - width))
            }
            Element::Bits(width) => (field.bit / 8, What::Width(*width)),
            Element::Layout(name) => (field.bit / 8, What::Layout(name.clone())),
        };
        Claim::Place { byte, what, count: field.count }
    }

    /// What a text of `conflicts.toml` says.
    pub(crate) fn parse(text: &str) -> Claim {
        let words: Vec<&str> = text.split(' ').collect();
        let claim = match words[..] {
            [kind, "of", bytes, "bytes"] => parse_extent(kind, bytes),
            [number] => integer(number).map(Claim::Number),
            [byte, ref rest @ ..] => hex(byte).and_then(|byte| parse_place(byte, rest)),
            [] => None,
        };
        claim.unwrap_or_else(|| Claim::Word(fault(text)))
    }
}

fn parse_extent(kind: &str, bytes: &str) -> Option<Claim> {
    let is_union = match kind {
        "struct" => false,
        "union" => true,
        _ => return None,
    };
    Some(Claim::Extent { is_union, bytes: hex(bytes)? })
}

fn parse_place(byte: u64, words: &[&str]) -> Option<Claim> {
    let (what, rest) = match words {
        ["width", width, rest @ ..] => (What::Width(width.parse().ok()?), rest),
        [word, rest @ ..] => match word.split_once(':') {
            Some((high, low)) => (What::Bits(high.parse().ok()?, low.parse().ok()?), rest),
            None => (What::Layout((*word).to_owned()), rest),
        },
        [] => return None,
    };
    let count = match rest {
        [] => Count::One,
        ["[]"] => Count::List,
        [one] => {
            let n = one.strip_prefix('[').and_then(|one| one.strip_suffix(']'));
            Count::Array(n?.parse().ok()?)
        }
        _ => return None,
    };
    Some(Claim::Place { byte, what, count })
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn integer(text: &str) -> Option<i64> {
    match hex(text) {
        Some(number) => Some(number as i64),
        None => text.parse().ok(),
    }
}

/// Why a layout is none, in the words of gcc's reader where the importer uses others.
fn fault(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let long = words.windows(3).find(|words| words[1..] == ["bits", "long,"]);
    match long {
        Some(words) => format!("{} bits long", words[0]),
        None if text.contains("\"*\"") => POINTER.to_owned(),
        None if text.contains("is not complete here") => HOLDS_FAULTY.to_owned(),
        None => text.to_owned(),
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Extent { is_union, bytes } => {
                let kind = if *is_union { "union" } else { "struct" };
                write!(f, "{kind} of 0x{bytes:02x} bytes")
            }
            Claim::Place { byte, what, count } => {
                write!(f, "0x{byte:02x} ")?;
                match what {
                    What::Bits(high, low) => write!(f, "{high}:{low}")?,
                    What::Width(width) => write!(f, "width {width}")?,
                    What::Layout(name) => write!(f, "{name}")?,
                }
                match count {
                    Count::One => Ok(()),
                    Count::Array(n) => write!(f, " [{n}]"),
                    Count::List => write!(f, " []"),
                }
            }
            Claim::Number(number) if *number < 0 => write!(f, "{number}"),
            Claim::Number(number) => write!(f, "0x{number:x}"),
            Claim::Word(word) => write!(f, "{word}"),
        }
    }
}
