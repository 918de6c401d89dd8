//! What `docs/benchmarks.md` says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::baseline::{RENEW, Ratios};
use crate::growth::{self, deviation};
use crate::plot;
use crate::programs::{Counted, Program};
use crate::rows::{Asked, PARTS, Row, geometric_mean, rows};
use crate::{peers, transports};

/// Timed programs run so often, in turn; the least median counts, because others use the machine too.
const RUNS: usize = 5;

/// The page, as far as it is written.
#[derive(Debug)]
pub struct Report {
    text: String,
    folder: PathBuf,
}

impl Report {
    /// Begins with what is measured, and on what.
    pub fn new(ours: &Program, c: &Program) -> Self {
        let mut new = Self::empty();
        new.say(&format!(
            "# Benchmarks\n\n\
             What the codec and the transports cost, beside the DEVX macros of C and other ways. Written by\n\n\
             ```sh\ncargo run --release -p mlx5-bench                    # all of this page; some minutes\n\
             cargo run --release -p mlx5-bench --features peers   # with the crates of \"Other crates\"\n```\n\n\
             Each case is written once in Rust with the typed API ([tests/bench/src/bin/cases](../tests/bench/src/bin/cases)) \
             and once in C with `DEVX_SET` and `DEVX_GET` of `infiniband/mlx5dv.h` on the layouts of the kernel's \
             `mlx5_ifc.h` ([tests/bench/c](../tests/bench/c)). Both programs print the mailboxes that they made, which \
             are compared. No compiler knows the values. Instructions are those of one call, counted by callgrind, \
             with all that it calls; they are the same in every run. The C library's `memset` is kept from `rep stosb`, of which \
             valgrind counts each round; that which gcc itself writes (`rep stosq`, one round for 8 bytes) is counted so, \
             in favour of ours where a mailbox of 272 bytes or more is zeroed.\n\n\
             | | |\n|---|---|\n| processor | {} |\n| system | {} |\n| Rust | {}, release |\n| C | {} |\n| valgrind | {} |\n",
            processor(),
            first_line(Command::new("uname").args(["-sm"])),
            ours.compiler,
            c.compiler,
            first_line(Command::new("valgrind").arg("--version")),
        ));
        new
    }

    /// Nothing yet: for a section alone.
    pub fn empty() -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        Report { text: String::new(), folder }
    }

    /// What is written so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn say(&mut self, text: &str) {
        self.text += text;
        self.text.push('\n');
    }

    fn plot(&mut self, name: &str, title: &str, svg: &str) {
        let folder = self.folder.join("benchmarks");
        std::fs::create_dir_all(&folder).expect("a place to write to");
        std::fs::write(folder.join(name), svg).expect("a place to write to");
        self.say(&format!("![{title}](benchmarks/{name})\n"));
    }

    /// All rows, ours over C.
    pub fn instructions(&mut self, ours: &Counted, c: &Counted, ratios: &Ratios) {
        self.say("## Instructions\n");
        for part in PARTS {
            self.say(&format!("### {}\n\n| | ours | C | ratio |\n|---|--:|--:|--:|", part.title));
            for row in part.rows {
                let ratio = row.ratio(ours, c);
                let note = match row.asked {
                    Asked::NoWorse(why) if ratio > 1.0 => format!(" ({why})"),
                    _ => String::new(),
                };
                let (a, b) = (ours.cost(row.ours), c.cost(row.c));
                self.say(&format!("| {}{note} | {a} | {b} | {ratio:.2} |", row.title));
            }
            self.say("");
        }
        let over = ratios.ratios.values().filter(|ratio| **ratio > 1.0).count();
        self.say(&format!(
            "Geometric mean of the {} ratios: **{:.2}**; {over} of them are over 1.00. A test in CI compares \
             with [ratios.toml](../tests/bench/ratios.toml), and fails when a ratio worsens by more than 5 % or gets over \
             1.00. To renew that: `{RENEW}`.\n",
            ratios.ratios.len(),
            ratios.mean()
        ));
        let bars: Vec<(String, f64)> =
            PARTS[0].rows.iter().map(|row| (row.title.to_owned(), row.ratio(ours, c))).collect();
        let title = "Instructions of a whole mailbox, ours over C (the line is 1)";
        self.plot("ratios.svg", title, &plot::bars(title, &bars));
    }

    /// The mean with another C compiler, if it is there.
    pub fn other_compiler(&mut self, compiler: &str, ours: &Counted, scratch: &Path) {
        let Some(program) = Program::c(compiler, scratch) else {
            self.say(&format!("SKIPPED: {compiler} is not installed.\n"));
            return;
        };
        let c = program.count(&[], scratch);
        let ratios: Vec<(&Row, f64)> = rows().map(|row| (row, row.ratio(ours, &c))).collect();
        let mean = geometric_mean(ratios.iter().map(|(_, ratio)| *ratio));
        self.say(&format!(
            "With {}: geometric mean {mean:.2}. Rows over 1.00, and the same without the checks that C does not have, of \
             values and lengths:\n\n| | ours | C | ratio | without checks |\n|---|--:|--:|--:|--:|",
            program.compiler
        ));
        for (row, ratio) in ratios.iter().filter(|(_, ratio)| *ratio > 1.0) {
            let (a, b) = (ours.cost(row.ours), c.cost(row.c));
            let unchecked = row.unchecked.map_or(String::new(), |case| {
                format!("{:.2}", ours.cost(case) as f64 / c.cost(row.c) as f64)
            });
            self.say(&format!("| {} | {a} | {b} | {ratio:.3} | {unchecked} |", row.title));
        }
        self.say("");
    }

    /// Ratios of time.
    pub fn times(&mut self, ours: &Program, c: &Program) {
        let (mut our_times, mut c_times) = (HashMap::new(), HashMap::new());
        for _ in 0..RUNS {
            least(&mut our_times, ours.time());
            least(&mut c_times, c.time());
        }
        self.say(&format!(
            "## Time\n\nThe same cases, ours over C: each the least of {RUNS} runs in turn, and in a run the median of 15 \
             samples of half a millisecond or more. A call through a pointer is in each, of which a nanosecond or two are; other \
             programs used the machine too. Fields alone are written into the same mailbox again and again, so that what was \
             written there before is waited for: most where a field lies across two bytes of which one was just \
             written (`cq_period_mode` in CREATE_CQ).\n"
        ));
        let mut ratios = Vec::new();
        for part in PARTS {
            self.say(&format!(
                "### {}\n\n| | ours, ns | C, ns | ratio |\n|---|--:|--:|--:|",
                part.title
            ));
            for row in part.rows {
                let (a, b): (f64, f64) = (our_times[row.ours], c_times[row.c]);
                ratios.push(a / b);
                self.say(&format!("| {} | {a:.1} | {b:.1} | {:.2} |", row.title, a / b));
            }
            self.say("");
        }
        self.say(&format!("Geometric mean: **{:.2}**.\n", geometric_mean(ratios)));
    }

    /// Other crates, and scapy.
    pub fn peers(&mut self, ours: &Program, scratch: &Path) {
        self.say(&peers::text(ours, scratch));
    }

    /// Logs of dumps, by `prm` and by scapy.
    pub fn dumps(&mut self) {
        self.say(
            "## Reading a log\n\n`prm decode` of a kernel log with 100,000 dumps of what QUERY_QP answered, to a tree of fields, \
             and the same mailboxes by scapy, which gets them as bytes: taken apart, and printed as `show` does \
             ([prm_log.py](../tests/bench/prm_log.py)). `prm` writes with all processors that there are; scapy has one.\n",
        );
        match peers::log() {
            Ok([prm, processors, apart, shown, small, large]) => self.say(&format!(
                "| | of a mailbox, µs | times as long as prm |\n|---|--:|--:|\n| prm, from the text of the log to text | {:.1} | |\n\
                 | the same, time of processors added up | {:.1} | |\n\
                 | scapy, taken apart | {:.0} | {:.0} |\n| scapy, to text | {:.0} | {:.0} |\n\nLargest memory of prm: \
                 {small:.1} MB for 10,000 dumps, {large:.1} MB for 100,000.\n",
                prm * 10.0,
                processors * 10.0,
                apart * 1e6,
                apart * 1e5 / prm,
                shown * 1e6,
                shown * 1e5 / prm,
            )),
            Err(why) => self.say(&format!("SKIPPED: {why}\n")),
        }
    }

    /// From a typed call to its ioctl and back.
    pub fn transports(&mut self, scratch: &Path) {
        self.say(
            "## Transports\n\nInstructions of a typed MODIFY_CQ, from the call to the ioctl and back. There is no adapter: the \
             ioctl of libmlx5 is caught and not counted, that of the backend is a system call that succeeds at once.\n\n\
             | | instructions |\n|---|--:|",
        );
        match transports::ioctl_and_libmlx5() {
            Ok((ours, libmlx5)) => {
                self.say(&format!("| backend `ioctl` | {ours} |\n| `mlx5dv_devx_cq_modify` of libmlx5 | {libmlx5} |"));
                self.say(&format!("| ratio | {:.2} |", ours as f64 / libmlx5 as f64));
            }
            Err(why) => self.say(&format!("| SKIPPED: {why} | |")),
        }
        let live = Program::rust("live", "adapter").count_functions(&["100"], scratch);
        self.say(&format!(
            "| simulated adapter, in process, 100 CQs: kernel's rules and firmware too | {} |\n",
            live["modify_all"] / 100
        ));
    }

    /// Costs against numbers of things.
    pub fn growth(&mut self, ours: &Program, c: &Program, scratch: &Path) {
        self.say(
            "## Growth\n\nThe dashed lines go through zero (least squares). The deviation is the largest distance of a point from \
             its line, as a part of what the line has there, from 1,024 entries or 1,000 objects on: where there are few it is the command \
             itself that costs.\n",
        );
        for (title, series) in growth::lists(ours, c, scratch) {
            let file = format!("{}.svg", title.to_lowercase());
            let title = format!("{title}: instructions against entries of its list");
            self.plot(&file, &title, &plot::points(&title, "entries", "instructions", &series));
            self.say("| | each entry | deviation |\n|---|--:|--:|");
            self.lines(&series, 1024.0);
        }
        let objects = growth::objects(&Program::rust("live", "adapter"), scratch);
        let title = "Simulated adapter: instructions of one command on each of the CQs that live";
        self.plot(
            "adapter.svg",
            title,
            &plot::points(title, "CQs", "instructions of all", &objects),
        );
        self.say("| | each command | deviation | at 100 CQs | at 10,000 |\n|---|--:|--:|--:|--:|");
        for series in &objects {
            let slope = series.slope.unwrap_or_default();
            let each =
                |n: f64| series.points.iter().find(|(x, _)| *x == n).map_or(0.0, |(x, y)| y / x);
            let off = 100.0 * deviation(&series.points, slope, 1000.0);
            self.say(&format!(
                "| {} | {slope:.0} | {off:.0} % | {:.0} | {:.0} |",
                series.name,
                each(100.0),
                each(10000.0)
            ));
        }
        self.say("");
    }

    fn lines(&mut self, all: &[plot::Series], from: f64) {
        for series in all {
            let slope = series.slope.unwrap_or_default();
            let off = 100.0 * deviation(&series.points, slope, from);
            self.say(&format!("| {} | {slope:.2} | {off:.1} % |", series.name));
        }
        self.say("");
    }

    /// Sizes of programs.
    pub fn sizes(&mut self, scratch: &Path) {
        let three = Program::rust("three", "adapter").stripped(scratch);
        let empty = Program::rust("empty", "").stripped(scratch);
        self.say(&format!(
            "## Size\n\nA stripped release program that sends three commands (MODIFY_CQ, QUERY_CQ, QUERY_QP) by a `dyn Transport` \
             of its own, beside one that only prints: {three} bytes, {empty} bytes; the codec, the typed layer, and its errors, which name \
             commands and statuses, take **{} bytes**.\n",
            three.saturating_sub(empty)
        ));
    }

    /// What it costs to compile the codec: what `tests/build-cost` prints.
    pub fn build_cost(&mut self) {
        self.say(
            "## Build\n\nmlx5-prm, beside the same tables written with a `bitfield-struct` for each dword, as \
             [tests/build-cost](../tests/build-cost) measures it.\n",
        );
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../build-cost");
        match Command::new(script).output() {
            Ok(output) if output.status.success() => {
                self.say(&String::from_utf8_lossy(&output.stdout));
            }
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).into_owned();
                self.say(&format!("SKIPPED: {}\n", why.lines().last().unwrap_or("it fails")));
            }
            Err(e) => self.say(&format!("SKIPPED: tests/build-cost does not run: {e}\n")),
        }
    }

    /// Writes the page; gives its path.
    ///
    /// # Panics
    /// It can't be written.
    pub fn write(&self) -> PathBuf {
        let folder = self.folder.canonicalize().expect("the folder docs");
        let path = folder.join("benchmarks.md");
        std::fs::write(&path, format!("{}\n", self.text.trim_end())).expect("a place to write to");
        path
    }
}

/// Keeps the less of each time.
fn least(kept: &mut HashMap<String, f64>, new: HashMap<String, f64>) {
    for (case, time) in new {
        let kept = kept.entry(case).or_insert(time);
        *kept = kept.min(time);
    }
}

/// The processor, as Linux calls it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut names = text.lines().filter(|line| line.starts_with("model name"));
    let name = names.next().and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown");
    format!("{name}, {} cores", names.count() + 1)
}

/// The first line that a command prints; `unknown` when it does not run.
fn first_line(command: &mut Command) -> String {
    let output = command.output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}
