//! One call of a transport, as a recording keeps it.

use std::fmt;
use std::time::Duration;

use super::write::write_call;
use crate::{Errno, Handle, Target, TargetKind};

/// The longest mailbox that a recording holds, in bytes.
///
/// The kernel's DEVX interface takes 65535; the rest is for ways that take more.
pub const MAX_MAILBOX: usize = 1 << 20;

/// A method of [`Transport`](crate::Transport).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// [`Transport::create`](crate::Transport::create).
    Create,
    /// [`Transport::modify`](crate::Transport::modify).
    Modify,
    /// [`Transport::query`](crate::Transport::query).
    Query,
    /// [`Transport::destroy`](crate::Transport::destroy).
    Destroy,
    /// [`Transport::general`](crate::Transport::general).
    General,
}

impl Method {
    const ALL: [Method; 5] =
        [Method::Create, Method::Modify, Method::Query, Method::Destroy, Method::General];

    /// The word for it in a recording: the method's name.
    pub const fn word(self) -> &'static str {
        match self {
            Method::Create => "create",
            Method::Modify => "modify",
            Method::Query => "query",
            Method::Destroy => "destroy",
            Method::General => "general",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.word() == word)
    }

    /// Whether the method is called for an object that is there.
    pub const fn has_target(self) -> bool {
        matches!(self, Method::Modify | Method::Query | Method::Destroy)
    }

    /// Whether the method carries mailboxes.
    pub const fn has_mailboxes(self) -> bool {
        !matches!(self, Method::Destroy)
    }
}

/// The kinds of objects and the words for them in a recording.
pub(crate) const KINDS: [(TargetKind, &str); 6] = [
    (TargetKind::Devx, "devx"),
    (TargetKind::Qp, "qp"),
    (TargetKind::Cq, "cq"),
    (TargetKind::Srq, "srq"),
    (TargetKind::Wq, "wq"),
    (TargetKind::IndTable, "ind_table"),
];

pub(crate) fn kind_word(kind: TargetKind) -> &'static str {
    // The table holds every kind.
    KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, word)| word)
}

/// One call: what went in and what came back.
///
/// Its `Display` is its text in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The object: of modify, query and destroy; that of destroy is of kind
    /// [`TargetKind::Devx`].
    pub target: Option<Target>,
    /// When the call began: since the recorder was made, in whole microseconds.
    pub at: Duration,
    /// The input mailbox; empty for destroy.
    pub input: Vec<u8>,
    /// What the caller's output mailbox held before the call; as long as `output`.
    pub before: Vec<u8>,
    /// What it held afterwards; empty for destroy.
    pub output: Vec<u8>,
    /// What the transport said; a handle comes from create only.
    pub result: Result<Option<Handle>, Errno>,
}

impl Call {
    /// Method, object and command in one line: `modify cq 0x1, MODIFY_CQ(0x403)`.
    pub fn summary(&self) -> String {
        self.request().summary()
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            method: self.method,
            target: self.target,
            input: &self.input,
            output_len: self.output.len(),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_call(self, f)
    }
}

/// What a caller asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) target: Option<Target>,
    pub(crate) input: &'a [u8],
    pub(crate) output_len: usize,
}

/// Where `uid` stands in every input.
///
/// The kernel writes it over whatever a program put there (`MLX5_SET(general_obj_in_cmd_hdr, ...,
/// uid, ...)` in `drivers/infiniband/hw/mlx5/devx.c`).
const UID: std::ops::Range<usize> = 2..4;

impl Request<'_> {
    pub(crate) fn summary(&self) -> String {
        let mut text = self.method.word().to_owned();
        if let Some(target) = self.target {
            text += " ";
            text += &target_text(target);
        }
        if let Some(opcode) = mlx5_prm::opcode(self.input) {
            text += &format!(", {}({:#x})", opcode.name().unwrap_or("command"), opcode.0);
        }
        text
    }

    /// The input as it is compared: without the `uid`, which is the kernel's.
    pub(crate) fn compared_input(&self) -> Vec<u8> {
        let mut input = self.input.to_vec();
        if let Some(uid) = input.get_mut(UID) {
            uid.fill(0);
        }
        input
    }
}

pub(crate) fn target_text(target: Target) -> String {
    format!("{} {:#x}", kind_word(target.kind), target.handle.0)
}
