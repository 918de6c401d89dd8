//! `--to`: where commands go.

mod open;

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;

use crate::arguments::ArgumentFault;
use crate::names;
pub(crate) use open::Line;

/// Where commands go, and whether they are written down.
#[derive(Clone, Args)]
pub(crate) struct To {
    /// Where commands go: sim, ioctl:DEV, libmlx5:DEV, fwctl:DEV or replay:FILE.
    ///
    /// sim is a simulated adapter, new with every run, behind the kernel's DEVX rules; sim:fwctl is the same
    /// behind those of its fwctl driver. ioctl takes a device by its name (mlx5_0), network interface or PCI
    /// address, libmlx5 by its name, fwctl by its PCI address or name (fwctl0). replay answers from a
    /// recording.
    #[arg(long, value_name = "WAY")]
    to: String,
    /// Records the calls in a file, for replay:FILE and `prm decode`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// A way to an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way<'a> {
    Sim(Interface),
    Ioctl(&'a str),
    LibMlx5(&'a str),
    Fwctl(&'a str),
    Replay(&'a str),
}

/// The kernel's interface that commands meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interface {
    /// Objects, and the commands that a user context may send.
    Devx,
    /// Mailboxes of queries, registers and settings.
    Fwctl,
}

/// The kinds of ways, and what stands after the colon.
const KINDS: [(&str, &str); 5] =
    [("sim", ""), ("ioctl", "DEV"), ("libmlx5", "DEV"), ("fwctl", "DEV"), ("replay", "FILE")];

/// What may stand in front of the simulated adapter.
const PROFILES: [(&str, Interface); 2] = [("devx", Interface::Devx), ("fwctl", Interface::Fwctl)];

const FORMS: &str = "Give sim, sim:fwctl, ioctl:DEV, libmlx5:DEV, fwctl:DEV or replay:FILE.";

impl To {
    /// The way that is named.
    pub(crate) fn way(&self) -> Result<Way<'_>, ArgumentFault> {
        Way::parse(&self.to)
    }

    /// A fault of the way: it is not one for this command.
    pub(crate) fn fault(
        &self,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ArgumentFault {
        ArgumentFault::whole(&self.to, problem, remedy)
    }

    /// Another way, recorded in the same file.
    pub(crate) fn instead(&self, to: &str) -> To {
        To { to: to.to_owned(), record: self.record.clone() }
    }

    /// A fault of what stands after the colon.
    fn fault_of_device(&self, problem: String, remedy: &str) -> ArgumentFault {
        ArgumentFault::new(&self.to, after_colon(&self.to), problem, remedy)
    }
}

fn after_colon(to: &str) -> Range<usize> {
    to.find(':').map_or(0, |colon| colon + 1)..to.len()
}

impl<'a> Way<'a> {
    fn parse(to: &'a str) -> Result<Self, ArgumentFault> {
        let (kind, name) = match to.split_once(':') {
            Some((kind, name)) => (kind, Some(name)),
            None => (to, None),
        };
        let whole = |problem| ArgumentFault::new(to, 0..kind.len(), problem, FORMS);
        let Some((_, wants)) = KINDS.iter().find(|(known, _)| *known == kind) else {
            let near = names::list(&names::nearest_of(kind, KINDS.iter().map(|(known, _)| *known)));
            return Err(whole(format!("`{kind}` is no way to an adapter{near}")));
        };
        let name = match (kind, name) {
            ("sim", name) => return Self::sim(to, name),
            (_, Some(name)) if !name.is_empty() => name,
            _ => return Err(whole(format!("{kind} wants to be told which: {kind}:{wants}"))),
        };
        Ok(match kind {
            "ioctl" => Way::Ioctl(name),
            "libmlx5" => Way::LibMlx5(name),
            "fwctl" => Way::Fwctl(name),
            _ => Way::Replay(name),
        })
    }

    fn sim(to: &str, profile: Option<&str>) -> Result<Self, ArgumentFault> {
        let Some(profile) = profile else { return Ok(Way::Sim(Interface::Devx)) };
        if let Some((_, interface)) = PROFILES.iter().find(|(known, _)| *known == profile) {
            return Ok(Way::Sim(*interface));
        }
        let near = names::list(&names::nearest_of(profile, PROFILES.iter().map(|(p, _)| *p)));
        let problem = format!("the simulation has no profile `{profile}`{near}");
        let remedy = "It has devx and fwctl, the kernel's interfaces in front of its one adapter.";
        Err(ArgumentFault::new(to, after_colon(to), problem, remedy))
    }

    /// The interface that commands meet; `None` for a recording, which may be of either.
    pub(crate) fn interface(self) -> Option<Interface> {
        match self {
            Way::Sim(interface) => Some(interface),
            Way::Ioctl(_) | Way::LibMlx5(_) => Some(Interface::Devx),
            Way::Fwctl(_) => Some(Interface::Fwctl),
            Way::Replay(_) => None,
        }
    }

    /// The device, when it is a real one.
    pub(crate) fn device(self) -> Option<&'a str> {
        match self {
            Way::Ioctl(device) | Way::LibMlx5(device) | Way::Fwctl(device) => Some(device),
            Way::Sim(_) | Way::Replay(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_understood() {
        for (text, way) in [
            ("sim", Way::Sim(Interface::Devx)),
            ("sim:devx", Way::Sim(Interface::Devx)),
            ("sim:fwctl", Way::Sim(Interface::Fwctl)),
            ("ioctl:eth2", Way::Ioctl("eth2")),
            ("ioctl:0000:08:00.0", Way::Ioctl("0000:08:00.0")),
            ("libmlx5:mlx5_0", Way::LibMlx5("mlx5_0")),
            ("fwctl:08:00.0", Way::Fwctl("08:00.0")),
            ("replay:run.mlx5rec", Way::Replay("run.mlx5rec")),
        ] {
            assert_eq!(Way::parse(text).ok(), Some(way), "{text}");
        }
        for text in ["", "simm", "sim:", "sim:cx5", "ioctl", "ioctl:", "Replay:x", ":x"] {
            assert!(Way::parse(text).is_err(), "{text}");
        }
    }
}
