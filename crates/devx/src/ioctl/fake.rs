//! What stands in for a device file in tests: it keeps what is sent, and answers as it is told.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

use super::Ioctl;
use super::system::System;
use crate::Errno;
use crate::wire::{DRIVER_MLX5, Message, Request};

type Answer = Box<dyn FnOnce(&mut Request<'_>, &mut Message) -> Result<(), Errno> + Send>;

#[derive(Clone)]
pub(super) struct Fake(Arc<State>);

struct State {
    answers: Mutex<VecDeque<Answer>>,
    sent: Mutex<Vec<Vec<u8>>>,
    fds: Mutex<VecDeque<OwnedFd>>,
    file: File,
}

impl Fake {
    pub(super) fn new() -> Self {
        let file = File::open("/dev/null").expect("every system has it");
        let (answers, sent, fds) = (Mutex::default(), Mutex::default(), Mutex::default());
        Fake(Arc::new(State { answers, sent, fds, file }))
    }

    /// Says what the next call that makes a file gives.
    pub(super) fn give_fd(&self, fd: OwnedFd) {
        self.0.fds.lock().expect("no test panicked").push_back(fd);
        self.answer(|_, _| Ok(()));
    }

    /// Says how the next call is answered.
    pub(super) fn answer(
        &self,
        answer: impl FnOnce(&mut Request<'_>, &mut Message) -> Result<(), Errno> + Send + 'static,
    ) {
        self.0.answers.lock().expect("no test panicked").push_back(Box::new(answer));
    }

    /// The messages that were sent.
    pub(super) fn sent(&self) -> Vec<Vec<u8>> {
        self.0.sent.lock().expect("no test panicked").clone()
    }

    pub(super) fn system(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }

    pub(super) fn ioctl(&self) -> Ioctl {
        Ioctl::new(self.system(), None)
    }
}

impl System for Fake {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        let mut message = request.encode(DRIVER_MLX5).map_err(|_| Errno::INVAL)?;
        self.0.sent.lock().expect("no test panicked").push(message.as_bytes().to_vec());
        let answer = self.0.answers.lock().expect("no test panicked").pop_front();
        let result = answer.expect("a call that the test does not expect")(request, &mut message);
        request.read_back(&message);
        result
    }

    fn make_fd(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        self.call(request)?;
        Ok(self.0.fds.lock().expect("no test panicked").pop_front().expect("a file to give"))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.file.as_fd()
    }
}
