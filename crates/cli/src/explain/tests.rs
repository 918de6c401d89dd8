//! Logs that were wrapped, quoted, cut, mixed and damaged.

use std::collections::BTreeMap;

use super::failure::{Failure, Stop};
use super::syndromes::Syndromes;
use super::tally::Tally;
use super::{json, lines, text};
use crate::output::Look;

/// Logs in the forms of their programs, with values that are made up.
const LOGS: &[(&str, &str)] = &[
    ("dmesg", include_str!("../../tests/explain/dmesg.log")),
    ("journald", include_str!("../../tests/explain/journald.log")),
    ("timeouts", include_str!("../../tests/explain/timeouts.log")),
    ("trace", include_str!("../../tests/explain/trace.log")),
    ("programs", include_str!("../../tests/explain/programs.log")),
    ("mail", include_str!("../../tests/explain/mail.log")),
    ("odd", include_str!("../../tests/explain/odd.log")),
];

fn tally(log: &[u8]) -> Tally {
    let mut tally = Tally::default();
    tally.lines = lines::read(log, &mut tally).unwrap();
    tally
}

/// All that was found but the lines: each kind, how often, on which devices.
fn found(log: &str) -> BTreeMap<String, (u64, Vec<(String, u64)>)> {
    let tally = tally(log.as_bytes());
    let mut found = BTreeMap::new();
    for kind in tally.kinds {
        found.insert(format!("{:?}", kind.failure), (kind.seen.count, kind.devices));
    }
    found
}

/// Lines broken at blanks, as mailers do. A word is never broken.
fn wrapped(log: &str, width: usize, quote: &str) -> String {
    let mut out = String::new();
    for line in log.lines() {
        let mut column = 0;
        out += quote;
        for word in line.split(' ') {
            if column > 0 && column + 1 + word.len() > width {
                out.push('\n');
                out += quote;
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += word.len();
        }
        out.push('\n');
    }
    out
}

/// Lines broken anywhere, as terminals do.
fn broken(log: &str, width: usize) -> String {
    let mut out = String::new();
    for line in log.lines() {
        for part in line.as_bytes().chunks(width) {
            out += std::str::from_utf8(part).unwrap();
            out.push('\n');
        }
    }
    out
}

#[test]
fn a_wrapped_log_says_the_same() {
    for (name, log) in LOGS.iter().filter(|(name, _)| *name != "mail") {
        let whole = found(log);
        for width in 40..=100 {
            let quote = ["> ", "> > ", "| "][width % 3];
            assert_eq!(found(&wrapped(log, width, "")), whole, "{name} {width}");
            assert_eq!(found(&wrapped(log, width, quote)), whole, "{name} {width} {quote:?}");
            assert_eq!(found(&broken(log, width)), whole, "{name} {width} anywhere");
        }
    }
}

#[test]
fn errors_of_mlx5_devx_are_read_as_it_writes_them() {
    use mlx5_devx::{Errno, Error};

    let opcode = mlx5_prm::Opcode::QUERY_CQ;
    // Those of a recording and of a limit are told as no failures.
    let told = |errno: &Errno| ![Errno::BADE, Errno::ACCESS, Errno::REMOTEIO].contains(errno);
    for errno in (1..134).map(Errno::from_raw_os_error).filter(told) {
        let line = Error::Kernel { opcode, errno }.to_string();
        let tally = tally(line.as_bytes());
        let [kind] = &tally.kinds[..] else { panic!("{line}: {:?}", tally.kinds) };
        assert_eq!(kind.failure.opcode, Some(opcode.0), "{line}");
        let number = kind.failure.errno.map(|errno| errno.0.cast_signed());
        assert_eq!(number, Some(errno.raw_os_error()), "{line}");
        assert!(!kind.failure.cut, "{line}");
        let stop = match errno {
            Errno::TIMEDOUT => Stop::NoAnswer,
            Errno::INTR => Stop::Interrupted,
            Errno::CANCELED | Errno::BUSY | Errno::AGAIN => Stop::NoSlot,
            Errno::NXIO => Stop::Down,
            Errno::FAULT | Errno::IO | Errno::BADR | Errno::NOMSG => Stop::NotDelivered,
            Errno::NOMEM => Stop::NoMemory,
            Errno::BADMSG | Errno::MSGSIZE => Stop::KeptBack,
            Errno::OPNOTSUPP => Stop::NoCall,
            _ => Stop::Refused,
        };
        assert_eq!(kind.failure.stop(), Some(stop), "{line}");
    }
}

#[test]
fn other_line_ends_and_encodings_say_the_same() {
    for (name, log) in LOGS {
        let whole = found(log);
        assert_eq!(found(&log.replace('\n', "\r\n")), whole, "{name}");
        assert_eq!(found(&format!("\u{feff}{log}")), whole, "{name}");
        let coloured = log.replace("mlx5", "\u{1b}[1;31mmlx5\u{1b}[0m");
        assert_eq!(found(&coloured), whole, "{name}");
    }
}

#[test]
fn a_log_of_16_bits_a_character_says_the_same() {
    let (_, log) = LOGS[0];
    let wide: Vec<u8> = log.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let kinds = |tally: Tally| tally.kinds.into_iter().map(|k| k.failure).collect::<Vec<Failure>>();
    assert_eq!(kinds(tally(&wide)), kinds(tally(log.as_bytes())));
}

#[test]
fn every_line_cut_everywhere() {
    let syndromes = Syndromes::load(None).unwrap();
    for (name, log) in LOGS {
        for line in log.lines() {
            let whole = tally(line.as_bytes());
            for cut in 0..line.len() {
                let left = tally(&line.as_bytes()[..cut]);
                assert!(left.failures() <= 1, "{name}: {}", &line[..cut]);
                // What is left is the beginning of the whole, or nothing.
                for (part, all) in left.kinds.iter().zip(&whole.kinds) {
                    assert_eq!(part.failure.opcode, all.failure.opcode, "{}", &line[..cut]);
                    if part.failure.syndrome != all.failure.syndrome {
                        assert!(
                            part.failure.cut || ends_in_number(&line[..cut]),
                            "{}",
                            &line[..cut]
                        );
                    }
                }
                let right = tally(&line.as_bytes()[cut..]);
                // All of it would be slow, and says the same.
                if cut % 7 == 0 {
                    shown(&left, &syndromes);
                    shown(&right, &syndromes);
                }
            }
        }
    }
}

/// Whether a message ends in a number of which nobody can see that it is cut off.
fn ends_in_number(line: &str) -> bool {
    line.contains("syndrome=") || line.contains("syndrome = ") || line.contains("syndrome: ")
}

/// Text and JSON, which are made without a panic.
fn shown(tally: &Tally, syndromes: &Syndromes) {
    let text = text::report(tally, syndromes, Look { width: 80, colour: false });
    assert!(text.ends_with('\n'));
    serde_json::from_str::<serde_json::Value>(&json::report(tally, syndromes)).unwrap();
}

/// A linear congruential generator (the constants of MMIX) with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

#[test]
fn a_thousand_damaged_logs() {
    let syndromes = Syndromes::load(None).unwrap();
    let mut random = Random(0x6d6c_7835);
    for i in 0..1000 {
        // Lines of all logs, in any order.
        let all: Vec<&str> = LOGS.iter().flat_map(|(_, log)| log.lines()).collect();
        let lines: Vec<&str> =
            (0..random.below(30)).map(|_| all[random.below(all.len())]).collect();
        let mut log = lines.join("\n").into_bytes();
        for _ in 0..random.below(20) {
            let at = random.below(log.len() + 1);
            match random.below(5) {
                0 => log.insert(at, random.below(256) as u8),
                1 if at < log.len() => log[at] = random.below(256) as u8,
                2 if at < log.len() => drop(log.remove(at)),
                3 => log.truncate(log.len() - random.below(log.len() + 1) / 8),
                _ => {
                    let end = (at + random.below(200)).min(log.len());
                    log.drain(at..end);
                }
            }
        }
        let tally = tally(&log);
        // All of it would be slow.
        if i % 4 == 0 {
            shown(&tally, &syndromes);
        }
        text::report(&tally, &syndromes, Look { width: 40, colour: true });
    }
}

#[test]
fn noise_holds_no_failure() {
    let mut random = Random(7);
    for _ in 0..200 {
        let log: Vec<u8> = (0..random.below(5000)).map(|_| random.below(256) as u8).collect();
        assert_eq!(tally(&log).failures(), 0);
    }
}

#[test]
fn messages_between_each_other_are_told_apart() {
    let ucx = "[1.5] [h:1:0] ib_mlx5_dv.c:466 UCX ERROR mlx5dv_devx_obj_create(QP) failed on mlx5_0, \
               syndrome 0x1: Remote I/O error";
    let kernel = "[ 2.5] mlx5_core 0000:04:00.0: mlx5_cmd_out_err:838:(pid 1): CREATE_QP(0x500) \
                  op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1), err(-22)";
    let log = [kernel, ucx, kernel, ucx].join("\n");
    let counts: Vec<u64> = found(&log).into_values().map(|(count, _)| count).collect();
    assert_eq!(counts, [2, 2]);
    // Without any line end, too.
    let counts: Vec<u64> = found(&log.replace('\n', " ")).into_values().map(|(n, _)| n).collect();
    assert_eq!(counts, [2, 2]);
}

#[test]
fn no_count_is_too_large() {
    let line = |syndrome: u32| {
        format!(
            "Nov 30 06:04:29 h kernel: message repeated 18446744073709551615 times: [ mlx5_core 0000:08:00.0: \
             mlx5_cmd_out_err:838:(pid 1): CREATE_CQ(0x400) op_mod(0x0) failed, status bad parameter(0x3), \
             syndrome ({syndrome:#x}), err(-22)]\n"
        )
    };
    let tally = tally((line(1) + &line(1) + &line(2)).as_bytes());
    assert_eq!((tally.kinds.len(), tally.failures()), (2, u64::MAX));
}
