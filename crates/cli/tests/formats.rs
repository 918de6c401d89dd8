//! The same mailbox in every format that people have it in is decoded to the same; whatever is damaged in it is
//! told, by its place.

mod common;

use std::fmt::Write;

use common::{good, hex, prm};
use mlx5_prm::{Cqc, Cqn, CreateRqtInWithRqNum, ModifyCqIn, RqNum, Rqn};

/// One that fits into the first block, and one of three blocks.
fn mailboxes() -> [Vec<u8>; 2] {
    let modify = ModifyCqIn::new()
        .with_cqn(Cqn::new(0x4a))
        .with_cq_context(Cqc::new().with_dbr_addr(0x7c7c_2020_0a0d_2a00))
        .changing_cq_period(16);
    let mut buffer = vec![0; CreateRqtInWithRqNum::size(300)];
    let create = CreateRqtInWithRqNum::new_in(&mut buffer, 300).expect("the size is right");
    for (i, entry) in create.tail.iter_mut().enumerate() {
        *entry = RqNum::new().with_rq_num(Rqn::new(0x100 + i as u32));
    }
    [modify.as_bytes().to_vec(), create.as_bytes().to_vec()]
}

fn rows(bytes: &[u8], before: &str, from: usize) -> String {
    let mut out = String::new();
    for (i, row) in bytes.chunks(16).enumerate() {
        let mut row = row.to_vec();
        row.resize(16, 0);
        let dwords: Vec<String> = row.chunks(4).map(hex).collect();
        let _ = writeln!(out, "{before}{:03x}: {}", from + i * 16, dwords.join(" "));
    }
    out
}

/// As `dump_command` writes it, the data alone or the whole entry with its blocks.
fn kernel(bytes: &[u8], before: &str, whole: bool) -> String {
    let opcode = u16::from_be_bytes([bytes[0], bytes[1]]);
    let data = if whole { "" } else { "data " };
    let mut out = format!("{before}start dump\n{before}dump command {data}X({opcode:#x}) INPUT\n");
    if whole {
        let mut entry = vec![0; 64];
        entry[4..8].copy_from_slice(&(bytes.len() as u32).to_be_bytes());
        entry[16..32].copy_from_slice(&bytes[..16]);
        out += &rows(&entry, before, 0);
        out.push('\n');
        for (i, data) in bytes[16..].chunks(512).enumerate() {
            let mut block = data.to_vec();
            block.resize(576, 0);
            out += &format!("{before}command block:\n");
            out += &rows(&block, before, 64 + i * 576);
            out.push('\n');
        }
    } else {
        out += &rows(bytes, before, 0);
        out.push('\n');
    }
    out + &format!("{before}end dump\n")
}

/// All formats of a mailbox, each with its name.
fn formats(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let text = |columns: usize, line: &dyn Fn(&mut String, usize, &[u8])| {
        let mut out = String::new();
        for (i, row) in bytes.chunks(columns).enumerate() {
            line(&mut out, i * columns, row);
            out.push('\n');
        }
        out
    };
    let spaced = |row: &[u8]| row.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
    let shown = |row: &[u8]| -> String {
        row.iter()
            .map(|b| if b.is_ascii_graphic() || *b == b' ' { *b as char } else { '.' })
            .collect()
    };
    let end = bytes.len();
    let xxd = text(16, &|out, at, row| {
        let groups: Vec<String> = row.chunks(2).map(hex).collect();
        let _ = write!(out, "{at:08x}: {:39}  {}", groups.join(" "), shown(row));
    });
    let hexdump = text(16, &|out, at, row| {
        let (a, b) = row.split_at(row.len().min(8));
        let _ = write!(out, "{at:08x}  {:23}  {:23}  |{}|", spaced(a), spaced(b), shown(row));
    }) + &format!("{end:08x}\n");
    let od = text(16, &|out, at, row| {
        let _ = write!(out, "{at:07o} {}", spaced(row));
    }) + &format!("{end:07o}\n");
    let od_hex = text(16, &|out, at, row| {
        let _ = write!(out, "{at:06x} {}", spaced(row));
    }) + &format!("{end:06x}\n");
    let c = text(12, &|out, _, row| {
        for byte in row {
            let _ = write!(out, " {byte:#04x},");
        }
    });
    let dwords: String = bytes.chunks(4).map(|dword| hex(dword) + "\n").collect();
    let slot = "[   12.3] cmd[5]: ";
    let host = "Nov 30 10:00:00 host kernel: [   12.3] cmd[0]: ";
    let all = [
        ("xxd", xxd),
        ("hexdump -C", hexdump),
        ("od -t x1", od),
        ("od -A x -t x1", od_hex),
        ("plain hex", hex(bytes)),
        ("dwords", dwords),
        ("an array of C", format!("uint8_t in[{end}] = {{\n{c}}};\n")),
        ("xxd -i", format!("unsigned char x[] = {{\n{c}}};\nunsigned int x_len = {end};\n")),
        ("an array of Rust", format!("let x: [u8; {end}] = [\n{c}];\n")),
        ("the kernel's data", kernel(bytes, slot, false)),
        ("the kernel's data by syslog", kernel(bytes, host, false)),
        ("the kernel's entry and blocks", kernel(bytes, slot, true)),
        ("the same, quoted", kernel(bytes, "> > cmd[0]: ", true)),
    ];
    let mut all: Vec<_> = all.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    all.push(("binary", bytes.to_vec()));
    all
}

#[test]
fn every_format_is_decoded_to_the_same() {
    for bytes in mailboxes() {
        let wanted = good(&["decode", "--flat"], &bytes);
        for (name, text) in formats(&bytes) {
            let flat = good(&["decode", "--flat"], &text);
            // What is found in a log has a head.
            let flat: String = flat.split_inclusive('\n').filter(|l| !l.starts_with('#')).collect();
            // Of the data alone the kernel writes whole lines of 16 bytes.
            let filled = name.starts_with("the kernel's data") && bytes.len() % 16 != 0;
            let same = flat == wanted || filled && flat.starts_with(wanted.trim_end());
            assert!(same, "{name}:\n{flat}\nis not\n{wanted}");
        }
    }
}

/// As many as several processors write, each a batch at a time, and some more.
#[test]
fn a_long_log_is_written_in_its_order() {
    const COMMANDS: usize = 1000;
    let of = |n: usize| ModifyCqIn::new().with_cqn(Cqn::new(n as u32 + 1));
    let log: String = (0..COMMANDS)
        .map(|n| kernel(of(n).as_bytes(), &format!("cmd[{}]: ", n % 32), false))
        .collect();
    let one = log.lines().count() / COMMANDS;
    let line = |n: usize| n * one + 1;

    let flat = good(&["decode", "--flat"], log.as_bytes());
    let wanted: String = (0..COMMANDS)
        .map(|n| {
            let (line, slot) = (line(n), n % 32);
            format!("# line {line}, cmd[{slot}]: MODIFY_CQ(0x403) input\n")
                + &format!("modify_cq_in.opcode=0x403\nmodify_cq_in.cqn={:#x}\n", n + 1)
        })
        .collect();
    assert_eq!(flat, wanted);

    let json = good(&["decode", "--json"], log.as_bytes());
    assert_eq!(json.lines().count(), COMMANDS);
    for (n, text) in json.lines().enumerate() {
        let head = format!("{{\"line\":{},\"cmd\":{},", line(n), n % 32);
        assert!(text.starts_with(&head) && text.contains(&format!("\"cqn\":{},", n + 1)), "{text}");
    }

    let tree = good(&["decode"], log.as_bytes());
    let mailboxes: Vec<&str> = tree.split("\n\n").collect();
    assert_eq!(mailboxes.len(), COMMANDS);
    for (n, text) in mailboxes.iter().enumerate() {
        assert!(text.starts_with(&format!("line {}, cmd[{}]: ", line(n), n % 32)), "{text}");
        assert!(text.contains(&format!(" cqn     {:#x}", n + 1)), "{text}");
    }

    // A log that is cut off in a dump: all before that is there, and the damage is told.
    let cut = log.trim_end().trim_end_matches("cmd[7]: end dump").trim_end();
    let out = prm(&["decode", "--flat"], format!("{cut}\ncmd[7]: 999: 0").as_bytes());
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).expect("text");
    assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), COMMANDS - 1);
}

/// As the kernel dumps a mailbox in a place of an adapter's command queue.
fn dump(device: &str, slot: &str, title: &str, bytes: &[u8]) -> String {
    let head = format!("mlx5_core {device}: {slot}");
    format!("{head}dump command data {title}\n")
        + &rows(bytes, slot, 0)
        + &format!("{head}end dump\n")
}

#[test]
fn an_output_in_a_log_is_of_its_own_command() {
    const NAME: &str = "QUERY_HCA_CAP(0x100)";
    const DEVICES: [&str; 2] = ["0000:08:00.0", "0000:08:00.1"];
    let mut capabilities = vec![0; 16 + 4096];
    capabilities[16] = 0x80;
    for slot in ["cmd[0]: ", ""] {
        let input = |device: usize, op_mod: u8| {
            let input = [1, 0, 0, 0, 0, 0, 0, op_mod, 0, 0, 0, 0, 0, 0, 0, 0];
            dump(DEVICES[device], slot, &format!("{NAME} INPUT"), &input)
        };
        let output =
            |device: usize| dump(DEVICES[device], slot, &format!("{NAME} OUTPUT"), &capabilities);
        let damaged = input(0, 5).replace("000: 01", "000: 0");
        let damaged = if slot.is_empty() { damaged.replace("000: ", "010: 0") } else { damaged };
        // Which member of the union the outputs are said to be, in order.
        for (log, wanted) in [
            (vec![input(0, 1), output(0), input(0, 5), output(0)], ["cmd_hca_cap", "odp_cap"]),
            (vec![input(0, 1), input(1, 5), output(0), output(1)], ["cmd_hca_cap", "odp_cap"]),
            (vec![input(0, 1), output(0), output(0)], ["cmd_hca_cap", "not"]),
            (vec![input(0, 1), output(0), damaged.clone(), output(0)], ["cmd_hca_cap", "not"]),
            (vec![input(0, 1), damaged, output(0), output(1)], ["not", "not"]),
        ] {
            let log = log.concat();
            let out = prm(&["decode"], log.as_bytes());
            let text = String::from_utf8(out.stdout).expect("text");
            let outputs: Vec<&str> =
                text.split("\n\n").filter(|text| text.contains(" output: ")).collect();
            assert_eq!(outputs.len(), 2, "{log}{text}");
            for (text, member) in outputs.iter().zip(wanted) {
                let shown =
                    ["cmd_hca_cap:", "odp_cap:", "op_mod says which"].map(|m| text.contains(m));
                let wanted = ["cmd_hca_cap", "odp_cap", "not"].map(|m| m == member);
                assert_eq!(shown, wanted, "{slot}{member}: {text}");
            }
        }
    }
}

#[test]
fn a_recording_is_decoded_to_the_same() {
    let [bytes, _] = mailboxes();
    let rows: String = bytes
        .chunks(16)
        .enumerate()
        .map(|(i, row)| format!("    {:04x}: {}\n", i * 16, hex(row)))
        .collect();
    let recording = format!(
        "mlx5-recording 1\nmodify cq 0x1\n  at 1\n  input {}\n{rows}  output 16\n    0000: 16 zeros\n  result ok\n",
        bytes.len()
    );
    let wanted = good(&["decode", "--flat"], &bytes);
    let flat = good(&["decode", "--flat"], recording.as_bytes());
    let flat: String = flat.split_inclusive('\n').filter(|l| !l.starts_with('#')).collect();
    assert_eq!(flat, wanted + "modify_cq_out.status=0x0\n");
}

/// A linear congruential generator (the constants of MMIX) with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }
}

/// One damage: a cut, a lost or changed letter, lines lost, doubled or swapped, or two files in one.
fn damage(text: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = text.to_vec();
    let at = dice.roll(text.len());
    let mut lines: Vec<Vec<u8>> =
        text.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let line = dice.roll(lines.len());
    match dice.roll(9) {
        0 => text.truncate(at),
        1 => drop(text.remove(at)),
        2 => text[at] = b"0123456789abcdefxg:|,{} \n"[dice.roll(25)],
        3 => {
            lines.remove(line);
            return lines.concat();
        }
        4 => {
            lines.insert(line, lines[line].clone());
            return lines.concat();
        }
        5 => {
            let next = (line + 1) % lines.len();
            lines.swap(line, next);
            return lines.concat();
        }
        6 => {
            let cut = dice.roll(lines[line].len());
            lines[line].truncate(cut);
            return lines.concat();
        }
        7 => text.extend_from_slice(other),
        _ => text.splice(at..at, other.iter().copied()).for_each(drop),
    }
    text
}

#[test]
fn a_thousand_damaged_inputs_are_read_or_told() {
    let formats = mailboxes().map(|bytes| formats(&bytes)).concat();
    let mut dice = Dice(7);
    let (mut read, mut told) = (0, 0);
    for _ in 0..1000 {
        let (name, text) = &formats[dice.roll(formats.len())];
        let (_, other) = &formats[dice.roll(formats.len())];
        let damaged = damage(text, other, &mut dice);
        let out = prm(&["decode", "--terse"], &damaged);
        let errors = String::from_utf8(out.stderr).expect("text");
        match out.status.code() {
            Some(0) => {
                assert_eq!(errors, "", "{name}");
                assert!(!out.stdout.is_empty());
                read += 1;
            }
            Some(1) => {
                // The line; or, where there are none, what the whole is.
                let whole = [
                    " needs ",
                    "opcode",
                    "too short",
                    "empty",
                    "bytes that are not ASCII",
                    "no layout",
                ];
                let place = errors.contains(", line ") || whole.iter().any(|w| errors.contains(w));
                assert!(place && errors.starts_with("prm: "), "{name}: {errors}");
                told += 1;
            }
            other => panic!("{name} ends with {other:?}: {errors}"),
        }
    }
    // Of a change of a digit nothing is to be seen, nor of an interrupted log.
    assert!(read > 100 && told > 500, "{read} were read, {told} told");
}

#[test]
fn a_hundred_megabytes_of_noise_are_refused() {
    let mut dice = Dice(1);
    let words: Vec<u8> = (0..1 << 20).map(|_| b' ' + dice.roll(95) as u8).collect();
    let mut noise = Vec::with_capacity(100 << 20);
    for i in 0..100 {
        noise.extend_from_slice(&words);
        noise[i << 20] = b'\n';
    }
    let out = prm(&["decode"], &noise);
    let errors = String::from_utf8(out.stderr).expect("text");
    assert_eq!(out.status.code(), Some(1));
    assert!(errors.contains("over 16 MiB, and no dump of a command in it"), "{errors}");
}
