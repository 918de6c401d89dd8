//! Looks at an adapter through /dev/fwctl, and changes nothing.
//!
//! ```sh
//! cargo run -p mlx5-sim --features fwctl --example fwctl         # which devices there are
//! cargo run -p mlx5-sim --features fwctl --example fwctl -- sim  # a simulated one
//! sudo target/debug/examples/fwctl 08:00.0                             # a real one, or fwctl0
//! ```

use std::error::Error;
use std::io::Write;

use mlx5_devx::fwctl::{Device, Fwctl, Limit, Selector};
use mlx5_devx::{read_register, write_register};
use mlx5_prm::caps::page::GeneralDevice;
use mlx5_prm::{
    CapMode, CapabilityPage, CmdHcaCap, PaosReg, PortAdminStatus, QueryHcaCapIn, RegisterIn,
    Request,
};
use mlx5_sim::{Adapter, FwctlFile};

fn main() {
    let which = std::env::args().nth(1);
    if let Err(error) = run(which.as_deref(), &mut std::io::stdout()) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Lists the devices, or looks at the one that `which` names.
pub(crate) fn run(which: Option<&str>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // Nothing that writes is sent, whatever is asked for below.
    let limit = Limit::ReadOnly;
    let fwctl = match which {
        None => return list(out),
        Some("sim") => Fwctl::over(simulated(), limit)?,
        Some(name) if name.starts_with("fwctl") => {
            Fwctl::open(&Device::find(Selector::Name(name))?, limit)?
        }
        Some(address) => Fwctl::open(&Device::find(Selector::Pci(address))?, limit)?,
    };
    look(&fwctl, out)
}

fn list(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let devices = Device::list()?; // the error says what a kernel needs to have a list
    if devices.is_empty() {
        writeln!(out, "There are no devices: fwctl is there, and no adapter that has it.")?;
    }
    for device in devices {
        writeln!(out, "{device}")?;
    }
    Ok(())
}

fn look(fwctl: &Fwctl, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "open as user context {}, limit: {}", fwctl.info().uid, fwctl.limit())?;

    // A query: what the adapter can do, as it is set up now.
    let page = CapMode::Current.op_mod(GeneralDevice::PAGE.selector);
    let answer = mlx5_devx::general(fwctl, &QueryHcaCapIn::new().with_op_mod(page))?;
    let (can, _) = CmdHcaCap::view_prefix(answer.capability().as_bytes())?;
    writeln!(out, "ports: {}", can.num_ports())?;
    writeln!(out, "queue pairs: up to 2^{}", can.log_max_qp())?;
    writeln!(out, "completion queues: up to 2^{}", can.log_max_cq())?;
    writeln!(out, "their interrupts can be moderated: {}", can.cq_moderation())?;

    // A register: the state of port 1. The simulated one has no link: its second state is 0.
    let port = PaosReg::new().with_local_port(1);
    let state = read_register(fwctl, port)?;
    writeln!(out, "port 1 is to be {:?}, and is {:?}", state.admin_status(), state.oper_status())?;

    // A write is refused before it is sent. `check` says why in words, a call gives an errno.
    let down = port.with_ase(true).with_admin_status(PortAdminStatus::DOWN_BY_CONFIGURATION);
    match fwctl.check(RegisterIn::write(down).bytes()) {
        Err(why) => writeln!(out, "port 1 down? {why}")?,
        Ok(scope) => return Err(format!("a write would be sent, in scope {scope}").into()),
    }
    if let Err(why) = write_register(fwctl, down) {
        writeln!(out, "a call gives {}", why.errno())?;
    }
    Ok(())
}

/// A simulated device whose port 1 is to be up.
fn simulated() -> FwctlFile {
    let adapter = Adapter::new();
    let up = PaosReg::new().with_local_port(1).with_admin_status(PortAdminStatus::UP);
    adapter.firmware(RegisterIn::write(up).as_bytes(), &mut [0; 0x10 + PaosReg::SIZE]);
    FwctlFile::new(adapter)
}
