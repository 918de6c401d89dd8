//! Faults of arguments, shown where they are: the command line, and a caret below what is wrong.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::error::picture;

/// What is wrong with an argument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArgumentFault {
    /// The argument, as it was given.
    argument: String,
    /// Its part that is wrong, in bytes.
    part: Range<usize>,
    /// What is wrong.
    problem: String,
    /// What would be right, one line.
    remedy: String,
}

impl ArgumentFault {
    /// A part of an argument is wrong.
    pub(crate) fn new(
        argument: &str,
        part: Range<usize>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (problem, remedy) = (problem.into(), remedy.into());
        ArgumentFault { argument: argument.to_owned(), part, problem, remedy }
    }

    /// A whole argument is wrong.
    pub(crate) fn whole(
        argument: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(argument, 0..argument.len(), problem, remedy)
    }

    /// The same fault in the argument that was typed: `made` was made of it, and begins with so many bytes
    /// of it.
    pub(crate) fn moved_to(mut self, made: &str, typed: &str, same: usize) -> Self {
        if self.argument == made {
            self.argument = typed.to_owned();
            if self.part.end > same {
                self.part = same.min(self.part.start)..typed.len();
            }
        }
        self
    }

    /// Whether it is the value of an option, as in `--to=sim`.
    fn is_value_of(&self, argument: &str) -> bool {
        let value = argument.starts_with("--").then(|| argument.split_once('=')).flatten();
        value.is_some_and(|(_, value)| value == self.argument)
    }

    /// The problem, the command line with carets, and the remedy.
    fn show(&self, line: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        let whole = line.iter().rposition(|argument| *argument == self.argument);
        if let Some(at) = whole.or_else(|| line.iter().rposition(|a| self.is_value_of(a))) {
            let before: usize = line[..at].iter().map(|a| quoted(a).chars().count() + 1).sum();
            let shown = quoted(&line[at]);
            // Inside quotes the argument is as it is, but for quotes of its own.
            let open = usize::from(shown.len() != line[at].len());
            let option = line[at].chars().count() - self.argument.chars().count();
            let within = option + self.argument[..self.part.start].chars().count() + open;
            let carets = self.argument[self.part.clone()].chars().count().max(1);
            let text: Vec<String> = line.iter().map(|argument| quoted(argument)).collect();
            write!(f, "\n{}", marked(&text.join(" "), before + within, carets))?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n{}", self.remedy)?;
        }
        Ok(())
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line: Vec<String> = std::iter::once("prm".to_owned())
            .chain(std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()))
            .collect();
        self.show(&line, f)
    }
}

impl std::error::Error for ArgumentFault {}

/// The longest text that is shown of a line, beside what is marked.
const AROUND: usize = 200;

/// A line with carets below some characters; of a long line what is around them.
pub(crate) fn marked(line: &str, column: usize, len: usize) -> String {
    let from = if column > AROUND { column - AROUND / 2 } else { 0 };
    let (len, all) = (len.min(AROUND), line.chars().count());
    let to = all.min(column + len + AROUND / 2);
    let cut = |from: usize, to: usize| -> String {
        line.chars().skip(from).take(to.saturating_sub(from)).map(picture).collect()
    };
    let before = if from > 0 { "... " } else { "" };
    let behind = if to < all { " ..." } else { "" };
    // As terminals count columns: some characters take two, some none.
    let space = before.len() + cut(from, column).width();
    let carets = cut(column, column + len).width().max(1);
    format!("  {before}{}{behind}\n  {:space$}{:^<carets$}", cut(from, to), "", "")
}

/// An argument as one would type it.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%[]".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &[&str], fault: &ArgumentFault) -> String {
        struct Shown<'a>(&'a [String], &'a ArgumentFault);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.1.show(self.0, f)
            }
        }
        let line: Vec<String> = line.iter().map(|a| (*a).to_owned()).collect();
        Shown(&line, fault).to_string()
    }

    #[test]
    fn the_caret_is_below_what_is_wrong() {
        let fault = ArgumentFault::new("cqn=zz", 4..6, "`zz` is no number", "Give 5, or 0x5.");
        assert_eq!(
            shown(&["prm", "encode", "modify_cq", "cqn=zz"], &fault),
            "`zz` is no number\n  prm encode modify_cq cqn=zz\n                           ^^\nGive 5, or 0x5."
        );
    }

    #[test]
    fn the_value_of_an_option_has_its_caret() {
        let fault = ArgumentFault::new("simm:x", 0..4, "no", "");
        assert_eq!(
            shown(&["prm", "--to=simm:x"], &fault),
            "no\n  prm --to=simm:x\n           ^^^^"
        );
    }

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        let fault = ArgumentFault::new("a=x y", 2..5, "no", "");
        assert_eq!(shown(&["prm", "a=x y"], &fault), "no\n  prm 'a=x y'\n         ^^^");
        assert_eq!(shown(&["prm", "other"], &fault), "no", "it is not there to be shown");
    }

    #[test]
    fn carets_stand_as_terminals_count() {
        let fault = ArgumentFault::new("\u{6f22}\u{5b57}=\u{5024}", 7..10, "no", "");
        assert_eq!(
            shown(&["prm", "\u{6f22}\u{5b57}=\u{5024}"], &fault),
            "no\n  prm \u{6f22}\u{5b57}=\u{5024}\n           ^^"
        );
        let fault = ArgumentFault::new("e\u{301}=x", 4..5, "no", "");
        assert_eq!(shown(&["prm", "e\u{301}=x"], &fault), "no\n  prm 'e\u{301}=x'\n         ^");
    }

    #[test]
    fn control_characters_have_a_column_too() {
        let fault = ArgumentFault::new("a\n\tb=\x1bc", 5..7, "no", "");
        assert_eq!(
            shown(&["prm", "a\n\tb=\x1bc"], &fault),
            "no\n  prm 'a\u{240a}\u{2409}b=\u{241b}c'\n            ^^"
        );
    }
}
