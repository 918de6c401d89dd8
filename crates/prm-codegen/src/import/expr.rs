//! Constant expressions of the headers: sizes of arrays, values of enumerators, and conditions.

use std::collections::HashMap;

use super::lexer::{Class, Lexer, Word};
use crate::fault::{Faults, Origin};

/// How deep parentheses and macros may be nested before an expression is refused.
const DEPTH: usize = 64;

/// How many words one expression may have, those of its macros counted, before it is refused.
pub(super) const WORDS: usize = 10_000;

/// Names that stand for numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Enumerators that were read.
    pub(super) values: HashMap<String, i128>,
    /// Macros that are defined.
    pub(super) macros: HashMap<String, Macro>,
    /// How often the meaning of a macro was changed or ended.
    pub(super) changes: u32,
}

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// Where its body is written, read when it is used.
    pub(super) body: Origin,
    /// It has parameters: it counts as defined, and is never used.
    pub(super) parameters: bool,
}

/// An expression that has no value here.
#[derive(Debug)]
pub(super) struct Unread {
    /// Why.
    pub(super) faults: Faults,
    /// Not the expression is wrong: it needs what only a compiler with every header has.
    pub(super) foreign: bool,
}

impl From<Faults> for Unread {
    fn from(faults: Faults) -> Self {
        Unread { faults, foreign: false }
    }
}

/// The value of an expression of which all words are given, and the word after it.
pub(super) fn value(words: Vec<Word>, end: Word, names: &Names) -> Result<i128, Unread> {
    evaluate(words.into_iter().map(Ok), end, names, false)
}

/// Whether the condition that is the rest of a preprocessor line holds.
pub(super) fn condition(line: &mut Lexer, names: &Names) -> Result<bool, Faults> {
    let rest = line.rest();
    let end = rest.span.end;
    let end = Word { class: Class::End, place: Origin::new(&rest.file, end..end) };
    match evaluate(words(line), end, names, true) {
        Ok(value) => Ok(value != 0),
        Err(unread) => Err(unread.faults),
    }
}

/// The words that are left in `lexer`.
fn words(lexer: &mut Lexer) -> impl Iterator<Item = Result<Word, Faults>> {
    std::iter::from_fn(|| lexer.next().map(|w| (w.class != Class::End).then_some(w)).transpose())
}

fn evaluate(
    words: impl Iterator<Item = Result<Word, Faults>>,
    end: Word,
    names: &Names,
    condition: bool,
) -> Result<i128, Unread> {
    let mut expansion =
        Expansion { names, condition, words: Vec::new(), inside: Vec::new(), read: 0 };
    for word in words {
        expansion.take(word?)?;
    }
    let mut words = expansion.words;
    words.push(Word { class: Class::End, ..end });
    let mut reader =
        Reader { words, at: 0, names, condition, depth: 0, live: true, unsigned: false };
    let value = reader.value()?;
    if reader.word().class != Class::End {
        return Err(reader.expected("the end of the expression"));
    }
    Ok(value)
}

/// Puts the bodies of macros in the place of their names, as the preprocessor does.
struct Expansion<'a> {
    names: &'a Names,
    condition: bool,
    words: Vec<Word>,
    /// The macros in whose bodies this is.
    inside: Vec<String>,
    /// Words that were taken, those that macros replaced counted.
    read: usize,
}

impl<'a> Expansion<'a> {
    fn take(&mut self, word: Word) -> Result<(), Unread> {
        self.read += 1;
        if self.read > WORDS {
            return Err(Unread::from(too_long(&word)));
        }
        let Some(body) = self.replacement(&word) else {
            self.words.push(word);
            return Ok(());
        };
        if self.inside.len() == DEPTH {
            return Err(Unread::from(Faults::one(
                &word.place,
                format!("macros are nested more than {DEPTH} deep here"),
                "write the number itself",
            )));
        }
        self.inside.push(word.text().to_owned());
        for word in words(&mut Lexer::part(body)) {
            self.take(word?)?;
        }
        self.inside.pop();
        Ok(())
    }

    /// The body of the macro that `word` names. None within that macro itself, and after
    /// `defined`, which asks for the name.
    fn replacement(&self, word: &Word) -> Option<&'a Origin> {
        if word.class != Class::Name || self.inside.iter().any(|name| name == word.text()) {
            return None;
        }
        let mut before = self.words.iter().rev().skip_while(|w| self.condition && w.is("("));
        if self.condition && before.next().is_some_and(|w| w.text() == "defined") {
            return None;
        }
        self.names.macros.get(word.text()).filter(|m| !m.parameters).map(|m| &m.body)
    }
}

/// The fault of an expression that `word` makes too long.
pub(super) fn too_long(word: &Word) -> Faults {
    Faults::one(
        &word.place,
        format!("this expression is longer than {WORDS} words, those of its macros counted"),
        "write it out, and check for macros that name each other",
    )
}

/// Operators of two sides, from those that bind weakest to those that bind strongest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Reads an expression whose macros are replaced.
struct Reader<'a> {
    /// Its words; the last one is of [`Class::End`].
    words: Vec<Word>,
    at: usize,
    names: &'a Names,
    /// It is a condition: only macros have values, and every other name is 0.
    condition: bool,
    depth: usize,
    /// What is read here counts. It does not in `B` of `1 || B`, which may divide by 0.
    live: bool,
    /// An unsigned number was read. C counts them modulo a power of 2 that hangs on their types;
    /// types are not known here, so that no number below 0 may come near them.
    unsigned: bool,
}

impl Reader<'_> {
    fn word(&self) -> &Word {
        &self.words[self.at]
    }

    fn fault(&self, message: impl Into<String>, help: &str) -> Unread {
        Unread::from(Faults::one(&self.word().place, message, help))
    }

    fn foreign(&self, message: impl Into<String>, help: &str) -> Unread {
        Unread { foreign: true, ..self.fault(message, help) }
    }

    /// The fault that something else than `wanted` stands here.
    fn expected(&self, wanted: &str) -> Unread {
        let shown = self.word().text();
        let message = if shown.is_empty() {
            format!("the line ends where {wanted} belongs")
        } else {
            format!("{shown:?} where {wanted} belongs")
        };
        match self.word().class {
            Class::Text => self.foreign(message, "strings and characters are not read here"),
            _ => self.fault(message, "write a constant expression"),
        }
    }

    fn mark(&mut self, mark: &str) -> bool {
        let is = self.word().is(mark);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, mark: &str) -> Result<(), Unread> {
        if self.mark(mark) { Ok(()) } else { Err(self.expected(&format!("{mark:?}"))) }
    }

    /// Enters what may be nested without end.
    fn deeper(&mut self) -> Result<(), Unread> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault(
                format!("this expression is nested more than {DEPTH} deep"),
                "write it flat",
            ));
        }
        Ok(())
    }

    /// The value of the expression that begins here; `?:` binds weakest.
    fn value(&mut self) -> Result<i128, Unread> {
        let condition = self.level(0)?;
        if !self.mark("?") {
            return Ok(condition);
        }
        self.deeper()?;
        let yes = self.when(condition != 0, Self::value)?;
        self.expect(":")?;
        let no = self.when(condition == 0, Self::value)?;
        self.depth -= 1;
        Ok(if condition != 0 { yes } else { no })
    }

    /// Reads a part that counts only when `live`.
    fn when(
        &mut self,
        live: bool,
        read: impl Fn(&mut Self) -> Result<i128, Unread>,
    ) -> Result<i128, Unread> {
        let before = self.live;
        self.live &= live;
        let value = read(self)?;
        self.live = before;
        Ok(value)
    }

    /// Operators of one level and those that bind stronger.
    fn level(&mut self, level: usize) -> Result<i128, Unread> {
        let Some(marks) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        loop {
            let Some(mark) = marks.iter().copied().find(|m| self.mark(m)) else { return Ok(left) };
            let here = self.at;
            let live = match mark {
                "||" => left == 0,
                "&&" => left != 0,
                _ => true,
            };
            let right = self.when(live, |r| r.level(level + 1))?;
            let end = std::mem::replace(&mut self.at, here);
            left = match operate(left, mark, right) {
                _ if !self.live => 0,
                Some(value) => self.typed(value, left < 0 || right < 0)?,
                None => {
                    return Err(self.fault(
                        format!("{left} {mark} {right} has no value of 64 bits"),
                        "write a constant that has one",
                    ));
                }
            };
            self.at = end;
        }
    }

    /// `value`, unless C might find another one by the types of what it is made from.
    fn typed(&self, value: i128, negative: bool) -> Result<i128, Unread> {
        if self.unsigned && self.live && (negative || value < 0) {
            return Err(self.foreign(
                "this value hangs on the types of its numbers",
                "write it without numbers below 0, or without unsigned ones",
            ));
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<i128, Unread> {
        self.deeper()?;
        let value = self.atom_inner()?;
        self.depth -= 1;
        Ok(value)
    }

    fn atom_inner(&mut self) -> Result<i128, Unread> {
        if self.mark("+") {
            return self.atom();
        }
        if self.mark("-") {
            let value = -self.atom()?;
            return self.typed(value, false);
        }
        if self.mark("!") {
            return Ok(i128::from(self.atom()? == 0));
        }
        if self.mark("~") {
            let value = self.atom()?;
            // Beyond 32 bits, C counts in a type that is not known here.
            if self.live && i32::try_from(value).is_err() {
                return Err(self.foreign("~ of more than 32 bits is not read", "write the number"));
            }
            return self.typed(!value, false);
        }
        if self.mark("(") {
            if let Some(bits) = self.cast() {
                self.at += 2;
                let value = self.atom()?;
                self.unsigned = true;
                return Ok(value & ((1 << bits) - 1));
            }
            let value = self.value()?;
            self.expect(")")?;
            return Ok(value);
        }
        if self.word().class != Class::Name {
            return Err(self.expected("a number"));
        }
        if self.word().text().starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        self.name()
    }

    /// The bits of the type in parentheses, after the first of them, when it is one.
    fn cast(&self) -> Option<u32> {
        if !self.words.get(self.at + 1)?.is(")") {
            return None;
        }
        match self.word().text() {
            "u8" | "__u8" | "uint8_t" => Some(8),
            "u16" | "__u16" | "uint16_t" => Some(16),
            "u32" | "__u32" | "uint32_t" => Some(32),
            "u64" | "__u64" | "uint64_t" => Some(64),
            _ => None,
        }
    }

    /// A C integer: decimal, hexadecimal, octal or binary, with or without a suffix of U and L.
    fn number(&mut self) -> Result<i128, Unread> {
        let text = self.word().text();
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let (digits_only, radix) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        let Ok(value) = u64::from_str_radix(digits_only, radix) else {
            return Err(self.fault(
                format!("{text:?} is not a number of 64 bits"),
                "write decimal or 0x hexadecimal",
            ));
        };
        self.unsigned |= text[digits.len()..].contains(['u', 'U']);
        self.at += 1;
        Ok(i128::from(value))
    }

    fn name(&mut self) -> Result<i128, Unread> {
        let name = self.word().text().to_owned();
        let called = self.words[self.at + 1].is("(");
        if self.condition {
            if name == "defined" {
                return self.defined();
            }
            if !called {
                self.at += 1;
                return Ok(0);
            }
            return Err(self.fault(
                format!("{name}(...) is not understood"),
                "macros with parameters are not read: run the header through the preprocessor \
                 first (gcc -E -P), or remove the condition",
            ));
        }
        // Macros that every one of these headers takes from elsewhere.
        if matches!(name.as_str(), "BIT" | "BIT_ULL" | "UCS_BIT") && called {
            self.at += 2;
            let bit = self.value()?;
            let value = u32::try_from(bit).ok().filter(|n| *n < 64).map(|n| 1i128 << n);
            let value = value
                .ok_or_else(|| self.fault(format!("there is no bit {bit}"), "bits are 0 to 63"))?;
            self.expect(")")?;
            self.unsigned = true;
            return Ok(value);
        }
        // From <limits.h>. DPDK has a size in it.
        let char_bit = (name == "CHAR_BIT").then_some(&8);
        if let Some(value) = self.names.values.get(&name).or(char_bit) {
            self.at += 1;
            return Ok(*value);
        }
        Err(match self.names.macros.get(&name) {
            _ if called => self.foreign(format!("{name}(...) is not read"), "write its value"),
            Some(m) if m.parameters => {
                self.foreign(format!("the macro {name} has parameters"), "write its value")
            }
            Some(_) => self.foreign(format!("the macro {name} names itself"), "write its value"),
            None => self.foreign(
                format!("{name} is not defined above this line"),
                "import the header that defines it together with this one, before it",
            ),
        })
    }

    /// `defined NAME` or `defined(NAME)`.
    fn defined(&mut self) -> Result<i128, Unread> {
        self.at += 1;
        let parenthesis = self.mark("(");
        if self.word().class != Class::Name {
            return Err(self.expected("the name of a macro"));
        }
        let defined = self.names.macros.contains_key(self.word().text());
        self.at += 1;
        if parenthesis {
            self.expect(")")?;
        }
        Ok(i128::from(defined))
    }
}

/// The result of an operator; `None` where C has none of 64 bits.
fn operate(left: i128, mark: &str, right: i128) -> Option<i128> {
    let shift = || u32::try_from(right).ok().filter(|n| *n < 64);
    let value = match mark {
        "||" => i128::from(left != 0 || right != 0),
        "&&" => i128::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i128::from(left == right),
        "!=" => i128::from(left != right),
        "<" => i128::from(left < right),
        ">" => i128::from(left > right),
        "<=" => i128::from(left <= right),
        ">=" => i128::from(left >= right),
        "<<" => left << shift()?,
        ">>" => left >> shift()?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    };
    (value.unsigned_abs() <= u128::from(u64::MAX)).then_some(value)
}
