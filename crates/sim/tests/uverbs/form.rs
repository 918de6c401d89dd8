//! The form of messages (`ib_uverbs_ioctl`, `ib_uverbs_cmd_verbs`, `uverbs_process_attr`).

use mlx5_devx::Errno;
use mlx5_devx::wire::Message;

use crate::program::{Arg, Buffers, Program, create_cq, message};

fn refused(program: &Program, bytes: &[u8]) -> Errno {
    let mut message = Message::parse(bytes).expect("well-formed");
    program.uverbs.ioctl(&mut message, &mut Buffers::default()).expect_err("refused")
}

#[test]
fn messages_are_of_this_driver_and_of_known_methods() {
    let program = Program::with_devx();
    let handle = [(0x1000, 0, 1, 7)];
    assert_eq!(refused(&program, &message(0x1001, 0x1001, 1, &handle)), Errno::NOENT);
    assert_eq!(refused(&program, &message(0x1001, 0x1001, 2, &handle)), Errno::INVAL);
    assert_eq!(refused(&program, &message(0x1001, 0x1009, 1, &handle)), Errno::PROTONOSUPPORT);
    assert_eq!(refused(&program, &message(0x1234, 0x1000, 1, &handle)), Errno::PROTONOSUPPORT);
    // Longer than a page.
    let many = vec![(0x2000, 0, 0, 0); 256];
    assert_eq!(refused(&program, &message(0x1001, 0x1001, 1, &many)), Errno::INVAL);
    let mut longer = vec![(0x2000, 0, 0, 0); 255];
    longer[0] = handle[0];
    assert_eq!(refused(&program, &message(0x1001, 0x1001, 1, &longer)), Errno::INVAL);
    assert_eq!(refused(&program, &message(0x1001, 0x1001, 1, &longer[..254])), Errno::NOENT);
}

#[test]
fn attributes_are_those_of_the_method() {
    let program = Program::with_devx();
    let handle = Arg::Number(0x1000, 7);
    let destroy = |args: &[Arg]| program.call(0x1001, 0x1001, args).errno();
    assert_eq!(destroy(&[]), Errno::INVAL, "it is missing");
    assert_eq!(destroy(&[handle.clone(), handle.clone()]), Errno::INVAL, "it is there twice");
    assert_eq!(destroy(&[Arg::In(0x1000, vec![7, 0, 0, 0])]), Errno::INVAL, "its length");
    assert_eq!(destroy(&[handle.clone(), Arg::In(0x1009, vec![])]), Errno::PROTONOSUPPORT);
    assert_eq!(destroy(&[handle, Arg::Optional(0x1009, vec![])]), Errno::NOENT, "not needed");
}

/// The kernel gives a handle when it comes to its attribute, and takes it back when the call fails.
#[test]
fn handles_are_given_before_what_follows_is_looked_at() {
    let program = Program::with_devx();
    let (handle, output) = (Arg::Number(0x1000, 0), Arg::Out(0x1002, 16));
    let short = Arg::In(0x1001, vec![0; 12]);
    let create = |args: &[Arg]| {
        let left = program.call(0x1001, 0x1000, args);
        (left.errno(), left.handle())
    };
    let unknown = Arg::In(0x1009, vec![]);
    assert_eq!(create(&[handle.clone(), short.clone(), output.clone()]), (Errno::INVAL, 1));
    assert_eq!(create(&[short, handle.clone(), output.clone()]), (Errno::INVAL, 0));
    assert_eq!(create(&[handle.clone(), unknown]), (Errno::PROTONOSUPPORT, 1));
    assert_eq!(create(&[handle.clone(), output.clone()]), (Errno::INVAL, 1), "missing");
    let nowhere = Arg::Nowhere(0x1001, 80);
    assert_eq!(create(&[handle, nowhere, output]), (Errno::FAULT, 1));
    assert_eq!(program.destroy(1).errno(), Errno::NOENT);
    assert_eq!(program.create(&create_cq(0), 16).ok().handle(), 1);
}
