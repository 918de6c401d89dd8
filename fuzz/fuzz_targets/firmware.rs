//! Commands to the simulated firmware, without the kernel's rules: each is 2 bytes of length of the
//! input, 1 byte that is the length of the output in units of 4, and the input.
//!
//! Each is answered: all of the output is written, with a status that has a name; one that is refused
//! has a syndrome and nothing behind it, and changes nothing; a query changes nothing; and the same
//! commands give the same answers, whatever the outputs held.
//!
//! For long: `cargo +nightly fuzz run firmware -- -max_total_time=3600 -max_len=2000`
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_prm::{
    Cqc, CreateCqIn, CreateQpIn, CreateRmpIn, CreateRqIn, Qpc, Rmpc, Rqc, Status, Verb,
};
use mlx5_sim::Firmware;

/// A firmware with some objects.
fn firmware() -> Firmware {
    let mut firmware = Firmware::new();
    let mut make = |input: &[u8]| {
        let mut output = [0; 16];
        firmware.execute(input, &mut output);
        assert_eq!(output[0], 0, "{input:x?}");
    };
    make(CreateRqIn::new().with_ctx(Rqc::new()).as_bytes());
    make(CreateCqIn::new().with_cq_context(Cqc::new()).as_bytes());
    make(CreateQpIn::new().with_qpc(Qpc::new()).as_bytes());
    make(CreateRmpIn::new().with_ctx(Rmpc::new()).as_bytes());
    firmware
}

fuzz_target!(|data: &[u8]| {
    let (mut first, mut second) = (firmware(), firmware());
    let mut rest = data;
    while let [high, low, words, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (input, after) = tail.split_at(len);
        rest = after;
        let before = first.clone();
        let room = usize::from(*words) * 4;
        let (mut output, mut other) = (vec![0xee; room], vec![0x11; room]);
        first.execute(input, &mut output);
        second.execute(input, &mut other);
        assert_eq!(output, other);
        assert_eq!(first, second);
        let Some(head) = output.get(..8) else {
            // There is no room for an answer, and it stays zero.
            assert!(output.iter().all(|byte| *byte == 0));
            assert_eq!(first, before, "a command without an answer changes nothing");
            continue;
        };
        assert!(Status(head[0]).name().is_some(), "status {:#x}", head[0]);
        let command = mlx5_prm::opcode(input).and_then(|opcode| mlx5_prm::command(opcode.0));
        if head[0] != 0 {
            assert_eq!(first, before, "a command that is refused changes nothing");
            assert_ne!(head[4..8], [0; 4], "a refusal has a syndrome");
            assert!(output[8..].iter().all(|byte| *byte == 0), "a refusal has no answer");
        } else if command.is_some_and(|command| command.verb == Verb::Query) {
            assert_eq!(first, before, "a query changes nothing");
        }
    }
});
