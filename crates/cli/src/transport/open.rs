//! Opens a way to an adapter.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mlx5_devx::fwctl::{self, Limit};
use mlx5_devx::ioctl::{self, Ioctl};
use mlx5_devx::libmlx5::{self, LibMlx5};
use mlx5_devx::record::{Call, Recorder, Recording, Replayer};
use mlx5_devx::{Errno, Fwctl, Transport};
use mlx5_sim::{Adapter, FwctlFile};

use super::{Interface, To, Way};
use crate::error::{Error, tell};
use crate::progress::Waiting;

/// An open way to an adapter.
pub(crate) struct Line {
    way: Sender,
    fwctl: Option<Fwctl>,
    replay: Option<Replay>,
    interface: Option<Interface>,
    simulated: Option<Adapter>,
}

enum Sender {
    Plain(Box<dyn Transport>),
    Recorded(Recorder<Box<dyn Transport>, File>, PathBuf),
}

struct Replay {
    replayer: Arc<Replayer>,
    calls: Vec<Call>,
}

impl To {
    /// Opens the way. `limit` is what fwctl lets through.
    pub(crate) fn open(&self, limit: Limit) -> Result<Line, Error> {
        let way = self.way()?;
        let _waiting = Waiting::new(format!("{} to open", self.to));
        let (mut fwctl, mut replay, mut simulated) = (None, None, None);
        let transport: Box<dyn Transport> = match way {
            Way::Sim(Interface::Devx) => Box::new(simulated.insert(Adapter::new()).clone()),
            Way::Sim(Interface::Fwctl) => {
                let file = FwctlFile::new(simulated.insert(Adapter::new()).clone());
                let opened = Fwctl::over(file, limit).map_err(refused)?;
                Box::new(fwctl.insert(opened).clone())
            }
            Way::Ioctl(device) => Box::new(self.ioctl(device)?),
            Way::LibMlx5(device) => Box::new(self.libmlx5(device)?),
            Way::Fwctl(device) => Box::new(fwctl.insert(self.fwctl(device, limit)?).clone()),
            Way::Replay(file) => {
                let opened = replay.insert(Replay::open(file)?);
                Box::new(Arc::clone(&opened.replayer))
            }
        };
        let way_taken = match &self.record {
            None => Sender::Plain(transport),
            Some(path) => {
                // Not over a recording that is there; a pipe or a terminal has nothing to lose.
                if path.is_file() {
                    let path = path.display();
                    return Err(Error::Input(format!(
                        "{path} is there already\nName another file for --record, or remove it."
                    )));
                }
                let file = File::create(path).map_err(|source| fault(path, source))?;
                Sender::Recorded(Recorder::new(transport, file), path.clone())
            }
        };
        Ok(Line { way: way_taken, fwctl, replay, interface: way.interface(), simulated })
    }

    fn ioctl(&self, name: &str) -> Result<Ioctl, Error> {
        use ioctl::{Device, OpenError, Selector};
        // Of a subfunction it is `mlx5_core.sf.4`.
        let found = if name.contains(':') || name.starts_with("mlx5_core.") {
            Device::find(Selector::Pci(name))
        } else {
            match Device::find(Selector::IbName(name)) {
                Err(error @ OpenError::NotFound { .. }) => Device::find(Selector::Netdev(name))
                    .map_err(|other| match other {
                        OpenError::NotFound { .. } => error,
                        other => other,
                    }),
                found => found,
            }
        };
        let device = found.map_err(|error| match error {
            OpenError::NotFound { .. } | OpenError::Several { .. } => {
                let remedy = "Give a name (mlx5_0), a network interface or a PCI address.";
                self.fault_of_device(error.to_string(), remedy).into()
            }
            error => refused(error),
        })?;
        Ioctl::open(&device).map_err(refused)
    }

    fn libmlx5(&self, name: &str) -> Result<LibMlx5, Error> {
        LibMlx5::open(name).map_err(|error| match error {
            libmlx5::OpenError::NoSuchDevice { .. } => {
                self.fault_of_device(error.to_string(), "Give the name of a device.").into()
            }
            error => refused(error),
        })
    }

    fn fwctl(&self, name: &str, limit: Limit) -> Result<Fwctl, Error> {
        use fwctl::{Device, OpenError, Selector};
        let by_address = name.contains(':');
        let selector = if by_address { Selector::Pci(name) } else { Selector::Name(name) };
        let device = Device::find(selector).map_err(|error| match error {
            OpenError::NotFound { .. } | OpenError::Several { .. } => {
                let remedy = "Give a PCI address (08:00.0) or a name (fwctl0).";
                self.fault_of_device(error.to_string(), remedy).into()
            }
            error => refused(error),
        })?;
        Fwctl::open(&device, limit).map_err(refused)
    }
}

impl Replay {
    fn open(file: &str) -> Result<Self, Error> {
        let reader = File::open(file).map_err(|source| fault(Path::new(file), source))?;
        let recording = Recording::read(BufReader::new(reader));
        let recording = recording.map_err(|error| Error::Input(format!("{file}, {error}")))?;
        let calls = recording.calls().to_vec();
        // A run of this command need not be the one that was recorded.
        Ok(Replay { replayer: Arc::new(Replayer::by_key(recording)), calls })
    }
}

impl Line {
    pub(crate) fn transport(&self) -> &dyn Transport {
        match &self.way {
            Sender::Plain(transport) => &**transport,
            Sender::Recorded(recorder, _) => recorder,
        }
    }

    /// The interface that commands meet; `None` for a recording.
    pub(crate) fn interface(&self) -> Option<Interface> {
        self.interface
    }

    /// The call of a recording that has this input, or is of the same command.
    pub(crate) fn recorded(&self, input: &[u8]) -> Option<&Call> {
        // The kernel replaces `uid`.
        let compared = |input: &[u8]| {
            let mut input = input.to_vec();
            input.iter_mut().skip(2).take(2).for_each(|byte| *byte = 0);
            input
        };
        let (calls, now) = (&self.replay.as_ref()?.calls, compared(input));
        let is_same = |call: &&Call| compared(&call.input) == now;
        let is_like = |call: &&Call| call.input.get(..2) == Some(&now[..2]);
        calls.iter().find(is_same).or_else(|| calls.iter().find(is_like))
    }

    /// Why a command has no result, in the words of those who refused it.
    pub(crate) fn why(&self, input: &[u8], error: &mlx5_devx::Error) -> String {
        if let mlx5_devx::Error::Kernel { errno, .. } = error {
            let replayer = self.replay.as_ref().map(|replay| &replay.replayer);
            if *errno == Replayer::MISMATCH
                && let Some(mismatch) = replayer.and_then(|replayer| replayer.mismatch())
            {
                return mismatch.to_string();
            }
            if let Some(Err(error)) = self.fwctl.as_ref().map(|fwctl| fwctl.check(input)) {
                return error.to_string();
            }
            if *errno == Errno::INVAL && self.interface == Some(Interface::Devx) {
                return format!(
                    "{error}\nDEVX lets only some commands through, each on objects of its own \
                     context; --to fwctl:DEV lets other queries through."
                );
            }
        }
        let mut why = error.to_string();
        if let (mlx5_devx::Error::Firmware { syndrome, .. }, Some(adapter)) =
            (error, &self.simulated)
        {
            if let Some(words) = mlx5_sim::syndrome::words(*syndrome) {
                why += &format!("\nSyndrome {syndrome:#x} of the simulated adapter: {words}.");
            }
            if let Some(field) = adapter.refused_field() {
                why += &format!("\nThe field: {field}.");
            }
        }
        why
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<(), Error> {
        // What differs was told where it did.
        if let Some(replay) = &self.replay
            && let Err(left) = replay.replayer.finish()
            && left.mismatch.is_none()
        {
            tell(format_args!("note: {left}"));
        }
        match self.way {
            Sender::Plain(_) => Ok(()),
            Sender::Recorded(recorder, path) => {
                recorder.finish().map(drop).map_err(|source| fault(&path, source))
            }
        }
    }
}

fn fault(path: &Path, source: std::io::Error) -> Error {
    Error::Open { file: path.display().to_string(), source }
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::Refused(error.to_string())
}
