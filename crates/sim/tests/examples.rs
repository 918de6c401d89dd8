//! What the examples print on the simulated kernel. That of `libmlx5` is run in `tests/caught`.
#![allow(clippy::duplicate_mod, reason = "each example has a copy of what they share")]

#[path = "../examples/async_query.rs"]
#[allow(dead_code, reason = "its `main` is not called")]
mod async_query;
#[path = "../examples/events.rs"]
#[allow(dead_code, reason = "its `main` is not called")]
mod events;
#[path = "../examples/ioctl.rs"]
#[allow(dead_code, reason = "its `main` is not called")]
mod ioctl;

use std::error::Error;

fn printed(run: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn Error>>) -> Result<String, String> {
    let mut out = Vec::new();
    run(&mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("it writes text"))
}

#[test]
fn ioctl_makes_a_queue() {
    let expected = "\
CQ 0x1 in umem 1
it has 2^6 entries, and tells after 64 completions or 16 us
refused, as it should be: MODIFY_CQ(0x403) op_mod 0x0 failed: bad parameter (0x3, EINVAL in the kernel), syndrome \
0x510008: a value in the input is not allowed, or not together with others
ended
";
    assert_eq!(printed(|out| ioctl::run(Some("sim"), out)).as_deref(), Ok(expected));
    let none = printed(|out| ioctl::run(Some("no_such_device"), out));
    let why = none.expect_err("there is no such device");
    assert!(why.contains("no_such_device") || why.contains("is the module ib_uverbs"), "{why}");
}

#[test]
fn async_query_gets_answers_both_ways() {
    let mut expected = String::new();
    for way in ["poll", "tokio"] {
        for id in 0..3 {
            let period = id + 1;
            expected += &format!("by {way}: query {id} says a period of {period} us\n");
        }
    }
    assert_eq!(printed(|out| async_query::run("sim", out)), Ok(expected));
}

#[test]
fn events_are_told() {
    let expected = "\
an event of a port: PORT_STATE_CHANGE
an event of the queue: CQ_ERROR
no more events
";
    assert_eq!(printed(|out| events::run("sim", out)).as_deref(), Ok(expected));
}
