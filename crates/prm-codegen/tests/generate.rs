//! `generate` on a copy of the workspace: `--check` tells what is not as the tables say.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// What `generate` reads and writes.
const PARTS: [&str; 5] = [
    "prm-spec",
    "crates/prm/Cargo.toml",
    "crates/prm/src/generated",
    "crates/cli/src/generated",
    "tests/src/generated",
];

const MANIFEST: &str = "crates/prm/Cargo.toml";

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// A copy of the parts of the workspace, in a folder that goes away with it.
fn workspace() -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().unwrap();
    for part in PARTS {
        copy(&root.join(part), &dir.path().join(part));
    }
    dir
}

/// Runs `generate` in `dir`; gives whether it succeeded, stdout and stderr.
fn generate(dir: &TempDir, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_prm-codegen"))
        .arg("generate")
        .args(arguments)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn clean(dir: &TempDir) {
    let (ok, stdout, stderr) = generate(dir, &["--check"]);
    assert!(ok, "{stderr}");
    assert!(stdout.ends_with("files are as the tables say\n"), "{stdout}");
}

/// Writes `new` for the one `old` in a file below `dir`.
fn replace(dir: &TempDir, file: &str, old: &str, new: &str) {
    let path = dir.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{file} has no {old:?}");
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn what_is_committed_is_as_the_tables_say() {
    clean(&workspace());
}

#[test]
fn a_moved_bit_is_told_until_it_is_generated() {
    let dir = workspace();
    let line = |bit: &str| format!("{{ at = 0x00, bits = \"{bit}:{bit}\", name = \"oi\" }}");
    replace(&dir, "prm-spec/layouts/cq.toml", &line("17"), &line("19"));

    let (ok, stdout, stderr) = generate(&dir, &["--check"]);
    assert!(!ok && stdout.is_empty(), "{stdout}");
    let shown: Vec<&str> =
        stderr.lines().filter(|l| l.starts_with("---") || l.starts_with("+++")).collect();
    assert_eq!(
        shown,
        ["--- crates/prm/src/generated/cq.rs", "+++ crates/prm/src/generated/cq.rs"],
        "{stderr}"
    );
    let changed =
        |sign: char| stderr.lines().filter(|l| l.starts_with(sign)).skip(1).collect::<Vec<_>>();
    let (mut old, mut new) = (changed('-'), changed('+'));
    // The bit diagram shows it in its place.
    assert!(old.remove(0).contains("|c|-|s|o|") && new.remove(0).contains("|c|o|s|-|"), "{stderr}");
    assert!(old.len() == new.len() && !old.is_empty(), "{stderr}");
    assert!(
        old.iter().all(|l| l.contains("17")) && new.iter().all(|l| l.contains("19")),
        "{stderr}"
    );
    assert!(stderr.ends_with("run cargo run -p prm-codegen -- generate\n"), "{stderr}");

    let (ok, stdout, stderr) = generate(&dir, &[]);
    assert!(ok, "{stderr}");
    assert!(stdout.ends_with("files, 1 changed\n"), "{stdout}");
    clean(&dir);
}

#[test]
fn edits_by_hand_are_told_and_undone() {
    let dir = workspace();
    let (edited, stale) = ("crates/prm/src/generated/cq.rs", "tests/src/generated/zoo.rs");
    replace(&dir, edited, "layout! {", "layout!{");
    replace(&dir, MANIFEST, "\nrqt = []\n", "\n");
    fs::write(dir.path().join(stale), "").unwrap();
    let read = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    let before = [edited, MANIFEST, stale].map(read);

    let (ok, _, stderr) = generate(&dir, &["--check"]);
    assert!(!ok);
    for part in [
        "zoo.rs is not generated any more\n",
        "\n-layout!{",
        "--- crates/prm/Cargo.toml\n",
        "\n+rqt = []\n",
    ] {
        assert!(stderr.contains(part), "{part:?} is not in {stderr}");
    }
    assert_eq!([edited, MANIFEST, stale].map(read), before, "a check writes nothing");

    let (ok, stdout, stderr) = generate(&dir, &[]);
    assert!(ok, "{stderr}");
    assert!(stdout.ends_with("files, 3 changed\n"), "{stdout}");
    assert!(!dir.path().join(stale).exists());
    clean(&dir);
}

#[test]
fn what_can_t_be_read_is_told() {
    let dir = workspace();
    let file = dir.path().join("crates/prm/src/generated/cq.rs");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let (ok, _, stderr) = generate(&dir, &["--check"]);
    assert!(!ok && stderr.contains("cq.rs can't be read: "), "{stderr}");
}

#[test]
fn a_new_file_of_tables_gets_into_the_command() {
    let dir = workspace();
    fs::write(dir.path().join("prm-spec/words/lamp.toml"), "").unwrap();
    let (ok, _, stderr) = generate(&dir, &["--check"]);
    assert!(!ok);
    let line =
        "\n+    (\"words/lamp.toml\", include_str!(\"../../../../prm-spec/words/lamp.toml\")),\n";
    assert!(stderr.contains(line), "{stderr}");
}

#[test]
fn the_example_of_the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prm-spec/README.md");
    let readme = fs::read_to_string(readme).unwrap();
    // A block within the documentation of a block is part of it.
    let blocks: Vec<String> = readme
        .split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("a language and text").1.to_owned() + "\n")
        .collect();
    let [header, families, sources, layouts, semantics, module, enums] = &blocks[..] else {
        panic!("{} blocks, not 7", blocks.len())
    };
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("shop/lamp.h", header);
    write("lamps/sources.toml", sources);
    write("lamps/families.toml", families);
    write("lamps/semantics/lamp.toml", semantics);
    write(MANIFEST, "[features]\n# <families: written by prm-codegen generate>\n# </families>\n");
    let run = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_prm-codegen"))
            .args(["--spec", "lamps"])
            .args(command.split(' '))
            .current_dir(dir.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { Ok(()) } else { Err(stderr) }
    };
    assert_eq!((run("import ."), run("check")), (Ok(()), Ok(())));
    // Nothing is written where it is not said, nor where no workspace is.
    let said = run("generate").unwrap_err();
    assert!(said.starts_with("tables in lamps and no --root: "), "{said}");
    let nowhere = "crates/prm/Cargo.toml is not there: --root names a workspace that has it\n";
    assert_eq!(run("generate --root empty"), Err(nowhere.to_owned()));
    assert!(!dir.path().join("empty").exists() && !dir.path().join("crates/prm/src").exists());
    assert_eq!(run("generate --root ."), Ok(()));
    let read = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    assert_eq!(&read("lamps/layouts/lamp.toml"), layouts);
    assert!(read("crates/prm/src/generated/lamp.rs").contains(module));
    assert!(read("crates/prm/src/generated/enums.rs").contains(enums));
}

#[test]
fn a_lost_mark_is_told() {
    for (lost, arguments) in [("# </families>\n", &["--check"][..]), ("# <families: ", &[])] {
        let dir = workspace();
        replace(&dir, MANIFEST, lost, "");
        let before = fs::read_to_string(dir.path().join(MANIFEST)).unwrap();
        let (ok, stdout, stderr) = generate(&dir, arguments);
        assert!(!ok && stdout.is_empty(), "{stdout}");
        assert_eq!(
            stderr,
            "crates/prm/Cargo.toml has lost the lines \"# <families: written by prm-codegen generate>\\n\" \
             and \"# </families>\\n\": put them back under [features]\n"
        );
        assert_eq!(fs::read_to_string(dir.path().join(MANIFEST)).unwrap(), before);
    }
}
