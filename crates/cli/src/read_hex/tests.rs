//! Every format of the same bytes gives the same bytes; every fault is told.

use std::io::Write;
use std::process::{Command, Stdio};

use super::read;

/// Two lines that are the same, so that tools write `*`, and a short one with text in it.
fn sample() -> Vec<u8> {
    let mut bytes = vec![0; 0x30];
    bytes[..4].copy_from_slice(&[0x04, 0x03, 0x00, 0x07]);
    bytes.extend(b"\xff  a|b  ");
    bytes
}

const PLAIN: &str = "\
04030007 00000000 00000000 00000000
0x00000000, 0x00000000, 0x00000000, 0X00000000,
00 00 00 00 0000000000000000 0000 0000

FF 20 20 61 7C 62 20 20
";

const XXD: &str = "\
00000000: 0403 0007 0000 0000 0000 0000 0000 0000  ................
00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000020: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000030: ff20 2061 7c62 2020                      .  a|b\x20\x20
";

const XXD_G4_UPPER: &str = "\
00000000: 04030007 00000000 00000000 00000000  ................
00000010: 00000000 00000000 00000000 00000000  ................
*
00000030: FF202061 7C622020                    .  a|b
";

const XXD_PLAIN: &str = "\
040300070000000000000000000000000000000000000000000000000000
000000000000000000000000000000000000ff2020617c622020
";

const OD_HEX: &str = "\
000000 04 03 00 07 00 00 00 00 00 00 00 00 00 00 00 00
000010 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
000030 ff 20 20 61 7c 62 20 20
000038
";

const OD_OCTAL: &str = "\
0000000 04 03 00 07 00 00 00 00 00 00 00 00 00 00 00 00
0000020 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000060 ff 20 20 61 7c 62 20 20
0000070
";

const HEXDUMP: &str = "\
00000000  04 03 00 07 00 00 00 00  00 00 00 00 00 00 00 00  |................|
00000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000030  ff 20 20 61 7c 62 20 20                           |.  a|b  |
00000038
";

#[test]
fn samples_of_every_format() {
    for (name, text) in [
        ("plain", PLAIN),
        ("xxd", XXD),
        ("xxd -g4 -u -a", XXD_G4_UPPER),
        ("xxd -p", XXD_PLAIN),
        ("od -A x -t x1", OD_HEX),
        ("od -t x1", OD_OCTAL),
        ("hexdump -C", HEXDUMP),
    ] {
        assert_eq!(read(name, text.as_bytes()).unwrap(), sample(), "{name}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(read(name, crlf.as_bytes()).unwrap(), sample(), "{name} with CRLF");
    }
    assert_eq!(read("binary", &sample()).unwrap(), sample());
}

const XXD_I: &str = "\
unsigned char dump_bin[] = {
  0x04, 0x03, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0xff, 0x20, 0x20, 0x61, 0x7c, 0x62, 0x20, 0x20
};
unsigned int dump_bin_len = 56;
";

#[test]
fn arrays_of_c_and_rust() {
    assert_eq!(read("xxd -i", XXD_I.as_bytes()).unwrap(), sample());
    for text in [
        "uint8_t in[4] = {0x04, 3, /* uid */ 0, 7};",
        "static const u8 in[DEVX_ST_SZ_BYTES(x)] = { // what\n  0x04, 0x03,\n  0, 7,\n};",
        "let bytes: [u8; 4] = [4, 0x03, 0u8, 0x07_u8];",
        "[4, 3, 0, 7]",
        "{ 4, 3, 0, 7 }",
        "&[0x4,0x3,0x0,0x7]",
        "unsigned char in[0x4] =\n{\n4, 3, 0, 7\n};\nunsigned int in_len = 0x4;\nint rc = send(in, 5);",
        "The int of the dump:\n{4, 3, 0, 7,}",
        "int a = 5;\nuint8_t in[] =\n{4, 3\n, 0, 7};",
        "send((uint8_t []){4, 3, 0, 7});",
        "let bytes = [4, 3, 0, 7];\nlet mut out = Vec::new();",
        "{4, /* / * // */ 3, 0 /*/ is one */, 7} // { /*",
    ] {
        assert_eq!(read("c", text.as_bytes()).unwrap_or_else(|e| panic!("{e}")), [4, 3, 0, 7]);
    }
    // C fills up with zeros, Rust does not.
    assert_eq!(read("c", b"uint8_t in[5] = {4, 3};").unwrap(), [4, 3, 0, 0, 0]);
    for (text, fault) in [
        (
            "uint8_t in[16] = {0};\nDEVX_SET(query_cq_in, in, opcode, 0x402);",
            "code that makes a mailbox",
        ),
        (
            "u8 in[16] = {0};\nMLX5_SET(query_cq_in, in, opcode, 0x402);",
            "code that makes a mailbox",
        ),
        ("use mlx5_prm::QueryCqIn;\nlet m = QueryCqIn::new(); {", "code that makes a mailbox"),
        ("uint8_t in[16] = {8};\nin[8] = 5;", "`in[8] = 5;` after the end of the array"),
        ("(uint32_t [])\n{8, 0, 0, 0}", "`uint32_t` is a type of more than a byte"),
        ("(uint32_t [DEVX_ST_SZ_DW(x)]){8, 0}", "`uint32_t` is a type of more than a byte"),
        ("{ 4, 300 }", "`300` is more than a byte"),
        ("{ 0x04030000 }", "`0x04030000` is more than a byte"),
        ("{ 4, 010 }", "`010` may be octal or decimal"),
        ("{ 4, x }", "`x` is no number of an array of bytes"),
        ("{ 4, 3", "the array is not closed"),
        ("4 }\n{ 3 }", "the array ends before it begins"),
        ("{ 4 }\n{ 3 }", "a second array; the first has 1 bytes"),
        ("char a[] = { 4 };\nint a_len = 2;", "the array has 1 bytes; `a_len` says 2"),
        ("uint8_t a[3] = { 4, 3, 0, 7 };", "the array has 4 bytes; `[3]` says 3"),
        ("uint8_t a[0x3fffffff] = { 4 };", "the array has 1 bytes; `[0x3fffffff]` says 1073741823"),
        ("in = (uint32_t []){ 4 };", "`uint32_t` is a type of more than a byte"),
        ("send((__be64[2]) { 4 });", "`__be64` is a type of more than a byte"),
        ("let a: [u8; 2] = [4];", "the array has 1 bytes; `[2]` says 2"),
        ("uint32_t in[] = { 4 };", "`uint32_t` is a type of more than a byte"),
        ("[2] lines of a log", "brackets, and no array of numbers in them"),
        ("{ }", "empty"),
        ("uint32_t in[4] =\n{ 4, 3, 0, 7 };", "`uint32_t` is a type of more than a byte"),
        ("uint32_t\nin[] = { 4 };", "`uint32_t` is a type of more than a byte"),
        ("let a: [u32; 4] =\n[4, 3, 0, 7];", "`u32` is a type of more than a byte"),
        ("uint8_t in[2] =\n{ 4, 3, 0, 7 };", "the array has 4 bytes; `[2]` says 2"),
        ("unsigned in[4] = {4,3,0,7};", "`unsigned` is a type of more than a byte"),
        ("rte_be32_t in[] = {4};", "`rte_be32_t` is a type of more than a byte"),
        ("uint_least32_t in[] = {4};", "`uint_least32_t` is a type of more than a byte"),
        ("std::vector<uint32_t> in{4, 3};", "`uint32_t` is a type of more than a byte"),
        ("size_t in[] = {4};", "`size_t` is a type of more than a byte"),
        ("__le32 in[] = {4};", "`__le32` is a type of more than a byte"),
        ("DWORD in[] = {4};", "`DWORD` is a type of more than a byte"),
        ("float in[] = {4};", "`float` is a type of more than a byte"),
        ("{4,3,0,7} 5 6", "`5` after the end of the array"),
        ("{4,3,0,7};\n07 08", "`07` after the end of the array"),
        ("{4,3,,7}", "a comma without a number before it"),
        ("{4,3,\n,7}", "a comma without a number before it"),
        ("{,4}", "a comma without a number before it"),
        ("uint8_t in[0x1] = {4,3};", "the array has 2 bytes; `[0x1]` says 1"),
    ] {
        let error = read("c", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(fault), "{text}: {error}");
    }
}

/// What a tool makes of the bytes; `None` where it is not installed.
fn by_tool(tool: &str, args: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        Command::new(tool).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{tool} {args:?}");
    Some(out.stdout)
}

#[test]
fn the_tools_themselves() {
    let zeros_that_end_early = vec![0; 40];
    let spaces = [vec![0], vec![b' '; 39]].concat();
    let one = vec![0x7c];
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [sample(), zeros_that_end_early, spaces, one, all] {
        for (tool, args) in [
            ("xxd", &[][..]),
            ("xxd", &["-u", "-g", "4"]),
            ("xxd", &["-g", "0", "-c", "32"]),
            ("xxd", &["-a"]),
            ("xxd", &["-p"]),
            ("od", &["-A", "x", "-t", "x1"]),
            ("od", &["-v", "-A", "x", "-t", "x1"]),
            ("od", &["-t", "x1"]),
            ("hexdump", &["-C"]),
            ("hexdump", &["-v", "-C"]),
        ] {
            let Some(text) = by_tool(tool, args, &bytes) else { continue };
            let back = read(tool, &text).unwrap_or_else(|e| panic!("{tool} {args:?}: {e}"));
            assert_eq!(back, bytes, "{tool} {args:?}");
        }
    }
}

const COLUMNS: &str = "\
0000   04 03 00 07 00 00 00 00 00 00 00 00 00 00 00 00
0010   00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0020   00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0030   ff 20 20 61 7c 62 20 20
";

#[test]
fn offsets_without_a_colon() {
    let read = |text: &str| read("f", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read(COLUMNS), sample());
    assert_eq!(read(&COLUMNS.replace("00   ", "00  ").replace("\n00", "\n0x00")[..]), sample());
    let text = COLUMNS.replace("00 00\n", "00 00   ................\n");
    assert_eq!(read(&text.replace("20 20\n", "20 20   .  a|b\n")), sample());
    assert_eq!(read("0000 04030007 00000000\n0008 00000001 00000002\n").len(), 16);
    assert_eq!(read("00000000 0403 0007\n00000004 0000\n"), [4, 3, 0, 7, 0, 0]);
    assert_eq!(
        message(&COLUMNS.replace("0020   ", "0030   ")),
        "f, line 3: offset 0x30 where 0x20 is next: 16 bytes are missing\n  \
         0030   00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\nGive every line, from offset 0 on."
    );
    for either in [
        "0000 04 03 00 07\n",
        "0000 0403 0007 0000 0000\n0008 0000 0000 0000 0000\n",
        "00000000 04030007 00000000\n00000008 00000000 00000000\n",
    ] {
        let message = message(either);
        assert!(message.contains("may be an offset or bytes"), "{either}{message}");
    }
    // Bytes, however they begin.
    for bytes in [
        "00000000 00000000 00000000 00000000\n0000000c 00000000 00000000 00000000\n",
        "0000 0001\n0002 0003\n",
        "00000000 0000000000000000\n",
        "0000000000000000 0000000000000000\n0000000000000008 0000000000000000\n",
        "0000 0000 0000 0000 0000 0000 0000 0000\n0010 0000\n",
    ] {
        let digits = bytes.split_whitespace().collect::<String>();
        assert_eq!(read(bytes).len() * 2, digits.len(), "{bytes}");
    }
}

#[test]
fn decimal_offsets() {
    let od = "0000000 04 03 00 07 00 00 00 00 00 00 00 00 00 00 00 00\n\
              0000016 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n\
              0000048 ff 20 20 61 7c 62 20 20\n0000056\n";
    assert_eq!(read("od -A d", od.as_bytes()).unwrap(), sample());
    let xxd = XXD.replace("0010:", "0016:").replace("0020:", "0032:").replace("0030:", "0048:");
    assert_eq!(read("xxd -d", xxd.as_bytes()).unwrap(), sample());
    assert!(message(&od.replace("0000048", "0000047")).contains("f, line 4: from 0x20 to 0x2f"));
    // A line that is cut makes no decimal offset of the next.
    let cut = "00000000: 0403 0007 0000 0000 0000\n00000010: 0000\n";
    assert!(message(cut).contains("6 bytes are missing"), "{}", message(cut));
    // 0x60 bytes, or 0o160, or 160.
    let zeros = "0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n0000160\n";
    assert_eq!(
        message(zeros),
        "f, line 1: offsets that may be decimal or not, and each way the dump has another length\n  \
         0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n\
         Dump again with every line, and hex offsets: xxd, od -v -A x -t x1, hexdump -v -C."
    );
}

#[test]
fn columns_that_count_up_are_not_bytes() {
    let rows = |row: usize, offset: &dyn Fn(usize) -> String| -> String {
        let bytes = ["00"; 64].concat();
        (0..64).step_by(row).map(|at| format!("{} {}\n", offset(at), &bytes[..row * 2])).collect()
    };
    for dump in [
        rows(4, &|at| format!("0x{at:08x}")),
        rows(4, &|at| format!("{at:08x}")),
        rows(8, &|at| format!("{at:016x}")),
        rows(16, &|at| format!("{at:08}")),
        rows(2, &|at| format!("{at:04x}")),
    ] {
        let told = message(&dump);
        assert!(told.contains("line 1") && told.contains("0000"), "{told}\n{dump}");
    }
    // Plain hex that begins with zeros.
    let plain = "00000000 00000000\n00000000 00000004\n00000000 00000008\n00000000 0000000c\n";
    assert_eq!(read("f", plain.as_bytes()).unwrap().len(), 32);
}

#[test]
fn the_length_of_rows_says_the_radix() {
    let zeros = |end: &str| format!("0000000 {}\n*\n{end}\n", ["00"; 16].join(" "));
    // What od writes of 272 bytes, in octal and in decimal; 0000064 is 52 bytes, or 64.
    assert_eq!(read("od", zeros("0000420").as_bytes()).unwrap().len(), 272);
    for end in ["0000272", "0000064"] {
        assert!(message(&zeros(end)).contains("decimal or not"), "{end}");
    }
}

#[test]
fn words_elsewhere_are_no_types() {
    for text in [
        "#define LEN sizeof(int)\nuint8_t v[4] = {4, 3, 0, 7};",
        "void f(int n)\nuint8_t v[] = {4, 3, 0, 7};",
        "uint8_t v[sizeof(uint32_t)] = {4, 3, 0, 7};",
        "#[rustfmt::skip]\nlet v: [u8; size_of::<u32>()] = [4, 3, 0, 7];",
    ] {
        assert_eq!(read("f", text.as_bytes()).ok(), Some(vec![4, 3, 0, 7]), "{text}");
    }
}

#[test]
fn text_columns_of_other_options() {
    let od = "0000000 04 03 00 07 00 00 00 00 00 00 00 00 00 00 00 00  >................<\n*\n\
              0000040 ff 20 7b 61 7c 62 20 3e                          >. {a|b ><\n0000050\n";
    assert_eq!(read("od -t x1z", od.as_bytes()).unwrap().len(), 40);
    assert!(
        message(&od.replace(".. <", ". <").replace("....<", "...<")).contains("the text column")
    );
    let swapped = "00000000: 07000304 62617c64  ....d|ab\n";
    assert!(message(swapped).ends_with("Dump the bytes in their order: xxd without -e."));
    let right = "00000000: 04030007 647c6162  ....d|ab\n00000008: 07000304 00000000  ........\n";
    assert_eq!(read("xxd -g 4", right.as_bytes()).unwrap().len(), 16);
    // Changed bytes beside the text of before.
    let changed = "00000000: 04030007 647c6164  ....d|ab\n";
    assert_eq!(read("xxd -g 4", changed.as_bytes()).unwrap().len(), 8);
    let binary = "00000000: 00000100 00000011 00000000 00000111 00000000 00000000  ......\n";
    assert!(message(binary).ends_with("Dump hex digits: xxd without -b."), "{}", message(binary));
}

#[test]
fn an_error_has_its_line() {
    let line = |raw: &[u8]| read("f", raw).unwrap_err().line();
    assert_eq!(line(b"0403\n\n0403000 00\n"), Some(3));
    assert_eq!((line(b" \n"), line(b"\xef\xbb\xbf04")), (None, None));
}

/// The whole message for a text.
fn message(text: &str) -> String {
    read("f", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn nothing_at_all() {
    let expected = "f: empty\nGive a mailbox: binary, hex digits, or a dump by xxd, od or hexdump.";
    for text in ["", " \n\t\n", ",\n"] {
        assert_eq!(message(text), expected);
    }
}

#[test]
fn faults_of_plain_hex() {
    assert_eq!(
        message("0403\n\n0403000 00\n"),
        "f, line 3: `0403000` has an odd number of hex digits\n  0403000 00\n\
         Write every byte as two digits."
    );
    assert_eq!(
        message("0403 opcode\n"),
        "f, line 1: `opcode` is not hexadecimal\n  0403 opcode\n\
         Give hex digits only, or a dump by xxd, od -A x -t x1, hexdump -C or the kernel."
    );
    assert_eq!(
        message("0403\n*\n"),
        "f, line 2: `*` without offsets in the dump that say how far it goes\n  *\n\
         Dump again with every line: xxd, od -v, hexdump -v."
    );
    assert_eq!(
        message("000000 04 03\n"),
        "f, line 1: `000000` may be an offset or bytes\n  000000 04 03\n\
         Give the dump with its last line, the offset of its end; or group bytes evenly."
    );
    assert_eq!(
        message("0000000 0304 0700\n0000004\n"),
        "f, line 1: words of several bytes, whose byte order is that of the machine that wrote them\n  \
         0000000 0304 0700\nDump single bytes in hex: od -A x -t x1, hexdump -C, or x/16xb of gdb."
    );
    // hexdump -b, od -b, od -t u1
    for line in ["0000000 004 003 000 007", "0000000   4   3   0   7", "0000000 004 003"] {
        let message = message(&format!("{line}\n0000004\n"));
        assert!(message.starts_with("f, line 1: bytes in octal or decimal\n"), "{message}");
    }
    assert_eq!(
        message(&format!("{}g", "0".repeat(200))),
        format!(
            "f, line 1: `{zeros} ...` is not hexadecimal\n  {zeros} ...\n\
             Give hex digits only, or a dump by xxd, od -A x -t x1, hexdump -C or the kernel.",
            zeros = "0".repeat(120)
        )
    );
}

/// As gdb and the kernel's print_hex_dump write it.
#[test]
fn addresses_for_offsets() {
    let gdb = "0x7fffffffe000:\t0x04\t0x03\t0x00\t0x00\n0x7fffffffe004:\t0x00\t0x00\t0x00\t0x07\n";
    assert_eq!(read("f", gdb.as_bytes()).unwrap(), [4, 3, 0, 0, 0, 0, 0, 7]);
    let named =
        gdb.replace("0x7fffffffe000:", "0x4040 <in>:").replace("0x7fffffffe004:", "0x4044 <in+4>:");
    assert_eq!(read("f", named.as_bytes()).unwrap(), [4, 3, 0, 0, 0, 0, 0, 7]);
    let kernel = "ffff888101234000: 04 03 00 00 00 00 00 07  ........\n";
    assert_eq!(read("f", kernel.as_bytes()).unwrap(), [4, 3, 0, 0, 0, 0, 0, 7]);
    let lost = gdb.replace("e004", "e008");
    assert!(message(&lost).contains("offset 0x8 where 0x4 is next: 4 bytes are missing"));
    assert!(message(&gdb.replace("e004", "d004")).contains(": a step back"));
    assert!(message("0x10:\t0x04\t0x03\n").contains("16 bytes are missing"), "an offset");
    let beyond = "ffffffffffffffff: 04 03\n0000000000000001: 00 00\n";
    assert!(message(beyond).contains(": a step back"));
    let skipped = "02000000: 0800 0000 0000 0000 0000 0000 0000 0000  ................\n";
    assert_eq!(read("f", skipped.as_bytes()).unwrap().len(), 16, "xxd -s");
    assert!(message("00: 0403\n10000002: 0000\n").contains("beyond the end of any mailbox"));
    for words in ["0x7fffffffe000:\t0x00000304\t0x07000000", "ffff888101234000: 00000304 07000000"]
    {
        assert!(message(words).contains("words of several bytes"), "{words}");
    }
}

#[test]
fn faults_of_offsets() {
    assert_eq!(
        message("00: 04030000\n08: 00000000\n"),
        "f, line 2: offset 0x8 where 0x4 is next: 4 bytes are missing\n  08: 00000000\n\
         Give every line, from offset 0 on."
    );
    assert_eq!(
        message("00: 04030000\n00: 00000000\n"),
        "f, line 2: offset 0x0 where 0x4 is next: a step back\n  00: 00000000\n\
         Give one mailbox, each line once and in order."
    );
    assert_eq!(
        message("00: 04030000\n*\nffffffffff: 00\n"),
        "f, line 3: offset 0xffffffffff is beyond the end of any mailbox\n  ffffffffff: 00\n\
         Correct the offset."
    );
    assert_eq!(
        message("00: 04030000\nzz 00\n"),
        "f, line 2: `zz` is not an offset in hex, with a colon\n  zz 00\n\
         Begin every line of the dump with its offset."
    );
    assert_eq!(
        message("0000000 04 03\n0000008\n"),
        "f, line 2: `0000008` is not an offset in octal\n  0000008\n\
         Begin every line of the dump with its offset."
    );
    assert_eq!(
        message("00: 0403\n02:\n"),
        "f, line 2: no bytes follow the offset\n  02:\nGive every line, from offset 0 on."
    );
    assert_eq!(
        message("0000000 04 3\n0000002\n"),
        "f, line 1: `3` is not a byte of two hex digits\n  0000000 04 3\n\
         Write every byte as two digits."
    );
}

#[test]
fn faults_of_repeats() {
    const REMEDY: &str = "Dump again with every line: xxd, od -v, hexdump -v.";
    assert_eq!(
        message("*\n00: 0403\n"),
        format!("f, line 1: `*` repeats the line before it, and there is none\n  *\n{REMEDY}")
    );
    for (text, line) in [("00: 0403\n*\n", 2), ("00: 0403\n*\n*\n04: 00\n", 3)] {
        assert_eq!(
            message(text),
            format!(
                "f, line {line}: `*` without an offset after it that says how far it goes\n  \
                 *\n{REMEDY}"
            )
        );
    }
    assert_eq!(
        message("00: 0403\n*\n05: 00\n"),
        format!("f, line 3: from 0x2 to 0x5, `*` is no whole number of lines\n  05: 00\n{REMEDY}")
    );
    assert_eq!(
        message("00: 0403\n*\n02: 00\n"),
        format!("f, line 3: from 0x2 to 0x2, `*` is no whole number of lines\n  02: 00\n{REMEDY}")
    );
}

#[test]
fn faults_of_text_columns() {
    const REMEDY: &str = "Copy the whole line again: a part of it was lost.";
    assert_eq!(
        message("00: 0403  ....\n"),
        format!(
            "f, line 1: the text column has 4 characters where the bytes have 2\n  \
             00: 0403  ....\n{REMEDY}"
        )
    );
    assert_eq!(
        message("00000000  04 03  |..\n"),
        format!(
            "f, line 1: the text column is not there, or not closed by `|`\n  \
             00000000  04 03  |..\n{REMEDY}"
        )
    );
}

#[test]
fn any_text_is_read_or_refused() {
    // A linear congruential generator (the constants of MMIX) with a fixed seed.
    let mut state = 0x6865_7821u64;
    let alphabet = b"0123456789abcdefx:*|,. \n\n  00";
    for _ in 0..20_000 {
        let text: Vec<u8> = (0..(state >> 58))
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                alphabet[(state >> 33) as usize % alphabet.len()]
            })
            .collect();
        let _ = read("random", &text);
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

#[test]
fn text_that_is_not_plain() {
    let error = |raw: &[u8]| read("f", raw).unwrap_err().to_string();
    let mark = "f: text with a byte-order mark, not a binary mailbox and not plain text\n\
                Save it as plain ASCII text without a byte-order mark.";
    assert_eq!(error(b"\xef\xbb\xbf04030000\n"), mark);
    assert_eq!(error(b"\xff\xfe0\x004\0\n\0"), mark);
    assert_eq!(error(b"\xfe\xff\x000\x004\0\n"), mark);
    let colour = error(b"\x1b[1m0403\x1b[0m");
    assert!(colour.starts_with("f: text with colour codes"), "{colour}");
    let letters = [XXD.as_bytes(), "\u{b5}".as_bytes()].concat();
    let odd = error(&letters);
    assert!(odd.starts_with("f: text with bytes that are not ASCII"), "{odd}");
    // What pads a file, or was not told apart from letters.
    let padded = [PLAIN.as_bytes(), &[0; 400]].concat();
    assert!(error(&padded).starts_with("f: text with NUL bytes"), "{}", error(&padded));
    for big in [false, true] {
        let wide = PLAIN.bytes().flat_map(|b| if big { [0, b] } else { [b, 0] });
        let told = error(&wide.collect::<Vec<u8>>());
        assert!(told.starts_with("f: text with two bytes for each letter (UTF-16)"), "{told}");
    }
    for binary in [
        [&[0; 8][..], b"ConnectX-6 Dx EN adapter card, 100GbE\0MT_0000000223\0"].concat(),
        [&b"MT_0000000223\0\0\0"[..], &[b'B'; 8], &[0; 8]].concat(),
        [0, b'B'].repeat(8),
    ] {
        assert_eq!(read("f", &binary).unwrap(), binary);
    }
    // Bytes that only begin like one are a mailbox.
    assert_eq!(read("f", b"\xff\xfe\x01\x02").unwrap(), b"\xff\xfe\x01\x02");
}
