use std::io::Write as _;

/// Says what a test leaves out, and why: past the test harness, which keeps what passing tests print.
pub(crate) fn skipped(what: &str) {
    writeln!(std::io::stderr(), "SKIPPED, {what}").expect("stderr is open");
}
