//! Which headers are at hand: those of `MLX5_SOURCES`, the installed ones of Linux, and those of
//! `MLX5_HEADERS`.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use super::{Headers, INSTALL, file_name};
use crate::spec::{self, Source};

/// Where the packages with headers of the kernel put them.
const INSTALLED: &str = "/usr/src";
/// The headers of Linux with layouts, each after those whose layouts it uses.
const LINUX: [&str; 3] = ["mlx5_ifc_fpga.h", "mlx5_ifc.h", "mlx5_ifc_vdpa.h"];

/// All headers that are at hand, those of sources of the tables by their rank. Which sources are
/// not, is told on the terminal once.
///
/// # Panics
/// There are none, or a folder has not the files that it should have.
pub(crate) fn at_hand() -> &'static [Headers] {
    static FOUND: LazyLock<Vec<Headers>> = LazyLock::new(|| {
        let (found, told) = find().unwrap_or_else(|e| panic!("{e}"));
        if !told.is_empty() {
            // Past the test harness, which keeps what passing tests print.
            let text =
                format!("\n*** NOT WHOLLY COMPARED WITH gcc:\n  {}\n***\n\n", told.join("\n  "));
            std::io::stderr().write_all(text.as_bytes()).expect("a place to write to");
        }
        assert!(
            !found.is_empty(),
            "no {INSTALLED}/linux-headers-*-common/include/linux/mlx5; {INSTALL}"
        );
        found
    });
    &FOUND
}

/// Headers of any Linux.
///
/// # Panics
/// There are none, or a folder has not the files that it should have.
pub(crate) fn any_linux() -> Headers {
    let (found, _) = find().unwrap_or_else(|e| panic!("{e}"));
    let linux = found.into_iter().find(|headers| headers.linux);
    linux.unwrap_or_else(|| panic!("no headers of Linux; {INSTALL}"))
}

/// The headers that are at hand, and what is to be told of those that are not.
fn find() -> Result<(Vec<Headers>, Vec<String>), String> {
    let sources = spec::tables().sources;
    let mut found: Vec<Headers> = Vec::new();
    let folder = std::env::var_os("MLX5_SOURCES").map(PathBuf::from);
    if let Some(folder) = &folder
        && !folder.is_dir()
    {
        let name = folder.display();
        return Err(format!("MLX5_SOURCES: {name} is no folder; give its path from / on"));
    }
    for source in sources.iter().filter(|source| source.is_c()) {
        let dir = folder.as_ref().map(|folder| folder.join(&source.name));
        if let Some(dir) = dir.filter(|dir| dir.is_dir()) {
            found.push(of_source(source, &dir)?);
        }
    }
    for (dir, series) in linux() {
        let headers = of_linux(&sources, &dir, series.as_deref())?;
        match found.iter().find(|known| known.source.is_some() && known.source == headers.source) {
            Some(known) => println!("{}: the same files as {}", headers.name, known.name),
            None => found.push(headers),
        }
    }
    let mut told = Vec::new();
    for headers in found.iter().filter(|headers| !headers.other_files.is_empty()) {
        told.push(format!("{}: {}", headers.name, headers.other_files.join("; ")));
    }
    for (why, names) in missing(&sources, &found, folder.as_deref()) {
        told.push(format!("{}: {why}", names.join(", ")));
    }
    let rank = |headers: &Headers| {
        let rank = sources.iter().position(|source| Some(&source.name) == headers.source.as_ref());
        rank.unwrap_or(sources.len())
    };
    found.sort_by_key(rank);
    Ok((found, told))
}

/// Why sources are not at hand, and which.
fn missing<'a>(
    sources: &'a [Source],
    found: &[Headers],
    folder: Option<&Path>,
) -> Vec<(String, Vec<&'a str>)> {
    let mut missing: Vec<(String, Vec<&str>)> = Vec::new();
    for source in sources {
        let why = match folder {
            _ if !source.is_c() => "no C, and gcc can't read it".to_owned(),
            _ if found.iter().any(|h| h.source.as_ref() == Some(&source.name)) => continue,
            Some(folder) => format!("not in {}", folder.display()),
            None => {
                "not at hand. Let MLX5_SOURCES name a folder that has a folder for each, called as \
                     the source, with its files (prm-spec/sources.toml)"
                    .to_owned()
            }
        };
        match missing.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(&source.name),
            None => missing.push((why, vec![&source.name])),
        }
    }
    missing
}

/// The headers of a source, in a folder that is said to have them.
fn of_source(source: &Source, dir: &Path) -> Result<Headers, String> {
    let mut headers = Headers {
        name: format!("{} ({})", source.name, dir.display()),
        source: Some(source.name.clone()),
        linux: source.files.iter().any(|file| file.name == LINUX[0]),
        other_files: Vec::new(),
        files: Vec::new(),
        takes: Vec::new(),
    };
    for file in &source.files {
        let path = dir.join(&file.name);
        if !path.is_file() {
            return Err(format!("{} is not there; prm-spec/sources.toml names it", path.display()));
        }
        if file.sha256.as_ref().is_some_and(|known| sha256(&path).as_ref() != Ok(known)) {
            let other = format!("{} is another than prm-spec/sources.toml names", file.name);
            headers.other_files.push(other);
        }
        match &file.takes[..] {
            [] => headers.files.push(path),
            takes => headers.takes.push((path, takes.to_vec())),
        }
    }
    Ok(headers)
}

/// Folders with headers of Linux, and their series, such as 6.1, where it is known.
fn linux() -> Vec<(PathBuf, Option<String>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(INSTALLED).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("linux-headers-").and_then(|v| v.strip_suffix("-common"));
        let dir = entry.path().join("include/linux/mlx5");
        if let Some(version) = version
            && dir.is_dir()
        {
            let series: Vec<&str> = version.split('.').take(2).collect();
            found.push((dir, Some(series.join("."))));
        }
    }
    found.sort();
    if let Some(dir) = std::env::var_os("MLX5_HEADERS") {
        found.push((dir.into(), std::env::var("MLX5_HEADERS_SERIES").ok()));
    }
    found
}

/// Headers of Linux: those of a source where the files with layouts are the same, else of none.
fn of_linux(sources: &[Source], dir: &Path, series: Option<&str>) -> Result<Headers, String> {
    let mut sums = HashMap::new();
    for name in LINUX {
        let path = dir.join(name);
        if !path.is_file() {
            return Err(format!(
                "{} is not there; give the include/linux/mlx5 folder of a kernel header package \
                 (Debian: linux-headers-*-common)",
                path.display()
            ));
        }
        sums.insert(name, sha256(&path)?);
    }
    let is = |source: &&Source| {
        let mut files = source.files.iter().filter(|file| file.takes.is_empty()).peekable();
        files.peek().is_some()
            && files.all(|f| f.sha256.is_some() && sums.get(&*f.name) == f.sha256.as_ref())
    };
    if let Some(source) = sources.iter().find(is) {
        let mut headers = of_source(source, dir)?;
        // What only gives numbers of registers may be of another version.
        headers.takes.retain(|(path, _)| {
            !headers.other_files.iter().any(|other| other.starts_with(&file_name(path)))
        });
        return Ok(headers);
    }
    let series = series.unwrap_or("of an unknown series");
    Ok(Headers {
        name: format!("Linux {series} ({})", dir.display()),
        source: None,
        linux: true,
        other_files: vec![
            "no source of the tables has these files: what they have in common with the tables \
             must be the same or a known conflict; what only they have is printed"
                .to_owned(),
        ],
        files: LINUX.map(|name| dir.join(name)).to_vec(),
        takes: Vec::new(),
    })
}

/// The SHA-256 of a file, by the program of that name.
fn sha256(path: &Path) -> Result<String, String> {
    let output = Command::new("sha256sum").arg("--").arg(path).output();
    let output = output.map_err(|e| format!("sha256sum does not run ({e}); install coreutils"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let sum = text.split_whitespace().next().filter(|_| output.status.success());
    sum.map(str::to_owned).ok_or_else(|| format!("sha256sum can't read {}", path.display()))
}
