//! What is told of tables: how a header or a database differs from them (`verify`), how two
//! folders differ (`diff`), what each source gave (`counts`). All through the real program.
//!
//! What the committed tables say is read here as plain TOML. `MLX5_SOURCES=DIR` compares every
//! published source with them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

mod common;

use common::{
    HEADERS, Run, SMALL, SOURCE, adb, assert_text, copy, folder, installed, prm_spec, published,
    run,
};

fn toml(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The tables of an array of tables.
fn entries(table: &Table, key: &str) -> Vec<Table> {
    let entries = table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    entries.into_iter().map(|entry| entry.as_table().unwrap().clone()).collect()
}

fn text(table: &Table, key: &str) -> String {
    table[key].as_str().unwrap().to_owned()
}

/// The sources of an entry; those of what it is in where it has none.
fn from(table: &Table, whole: &[String]) -> Vec<String> {
    match table.get("from") {
        Some(from) => from.as_str().unwrap().split(' ').map(str::to_owned).collect(),
        None => whole.to_vec(),
    }
}

/// Something of the tables, with the sources that have it.
type Fact = (String, Vec<String>);

/// The tables, as plain TOML has them.
struct Tables {
    sources: Vec<Table>,
    /// Each layout, with its fields.
    layouts: Vec<(Fact, Vec<Fact>)>,
    enumerators: Vec<Fact>,
    registers: Vec<Fact>,
    aliases: Vec<Fact>,
    conflicts: Vec<Table>,
}

impl Tables {
    fn read(dir: &Path) -> Self {
        let mut layouts = Vec::new();
        let mut enumerators = Vec::new();
        for entry in fs::read_dir(dir.join("layouts")).unwrap() {
            let file = toml(&entry.unwrap().path());
            for layout in entries(&file, "layout") {
                let whole = from(&layout, &[]);
                let field = |f: &Table| (text(f, "name"), from(f, &whole));
                let fields = entries(&layout, "fields").iter().map(field).collect();
                layouts.push(((text(&layout, "name"), whole.clone()), fields));
            }
            for e in entries(&file, "enum") {
                let whole = from(&e, &[]);
                let value = |v: &Table| (text(v, "name"), from(v, &whole));
                enumerators.extend(entries(&e, "values").iter().map(value));
            }
        }
        let all = |file: &str, key: &str| entries(&toml(&dir.join(file)), key);
        let named = |file: &str, key: &str| -> Vec<Fact> {
            all(file, key).iter().map(|t| (text(t, "name"), from(t, &[]))).collect()
        };
        Tables {
            sources: all("sources.toml", "source"),
            layouts,
            enumerators,
            registers: all("registers.toml", "register")
                .iter()
                .map(|r| {
                    let id = r["id"].as_integer().unwrap();
                    (format!("{} 0x{id:04x}", text(r, "name")), from(r, &[]))
                })
                .collect(),
            aliases: named("aliases.toml", "alias"),
            conflicts: all("conflicts.toml", "conflict"),
        }
    }

    /// The sources that are databases, or those that are headers.
    fn kin(&self, database: bool) -> BTreeSet<String> {
        let is = |s: &&Table| {
            let mut files = entries(s, "files").into_iter();
            files.any(|f| text(&f, "path").ends_with(".adb")) == database
        };
        self.sources.iter().filter(is).map(|s| text(s, "name")).collect()
    }

    /// What `verify` must tell of a source that has been imported, when its headers of layouts or
    /// its database are compared: what conflicts.toml has of it, and what it lacks and others have.
    fn told(&self, source: &str) -> Verified {
        let kin = self.kin(self.kin(true).contains(source));
        let has = |from: &[String]| from.iter().any(|f| f == source);
        let lacks = |from: &[String]| !has(from) && from.iter().any(|f| kin.contains(f));
        let mut missing = Vec::new();
        for ((layout, whole), fields) in &self.layouts {
            if lacks(whole) {
                missing.push(format!("{layout} ({})", whole.join(" ")));
            }
            for (field, from) in fields.iter().filter(|(_, from)| has(whole) && lacks(from)) {
                missing.push(format!("{layout}.{field} ({})", from.join(" ")));
            }
        }
        // Only headers with `takes`, which are not compared, name the registers of some sources.
        let elsewhere = self.sources.iter().filter(|s| text(s, "name") == source).any(|s| {
            let mut files = entries(s, "files").into_iter();
            files.any(|f| f.contains_key("takes"))
        });
        if !elsewhere && self.registers.iter().any(|(_, from)| has(from)) {
            for (register, from) in self.registers.iter().filter(|(_, from)| lacks(from)) {
                missing.push(format!("register {register} ({})", from.join(" ")));
            }
        }
        let known = self.conflicts.iter().filter(|c| has(&from(c, &[]))).map(|c| {
            let [at, ours, theirs] = ["at", "ours", "theirs"].map(|key| text(c, key));
            format!("{at}: here {theirs}, in the tables {ours}")
        });
        let other = |line: &String| line.starts_with("register ") || line.starts_with("MLX5_REG_");
        let known = known.filter(|line| !elsewhere || !other(line));
        Verified {
            known: known.collect(),
            missing: missing.into_iter().collect(),
            ..Verified::default()
        }
    }
}

/// What `verify` told, in no order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Verified {
    new: BTreeSet<String>,
    different: BTreeSet<String>,
    known: BTreeSet<String>,
    missing: BTreeSet<String>,
}

impl Verified {
    /// Reads what the program wrote. Of known differences, who knows them is left out.
    fn read(stdout: &str) -> Self {
        let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
        let is_part =
            |l: &&str| !["passed over: ", "in all: "].iter().any(|word| l.starts_with(word));
        for line in stdout.lines().filter(is_part) {
            match line.strip_prefix("  ") {
                Some(line) => parts.last_mut().expect("a title first").1.push(line),
                None => parts.push((line, Vec::new())),
            }
        }
        let titles = [
            "new: not in the tables: ",
            "different: the tables say otherwise: ",
            "different, and known: conflicts.toml has it: ",
            "missing: only in the tables (and the sources that have it): ",
        ];
        assert_eq!(parts.len(), titles.len(), "{stdout}");
        let mut all = parts.into_iter().zip(titles).map(|((line, lines), title)| {
            let number = line.strip_prefix(title).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(number.parse(), Ok(lines.len()), "{line}");
            let set: BTreeSet<String> = lines.iter().map(|l| (*l).to_owned()).collect();
            assert_eq!(set.len(), lines.len(), "{line}: some line is there twice");
            set
        });
        let mut next = || all.next().unwrap();
        let (new, different, known, missing) = (next(), next(), next(), next());
        let [n, d, k, m] = [&new, &different, &known, &missing].map(BTreeSet::len);
        let in_all =
            format!("in all: {n} new, {d} different, {k} different and known, {m} missing");
        assert_eq!(stdout.lines().last(), Some(&*in_all));
        let known = known.iter().map(|l| l[..l.rfind(" (").unwrap()].to_owned()).collect();
        Verified { new, different, known, missing }
    }
}

fn one_not_in_the_other(a: &BTreeSet<String>, b: &BTreeSet<String>) -> String {
    let minus = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        a.difference(b).take(20).cloned().collect::<Vec<_>>().join("\n  ")
    };
    format!("only told:\n  {}\nonly expected:\n  {}", minus(a, b), minus(b, a))
}

/// Compares files of a source that has been imported with the committed tables.
fn verify_own(tables: &Tables, source: &str, arguments: &[&str]) -> Verified {
    let spec = prm_spec();
    let arguments = [&["--spec", spec.to_str().unwrap(), "verify"], arguments].concat();
    let Run { code, stdout, stderr } = run(&spec, SOURCE, &arguments);
    assert_eq!(stderr, "", "{source}");
    let told = Verified::read(&stdout);
    let expected = tables.told(source);
    assert_eq!(told.new, BTreeSet::new(), "{source}");
    assert_eq!(told.different, BTreeSet::new(), "{source}");
    assert_eq!(code, Some(0), "{source}");
    let differ = one_not_in_the_other(&told.known, &expected.known);
    assert!(told.known == expected.known, "{source}: known: {differ}");
    let differ = one_not_in_the_other(&told.missing, &expected.missing);
    assert!(told.missing == expected.missing, "{source}: missing: {differ}");
    told
}

/// The headers of layouts in a folder, as arguments.
fn headers(dir: &Path) -> Vec<String> {
    let header = |h: &&str| ["--header".to_owned(), dir.join(h).display().to_string()];
    HEADERS.iter().flat_map(header).collect()
}

#[test]
fn installed_headers_are_in_the_tables() {
    let tables = Tables::read(&prm_spec());
    // The versions of Linux, by the folders that Debian gives their headers.
    let versions = tables.kin(false).into_iter().filter(|s| s.starts_with('v'));
    let series: Vec<(String, String)> =
        versions.map(|v| (format!("/linux-headers-{}.", &v[1..]), v)).collect();
    let mut tested = 0;
    for dir in installed("whether installed headers are in the tables") {
        let name = dir.display().to_string();
        let Some((_, source)) = series.iter().find(|(series, _)| name.contains(series)) else {
            common::untested(&format!("whether {name} is in the tables: no source is that kernel"));
            continue;
        };
        tested += 1;
        let headers = headers(&dir);
        let told = verify_own(&tables, source, &headers.iter().map(|h| &**h).collect::<Vec<_>>());
        println!("{name}: {} known, {} missing", told.known.len(), told.missing.len());
        // It lacks what is newer in the tables, and nothing that they say it has.
        for line in &told.missing {
            assert!(!line.starts_with("register "), "{line}");
            let (path, rest) = line.split_once(" (").unwrap();
            let sources: Vec<&str> = rest.trim_end_matches(')').split(' ').collect();
            assert!(!sources.contains(&&**source), "{line}");
            let (layout, field) = path.split_once('.').unwrap_or((path, ""));
            let of = |name: &str| tables.layouts.iter().find(|((l, _), _)| l == name);
            let ((_, whole), fields) = of(layout).unwrap_or_else(|| panic!("{line}"));
            let field = fields.iter().find(|(f, _)| f == field).map_or(whole, |(_, from)| from);
            assert_eq!(*field, sources, "{line}");
        }
        assert!(told.missing.len() > 100 && told.known.len() > 10, "{name}");
    }
    assert!(tested > 0 || !common::on_ci(), "no kernel of {series:?} is installed");
}

#[test]
fn published_sources_are_in_the_tables() {
    let Some(dir) = published("whether every source is in the tables") else { return };
    let tables = Tables::read(&prm_spec());
    for source in &tables.sources {
        let name = text(source, "name");
        let files = entries(source, "files");
        // Of a header with `takes` only some enumerators are taken, and verify takes all.
        let files = files.iter().filter(|f| !f.contains_key("takes")).map(|f| {
            let path = text(f, "path");
            dir.join(&name).join(path.rsplit('/').next().unwrap())
        });
        let arguments = files.flat_map(|file| {
            let database = file.extension().is_some_and(|e| e == "adb");
            let option = if database { "--adb" } else { "--header" };
            [option.to_owned(), file.display().to_string()]
        });
        let arguments: Vec<String> = arguments.collect();
        let told = verify_own(&tables, &name, &arguments.iter().map(|a| &**a).collect::<Vec<_>>());
        println!("{name}: {} known, {} missing", told.known.len(), told.missing.len());
    }
}

/// The made-up tables of `tests/verify/`, in a folder of their own.
fn made_up() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy(&folder("verify"), dir.path());
    dir
}

/// Runs `verify` on the made-up tables with one more file; gives its exit code and what it wrote.
#[track_caller]
fn verify(option: &str, name: &str, file: &str) -> (Option<i32>, String) {
    let dir = made_up();
    fs::write(dir.path().join(name), file).unwrap();
    let Run { code, stdout, stderr } =
        run(dir.path(), SMALL, &["--spec", "lamps", "verify", option, name]);
    assert_eq!(stderr, "", "{stdout}");
    (code, stdout)
}

#[test]
fn made_up_tables_are_sound_and_imported_as_they_are() {
    let dir = made_up();
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &["--spec", "lamps", "check"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert_eq!(stdout, "sound: 5 layouts, 4 enums, 1 commands\n");
    let arguments = ["--spec", "lamps", "import", "sources", "--out", "again"];
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &arguments);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert_eq!(
        stdout.lines().last(),
        Some("5 layouts, 12 fields, 4 enums, 3 registers, 1 aliases, 3 conflicts")
    );
    for file in [
        "layouts/lamp.toml",
        "layouts/enums.toml",
        "registers.toml",
        "aliases.toml",
        "conflicts.toml",
    ] {
        let read = |of: &str| fs::read_to_string(dir.path().join(of).join(file)).unwrap();
        assert_text(&read("lamps"), &read("again"));
    }
}

#[test]
fn what_was_imported_has_nothing_new() {
    let shop = "\
new: not in the tables: 0
different: the tables say otherwise: 0
different, and known: conflicts.toml has it: 1
  lamp_reg: here struct of 0x08 bytes, in the tables struct of 0x0c bytes (shop: lengthened)
missing: only in the tables (and the sources that have it): 3
  lamp_state.dim (garage)
  wall (garage)
  register DOOR 0x4003 (garage)
in all: 0 new, 0 different, 1 different and known, 3 missing
";
    // What is called otherwise there is not missing. The database is of another kind.
    let garage = "\
new: not in the tables: 0
different: the tables say otherwise: 0
different, and known: conflicts.toml has it: 2
  lamp_state.heat: here 0x00 7:0, in the tables 0x00 15:8 (garage: moved)
  LAMP_COLOR_BLUE: here 0x3, in the tables 0x2 (garage: not decided)
missing: only in the tables (and the sources that have it): 6
  lamp_state.heat (shop)
  set_lamp_in (shop)
  set_lamp_out (shop)
  lamp_reg (shop factory)
  register LAMP 0x4001 (shop factory)
  register BULB 0x4002 (shop)
in all: 0 new, 0 different, 2 different and known, 6 missing
";
    let factory = "\
passed over: node enum_entry, node access_reg_summary_ctrl_ext, node access_reg_summary_ext, \
node access_reg_summary_selector_ext, node lamps_Nodes, node root
new: not in the tables: 0
different: the tables say otherwise: 0
different, and known: conflicts.toml has it: 0
missing: only in the tables (and the sources that have it): 0
in all: 0 new, 0 different, 0 different and known, 0 missing
";
    for (option, file, expected) in [
        ("--header", "shop/lamp.h", shop),
        ("--header", "garage/lamp.h", garage),
        ("--adb", "factory/lamps.adb", factory),
    ] {
        let source = fs::read_to_string(folder("verify/sources").join(file)).unwrap();
        let (code, stdout) = verify(option, "new", &source);
        assert_text(expected, &stdout);
        assert_eq!(code, Some(0), "{file}");
    }
}

#[test]
fn a_header_with_everything_new() {
    let header = "
        enum { MLX5_CMD_OP_SET_LAMP = 0x101, MLX5_CMD_OP_GET_LAMP = 0x102 };
        enum { LAMP_COLOR_RED = 0, LAMP_COLOR_PINK = -1 };
        enum { MLX5_REG_LAMPS = 0x4001, MLX5_REG_ROOF = 0x4005 };
        struct mlx5_ifc_lamp_state_bits {
            u8 on[0x1]; u8 blink[0x3]; u8 hue[0x4]; u8 reserved_at_8[0x10]; u8 heat[0x8];
        };
        struct mlx5_ifc_set_lamp_in_bits {
            u8 opcode[0x10]; u8 reserved_at_10[0x10];
            u8 reserved_at_20[0x20];
            struct mlx5_ifc_lamp_state_bits state;
            u8 number[0x20];
        };
        struct mlx5_ifc_lamp_set_out_bits { u8 status[0x8]; u8 reserved_at_8[0x18]; };
        struct mlx5_ifc_roof_bits { u8 tiles[][0x20]; };
        struct mlx5_ifc_wall_bits { u8 bricks[0x3f]; };
        struct house { int walls; };";
    let expected = "\
passed over: wall (at fault: wall is 63 bits long, which is no whole number of bytes), struct house
new: not in the tables: 8
  lamp_state.blink: 0x00 30:28
  roof: struct of 0x00 bytes
  lamp_set_out: another name of set_lamp_out
  MLX5_CMD_OP_GET_LAMP = 258
  LAMP_COLOR_PINK = -1
  MLX5_REG_LAMPS = 16385
  MLX5_REG_ROOF = 16389
  register ROOF 0x4005: roof
different: the tables say otherwise: 6
  lamp_state.hue: here 0x00 27:24, in the tables color 0x00 27:24
  set_lamp_in: here struct of 0x10 bytes, in the tables struct of 0x0c bytes
  set_lamp_in.number: here 0x0c 31:0, in the tables 0x04 31:0
  wall: here wall is 63 bits long, which is no whole number of bytes, in the tables struct of 0x08 bytes
  register 0x4001: here LAMPS, in the tables LAMP
  MLX5_CMD_OP_SET_LAMP: here 0x101, in the tables 0x100
different, and known: conflicts.toml has it: 1
  lamp_state.heat: here 0x00 7:0, in the tables 0x00 15:8 (garage: moved)
missing: only in the tables (and the sources that have it): 8
  lamp_state.color (shop garage)
  lamp_state.dim (garage)
  lamp_state.heat (shop)
  set_lamp_in.number (shop)
  lamp_reg (shop factory)
  wall (garage)
  register BULB 0x4002 (shop)
  register DOOR 0x4003 (garage)
in all: 8 new, 6 different, 1 different and known, 8 missing
";
    let (code, stdout) = verify("--header", "new.h", header);
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
}

#[test]
fn a_known_difference_is_known_by_what_it_says() {
    let header = "
        struct mlx5_ifc_lamp_state_bits { u8 reserved_at_0[0x8]; u8 heat[0x8]; u8 reserved_at_10[0x10]; };
        enum { LAMP_COLOR_BLUE = 4 };";
    let expected = "\
new: not in the tables: 0
different: the tables say otherwise: 2
  lamp_state.heat: here 0x00 23:16, in the tables 0x00 15:8
  LAMP_COLOR_BLUE: here 0x4, in the tables 0x2
different, and known: conflicts.toml has it: 0
";
    let (code, stdout) = verify("--header", "new.h", header);
    assert_text(expected, stdout.split_once("missing: ").unwrap().0);
    assert_eq!(code, Some(1));
}

#[test]
fn a_database_with_everything_new() {
    let database = adb(
        r#"
<node name="lamp_reg_ext" size="0x10.0" descr="">
	<field name="slot" offset="0x0.24" size="0x0.8" access="INDEX" enum="left=0x1" descr="" />
	<field name="watt" offset="0x4.0" size="0x4.0" access="RW" descr="" />
	<field name="late" offset="0x8.0" size="0x0.4" access="RW" enum="no=0x0,yes=0x1,later=0x2" descr="" />
	<field name="early" offset="0x8.31" size="0x0.1" access="RW" descr="" />
</node>
<node name="roof_reg_ext" size="0x4.0" descr="">
	<field name="tiles" offset="0x0.0" size="0x4.0" access="RO" descr="" />
</node>
<node name="door_reg_ext" size="0x4.0" descr="">
	<field name="open" offset="0x0.0" size="0x4.0" access="RO" descr="" />
</node>"#,
        &[
            ("lamp_reg_ext", "0x10.0", "LAMP", 0x4001),
            ("door_reg_ext", "0x4.0", "DOOR", 0x4003),
            ("roof_reg_ext", "0x4.0", "ROOF", 0x4005),
        ],
    );
    let expected = "\
passed over: node enum_entry, node access_reg_summary_ctrl_ext, node access_reg_summary_ext, \
node access_reg_summary_selector_ext, node made_Nodes, node root
new: not in the tables: 6
  lamp_reg.slot: left = 0x1
  lamp_reg.early: 0x08 31:31
  roof_reg: struct of 0x04 bytes
  door_reg: struct of 0x04 bytes
  register DOOR 0x4003: door_reg
  register ROOF 0x4005: roof_reg
different: the tables say otherwise: 3
  lamp_reg: here struct of 0x10 bytes, in the tables struct of 0x0c bytes
  lamp_reg.watt: here access RW, in the tables access RO
  lamp_reg.late: here no = 0x0, yes = 0x1, later = 0x2, in the tables no = 0x0, yes = 0x1
different, and known: conflicts.toml has it: 0
missing: only in the tables (and the sources that have it): 0
in all: 6 new, 3 different, 0 different and known, 0 missing
";
    let (code, stdout) = verify("--adb", "new.adb", &database);
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
    // What a database lacks that another one has, and a register of another layout.
    let database = adb(
        r#"
<node name="bulb_reg_ext" size="0x4.0" descr="">
	<field name="volt" offset="0x0.0" size="0x4.0" access="RO" descr="" />
</node>"#,
        &[("bulb_reg_ext", "0x4.0", "LAMP", 0x4001)],
    );
    let expected = "\
passed over: node enum_entry, node access_reg_summary_ctrl_ext, node access_reg_summary_ext, \
node access_reg_summary_selector_ext, node made_Nodes, node root
new: not in the tables: 1
  bulb_reg: struct of 0x04 bytes
different: the tables say otherwise: 1
  register 0x4001: here layout bulb_reg, in the tables layout lamp_reg
different, and known: conflicts.toml has it: 0
missing: only in the tables (and the sources that have it): 1
  lamp_reg (shop factory)
in all: 1 new, 1 different, 0 different and known, 1 missing
";
    let (code, stdout) = verify("--adb", "new.adb", &database);
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
}

#[test]
fn several_headers_are_one_source() {
    let dir = made_up();
    let lamp = fs::read_to_string(folder("verify/sources/shop/lamp.h")).unwrap();
    let (first, second) = lamp.split_once("struct mlx5_ifc_set_lamp_in_bits").unwrap();
    fs::write(dir.path().join("first.h"), first).unwrap();
    let second = format!("struct mlx5_ifc_set_lamp_in_bits{second}");
    fs::write(dir.path().join("second.h"), second).unwrap();
    let run = |headers: &[&str]| {
        let arguments = [&["--spec", "lamps", "verify"], headers].concat();
        run(dir.path(), SMALL, &arguments)
    };
    let both = run(&["--header", "first.h", "--header", "second.h"]);
    assert_eq!((both.code, &*both.stderr), (Some(0), ""));
    let one = run(&["--header", "sources/shop/lamp.h"]);
    assert_eq!(both.stdout, one.stdout);
    // The second needs what is in the first.
    let second = run(&["--header", "second.h"]);
    assert!(second.stdout.starts_with(
        "passed over: set_lamp_in (at fault: lamp_state is not defined above this line)\n\
         give the header that defines it before the one that uses it\n"
    ));
    assert_eq!(second.code, Some(1));
}

#[test]
fn a_header_or_a_database_is_needed() {
    for arguments in [&["verify"][..], &["verify", "--header", "a.h", "--adb", "a.adb"]] {
        let Run { code, stdout, stderr } = run(made_up().path(), SMALL, arguments);
        assert_eq!((code, &*stdout), (Some(2), ""));
        assert!(stderr.contains("--header <HEADER>") && stderr.contains("--adb <ADB>"), "{stderr}");
    }
}

/// Writes the made-up tables to two folders, the second one edited; gives what `diff` tells.
#[track_caller]
fn diff(edits: &[(&str, &str, &str)]) -> (Option<i32>, String) {
    let dir = made_up();
    copy(&dir.path().join("lamps"), &dir.path().join("edited"));
    for (file, old, new) in edits {
        let path = dir.path().join("edited").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {file}");
        fs::write(&path, text.replace(old, new)).unwrap();
    }
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &["diff", "lamps", "edited"]);
    assert_eq!(stderr, "");
    // The other way round the same is told.
    let back = run(dir.path(), SMALL, &["diff", "edited", "lamps"]);
    assert_eq!((back.code, back.stdout.lines().count()), (code, stdout.lines().count()));
    (code, stdout)
}

#[test]
fn tables_that_are_the_same() {
    assert_eq!(diff(&[]), (Some(0), "the two say the same\n".into()));
    // Comments, order and spelling are no difference, nor is who says it.
    let edits = [
        ("layouts/lamp.toml", "# Lamps.\n", "# All the lamps.\n"),
        ("layouts/lamp.toml", "bytes = 0x0c\nfrom = \"shop\"", "from = \"garage\"\nbytes = 12"),
        ("aliases.toml", "from = \"garage\"", "from = \"shop garage\""),
        ("families.toml", "about = \"Lamps.\"", "about = \"All lamps.\""),
    ];
    assert_eq!(diff(&edits), (Some(0), "the two say the same\n".into()));
    let spec = prm_spec();
    let spec = spec.to_str().unwrap();
    let Run { code, stdout, .. } = run(Path::new("."), SOURCE, &["diff", spec, spec]);
    assert_eq!((code, &*stdout), (Some(0), "the two say the same\n"));
}

#[test]
fn tables_that_differ() {
    let edits = [
        // Layouts and fields: one changed in each way, one gone, one new.
        (
            "layouts/lamp.toml",
            "name = \"wall\"\nbytes = 0x08",
            "name = \"wall\"\nkind = \"union\"\nbytes = 0x0c",
        ),
        (
            "layouts/lamp.toml",
            "{ at = 0x00, bits = \"31:0\",  count = 2, name = \"bricks\" },",
            "{ at = 0x00, bits = \"31:0\", list = true, name = \"bricks\" },",
        ),
        (
            "layouts/lamp.toml",
            "bits = \"27:24\", name = \"color\" }",
            "bits = \"28:24\", name = \"color\" }",
        ),
        ("layouts/lamp.toml", "name = \"on\" }", "name = \"lit\" }"),
        (
            "layouts/lamp.toml",
            "name = \"dim\", from = \"garage\" }",
            "name = \"dim\", overlays = \"color\", when = \"lit\" }",
        ),
        ("layouts/lamp.toml", "access = \"INDEX\" }", "access = \"RO\", selector = \"watt\" }"),
        ("layouts/lamp.toml", "{ no = 0x0, yes = 0x1 }", "{ no = 0x0, yes = 0x2 }"),
        // Enumerators, registers, aliases, conflicts.
        (
            "layouts/enums.toml",
            "value = 0x1, name = \"LAMP_COLOR_GREEN\"",
            "value = 0x4, name = \"LAMP_COLOR_GREEN\"",
        ),
        (
            "layouts/enums.toml",
            "value = 0x2, name = \"LAMP_COLOR_BLUE\"",
            "value = 0x2, name = \"LAMP_COLOR_PINK\"",
        ),
        ("registers.toml", "id = 0x4002\n", "id = 0x4006\nlayout = \"wall\"\n"),
        ("registers.toml", "name = \"DOOR\"", "name = \"ROOF\""),
        ("aliases.toml", "of = \"lamp_state\"", "of = \"wall\""),
        ("conflicts.toml", "why = \"moved\"", "why = \"mistake upstream\""),
        ("conflicts.toml", "theirs = \"0x3\"", "theirs = \"0x5\""),
        // Semantics.
        ("semantics/lamp.toml", "number = \"LN\"", "number = \"LAMPN\""),
        ("semantics/lamp.toml", "verb = \"modify\"", "verb = \"query\""),
        ("semantics/lamp.toml", "context = \"state\"\n", ""),
        (
            "semantics/lamp.toml",
            "prefix = \"LAMP_COLOR_\"\n",
            "prefix = \"LAMP_COLOR_\"\nexcept = [\"RED\"]\n",
        ),
        (
            "semantics/lamp.toml",
            "fields = [\"lamp_state.color\"]\n",
            "fields = [\"lamp_state.*\"]\n\n[[opcode]]\nname = \"GET_LAMP\"\nwhy = \"made up\"\n\n[[transition]]\ncommand = \"SET_LAMP\"\nto = \"ON\"\nservices = \"RC\"\nfields = [{ path = \"state.on\", requires = \"RC\" }]\nsource = \"nobody\"\n\n[[select]]\nname = \"lamp_select\"\nabout = \"What counts.\"\nmasks = [\"set_lamp_in.number\"]\nbits = [{ bit = 3, name = \"color\", fields = [\"state.color\", \"state.dim\"] }]\n",
        ),
    ];
    let expected = "\
- LAMP_COLOR_BLUE: 2
~ LAMP_COLOR_GREEN: 1 -> 4
+ LAMP_COLOR_PINK: 2
~ alias state_lamp: lamp_state -> wall
~ command SET_LAMP: 0x100 set_lamp_in -> set_lamp_out, modify lamp, number, state, Sets a lamp. -> 0x100 set_lamp_in -> set_lamp_out, query lamp, number, Sets a lamp.
- conflict LAMP_COLOR_BLUE, theirs 0x3: ours 0x2, not decided
+ conflict LAMP_COLOR_BLUE, theirs 0x5: ours 0x2, not decided
~ conflict lamp_state.heat, theirs 0x00 7:0: ours 0x00 15:8, moved -> ours 0x00 15:8, mistake upstream
~ enum lamp_color: of lamp_state.color, Color of a lamp. -> of lamp_state.*, Color of a lamp.
- enum lamp_color.BLUE: 2
~ enum lamp_color.GREEN: 1 -> 4
+ enum lamp_color.PINK: 2
- enum lamp_color.RED: 0
~ lamp_reg.late: 0x08 3:0 RW no=0x0 yes=0x1 -> 0x08 3:0 RW no=0x0 yes=0x2
~ lamp_reg.slot: 0x00 31:24 INDEX -> 0x00 31:24 RO selector watt
~ lamp_state.color: 0x00 27:24 -> 0x00 28:24
~ lamp_state.dim: 0x00 23:16 -> 0x00 23:16 over color when lit
+ lamp_state.lit: 0x00 31:31
- lamp_state.on: 0x00 31:31
~ object lamp: LN, lamp_state, A lamp. -> LAMPN, lamp_state, A lamp.
+ opcode GET_LAMP: made up
- register 0x4002: BULB no layout
~ register 0x4003: DOOR no layout -> ROOF no layout
+ register 0x4006: BULB wall
+ select lamp_select: in set_lamp_in.number, op_mod 0, What counts.
+ select lamp_select.color: bit 3, of state.color state.dim
+ transition SET_LAMP from any to ON: for RC, nobody
+ transition SET_LAMP from any to ON field state.on: requires RC
~ wall: struct of 0x08 bytes, lamp -> union of 0x0c bytes, lamp
~ wall.bricks: 0x00 31:0 [2] -> 0x00 31:0 []
";
    let (code, stdout) = diff(&edits);
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
}

#[test]
fn words_and_syndromes_differ() {
    let dir = made_up();
    let path = |name: &str| dir.path().join(name);
    copy(&path("lamps"), &path("other"));
    let write = |name: &str, text: &str| {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    };
    let words = |unit: &str| {
        format!(
            "[[words]]\nlayout = \"wall\"\nabout = \"A wall.\"\nfields = [{{ name = \"bricks\", about = \"How many.\", unit = \"{unit}\" }}]\n\n\
             [[words]]\ncommand = \"SET_LAMP\"\nabout = \"Sets a lamp.\"\n"
        )
    };
    write("lamps/words/lamp.toml", &words("dozens"));
    write("other/words/lamp.toml", &words("pallets").replace("A wall", "The wall"));
    let syndrome = |cause: &str| {
        format!(
            "[[syndrome]]\nnumber = 0x1234\ncommand = \"SET_LAMP\"\nop_mod = 0x1\ncause = \"{cause}\"\n\
             certainty = \"stated\"\nsource = \"message id <1@lamp>\"\n"
        )
    };
    write("lamps/semantics/syndromes.toml", &syndrome("It is dark."));
    write("other/semantics/syndromes.toml", &syndrome("It is broken."));
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &["diff", "lamps", "other"]);
    let expected = "\
~ syndrome 0x001234 of SET_LAMP op_mod 0x1: stated, It is dark., message id <1@lamp> -> stated, It is broken., message id <1@lamp>
~ words wall: A wall. -> The wall.
~ words wall.bricks: How many. Unit: dozens. -> How many. Unit: pallets.
";
    assert_eq!(stderr, "");
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
}

#[test]
fn a_layout_of_another_family_differs() {
    let dir = made_up();
    let path = |name: &str| dir.path().join(name);
    copy(&path("lamps"), &path("other"));
    fs::rename(path("other/layouts/lamp.toml"), path("other/layouts/light.toml")).unwrap();
    let families = fs::read_to_string(path("other/families.toml")).unwrap();
    fs::write(path("other/families.toml"), families.replace("\"lamp\"", "\"light\"")).unwrap();
    let Run { code, stdout, .. } = run(dir.path(), SMALL, &["diff", "lamps", "other"]);
    let expected = "\
~ lamp_reg: struct of 0x0c bytes, lamp -> struct of 0x0c bytes, light
~ lamp_state: struct of 0x04 bytes, lamp -> struct of 0x04 bytes, light
~ set_lamp_in: struct of 0x0c bytes, lamp -> struct of 0x0c bytes, light
~ set_lamp_out: struct of 0x04 bytes, lamp -> struct of 0x04 bytes, light
~ wall: struct of 0x08 bytes, lamp -> struct of 0x08 bytes, light
";
    assert_text(expected, &stdout);
    assert_eq!(code, Some(1));
}

#[test]
fn counts_of_made_up_tables() {
    let dir = made_up();
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &["--spec", "lamps", "counts"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let expected = "\
source           layouts        fields   enumerators   registers aliases conflicts
shop               4 (2)         9 (5)         6 (5)       2 (1)       0         1
garage             2 (1)         4 (2)         2 (1)       1 (1)       1         2
factory            1 (0)         3 (1)         0 (0)       1 (0)       0         0
all                    5            12             7           3       1         3
In brackets: what no other source has. 6 names of layouts, aliases counted.
";
    assert_text(expected, &stdout);
    // Versions of Linux are counted together, too.
    for file in [
        "sources.toml",
        "layouts/lamp.toml",
        "layouts/enums.toml",
        "registers.toml",
        "aliases.toml",
        "conflicts.toml",
    ] {
        let path = dir.path().join("lamps").join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("shop", "v7.3").replace("garage", "v6.1")).unwrap();
    }
    let Run { stdout, .. } = run(dir.path(), SMALL, &["--spec", "lamps", "counts"]);
    let expected = "\
source           layouts        fields   enumerators   registers aliases conflicts
Linux              5 (4)        11 (9)         7 (7)       3 (2)       1         3
v7.3               4 (2)         9 (5)         6 (5)       2 (1)       0         1
v6.1               2 (1)         4 (2)         2 (1)       1 (1)       1         2
factory            1 (0)         3 (1)         0 (0)       1 (0)       0         0
all                    5            12             7           3       1         3
In brackets: what no other source has. 6 names of layouts, aliases counted.
";
    assert_text(expected, &stdout);
    // One version is counted alone.
    for file in fs::read_dir(dir.path().join("lamps/layouts")).unwrap().map(|e| e.unwrap().path()) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("v6.1", "garage")).unwrap();
    }
    for file in ["sources.toml", "registers.toml", "aliases.toml", "conflicts.toml"] {
        let path = dir.path().join("lamps").join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("v6.1", "garage")).unwrap();
    }
    let Run { stdout, .. } = run(dir.path(), SMALL, &["--spec", "lamps", "counts"]);
    let sources: Vec<&str> = stdout.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(sources, ["source", "v7.3", "garage", "factory", "all", "In"]);
}

#[test]
fn counts_of_the_committed_tables() {
    let spec = prm_spec();
    let tables = Tables::read(&spec);
    let arguments = ["--spec", spec.to_str().unwrap(), "counts"];
    let Run { code, stdout, stderr } = run(&spec, SOURCE, &arguments);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let layouts: Vec<Fact> = tables.layouts.iter().map(|(layout, _)| layout.clone()).collect();
    let fields: Vec<Fact> = tables.layouts.iter().flat_map(|(_, fields)| fields.clone()).collect();
    let conflict = |c: &Table| (text(c, "at"), from(c, &[]));
    let conflicts: Vec<Fact> = tables.conflicts.iter().map(conflict).collect();
    let all =
        [&layouts, &fields, &tables.enumerators, &tables.registers, &tables.aliases, &conflicts];
    let count = |facts: &[Fact], is: &dyn Fn(&String) -> bool| {
        facts.iter().filter(|(_, from)| from.iter().any(is)).count()
    };
    let only = |facts: &[Fact], is: &dyn Fn(&String) -> bool| {
        facts.iter().filter(|(_, from)| !from.is_empty() && from.iter().all(is)).count()
    };
    let row = |name: &str, is: &dyn Fn(&String) -> bool| {
        let mut row = vec![name.to_owned()];
        for facts in &all[..4] {
            row.push(count(facts, is).to_string());
            row.push(format!("({})", only(facts, is)));
        }
        row.extend(all[4..].iter().map(|facts| count(facts, is).to_string()));
        row
    };
    let names: Vec<String> = tables.sources.iter().map(|s| text(s, "name")).collect();
    let mut expected = vec![row("Linux", &|f: &String| f.starts_with('v'))];
    expected.extend(names.iter().map(|name| row(name, &|f: &String| f == name)));
    let mut whole = vec!["all".to_owned()];
    whole.extend(all.iter().map(|facts| facts.len().to_string()));
    expected.push(whole);
    let words = |l: &str| l.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<&str> = stdout.lines().collect();
    let told: Vec<Vec<String>> = lines[1..lines.len() - 1].iter().map(|l| words(l)).collect();
    assert_eq!(told, expected);
    let names = format!(" {} names of layouts", layouts.len() + tables.aliases.len());
    assert!(lines.last().unwrap().contains(&names), "{stdout}");
}

/// A published header and a database, where they are at hand, and made-up ones.
fn whole_files() -> Vec<(&'static str, String)> {
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let mut files = vec![
        ("--header", read(&folder("verify/sources/shop/lamp.h"))),
        ("--adb", read(&folder("verify/sources/factory/lamps.adb"))),
    ];
    let installed = installed("headers of a kernel that are cut off");
    files.extend(installed.first().map(|dir| ("--header", read(&dir.join("mlx5_ifc.h")))));
    if let Some(dir) = published("a database of all registers that is cut off") {
        files.push(("--adb", read(&dir.join("mstflint/register_access_table.adb"))));
    }
    files
}

/// Runs `verify` on the committed tables and a file that was damaged at a byte; gives what is told
/// of faults. There may be none where it was not damaged enough.
fn told_of(option: &str, file: &[u8]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("damaged"), file).unwrap();
    let spec = prm_spec();
    let arguments = ["--spec", spec.to_str().unwrap(), "verify", option, "damaged"];
    let Run { code, stdout, stderr } = run(dir.path(), SOURCE, &arguments);
    if stderr.is_empty() {
        Verified::read(&stdout);
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
        return None;
    }
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
    assert!(stderr.ends_with(" fault\n") || stderr.ends_with(" faults\n"), "{stderr}");
    // Each fault has a place and a remedy.
    let faults = stderr.matches("  × ").count();
    assert_eq!(stderr.matches("\u{256d}\u{2500}[damaged:").count(), faults, "{stderr}");
    assert_eq!(stderr.matches("  help: ").count(), faults, "{stderr}");
    Some(stderr)
}

#[test]
fn cut_files_are_told() {
    for (option, file) in whole_files() {
        let mut told = 0;
        const CUTS: usize = 12;
        for cut in 0..CUTS {
            let mut end = file.len() * cut / CUTS + file.len() / CUTS / 2;
            while !file.is_char_boundary(end) {
                end += 1;
            }
            told += usize::from(told_of(option, &file.as_bytes()[..end]).is_some());
        }
        // A header may be cut between two of its structs.
        println!("{option} of {} bytes: {told} of {CUTS} cuts told", file.len());
        assert!(if option == "--adb" { told == CUTS } else { told > CUTS / 2 }, "{told}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_told() {
    for (option, file) in whole_files() {
        for at in [0, file.len() / 2, file.len() - 1] {
            let mut file = file.clone().into_bytes();
            file[at] = 0xff;
            let told = told_of(option, &file).expect("it is told");
            assert!(told.contains(&format!("byte 0xff at offset {at} is not UTF-8")), "{told}");
        }
    }
}

#[test]
fn sources_that_are_not_there_are_all_told() {
    let dir = tempfile::tempdir().unwrap();
    let spec = prm_spec();
    let arguments = ["--spec", spec.to_str().unwrap(), "import", "sources", "--out", "out"];
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &arguments);
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
    let mut files = 0;
    for source in &Tables::read(&spec).sources {
        for file in entries(source, "files") {
            let path = text(&file, "path");
            let name = path.rsplit('/').next().unwrap();
            let path = format!("  × sources/{}/{name} can't be read", text(source, "name"));
            assert!(stderr.contains(&path), "{path}\n{stderr}");
            files += 1;
        }
    }
    assert!(stderr.ends_with(&format!("\n{files} faults\n")), "{stderr}");
    assert!(!dir.path().join("out").exists());
}

#[test]
fn a_source_that_is_cut_is_not_imported() {
    let dir = made_up();
    for (file, ends) in
        [("shop/lamp.h", "u8         heat"), ("factory/lamps.adb", "<node name=\"root\"")]
    {
        let path = dir.path().join("sources").join(file);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.split_once(ends).unwrap().0).unwrap();
        let arguments = ["--spec", "lamps", "import", "sources", "--out", "out"];
        let Run { code, stdout, stderr } = run(dir.path(), SMALL, &arguments);
        assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
        assert!(stderr.contains(&format!("[sources/{file}:")), "{stderr}");
        assert!(stderr.ends_with("\n1 fault\n"), "{stderr}");
        assert!(!dir.path().join("out").exists());
        fs::write(path, whole).unwrap();
    }
}
