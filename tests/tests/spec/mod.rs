//! Reads `prm-spec`, by code that shares nothing with the generator: only `toml`.

#![allow(dead_code, reason = "not every test needs all of it")]

mod layouts;

use std::path::{Path, PathBuf};

use toml::{Table, Value};

#[allow(unused_imports, reason = "not every test needs all of them")]
pub(crate) use layouts::{Count, Element, Field, TableField, TableLayout, element_bits, sizes};

/// The folder `prm-spec`, which lies beside the package or above it.
///
/// # Panics
/// There is none.
pub(crate) fn folder() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut found = above.map(|dir| dir.join("prm-spec")).filter(|dir| dir.is_dir());
    found.next().expect("a folder prm-spec in the repository")
}

/// What the tables say, all but their meaning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    /// Where facts are from, by rank.
    pub(crate) sources: Vec<Source>,
    /// The layouts, in the order of their names.
    pub(crate) layouts: Vec<TableLayout>,
    /// The enumerators of the headers.
    pub(crate) enumerators: Vec<Enumerator>,
    /// The registers.
    pub(crate) registers: Vec<Register>,
    /// Second names of layouts.
    pub(crate) aliases: Vec<Alias>,
    /// What sources say otherwise.
    pub(crate) conflicts: Vec<Conflict>,
}

/// A source of facts.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) files: Vec<SourceFile>,
}

/// A file of a source.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// Its name, without the folders it lies in.
    pub(crate) name: String,
    /// SHA-256, in hexadecimal.
    pub(crate) sha256: Option<String>,
    /// Beginnings of the enumerators that are taken from it; none: it is taken whole.
    pub(crate) takes: Vec<String>,
}

impl Source {
    /// Whether all of it is C.
    pub(crate) fn is_c(&self) -> bool {
        self.files.iter().all(|file| file.name.ends_with(".h"))
    }
}

/// An enumerator of the headers.
#[derive(Debug, Clone)]
pub(crate) struct Enumerator {
    pub(crate) name: String,
    pub(crate) value: i64,
    /// The sources that have it.
    pub(crate) from: Vec<String>,
}

/// A register that ACCESS_REG reaches.
#[derive(Debug, Clone)]
pub(crate) struct Register {
    pub(crate) name: String,
    pub(crate) id: u64,
    /// The sources that name it.
    pub(crate) from: Vec<String>,
}

/// A second name of a layout.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) name: String,
    pub(crate) of: String,
    /// The sources that use it.
    pub(crate) from: Vec<String>,
}

/// What sources say otherwise than the tables.
#[derive(Debug, Clone)]
pub(crate) struct Conflict {
    /// `layout.field`, a layout, an enumerator, or `register 0x1234`.
    pub(crate) at: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
    /// The sources that say it.
    pub(crate) from: Vec<String>,
}

/// What is said by hand of an opcode, as a command or in a note.
#[derive(Debug, Clone)]
pub(crate) struct OpcodeNote {
    pub(crate) name: String,
    pub(crate) input: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) why: Option<String>,
}

/// The tables of this repository.
///
/// # Panics
/// They can't be read.
pub(crate) fn tables() -> Tables {
    read(&folder()).unwrap_or_else(|e| panic!("the tables can't be read: {e}"))
}

/// The tables in `dir`, which is `prm-spec` or like it.
pub(crate) fn read(dir: &Path) -> Result<Tables, String> {
    let mut tables = Tables {
        sources: entries(&dir.join("sources.toml"), "source", source)?,
        registers: entries(&dir.join("registers.toml"), "register", register)?,
        aliases: entries(&dir.join("aliases.toml"), "alias", alias)?,
        conflicts: entries(&dir.join("conflicts.toml"), "conflict", conflict)?,
        ..Tables::default()
    };
    let dir = dir.join("layouts");
    for path in toml_files(&dir)? {
        tables.layouts.extend(entries(&path, "layout", layouts::layout)?);
        tables.enumerators.extend(entries(&path, "enum", enumeration)?.into_iter().flatten());
    }
    tables.layouts.sort_by(|a, b| a.name.cmp(&b.name));
    if tables.layouts.is_empty() {
        return Err(format!("{}: no layouts", dir.display()));
    }
    Ok(tables)
}

/// What the notes and commands of `semantics/` say of opcodes: `key` is `opcode` or `command`.
pub(crate) fn opcode_notes(key: &str) -> Result<Vec<OpcodeNote>, String> {
    let mut all = Vec::new();
    for path in toml_files(&folder().join("semantics"))? {
        all.extend(entries(&path, key, |value| {
            Ok(OpcodeNote {
                name: need_text(value, "name")?,
                input: text(value, "input")?.map(str::to_owned),
                output: text(value, "output")?.map(str::to_owned),
                why: text(value, "why")?.map(str::to_owned),
            })
        })?);
    }
    Ok(all)
}

/// The enumerations of `semantics/` and the fields that they belong to, as `layout.field` with `*` for
/// any run of characters.
pub(crate) fn bound_enums() -> Result<Vec<(String, Vec<String>)>, String> {
    let mut all = Vec::new();
    for path in toml_files(&folder().join("semantics"))? {
        all.extend(entries(&path, "enum", |value| {
            let fields = value.get("fields").and_then(Value::as_array).ok_or("no `fields`")?;
            let fields = fields.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Ok((need_text(value, "name")?, fields))
        })?);
    }
    Ok(all)
}

/// The entries of one kind of `semantics/`, as they are written.
///
/// # Panics
/// They can't be read.
pub(crate) fn semantics(key: &str) -> Vec<Value> {
    let files = toml_files(&folder().join("semantics"));
    let all = files.and_then(|files| {
        files.iter().map(|path| entries(path, key, |value| Ok(value.clone()))).collect()
    });
    let all: Vec<Vec<Value>> = all.unwrap_or_else(|e| panic!("the tables can't be read: {e}"));
    all.into_iter().flatten().collect()
}

/// Whether `name` fits `pattern`, in which `*` stands for any run of characters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|name| {
            name.char_indices().any(|(i, _)| fits(rest, &name[i..])) || fits(rest, "")
        }),
    }
}

/// The TOML files of a folder.
fn toml_files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let list = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths = Vec::new();
    for entry in list {
        let path = entry.map_err(|e| format!("{}: {e}", dir.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The entries of the array `key` in a file.
fn entries<T>(
    path: &Path,
    key: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let all = || -> Result<Vec<T>, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let file: Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let array = file.get(key).and_then(Value::as_array);
        array.into_iter().flatten().map(read).collect()
    };
    all().map_err(|e| format!("{}: {e}", path.display()))
}

fn source(value: &Value) -> Result<Source, String> {
    let file = |value: &Value| -> Result<SourceFile, String> {
        let path = need_text(value, "path")?;
        let takes = value.get("takes").and_then(Value::as_array);
        let takes = takes.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned));
        Ok(SourceFile {
            name: path.rsplit('/').next().unwrap_or(&path).to_owned(),
            sha256: text(value, "sha256")?.map(str::to_owned),
            takes: takes.collect(),
        })
    };
    let files = value.get("files").and_then(Value::as_array).ok_or("a source without files")?;
    Ok(Source {
        name: need_text(value, "name")?,
        files: files.iter().map(file).collect::<Result<_, _>>()?,
    })
}

fn enumeration(value: &Value) -> Result<Vec<Enumerator>, String> {
    let all = words(value, "from")?.unwrap_or_default();
    let values = value.get("values").and_then(Value::as_array).ok_or("an enum without values")?;
    let one = |value: &Value| -> Result<Enumerator, String> {
        Ok(Enumerator {
            name: need_text(value, "name")?,
            value: value.get("value").and_then(Value::as_integer).ok_or("no `value`")?,
            from: words(value, "from")?.unwrap_or_else(|| all.clone()),
        })
    };
    values.iter().map(one).collect()
}

fn register(value: &Value) -> Result<Register, String> {
    Ok(Register {
        name: need_text(value, "name")?,
        id: number(value, "id")?.ok_or("a register without an id")?,
        from: words(value, "from")?.unwrap_or_default(),
    })
}

fn alias(value: &Value) -> Result<Alias, String> {
    Ok(Alias {
        name: need_text(value, "name")?,
        of: need_text(value, "of")?,
        from: words(value, "from")?.unwrap_or_default(),
    })
}

fn conflict(value: &Value) -> Result<Conflict, String> {
    Ok(Conflict {
        at: need_text(value, "at")?,
        ours: need_text(value, "ours")?,
        theirs: need_text(value, "theirs")?,
        from: words(value, "from")?.unwrap_or_default(),
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<Option<&'a str>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is no string")),
    }
}

fn need_text(value: &Value, key: &str) -> Result<String, String> {
    text(value, key)?.map(str::to_owned).ok_or_else(|| format!("no `{key}`"))
}

/// The words of a string.
fn words(value: &Value, key: &str) -> Result<Option<Vec<String>>, String> {
    Ok(text(value, key)?.map(|text| text.split_whitespace().map(str::to_owned).collect()))
}

fn number(value: &Value, key: &str) -> Result<Option<u64>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(Value::Integer(n)) if *n >= 0 => Ok(Some(n.unsigned_abs())),
        Some(_) => Err(format!("`{key}` is no number of 0 or more")),
    }
}
