//! What stands before a message of the kernel: the device, and the command's name.

use std::ops::Range;

use crate::explain::record::Record;
use crate::explain::words;

/// How long a name, and how long a device with function and process, may be.
const LONGEST_NAME: usize = 48;
const LONGEST_PREFIX: usize = 160;

/// `NAME(0xOPCODE)` that ends before a byte.
pub(super) struct Command {
    /// Where its name begins.
    pub(super) start: usize,
    pub(super) name: Option<String>,
    pub(super) opcode: Option<u16>,
}

/// The command whose `)` is the byte before `end`; with what is left of it, when its begin is cut off.
pub(super) fn command(record: &Record, end: usize) -> Option<Command> {
    let bytes = record.bytes();
    let close = end.checked_sub(1).filter(|at| bytes.get(*at) == Some(&b')'))?;
    let is_digit = |at: &usize| bytes[*at].is_ascii_hexdigit();
    let digits = (0..close).rev().take(5).take_while(is_digit).last()?;
    let open = digits.checked_sub(3).filter(|at| &bytes[*at..digits] == b"(0x");
    let Some(open) = open else { return Some(Command { start: digits, name: None, opcode: None }) };
    let digits = std::str::from_utf8(&bytes[digits..close]).ok()?;
    let opcode = u16::from_str_radix(digits, 16).ok();
    let name = name(record, open);
    Some(Command {
        start: name.start,
        name: (!name.is_empty()).then(|| unbroken(record, name)),
        opcode,
    })
}

/// The name that ends before `end`. A mailer may have broken it, and words may stand before it: of the
/// ways to read it, the shortest that is a command counts, else what follows the last blank.
fn name(record: &Record, end: usize) -> Range<usize> {
    let bytes = record.bytes();
    let is_name = |at: &usize| bytes[*at].is_ascii_alphanumeric() || bytes[*at] == b'_';
    let first = (0..end).rev().take(LONGEST_NAME).take_while(is_name).last().unwrap_or(end);
    let starts = (first..end).rev().filter(|at| *at == first || record.parts_before(*at));
    let known = |at: &usize| words::named(&String::from_utf8_lossy(&bytes[*at..end])).is_some();
    let fixed = [UNKNOWN_OPCODE, VFIO].into_iter().find(|name| bytes[first..end].ends_with(name));
    if let Some(name) = fixed {
        return end - name.len()..end;
    }
    // Behind `(pid N):` a name without a blank in it is one, even when it was broken.
    let behind_prefix = bytes[..first].ends_with(b":");
    let whole = |at: &usize| *at == first || !behind_prefix || !record.breaks_before(*at);
    let start = starts.clone().find(known).or_else(|| starts.clone().find(whole)).unwrap_or(end);
    start..end
}

/// A name as it was before a mailer broke it.
fn unbroken(record: &Record, name: Range<usize>) -> String {
    match &record.bytes()[name.clone()] {
        UNKNOWN_OPCODE => "unknown command opcode".to_owned(),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// What rdma-core calls every command.
const VFIO: &[u8] = b"mlx5_vfio_op_code";

/// What the kernel calls a command that it has no name for, without blanks.
const UNKNOWN_OPCODE: &[u8] = b"unknowncommandopcode";

/// The device before a message that begins at `start`, and where the message begins with it: the
/// nearest name of a device, with nothing between but function, line and process.
pub(super) fn device(record: &Record, start: usize) -> Option<(usize, String)> {
    let from = start.saturating_sub(LONGEST_PREFIX);
    let before = &record.bytes()[from..start];
    let part = devices(before).last()?;
    is_prefix(&before[part.end..])
        .then(|| (from + part.start, String::from_utf8_lossy(&before[part]).into_owned()))
}

/// The names of devices in some bytes: PCI addresses, subfunctions, and RDMA devices.
fn devices(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    (0..bytes.len()).filter_map(|at| {
        let rest = &bytes[at..];
        let len = pci(rest).or_else(|| numbered(rest, b"mlx5_core.sf."));
        let len =
            len.or_else(|| numbered(rest, b"mlx5_bond_")).or_else(|| numbered(rest, b"mlx5_"));
        len.map(|len| at..at + len)
    })
}

/// `0000:04:00.0`.
fn pci(bytes: &[u8]) -> Option<usize> {
    const FORM: &[u8] = b"xxxx:xx:xx.7";
    let fits = |(form, byte): (&u8, &u8)| match form {
        b'x' => byte.is_ascii_hexdigit(),
        b'7' => (b'0'..=b'7').contains(byte),
        _ => form == byte,
    };
    (bytes.len() >= FORM.len() && FORM.iter().zip(bytes).all(fits)).then_some(FORM.len())
}

fn numbered(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let digits = bytes.strip_prefix(name)?.iter().take_while(|b| b.is_ascii_digit()).count();
    (digits > 0).then_some(name.len() + digits)
}

/// Whether some bytes are `:`, the name of a network interface, and `FUNCTION:LINE:(pid N):` or a
/// part of that.
fn is_prefix(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some(rest) = text.strip_suffix(':') else { return text.is_empty() };
    let rest = match rest.rsplit_once(":(pid") {
        Some((before, pid)) if pid.trim_end_matches(')').bytes().all(|b| b.is_ascii_digit()) => {
            before
        }
        _ => rest,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_:.-)".contains(c);
    rest.chars().all(plain)
}

/// The RDMA device that some words name, such as `mlx5_0`.
pub(super) fn rdma_device(text: &str) -> Option<String> {
    devices(text.as_bytes()).next().map(|part| text[part].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(lines: &[&str]) -> (Option<String>, Option<String>, Option<u16>) {
        let mut record = Record::default();
        for line in lines {
            record.push(1, line.as_bytes());
        }
        let command = command(&record, record.bytes().len()).unwrap();
        (device(&record, command.start).map(|(_, d)| d), command.name, command.opcode)
    }

    #[test]
    fn devices_and_commands() {
        for (line, device, name) in [
            (
                "mlx5_core 0000:04:00.0: mlx5_cmd_check:712:(pid 1): CREATE_EQ(0x301)",
                "0000:04:00.0",
                "CREATE_EQ",
            ),
            (
                "mlx5_core 0000:04:00.0: 0000:04:00.0:mlx5_cmd_check:712:(pid 1): 2RST_QP(0x301)",
                "0000:04:00.0",
                "2RST_QP",
            ),
            ("mlx5_core 0000:04:00.1 eth2: CREATE_EQ(0x301)", "0000:04:00.1", "CREATE_EQ"),
            (
                "mlx5_core.sf mlx5_core.sf.4: f:1:(pid 1): create_mkey(0x301)",
                "mlx5_core.sf.4",
                "create_mkey",
            ),
            ("infiniband mlx5_0: f:1:(pid 1): CREATE_EQ(0x301)", "mlx5_0", "CREATE_EQ"),
            (
                "mlx5_core 0000:04:00.0: f:1:(pid 1): unknown command opcode(0x301)",
                "0000:04:00.0",
                "unknown command opcode",
            ),
            ("mlx5_core 0000:04:00.0: NOT_YET_KNOWN(0x301)", "0000:04:00.0", "NOT_YET_KNOWN"),
        ] {
            assert_eq!(
                place(&[line]),
                (Some(device.into()), Some(name.into()), Some(0x301)),
                "{line}"
            );
        }
    }

    #[test]
    fn wrapped_and_alone() {
        let (device, name, _) =
            place(&["mlx5_core 0000:0", "4:00.0: f:1:(pid 1): CREA", "TE_EQ(0x3", "01)"]);
        assert_eq!((device.as_deref(), name.as_deref()), (Some("0000:04:00.0"), Some("CREATE_EQ")));
        assert_eq!(
            place(&["an error: CREATE_EQ(0x301)"]),
            (None, Some("CREATE_EQ".into()), Some(0x301))
        );
        assert_eq!(place(&["1)"]), (None, None, None));
    }
}
