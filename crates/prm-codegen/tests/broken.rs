//! Broken tables and headers: the real program tells each fault, word for word.
//!
//! A case is one file of `tests/broken/`: what is wrong, the command, the files that differ from
//! the sound tables of `tests/sound/`, and what the program must write. `\xHH` in a file stands
//! for that byte. `UPDATE=1 cargo test -p prm-codegen --test broken` renews what the cases expect;
//! read the difference before it is kept.
//!
//! Most runs fail, and a case has `=== stderr`. A run that passes over what is at fault in a
//! published header succeeds, and a case has `=== stdout`; after `=== strictly` it may have what
//! `import::headers` tells of `kernel/header.h`, with its places.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prm_codegen::fault::{Faults, Origin, SourceFile};
use prm_codegen::import::{self, HeaderFile};
use prm_codegen::merge::{Told, merge};
use prm_codegen::model::Rulings;
use prm_codegen::{check as sound, tables};

mod common;

use common::{Run, SMALL, copy, folder, run};

/// The lines before what the program must write.
const STDERR: &str = "=== stderr\n";
const STDOUT: &str = "=== stdout\n";
const STRICTLY: &str = "=== strictly\n";

/// The bytes that a text with `\xHH` in it stands for.
fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(&part[..2], 16).expect("two digits after \\x"));
        out.extend_from_slice(&part.as_bytes()[2..]);
    }
    out
}

/// Runs one case; gives what is wrong with it.
fn check(path: &Path, update: bool) -> Result<(), String> {
    let case = fs::read_to_string(path).unwrap();
    let (given, fails, expected) = match (case.split_once(STDERR), case.split_once(STDOUT)) {
        (Some((given, expected)), None) => (given, true, expected),
        (None, Some((given, expected))) => (given, false, expected),
        _ => return Err("a case has one line \"=== stderr\" or \"=== stdout\"".into()),
    };
    let mut parts = given.split("=== ");
    let command =
        parts.next().unwrap_or_default().lines().find_map(|l| l.strip_prefix("$ prm-codegen "));
    let command: Vec<&str> = command.ok_or("the case has no command")?.split_whitespace().collect();

    let dir = tempfile::tempdir().unwrap();
    copy(&folder("sound"), &dir.path().join("prm-spec"));
    for part in parts {
        let (name, text) = part.split_once('\n').ok_or("a file without text")?;
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes(text)).unwrap();
    }
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &command);
    let (told, other) = if fails { (stderr, stdout) } else { (stdout, stderr) };
    if code != Some(i32::from(fails)) || !other.is_empty() {
        return Err(format!("exit code {code:?}\n{told}{other}"));
    }
    let heading = if fails { STDERR } else { STDOUT };
    let told = match expected.contains(STRICTLY) {
        true => format!("{told}{STRICTLY}{}", strictly(dir.path())?),
        false => told,
    };
    if told == expected {
        return Ok(());
    }
    if update {
        fs::write(path, format!("{given}{heading}{told}")).unwrap();
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(expected, &told);
    Err(diff.unified_diff().header("expected", "told").to_string())
}

/// The faults of `kernel/header.h`, read as a header that should be sound.
fn strictly(dir: &Path) -> Result<String, String> {
    let text = fs::read_to_string(dir.join("kernel/header.h")).map_err(|e| e.to_string())?;
    let file = SourceFile::new("./kernel/header.h", text);
    let read = import::headers(&[HeaderFile { file, takes: Vec::new() }]);
    read.err().map(|faults| faults.render()).ok_or("nothing is at fault".into())
}

#[test]
fn sound_tables_have_no_fault() {
    let dir = tempfile::tempdir().unwrap();
    copy(&folder("sound"), &dir.path().join("prm-spec"));
    let Run { code, stdout, stderr } = run(dir.path(), SMALL, &["check"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert_eq!(stdout, "sound: 5 layouts, 1 enums, 1 commands\n");
}

/// Checks sound tables, with an output other than a file; gives code and stderr.
fn check_into(stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().unwrap();
    copy(&folder("sound"), &dir.path().join("prm-spec"));
    let output = Command::new(env!("CARGO_BIN_EXE_prm-codegen"))
        .arg("check")
        .current_dir(dir.path())
        .stdout(stdout)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_answer_that_nobody_reads_is_no_fault_and_one_that_can_t_be_written_is() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(check_into(writer), (Some(0), String::new()));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, stderr) = check_into(full);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("the answer can't be written: "), "{stderr}");
}

#[test]
fn every_fault_is_told() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder("broken")).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 90, "only {} cases", cases.len());
    let mut wrong = String::new();
    for path in &cases {
        if let Err(what) = check(path, update) {
            wrong
                .push_str(&format!("{}\n{what}\n", path.file_name().unwrap_or_default().display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is underlined of the place of a fault.
fn underlined(text: &str, place: std::ops::Range<usize>) -> String {
    let file = SourceFile::new("made_up.h", text);
    let told = Faults::one(&Origin::new(&file, place), "wrong", "right").render();
    let lines: Vec<Vec<char>> = told.lines().map(|l| l.chars().collect()).collect();
    let is_mark = |c: &char| matches!(c, '─' | '┬' | '▲');
    let marks = |line: &&Vec<char>| line.contains(&'·') && line.iter().any(&is_mark);
    let at = lines.iter().position(|line| marks(&line)).unwrap_or_else(|| panic!("{told}"));
    let columns = lines[at].iter().enumerate().filter(|(_, c)| is_mark(c)).map(|(i, _)| i);
    columns.map(|i| lines[at - 1].get(i).copied().unwrap_or('\n')).collect()
}

#[test]
fn the_place_of_a_fault_is_underlined() {
    let text = "one two\nthree\n";
    for (place, expected) in [
        (4..7, "two"),
        // Of several lines, the first.
        (4..10, "two"),
        (0..14, "one two"),
        (8..13, "three"),
        // The end of a line, and of the file.
        (7..7, "o"),
        (7..9, "o"),
        (14..14, "e"),
        // The beginning of a line, and a place within.
        (8..8, "t"),
        (1..1, "n"),
        (4..4, "t"),
    ] {
        assert_eq!(underlined(text, place.clone()), expected, "{place:?}");
    }
    assert_eq!(underlined("\none", 0..0), "\n");
}

#[test]
fn of_a_long_line_whole_characters_are_shown() {
    let text = format!("x{}y{}", "\u{e9}".repeat(600), "\u{fc}".repeat(600));
    let file = SourceFile::new("made_up.h", &*text);
    let at = 1 + 2 * 600;
    let shown = |from: usize, to: usize| {
        let told = Faults::one(&Origin::new(&file, from..to), "wrong", "right").render();
        ['x', '\u{e9}', 'y', '\u{fc}'].map(|c| {
            told.lines()
                .skip(1)
                .filter(|l| l.contains('│'))
                .flat_map(str::chars)
                .filter(|d| *d == c)
                .count()
        })
    };
    assert_eq!(shown(at, at + 1), [0, 250, 1, 249]);
    assert_eq!(shown(at + 1, at + 3), [0, 250, 1, 250]);
    assert_eq!(shown(0, 1), [1, 249, 0, 0]);
}

#[test]
fn layouts_in_layouts_are_told_when_too_deep() {
    // Each holds the next, and each holds the one before it: the order of a file must not matter.
    for (inner, deepest) in [(1i32, 1999), (-1, 0)] {
        let entry = |i: i32| {
            let held = format!("layout = \"l{}\"", i + inner);
            let held = if i == deepest { "bits = \"31:0\"" } else { &held };
            format!(
                "[[layout]]\nname = \"l{i}\"\nbytes = 4\nfields = [{{ at = 0, {held}, name = \"f\" }}]\n"
            )
        };
        let text: String = (0..2000).map(entry).collect();
        let mut spec = tables::read_spec(&folder("sound")).unwrap_or_else(|e| panic!("{e}"));
        let file = SourceFile::new("common.toml", text);
        spec.layouts = tables::read_layout_file(&file).unwrap_or_else(|e| panic!("{e}")).layouts;
        let faults = sound::check_layouts(&spec).expect_err("far too deep").0;
        assert_eq!(faults[0].message, "layouts are nested more than 64 deep here");
        // What is read first is looked into 64 deep, and then each 64th is too deep.
        let at: Vec<usize> = faults.iter().map(|f| f.place.line() / 4).collect();
        assert_eq!(at[..2], if inner > 0 { [64, 128] } else { [65, 129] }, "{inner}");
    }
}

#[test]
fn a_chain_of_layouts_is_as_deep_as_the_one_that_it_ends_in_adds() {
    let entry = |name: String, held: Option<String>| {
        let held = held.map_or("bits = \"31:0\"".into(), |held| format!("layout = \"{held}\""));
        format!(
            "[[layout]]\nname = \"{name}\"\nbytes = 4\nfields = [{{ at = 0, {held}, name = \"f\" }}]\n"
        )
    };
    // The first chain is known when the second comes to it.
    let text = |second: usize| -> String {
        let first =
            (0..40).map(|i| entry(format!("a{i}"), (i < 39).then(|| format!("a{}", i + 1))));
        let last = second - 1;
        let next = |i: usize| if i < last { format!("b{}", i + 1) } else { "a0".into() };
        first.chain((0..second).map(|i| entry(format!("b{i}"), Some(next(i))))).collect()
    };
    for (second, too_deep) in [(24, 0), (25, 1)] {
        let mut spec = tables::read_spec(&folder("sound")).unwrap_or_else(|e| panic!("{e}"));
        let file = SourceFile::new("common.toml", text(second));
        spec.layouts = tables::read_layout_file(&file).unwrap_or_else(|e| panic!("{e}")).layouts;
        let told = sound::check_layouts(&spec).err().unwrap_or_default().0;
        let deep = told.iter().filter(|f| f.message.contains("nested more than 64 deep")).count();
        assert_eq!(deep, too_deep, "{second}");
    }
}

/// Every text that is `text` cut off somewhere, or without one of its bytes.
fn damaged(text: &str) -> impl Iterator<Item = String> {
    assert!(text.is_ascii());
    (0..text.len())
        .flat_map(move |at| [text[..at].to_owned(), text[..at].to_owned() + &text[at + 1..]])
}

/// Renders the faults of what fails; gives how many did.
fn render<T>(results: impl Iterator<Item = Result<T, Faults>>) -> usize {
    results.filter_map(Result::err).map(|faults| assert!(!faults.render().is_empty())).count()
}

#[test]
fn no_damaged_header_panics() {
    let header = fs::read_to_string(folder("import").join("sample.h")).unwrap();
    let families = tables::read_families(&folder("import")).unwrap_or_else(|e| panic!("{e}"));
    let failed = render(damaged(&header).map(|text| {
        let file = SourceFile::new("sample.h", text);
        let reading = import::headers(&[HeaderFile { file, takes: Vec::new() }])?;
        let told = vec![Told { source: "kernel".into(), reading }];
        sound::check_layouts(&merge(told, Rulings::default(), families.clone())?)
    }));
    assert!(failed > header.len(), "only {failed} of {}", 2 * header.len());
}

#[test]
fn no_damaged_table_panics() {
    let sound_tables = folder("sound");
    for (file, layouts) in [("layouts/cq.toml", true), ("semantics/cq.toml", false)] {
        let text = fs::read_to_string(sound_tables.join(file)).unwrap();
        let whole = tables::read_spec(&sound_tables).unwrap_or_else(|e| panic!("{e}"));
        let failed = render(damaged(&text).map(|text| {
            let mut spec = whole.clone();
            let file = SourceFile::new(file, text);
            if layouts {
                spec.layouts = tables::read_layout_file(&file)?.layouts;
            } else {
                spec.semantics = tables::read_semantics_file(&file)?.semantics;
            }
            sound::check(&spec)
        }));
        assert!(failed > text.len(), "only {failed} of {}", 2 * text.len());
    }
}
