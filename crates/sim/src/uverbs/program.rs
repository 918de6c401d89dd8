//! The backend `ioctl` of mlx5-devx as the program that makes the calls.

use std::os::fd::{BorrowedFd, OwnedFd};

use mlx5_devx::Errno;
use mlx5_devx::ioctl::Kernel;
use mlx5_devx::wire::{DRIVER_MLX5, Request};

use super::Uverbs;

impl Uverbs {
    fn answer(&self, request: &mut Request<'_>) -> Result<Option<OwnedFd>, Errno> {
        // What libibverbs says of a buffer that does not fit (`execute_ioctl`).
        let mut message = request.encode(DRIVER_MLX5).map_err(|_| Errno::INVAL)?;
        let result = self.ioctl(&mut message, request);
        request.read_back(&message);
        result
    }
}

impl Kernel for Uverbs {
    fn call(&self, request: &mut Request<'_>) -> Result<(), Errno> {
        self.answer(request).map(drop)
    }

    fn make_file(&self, request: &mut Request<'_>) -> Result<OwnedFd, Errno> {
        self.answer(request)?.ok_or(Errno::BADF)
    }

    fn read(&self, file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
        Uverbs::read(self, file, buffer)
    }

    fn file(&self) -> BorrowedFd<'_> {
        Uverbs::file(self)
    }
}
