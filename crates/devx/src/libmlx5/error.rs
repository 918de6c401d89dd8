//! Why libmlx5 can't be used, and why a device can't be opened.

use crate::Errno;

/// Why libmlx5 can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A library is not there, or can't be loaded.
    #[error(
        "{soname} can't be loaded ({reason}): install rdma-core's libibverbs and its mlx5 provider"
    )]
    Library {
        /// Its name, such as `libmlx5.so.1`.
        soname: &'static str,
        /// What the loader says.
        reason: String,
    },
    /// It has no function of that name: it is older than what is asked of it.
    #[error("{soname} has no {symbol}, which came with rdma-core {since}: update rdma-core")]
    Symbol {
        /// The name of the library.
        soname: &'static str,
        /// The function.
        symbol: &'static str,
        /// The version of rdma-core that it came with.
        since: u32,
    },
}

/// Why a device can't be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// libmlx5 can't be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// libibverbs can't list the devices.
    #[error("the devices can't be listed: {errno}{}", hint(*.errno))]
    List {
        /// What libibverbs says.
        errno: Errno,
    },
    /// There is no such device.
    #[error("there is no device {wanted}; there {}", there_are(there))]
    NoSuchDevice {
        /// The name that was asked for.
        wanted: String,
        /// The names that are there.
        there: Vec<String>,
    },
    /// libmlx5 could not open it. `EOPNOTSUPP`: it is no mlx5 device, or has no DEVX; `EACCES`: see
    /// the access of `/dev/infiniband/uverbs*`.
    #[error("{device} can't be opened with DEVX: {errno}")]
    Refused {
        /// Its name.
        device: String,
        /// What libmlx5 says.
        errno: Errno,
    },
}

/// ENOSYS is what libibverbs says where the kernel shows no RDMA devices (`ibv_get_device_list`).
fn hint(errno: Errno) -> &'static str {
    if errno == Errno::NOSYS { "; is the module ib_uverbs loaded?" } else { "" }
}

fn there_are(names: &[String]) -> String {
    match names {
        [] => "is none".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told() {
        let there = |names: &[&str]| OpenError::NoSuchDevice {
            wanted: "mlx5_9".to_owned(),
            there: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(there(&[]).to_string(), "there is no device mlx5_9; there is none");
        assert_eq!(there(&["mlx5_0"]).to_string(), "there is no device mlx5_9; there is mlx5_0");
        assert_eq!(
            there(&["mlx5_0", "rxe0"]).to_string(),
            "there is no device mlx5_9; there are mlx5_0, rxe0"
        );
    }

    #[test]
    fn a_kernel_without_rdma_is_hinted_at() {
        assert_eq!(hint(Errno::NOSYS), "; is the module ib_uverbs loaded?");
        assert_eq!(hint(Errno::NODEV), "");
    }
}
