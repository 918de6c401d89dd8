//! What says how DEVX calls end: a file with an answer in each line.
//!
//! ```text
//! once   DEVX_OBJ.QUERY 0402 ok  0000000000000000...
//! always DEVX.OTHER     *    121 030000000badcafe
//! ```
//!
//! The columns:
//! 1. `once` or `always`: whether the line is used up by the call that it answers.
//! 2. The object and the method, by the names of [`methods`](crate::methods): of DEVX, of UARs, of
//!    objects of verbs, and `DEVICE.GET_CONTEXT`, which makes a context.
//! 3. The opcode of the mailbox, in hex, or `*` for any, also for calls without a mailbox.
//! 4. `ok`, or the errno that the call fails with.
//! 5. The output mailbox in hex, zeros follow; nothing if there is none. The kernel gives one with
//!    the errno EREMOTEIO (121) too, and with no other.
//!
//! The first line that fits answers.

use std::env;

use libc::c_int;

/// How a call ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) errno: c_int,
    /// None if the kernel writes no output.
    pub(crate) output: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Line {
    once: bool,
    method: String,
    opcode: Option<u16>,
    answer: Answer,
}

/// The answers that are left.
#[derive(Debug, Default)]
pub(crate) struct Script(Vec<Line>);

impl Script {
    /// The script that the environment names.
    pub(crate) fn of_environment() -> Self {
        let Some(path) = env::var_os(crate::ANSWERS) else { return Script::default() };
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|e| panic!("the answers in {}: {e}", path.display()));
        let lines = text.lines().filter(|l| !l.trim().is_empty());
        Script(lines.map(|l| line(l).unwrap_or_else(|| panic!("not an answer: {l:?}"))).collect())
    }

    /// How a call ends.
    pub(crate) fn answer(&mut self, method: &str, opcode: Option<u16>) -> Answer {
        let fits = |l: &Line| l.method == method && (l.opcode.is_none() || l.opcode == opcode);
        let Some(at) = self.0.iter().position(fits) else {
            return Answer { errno: 0, output: Some(Vec::new()) };
        };
        if self.0[at].once { self.0.remove(at).answer } else { self.0[at].answer.clone() }
    }
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.split_whitespace();
    let once = match words.next()? {
        "once" => true,
        "always" => false,
        _ => return None,
    };
    let method = words.next()?.to_owned();
    let opcode = match words.next()? {
        "*" => None,
        opcode => Some(u16::from_str_radix(opcode, 16).ok()?),
    };
    let errno = match words.next()? {
        "ok" => 0,
        errno => errno.parse().ok()?,
    };
    let output = match words.next() {
        Some(hex) => Some(bytes(hex)?),
        None if errno == 0 => Some(Vec::new()),
        None => None,
    };
    words.next().is_none().then_some(Line {
        once,
        method,
        opcode,
        answer: Answer { errno, output },
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok()).collect()
}
