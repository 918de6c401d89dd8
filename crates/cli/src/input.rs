//! What a command reads: a file or standard input, and the mailboxes in it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use mlx5_devx::record::{Call, Calls};
use mlx5_prm_cli::kernel_log::{self, Damage, Found};
use mlx5_prm_cli::read_hex;

use crate::error::{Error, tell};
use crate::explain::PACKED;
use crate::progress::Progress;

/// The longest text that is one mailbox; logs and recordings have no end.
const MOST_TEXT: usize = 16 << 20;

/// The longest line that is looked at as one; the rest is another.
const MOST_LINE: usize = 1 << 16;

/// How a recording begins.
const RECORDING: &[u8] = b"mlx5-recording";

/// Where input comes from.
pub(crate) struct Source {
    name: String,
    reader: Box<dyn BufRead>,
}

/// What is found in the input.
pub(crate) enum Item<'i> {
    /// The input is one mailbox.
    Whole(&'i [u8]),
    /// A dump in a kernel log.
    Dump(kernel_log::Dump),
    /// One that can't be read, which was told.
    Damaged(Damage),
    /// A call of a recording, and its line.
    Call(usize, &'i Call),
}

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Mailboxes, or calls.
    pub(crate) items: u64,
    /// Dumps that are damaged, each told on standard error.
    pub(crate) damaged: u64,
}

impl Source {
    /// A file, or standard input when it is left out or `-`.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Error> {
        match file.filter(|path| path.as_os_str() != "-") {
            None => Ok(Source {
                name: "standard input".to_owned(),
                reader: Box::new(io::stdin().lock()),
            }),
            Some(path) => {
                let name = path.display().to_string();
                match File::open(path) {
                    Ok(file) => Ok(Source {
                        name,
                        reader: Box::new(BufReader::with_capacity(1 << 16, file)),
                    }),
                    Err(source) => Err(Error::Open { file: name, source }),
                }
            }
        }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn fault(&self, source: io::Error) -> Error {
        Error::Open { file: self.name.clone(), source }
    }

    /// All of it, when it is a text of one's own, such as a JSON file.
    pub(crate) fn text(mut self) -> Result<String, Error> {
        let mut raw = Vec::new();
        let read = (&mut self.reader).take(MOST_TEXT as u64 + 1).read_to_end(&mut raw);
        read.map_err(|source| self.fault(source))?;
        if raw.len() > MOST_TEXT {
            let (name, most) = (&self.name, MOST_TEXT >> 20);
            return Err(Error::Input(format!("{name}: over {most} MiB\nGive one mailbox.")));
        }
        if raw.contains(&0) {
            let problem =
                format!("{}: binary\nGive text; `prm decode` reads a mailbox.", self.name);
            return Err(Error::Input(problem));
        }
        String::from_utf8(raw).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Error::Input(format!("{}, line {line}: not UTF-8\nGive text.", self.name))
        })
    }

    fn too_long(&self) -> Error {
        Error::Input(format!(
            "{}: over {} MiB, and no dump of a command in it\nGive one mailbox, a log with the kernel's dumps, \
             or a recording.",
            self.name,
            MOST_TEXT >> 20
        ))
    }

    /// The one mailbox that it is, and whether the kernel dumped it. `what` says why there can't be several.
    pub(crate) fn mailbox(self, what: &str) -> Result<(Vec<u8>, bool), Error> {
        let name = self.name.clone();
        let mut one = None;
        self.items(&mut |item| {
            let found = match item {
                Item::Whole(bytes) => (bytes.to_vec(), false),
                Item::Dump(dump) => (dump.bytes, true),
                Item::Damaged(_) => return Ok(()),
                Item::Call(..) => {
                    return Err(Error::Input(format!(
                        "{name}: a recording of calls\n{what}; `prm decode` shows what is in it, and \
                         `diff -I '^  at '` compares two recordings, but for their times."
                    )));
                }
            };
            match one.replace(found) {
                None => Ok(()),
                Some(_) => Err(Error::Input(format!(
                    "{name}: several mailboxes\n{what}; leave one in the file."
                ))),
            }
        })?;
        one.ok_or_else(|| Error::Input(format!("{name}: no mailbox")))
    }

    /// Gives all that is in it, one after the other. What is damaged in a log is told, and passed over.
    pub(crate) fn items(
        mut self,
        each: &mut dyn FnMut(Item<'_>) -> Result<(), Error>,
    ) -> Result<Tally, Error> {
        let mut head = Vec::new();
        let mut line = Vec::new();
        let mut lines = 0u64;
        let mut progress = Progress::new();
        loop {
            self.line(&mut line)?;
            if line.is_empty() {
                break;
            }
            if lines == 0 && line.starts_with(RECORDING) {
                return recording(&self.name, line.chain(self.reader), each);
            }
            if kernel_log::is_telling(&line) {
                head.extend_from_slice(&line);
                let from = if head.len() <= MOST_TEXT { 0 } else { lines };
                let head = if from == 0 { head } else { line };
                return log(&self.name, from, head.chain(self.reader), each);
            }
            lines += u64::from(line.ends_with(b"\n"));
            progress.step(line.len(), "MB looked through for a dump");
            if head.len() <= MOST_TEXT {
                head.extend_from_slice(&line);
            }
        }
        if head.len() > MOST_TEXT {
            return Err(self.too_long());
        }
        if let Some((_, tool)) = PACKED.iter().find(|(mark, _)| head.starts_with(mark)) {
            return Err(Error::Input(format!(
                "{}: compressed\nUnpack it first: {tool} {} | prm decode",
                self.name, self.name
            )));
        }
        let bytes = read_hex::read(&self.name, &head).map_err(|error| {
            // What people have who want to know what failed, or who wrote it down as fields.
            let remedy = if memchr::memmem::find(&head, b"\"MESSAGE\"").is_some() {
                "Is it a log by journalctl -o json? Give it as lines: `journalctl -k` without -o json."
            } else if head.trim_ascii_start().starts_with(RECORDING) {
                "Is it a recording? Leave out the lines before `mlx5-recording`."
            } else if memchr::memmem::find(&head, b"syndrome").is_some() {
                "Is it a log without dumps of commands? `prm explain` tells what failed in it."
            } else if is_decoded(&head) {
                "Is it what `prm decode` wrote? `prm encode --from FILE` makes the mailbox of that."
            } else {
                return Error::Read(error);
            };
            Error::Input(format!("{error}\n{remedy}"))
        })?;
        each(Item::Whole(&bytes))?;
        Ok(Tally { items: 1, damaged: 0 })
    }

    fn line(&mut self, line: &mut Vec<u8>) -> Result<(), Error> {
        read_line(&mut self.reader, line).map_err(|source| self.fault(source))
    }
}

/// Whether a text begins as `prm decode --json` or `--flat` writes: with the name of a layout.
fn is_decoded(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    // Several have their places before them.
    if text.starts_with(b"# line ") || text.starts_with(b"{\"line\":") {
        return true;
    }
    let text = text.strip_prefix(b"{").map_or(text, <[u8]>::trim_ascii_start);
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let name = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').next();
    let name = name.and_then(|name| str::from_utf8(name).ok());
    name.and_then(mlx5_prm::layout_desc).is_some()
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    loop {
        let read = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let read = &read[..read.len().min(MOST_LINE - line.len())];
        let end = memchr::memchr(b'\n', read).map(|at| at + 1);
        let taken = &read[..end.unwrap_or(read.len())];
        line.extend_from_slice(taken);
        let len = taken.len();
        reader.consume(len);
        if end.is_some() || len == 0 {
            return Ok(());
        }
    }
}

/// The dumps of a log that begins after so many lines.
fn log(
    name: &str,
    from: u64,
    mut reader: impl BufRead,
    each: &mut dyn FnMut(Item<'_>) -> Result<(), Error>,
) -> Result<Tally, Error> {
    let mut dumps = kernel_log::Reader::after(from);
    let mut read = Tally::default();
    let mut take = |found: Found, read: &mut Tally| match found {
        Ok(dump) => {
            read.items += 1;
            each(Item::Dump(dump))
        }
        Err(damage) => {
            read.damaged += 1;
            tell(format_args!("{name}, {damage}"));
            each(Item::Damaged(damage))
        }
    };
    let mut progress = Progress::new();
    let (mut line, mut goes_on) = (Vec::new(), false);
    loop {
        read_line(&mut reader, &mut line)
            .map_err(|source| Error::Open { file: name.to_owned(), source })?;
        if line.is_empty() {
            break;
        }
        // What a line has beyond the longest is nothing of a dump.
        let begins = !std::mem::replace(&mut goes_on, !line.ends_with(b"\n"));
        if let Some(found) = begins.then(|| dumps.line(&line)).flatten() {
            take(found, &mut read)?;
        }
        progress.step(line.len(), "MB read");
    }
    for found in dumps.finish() {
        take(found, &mut read)?;
    }
    if read.items == 0 && read.damaged == 0 {
        return Err(Error::Input(format!(
            "{name}: a log without a whole dump of a command\n{}",
            "Load mlx5_core with debug_mask=1, and turn its pr_debug on, to have them."
        )));
    }
    Ok(read)
}

fn recording(
    name: &str,
    reader: impl BufRead,
    each: &mut dyn FnMut(Item<'_>) -> Result<(), Error>,
) -> Result<Tally, Error> {
    let fault = |error| Error::Input(format!("{name}, {error}"));
    let mut read = Tally::default();
    let mut progress = Progress::new();
    for call in Calls::new(reader).map_err(fault)? {
        let (line, call) = call.map_err(fault)?;
        read.items += 1;
        progress.step(call.input.len() + call.output.len(), "MB of mailboxes read");
        each(Item::Call(line, &call))?;
    }
    if read.items == 0 {
        return Err(Error::Input(format!("{name}: a recording without calls")));
    }
    Ok(read)
}
