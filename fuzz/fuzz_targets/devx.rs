//! A program of commands on two simulated adapters: by the [`Adapter`] itself, and by [`Ioctl`] on the
//! simulated kernel in front of another. The bytes: see `mlx5_fuzz::commands`; bit 0 of the first byte
//! makes both an older kernel, which says an errno where a newer one gives the output; with bit 1 verbs
//! made a raw packet QP and a DCT, too.
//!
//! Both say the same, and give the same outputs. A handle is given once. The state of every QP is
//! what the PRM's state machine makes of the commands that passed, which are those that it admits;
//! a refused command leaves the QP as it was.
//!
//! For long: `cargo +nightly fuzz run devx -- -max_total_time=3600`
//!
//! [`Adapter`]: mlx5_sim::Adapter
//! [`Ioctl`]: mlx5_devx::Ioctl
#![no_main]

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use mlx5_devx::record::Method;
use mlx5_devx::{Errno, Handle, Ioctl, TargetKind, Transport};
use mlx5_fuzz::commands::{Kind, Object, Step};
use mlx5_prm::{
    Cqc, CreateCqIn, Dctc, Opcode, Qpc, Qpn, QueryQpIn, QueryQpOut, Rmpc, Rqc, Rqtc, Sqc,
};
use mlx5_sim::{Adapter, Refusals, Uverbs};

fuzz_target!(|data: &[u8]| {
    let _: Result<()> = run(&mut Unstructured::new(data));
});

/// States of a QP, by their numbers in the PRM.
const RST: u8 = 0;
const INIT: u8 = 1;
const RTR: u8 = 2;
const RTS: u8 = 3;
const SQER: u8 = 4;
const ERR: u8 = 6;

/// Opcodes of the commands that change the state of a QP, the states that each starts from, all
/// when there are none, and the one that it leads to. By hand from the PRM's state machine, as
/// the kernel's `mlx5_ib_modify_qp` goes through it; nothing of the codec's table is used.
const TRANSITIONS: [(u16, &[u8], u8); 8] = [
    (0x502, &[RST], INIT),
    (0x503, &[INIT], RTR),
    (0x504, &[RTR], RTS),
    (0x505, &[RTS], RTS),
    (0x506, &[SQER], RTS),
    (0x507, &[], ERR),
    (0x50a, &[], RST),
    (0x50e, &[INIT], INIT),
];

/// What verbs would have made on an adapter.
fn verbs(adapter: &Adapter) -> Vec<Object> {
    let cq = adapter.create_cq(&Cqc::new()).expect("a CQ");
    let qp = adapter.create_qp(&Qpc::new()).expect("a QP");
    let srq = adapter.create_srq(&Rmpc::new()).expect("an RMP");
    let wq = adapter.create_wq(&Rqc::new()).expect("an RQ");
    let table = Rqtc::new().with_rqt_max_size(8);
    let table = adapter.create_ind_table(&table, &[wq.number]).expect("an RQT");
    vec![
        Object::of_verbs(TargetKind::Cq, cq.handle, "cq", cq.number.get()),
        Object::of_verbs(TargetKind::Qp, qp.handle, "qp", qp.number.get()),
        Object::of_verbs(TargetKind::Srq, srq.handle, "rmp", srq.number.get()),
        Object::of_verbs(TargetKind::Wq, wq.handle, "rq", wq.number.get()),
        Object::of_verbs(TargetKind::IndTable, table.handle, "rqt", table.number.get()),
    ]
}

/// What a raw packet QP is made of, and a DCT: they have their numbers, and the handles of QPs.
fn no_qps(adapter: &Adapter) -> Vec<Object> {
    let raw = adapter.create_raw_packet_qp(Some(&Rqc::new()), Some(&Sqc::new()));
    let (raw, numbers) = raw.expect("a raw packet QP");
    let dct = adapter.create_dct(&Dctc::new()).expect("a DCT");
    let of = |kind, number: u32| Object::of_verbs(TargetKind::Qp, raw.handle, kind, number);
    vec![
        of("sq", numbers.sqn.expect("it sends").get()),
        of("rq", numbers.rqn.expect("it receives").get()),
        of("tir", numbers.tirn.expect("it receives").get()),
        of("tis", numbers.tisn.expect("it sends").get()),
        Object::of_verbs(TargetKind::Qp, dct.handle, "dct", dct.number.get()),
    ]
}

fn run(from: &mut Unstructured<'_>) -> Result<()> {
    let (adapter, behind) = (Adapter::new(), Adapter::new());
    let flags = from.arbitrary::<u8>()?;
    if flags & 1 != 0 {
        adapter.set_refusals(Refusals::Errno);
        behind.set_refusals(Refusals::Errno);
    }
    let mut objects = verbs(&adapter);
    assert_eq!(verbs(&behind), objects);
    if flags & 2 != 0 {
        objects.extend(no_qps(&adapter));
        no_qps(&behind);
    }
    let uverbs = Uverbs::open(&behind);
    let ioctl = Ioctl::on(uverbs).expect("a context");
    let mut states: BTreeMap<Handle, u8> = BTreeMap::new();
    while !from.is_empty() {
        let mut step = Step::read(from, &objects)?;
        with_event_queue(&mut step);
        let said = step.call(&adapter);
        let by_ioctl = step.call(&ioctl);
        assert_eq!(said, by_ioctl, "{step:x?}");
        if let Err(errno) = said.0 {
            assert!((1..4096).contains(&errno.raw_os_error()));
        }
        if let (Method::Create, Ok(Some(handle))) = (step.method, said.0) {
            assert!(objects.iter().all(|object| object.target.handle != handle), "{handle:?}");
        }
        let ended = (step.method == Method::Destroy && said.0.is_ok()).then_some(step.target);
        if let Some(target) = ended.flatten() {
            states.remove(&target.handle);
        }
        let named = step.object.map(|at| objects[at]);
        step.note(&said, &mut objects);
        if let Some(object) = named.filter(|of| of.kind == Kind::Named("qp") && ended.is_none()) {
            let state = states.entry(object.target.handle).or_insert(RST);
            follow(&step, said.0, state);
            let is = [&adapter as &dyn Transport, &ioctl].map(|to| state_of(to, object));
            assert_eq!(is, [*state; 2], "{step:x?}");
        }
    }
    // What is there can be ended, but for what others use; what is not there can't.
    for object in objects.iter().rev() {
        let ended = adapter.destroy(object.target.handle);
        assert_eq!(ended, ioctl.destroy(object.target.handle));
        assert_ne!(ended, Err(Errno::NOENT), "{object:?}");
        if ended.is_ok() {
            assert_eq!(adapter.destroy(object.target.handle), Err(Errno::NOENT));
            assert_eq!(ioctl.destroy(object.target.handle), Err(Errno::NOENT));
        }
    }
    Ok(())
}

/// The ioctl knows the event queues of its device, and the adapter alone has none: a CQ of another
/// event queue would be refused by the one and not by the other (`mlx5_create_cq`).
fn with_event_queue(step: &mut Step) {
    if mlx5_prm::opcode(&step.input) == Some(Opcode::CREATE_CQ)
        && let Some(Ok(create)) = step.input.get_mut(..CreateCqIn::SIZE).map(CreateCqIn::view_mut)
    {
        let context = create.cq_context_mut();
        context.set_c_eqn_or_apu_element(context.c_eqn_or_apu_element() % 4);
    }
}

/// Takes the transition that a command made, which must be one that there is.
fn follow(step: &Step, result: std::result::Result<Option<Handle>, Errno>, state: &mut u8) {
    let opcode = mlx5_prm::opcode(&step.input).map_or(0, |opcode| opcode.0);
    let known = TRANSITIONS.iter().find(|(of, _, _)| *of == opcode);
    let (Method::Modify, Ok(_)) = (step.method, result) else { return };
    let (_, starts, to) = known.expect("a QP is modified by its transitions only");
    assert!(starts.is_empty() || starts.contains(state), "{opcode:#x} from state {state}");
    *state = *to;
}

fn state_of(transport: &dyn Transport, object: Object) -> u8 {
    let input = QueryQpIn::new().with_qpn(Qpn::new(object.number));
    let mut output = [0; QueryQpOut::SIZE];
    let asked = transport.query(object.target, input.as_bytes(), &mut output);
    assert_eq!(asked, Ok(()), "{object:?}");
    QueryQpOut::from_bytes(output).qpc().state().0
}
