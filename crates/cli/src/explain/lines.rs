//! A log, line by line, put together to records.

use std::io::{self, BufRead, Read};

use super::record::Record;

/// What is read at once. A line without end is read in such pieces.
const PIECE: u64 = 1 << 14;
/// How long a record grows before it is looked at in parts.
const LONG: usize = 1 << 16;

/// Whoever takes records.
pub(super) trait Take {
    /// Takes a record that is whole.
    fn whole(&mut self, record: &Record);
    /// Takes the first part of a record that goes on; gives how much of it is done with.
    fn part(&mut self, record: &Record) -> usize;
}

/// Reads all of a log; gives how many lines it has.
pub(super) fn read(mut log: impl BufRead, to: &mut impl Take) -> io::Result<u64> {
    let mut record = Record::default();
    let (mut piece, mut number, mut within) = (Vec::new(), 0u64, false);
    loop {
        piece.clear();
        if log.by_ref().take(PIECE).read_until(b'\n', &mut piece)? == 0 {
            break;
        }
        if within {
            record.extend(number, &piece);
        } else {
            number += 1;
            let line = unquoted(&piece);
            if begins_record(line) {
                finish(&mut record, to);
            }
            record.push(number, line);
        }
        within = piece.last() != Some(&b'\n');
        if record.bytes().len() > LONG {
            let done = to.part(&record);
            record.forget(done);
        }
    }
    finish(&mut record, to);
    Ok(number)
}

fn finish(record: &mut Record, to: &mut impl Take) {
    if !record.is_empty() {
        to.whole(record);
        record.clear();
    }
}

/// A line without what a mailer puts before what it quotes.
fn unquoted(line: &[u8]) -> &[u8] {
    let mut rest = line.trim_ascii_start();
    while let Some((b'>' | b'|', after)) = rest.split_first() {
        rest = after.trim_ascii_start();
    }
    rest
}

/// Whether a line surely begins a record, rather than going on with the one before: it is blank, or
/// begins with a time, a priority, or what only stands at the start of a message.
fn begins_record(line: &[u8]) -> bool {
    let line = &line[..line.len().min(80)];
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start();
    text.is_empty()
        || has_bracketed_time(text)
        || has_priority(text)
        || has_date(text)
        || is_trace(text)
        || STARTS.iter().any(|start| text.starts_with(start))
}

/// What messages begin with, and nothing within them.
const STARTS: &[&str] = &[
    "mlx5_core 0",
    "mlx5_core 1",
    "mlx5_core.",
    "mlx5_common:",
    "mlx5_net:",
    "mlx5_vdpa:",
    "infiniband mlx5",
    "kernel:",
    "kern  :",
    "EAL:",
    "-- ",
];

/// `[  123.456789]`, `[1700000000.123456]`, `[Mon Nov 30 06:04:29 2026]`.
fn has_bracketed_time(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inside.is_some_and(|(inside, _)| {
        let inside = inside.trim_start();
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        inside.contains('.') && inside.chars().all(is_number) || is_day(inside)
    })
}

fn is_day(text: &str) -> bool {
    ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "].iter().any(|d| text.starts_with(d))
}

/// `<3>`.
fn has_priority(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    inside.is_some_and(|(n, _)| n.len() < 4 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// `2026-11-30T06:04:29`, `2026-11-30 06:04`, `Nov 30 06:04:29`.
fn has_date(text: &str) -> bool {
    const MONTHS: &[&str] =
        &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let day = MONTHS.iter().find_map(|month| text.strip_prefix(month));
    is_of(text, b"9999-99-99")
        || day.is_some_and(|day| is_of(day, b" 99 99:99:99") || is_of(day, b"  9 99:99:99"))
}

/// Whether a text begins in a form, in which 9 stands for any digit.
fn is_of(text: &str, form: &[u8]) -> bool {
    let same = |(byte, form): (u8, &u8)| match form {
        b'9' => byte.is_ascii_digit(),
        other => byte == *other,
    };
    text.len() >= form.len() && text.bytes().zip(form).all(same)
}

/// `kworker/3:1-812     [003] d..1.   512.123456: mlx5_cmd:`, as the kernel's tracing writes it.
fn is_trace(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let (task, cpu) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let cpu = cpu.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    task.rsplit_once('-').is_some_and(|(_, pid)| number(pid)) && cpu.is_some_and(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Records(Vec<String>);

    impl Take for Records {
        fn whole(&mut self, record: &Record) {
            self.0.push(record.text(0..usize::MAX));
        }
        fn part(&mut self, record: &Record) -> usize {
            record.bytes().len() / 2
        }
    }

    fn records(log: &str) -> Vec<String> {
        let mut records = Records::default();
        read(log.as_bytes(), &mut records).unwrap();
        records.0
    }

    #[test]
    fn lines_that_begin_a_record() {
        for line in [
            "[    3.000001] x",
            "[Mon Nov 30 06:04:29 2026] x",
            "<3>[ 3.1] x",
            "Nov 30 06:04:29 node17 kernel: x",
            "Nov  3 06:04:29 node17 kernel: x",
            "2026-11-30T06:04:29+0000 node17 kernel: x",
            "mlx5_core 0000:04:00.0: x",
            "    kworker/3:1-812     [003] d..1.   512.123456: mlx5_cmd: x",
            "",
            "  ",
        ] {
            assert!(begins_record(line.as_bytes()), "{line}");
        }
        for line in ["status bad parameter(0x3)", "[gpu1:12 :0]", "(0x3)", "<abc>", "Nov", "0x12)"]
        {
            assert!(!begins_record(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn what_is_wrapped_or_quoted_is_put_together() {
        let log = "> > [ 1.000000] a\n> > b\nc\n>\n> d\n[ 2.000000] e\n";
        assert_eq!(records(log), ["[ 1.000000] a b c", "d", "[ 2.000000] e"]);
    }

    #[test]
    fn a_line_without_end_is_read_in_parts() {
        let log = "ab".repeat(200_000);
        let records = records(&log);
        assert_eq!(records.len(), 1);
        assert!(records[0].len() <= LONG + PIECE as usize);
    }
}
