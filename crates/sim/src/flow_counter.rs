//! Flow counters, which come alone or in bulks.

use std::collections::BTreeMap;

use mlx5_prm::{
    AllocFlowCounterOut, DeallocFlowCounterIn, FlowCounterId, Opcode, QueryFlowCounterIn, Status,
};

use crate::firmware::{Refusal, read, refuse, with};
use crate::{kernel, syndrome};

/// The counters that are there. Their numbers are in a row in a bulk, which ends as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FlowCounters {
    /// How many there are from a number on.
    bulks: BTreeMap<u32, u32>,
    /// The last number given out.
    last: u32,
}

impl FlowCounters {
    /// Runs a command on flow counters. The input holds its layout, and the output a head.
    pub(crate) fn run(
        &mut self,
        opcode: Opcode,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        match opcode {
            Opcode::ALLOC_FLOW_COUNTER => {
                let count = kernel::bulk(opcode, input).unwrap_or(1);
                let number = self.free(self.last.wrapping_add(1).max(1), count);
                let Some(number) = number.or_else(|| self.free(1, count)) else {
                    return refuse(Status::NO_RES_ERR, syndrome::NO_NUMBER_LEFT);
                };
                self.bulks.insert(number, count);
                self.last = number + (count - 1);
                with(output, |out: &mut AllocFlowCounterOut| {
                    out.set_flow_counter_id(FlowCounterId::new(number))
                });
                Ok(())
            }
            // Counters stay zero.
            Opcode::QUERY_FLOW_COUNTER => {
                let number = read(input, QueryFlowCounterIn::flow_counter_id).get();
                let before = self.bulks.range(..=number).next_back();
                there(before.is_some_and(|(first, count)| number - first < *count))
            }
            _ => {
                let number = read(input, DeallocFlowCounterIn::flow_counter_id).get();
                there(self.bulks.remove(&number).is_some())
            }
        }
    }

    /// The first of so many numbers in a row that are free, from a number on.
    fn free(&self, from: u32, count: u32) -> Option<u32> {
        let mut first = from;
        if let Some((before, count)) = self.bulks.range(..from).next_back() {
            first = first.max(before.checked_add(*count)?);
        }
        for (next, taken) in self.bulks.range(first..) {
            if next - first >= count {
                break;
            }
            first = next.checked_add(*taken)?;
        }
        first.checked_add(count - 1).map(|_| first)
    }
}

fn there(is_there: bool) -> Result<(), Refusal> {
    if is_there { Ok(()) } else { refuse(Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_OBJECT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_again_behind_the_last() {
        let mut counters = FlowCounters::default();
        let mut alloc = |log: u8| {
            let mut input = [0; 16];
            input[14] = log;
            let mut output = [0; 16];
            counters.run(Opcode::ALLOC_FLOW_COUNTER, &input, &mut output).ok()?;
            Some(read(&output, AllocFlowCounterOut::flow_counter_id).get())
        };
        assert_eq!(alloc(0), Some(1));
        assert_eq!(alloc(31), Some(2));
        assert_eq!(alloc(31), None, "there are not so many");
        assert_eq!(alloc(30), Some(0x8000_0002));
        assert_eq!(alloc(29), Some(0xc000_0002));
        assert_eq!(alloc(28), Some(0xe000_0002));
        assert_eq!(alloc(28), None);
        // The first gap.
        assert!(counters.bulks.remove(&2).is_some());
        assert_eq!(counters.free(1, 1 << 31), Some(2));
        assert_eq!(counters.free(1, 0x8000_0001), None);
        assert_eq!(counters.free(u32::MAX, 1), Some(u32::MAX));
        assert_eq!(counters.free(u32::MAX, 2), None);
    }
}
