//! Writes down what goes through a transport.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use super::call::{Call, MAX_MAILBOX, Method};
use super::write::HEADER;
use crate::{Errno, Handle, Target, TargetKind, Transport};

/// A transport that passes every call on to another, and writes it down.
///
/// A call is written when it has returned, in one piece; calls of several threads stand in the
/// order of their return. The writer is not flushed before [`Recorder::finish`], so a file
/// without a buffer in front of it keeps all calls of a program that dies.
///
/// # When writing fails
/// The call itself is not touched: its answer came from the adapter, and a program must not fail
/// because it is watched. The first failure is kept, nothing is written after it, so that a
/// recording has no hole (its last call may be cut, which a reader notices), and [`Recorder::failure`] and [`Recorder::finish`] tell of it. A mailbox
/// of more than [`MAX_MAILBOX`] bytes is such a failure.
///
/// ```
/// use mlx5_devx::{Transport, record::Recorder};
///
/// # let transport: Box<dyn Transport> = Box::new(mlx5_sim::Adapter::new());
/// let recorder = Recorder::new(transport, Vec::new());
/// // NOP is too short here, and the kernel refuses it.
/// assert!(recorder.general(&[0x08, 0x0d, 0, 0], &mut [0; 16]).is_err());
/// let text = String::from_utf8(recorder.finish()?).expect("a recording is text");
/// assert!(text.starts_with("mlx5-recording 1\n\ngeneral\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Recorder<T, W> {
    transport: T,
    start: Instant,
    log: Mutex<Log<W>>,
}

struct Log<W> {
    writer: W,
    failure: Option<io::Error>,
}

impl<T: Transport, W: Write> Recorder<T, W> {
    /// Records what goes through `transport`, a `Box<dyn Transport>` too, to `writer`.
    ///
    /// The first line is written here, and time counts from here.
    pub fn new(transport: T, writer: W) -> Self {
        let mut log = Log { writer, failure: None };
        log.write(&format!("{HEADER}\n"));
        Recorder { transport, start: Instant::now(), log: Mutex::new(log) }
    }

    /// The first failure of writing: its kind, and what the system says.
    pub fn failure(&self) -> Option<(io::ErrorKind, String)> {
        self.log().failure.as_ref().map(|error| (error.kind(), error.to_string()))
    }

    /// The transport that the calls go to.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Ends the recording, and gives the writer back.
    ///
    /// # Errors
    /// The first failure of writing, or that of flushing: the recording lacks its last calls.
    pub fn finish(self) -> io::Result<W> {
        let log = self.log.into_inner();
        let Log { mut writer, failure } = log.unwrap_or_else(|poisoned| {
            let mut log = poisoned.into_inner();
            log.panicked();
            log
        });
        match failure {
            Some(error) => Err(error),
            None => writer.flush().map(|()| writer),
        }
    }

    fn log(&self) -> MutexGuard<'_, Log<W>> {
        self.log.lock().unwrap_or_else(|poisoned| {
            let mut log = poisoned.into_inner();
            log.panicked();
            log
        })
    }

    fn record(
        &self,
        method: Method,
        target: Option<Target>,
        input: &[u8],
        output: &mut [u8],
        send: impl FnOnce(&mut [u8]) -> Result<Option<Handle>, Errno>,
    ) -> Result<Option<Handle>, Errno> {
        let at = self.start.elapsed();
        let before = output.to_vec();
        let result = send(output);
        let long = [input.len(), output.len()].into_iter().find(|len| *len > MAX_MAILBOX);
        let (input, output) = (input.to_vec(), output.to_vec());
        let text = Call { method, target, at, input, before, output, result }.to_string();
        let mut log = self.log();
        if let Some(long) = long {
            log.fail(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a mailbox of {long} bytes is too long for a recording"),
            ));
        }
        log.write(&text);
        result
    }
}

impl<W: Write> Log<W> {
    fn write(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(error) = self.writer.write_all(text.as_bytes())
        {
            self.fail(error);
        }
    }
}

impl<W> Log<W> {
    fn fail(&mut self, error: io::Error) {
        self.failure.get_or_insert(error);
    }

    /// A writer that panicked has lost a call, as one that failed.
    fn panicked(&mut self) {
        self.fail(io::Error::other("the writer panicked"));
    }
}

impl<T: Transport, W: Write> Transport for Recorder<T, W> {
    fn create(&self, input: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        let made = self.record(Method::Create, None, input, output, |output| {
            self.transport.create(input, output).map(Some)
        })?;
        Ok(made.expect("create gives a handle"))
    }

    fn modify(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.record(Method::Modify, Some(target), input, output, |output| {
            self.transport.modify(target, input, output).map(|()| None)
        })?;
        Ok(())
    }

    fn query(&self, target: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.record(Method::Query, Some(target), input, output, |output| {
            self.transport.query(target, input, output).map(|()| None)
        })?;
        Ok(())
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        let target = Target { kind: TargetKind::Devx, handle };
        self.record(Method::Destroy, Some(target), &[], &mut [], |_| {
            self.transport.destroy(handle).map(|()| None)
        })?;
        Ok(())
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.record(Method::General, None, input, output, |output| {
            self.transport.general(input, output).map(|()| None)
        })?;
        Ok(())
    }
}

impl<T, W> fmt::Debug for Recorder<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
