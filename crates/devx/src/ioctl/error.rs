//! Why there is no context of a device.

use std::path::PathBuf;

use crate::Errno;
use crate::device_file::NotOpened;
use crate::sysfs::NoDevice;

/// Why a device was not found, or not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The kernel shows no RDMA devices at all.
    #[error(
        "the list of RDMA devices {} cannot be read: {errno}; \
         is the module ib_uverbs loaded?", path.display()
    )]
    NoList {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        errno: Errno,
    },
    /// No device is the one that was looked for.
    #[error("there is no RDMA device with {wanted}; {}", what_is_there(.present))]
    NotFound {
        /// What was looked for.
        wanted: String,
        /// The devices that are there.
        present: Vec<String>,
    },
    /// Several devices are what was looked for.
    #[error("several RDMA devices have {wanted}: {}", .found.join(", "))]
    Several {
        /// What was looked for.
        wanted: String,
        /// The devices.
        found: Vec<String>,
    },
    /// The device is none of mlx5.
    #[error("{device} is no mlx5 device: {}", driver_words(.driver.as_deref()))]
    NotMlx5 {
        /// The device.
        device: String,
        /// Its driver, when it has one.
        driver: Option<String>,
    },
    /// The user may not open the device file.
    #[error(
        "{} may not be opened: {errno}; it must be readable and writable for this user, and in a \
         container it must also be among the devices that are let in", node.display()
    )]
    NotPermitted {
        /// The device file.
        node: PathBuf,
        /// EACCES or EPERM.
        errno: Errno,
    },
    /// The device file cannot be opened.
    #[error("{} cannot be opened: {errno}", node.display())]
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
    /// The kernel has no such call: it is older than about 5.6, or the file is none of uverbs.
    #[error("the kernel makes no context of {device} by ioctl ({errno}); is it older than 5.6?")]
    NoIoctl {
        /// The device.
        device: String,
        /// ENOTTY without the call, EPROTONOSUPPORT without the method.
        errno: Errno,
    },
    /// The kernel makes a context, and none with DEVX.
    #[error(
        "{device} has no DEVX for this program: the kernel makes a context without it, and with it \
         says {errno}; does the adapter have user contexts (log_max_uctx)?"
    )]
    NoDevx {
        /// The device.
        device: String,
        /// What the kernel said of a context with DEVX.
        errno: Errno,
    },
    /// The kernel makes no context, with DEVX or without.
    #[error("the kernel makes no context of {device}: {errno}")]
    NoContext {
        /// The device.
        device: String,
        /// What it said of a context with DEVX.
        errno: Errno,
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
            _ => OpenError::NotOpened { node, errno },
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

fn what_is_there(devices: &[String]) -> String {
    if devices.is_empty() {
        return "there is none at all".into();
    }
    format!("there are: {}", devices.join(", "))
}

fn driver_words(driver: Option<&str>) -> String {
    match driver {
        Some(driver) => format!("its driver is {driver}"),
        None => "sysfs names no driver of it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_files_are_told_from_missing_ones() {
        let node = PathBuf::from("/dev/infiniband/uverbs0");
        for errno in [Errno::ACCESS, Errno::PERM] {
            let error = OpenError::of_node(node.clone(), errno);
            assert_eq!(error, OpenError::NotPermitted { node: node.clone(), errno });
            assert!(error.to_string().starts_with("/dev/infiniband/uverbs0 may not be opened: "));
            assert!(error.to_string().contains("readable and writable for this user"));
        }
        for errno in [Errno::NOENT, Errno::NXIO, Errno::NODEV] {
            let error = OpenError::of_node(node.clone(), errno);
            assert_eq!(error, OpenError::NotOpened { node: node.clone(), errno });
        }
    }
}
