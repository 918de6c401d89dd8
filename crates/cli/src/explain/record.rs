//! A record of a log: a message and all that it was wrapped into.
//!
//! Mailers break lines at blanks, terminals anywhere. So a record is kept without any white space: what
//! is looked for is the same then, wherever its lines were broken. Where a byte came from is kept.

use std::ops::Range;

use memchr::memmem;

/// A record without its white space.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// Where a byte of a record came from.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Number of its line.
    line: u64,
    /// What stood before it.
    before: Before,
}

/// What stood before a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Blank,
    Break,
}

impl Record {
    /// Adds a line.
    pub(super) fn push(&mut self, number: u64, text: &[u8]) {
        let before = if self.bytes.is_empty() { Before::Nothing } else { Before::Break };
        self.add(number, text, before);
    }

    /// Adds more of the last line.
    pub(super) fn extend(&mut self, number: u64, text: &[u8]) {
        self.add(number, text, Before::Nothing);
    }

    fn add(&mut self, number: u64, text: &[u8], mut before: Before) {
        let mut rest = text.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            match byte {
                // A colour, as journalctl and dmesg write it.
                0x1b if rest.next_if_eq(&b'[').is_some() => {
                    while rest.next_if(|b| b.is_ascii_digit() || *b == b';').is_some() {}
                    rest.next_if(u8::is_ascii_alphabetic);
                }
                b' ' | b'\t' if before == Before::Nothing => before = Before::Blank,
                // The second byte of each character of UTF-16 is among them.
                _ if byte <= b' ' || byte == 0x7f => {}
                _ => {
                    self.bytes.push(if byte.is_ascii() { byte } else { b'?' });
                    self.marks.push(Mark { line: number, before });
                    before = Before::Nothing;
                }
            }
        }
    }

    /// Its bytes, without white space.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The line of a byte, or of the last one.
    pub(super) fn line(&self, at: usize) -> u64 {
        self.marks.get(at).or(self.marks.last()).map_or(0, |mark| mark.line)
    }

    /// The first byte after `at` that a line begins with, or the end.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let after = self.marks.iter().skip(at + 1);
        after.take_while(|mark| mark.before != Before::Break).count() + at.min(self.marks.len()) + 1
    }

    /// Whether a line begins with this byte, which is not the record's first one.
    pub(super) fn breaks_before(&self, at: usize) -> bool {
        self.marks.get(at).is_some_and(|mark| mark.before == Before::Break)
    }

    /// Whether white space stood before this byte, or a line began with it.
    pub(super) fn parts_before(&self, at: usize) -> bool {
        self.marks.get(at).is_none_or(|mark| mark.before != Before::Nothing)
    }

    /// A part of it as it was written, each run of white space as one blank.
    pub(super) fn text(&self, part: Range<usize>) -> String {
        let mut out = String::new();
        for at in part.clone().take_while(|at| *at < self.bytes.len()) {
            if at > part.start && self.parts_before(at) {
                out.push(' ');
            }
            out.push(char::from(self.bytes[at]));
        }
        out
    }

    /// Where `wanted`, which has no white space, first stands from `from` on.
    pub(super) fn find(&self, wanted: &str, from: usize) -> Option<usize> {
        memmem::find(self.bytes.get(from..)?, wanted.as_bytes()).map(|at| from + at)
    }

    /// Every place where `wanted` stands.
    pub(super) fn find_all<'r>(&'r self, wanted: &'r str) -> impl Iterator<Item = usize> + 'r {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = self.find(wanted, from)?;
            from = at + wanted.len();
            Some(at)
        })
    }

    /// Takes away what stands before `at`.
    pub(super) fn forget(&mut self, at: usize) {
        let at = at.min(self.bytes.len());
        self.bytes.drain(..at);
        self.marks.drain(..at);
    }

    /// Takes away everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
    }
}

/// Reads a record from a place on.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'r> {
    record: &'r Record,
    at: usize,
}

impl<'r> Cursor<'r> {
    /// Begins at `at`.
    pub(super) fn new(record: &'r Record, at: usize) -> Self {
        Cursor { record, at }
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What comes.
    pub(super) fn rest(&self) -> &'r [u8] {
        self.record.bytes.get(self.at..).unwrap_or_default()
    }

    /// Goes over `wanted`, which has no white space; stays where it is when that is not there.
    pub(super) fn take(&mut self, wanted: &str) -> Option<()> {
        self.rest().starts_with(wanted.as_bytes()).then(|| self.at += wanted.len())
    }

    /// Goes over so many bytes.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// A hexadecimal number, with or without `0x`, after which more must come: it may go on in the next
    /// line.
    pub(super) fn hex(&mut self) -> Option<u64> {
        self.digits(16, |_| true)
    }

    /// A decimal number, after which more must come.
    pub(super) fn decimal(&mut self) -> Option<u64> {
        self.digits(10, |_| true)
    }

    /// A hexadecimal number that may be the last of its message. It goes on in the next line only when
    /// that line holds nothing else: a log's next line may well begin with a letter up to F.
    pub(super) fn last_hex(&mut self) -> Option<u64> {
        let record = self.record;
        self.digits(16, |at| {
            let line = &record.bytes[at..record.line_end(at).min(record.bytes.len())];
            line.len() < 8 && line.iter().all(u8::is_ascii_hexdigit)
        })
    }

    /// So many hexadecimal digits.
    pub(super) fn hex_of(&mut self, digits: usize) -> Option<u64> {
        let text = std::str::from_utf8(self.rest().get(..digits)?).ok()?;
        let number = u64::from_str_radix(text, 16).ok()?;
        self.at += digits;
        Some(number)
    }

    /// Digits. `goes_on` tells whether a number may go on in the line that begins at a byte.
    fn digits(&mut self, radix: u32, goes_on: impl Fn(usize) -> bool) -> Option<u64> {
        let mut ahead = self.clone();
        if radix == 16 && ahead.take("0x").is_none() {
            let _ = ahead.take("0X");
        }
        let start = ahead.at;
        let is_digit = |b: &u8| char::from(*b).is_digit(radix);
        while ahead.rest().first().is_some_and(is_digit) {
            if ahead.at > start && self.record.breaks_before(ahead.at) && !goes_on(ahead.at) {
                break;
            }
            ahead.at += 1;
        }
        let digits = self.record.bytes.get(start..ahead.at)?;
        let number = u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
        self.at = ahead.at;
        Some(number)
    }

    /// What stands before `end`, which is at most `most` bytes away; goes over both.
    pub(super) fn until(&mut self, end: &str, most: usize) -> Option<Range<usize>> {
        let found = self.record.find(end, self.at).filter(|at| at - self.at <= most)?;
        let part = self.at..found;
        self.at = found + end.len();
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lines: &[&str]) -> Record {
        let mut record = Record::default();
        for (i, line) in lines.iter().enumerate() {
            record.push(i as u64 + 1, line.as_bytes());
        }
        record
    }

    #[test]
    fn white_space_is_forgotten_and_known() {
        let record = record(&["\u{1b}[31mbad  para\u{1b}[0m", "meter(0x3)\r\n"]);
        assert_eq!(record.bytes(), b"badparameter(0x3)");
        assert_eq!(record.text(0..17), "bad para meter(0x3)");
        assert_eq!((record.line(6), record.line(7), record.line(99)), (1, 2, 2));
        assert!(record.breaks_before(7) && !record.breaks_before(3) && record.parts_before(3));
        assert_eq!((record.line_end(0), record.line_end(8)), (7, 17));
    }

    #[test]
    fn numbers_go_on_where_they_can() {
        let hex = |lines: &[&str]| Cursor::new(&record(lines), 0).hex();
        let last = |lines: &[&str]| Cursor::new(&record(lines), 0).last_hex();
        assert_eq!(hex(&["0x12", "34)"]), Some(0x1234));
        assert_eq!(last(&["0x12", "34"]), Some(0x1234));
        assert_eq!(last(&["0x12", "EAL: no"]), Some(0x12));
        assert_eq!(last(&["0"]), Some(0));
        assert_eq!(hex(&["0x"]), None);
        assert_eq!(hex(&["0xfffffffffffffffff"]), None);
    }
}
