//! What a test makes the simulated kernel do, and no program can.

use mlx5_devx::{Errno, status_errno};
use mlx5_prm::Status;

use crate::adapter::Adapter;

/// How the kernel is other than usual.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    refusals: u32,
    errno: Option<Errno>,
    removed: bool,
    before_5_18: bool,
    #[cfg(feature = "uverbs")]
    pub(crate) without_devx: bool,
}

impl Hooks {
    /// Lets a call pass, or refuses it.
    pub(crate) fn pass(&mut self) -> Result<(), Errno> {
        if self.removed {
            return Err(Errno::IO);
        }
        match self.errno {
            Some(errno) if self.refusals > 0 => {
                self.refusals -= 1;
                Err(errno)
            }
            _ => Ok(()),
        }
    }

    #[cfg(feature = "uverbs")]
    pub(crate) fn is_removed(&self) -> bool {
        self.removed
    }

    /// What the kernel says when the firmware refused, and the program gets the output.
    pub(crate) fn refusal(&self, status: Status) -> Errno {
        if self.before_5_18 { status_errno(status) } else { Errno::REMOTEIO }
    }
}

/// For tests: what no program can do to its adapter.
impl Adapter {
    /// Makes the kernel refuse the next `calls` calls, by the [`Transport`] and by `Uverbs`, before
    /// the firmware sees their command: EINTR as a signal does, ENODEV, ENOMEM, ...
    ///
    /// A call that the kernel refuses anyhow, for its form or a wrong handle, may or may not count.
    ///
    /// [`Transport`]: mlx5_devx::Transport
    pub fn refuse_next(&self, calls: u32, errno: Errno) {
        let hooks = &mut self.lock().hooks;
        (hooks.refusals, hooks.errno) = (calls, Some(errno));
    }

    /// Makes the kernel one from before Linux 5.18, which gives the errno that belongs to the
    /// firmware's status (`cmd_status_to_err`), and not EREMOTEIO, with an output that says it.
    pub fn set_before_5_18(&self, is_so: bool) {
        self.lock().hooks.before_5_18 = is_so;
    }

    /// Takes the adapter out of the machine. Every call then gives EIO, as do reads of the files of
    /// a context; what was to be read there is gone.
    pub fn remove(&self) {
        let mut state = self.lock();
        state.hooks.removed = true;
        #[cfg(feature = "uverbs")]
        {
            state.forget();
            state.uverbs.remove();
        }
    }

    /// Makes the adapter one that has no DEVX contexts (`log_max_uctx` is 0): the kernel then makes
    /// contexts without DEVX only, and knows none of the DEVX methods (`devx_is_supported` in
    /// `devx.c`). It does not change what the [`Transport`](mlx5_devx::Transport) does, which
    /// stands for a program that has a DEVX context.
    #[cfg(feature = "uverbs")]
    pub fn set_without_devx(&self, is_so: bool) {
        self.lock().hooks.without_devx = is_so;
    }
}
