//! How far a long run has come, on standard error: only where somebody sees it, and not on standard output's
//! own terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How long a run is silent, and how often it says more.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many steps go by between two looks at the clock.
const STEPS: u32 = 1024;

/// The bytes that were read so far.
#[derive(Debug)]
pub(crate) struct Progress {
    bytes: usize,
    steps: u32,
    told: Instant,
    shown: bool,
    wanted: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let wanted = io::stderr().is_terminal() && !io::stdout().is_terminal();
        Progress { bytes: 0, steps: 0, told: Instant::now(), shown: false, wanted }
    }

    /// So many bytes more were read.
    pub(crate) fn step(&mut self, bytes: usize, what: &str) {
        self.bytes += bytes;
        self.steps += 1;
        if !self.wanted || !self.steps.is_multiple_of(STEPS) || self.told.elapsed() < PATIENCE {
            return;
        }
        (self.told, self.shown) = (Instant::now(), true);
        let mut error = io::stderr();
        // What can't be shown is not worth an end.
        let _ = write!(error, "\r{} {what} ", self.bytes >> 20).and_then(|()| error.flush());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = writeln!(io::stderr());
        }
    }
}

/// Tells, from the first second on, that something is waited for; until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    ticker: Option<(Sender<()>, thread::JoinHandle<()>)>,
}

impl Waiting {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        if !io::stderr().is_terminal() {
            return Waiting { ticker: None };
        }
        let (done, waits) = mpsc::channel::<()>();
        let (what, since) = (what.into(), Instant::now());
        let ticker = thread::spawn(move || {
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = waits.recv_timeout(PATIENCE) {
                shown = true;
                let mut error = io::stderr();
                let seconds = since.elapsed().as_secs();
                let _ = write!(error, "\rwaiting for {what}, {seconds} s ")
                    .and_then(|()| error.flush());
            }
            if shown {
                let _ = writeln!(io::stderr());
            }
        });
        Waiting { ticker: Some((done, ticker)) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((done, ticker)) = self.ticker.take() {
            drop(done);
            let _ = ticker.join();
        }
    }
}
