//! What stands in for the kernel and an adapter in tests: it does as `drivers/fwctl/main.c` and
//! `mlx5/main.c` do, with a simulated firmware behind them, and keeps what it was sent.

use std::sync::{Arc, Mutex};

use mlx5_sim::Firmware;

use super::system::{InfoCall, RpcCall, System};
use super::wire::{DEVICE_TYPE_MLX5, HEADER, Info, InfoMlx5, MAX_RPC_LEN, Rpc};
use super::{Scope, scope_needed};
use crate::Errno;

/// The user context that the driver has made.
pub(super) const UID: u16 = 0x2b;

#[derive(Clone, Default)]
pub(super) struct Fake(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    pub(super) firmware: Firmware,
    /// Scope and input of each command that came.
    pub(super) sent: Vec<(u32, Vec<u8>)>,
    /// What each call is answered with.
    pub(super) refuse: Option<Errno>,
    /// How long the answer to a command is said to be.
    pub(super) out_len: Option<u32>,
    pub(super) device_type: Option<u32>,
    pub(super) info_len: Option<u32>,
    /// How many calls are interrupted before one is answered.
    pub(super) interrupts: u32,
}

impl Fake {
    pub(super) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().expect("no test panicked"));
    }

    /// Scope and input of each command that came.
    pub(super) fn sent(&self) -> Vec<(u32, Vec<u8>)> {
        self.0.lock().expect("no test panicked").sent.clone()
    }

    pub(super) fn system(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }
}

impl State {
    fn may_answer(&mut self) -> Result<(), Errno> {
        if self.interrupts > 0 {
            self.interrupts -= 1;
            return Err(Errno::INTR);
        }
        self.refuse.map_or(Ok(()), Err)
    }
}

impl System for Fake {
    fn info(&self, call: &mut InfoCall<'_>) -> Result<(), Errno> {
        let mut state = self.0.lock().expect("no test panicked");
        state.may_answer()?;
        let (message, data) = call.parts();
        let address = std::ptr::from_mut(data) as u64;
        let len = size_of::<InfoMlx5>() as u32;
        let expected =
            Info { size: 24, device_data_len: len, out_device_data: address, ..Info::default() };
        assert_eq!(*message, expected);
        *data = InfoMlx5 { uid: UID.into(), uctx_caps: 4 };
        message.out_device_type = state.device_type.unwrap_or(DEVICE_TYPE_MLX5);
        message.device_data_len = state.info_len.unwrap_or(len);
        Ok(())
    }

    fn rpc(&self, call: &mut RpcCall<'_>) -> Result<(), Errno> {
        let mut state = self.0.lock().expect("no test panicked");
        let (message, input, output) = call.parts();
        state.sent.push((message.scope, input.to_vec()));
        state.may_answer()?;
        let expected = Rpc {
            size: 32,
            scope: message.scope,
            in_len: input.len() as u32,
            out_len: output.len() as u32,
            in_: input.as_ptr() as u64,
            out: output.as_ptr() as u64,
        };
        assert_eq!(*message, expected);
        let length = HEADER..=MAX_RPC_LEN;
        if !length.contains(&input.len()) || !length.contains(&output.len()) {
            return Err(Errno::MSGSIZE);
        }
        if message.scope > Scope::DebugWriteFull as u32 {
            return Err(Errno::OPNOTSUPP);
        }
        if scope_needed(input).is_none_or(|needed| needed as u32 > message.scope) {
            return Err(Errno::BADMSG);
        }
        let mut input = input.to_vec();
        input[2..4].copy_from_slice(&UID.to_be_bytes());
        // Success, whatever the firmware's status is.
        state.firmware.execute(&input, output);
        message.out_len = state.out_len.unwrap_or(output.len() as u32);
        Ok(())
    }
}
