//! Claims about C headers, which a C compiler checks.

mod skipped;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

pub(crate) use skipped::skipped;

/// Lines of C that compile when what stands here is what stands in the headers.
pub(crate) struct Claims(String);

impl Claims {
    /// None yet, of the headers that `includes` has.
    pub(crate) fn new(includes: &str) -> Self {
        Claims(includes.to_owned())
    }

    /// The same of installed headers; says so when there is no compiler, or they are not there.
    pub(crate) fn of_installed(includes: &str) -> Option<Self> {
        if matches!(compiles(includes, &[""; 0]), Some((true, _))) {
            return Some(Claims::new(includes));
        }
        let includes = includes.replace('\n', " ");
        skipped(&format!("NOTHING WAS COMPARED: there is no gcc, or not all of {includes}"));
        None
    }

    /// An expression of C has this value.
    pub(crate) fn equal(&mut self, c: &str, value: impl Into<u64>) {
        let value = value.into();
        writeln!(self.0, "_Static_assert(({c}) == {value}ULL, \"{c}\");").expect("a string");
    }

    /// Compares, and makes sure that a claim with another value would fail.
    ///
    /// # Panics
    /// A claim does not hold; there is no compiler.
    pub(crate) fn hold(self, folders: &[impl AsRef<OsStr>]) {
        let (good, said) = compiles(&self.0, folders).expect("a compiler");
        assert!(good, "{said}");
        let wrong = self.0.replacen("ULL, ", "ULL + 1, ", 1);
        assert_ne!(wrong, self.0, "there is no claim");
        assert!(matches!(compiles(&wrong, folders), Some((false, _))));
        println!("{} claims hold", self.0.matches("_Static_assert").count());
    }
}

/// Whether lines of C compile, and what the compiler says; `None` without a compiler. Headers that
/// are not installed are looked for in `folders`.
pub(crate) fn compiles(lines: &str, folders: &[impl AsRef<OsStr>]) -> Option<(bool, String)> {
    let mut command = Command::new("gcc");
    for folder in folders {
        // Behind the installed ones: those of the C library are for programs, these are not.
        command.arg("-idirafter").arg(folder);
    }
    let mut gcc = command
        .args(["-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    gcc.stdin.take()?.write_all(lines.as_bytes()).ok()?;
    let output = gcc.wait_with_output().ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// A structure has the size, the alignment and the offsets of its fields that it has in C. A field
/// that Rust can't call so is `name = "name in C"`.
macro_rules! structure {
    ($claims:ident: $Type:ident $C:literal: $( $field:ident $(= $c_field:literal)? )*) => {
        $claims.equal(concat!("sizeof(struct ", $C, ")"), size_of::<$Type>() as u64);
        $claims.equal(concat!("_Alignof(struct ", $C, ")"), align_of::<$Type>() as u64);
        beginning! { $claims: $Type $C: $( $field $(= $c_field)? )* }
    };
}
pub(crate) use structure;

/// Fields of a structure have the offsets that they have in C.
macro_rules! beginning {
    ($claims:ident: $Type:ident $C:literal: $( $field:ident $(= $c_field:literal)? )*) => { $(
        $claims.equal(
            concat!("offsetof(struct ", $C, ", ", beginning!(@ $field $($c_field)?), ")"),
            std::mem::offset_of!($Type, $field) as u64,
        );
    )* };
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $c_field:literal) => { $c_field };
}
pub(crate) use beginning;
