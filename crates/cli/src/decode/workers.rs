//! Several processors at a long log: what is found is written to memory by many, in turn, and passed on in
//! the order in which it was found.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::Form;
use super::several::Entry;
use crate::output::{Look, Output};

/// Entries that one processor gets at once: enough that handing them over costs nothing beside them.
const BATCH: usize = 64;

/// The most processors: what reads the log can feed no more.
const MOST: usize = 8;

/// Entries that follow each other.
struct Batch {
    entries: Vec<Entry>,
    /// There is something before the first.
    gap: bool,
    /// What is written of them. The room for it is used again and again.
    text: Vec<u8>,
}

impl Batch {
    fn write(&self, out: &mut Output, form: Form) -> io::Result<()> {
        let mut gap = self.gap;
        for entry in &self.entries {
            entry.write(out, form, std::mem::replace(&mut gap, true))?;
        }
        Ok(())
    }
}

pub(super) struct Workers {
    form: Form,
    next: Batch,
    lanes: Vec<Lane>,
    /// Batches that were given to lanes, one after the other, and those that came back.
    given: usize,
    taken: usize,
    /// Room for text.
    spare: Vec<Vec<u8>>,
}

/// One processor. It has a batch under way, and another one that waits.
struct Lane {
    batches: SyncSender<Batch>,
    /// Batches come back whole: what was allocated by a thread is best freed by it.
    written: Receiver<Batch>,
    thread: JoinHandle<io::Result<()>>,
}

impl Workers {
    pub(super) fn new(form: Form) -> Self {
        let next = Batch { entries: Vec::with_capacity(BATCH), gap: false, text: Vec::new() };
        Workers { form, next, lanes: Vec::new(), given: 0, taken: 0, spare: Vec::new() }
    }

    /// Takes the next entry. It may be written later.
    pub(super) fn take(&mut self, entry: Entry, out: &mut Output) -> io::Result<()> {
        if out.is_watched() {
            // Somebody looks on, who wants to see what there is, and no more than that.
            entry.write(out, self.form, std::mem::replace(&mut self.next.gap, true))?;
            return out.flush();
        }
        self.next.entries.push(entry);
        if self.next.entries.len() < BATCH {
            return Ok(());
        }
        let (entries, text) = (Vec::with_capacity(BATCH), self.spare.pop().unwrap_or_default());
        let batch = std::mem::replace(&mut self.next, Batch { entries, gap: true, text });
        if self.lanes.is_empty() {
            let processors = thread::available_parallelism().map_or(1, usize::from);
            if processors == 1 {
                return batch.write(out, self.form);
            }
            self.lanes =
                (0..processors.min(MOST)).map(|_| Lane::new(self.form, out.look)).collect();
        }
        if self.given - self.taken == 2 * self.lanes.len() {
            self.pass_on(out)?;
        }
        let lane = self.given % self.lanes.len();
        self.given += 1;
        match self.lanes[lane].batches.send(batch) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lanes.swap_remove(lane).fault()),
        }
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self, out: &mut Output) -> io::Result<()> {
        while self.taken < self.given {
            self.pass_on(out)?;
        }
        self.lanes.clear();
        self.next.write(out, self.form)?;
        self.next.entries.clear();
        Ok(())
    }

    /// Passes on the batch that was given first of those under way.
    fn pass_on(&mut self, out: &mut Output) -> io::Result<()> {
        let lane = self.taken % self.lanes.len();
        self.taken += 1;
        match self.lanes[lane].written.recv() {
            Ok(Batch { mut text, .. }) => {
                out.lines(&text)?;
                text.clear();
                self.spare.push(text);
                Ok(())
            }
            Err(_) => Err(self.lanes.swap_remove(lane).fault()),
        }
    }
}

impl Lane {
    fn new(form: Form, look: Look) -> Self {
        let (batches, to_do) = sync_channel::<Batch>(1);
        let (done, written) = sync_channel(1);
        let thread = thread::spawn(move || {
            for mut batch in to_do {
                let mut out = Output::in_memory(std::mem::take(&mut batch.text), look);
                batch.write(&mut out, form)?;
                batch.text = out.into_bytes();
                // Nobody waits any more when what is written goes nowhere.
                if done.send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Lane { batches, written, thread }
    }

    /// Why its thread ended too early.
    fn fault(self) -> io::Error {
        drop(self.batches);
        match self.thread.join() {
            Ok(Ok(())) => io::Error::other("a thread ended before its work was done"),
            Ok(Err(error)) => error,
            Err(panic) => resume_unwind(panic),
        }
    }
}
