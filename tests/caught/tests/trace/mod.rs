//! The trace of a run, for tests that look at what is sent and not at what surrounds it.

use std::fs;
use std::path::Path;

/// An ioctl of the trace: its errno, its method, and its attributes.
pub(crate) struct Ioctl {
    pub(crate) errno: i32,
    pub(crate) method: String,
    pub(crate) attrs: Vec<Attr>,
}

pub(crate) struct Attr {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) len: usize,
    pub(crate) content: String,
}

impl Ioctl {
    fn of_line(line: &str) -> Self {
        let columns: Vec<&str> = line.split('\t').collect();
        let ["ioctl", errno, method, _, _, _, _, _, attrs @ .., _] = &columns[..] else {
            panic!("not an ioctl: {line}")
        };
        let attrs = attrs.iter().map(|text| {
            let words: Vec<&str> = text.split(' ').collect();
            let [name, _, kind, _, _, len, _, content] = words[..] else { panic!("{text}") };
            Attr {
                name: name.to_owned(),
                kind: kind.to_owned(),
                len: len.parse().unwrap(),
                content: content.to_owned(),
            }
        });
        let (errno, method) = (errno.parse().unwrap(), (*method).to_owned());
        Ioctl { errno, method, attrs: attrs.collect() }
    }

    /// What an attribute holds: a number in decimal, or bytes in hex.
    #[track_caller]
    pub(crate) fn content(&self, name: &str) -> &str {
        let attr = self.attrs.iter().find(|attr| attr.name == name);
        &attr.unwrap_or_else(|| panic!("{} has no {name}", self.method)).content
    }

    /// The bytes that an attribute holds.
    #[track_caller]
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        let hex = self.content(name);
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    /// Its attributes in their order: name, kind and length.
    pub(crate) fn shape(&self) -> String {
        let attrs: Vec<String> =
            self.attrs.iter().map(|a| format!("{} {} {}", a.name, a.kind, a.len)).collect();
        format!("{}: {}", self.method, attrs.join(", "))
    }
}

/// The ioctls that a run sent, none if it sent nothing.
pub(crate) fn read(root: &Path) -> Vec<Ioctl> {
    let trace = fs::read_to_string(root.join("trace")).unwrap_or_default();
    trace.lines().map(Ioctl::of_line).collect()
}

pub(crate) fn shapes(sent: &[&Ioctl]) -> Vec<String> {
    sent.iter().map(|ioctl| ioctl.shape()).collect()
}
