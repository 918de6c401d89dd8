//! Capabilities, where the kernel gives a refusal as an errno, and where a refusal is none.

use std::cell::Cell;

use mlx5_devx::{Caps, Errno, Error, Handle, Target, Transport};
use mlx5_prm::caps::page::{GeneralDevice, PAGES};
use mlx5_prm::{Cap, CapMode, Opcode, Status};
use mlx5_sim::{Adapter, Refusals};

#[test]
fn a_kernel_that_gives_only_an_errno_hides_no_capability() {
    let adapter = Adapter::new();
    adapter.set_refusals(Refusals::Errno);
    let caps = Caps::query(&adapter).expect("the pages that are there");
    assert!(caps.supports(Cap::CQ_MODERATION));
    assert!(caps.page::<GeneralDevice>(CapMode::Maximum).is_some());
    assert_eq!(caps.refused().len(), 2 * PAGES.len() - 2);
    let refused = Error::Kernel { opcode: Opcode::QUERY_HCA_CAP, errno: Errno::INVAL };
    assert!(caps.refused().iter().all(|(_, _, error)| *error == refused));
}

/// What answers a query.
type Answers = Box<dyn Fn(&Adapter, &[u8], &mut [u8]) -> Result<(), Errno>>;

/// Lets some queries through to an adapter, and then answers otherwise.
struct Later {
    adapter: Adapter,
    left: Cell<u32>,
    then: Answers,
}

impl Later {
    fn new(left: u32, then: Answers) -> Self {
        Later { adapter: Adapter::new(), left: Cell::new(left), then }
    }
}

impl Transport for Later {
    fn create(&self, _: &[u8], _: &mut [u8]) -> Result<Handle, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn modify(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn query(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.adapter.general(input, output)
            }
            None => (self.then)(&self.adapter, input, output),
        }
    }
}

#[test]
fn what_is_no_refusal_of_a_page_is_an_error() {
    let query = |left, errno| {
        let caps = Caps::query(&Later::new(left, Box::new(move |_, _, _| Err(errno))));
        caps.map(|caps| caps.refused().len())
    };
    let error = |errno| Err(Error::Kernel { opcode: Opcode::QUERY_HCA_CAP, errno });
    // Both values of the general page are asked for first.
    for left in [0, 1] {
        for errno in [Errno::INVAL, Errno::IO, Errno::NODEV] {
            assert_eq!(query(left, errno), error(errno), "{left}");
        }
    }
    for errno in [
        Errno::NODEV,
        Errno::INTR,
        Errno::ACCESS,
        Errno::NOTTY,
        Errno::IO,
        Errno::BUSY,
        Errno::NOMEM,
        Errno::AGAIN,
    ] {
        assert_eq!(query(2, errno), error(errno));
    }
    assert_eq!(query(2, Errno::INVAL), Ok(2 * PAGES.len() - 2));
}

/// A firmware that fails has its pages still.
#[test]
fn a_firmware_that_fails_is_an_error() {
    let query = |refused: Option<(u32, Status)>| {
        let adapter = Adapter::new();
        if let Some((pages, status)) = refused {
            adapter.refuse_next_command(pages, status, 1);
        }
        Caps::query(&adapter).map(|caps| caps.refused().len())
    };
    let all = 2 * PAGES.len() - 2;
    assert_eq!(query(None), Ok(all));
    let failed = |status| {
        Err(Error::Firmware { opcode: Opcode::QUERY_HCA_CAP, op_mod: 0, status, syndrome: 1 })
    };
    for status in [Status::BAD_PARAM_ERR, Status::BAD_OP_ERR, Status::INT_ERR, Status::NOT_READY] {
        assert_eq!(query(Some((1, status))), failed(status), "of the general page");
    }
    let later = |status| {
        let refuses: Answers = Box::new(move |adapter, input, output| {
            adapter.refuse_next_command(1, status, 1);
            adapter.general(input, output)
        });
        let caps = Caps::query(&Later::new(2, refuses));
        caps.map(|caps| caps.refused().len()).map_err(|error| error.errno())
    };
    for status in [Status::BAD_PARAM_ERR, Status::BAD_OP_ERR, Status::BAD_RES_ERR] {
        assert_eq!(later(status), Ok(all));
    }
    for status in [
        Status::INT_ERR,
        Status::BAD_SYS_STATE_ERR,
        Status::NOT_READY,
        Status::NO_RES_ERR,
        Status::LIM_ERR,
        Status(0xee),
    ] {
        assert_eq!(later(status), Err(Errno::REMOTEIO), "{status:?}");
    }
}
