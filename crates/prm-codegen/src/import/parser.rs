//! Grammar of the headers: structs, unions, enums and macros, as they are written.

use std::sync::Arc;

use super::expr::{Names, Reader};
use super::lexer::{Class, Word, words};
use crate::fault::{Faults, Origin, SourceFile};
use crate::model::Kind;

/// How deep structs may be nested before a header is refused.
const DEPTH: u32 = 32;

/// The members of a struct or union, as C writes them.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) kind: Kind,
    pub(super) members: Vec<Member>,
}

/// A named struct or union at the top of a header.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) tag: String,
    pub(super) body: Body,
    pub(super) place: Origin,
}

/// One member.
#[derive(Debug)]
pub(super) struct Member {
    /// No name: an unnamed struct or union, whose members belong to the one around it.
    pub(super) name: Option<String>,
    pub(super) type_: Type,
    /// Sizes in brackets, outermost first; `None` is an open length.
    pub(super) sizes: Vec<Option<u64>>,
    pub(super) place: Origin,
}

/// The type of a member.
#[derive(Debug)]
pub(super) enum Type {
    /// `u8`: in this dialect, one bit.
    Bit,
    /// A struct or union defined elsewhere, by tag.
    Tag(Kind, String),
    /// A struct or union written in place.
    Inline(Body),
}

/// An enum: its tag where it has one, and its values.
#[derive(Debug)]
pub(super) struct Enum {
    pub(super) tag: Option<String>,
    pub(super) values: Vec<(String, i128, Origin)>,
    pub(super) place: Origin,
}

/// What a header holds.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) definitions: Vec<Definition>,
    pub(super) enums: Vec<Enum>,
}

/// Reads one header. `names` carries enumerators and macros from header to header.
pub(super) fn parse(file: &Arc<SourceFile>, names: &mut Names) -> Result<Header, Faults> {
    let words = words(file)?;
    let mut parser = Parser { file, words, at: 0, names, guard: None, depth: 0 };
    let mut header = Header::default();
    while parser.word().class != Class::End {
        parser.item(&mut header)?;
    }
    match parser.guard {
        Some(place) => Err(Faults::one(
            &place,
            "this #ifndef has no #endif",
            "the file may be cut off: fetch the header again",
        )),
        None => Ok(header),
    }
}

struct Parser<'a> {
    file: &'a Arc<SourceFile>,
    words: Vec<Word>,
    at: usize,
    names: &'a mut Names,
    /// The include guard that is open.
    guard: Option<Origin>,
    depth: u32,
}

impl Parser<'_> {
    fn word(&self) -> &Word {
        &self.words[self.at.min(self.words.len() - 1)]
    }

    fn text(&self) -> &str {
        &self.file.text[self.word().span.clone()]
    }

    fn place(&self) -> Origin {
        Origin::new(self.file, self.word().span.clone())
    }

    /// A fault at the present word: what stands here, and what belongs here.
    fn unexpected(&self, wanted: &str) -> Faults {
        if self.word().class == Class::End {
            return Faults::one(
                &self.place(),
                format!("the file ends where {wanted} belongs"),
                "the file may be cut off: fetch the header again",
            );
        }
        let shown = self.text().lines().next().unwrap_or_default();
        Faults::one(
            &self.place(),
            format!("{shown:?} where {wanted} belongs"),
            "this construct is not part of the mlx5_ifc dialect that is read; see prm-spec/README.md",
        )
    }

    fn mark(&mut self, mark: &str) -> bool {
        let is = self.word().class == Class::Mark && self.text() == mark;
        if is {
            self.at += 1;
        }
        is
    }

    fn expect(&mut self, mark: &str) -> Result<(), Faults> {
        if self.mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("{mark:?}"))) }
    }

    fn name(&mut self, wanted: &str) -> Result<String, Faults> {
        if self.word().class != Class::Name {
            return Err(self.unexpected(wanted));
        }
        let name = self.text().to_owned();
        self.at += 1;
        Ok(name)
    }

    fn item(&mut self, header: &mut Header) -> Result<(), Faults> {
        if self.word().class == Class::Directive {
            return self.directive();
        }
        match self.text() {
            "struct" | "union" => {
                let kind = self.kind();
                let place = self.place();
                let tag = self.name("the name of a struct or union")?;
                self.expect("{")?;
                let body = self.body(kind)?;
                self.expect(";")?;
                header.definitions.push(Definition { tag, body, place });
            }
            "enum" => header.enums.push(self.enumeration()?),
            _ => return Err(self.unexpected("a struct, a union or an enum")),
        }
        Ok(())
    }

    fn kind(&mut self) -> Kind {
        let kind = if self.text() == "struct" { Kind::Struct } else { Kind::Union };
        self.at += 1;
        kind
    }

    /// Members up to the closing brace, which is taken.
    fn body(&mut self, kind: Kind) -> Result<Body, Faults> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Faults::one(
                &self.place(),
                format!("structs are nested more than {DEPTH} deep here"),
                "give the inner ones names of their own",
            ));
        }
        let mut members = Vec::new();
        while !self.mark("}") {
            members.push(self.member()?);
        }
        self.depth -= 1;
        Ok(Body { kind, members })
    }

    fn member(&mut self) -> Result<Member, Faults> {
        if self.text() == "DECLARE_FLEX_ARRAY" {
            self.at += 1;
            self.expect("(")?;
            let type_ = self.type_()?;
            self.expect(",")?;
            let place = self.place();
            let name = self.name("the name of a field")?;
            let mut sizes = vec![None];
            sizes.extend(self.sizes()?);
            self.expect(")")?;
            self.expect(";")?;
            return Ok(Member { name: Some(name), type_, sizes, place });
        }
        let type_ = self.type_()?;
        let place = self.place();
        if matches!(type_, Type::Inline(_)) && self.mark(";") {
            return Ok(Member { name: None, type_, sizes: Vec::new(), place });
        }
        let name = self.name("the name of a field")?;
        let sizes = self.sizes()?;
        self.expect(";")?;
        Ok(Member { name: Some(name), type_, sizes, place })
    }

    fn type_(&mut self) -> Result<Type, Faults> {
        match self.text() {
            "u8" => {
                self.at += 1;
                Ok(Type::Bit)
            }
            "struct" | "union" => {
                let kind = self.kind();
                if self.mark("{") {
                    return Ok(Type::Inline(self.body(kind)?));
                }
                Ok(Type::Tag(kind, self.name("the name of a struct or union")?))
            }
            _ => Err(self.unexpected("a member (u8, struct, union or DECLARE_FLEX_ARRAY)")),
        }
    }

    fn sizes(&mut self) -> Result<Vec<Option<u64>>, Faults> {
        let mut sizes = Vec::new();
        while self.mark("[") {
            if self.mark("]") {
                sizes.push(None);
                continue;
            }
            let place = self.place();
            let value = self.expression()?;
            self.expect("]")?;
            let value = u64::try_from(value).map_err(|_| {
                Faults::one(&place, format!("{value} is no size"), "sizes are 0 or more")
            })?;
            // `[0]` is how older headers write an open length, when it is not the width of a field.
            sizes.push((value > 0 || !sizes.is_empty()).then_some(value));
        }
        Ok(sizes)
    }

    fn expression(&mut self) -> Result<i128, Faults> {
        self.names.named.set(0);
        let mut reader = Reader {
            file: self.file,
            words: &self.words,
            at: self.at,
            names: self.names,
            depth: 0,
        };
        let value = reader.value()?;
        self.at = reader.at;
        Ok(value)
    }

    fn enumeration(&mut self) -> Result<Enum, Faults> {
        let place = self.place();
        self.at += 1;
        let tag = if self.word().class == Class::Name { Some(self.name("a name")?) } else { None };
        self.expect("{")?;
        let mut values = Vec::new();
        let mut next = 0;
        while !self.mark("}") {
            let place = self.place();
            let name = self.name("an enumerator")?;
            if self.mark("=") {
                next = self.expression()?;
            }
            if i64::try_from(next).is_err() {
                return Err(Faults::one(
                    &place,
                    format!("{name} is {next}, which a table can't hold"),
                    "table values are signed numbers of 64 bits",
                ));
            }
            if self.names.values.insert(name.clone(), next).is_some() {
                return Err(Faults::one(
                    &place,
                    format!("the enumerator {name} is defined twice"),
                    "remove one of the two, or import the headers of one version only",
                ));
            }
            values.push((name, next, place));
            next += 1;
            if !self.mark(",") && self.text() != "}" {
                return Err(self.unexpected("\",\" or \"}\""));
            }
        }
        self.expect(";")?;
        Ok(Enum { tag, values, place })
    }

    fn directive(&mut self) -> Result<(), Faults> {
        let place = self.place();
        let text = self.text().to_owned();
        self.at += 1;
        let line = text[1..].trim_start();
        let (word, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
        match word {
            "include" => Ok(()),
            "define" => self.define(&place, rest),
            // A guard: the next line defines the very name.
            "ifndef"
                if self.guard.is_none()
                    && self.text().trim_start_matches("#define").trim() == rest.trim() =>
            {
                self.guard = Some(place);
                Ok(())
            }
            "endif" if self.guard.is_some() => {
                self.guard = None;
                Ok(())
            }
            _ => Err(Faults::one(
                &place,
                format!("#{word} is not understood"),
                "only #include, #define and an include guard are read: run the header through the \
                 preprocessor first (gcc -E -P), or remove the condition",
            )),
        }
    }

    fn define(&mut self, place: &Origin, rest: &str) -> Result<(), Faults> {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if end == 0 {
            return Err(Faults::one(place, "this #define has no name", "write #define NAME VALUE"));
        }
        // A macro with parameters is never a size: it is kept out, and named when it is used.
        if rest[end..].starts_with('(') {
            return Ok(());
        }
        let start = place.span.end - rest[end..].len();
        let body = Origin::new(self.file, start..place.span.end);
        self.names.macros.insert(rest[..end].to_owned(), body);
        Ok(())
    }
}
