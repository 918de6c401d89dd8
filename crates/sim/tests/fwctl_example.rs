//! What the example `fwctl` prints.

#[path = "../examples/fwctl.rs"]
#[allow(dead_code, reason = "its `main` is not called")]
mod example;

fn printed(which: Option<&str>) -> Result<String, String> {
    let mut out = Vec::new();
    example::run(which, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("it writes text"))
}

#[test]
fn the_simulated_device_is_looked_at() {
    let expected = "\
open as user context 2, limit: read only
ports: 1
queue pairs: up to 2^24
completion queues: up to 2^24
their interrupts can be moderated: true
port 1 is to be UP, and is DOWN
port 1 down? ACCESS_REG(0x805) was not sent: op_mod 0x0 of it changes something, or is asked to \
do more than to read, and the limit is read only
a call gives Permission denied (os error 13)
";
    assert_eq!(printed(Some("sim")).as_deref(), Ok(expected));
}

/// Wherever the test runs: with devices of fwctl, without any, and without fwctl.
#[test]
fn devices_are_listed_or_it_is_said_why_there_are_none() {
    match printed(None) {
        Ok(list) => {
            assert!(list.lines().count() > 0);
            let none = list.starts_with("There are no devices");
            assert!(none || list.lines().all(|line| line.starts_with("fwctl")), "{list}");
        }
        Err(why) => assert!(why.contains("from Linux 6.15 once the module mlx5_fwctl"), "{why}"),
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    for (which, named) in
        [("fwctl4095", "name fwctl4095"), ("ffff:ff:1f.7", "PCI address ffff:ff:1f.7")]
    {
        let why = printed(Some(which)).expect_err("there is none");
        assert!(why.contains(named) || why.contains("cannot be read"), "{why}");
    }
}
