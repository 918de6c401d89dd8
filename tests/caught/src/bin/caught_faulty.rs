//! Has a fault on purpose, for what looks for faults to find: with the argument `leak` it forgets memory, with
//! `read` it reads memory that it freed, with `unwritten` it decides by memory that was never written; with
//! `nothing` it does none of these.
#![deny(missing_docs)]
#![allow(unsafe_code, reason = "its faults are the purpose")]

use std::hint::black_box;

use mlx5_devx::Page;

/// Several times: an address may be left in a register.
#[inline(never)]
fn leak() {
    for _ in 0..8 {
        std::mem::forget(black_box(Page::zeroed(1)));
    }
}

#[inline(never)]
fn read() -> u64 {
    let freed = Box::into_raw(black_box(Box::new(7u64)));
    // SAFETY: it came from a box.
    drop(unsafe { Box::from_raw(freed) });
    // SAFETY: none, on purpose: this is the invalid read.
    unsafe { freed.read_volatile() }
}

#[inline(never)]
fn unwritten() -> bool {
    let number = black_box(Box::<u64>::new_uninit());
    // SAFETY: none, on purpose: nothing was written there.
    unsafe { number.as_ptr().read_volatile() > 7 }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("leak") => leak(),
        Some("read") => println!("{}", read()),
        Some("unwritten") => println!("{}", unwritten()),
        Some("nothing") => drop(black_box(Page::zeroed(1))),
        other => panic!("there is no fault {other:?}"),
    }
}
