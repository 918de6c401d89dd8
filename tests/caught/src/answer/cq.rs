//! Completion queues, as `ibv_create_cq`, `ibv_create_cq_ex` and `ibv_destroy_cq` make and end them.

use libc::c_int;

use super::Answering;
use crate::methods::Kind;
use crate::state::State;

/// The commands of DEVX on a completion queue.
const QUERY_CQ: u16 = 0x402;
const MODIFY_CQ: u16 = 0x403;

impl Answering<'_, '_> {
    pub(super) fn cq(&mut self, state: &mut State) -> Result<(), c_int> {
        let name = format!("{}.{}", self.method.object_name, self.method.name);
        let errno = state.script.answer(&name, None).errno;
        if errno != 0 {
            return Err(errno);
        }
        if self.method.name == "DESTROY" {
            state.end_cq(self.given("HANDLE", Kind::Handle).ok_or(libc::EINVAL)? as u32)?;
            // No events were reported, for which `ibv_destroy_cq` would wait.
            self.put("RESP", &[0; 8]);
            return Ok(());
        }
        // The context has one completion vector, the first.
        if self.number("COMP_VECTOR") != Some(0) {
            return Err(libc::EINVAL);
        }
        // One more, and a power of two (`mlx5_ib_create_cq` in the kernel).
        let asked = self.number("CQE").ok_or(libc::EINVAL)?;
        let log_cq_size = (asked + 1).next_power_of_two().ilog2();
        let made = state.new_cq(log_cq_size)?;
        self.attr("HANDLE", Kind::NewHandle).ok_or(libc::EINVAL)?.data = made.handle.into();
        self.put("RESP_CQE", &((1u32 << log_cq_size) - 1).to_ne_bytes());
        // `struct mlx5_ib_create_cq_resp` (`rdma/mlx5-abi.h`).
        self.put("UHW_OUT", &made.number.to_ne_bytes());
        Ok(())
    }

    /// A command that goes to the handle of a completion queue names this one by its number, or the
    /// kernel refuses it (`devx_is_valid_obj_id` in `devx.c`).
    pub(super) fn names_that_cq(&mut self, state: &State) -> Result<(), c_int> {
        let handle = self.given("HANDLE", Kind::Handle);
        let Some(number) = handle.and_then(|handle| state.cqn(handle as u32)) else {
            return Ok(());
        };
        let mailbox = self.input("CMD_IN").unwrap_or_default();
        // The opcode is at byte 0, and the CQN has the low 24 bits of the word at byte 8.
        let opcode = mailbox.first_chunk().map(|b| u16::from_be_bytes(*b));
        let named = mailbox.get(8..).and_then(<[u8]>::first_chunk).map(|b| u32::from_be_bytes(*b));
        let is_of_cq = matches!(opcode, Some(QUERY_CQ | MODIFY_CQ));
        let is_named = named.is_some_and(|word| word & 0xff_ffff == number);
        if is_of_cq && is_named { Ok(()) } else { Err(libc::EINVAL) }
    }
}
