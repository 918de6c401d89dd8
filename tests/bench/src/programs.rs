//! The programs that are measured: ours, and C by the compilers that are there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::callgrind::{count, output, release};
use crate::headers::{INSTALL, any_linux, finish, write};

/// Calls of each case when instructions are counted, in both programs.
const ROUNDS: u64 = 100;

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its compiler and the version of that.
    pub compiler: String,
    path: PathBuf,
}

/// What each case made, and its cost.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    made: HashMap<String, String>,
    /// Instructions of one call.
    costs: HashMap<String, u64>,
}

impl Counted {
    /// Instructions of one call of a case.
    ///
    /// # Panics
    /// There is no such case.
    pub fn cost(&self, case: &str) -> u64 {
        *self.costs.get(case).unwrap_or_else(|| panic!("{case} was not counted"))
    }

    /// The mailbox that a case made, or the sum of what it read.
    ///
    /// # Panics
    /// There is no such case.
    pub fn made(&self, case: &str) -> &str {
        self.made.get(case).unwrap_or_else(|| panic!("{case} was not run"))
    }
}

impl Program {
    /// The cases in Rust.
    ///
    /// # Panics
    /// They are not to be built.
    pub fn ours() -> Self {
        Self::rust("cases", "")
    }

    /// A program of this package with these features, built for release whatever this one is built for.
    ///
    /// # Panics
    /// It is not to be built.
    pub fn rust(name: &str, features: &str) -> Self {
        let target = target();
        release(&target, env!("CARGO_MANIFEST_DIR"), name, features);
        let path = target.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        Program { compiler: first_line(Command::new("rustc").arg("--version")), path }
    }

    /// That in C, by a compiler of this name; `None` when there is no such compiler.
    ///
    /// # Panics
    /// It does not compile, or the headers are not there.
    pub fn c(compiler: &str, scratch: &Path) -> Option<Self> {
        Command::new(compiler).arg("--version").stdout(Stdio::null()).status().ok()?;
        let (source, path) = (scratch.join("all.c"), scratch.join(compiler));
        let compile = || -> Result<(), String> {
            let headers = any_linux().prepare(scratch)?;
            write(&source, &format!("{headers}#include \"cases.c\"\n"))?;
            let child = Command::new(compiler)
                .arg("-O2")
                .arg("-I")
                .arg(scratch)
                .arg("-I")
                .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c"))
                .arg("-o")
                .args([&path, &source])
                .stderr(Stdio::piped())
                .spawn();
            finish("the C program", child)
        };
        compile().unwrap_or_else(|e| panic!("{e}\n{INSTALL}"));
        let version = first_line(Command::new(compiler).arg("--version"));
        Some(Program { compiler: format!("{version}, -O2"), path })
    }

    /// Counts its instructions under callgrind.
    ///
    /// # Panics
    /// It fails, or a case does not take the same every time.
    pub fn count(&self, arguments: &[&str], scratch: &Path) -> Counted {
        let (printed, costs) = count(Command::new(&self.path).args(arguments), scratch, &[]);
        let mut counted = Counted::default();
        for line in printed.lines() {
            let (case, made) = line.split_once(' ').expect("a case and what it made");
            counted.made.insert(case.to_owned(), made.to_owned());
        }
        for (function, cost) in costs {
            // `cases::encode::modify_cq` in Rust, `modify_cq` in C.
            let case = function.rsplit("::").next().unwrap_or(&function);
            if counted.made.contains_key(case) {
                let (calls, instructions) = (cost.calls, cost.instructions);
                assert_eq!(
                    (calls, instructions % ROUNDS),
                    (ROUNDS, 0),
                    "{case}: not the same every time ({instructions} instructions)"
                );
                counted.costs.insert(case.to_owned(), instructions / ROUNDS);
            }
        }
        counted
    }

    /// Instructions of all calls of functions, by their names without modules.
    ///
    /// # Panics
    /// It fails.
    pub fn count_functions(&self, arguments: &[&str], scratch: &Path) -> HashMap<String, u64> {
        let (_, costs) = count(Command::new(&self.path).args(arguments), scratch, &[]);
        let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
        costs.iter().map(|(name, cost)| (last(name), cost.instructions)).collect()
    }

    /// Its bytes when it is stripped.
    ///
    /// # Panics
    /// There is no `strip`.
    pub fn stripped(&self, scratch: &Path) -> u64 {
        let stripped = scratch.join("stripped");
        output(Command::new("strip").arg("-o").args([&stripped, &self.path]));
        std::fs::metadata(&stripped).expect("what strip wrote").len()
    }

    /// Nanoseconds of one call of each case.
    ///
    /// # Panics
    /// It fails.
    pub fn time(&self) -> HashMap<String, f64> {
        let printed = output(Command::new(&self.path).arg("time"));
        let line = |line: &str| {
            let (case, nanoseconds) = line.split_once(' ').expect("a case and its time");
            (case.to_owned(), nanoseconds.parse().expect("a number"))
        };
        printed.lines().map(line).collect()
    }
}

/// The folder of what cargo builds, in which this program lies too.
pub(crate) fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    let mut above = program.ancestors();
    let profile = above.find(|dir| dir.ends_with("debug") || dir.ends_with("release"));
    let target = profile.and_then(Path::parent);
    target.unwrap_or_else(|| panic!("{}: not where cargo builds", program.display())).to_owned()
}

/// The first line that a command prints.
fn first_line(command: &mut Command) -> String {
    output(command).lines().next().unwrap_or_default().to_owned()
}
