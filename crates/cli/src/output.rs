//! What a command writes to: standard output, its width, and whether it takes colours.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

/// The width where nobody says one.
const WIDTH: usize = 80;

/// How much is kept before it is written.
const KEPT: usize = 1 << 16;

/// Where a command writes: standard output.
pub(crate) struct Output {
    /// Nothing: it is all kept.
    to: Option<Box<dyn Write>>,
    kept: Vec<u8>,
    watched: bool,
    /// How it is written.
    pub(crate) look: Look,
}

/// How text is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Columns that words are wrapped at.
    pub(crate) width: usize,
    /// Whether colours are wanted: a terminal, and no NO_COLOR.
    pub(crate) colour: bool,
}

/// What a piece of text is, which gives it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// The head of what follows.
    Title,
    /// The name of a field.
    Name,
    /// A name that stands for a number.
    Meaning,
    /// What helps and is not the matter itself.
    Dim,
    /// What is wrong, or should be looked at.
    Alarm,
}

impl Output {
    /// Standard output, as the environment has it.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let colour = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        let width = terminal_size::terminal_size().map(|(width, _)| width.0.into());
        let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = width.or(said).unwrap_or(WIDTH).clamp(40, 1000);
        Output::over(Box::new(stdout.lock()), Look { width, colour })
    }
}

impl Output {
    fn over(to: Box<dyn Write>, look: Look) -> Self {
        let (kept, watched) = (Vec::with_capacity(2 * KEPT), io::stdout().is_terminal());
        Output { to: Some(to), kept, watched, look }
    }

    /// An output that keeps all, after what is there.
    pub(crate) fn in_memory(kept: Vec<u8>, look: Look) -> Self {
        Output { to: None, kept, watched: false, look }
    }

    /// Whether it is a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// What is kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.kept
    }

    /// Text, as it is. This and those below are for what is written a hundred thousand times: formatting
    /// by `write!` takes most of the time of a long log.
    pub(crate) fn text(&mut self, text: &str) {
        self.kept.extend_from_slice(text.as_bytes());
    }

    /// The same of a length that the compiler knows, which is no call.
    pub(crate) fn ascii<const N: usize>(&mut self, text: &[u8; N]) {
        self.kept.extend_from_slice(text);
    }

    /// Text in the colour of what it is, if colours are wanted.
    pub(crate) fn painted(&mut self, paint: Paint, text: &str) {
        self.in_colour(paint, |out| out.text(text));
    }

    /// The same of what is written.
    pub(crate) fn in_colour(&mut self, paint: Paint, write: impl FnOnce(&mut Self)) {
        if !self.look.colour {
            return write(self);
        }
        let style = paint.style();
        self.text(&style.render().to_string());
        write(self);
        self.text(&style.render_reset().to_string());
    }

    /// So many spaces.
    pub(crate) fn spaces(&mut self, n: usize) {
        // Copying what has a fixed length is a few instructions, and no call.
        const SPACES: &[u8; 32] = &[b' '; 32];
        let end = self.kept.len() + n;
        if n <= SPACES.len() {
            self.kept.extend_from_slice(SPACES);
            self.kept.truncate(end);
        } else {
            self.kept.resize(end, b' ');
        }
    }

    /// A number in hex with `0x` and at least so many digits.
    pub(crate) fn hex(&mut self, number: u128, digits: usize) {
        let mut short = Short::new();
        short.hex(number, digits);
        self.short(&short);
    }

    /// A decimal number.
    pub(crate) fn decimal(&mut self, number: u64) {
        let mut short = Short::new();
        short.decimal(number);
        self.short(&short);
    }

    /// What was put together.
    pub(crate) fn short(&mut self, short: &Short) {
        self.kept.extend_from_slice(&short.bytes[short.at..]);
    }

    /// Bytes in hex.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let digit = |nibble: u8| DIGITS[usize::from(nibble)];
        self.kept.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]));
    }

    /// Ends a line.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.kept.push(b'\n');
        if self.kept.len() < KEPT { Ok(()) } else { self.pass_on() }
    }

    /// Much text that is whole lines.
    pub(crate) fn lines(&mut self, text: &[u8]) -> io::Result<()> {
        self.pass_on()?;
        match &mut self.to {
            Some(to) => to.write_all(text),
            None => self.write_all(text),
        }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else { return Ok(()) };
        to.write_all(&self.kept)?;
        self.kept.clear();
        Ok(())
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A few numbers and marks, put together from the last to the first, as digits come.
pub(crate) struct Short {
    bytes: [u8; 64],
    at: usize,
}

impl Short {
    pub(crate) fn new() -> Self {
        Short { bytes: [0; 64], at: 64 }
    }

    /// How much there is.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.at -= 1;
        self.bytes[self.at] = byte;
    }

    pub(crate) fn text(&mut self, text: &str) {
        text.bytes().rev().for_each(|byte| self.byte(byte));
    }

    /// So many spaces.
    pub(crate) fn spaces(&mut self, n: usize) {
        (0..n).for_each(|_| self.byte(b' '));
    }

    /// A number in hex with `0x` and at least so many digits.
    pub(crate) fn hex(&mut self, number: u128, digits: usize) {
        let end = self.at - digits.clamp(1, 32);
        // Arithmetic of 64 bits is a good deal faster, and nearly all numbers have no more.
        let (mut low, mut high) = (number as u64, (number >> 64) as u64);
        while low != 0 || high != 0 {
            self.byte(DIGITS[(low & 0xf) as usize]);
            low = low >> 4 | high << 60;
            high >>= 4;
        }
        while self.at > end {
            self.byte(b'0');
        }
        self.byte(b'x');
        self.byte(b'0');
    }

    pub(crate) fn decimal(&mut self, mut number: u64) {
        loop {
            self.byte(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
    }

    /// A decimal number with commas between its thousands.
    pub(crate) fn grouped(&mut self, mut number: u64) {
        while number >= 1000 {
            for _ in 0..3 {
                self.byte(b'0' + (number % 10) as u8);
                number /= 10;
            }
            self.byte(b',');
        }
        self.decimal(number);
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes[self.at..].utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
    }
}

/// What was written, for tests.
#[cfg(test)]
pub(crate) fn written(write: impl FnOnce(&mut Output) -> io::Result<()>) -> String {
    let mut output = Output::in_memory(Vec::new(), Look { width: WIDTH, colour: false });
    write(&mut output).expect("memory");
    String::from_utf8(output.into_bytes()).expect("text")
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.kept.len() >= KEPT {
            self.pass_on()?;
        }
        self.kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.to.as_mut().map_or(Ok(()), |to| to.flush())
    }
}

impl Look {
    /// Text in the colour of what it is, if colours are wanted.
    pub(crate) fn paint<T: fmt::Display>(self, paint: Paint, text: T) -> Painted<T> {
        Painted { style: if self.colour { paint.style() } else { Style::new() }, text }
    }

    /// Words in lines of the width that there is, each but the first after so many spaces.
    pub(crate) fn wrap(self, words: &str, indent: usize) -> String {
        let width = self.width.saturating_sub(indent).max(20);
        let mut out = String::new();
        let mut column = 0;
        for word in words.split_whitespace() {
            let len = word.chars().count();
            if column > 0 && column + 1 + len > width {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += len;
        }
        out
    }
}

/// Text with its colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Painted { style, text } = self;
        write!(f, "{style}{text}{style:#}")
    }
}

impl Paint {
    fn style(self) -> Style {
        match self {
            Paint::Title => Style::new().bold(),
            Paint::Name => AnsiColor::Cyan.on_default(),
            Paint::Meaning => AnsiColor::Green.on_default(),
            Paint::Dim => Style::new().dimmed(),
            Paint::Alarm => AnsiColor::Red.on_default().bold(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped() {
        let look = Look { width: 40, colour: false };
        let text = look.wrap("How long the adapter waits before it raises an event.", 10);
        assert_eq!(text, "How long the adapter waits\n          before it raises an event.");
        assert_eq!(look.wrap("", 10), "");
        let long = "a".repeat(50);
        assert_eq!(look.wrap(&long, 10), long, "a word is never cut");
    }

    #[test]
    fn numbers_are_written_as_write_does() {
        for number in [0, 1, 9, 10, 0xabc, u64::MAX.into(), u128::MAX] {
            let text = written(|out| {
                out.hex(number, 3);
                out.spaces(2);
                out.decimal(number as u64);
                out.end_line()
            });
            assert_eq!(text, format!("{number:#05x}  {}\n", number as u64));
        }
        for number in [0, 9, 10, 999, 1000, 12_003, 1 << 63] {
            let mut text = Short::new();
            text.grouped(number);
            text.text("= ");
            let plain = text.to_string().replace([',', '=', ' '], "");
            assert_eq!(plain, number.to_string());
        }
        let mut text = Short::new();
        text.grouped(1 << 63);
        assert_eq!(text.to_string(), "9,223,372,036,854,775,808");
        let long = written(|out| (0..100_000).try_for_each(|n| writeln!(out, "{n}")));
        assert_eq!(long.lines().count(), 100_000);
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let paint = |colour| Look { width: 80, colour }.paint(Paint::Title, "x").to_string();
        assert_eq!(paint(false), "x");
        assert_eq!(paint(true), "\u{1b}[1mx\u{1b}[0m");
    }
}
