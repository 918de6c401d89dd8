//! Dumps as kernels write them, and what logs do to them.

use super::*;

fn read(log: &str) -> (Vec<Dump>, Vec<String>) {
    let mut reader = Reader::new();
    let mut found: Vec<Found> =
        log.split_inclusive('\n').filter_map(|line| reader.line(line.as_bytes())).collect();
    found.extend(reader.finish());
    let (good, bad): (Vec<Found>, Vec<Found>) = found.into_iter().partition(Result::is_ok);
    (
        good.into_iter().flatten().collect(),
        bad.into_iter().filter_map(Result::err).map(|damage| damage.to_string()).collect(),
    )
}

const INPUT: Title = Title { opcode: 0x403, is_input: true };

fn bytes() -> Vec<u8> {
    [0x0403_0007u32, 0, 0x4a, 1, 0x10, 0, 0xffff_ffff, 0xdead_beef]
        .iter()
        .flat_map(|dword| dword.to_be_bytes())
        .collect()
}

#[test]
fn the_data_alone() {
    let with_slot = "\
[   12.300000] mlx5_core 0000:08:00.0: dump_command:880:(pid 55): cmd[3]: start dump
[   12.300001] mlx5_core 0000:08:00.0: dump_command:884:(pid 55): cmd[3]: dump command data MODIFY_CQ(0x403) INPUT
[   12.300002] cmd[3]: 000: 04030007 00000000 0000004a 00000001
[   12.300003] cmd[3]: 010: 00000010 00000000 ffffffff deadbeef
[   12.300004]
[   12.300005] mlx5_core 0000:08:00.0: dump_command:920:(pid 55): cmd[3]: end dump
";
    let dump = Dump {
        line: 1,
        slot: Some(3),
        device: Some(b"0000:08:00.0".to_vec()),
        title: Some(INPUT),
        bytes: bytes(),
    };
    assert_eq!(read(with_slot), (vec![dump.clone()], vec![]));
    let without_slot = "\
[   12.3] mlx5_core 0000:08:00.0: dump_command:801:(pid 55): dump command data MODIFY_CQ(0x403) INPUT
Oct 12 10:00:00 host kernel: 000: 04030007 00000000 0000004A 00000001
> Oct 12 10:00:00 host kernel: 010: 00000010 00000000 FFFFFFFF DEADBEEF\r
";
    let dump = Dump { slot: None, ..dump };
    assert_eq!(read(without_slot), (vec![dump], vec![]));
    for line in with_slot.lines().filter(|line| line.len() > 20) {
        assert!(is_telling(line.as_bytes()), "{line}");
    }
    for end in ["#012", "\"", " #012"] {
        let log = with_slot.replace('\n', &format!("{end}\n"));
        assert_eq!(read(&log).0[0].bytes, bytes(), "{end}");
    }
    assert!(!is_telling(b"000: 04030007 00000000 0000004a 00000001"), "xxd may have written it");
    assert!(!is_telling(b"[   12.3] eth0: link up"));
}

/// The first bytes of a QUERY_CQ.
const INLINE: [u8; 16] = *b"\x04\x02##############";

/// The entry of the command queue with both mailboxes' first bytes, and so many bytes of each.
fn entry(input: usize, output: usize) -> Vec<u8> {
    let mut entry = vec![0; 64];
    entry[4..8].copy_from_slice(&(input as u32).to_be_bytes());
    entry[16..32].copy_from_slice(&INLINE);
    entry[32..48].copy_from_slice(&[0x22; 16]);
    entry[56..60].copy_from_slice(&(output as u32).to_be_bytes());
    entry
}

fn rows(bytes: &[u8], from: usize) -> String {
    let row = |(i, row): (usize, &[u8])| {
        let dwords: Vec<String> = row
            .chunks(4)
            .map(|dword| dword.iter().map(|byte| format!("{byte:02x}")).collect())
            .collect();
        format!("[ 1.0] cmd[0]: {:03x}: {}\n", from + i * 16, dwords.join(" "))
    };
    bytes.chunks(16).enumerate().map(row).collect()
}

fn whole(which: &str, input: usize, output: usize, blocks: &[u8]) -> String {
    let mut log = format!(
        "[ 1.0] cmd[0]: start dump\n[ 1.0] cmd[0]: dump command QUERY_CQ(0x402) {which}\n{}\n",
        rows(&entry(input, output), 0)
    );
    for (i, fill) in blocks.iter().enumerate() {
        let mut block = vec![*fill; 512];
        block.resize(576, 0xee);
        log += "[ 1.0] cmd[0]: command block:\n";
        log += &rows(&block, 64 + i * 576);
        log += "[ 1.0] \n";
    }
    log + "[ 1.0] cmd[0]: end dump\n"
}

#[test]
fn the_whole_entry_and_its_blocks() {
    let (dumps, damage) = read(&whole("INPUT", 16, 272, &[]));
    assert_eq!((&dumps[0].bytes[..], damage.len()), (&INLINE[..], 0));
    let (dumps, _) = read(&whole("OUTPUT", 16, 272, &[0x33]));
    assert_eq!(dumps[0].bytes, [vec![0x22; 16], vec![0x33; 256]].concat());
    // 16 + 512 + 512 + 60 bytes.
    let (dumps, _) = read(&whole("OUTPUT", 16, 1100, &[0x33, 0x44, 0x55]));
    let wanted = [vec![0x22; 16], vec![0x33; 512], vec![0x44; 512], vec![0x55; 60]].concat();
    assert!(dumps[0].bytes == wanted);
    let (dumps, damage) = read(&whole("OUTPUT", 16, 1100, &[0x33, 0x44]));
    assert_eq!(dumps, []);
    assert_eq!(
        damage,
        [
            "line 84: 1216 bytes where 1792 should be; the dump of cmd[0] that begins in line 1 is left out"
        ]
    );
}

#[test]
fn dumps_of_several_commands_are_interleaved() {
    let log = "\
cmd[0]: dump command data QUERY_CQ(0x402) INPUT
cmd[1]: dump command data MODIFY_CQ(0x403) INPUT
cmd[1]: 000: 04030007 00000000 0000004a 00000001
cmd[0]: 000: 04020000 00000000 0000004b 00000000
cmd[0]: end dump
cmd[1]: 010: 00000010 00000000 ffffffff deadbeef
cmd[1]: end dump
";
    let (dumps, damage) = read(log);
    assert_eq!(damage, [""; 0]);
    let told: Vec<_> = dumps.iter().map(|d| (d.slot, d.line, d.bytes.len())).collect();
    assert_eq!(told, [(Some(0), 1, 16), (Some(1), 2, 32)]);
    assert_eq!(dumps[1].bytes, bytes());
}

#[test]
fn what_is_damaged_is_told_and_the_rest_is_read() {
    let good = "\
cmd[0]: dump command data QUERY_CQ(0x402) INPUT
cmd[0]: 000: 04020000 00000000 0000004b 00000000
cmd[0]: end dump
";
    for (bad, told) in [
        (
            "cmd[0]: 000: 04020000 00000000\n",
            "line 5, column 31: not an offset and four dwords of 8 hex digits",
        ),
        (
            "cmd[0]: 000: 04020000 00000000 0000004b 0000000x\n",
            "line 5, column 48: not an offset and four dwords of 8 hex digits",
        ),
        (
            "cmd[0]: 010: 04020000 00000000 0000004b 00000000\n",
            "line 5: offset 0x10 where 0x0 is next",
        ),
        ("", "line 5: the dump has no bytes"),
    ] {
        let begin = "cmd[0]: dump command data QUERY_CQ(0x402) INPUT\n";
        let (dumps, damage) = read(&format!("{good}{begin}{bad}{good}"));
        assert_eq!(dumps.len(), 2, "{bad}");
        let end = "; the dump of cmd[0] that begins in line 4 is left out";
        assert_eq!(damage, [format!("{told}{end}")]);
    }
}

#[test]
fn dumps_of_two_adapters_in_one_place_are_not_mixed() {
    let log = "\
mlx5_core 0000:08:00.0: dump_command:869:(pid 1): cmd[0]: start dump
mlx5_core 0000:08:00.0: dump_command:873:(pid 1): cmd[0]: dump command data MODIFY_CQ(0x403) INPUT
cmd[0]: 000: 04030000 00000000 0000004b 00000000
mlx5_core 0000:08:00.1: dump_command:869:(pid 2): cmd[0]: start dump
mlx5_core 0000:08:00.1: dump_command:873:(pid 2): cmd[0]: dump command data QUERY_CQ(0x402) INPUT
cmd[0]: 000: 04020000 00000000 0000004b 00000000
cmd[0]: 010: 00100000 00000000 00000000 00000000
mlx5_core 0000:08:00.0: dump_command:912:(pid 1): cmd[0]: end dump
mlx5_core 0000:08:00.1: dump_command:912:(pid 2): cmd[0]: end dump
";
    let (dumps, damage) = read(log);
    assert_eq!(dumps, []);
    let told = |line, begin| {
        format!(
            "line {line}: dumps of two adapters are mixed; the dump of cmd[0] that begins in line {begin} is \
             left out"
        )
    };
    assert_eq!(damage, [told(4, 1), told(8, 4)]);
}

#[test]
fn a_title_and_its_mailbox_agree() {
    let log = "cmd[0]: dump command data QUERY_CQ(0x402) INPUT\n\
               cmd[0]: 000: 04030000 00000000 0000004b 00000000\ncmd[0]: end dump\n";
    let (dumps, damage) = read(log);
    assert_eq!(dumps, []);
    assert!(damage[0].starts_with("line 3: opcode 0x403 where the title says 0x402"), "{damage:?}");
}

#[test]
fn a_broken_first_line_leaves_the_dump_before_it() {
    let log = "\
cmd[0]: 000: 04020000 00000000 0000004b 00000000
cmd[0]: 000: 04010000 000000
cmd[0]: 010: 04020000 00000000 0000004b 00000000
cmd[0]: 000: 04010000 00000000 0000004b 00000000
";
    let (dumps, damage) = read(log);
    assert_eq!(dumps.iter().map(|dump| dump.line).collect::<Vec<_>>(), [1, 4]);
    let told = "line 2, column 29: not an offset and four dwords of 8 hex digits; the dump of cmd[0] that begins \
                in line 2 is left out";
    assert_eq!(damage, [told]);
}

#[test]
fn a_dump_that_lost_its_start_after_a_damaged_one_is_told() {
    let log = "\
cmd[0]: dump command data QUERY_CQ(0x402) INPUT
cmd[0]: 010: 00000000 00000000 00000000 00000000
cmd[0]: 020: 00000000 00000000 00000000 00000000
cmd[0]: end dump
cmd[0]: 010: 00000000 00000000 00000000 00000000
cmd[0]: end dump
";
    let (dumps, damage) = read(log);
    assert_eq!(dumps, []);
    let told = |line, begin| {
        format!(
            "line {line}: offset 0x10 where 0x0 is next; the dump of cmd[0] that begins in line {begin} is \
             left out"
        )
    };
    assert_eq!(damage, [told(2, 1), told(5, 5)]);
}

#[test]
fn a_log_cut_anywhere_gives_what_is_whole_or_tells() {
    let log = [whole("INPUT", 40, 16, &[0x33]), whole("OUTPUT", 16, 272, &[0x44])].concat();
    let (all, _) = read(&log);
    assert_eq!(all.len(), 2);
    for cut in 0..log.len() {
        let (dumps, damage) = read(&log[..cut]);
        assert!(dumps.len() + damage.len() <= 3, "{cut}");
        for dump in &dumps {
            let other = all.iter().find(|other| other.line == dump.line).expect("it is in all");
            // A last row may be lost unnoticed of the data alone, never of an entry that says its length.
            assert!(dump == other || dump.title.is_none(), "cut at {cut}: {dump:?}");
        }
    }
}

#[test]
fn eight_digits_are_a_number_or_none() {
    // Each byte in each place, among digits of both cases.
    for place in 0..8 {
        for byte in 0..=u8::MAX {
            let mut text = *b"0aF9fA13";
            text[place] = byte;
            let wanted = str::from_utf8(&text).ok().filter(|t| !t.contains('+'));
            let wanted = wanted.and_then(|text| u32::from_str_radix(text, 16).ok());
            assert_eq!(eight_digits(&text), wanted, "{text:x?}");
        }
    }
}

#[test]
fn dumps_that_never_end_are_told_each() {
    let mut reader = Reader::new();
    let mut found = Vec::new();
    for slot in 0..300 {
        found.extend(
            reader
                .line(format!("cmd[{slot}]: 000: 04030000 00000000 00000000 00000000").as_bytes()),
        );
    }
    found.extend(reader.finish());
    let damaged: Vec<_> = found.iter().filter_map(|found| found.as_ref().err()).collect();
    assert_eq!((found.len(), damaged.len()), (300, 256), "the rest ended with the log");
    assert_eq!((damaged[255].slot, damaged[255].begin, damaged[255].line), (Some(255), 256, 257));
}
