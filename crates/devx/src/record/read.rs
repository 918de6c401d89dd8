//! Recordings from text.

use std::io::{BufRead, Read};
use std::time::Duration;

use super::call::{Call, KINDS, MAX_MAILBOX, Method};
use super::write::{HEADER, ROW};
use crate::{Errno, Handle, Target, TargetKind};

/// The longest line, in bytes: a row of a mailbox has 50, the rest is for comments.
const MAX_LINE: usize = 4096;

/// The most calls in a recording.
const MAX_CALLS: usize = 1 << 20;

/// The most bytes of all mailboxes together. A line such as `0000: 65535 zeros` is short, so the
/// size of the file says nothing.
const MAX_BYTES: usize = 256 << 20;

/// The highest errno (`MAX_ERRNO` in the kernel's `include/linux/err.h`).
const MAX_ERRNO: u64 = 4095;

/// Why a recording can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not that of a recording.
    #[error("line {line}, column {column}: {problem}; {remedy}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// The column, in characters, from 1. That after the last when something is missing.
        column: usize,
        /// What is wrong.
        problem: String,
        /// What would be right.
        remedy: String,
    },
    /// The file can't be read.
    #[error("line {line} can't be read: {error}")]
    Io {
        /// The line, from 1.
        line: usize,
        /// What the system says.
        #[source]
        error: std::io::Error,
    },
}

/// Reads all calls, each with the line that it begins on.
pub(crate) fn read(reader: impl BufRead) -> Result<Vec<(usize, Call)>, ReadError> {
    let mut calls = Vec::new();
    let mut bytes = 0usize;
    for call in Calls::new(reader)? {
        let (line, call) = call?;
        let too_much = |problem| fault(line, 1, problem, "cut the recording into several");
        if calls.len() == MAX_CALLS {
            return Err(too_much(format!("there are more than {MAX_CALLS} calls")));
        }
        bytes += call.input.len() + call.before.len() + call.output.len();
        if bytes > MAX_BYTES {
            let problem = format!("the mailboxes have more than {MAX_BYTES} bytes together");
            return Err(too_much(problem));
        }
        calls.push((line, call));
    }
    Ok(calls)
}

/// The calls of a recording one after the other, each with the line that it begins on: for those who need
/// not have all at once. It ends after the first error.
///
/// ```
/// use mlx5_devx::record::Calls;
///
/// let text = "mlx5-recording 1\ndestroy devx 0x1\n at 7\n result errno 2 # ENOENT\n";
/// for call in Calls::new(text.as_bytes())? {
///     let (line, call) = call?;
///     assert_eq!((line, call.at.as_micros()), (2, 7));
/// }
/// # Ok::<(), mlx5_devx::record::ReadError>(())
/// ```
pub struct Calls<R> {
    /// `None` after an error.
    lines: Option<Lines<R>>,
}

impl<R: BufRead> Calls<R> {
    /// Reads the first line, which says that it is a recording.
    ///
    /// # Errors
    /// It says something else, or can't be read.
    pub fn new(reader: R) -> Result<Self, ReadError> {
        let mut lines = Lines { reader, number: 0 };
        let first = lines.expect("the file is empty", &format!("the first line is `{HEADER}`"))?;
        let words: Vec<&str> = first.words.iter().map(|word| &*word.text).collect();
        if words.join(" ") != HEADER {
            let remedy =
                format!("the first line is `{HEADER}`; other versions need another reader");
            return Err(first.fault(0, "this is no recording of a known version", remedy));
        }
        Ok(Calls { lines: Some(lines) })
    }
}

impl<R: BufRead> Iterator for Calls<R> {
    type Item = Result<(usize, Call), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let lines = self.lines.as_mut()?;
        let call = match lines.next() {
            Ok(None) => return None,
            Ok(Some(head)) => read_call(&head, lines).map(|call| (head.number, call)),
            Err(error) => Err(error),
        };
        if call.is_err() {
            self.lines = None;
        }
        Some(call)
    }
}

impl<R> std::fmt::Debug for Calls<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("line", &self.lines.as_ref().map(|l| l.number)).finish()
    }
}

fn read_call<R: BufRead>(head: &Line, lines: &mut Lines<R>) -> Result<Call, ReadError> {
    let method = Method::from_word(&head.words[0].text).ok_or_else(|| {
        let problem = format!("`{}` is no method", head.words[0].text);
        head.fault(0, problem, "a call begins with create, modify, query, destroy or general")
    })?;
    let target = if method.has_target() { Some(read_target(method, head)?) } else { None };
    head.ends_after(if target.is_some() { 3 } else { 1 })?;

    let line = lines.expect_word("at")?;
    let at = Duration::from_micros(line.decimal(1, u64::MAX, "microseconds, such as `at 120`")?);
    line.ends_after(2)?;

    let (mut input, mut before, mut output) = (Vec::new(), Vec::new(), Vec::new());
    if method.has_mailboxes() {
        let line = lines.expect_word("input")?;
        input = read_mailbox(&line, lines)?;
        let mut line = lines.expect_word("before or output")?;
        let has_before = line.words[0].text == "before";
        if has_before {
            before = read_mailbox(&line, lines)?;
            line = lines.expect_word("output")?;
        }
        output = read_mailbox(&line, lines)?;
        if !has_before {
            before = vec![0; output.len()];
        } else if before.len() != output.len() {
            let problem = format!("the output has {} bytes", output.len());
            let remedy = format!("it is as long as what was there before, {} bytes", before.len());
            return Err(line.fault(1, problem, remedy));
        }
    }
    let line = lines.expect_word("result")?;
    let result = read_result(method, &line)?;
    Ok(Call { method, target, at, input, before, output, result })
}

fn read_target(method: Method, head: &Line) -> Result<Target, ReadError> {
    let remedy = "an object is its kind and its handle, such as `cq 0x1`";
    let word = head.word(1, "the object is missing", remedy)?;
    let Some((kind, _)) = KINDS.iter().find(|(_, known)| *known == word) else {
        let kinds: Vec<&str> = KINDS.iter().map(|(_, word)| *word).collect();
        let problem = format!("`{word}` is no kind of object");
        return Err(head.fault(1, problem, format!("the kinds are {}", kinds.join(", "))));
    };
    if method == Method::Destroy && *kind != TargetKind::Devx {
        let problem = format!("destroy does not end a {word}");
        return Err(head.fault(1, problem, "it ends objects of kind devx only"));
    }
    Ok(Target { kind: *kind, handle: head.handle(2)? })
}

fn read_result(method: Method, line: &Line) -> Result<Result<Option<Handle>, Errno>, ReadError> {
    let good = if method == Method::Create { "handle" } else { "ok" };
    let remedy = match method {
        Method::Create => "create ends with `result handle 0x1` or `result errno 22`",
        _ => "a call other than create ends with `result ok` or `result errno 22`",
    };
    match line.word(1, "the result is missing", remedy)? {
        "errno" => {
            let errno = line.decimal(2, MAX_ERRNO, "an errno from 1 to 4095, such as 22")?;
            if errno == 0 {
                return Err(line.fault(2, "0 is no errno", "an errno is from 1 to 4095"));
            }
            line.ends_after(3)?;
            Ok(Err(Errno::from_raw_os_error(errno as i32)))
        }
        "ok" if good == "ok" => {
            line.ends_after(2)?;
            Ok(Ok(None))
        }
        "handle" if good == "handle" => {
            let handle = line.handle(2)?;
            line.ends_after(3)?;
            Ok(Ok(Some(handle)))
        }
        other => Err(line.fault(1, format!("`{other}` is no result of {}", method.word()), remedy)),
    }
}

/// Reads the rows of a mailbox, whose length is in `head`.
fn read_mailbox<R: BufRead>(head: &Line, lines: &mut Lines<R>) -> Result<Vec<u8>, ReadError> {
    let what = format!("a length of up to {MAX_MAILBOX} bytes, in decimal digits");
    let len = head.decimal(1, MAX_MAILBOX as u64, &what)? as usize;
    head.ends_after(2)?;
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let offset = format!("{:04x}:", bytes.len());
        let remedy = format!(
            "the mailbox has {len} bytes, and the row that begins with `{offset}` comes here"
        );
        let row = lines.expect("the mailbox is cut off", &remedy)?;
        if row.words[0].text != offset {
            return Err(row.fault(0, format!("`{}` is no such row", row.words[0].text), remedy));
        }
        read_row(&row, len, &mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a row, bytes or a number of zeros, of a mailbox of `len` bytes.
fn read_row(row: &Line, len: usize, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    let left = len - bytes.len();
    if row.words.get(2).is_some_and(|word| word.text == "zeros") {
        let what = format!("a number of zeros from 1 to {left}, what is left of {len} bytes");
        let zeros = row.decimal(1, left as u64, &what)? as usize;
        if zeros == 0 {
            return Err(row.fault(1, "a row of nothing", what));
        }
        bytes.resize(bytes.len() + zeros, 0);
        return row.ends_after(3);
    }
    let from = bytes.len();
    for word in &row.words[1..] {
        read_hex(row, word, bytes)?;
    }
    let (is, wanted) = (bytes.len() - from, left.min(ROW));
    if is != wanted {
        let remedy = format!("{wanted} belong here: {ROW} in each row, fewer in the last");
        return Err(row.fault(row.words.len(), format!("the row has {is} bytes"), remedy));
    }
    Ok(())
}

fn read_hex(row: &Line, word: &Word, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    let digits = word.text.chars().enumerate().map(|(i, c)| match c.to_digit(16) {
        Some(digit) => Ok(digit as u8),
        None => Err(row.fault_at(
            word.column + i,
            format!("`{c}` is no hex digit"),
            "bytes are written as pairs of 0 to 9 and a to f",
        )),
    });
    let digits = digits.collect::<Result<Vec<u8>, _>>()?;
    if !digits.len().is_multiple_of(2) {
        let problem = format!("an odd number of hex digits, {}", digits.len());
        return Err(row.fault_at(word.column, problem, "each byte has two digits"));
    }
    bytes.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Ok(())
}

/// A word of a line, and the column that it begins at.
struct Word {
    column: usize,
    text: String,
}

/// A line that says something: it has a word.
struct Line {
    number: usize,
    words: Vec<Word>,
}

impl Line {
    /// Word `index`, which must be there.
    fn word(&self, index: usize, problem: &str, remedy: &str) -> Result<&str, ReadError> {
        match self.words.get(index) {
            Some(word) => Ok(&word.text),
            None => Err(self.fault(index, problem, remedy)),
        }
    }

    fn decimal(&self, index: usize, max: u64, what: &str) -> Result<u64, ReadError> {
        let word = self.word(index, "a number is missing", &format!("write {what}"))?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse().ok().filter(|number| digits && *number <= max) {
            Some(number) => Ok(number),
            None => Err(self.fault(
                index,
                format!("`{word}` is no number from 0 to {max}"),
                format!("write {what}"),
            )),
        }
    }

    fn handle(&self, index: usize) -> Result<Handle, ReadError> {
        let remedy = "a handle is a hex number of up to 64 bits, such as 0x1";
        let word = self.word(index, "the handle is missing", remedy)?;
        let digits = word.strip_prefix("0x").filter(|rest| {
            // from_str_radix takes a sign, too.
            rest.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            Some(handle) => Ok(Handle(handle)),
            None => Err(self.fault(index, format!("`{word}` is no handle"), remedy)),
        }
    }

    /// Makes sure that nothing follows the first `count` words.
    fn ends_after(&self, count: usize) -> Result<(), ReadError> {
        match self.words.get(count) {
            None => Ok(()),
            Some(word) => Err(self.fault(
                count,
                format!("`{}` is too much", word.text),
                "the line ends before it; a comment begins with #",
            )),
        }
    }

    /// A fault at word `index`, or where that would be.
    fn fault(
        &self,
        index: usize,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ReadError {
        let end = || self.words.last().map_or(1, |word| word.column + word.text.chars().count());
        let column = self.words.get(index).map_or_else(end, |word| word.column);
        self.fault_at(column, problem, remedy)
    }

    fn fault_at(
        &self,
        column: usize,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ReadError {
        fault(self.number, column, problem, remedy)
    }
}

fn fault(
    line: usize,
    column: usize,
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> ReadError {
    ReadError::Text { line, column, problem: problem.into(), remedy: remedy.into() }
}

/// The lines of a file, without comments and without those that say nothing.
struct Lines<R> {
    reader: R,
    /// That of the line read last.
    number: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<Line>, ReadError> {
        while let Some(text) = self.next_text()? {
            let said = text.split('#').next().unwrap_or_default();
            let words = words(said);
            if words.is_empty() {
                continue;
            }
            let line = Line { number: self.number, words };
            // Without this, `errno 121` that is cut to `errno 12` would pass.
            if !text.ends_with('\n') {
                let column = text.chars().count() + 1;
                let remedy = "end the last line, too, when it is whole";
                return Err(line.fault_at(column, "the line has no end", remedy));
            }
            return Ok(Some(line));
        }
        Ok(None)
    }

    fn next_text(&mut self) -> Result<Option<String>, ReadError> {
        let line = self.number + 1;
        let mut bytes = Vec::new();
        // A file without line ends must not fill the memory.
        let mut limited = self.reader.by_ref().take(MAX_LINE as u64 + 1);
        limited.read_until(b'\n', &mut bytes).map_err(|error| ReadError::Io { line, error })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number = line;
        if bytes.len() > MAX_LINE {
            let problem = format!("the line is longer than {MAX_LINE} bytes");
            return Err(fault(line, MAX_LINE + 1, problem, "a recording has short lines"));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let column = String::from_utf8_lossy(&error.as_bytes()[..good]).chars().count() + 1;
                Err(fault(line, column, "this is not UTF-8", "a recording is text"))
            }
        }
    }

    /// The next line, which must be there.
    fn expect(&mut self, problem: &str, remedy: &str) -> Result<Line, ReadError> {
        match self.next()? {
            Some(line) => Ok(line),
            None => Err(fault(self.number + 1, 1, problem, remedy)),
        }
    }

    /// The next line, which must begin with one of the words in `wanted`, joined by " or ".
    fn expect_word(&mut self, wanted: &str) -> Result<Line, ReadError> {
        let remedy = format!("a line that begins with {wanted} comes here");
        let line = self.expect("the call is cut off", &remedy)?;
        let word = &line.words[0].text;
        if wanted.split(" or ").any(|known| known == word) {
            return Ok(line);
        }
        Err(line.fault(0, format!("`{word}` is out of place"), remedy))
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut in_word = false;
    for (i, c) in text.chars().enumerate() {
        match (c.is_whitespace(), words.last_mut()) {
            (true, _) => in_word = false,
            (false, Some(word)) if in_word => word.text.push(c),
            (false, _) => {
                words.push(Word { column: i + 1, text: c.to_string() });
                in_word = true;
            }
        }
    }
    words
}
