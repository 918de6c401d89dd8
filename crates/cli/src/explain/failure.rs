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

    /// Whether the kernel refused a call of DEVX before the firmware saw it: an errno of its own, and
    /// neither status nor syndrome.
    pub(super) fn is_of_kernel(&self) -> bool {
        self.form.is_devx()
            && self.errno.is_some_and(|errno| errno != Errno::REMOTEIO)
            && self.status.unwrap_or(0) == 0
            && self.syndrome == Some(0)
    }

    /// The name of the command: that of its number, else the log's.
    pub(super) fn command(&self) -> Option<&str> {
        let known = self.opcode.and_then(names::opcode_name);
        known.or(self.said.as_deref())
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
