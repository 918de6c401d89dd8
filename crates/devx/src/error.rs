//! What went wrong, and where: before the command left, in the kernel, in the firmware, or in
//! the answer.

use std::fmt;

use mlx5_prm::{Opcode, Status, TransitionError};

use crate::{Errno, errno};

/// Why a command has no result.
///
/// Its `Debug` is its words, too: that is what `main` prints of it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command never left.
    #[error("{} was not sent: {reason}", Named(*opcode))]
    NotSent {
        /// The command.
        opcode: Opcode,
        /// Why.
        reason: NotSent,
    },
    /// The kernel gave an errno, and no answer of the firmware. Most often it refused the command
    /// before the firmware saw it: EINVAL, ENODEV, ... With EOPNOTSUPP the transport has no such call,
    /// or the kernel behind it.
    ///
    /// In these the command got further (`mlx5_cmd_invoke`, `wait_func` and `deliv_status_to_err` of
    /// mlx5_core's `cmd.c`). ETIMEDOUT: it was sent and not answered in time, and may have been carried
    /// out. EINTR, by the backends: a signal came, and it may have been carried out, too. ECANCELED and
    /// EBUSY: it waited too long for its turn, and was not sent. ENXIO: the command interface is down
    /// (`mlx5_cmd_is_down`); a command on its way then stays without an answer. EBADR, ENOMSG, EFAULT,
    /// EIO and EINVAL: the adapter could not take it as it was delivered. EIO is, besides, a device that is
    /// gone, and EFAULT memory of the program that can't be read, or written with the answer.
    ///
    /// Kernels before 5.18 give no answer of the firmware where it refuses: there the errno may be that
    /// of its status ([`status_errno`]).
    #[error("{} {}: {errno}", Named(*opcode), how_it_failed(*errno))]
    Kernel {
        /// The command.
        opcode: Opcode,
        /// What the kernel said.
        errno: Errno,
    },
    /// The firmware refused it.
    #[error(
        "{} op_mod {op_mod:#x} failed: {} ({:#x}, {} in the kernel), syndrome {syndrome:#x}: {}",
        Named(*opcode), status_words(*status), status.0,
        errno::name(status_errno(*status)).unwrap_or_default(), status_meaning(*status)
    )]
    Firmware {
        /// The command.
        opcode: Opcode,
        /// Its variant.
        op_mod: u16,
        /// The firmware's status.
        status: Status,
        /// What the firmware says more; its meaning is known to the vendor.
        syndrome: u32,
    },
    /// The answer made no sense.
    #[error("the answer to {} makes no sense: {reason}", Named(*opcode))]
    Answer {
        /// The command.
        opcode: Opcode,
        /// Why.
        reason: BadAnswer,
    },
}

/// Why a command never left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The input is shorter than its opcode.
    #[error("its input of {0} bytes holds no opcode")]
    Empty(usize),
    /// A mailbox is longer than the kernel takes.
    #[error("a mailbox of {0} bytes is longer than the 65535 that the kernel takes")]
    TooLong(usize),
    /// The command names another object.
    #[error("it names {kind} {named:#x}, and the object is {kind} {is:#x}")]
    WrongObject {
        /// What the PRM calls the number, such as `CQN`.
        kind: &'static str,
        /// The number in the command.
        named: u32,
        /// The number of the object.
        is: u32,
    },
    /// The number of the object does not fit the command.
    #[error("{kind} {number:#x} does not fit its field")]
    NumberTooWide {
        /// What the PRM calls the number.
        kind: &'static str,
        /// The number.
        number: u32,
    },
    /// A QP transition lacks a field, or has one too many.
    #[error("{0}")]
    Transition(TransitionError),
}

impl From<TransitionError> for Error {
    fn from(error: TransitionError) -> Self {
        let opcode = Opcode(error.command.opcode);
        Error::NotSent { opcode, reason: NotSent::Transition(error) }
    }
}

/// Why an answer makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnswer {
    /// The kernel says that the firmware refused, and the firmware says that all is well.
    #[error("the kernel reports a refusal of the firmware (EREMOTEIO), and its status is 0")]
    RefusedWithoutStatus,
    /// There is no room for a status.
    #[error("{0} bytes hold no status and syndrome")]
    Short(usize),
    /// The number of the object that was made is wider than such numbers are; the object was ended
    /// again.
    #[error("the number {0:#x} of the new object is wider than such numbers are")]
    NumberTooWide(u32),
}

impl Error {
    /// The errno that the call of libmlx5 gives for it: `EREMOTEIO` for any refusal of the firmware,
    /// `EINVAL` for what was not sent, and `EIO` for an answer that makes no sense. The errno in the
    /// text of a refusal is another: the one that the kernel makes of the status ([`status_errno`]).
    pub fn errno(&self) -> Errno {
        match self {
            Error::NotSent { .. } => Errno::INVAL,
            Error::Kernel { errno, .. } => *errno,
            Error::Firmware { .. } => Errno::REMOTEIO,
            Error::Answer { .. } => Errno::IO,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How far the command got, by the errno: EBADE and EACCES are of this crate, and the kernel has them for
/// no command.
fn how_it_failed(errno: Errno) -> &'static str {
    match errno {
        // `Replayer::MISMATCH`
        Errno::BADE => "differs from the recording, as Replayer::mismatch tells",
        // `RpcError::errno` of fwctl
        Errno::ACCESS => "was kept back by the limit of the Fwctl, as Fwctl::check tells",
        // Those of `fwctl`, here and in the kernel.
        Errno::BADMSG => "is not let through by fwctl",
        Errno::MSGSIZE => "has a mailbox of a length that fwctl does not take",
        Errno::OPNOTSUPP => "can't be done over this transport",
        Errno::TIMEDOUT | Errno::INTR => "got no answer, and may have been carried out",
        Errno::NXIO => "found the command interface of the adapter down",
        Errno::CANCELED | Errno::BADR | Errno::NOMSG => "did not get through to the firmware",
        // They have several causes, one of which is a command that was carried out.
        Errno::BUSY | Errno::IO | Errno::FAULT => "failed in the kernel",
        _ => "was refused by the kernel",
    }
}

/// A command as the kernel's log names it: `MODIFY_CQ(0x403)`.
struct Named(Opcode);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:#x})", self.0.name().unwrap_or("command"), self.0.0)
    }
}

/// A status in words.
pub const fn status_words(status: Status) -> &'static str {
    match status {
        Status::OK => "ok",
        Status::INT_ERR => "internal error",
        Status::BAD_OP_ERR => "bad operation",
        Status::BAD_PARAM_ERR => "bad parameter",
        Status::BAD_SYS_STATE_ERR => "bad system state",
        Status::BAD_RES_ERR => "bad resource",
        Status::RES_BUSY => "resource busy",
        Status::NOT_READY => "not ready",
        Status::LIM_ERR => "limit exceeded",
        Status::BAD_RES_STATE_ERR => "bad resource state",
        Status::IX_ERR => "bad index",
        Status::NO_RES_ERR => "no resources",
        Status::BAD_QP_STATE_ERR => "bad QP state",
        Status::BAD_PKT_ERR => "bad packet",
        Status::BAD_SIZE_OUTS_CQES_ERR => "too many outstanding CQEs",
        Status::BAD_INP_LEN_ERR => "bad input length",
        Status::BAD_OUTP_LEN_ERR => "bad output length",
        _ => "unknown status",
    }
}

/// The errno that the kernel makes of a status, where the program gets no output, and before Linux
/// 5.18 in any case (`cmd_status_to_err` of mlx5_core's `cmd.c`). The kernel's log has it as
/// `err(-22)`. A status that the kernel does not know is EIO; before 6.12 it did not know
/// [`Status::NOT_READY`].
pub const fn status_errno(status: Status) -> Errno {
    match status {
        Status::BAD_OP_ERR
        | Status::BAD_PARAM_ERR
        | Status::BAD_RES_ERR
        | Status::BAD_RES_STATE_ERR
        | Status::IX_ERR
        | Status::BAD_QP_STATE_ERR
        | Status::BAD_PKT_ERR
        | Status::BAD_SIZE_OUTS_CQES_ERR => Errno::INVAL,
        Status::RES_BUSY => Errno::BUSY,
        Status::LIM_ERR => Errno::NOMEM,
        Status::NO_RES_ERR | Status::NOT_READY => Errno::AGAIN,
        _ => Errno::IO,
    }
}

/// What a status means, in more words than [`status_words`] has.
pub const fn status_meaning(status: Status) -> &'static str {
    match status {
        Status::OK => "the command was done",
        Status::INT_ERR => "the firmware met a fault of its own",
        Status::BAD_OP_ERR => "the adapter has no such command or op_mod, or not for this function",
        Status::BAD_PARAM_ERR => "a value in the input is not allowed, or not together with others",
        Status::BAD_SYS_STATE_ERR => "the function is not in a state that takes the command",
        Status::BAD_RES_ERR => "an object that the input names is not there, or not this user's",
        Status::RES_BUSY => "the object is in use by another one",
        Status::NOT_READY => {
            "the firmware, or what was asked of it, is not ready yet; try again later"
        }
        Status::LIM_ERR => {
            "there are as many objects as there may be, a size or number is larger than the adapter's \
             limit, or memory is short"
        }
        Status::BAD_RES_STATE_ERR => {
            "an object is not there, still in use, or not in a state that takes the command"
        }
        Status::IX_ERR => "an index in the input is out of its table",
        Status::NO_RES_ERR => "the adapter has nothing left to give",
        Status::BAD_QP_STATE_ERR => "the QP is not in the state that the transition begins with",
        Status::BAD_PKT_ERR => "a packet in the input is malformed",
        Status::BAD_SIZE_OUTS_CQES_ERR => "the CQ has more completions than its new size holds",
        Status::BAD_INP_LEN_ERR => "the input is shorter than the command, or its list",
        Status::BAD_OUTP_LEN_ERR => "the output is shorter than the answer, or its list",
        _ => "a status that is newer than this program",
    }
}

/// Makes one result of what a transport says of a call and what stands in the output.
///
/// The typed objects do this; it is for those who call a [`Transport`](crate::Transport)
/// themselves.
///
/// # Errors
/// See [`Error`]. A status that is not 0 is the firmware's refusal, whatever the errno is, or with
/// none. Kernels before 5.18 gave the errno of the status ([`status_errno`]) and no output: there it is
/// [`Error::Kernel`], for the firmware's refusal too.
pub fn outcome<T>(input: &[u8], output: &[u8], result: Result<T, Errno>) -> Result<T, Error> {
    let opcode = mlx5_prm::opcode(input).unwrap_or_default();
    // Status and syndrome are the first 8 bytes of every output.
    let Some(head) = output.first_chunk::<8>() else {
        return Err(match result {
            Err(errno) if errno != Errno::REMOTEIO => Error::Kernel { opcode, errno },
            _ => Error::Answer { opcode, reason: BadAnswer::Short(output.len()) },
        });
    };
    let status = Status(head[0]);
    let syndrome = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    match (status, result) {
        (Status::OK, Ok(value)) => Ok(value),
        (Status::OK, Err(Errno::REMOTEIO)) => {
            Err(Error::Answer { opcode, reason: BadAnswer::RefusedWithoutStatus })
        }
        (Status::OK, Err(errno)) => Err(Error::Kernel { opcode, errno }),
        (status, _) => {
            let op_mod = mlx5_prm::op_mod(input).unwrap_or_default();
            Err(Error::Firmware { opcode, op_mod, status, syndrome })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_words_an_errno_and_a_meaning() {
        for (number, words, errno, meaning) in [
            (0x00, "ok", Errno::IO, "the command was done"),
            (0x01, "internal error", Errno::IO, "the firmware met a fault of its own"),
            (
                0x02,
                "bad operation",
                Errno::INVAL,
                "the adapter has no such command or op_mod, or not for this function",
            ),
            (
                0x03,
                "bad parameter",
                Errno::INVAL,
                "a value in the input is not allowed, or not together with others",
            ),
            (
                0x04,
                "bad system state",
                Errno::IO,
                "the function is not in a state that takes the command",
            ),
            (
                0x05,
                "bad resource",
                Errno::INVAL,
                "an object that the input names is not there, or not this user's",
            ),
            (0x06, "resource busy", Errno::BUSY, "the object is in use by another one"),
            (
                0x07,
                "not ready",
                Errno::AGAIN,
                "the firmware, or what was asked of it, is not ready yet; try again later",
            ),
            (
                0x08,
                "limit exceeded",
                Errno::NOMEM,
                "there are as many objects as there may be, a size or number is larger than the \
                 adapter's limit, or memory is short",
            ),
            (
                0x09,
                "bad resource state",
                Errno::INVAL,
                "an object is not there, still in use, or not in a state that takes the command",
            ),
            (0x0a, "bad index", Errno::INVAL, "an index in the input is out of its table"),
            (0x0f, "no resources", Errno::AGAIN, "the adapter has nothing left to give"),
            (
                0x10,
                "bad QP state",
                Errno::INVAL,
                "the QP is not in the state that the transition begins with",
            ),
            (0x30, "bad packet", Errno::INVAL, "a packet in the input is malformed"),
            (
                0x40,
                "too many outstanding CQEs",
                Errno::INVAL,
                "the CQ has more completions than its new size holds",
            ),
            (
                0x50,
                "bad input length",
                Errno::IO,
                "the input is shorter than the command, or its list",
            ),
            (
                0x51,
                "bad output length",
                Errno::IO,
                "the output is shorter than the answer, or its list",
            ),
            (0xff, "unknown status", Errno::IO, "a status that is newer than this program"),
        ] {
            let status = Status(number);
            assert_eq!(status_words(status), words);
            assert_eq!(status_errno(status), errno, "{words}");
            assert_eq!(status_meaning(status), meaning);
        }
    }

    #[test]
    fn it_is_told_who_refused_and_how_far_it_got() {
        let says = |errno| {
            let error = outcome(&[4, 3], &[0; 16], Err::<(), _>(errno)).expect_err("refused");
            assert_eq!(format!("{error:?}"), error.to_string());
            error.to_string()
        };
        assert_eq!(
            says(Errno::BADE),
            "MODIFY_CQ(0x403) differs from the recording, as Replayer::mismatch tells: Invalid \
             exchange (os error 52)"
        );
        assert_eq!(
            says(Errno::ACCESS),
            "MODIFY_CQ(0x403) was kept back by the limit of the Fwctl, as Fwctl::check tells: \
             Permission denied (os error 13)"
        );
        for (errno, words) in [
            (Errno::BADMSG, "is not let through by fwctl"),
            (Errno::MSGSIZE, "has a mailbox of a length that fwctl does not take"),
            (Errno::INVAL, "was refused by the kernel"),
            (Errno::NODEV, "was refused by the kernel"),
            (Errno::TIMEDOUT, "got no answer, and may have been carried out"),
            (Errno::INTR, "got no answer, and may have been carried out"),
            (Errno::NXIO, "found the command interface of the adapter down"),
            (Errno::CANCELED, "did not get through to the firmware"),
            (Errno::BADR, "did not get through to the firmware"),
            (Errno::FAULT, "failed in the kernel"),
            (Errno::NOMSG, "did not get through to the firmware"),
            (Errno::BUSY, "failed in the kernel"),
            (Errno::IO, "failed in the kernel"),
        ] {
            assert_eq!(says(errno), format!("MODIFY_CQ(0x403) {words}: {errno}"));
        }
    }

    #[test]
    fn a_refusal_has_one_errno_and_the_errno_of_its_status_as_the_kernels() {
        let error = Error::Firmware {
            opcode: Opcode::MODIFY_CQ,
            op_mod: 0,
            status: Status::BAD_PARAM_ERR,
            syndrome: 0x6231e6,
        };
        assert_eq!(error.errno(), Errno::REMOTEIO);
        assert_eq!(
            error.to_string(),
            "MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome \
             0x6231e6: a value in the input is not allowed, or not together with others"
        );
    }

    #[test]
    fn an_output_without_room_holds_no_status() {
        let short = |result| outcome::<()>(&[4, 3], &[0; 7], result).expect_err("no status");
        assert_eq!(
            short(Err(Errno::NOENT)),
            Error::Kernel { opcode: Opcode::MODIFY_CQ, errno: Errno::NOENT }
        );
        for result in [Ok(()), Err(Errno::REMOTEIO)] {
            let reason = BadAnswer::Short(7);
            assert_eq!(short(result), Error::Answer { opcode: Opcode::MODIFY_CQ, reason });
        }
    }
}
