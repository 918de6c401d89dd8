//! Any messages, one after the other: the kernel answers or refuses each, and goes on.

use mlx5_devx::Errno;
use mlx5_devx::wire::{Input, Memory, Message, Output};
use mlx5_prm::Opcode;
use proptest::prelude::*;

use crate::program::{Program, create_cq, message, on_cq};

/// Memory that is there wherever it is looked for, and holds commands.
struct Everywhere;

impl Memory for Everywhere {
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno> {
        Ok(match *input {
            Input::Inline { bytes, len } => bytes[..len.into()].to_vec(),
            Input::Memory { address, len } => {
                let number = (address >> 16) as u32 & 3;
                let mut bytes = match address % 4 {
                    0 => create_cq(number),
                    1 => on_cq(Opcode::QUERY_CQ, number),
                    2 => on_cq(Opcode::MODIFY_CQ, number),
                    _ => address.to_ne_bytes().repeat(8),
                };
                bytes.resize(len.into(), address as u8);
                bytes
            }
        })
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        assert!(bytes.len() <= output.len.into());
        Ok(())
    }
}

fn attr() -> impl Strategy<Value = (u16, u16, u16, u64)> {
    let id = prop_oneof![0x1000u16..0x1007, 0u16..3];
    let len = prop_oneof![Just(0u16), Just(4), Just(8), 0u16..20, Just(272), any::<u16>()];
    let data = prop_oneof![0u64..12, any::<u64>(), any::<u16>().prop_map(|d| u64::from(d) << 14)];
    (id, len, 0u16..2, data)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_has_an_answer(
        all in prop::collection::vec(
            (
                prop_oneof![0x1000u16..0x1009, Just(0)],
                prop_oneof![0x1000u16..0x1005, Just(3)],
                prop::collection::vec(attr(), 0..7),
            ),
            0..40,
        ),
    ) {
        let program = Program::with_devx();
        for (object, method, attrs) in &all {
            let bytes = message(*object, *method, 1, attrs);
            let mut sent = Message::parse(&bytes).expect("well-formed");
            let made = program.uverbs.ioctl(&mut sent, &mut Everywhere);
            let makes_file = matches!((object, method), (0x1004 | 0x1005, 0x1000));
            prop_assert_eq!(matches!(made, Ok(Some(_))), makes_file && made.is_ok());
            prop_assert_eq!(sent.as_bytes().len(), bytes.len());
        }
        let (handle, _) = program.cq();
        program.destroy(handle).ok();
    }

    /// Calls of the right form.
    #[test]
    fn calls_of_the_right_form_leave_a_kernel_that_goes_on(
        all in prop::collection::vec((0usize..10, -1i64..6, any::<u64>(), any::<u16>()), 0..60),
    ) {
        let program = Program::with_devx();
        let (_, number) = program.cq();
        for (call, handle, word, len) in all {
            let len = len.max(16);
            let left = match call {
                0 => program.create(&create_cq(word as u32 & 3), len),
                1 => program.destroy(handle),
                2 => program.modify(handle, &on_cq(Opcode(word as u16), word as u32 >> 16 & 3), len),
                3 => program.query(handle, &on_cq(Opcode::QUERY_CQ, number + (word as u32 & 1)), len),
                4 => program.other(&on_cq(Opcode(word as u16), word as u32), len),
                5 => program.umem(word, word >> 20, len.into(), Some(word)),
                6 => program.uar(word & 3),
                7 => program.call(0x1002, 0x1001, &[crate::program::Arg::Number(0x1000, handle)]),
                8 => program.call(0x1008, 0x1001, &[crate::program::Arg::Number(0x1000, handle)]),
                _ => program.get_context(word as u32 & 1),
            };
            // What fails in the firmware has an output, and what fails in the kernel none.
            if call < 5 && call != 1 {
                let answered = left.result.is_ok() || left.errno() == Errno::REMOTEIO;
                prop_assert_eq!(left.outputs.len(), usize::from(answered));
            }
        }
        program.cq();
    }
}
