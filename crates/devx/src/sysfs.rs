//! Devices as sysfs shows them: the entries of a class, and which of them is meant.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Errno;

/// Why there is no device: each backend has words of its own for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoDevice {
    /// The directory of the class can't be read.
    NoList { path: PathBuf, errno: Errno },
    /// None is the one that was looked for.
    NotFound { wanted: String, present: Vec<String> },
    /// More than one is.
    Several { wanted: String, found: Vec<String> },
}

/// The devices of a class in the order of their numbers. Their names are `prefix` and a number; what
/// else is in the directory, such as `abi_version` of uverbs, is left out, and so is a device that
/// `read` finds nothing of: it can go while it is read.
pub(crate) fn devices<D>(
    sysfs: &Path,
    class: &str,
    prefix: &str,
    read: impl Fn(&Path, String) -> Option<D>,
) -> Result<Vec<D>, NoDevice> {
    let path = sysfs.join("class").join(class);
    let no_list = |error: std::io::Error| NoDevice::NoList {
        path: path.clone(),
        errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
    };
    let mut devices = Vec::new();
    for entry in fs::read_dir(&path).map_err(no_list)? {
        let entry = entry.map_err(no_list)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
        // As the kernel writes it, without a sign or zeros in front.
        if let Some(number) = number
            && name == format!("{prefix}{number}")
            && let Some(device) = read(&entry.path(), name)
        {
            devices.push((number, device));
        }
    }
    devices.sort_by_key(|(number, _)| *number);
    Ok(devices.into_iter().map(|(_, device)| device).collect())
}

/// The one device that is meant.
pub(crate) fn only<D: Display>(
    all: Vec<D>,
    wanted: impl Display,
    is: impl Fn(&D) -> bool,
) -> Result<D, NoDevice> {
    let names = |devices: &[D]| devices.iter().map(D::to_string).collect();
    let wanted = wanted.to_string();
    let (mut found, others): (Vec<D>, Vec<D>) = all.into_iter().partition(is);
    match (found.pop(), found.is_empty()) {
        (Some(device), true) => Ok(device),
        (Some(device), false) => {
            found.push(device);
            Err(NoDevice::Several { wanted, found: names(&found) })
        }
        (None, _) => Err(NoDevice::NotFound { wanted, present: names(&others) }),
    }
}

/// A PCI address as sysfs writes it: with its domain, in small letters.
pub(crate) fn whole_address(address: &str) -> String {
    let domain = if address.matches(':').count() == 1 { "0000:" } else { "" };
    format!("{domain}{address}").to_ascii_lowercase()
}

/// What a file says, without the end of its line.
pub(crate) fn read_line(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// The number of a device file, major and minor, as the file `dev` says it: `231:192`.
pub(crate) fn device_number(line: &str) -> Option<(u32, u32)> {
    let (major, minor) = line.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The last part of where a link leads.
pub(crate) fn link_name(path: &Path) -> Option<String> {
    Some(fs::read_link(path).ok()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_number_are_left_out_and_the_others_are_in_order() {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["thing10", "thing9", "thing", "thing1x", "abi_version", "gone2", "thing3"] {
            fs::create_dir_all(root.path().join("class/things").join(name)).expect("a directory");
        }
        let read = |path: &Path, name: String| {
            assert_eq!(path, root.path().join("class/things").join(&name));
            (name != "thing3").then_some(name)
        };
        let devices = devices(root.path(), "things", "thing", read).expect("a list");
        assert_eq!(devices, ["thing9", "thing10"]);
    }

    #[test]
    fn one_device_is_meant_or_all_are_told() {
        let all = || vec![1, 2, 12];
        assert_eq!(only(all(), "2", |n| *n == 2), Ok(2));
        let none = NoDevice::NotFound {
            wanted: "3".into(),
            present: vec!["1".into(), "2".into(), "12".into()],
        };
        assert_eq!(only(all(), "3", |n| *n == 3), Err(none));
        let several =
            NoDevice::Several { wanted: "even".into(), found: vec!["2".into(), "12".into()] };
        assert_eq!(only(all(), "even", |n| n % 2 == 0), Err(several));
    }

    #[test]
    fn addresses_have_their_domain() {
        assert_eq!(whole_address("08:00.0"), "0000:08:00.0");
        assert_eq!(whole_address("0001:0A:00.1"), "0001:0a:00.1");
    }

    #[test]
    fn numbers_of_device_files_are_two() {
        assert_eq!(device_number("231:192"), Some((231, 192)));
        for wrong in ["", "231", "231:", "a:1", "1:2:3", "-1:2"] {
            assert_eq!(device_number(wrong), None, "{wrong}");
        }
    }
}
