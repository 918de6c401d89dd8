//! The XML of a database: its tags and attributes, and where they are written.

use std::ops::Range;
use std::sync::Arc;

use super::MAX_FAULTS;
use crate::fault::{Faults, Origin, SourceFile};

/// The longest text that is read, in bytes. The largest database of mstflint has 2.2 million.
const MAX_TEXT: usize = 8 << 20;

/// How deep tags are nested: the database, a node, a field; one more for what is told as a fault.
const MAX_DEPTH: usize = 4;

/// Attributes of one tag; 15 of a field are known.
const MAX_ATTRIBUTES: usize = 32;

/// Letters of a name. The longest of mstflint has 58.
const MAX_NAME: usize = 128;

/// Parses a file.
///
/// # Errors
/// The first fault: text that no database has, or that is no XML.
pub(super) fn parse(file: &Arc<SourceFile>) -> Result<roxmltree::Document<'_>, Faults> {
    bounds(file)?;
    roxmltree::Document::parse(&file.text).map_err(|e| broken(file, &e))
}

/// Refuses text with which the parser of XML would take very long or very much memory.
///
/// Its time grows with the square of the attributes of a tag, its memory with the namespaces that
/// are declared around a tag.
fn bounds(file: &Arc<SourceFile>) -> Result<(), Faults> {
    let text = &file.text;
    if text.len() > MAX_TEXT {
        return Err(Faults::one(
            &Origin::whole(file),
            format!("{} is longer than {MAX_TEXT} bytes", file.name),
            "name a database of registers, such as mstflint's register_access_table.adb",
        ));
    }
    let mut depth = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|i| at + i) {
        let rest = &text[start..];
        // What ends nowhere is told by the parser.
        let to = |end: &str| rest.find(end).map_or(text.len(), |i| start + i + end.len());
        if rest.starts_with("<!DOCTYPE") {
            return Err(Faults::one(
                &Origin::new(file, start..start + 9),
                "a database of registers has no DOCTYPE",
                "remove it: entities are not read",
            ));
        } else if rest.starts_with("<!--") {
            at = to("-->");
        } else if rest.starts_with("<![CDATA[") {
            at = to("]]>");
        } else if rest.starts_with("<?") {
            at = to("?>");
        } else if rest.starts_with("</") {
            depth = usize::saturating_sub(depth, 1);
            at = to(">");
        } else {
            let (length, attributes) = tag_length(rest);
            at = start + length;
            if attributes > MAX_ATTRIBUTES {
                return Err(Faults::one(
                    &Origin::new(file, start..at),
                    format!("this tag has more than {MAX_ATTRIBUTES} attributes"),
                    "a field has 15 at most, and other tags have fewer",
                ));
            }
            if !text[..at].ends_with("/>") {
                depth += 1;
            }
            if depth > MAX_DEPTH {
                return Err(Faults::one(
                    &Origin::new(file, start..at),
                    format!("tags are nested more than {MAX_DEPTH} deep here"),
                    "fields stand in a node, and nodes in the database",
                ));
            }
        }
    }
    Ok(())
}

/// Length of the tag that `text` begins with, and the number of its attributes.
fn tag_length(text: &str) -> (usize, usize) {
    let mut quote = None;
    let mut attributes = 0;
    for (i, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (i + 1, attributes),
            (None, b'=') => attributes += 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(q), _) if q == byte => quote = None,
            _ => {}
        }
    }
    (text.len(), attributes)
}

/// The fault of XML that can't be read.
fn broken(file: &Arc<SourceFile>, error: &roxmltree::Error) -> Faults {
    use roxmltree::Error::{NoRootNode, UnclosedRootNode, UnexpectedEndOfStream};
    let (text, pos) = (&file.text, error.pos());
    let end = text.trim_end().len();
    let lines = text.split_inclusive('\n').take((pos.row as usize).saturating_sub(1));
    let line: usize = lines.map(str::len).sum();
    let column = (pos.col as usize).saturating_sub(1);
    let at = text[line..].char_indices().nth(column).map_or(end, |(i, _)| line + i);
    if at >= end || matches!(error, UnexpectedEndOfStream | UnclosedRootNode | NoRootNode) {
        return Faults::one(
            &Origin::new(file, end..end),
            "the file ends before its XML does",
            "it was cut: fetch it again",
        );
    }
    let told = error.to_string().replace(&format!(" at {pos}"), "");
    Faults::one(
        &Origin::new(file, at..at),
        format!("this is no XML: {told}"),
        "it was damaged: fetch it again",
    )
}

/// A tag and the file that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) xml: roxmltree::Node<'a, 'a>,
    pub(super) file: &'a Arc<SourceFile>,
}

impl<'a> Tag<'a> {
    /// An attribute.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        self.xml.attribute(name)
    }

    /// Whether it is called `name`.
    pub(super) fn is(self, name: &str) -> bool {
        self.xml.tag_name().name() == name
    }

    /// The fault of a tag that does not belong here.
    pub(super) fn unknown(self, help: &str) -> Faults {
        let name = self.xml.tag_name().name();
        Faults::one(&self.whole(), format!("the tag {name} is not understood here"), help)
    }

    /// The tags in this one; text between them is a fault.
    pub(super) fn children(self) -> Result<Vec<Tag<'a>>, Faults> {
        let mut faults = Faults::default();
        let text = |n: &roxmltree::Node| n.is_text() && !n.text().unwrap_or("").trim().is_empty();
        for stray in self.xml.children().filter(text).take(MAX_FAULTS) {
            let help = "the database says everything in attributes: remove the text";
            faults.add(&Origin::new(self.file, stray.range()), "text between tags", help);
        }
        let tags = self.xml.children().filter(roxmltree::Node::is_element);
        faults.or(tags.map(|xml| Tag { xml, file: self.file }).collect())
    }

    /// Where it is written, without what stands in it.
    pub(super) fn whole(self) -> Origin {
        let range = self.xml.range();
        let end = range.start + tag_length(&self.file.text[range.clone()]).0;
        Origin::new(self.file, range.start..end)
    }

    /// Where an attribute's value is written; the tag where there is none.
    pub(super) fn at(self, attribute: &str) -> Origin {
        let found = self.xml.attribute_node(attribute);
        found.map_or_else(|| self.whole(), |a| Origin::new(self.file, a.range_value()))
    }

    /// Where it is written: its name, where it has one.
    pub(super) fn place(self) -> Origin {
        self.at("name")
    }

    /// Where a part of an attribute's value is written.
    pub(super) fn within(self, attribute: &str, part: Range<usize>) -> Origin {
        let whole = self.at(attribute);
        // A value with `&` sequences in it is longer in the file.
        let same = self.get(attribute) == self.file.text.get(whole.span.clone());
        let start = whole.span.start;
        if same { Origin::new(self.file, start + part.start..start + part.end) } else { whole }
    }

    /// A fault at an attribute.
    pub(super) fn fault(self, attribute: &str, message: impl Into<String>, help: &str) -> Faults {
        Faults::one(&self.at(attribute), message, help)
    }

    /// An attribute that must be there.
    pub(super) fn need(self, name: &str) -> Result<&'a str, Faults> {
        self.get(name).ok_or_else(|| {
            Faults::one(
                &self.place(),
                format!("this {} has no {name}", self.xml.tag_name().name()),
                "the file was damaged: fetch it again",
            )
        })
    }

    /// Whether an attribute is 1 rather than 0 or absent.
    pub(super) fn flag(self, name: &str) -> Result<bool, Faults> {
        match self.get(name) {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(self.fault(name, format!("{name} is {other:?}"), "write 0 or 1")),
        }
    }

    /// Refuses attributes that are not `known`, as they may change the meaning of others, and known
    /// ones that say nothing.
    pub(super) fn only(self, known: &[&str]) -> Result<(), Faults> {
        let mut faults = Faults::default();
        for attribute in self.xml.attributes() {
            let name = attribute.name();
            if !known.contains(&name) {
                faults.add(
                    &Origin::new(self.file, attribute.range()),
                    format!("the attribute {name} is not understood"),
                    "it may change what the others mean: teach it to import/adb.rs",
                );
            } else if name != "descr" && attribute.value().trim().is_empty() {
                let help = "remove the attribute, or write its value";
                faults.add(&self.at(name), format!("{name} is empty"), help);
            }
        }
        faults.or(())
    }

    /// The name of a node or a field, which must do as one of the model.
    pub(super) fn name(self) -> Result<&'a str, Faults> {
        let name = self.need("name")?;
        if name.len() > MAX_NAME {
            let message = format!("this name is longer than {MAX_NAME} letters");
            return Err(self.fault("name", message, "shorten it"));
        }
        let plain = name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
        if plain && name.bytes().any(|b| b.is_ascii_alphanumeric()) {
            return Ok(name);
        }
        let help = "names are letters, digits and underscores, not underscores alone";
        Err(self.fault("name", format!("{name:?} is no PRM name"), help))
    }
}
