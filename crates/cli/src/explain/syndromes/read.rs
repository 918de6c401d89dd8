//! Reads a table of syndromes, and tells every fault of it with its place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Certainty, Syndrome};
use crate::arguments::marked;
use crate::explain::{status, words};
use crate::names;

/// How many faults are told at once.
const MOST_FAULTS: usize = 20;

/// The keys of an entry.
const KEYS: &[&str] = &[
    "number",
    "command",
    "detail",
    "op_mod",
    "status",
    "status_number",
    "cause",
    "remedy",
    "adapter",
    "firmware",
    "certainty",
    "source",
    "also",
];

/// Reads a table. All faults of it, when there are any, as they are told to the user.
pub(super) fn read(name: &str, text: &str, own: bool) -> Result<Vec<Syndrome>, String> {
    let mut file = File { name, text, faults: Vec::new() };
    let entries = file.entries(own);
    if file.faults.is_empty() { Ok(entries) } else { Err(file.told()) }
}

/// A file that is read, and what is wrong with it.
struct File<'f> {
    name: &'f str,
    text: &'f str,
    faults: Vec<Fault>,
}

struct Fault {
    at: Range<usize>,
    problem: String,
    remedy: String,
}

impl File<'_> {
    fn fault(&mut self, at: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(Fault { at, problem: problem.into(), remedy: remedy.into() });
    }

    fn entries(&mut self, own: bool) -> Vec<Syndrome> {
        let text = self.text;
        let (root, errors) = DeTable::parse_recoverable(text);
        // Behind the first error of syntax, what is read is guesswork.
        if let Some(error) = errors.iter().min_by_key(|e| e.span().map_or(0, |s| s.start)) {
            let problem = format!("this is no TOML: {}", error.message());
            self.fault(
                error.span().unwrap_or(0..0),
                problem,
                "correct the syntax; `prm explain --help` ends with the form of this file",
            );
            return Vec::new();
        }
        for key in root.get_ref().keys().filter(|key| *key.get_ref() != "syndrome") {
            let problem = format!("{:?} does not belong in this file", key.get_ref());
            self.fault(key.span(), problem, "it holds entries [[syndrome]]");
        }
        let Some(value) = root.get_ref().get("syndrome") else {
            if self.faults.is_empty() {
                self.fault(0..0, "there is no syndrome in it", "write an entry [[syndrome]]");
            }
            return Vec::new();
        };
        let Some(entries) = value.get_ref().as_array() else {
            self.fault(value.span(), "syndrome is no array of tables", "write [[syndrome]]");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.entry(entry, own)).collect()
    }

    fn entry(&mut self, entry: &Spanned<DeValue<'_>>, own: bool) -> Option<Syndrome> {
        let Some(table) = entry.get_ref().as_table() else {
            self.fault(entry.span(), "this is no table", "write [[syndrome]] and keys below it");
            return None;
        };
        for key in table.keys().filter(|key| !KEYS.contains(&&**key.get_ref())) {
            let problem = format!("a syndrome has no key {:?}", key.get_ref());
            self.fault(key.span(), problem, format!("its keys are {}", KEYS.join(", ")));
        }
        let place = entry.span();
        let number = self.need("number", table, &place, |f, k| f.number(k, table, u32::MAX));
        let command = self.need("command", table, &place, |f, k| f.words(k, table));
        let command = command.and_then(|command| self.command(command, table));
        let cause = self.need("cause", table, &place, |f, k| f.words(k, table));
        let certainty = self.need("certainty", table, &place, |f, k| f.certainty(k, table));
        let source = self.need("source", table, &place, |f, k| f.words(k, table));
        let op_mod = self.number("op_mod", table, 0xffff).map(|n| n as u16);
        let status = self.status(table);
        let mut optional = |key| self.words(key, table);
        let (detail, remedy) = (optional("detail"), optional("remedy"));
        let (adapter, firmware) = (optional("adapter"), optional("firmware"));
        let also = self.also(table);
        Some(Syndrome {
            number: number?,
            command: command?,
            detail,
            op_mod,
            status,
            cause: cause?,
            remedy,
            adapter,
            firmware,
            certainty: certainty?,
            source: source?,
            also,
            own,
        })
    }

    /// The value of a key that must be there.
    fn need<T>(
        &mut self,
        key: &'static str,
        table: &DeTable<'_>,
        entry: &Range<usize>,
        value: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        if !table.contains_key(key) {
            self.fault(
                entry.clone(),
                format!("a syndrome without {key}"),
                format!("add {key} = ..."),
            );
            return None;
        }
        value(self, key)
    }

    fn number(&mut self, key: &str, table: &DeTable<'_>, most: u32) -> Option<u32> {
        let value = table.get(key)?;
        let number = value.get_ref().as_integer().and_then(|number| {
            u32::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        });
        let number = number.filter(|number| *number <= most);
        if number.is_none() {
            let remedy = format!("write a number from 0 to {most:#x}, such as 0x1f");
            self.fault(value.span(), format!("{key} is no such number"), remedy);
        }
        number
    }

    fn words(&mut self, key: &str, table: &DeTable<'_>) -> Option<String> {
        let value = table.get(key)?;
        let text = value.get_ref().as_str().map(|text| text.split_whitespace().collect::<Vec<_>>());
        match text {
            Some(words) if !words.is_empty() => Some(words.join(" ")),
            Some(_) => {
                self.fault(
                    value.span(),
                    format!("{key} is empty"),
                    "write it, or leave the key out",
                );
                None
            }
            None => {
                self.fault(value.span(), format!("{key} is no string"), "write it in quotes");
                None
            }
        }
    }

    /// Names of commands, patterns of such, or numbers of those without name.
    fn command(&mut self, command: String, table: &DeTable<'_>) -> Option<String> {
        let is_known = |name: &&str| {
            name.contains('*') || words::named(name).is_some() || names::number(name).is_some()
        };
        let Some(wrong) = command.split_whitespace().find(|name| !is_known(name)) else {
            return Some(command);
        };
        let all = mlx5_prm::Opcode::DESC.values.iter().map(|(_, name)| *name);
        let near = names::nearest_of(wrong, all);
        let place = table.get("command").map_or(0..0, Spanned::span);
        let remedy = "write the name of an opcode, several with blanks between; * stands for any run \
                      of characters; what is no command goes into detail";
        self.fault(place, format!("no command is called {wrong:?}{}", names::list(&near)), remedy);
        None
    }

    fn certainty(&mut self, key: &str, table: &DeTable<'_>) -> Option<Certainty> {
        match &*self.words(key, table)? {
            "stated" => Some(Certainty::Stated),
            "reported" => Some(Certainty::Reported),
            other => {
                let place = table.get(key).map_or(0..0, Spanned::span);
                let remedy = "write \"stated\" (by the vendor, or by who fixed it) or \"reported\"";
                self.fault(place, format!("{other:?} is no certainty"), remedy);
                None
            }
        }
    }

    /// The status, by its number or its words, which agree when both are there.
    fn status(&mut self, table: &DeTable<'_>) -> Option<u8> {
        let number = self.number("status_number", table, 0xff).and_then(|n| u8::try_from(n).ok());
        let said = self.words("status", table)?;
        let place = table.get("status").map_or(0..0, Spanned::span);
        let of_words = status::of_words(&said, false);
        match (of_words, number) {
            (None, None) => {
                self.fault(
                    place,
                    format!("{said:?} is no status"),
                    "write the kernel's words for it",
                );
            }
            (_, Some(number)) if status::disagree(&said, number) => {
                let problem =
                    format!("status {number:#x} is {:?}, not {said:?}", status::words(number));
                self.fault(place, problem, "correct one of status and status_number");
            }
            _ => {}
        }
        number.or(of_words)
    }

    fn also(&mut self, table: &DeTable<'_>) -> Vec<String> {
        let Some(value) = table.get("also") else { return Vec::new() };
        let texts = value.get_ref().as_array().and_then(|entries| {
            entries.iter().map(|entry| entry.get_ref().as_str().map(str::to_owned)).collect()
        });
        texts.unwrap_or_else(|| {
            self.fault(value.span(), "also is no array of strings", "write [\"...\", \"...\"]");
            Vec::new()
        })
    }

    /// The faults, in the order of their places.
    fn told(mut self) -> String {
        self.faults.sort_by_key(|fault| fault.at.start);
        let mut out = String::new();
        for fault in self.faults.iter().take(MOST_FAULTS) {
            out += &self.one(fault);
            out.push('\n');
        }
        let more = self.faults.len().saturating_sub(MOST_FAULTS);
        if more > 0 {
            out += &format!("and {more} faults more\n");
        }
        out.trim_end().to_owned()
    }

    fn one(&self, fault: &Fault) -> String {
        let at = (0..=fault.at.start.min(self.text.len()))
            .rev()
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0);
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let number = before.matches('\n').count() + 1;
        let column = self.text[start..at].chars().count();
        let line = self.text[start..].lines().next().unwrap_or_default();
        let carets = fault.at.len().clamp(1, line.chars().count().saturating_sub(column).max(1));
        let Fault { problem, remedy, .. } = fault;
        let marked = marked(line, column, carets);
        format!("{}:{number}:{}: {problem}\n{marked}\n  {remedy}", self.name, column + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> String {
        read("own.toml", text, true).expect_err("it is at fault")
    }

    const GOOD: &str = "[[syndrome]]\nnumber = 0x1234\ncommand = \"CREATE_CQ\"\ncause = \"It is.\"\n\
                        certainty = \"stated\"\nsource = \"here\"\n";

    #[test]
    fn what_is_needed_is_enough() {
        let read = read("own.toml", GOOD, true).unwrap();
        assert_eq!((read.len(), read[0].number, read[0].status), (1, 0x1234, None));
    }

    #[test]
    fn faults_have_their_place() {
        let text = GOOD.replace("\"stated\"", "\"sure\"").replace("0x1234", "0x1_0000_0000")
            + "reason = 1\nstatus = \"bad parameter\"\nstatus_number = 0x8\n";
        assert_eq!(
            faults(&text),
            "\
own.toml:2:10: number is no such number
  number = 0x1_0000_0000
           ^^^^^^^^^^^^^
  write a number from 0 to 0xffffffff, such as 0x1f
own.toml:5:13: \"sure\" is no certainty
  certainty = \"sure\"
              ^^^^^^
  write \"stated\" (by the vendor, or by who fixed it) or \"reported\"
own.toml:7:1: a syndrome has no key \"reason\"
  reason = 1
  ^^^^^^
  its keys are number, command, detail, op_mod, status, status_number, cause, remedy, adapter, \
firmware, certainty, source, also
own.toml:8:10: status 0x8 is \"limit exceeded\", not \"bad parameter\"
  status = \"bad parameter\"
           ^^^^^^^^^^^^^^^
  correct one of status and status_number"
        );
    }

    #[test]
    fn what_is_missing_or_no_table() {
        assert!(faults("[[syndrome]]\n").starts_with("own.toml:1:1: a syndrome without number\n"));
        assert!(faults("[[syndrome]]\nnumber = \n").contains("own.toml:2:"));
        assert!(faults("").contains("there is no syndrome in it"));
        assert!(faults("syndrome = 1\n").contains("no array of tables"));
        assert!(faults("[[syndromes]]\n").contains("\"syndromes\" does not belong"));
        let text = GOOD.replace("CREATE_CQ", "CREATE_QC");
        assert!(faults(&text).contains("no command is called \"CREATE_QC\"; nearest: CREATE_CQ"));
        assert!(
            faults(&GOOD.replace("\"here\"", "\" \"")).contains("own.toml:6:10: source is empty")
        );
    }

    #[test]
    fn no_damaged_table_panics() {
        let text = GOOD.to_owned() + "also = [\"é\"]\nop_mod = 1\nstatus = \"bad index\"\n";
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let _ = read("own.toml", &text[..at], true);
            let rest: String = text[at..].chars().skip(1).collect();
            let _ = read("own.toml", &(text[..at].to_owned() + &rest), true);
        }
    }
}
