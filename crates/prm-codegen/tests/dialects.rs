//! The dialects of the public headers: what is read of each, and what is passed over.
//!
//! `dialects/NAME.h` is made up; `dialects/NAME.facts`, written by hand, is all that it says.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prm_codegen::check;
use prm_codegen::fault::{Faults, SourceFile};
use prm_codegen::import::{self, HeaderFile, Reading};
use prm_codegen::model::{Count, Element, Family, Field, Kind, Spec};

/// No reading may take longer, however odd the header.
const LIMIT: Duration = Duration::from_secs(20);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialects")
}

fn header(path: &Path, takes: &[&str]) -> HeaderFile {
    let file = SourceFile::read(path).unwrap_or_else(|e| panic!("{e}"));
    HeaderFile { file, takes: takes.iter().map(ToString::to_string).collect() }
}

fn text(text: impl Into<String>) -> HeaderFile {
    HeaderFile { file: SourceFile::new("made_up.h", text), takes: Vec::new() }
}

/// What a reading says, a line each: layouts with their bytes, fields as `FIRST_BIT+WIDTH` or
/// `FIRST_BIT LAYOUT`, enumerations, and what was passed over, by line.
fn facts(reading: &Reading) -> String {
    let mut out = String::new();
    for layout in &reading.layouts {
        let kind = if layout.kind == Kind::Struct { "struct" } else { "union" };
        writeln!(out, "{kind} {} 0x{:x}", layout.name, layout.bytes).unwrap();
        for field in &layout.fields {
            writeln!(out, "  {}", place(field)).unwrap();
        }
    }
    for e in &reading.enums {
        writeln!(out, "enum {}", e.name).unwrap();
        for v in &e.values {
            writeln!(out, "  {} {}", v.name, v.value).unwrap();
        }
    }
    if !reading.passed_over.is_empty() {
        out.push_str("passed over\n");
    }
    for p in &reading.passed_over {
        let fault = p.fault.as_ref().map_or_else(String::new, |fault| format!(" ({fault})"));
        writeln!(out, "  {} {}{fault}", p.origin.line(), p.label).unwrap();
    }
    out
}

fn place(field: &Field) -> String {
    let what = match &field.element {
        Element::Bits(width) => format!("{}+{width}", field.bit),
        Element::Layout(name) => format!("{} {name}", field.bit),
    };
    let count = match field.count {
        Count::One => String::new(),
        Count::Array(n) => format!("[{n}]"),
        Count::List => "[]".into(),
    };
    let over = field.overlays.as_ref().map(|f| format!(" over {f}")).unwrap_or_default();
    format!("{} {what}{count}{over}", field.name)
}

/// Checks what is read of `dialects/NAME.h` against `dialects/NAME.facts`.
fn says(name: &str, reading: Result<Reading, Faults>) {
    let reading = reading.unwrap_or_else(|e| panic!("{}", e.render()));
    let known = fs::read_to_string(folder().join(name).with_extension("facts")).unwrap();
    let read = facts(&reading);
    let diff = similar::TextDiff::from_lines(&known, &read);
    assert!(read == known, "{}", diff.unified_diff().header(name, "read"));
    sound(reading);
}

/// Checks that the layouts of a reading are sound.
fn sound(reading: Reading) {
    let mut spec = Spec { layouts: reading.layouts, ..Spec::default() };
    if let Some(first) = spec.layouts.first() {
        let (name, about, origin) = ("all".to_owned(), "All.".to_owned(), first.origin.clone());
        spec.families.push(Family { name, about, takes: vec!["*".into()], origin });
    }
    for layout in &mut spec.layouts {
        layout.family = "all".into();
    }
    check::check_layouts(&spec).unwrap_or_else(|e| panic!("{}", e.render()));
}

#[test]
fn dialects() {
    for name in ["kernel", "rdma_core", "dpdk", "ucx", "libdpcp", "unreadable", "conditions"] {
        let header = header(&folder().join(name).with_extension("h"), &[]);
        says(name, import::headers(&[header]));
    }
}

#[test]
fn some_enumerators_of_an_ordinary_header() {
    let header = header(&folder().join("ordinary.h"), &["MADE_REG_"]);
    says("ordinary", import::headers(&[header]));
}

#[test]
fn layouts_at_fault() {
    let header = header(&folder().join("broken_layouts.h"), &[]);
    let faults = import::headers(std::slice::from_ref(&header)).unwrap_err();
    assert_eq!(faults.0[0].message, "\"*\" where the name of a field belongs");
    says("broken_layouts", import::headers_leniently(&[header]));
}

#[test]
fn macros_and_enumerators_go_from_header_to_header() {
    let first = text("#define WIDTH 0x8\nenum { MADE_UP = 3 };\n");
    let second = "#if WIDTH\nstruct mlx5_ifc_a_bits { u8 b[MADE_UP * WIDTH]; };\n#endif";
    let reading = import::headers(&[first, text(second)]).unwrap();
    assert_eq!(facts(&reading), "struct a 0x3\n  b 0+24\nenum made_up\n  MADE_UP 3\n");
}

#[test]
fn lines_may_end_as_in_dos_and_begin_with_a_mark() {
    let dos = "#if defined(A) || \\\r\n  1\r\nstruct mlx5_ifc_a_bits {\r\n\tu8 b[0x20];\r\n};\r\n#endif\r\n";
    let reading = import::headers(&[text(format!("\u{feff}{dos}"))]).unwrap();
    assert_eq!(facts(&reading), "struct a 0x4\n  b 0+32\n");
}

/// What an enumerator is with this value: the number, or why there is none.
fn value(expression: &str) -> Result<i64, String> {
    match import::headers(&[text(format!("enum {{ MADE_UP = {expression} }};"))]) {
        Ok(reading) => match reading.enums.first() {
            Some(e) => Ok(e.values[0].value),
            None => Err(reading.passed_over[0].label.clone()),
        },
        Err(faults) => Err(faults.0[0].message.clone()),
    }
}

#[test]
fn constants_are_what_c_makes_of_them() {
    let numbers = [
        ("10 - 3 - 2", 5),
        ("64 / 4 / 2", 8),
        ("1 << 2 << 3", 32),
        ("10 - 2 * 3 - 1", 3),
        ("1 ? 5 : 1 / 0", 5),
        ("0 ? 1 / 0 : 6", 6),
        ("0 && 1 / 0", 0),
        ("1 || 1 / 0", 1),
        ("1 && 0", 0),
        ("0 && 1", 0),
        ("2 && 3", 1),
        ("0 || 0", 0),
        ("3 | 1", 3),
        ("3 ^ 1", 2),
        ("6 & 3", 2),
        ("2 < 2", 0),
        ("1 < 2", 1),
        ("3 < 2", 0),
        ("2 > 2", 0),
        ("2 > 1", 1),
        ("2 <= 2", 1),
        ("3 <= 2", 0),
        ("2 >= 2", 1),
        ("1 >= 2", 0),
        ("1 != 2", 1),
        ("2 != 2", 0),
        ("4 != 2", 1),
        ("1 == 2", 0),
        ("0b101", 5),
        ("0x1F", 31),
        ("017", 15),
        ("(u8)0x12345", 0x45),
        ("(u16)0x12345", 0x2345),
        ("(__u32)0x123456789", 0x2345_6789),
        ("(uint64_t)0x123456789", 0x1_2345_6789),
        ("BIT(0)", 1),
        ("BIT_ULL(62)", 1 << 62),
        ("1U - 1", 0),
        ("0 + 1U", 1),
        ("1U + 0", 1),
        ("-1 + 2", 1),
        ("1 << 62", 1 << 62),
        ("1 >> 63", 0),
    ];
    for (expression, number) in numbers {
        assert_eq!(value(expression), Ok(number), "{expression}");
    }
    // In the types of C they are other numbers.
    for expression in ["-1 + 2U", "1 + (1 ? -1 : 1U)", "1U - 2", "2U + -1"] {
        let why = "enumerator MADE_UP (this value hangs on the types of its numbers)";
        assert_eq!(value(expression), Err(why.into()), "{expression}");
    }
    for (expression, message) in [
        ("BIT(64)", "there is no bit 64"),
        ("1 >> 64", "1 >> 64 has no value of 64 bits"),
        ("0 << 64", "0 << 64 has no value of 64 bits"),
        ("1 / 0", "1 / 0 has no value of 64 bits"),
    ] {
        assert_eq!(value(expression), Err(message.into()));
    }
}

#[test]
fn constants_are_nested_up_to_64_deep_and_as_long_as_they_like() {
    let nested = |deep: usize| format!("{}1{}", "(".repeat(deep), ")".repeat(deep));
    assert_eq!(value(&nested(63)), Ok(1));
    assert_eq!(value(&nested(64)), Err("this expression is nested more than 64 deep".into()));
    assert_eq!(value(&("1 + ".repeat(300) + "1")), Ok(301));
    assert_eq!(value(&("(1 ? 1 : 1) + ".repeat(300) + "1")), Ok(301));
    let chosen = |many: usize| "0 ? 0 : ".repeat(many) + "1";
    assert_eq!(value(&chosen(63)), Ok(1));
    assert_eq!(value(&chosen(65)), Err("this expression is nested more than 64 deep".into()));
}

/// The first fault of a header.
fn message(header: &str) -> String {
    import::headers(&[text(header)]).expect_err(header).0[0].message.clone()
}

/// What a header says.
fn read(header: &str) -> String {
    facts(&import::headers(&[text(header)]).unwrap_or_else(|e| panic!("{header}: {}", e.render())))
}

#[test]
fn a_macro_keeps_its_meaning_in_an_expression() {
    let defined =
        |above: &str, within: &str| format!("{above}enum {{ MADE_UP = 1 +\n{within} 1 }};");
    let changes = "a macro changes its meaning before this expression ends";
    assert_eq!(message(&defined("#define A 1\n", "#define A 2\n")), changes);
    assert_eq!(message(&defined("#define A 1\n", "#undef A\n")), changes);
    // One that had none, or was none, is no other.
    let said = "enum made_up\n  MADE_UP 2\n";
    assert_eq!(read(&defined("", "#define A 2\n")), said);
    assert_eq!(read(&defined("#define A 1\n#define A 2\n", "#undef B\n")), said);
}

#[test]
fn words_are_cut_as_c_cuts_them() {
    let layout = "struct mlx5_ifc_a_bits { u8 b[0x8]; };\n";
    let said = "struct a 0x1\n  b 0+8\n";
    // A directive stands first in its line.
    let fault = message(&format!("int c; #define D 1\n{layout}"));
    assert_eq!(fault, "mlx5_ifc_a_bits stands where no layout is read");
    // Characters of several bytes are whole.
    let crab = "struct mlx5_ifc_a_bits { u8 \u{1F980}[1]; };";
    assert_eq!(message(crab), "\"\u{1F980}\" where the name of a field belongs");
    assert_eq!(message("\"it is\" }"), "\"}\" where an item belongs");
    // What looks like a comment in a string is none, and a string goes past an escaped quote.
    assert_eq!(read(&format!("#define C \"/*\"\n{layout}")), said);
    assert_eq!(read(&format!("#define C '\"' /* \" */\n{layout}")), said);
    assert_eq!(
        read(&format!("char c[] = \"ab\\\"/*\";\n{layout}")),
        format!("{said}passed over\n  1 declaration c\n")
    );
    // A comment goes on over lines, in a directive too.
    assert_eq!(read(&format!("#define C 1 /* and\nmore */\n{layout}")), said);
}

#[test]
fn faults_are_counted_for_each_header() {
    let header = |name: &str| {
        let layout =
            |i| format!("struct mlx5_ifc_{name}{i}_bits {{ struct mlx5_ifc_none_bits b; }};\n");
        text((0..60).map(layout).collect::<String>())
    };
    let faults = import::headers(&[header("a"), header("b")]).expect_err("each has one");
    assert_eq!(faults.0.len(), 120);
}

#[test]
fn members_are_nested_up_to_32_deep() {
    let nested = |deep: usize| {
        let (open, close) = ("struct { ".repeat(deep), "} c; ".repeat(deep));
        text(format!("struct mlx5_ifc_a_bits {{ {open}u8 b[0x8]; {close}}};"))
    };
    assert!(import::headers(&[nested(31)]).is_ok());
    let faults = import::headers(&[nested(32)]).expect_err("too deep");
    assert_eq!(faults.0[0].message, "structs are nested more than 32 deep here");
    let open = message("struct mlx5_ifc_a_bits { u8 b[0x20; };");
    assert_eq!(open, "\";\" where \"]\" belongs");
}

#[test]
fn what_is_no_layout_is_passed_over_by_name() {
    for (header, label) in [
        ("typedef int (*hook[MANY])(void);", "typedef hook"),
        ("typedef void (CALLED *hook)(int);", "typedef hook"),
        ("typedef int name;", "typedef name"),
        ("struct { int a; } one = two;", "struct of one"),
        ("struct { int a; } one __packed;", "struct of one"),
        ("struct { int a; } one = { 1 };", "struct of one"),
        ("extern \"C\" { int a }", "declaration a"),
        ("MACRO(a) enum { B };", "macro MACRO"),
        ("int called(void) { return 1; }", "function called"),
        ("typedef int (plain)(int);", "typedef int"),
        ("\"a text\";", "declaration without a name"),
    ] {
        let reading = import::headers(&[text(header)]).unwrap_or_else(|e| panic!("{}", e.render()));
        let labels: Vec<&str> = reading.passed_over.iter().map(|p| &*p.label).collect();
        assert_eq!(labels, [label], "{header}");
    }
    for (header, fault) in [
        ("struct a { int b; } { int c; };", "\"{\" where \";\" belongs"),
        ("struct a { int b; } struct c { int d; };", "\"struct\" where \";\" belongs"),
        ("int a }", "\"}\" where an item belongs"),
        (
            "int a(int)[2] struct mlx5_ifc_b_bits { u8 c[1]; };",
            "mlx5_ifc_b_bits stands where no layout is read",
        ),
    ] {
        assert_eq!(message(header), fault, "{header}");
    }
}

#[test]
fn fields_of_the_first_arm_share_a_place_with_what_lies_over_them() {
    let layout = |first: &str, second: &str| {
        read(&format!(
            "struct mlx5_ifc_a_bits {{ union {{ struct {{ {first} }}; struct {{ {second} }}; }}; }};"
        ))
    };
    let thirds = "u8 b[0x8]; u8 c[0x8]; u8 d[0x8];";
    assert_eq!(
        layout(thirds, "u8 reserved_at_0[0x8]; u8 e[0x8];"),
        "struct a 0x3\n  b 0+8\n  c 8+8 over b\n  d 16+8\n  e 8+8 over b\n"
    );
    assert_eq!(
        layout(thirds, "u8 reserved_at_0[0x10]; u8 e[0x8];"),
        "struct a 0x3\n  b 0+8\n  c 8+8\n  d 16+8 over b\n  e 16+8 over b\n"
    );
    let array = "u8 b[0x8]; u8 c[0x3][0x8];";
    assert_eq!(
        layout(array, "u8 reserved_at_0[0x18]; u8 e[0x8];"),
        "struct a 0x4\n  b 0+8\n  c 8+8[3] over b\n  e 24+8 over b\n"
    );
    assert_eq!(
        layout(array, "u8 reserved_at_0[0x20]; u8 e[0x8];"),
        "struct a 0x5\n  b 0+8\n  c 8+8[3]\n  e 32+8 over b\n"
    );
}

#[test]
fn a_layout_is_up_to_a_mebibyte_long() {
    let layout = |members: &str| format!("struct mlx5_ifc_a_bits {{ {members} }};");
    let whole = "struct a 0x100000\n  b 0+8388608\n";
    assert_eq!(read(&layout("u8 b[0x800000];")), whole);
    assert_eq!(read(&layout("u8 b[0x800000]; u8 c[][0x8];")), format!("{whole}  c 8388608+8[]\n"));
    assert_eq!(
        read(&layout("u8 b[0x400000]; u8 c[0x400000];")),
        "struct a 0x100000\n  b 0+4194304\n  c 4194304+4194304\n"
    );
    assert_eq!(
        message(&layout("u8 b[0x800001];")),
        "b is 8388609 bits wide; the longest layout believed is 8388608 bits"
    );
    assert_eq!(
        message(&layout("u8 b[0x400000]; u8 c[0x400008];")),
        "a is longer than 1048576 bytes here"
    );
}

/// Reads `header` within the limit; gives what is wrong with it.
fn fault(header: String) -> Faults {
    let begun = Instant::now();
    let header = [text(header)];
    let faults = import::headers(&header).expect_err("it is no sound header");
    let begins: String = header[0].file.text.chars().take(40).collect();
    assert!(begun.elapsed() < LIMIT, "{begins}: {:?}", begun.elapsed());
    assert!(!faults.to_string().is_empty());
    faults
}

#[test]
fn no_odd_header_hangs_or_panics() {
    const MANY: usize = 100_000;
    const LENGTH: usize = 10 << 20;
    let deep = |open: &str| open.repeat(MANY);
    let long = |part: &str| part.repeat(LENGTH / part.len());
    let macros = |body: &dyn Fn(usize) -> String| -> String {
        (1..MANY / 10).map(|i| format!("#define D{i} {}\n", body(i))).collect()
    };
    let size = "struct mlx5_ifc_a_bits { u8 b[D9999]; };";
    let value = "enum { A = D9999, B = D9999 / 0 };";
    let odd = [
        deep("{"),
        format!("struct a {}", deep("{")),
        format!("struct a {}{}", deep("{"), deep("}")),
        format!("struct mlx5_ifc_a_bits {{ {}", deep("struct {")),
        deep("namespace a {"),
        deep("extern \"C\" {"),
        format!("int a({}", deep("(")),
        format!("enum {{ A = {}", deep("(")),
        format!("enum {{ A = {} }};", deep("-")),
        format!("enum {{ A = {}1 }};", deep("1 ? 1 : ")),
        format!("#if {}\n#endif\n", deep("(")),
        format!("#if {}1\n#endif\n", deep("!")),
        format!("#if {}1\n#endif\n", deep("0 || ")),
        deep("#if 1\n"),
        deep("#if 0\n"),
        long("@ "),
        long("{ } "),
        long("a "),
        long("a; "),
        long("''\""),
        long("'\\"),
        long("\u{1F980}"),
        long("struct "),
        long("struct mlx5_ifc_a_bits "),
        long("enum { A = "),
        long("#define A A A\n") + "struct mlx5_ifc_b_bits { u8 c[A]; };",
        long("/* "),
        long("#if 1\n#endif\n") + "#endif",
        format!("enum {{ A = {} }};", long("1 + ")),
        format!("enum {{ A = A1 }};\n#define B {}\nenum {{ A = B }};", long("1 + ")),
        format!("#define D0 1\n{}{size}", macros(&|i| format!("D{}", i - 1))),
        format!("#define D0 1\n{}{size}", macros(&|i| format!("D{0} + D{0}", i - 1))),
        format!("#define D0\n{}{value}", macros(&|i| format!("D{0} D{0} D{0}", i - 1))),
    ];
    for header in odd {
        fault(header);
    }
    let layouts = (0..MANY).map(|i| format!("struct mlx5_ifc_a{i}_bits {{ u8 b[1]; }};\n"));
    assert_eq!(fault(layouts.collect()).0.len(), 101);
}

#[test]
fn no_damaged_header_panics() {
    let mut headers: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    headers.retain(|path| path.extension().is_some_and(|e| e == "h"));
    for path in headers {
        let whole = fs::read_to_string(path).unwrap();
        for at in 0..whole.len() {
            let cut = text(&whole[..at]);
            let holed = text(whole[..at].to_owned() + &whole[at + 1..]);
            for header in [cut, holed] {
                let _ = import::headers(std::slice::from_ref(&header));
                let taken = HeaderFile { takes: vec!["MADE_REG_".into()], ..header.clone() };
                let _ = import::headers(&[taken]);
                let _ = import::headers_leniently(&[header]);
            }
        }
    }
}

/// A published source.
struct Published {
    /// Its folder below `MLX5_SOURCES`.
    source: &'static str,
    /// The headers that hold layouts.
    headers: &'static [&'static str],
    /// Those of which only the ids of registers are taken.
    ordinary: &'static [&'static str],
    /// Structs and unions with names: those that are read, and those that are at fault.
    layouts: (usize, usize),
    /// Ids of registers.
    registers: usize,
}

const PUBLISHED: [Published; 8] = [
    linux("v7.3", 768, 68),
    linux("v6.12", 736, 63),
    linux("v6.1", 693, 56),
    alone("rdma-core", &["mlx5_ifc.h"], (294, 0), 1),
    // One is a single bit long.
    alone("dpdk", &["mlx5_prm.h"], (243, 1), 0),
    alone("mlx5ctl", &["mlx5_ifc.h"], (662, 0), 0),
    // One has a pointer.
    alone("libdpcp", &["prm.h"], (555, 1), 0),
    alone("ucx", &["ib_mlx5_ifc.h"], (64, 0), 0),
];

const fn linux(source: &'static str, layouts: usize, registers: usize) -> Published {
    let headers = &["mlx5_ifc_fpga.h", "mlx5_ifc.h", "mlx5_ifc_vdpa.h"];
    let ordinary = &["driver.h"];
    Published { source, headers, ordinary, layouts: (layouts, 0), registers }
}

const fn alone(
    source: &'static str,
    headers: &'static [&'static str],
    layouts: (usize, usize),
    registers: usize,
) -> Published {
    Published { source, headers, ordinary: &[], layouts, registers }
}

/// How many lines of a header begin a struct or union whose name is a layout's.
fn begun(text: &str) -> usize {
    let code: String = text.split("*/").filter_map(|part| part.split("/*").next()).collect();
    let begins = |l: &&str| {
        let words: Vec<&str> = l.split_whitespace().collect();
        matches!(words[..], ["struct" | "union", tag, "{"]
            if tag.starts_with("mlx5_ifc_") || tag.ends_with("_bits"))
    };
    code.lines().filter(begins).count()
}

#[test]
fn published_headers() {
    let Some(sources) = std::env::var_os("MLX5_SOURCES").map(PathBuf::from) else {
        let what = "NOT TESTED: the published headers, for MLX5_SOURCES names no folder of them \
                    (SOURCE/HEADER, such as v7.3/mlx5_ifc.h)";
        // Past the test harness, which keeps what passing tests print.
        writeln!(std::io::stderr(), "\n*** {what} ***\n").unwrap();
        return;
    };
    for known in &PUBLISHED {
        let source = known.source;
        let path = |h: &&str| sources.join(source).join(h);
        let mut headers: Vec<HeaderFile> =
            known.headers.iter().map(|h| header(&path(h), &[])).collect();
        let counted: usize = headers.iter().map(|h| begun(&h.file.text)).sum();
        headers.extend(known.ordinary.iter().map(|h| header(&path(h), &["MLX5_REG_"])));
        let reading = import::headers_leniently(&headers).unwrap_or_else(|e| panic!("{e}"));

        // The keyword stands before the name of a layout that is not written in place.
        let named = reading.layouts.iter().filter(|l| {
            let before = l.origin.file.text[..l.origin.span.start].trim_end();
            before.ends_with("struct") || before.ends_with("union")
        });
        let named = named.count();
        let at_fault = reading.passed_over.iter().filter(|p| p.fault.is_some()).count();
        let values = || reading.enums.iter().flat_map(|e| &e.values);
        println!(
            "{source}: {named} structs and unions, {} in place, {at_fault} at fault, \
             {} enumerators, {} passed over",
            reading.layouts.len() - named,
            values().count(),
            reading.passed_over.len()
        );
        assert_eq!((named, at_fault), known.layouts, "{source}");
        assert_eq!(named + at_fault, counted, "{source}");
        let registers = values().filter(|v| v.name.starts_with("MLX5_REG_")).count();
        assert_eq!(registers, known.registers, "{source}");
        sound(reading);
    }
}
