//! What a command writes to: standard output, its width, and whether it takes colours.

use std::fmt;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// The width where nobody says one.
const WIDTH: usize = 80;

/// How much is kept before it is written.
const KEPT: usize = 1 << 16;

/// Where a command writes: standard output.
pub(crate) struct Output {
    to: Box<dyn Write>,
    kept: Vec<u8>,
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
        let width = width.or(said).unwrap_or(WIDTH).max(40);
        Output::over(Box::new(stdout.lock()), Look { width, colour })
    }
}

impl Output {
    fn over(to: Box<dyn Write>, look: Look) -> Self {
        Output { to, kept: Vec::with_capacity(2 * KEPT), look }
    }

    /// Text, as it is. This and those below are for what is written a hundred thousand times: formatting
    /// by `write!` takes most of the time of a long log.
    pub(crate) fn text(&mut self, text: &str) {
        self.kept.extend_from_slice(text.as_bytes());
    }

    /// Text in the colour of what it is, if colours are wanted.
    pub(crate) fn painted(&mut self, paint: Paint, text: &str) {
        if !self.look.colour {
            return self.text(text);
        }
        let painted = self.look.paint(paint, text).to_string();
        self.text(&painted);
    }

    /// So many spaces.
    pub(crate) fn spaces(&mut self, n: usize) {
        const SPACES: &[u8; 64] = &[b' '; 64];
        match SPACES.get(..n) {
            Some(spaces) => self.kept.extend_from_slice(spaces),
            None => self.kept.resize(self.kept.len() + n, b' '),
        }
    }

    /// A number in hex with `0x` and at least so many digits.
    pub(crate) fn hex(&mut self, number: u128, digits: usize) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'0'; 34];
        let mut at = text.len();
        // Arithmetic of 64 bits is a good deal faster, and nearly all numbers have no more.
        let mut low = number as u64;
        let mut high = (number >> 64) as u64;
        while low != 0 || high != 0 {
            at -= 1;
            text[at] = DIGITS[(low & 0xf) as usize];
            low = low >> 4 | high << 60;
            high >>= 4;
        }
        at = at.min(text.len() - digits.clamp(1, 32)) - 2;
        text[at + 1] = b'x';
        self.kept.extend_from_slice(&text[at..]);
    }

    /// A decimal number.
    pub(crate) fn decimal(&mut self, number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut left = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.kept.extend_from_slice(&digits[at..]);
    }

    /// Ends a line.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.kept.push(b'\n');
        if self.kept.len() < KEPT { Ok(()) } else { self.pass_on() }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.to.write_all(&self.kept)?;
        self.kept.clear();
        Ok(())
    }
}

/// What was written, for tests.
#[cfg(test)]
pub(crate) fn written(write: impl FnOnce(&mut Output) -> io::Result<()>) -> String {
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Kept(Rc<RefCell<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let kept = Rc::default();
    let to = Box::new(Kept(Rc::clone(&kept)));
    let mut output = Output::over(to, Look { width: WIDTH, colour: false });
    write(&mut output).and_then(|()| output.flush()).expect("memory");
    String::from_utf8(kept.take()).expect("text")
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
        self.to.flush()
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
