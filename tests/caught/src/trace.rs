//! Writes an ioctl down: a line of columns with tabs between them.
//!
//! ```text
//! ioctl  0  DEVX_OBJ.QUERY  0x1001  0x1003  driver=1  length=72  reserved=0,0  <attributes>  raw=...
//! ```
//!
//! After the word `ioctl`, the errno (0 if none), the names and ids of object and method, and the
//! header, each attribute is a column: `<name> <id> <kind> <flags> <flags after> <len> <more>
//! <content>`. The kinds are in [`Kind`]; the content is that of the input, or of the output after
//! the call, in hex; that of handles and descriptors is a number. The last column holds all bytes of
//! the header and of the attributes, as they were before the call.

use std::env;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use libc::c_int;

use crate::methods::{Kind, method};
use crate::wire::Call;

/// An ioctl before it was answered.
pub(crate) struct Before {
    flags: Vec<u16>,
    raw: Vec<u8>,
}

impl Before {
    /// What answers change.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        Before { flags: call.attrs.iter().map(|a| a.flags).collect(), raw: call.bytes() }
    }
}

/// Appends the line of an ioctl to the trace.
///
/// # Safety
/// The pointers of the attributes are what their kinds say.
pub(crate) unsafe fn write(before: &Before, call: &Call<'_>, result: Result<(), c_int>) {
    let Some(path) = env::var_os(crate::TRACE) else { return };
    let h = &call.header;
    let known = method(h.object_id, h.method_id);
    let name = known.map_or("?.?".to_owned(), |m| format!("{}.{}", m.object_name, m.name));
    let mut line = format!(
        "ioctl\t{}\t{name}\t{:#x}\t{:#x}\tdriver={}\tlength={}\treserved={},{}",
        result.err().unwrap_or(0),
        h.object_id,
        h.method_id,
        h.driver_id,
        h.length,
        h.reserved1,
        h.reserved2,
    );
    for (attr, flags) in call.attrs.iter().zip(&before.flags) {
        let (name, kind) = match known.and_then(|m| m.attr(attr.id)) {
            Some(known) => (known.name, Some(known.kind)),
            None => ("?", None),
        };
        let content = match kind {
            // SAFETY: by the contract, and by its kind.
            Some(Kind::In) => hex(&unsafe { attr.input() }),
            // SAFETY: by the contract, and by its kind.
            Some(Kind::Out) => hex(&unsafe { attr.pointed() }),
            Some(Kind::Const) => hex(&attr.inline()),
            Some(Kind::Handle | Kind::NewHandle | Kind::Fd | Kind::NewFd) => {
                (attr.data as i64).to_string()
            }
            // What is not known is not followed.
            None => hex(&attr.data.to_ne_bytes()),
        };
        let word = kind.map_or("?", Kind::word);
        write!(
            line,
            "\t{name} {:#x} {word} {flags:#x} {:#x} {} {:#x} {content}",
            attr.id, attr.flags, attr.len, attr.more,
        )
        .expect("a String takes all");
    }
    writeln!(line, "\traw={}", hex(&before.raw)).expect("a String takes all");
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|e| panic!("the trace in {}: {e}", path.display()));
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all");
        text
    })
}
