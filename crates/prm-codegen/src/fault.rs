//! Faults in what a person wrote: a place, what is wrong there, and the remedy.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceCode, SourceSpan,
    SpanContents,
};

/// A file that was read: its name as it is shown, and its text.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A source that is already in memory.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(SourceFile { name: name.into(), text: text.into() })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// One fault: the file can't be read, or is not UTF-8 (the byte that is not is located).
    pub fn read(path: &Path) -> Result<Arc<Self>, Faults> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| {
            let place = Origin::whole(&SourceFile::new(name.clone(), ""));
            Fault::new(
                &place,
                format!("{name} can't be read: {e}"),
                "name a file that exists and is readable",
            )
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Arc::new(SourceFile { name, text })),
            Err(e) => {
                let valid = e.utf8_error().valid_up_to();
                let byte = e.as_bytes()[valid];
                let lossy = SourceFile::new(name, String::from_utf8_lossy(e.as_bytes()));
                Err(Fault::new(
                    &Origin::new(&lossy, valid..valid + char::REPLACEMENT_CHARACTER.len_utf8()),
                    format!("byte 0x{byte:02x} at offset {valid} is not UTF-8"),
                    "save the file as UTF-8",
                )
                .into())
            }
        }
    }

    /// Line number (from 1) of a byte offset.
    pub fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1
    }
}

/// Where something stands in a source file.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The bytes of the file.
    pub span: Range<usize>,
}

impl Origin {
    /// The place `span` of `file`.
    pub fn new(file: &Arc<SourceFile>, span: Range<usize>) -> Self {
        Origin { file: Arc::clone(file), span }
    }

    /// A file as a whole.
    pub fn whole(file: &Arc<SourceFile>) -> Self {
        Origin::new(file, 0..0)
    }

    /// Line number, from 1.
    pub fn line(&self) -> usize {
        self.file.line(self.span.start)
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Where.
    pub place: Origin,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Fault {
    /// A fault at `place`.
    pub fn new(place: &Origin, message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { place: place.clone(), message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.file.name, self.place.line(), self.message)
    }
}

impl std::error::Error for Fault {}

/// What miette draws for a fault: the message, the line it stands in, the remedy.
#[derive(Debug)]
struct Drawn<'a> {
    fault: &'a Fault,
    lines: WholeLines<'a>,
}

/// How many bytes of a line are shown before a place, and how many from it on.
const SHOWN: usize = 500;

/// The nearest start of a character at or before a byte of `text`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A file of which an excerpt is whole lines, but for very long ones.
#[derive(Debug)]
struct WholeLines<'a>(&'a SourceFile);

impl SourceCode for WholeLines<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = &self.0.text;
        let contents = if before + after == 0 {
            // What miette asks of a place alone.
            text.as_str().read_span(span, 0, 0)?
        } else {
            let bytes = text.as_bytes();
            let (from, to) = (span.offset(), span.offset() + span.len());
            let start = bytes[..from].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let end =
                bytes[to..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |at| to + at);
            let start = boundary(text, start.max(from.saturating_sub(SHOWN)));
            let end = boundary(text, end.min(to.max(from + SHOWN)));
            text.as_str().read_span(&(start, end - start).into(), 0, 0)?
        };
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.0.name.clone(),
            contents.data(),
            *contents.span(),
            contents.line(),
            contents.column(),
            contents.line_count(),
        )))
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.fault.help))
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.fault.place.file.text.is_empty()).then_some(&self.lines as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = visible(&self.fault.place.file.text, self.fault.place.span.clone());
        let label = LabeledSpan::new(Some("here".into()), span.start, span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// The part of `span` to be underlined: the first line of what takes several, and what stands
/// before the end of a line or of the file when it points there.
fn visible(text: &str, span: Range<usize>) -> Range<usize> {
    let start = boundary(text, span.start.min(text.trim_end().len()));
    let end = boundary(text, span.end.min(text.len()).min(start + SHOWN)).max(start);
    let end = text[start..end].find('\n').map_or(end, |at| start + at);
    let before = text[..start].chars().next_back().filter(|c| *c != '\n');
    match before {
        Some(before) if start == end && !text[start..].starts_with(|c| c != '\n') => {
            start - before.len_utf8()..start
        }
        _ => start..end,
    }
}

/// All that is wrong in one run; never empty when it is returned as an error.
#[derive(Debug, Clone, Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// One fault alone.
    pub fn one(place: &Origin, message: impl Into<String>, help: impl Into<String>) -> Self {
        Faults(vec![Fault::new(place, message, help)])
    }

    /// Adds one fault.
    pub fn add(&mut self, place: &Origin, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Fault::new(place, message, help));
    }

    /// `value` when there is no fault.
    ///
    /// # Errors
    /// These faults, when there is any.
    pub fn or<T>(self, value: T) -> Result<T, Faults> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Takes the value of `result`, or keeps its faults and gives `None`.
    pub fn take<T>(&mut self, result: Result<T, Faults>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(more) => {
                self.0.extend(more.0);
                None
            }
        }
    }

    /// Every fault with file, line, excerpt and remedy, and their number at the end.
    pub fn render(&self) -> String {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(110)
            .with_context_lines(1);
        let mut out = String::new();
        for fault in &self.0 {
            let file = &fault.place.file;
            let drawn = Drawn { fault, lines: WholeLines(file) };
            if handler.render_report(&mut out, &drawn).is_err() {
                out.push_str(&format!("{fault}\n  help: {}\n", fault.help));
            }
            out.push('\n');
        }
        let plural = if self.0.len() == 1 { "" } else { "s" };
        out.push_str(&format!("{} fault{plural}\n", self.0.len()));
        out
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Faults(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.0 {
            writeln!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_very_long_line_is_drawn() {
        let text = format!("first\n{}WRONG{}\nlast", "é".repeat(100_000), "é".repeat(100_000));
        let at = text.find("WRONG").unwrap();
        let file = SourceFile::new("long.h", text);
        let long = Fault::new(&Origin::new(&file, at..file.text.len()), "it is wrong", "mend it");
        let short = Fault::new(&Origin::new(&file, at..at + 5), "it is wrong", "mend it");
        for fault in [short, long] {
            let drawn = Faults(vec![fault]).render();
            assert!(drawn.contains("WRONG") && drawn.len() < 10_000, "{drawn}");
        }
    }
}
