//! What a test makes the simulated kernel do, and no program can.

use mlx5_devx::{Errno, status_errno};
use mlx5_prm::Status;

use crate::adapter::Adapter;
use crate::firmware::Refusal;
use crate::state::Fault;

/// How the kernel is other than usual.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    refusals: u32,
    errno: Option<Errno>,
    /// How many commands the firmware still refuses, and how.
    refused_commands: Option<(u32, Refusal)>,
    removed: bool,
    refused: Refusals,
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

    /// How the firmware refuses the command that it gets now, whatever that is.
    pub(crate) fn refusal(&mut self) -> Option<Refusal> {
        let (left, refusal) = self.refused_commands.as_mut()?;
        *left = left.checked_sub(1)?;
        Some(*refusal)
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.removed
    }

    /// What the kernel makes of the status of a command whose output the program gets.
    pub(crate) fn said(&self, status: Status) -> Result<(), Fault> {
        match self.refused {
            _ if status == Status::OK => Ok(()),
            Refusals::Output => Err(Fault::Firmware(Errno::REMOTEIO)),
            Refusals::Errno => Err(Fault::Kernel(status_errno(status))),
            Refusals::ErrnoAndOutput => Err(Fault::Firmware(status_errno(status))),
        }
    }
}

/// What the kernel does when the firmware refuses a command: see [`Adapter::set_refusals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refusals {
    /// EREMOTEIO, and the output has status and syndrome: Linux since 5.18 (`mlx5_cmd_do`).
    #[default]
    Output,
    /// The errno that belongs to the status (`cmd_status_to_err`), and the output is left alone: Linux
    /// before 5.18, whose `devx.c` calls `mlx5_cmd_exec` and gives up when that fails.
    Errno,
    /// The errno that belongs to the status, and the output: what no Linux is known to do, and
    /// [`mlx5_devx::outcome`] takes.
    ErrnoAndOutput,
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

    /// Makes the firmware refuse the next `commands` commands that reach it, with this status and this
    /// syndrome: what a program does when a real adapter refuses so can then be tested. The command
    /// that ends an object is not among them: an object is ended as ever. Nor is one of
    /// [`Adapter::firmware`], by which a test looks.
    ///
    /// ```
    /// use mlx5_devx::{Error, Object};
    /// use mlx5_prm::{CreateCqIn, Status};
    /// use mlx5_sim::Adapter;
    ///
    /// let adapter = Adapter::new();
    /// adapter.refuse_next_command(1, Status::NO_RES_ERR, 0x6231e6);
    /// match Object::create(&adapter, &CreateCqIn::new()) {
    ///     Err(Error::Firmware { status, syndrome, .. }) => {
    ///         assert_eq!((status, syndrome), (Status::NO_RES_ERR, 0x6231e6));
    ///     }
    ///     _ => panic!("it is refused"),
    /// }
    /// assert!(Object::create(&adapter, &CreateCqIn::new()).is_ok());
    /// ```
    ///
    /// # Panics
    /// `status` is [`Status::OK`], which refuses nothing.
    pub fn refuse_next_command(&self, commands: u32, status: Status, syndrome: u32) {
        assert_ne!(status, Status::OK, "a refusal has another status");
        self.lock().hooks.refused_commands =
            Some((commands, Refusal { status, syndrome, field: None }));
    }

    /// Sets what the kernel does when the firmware refuses a command of DEVX. Answers that come
    /// later have their status in every case.
    pub fn set_refusals(&self, refusals: Refusals) {
        self.lock().hooks.refused = refusals;
    }

    /// Takes the adapter out of the machine. Every call then gives EIO, as do reads of the files of
    /// a context; what was to be read there is gone. That of `FwctlFile` gives ENODEV
    /// (`fwctl_fops_ioctl`).
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
        let mut state = self.lock();
        state.hooks.without_devx = is_so;
        state.firmware.capabilities.set_devx(!is_so);
    }
}
