//! Words of C and C++ headers, read one at a time.

use std::ops::Range;
use std::sync::Arc;

use crate::fault::{Faults, Origin, SourceFile};

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A name or a number: letters, digits and underscores.
    Name,
    /// A punctuation mark, or any other character that no word is made of.
    Mark,
    /// A string or a character, quotes included.
    Text,
    /// A whole preprocessor line, continuation lines and comments included.
    Directive,
    /// The end of the file, or of the part of it that is read.
    End,
}

/// One word and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) class: Class,
    pub(super) place: Origin,
}

impl Word {
    /// As it is written.
    pub(super) fn text(&self) -> &str {
        &self.place.file.text[self.place.span.clone()]
    }

    /// Whether it is the punctuation mark `mark`.
    pub(super) fn is(&self, mark: &str) -> bool {
        self.class == Class::Mark && self.text() == mark
    }
}

/// Reads the words of a file, or of a part of it. Comments and white space are left out.
pub(super) struct Lexer {
    file: Arc<SourceFile>,
    at: usize,
    end: usize,
    /// Nothing but white space stands before this place in its line, so that `#` is a directive.
    line_start: bool,
    /// Quotes before this place close nothing.
    unclosed: usize,
}

impl Lexer {
    /// The words of a whole file.
    pub(super) fn new(file: &Arc<SourceFile>) -> Self {
        // Some editors mark UTF-8 by a first character that no compiler takes for a word.
        let at = if file.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { file: Arc::clone(file), at, end: file.text.len(), line_start: true, unclosed: 0 }
    }

    /// The words of a part of a file: of a directive, or of the body of a macro.
    pub(super) fn part(part: &Origin) -> Self {
        let Range { start, end } = part.span;
        Lexer { file: Arc::clone(&part.file), at: start, end, line_start: false, unclosed: 0 }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> Origin {
        Origin::new(&self.file, self.at..self.end)
    }

    /// The next word; [`Class::End`] for ever after the last one.
    pub(super) fn next(&mut self) -> Result<Word, Faults> {
        self.space()?;
        let start = self.at;
        let Some(byte) = self.peek(0) else { return Ok(self.word(Class::End, start)) };
        let line_start = std::mem::take(&mut self.line_start);
        let class = match byte {
            b'#' if line_start => {
                self.directive()?;
                Class::Directive
            }
            b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                while self.peek(0).is_some_and(|b| b == b'_' || b.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
                Class::Name
            }
            b'"' | b'\'' if self.quoted(byte) => Class::Text,
            _ => {
                self.at += match (byte, self.peek(1)) {
                    (b'<' | b'>' | b'=' | b'&' | b'|', Some(next)) if next == byte => 2,
                    (b'<' | b'>' | b'=' | b'!', Some(b'=')) => 2,
                    _ => self.character(),
                };
                Class::Mark
            }
        };
        Ok(self.word(class, start))
    }

    fn word(&self, class: Class, start: usize) -> Word {
        Word { class, place: Origin::new(&self.file, start..self.at) }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        (at < self.end).then(|| self.file.text.as_bytes()[at])
    }

    /// Bytes of the character that stands here.
    fn character(&self) -> usize {
        self.file.text[self.at..].chars().next().map_or(1, char::len_utf8)
    }

    /// Bytes of the backslash and the end of line that stand here, which join two lines.
    fn joint(&self) -> Option<usize> {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (Some(b'\\'), Some(b'\n'), _) => Some(2),
            (Some(b'\\'), Some(b'\r'), Some(b'\n')) => Some(3),
            _ => None,
        }
    }

    /// Goes over white space and comments.
    fn space(&mut self) -> Result<(), Faults> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    self.line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => self.at += 1,
                b'/' if self.comment()? => {}
                b'\\' => match self.joint() {
                    Some(bytes) => self.at += bytes,
                    None => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Goes over the comment that begins here; says whether one did. The end of the line after a
    /// `//` comment is left.
    fn comment(&mut self) -> Result<bool, Faults> {
        let start = self.at;
        match (self.peek(0), self.peek(1)) {
            (Some(b'/'), Some(b'/')) => {
                while self.peek(0).is_some_and(|b| b != b'\n') {
                    self.at += self.joint().unwrap_or(1);
                }
                Ok(true)
            }
            (Some(b'/'), Some(b'*')) => {
                let text = &self.file.text.as_bytes()[..self.end];
                match text[start + 2..].windows(2).position(|pair| pair == b"*/") {
                    Some(length) => self.at = start + length + 4,
                    None => {
                        return Err(Faults::one(
                            &Origin::new(&self.file, start..start + 2),
                            "this comment is never closed",
                            "the file may be cut off: close the comment with */, or fetch the \
                             header again",
                        ));
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Goes over the string or character that begins here, when it ends in the same line: an
    /// apostrophe in the text of an `#error`, or in lines that a condition leaves out, does not.
    fn quoted(&mut self, quote: u8) -> bool {
        let start = self.at;
        if start < self.unclosed {
            return false;
        }
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => break,
                b'\\' => self.at += self.joint().unwrap_or(2),
                _ => self.at += 1,
            }
            if byte == quote {
                return true;
            }
        }
        // What follows in this line is not searched again for each further quote.
        self.unclosed = self.at;
        self.at = start;
        false
    }

    /// Goes to the end of the line, and on over lines that belong to it.
    fn directive(&mut self) -> Result<(), Faults> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => break,
                b'"' | b'\'' if self.quoted(byte) => {}
                b'/' if self.comment()? => {}
                _ => self.at += self.joint().unwrap_or(1),
            }
        }
        Ok(())
    }
}
