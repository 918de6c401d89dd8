//! Words of the C dialect of `mlx5_ifc.h`.

use std::ops::Range;
use std::sync::Arc;

use crate::fault::{Faults, Origin, SourceFile};

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A name or a number: letters, digits and underscores.
    Name,
    /// A punctuation mark, `<<` and `>>` included.
    Mark,
    /// A whole preprocessor line, continuation lines included.
    Directive,
    /// The end of the file.
    End,
}

/// One word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) class: Class,
    pub(super) span: Range<usize>,
}

/// The words of `file`, comments and white space left out. Ends with [`Class::End`].
pub(super) fn words(file: &Arc<SourceFile>) -> Result<Vec<Word>, Faults> {
    Lexer { file, bytes: file.text.as_bytes(), at: 0 }.run()
}

/// The words of a part of `file`: the body of a macro.
pub(super) fn words_in(file: &Arc<SourceFile>, part: Range<usize>) -> Result<Vec<Word>, Faults> {
    let bytes = &file.text.as_bytes()[..part.end];
    Lexer { file, bytes, at: part.start }.run()
}

struct Lexer<'a> {
    file: &'a Arc<SourceFile>,
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn run(mut self) -> Result<Vec<Word>, Faults> {
        let mut out = Vec::new();
        let mut line_start = true;
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            match byte {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                b'\\' if matches!(self.peek(1), Some(b'\n')) => {
                    self.at += 2;
                    continue;
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    self.block_comment()?;
                    continue;
                }
                b'/' if self.peek(1) == Some(b'/') => {
                    self.line_end(false);
                    continue;
                }
                b'#' if line_start => {
                    self.line_end(true);
                    out.push(Word { class: Class::Directive, span: start..self.at });
                }
                b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    while self.peek(0).is_some_and(|b| b == b'_' || b.is_ascii_alphanumeric()) {
                        self.at += 1;
                    }
                    out.push(Word { class: Class::Name, span: start..self.at });
                }
                b'<' | b'>' if self.peek(1) == Some(byte) => {
                    self.at += 2;
                    out.push(Word { class: Class::Mark, span: start..self.at });
                }
                b'{' | b'}' | b'[' | b']' | b'(' | b')' | b';' | b',' | b'=' | b'+' | b'-'
                | b'*' | b'/' | b'|' | b'&' | b'~' | b'<' | b'>' | b'#' => {
                    self.at += 1;
                    out.push(Word { class: Class::Mark, span: start..self.at });
                }
                _ => {
                    let shown = self.file.text[start..].chars().next().unwrap_or('?');
                    let mut faults = Faults::default();
                    faults.add(
                        &Origin::new(self.file, start..start + shown.len_utf8()),
                        format!("{shown:?} is not part of the mlx5_ifc dialect"),
                        "only structs, unions, enums and constant macros are read, and widths in \
                         brackets (u8 name[0x4]); remove the rest",
                    );
                    return Err(faults);
                }
            }
            line_start = false;
        }
        out.push(Word { class: Class::End, span: self.bytes.len()..self.bytes.len() });
        Ok(out)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn block_comment(&mut self) -> Result<(), Faults> {
        let start = self.at;
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            if byte == b'*' && self.peek(1) == Some(b'/') {
                self.at += 2;
                return Ok(());
            }
            self.at += 1;
        }
        let mut faults = Faults::default();
        faults.add(
            &Origin::new(self.file, start..start + 2),
            "this comment is never closed",
            "the file may be cut off: close the comment with */, or fetch the header again",
        );
        Err(faults)
    }

    /// Goes to the end of the line, over continued lines when `continued`, and over a comment
    /// that begins in a directive.
    fn line_end(&mut self, continued: bool) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                b'\\' if continued && self.peek(1) == Some(b'\n') => self.at += 2,
                b'/' if continued && self.peek(1) == Some(b'*') => return,
                _ => self.at += 1,
            }
        }
    }
}
