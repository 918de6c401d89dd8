//! Commands to the simulated adapter: each is 2 bytes of length of the input, 1 byte that is the
//! length of the output in units of 4, and the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mlx5_prm::{Cqc, Qpc, Rmpc, Rqc, Rqtc, Status};
use mlx5_sim::Firmware;

fuzz_target!(|data: &[u8]| {
    let adapter = mlx5_sim::Adapter::new();
    let rq = adapter.create_wq(&Rqc::new()).expect("an RQ");
    adapter.create_cq(&Cqc::new()).expect("a CQ");
    adapter.create_qp(&Qpc::new()).expect("a QP");
    adapter.create_srq(&Rmpc::new()).expect("an RMP");
    adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(8), &[rq.number]).expect("an RQT");
    let mut alone = Firmware::new();
    let mut rest = data;
    while let [high, low, words, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (input, after) = tail.split_at(len);
        rest = after;
        let mut output = vec![0xee; usize::from(*words) * 4];
        adapter.firmware(input, &mut output);
        if let Some(status) = output.first() {
            assert!(Status(*status).name().is_some(), "status {status:#x}");
        }
        let before = alone.clone();
        let mut output = [0xee; 16];
        alone.execute(input, &mut output);
        if output[0] != 0 {
            assert_eq!(alone, before, "a command that is refused changes nothing");
        }
    }
});
