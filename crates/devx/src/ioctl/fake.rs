//! What stands in for a device file in tests: it keeps what is sent, and answers as it is told.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use super::Ioctl;
use super::Kernel;
use crate::Errno;
use crate::wire::{DRIVER_MLX5, Message, Request};

type Answer = Box<dyn FnOnce(&mut Request<'_>, &mut Message) -> Result<(), Errno> + Send>;

#[derive(Clone)]
pub(crate) struct Fake(Arc<State>);

struct State {
    answers: Mutex<VecDeque<Answer>>,
    sent: Mutex<Vec<Vec<u8>>>,
    fds: Mutex<VecDeque<OwnedFd>>,
    file: File,
}

impl Fake {
    pub(crate) fn new() -> Self {
        // Pages of doorbells are mapped from it.
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 20).expect("room");
        let (answers, sent, fds) = (Mutex::default(), Mutex::default(), Mutex::default());
        Fake(Arc::new(State { answers, sent, fds, file }))
    }

    /// Says what the next call that makes a file gives.
    pub(crate) fn give_fd(&self, fd: OwnedFd) {
        self.0.fds.lock().expect("no test panicked").push_back(fd);
        self.answer(|_, _| Ok(()));
    }

    /// Says how the next call is answered.
    pub(crate) fn answer(
        &self,
        answer: impl FnOnce(&mut Request<'_>, &mut Message) -> Result<(), Errno> + Send + 'static,
    ) {
        self.0.answers.lock().expect("no test panicked").push_back(Box::new(answer));
    }

    /// The messages that were sent.
    pub(crate) fn sent(&self) -> Vec<Vec<u8>> {
        self.0.sent.lock().expect("no test panicked").clone()
    }

    pub(crate) fn ioctl(&self) -> Ioctl {
        Ioctl::new(Box::new(self.clone()), None)
    }

    /// What was written to the device file, 8 bytes at an offset.
    pub(crate) fn file_at(&self, offset: u64) -> [u8; 8] {
        let mut bytes = [0; 8];
        self.0.file.read_exact_at(&mut bytes, offset).expect("it is long enough");
        bytes
    }
}

impl Kernel for Fake {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        let mut message = request.encode(DRIVER_MLX5).map_err(|_| Errno::INVAL)?;
        self.0.sent.lock().expect("no test panicked").push(message.as_bytes().to_vec());
        let answer = self.0.answers.lock().expect("no test panicked").pop_front();
        let result = answer.expect("a call that the test does not expect")(request, &mut message);
        request.read_back(&message);
        result
    }

    fn make_file(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        self.call(request)?;
        self.0.fds.lock().expect("no test panicked").pop_front().ok_or(Errno::BADF)
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.0.file.as_fd()
    }
}
