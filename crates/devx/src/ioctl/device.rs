//! The RDMA devices of a system, as sysfs shows them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::OpenError;
use crate::sysfs;

/// An RDMA device: an entry of `/sys/class/infiniband_verbs`.
///
/// ```no_run
/// use mlx5_devx::ioctl::{Device, Selector};
///
/// for device in Device::list()? {
///     println!("{device}"); // mlx5_0 (0000:08:00.0, eth2)
/// }
/// let device = Device::find(Selector::IbName("mlx5_0"))?;
/// assert_eq!(device.node(), std::path::Path::new("/dev/infiniband/uverbs0"));
/// # Ok::<(), mlx5_devx::ioctl::OpenError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its name in the RDMA subsystem, such as `mlx5_0` or `rocep8s0`: the file `ibdev`.
    pub ib_name: String,
    /// The name of its device file, such as `uverbs0`.
    pub uverbs: String,
    /// The number of its device file, major and minor: the file `dev`.
    pub number: Option<(u32, u32)>,
    /// Its name on its bus: a PCI address such as `0000:08:00.0`, or of a subfunction
    /// `mlx5_core.sf.4`; `None` for a device of software. Where the link `device` leads.
    pub bus_name: Option<String>,
    /// The driver of the device on the bus: where the link `device/driver` leads.
    pub driver: Option<String>,
    /// Its network interfaces: the entries of `device/net`.
    ///
    /// Those of a switchdev adapter include its representors; a bond above it is not among them.
    pub netdevs: Vec<String>,
}

/// How to find a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector<'a> {
    /// By its name in the RDMA subsystem: `mlx5_0`.
    IbName(&'a str),
    /// By one of its network interfaces: `eth2`.
    Netdev(&'a str),
    /// By its PCI address: `0000:08:00.0`, or `08:00.0` for domain 0.
    Pci(&'a str),
}

impl fmt::Display for Selector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::IbName(name) => write!(f, "name {name}"),
            Selector::Netdev(name) => write!(f, "network interface {name}"),
            Selector::Pci(address) => write!(f, "PCI address {address}"),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.ib_name, self.bus_name.as_deref().unwrap_or("no bus"))?;
        for netdev in &self.netdevs {
            write!(f, ", {netdev}")?;
        }
        f.write_str(")")
    }
}

impl Device {
    /// The devices of this system, in the order of their device files.
    ///
    /// # Errors
    /// [`OpenError::NoList`].
    pub fn list() -> Result<Vec<Self>, OpenError> {
        Device::list_in(Path::new("/sys"))
    }

    /// [`Device::list`] with another root than `/sys`.
    ///
    /// # Errors
    /// [`OpenError::NoList`].
    pub fn list_in(sysfs: &Path) -> Result<Vec<Self>, OpenError> {
        Ok(sysfs::devices(sysfs, "infiniband_verbs", "uverbs", Device::read)?)
    }

    /// The device that `selector` says.
    ///
    /// # Errors
    /// [`OpenError::NoList`], [`OpenError::NotFound`], [`OpenError::Several`].
    pub fn find(selector: Selector<'_>) -> Result<Self, OpenError> {
        Device::find_in(Path::new("/sys"), selector)
    }

    /// [`Device::find`] with another root than `/sys`.
    ///
    /// # Errors
    /// [`OpenError::NoList`], [`OpenError::NotFound`], [`OpenError::Several`].
    pub fn find_in(sysfs: &Path, selector: Selector<'_>) -> Result<Self, OpenError> {
        let all = Device::list_in(sysfs)?;
        Ok(sysfs::only(all, selector, |device| device.is(selector))?)
    }

    /// Its device file.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev/infiniband").join(&self.uverbs)
    }

    /// Whether it is an mlx5 device, by its driver: `mlx5_core`, or of a subfunction
    /// `mlx5_core.sf`.
    pub fn is_mlx5(&self) -> bool {
        self.driver.as_deref().is_some_and(|d| d == "mlx5_core" || d.starts_with("mlx5_core."))
    }

    fn is(&self, selector: Selector<'_>) -> bool {
        match selector {
            Selector::IbName(name) => self.ib_name == name,
            Selector::Netdev(name) => self.netdevs.iter().any(|netdev| netdev == name),
            Selector::Pci(address) => {
                self.bus_name.as_deref() == Some(&*sysfs::whole_address(address))
            }
        }
    }

    fn read(path: &Path, uverbs: String) -> Option<Self> {
        let ib_name = sysfs::read_line(&path.join("ibdev"))?;
        let number = sysfs::read_line(&path.join("dev")).and_then(|n| sysfs::device_number(&n));
        let mut netdevs: Vec<String> = fs::read_dir(path.join("device/net"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        netdevs.sort();
        Some(Device {
            ib_name,
            uverbs,
            number,
            bus_name: sysfs::link_name(&path.join("device")),
            driver: sysfs::link_name(&path.join("device/driver")),
            netdevs,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Errno;
    use std::os::unix::fs::symlink;

    fn make_dir(path: &Path) {
        fs::create_dir_all(path).expect("a directory");
    }

    /// A tree as sysfs has it: two functions of an adapter, a subfunction, and a device of
    /// software.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        let class = root.path().join("class/infiniband_verbs");
        make_dir(&class);
        fs::write(class.join("abi_version"), "6\n").expect("a file");
        let drivers = root.path().join("bus/drivers");
        for driver in ["mlx5_core", "mlx5_core.sf"] {
            make_dir(&drivers.join(driver));
        }
        let add = |uverbs: &str, ib: &str, bus: Option<(&str, &str)>, netdevs: &[&str]| {
            let entry = class.join(uverbs);
            make_dir(&entry);
            fs::write(entry.join("ibdev"), format!("{ib}\n")).expect("a file");
            let minor = 192 + uverbs["uverbs".len()..].parse::<u32>().expect("a number");
            fs::write(entry.join("dev"), format!("231:{minor}\n")).expect("a file");
            if let Some((bus_name, driver)) = bus {
                let device = root.path().join("devices").join(bus_name);
                for netdev in netdevs {
                    make_dir(&device.join("net").join(netdev));
                }
                make_dir(&device);
                symlink(drivers.join(driver), device.join("driver")).expect("a link");
                symlink(&device, entry.join("device")).expect("a link");
            }
        };
        add("uverbs10", "mlx5_2", Some(("mlx5_core.sf.4", "mlx5_core.sf")), &["enp8s0f0s4"]);
        add("uverbs1", "mlx5_1", Some(("0000:08:00.1", "mlx5_core")), &["eth3"]);
        add("uverbs0", "mlx5_0", Some(("0000:08:00.0", "mlx5_core")), &["eth2", "eth2_0"]);
        add("uverbs2", "rxe0", None, &[]);
        root
    }

    #[test]
    fn devices_are_listed_by_number() {
        let root = tree();
        let devices = Device::list_in(root.path()).expect("a list");
        let shown: Vec<String> = devices.iter().map(Device::to_string).collect();
        let expected = [
            "mlx5_0 (0000:08:00.0, eth2, eth2_0)",
            "mlx5_1 (0000:08:00.1, eth3)",
            "rxe0 (no bus)",
            "mlx5_2 (mlx5_core.sf.4, enp8s0f0s4)",
        ];
        assert_eq!(shown, expected);
        let is_mlx5: Vec<bool> = devices.iter().map(Device::is_mlx5).collect();
        assert_eq!(is_mlx5, [true, true, false, true]);
        assert_eq!(devices[0].number, Some((231, 192)));
        assert_eq!(devices[3].node(), Path::new("/dev/infiniband/uverbs10"));
    }

    #[test]
    fn devices_are_found_by_each_name() {
        let root = tree();
        let find = |selector| Device::find_in(root.path(), selector).map(|d| d.ib_name);
        assert_eq!(find(Selector::IbName("rxe0")).as_deref(), Ok("rxe0"));
        assert_eq!(find(Selector::Netdev("eth3")).as_deref(), Ok("mlx5_1"));
        assert_eq!(find(Selector::Netdev("eth2_0")).as_deref(), Ok("mlx5_0"));
        assert_eq!(find(Selector::Pci("0000:08:00.1")).as_deref(), Ok("mlx5_1"));
        assert_eq!(find(Selector::Pci("08:00.1")).as_deref(), Ok("mlx5_1"));
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let root = tree();
        let find = |selector| Device::find_in(root.path(), selector).expect_err("none").to_string();
        assert_eq!(
            find(Selector::Pci("0000:09:00.0")),
            "there is no RDMA device with PCI address 0000:09:00.0; there are: mlx5_0 \
             (0000:08:00.0, eth2, eth2_0), mlx5_1 (0000:08:00.1, eth3), rxe0 (no bus), mlx5_2 \
             (mlx5_core.sf.4, enp8s0f0s4)"
        );
        assert!(find(Selector::IbName("mlx5_9")).contains("with name mlx5_9;"));
        assert!(find(Selector::Netdev("eth9")).contains("with network interface eth9;"));
    }

    #[test]
    fn several_devices_are_no_answer() {
        let root = tree();
        let class = root.path().join("class/infiniband_verbs");
        make_dir(&class.join("uverbs3"));
        fs::write(class.join("uverbs3/ibdev"), "second\n").expect("a file");
        let device = root.path().join("devices/0000:08:00.0");
        symlink(device, class.join("uverbs3/device")).expect("a link");
        assert_eq!(
            Device::find_in(root.path(), Selector::Pci("08:00.0")).expect_err("two").to_string(),
            "several RDMA devices have PCI address 08:00.0: mlx5_0 (0000:08:00.0, eth2, eth2_0), \
             second (0000:08:00.0, eth2, eth2_0)"
        );
    }

    #[test]
    fn no_devices_and_no_list_are_told_apart() {
        let root = tempfile::tempdir().expect("a directory");
        let class = root.path().join("class/infiniband_verbs");
        let error = Device::list_in(root.path()).expect_err("no list");
        assert_eq!(error, OpenError::NoList { path: class.clone(), errno: Errno::NOENT });
        assert!(error.to_string().ends_with("is the module ib_uverbs loaded?"));
        make_dir(&class);
        assert_eq!(Device::list_in(root.path()), Ok(vec![]));
        let error = Device::find_in(root.path(), Selector::IbName("mlx5_0")).expect_err("none");
        assert_eq!(
            error.to_string(),
            "there is no RDMA device with name mlx5_0; there is none at all"
        );
    }

    #[test]
    fn a_device_that_goes_while_it_is_read_is_left_out() {
        let root = tree();
        let gone = root.path().join("class/infiniband_verbs/uverbs1/ibdev");
        fs::remove_file(gone).expect("it is there");
        assert_eq!(Device::list_in(root.path()).map(|all| all.len()), Ok(3));
    }
}
