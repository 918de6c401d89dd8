//! Counts failures that are alike.

use std::collections::HashMap;

use super::failure::Failure;
use super::forms::{self, Found};
use super::lines::Take;
use super::notices::Notices;
use super::record::{Cursor, Record};

/// How many kinds of failures are told apart.
const MOST_KINDS: usize = 1000;
/// How many devices of a kind are told apart.
const MOST_DEVICES: usize = 64;
/// Longer than any message.
const LONGEST: usize = 1 << 11;

/// Whatever is looked for has one of these. Most of a log has none, and is passed over quickly.
const MARKS: &[&str] = &["0x", "mlx5", "syndrome", "DevX", "status:", "callbacks"];

/// All failures of a log.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Each kind, in the order of its first.
    pub(super) kinds: Vec<Kind>,
    of: HashMap<Failure, usize>,
    /// Failures of still more kinds, which are not told apart.
    pub(super) beyond: Option<Lines>,
    pub(super) notices: Notices,
    /// How many lines the log has.
    pub(super) lines: u64,
    /// Whether there are dumps of commands in it.
    pub(super) dumps: bool,
}

/// Failures that are alike.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) failure: Failure,
    pub(super) seen: Lines,
    /// Devices, with how often each was named.
    pub(super) devices: Vec<(String, u64)>,
    /// How often other devices than those were named.
    pub(super) more_devices: u64,
    /// How many of them a second message is still to tell of.
    open: u64,
}

/// How often something was seen, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) count: u64,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Lines {
    /// Seen once more.
    pub(super) fn add(seen: &mut Option<Lines>, line: u64) {
        match seen {
            Some(seen) => seen.again(line, 1),
            None => *seen = Some(Lines { count: 1, first: line, last: line }),
        }
    }

    fn again(&mut self, line: u64, times: u64) {
        self.count = self.count.saturating_add(times);
        self.last = line;
    }
}

impl Tally {
    /// How many failures there are.
    pub(super) fn failures(&self) -> u64 {
        let beyond = self.beyond.map_or(0, |lines| lines.count);
        self.kinds.iter().fold(beyond, |all, kind| all.saturating_add(kind.seen.count))
    }

    fn add(&mut self, found: Found, line: u64, times: u64) {
        let Some(kind) = self.kind(&found, line, times) else { return };
        let Some(device) = found.device else { return };
        match kind.devices.iter().position(|(known, _)| *known == device) {
            Some(index) => {
                let seen = &mut kind.devices[index].1;
                *seen = seen.saturating_add(times);
            }
            None if kind.devices.len() < MOST_DEVICES => kind.devices.push((device, times)),
            None => kind.more_devices = kind.more_devices.saturating_add(times),
        }
    }

    /// The kind of a failure, which is counted.
    fn kind(&mut self, found: &Found, line: u64, times: u64) -> Option<&mut Kind> {
        let failure = &found.failure;
        if let Some(index) = self.of.get(failure) {
            let kind = &mut self.kinds[*index];
            if found.goes_on {
                kind.open += 1;
            } else if kind.open > 0 {
                kind.open -= 1;
                kind.seen.last = line;
                return None;
            }
            kind.seen.again(line, times);
            return Some(kind);
        }
        if self.kinds.len() >= MOST_KINDS {
            Lines::add(&mut self.beyond, line);
            return None;
        }
        self.of.insert(failure.clone(), self.kinds.len());
        let seen = Lines { count: times, first: line, last: line };
        let open = u64::from(found.goes_on);
        let (failure, devices) = (failure.clone(), Vec::new());
        self.kinds.push(Kind { failure, seen, devices, more_devices: 0, open });
        self.kinds.last_mut()
    }

    /// Takes what begins before `limit`; gives where the last of it ends.
    fn take(&mut self, record: &Record, limit: usize) -> usize {
        if !MARKS.iter().any(|mark| record.find(mark, 0).is_some()) {
            return 0;
        }
        let mut found = forms::find(record);
        found.retain(|found| found.part.start < limit);
        let end = found.last().map_or(0, |last| last.part.end);
        let parts: Vec<_> = found.iter().map(|found| found.part.clone()).collect();
        self.notices.add(record, &parts, limit.max(end));
        for found in found {
            let line = record.line(found.part.start);
            let times = times(record, found.part.start);
            self.add(found, line, times);
        }
        end
    }
}

/// How often a message that begins at a byte was seen: rsyslog writes `message repeated 3 times: [ ...]`.
fn times(record: &Record, start: usize) -> u64 {
    const SAID: &str = "messagerepeated";
    let near = start.saturating_sub(120);
    let before = &record.bytes()[near..start];
    let said = before.windows(SAID.len()).rposition(|part| part == SAID.as_bytes());
    let times = said.and_then(|at| {
        let mut cursor = Cursor::new(record, near + at + SAID.len());
        let times = cursor.decimal()?;
        cursor.take("times:[")?;
        // Of a message before this one.
        let within = &record.bytes()[cursor.at()..start.max(cursor.at())];
        (!within.ends_with(b"]") && !within.windows(2).any(|part| part == b")]")).then_some(times)
    });
    times.unwrap_or(1).max(1)
}

impl Take for Tally {
    fn whole(&mut self, record: &Record) {
        // A record has no blanks.
        self.dumps |= memchr::memmem::find(record.bytes(), b":dumpcommand").is_some();
        self.take(record, record.bytes().len());
    }

    fn part(&mut self, record: &Record) -> usize {
        let limit = record.bytes().len().saturating_sub(LONGEST);
        self.take(record, limit).max(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn tally(log: &str) -> Tally {
        let mut tally = Tally::default();
        tally.lines = lines::read(log.as_bytes(), &mut tally).unwrap();
        tally
    }

    fn line(opcode: usize, syndrome: usize, device: usize) -> String {
        format!(
            "mlx5_core 0000:{device:02x}:00.0: mlx5_cmd_out_err:838:(pid 1): X(0x{opcode:x}) op_mod(0x0) \
             failed, status bad parameter(0x3), syndrome (0x{syndrome:x}), err(-22)\n"
        )
    }

    #[test]
    fn what_is_alike_is_counted_together() {
        let tally = tally(&(line(1, 2, 3) + "noise\n" + &line(1, 2, 4) + &line(1, 3, 3)));
        let seen: Vec<Lines> = tally.kinds.iter().map(|kind| kind.seen).collect();
        let lines = |count, first, last| Lines { count, first, last };
        assert_eq!(seen, [lines(2, 1, 3), lines(1, 4, 4)]);
        assert_eq!(
            tally.kinds[0].devices,
            [("0000:03:00.0".into(), 1), ("0000:04:00.0".into(), 1)]
        );
        assert_eq!((tally.lines, tally.failures()), (4, 3));
    }

    #[test]
    fn what_rsyslog_counted_is_counted() {
        let line = line(1, 2, 3);
        let repeated =
            format!("Nov 30 06:04:29 h kernel: message repeated 4 times: [ {}]\n", line.trim());
        let tally = tally(&(line.clone() + &repeated + &line));
        let seen: Vec<(u64, u64, u64)> = tally
            .kinds
            .iter()
            .map(|kind| (kind.seen.count, kind.seen.first, kind.seen.last))
            .collect();
        assert_eq!(seen, [(6, 1, 3)]);
        assert_eq!(tally.kinds[0].devices, [("0000:03:00.0".into(), 6)]);
    }

    #[test]
    fn two_messages_of_one_timeout_are_one() {
        let log = "mlx5_core 0000:81:00.0: f:1:(pid 8): cmd[3]: QUERY_CQ(0x402) No done completion\n\
                   mlx5_core 0000:81:00.0: f:1:(pid 8): QUERY_CQ(0x402) timeout. Will cause a leak of a \
                   command resource\n";
        assert_eq!(tally(log).failures(), 1);
        assert_eq!(tally(&log.repeat(3)).failures(), 3);
        assert_eq!(tally(log.lines().last().unwrap()).failures(), 1, "an older kernel");
    }

    #[test]
    fn what_is_too_many_is_counted_and_told() {
        let log: String = (0..1500).map(|i| line(1, i, i % 200)).collect();
        let tally = tally(&log);
        assert_eq!(tally.kinds.len(), MOST_KINDS);
        assert_eq!(tally.beyond, Some(Lines { count: 500, first: 1001, last: 1500 }));
        assert_eq!(tally.failures(), 1500);
        let tally = self::tally(&(0..200).map(|i| line(1, 1, i)).collect::<String>());
        assert_eq!((tally.kinds[0].devices.len(), tally.kinds[0].more_devices), (64, 136));
    }

    #[test]
    fn a_log_without_line_ends_is_read_whole() {
        let log: String = (0..3000).map(|i| line(1, i % 7, 0).replace('\n', " -- ")).collect();
        let tally = tally(&log);
        assert_eq!((tally.lines, tally.failures(), tally.kinds.len()), (1, 3000, 7));
    }
}
