//! Raw packet QPs, as the kernel makes them (`create_raw_packet_qp` and `destroy_raw_packet_qp` in
//! `drivers/infiniband/hw/mlx5/qp.c`).

use mlx5_devx::{Errno, Error, Handle, RawPacketQp, TargetKind, outcome};
use mlx5_prm::{CreateQpIn, CreateRqIn, CreateSqIn, CreateTirIn, CreateTisIn, Qpn, Rqc, Sqc, Tirc};

use crate::kernel::Identity;
use crate::state::{Fault, Sender, State};

/// It is an object of verbs.
const KIND: TargetKind = TargetKind::Qp;

impl State {
    /// Makes one, and gives its handle, the number that it goes by, and those of its parts.
    pub(crate) fn create_raw_packet_qp(
        &mut self,
        receive: Option<&Rqc>,
        send: Option<&Sqc>,
    ) -> Result<(Handle, Qpn, RawPacketQp), Error> {
        if self.hooks.is_removed() {
            return outcome(CreateQpIn::new().as_bytes(), &[], Err(Errno::IO));
        }
        let mut parts = Vec::new();
        let made = self.make_parts(receive, send, &mut parts);
        let (whole, numbers) = made.inspect_err(|_| self.end_parts(&parts))?;
        // Queues have numbers of 24 bits, as QPs have.
        let qpn = Qpn::new(whole.number);
        Ok((self.insert_whole(Sender::Verbs(KIND), whole, parts), qpn, numbers))
    }

    /// Makes the parts, and gives the one whose number is that of the whole: the SQ, else the RQ.
    fn make_parts(
        &mut self,
        receive: Option<&Rqc>,
        send: Option<&Sqc>,
        parts: &mut Vec<Identity>,
    ) -> Result<(Identity, RawPacketQp), Error> {
        let mut numbers = RawPacketQp { rqn: None, tirn: None, sqn: None, tisn: None };
        let mut whole = None;
        if let Some(sqc) = send {
            let tisn = self.make_part(CreateTisIn::new().as_bytes(), parts)?;
            let sqc = sqc.with_tis_lst_sz(1).with_tis_num_0(tisn);
            let sqn = self.make_part(CreateSqIn::new().with_ctx(sqc).as_bytes(), parts)?;
            whole = parts.last().copied();
            (numbers.tisn, numbers.sqn) = (Some(tisn), Some(sqn));
        }
        if let Some(rqc) = receive {
            let rqn = self.make_part(CreateRqIn::new().with_ctx(*rqc).as_bytes(), parts)?;
            whole = whole.or(parts.last().copied());
            let tirc = Tirc::new().with_inline_rqn(rqn);
            let tirn = self.make_part(CreateTirIn::new().with_ctx(tirc).as_bytes(), parts)?;
            (numbers.rqn, numbers.tirn) = (Some(rqn), Some(tirn));
        }
        match whole {
            Some(whole) => Ok((whole, numbers)),
            None => outcome(CreateQpIn::new().as_bytes(), &[], Err(Errno::INVAL)),
        }
    }

    /// Ends the parts, the last first. What can't end is left, as in the kernel.
    pub(crate) fn end_parts(&mut self, parts: &[Identity]) {
        for part in parts.iter().rev() {
            let _ = self.unmake(KIND, *part);
        }
    }

    fn make_part<N: TryFrom<u32>>(
        &mut self,
        input: &[u8],
        parts: &mut Vec<Identity>,
    ) -> Result<N, Error> {
        let mut output = [0; 16];
        let made = self.make(Sender::Verbs(KIND), input, &mut output).map_err(Fault::errno);
        let result = made.and_then(|(identity, _)| {
            parts.push(identity);
            // The firmware gives numbers that fit.
            N::try_from(identity.number).map_err(|_| Errno::OVERFLOW)
        });
        outcome(input, &output, result)
    }
}
