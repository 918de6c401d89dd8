//! Answers an ioctl, so that libmlx5 goes on.

mod verbs;

use std::env;

use libc::c_int;

use crate::methods::{Kind, Method, method, object};
use crate::state::State;
use crate::wire::{Attr, Call};

/// `IB_USER_VERBS_CMD_QUERY_DEVICE`, and the same one in its extended form.
const QUERY_DEVICE: [u32; 2] = [1, 1 | 0x8000_0000];

/// `IB_USER_VERBS_CMD_ALLOC_PD`.
const ALLOC_PD: u32 = 3;

/// `IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL`.
const CREATE_COMP_CHANNEL: u32 = 17;

/// `RDMA_DRIVER_MLX5` (`rdma/ib_user_ioctl_verbs.h`).
const DRIVER_MLX5: u32 = 1;

/// Offsets of fields in `struct ib_uverbs_ex_query_device_resp` (`rdma/ib_user_verbs.h`).
mod query_device {
    pub(super) const PHYS_PORT_CNT: usize = 171;
    pub(super) const RESPONSE_LENGTH: usize = 180;
}

/// Offsets of fields in `struct ib_uverbs_query_port_resp` (`rdma/ib_user_verbs.h`).
mod query_port {
    pub(super) const STATE: usize = 26;
    pub(super) const LINK_LAYER: usize = 37;
}

/// Answers a call: writes its outputs, or says with what errno it fails.
///
/// # Safety
/// The pointers of the attributes are what their kinds in [`methods`](crate::methods) say.
pub(crate) unsafe fn answer(state: &mut State, call: &mut Call<'_>) -> Result<(), c_int> {
    let header = &call.header;
    // The checks of `ib_uverbs_ioctl`, in their order.
    if !header.fits() {
        return Err(libc::EINVAL);
    }
    if header.reserved1 != 0 || header.reserved2 != 0 {
        return Err(libc::EPROTONOSUPPORT);
    }
    if header.driver_id != DRIVER_MLX5 {
        return Err(libc::EINVAL);
    }
    let object = header.object_id;
    let known = method(object, header.method_id).ok_or(libc::EPROTONOSUPPORT)?;
    known.check(call)?;
    // SAFETY: by the contract of this function.
    let mut answering = unsafe { Answering::new(known, call) };
    match object {
        object::DEVICE => answering.device(state),
        // It ends, and nothing is said.
        object::PD => Ok(()),
        object::CQ | object::QP | object::SRQ => answering.verbs(state),
        object::DEVX_OBJ => {
            answering.names_its_object(state)?;
            answering.devx(state)
        }
        object::ASYNC_EVENT => answering.new_fd("FD_HANDLE", state.new_channel(0)?),
        _ => answering.devx(state),
    }
}

/// A call of a known method.
struct Answering<'c, 'a> {
    method: &'static Method,
    call: &'c mut Call<'a>,
}

impl<'c, 'a> Answering<'c, 'a> {
    /// # Safety
    /// The pointers of the attributes are what their kinds say: the methods of this type read and
    /// write what they point to.
    unsafe fn new(method: &'static Method, call: &'c mut Call<'a>) -> Self {
        Answering { method, call }
    }

    fn attr(&mut self, name: &str, kind: Kind) -> Option<&mut Attr> {
        let known = self.method.named(name)?;
        // What makes the pointers safe to follow is their kind.
        (known.kind == kind).then(|| self.call.attr(known.id))?
    }

    /// What a PTR_IN holds.
    fn input(&mut self, name: &str) -> Option<Vec<u8>> {
        let attr = self.attr(name, Kind::In)?;
        // SAFETY: by the contract of `new`.
        Some(unsafe { attr.input() })
    }

    /// The number that a PTR_IN or a CONST_IN of up to 8 bytes holds.
    fn number(&mut self, name: &str) -> Option<u64> {
        let kind @ (Kind::In | Kind::Const) = self.method.named(name)?.kind else { return None };
        let given = self.attr(name, kind)?.inline();
        let mut bytes = [0; 8];
        // A shorter number is the low part of a longer one.
        let at = if cfg!(target_endian = "little") { 0 } else { 8 - given.len() };
        bytes[at..at + given.len()].copy_from_slice(&given);
        Some(u64::from_ne_bytes(bytes))
    }

    /// A handle or a descriptor.
    fn given(&mut self, name: &str, kind: Kind) -> Option<c_int> {
        self.attr(name, kind).map(|a| a.data as c_int)
    }

    /// Writes an output, if it is asked for.
    fn put(&mut self, name: &str, bytes: &[u8]) {
        if let Some(attr) = self.attr(name, Kind::Out) {
            // SAFETY: by the contract of `new`.
            unsafe { attr.put(bytes) };
        }
    }

    fn length(&mut self, name: &str) -> Option<usize> {
        self.attr(name, Kind::Out).map(|a| a.len.into())
    }

    fn new_fd(&mut self, name: &str, fd: c_int) -> Result<(), c_int> {
        self.attr(name, Kind::NewFd).ok_or(libc::EINVAL)?.data = fd as u64;
        Ok(())
    }

    fn device(&mut self, state: &mut State) -> Result<(), c_int> {
        match self.method.name {
            "GET_CONTEXT" => {
                let errno = state.script.answer("DEVICE.GET_CONTEXT", None).errno;
                if errno != 0 {
                    return Err(errno);
                }
                self.put("NUM_COMP_VECTORS", &1u32.to_ne_bytes());
                self.put("CORE_SUPPORT", &0u64.to_ne_bytes());
                self.put("UHW_OUT", &ucontext());
            }
            "QUERY_PORT" => {
                let mut port = [0; 48];
                port[query_port::STATE] = 4; // active
                port[query_port::LINK_LAYER] = 2; // Ethernet
                self.put("RESP", &port);
            }
            "INVOKE_WRITE" => return self.write(state),
            _ => self.put("QUERY_PORT", &[]),
        }
        Ok(())
    }

    /// A command of the older interface, where commands were written to the file.
    fn write(&mut self, state: &mut State) -> Result<(), c_int> {
        let command = self.number("WRITE_CMD").ok_or(libc::EINVAL)? as u32;
        // libibverbs finds out by a command without room for its output whether this method is known.
        let room = self.length("CORE_OUT").ok_or(libc::ENOSPC)?;
        match command {
            ALLOC_PD => {
                self.alloc_pd(state);
                return Ok(());
            }
            CREATE_COMP_CHANNEL => return self.create_comp_channel(state),
            _ => {}
        }
        let mut core = vec![0; room];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(to) = core.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        };
        if QUERY_DEVICE.contains(&command) {
            put(query_device::PHYS_PORT_CNT, &[1]);
            put(query_device::RESPONSE_LENGTH, &(room as u32).to_ne_bytes());
        }
        self.put("CORE_OUT", &core);
        // `struct mlx5_ib_query_device_resp` begins with a mask and its own length.
        let own = self.length("UHW_OUT").unwrap_or(0) as u32;
        self.put("UHW_OUT", &[[0; 4], own.to_ne_bytes()].concat());
        Ok(())
    }

    fn devx(&mut self, state: &mut State) -> Result<(), c_int> {
        let name = format!("{}.{}", self.method.object_name, self.method.name);
        let mailbox = self.input("CMD_IN").unwrap_or_default();
        let opcode = mailbox.first_chunk().map(|b| u16::from_be_bytes(*b));
        let answer = state.script.answer(&name, opcode);
        let output = answer.output.unwrap_or_default();
        // The kernel gives a new object its handle before the command is sent: it is written even if
        // the call then fails (`uverbs_process_attr`).
        let handle = match self.attr("HANDLE", Kind::NewHandle) {
            Some(attr) => {
                let handle = state.new_handle();
                attr.data = handle.into();
                handle
            }
            None => 0,
        };
        if answer.errno != 0 {
            if answer.errno == libc::EREMOTEIO {
                self.put("CMD_OUT", &output);
            }
            return Err(answer.errno);
        }
        match name.as_str() {
            "DEVX.OTHER" | "DEVX_OBJ.CREATE" | "DEVX_OBJ.MODIFY" | "DEVX_OBJ.QUERY" => {
                self.put("CMD_OUT", &output);
            }
            "DEVX_OBJ.ASYNC_QUERY" => {
                let fd = self.given("FD", Kind::Fd).ok_or(libc::EINVAL)?;
                let id = self.number("WR_ID").ok_or(libc::EINVAL)?;
                let length = self.number("OUT_LEN").ok_or(libc::EINVAL)? as u16;
                let mut mailbox = output;
                mailbox.resize(length.into(), 0);
                return state.completion(fd, id, &mailbox);
            }
            "DEVX.QUERY_UAR" => self.put("DEV_IDX", &0x77u32.to_ne_bytes()),
            "DEVX.QUERY_EQN" => self.put("DEV_EQN", &0x15u32.to_ne_bytes()),
            "DEVX.SUBSCRIBE_EVENT" => return self.subscribe(state, &output),
            "DEVX_UMEM.REG" => self.put("OUT_ID", &(0x100 + handle).to_ne_bytes()),
            "DEVX_ASYNC_CMD_FD.ALLOC" => return self.new_fd("HANDLE", state.new_channel(0)?),
            "DEVX_ASYNC_EVENT_FD.ALLOC" => {
                let flags = self.number("FLAGS").ok_or(libc::EINVAL)? as u32;
                return self.new_fd("HANDLE", state.new_channel(flags)?);
            }
            "UAR.ALLOC" => {
                self.put("MMAP_OFFSET", &(u64::from(handle) << 12).to_ne_bytes());
                self.put("MMAP_LENGTH", &4096u32.to_ne_bytes());
                self.put("PAGE_ID", &(0x200 + handle).to_ne_bytes());
            }
            // DEVX_OBJ.DESTROY, DEVX_UMEM.DEREG, UAR.DESTROY
            _ => {}
        }
        Ok(())
    }

    /// A subscription. Its first event comes at once, on the channel or by the descriptor of an
    /// eventfd that was given.
    fn subscribe(&mut self, state: &State, data: &[u8]) -> Result<(), c_int> {
        let channel = self.given("FD_HANDLE", Kind::Fd).ok_or(libc::EINVAL)?;
        let Some(eventfd) = self.number("FD_NUM") else {
            let cookie = self.number("COOKIE").unwrap_or(0);
            return state.event(channel, cookie, data);
        };
        let one = 1u64.to_ne_bytes();
        // SAFETY: the address and the length are those of the array.
        let written = unsafe { libc::write(eventfd as c_int, one.as_ptr().cast(), one.len()) };
        if written == 8 { Ok(()) } else { Err(libc::EBADF) }
    }
}

/// `struct mlx5_ib_alloc_ucontext_resp` (`rdma/mlx5-abi.h`): the context of a ConnectX with one port.
fn ucontext() -> Vec<u8> {
    // Without UARs of its own, a context asks for each one (MLX5_LIB_CAP_DYN_UAR).
    let old = env::var_os(crate::OLD_UAR).is_some();
    let mut bytes = Vec::new();
    let words = |bytes: &mut Vec<u8>, words: &[u32]| {
        bytes.extend(words.iter().flat_map(|w| w.to_ne_bytes()));
    };
    let halves = |bytes: &mut Vec<u8>, halves: &[u16]| {
        bytes.extend(halves.iter().flat_map(|h| h.to_ne_bytes()));
    };
    let bfregs = if old { 16 } else { 0 };
    words(&mut bytes, &[1 << 18, 512, bfregs, 64]); // qp_tab_size, bf_reg_size, tot_bfregs, cache_line_size
    halves(&mut bytes, &[1024, 512]); // max_sq_desc_sz, max_rq_desc_sz
    words(&mut bytes, &[1 << 15, 1 << 15, 1 << 15]); // max_send_wqebb, max_recv_wr, max_srq_recv_wr
    halves(&mut bytes, &[1, 0]); // num_ports, flow_action_flags
    words(&mut bytes, &[0, 72]); // comp_mask, response_length
    bytes.extend([1, 3, 1, 0]); // cqe_version, cmds_supp_uhw, eth_min_inline, clock_info_versions
    bytes.extend(0u64.to_ne_bytes()); // hca_core_clock_offset
    words(&mut bytes, &[12, 1, if old { 512 } else { 0 }, 0]); // log_uar_size, num_uars_per_page, num_dyn_bfregs, dump_fill_mkey
    bytes
}
