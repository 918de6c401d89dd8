//! Preprocessor lines: macros are noted, and what conditions leave out is left out, as in C.

use std::sync::Arc;

use super::expr::{self, Macro, Names};
use super::lexer::{Class, Lexer, Word};
use crate::fault::{Faults, Origin, SourceFile};

/// How deep conditions may be nested before a header is refused.
const DEPTH: usize = 64;

/// The words of a header without its preprocessor lines and without what its conditions leave out.
///
/// The only macros are those of the headers read so far; a name that is none of them is 0.
pub(super) struct Preprocessor<'a> {
    lexer: Lexer,
    pub(super) names: &'a mut Names,
    /// The conditions that are open, the outermost first.
    open: Vec<Condition>,
    /// An `#error` is noted, and is no fault.
    pub(super) admits_errors: bool,
    /// Those that were noted.
    pub(super) errors: Vec<Origin>,
}

/// An `#if` and what it admits.
struct Condition {
    /// The `#if`.
    place: Origin,
    /// What stands here now is read.
    read: bool,
    /// No later branch is read: one was already, or the whole stands where nothing is read.
    done: bool,
    /// The `#else` was there.
    last: bool,
}

impl<'a> Preprocessor<'a> {
    pub(super) fn new(file: &Arc<SourceFile>, names: &'a mut Names) -> Self {
        Preprocessor {
            lexer: Lexer::new(file),
            names,
            open: Vec::new(),
            admits_errors: false,
            errors: Vec::new(),
        }
    }

    /// The next word that is read.
    pub(super) fn next(&mut self) -> Result<Word, Faults> {
        loop {
            let word = self.lexer.next()?;
            match word.class {
                Class::End => return Ok(word),
                Class::Directive => self.directive(&word)?,
                _ if self.reads() => return Ok(word),
                _ => {}
            }
        }
    }

    /// Tells a condition that the end of the file leaves open.
    pub(super) fn finish(&self) -> Result<(), Faults> {
        let Some(open) = self.open.last() else { return Ok(()) };
        let name = directive_name(&open.place)?;
        Err(Faults::one(
            &open.place,
            format!("this #{} has no #endif", name.0.text()),
            "the file may be cut off: fetch the header again",
        ))
    }

    /// Whether what stands here is read.
    fn reads(&self) -> bool {
        self.open.last().is_none_or(|c| c.read)
    }

    fn directive(&mut self, line: &Word) -> Result<(), Faults> {
        let place = &line.place;
        let (name, mut rest) = directive_name(place)?;
        match name.text() {
            "if" | "ifdef" | "ifndef" => {
                if self.open.len() == DEPTH {
                    return Err(Faults::one(
                        place,
                        format!("conditions are nested more than {DEPTH} deep here"),
                        "run the header through the preprocessor first (gcc -E -P)",
                    ));
                }
                let outer = self.reads();
                let read = outer && self.holds(&name, &mut rest)?;
                let done = read || !outer;
                self.open.push(Condition { place: place.clone(), read, done, last: false });
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                let last = name.text() == "else";
                let Some(condition) = self.open.last_mut().filter(|c| !c.last) else {
                    return Err(self.stray(&name));
                };
                condition.last = last;
                condition.read = false;
                // As in C, what stands after a branch that was read is not looked at.
                if condition.done {
                    return Ok(());
                }
                let read = last || self.holds(&name, &mut rest)?;
                let condition = self.open.last_mut().expect("it was there above");
                condition.read = read;
                condition.done = read;
            }
            "endif" => {
                if self.open.pop().is_none() {
                    return Err(self.stray(&name));
                }
            }
            _ if !self.reads() => {}
            "define" => self.define(&name, rest)?,
            "undef" => {
                let name = macro_name(&name, &mut rest)?;
                if self.names.macros.remove(name.text()).is_some() {
                    self.names.changes += 1;
                }
            }
            "error" if self.admits_errors => self.errors.push(place.clone()),
            "error" => {
                let text = rest.rest();
                let text = text.file.text[text.span].trim();
                return Err(Faults::one(
                    place,
                    format!("the header refuses to be read: {}", text.lines().next().unwrap_or("")),
                    "import the header that defines the macros it asks for together with this \
                     one, before it",
                ));
            }
            "" | "include" | "include_next" | "import" | "pragma" | "warning" | "ident"
            | "line" => {}
            // What a preprocessor leaves behind: `# 1 "header.h"`.
            line if line.starts_with(|c: char| c.is_ascii_digit()) => {}
            other => {
                return Err(Faults::one(
                    place,
                    format!("#{other} is not understood"),
                    "the preprocessor lines of C are read: correct its name",
                ));
            }
        }
        Ok(())
    }

    /// A line of a condition that is not open.
    fn stray(&self, name: &Word) -> Faults {
        let message = match self.open.last() {
            Some(condition) => {
                let line = condition.place.line();
                format!("#{} after the #else of the condition of line {line}", name.text())
            }
            None => format!("#{} without an #if", name.text()),
        };
        Faults::one(&name.place, message, "a line is missing above: fetch the header again")
    }

    /// Whether the condition of an `#if`, `#elif` or one of their kin holds.
    fn holds(&self, name: &Word, rest: &mut Lexer) -> Result<bool, Faults> {
        match name.text() {
            "if" | "elif" => expr::condition(rest, self.names),
            kind => {
                let defined = self.names.macros.contains_key(macro_name(name, rest)?.text());
                Ok(defined != kind.ends_with("ndef"))
            }
        }
    }

    fn define(&mut self, define: &Word, mut rest: Lexer) -> Result<(), Faults> {
        let name = macro_name(define, &mut rest)?;
        let body = rest.rest();
        let parameters = body.file.text[body.span.clone()].starts_with('(');
        let new = Macro { body, parameters };
        if self.names.macros.insert(name.text().to_owned(), new).is_some() {
            self.names.changes += 1;
        }
        Ok(())
    }
}

/// The name of the directive at `line`, and what follows it.
fn directive_name(line: &Origin) -> Result<(Word, Lexer), Faults> {
    let after = Origin::new(&line.file, line.span.start + "#".len()..line.span.end);
    let mut rest = Lexer::part(&after);
    let name = rest.next()?;
    Ok((name, rest))
}

/// The macro that a `#define` and its kin are about.
fn macro_name(directive: &Word, rest: &mut Lexer) -> Result<Word, Faults> {
    let name = rest.next()?;
    let is_name =
        name.class == Class::Name && !name.text().starts_with(|c: char| c.is_ascii_digit());
    if is_name {
        return Ok(name);
    }
    let kind = directive.text();
    Err(Faults::one(
        &directive.place,
        format!("this #{kind} has no name"),
        format!("write #{kind} NAME"),
    ))
}
