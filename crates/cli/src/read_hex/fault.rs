//! What can be wrong with a line, and what to do about it.

use super::Line;

/// Characters of a line or a word that are shown.
const SHOWN: usize = 120;

/// Input that is no mailbox. `file` is what it is called.
#[allow(missing_docs, reason = "the fields are what the messages say")]
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing but white space.
    #[error("{file}: empty\nGive a mailbox: binary, hex digits, or a dump by xxd, od or hexdump.")]
    Empty { file: String },
    /// Text in other letters than ASCII, or with more than text in it.
    #[error(
        "{file}: text with {what}, not a binary mailbox and not plain text\n\
         Save it as plain ASCII text without {what}."
    )]
    NotPlain { file: String, what: &'static str },
    /// A line is wrong.
    #[error("{file}, line {number}: {fault}\n  {text}\n{}", .fault.remedy())]
    Line { file: String, number: usize, text: String, fault: Fault },
}

impl ReadError {
    /// The line that is wrong, from 1; `None` when it is the whole input.
    pub fn line(&self) -> Option<usize> {
        match self {
            ReadError::Line { number, .. } => Some(*number),
            ReadError::Empty { .. } | ReadError::NotPlain { .. } => None,
        }
    }

    pub(super) fn empty(file: &str) -> Self {
        ReadError::Empty { file: file.to_owned() }
    }

    pub(super) fn at(file: &str, line: Line<'_>, fault: Fault) -> Self {
        let (file, text) = (file.to_owned(), shown(line.text.trim_end()));
        ReadError::Line { file, number: line.number, text, fault }
    }
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("`{}` is not hexadecimal", shown(.0))]
    NotHex(String),
    #[error("`{}` has an odd number of hex digits", shown(.0))]
    OddDigits(String),
    #[error("`{}` is not a byte of two hex digits", shown(.0))]
    NotByte(String),
    #[error("`{}` is not an offset in {radix}", shown(.word))]
    NotOffset { word: String, radix: &'static str },
    #[error("no bytes follow the offset")]
    NoBytes,
    #[error("`{}` may be an offset or bytes", shown(.0))]
    OffsetOrBytes(String),
    #[error("offsets that may be decimal or not, and each way the dump has another length")]
    AnyRadix,
    #[error("the text column fits the bytes only if each group is read backwards")]
    Swapped,
    #[error("binary digits")]
    BinaryDigits,
    #[error("words of several bytes, whose byte order is that of the machine that wrote them")]
    Words,
    #[error("bytes in octal or decimal")]
    NotHexBytes,
    #[error("offset {offset:#x} where {next:#x} is next: {} bytes are missing", .offset - .next)]
    Gap { offset: u64, next: u64 },
    #[error("offset {offset:#x} where {next:#x} is next: a step back")]
    Back { offset: u64, next: u64 },
    #[error("offset {0:#x} is beyond the end of any mailbox")]
    TooFar(u64),
    #[error("`*` repeats the line before it, and there is none")]
    RepeatOfNothing,
    #[error("`*` without an offset after it that says how far it goes")]
    RepeatWithoutEnd,
    #[error("`*` without offsets in the dump that say how far it goes")]
    RepeatInPlainHex,
    #[error("from {next:#x} to {offset:#x}, `*` is no whole number of lines")]
    RepeatUneven { offset: u64, next: u64 },
    #[error("the text column has {shown} characters where the bytes have {bytes}")]
    TextColumn { shown: usize, bytes: usize },
    #[error("the text column is not there, or not closed by `|`")]
    TextColumnOpen,
    #[error("`{}` is no number of an array of bytes", shown(.0))]
    NotNumber(String),
    #[error("`{}` is more than a byte", shown(.0))]
    NotOneByte(String),
    #[error("`{}` may be octal or decimal", shown(.0))]
    Octal(String),
    #[error("`{}` is a type of more than a byte", shown(.0))]
    NotBytes(String),
    #[error("code that makes a mailbox, and not its bytes")]
    Program,
    #[error("brackets, and no array of numbers in them")]
    NoArray,
    #[error("a comma without a number before it")]
    NoElement,
    #[error("`{}` after the end of the array", shown(.0))]
    AfterArray(String),
    #[error("the array is not closed")]
    ArrayOpen,
    #[error("the array ends before it begins")]
    ArrayClosed,
    #[error("a second array; the first has {0} bytes")]
    SecondArray(usize),
    #[error("the array has {is} bytes; `{}` says {said}", shown(.name))]
    ArrayLength { name: String, said: u64, is: usize },
}

impl Fault {
    fn remedy(&self) -> &'static str {
        match self {
            Fault::NotHex(_) => {
                "Give hex digits only, or a dump by xxd, od -A x -t x1, hexdump -C or the kernel."
            }
            Fault::OddDigits(_) | Fault::NotByte(_) => "Write every byte as two digits.",
            Fault::NotOffset { .. } => "Begin every line of the dump with its offset.",
            Fault::OffsetOrBytes(_) => {
                "Give the dump with its last line, the offset of its end; or group bytes evenly."
            }
            Fault::AnyRadix => {
                "Dump again with every line, and hex offsets: xxd, od -v -A x -t x1, hexdump -v -C."
            }
            Fault::Swapped => "Dump the bytes in their order: xxd without -e.",
            Fault::BinaryDigits => "Dump hex digits: xxd without -b.",
            Fault::Words | Fault::NotHexBytes => {
                "Dump single bytes in hex: od -A x -t x1, hexdump -C, or x/16xb of gdb."
            }
            Fault::Gap { .. } | Fault::NoBytes => "Give every line, from offset 0 on.",
            Fault::Back { .. } => "Give one mailbox, each line once and in order.",
            Fault::TooFar(_) => "Correct the offset.",
            Fault::RepeatOfNothing
            | Fault::RepeatWithoutEnd
            | Fault::RepeatInPlainHex
            | Fault::RepeatUneven { .. } => "Dump again with every line: xxd, od -v, hexdump -v.",
            Fault::TextColumn { .. } | Fault::TextColumnOpen => {
                "Copy the whole line again: a part of it was lost."
            }
            Fault::NotNumber(_) | Fault::Octal(_) => "Write each byte as 0x1f, or as 31.",
            Fault::Program => {
                "Give the bytes that it makes; prm encode writes them without --c and --rust."
            }
            Fault::NoArray => {
                "Give hex digits only, an array of C, or a dump by xxd, od -t x1 or hexdump -C."
            }
            Fault::NotOneByte(_) | Fault::NotBytes(_) => {
                "Give bytes, in the order of memory: the byte order of longer numbers is not known."
            }
            Fault::NoElement
            | Fault::ArrayOpen
            | Fault::ArrayClosed
            | Fault::ArrayLength { .. } => "Copy the whole array.",
            Fault::AfterArray(_) => "Leave out what follows the array, or put it in.",
            Fault::SecondArray(_) => "Give one mailbox.",
        }
    }
}

/// Text of the input as it is shown: its beginning, with a mark when there is more.
pub fn shown(text: &str) -> String {
    cut(text, SHOWN)
}

/// The first so many characters of a text, with a mark when there is more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
