//! The kernel's dumps of commands in a log: what `mlx5_core` writes with `debug_mask=1`, the data alone, or
//! without it, the whole entry of the command queue and its blocks.
//!
//! Dumps of several commands may be interleaved, line by line; the number in `cmd[N]` tells them apart.
//! Whatever stands before a line, such as a time or a host, is passed over, and so are other lines.
//!
//! Sources: `dump_command` and `dump_buf` of the kernel's `mlx5/core/cmd.c`; `struct mlx5_cmd_layout` and
//! `struct mlx5_cmd_prot_block` of `include/linux/mlx5/device.h`.

use std::collections::VecDeque;
use std::fmt;

use memchr::memmem;

/// The longest mailbox that is put together: far more than any command has.
const MOST_BYTES: usize = 1 << 20;

/// The most dumps that are under way at once. The queue has 32 entries.
const MOST_OPEN: usize = 256;

/// A mailbox that was dumped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// The line that it begins on, from 1.
    pub line: u64,
    /// Its place in the command queue, `cmd[N]`, if the kernel says it.
    pub slot: Option<u32>,
    /// The adapter, such as `0000:08:00.0`, if a line of the dump's head says it.
    pub device: Option<Vec<u8>>,
    /// What the kernel calls it: its opcode, and whether it is the input.
    pub title: Option<Title>,
    /// The mailbox. Of a dump of the data alone it is filled up to 16 bytes, as it was dumped.
    pub bytes: Vec<u8>,
}

/// What a dump is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Title {
    /// The opcode.
    pub opcode: u16,
    /// The input; else the output.
    pub is_input: bool,
}

/// A dump that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The line where that is seen, from 1.
    pub line: u64,
    /// The line that the dump begins on.
    pub begin: u64,
    /// Its place in the command queue.
    pub slot: Option<u32>,
    /// The adapter, as in [`Dump::device`].
    pub device: Option<Vec<u8>>,
    /// What the kernel calls it.
    pub title: Option<Title>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong with a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A line is not the next one.
    Offset {
        /// Its offset.
        is: usize,
        /// That of the next.
        next: usize,
    },
    /// A line has other things than an offset and four dwords.
    NotFourDwords {
        /// The column of the first that is wrong, from 1.
        column: usize,
    },
    /// There is a beginning, and no line of bytes.
    Empty,
    /// The entry of the queue is 64 bytes, and each block 576.
    Cut {
        /// How many there are.
        has: usize,
        /// How many there should be.
        wants: usize,
    },
    /// Two adapters wrote dumps of the same place at the same time: their lines can't be told apart.
    TwoDevices,
    /// The mailbox is that of another command than its title says.
    Opcode {
        /// That of the mailbox.
        is: u16,
        /// That of the title.
        title: u16,
    },
    /// It is longer than any mailbox.
    TooLong,
    /// So many dumps at once are none of one adapter.
    TooMany,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { line, begin, slot, what, .. } = self;
        write!(f, "line {line}")?;
        if let What::NotFourDwords { column } = what {
            write!(f, ", column {column}")?;
        }
        match what {
            What::Offset { is, next } => write!(f, ": offset {is:#x} where {next:#x} is next"),
            What::NotFourDwords { .. } => {
                write!(f, ": not an offset and four dwords of 8 hex digits")
            }
            What::Empty => write!(f, ": the dump has no bytes"),
            What::Cut { has, wants } => write!(f, ": {has} bytes where {wants} should be"),
            What::TwoDevices => write!(f, ": dumps of two adapters are mixed"),
            What::Opcode { is, title } => {
                write!(f, ": opcode {is:#x} where the title says {title:#x}")
            }
            What::TooLong => write!(f, ": longer than any mailbox"),
            What::TooMany => write!(f, ": {MOST_OPEN} dumps have begun and not ended"),
        }?;
        write!(f, "; the dump ")?;
        if let Some(slot) = slot {
            write!(f, "of cmd[{slot}] ")?;
        }
        write!(f, "that begins in line {begin} is left out")
    }
}

/// What a line leads to.
pub type Found = Result<Dump, Damage>;

/// Puts the dumps of a log together, line by line.
#[derive(Debug, Default)]
pub struct Reader {
    line: u64,
    /// Few at once: the first place is found as fast as any map has it.
    open: Vec<Open>,
    /// Dumps that were damaged: their other lines are passed over.
    skipped: Vec<Option<u32>>,
    /// What lines led to and was not given yet: a line may end one dump and damage the next.
    found: VecDeque<Found>,
}

/// A dump that is under way.
#[derive(Debug)]
struct Open {
    slot: Option<u32>,
    line: u64,
    title: Option<Title>,
    /// The entry of the queue and its blocks, not the data alone.
    whole: bool,
    bytes: Vec<u8>,
    /// The adapter, as the line that it begins with names it.
    device: Option<Vec<u8>>,
    /// Another adapter's dump was under way in the same place.
    mixed: bool,
}

impl Reader {
    /// A reader at the start of a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that begins after so many lines, which are none of a dump.
    pub fn after(lines: u64) -> Self {
        Reader { line: lines, ..Self::default() }
    }

    /// Takes the next line, with its end or without.
    pub fn line(&mut self, line: &[u8]) -> Option<Found> {
        self.line += 1;
        let (slot, text, column) = after_slot(line);
        let found = match said(slot.is_some(), text) {
            Said::Nothing => None,
            Said::Start => self.begin(slot, None, false, device(line)),
            Said::Title(title, whole) => self.titled(slot, title, whole, device(line)),
            Said::End => {
                let found = self.end(slot);
                self.skipped.retain(|other| *other != slot);
                found
            }
            Said::Row(offset, bytes) => self.row(slot, offset, &bytes),
            Said::BadRow(at) => self.bad_row(slot, text, column + at),
        };
        if self.found.is_empty() {
            return found;
        }
        self.found.extend(found);
        self.found.pop_front()
    }

    /// A line that begins as a row does. The first of a dump does not damage the one before it.
    fn bad_row(&mut self, slot: Option<u32>, text: &[u8], column: usize) -> Option<Found> {
        let open = self.find(slot)?;
        let is_first = text.starts_with(b"000:") && !open.bytes.is_empty();
        if is_first {
            let before = self.begin(slot, None, false, None);
            self.found.extend(before);
        }
        self.damaged(slot, What::NotFourDwords { column })
    }

    /// Ends the log: what is under way is as long as it is.
    pub fn finish(&mut self) -> Vec<Found> {
        let slots: Vec<Option<u32>> = self.open.iter().map(|open| open.slot).collect();
        let ended: Vec<Found> = slots.into_iter().filter_map(|slot| self.end(slot)).collect();
        self.found.drain(..).chain(ended).collect()
    }

    fn find(&mut self, slot: Option<u32>) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.slot == slot)
    }

    fn take(&mut self, slot: Option<u32>) -> Option<Open> {
        let at = self.open.iter().position(|open| open.slot == slot)?;
        Some(self.open.swap_remove(at))
    }

    fn begin(
        &mut self,
        slot: Option<u32>,
        title: Option<Title>,
        whole: bool,
        device: Option<Vec<u8>>,
    ) -> Option<Found> {
        // Kernels that write `cmd[N]` end each dump; rows do not say whose they are.
        let mixed = slot.is_some() && device.is_some();
        let other = self.find(slot).filter(|o| mixed && o.device.is_some() && o.device != device);
        let mixed = other.map(|open| open.mixed = true).is_some();
        let before = self.end(slot);
        self.skipped.retain(|other| *other != slot);
        if self.open.len() == MOST_OPEN {
            // None of them ends any more.
            for open in self.open.drain(..) {
                self.found.push_back(Err(open.damage(self.line, What::TooMany)));
            }
        }
        let bytes = Vec::with_capacity(512);
        self.open.push(Open { slot, line: self.line, title, whole, bytes, device, mixed });
        before
    }

    /// Old kernels write no line before that with the name.
    fn titled(
        &mut self,
        slot: Option<u32>,
        title: Title,
        whole: bool,
        device: Option<Vec<u8>>,
    ) -> Option<Found> {
        match self.find(slot) {
            Some(open)
                if open.bytes.is_empty() && open.title.is_none() && open.device == device =>
            {
                (open.title, open.whole) = (Some(title), whole);
                None
            }
            _ => self.begin(slot, Some(title), whole, device),
        }
    }

    fn row(&mut self, slot: Option<u32>, offset: usize, row: &[u8; 16]) -> Option<Found> {
        let mut before = None;
        let at = self.open.iter().position(|open| open.slot == slot);
        // Nothing need say where the last one ended.
        let at = at.filter(|at| offset != 0 || self.open[*at].bytes.is_empty());
        let at = match at {
            Some(at) => at,
            None if offset != 0 && self.skipped.contains(&slot) => return None,
            None => {
                before = self.begin(slot, None, false, None);
                match self.open.len().checked_sub(1) {
                    Some(last) => last,
                    None => return before,
                }
            }
        };
        let open = &mut self.open[at];
        let next = open.bytes.len();
        if offset != next {
            return self.damaged(slot, What::Offset { is: offset, next });
        }
        if next + row.len() > MOST_BYTES {
            return self.damaged(slot, What::TooLong);
        }
        open.bytes.extend_from_slice(row);
        before
    }

    fn damaged(&mut self, slot: Option<u32>, what: What) -> Option<Found> {
        let open = self.take(slot)?;
        if !self.skipped.contains(&slot) {
            self.skipped.push(slot);
            if self.skipped.len() > MOST_OPEN {
                self.skipped.remove(0);
            }
        }
        Some(Err(open.damage(self.line, what)))
    }

    fn end(&mut self, slot: Option<u32>) -> Option<Found> {
        let mut open = self.take(slot)?;
        if open.bytes.is_empty() && open.title.is_none() {
            // `start dump` alone, of a dump whose lines are not in this log, is none.
            return None;
        }
        Some(match open.mailbox() {
            Ok(bytes) => {
                let Open { slot, line, title, device, .. } = open;
                Ok(Dump { line, slot, device, title, bytes })
            }
            Err(what) => Err(open.damage(self.line, what)),
        })
    }
}

impl Open {
    /// The mailbox, which is taken out.
    fn mailbox(&mut self) -> Result<Vec<u8>, What> {
        if self.bytes.is_empty() {
            return Err(What::Empty);
        }
        if self.mixed {
            return Err(What::TwoDevices);
        }
        let is_input = self.title.is_none_or(|title| title.is_input);
        let bytes = std::mem::take(&mut self.bytes);
        let bytes = if self.whole { data(&bytes, is_input)? } else { bytes };
        match (self.title, bytes.first_chunk()) {
            (Some(Title { opcode, is_input: true }), Some(is))
                if u16::from_be_bytes(*is) != opcode =>
            {
                Err(What::Opcode { is: u16::from_be_bytes(*is), title: opcode })
            }
            _ => Ok(bytes),
        }
    }

    /// What is wrong with it, seen on a line.
    fn damage(self, line: u64, what: What) -> Damage {
        let Open { slot, line: begin, title, device, .. } = self;
        Damage { line, begin, slot, device, title, what }
    }
}

/// The mailbox in a dump of the entry of the command queue and its blocks.
fn data(dump: &[u8], is_input: bool) -> Result<Vec<u8>, What> {
    /// `struct mlx5_cmd_layout`; the first bytes of each mailbox are in it.
    const ENTRY: usize = 64;
    const INLINE: usize = 16;
    const INPUT: (usize, usize) = (4, 16);
    const OUTPUT: (usize, usize) = (56, 32);
    /// `struct mlx5_cmd_prot_block`, and what of it is data.
    const BLOCK: usize = 576;
    const DATA: usize = 512;

    let (length, inline) = if is_input { INPUT } else { OUTPUT };
    let cut = |wants| Err(What::Cut { has: dump.len(), wants });
    let Some((entry, blocks)) = dump.split_at_checked(ENTRY) else { return cut(ENTRY) };
    let length = entry[length..length + 4].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
    if length > MOST_BYTES {
        return Err(What::TooLong);
    }
    let behind = length.saturating_sub(INLINE);
    let wants = behind.div_ceil(DATA) * BLOCK;
    if blocks.len() < wants {
        return cut(ENTRY + wants);
    }
    let mut bytes = entry[inline..inline + INLINE.min(length)].to_vec();
    bytes.extend(blocks.chunks_exact(BLOCK).flat_map(|block| &block[..DATA]).take(behind));
    Ok(bytes)
}

/// The adapter that a line is of: `0000:08:00.0` after `mlx5_core `.
fn device(line: &[u8]) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"mlx5_core ";
    let at = memmem::find(line, NAME)? + NAME.len();
    let word = line[at..].split(u8::is_ascii_whitespace).next()?;
    Some(word.strip_suffix(b":").unwrap_or(word).to_vec())
}

/// Whether a line is one of a dump in a log, and nothing else: so that a file is known to be one.
///
/// A row without `cmd[N]` and anything before it may be xxd's, which reads the same.
pub fn is_telling(line: &[u8]) -> bool {
    let (slot, text, _) = after_slot(line);
    match said(slot.is_some(), text) {
        Said::Nothing | Said::BadRow(_) => false,
        Said::Row(..) => slot.is_some() || !starts_with_offset(line.trim_ascii()),
        Said::Start | Said::Title(..) | Said::End => true,
    }
}

fn starts_with_offset(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    digits > 0 && line.get(digits) == Some(&b':')
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Start,
    Title(Title, bool),
    End,
    Row(usize, [u8; 16]),
    /// It begins as a row does; the column where it does not go on so, from 0.
    BadRow(usize),
}

/// The number in `cmd[N]: `, what follows it, and where that begins.
fn after_slot(line: &[u8]) -> (Option<u32>, &[u8], usize) {
    const MARK: &[u8; 4] = b"cmd[";
    let whole = (None, line, 1);
    // It is near the beginning, where it is: a search of one's own has an end before others have begun.
    let Some(at) = line.windows(4).position(|four| four.first_chunk() == Some(MARK)) else {
        return whole;
    };
    let rest = &line[at + MARK.len()..];
    let digits = rest.iter().map_while(|byte| char::from(*byte).to_digit(10));
    let number = digits.clone().try_fold(0u32, |n, digit| n.checked_mul(10)?.checked_add(digit));
    let len = digits.count();
    match (number.filter(|_| len > 0), rest[len..].strip_prefix(b"]: ")) {
        (Some(number), Some(rest)) => (Some(number), rest, line.len() - rest.len() + 1),
        _ => whole,
    }
}

fn said(has_slot: bool, text: &[u8]) -> Said {
    let line = text.trim_ascii_end();
    // rsyslog writes the end of a line so, and programs that log a text quote it.
    let line = match line {
        [line @ .., b'"'] | [line @ .., b'#', b'0', b'1', b'2'] => line.trim_ascii_end(),
        _ => line,
    };
    if let Some(row) = row(has_slot, line) {
        return row;
    }
    // These follow `cmd[N]: `, or, in old kernels, the name of the function.
    let from = |words: &[u8]| memmem::find(line, words).map(|at| &line[at + words.len()..]);
    if line.ends_with(b"start dump") {
        Said::Start
    } else if line.ends_with(b"end dump") {
        Said::End
    } else if let Some(rest) = from(b"dump command ") {
        let (rest, whole) = match rest.strip_prefix(b"data ") {
            Some(rest) => (rest, false),
            None => (rest, true),
        };
        title(rest).map_or(Said::Nothing, |title| Said::Title(title, whole))
    } else {
        Said::Nothing
    }
}

/// `MODIFY_CQ(0x403) INPUT`
fn title(text: &[u8]) -> Option<Title> {
    let text = str::from_utf8(text).ok()?;
    let (_, rest) = text.split_once("(0x")?;
    let (opcode, which) = rest.split_once(')')?;
    let is_input = match which.trim() {
        "INPUT" => true,
        "OUTPUT" => false,
        _ => return None,
    };
    Some(Title { opcode: u16::from_str_radix(opcode, 16).ok()?, is_input })
}

/// An offset of at least three digits and four dwords: all that follows `cmd[N]: `, or the end of the line.
fn row(has_slot: bool, text: &[u8]) -> Option<Said> {
    if has_slot {
        let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits < 3 || text.get(digits) != Some(&b':') {
            return None;
        }
        return Some(whole_row(text, digits).unwrap_or_else(Said::BadRow));
    }
    let colon = text.len().checked_sub(DWORDS + 1)?;
    if text[colon] != b':' {
        return None;
    }
    let digits = text[..colon].iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let before = (colon - digits).checked_sub(1).map(|at| text[at]);
    if digits < 3 || before.is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'x') {
        return None;
    }
    whole_row(&text[colon - digits..], digits).ok()
}

/// A row whose offset has so many digits; else the column where it goes wrong.
fn whole_row(text: &[u8], digits: usize) -> Result<Said, usize> {
    let offset = &text[..digits];
    if digits > 8 {
        return Err(0);
    }
    let offset = offset.iter().fold(0, |n, byte| n << 4 | nibble(*byte).map_or(0, usize::from));
    let row = text.get(digits + 1..digits + 1 + DWORDS).and_then(|row| row.first_chunk());
    if let Some(bytes) = row.and_then(dwords) {
        let end = digits + 1 + DWORDS;
        return if end == text.len() { Ok(Said::Row(offset, bytes)) } else { Err(end) };
    }
    // Where it goes wrong: at what should be a space, or a digit.
    let wrong = (0..DWORDS).find(|i| match text.get(digits + 1 + i) {
        Some(byte) if i % 9 == 0 => *byte != b' ',
        Some(byte) => nibble(*byte).is_none(),
        None => true,
    });
    Err(digits + 1 + wrong.unwrap_or(DWORDS))
}

/// Characters of four dwords, each with a space before it.
const DWORDS: usize = 4 * 9;

/// The bytes of four dwords; `None` where a space or a digit is none.
fn dwords(row: &[u8; DWORDS]) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let (dwords, _) = bytes.as_chunks_mut();
    for (dword, text) in dwords.iter_mut().zip(row.as_chunks::<9>().0) {
        let (space, digits) = text.split_first_chunk::<1>()?;
        *dword = eight_digits(digits.first_chunk()?).filter(|_| space == b" ")?.to_be_bytes();
    }
    Some(bytes)
}

/// The number of eight hex digits. All are looked at at once: each is a byte of a number of 64 bits.
fn eight_digits(text: &[u8; 8]) -> Option<u32> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_be_bytes(*text);
    // Letters, and no digits, have this bit: `a` is 0x61, `A` 0x41, and `1` 0x31.
    let letters = (text >> 6) & EACH;
    let values = (text & (0x0f * EACH)) + 9 * letters;
    // They are what they look like if they make the same text.
    let above_nine = ((values + 6 * EACH) >> 4) & EACH;
    let made = values + u64::from(b'0') * EACH + u64::from(b'a' - b'0' - 10) * above_nine;
    if values & (0xf0 * EACH) != 0 || made != (text | (letters << 5)) {
        return None;
    }
    let bytes = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let words = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    Some((words | words >> 16) as u32)
}

/// The values of hex digits.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value];
        digits[digit as usize] = value as u8;
        digits[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    digits
};

fn nibble(byte: u8) -> Option<u8> {
    Some(DIGITS[usize::from(byte)]).filter(|digit| *digit < 16)
}

#[cfg(test)]
mod tests;
