//! The fwctl devices of a system, as sysfs shows them.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::OpenError;
use crate::sysfs;

/// A fwctl device: an entry of `/sys/class/fwctl`.
///
/// There is one for each PCI function whose firmware has user contexts (`cmd_hca_cap.uctx_cap`),
/// and none for subfunctions (`is_fwctl_supported` in `mlx5/core/dev.c`).
///
/// ```no_run
/// use mlx5_devx::fwctl::{Device, Selector};
///
/// for device in Device::list()? {
///     println!("{device}"); // fwctl0 (0000:08:00.0, mlx5_core)
/// }
/// let device = Device::find(Selector::Pci("08:00.0"))?;
/// # Ok::<(), mlx5_devx::fwctl::OpenError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its name, and that of its device file: `fwctl0`.
    pub name: String,
    /// The number of its device file, major and minor: the file `dev`.
    pub number: Option<(u32, u32)>,
    /// Its PCI address, `0000:08:00.0`: where the link `device` leads.
    pub bus_name: Option<String>,
    /// The driver of the device on the bus, `mlx5_core`: where the link `device/driver` leads.
    pub driver: Option<String>,
}

/// How to find a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector<'a> {
    /// By its name: `fwctl0`. The kernel counts the devices as they come, so that a name may
    /// belong to another device after a restart.
    Name(&'a str),
    /// By its PCI address: `0000:08:00.0`, or `08:00.0` for domain 0.
    Pci(&'a str),
}

impl fmt::Display for Selector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Name(name) => write!(f, "name {name}"),
            Selector::Pci(address) => write!(f, "PCI address {address}"),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.name, self.bus_name.as_deref().unwrap_or("no bus"))?;
        if let Some(driver) = &self.driver {
            write!(f, ", {driver}")?;
        }
        f.write_str(")")
    }
}

impl Device {
    /// The devices of this system, in the order of their numbers, those of other drivers too.
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
        Ok(sysfs::devices(sysfs, "fwctl", "fwctl", Device::read)?)
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

    /// Its device file (`fwctl_devnode` in `drivers/fwctl/main.c`).
    pub fn node(&self) -> PathBuf {
        Path::new("/dev/fwctl").join(&self.name)
    }

    fn is(&self, selector: Selector<'_>) -> bool {
        match selector {
            Selector::Name(name) => self.name == name,
            Selector::Pci(address) => {
                self.bus_name.as_deref() == Some(&*sysfs::whole_address(address))
            }
        }
    }

    fn read(path: &Path, name: String) -> Option<Self> {
        let number = sysfs::device_number(&sysfs::read_line(&path.join("dev"))?);
        Some(Device {
            name,
            number,
            bus_name: sysfs::link_name(&path.join("device")),
            driver: sysfs::link_name(&path.join("device/driver")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errno;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A tree as sysfs has it: two functions of an adapter, and a device of another driver.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        let class = root.path().join("class/fwctl");
        fs::create_dir_all(&class).expect("a directory");
        for (n, bus_name, driver) in [
            (10, "0000:08:00.1", "mlx5_core"),
            (2, "0001:0a:00.0", "bnxt_en"),
            (0, "0000:08:00.0", "mlx5_core"),
        ] {
            let driver = root.path().join("bus/pci/drivers").join(driver);
            let bus = root.path().join("devices").join(bus_name);
            let device = bus.join(format!("fwctl/fwctl{n}"));
            for directory in [&driver, &device] {
                fs::create_dir_all(directory).expect("a directory");
            }
            fs::write(device.join("dev"), format!("510:{n}\n")).expect("a file");
            symlink(&bus, device.join("device")).expect("a link");
            if fs::symlink_metadata(bus.join("driver")).is_err() {
                symlink(&driver, bus.join("driver")).expect("a link");
            }
            symlink(&device, class.join(format!("fwctl{n}"))).expect("a link");
        }
        root
    }

    #[test]
    fn devices_are_listed_by_number() {
        let root = tree();
        let devices = Device::list_in(root.path()).expect("a list");
        let shown: Vec<String> = devices.iter().map(Device::to_string).collect();
        let expected = [
            "fwctl0 (0000:08:00.0, mlx5_core)",
            "fwctl2 (0001:0a:00.0, bnxt_en)",
            "fwctl10 (0000:08:00.1, mlx5_core)",
        ];
        assert_eq!(shown, expected);
        assert_eq!(devices[2].number, Some((510, 10)));
        assert_eq!(devices[2].node(), Path::new("/dev/fwctl/fwctl10"));
    }

    #[test]
    fn devices_are_found_by_name_and_address() {
        let root = tree();
        let find = |selector| Device::find_in(root.path(), selector).map(|d| d.name);
        assert_eq!(find(Selector::Name("fwctl2")).as_deref(), Ok("fwctl2"));
        assert_eq!(find(Selector::Pci("08:00.1")).as_deref(), Ok("fwctl10"));
        assert_eq!(find(Selector::Pci("0001:0A:00.0")).as_deref(), Ok("fwctl2"));
        assert_eq!(
            find(Selector::Pci("09:00.0")).expect_err("none").to_string(),
            "there is no fwctl device with PCI address 09:00.0; there are: fwctl0 (0000:08:00.0, \
             mlx5_core), fwctl2 (0001:0a:00.0, bnxt_en), fwctl10 (0000:08:00.1, mlx5_core)"
        );
    }

    #[test]
    fn several_devices_are_no_answer() {
        let root = tree();
        let device = root.path().join("class/fwctl/fwctl3");
        fs::create_dir(&device).expect("a directory");
        fs::write(device.join("dev"), "510:3\n").expect("a file");
        symlink(root.path().join("devices/0000:08:00.0"), device.join("device")).expect("a link");
        assert_eq!(
            Device::find_in(root.path(), Selector::Pci("08:00.0")).expect_err("two").to_string(),
            "several fwctl devices have PCI address 08:00.0: fwctl0 (0000:08:00.0, mlx5_core), \
             fwctl3 (0000:08:00.0, mlx5_core)"
        );
    }

    #[test]
    fn no_devices_and_no_list_are_told_apart() {
        let root = tempfile::tempdir().expect("a directory");
        let class = root.path().join("class/fwctl");
        let error = Device::list_in(root.path()).expect_err("no list");
        assert_eq!(error, OpenError::NoList { path: class.clone(), errno: Errno::NOENT });
        assert!(error.to_string().contains("from Linux 6.15"));
        fs::create_dir_all(&class).expect("a directory");
        assert_eq!(Device::list_in(root.path()), Ok(vec![]));
        let error = Device::find_in(root.path(), Selector::Name("fwctl0")).expect_err("none");
        assert!(error.to_string().contains("none at all (is the module mlx5_fwctl loaded?)"));
    }

    #[test]
    fn a_device_that_goes_while_it_is_read_is_left_out() {
        let root = tree();
        fs::remove_file(root.path().join("class/fwctl/fwctl2/dev")).expect("it is there");
        assert_eq!(Device::list_in(root.path()).map(|all| all.len()), Ok(2));
    }
}
