//! Objects of verbs: protection domains, completion channels and queues, shared receive queues and queue
//! pairs, as libibverbs and libmlx5 make and end them.

use std::ops::RangeInclusive;

use libc::c_int;

use super::Answering;
use crate::methods::{Kind, object};
use crate::state::{Made, Make, Parts, State, VerbsKind};

/// `IB_UVERBS_QPT_RAW_PACKET` (`rdma/ib_user_ioctl_verbs.h`).
const QPT_RAW_PACKET: u64 = 8;

impl Answering<'_, '_> {
    /// A completion queue, a shared receive queue, or a queue pair.
    pub(super) fn verbs(&mut self, state: &mut State) -> Result<(), c_int> {
        let name = format!("{}.{}", self.method.object_name, self.method.name);
        let errno = state.script.answer(&name, None).errno;
        if errno != 0 {
            return Err(errno);
        }
        let kind = match self.method.object {
            object::CQ => VerbsKind::Cq,
            object::SRQ => VerbsKind::Srq,
            _ => VerbsKind::Qp,
        };
        if self.method.name == "DESTROY" {
            state.end(kind, self.given("HANDLE", Kind::Handle).ok_or(libc::EINVAL)? as u32)?;
            // No events were reported, for which libibverbs would wait.
            self.put("RESP", &[]);
            return Ok(());
        }
        let made = match kind {
            VerbsKind::Cq => self.make_cq(state)?,
            VerbsKind::Srq => {
                for (asked, given) in [("MAX_WR", "RESP_MAX_WR"), ("MAX_SGE", "RESP_MAX_SGE")] {
                    let asked = self.input(asked).ok_or(libc::EINVAL)?;
                    self.put(given, &asked);
                }
                let made = state.make(Make::Srq)?;
                // `struct mlx5_ib_create_srq_resp` (`rdma/mlx5-abi.h`).
                self.put("UHW_OUT", &made.number.to_ne_bytes());
                made
            }
            VerbsKind::Qp => {
                let asked = self.input("CAP").ok_or(libc::EINVAL)?;
                self.put("RESP_CAP", &asked);
                // `struct mlx5_ib_create_qp_resp` (`rdma/mlx5-abi.h`): `bfreg_index`, as libmlx5 has a UAR,
                // `ece_options`, `comp_mask`, and the numbers that the mask says are there.
                let (made, words) = if self.number("TYPE") == Some(QPT_RAW_PACKET) {
                    let (made, parts) = state.make_raw_packet_qp();
                    (made, [0, 0, 0xf, parts.tirn, parts.tisn, parts.rqn, parts.sqn])
                } else {
                    (state.make(Make::Qp)?, [0; 7])
                };
                self.put("RESP_QP_NUM", &made.number.to_ne_bytes());
                self.put("UHW_OUT", &words.map(u32::to_ne_bytes).concat());
                made
            }
        };
        self.attr("HANDLE", Kind::NewHandle).ok_or(libc::EINVAL)?.data = made.handle.into();
        Ok(())
    }

    fn make_cq(&mut self, state: &mut State) -> Result<Made, c_int> {
        // The context has one completion vector, the first.
        if self.number("COMP_VECTOR") != Some(0) {
            return Err(libc::EINVAL);
        }
        // One more, and a power of two (`mlx5_ib_create_cq` in the kernel).
        let asked = self.number("CQE").ok_or(libc::EINVAL)?;
        let log_cq_size = (asked + 1).next_power_of_two().ilog2();
        let made = state.make(Make::Cq { log_cq_size })?;
        self.put("RESP_CQE", &((1u32 << log_cq_size) - 1).to_ne_bytes());
        // `struct mlx5_ib_create_cq_resp` (`rdma/mlx5-abi.h`).
        self.put("UHW_OUT", &made.number.to_ne_bytes());
        Ok(made)
    }

    /// A protection domain, by the older interface.
    pub(super) fn alloc_pd(&mut self, state: &mut State) {
        let handle = state.new_handle();
        // `struct ib_uverbs_alloc_pd_resp` (`rdma/ib_user_verbs.h`), `struct mlx5_ib_alloc_pd_resp`.
        self.put("CORE_OUT", &handle.to_ne_bytes());
        self.put("UHW_OUT", &(0x300 + handle).to_ne_bytes());
    }

    /// A completion channel, by the older interface.
    pub(super) fn create_comp_channel(&mut self, state: &mut State) -> Result<(), c_int> {
        // `struct ib_uverbs_create_comp_channel_resp` (`rdma/ib_user_verbs.h`).
        self.put("CORE_OUT", &state.new_channel(0)?.to_ne_bytes());
        Ok(())
    }

    /// A command of DEVX that goes to the handle of an object of verbs is one on such objects, and names this
    /// one by its number, or the kernel refuses it (`devx_is_valid_obj_id` in `devx.c`).
    pub(super) fn names_its_object(&mut self, state: &State) -> Result<(), c_int> {
        let handle = self.given("HANDLE", Kind::Handle).unwrap_or_default() as u32;
        let Some((kind, number)) = state.verbs(handle) else { return Ok(()) };
        let mailbox = self.input("CMD_IN").unwrap_or_default();
        // The opcode is at byte 0. The number has the low 24 bits of the word at byte 8.
        let opcode = mailbox.first_chunk().map(|b| u16::from_be_bytes(*b));
        let named = mailbox.get(8..).and_then(<[u8]>::first_chunk).map(|b| u32::from_be_bytes(*b));
        let Some((opcode, named)) = opcode.zip(named) else { return Err(libc::EINVAL) };
        let fits = match state.parts(handle) {
            Some(parts) => part(parts, opcode) == Some(named & 0xff_ffff),
            None => commands(kind).contains(&opcode) && named & 0xff_ffff == number,
        };
        if fits { Ok(()) } else { Err(libc::EINVAL) }
    }
}

/// The opcodes that change or read an object.
fn commands(kind: VerbsKind) -> RangeInclusive<u16> {
    match kind {
        // QUERY_CQ, MODIFY_CQ
        VerbsKind::Cq => 0x402..=0x403,
        // The transitions and QUERY_QP
        VerbsKind::Qp => 0x502..=0x50e,
        // MODIFY_RMP to QUERY_RMP: the device has ISSI.
        VerbsKind::Srq => 0x90d..=0x90f,
    }
}

/// The number of the part of a raw packet QP that an opcode changes or reads.
fn part(parts: Parts, opcode: u16) -> Option<u32> {
    match opcode {
        // MODIFY_TIR and QUERY_TIR, and so on.
        0x901 | 0x903 => Some(parts.tirn),
        0x905 | 0x907 => Some(parts.sqn),
        0x909 | 0x90b => Some(parts.rqn),
        0x913 | 0x915 => Some(parts.tisn),
        _ => None,
    }
}
