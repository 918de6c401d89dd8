//! Calls as the text of a recording.

use std::fmt::{self, Write};

use mlx5_prm::Status;

use super::call::{Call, target_text};
use crate::errno;

/// The first line of a recording: what the file is, and the version of the format.
pub(crate) const HEADER: &str = "mlx5-recording 1";

/// Bytes in a row of a mailbox.
pub(crate) const ROW: usize = 16;

/// Writes a call, and an empty line before it.
pub(crate) fn write_call(call: &Call, out: &mut impl Write) -> fmt::Result {
    write!(out, "\n{}", call.method.word())?;
    if let Some(target) = call.target {
        write!(out, " {}", target_text(target))?;
    }
    writeln!(out, "\n  at {}", call.at.as_micros())?;
    if call.method.has_mailboxes() {
        let command = mlx5_prm::opcode(&call.input).and_then(|opcode| opcode.name());
        write_mailbox("input", &call.input, command.unwrap_or_default(), out)?;
        // A mailbox of zeros is what almost every caller brings.
        if call.before.iter().any(|byte| *byte != 0) {
            write_mailbox("before", &call.before, "", out)?;
        }
        write_mailbox("output", &call.output, &refusal(call), out)?;
    }
    match call.result {
        Ok(None) => writeln!(out, "  result ok"),
        Ok(Some(handle)) => writeln!(out, "  result handle {:#x}", handle.0),
        Err(errno) => {
            write!(out, "  result errno {}", errno.raw_os_error())?;
            write_comment(errno::name(errno).unwrap_or_default(), out)
        }
    }
}

/// What the firmware said when it refused.
fn refusal(call: &Call) -> String {
    match call.output.first_chunk::<8>() {
        Some(head) if head[0] != 0 && call.output != call.before => {
            let syndrome = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
            format!("{}, syndrome {syndrome:#x}", crate::status_words(Status(head[0])))
        }
        _ => String::new(),
    }
}

fn write_mailbox(word: &str, bytes: &[u8], comment: &str, out: &mut impl Write) -> fmt::Result {
    write!(out, "  {word} {}", bytes.len())?;
    write_comment(comment, out)?;
    let is_zero = |row: &[u8]| row.iter().all(|byte| *byte == 0);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let zeros: usize = rest.chunks(ROW).take_while(|row| is_zero(row)).map(<[u8]>::len).sum();
        if zeros > 0 {
            writeln!(out, "    {at:04x}: {zeros} zeros")?;
            at += zeros;
            continue;
        }
        let row = &rest[..ROW.min(rest.len())];
        write!(out, "    {at:04x}:")?;
        for (i, byte) in row.iter().enumerate() {
            // A space before each dword, as the PRM counts.
            let space = if i.is_multiple_of(4) { " " } else { "" };
            write!(out, "{space}{byte:02x}")?;
        }
        writeln!(out)?;
        at += row.len();
    }
    Ok(())
}

/// Ends a line, with a comment when there is something to say.
fn write_comment(comment: &str, out: &mut impl Write) -> fmt::Result {
    if comment.is_empty() { writeln!(out) } else { writeln!(out, "  # {comment}") }
}
