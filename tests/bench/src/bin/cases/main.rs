//! The cases that are counted and timed, as users of the codec write them; `c/cases.c` has the same with
//! the DEVX macros. Both print what they made, so that it is seen that they did the same.
//!
//! Each case is a function of its own, called by its address with values that the compiler does not know.
//! With the argument `time` each runs for a time instead, and what is printed is its nanoseconds.

mod encode;
mod lists;
mod read;
mod run;

use run::Run;

fn main() {
    let mut run = Run::from_arguments();
    encode::all(&mut run);
    lists::all(&mut run);
    read::all(&mut run);
}
