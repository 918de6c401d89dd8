//! The simulated kernel of mlx5-sim as what answers, with the simulated firmware behind it: what is of
//! DEVX and of UARs, and what makes contexts. The process has one adapter.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::slice;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use libc::c_int;
use mlx5_devx::wire::{self, Input, Memory, Message, Output, Refused};
use mlx5_devx::{Errno, Error, Handle, Target, TargetKind};
use mlx5_prm::{Cqc, EventType, Qpc, Rmpc, Rqc, Rqtc, Sqc};
use mlx5_sim::{Adapter, Made, Refusals, Uverbs};

use crate::methods::object;
use crate::state::{Parts, VerbsKind};
use crate::wire::Call;

/// The adapter, and the device files.
struct Sim {
    adapter: Adapter,
    files: BTreeMap<RawFd, Uverbs>,
    /// The file that was opened last.
    last: Option<Uverbs>,
}

static SIM: LazyLock<Option<Mutex<Sim>>> = LazyLock::new(|| {
    std::env::var_os(crate::SIM)?;
    Some(Mutex::new(Sim { adapter: Adapter::new(), files: BTreeMap::new(), last: None }))
});

fn lock() -> Option<MutexGuard<'static, Sim>> {
    Some(SIM.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Sim {
    fn open(&mut self, fd: RawFd) -> Uverbs {
        let file = Uverbs::open(&self.adapter);
        self.files.insert(fd, file.clone());
        self.last = Some(file.clone());
        file
    }

    /// The device file with a number. One that was not seen being opened is a new one if it is to get
    /// a context, and else a duplicate of the last.
    fn file(&mut self, fd: RawFd, gets_context: bool) -> Uverbs {
        match (self.files.get(&fd), &self.last) {
            (Some(file), _) => file.clone(),
            (None, Some(last)) if !gets_context => last.clone(),
            _ => self.open(fd),
        }
    }
}

/// A device file was opened.
pub(crate) fn opened(fd: RawFd) {
    if fd >= 0
        && let Some(mut sim) = lock()
    {
        sim.open(fd);
    }
}

/// Answers a call, if the simulated kernel is asked for, and has its method.
///
/// # Safety
/// The pointers of the attributes are what their kinds in [`methods`](crate::methods) say.
pub(crate) unsafe fn answer(fd: RawFd, call: &mut Call<'_>) -> Option<Result<(), c_int>> {
    let mut sim = lock()?;
    let mut message = Message::parse(&call.bytes()).ok()?;
    if let Err(Refused::Method { .. }) = wire::Call::of(&message) {
        return None;
    }
    let file = sim.file(fd, call.header.object_id == object::DEVICE);
    drop(sim);
    // SAFETY: by the contract; `wire::Call` reads the same kinds from the same headers.
    let mut memory = unsafe { Process::new() };
    let result = file.ioctl(&mut message, &mut memory);
    for (to, from) in call.attrs.iter_mut().zip(message.attrs()) {
        (to.flags, to.data) = (from.flags, from.data);
    }
    Some(match result {
        Ok(None) => Ok(()),
        Ok(Some(made)) => new_fd(call, made),
        Err(errno) => Err(errno.raw_os_error()),
    })
}

/// Gives a new file to the program, by its number: the methods that make files have one attribute for
/// it, of the same id.
fn new_fd(call: &mut Call<'_>, made: OwnedFd) -> Result<(), c_int> {
    let attr = call.attr(wire::numbers::attr::ASYNC_CMD_FD_ALLOC_HANDLE).ok_or(libc::EINVAL)?;
    attr.data = made.into_raw_fd() as u64;
    Ok(())
}

/// The memory of this process.
struct Process(());

impl Process {
    /// # Safety
    /// What it reads and writes are the inputs and outputs of a call that is being made.
    unsafe fn new() -> Self {
        Process(())
    }
}

impl Memory for Process {
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno> {
        match *input {
            Input::Inline { bytes, len } => Ok(bytes[..usize::from(len).min(8)].to_vec()),
            Input::Memory { address: 0, .. } => Err(Errno::FAULT),
            Input::Memory { address, len } => {
                // SAFETY: by the contract of `new`, an input of the call, which lasts; bytes have no
                // alignment.
                Ok(unsafe { slice::from_raw_parts(address as *const u8, len.into()) }.to_vec())
            }
        }
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        if output.address == 0 || bytes.len() > output.len.into() {
            return Err(Errno::FAULT);
        }
        // SAFETY: by the contract of `new`, an output of the call, which has room for its length, and
        // which nothing else uses meanwhile.
        let to = unsafe { slice::from_raw_parts_mut(output.address as *mut u8, bytes.len()) };
        to.copy_from_slice(bytes);
        Ok(())
    }

    fn file(&self, number: i32) -> Result<OwnedFd, Errno> {
        // SAFETY: a number, which is looked at.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            return Err(Errno::BADF);
        }
        // SAFETY: it is open, and the program that names it in a call keeps it open meanwhile.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        file.try_clone_to_owned().map_err(|_| Errno::MFILE)
    }
}

/// An object of verbs: its handle, and its number.
fn made<N: Into<u32>>(made: Result<Made<N>, Error>) -> Option<(u32, u32)> {
    let made = made.ok()?;
    Some((u32::try_from(made.handle.0).ok()?, made.number.into()))
}

/// Makes a CQ of verbs for 2 to this power of completions, if the adapter is simulated.
pub(crate) fn make_cq(log_cq_size: u32) -> Option<(u32, u32)> {
    let size = u8::try_from(log_cq_size).ok()?;
    lock().and_then(|sim| made(sim.adapter.create_cq(&Cqc::new().with_log_cq_size(size))))
}

/// Makes a QP of verbs, if the adapter is simulated.
pub(crate) fn make_qp() -> Option<(u32, u32)> {
    lock().and_then(|sim| made(sim.adapter.create_qp(&Qpc::new())))
}

/// Makes a raw packet QP of verbs, if the adapter is simulated.
pub(crate) fn make_raw_packet_qp() -> Option<(u32, Parts)> {
    let (rqc, sqc) = (Rqc::new(), Sqc::new());
    let sim = lock()?;
    let (made, numbers) = sim.adapter.create_raw_packet_qp(Some(&rqc), Some(&sqc)).ok()?;
    let parts = Parts {
        tirn: numbers.tirn?.get(),
        tisn: numbers.tisn?.get(),
        rqn: numbers.rqn?.get(),
        sqn: numbers.sqn?.get(),
    };
    Some((u32::try_from(made.handle.0).ok()?, parts))
}

/// Makes an SRQ of verbs, if the adapter is simulated.
pub(crate) fn make_srq() -> Option<(u32, u32)> {
    lock().and_then(|sim| made(sim.adapter.create_srq(&Rmpc::new())))
}

/// Ends an object of verbs, if the adapter is simulated.
pub(crate) fn end(kind: VerbsKind, handle: u32) -> Result<(), c_int> {
    let kind = match kind {
        VerbsKind::Cq => TargetKind::Cq,
        VerbsKind::Qp => TargetKind::Qp,
        VerbsKind::Srq => TargetKind::Srq,
    };
    let target = Target { kind, handle: Handle(handle.into()) };
    let ended = lock().map_or(Ok(()), |sim| sim.adapter.end(target));
    ended.map_err(|errno| errno.raw_os_error())
}

/// Makes an object of verbs in the adapter: a QP (0), a CQ (1), an SRQ (2), a WQ (3), or an indirection
/// table (4) of one WQ.
fn make(adapter: &Adapter, kind: c_int) -> Option<(u32, u32)> {
    match kind {
        0 => made(adapter.create_qp(&Qpc::new())),
        1 => made(adapter.create_cq(&Cqc::new())),
        2 => made(adapter.create_srq(&Rmpc::new())),
        3 => made(adapter.create_wq(&Rqc::new())),
        4 => {
            let wq = adapter.create_wq(&Rqc::new()).ok()?;
            let context = Rqtc::new().with_rqt_max_size(1);
            made(adapter.create_ind_table(&context, &[wq.number]))
        }
        _ => None,
    }
}

/// Makes an object of verbs in the simulated adapter, as `ibv_create_*` leads to it: a QP (0), a CQ (1),
/// an SRQ (2), a WQ (3) or an indirection table (4). Gives its handle, and writes its number; 0 if the
/// adapter is not simulated, or there is no such kind.
///
/// # Safety
/// `number` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlx5_caught_make(kind: c_int, number: *mut u32) -> u32 {
    let Some((handle, is)) = lock().and_then(|sim| make(&sim.adapter, kind)) else { return 0 };
    // SAFETY: by the contract.
    unsafe { number.write(is) };
    handle
}

/// Makes the simulated adapter tell an event of a type, with `len` bytes of data
/// ([`Adapter::raise_event`]), which name the object that it is of. Gives how many subscriptions it
/// comes to.
///
/// # Safety
/// `data` is the address of `len` bytes, which are 64 or up to 28.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlx5_caught_raise(event_type: u8, data: *const u8, len: usize) -> usize {
    // SAFETY: by the contract.
    let data = unsafe { slice::from_raw_parts(data, len) };
    lock().map_or(0, |sim| sim.adapter.raise_event(EventType(event_type), None, data))
}

/// Makes the simulated kernel refuse the next call with an errno ([`Adapter::refuse_next`]).
#[unsafe(no_mangle)]
pub extern "C" fn mlx5_caught_refuse_next(errno: c_int) {
    if let Some(sim) = lock() {
        sim.adapter.refuse_next(1, Errno::from_raw_os_error(errno));
    }
}

/// Says what the simulated kernel makes of a refusal of the firmware ([`Refusals`]): EREMOTEIO and an
/// output (0), the errno of the status alone (1), or that and an output (2).
#[unsafe(no_mangle)]
pub extern "C" fn mlx5_caught_set_refusals(refusals: c_int) {
    let refusals = match refusals {
        0 => Refusals::Output,
        1 => Refusals::Errno,
        _ => Refusals::ErrnoAndOutput,
    };
    if let Some(sim) = lock() {
        sim.adapter.set_refusals(refusals);
    }
}

/// Takes the simulated adapter out of the machine.
#[unsafe(no_mangle)]
pub extern "C" fn mlx5_caught_remove() {
    if let Some(sim) = lock() {
        sim.adapter.remove();
    }
}
