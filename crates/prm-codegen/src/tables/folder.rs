//! Where tables are read from: a folder, or a program that they are compiled into.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fault::{Faults, Origin, SourceFile};

/// A folder of tables such as `prm-spec/`.
#[derive(Debug, Clone, Copy)]
pub enum Folder<'a> {
    /// One of the file system.
    Disk(&'a Path),
    /// Files in memory: paths below the folder, such as `layouts/cq.toml`, and their texts. In order.
    Embedded(&'a [(&'a str, &'a str)]),
}

impl<'a> From<&'a Path> for Folder<'a> {
    fn from(path: &'a Path) -> Self {
        Folder::Disk(path)
    }
}

impl<'a> From<&'a PathBuf> for Folder<'a> {
    fn from(path: &'a PathBuf) -> Self {
        Folder::Disk(path)
    }
}

impl Folder<'_> {
    /// Reads a file, by its path below the folder.
    ///
    /// # Errors
    /// One fault: it can't be read, is not there, or is not UTF-8.
    pub fn read(&self, name: &str) -> Result<Arc<SourceFile>, Faults> {
        match self {
            Folder::Disk(dir) => SourceFile::read(&dir.join(name)),
            Folder::Embedded(files) => match files.iter().find(|(path, _)| *path == name) {
                Some((_, text)) => Ok(SourceFile::new(name, *text)),
                None => Err(Faults::one(
                    &Origin::whole(&SourceFile::new(name, "")),
                    format!("{name} is not among the tables of this program"),
                    "name a folder of tables",
                )),
            },
        }
    }

    /// Whether there is anything of this name, be it readable or not.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Folder::Disk(dir) => dir.join(name).symlink_metadata().is_ok(),
            Folder::Embedded(files) => {
                let below = |path: &str| path.strip_prefix(name).is_some_and(is_end_or_below);
                files.iter().any(|(path, _)| below(path))
            }
        }
    }

    /// The files with this extension in a folder below this one, in order: their paths below this one.
    pub(crate) fn files(&self, below: &str, extension: &str, faults: &mut Faults) -> Vec<String> {
        let mut names: Vec<String> = match self {
            Folder::Disk(dir) => on_disk(&dir.join(below), faults)
                .iter()
                .map(|file| if below.is_empty() { file.clone() } else { format!("{below}/{file}") })
                .collect(),
            Folder::Embedded(files) => {
                let parent =
                    |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent) == below;
                files
                    .iter()
                    .map(|(path, _)| *path)
                    .filter(|path| parent(path))
                    .map(str::to_owned)
                    .collect()
            }
        };
        names.retain(|name| Path::new(name).extension().is_some_and(|e| e == extension));
        names.sort();
        names
    }

    /// All tables: the paths of their files below the folder.
    ///
    /// # Errors
    /// A folder can't be read.
    pub fn tables(&self) -> Result<Vec<String>, Faults> {
        let mut faults = Faults::default();
        let mut all = Vec::new();
        for below in ["", "layouts", "semantics", "words"] {
            if below.is_empty() || self.has(below) {
                all.extend(self.files(below, "toml", &mut faults));
            }
        }
        faults.or(all)
    }
}

fn is_end_or_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// The names of what is in a folder.
fn on_disk(dir: &Path, faults: &mut Faults) -> Vec<String> {
    match std::fs::read_dir(dir) {
        Ok(entries) => {
            let names = entries.filter_map(|e| e.ok().map(|e| e.file_name()));
            names.map(|name| name.to_string_lossy().into_owned()).collect()
        }
        Err(e) => {
            let name = dir.display().to_string();
            faults.add(
                &Origin::whole(&SourceFile::new(name.clone(), "")),
                format!("{name} can't be read: {e}"),
                "name the folder of the tables, prm-spec",
            );
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] =
        [("families.toml", "a"), ("layouts/cq.toml", "b"), ("layouts/notes.md", "c")];

    #[test]
    fn files_in_memory_are_found_as_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in FILES {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for folder in [Folder::Embedded(&FILES), Folder::from(dir.path())] {
            assert!(folder.has("layouts") && folder.has("families.toml"));
            assert!(!folder.has("layout") && !folder.has("words"));
            assert_eq!(folder.tables().unwrap(), ["families.toml", "layouts/cq.toml"]);
            assert_eq!(folder.read("layouts/cq.toml").unwrap().text, "b");
            assert_eq!(folder.read("words/cq.toml").unwrap_err().0.len(), 1);
        }
    }
}
