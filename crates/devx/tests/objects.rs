//! Objects of verbs and of DEVX: what a command is after it was sent, and where objects go.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use mlx5_devx::{Cq, Errno, Error, General, Handle, IndTable, Ioctl, NotSent, Object, Qp, Srq, Wq};
use mlx5_devx::{Devx, Target, Transport, outcome};
use mlx5_prm::{
    AllocFlowCounterIn, Cqc, Cqn, CreateCqIn, FlowCounterId, FlowIndex, ModifyCqIn, Opcode,
    QueryCqIn, QueryCqOut, QueryFlowCounterIn, Rqn, Rqtn, SamplerObj, SetFteIn, Srqn, Status,
    object,
};
use mlx5_sim::{Adapter, Refusals, Uverbs};

#[test]
fn a_command_serves_for_several_objects() -> Result<(), Error> {
    let adapter = Adapter::new();
    let context = Cqc::new().with_log_cq_size(4);
    let (a, b) = (adapter.create_cq(&context)?, adapter.create_cq(&context)?);
    let verbs = [a, b].map(|made| Cq::new(&adapter, made.handle, made.number));
    let create = CreateCqIn::new().with_cq_context(context);
    let devx = [Object::create(&adapter, &create)?, Object::create(&adapter, &create)?];

    let (mut modify, mut query) = (ModifyCqIn::new().changing_cq_period(16), QueryCqIn::new());
    let mut answer = QueryCqOut::zeroed();
    for cq in &verbs {
        cq.modify(&mut modify)?;
        assert_eq!(cq.query(&mut query)?.cq_context().cq_period(), 16);
        cq.query_into(&mut query, &mut answer)?;
    }
    for cq in &devx {
        cq.modify(&mut modify)?;
        assert_eq!(cq.query(&mut query)?.cq_context().cq_period(), 16);
        cq.query_into(&mut query, &mut answer)?;
    }
    assert_eq!((modify.cqn().get(), query.cqn().get()), (0, 0));

    // One that fails serves again, too.
    for refusals in [Refusals::Output, Refusals::Errno] {
        adapter.set_refusals(refusals);
        let mut unknown = QueryCqIn::new().with_op_mod(7);
        assert!(verbs[0].query(&mut unknown).is_err() && devx[0].query(&mut unknown).is_err());
        assert_eq!(unknown.cqn().get(), 0);
    }

    // A number that is named stays.
    let mut named = QueryCqIn::new().with_cqn(a.number);
    verbs[0].query(&mut named)?;
    assert_eq!(named.cqn(), a.number);
    let wrong = verbs[1].query(&mut named).expect_err("of another object");
    let (named, is) = (a.number.get(), b.number.get());
    let reason = NotSent::WrongObject { kind: "CQN", named, is };
    assert_eq!(wrong, Error::NotSent { opcode: Opcode::QUERY_CQ, reason });
    Ok(())
}

#[test]
fn objects_of_verbs_go_to_other_threads() {
    fn is_send<T: Send>(_: T) {}
    let adapter = Adapter::new();
    let made = adapter.create_cq(&Cqc::new().with_log_cq_size(4)).expect("a CQ");
    let cq = Cq::new(&adapter, made.handle, made.number);
    thread::scope(|scope| {
        scope.spawn(move || cq.query(&mut QueryCqIn::new()).expect("it is there"));
        scope.spawn(|| {
            cq.modify(&mut ModifyCqIn::new().changing_cq_period(1)).expect("it is there")
        });
    });

    let ioctl = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    is_send(Wq::new(&ioctl, Handle(1), Rqn::new(1)));
    let any: &dyn Devx = &ioctl;
    is_send(IndTable::new(any, Handle(1), Rqtn::new(1)));
    is_send(Srq::new(any, Handle(1), Srqn::new(1)));
}

#[test]
fn objects_of_verbs_are_copied_and_printed() {
    #[derive(Debug, Clone, Copy)]
    struct Queue<'t> {
        qp: Option<Qp<'t>>,
        cq: Cq<'t>,
    }
    let adapter = Adapter::new();
    let transport: &dyn Transport = &adapter;
    let queue = Queue { qp: None, cq: Cq::new(transport, Handle(3), Cqn::new(0x1a)) };
    let copy = queue;
    let words = "Queue { qp: None, cq: Verbs { kind: Cq, number: 0x1a, handle: Handle(3), .. } }";
    assert_eq!(format!("{queue:?}"), words);
    assert_eq!(copy.cq.number(), queue.cq.number());
    assert!(copy.qp.is_none());
    assert_eq!((queue.cq.handle(), queue.cq.target().handle), (Handle(3), Handle(3)));
}

#[test]
fn a_general_object_has_a_handle() -> Result<(), Error> {
    let adapter = Adapter::new();
    let sampler = General::create(&adapter, SamplerObj::new().with_sample_ratio(4))?;
    assert_eq!(sampler.handle(), sampler.target().handle);
    assert_eq!(adapter.destroy(sampler.leave()), Ok::<(), Errno>(()));
    Ok(())
}

#[test]
fn a_general_object_is_left_and_taken_again() -> Result<(), Error> {
    let adapter = Adapter::new();
    let sampler = General::create(&adapter, SamplerObj::new().with_sample_ratio(4))?;
    let id = sampler.id();
    let handle = sampler.leave();
    let again = General::<_, SamplerObj>::from_handle(&adapter, handle, id);
    assert_eq!((again.query()?.sample_ratio(), again.id()), (4, id));
    drop(again);
    assert_eq!(adapter.destroy(handle), Err(Errno::NOENT));
    Ok(())
}

/// Of a bulk of flow counters each is queried by the object of all.
#[test]
fn counters_of_a_bulk_are_one_object() -> Result<(), Error> {
    let adapter = Adapter::new();
    let create = AllocFlowCounterIn::new().with_flow_counter_bulk_log_size(4);
    let bulk = Object::create(&adapter, &create)?;
    let first = bulk.number().get();
    let query = |number| {
        let number = FlowCounterId::new(number);
        bulk.query(&mut QueryFlowCounterIn::new().with_flow_counter_id(number)).map(|_| ())
    };
    query(0)?; // the first
    query(first)?;
    query(first + 15)?;
    let opcode = Opcode::QUERY_FLOW_COUNTER;
    assert_eq!(query(first + 16), Err(Error::Kernel { opcode, errno: Errno::INVAL }));
    let second = Object::create(&adapter, &create)?;
    let wrong = second.query(&mut QueryFlowCounterIn::new().with_flow_counter_id(bulk.number()));
    let (kind, named, is) = ("flow counter ID", first, second.number().get());
    let reason = NotSent::WrongObject { kind, named, is };
    assert_eq!(wrong.map(|_| ()), Err(Error::NotSent { opcode, reason }));
    Ok(())
}

/// Gives a handle, and an output that says that there is no object.
struct Contradicts(AtomicU64);

impl Transport for Contradicts {
    fn create(&self, _: &[u8], output: &mut [u8]) -> Result<Handle, Errno> {
        output[0] = 3;
        Ok(Handle(7))
    }

    fn modify(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn query(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn destroy(&self, handle: Handle) -> Result<(), Errno> {
        self.0.fetch_add(handle.0, Ordering::Relaxed);
        Ok(())
    }

    fn general(&self, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
}

#[test]
fn what_has_a_handle_ends() {
    let transport = Contradicts(AtomicU64::new(0));
    let error = Object::create(&transport, &CreateCqIn::new()).expect_err("its status is 3");
    assert!(matches!(error, Error::Firmware { status: Status::BAD_PARAM_ERR, .. }));
    assert_eq!(transport.0.load(Ordering::Relaxed), 7, "ended, and once");
}

/// Its command names it, so that no `Object::create` takes it.
#[test]
fn a_flow_rule_is_owned_by_its_handle() {
    let adapter = Adapter::new();
    let set = SetFteIn::new().with_flow_index(FlowIndex::new(9));
    let mut output = [0; 16];
    let made = adapter.create(set.as_bytes(), &mut output);
    let handle = outcome(set.as_bytes(), &output, made).expect("a flow rule");
    let rule = Object::<_, object::FlowTableEntry>::from_handle(&adapter, handle, set.flow_index());
    let mut change = SetFteIn::new().with_op_mod(1);
    rule.modify(&mut change).expect("it is there");
    rule.destroy().expect("it ends");
    assert_eq!(adapter.destroy(handle), Err(Errno::NOENT));
}
