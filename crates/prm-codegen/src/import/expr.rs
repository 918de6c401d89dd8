//! Constant expressions of the headers: sizes of arrays and values of enumerators.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use super::lexer::{Class, Word, words_in};
use crate::fault::{Faults, Origin, SourceFile};

/// How deep parentheses and macros may be nested before an expression is refused.
const DEPTH: u32 = 64;

/// How many macros one expression may name, those in macros counted, before it is refused.
const MACROS: u32 = 1000;

/// Names that stand for numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Enumerators that were read.
    pub(super) values: HashMap<String, i128>,
    /// Macros without parameters: their bodies, read when they are used.
    pub(super) macros: HashMap<String, Origin>,
    /// Macros that the present expression named so far.
    pub(super) named: Cell<u32>,
}

/// Reads one expression from a run of words.
pub(super) struct Reader<'a> {
    pub(super) file: &'a Arc<SourceFile>,
    pub(super) words: &'a [Word],
    pub(super) at: usize,
    pub(super) names: &'a Names,
    pub(super) depth: u32,
}

impl Reader<'_> {
    fn word(&self) -> &Word {
        &self.words[self.at.min(self.words.len() - 1)]
    }

    fn text(&self) -> &str {
        &self.file.text[self.word().span.clone()]
    }

    fn fault(&self, message: impl Into<String>, help: &str) -> Faults {
        Faults::one(&Origin::new(self.file, self.word().span.clone()), message, help)
    }

    fn mark(&mut self, mark: &str) -> bool {
        let is = self.word().class == Class::Mark && self.text() == mark;
        if is {
            self.at += 1;
        }
        is
    }

    fn expect(&mut self, mark: &str) -> Result<(), Faults> {
        if self.mark(mark) {
            return Ok(());
        }
        Err(self.fault(
            format!("{:?} where {mark:?} belongs in this expression", self.text()),
            "write a constant expression",
        ))
    }

    /// The value of the expression that begins here; `|` binds weakest.
    pub(super) fn value(&mut self) -> Result<i128, Faults> {
        self.level(0)
    }

    /// Operators from the weakest level to the strongest.
    fn level(&mut self, level: usize) -> Result<i128, Faults> {
        const LEVELS: [&[&str]; 5] = [&["|"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/"]];
        let Some(marks) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        loop {
            let Some(mark) = marks.iter().copied().find(|m| self.mark(m)) else { return Ok(left) };
            let here = self.at;
            let right = self.level(level + 1)?;
            let result = match mark {
                "|" => Some(left | right),
                "&" => Some(left & right),
                "<<" => u32::try_from(right).ok().filter(|n| *n < 64).map(|n| left << n),
                ">>" => u32::try_from(right).ok().filter(|n| *n < 64).map(|n| left >> n),
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ => left.checked_div(right),
            };
            left =
                result.filter(|v| v.unsigned_abs() <= u128::from(u64::MAX)).ok_or_else(|| {
                    self.at = here;
                    self.fault(
                        format!("{left} {mark} {right} has no value of 64 bits"),
                        "write a constant that has one",
                    )
                })?;
        }
    }

    fn atom(&mut self) -> Result<i128, Faults> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault(
                format!("this expression is nested more than {DEPTH} deep"),
                "write it flat, and check for a macro that names itself",
            ));
        }
        let value = self.atom_inner()?;
        self.depth -= 1;
        Ok(value)
    }

    fn atom_inner(&mut self) -> Result<i128, Faults> {
        if self.mark("-") {
            return Ok(-self.atom()?);
        }
        if self.mark("(") {
            if matches!(self.text(), "u8" | "u16" | "u32" | "u64") {
                self.at += 1;
                self.expect(")")?;
                return self.atom();
            }
            let value = self.value()?;
            self.expect(")")?;
            return Ok(value);
        }
        if self.word().class != Class::Name {
            return Err(self.fault(
                format!("{:?} where a number belongs", self.text()),
                "write a number, a macro or an enumerator",
            ));
        }
        let name = self.text().to_owned();
        if name.as_bytes()[0].is_ascii_digit() {
            let value = number(&name).ok_or_else(|| {
                self.fault(
                    format!("{name:?} is not a number of 64 bits"),
                    "write decimal or 0x hexadecimal",
                )
            })?;
            self.at += 1;
            return Ok(value);
        }
        if matches!(name.as_str(), "BIT" | "BIT_ULL") {
            self.at += 1;
            self.expect("(")?;
            let bit = self.value()?;
            let value = u32::try_from(bit).ok().filter(|n| *n < 64).map(|n| 1i128 << n);
            let value = value
                .ok_or_else(|| self.fault(format!("there is no bit {bit}"), "bits are 0 to 63"))?;
            self.expect(")")?;
            return Ok(value);
        }
        if let Some(value) = self.names.values.get(&name) {
            self.at += 1;
            return Ok(*value);
        }
        let Some(body) = self.names.macros.get(&name) else {
            return Err(self.fault(
                format!("{name} is not defined above this line"),
                "import the header that defines it together with this one, before it",
            ));
        };
        self.names.named.set(self.names.named.get() + 1);
        if self.names.named.get() > MACROS {
            return Err(self.fault(
                format!("this expression names more than {MACROS} macros"),
                "write it out, and check for macros that name each other",
            ));
        }
        let words = words_in(&body.file, body.span.clone())?;
        let mut inner = Reader {
            file: &body.file,
            words: &words,
            at: 0,
            names: self.names,
            depth: self.depth + 1,
        };
        let value = inner.value()?;
        if inner.word().class != Class::End {
            return Err(inner.fault(
                format!("{:?} follows the value of {name}", inner.text()),
                "a macro used as a size must be one constant expression",
            ));
        }
        self.at += 1;
        Ok(value)
    }
}

/// A C integer: decimal, 0x or octal, with or without a suffix of U and L.
fn number(text: &str) -> Option<i128> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value.ok().map(i128::from)
}
