//! What a program of DEVX does, written once: [`commands`] for any `Transport`, [`beyond`] for what has all
//! of DEVX. Each gives what came of every step, in lines that are the same for every way to the same
//! adapter; handles, which are not, are left out.

use std::fmt::{Display, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use mlx5_devx::{
    Access, Cookies, Cq, Devx, Errno, Error, Events, Handle, IndTable, Object, Page, Qp, Queries,
    Srq, Target, TargetKind, Transport, Uar, UarKind, Umem, Wq, general, outcome,
};
use mlx5_prm::{
    AllocPdIn, Cqc, Cqn, CreateCqIn, CreateRqtIn, EventType, ModifyCqIn, QpSt, Qpn, QueryCqIn,
    QueryCqOut, QueryHcaCapIn, QueryQpIn, QueryRmpIn, QueryRqIn, QueryRqtIn, QueryRqtOutWithRqNum,
    Rmpn, Rqn, Rqtc, Rqtn, Rst2initQpIn, object,
};
use mlx5_sim::Refusals;

/// What is done to the simulated kernel and adapter from outside.
pub(crate) trait Hooks {
    /// The next call that reaches the kernel ends with this errno.
    fn refuse_next(&self, errno: Errno);
    /// What the kernel makes of a refusal of the firmware from now on.
    fn set_refusals(&self, refusals: Refusals);
    /// The adapter tells an error of a CQ. Gives how many subscriptions it comes to.
    fn cq_error(&self, number: Cqn) -> usize;
    /// The adapter is taken out of the machine.
    fn remove(&self);
}

/// What happens while a recording is replayed: nothing.
pub(crate) struct Replayed;

impl Hooks for Replayed {
    fn refuse_next(&self, _: Errno) {}
    fn set_refusals(&self, _: Refusals) {}
    fn cq_error(&self, _: Cqn) -> usize {
        unreachable!("commands raise no events")
    }
    fn remove(&self) {}
}

/// What the adapter has when it begins: handle and number of an object of verbs of each kind, in the
/// order QP, CQ, SRQ, WQ, indirection table.
pub(crate) type OfVerbs = [(Handle, u32); 5];

/// What came of the steps.
#[derive(Default)]
struct Log(String);

impl Log {
    /// Writes down a result, and gives what it holds.
    fn step<T, E: Display>(&mut self, name: &str, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => {
                writeln!(self.0, "{name}: ok").expect("a String takes all");
                Some(value)
            }
            Err(error) => {
                writeln!(self.0, "{name}: {error}").expect("a String takes all");
                None
            }
        }
    }

    fn note(&mut self, name: &str, what: impl Display) {
        writeln!(self.0, "{name}: {what}").expect("a String takes all");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// An errno by its number and words.
fn errno(result: Result<(), Errno>) -> Result<(), String> {
    result.map_err(|errno| format!("{errno} ({})", errno.raw_os_error()))
}

/// Commands on objects of DEVX and of verbs, and on none; each refusal that a program can meet.
pub(crate) fn commands(transport: &dyn Transport, of_verbs: &OfVerbs, hooks: &dyn Hooks) -> String {
    let mut log = Log::default();
    on_objects(transport, hooks, &mut log);
    on_verbs(transport, of_verbs, &mut log);
    on_none(transport, &mut log);
    hooks.remove();
    let gone = Cq::new(transport, of_verbs[1].0, Cqn::new(of_verbs[1].1));
    log.step("a CQ of an adapter that is gone", gone.query(&mut QueryCqIn::new()));
    let caps = QueryHcaCapIn::new().with_op_mod(1);
    log.step("capabilities of an adapter that is gone", general(transport, &caps));
    log.0
}

fn on_objects(transport: &dyn Transport, hooks: &dyn Hooks, log: &mut Log) {
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(6));
    let made = Object::create(transport, &create);
    let Some(cq) = log.step("CREATE_CQ", made) else { return };
    log.note("  its number", format_args!("{:#x}", cq.number().get()));
    log.step("MODIFY_CQ", cq.modify(&mut ModifyCqIn::new().changing_cq_period(16)));
    if let Some(answer) = log.step("QUERY_CQ", cq.query(&mut QueryCqIn::new())) {
        log.note("  the answer", hex(answer.as_bytes()));
    }

    // The firmware refuses: a bit of the select mask that selects nothing.
    let target = cq.target();
    let mut bad = ModifyCqIn::new().with_cqn(cq.number()).as_bytes().to_vec();
    bad[12] = 0x80;
    let mut output = [0xee; 16];
    let send = |input: &[u8], output: &mut [u8]| {
        let result = transport.modify(target, input, output);
        outcome(input, output, result)
    };
    log.step("a select bit of nothing", send(&bad, &mut output));
    log.note("  the output", hex(&output));
    for (name, refusals) in [
        ("the same before Linux 5.18", Refusals::Errno),
        ("an errno and an output", Refusals::ErrnoAndOutput),
    ] {
        hooks.set_refusals(refusals);
        log.step(name, send(&bad, &mut [0; 16]));
    }
    hooks.set_refusals(Refusals::Output);

    // The kernel refuses.
    let of_another = ModifyCqIn::new().with_cqn(Cqn::new(0xff_ffff)).changing_cq_period(1);
    log.step("the number of another CQ", send(of_another.as_bytes(), &mut [0; 16]));
    let query = QueryCqIn::new().with_cqn(cq.number());
    log.step("a query by modify", send(query.as_bytes(), &mut [0; 80]));
    let modify = ModifyCqIn::new().with_cqn(cq.number()).changing_cq_period(1);
    log.step("an input of 15 bytes", send(&modify.as_bytes()[..15], &mut [0; 16]));
    log.step("an output of 15 bytes", send(modify.as_bytes(), &mut [0; 15]));
    log.step(
        "an input of 65536 bytes",
        errno(transport.modify(target, &vec![0; 0x10000], &mut [0; 16])),
    );
    log.step(
        "an output of 65536 bytes",
        errno(transport.query(target, &[0; 16], &mut vec![0; 0x10000])),
    );
    log.step("a number of another object", cq.modify(&mut modify.with_cqn(Cqn::new(1))));
    for (name, refusal) in [("a signal", Errno::INTR), ("the device goes", Errno::NODEV)] {
        hooks.refuse_next(refusal);
        let changed = cq.modify(&mut ModifyCqIn::new().changing_cq_max_count(3));
        log.step(name, changed);
    }
    let still = cq.query(&mut QueryCqIn::new()).map(|answer| answer.cq_context().cq_max_count());
    log.note("  nothing was changed", format_args!("{still:?}"));

    let pd = log.step("ALLOC_PD", Object::create(transport, &AllocPdIn::new()));
    if let Some(pd) = pd {
        let crossed = Target { kind: TargetKind::Devx, ..pd.target() };
        let result = transport.query(crossed, query.as_bytes(), &mut [0; 80]);
        log.step("a CQ by the handle of a PD", errno(result));
        log.step("DEALLOC_PD", pd.destroy().map_err(|still| still.errno));
    }

    // A table that says more entries than it has.
    let table = Rqtc::new().with_rqt_max_size(4).with_rqt_actual_size(4);
    let short = CreateRqtIn::new().with_rqt_context(table);
    log.step("a short indirection table", Object::create(transport, &short));
    log.step("DESTROY_CQ", cq.destroy().map_err(|still| still.errno));
    log.step("again", errno(transport.destroy(target.handle)));
    log.step("a CQ that is gone", errno(transport.query(target, query.as_bytes(), &mut [0; 80])));
}

fn on_verbs(transport: &dyn Transport, of_verbs: &OfVerbs, log: &mut Log) {
    let [qp, cq, srq, wq, table] = of_verbs;
    let qp = Qp::new(transport, qp.0, Qpn::new(qp.1));
    let init = Rst2initQpIn::transition(QpSt::RC).vhca_port_num(1).pkey_index(0);
    let init = init.rwe(true).rre(false).rae(false).build();
    if let Some(mut init) = log.step("a transition is whole", init.map_err(Error::from)) {
        log.step("RST2INIT_QP", qp.modify(&mut init));
        log.step("RST2INIT_QP in INIT", qp.modify(&mut init));
    }
    if let Some(answer) = log.step("QUERY_QP", qp.query(&mut QueryQpIn::new())) {
        log.note("  the context", hex(answer.qpc().as_bytes()));
    }

    let of_verbs = Cq::new(transport, cq.0, Cqn::new(cq.1));
    log.step(
        "MODIFY_CQ of verbs",
        of_verbs.modify(&mut ModifyCqIn::new().changing_cq_max_count(9)),
    );
    let answer = of_verbs.query(&mut QueryCqIn::new()).map(|a| a.cq_context().cq_max_count());
    log.note("  the count", format_args!("{answer:?}"));
    log.step("verbs ends what it made", errno(transport.destroy(cq.0)));

    let srq = Srq::new(transport, srq.0, Rmpn::new(srq.1));
    log.step("QUERY_RMP", srq.query(&mut QueryRmpIn::new()));
    let wq = Wq::new(transport, wq.0, Rqn::new(wq.1));
    let state = wq.query(&mut QueryRqIn::new()).map(|answer| answer.rq_context().state());
    log.note("QUERY_RQ", format_args!("{state:?}"));
    let table = IndTable::new(transport, table.0, Rqtn::new(table.1));
    let mut buffer = vec![0; QueryRqtOutWithRqNum::size(1)];
    let answer = QueryRqtOutWithRqNum::view_mut(&mut buffer).expect("room for an entry");
    log.step("QUERY_RQT", table.query_into(&mut QueryRqtIn::new(), answer));
    log.note("  its queue", format_args!("{:?}", answer.tail[0].rq_num()));
}

fn on_none(transport: &dyn Transport, log: &mut Log) {
    let caps = QueryHcaCapIn::new().with_op_mod(1);
    if let Some(page) = log.step("QUERY_HCA_CAP", general(transport, &caps)) {
        log.note("  its beginning", hex(&page.as_bytes()[..64]));
    }
    // ACCESS_REG does not pass the kernel.
    let mut access = [0; 16];
    access[..2].copy_from_slice(&0x805u16.to_be_bytes());
    let mut output = [0; 16];
    let result = transport.general(&access, &mut output);
    log.step("ACCESS_REG", outcome(&access, &output, result));
}

/// What DEVX has besides commands.
pub(crate) fn beyond(devx: &dyn Devx, hooks: &dyn Hooks, eventfd: OwnedFd) -> String {
    let mut log = Log::default();
    log.note("EQN", format_args!("{:?}", devx.query_eqn(0)));
    log.step("EQN of a vector that is not there", devx.query_eqn(1000));
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(6));
    let Some(cq) = log.step("CREATE_CQ", Object::create(devx, &create)) else { return log.0 };
    queries(devx, &cq, hooks, &mut log);
    events(devx, &cq, hooks, eventfd, &mut log);
    memory(devx, &mut log);
    log.step("DESTROY_CQ", cq.destroy().map_err(|still| still.errno));
    for refused in [devx.alloc_msi_vector().err(), devx.create_eq().err()].into_iter().flatten() {
        log.note("not supported", refused.to_string().replace(refused.backend, "(this one)"));
    }
    log.0
}

/// Objects and umems of another program: `guest` has the context of `owner`.
pub(crate) fn exports(owner: &dyn Devx, guest: &dyn Devx) -> String {
    let mut log = Log::default();
    let create = CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(6));
    let Some(cq) = log.step("CREATE_CQ", Object::create(owner, &create)) else { return log.0 };
    let Some(exported) = log.step("export", cq.export()) else { return log.0 };
    let import = || Object::<_, object::Cq>::import(guest, &exported, cq.number());
    if let Some(imported) = log.step("import", import()) {
        log.step("  MODIFY_CQ", imported.modify(&mut ModifyCqIn::new().changing_cq_period(9)));
        let period = cq.query(&mut QueryCqIn::new()).map(|answer| answer.cq_context().cq_period());
        log.note("  the owner reads", format_args!("{period:?}"));
        log.step("  it is left", imported.destroy().map_err(|still| still.errno));
        log.step("  the owner has it", cq.query(&mut QueryCqIn::new()));
    }
    log.step("import of nothing", Object::<_, object::Cq>::import(guest, &[], cq.number()));

    let umem = Umem::register(owner, Page::zeroed(1), Access::READ, None);
    let Some(umem) = log.step("a umem", umem) else { return log.0 };
    let Some(exported) = log.step("export", umem.export()) else { return log.0 };
    if let Some(imported) = log.step("import", Umem::import(guest, &exported)) {
        log.note("  its number is the same", imported.id() == umem.id());
    }
    log.step("the owner ends it", umem.deregister().map(drop).map_err(|still| still.errno));
    let late = import();
    log.step("DESTROY_CQ", cq.destroy().map_err(|still| still.errno));
    if let Some(late) = log.step("an import that stays", late) {
        log.step("  of what is gone", late.query(&mut QueryCqIn::new()));
    }
    log.0
}

type OfDevx<'d> = Object<&'d dyn Devx, object::Cq>;

fn queries(devx: &dyn Devx, cq: &OfDevx<'_>, hooks: &dyn Hooks, log: &mut Log) {
    let Some(queries) = log.step("a channel of queries", Queries::new(devx)) else { return };
    log.note("nothing is there", format_args!("{:?}", queries.wait(Some(Duration::ZERO))));
    let query = QueryCqIn::new().with_cqn(cq.number());
    let length = size_of::<QueryCqOut>() as u16;
    for id in [7, 8] {
        log.step("a query", errno(queries.send(cq.target(), query.as_bytes(), length, id)));
    }
    let wrong = query.with_cqn(Cqn::new(0xff_ffff));
    let sent = queries.send(cq.target(), wrong.as_bytes(), length, 9);
    log.step("of another CQ", errno(sent));
    hooks.refuse_next(Errno::INTR);
    let sent = queries.send(cq.target(), query.as_bytes(), length, 9);
    log.step("a signal", errno(sent));
    for _ in 0..2 {
        log.note("an answer is there", format_args!("{:?}", queries.wait(None)));
        let mut output = [0; size_of::<QueryCqOut>()];
        log.note("  it", format_args!("{:?}", queries.read(&mut output)));
        log.note("  its mailbox", hex(&output));
        log.step("  its status", outcome(query.as_bytes(), &output, Ok(())));
    }
    log.note("no more", format_args!("{:?}", queries.wait(Some(Duration::ZERO))));
}

fn events(devx: &dyn Devx, cq: &OfDevx<'_>, hooks: &dyn Hooks, eventfd: OwnedFd, log: &mut Log) {
    let Some(events) = log.step("a channel of events", Events::new(devx)) else { return };
    let Some(cookies) = log.step("a channel of cookies", Cookies::new(devx)) else { return };
    let handle = Some(cq.target().handle);
    let error = [EventType::CQ_ERROR];
    log.step("subscribe", errno(events.subscribe(handle, &error, 0x1234)));
    log.step("subscribe, cookies", errno(cookies.subscribe(handle, &error, 0x5678)));
    log.step(
        "subscribe, an eventfd",
        errno(events.subscribe_fd(eventfd.as_fd(), handle, error[0])),
    );
    log.step("errors of no CQ", errno(events.subscribe(None, &error, 1)));
    log.step("17 types", errno(events.subscribe(None, &[EventType::PORT_STATE_CHANGE; 17], 1)));
    log.note("nothing is there", format_args!("{:?}", events.wait(Some(Duration::ZERO))));
    log.note("an error comes to", hooks.cq_error(cq.number()));
    log.note("an event is there", format_args!("{:?}", events.wait(None)));
    if let Some(event) = log.step("read", events.read()) {
        log.note("  cookie", format_args!("{:#x}", event.cookie));
        log.note("  EQE", hex(&event.eqe));
    }
    log.note("a cookie", format_args!("{:x?}", cookies.read()));
    let mut count = [0; 8];
    let file = std::fs::File::from(eventfd);
    std::io::Read::read_exact(&mut &file, &mut count).expect("the eventfd was counted up");
    log.note("the eventfd", u64::from_ne_bytes(count));
}

fn memory(devx: &dyn Devx, log: &mut Log) {
    let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
    let umem = log.step("a umem", Umem::register(devx, Page::zeroed(2), access, None));
    if let Some(umem) = umem {
        log.note("  its number", umem.id());
        let pages = umem.deregister().map(|pages| pages.len()).map_err(|still| still.errno);
        log.note("  its pages come back", format_args!("{pages:?}"));
    }
    log.step("with sizes", Umem::register(devx, Page::zeroed(1), access, Some(1 << 12)));
    log.step(
        "with a size that does not fit",
        Umem::register(devx, Page::zeroed(1), access, Some(1 << 2)),
    );
    log.step("of no pages", Umem::register(devx, Page::zeroed(0), access, None));
    let remote = Umem::register(devx, Page::zeroed(1), Access::REMOTE_WRITE, None);
    log.step("remote write without local write", remote);
    if let Some(uar) = log.step("a UAR", Uar::alloc(devx, UarKind::BlueFlame)) {
        log.note("  mapped", !uar.address().is_null());
        log.step("  given back", uar.free().map_err(|still| still.errno));
    }
}
