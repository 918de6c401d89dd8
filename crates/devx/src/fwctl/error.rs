//! Why a device was not opened, and why a command has no answer.

use std::path::PathBuf;

use mlx5_prm::Opcode;

use super::scope::{Limit, Scope};
use super::wire::{
    DEVICE_TYPE_BNXT, DEVICE_TYPE_CXL, DEVICE_TYPE_PDS, HEADER, InfoMlx5, MAX_RPC_LEN,
};
use crate::Errno;
use crate::device_file::NotOpened;
use crate::sysfs::NoDevice;

/// Why a device was not found, or not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The kernel has no fwctl, or it is not loaded.
    #[error(
        "the list of fwctl devices {} cannot be read: {errno}; it is there from Linux 6.15 once \
         the module mlx5_fwctl is loaded", path.display()
    )]
    NoList {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        errno: Errno,
    },
    /// No device is the one that was looked for.
    #[error("there is no fwctl device with {wanted}; {}", what_is_there(.present))]
    NotFound {
        /// What was looked for.
        wanted: String,
        /// The devices that are there.
        present: Vec<String>,
    },
    /// Several devices are what was looked for.
    #[error("several fwctl devices have {wanted}: {}", .found.join(", "))]
    Several {
        /// What was looked for.
        wanted: String,
        /// The devices.
        found: Vec<String>,
    },
    /// The user may not open the device file.
    #[error(
        "{} may not be opened: {errno}; the kernel makes it for root alone: give it to this user \
         by a rule of udev, and in a container let it in", node.display()
    )]
    NotPermitted {
        /// The device file.
        node: PathBuf,
        /// EACCES or EPERM.
        errno: Errno,
    },
    /// There is no device file.
    #[error(
        "{} is not there; in a container it must be among the devices that are let in",
        node.display()
    )]
    NoNode {
        /// The device file.
        node: PathBuf,
    },
    /// The device is gone.
    #[error("{} has no device any more; list the devices again", node.display())]
    Gone {
        /// The device file.
        node: PathBuf,
    },
    /// The device file cannot be opened; the driver makes a user context of the firmware with it
    /// (`mlx5ctl_open_uctx`), which can fail, too.
    #[error(
        "{} cannot be opened: {errno}; does the firmware have a user context that is free?",
        node.display()
    )]
    NotOpened {
        /// The device file.
        node: PathBuf,
        /// What the kernel said.
        errno: Errno,
    },
    /// The device file is of another device: it is left over, or was made by hand.
    #[error(
        "{} is device {}:{}, and the kernel says {}:{}",
        node.display(), is.0, is.1, expected.0, expected.1
    )]
    OtherNode {
        /// The device file.
        node: PathBuf,
        /// Its number, major and minor.
        is: (u32, u32),
        /// The number that the kernel gives for the device.
        expected: (u32, u32),
    },
    /// The file is no device of fwctl: it does not know `FWCTL_INFO`.
    #[error("{} is no device of fwctl: it does not know FWCTL_INFO (ENOTTY)", node.display())]
    NotFwctl {
        /// The device file.
        node: PathBuf,
    },
    /// The device is of another driver.
    #[error("{} is no mlx5 device: its type is {}", node.display(), type_words(*device_type))]
    NotMlx5 {
        /// The device file.
        node: PathBuf,
        /// `out_device_type` of `FWCTL_INFO`.
        device_type: u32,
    },
    /// The device does not say what it is.
    #[error("{} does not answer FWCTL_INFO: {errno}", node.display())]
    NoInfo {
        /// The device file.
        node: PathBuf,
        /// What the kernel said.
        errno: Errno,
    },
    /// The driver says less of the device than it must.
    #[error(
        "{} gives {length} bytes about itself, and an mlx5 device {}", node.display(),
        size_of::<InfoMlx5>()
    )]
    ShortInfo {
        /// The device file.
        node: PathBuf,
        /// How many bytes the driver has.
        length: u32,
    },
}

impl OpenError {
    /// Why the file of a device was not opened.
    pub(super) fn of_file(node: PathBuf, why: NotOpened) -> Self {
        match why {
            NotOpened::Errno(errno) => OpenError::of_node(node, errno),
            NotOpened::Other { is, expected } => OpenError::OtherNode { node, is, expected },
        }
    }

    /// What an errno of opening it means.
    fn of_node(node: PathBuf, errno: Errno) -> Self {
        match errno {
            Errno::ACCESS | Errno::PERM => OpenError::NotPermitted { node, errno },
            // ENXIO: the file is left over, and no driver has its number.
            Errno::NODEV | Errno::NXIO => OpenError::Gone { node },
            Errno::NOENT => OpenError::NoNode { node },
            _ => OpenError::NotOpened { node, errno },
        }
    }

    /// Why there is no answer to `FWCTL_INFO`.
    pub(super) fn of_info(node: PathBuf, errno: Errno) -> Self {
        match errno {
            Errno::NOTTY => OpenError::NotFwctl { node },
            Errno::NODEV => OpenError::Gone { node },
            _ => OpenError::NoInfo { node, errno },
        }
    }
}

impl From<NoDevice> for OpenError {
    fn from(why: NoDevice) -> Self {
        match why {
            NoDevice::NoList { path, errno } => OpenError::NoList { path, errno },
            NoDevice::NotFound { wanted, present } => OpenError::NotFound { wanted, present },
            NoDevice::Several { wanted, found } => OpenError::Several { wanted, found },
        }
    }
}

/// Why a command has no answer: it was not sent, or did not reach the firmware.
///
/// That the firmware refuses a command is none of these: its status stands in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RpcError {
    /// Not sent: no scope lets it through.
    #[error(
        "{} was not sent: the fwctl driver lets no such command through in any scope; the backends \
         ioctl and libmlx5 may", named(*opcode)
    )]
    NotAdmitted {
        /// The command.
        opcode: Opcode,
    },
    /// Not sent: it needs a wider scope than the user lets it have.
    #[error("{} was not sent: it needs scope {needs}, and the limit is {limit}", named(*opcode))]
    OverLimit {
        /// The command.
        opcode: Opcode,
        /// The scope that it needs.
        needs: Scope,
        /// What the user lets through.
        limit: Limit,
    },
    /// Not sent: it changes something, or may, and the limit is [`Limit::ReadOnly`].
    #[error(
        "{} was not sent: op_mod {op_mod:#x} of it changes something, or is asked to do more \
         than to read, and the limit is read only", named(*opcode)
    )]
    Changes {
        /// The command.
        opcode: Opcode,
        /// Its variant.
        op_mod: u16,
    },
    /// A mailbox is shorter than its header, or longer than the kernel takes (EMSGSIZE).
    #[error(
        "an input of {input} and an output of {output} bytes: each must have {HEADER} to \
         {MAX_RPC_LEN}"
    )]
    Length {
        /// Bytes of the input.
        input: usize,
        /// Bytes of the output.
        output: usize,
    },
    /// The kernel does not let this user have the scope (EPERM).
    #[error("the kernel refuses scope {scope}: it needs CAP_SYS_RAWIO")]
    NotPermitted {
        /// The scope.
        scope: Scope,
    },
    /// The driver does not let the command through in this scope (EBADMSG): its list is another
    /// than the one that is known here.
    #[error(
        "{} is not let through in scope {scope} by the driver of this kernel; a newer one may",
        named(*opcode)
    )]
    NotAdmittedByDriver {
        /// The command.
        opcode: Opcode,
        /// The scope that it was sent in.
        scope: Scope,
    },
    /// The kernel does not know the scope (EOPNOTSUPP).
    #[error("this kernel has no scope {scope}")]
    UnknownScope {
        /// The scope.
        scope: Scope,
    },
    /// The kernel does not know all of the call's structure (E2BIG).
    #[error("this kernel knows a shorter FWCTL_RPC; this crate is newer than it")]
    OlderKernel,
    /// The file is no device of fwctl (ENOTTY).
    #[error("the file does not know FWCTL_RPC: it is no device of fwctl")]
    NotFwctl,
    /// The device is gone, and the file of no more use (ENODEV).
    #[error("the device is gone; open it again once it is back")]
    Gone,
    /// The answer is too short to have a status.
    #[error("an answer of {0} bytes holds no status and syndrome")]
    ShortAnswer(usize),
    /// Anything else that the kernel says: the command may not have reached the firmware.
    #[error("{} got no answer: {errno}", named(*opcode))]
    Kernel {
        /// The command.
        opcode: Opcode,
        /// What the kernel said.
        errno: Errno,
    },
}

impl RpcError {
    /// What an errno of `FWCTL_RPC` means (`fwctl_cmd_rpc`, `mlx5ctl_fw_rpc`).
    pub(super) fn of_call(
        errno: Errno,
        opcode: Opcode,
        scope: Scope,
        (input, output): (usize, usize),
    ) -> Self {
        match errno {
            Errno::NOTTY => RpcError::NotFwctl,
            Errno::PERM => RpcError::NotPermitted { scope },
            Errno::MSGSIZE => RpcError::Length { input, output },
            Errno::BADMSG => RpcError::NotAdmittedByDriver { opcode, scope },
            Errno::OPNOTSUPP => RpcError::UnknownScope { scope },
            Errno::TOOBIG => RpcError::OlderKernel,
            Errno::NODEV => RpcError::Gone,
            errno => RpcError::Kernel { opcode, errno },
        }
    }

    /// The errno that [`Transport`](crate::Transport) gives for it: the kernel's own, where it
    /// spoke or would have; EACCES for what the [`Limit`] keeps back, EIO for a short answer.
    pub const fn errno(&self) -> Errno {
        match self {
            RpcError::NotAdmitted { .. } | RpcError::NotAdmittedByDriver { .. } => Errno::BADMSG,
            RpcError::OverLimit { .. } | RpcError::Changes { .. } => Errno::ACCESS,
            RpcError::Length { .. } => Errno::MSGSIZE,
            RpcError::NotPermitted { .. } => Errno::PERM,
            RpcError::UnknownScope { .. } => Errno::OPNOTSUPP,
            RpcError::OlderKernel => Errno::TOOBIG,
            RpcError::NotFwctl => Errno::NOTTY,
            RpcError::Gone => Errno::NODEV,
            RpcError::ShortAnswer(_) => Errno::IO,
            RpcError::Kernel { errno, .. } => *errno,
        }
    }
}

fn named(opcode: Opcode) -> String {
    let in_driver = || super::scope::row(opcode).map(|row| row.name);
    let name = opcode.name().or_else(in_driver).unwrap_or("command");
    format!("{name}({:#x})", opcode.0)
}

fn what_is_there(devices: &[String]) -> String {
    if devices.is_empty() {
        return "there is none at all (is the module mlx5_fwctl loaded?)".into();
    }
    format!("there are: {}", devices.join(", "))
}

fn type_words(device_type: u32) -> String {
    match device_type {
        DEVICE_TYPE_CXL => "CXL".into(),
        DEVICE_TYPE_BNXT => "BNXT".into(),
        DEVICE_TYPE_PDS => "PDS".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_open_are_told_apart() {
        let node = PathBuf::from("/dev/fwctl/fwctl0");
        let of = |errno| OpenError::of_node(node.clone(), errno);
        for errno in [Errno::ACCESS, Errno::PERM] {
            assert_eq!(of(errno), OpenError::NotPermitted { node: node.clone(), errno });
        }
        for errno in [Errno::NODEV, Errno::NXIO] {
            assert_eq!(of(errno), OpenError::Gone { node: node.clone() });
        }
        assert_eq!(of(Errno::NOENT), OpenError::NoNode { node: node.clone() });
        for errno in [Errno::NOMEM, Errno::INVAL] {
            assert_eq!(of(errno), OpenError::NotOpened { node: node.clone(), errno });
        }
        assert_eq!(
            of(Errno::NODEV).to_string(),
            "/dev/fwctl/fwctl0 has no device any more; list the devices again"
        );
    }

    #[test]
    fn each_errno_of_a_call_has_an_error_that_keeps_it() {
        let of = |errno| RpcError::of_call(errno, Opcode(0x402), Scope::DebugReadOnly, (16, 32));
        let all = [
            (Errno::NOTTY, "no device of fwctl"),
            (Errno::PERM, "needs CAP_SYS_RAWIO"),
            (Errno::MSGSIZE, "an input of 16 and an output of 32 bytes"),
            (Errno::BADMSG, "QUERY_CQ(0x402) is not let through in scope debug read only"),
            (Errno::OPNOTSUPP, "no scope debug read only"),
            (Errno::TOOBIG, "shorter FWCTL_RPC"),
            (Errno::NODEV, "the device is gone"),
            (Errno::NOMEM, "QUERY_CQ(0x402) got no answer"),
        ];
        for (errno, words) in all {
            let error = of(errno);
            assert_eq!(error.errno(), errno);
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
