//! Three commands on a transport that is made here, for its size: what of the codec and the typed layer is
//! not used is not in the program.

use mlx5_devx::{Cq, Errno, Error, Handle, Qp, Target, Transport};
use mlx5_prm::{Cqn, ModifyCqIn, Qpn, QueryCqIn, QueryQpIn};

/// An adapter that does everything, and answers with zeros.
struct Nothing;

impl Transport for Nothing {
    fn create(&self, _: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        output.fill(0);
        Ok(Handle(0))
    }
    fn modify(&self, _: Target, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        output.fill(0);
        Ok(())
    }
    fn query(&self, _: Target, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        output.fill(0);
        Ok(())
    }
    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Ok(())
    }
    fn general(&self, _: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        output.fill(0);
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let transport: &dyn Transport = std::hint::black_box(&Nothing);
    let cq = Cq::new(transport, Handle(1), Cqn::new(0x52));
    cq.modify(&mut ModifyCqIn::new().changing_cq_period(16).changing_cq_max_count(64))?;
    let period = cq.query(&mut QueryCqIn::new())?.cq_context().cq_period();
    let qp = Qp::new(transport, Handle(2), Qpn::new(0x51));
    let state = qp.query(&mut QueryQpIn::new())?.qpc().state();
    println!("{period} {}", state.0);
    Ok(())
}
