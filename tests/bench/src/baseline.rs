//! The ratios that are kept: `ratios.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use toml::{Table, Value};

use crate::programs::{Counted, Program};
use crate::rows::{Asked, Row, geometric_mean, rows};

/// How much a ratio may worsen: above this times what was kept is too much.
const MOST_WORSE: f64 = 1.05;
/// What the geometric mean of all ratios may be.
const MOST_MEAN: f64 = 0.90;
/// How to renew what is kept.
pub const RENEW: &str = "cargo run --release -p mlx5-bench -- ratios";

/// The ratios of a run, by case, and its compilers.
#[derive(Debug, Clone, Default)]
pub struct Ratios {
    /// Those of Rust and of C.
    pub compilers: [String; 2],
    /// What of the instructions of C each case takes.
    pub ratios: BTreeMap<String, f64>,
}

/// Where they are kept.
pub fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ratios.toml")
}

impl Ratios {
    /// Those of two programs that were counted.
    ///
    /// # Panics
    /// They did not do the same.
    pub fn of(ours: (&Program, &Counted), c: (&Program, &Counted)) -> Self {
        Ratios {
            compilers: [ours.0.compiler.clone(), c.0.compiler.clone()],
            ratios: rows().map(|row| (row.key().to_owned(), row.ratio(ours.1, c.1))).collect(),
        }
    }

    /// Reads those that are kept.
    ///
    /// # Errors
    /// The file is not there, or is not such a file.
    pub fn kept() -> Result<Self, String> {
        let path = file();
        let fault = |why: &str| format!("{}: {why}; to write it anew: {RENEW}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|e| fault(&e.to_string()))?;
        let table: Table = text.parse().map_err(|e: toml::de::Error| fault(e.message()))?;
        let compiler = |name| table.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(rust), Some(c)) = (compiler("rust"), compiler("c")) else {
            return Err(fault("no compilers"));
        };
        let ratios = table.get("ratios").and_then(Value::as_table);
        let ratios = ratios.ok_or_else(|| fault("no ratios"))?;
        let number = |(case, ratio): (&String, &Value)| Some((case.clone(), ratio.as_float()?));
        let read: Option<_> = ratios.iter().map(number).collect();
        Ok(Ratios { compilers: [rust, c], ratios: read.ok_or_else(|| fault("no number"))? })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# Instructions of each case of ours over those of C. The test `instructions` compares with it.\n\
             # Written by: {RENEW}\n\nrust = \"{}\"\nc = \"{}\"\n\n[ratios]\n",
            self.compilers[0], self.compilers[1]
        );
        for (case, ratio) in &self.ratios {
            let _ = writeln!(text, "{case} = {ratio:.3}");
        }
        text
    }

    /// Their geometric mean.
    pub fn mean(&self) -> f64 {
        geometric_mean(self.ratios.values().copied())
    }

    /// What is wrong with these ratios, beside those that are kept.
    pub fn faults<'r>(&self, kept: &Ratios, rows: impl Iterator<Item = &'r Row>) -> Vec<String> {
        let mut faults = Vec::new();
        for row in rows {
            let Some(&now) = self.ratios.get(row.key()) else {
                faults.push(format!("{}: it was not counted", row.title));
                continue;
            };
            if row.asked == Asked::NoMore && now > 1.0 {
                faults.push(format!("{}: takes {now:.3} of what C takes", row.title));
            }
            match kept.ratios.get(row.key()) {
                Some(before) if now > before * MOST_WORSE => faults.push(format!(
                    "{}: takes {now:.3} of what C takes, and took {before:.3}",
                    row.title
                )),
                Some(_) => {}
                None => faults.push(format!("{}: {} is not kept", row.title, row.key())),
            }
        }
        for case in kept.ratios.keys().filter(|case| !self.ratios.contains_key(*case)) {
            faults.push(format!("{case} is kept, and no such case is counted"));
        }
        let mean = self.mean();
        if mean > MOST_MEAN {
            faults.push(format!("the geometric mean is {mean:.3}, more than {MOST_MEAN:.2}"));
        }
        if !faults.is_empty() && self.compilers != kept.compilers {
            let [rust, c] = &kept.compilers;
            faults.push(format!("(other compilers than those before: {rust}; {c})"));
        }
        faults
    }
}
