//! A failed command, as a log tells of it.

use super::errno::Errno;
use crate::names;

/// Who told of a failure, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// mlx5_core's log: `mlx5_cmd_out_err`, and `mlx5_cmd_check` before Linux 5.18.
    Kernel,
    /// The tracepoint `mlx5:mlx5_cmd`, which Linux 6.1 has.
    Trace,
    /// rdma-core's driver over VFIO.
    Vfio,
    /// mlx5_core's log of a command that was not answered in time.
    Timeout,
    /// UCX.
    Ucx,
    /// DPDK.
    Dpdk,
    /// libdpcp, which XLIO uses.
    Dpcp,
    /// This project's own error.
    Project,
}

/// How waiting for a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wait {
    /// No completion came, and a slot is lost with it.
    NoAnswer,
    /// It came late, or its event had been lost.
    Recovered,
    /// It never got its turn.
    NoSlot,
}

/// A failed command. Failures that are alike are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Failure {
    pub(super) form: Form,
    /// The opcode, as a number.
    pub(super) opcode: Option<u16>,
    /// The command, in the words of the log, where the opcode does not say as much.
    pub(super) said: Option<String>,
    pub(super) op_mod: Option<u16>,
    pub(super) uid: Option<u16>,
    pub(super) status: Option<u8>,
    /// The status, in the words of the log, where they are not those of its number.
    pub(super) status_said: Option<String>,
    pub(super) syndrome: Option<u32>,
    pub(super) errno: Option<Errno>,
    pub(super) wait: Option<Wait>,
    /// Whether its message ends before its end.
    pub(super) cut: bool,
}

impl Failure {
    /// One of which nothing is known but who told of it.
    pub(super) fn new(form: Form) -> Self {
        Failure {
            form,
            opcode: None,
            said: None,
            op_mod: None,
            uid: None,
            status: None,
            status_said: None,
            syndrome: None,
            errno: None,
            wait: None,
            cut: false,
        }
    }

    /// Where a call of DEVX ended that the firmware gave no answer to: there is an errno of the kernel's own,
    /// and neither status nor syndrome. Where the syndrome is not told, it is an errno that the kernel makes
    /// of no status.
    pub(super) fn stop(&self) -> Option<Stop> {
        let errno = self.errno.filter(|errno| *errno != Errno::REMOTEIO)?;
        let is_kernels = match self.syndrome {
            Some(syndrome) => syndrome == 0,
            None => (1..=u8::MAX).all(|status| Errno::of_status(status) != errno),
        };
        let answered = self.status.is_some_and(|status| status != 0);
        (self.form.is_devx() && is_kernels && !answered).then(|| Stop::of(errno))
    }

    /// The name of the command: that of its number, else the log's.
    pub(super) fn command(&self) -> Option<&str> {
        let known = self.opcode.and_then(names::opcode_name);
        known.or(self.said.as_deref())
    }
}

/// Where a call of DEVX ended without an answer of the firmware.
///
/// Sources: mlx5_core's `cmd.c`, whose errnos `mlx5_cmd_do` passes on and mlx5_ib's `devx.c` gives: `wait_func`,
/// `cmd_exec`, `deliv_status_to_err`, `alloc_msg`; `fwctl_cmd_rpc` and `mlx5ctl_fw_rpc` of fwctl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The kernel refused it.
    Refused,
    /// It was sent, and not answered in time.
    NoAnswer,
    /// A signal came.
    Interrupted,
    /// It never got its turn.
    NoSlot,
    /// No commands are taken: an error, a reset, a device that is gone.
    Down,
    /// The mailbox did not get to the firmware, or back, whole.
    NotDelivered,
    /// There was no memory for it.
    NoMemory,
    /// fwctl kept it back, in the program or in the kernel.
    KeptBack,
    /// There is no such call.
    NoCall,
}

impl Stop {
    fn of(errno: Errno) -> Stop {
        match errno.name() {
            Some("ETIMEDOUT") => Stop::NoAnswer,
            Some("EINTR") => Stop::Interrupted,
            Some("ECANCELED" | "EBUSY" | "EAGAIN") => Stop::NoSlot,
            Some("ENXIO") => Stop::Down,
            Some("EBADR" | "EFAULT" | "ENOMSG" | "EIO") => Stop::NotDelivered,
            Some("ENOMEM") => Stop::NoMemory,
            Some("EBADMSG" | "EMSGSIZE") => Stop::KeptBack,
            Some("EOPNOTSUPP") => Stop::NoCall,
            _ => Stop::Refused,
        }
    }

    /// What happened, after the errno.
    pub(super) fn words(self) -> &'static str {
        match self {
            Stop::Refused => {
                "the kernel refused the call before the firmware saw it, by the rules of mlx5_ib's devx.c"
            }
            Stop::NoAnswer => {
                "the command was sent and not answered in time. It may be carried out all the same"
            }
            Stop::Interrupted => {
                "a signal came while the call was under way. The command may be carried out all the same"
            }
            Stop::NoSlot => "the command never got a slot of the command queue, and was not sent",
            Stop::Down => {
                "the driver takes no commands: the device is in error, being reset, or gone from the bus"
            }
            Stop::NotDelivered => {
                "the mailbox did not get to the firmware or back whole: a fault of delivery, memory of the \
                 program that can't be reached, or a device that is gone"
            }
            Stop::NoMemory => "the kernel had no memory for the command, and did not send it",
            Stop::KeptBack => {
                "fwctl kept the command back, in the program or in the kernel, and it was not sent"
            }
            Stop::NoCall => {
                "there is no such call: the way to the adapter has none, or the kernel behind it"
            }
        }
    }
}

impl Form {
    /// Its name in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Form::Kernel => "kernel",
            Form::Trace => "trace",
            Form::Vfio => "vfio",
            Form::Timeout => "kernel_timeout",
            Form::Ucx => "ucx",
            Form::Dpdk => "dpdk",
            Form::Dpcp => "dpcp",
            Form::Project => "mlx5_devx",
        }
    }

    /// What it is, after "in".
    pub(super) fn words(self) -> &'static str {
        match self {
            Form::Kernel | Form::Timeout => "the kernel's log",
            Form::Trace => "the kernel's trace of commands",
            Form::Vfio => "rdma-core's log of its VFIO driver",
            Form::Ucx => "UCX's log",
            Form::Dpdk => "DPDK's log",
            Form::Dpcp => "libdpcp's log (XLIO)",
            Form::Project => "an error of mlx5-devx",
        }
    }

    /// Whether the command came by DEVX, from a program.
    pub(super) fn is_devx(self) -> bool {
        matches!(self, Form::Ucx | Form::Dpdk | Form::Dpcp | Form::Project)
    }
}

impl Wait {
    /// Its name in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Wait::NoAnswer => "no_answer",
            Wait::Recovered => "recovered",
            Wait::NoSlot => "no_slot",
        }
    }
}
