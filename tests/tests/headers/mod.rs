//! The public headers: which are at hand, and gcc on them.

#![allow(dead_code, reason = "not every test needs all of it")]

mod at_hand;
mod dwarf;

use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(unused_imports, reason = "not every test needs all of them")]
pub(crate) use at_hand::{any_linux, at_hand};
#[allow(unused_imports, reason = "not every test needs all of them")]
pub(crate) use dwarf::{CLayout, Faulty, HOLDS_FAULTY, POINTER, Seen, see};

/// What to do when something is missing.
pub(crate) const INSTALL: &str = "run: apt-get install gcc libibverbs-dev linux-headers-amd64 (on other architectures \
                       linux-headers-arm64 and so on; the package linux-headers-*-common that comes with it \
                       is the one that counts)";

/// The headers of one source.
#[derive(Debug, Clone)]
pub(crate) struct Headers {
    /// What they are called in messages.
    pub(crate) name: String,
    /// The source of the tables that they are, if they are one.
    pub(crate) source: Option<String>,
    /// Whether they are those of a Linux kernel.
    pub(crate) linux: bool,
    /// What differs from the files that `sources.toml` names, for messages.
    pub(crate) other_files: Vec<String>,
    /// The headers with layouts, each after those whose layouts it uses.
    pub(crate) files: Vec<PathBuf>,
    /// Headers of which only enumerators are taken, and the beginnings of those.
    pub(crate) takes: Vec<(PathBuf, Vec<String>)>,
}

/// Before the headers: what they use of those that they include. A flexible array is declared as an
/// array of no elements, which GNU C allows in a union too, and which has the same place.
const STAND_INS: &str = "\
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define DECLARE_FLEX_ARRAY(TYPE, NAME) TYPE NAME[0]
";

/// What gcc needs for one source besides.
struct Needs {
    /// More of what it uses of other headers.
    stand_ins: &'static str,
    /// What gcc does not understand, and what it is given instead: the same in its words.
    instead: &'static [(&'static str, &'static str)],
    /// Enumerators whose values other headers give, so that they are no facts of this source.
    foreign: &'static [&'static str],
}

/// What most sources need besides: nothing.
const NOTHING: Needs = Needs { stand_ins: "", instead: &[], foreign: &[] };

impl Needs {
    fn of(source: Option<&str>) -> Needs {
        match source {
            // Its other half is the formats of work queues, which are no layouts and use structs of
            // mlx5dv.h.
            Some("dpdk") => Needs {
                stand_ins: "#include <infiniband/mlx5dv.h>\n\
                            #define __rte_packed_begin\n\
                            #define __rte_packed_end\n\
                            #define __rte_aligned(n)\n\
                            #define __rte_always_inline inline\n\
                            #define rte_cpu_to_be_32(x) __builtin_bswap32(x)\n",
                // INT_MAX of limits.h.
                foreign: &["MLX5_MODI_INVALID"],
                ..NOTHING
            },
            // C before C23 has no such words, and gcc finds a type that is wide enough by itself.
            Some("libdpcp") => {
                Needs { instead: &[("\nenum : unsigned long long {", "\nenum {")], ..NOTHING }
            }
            Some("ucx") => Needs { stand_ins: "#define UCS_BIT(n) (1UL << (n))\n", ..NOTHING },
            _ => NOTHING,
        }
    }
}

impl Headers {
    /// Whether another header gives the value of this enumerator.
    fn is_foreign(&self, enumerator: &str) -> bool {
        Needs::of(self.source.as_deref()).foreign.contains(&enumerator)
    }

    /// Copies the headers to `scratch`, without their `#include`; gives the C text that includes
    /// them, after what they need.
    pub(crate) fn prepare(&self, scratch: &Path) -> Result<String, String> {
        let needs = Needs::of(self.source.as_deref());
        let mut text = format!("{STAND_INS}{}", needs.stand_ins);
        let mut unused: Vec<_> = needs.instead.to_vec();
        for path in &self.files {
            let mut header = without_includes(&read(path)?);
            for (theirs, ours) in needs.instead {
                if header.contains(theirs) {
                    header = header.replace(theirs, ours);
                    unused.retain(|(unused, _)| unused != theirs);
                }
            }
            text += &copy(path, &header, scratch)?;
        }
        if let Some((theirs, _)) = unused.first() {
            return Err(format!("{}: no {theirs:?} there; headers/mod.rs names it", self.name));
        }
        for (path, takes) in &self.takes {
            text += &copy(path, &enumerations(&read(path)?, takes), scratch)?;
        }
        Ok(text)
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a file, with the path in the error.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: cannot write ({e})", path.display()))
}

/// Writes a header to `scratch`; gives the line that includes it.
fn copy(path: &Path, text: &str, scratch: &Path) -> Result<String, String> {
    let name = file_name(path);
    write(&scratch.join(&name), text)?;
    Ok(format!("#include \"{name}\"\n"))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A header whose `#include` lines are empty.
fn without_includes(text: &str) -> String {
    let is_include = |line: &str| {
        line.trim_start().strip_prefix('#').is_some_and(|l| l.trim_start().starts_with("include"))
    };
    let lines = text.lines().map(|line| if is_include(line) { "" } else { line });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The enumerations of a header that have an enumerator with one of these beginnings.
fn enumerations(text: &str, takes: &[String]) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("\nenum") {
        let body = &rest[start..];
        let end = body.find("};").map_or(body.len(), |end| end + 2);
        let mut words = body[..end].split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        if words.any(|word| takes.iter().any(|t| word.starts_with(t.as_str()))) {
            found += &body[..end];
        }
        rest = &body[end..];
    }
    found + "\n"
}

/// A gcc command that finds what was prepared in `scratch`; the caller adds what to do.
pub(crate) fn gcc(scratch: &Path) -> Command {
    let mut command = Command::new("gcc");
    command.arg("-I").arg(scratch);
    command
}

/// Waits for a gcc that was started by `spawn`; its messages are the error.
pub(crate) fn finish(
    what: &str,
    child: std::io::Result<std::process::Child>,
) -> Result<(), String> {
    let output = child
        .and_then(|child| child.wait_with_output())
        .map_err(|e| format!("gcc does not run ({e}); install gcc"))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    let first: Vec<&str> = messages.lines().take(20).collect();
    Err(format!("gcc does not compile {what} ({}):\n{}", output.status, first.join("\n")))
}

/// A temporary folder.
///
/// # Panics
/// There is no room for one.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("room for a temporary folder; or set TMPDIR")
}
