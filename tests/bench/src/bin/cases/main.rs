//! The cases that are counted and timed, as users of the codec write them; `c/cases.c` has the same with
//! the DEVX macros. Both print what they made, so that it is seen that they did the same.
//!
//! Each case is a function of its own, called by its address with values that the compiler does not know.
//! With the argument `time` each runs for a time instead, and what is printed is its nanoseconds; with
//! `grow N` those with lists run, of N entries.

mod encode;
mod lists;
mod read;
mod run;

use run::Run;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut run = Run::Count;
    match arguments[..] {
        [] => {}
        ["time"] => run = Run::Time,
        ["grow", entries] => {
            let entries: u16 = entries.parse().expect("a number of entries");
            lists::modify_rqts(&mut run, entries.into());
            lists::create_mkeys(&mut run, entries.into());
            read::query_rqts(&mut run, entries);
            return;
        }
        _ => panic!("the arguments are none, `time`, or `grow N`"),
    }
    encode::all(&mut run);
    lists::all(&mut run);
    read::all(&mut run);
}
