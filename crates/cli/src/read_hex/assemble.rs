//! Lines put together to a mailbox, by their offsets.

use super::Line;
use super::fault::Fault;

/// Longer than any mailbox: an offset beyond it is an error of writing, and `*` shall not fill
/// the memory up to it.
pub(super) const MOST: u64 = 16 << 20;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Bytes, and where they are when the format tells.
    Bytes(Option<u64>, Vec<u8>),
    /// Bytes, and their address in the memory of a program.
    Memory(u64, Vec<u8>),
    /// Where the dump ends.
    End(u64),
    /// The line before is repeated up to the next offset.
    Repeat,
    /// Nothing about the bytes.
    Frame,
}

/// The bytes so far.
#[derive(Default)]
pub(super) struct Assembly<'t> {
    bytes: Vec<u8>,
    /// The address of the first line, where a dump of memory has addresses and no offsets.
    base: u64,
    /// Length of the last line.
    last: usize,
    /// The `*` that waits for an offset.
    repeat: Option<Line<'t>>,
}

impl<'t> Assembly<'t> {
    pub(super) fn add(&mut self, item: Item, line: Line<'t>) -> Result<(), Fault> {
        match item {
            Item::Memory(address, bytes) => {
                if self.bytes.is_empty() {
                    self.base = address;
                }
                return self.add(Item::Bytes(Some(address), bytes), line);
            }
            Item::Bytes(offset, bytes) => {
                offset.map_or(Ok(()), |offset| self.reach(offset, true))?;
                self.last = bytes.len();
                self.bytes.extend(bytes);
            }
            Item::End(offset) => self.reach(offset, false)?,
            Item::Repeat if self.bytes.is_empty() => return Err(Fault::RepeatOfNothing),
            Item::Repeat if self.repeat.is_some() => return Err(Fault::RepeatWithoutEnd),
            Item::Repeat => self.repeat = Some(line),
            Item::Frame => {}
        }
        Ok(())
    }

    /// How many bytes the last line had.
    pub(super) fn last_line(&self) -> usize {
        self.last
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, (Line<'t>, Fault)> {
        match self.repeat {
            Some(line) => Err((line, Fault::RepeatWithoutEnd)),
            None => Ok(self.bytes),
        }
    }

    /// Comes to the offset of a line. `more`: the line has bytes, so that it is not the end.
    fn reach(&mut self, offset: u64, more: bool) -> Result<(), Fault> {
        let next = self.bytes.len() as u64;
        if next == 0 && more && offset > MOST {
            self.base = offset;
        }
        let back = || Fault::Back { offset, next: self.base.saturating_add(next) };
        let offset = offset.checked_sub(self.base).ok_or_else(back)?;
        let repeat = self.repeat.take().is_some();
        if offset > MOST {
            return Err(Fault::TooFar(offset));
        }
        if offset < next {
            return Err(Fault::Back { offset, next });
        }
        let missing = (offset - next) as usize;
        match (repeat, missing) {
            (false, 0) => Ok(()),
            (false, _) => Err(Fault::Gap { offset, next }),
            // Tools repeat whole lines, but for the last line of all.
            (true, 0) => Err(Fault::RepeatUneven { offset, next }),
            (true, _) if more && !missing.is_multiple_of(self.last) => {
                Err(Fault::RepeatUneven { offset, next })
            }
            (true, _) => {
                let from = self.bytes.len() - self.last;
                let line = self.bytes[from..].to_vec();
                self.bytes.extend(line.iter().cycle().take(missing));
                Ok(())
            }
        }
    }
}
