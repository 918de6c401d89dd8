//! What the tables say that is not compiled into the codec: their sources.

use prm_codegen::fault::SourceFile;
use prm_codegen::tables::{self, Folder};

use crate::generated::tables::TABLES;

/// A public header or database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) files: Vec<String>,
}

/// The sources that have a layout, and the fields that other sources have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct From {
    pub(crate) whole: Vec<String>,
    pub(crate) fields: Vec<(String, Vec<String>)>,
}

/// All sources, by rank.
pub(crate) fn sources() -> Vec<Source> {
    // The tables were read without a fault when this program was made.
    let (sources, _) = tables::read_sources(Folder::Embedded(TABLES)).unwrap_or_default();
    let source = |source: prm_codegen::model::Source| Source {
        name: source.name,
        package: source.package,
        version: source.version,
        files: source.files.into_iter().map(|file| file.path).collect(),
    };
    sources.into_iter().map(source).collect()
}

/// Which sources have a layout.
pub(crate) fn of_layout(layout: &str, family: &str) -> Option<From> {
    let file = format!("layouts/{family}.toml");
    let (_, text) = TABLES.iter().find(|(path, _)| *path == file)?;
    // Only its own entry is parsed: the largest files would take longer than all the rest of a run.
    let name = format!("\nname = \"{layout}\"\n");
    let at = text.find(&name)?;
    let start = text[..at].rfind("[[layout]]")?;
    let end = text[at..].find("\n[[").map_or(text.len(), |end| at + end);
    let spec = tables::read_layout_file(&SourceFile::new(file, &text[start..end])).ok()?;
    let found = spec.layouts.into_iter().find(|found| found.name == layout)?;
    let fields = found.fields.into_iter().filter(|field| !field.from.is_empty());
    let fields = fields.map(|field| (field.name, field.from)).collect();
    Some(From { whole: found.from, fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn every_layout_has_its_sources() {
        let known: Vec<String> = sources().into_iter().map(|source| source.name).collect();
        assert_eq!(known.len(), 10);
        for (layout, family) in names::all() {
            let from = of_layout(layout.name, family).unwrap_or_else(|| panic!("{}", layout.name));
            assert!(!from.whole.is_empty(), "{}", layout.name);
            let fields = from.fields.iter().inspect(|(field, _)| {
                assert!(layout.field(field).is_some(), "{}.{field}", layout.name);
            });
            for source in fields.flat_map(|(_, from)| from).chain(&from.whole) {
                assert!(known.contains(source), "{}: {source}", layout.name);
            }
        }
    }
}
