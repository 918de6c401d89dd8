//! The backend that needs no RDMA context: [`Fwctl`] sends commands through `/dev/fwctl/fwctlN` of
//! Linux 6.15 and newer, module `mlx5_fwctl`.
//!
//! ```no_run
//! use mlx5_devx::fwctl::{Device, Fwctl, Limit, Selector};
//! use mlx5_devx::Transport;
//!
//! let device = Device::find(Selector::Pci("08:00.0"))?;
//! let transport: Box<dyn Transport> = Box::new(Fwctl::open(&device, Limit::ReadOnly)?);
//!
//! let query = mlx5_prm::QueryHcaCapIn::new().with_op_mod(1); // general capabilities, as they are
//! let answer = mlx5_devx::general(&*transport, &query)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is for tools that look, and a few that configure: the driver lets queries, accesses to
//! registers and a few changes of settings through ([`admitted`]), and nothing that makes, changes
//! or ends an object. A user who may open the device file is all that it needs; the kernel makes
//! the file for root.
//!
//! # Scopes
//! The kernel wants to be told how far a command may reach, its [`Scope`], and the driver refuses a
//! command that needs a wider one. [`Fwctl`] says the narrowest that the command needs, so that it
//! never taints the kernel without need, and sends nothing beyond its [`Limit`].
//!
//! Sources: `include/uapi/fwctl/fwctl.h`, `include/uapi/fwctl/mlx5.h`, `drivers/fwctl/main.c` and
//! `drivers/fwctl/mlx5/main.c` of Linux.

mod device;
mod error;
mod file;
mod scope;
mod system;
pub mod wire;

use std::fmt;
use std::sync::Arc;

use mlx5_prm::Opcode;
use rustix::io::retry_on_intr;

pub use device::{Device, Selector};
pub use error::{OpenError, RpcError};
pub use file::{DeviceFile, FileInfo};
pub use scope::{Admitted, Limit, Scope, admitted, changes, scope_needed};

use crate::{Errno, Handle, Target, Transport, device_file};
use system::OpenFile;
use wire::{DEVICE_TYPE_MLX5, HEADER, InfoMlx5, MAX_RPC_LEN};

/// An open device file of fwctl.
///
/// Clones are the same file, and the same user context of the firmware, in whose name every command
/// runs: the driver writes its number into the mailbox. The kernel ends it when the last of them is
/// dropped.
///
/// # As a [`Transport`]
/// The kernel takes a mailbox, and knows no objects:
/// - [`Transport::general`], [`Transport::query`] and [`Transport::modify`] are alike. The
///   [`Target`] does not count: which object is meant stands in the mailbox. The driver lets no
///   command through that modifies an object.
/// - [`Transport::create`] and [`Transport::destroy`] give EOPNOTSUPP and send nothing: the driver
///   lets no command through that makes an object, so there is no handle to end.
///
/// A refusal of the firmware is success to the kernel, with the status in the output
/// (`mlx5ctl_fw_rpc` takes EREMOTEIO for an answer); here it is [`Errno::REMOTEIO`], as
/// [`Transport`] says.
///
/// # Errors
/// Those of [`RpcError`], as errnos ([`RpcError::errno`]): EBADMSG for a command that no scope lets
/// through, EACCES for one beyond the [`Limit`]; neither is sent. [`Fwctl::check`] says the same in
/// words, as does [`Fwctl::rpc`]. EINTR goes to the caller: the command may have reached the
/// firmware.
#[derive(Clone)]
pub struct Fwctl {
    file: Arc<dyn DeviceFile>,
    info: InfoMlx5,
    limit: Limit,
}

impl Fwctl {
    /// Opens the device file of a device, to send what `limit` lets through.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(device: &Device, limit: Limit) -> Result<Self, OpenError> {
        let node = device.node();
        match device_file::open(&node, device.number) {
            Ok(fd) => Fwctl::over(OpenFile { node, fd }, limit),
            Err(why) => Err(OpenError::of_file(node, why)),
        }
    }

    /// Sends what `limit` lets through over a file that is open already, or what stands for one,
    /// such as `mlx5_sim::FwctlFile`. The file is asked what it is.
    ///
    /// ```
    /// use mlx5_devx::fwctl::{Fwctl, Limit};
    /// use mlx5_sim::{Adapter, FwctlFile};
    ///
    /// let file = FwctlFile::new(Adapter::new());
    /// let fwctl = Fwctl::over(file, Limit::ReadOnly)?;
    /// assert_ne!(fwctl.info().uid, 0);
    /// # Ok::<(), mlx5_devx::fwctl::OpenError>(())
    /// ```
    ///
    /// # Errors
    /// [`OpenError::NotFwctl`], [`OpenError::NotMlx5`], [`OpenError::Gone`], [`OpenError::NoInfo`],
    /// [`OpenError::ShortInfo`].
    pub fn over(file: impl DeviceFile + 'static, limit: Limit) -> Result<Self, OpenError> {
        let node = || file.node().to_owned();
        let FileInfo { device_type, length, data } =
            retry_on_intr(|| file.info()).map_err(|errno| OpenError::of_info(node(), errno))?;
        if device_type != DEVICE_TYPE_MLX5 {
            return Err(OpenError::NotMlx5 { node: node(), device_type });
        }
        if (length as usize) < size_of::<InfoMlx5>() {
            return Err(OpenError::ShortInfo { node: node(), length });
        }
        Ok(Fwctl { file: Arc::new(file), info: data, limit })
    }

    /// What the driver said of the open file.
    pub fn info(&self) -> &InfoMlx5 {
        &self.info
    }

    /// What it lets through.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Whether a mailbox would be sent, and in which scope: the narrowest that the driver wants.
    ///
    /// # Errors
    /// [`RpcError::NotAdmitted`], [`RpcError::Changes`], [`RpcError::OverLimit`].
    pub fn check(&self, input: &[u8]) -> Result<Scope, RpcError> {
        let scope = scope_needed(input).ok_or(RpcError::NotAdmitted { opcode: opcode(input) })?;
        self.within_limit(input, scope)?;
        Ok(scope)
    }

    /// Sends a mailbox in the narrowest scope that it needs, and gives the length of the answer;
    /// what is left of `output` becomes 0.
    ///
    /// A refusal of the firmware is no error here: [`outcome`](crate::outcome) makes one of it.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub fn rpc(&self, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        check_lengths(input, output)?;
        let scope = self.check(input)?;
        self.call(scope, input, output)
    }

    /// [`Fwctl::rpc`] in a scope that the caller chooses: whether it lets the command through is
    /// left to the driver, whose list may be newer than [`admitted`].
    ///
    /// From [`Scope::DebugWrite`] on the kernel is tainted even if the driver then refuses the
    /// command: it looks at the scope first (`fwctl_cmd_rpc`).
    ///
    /// # Errors
    /// See [`RpcError`]. The [`Limit`] holds; [`Limit::ReadOnly`] keeps back every command that is
    /// not known here.
    pub fn rpc_in(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        check_lengths(input, output)?;
        self.within_limit(input, scope)?;
        self.call(scope, input, output)
    }

    fn within_limit(&self, input: &[u8], needs: Scope) -> Result<(), RpcError> {
        let (opcode, limit) = (opcode(input), self.limit);
        if limit == Limit::ReadOnly && changes(input) {
            let op_mod = mlx5_prm::op_mod(input).unwrap_or_default();
            return Err(RpcError::Changes { opcode, op_mod });
        }
        if needs > limit.scope() {
            return Err(RpcError::OverLimit { opcode, needs, limit });
        }
        Ok(())
    }

    fn call(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, RpcError> {
        let lengths = (input.len(), output.len());
        let length = self
            .file
            .rpc(scope, input, output)
            .map_err(|errno| RpcError::of_call(errno, opcode(input), scope, lengths))?;
        // The kernel says how long the answer is, and writes no more of it than there is room for.
        let length = length.min(output.len());
        output[length..].fill(0);
        if length < HEADER {
            output.fill(0);
            return Err(RpcError::ShortAnswer(length));
        }
        Ok(length)
    }

    /// A call of [`Transport`].
    fn send(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.rpc(input, output).map_err(|error| error.errno())?;
        // The status is the first byte of every output.
        if output[0] == 0 { Ok(()) } else { Err(Errno::REMOTEIO) }
    }
}

/// Refuses what the driver would refuse for its length.
fn check_lengths(input: &[u8], output: &[u8]) -> Result<(), RpcError> {
    let may = HEADER..=MAX_RPC_LEN;
    if may.contains(&input.len()) && may.contains(&output.len()) {
        return Ok(());
    }
    Err(RpcError::Length { input: input.len(), output: output.len() })
}

fn opcode(input: &[u8]) -> Opcode {
    mlx5_prm::opcode(input).unwrap_or_default()
}

impl Transport for Fwctl {
    fn create(&self, _: &[u8], _: &mut [u8]) -> Result<Handle, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn modify(&self, _: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }

    fn query(&self, _: Target, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }

    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.send(input, output)
    }
}

impl fmt::Debug for Fwctl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fwctl")
            .field("info", &self.info)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
