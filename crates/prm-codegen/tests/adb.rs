//! The importer of mstflint's database of registers: every construct, an independent reader, and
//! every fault.
//!
//! `MLX5_ADB=FILE cargo test -p prm-codegen --test adb -- --nocapture` compares a real database
//! too: `tools_layouts/adb/prm/hca/ext/register_access_table.adb` of mstflint.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use prm_codegen::fault::{Faults, SourceFile};
use prm_codegen::import::{self, Reading};
use prm_codegen::model::{Count, Element, Field, Kind, Layout};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adb").join(name)
}

fn read(path: &Path) -> Reading {
    let source = SourceFile::read(path).unwrap_or_else(|e| panic!("{e}"));
    import::adb(&source).unwrap_or_else(|e| panic!("{}", e.render()))
}

/// What a reading says, a line each.
fn facts(reading: &Reading) -> String {
    let mut out = String::new();
    for layout in &reading.layouts {
        writeln!(out, "{} {:?} 0x{:x}", layout.name, layout.kind, layout.bytes).unwrap();
        for f in &layout.fields {
            let element = match &f.element {
                Element::Bits(width) => width.to_string(),
                Element::Layout(name) => name.clone(),
            };
            let count = match f.count {
                Count::One => String::new(),
                Count::Array(n) => format!("[{n}]"),
                Count::List => "[]".into(),
            };
            write!(out, "  {} {} {element}{count}", f.name, f.bit).unwrap();
            if let Some(access) = f.access {
                write!(out, " {}", access.name()).unwrap();
            }
            let told = [("overlays", &f.overlays), ("by", &f.selector), ("when", &f.when)];
            for (what, text) in told.iter().filter_map(|(w, t)| Some((w, t.as_ref()?))) {
                write!(out, " {what} {text:?}").unwrap();
            }
            for value in &f.values {
                write!(out, " {}={:#x}", value.name, value.value).unwrap();
            }
            out.push('\n');
        }
    }
    for r in &reading.registers {
        writeln!(out, "{} 0x{:x} {:?}", r.name, r.id, r.layout).unwrap();
    }
    out
}

/// What `sample.adb` says, worked out by hand from the file.
const SAMPLE: &str = r#"lamp_color Struct 0x4
  red 0 8 RW
  green 8 8 RW
  lit 31 1 RO
lamp_reg Struct 0x5c
  start 0 1 OP
  slot 8 8 INDEX
  mode 28 4 RW off=0x0 on=0x1 dim_slow=0x2 half_dim=0x2
  key 32 32 WO
  shades 64 8[6] RW
  steps 128 4[4] RW up=0x1 down=0xf
  words 144 16[3] RW
  dwords 192 32[2] RO
  colors 256 lamp_color[2]
  serial 320 64 RO none=0x0 last=0xffffffffffffffff
  serials 384 64[2] RO
  single 512 32 RO
  volts 552 16 RO
  amperes 552 16 RO overlays "volts"
  heat 584 24 RO when "mode == on AND slot"
  lamp_color 608 lamp_color
  look 640 lamp_look_auto by "mode"
  page 672 lamp_page_auto when "mode AND slot"
lamp_look_auto Union 0x4
  lamp_color 0 lamp_color when "on"
  dimmed 0 32 RW when "dim_slow"
  plain 0 8 RW
lamp_page_auto Union 0x8
  dark 0 64 when "(mode == off) | (slot ==Slot_1)"
  lit 0 32
lamp_bulbs Struct 0x8
  number 32 32 RO
  bulb 64 lamp_color[]
lamp_trace Struct 0x4
  late 0 16 RO
  read_size 16 16 RW
  data 32 32[] RO
LAMP 0x7100 Some("lamp_reg")
L_BULBS 0x7102 Some("lamp_bulbs")
LDARK 0x7103 None
LTRC 0x7104 Some("lamp_trace")
"#;

#[test]
fn every_construct() {
    let reading = read(&file("sample.adb"));
    let told = facts(&reading);
    let diff = similar::TextDiff::from_lines(SAMPLE, &told);
    assert!(told == SAMPLE, "{}", diff.unified_diff().header("by hand", "imported"));
    let place = |origin: &prm_codegen::fault::Origin| {
        (origin.line(), origin.file.text[origin.span.clone()].to_owned())
    };
    let lamp = &reading.layouts[1];
    assert_eq!(place(&lamp.origin), (18, "LAMP_reg_ext".into()));
    assert_eq!(place(&lamp.field("volts").unwrap().origin), (33, "volts".into()));
    assert_eq!(place(&reading.registers[0].origin), (69, "LAMP_reg".into()));
    let passed: Vec<&str> = reading.passed_over.iter().map(|p| &*p.label).collect();
    assert_eq!(
        passed,
        [
            "node uint64",
            "node enum_entry",
            "node access_reg_summary_ctrl_ext",
            "node access_reg_summary_ext",
            "node access_reg_summary_selector_ext",
            "node register_access_table_lamp_Nodes",
            "node root",
        ]
    );
    assert_eq!(place(&reading.passed_over[6].origin), (80, "root".into()));
    // Without a layout it stands where its id does.
    assert_eq!(place(&reading.registers[2].origin), (66, "id".into()));
    assert!(reading.enums.is_empty());
    for layout in &reading.layouts {
        assert!(layout.family.is_empty() && layout.from.is_empty());
        assert!(layout.fields.iter().all(|f| f.from.is_empty()));
    }
}

/// Bits of one element as a database states them: a layout's with one element of its list.
fn stated_bits(reading: &Reading, element: &Element) -> u64 {
    match element {
        Element::Bits(width) => u64::from(*width),
        Element::Layout(name) => {
            stated_bytes(reading, reading.layouts.iter().find(|l| l.name == *name).unwrap()) * 8
        }
    }
}

/// Bytes of a node: those of its layout, and one element of its list.
fn stated_bytes(reading: &Reading, layout: &Layout) -> u64 {
    let list = layout.fields.iter().find(|f| f.count == Count::List);
    u64::from(layout.bytes) + list.map_or(0, |f| stated_bits(reading, &f.element) / 8)
}

/// What a reading says, in the words of `reader.py`.
fn as_the_reader(reading: &Reading) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for layout in &reading.layouts {
        let name = &layout.name;
        lines.insert(format!("node {name} {}", stated_bytes(reading, layout)));
        for Field { name: field, bit, element, count, values, .. } in &layout.fields {
            let count = match count {
                Count::One => "1".to_owned(),
                Count::Array(n) => n.to_string(),
                Count::List => "*".to_owned(),
            };
            let width = stated_bits(reading, element);
            lines.insert(format!("field {name} {field} {bit} {width} {count}"));
            for value in values {
                lines.insert(format!("value {name} {field} {} {}", value.name, value.value));
            }
        }
    }
    for r in &reading.registers {
        let layout = r.layout.as_deref().unwrap_or("-");
        lines.insert(format!("register {} {} {layout}", r.name, r.id));
    }
    lines
}

/// What `reader.py` says of a database.
fn by_the_reader(path: &Path) -> BTreeSet<String> {
    let output = match Command::new("python3").arg(file("reader.py")).arg(path).output() {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            panic!("this test needs python3. On Debian: apt-get install python3")
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "reader.py: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// How much of a database was compared.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    nodes: usize,
    fields: usize,
    values: usize,
    registers: usize,
    /// Nodes that are no layouts.
    left_out: Vec<String>,
    /// Their fields.
    left_out_fields: usize,
    /// Reserved fields of layouts.
    reserved: usize,
}

/// Compares a reading with what `reader.py` says, and fails at any difference.
fn compare(path: &Path) -> Compared {
    let reading = read(path);
    let (ours, theirs) = (as_the_reader(&reading), by_the_reader(path));
    let only_ours: Vec<_> = ours.difference(&theirs).collect();
    assert!(only_ours.is_empty(), "of the importer only: {only_ours:#?}");
    let layouts: BTreeSet<&str> = reading.layouts.iter().map(|l| &*l.name).collect();
    let (mut left_out, mut left_out_fields, mut reserved) = (Vec::new(), 0, 0);
    let mut only_theirs = Vec::new();
    for line in theirs.difference(&ours) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["node", name, _] if !layouts.contains(name) => left_out.push(name.to_owned()),
            ["field", node, ..] if !layouts.contains(node) => left_out_fields += 1,
            ["value", node, ..] if !layouts.contains(node) => {}
            ["field", _, name, ..] if name.starts_with("reserved") || name == "rsvd" => {
                reserved += 1;
            }
            _ => only_theirs.push(line),
        }
    }
    assert!(only_theirs.is_empty(), "of the reader only: {only_theirs:#?}");
    let same = |what| ours.iter().filter(|l| l.split(' ').next() == Some(what)).count();
    let compared = Compared {
        nodes: same("node"),
        fields: same("field"),
        values: same("value"),
        registers: same("register"),
        left_out,
        left_out_fields,
        reserved,
    };
    // One line each, so that none hid behind another.
    assert_eq!(compared.nodes, reading.layouts.len());
    let fields = || reading.layouts.iter().flat_map(|l| &l.fields);
    assert_eq!(compared.fields, fields().count());
    assert_eq!(compared.values, fields().map(|f| f.values.len()).sum::<usize>());
    assert_eq!(compared.registers, reading.registers.len());
    assert_eq!(compared.left_out.len(), reading.passed_over.len());
    compared
}

#[test]
fn the_sample_as_another_reader_sees_it() {
    let left_out = [
        "access_reg_summary",
        "access_reg_summary_ctrl",
        "access_reg_summary_selector",
        "enum_entry",
        "register_access_table_lamp_nodes",
        "root",
        "uint64",
    ];
    let compared = compare(&file("sample.adb"));
    assert_eq!(
        compared,
        Compared {
            nodes: 6,
            fields: 31,
            values: 8,
            registers: 4,
            left_out: left_out.map(str::to_owned).into(),
            left_out_fields: 10,
            reserved: 2,
        }
    );
}

#[test]
fn a_database_of_mstflint_as_another_reader_sees_it() {
    let Some(path) = std::env::var_os("MLX5_ADB").map(PathBuf::from) else {
        // Past the test harness, which keeps what passing tests print.
        writeln!(
            std::io::stderr(),
            "\n*** NOT TESTED: MLX5_ADB names no database. Set it to the path of \
             tools_layouts/adb/prm/hca/ext/register_access_table.adb of mstflint ***\n"
        )
        .unwrap();
        return;
    };
    let begun = Instant::now();
    let reading = read(&path);
    let took = begun.elapsed();
    let compared = compare(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    let tags = |tag: &str| text.matches(tag).count();
    let left_out: Vec<&str> = compared.left_out.iter().map(|name| &**name).collect();
    let [summary, ctrl, selector, entry, nodes, root, uint64] = left_out[..] else {
        panic!("left out: {left_out:?}")
    };
    assert_eq!(
        [summary, ctrl, selector, entry, root, uint64],
        [
            "access_reg_summary",
            "access_reg_summary_ctrl",
            "access_reg_summary_selector",
            "enum_entry",
            "root",
            "uint64"
        ]
    );
    assert!(nodes.starts_with("register_access_table_") && nodes.ends_with("_nodes"), "{nodes}");
    assert_eq!(compared.nodes + left_out.len(), tags("<node "));
    let fields = compared.fields + compared.left_out_fields + compared.reserved;
    assert_eq!(fields, tags("<field "));
    assert_eq!(compared.registers, tags("selected_by=") - selected(&reading));
    assert!(compared.nodes > 400 && compared.fields > 4000 && compared.values > 1000);
    assert!(compared.registers > 200);
    assert!(reading.registers.iter().all(|r| r.layout.is_some()));
    println!("{}: imported in {took:?}, 0 differences in {compared:#?}", path.display());
    println!("{:#?}", figures(&reading));
}

/// Members of the unions of layouts that a value of a selector selects.
fn selected(reading: &Reading) -> usize {
    let is_word = |w: &String| w.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
    let members = reading.layouts.iter().filter(|l| l.kind == Kind::Union).flat_map(|l| &l.fields);
    members.filter(|f| f.when.as_ref().is_some_and(is_word)).count()
}

/// What a reading has, in numbers.
fn figures(reading: &Reading) -> BTreeMap<&'static str, usize> {
    let fields = || reading.layouts.iter().flat_map(|l| &l.fields);
    let count = |is: fn(&&Field) -> bool| fields().filter(is).count();
    BTreeMap::from([
        ("unions", reading.layouts.iter().filter(|l| l.kind == Kind::Union).count()),
        ("arrays", count(|f| matches!(f.count, Count::Array(_)))),
        ("lists", count(|f| f.count == Count::List)),
        ("fields of layouts", count(|f| matches!(f.element, Element::Layout(_)))),
        ("fields with names of values", count(|f| !f.values.is_empty())),
        ("fields with a selector", count(|f| f.selector.is_some())),
        ("fields with a condition or a value of a selector", count(|f| f.when.is_some())),
        ("fields that share a place", count(|f| f.overlays.is_some())),
        ("fields with an access", count(|f| f.access.is_some())),
    ])
}

/// A database of these nodes, of which the first begins in line 3.
fn database(nodes: &str) -> String {
    format!("<NodesDefinition>\n<config big_endian_arr=\"1\" />\n{nodes}\n</NodesDefinition>\n")
}

/// A database with one node of 8 bytes; its fields begin in line 4.
fn node(fields: &str) -> String {
    database(&format!("<node name=\"a_ext\" size=\"0x8.0\" >\n{fields}\n</node>"))
}

/// A database with one union of 8 bytes; its members begin in line 4.
fn union(fields: &str) -> String {
    node(fields).replacen("size=", "attr_is_union=\"1\" size=", 1)
}

/// A database with a field of these attributes, in line 4.
fn field(attributes: &str) -> String {
    node(&format!("<field name=\"f\" {attributes} />"))
}

/// The sample with one text changed to another, everywhere.
fn sample(from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(file("sample.adb")).unwrap();
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// The first `n` lines of the sample.
fn cut(n: usize) -> String {
    sample("\n", "\n").lines().take(n).fold(String::new(), |text, line| text + line + "\n")
}

/// A chain of nodes, each of which holds the next.
fn chain(n: usize) -> String {
    let node = |i| {
        let held = if i + 1 < n { format!(" subnode=\"n{}\"", i + 1) } else { String::new() };
        format!(
            "<node name=\"n{i}\" size=\"0x4\"><field name=\"f\" offset=\"0x0\" size=\"0x4\"{held} /></node>\n"
        )
    };
    database(&(0..n).map(node).collect::<String>())
}

/// The faults of `text`, as line and message.
fn faults(text: &str) -> Vec<(usize, String)> {
    let Err(faults) = import::adb(&SourceFile::new("t.adb", text)) else { return Vec::new() };
    assert!(!faults.0.is_empty());
    let shown = Faults(faults.0.iter().take(3).cloned().collect()).render();
    for fault in &faults.0 {
        let span = &fault.place.span;
        assert!(span.start <= span.end && span.end <= text.len(), "{fault:?}");
        assert!(!fault.help.is_empty() && fault.place.file.name == "t.adb");
    }
    assert!(shown.contains("help: "), "{shown}");
    faults.0.iter().map(|f| (f.place.line(), f.message.clone())).collect()
}

#[test]
fn faults_are_told_where_they_are() {
    let bound = |low: &str, high: &str| {
        field(&format!("offset=\"0x0\" size=\"0x8\" low_bound=\"{low}\" high_bound=\"{high}\""))
    };
    let values = |text: &str| field(&format!("offset=\"0x0\" size=\"0x0.4\" enum=\"{text}\""));
    let bounds = "these are no bounds of an array";
    let one = "name=\"f\" offset=\"0x0\" size=\"0x4\"";
    #[rustfmt::skip]
    let cases: Vec<(&str, String, usize, &str)> = vec![
        // The file as a whole.
        ("empty", "".into(), 1, "the file ends before its XML does"),
        ("blank", "\n\n".into(), 1, "the file ends before its XML does"),
        ("long", " ".repeat((8 << 20) + 1), 1, "t.adb is longer than 8388608 bytes"),
        ("cut in a node", cut(22), 22, "the file ends before its XML does"),
        ("cut in a tag", cut(38).trim_end_matches(" />\n").into(), 38, "the file ends before its XML does"),
        ("cut in a comment", cut(2), 2, "the file ends before its XML does"),
        ("text", "lamps\n".into(), 1, "this is no XML: unknown token"),
        ("tags crossed", "<NodesDefinition>\n<info>\n</config></NodesDefinition>".into(), 3,
            "this is no XML: expected 'info' tag, not 'config'"),
        ("two of one attribute", node("<field name=\"a\" name=\"b\" />"), 4,
            "this is no XML: attribute 'name' is already defined"),
        ("an unknown entity", node("<field name=\"&lamp;\" />"), 4,
            "this is no XML: unknown entity reference 'lamp'"),
        ("a header", "struct mlx5_ifc_lamp_bits {\n\tu8 on;\n};\n".into(), 1,
            "this is no XML: unknown token"),
        ("other XML", "\n<lamps>\n</lamps>".into(), 2, "t.adb is no database of registers"),
        ("a version", "<NodesDefinition version=\"2\" />".into(), 1,
            "the attribute version is not understood"),
        ("a DTD", "<?xml version=\"1.0\"?>\n<!DOCTYPE lamps []>\n<NodesDefinition />".into(), 2,
            "a database of registers has no DOCTYPE"),
        ("deep tags", node("<field>\n<a>\n<b>\n</b></a></field>"), 6,
            "tags are nested more than 4 deep here"),
        ("many attributes", node(&format!("<field {} />", "a=\"\" ".repeat(33))), 4,
            "this tag has more than 32 attributes"),
        ("an include", database("<include file=\"other.adb\" />"), 3,
            "the tag include is not understood here"),
        ("text between", database("lamps"), 2, "text between tags"),
        ("no order of arrays", database("").replace("\"1\"", "\"yes\""), 2,
            "big_endian_arr is \"yes\""),
        // Nodes.
        ("no name", database("<node size=\"0x4\" />"), 3, "this node has no name"),
        ("no size", database("<node\nname=\"a\" />"), 4, "this node has no size"),
        ("an odd name", database("<node name=\"a b\" size=\"0x4\" />"), 3, "\"a b\" is no PRM name"),
        ("no letter", database("<node name=\"_\" size=\"0x4\" />"), 3, "\"_\" is no PRM name"),
        ("a long name", database(&format!("<node name=\"{}\" size=\"0x4\" />", "a".repeat(129))), 3,
            "this name is longer than 128 letters"),
        ("an empty name", database("<node name=\"\" size=\"0x4\" />"), 3, "name is empty"),
        ("a size in decimal", database("<node name=\"a\" size=\"4.0\" />"), 3, "\"4.0\" is no size"),
        ("a size below 0", database("<node name=\"a\" size=\"-0x4\" />"), 3, "\"-0x4\" is no size"),
        ("many bits", database("<node name=\"a\" size=\"0x4.32\" />"), 3, "\"0x4.32\" is no size"),
        ("size 0", database("<node name=\"a\" size=\"0x0.0\" />"), 3, "its size is 0"),
        ("half a dword", database("<node name=\"a\" size=\"0x6\" />"), 3,
            "a is 48 bits long, which is no whole number of dwords"),
        ("a huge node", database("<node name=\"a\" size=\"0x100004\" />"), 3,
            "0x100004 is longer than 1048576 bytes"),
        ("an unknown attribute", database("<node name=\"a\"\ncr_data_wdt=\"64\" size=\"0x4\" />"), 4,
            "the attribute cr_data_wdt is not understood"),
        ("two of a name", database("<node name=\"a\" size=\"0x4\" />\n<node name=\"a\" size=\"0x4\" />"),
            4, "the layout a is defined twice"),
        ("two of a layout", database("<node name=\"a\" size=\"0x4\" />\n<node name=\"A_ext\" size=\"0x4\" />"),
            4, "the layout a is defined twice"),
        ("no field", node("<config />"), 4, "the tag config is not understood here"),
        ("a field in a field", node("<field name=\"f\">\n<field /></field>"), 5,
            "the tag field is not understood here"),
        ("text in a node", node("lamps"), 3, "text between tags"),
        ("too many fields", node(&format!("<field {one} />").repeat(1025)), 3,
            "a_ext has more than 1024 fields"),
        // Places.
        ("a field without a name", node("<field offset=\"0x0\" size=\"0x4\" />"), 4,
            "this field has no name"),
        ("no offset", field("size=\"0x4\""), 4, "this field has no offset"),
        ("a field without size", field("offset=\"0x0\""), 4, "this field has no size"),
        ("an unknown attribute of a field", field("offset=\"0x0\" size=\"0x4\" inst_ifdef=\"x\""), 4,
            "the attribute inst_ifdef is not understood"),
        ("nothing", field("offset=\"0x0\" size=\"0x0.0\""), 4, "its size is 0"),
        ("it leaves", field("offset=\"0x8\" size=\"0x4\""), 4, "f leaves a: it ends at bit 96 of 64"),
        ("it leaves by a little", field("offset=\"0x4\" size=\"0x8\""), 4,
            "f leaves a: it ends at bit 96 of 64"),
        ("it crosses", field("offset=\"0x0.24\" size=\"0x0.9\""), 4,
            "f crosses a dword: 9 bits, of which bit 24 is the last"),
        ("wide and odd", field("offset=\"0x0\" size=\"0x4.1\""), 4,
            "f is 33 bits wide and not made of whole dwords"),
        ("wide and shifted", field("offset=\"0x0.8\" size=\"0x4\""), 4,
            "f is 32 bits wide and not made of whole dwords"),
        ("no dword", field("offset=\"0x2.0\" size=\"0x0.8\""), 4, "\"0x2.0\" is no address"),
        ("no bit", field("offset=\"0x0.32\" size=\"0x0.8\""), 4, "\"0x0.32\" is no address"),
        ("signs", field("offset=\"0x0.+1\" size=\"0x0.8\""), 4, "\"0x0.+1\" is no address"),
        ("words", field("offset=\"first\" size=\"0x0.8\""), 4, "\"first\" is no address"),
        ("no number", field("offset=\"0xfg\" size=\"0x0.8\""), 4, "\"0xfg\" is no address"),
        ("far", field("offset=\"0x200000\" size=\"0x0.8\""), 4, "f lies past 1048576 bytes"),
        ("farther", field("offset=\"0xfffffffffffffff0\" size=\"0x0.8\""), 4,
            "f lies past 1048576 bytes"),
        ("2^40 bits", field("offset=\"0x0\" size=\"0x2000000000.0\""), 4,
            "0x2000000000.0 is longer than 1048576 bytes"),
        ("2^67 bits", field("offset=\"0x0\" size=\"0xffffffffffffffff.0\""), 4,
            "0xffffffffffffffff.0 is longer than 1048576 bytes"),
        ("a member elsewhere", union("<field name=\"f\" offset=\"0x4\" size=\"0x4\" />"), 4,
            "f is a member of a union and not one thing at its start"),
        ("two of a name", node(&format!("<field {one} />\n<field {} />", one.replace("\"f\"", "\"F\""))),
            5, "a has two fields called f"),
        // Arrays.
        ("not whole", bound("0", "2"), 4, "f has 3 elements in 64 bits"),
        ("one bound", field("offset=\"0x0\" size=\"0x8\" high_bound=\"1\""), 4, bounds),
        ("another", field("offset=\"0x0\" size=\"0x8\" low_bound=\"1\""), 4, bounds),
        ("crossed", bound("2", "1"), 4, bounds),
        ("too many", bound("0", "99999999999"), 4, bounds),
        ("more than a number", bound("0", "99999999999999999999"), 4, bounds),
        ("octal", bound("00", "01"), 4, bounds),
        ("words as bounds", bound("0", "many"), 4, bounds),
        ("a list from nowhere", bound("", "VARIABLE"), 4, "low_bound is empty"),
        ("elements cross", field("offset=\"0x0.20\" size=\"0x0.24\" low_bound=\"0\" high_bound=\"1\""), 4,
            "elements of 12 bits from bit 20 on do not fill dwords"),
        ("elements that leave a gap", field("offset=\"0x0.12\" size=\"0x0.24\" low_bound=\"0\" high_bound=\"1\""), 4,
            "elements of 12 bits from bit 12 on do not fill dwords"),
        ("elements shifted", field("offset=\"0x0.20\" size=\"0x0.16\" low_bound=\"0\" high_bound=\"1\""), 4,
            "elements of 8 bits from bit 20 on do not fill dwords"),
        ("an array leaves", field("offset=\"0x4.0\" size=\"0x2\" low_bound=\"0\" high_bound=\"1\""), 4,
            "f leaves a: it ends at bit 72 of 64"),
        ("order not known", bound("0", "7").replace("arr=\"1\"", "arr=\"0\""), 4,
            "the order of the elements of f is not known"),
        ("a dynamic array of fixed length", field("offset=\"0x0\" size=\"0x8\" arr_is_dynamic=\"1\""), 4,
            "an array without open length is dynamic"),
        ("a list in the middle", field("offset=\"0x0\" size=\"0x4\" low_bound=\"0\" high_bound=\"VARIABLE\""), 4,
            "the list f does not end a"),
        ("two lists", node(&["f", "g"].map(|name| format!("<field name=\"{name}\" offset=\"0x0\" size=\"0x8\" low_bound=\"0\" high_bound=\"VARIABLE\" />\n")).concat()), 5,
            "a has a second list, g"),
        ("a list in a union", union("<field name=\"f\" offset=\"0x0\" size=\"0x8\" low_bound=\"0\" high_bound=\"VARIABLE\" />"), 4,
            "f is a member of a union and not one thing at its start"),
        // What fields hold.
        ("no node", field("offset=\"0x0\" size=\"0x4\" subnode=\"b\""), 4, "there is no node b"),
        ("another size", sample("subnode=\"lamp_page_auto_ext\"", "subnode=\"lamp_look_auto_ext\""), 39,
            "page is 64 bits long, and the node lamp_look_auto_ext 32"),
        ("another size of an element", sample("size=\"0x10.0\" low_bound", "size=\"0x8.0\" low_bound"), 31,
            "serials is 32 bits long, and the node uint64 64"),
        ("no access", field("offset=\"0x0\" size=\"0x4\" access=\"ROW\""), 4, "there is no access \"ROW\""),
        ("no value", values("a"), 4, "\"a\" is no named value"),
        ("no number", values("a=b"), 4, "\"a=b\" is no named value"),
        ("octal", values("a=010"), 4, "\"a=010\" is no named value"),
        ("below 0", values("a=-1"), 4, "\"a=-1\" is no named value"),
        ("no name", values("a=1,=2"), 4, "\"=2\" is no named value"),
        ("no name in letters", values("++=2"), 4, "\"++=2\" is no named value"),
        ("a comma too many", values("a=1,"), 4, "\"\" is no named value"),
        ("two signs", values("a=1=2"), 4, "\"a=1=2\" is no named value"),
        ("wide", values("a=0xf,b=0x10"), 4, "b = 0x10 does not fit 4 bits"),
        ("one name, two numbers", values("a-b=1,a.b=2"), 4, "a_b is both 0x1 and 0x2"),
        ("an empty enum", values(""), 4, "enum is empty"),
        ("an enum of a layout", sample("subnode=\"lamp_color_ext\" selected_by", "subnode=\"lamp_color_ext\" enum=\"a=1\" selected_by"), 42,
            "lamp_color is no number and has an enum"),
        ("a number that says more", sample("<field name=\"lo\"", "<field name=\"lo\" access=\"RO\""), 19,
            "serial is no number and has an enum"),
        ("a number of other parts", sample("name=\"hi\" descr=\"\" offset=\"0x0.0\" size=\"0x4.0\"", "name=\"hi\" descr=\"\" offset=\"0x0.0\" size=\"0x0.8\""), 19,
            "serial is no number and has an enum"),
        // Which member of a union counts.
        ("a selector elsewhere", sample("\"$(parent).Mode\"", "\"Mode\""), 38, "\"Mode\" names no field"),
        ("no selector", sample("\"$(parent).Mode\"", "\"$(parent).mood\""), 38,
            "look is selected by mood, which is no field"),
        ("a path to nowhere", sample("\"$(parent).Mode\"", "\"$(parent).Mode.\""), 38,
            "look is selected by mode., which is no field"),
        ("no union", sample("subnode=\"lamp_look_auto_ext\"", "subnode=\"lamp_color_ext\""), 38,
            "look has a selector and is no union"),
        ("a number selected", sample("subnode=\"lamp_look_auto_ext\"", ""), 38,
            "look has a selector and is no union"),
        ("selected by no value", sample("selected_by=\"dim-slow\"", "selected_by=\"dim\""), 43,
            "dimmed is selected by no value of mode"),
        ("twice", sample("selected_by=\"on\"", "selected_by=\"on\" condition=\"a\""), 42,
            "a field has both selected_by and condition"),
        // How nodes use each other.
        ("itself", node("<field name=\"f\" offset=\"0x0\" size=\"0x8\" subnode=\"a_ext\" />"), 4,
            "a holds itself by f"),
        ("a circle", chain(9).replace("\"f\" offset=\"0x0\" size=\"0x4\" />", "\"f\" offset=\"0x0\" size=\"0x4\" subnode=\"n0\" />"), 11,
            "n0 holds itself by f"),
        ("deep", chain(65), 66, "nodes are nested more than 64 deep here"),
        ("a list inside", sample("subnode=\"lamp_page_auto_ext\"", "subnode=\"lamp_trace_ext\""), 39,
            "page is of the layout lamp_trace, which ends in a list"),
        // Registers.
        ("no index", sample("access_reg_summary_selector_ext", "lamps"), 80,
            "there is no node access_reg_summary_selector_ext, the index of registers"),
        ("an index of nothing", sample(" union_selector=\"$(parent).ctrl.id\"", ""), 73,
            "this index selects no registers"),
        ("a register without id", sample("LTRC=0x7104,", ""), 71, "the register LTRC has no id"),
        ("a wide id", sample("0x7103", "0x17103"), 66, "the id of LDARK is 0x17103"),
        ("a register without layout", sample("subnode=\"lamp_trace_ext\" selected_by=\"LTRC\"", "selected_by=\"LTRC\""), 71,
            "lamp_trace is not a register and its layout"),
        ("a register without name", sample(" selected_by=\"LTRC\"", ""), 71,
            "lamp_trace is not a register and its layout"),
        ("two layouts", sample("selected_by=\"LTRC\"", "selected_by=\"LAMP\""), 71,
            "the register LAMP has two layouts"),
        ("a register that uses the index", sample("<field name=\"single\" descr=\"\" access=\"RO\" offset=\"0x40.0\"", "<field name=\"single\" descr=\"\" offset=\"0x40.0\" subnode=\"access_reg_summary_ctrl_ext\""), 32,
            "single of lamp_reg mixes index and registers"),
        ("an index with a register", sample("</node>\n</NodesDefinition>", "<field name=\"trace\" offset=\"0x0\" size=\"0x4\" subnode=\"lamp_color_ext\" />\n</node>\n</NodesDefinition>"), 82,
            "trace of root mixes index and registers"),
    ];
    let mut wrong = String::new();
    for (what, text, line, message) in &cases {
        let told = faults(text);
        if told != [(*line, (*message).to_owned())] {
            writeln!(wrong, "{what}: expected {line}: {message}\n  told {told:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(faults(&chain(64)), []);
}

/// The layouts of a database that has no fault.
fn layouts(text: &str) -> String {
    let reading = import::adb(&SourceFile::new("t.adb", text));
    facts(&reading.unwrap_or_else(|e| panic!("{text}: {}", e.render())))
}

#[test]
fn what_is_just_within_the_limits_is_read() {
    let one = "offset=\"0x0\" size=\"0x4\"";
    let plain = "a Struct 0x8\n  f 0 32\n";
    let longest = field(one);
    let longest = longest.clone() + &" ".repeat((8 << 20) - longest.len());
    assert_eq!(layouts(&longest), plain);

    let name = |length: usize| node(&format!("<field name=\"{}\" {one} />", "n".repeat(length)));
    assert_eq!(layouts(&name(128)), format!("a Struct 0x8\n  {} 0 32\n", "n".repeat(128)));
    assert_eq!(faults(&name(129)), [(4, "this name is longer than 128 letters".to_owned())]);

    let attributes = |many: usize| -> Vec<String> {
        let all: String = (0..many).map(|i| format!("a{i}=\"1\" ")).collect();
        faults(&node(&format!("<field {all}/>"))).into_iter().map(|(_, message)| message).collect()
    };
    let many = "this tag has more than 32 attributes".to_owned();
    assert!(!attributes(32).contains(&many));
    assert_eq!(attributes(33), [many]);
    // Signs in a text are no attributes, nor do they end a tag.
    let values: Vec<String> = (0..40).map(|i| format!("V{i}={i:#x}")).collect();
    let named =
        field(&format!("{one} descr='\"{}> =' enum=\"{}\"", "=".repeat(40), values.join(",")));
    assert_eq!(layouts(&named).matches(" V").count(), 40);

    // Nor is what a comment ends with a tag.
    let comments = longest.replacen("<node", &("<!-- <a-->".repeat(9) + "<node"), 1);
    assert_eq!(layouts(comments.trim_end()), plain);

    let bounds = |low: u32, high: u32| {
        field(&format!("offset=\"0x0\" size=\"0x8\" low_bound=\"{low}\" high_bound=\"{high}\""))
    };
    assert_eq!(layouts(&bounds(5_000_000, 5_000_001)), "a Struct 0x8\n  f 0 32[2]\n");
    let none = [(4, "these are no bounds of an array".to_owned())];
    assert_eq!(faults(&bounds(0, 8 << 20)), none);
    assert_eq!(faults(&bounds(1, 0)), none);
}

#[test]
fn two_dwords_are_a_number_only_when_they_are_nothing_else() {
    let of = |first: &str, second: &str| {
        layouts(&database(&format!(
            "<node name=\"a_ext\" size=\"0x8.0\">\n\
             <field name=\"f\" offset=\"0x0\" size=\"0x8\" subnode=\"uint64\" />\n</node>\n\
             <node name=\"uint64\" size=\"0x8.0\">\n<field {first} />\n<field {second} />\n</node>"
        )))
    };
    let (hi, lo) =
        ("name=\"hi\" offset=\"0x0\" size=\"0x4\"", "name=\"lo\" offset=\"0x4\" size=\"0x4\"");
    assert_eq!(of(hi, lo), "a Struct 0x8\n  f 0 64\n");
    let layout = "a Struct 0x8\n  f 0 uint64\nuint64 Struct 0x8\n";
    assert_eq!(of(hi, &lo.replace("lo", "low")), format!("{layout}  hi 0 32\n  low 32 32\n"));
    assert_eq!(of(&hi.replace("hi", "high"), lo), format!("{layout}  high 0 32\n  lo 32 32\n"));
    assert_eq!(
        of(hi, &lo.replace("size=\"0x4\"", "size=\"0x0.16\"")),
        format!("{layout}  hi 0 32\n  lo 48 16\n")
    );
    assert_eq!(
        of(hi, &format!("{lo} access=\"RO\"")),
        format!("{layout}  hi 0 32\n  lo 32 32 RO\n")
    );
}

#[test]
fn members_are_looked_at_once_for_a_selector_that_has_values() {
    let unions = |values: &str| {
        database(&format!(
            "<node name=\"a_ext\" size=\"0xc.0\">\n\
             <field name=\"kind\" offset=\"0x0\" size=\"0x4\" {values} />\n\
             <field name=\"one\" offset=\"0x4\" size=\"0x4\" subnode=\"u_ext\" union_selector=\"$(parent).kind\" />\n\
             <field name=\"two\" offset=\"0x8\" size=\"0x4\" subnode=\"u_ext\" union_selector=\"$(parent).kind\" />\n\
             </node>\n<node name=\"u_ext\" size=\"0x4.0\" attr_is_union=\"1\">\n\
             <field name=\"lamp\" offset=\"0x0\" size=\"0x4\" selected_by=\"LAMP\" />\n</node>"
        ))
    };
    assert_eq!(faults(&unions("")), []);
    assert_eq!(faults(&unions("enum=\"LAMP=0x1\"")), []);
    assert_eq!(faults(&unions("enum=\"WALL=0x1\"")).len(), 1);
}

#[test]
fn a_value_at_fault_is_underlined_alone() {
    let text = field("offset=\"0x0\" size=\"0x4\" enum=\"A=0x1,B,CC=0x3,D\"");
    let faults = import::adb(&SourceFile::new("t.adb", &*text)).expect_err("two have no number");
    let places: Vec<&str> = faults.0.iter().map(|f| &text[f.place.span.clone()]).collect();
    assert_eq!(places, ["B", "D"]);
}

#[test]
fn faults_of_one_run_are_told_together() {
    let text = node(
        "<field name=\"f\" offset=\"0x8\" size=\"0x4\" />\n\
         <field name=\"g\" offset=\"0x0\" size=\"0x4\" enum=\"a=b,c\" />\n\
         <field name=\"h\" offset=\"0x4\" size=\"0x4\" />\n\
         <field name=\"i\" offset=\"0x4\" size=\"0x4\" access=\"R\" />",
    );
    let lines: Vec<usize> = faults(&text).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [4, 5, 5, 7]);
    let error = import::adb(&SourceFile::new("t.adb", text)).unwrap_err();
    // The part of the enum that is wrong, not the whole.
    assert!(error.render().contains("enum=\"a=b,c\"") && error.0[2].place.span.len() == 1);

    let many = "<field name=\"f\" offset=\"0x8\" size=\"0x4\" />\n".repeat(1000);
    let told = faults(&node(&many));
    assert_eq!(told.len(), 100);
    let more = node(&many).replace("</Nodes", "<node name=\"b\" size=\"0x4\" />\n</Nodes");
    let told = faults(&more);
    assert_eq!(told.len(), 101);
    assert_eq!(told[100], (1006, "100 faults stand above: the rest is not read".into()));
}

/// The most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The time that this thread has had a processor: not what it waited for one.
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    // utime and stime of proc(5), in hundredths of a second.
    let ticks = fields.split_whitespace().skip(11).take(2).map(|t| t.parse::<u64>().unwrap());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

#[test]
fn hostile_files_cost_little() {
    let bomb = (1..10).fold("<!ENTITY l0 \"lamp\">".to_owned(), |text, i| {
        format!("{text}<!ENTITY l{i} \"{}\">", format!("&l{};", i - 1).repeat(10))
    });
    let repeat = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    let most = 8 << 20;
    let small = most - 200;
    let numbered = |n: usize, one: fn(usize) -> String| (0..n).map(one).collect::<String>();
    let cases = [
        ("deep", "<a>".repeat(100_000), 1),
        ("deep and closed", "<a>".repeat(100_000) + &"</a>".repeat(100_000), 1),
        (
            "deep in a database",
            database(&("<node>".repeat(100_000) + &"</node>".repeat(100_000))),
            1,
        ),
        ("a bomb", format!("<!DOCTYPE a [{bomb}]>\n<NodesDefinition>&l9;</NodesDefinition>"), 1),
        ("long", "<a>".repeat(3 << 20), 1),
        ("no tag ends", repeat("<", small), 1),
        ("quotes", format!("<a b=\"{}", repeat("'", small)), 1),
        ("a comment", format!("<!--{}", repeat("<", small)), 1),
        (
            "attributes",
            database(&format!("<node {} />", numbered(600_000, |i| format!("a{i}=\"\" ")))),
            1,
        ),
        ("empty tags", database(&repeat("<a/>", small)), 100),
        ("namespaces", database(&repeat("<a xmlns:b=\"c\"/>", small)), 100),
        (
            "nodes",
            database(&numbered(200_000, |i| format!("<node name=\"n{i}\" size=\"0x4\" />"))),
            0,
        ),
        ("faulty nodes", database(&repeat("<node size=\"0\"/>", small)), 100),
        ("the same node", database(&repeat("<node name=\"a\" size=\"0x4\"/>", small)), 100),
        (
            "values",
            field(&format!(
                "offset=\"0x0\" size=\"0x4\" enum=\"{}\"",
                numbered(500_000, |i| format!("a{i}={i},")).trim_end_matches(',')
            )),
            0,
        ),
        (
            "faulty values",
            field(&format!("offset=\"0x0\" size=\"0x4\" enum=\"{}\"", repeat(",", small))),
            100,
        ),
        (
            "commas in a condition",
            field(&format!(
                "offset=\"0x0\" size=\"0x4\" condition=\"{}\"",
                repeat("$(parent).", small)
            )),
            0,
        ),
        (
            "a long path",
            field(&format!(
                "offset=\"0x0\" size=\"0x4\" union_selector=\"$(parent).{}\"",
                repeat("a.", small)
            )),
            1,
        ),
        ("wide unions", wide(), 0),
    ];
    for (what, text, expected) in cases {
        assert!(text.len() <= most || what == "long", "{what} is {} bytes", text.len());
        // A stack on which no depth of a file may show.
        let run = thread::Builder::new().stack_size(512 << 10).spawn(move || {
            let told = import::adb(&SourceFile::new("t.adb", text));
            (told.map_or_else(|faults| faults.0.len(), |_| 0), busy())
        });
        let (told, took) = run.unwrap().join().unwrap_or_else(|_| panic!("{what}"));
        println!("{what}: {told} faults in {took:?}, {} MiB at most", peak() >> 10);
        assert_eq!(told, expected, "{what}");
        assert!(took < Duration::from_secs(15), "{what} took {took:?}");
        assert!(peak() < 1 << 20, "{what}: {} KiB", peak());
    }
}

/// Unions with very many members, and many fields that select among them.
fn wide() -> String {
    let members: String = (0..1024)
        .map(|i| format!("<field name=\"m{i}\" offset=\"0x0\" size=\"0x4\" selected_by=\"a\"/>"))
        .collect();
    let mut text = format!("<node name=\"u\" size=\"0x4\" attr_is_union=\"1\">{members}</node>");
    for n in 0..20 {
        write!(text, "<node name=\"s{n}\" size=\"0x4\" attr_is_union=\"1\">").unwrap();
        for i in 0..512 {
            write!(
                text,
                "<field name=\"s{i}\" offset=\"0x0\" size=\"0x4\" enum=\"a=1\"/>\
                 <field name=\"f{i}\" offset=\"0x0\" size=\"0x4\" subnode=\"u\" union_selector=\"$(parent).s{i}\"/>"
            )
            .unwrap();
        }
        text.push_str("</node>");
    }
    database(&text)
}

#[test]
fn damaged_files_are_told_or_read() {
    let sound = std::fs::read(file("sample.adb")).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut told = 0;
    for _ in 0..5000 {
        let mut bytes = sound.clone();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = b"<>\"'=/&;.,x0123456789"[random(21)],
                1 => drop(bytes.drain(at..(at + random(40)).min(bytes.len()))),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let piece = bytes[at..(at + random(200)).min(bytes.len())].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        told += usize::from(!faults(&String::from_utf8_lossy(&bytes)).is_empty());
    }
    assert!(told > 1000, "{told}");
}
