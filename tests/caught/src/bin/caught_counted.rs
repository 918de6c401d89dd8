//! Makes the same MODIFY_CQ by libmlx5 and by the backend `ioctl`, many times, each in a function of its
//! own whose instructions valgrind counts.
//!
//! It ends with the exit code 77 if libibverbs or libmlx5 is not installed.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it calls libmlx5, which takes addresses; each block says why it is sound"
)]

#[allow(dead_code, reason = "the other programs use the rest")]
mod common;

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr::NonNull;

use libloading::{Library, Symbol};
use mlx5_devx::{Cq, Devx, Ioctl};
use mlx5_prm::{Cqn, ModifyCqIn};

use common::{OBJECTS, Verbs, caught};

/// `mlx5dv_devx_cq_modify`.
type CqModify =
    unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void, usize) -> c_int;

const ROUNDS: usize = 100;

/// From the typed call to the ioctl, and back.
#[inline(never)]
fn ours(cq: &Cq<'_, dyn Devx + '_>, command: &mut ModifyCqIn) {
    black_box(cq.modify(command)).expect("it is granted");
}

/// The same, of libmlx5.
#[inline(never)]
fn theirs(modify: CqModify, cq: NonNull<c_void>, input: &[u8], output: &mut [u8]) {
    let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
    // SAFETY: the object is one of verbs, of which the context and the handle are read; the mailboxes
    // are as long as is said.
    let gave = unsafe { modify(cq.as_ptr(), from, input.len(), to, output.len()) };
    assert_eq!(gave, 0);
}

fn main() {
    caught();
    let context = common::context_of_verbs();
    // SAFETY: it is loaded already.
    let mlx5 = unsafe { Library::new("libmlx5.so.1") }.expect("it was loaded before");
    // SAFETY: the type is that of the declaration in mlx5dv.h.
    let modify: Symbol<'_, CqModify> =
        unsafe { mlx5.get("mlx5dv_devx_cq_modify") }.expect("libmlx5 has it");

    let mut object = Verbs::new(context.as_ptr(), &OBJECTS[1]);
    let mut command = ModifyCqIn::new().with_cqn(Cqn::new(0x52)).changing_cq_period(16);
    let mut output = [0; 16];
    for _ in 0..ROUNDS {
        theirs(*modify, object.address(), command.as_bytes(), &mut output);
    }

    // SAFETY: the context is open until the end.
    let ioctl = unsafe { Ioctl::from_ibv_context(context) }.expect("a descriptor");
    let devx: &dyn Devx = &ioctl;
    // SAFETY: as above; the object lives until the end.
    let cq = unsafe { Cq::from_ibv(devx, object.address(), Cqn::new(0x52)) }.expect("its own");
    for _ in 0..ROUNDS {
        ours(&cq, &mut command);
    }
    println!("{ROUNDS}");
}
