//! Walks a TOML file key by key, so that one run tells every fault of the file.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::{Faults, Origin, SourceFile};
use crate::model::FieldValue;

/// One table of a file, with the faults found so far.
pub(super) struct Table<'t, 'i> {
    file: &'t Arc<SourceFile>,
    table: &'t DeTable<'i>,
    /// Where the table stands.
    pub(super) origin: Origin,
    /// What the table is, for messages: `a field`, `a layout`.
    what: &'static str,
    asked: Vec<&'static str>,
}

/// Reads `file` and calls `each` for every table of the arrays it may hold.
///
/// `arrays` names the arrays of tables that belong in the file, each with what one entry is.
pub(super) fn each_entry(
    file: &Arc<SourceFile>,
    arrays: &[(&'static str, &'static str)],
    faults: &mut Faults,
    mut each: impl FnMut(&'static str, &mut Table<'_, '_>, &mut Faults),
) {
    let (root, errors) = DeTable::parse_recoverable(&file.text);
    // Behind the first error of syntax, what is read is guesswork.
    if let Some(error) = errors.iter().min_by_key(|e| e.span().map_or(0, |s| s.start)) {
        faults.add(
            &Origin::new(file, error.span().unwrap_or(0..0)),
            format!("this is no TOML: {}", error.message()),
            "correct the syntax; the rest of the file is read once it is right",
        );
        return;
    }
    let wanted = arrays.iter().map(|(key, _)| format!("[[{key}]]")).collect::<Vec<_>>().join(", ");
    let mut keys: Vec<_> = root.get_ref().iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in keys {
        let Some((name, what)) = arrays.iter().find(|(name, _)| key.get_ref() == name) else {
            faults.add(
                &Origin::new(file, key.span()),
                format!("{:?} does not belong in this file", key.get_ref()),
                format!("it holds {wanted}"),
            );
            continue;
        };
        let Some(entries) = value.get_ref().as_array() else {
            let origin = Origin::new(file, value.span());
            faults.add(
                &origin,
                format!("{name} is no array of tables"),
                format!("write [[{name}]]"),
            );
            continue;
        };
        for entry in entries.iter() {
            table(file, entry, what, faults, |t, faults| each(name, t, faults));
        }
    }
}

/// Calls `each` with `value` as a table, and tells the keys that nobody asked for.
fn table(
    file: &Arc<SourceFile>,
    value: &Spanned<DeValue<'_>>,
    what: &'static str,
    faults: &mut Faults,
    each: impl FnOnce(&mut Table<'_, '_>, &mut Faults),
) {
    let origin = Origin::new(file, value.span());
    let Some(table) = value.get_ref().as_table() else {
        faults.add(
            &origin,
            format!("this is no table, and {what} is one"),
            "write { key = value, ... }",
        );
        return;
    };
    // An entry with a heading of its own is known by its name.
    let headed = file.text[value.span()].starts_with("[[");
    let name = ["name", "command"].into_iter().find_map(|key| table.get(key)).filter(|_| headed);
    let origin = name.map_or(origin, |name| Origin::new(file, name.span()));
    let mut table = Table { file, table, origin, what, asked: Vec::new() };
    each(&mut table, faults);
    table.leftover(faults);
}

impl Table<'_, '_> {
    fn leftover(&self, faults: &mut Faults) {
        for key in self.table.keys().filter(|k| !self.asked.iter().any(|a| *k.get_ref() == *a)) {
            faults.add(
                &Origin::new(self.file, key.span()),
                format!("{} has no key {:?}", self.what, key.get_ref()),
                format!("its keys are {}", self.asked.join(", ")),
            );
        }
    }

    fn find(&mut self, key: &'static str) -> Option<(&DeValue<'_>, Range<usize>)> {
        self.asked.push(key);
        self.table.get(key).map(|v| (v.get_ref(), v.span()))
    }

    fn wrong(&self, span: Range<usize>, key: &str, wanted: &str, faults: &mut Faults) {
        faults.add(
            &Origin::new(self.file, span),
            format!("{key} is not {wanted}"),
            format!("write {wanted}"),
        );
    }

    /// Tells that `key`, asked for before, is not there.
    pub(super) fn missing(&self, key: &str, faults: &mut Faults) {
        let message = format!("{} without {key}", self.what);
        faults.add(&self.origin, message, format!("add {key} = ..."));
    }

    /// Whether the key is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where the value of a key stands; the whole table where it is absent.
    pub(super) fn place(&self, key: &str) -> Origin {
        self.table
            .get(key)
            .map_or_else(|| self.origin.clone(), |v| Origin::new(self.file, v.span()))
    }

    /// A string that may be absent.
    pub(super) fn text(&mut self, key: &'static str, faults: &mut Faults) -> Option<String> {
        let (value, span) = self.find(key)?;
        match value.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong(span, key, "a string", faults);
                None
            }
        }
    }

    /// A string that must be there.
    pub(super) fn need_text(&mut self, key: &'static str, faults: &mut Faults) -> Option<String> {
        if !self.has(key) {
            self.asked.push(key);
            self.missing(key, faults);
            return None;
        }
        self.text(key, faults)
    }

    /// A number that may be absent.
    pub(super) fn number(&mut self, key: &'static str, faults: &mut Faults) -> Option<i64> {
        let (value, span) = self.find(key)?;
        let number = value
            .as_integer()
            .and_then(|i| i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok());
        if number.is_none() {
            self.wrong(span, key, "a whole number of up to 64 bits, such as 0x1f", faults);
        }
        number
    }

    /// A number that must be there, and not be negative nor over `max`.
    pub(super) fn need_u32(
        &mut self,
        key: &'static str,
        max: u32,
        faults: &mut Faults,
    ) -> Option<u32> {
        if !self.has(key) {
            self.asked.push(key);
            self.missing(key, faults);
            return None;
        }
        self.u32(key, max, faults)
    }

    /// A number that may be absent, and is neither negative nor over `max`.
    pub(super) fn u32(&mut self, key: &'static str, max: u32, faults: &mut Faults) -> Option<u32> {
        let value = self.number(key, faults)?;
        let fits = u32::try_from(value).ok().filter(|v| *v <= max);
        if fits.is_none() {
            faults.add(
                &self.place(key),
                format!("{key} = {value} is out of range"),
                format!("{key} is 0 to {max}"),
            );
        }
        fits
    }

    /// A flag that is false when absent.
    pub(super) fn flag(&mut self, key: &'static str, faults: &mut Faults) -> bool {
        let Some((value, span)) = self.find(key) else { return false };
        value.as_bool().unwrap_or_else(|| {
            self.wrong(span, key, "true or false", faults);
            false
        })
    }

    /// A list of strings with their places; empty when absent.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
        faults: &mut Faults,
    ) -> Vec<(String, Origin)> {
        self.asked.push(key);
        let Some(value) = self.table.get(key) else { return Vec::new() };
        let Some(entries) = value.get_ref().as_array() else {
            self.wrong(value.span(), key, "an array of strings", faults);
            return Vec::new();
        };
        let mut out = Vec::new();
        for entry in entries.iter() {
            match entry.get_ref().as_str() {
                Some(text) => out.push((text.to_owned(), Origin::new(self.file, entry.span()))),
                None => self.wrong(entry.span(), key, "an array of strings", faults),
            }
        }
        out
    }

    /// The words of a string; none when it is absent.
    pub(super) fn words(&mut self, key: &'static str, faults: &mut Faults) -> Vec<String> {
        let text = self.text(key, faults).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// A table of names and numbers, by number; empty when absent.
    pub(super) fn numbers(&mut self, key: &'static str, faults: &mut Faults) -> Vec<FieldValue> {
        const WANTED: &str = "a table of names and numbers, such as { OFF = 0x0, ON = 0x1 }";
        self.asked.push(key);
        let Some(value) = self.table.get(key) else { return Vec::new() };
        let Some(entries) = value.get_ref().as_table() else {
            self.wrong(value.span(), key, WANTED, faults);
            return Vec::new();
        };
        let mut out = Vec::new();
        for (name, value) in entries.iter() {
            let number = value.get_ref().as_integer();
            let number = number
                .and_then(|i| u64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok());
            match number {
                Some(value) => out.push(FieldValue { name: name.get_ref().to_string(), value }),
                None => self.wrong(value.span(), key, WANTED, faults),
            }
        }
        out.sort_by(|a, b| (a.value, &a.name).cmp(&(b.value, &b.name)));
        out
    }

    /// Calls `each` for every table of the array `key`, which must be there.
    pub(super) fn tables(
        &mut self,
        key: &'static str,
        what: &'static str,
        faults: &mut Faults,
        mut each: impl FnMut(&mut Table<'_, '_>, &mut Faults),
    ) {
        self.asked.push(key);
        let Some(value) = self.table.get(key) else {
            self.missing(key, faults);
            return;
        };
        let Some(entries) = value.get_ref().as_array() else {
            self.wrong(value.span(), key, "an array of tables", faults);
            return;
        };
        for entry in entries.iter() {
            table(self.file, entry, what, faults, &mut each);
        }
    }
}
