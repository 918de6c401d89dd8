//! Which command of a log an output answers: the last input in its place of the adapter's command queue.
//!
//! Where lines are lost no other command's input may stand in: what an output is of is then not known.

use mlx5_prm_cli::kernel_log::Title;

use crate::view::Request;

/// More places than the queues of the adapters in one log have.
const MOST: usize = 256;

/// Where a command waits for its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The adapter, if the log says it.
    pub(super) device: Option<Vec<u8>>,
    /// `cmd[N]`. Old kernels do not write it: all commands of an adapter are then in one place.
    pub(super) slot: Option<u32>,
}

impl Place {
    /// Whether it may be the other one, as far as either is known.
    fn may_be(&self, other: &Place) -> bool {
        let devices = (&self.device, &other.device);
        self.slot == other.slot
            && (devices.0 == devices.1 || matches!(devices, (None, _) | (_, None)))
    }
}

/// Commands whose outputs were not there yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    place: Place,
    request: Request,
    /// How many wait, of one opcode. In a place of the queue it is one.
    many: u64,
}

impl Requests {
    /// An input.
    pub(super) fn input(&mut self, place: Place, request: Request) {
        let same = |w: &&mut Waiting| w.place == place && w.request.opcode == request.opcode;
        if place.slot.is_none()
            && let Some(waiting) = self.waiting.iter_mut().find(same)
        {
            waiting.many += 1;
            // Nothing says which of them is answered first.
            if waiting.request != request {
                waiting.request = Request::unknown(request.opcode);
            }
            return;
        }
        if place.slot.is_some() {
            self.waiting.retain(|waiting| !waiting.place.may_be(&place));
        }
        if self.waiting.len() == MOST {
            self.waiting.remove(0);
        }
        self.waiting.push(Waiting { place, request, many: 1 });
    }

    /// The command that an output answers.
    pub(super) fn output(&mut self, place: &Place, opcode: u16) -> Request {
        let is_it = |w: &Waiting| w.place == *place && w.request.opcode == opcode;
        let at = self.waiting.iter().position(is_it);
        let request = at.map_or(Request::unknown(opcode), |at| self.waiting[at].request);
        match at {
            Some(at) if self.waiting[at].many > 1 => self.waiting[at].many -= 1,
            Some(at) => drop(self.waiting.remove(at)),
            // What waits in this place has lost its output.
            None if place.slot.is_some() => self.lost(place),
            None => {}
        }
        request
    }

    /// A dump that could not be read.
    pub(super) fn damaged(&mut self, place: Place, title: Option<Title>) {
        match title {
            Some(Title { opcode, is_input: true }) => self.input(place, Request::unknown(opcode)),
            Some(Title { opcode, is_input: false }) => {
                self.output(&place, opcode);
            }
            None => self.lost(&place),
        }
    }

    /// Something was in this place that nothing is known of.
    pub(super) fn lost(&mut self, place: &Place) {
        self.waiting.retain(|waiting| !waiting.place.may_be(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPCODE: u16 = 0x100;

    fn place(device: &str, slot: impl Into<Option<u32>>) -> Place {
        let device = Some(device.as_bytes().to_vec()).filter(|device| !device.is_empty());
        Place { device, slot: slot.into() }
    }

    fn request(op_mod: u16) -> Request {
        Request { op_mod: Some(op_mod), ..Request::unknown(OPCODE) }
    }

    #[test]
    fn an_input_is_answered_once() {
        let (mut requests, here) = (Requests::default(), place("a", 0));
        requests.input(here.clone(), request(1));
        assert_eq!(requests.output(&here, OPCODE), request(1));
        assert_eq!(requests.output(&here, OPCODE), Request::unknown(OPCODE), "the input was lost");
    }

    #[test]
    fn adapters_and_places_are_apart() {
        let mut requests = Requests::default();
        let places = [place("a", 0), place("b", 0), place("a", 1)];
        for (n, place) in places.iter().enumerate() {
            requests.input(place.clone(), request(n as u16));
        }
        for (n, place) in places.iter().enumerate() {
            assert_eq!(requests.output(place, OPCODE), request(n as u16));
        }
    }

    #[test]
    fn a_damaged_input_is_no_earlier_one() {
        for title in [None, Some(Title { opcode: OPCODE, is_input: true })] {
            let (mut requests, here) = (Requests::default(), place("a", 0));
            requests.input(here.clone(), request(1));
            requests.damaged(here.clone(), title);
            assert_eq!(requests.output(&here, OPCODE), Request::unknown(OPCODE));
        }
        // Nor is it one of an adapter that the log does not name.
        let mut requests = Requests::default();
        requests.input(place("a", 0), request(1));
        requests.damaged(place("", 0), None);
        assert_eq!(requests.output(&place("a", 0), OPCODE), Request::unknown(OPCODE));
    }

    #[test]
    fn an_output_of_another_command_ends_the_wait() {
        let (mut requests, here) = (Requests::default(), place("a", 0));
        requests.input(here.clone(), request(1));
        assert_eq!(requests.output(&here, 0x402), Request::unknown(0x402));
        assert_eq!(requests.output(&here, OPCODE), Request::unknown(OPCODE));
    }

    #[test]
    fn without_places_several_wait_and_nothing_says_which_is_answered() {
        let (mut requests, here) = (Requests::default(), place("a", None));
        let output = |requests: &mut Requests| requests.output(&here, OPCODE);
        requests.input(here.clone(), request(1));
        requests.input(here.clone(), Request::unknown(0x402));
        assert_eq!(output(&mut requests), request(1), "another command waits, too");
        for op_mod in [1, 1, 2] {
            requests.input(here.clone(), request(op_mod));
        }
        assert_eq!(output(&mut requests), Request::unknown(OPCODE));
        requests.input(here.clone(), request(3));
        for _ in 0..3 {
            assert_eq!(output(&mut requests), Request::unknown(OPCODE));
        }
        requests.input(here.clone(), request(4));
        assert_eq!(output(&mut requests), request(4), "all before it were answered");
    }

    #[test]
    fn there_is_an_end_to_what_waits() {
        let mut requests = Requests::default();
        for slot in 0..1000 {
            requests.input(place("a", slot), request(1));
        }
        assert_eq!(requests.waiting.len(), MOST);
        assert_eq!(requests.output(&place("a", 999), OPCODE), request(1));
    }
}
