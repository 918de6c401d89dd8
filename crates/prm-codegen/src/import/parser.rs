//! Grammar of the headers: layouts and enums, as they are written.
//!
//! What else a header holds is passed over in `foreign.rs`.

use super::expr::{self, Names, Unread};
use super::foreign::{Head, endless};
use super::lexer::{Class, Word};
use super::preprocessor::Preprocessor;
use super::{HeaderFile, PassedOver};
use crate::fault::{Faults, Origin};
use crate::model::Kind;

/// How deep structs may be nested before a header is refused.
const DEPTH: u32 = 32;

/// How many things of one header may be passed over before it is refused.
const PASSED_OVER: usize = 100_000;

/// Types of one byte. In the layouts they stand for one bit.
const BITS: [&str; 3] = ["u8", "uint8_t", "__u8"];

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
    /// Its members; or what is wrong with their grammar, where that is no end of the reading.
    pub(super) body: Result<Body, Faults>,
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
    /// `u8` or its like: one bit.
    Bit,
    /// A struct or union defined elsewhere, by tag.
    Tag(Kind, String),
    /// A struct or union written in place.
    Inline(Body),
}

/// An enum: its tag, or what a typedef calls it, where it has one, and its values.
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
    pub(super) passed_over: Vec<PassedOver>,
}

/// PRM name of the layout with a C tag; `None` for the tag of another struct.
pub(super) fn prm_name(tag: &str) -> Option<&str> {
    let short = tag.strip_suffix("_bits");
    let name = match tag.strip_prefix("mlx5_ifc_") {
        Some(name) => short.and_then(|s| s.strip_prefix("mlx5_ifc_")).unwrap_or(name),
        None => short.map(|s| s.strip_prefix("uct_ib_mlx5_").unwrap_or(s))?,
    };
    (!name.is_empty()).then_some(name)
}

/// Reads one header. `names` carries enumerators and macros from header to header. If `lenient`,
/// the grammar of a layout may be broken.
pub(super) fn parse(
    header: &HeaderFile,
    names: &mut Names,
    lenient: bool,
) -> Result<Header, Faults> {
    let mut source = Preprocessor::new(&header.file, names);
    source.admits_errors = !header.takes.is_empty();
    let word = source.next()?;
    let mut parser = Parser {
        source,
        last: word.clone(),
        word,
        takes: &header.takes,
        lenient,
        header: Header::default(),
        depth: 0,
        braces: 0,
        scopes: Vec::new(),
        left: [0; 2],
    };
    while parser.word.class != Class::End {
        parser.item()?;
    }
    parser.finish(header)
}

pub(super) struct Parser<'a> {
    source: Preprocessor<'a>,
    /// The word that was taken last.
    pub(super) last: Word,
    /// The word that comes now.
    pub(super) word: Word,
    /// Beginnings of the enumerators that are taken; empty: everything.
    takes: &'a [String],
    /// A layout may be broken.
    lenient: bool,
    header: Header,
    /// How deep in structs this is.
    depth: u32,
    /// Braces that are open before the present word.
    braces: usize,
    /// The `extern "C"` and namespaces that are open.
    pub(super) scopes: Vec<Origin>,
    /// Items and enumerators of a header from which only some enumerators are taken.
    left: [usize; 2],
}

impl Parser<'_> {
    pub(super) fn place(&self) -> Origin {
        self.word.place.clone()
    }

    /// Goes on to the next word.
    pub(super) fn advance(&mut self) -> Result<(), Faults> {
        let word = self.source.next()?;
        self.last = std::mem::replace(&mut self.word, word);
        if self.last.is("{") {
            self.braces += 1;
        } else if self.last.is("}") {
            self.braces = self.braces.saturating_sub(1);
        }
        Ok(())
    }

    /// Goes on to the next word, and gives the one that was there.
    pub(super) fn take(&mut self) -> Result<Word, Faults> {
        self.advance()?;
        Ok(self.last.clone())
    }

    /// A fault at the present word: what stands here, and what belongs here.
    pub(super) fn unexpected(&self, wanted: &str) -> Faults {
        if self.word.class == Class::End {
            return Faults::one(
                &self.place(),
                format!("the file ends where {wanted} belongs"),
                "the file may be cut off: fetch the header again",
            );
        }
        let shown = self.word.text().lines().next().unwrap_or_default();
        Faults::one(
            &self.place(),
            format!("{shown:?} where {wanted} belongs"),
            "this construct is not part of the mlx5_ifc dialect that is read; see prm-spec/README.md",
        )
    }

    pub(super) fn mark(&mut self, mark: &str) -> Result<bool, Faults> {
        let is = self.word.is(mark);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), Faults> {
        if self.mark(mark)? { Ok(()) } else { Err(self.unexpected(&format!("{mark:?}"))) }
    }

    fn name(&mut self, wanted: &str) -> Result<String, Faults> {
        if self.word.class != Class::Name {
            return Err(self.unexpected(wanted));
        }
        Ok(self.take()?.text().to_owned())
    }

    /// The name of a field.
    fn field(&mut self) -> Result<String, Faults> {
        let name = self.name("the name of a field")?;
        if self.source.names.macros.contains_key(&name) {
            return Err(Faults::one(
                &self.last.place,
                format!("the field's name {name} is a macro"),
                "write what it stands for",
            ));
        }
        Ok(name)
    }

    /// Whether layouts, and all enumerators, are read.
    pub(super) fn takes_all(&self) -> bool {
        self.takes.is_empty()
    }

    /// Notes that something is passed over.
    pub(super) fn pass_over(&mut self, label: String, origin: Origin) -> Result<(), Faults> {
        if !self.takes_all() {
            self.left[0] += 1;
            return Ok(());
        }
        self.note(label, origin)
    }

    fn note(&mut self, label: String, origin: Origin) -> Result<(), Faults> {
        if self.header.passed_over.len() == PASSED_OVER {
            return Err(Faults::one(
                &origin,
                format!("more than {PASSED_OVER} things of this header are no layouts"),
                "import headers that hold layouts of the PRM",
            ));
        }
        self.header.passed_over.push(PassedOver { label, fault: None, origin });
        Ok(())
    }

    fn finish(mut self, file: &HeaderFile) -> Result<Header, Faults> {
        if let Some(place) = self.scopes.last() {
            return Err(endless(place, "this { is never closed"));
        }
        self.source.finish()?;
        for error in std::mem::take(&mut self.source.errors) {
            self.note(error.file.text[error.span.clone()].to_owned(), error)?;
        }
        let [items, enumerators] = self.left;
        if !self.takes_all() {
            let taken = self.takes.join("*, ");
            let label =
                format!("{items} items and {enumerators} enumerators that are not {taken}*");
            self.note(label, Origin::whole(&file.file))?;
        }
        Ok(self.header)
    }

    pub(super) fn kind(&mut self) -> Result<Kind, Faults> {
        let word = self.take()?;
        Ok(if word.text() == "struct" { Kind::Struct } else { Kind::Union })
    }

    /// The layout whose tag was read: its body, and the `;` after it.
    pub(super) fn layout(&mut self, kind: Kind, tag: &Word, typedef: bool) -> Result<(), Faults> {
        let around = self.braces;
        self.expect("{")?;
        let body = match self.body(kind) {
            Err(faults) if self.lenient => Err(self.leave(around, faults)?),
            body => Ok(body?),
        };
        if typedef {
            self.name("the name of a type")?;
        }
        self.expect(";")?;
        let (tag, place) = (tag.text().to_owned(), tag.place.clone());
        self.header.definitions.push(Definition { tag, body, place });
        Ok(())
    }

    /// Leaves a layout with `faults` by its last brace, outside of which `around` are open.
    fn leave(&mut self, around: usize, faults: Faults) -> Result<Faults, Faults> {
        self.depth = 0;
        while self.braces > around {
            if self.word.class == Class::End {
                return Err(faults);
            }
            self.advance()?;
        }
        Ok(faults)
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
        while !self.mark("}")? {
            members.push(self.member()?);
        }
        self.depth -= 1;
        Ok(Body { kind, members })
    }

    fn member(&mut self) -> Result<Member, Faults> {
        if self.word.text() == "DECLARE_FLEX_ARRAY" {
            self.advance()?;
            self.expect("(")?;
            let type_ = self.type_()?;
            self.expect(",")?;
            let place = self.place();
            let name = self.field()?;
            let mut sizes = vec![None];
            sizes.extend(self.sizes()?);
            self.expect(")")?;
            self.expect(";")?;
            return Ok(Member { name: Some(name), type_, sizes, place });
        }
        let type_ = self.type_()?;
        let place = self.place();
        if matches!(type_, Type::Inline(_)) && self.mark(";")? {
            return Ok(Member { name: None, type_, sizes: Vec::new(), place });
        }
        let name = self.field()?;
        let sizes = self.sizes()?;
        self.expect(";")?;
        Ok(Member { name: Some(name), type_, sizes, place })
    }

    fn type_(&mut self) -> Result<Type, Faults> {
        match self.word.text() {
            name if BITS.contains(&name) => {
                self.is_byte(name)?;
                self.advance()?;
                Ok(Type::Bit)
            }
            "struct" | "union" => {
                let kind = self.kind()?;
                if self.mark("{")? {
                    return Ok(Type::Inline(self.body(kind)?));
                }
                Ok(Type::Tag(kind, self.name("the name of a struct or union")?))
            }
            _ => Err(self.unexpected("a member (u8, struct, union or DECLARE_FLEX_ARRAY)")),
        }
    }

    /// Tells a type of one byte that a macro makes another one.
    fn is_byte(&self, name: &str) -> Result<(), Faults> {
        let Some(macro_) = self.source.names.macros.get(name) else { return Ok(()) };
        let body = macro_.body.file.text[macro_.body.span.clone()].trim();
        if BITS.contains(&body) {
            return Ok(());
        }
        Err(Faults::one(
            &self.place(),
            format!("{name} is a macro for {body:?} here, which is no type of one byte"),
            "one bit is written as u8, uint8_t or __u8",
        ))
    }

    fn sizes(&mut self) -> Result<Vec<Option<u64>>, Faults> {
        let mut sizes = Vec::new();
        while self.mark("[")? {
            if self.mark("]")? {
                sizes.push(None);
                continue;
            }
            let place = self.place();
            let value = self.expression(&["]"])?.map_err(|unread| unread.faults)?;
            self.expect("]")?;
            let value = u64::try_from(value).map_err(|_| {
                Faults::one(&place, format!("{value} is no size"), "sizes are 0 or more")
            })?;
            // `[0]` is how older headers write an open length, when it is not the width of a field.
            sizes.push((value > 0 || !sizes.is_empty()).then_some(value));
        }
        Ok(sizes)
    }

    /// The value of the expression that goes up to one of the marks `ends`.
    fn expression(&mut self, ends: &[&str]) -> Result<Result<i128, Unread>, Faults> {
        let changes = self.source.names.changes;
        let place = self.place();
        let mut words = Vec::new();
        let mut depth = 0;
        while self.word.class != Class::End {
            let mark = if self.word.class == Class::Mark { self.word.text() } else { "" };
            match mark {
                _ if depth == 0 && ends.contains(&mark) => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" | ";" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if words.len() == expr::WORDS {
                return Err(expr::too_long(&self.word));
            }
            words.push(self.take()?);
        }
        if self.source.names.changes != changes {
            return Err(Faults::one(
                &place,
                "a macro changes its meaning before this expression ends",
                "move the #define or #undef to a line of its own between two items",
            ));
        }
        Ok(expr::value(words, self.word.clone(), self.source.names))
    }

    /// The enum whose keyword comes now.
    pub(super) fn enumeration(&mut self, mut head: Head) -> Result<(), Faults> {
        let place = self.place();
        head.add(self.take()?);
        while matches!(self.word.text(), "class" | "struct") {
            self.advance()?;
        }
        let (tag, _) = self.tag(&mut head)?;
        if self.word.is(":") {
            // The type that holds it: `enum : unsigned long long {`.
            self.advance()?;
            while self.word.class == Class::Name {
                self.advance()?;
            }
        }
        if !self.word.is("{") {
            let label = tag.map(|t| format!("enum {}", t.text()));
            return self.rest(head, label);
        }
        self.advance()?;
        let values = self.enumerators()?;
        let typedef = head.typedef;
        let declared = self.declarators()?.filter(|_| typedef);
        let tag = tag.map(|t| t.text().to_owned()).or(declared);
        self.header.enums.push(Enum { tag, values, place });
        Ok(())
    }

    /// Enumerators up to the closing brace, which is taken: those that are to be read and can be.
    fn enumerators(&mut self) -> Result<Vec<(String, i128, Origin)>, Faults> {
        let mut values = Vec::new();
        // The value of the next one, or why it has none.
        let mut next = Ok(0);
        while !self.mark("}")? {
            let place = self.place();
            let name = self.name("an enumerator")?;
            while self.word.text() == "__attribute__" {
                self.advance()?;
                self.group()?;
            }
            if self.mark("=")? {
                next = match self.expression(&[",", "}"])? {
                    Ok(value) => Ok(value),
                    Err(unread) if unread.foreign => Err(unread.faults.0[0].message.clone()),
                    Err(unread) => return Err(unread.faults),
                };
            } else if self.word.is("(") {
                self.group()?;
                next = Err("a macro makes it".to_owned());
            }
            if !self.word.is("}") {
                self.expect(",")?;
            }
            let taken = self.takes_all() || self.takes.iter().any(|t| name.starts_with(t));
            self.left[1] += usize::from(!taken);
            next = match next {
                Ok(value) => {
                    self.enumerator(&name, value, taken, &place)?;
                    if taken {
                        values.push((name, value, place));
                    }
                    Ok(value + 1)
                }
                Err(why) => {
                    let after = format!("it counts on from {name}, which is passed over");
                    if taken {
                        self.note(format!("enumerator {name} ({why})"), place)?;
                    }
                    Err(after)
                }
            };
        }
        Ok(values)
    }

    /// Notes the value of an enumerator.
    fn enumerator(
        &mut self,
        name: &str,
        value: i128,
        taken: bool,
        place: &Origin,
    ) -> Result<(), Faults> {
        if taken && i64::try_from(value).is_err() {
            return Err(Faults::one(
                place,
                format!("{name} is {value}, which a table can't hold"),
                "table values are signed numbers of 64 bits",
            ));
        }
        if self.source.names.values.insert(name.to_owned(), value).is_some() {
            return Err(Faults::one(
                place,
                format!("the enumerator {name} is defined twice"),
                "remove one of the two, or import the headers of one version only",
            ));
        }
        Ok(())
    }
}
