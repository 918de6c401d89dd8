//! Items of a header that are no layouts and no enums: each is passed over as a whole.

use super::lexer::{Class, Word};
use super::parser::{Parser, prm_name};
use crate::fault::{Faults, Origin};

/// The words with which an item begins.
pub(super) struct Head {
    /// Where it begins.
    place: Origin,
    pub(super) typedef: bool,
    /// The names so far.
    names: usize,
    /// The last one of them.
    last: Option<Word>,
    /// There was one that is no word of C for what follows: a macro, or an attribute.
    strange: bool,
}

impl Head {
    /// Adds the next word.
    pub(super) fn add(&mut self, word: Word) {
        self.typedef |= word.text() == "typedef";
        self.strange |= !matches!(word.text(), "typedef" | "extern" | "static" | "const");
        self.names += 1;
        self.last = Some(word);
    }
}

/// Whether an item may begin with `word`, and no item goes on with it after a parenthesis.
fn begins_item(word: &Word) -> bool {
    matches!(
        word.text(),
        "struct" | "union" | "enum" | "typedef" | "static" | "extern" | "namespace" | "template"
    )
}

impl Parser<'_> {
    /// One item of the top level.
    pub(super) fn item(&mut self) -> Result<(), Faults> {
        if self.mark(";")? {
            return Ok(());
        }
        if !self.scopes.is_empty() && self.mark("}")? {
            self.scopes.pop();
            return Ok(());
        }
        let place = self.place();
        let mut head = Head { place, typedef: false, names: 0, last: None, strange: false };
        while self.word.class == Class::Name {
            match self.word.text() {
                "struct" | "union" => return self.structure(head),
                "enum" => return self.enumeration(head),
                "namespace" => return self.namespace(head),
                _ => head.add(self.take()?),
            }
        }
        // What `extern "C"` is written before is read as if it were not.
        if self.word.class == Class::Text && self.last.text() == "extern" {
            self.advance()?;
            if self.word.is("{") {
                let brace = self.take()?;
                self.scopes.push(brace.place);
            }
            return Ok(());
        }
        self.rest(head, None)
    }

    /// A namespace: what is in it is read as if it stood outside.
    fn namespace(&mut self, mut head: Head) -> Result<(), Faults> {
        while self.word.class == Class::Name || self.word.is(":") {
            head.add(self.take()?);
        }
        if !self.word.is("{") {
            return self.rest(head, None);
        }
        let brace = self.take()?;
        self.scopes.push(brace.place);
        Ok(())
    }

    /// The struct or union whose keyword comes now: a layout, another one, or the type of
    /// something that is declared.
    fn structure(&mut self, mut head: Head) -> Result<(), Faults> {
        // Words before the keyword leave the members where they are.
        let strange = head.strange;
        let keyword = self.word.clone();
        let kind = self.kind()?;
        head.add(keyword.clone());
        let (tag, plain) = self.tag(&mut head)?;
        let layout = tag.as_ref().filter(|t| self.takes_all() && prm_name(t.text()).is_some());
        if let Some(tag) = layout
            && (self.word.is("{") || self.word.is(":"))
        {
            if !plain {
                return Err(Faults::one(
                    &tag.place,
                    format!("the words beside {} are not understood", tag.text()),
                    "attributes may move its members: remove them",
                ));
            }
            if strange {
                self.pass_over(format!("words before {}", tag.text()), head.place)?;
            }
            return self.layout(kind, tag, head.typedef);
        }
        let label = tag.map(|tag| format!("{} {}", keyword.text(), tag.text()));
        if !self.word.is("{") {
            return self.rest(head, label);
        }
        self.group()?;
        let declared = self.declarators()?;
        let label = label.unwrap_or_else(|| match declared {
            Some(name) => format!("{} of {name}", keyword.text()),
            None => format!("{} without a name", keyword.text()),
        });
        self.pass_over(label, head.place)
    }

    /// The tag of a struct, union or enum, and whether no other words are beside it. It is the last
    /// one, for attributes stand before it, unless one is a layout's.
    pub(super) fn tag(&mut self, head: &mut Head) -> Result<(Option<Word>, bool), Faults> {
        let mut tag: Option<Word> = None;
        let mut plain = true;
        loop {
            let attribute = tag.as_ref().is_some_and(|t| {
                t.text().starts_with("__") || matches!(t.text(), "alignas" | "_Alignas")
            });
            if self.word.class == Class::Name {
                plain &= tag.is_none();
                let word = self.take()?;
                head.add(word.clone());
                tag = tag.filter(|t| prm_name(t.text()).is_some()).or(Some(word));
            } else if attribute && self.word.is("(") {
                self.group()?;
                plain = false;
                tag = None;
            } else {
                return Ok((tag, plain));
            }
        }
    }

    /// The rest of an item that is neither a layout nor an enum. `label` says what it is if it ends
    /// here.
    pub(super) fn rest(&mut self, mut head: Head, label: Option<String>) -> Result<(), Faults> {
        let mut label = label.filter(|_| self.word.is(";") && !head.typedef);
        // The name before the first parenthesis, as that of a function or macro, and whether it is
        // the first word.
        let mut called: Option<(Option<Word>, bool)> = None;
        let mut assigned = false;
        let mut starred = None;
        loop {
            let mark = if self.word.class == Class::Mark { self.word.text() } else { "" };
            match mark {
                ";" => {
                    self.advance()?;
                    break;
                }
                "}" if !self.scopes.is_empty() => break,
                ")" | "]" | "}" => return Err(self.unexpected("an item")),
                "(" | "[" | "{" => {
                    let opening = mark.to_owned();
                    if opening == "(" && !assigned && called.is_none() {
                        called = Some((head.last.clone(), head.names == 1));
                    }
                    let name = self.group()?;
                    starred = starred.or(name);
                    // What has a body and parameters ends with its body.
                    if opening == "{" && called.is_some() && !assigned && !head.typedef {
                        break;
                    }
                    // A macro may stand without a `;`.
                    if opening == "(" && called.is_some() && begins_item(&self.word) {
                        break;
                    }
                }
                _ if self.word.class == Class::End => {
                    return Err(endless(&head.place, "what begins here never ends"));
                }
                _ => {
                    assigned |= mark == "=";
                    self.advance()?;
                    if self.last.class == Class::Name && !assigned {
                        head.add(self.last.clone());
                    }
                }
            }
        }
        let named =
            |word: Option<Word>| word.map_or("without a name".into(), |w| w.text().to_owned());
        let label = label.take().unwrap_or_else(|| match called {
            _ if head.typedef => format!("typedef {}", starred.unwrap_or_else(|| named(head.last))),
            Some((name, true)) => format!("macro {}", named(name)),
            Some((name, false)) => format!("function {}", named(name)),
            None => format!("declaration {}", named(head.last)),
        });
        self.pass_over(label, head.place)
    }

    /// What stands between the closing brace of a type and its `;`, which is taken: attributes and
    /// names. Gives the last name that is no attribute.
    pub(super) fn declarators(&mut self) -> Result<Option<String>, Faults> {
        let mut name = None;
        let mut assigned = false;
        loop {
            let mark = if self.word.class == Class::Mark { self.word.text() } else { "" };
            match mark {
                ";" => {
                    self.advance()?;
                    return Ok(name);
                }
                "(" | "[" => drop(self.group()?),
                "{" if assigned => drop(self.group()?),
                "=" | "*" | "," | "." | "-" | "&" => {
                    assigned |= mark == "=";
                    self.advance()?;
                }
                _ if self.word.class == Class::Name && !begins_item(&self.word) => {
                    self.advance()?;
                    if !assigned && !self.last.text().starts_with("__") {
                        name = Some(self.last.text().to_owned());
                    }
                }
                _ => return Err(self.unexpected("\";\"")),
            }
        }
    }

    /// Goes over what an opening mark and its closing one enclose, both included. Gives the first
    /// name after a `*` in it: that of a type of functions, in `typedef int (*name)(void)`.
    pub(super) fn group(&mut self) -> Result<Option<String>, Faults> {
        let start = self.place();
        let mut open: Vec<char> = Vec::new();
        let mut name = None;
        loop {
            let mark = if self.word.class == Class::Mark { self.word.text() } else { "" };
            match mark {
                "(" => open.push(')'),
                "[" => open.push(']'),
                "{" if self.takes_all() && prm_name(self.last.text()).is_some() => {
                    return Err(Faults::one(
                        &self.last.place,
                        format!("{} stands where no layout is read", self.last.text()),
                        "write struct or union before it, and move it to the top of the header",
                    ));
                }
                "{" => open.push('}'),
                ")" | "]" | "}" => {
                    let wanted = open.pop().expect("it ends with the outermost");
                    if !mark.starts_with(wanted) {
                        return Err(self.unexpected(&format!("\"{wanted}\"")));
                    }
                }
                _ if self.word.class == Class::End => {
                    let mark = &start.file.text[start.span.clone()];
                    return Err(endless(&start, &format!("this {mark} is never closed")));
                }
                _ if self.word.class == Class::Name && self.last.is("*") && name.is_none() => {
                    name = Some(self.word.text().to_owned());
                }
                _ => {}
            }
            self.advance()?;
            if open.is_empty() {
                return Ok(name);
            }
        }
    }
}

/// The fault of something that begins at `place` and is not at its end with the file.
pub(super) fn endless(place: &Origin, message: &str) -> Faults {
    Faults::one(place, message, "the file may be cut off: fetch the header again")
}
