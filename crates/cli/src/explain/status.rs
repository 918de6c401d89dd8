//! The status of a refused command: its number, and the words that logs have for it.

use mlx5_devx::{status_meaning, status_words};
use mlx5_prm::Status;

use super::errno::Errno;

/// What mlx5_core writes into an output of its own when a command did not reach the firmware, and the
/// syndrome beside it: `MLX5_DRIVER_STATUS_ABORTED` and `MLX5_DRIVER_SYND` of its `mlx5_core.h`.
pub(super) const ABORTED: u8 = 0xfe;
pub(super) const DRIVER_SYNDROME: u32 = 0xbadd_00de;

/// The kernel's words, where they are not those of this project: `cmd_status_str` of mlx5_core's
/// `cmd.c`, which rdma-core's `mlx5_vfio.c` repeats, but for what is not ready: that is since Linux 6.12.
const OF_KERNEL: &[(Status, &str)] = &[
    (Status::OK, "OK"),
    (Status::NOT_READY, "FW not ready"),
    (Status::LIM_ERR, "limits exceeded"),
    (Status::BAD_PKT_ERR, "bad packet (discarded)"),
    (Status::BAD_SIZE_OUTS_CQES_ERR, "bad size too many outstanding CQEs"),
];

/// What the kernel says of a status that it does not know.
const UNKNOWN: &str = "unknown status";

/// A status in words.
pub(super) fn words(status: u8) -> &'static str {
    if status == ABORTED { "aborted by the driver" } else { status_words(Status(status)) }
}

/// What a status means.
pub(super) fn meaning(status: u8) -> &'static str {
    match status {
        ABORTED => {
            "the driver gave this answer itself: the command never reached the firmware, because the \
             device is in error, being reset, or gone from the bus"
        }
        _ => status_meaning(Status(status)),
    }
}

/// The statuses whose words, without blanks, are or begin with `said`.
fn fitting(said: &str, whole: bool) -> Vec<u8> {
    let squeezed = |words: &str| words.replace(' ', "");
    let fits = |words: &str| match whole {
        true => squeezed(words) == said,
        false => squeezed(words).starts_with(said),
    };
    let all = Status::DESC.values.iter().filter_map(|(number, _)| u8::try_from(*number).ok());
    let kernel =
        |status: u8| OF_KERNEL.iter().find(|(s, _)| s.0 == status).map(|(_, words)| *words);
    all.filter(|s| fits(status_words(Status(*s))) || kernel(*s).is_some_and(fits)).collect()
}

/// Words for a status as their writer has them, where they are known: a log may have broken them.
pub(super) fn mended(said: &str) -> String {
    let squeezed = said.replace(' ', "");
    let all = Status::DESC.values.iter().filter_map(|(n, _)| u8::try_from(*n).ok());
    let all = all.map(|n| status_words(Status(n))).chain(OF_KERNEL.iter().map(|(_, words)| *words));
    let known = all.chain([UNKNOWN]).find(|words| words.replace(' ', "") == squeezed);
    known.unwrap_or(said).to_owned()
}

/// The status that words stand for; those that are cut off when only one begins so.
pub(super) fn of_words(said: &str, cut: bool) -> Option<u8> {
    let said = said.replace(' ', "");
    // Two letters could still be anything that begins with "bad".
    match fitting(&said, !cut)[..] {
        [status] if said.len() >= 3 => Some(status),
        _ => None,
    }
}

/// Whether a log's words for a status are not those of its number.
pub(super) fn disagree(said: &str, status: u8) -> bool {
    let said = said.replace(' ', "");
    let known = Status::DESC.name_of(status.into()).is_some();
    match known {
        // A kernel may be older than the status.
        true => said != UNKNOWN.replace(' ', "") && !fitting(&said, true).contains(&status),
        false => of_words(&said, false).is_some(),
    }
}

/// Whether a kernel makes this errno of a status that it does not know yet: before Linux 6.12 one that is not
/// ready.
pub(super) fn older_errno(status: Option<u8>, errno: Errno) -> bool {
    let late = status == Some(Status::NOT_READY.0);
    late && matches!(errno.name(), Some("EIO" | "EAGAIN"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_both() {
        for (said, status) in [
            ("bad parameter", 0x3),
            ("limits exceeded", 0x8),
            ("limit exceeded", 0x8),
            ("badpacket(discarded)", 0x30),
            ("bad size too many outstanding CQEs", 0x40),
            ("too many outstanding CQEs", 0x40),
            ("FW not ready", 0x7),
        ] {
            assert_eq!(of_words(said, false), Some(status), "{said}");
            assert!(!disagree(said, status), "{said}");
        }
        assert_eq!(of_words("bad parame", true), Some(0x3));
        assert_eq!(of_words("bad", true), None);
        assert_eq!(of_words("bad parame", false), None);
    }

    #[test]
    fn words_of_another_number() {
        assert!(disagree("bad parameter", 0x8));
        assert!(disagree("bad parameter", 0xfe));
        assert!(!disagree("unknown status", 0xfe));
        assert!(!disagree("unknown status", 0x7), "an old kernel");
    }
}
