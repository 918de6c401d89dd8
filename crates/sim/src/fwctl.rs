//! A device file of fwctl: the kernel's fwctl driver in front of the firmware.

use std::path::Path;

use mlx5_devx::Errno;
use mlx5_devx::fwctl::wire::{HEADER, InfoMlx5, MAX_RPC_LEN};
use mlx5_devx::fwctl::{DeviceFile, FileInfo, Scope, scope_needed};

use crate::adapter::Adapter;
use crate::capability::TOOLS_RESOURCES;

/// The user context of every file. That of DEVX is another.
const UID: u16 = 2;

/// A simulated device file of fwctl, for
/// [`Fwctl::over`](mlx5_devx::fwctl::Fwctl::over): what the kernel's driver refuses is refused here
/// with the same errno, and the rest goes to the firmware of an adapter.
///
/// ```
/// use mlx5_devx::fwctl::{Fwctl, Limit};
/// use mlx5_devx::read_register;
/// use mlx5_prm::PpcntReg; // the feature `ports`
/// use mlx5_sim::{Adapter, FwctlFile};
///
/// let file = FwctlFile::new(Adapter::new());
/// let fwctl = Fwctl::over(file, Limit::ReadOnly)?;
/// let counters = read_register(&fwctl, PpcntReg::new().with_local_port(1))?;
/// assert!(read_register(&fwctl, counters.with_clr(true)).is_err()); // it would clear them
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The objects of the adapter are those that the program made by DEVX, so that a test sees them by
/// fwctl too. What the driver admits is read from the same table as the client's,
/// [`admitted`](mlx5_devx::fwctl::admitted), so that a fault of it is seen by neither; a test compares it
/// with the driver's. The file is one of a user with CAP_SYS_RAWIO, to whom the kernel gives every scope,
/// and of a driver that has all of the table.
#[derive(Debug, Clone)]
pub struct FwctlFile {
    adapter: Adapter,
}

impl FwctlFile {
    /// A file of the adapter.
    pub fn new(adapter: Adapter) -> Self {
        FwctlFile { adapter }
    }

    /// The adapter behind the file.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What the firmware lets user contexts do; nothing when it has no such page.
    fn uctx_cap(&self) -> u32 {
        let state = self.adapter.lock();
        state.firmware.capabilities.general().map_or(0, |general| general.uctx_cap().into())
    }

    /// As `fwctl_fops_ioctl` does.
    fn is_there(&self) -> Result<(), Errno> {
        if self.adapter.lock().hooks.is_removed() { Err(Errno::NODEV) } else { Ok(()) }
    }
}

impl DeviceFile for FwctlFile {
    fn node(&self) -> &Path {
        Path::new("the simulated file of fwctl")
    }

    /// As `mlx5ctl_open_uctx` and `mlx5ctl_info` do.
    fn info(&self) -> Result<FileInfo, Errno> {
        self.is_there()?;
        let uctx_caps = self.uctx_cap() & TOOLS_RESOURCES;
        Ok(InfoMlx5 { uid: UID.into(), uctx_caps }.into())
    }

    /// As `fwctl_cmd_rpc` and `mlx5ctl_fw_rpc` do.
    fn rpc(&self, scope: Scope, input: &[u8], output: &mut [u8]) -> Result<usize, Errno> {
        self.is_there()?;
        let lengths = HEADER..=MAX_RPC_LEN;
        if !lengths.contains(&input.len()) || !lengths.contains(&output.len()) {
            return Err(Errno::MSGSIZE);
        }
        if scope_needed(input).is_none_or(|needed| needed > scope) {
            return Err(Errno::BADMSG);
        }
        let mut input = input.to_vec();
        input[2..4].copy_from_slice(&UID.to_be_bytes());
        // Success, whatever the firmware's status is.
        self.adapter.lock().send(&input, output);
        Ok(output.len())
    }
}
