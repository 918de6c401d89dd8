//! The importer: every construct of the dialect, and whole headers where they are installed.
//!
//! `UPDATE=1 cargo test -p prm-codegen --test import` renews the expected tables.
//! `MLX5_SOURCES=DIR` imports the published sources, and compares them with what is committed.

use std::fs;
use std::path::{Path, PathBuf};

use prm_codegen::fault::SourceFile;
use prm_codegen::import::{self, HeaderFile};
use prm_codegen::merge::{Told, merge};
use prm_codegen::model::{Rulings, Spec};
use prm_codegen::{check, tables};

mod common;

use common::{HEADERS, Run, SOURCES, assert_text, installed, prm_spec, published, run};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Imports `headers` as one source with the families of `spec`, and writes the tables to `out`.
fn imported(spec: &Path, headers: &[PathBuf], out: &Path) -> Spec {
    let file = |h: &PathBuf| HeaderFile { file: SourceFile::read(h).unwrap(), takes: Vec::new() };
    let files: Vec<HeaderFile> = headers.iter().map(file).collect();
    let families = tables::read_families(spec).unwrap_or_else(|e| panic!("{e}"));
    let reading = import::headers(&files).unwrap_or_else(|e| panic!("{}", e.render()));
    let told = vec![Told { source: "sample".into(), reading }];
    let spec =
        merge(told, Rulings::default(), families).unwrap_or_else(|e| panic!("{}", e.render()));
    check::check_layouts(&spec).unwrap_or_else(|e| panic!("{}", e.render()));
    tables::write_import(&spec, out).unwrap();
    spec
}

/// The files that an import writes, by name, with their text.
fn written(dir: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(dir.join("layouts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (format!("layouts/{}", path.file_name().unwrap().display()), read(&path)))
        .collect();
    files.extend(["registers", "aliases", "conflicts"].map(|name| {
        let name = format!("{name}.toml");
        let text = read(&dir.join(&name));
        (name, text)
    }));
    files.sort();
    files
}

/// What a model says of places, values and names, a line each.
fn facts(spec: &Spec) -> Vec<String> {
    let mut out = Vec::new();
    for layout in &spec.layouts {
        out.push(format!(
            "{} {} {:?} 0x{:x}",
            layout.family, layout.name, layout.kind, layout.bytes
        ));
        for f in &layout.fields {
            let (name, bit, overlays) = (&f.name, f.bit, &f.overlays);
            out.push(format!("  {name} {bit} {:?} {:?} {overlays:?}", f.element, f.count));
        }
    }
    for e in &spec.enums {
        out.push(format!("enum {}", e.name));
        out.extend(e.values.iter().map(|v| format!("  {} {}", v.name, v.value)));
    }
    out
}

/// Reads back what was written to `dir`, whose families are those of `spec`.
fn read_back(spec: &Path, dir: &Path) -> Spec {
    fs::copy(spec.join("families.toml"), dir.join("families.toml")).unwrap();
    fs::create_dir_all(dir.join("semantics")).unwrap();
    tables::read_spec(dir).unwrap_or_else(|e| panic!("{}", e.render()))
}

#[test]
fn every_construct_of_the_dialect() {
    let source = folder("tests/import");
    let expected = source.join("expected");
    let headers = [source.join("sample.h")];
    let out = tempfile::tempdir().unwrap();
    let spec = imported(&source, &headers, out.path());
    let files = written(out.path());
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(expected.join("layouts")).unwrap();
        for (name, text) in &files {
            fs::write(expected.join(name), text).unwrap();
        }
    }
    let known = written(&expected);
    for ((name, text), (known_name, known_text)) in files.iter().zip(&known) {
        assert_eq!(name, known_name);
        let diff = similar::TextDiff::from_lines(&**known_text, &**text);
        assert!(text == known_text, "{}", diff.unified_diff().header(name, "imported"));
    }
    assert_eq!(files.len(), known.len());

    let again = tempfile::tempdir().unwrap();
    imported(&source, &headers, again.path());
    assert!(written(again.path()) == files, "a second import differs");
    assert_eq!(facts(&read_back(&source, out.path())), facts(&spec));
}

#[test]
fn families_that_are_gone_go_and_files_of_others_stay() {
    let source = folder("tests/import");
    let out = tempfile::tempdir().unwrap();
    let layouts = out.path().join("layouts");
    fs::create_dir_all(&layouts).unwrap();
    let line = "# Imported (prm-codegen import). The format: README.md of prm-spec\n";
    for (name, text) in [("gone.toml", line), ("own.toml", "# By hand.\n"), ("note.txt", line)] {
        fs::write(layouts.join(name), text).unwrap();
    }
    imported(&source, &[source.join("sample.h")], out.path());
    let there = ["gone.toml", "own.toml", "note.txt"].map(|name| layouts.join(name).exists());
    assert_eq!(there, [false, true, true]);
}

/// How many structs and unions a header defines at its top, counted by their first lines.
fn tagged(header: &Path) -> usize {
    let is = |l: &&str| {
        (l.starts_with("struct mlx5_ifc_") || l.starts_with("union mlx5_ifc_"))
            && l.trim_end().ends_with('{')
    };
    read(header).lines().filter(is).count()
}

#[test]
fn installed_headers() {
    let spec = folder("../../prm-spec");
    let found = installed("whole headers");
    for dir in found {
        let headers = HEADERS.map(|h| dir.join(h));
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let model = imported(&spec, &headers, first.path());
        imported(&spec, &headers, second.path());
        let files = written(first.path());
        assert!(files == written(second.path()), "{}: a second import differs", dir.display());
        let counted: usize = headers.iter().map(|h| tagged(h)).sum();
        let in_place = model.layouts.len() - counted;
        println!("{}: {counted} structs and unions, {in_place} in place", dir.display());
        if dir.to_string_lossy().contains("linux-headers-6.1.") {
            assert_eq!((counted, in_place), (693, 6), "{}", dir.display());
        }
        assert_eq!(facts(&read_back(&spec, first.path())), facts(&model), "{}", dir.display());
    }
}

#[test]
fn published_sources() {
    let Some(sources) = published("the import of all sources") else { return };
    let spec = prm_spec();
    let known = written(&spec);
    for time in ["first", "second"] {
        let out = tempfile::tempdir().unwrap();
        let [spec, sources, dir] = [&spec, &sources, out.path()].map(|p| p.to_str().unwrap());
        let arguments = ["--spec", spec, "import", sources, "--out", dir];
        let Run { code, stdout, stderr } = run(out.path(), SOURCES, &arguments);
        assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
        let files = written(out.path());
        for ((name, text), (known_name, known_text)) in files.iter().zip(&known) {
            assert_eq!(name, known_name, "the {time} time");
            assert_text(known_text, text);
        }
        assert_eq!(files.len(), known.len());
        // It writes nothing else.
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 4);
        println!("the {time} time: {}", stdout.lines().last().unwrap());
    }
}
