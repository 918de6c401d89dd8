//! What people have of a mailbox: the readers of hex, arrays, dumps and kernel logs of the `prm` command.
//!
//! The first byte may say a format (`FORMATS`): the bytes that follow are written in it, as the tool
//! does, and read back as the same. Else the whole is read as it is: it gives bytes, or an error that
//! names the line that is wrong; bytes that were read are read again from a dump of them, and with
//! other ends of lines.
//!
//! For long: `cargo +nightly fuzz run hex -- -max_total_time=3600 -dict=fuzz/dict/hex.dict`
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use mlx5_prm_cli::kernel_log::{Dump, Found, Reader};
use mlx5_prm_cli::read_hex::read;

/// How a dump is written.
#[derive(Clone, Copy)]
enum Format {
    /// `xxd`, in groups of so many bytes, so many in a line, upper case or not.
    Xxd { group: usize, columns: usize, upper: bool, squeeze: bool },
    /// `xxd -p`
    Plain,
    /// Numbers as in C, with commas.
    Commas,
    /// `od -t x1`, with offsets in octal or hex.
    Od { octal: bool, squeeze: bool },
    /// `hexdump -C`
    Hexdump { squeeze: bool },
    /// An array of C, as `xxd -i` writes it.
    Array,
    /// The kernel's command dump, with what stands before each line.
    Kernel { before: &'static str },
}

const FORMATS: [(u8, Format); 13] = [
    (0x80, Format::Xxd { group: 2, columns: 16, upper: false, squeeze: false }),
    (0x81, Format::Xxd { group: 4, columns: 16, upper: true, squeeze: true }),
    (0x82, Format::Xxd { group: 32, columns: 32, upper: false, squeeze: false }),
    (0x83, Format::Plain),
    (0x84, Format::Commas),
    (0x85, Format::Od { octal: true, squeeze: true }),
    (0x86, Format::Od { octal: true, squeeze: false }),
    (0x87, Format::Od { octal: false, squeeze: true }),
    (0x88, Format::Od { octal: false, squeeze: false }),
    (0x89, Format::Hexdump { squeeze: true }),
    (0x8a, Format::Hexdump { squeeze: false }),
    (0x8b, Format::Kernel { before: "[   12.300002] cmd[0]: " }),
    (0x8c, Format::Array),
];

fuzz_target!(|data: &[u8]| {
    let format = data.first().and_then(|first| FORMATS.iter().find(|(byte, _)| byte == first));
    match format {
        Some((_, format)) if data.len() > 1 => {
            let mut bytes = data[1..].to_vec();
            if let Format::Kernel { .. } = format {
                // The kernel dumps blocks of 16 bytes.
                bytes.resize(bytes.len().next_multiple_of(16), 0);
            }
            back(*format, &bytes);
        }
        _ => any(data),
    }
});

/// What is written in a format is read as it was.
fn back(format: Format, bytes: &[u8]) {
    let text = write(format, bytes);
    for text in [text.clone(), text.replace('\n', "\r\n"), text.replace('\n', "\n\n")] {
        if matches!(format, Format::Kernel { before } if !before.is_empty()) {
            let dumps: Vec<Found> = log(text.as_bytes());
            let [Ok(Dump { bytes: read, .. })] = &dumps[..] else { panic!("{dumps:?}\n{text}") };
            assert_eq!(read, bytes, "{text}");
            continue;
        }
        match read("dump", text.as_bytes()) {
            Ok(read) => assert_eq!(read, bytes, "{text}"),
            // Where `*` stands for lines, offsets may be decimal too, and nothing tells.
            Err(error) if text.contains("\n*") && error.to_string().contains("decimal or not") => {}
            Err(error) => panic!("{error}\n{text}"),
        }
    }
}

/// All that a log leads to.
fn log(data: &[u8]) -> Vec<Found> {
    let mut reader = Reader::new();
    let lines = data.split_inclusive(|byte| *byte == b'\n');
    let mut found: Vec<Found> = lines.filter_map(|line| reader.line(line)).collect();
    found.extend(reader.finish());
    found
}

fn any(data: &[u8]) {
    let lines = String::from_utf8_lossy(data).lines().count();
    for found in log(data) {
        match found {
            Ok(dump) => {
                assert!((1..=lines as u64).contains(&dump.line), "{dump:?}");
                assert!(dump.bytes.len() <= data.len(), "{dump:?}");
            }
            Err(damage) => {
                assert!((damage.begin..=lines as u64).contains(&damage.line), "{damage:?}");
                assert!(damage.to_string().ends_with("is left out"), "{damage}");
            }
        }
    }
    match read("any", data) {
        Ok(bytes) => {
            assert!(!bytes.is_empty());
            if bytes != data && bytes.len() < 0x4000 {
                back(FORMATS[0].1, &bytes);
                back(Format::Kernel { before: "" }, &{
                    let mut whole = bytes.clone();
                    whole.resize(bytes.len().next_multiple_of(16), 0);
                    whole
                });
                let text = str::from_utf8(data).expect("it is text");
                if !text.contains('\r') {
                    let other = read("any", text.replace('\n', "\r\n").as_bytes());
                    assert_eq!(other.ok(), Some(bytes));
                }
            }
        }
        Err(error) => {
            if let Some(line) = error.line() {
                assert!((1..=lines).contains(&line), "{error}");
                assert!(error.to_string().contains(&format!("line {line}: ")), "{error}");
            }
            // What is wrong, the line where there is one, and the remedy.
            assert!(error.to_string().lines().count() >= 2, "{error}");
        }
    }
}

fn write(format: Format, bytes: &[u8]) -> String {
    let mut out = String::new();
    match format {
        Format::Plain => {
            for line in bytes.chunks(30) {
                line.iter().for_each(|byte| put(&mut out, format_args!("{byte:02x}")));
                out.push('\n');
            }
        }
        Format::Commas => {
            for line in bytes.chunks(8) {
                line.iter().for_each(|byte| put(&mut out, format_args!("0x{byte:02X}, ")));
                out.push('\n');
            }
        }
        Format::Xxd { group, columns, upper, squeeze } => {
            lines(bytes, columns, squeeze, &mut out, |out, at, line| {
                put(out, format_args!("{at:08x}: "));
                let mut hex = String::new();
                for group in line.chunks(group) {
                    for byte in group {
                        match upper {
                            true => put(&mut hex, format_args!("{byte:02X}")),
                            false => put(&mut hex, format_args!("{byte:02x}")),
                        }
                    }
                    hex.push(' ');
                }
                let width = columns * 2 + columns.div_ceil(group);
                put(out, format_args!("{hex:width$} {}", shown(line)));
            });
        }
        Format::Od { octal, squeeze } => {
            let offset = |out: &mut String, at: usize| match octal {
                true => put(out, format_args!("{at:07o}")),
                false => put(out, format_args!("{at:06x}")),
            };
            lines(bytes, 16, squeeze, &mut out, |out, at, line| {
                offset(out, at);
                line.iter().for_each(|byte| put(out, format_args!(" {byte:02x}")));
            });
            offset(&mut out, bytes.len());
            out.push('\n');
        }
        Format::Hexdump { squeeze } => {
            lines(bytes, 16, squeeze, &mut out, |out, at, line| {
                let mut hex = String::new();
                for half in line.chunks(8) {
                    half.iter().for_each(|byte| put(&mut hex, format_args!("{byte:02x} ")));
                    hex.push(' ');
                }
                put(out, format_args!("{at:08x}  {hex:50}|{}|", shown(line)));
            });
            put(&mut out, format_args!("{:08x}\n", bytes.len()));
        }
        Format::Array => {
            put(&mut out, format_args!("unsigned char dump[] = {{\n"));
            for line in bytes.chunks(12) {
                line.iter().for_each(|byte| put(&mut out, format_args!("  0x{byte:02x},")));
                out.push('\n');
            }
            put(&mut out, format_args!("}};\nunsigned int dump_len = {};\n", bytes.len()));
        }
        Format::Kernel { before } => {
            if !before.is_empty() {
                put(&mut out, format_args!("{before}start dump\n"));
            }
            lines(bytes, 16, false, &mut out, |out, at, line| {
                put(out, format_args!("{before}{at:03x}:"));
                for dword in line.chunks(4) {
                    let dword = u32::from_be_bytes(dword.try_into().expect("4 bytes"));
                    put(out, format_args!(" {dword:08x}"));
                }
            });
        }
    }
    out
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("a String takes everything");
}

/// Line by line; lines that repeat the one before are `*`, but for the last.
fn lines(
    bytes: &[u8],
    columns: usize,
    squeeze: bool,
    out: &mut String,
    mut line: impl FnMut(&mut String, usize, &[u8]),
) {
    let all: Vec<&[u8]> = bytes.chunks(columns).collect();
    let mut starred = false;
    for (i, now) in all.iter().enumerate() {
        let repeats = squeeze && i > 0 && all[i - 1] == *now && i + 1 < all.len();
        match (repeats, starred) {
            (true, true) => continue,
            (true, false) => out.push('*'),
            (false, _) => line(out, i * columns, now),
        }
        out.push('\n');
        starred = repeats;
    }
}

/// The text column.
fn shown(line: &[u8]) -> String {
    line.iter().map(|b| if matches!(b, b' '..=b'~') { char::from(*b) } else { '.' }).collect()
}
