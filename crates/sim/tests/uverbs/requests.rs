//! The messages of `mlx5_devx::wire::Request`, each of them.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use mlx5_devx::Errno;
use mlx5_devx::wire::{
    AllocUcontextReq, AllocUcontextResp, DRIVER_MLX5, Input, Memory, Output, Request, UmemMemory,
};
use mlx5_prm::Opcode;
use mlx5_sim::{Adapter, Uverbs};

use crate::program::{Buffers, create_cq, on_cq};

/// The memory of a request, as long as it is known by its buffers: `outputs` is what was written.
#[derive(Default)]
struct Known {
    inputs: Buffers,
    outputs: Vec<(u16, Vec<u8>)>,
}

impl Known {
    fn with(inputs: &[&[u8]]) -> Self {
        let mut known = Known::default();
        for input in inputs {
            known.inputs.0.insert(input.as_ptr() as u64, input.to_vec());
        }
        known
    }
}

impl Memory for Known {
    fn read(&self, input: &Input) -> Result<Vec<u8>, Errno> {
        self.inputs.read(input)
    }

    fn write(&mut self, output: &Output, bytes: &[u8]) -> Result<(), Errno> {
        self.outputs.push((output.attr_id, bytes.to_vec()));
        Ok(())
    }
}

fn send(
    uverbs: &Uverbs,
    request: &mut Request<'_>,
    inputs: &[&[u8]],
) -> (Vec<(u16, Vec<u8>)>, Option<OwnedFd>) {
    let mut known = Known::with(inputs);
    let mut message = request.encode(DRIVER_MLX5).expect("it fits");
    let file = uverbs.ioctl(&mut message, &mut known).expect("it is done");
    request.read_back(&message);
    (known.outputs, file)
}

#[test]
fn every_request_is_answered() {
    let adapter = Adapter::new();
    let uverbs = Uverbs::open(&adapter);
    let ask = AllocUcontextReq::like_libmlx5(true);
    let bytes = zerocopy::IntoBytes::as_bytes(&ask);
    let (mut resp, mut vectors, mut support) = (AllocUcontextResp::default(), 0, 0);
    let mut request = Request::get_context(&ask, &mut resp, &mut vectors, &mut support);
    let (outputs, _) = send(&uverbs, &mut request, &[bytes]);
    let lengths: Vec<(u16, usize)> = outputs.iter().map(|(id, o)| (*id, o.len())).collect();
    assert_eq!(lengths, [(0, 4), (1, 8), (0x1001, 72)]);

    let mut eqn = 0;
    let (outputs, _) = send(&uverbs, &mut Request::query_eqn(0, &mut eqn), &[]);
    let eqn = u32::from_ne_bytes(outputs[0].1[..].try_into().expect("4 bytes"));

    let (create, mut out) = (create_cq(eqn), [0; 16]);
    let mut request = Request::obj_create(&create, &mut out);
    let (outputs, _) = send(&uverbs, &mut request, &[&create]);
    let handle = request.new_handle().expect("a handle");
    let number = u32::from_be_bytes(outputs[0].1[8..12].try_into().expect("4 bytes"));

    let modify =
        mlx5_prm::ModifyCqIn::new().with_cqn(mlx5_prm::Cqn::new(number)).changing_cq_max_count(3);
    let modify = modify.as_bytes();
    send(&uverbs, &mut Request::obj_modify(handle, modify, &mut out), &[modify]);
    let (query, mut long) = (on_cq(Opcode::QUERY_CQ, number), [0; 272]);
    let (outputs, _) = send(&uverbs, &mut Request::obj_query(handle, &query, &mut long), &[&query]);
    let (answer, _) = mlx5_prm::QueryCqOut::view_prefix(&outputs[0].1).expect("long enough");
    assert_eq!(answer.cq_context().cq_max_count(), 3);

    let (caps, mut page) = (on_cq(Opcode::QUERY_HCA_CAP, 0), vec![0; 4112]);
    send(&uverbs, &mut Request::other(&caps, &mut page), &[&caps]);

    let (mut id, memory) = (0, UmemMemory::Program { address: 0x1000, length: 0x1000 });
    let mut request = Request::umem_reg(memory, 1, Some(0x1000), &mut id);
    send(&uverbs, &mut request, &[]);
    let umem = request.new_handle().expect("a handle");
    send(&uverbs, &mut Request::umem_dereg(umem), &[]);

    let (mut offset, mut length, mut page) = (0, 0, 0);
    let mut request = Request::uar_alloc(1, &mut offset, &mut length, &mut page);
    send(&uverbs, &mut request, &[]);
    let uar = request.new_handle().expect("a handle");
    send(&uverbs, &mut Request::uar_destroy(uar), &[]);

    let (_, commands) = send(&uverbs, &mut Request::async_cmd_fd_alloc(), &[]);
    let commands = commands.expect("a file");
    let mut request = Request::obj_query_async(commands.as_raw_fd(), handle, &query, 272, 5);
    send(&uverbs, &mut request, &[&query]);
    assert_eq!(uverbs.read(commands.as_fd(), &mut [0; 512]), Ok(280));

    let (_, events) = send(&uverbs, &mut Request::async_event_fd_alloc(0), &[]);
    let events = events.expect("a file");
    let types = [4u16; 5];
    let list = zerocopy::IntoBytes::as_bytes(&types);
    let mut request = Request::subscribe_event(events.as_raw_fd(), 1, Some(handle), &types);
    send(&uverbs, &mut request, &[list]);
    let error = mlx5_prm::EventType::CQ_ERROR;
    let told = adapter.raise_event(error, Some(mlx5_devx::Handle(handle.into())), &[]);
    assert_eq!(told, 5);
    assert_eq!(uverbs.read(events.as_fd(), &mut [0; 512]), Ok(72));

    send(&uverbs, &mut Request::obj_destroy(handle), &[]);
}

/// The command is done when the answer is written: an object that no program can name ends with its file.
#[test]
fn a_memory_that_panics_leaves_the_adapter_as_it_is() {
    struct Broken;
    impl Memory for Broken {
        fn read(&self, _: &Input) -> Result<Vec<u8>, Errno> {
            Ok(create_cq(0))
        }
        fn write(&mut self, _: &Output, _: &[u8]) -> Result<(), Errno> {
            panic!("it is broken")
        }
    }

    let program = crate::program::Program::with_devx();
    let input = create_cq(0);
    let mut output = [0; 16];
    let mut message =
        Request::obj_create(&input, &mut output).encode(DRIVER_MLX5).expect("it is short");
    let uverbs = program.uverbs.clone();
    let call = std::panic::AssertUnwindSafe(|| uverbs.ioctl(&mut message, &mut Broken));
    assert!(std::panic::catch_unwind(call).is_err());
    let exists = |number| crate::program::exists(&program.adapter, Opcode::QUERY_CQ, number);
    assert!(exists(1));
    assert_eq!(program.cq(), (2, 2), "the adapter goes on");
    drop((uverbs, program.uverbs));
    assert!(!exists(1) && !exists(2));
}
