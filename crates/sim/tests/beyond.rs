//! What DEVX has besides commands, by the backend `ioctl` on the simulated kernel: objects that end by
//! themselves, objects and umems of another program, pages of doorbells, and channels for tasks.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use mlx5_devx::{
    Access, Cookies, Errno, Events, General, Ioctl, Object, Page, Queries, Transport, Uar, UarKind,
    Umem,
};
use mlx5_prm::{Cqc, CreateCqIn, EventType, ModifyCqIn, QueryCqIn, QueryCqOut, SamplerObj, object};
use mlx5_sim::{Adapter, Uverbs};

fn devx() -> (Adapter, Ioctl) {
    let adapter = Adapter::new();
    let devx = Ioctl::on(Uverbs::open(&adapter)).expect("a context");
    (adapter, devx)
}

fn create() -> CreateCqIn {
    CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(5))
}

#[test]
fn an_object_ends_when_it_is_dropped() {
    let (adapter, devx) = devx();
    let cq = Object::create(&devx, &create()).expect("a CQ");
    assert_eq!(format!("{cq:?}"), "Object { CQN: 0x1, handle: Some(Handle(1)), .. }");
    let target = cq.target();
    drop(cq);
    let query = QueryCqIn::new();
    assert_eq!(devx.query(target, query.as_bytes(), &mut [0; 272]), Err(Errno::NOENT));

    // One that is left does not end, and can be taken up again, by another way too.
    let left = Object::create(&devx, &create()).expect("a CQ");
    let (number, handle) = (left.number(), left.leave());
    let cq = Object::<_, object::Cq>::from_handle(&devx, handle, number);
    assert!(cq.modify(&mut ModifyCqIn::new().changing_cq_period(2)).is_ok());

    // One that can't be ended is given back.
    adapter.refuse_next(1, Errno::BUSY);
    let still = cq.destroy().expect_err("it is in use");
    let words = "Object { CQN: 0x2, handle: Some(Handle(1)), .. } could not be ended: Device or \
                 resource busy (os error 16)";
    assert_eq!(still.to_string(), words);
    let answer = still.object.query(&mut QueryCqIn::new()).expect("it is there");
    assert_eq!(answer.cq_context().cq_period(), 2);
    still.object.destroy().expect("it ends");
    assert_eq!(devx.query(target, query.as_bytes(), &mut [0; 272]), Err(Errno::NOENT));
}

#[test]
fn the_way_to_the_adapter_may_be_owned_or_shared() {
    let (adapter, devx) = devx();
    let owned = Object::create(devx.clone(), &create()).expect("a CQ");
    let shared: std::sync::Arc<dyn Transport> = std::sync::Arc::new(adapter);
    let other = Object::create(shared, &create()).expect("a CQ");
    drop(devx);
    assert!(owned.query(&mut QueryCqIn::new()).is_ok());
    assert!(other.query(&mut QueryCqIn::new()).is_ok());
}

#[test]
fn general_objects_end_too() {
    let (_, devx) = devx();
    let sampler = General::create(&devx, SamplerObj::new().with_sample_ratio(4)).expect("made");
    assert_eq!(sampler.query().expect("it is there").sample_ratio(), 4);
    let target = sampler.target();
    let id = sampler.id();
    sampler.destroy().expect("it ends");
    let again = General::create(&devx, SamplerObj::new()).expect("made");
    assert_eq!(again.target().handle, target.handle, "it is free again");
    assert_ne!(again.id(), id);
    assert!(again.modify(SamplerObj::new()).is_err(), "nothing public says what can be changed");
    drop(again);
    let query = mlx5_prm::QueryObject::<SamplerObj>::new(id);
    assert_eq!(devx.query(target, query.as_bytes(), &mut [0; 80]), Err(Errno::NOENT));
}

/// Two programs have one context: by the descriptor of the device file.
#[test]
fn objects_and_umems_of_another_program() {
    let adapter = Adapter::new();
    let uverbs = Uverbs::open(&adapter);
    let owner = Ioctl::on(uverbs.clone()).expect("a context");
    let guest = Ioctl::on_context(uverbs);

    let cq = Object::create(&owner, &create()).expect("a CQ");
    let exported = cq.export().expect("exported");
    let imported = Object::import(&guest, &exported, cq.number()).expect("imported");
    imported.modify(&mut ModifyCqIn::new().changing_cq_period(9)).expect("it is the same CQ");
    let answer = cq.query(&mut QueryCqIn::new()).expect("it is there");
    assert_eq!(answer.cq_context().cq_period(), 9);
    // The guest only forgets it.
    imported.destroy().expect("forgotten");
    assert!(cq.query(&mut QueryCqIn::new()).is_ok());
    let imported = Object::import(&guest, &exported, cq.number()).expect("imported");
    cq.destroy().expect("ended");
    assert!(imported.query(&mut QueryCqIn::new()).is_err(), "its owner ended it");

    let object = SamplerObj::new().with_sample_ratio(4);
    let sampler = General::create(&owner, object).expect("a sampler");
    let exported = sampler.export().expect("exported");
    let imported = General::<_, SamplerObj>::import(&guest, &exported, sampler.id());
    let imported = imported.expect("imported");
    assert_eq!(imported.query().expect("it is the same").sample_ratio(), 4);
    drop(imported);
    assert!(sampler.query().is_ok(), "the guest only forgets it");

    let umem = Umem::register(&owner, Page::zeroed(1), Access::READ, None).expect("a umem");
    let exported = umem.export().expect("exported");
    let imported = Umem::import(&guest, &exported).expect("imported");
    assert_eq!((imported.id(), imported.pages().len()), (umem.id(), 0));
    drop(imported);
    assert_eq!(umem.deregister().expect("it was there still").len(), 1);

    for wrong in [&exported[..7], &[], &[0; 9]] {
        assert_eq!(Umem::import(&guest, wrong).err(), Some(Errno::INVAL.into()));
        let object = Object::<_, object::Cq>::import(&guest, wrong, mlx5_prm::Cqn::new(1));
        assert_eq!(object.err(), Some(Errno::INVAL.into()));
    }
}

#[test]
fn doorbells_are_rung() {
    let adapter = Adapter::new();
    let uverbs = Uverbs::open(&adapter);
    let devx = Ioctl::on(uverbs.clone()).expect("a context");
    let uar = Uar::alloc(&devx, UarKind::NonCached).expect("a page");
    uar.write(Uar::CQ_DOORBELL, 0x0123_4567_89ab_cdef);
    let page = File::from(Uverbs::file(&uverbs).try_clone_to_owned().expect("a descriptor"));
    let mut rung = [0; 8];
    let at = uar.mmap_offset() + Uar::CQ_DOORBELL as u64;
    page.read_exact_at(&mut rung, at).expect("it is as long");
    assert_eq!(rung, 0x0123_4567_89ab_cdef_u64.to_be_bytes());
    uar.free().expect("given back");
}

#[test]
fn what_is_made_keeps_the_context() {
    let (adapter, devx) = devx();
    let cq = Object::create(devx.clone(), &create()).expect("a CQ");
    let events = Events::new(&devx).expect("a channel");
    let umem = Umem::register(&devx, Page::zeroed(1), Access::READ, None).expect("a umem");
    events.subscribe(Some(cq.target().handle), &[EventType::CQ_ERROR], 1).expect("subscribed");
    let object = cq.target().handle;
    drop(devx);
    assert_eq!(adapter.raise_event(EventType::CQ_ERROR, Some(object), &[]), 1);
    assert_eq!(events.read().expect("an event").cookie, 1);
    assert_eq!(umem.deregister().expect("it ends").len(), 1);
}

#[test]
fn an_event_may_have_its_cookie_alone() {
    let (adapter, devx) = devx();
    let cookies = Cookies::new(&devx).expect("a channel");
    cookies.subscribe(None, &[EventType::PORT_STATE_CHANGE], 0xabcd).expect("subscribed");
    for _ in 0..3 {
        assert_eq!(adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[]), 1);
    }
    // What was not read is told once.
    assert_eq!(cookies.read(), Ok(0xabcd));
    assert_eq!(cookies.wait(Some(Duration::ZERO)), Ok(false));
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

#[test]
fn a_task_waits_for_events() {
    let (adapter, devx) = devx();
    let (event, cookie) = runtime().block_on(async {
        let events = Events::new(&devx).expect("a channel").into_async().expect("registered");
        let cookies = Cookies::new(&devx).expect("a channel").into_async().expect("registered");
        let types = [EventType::PORT_STATE_CHANGE];
        events.get_ref().subscribe(None, &types, 5).expect("subscribed");
        cookies.get_ref().subscribe(None, &types, 6).expect("subscribed");
        // Nothing is there: a read by itself does not wait any more, a task would.
        assert_eq!(events.get_ref().read().err(), Some(Errno::AGAIN));
        let patience = Duration::from_millis(20);
        assert!(tokio::time::timeout(patience, events.read()).await.is_err(), "it waits");

        let raise = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            adapter.raise_event(EventType::PORT_STATE_CHANGE, None, &[])
        };
        let (event, cookie, told) = tokio::join!(events.read(), cookies.read(), raise);
        assert_eq!(told, 2);
        assert!(events.as_fd().try_clone_to_owned().is_ok());
        (event, cookie)
    });
    let event = event.expect("an event");
    assert_eq!((event.cookie, event.eqe[1]), (5, EventType::PORT_STATE_CHANGE.0));
    assert_eq!(cookie, Ok(6));
}

#[test]
fn a_task_waits_for_answers() {
    let (adapter, devx) = devx();
    let cq = Object::create(&devx, &create()).expect("a CQ");
    runtime().block_on(async {
        let queries = Queries::new(&devx).expect("a channel").into_async().expect("registered");
        let query = QueryCqIn::new().with_cqn(cq.number());
        let length = QueryCqOut::SIZE as u16;
        queries.get_ref().send(cq.target(), query.as_bytes(), length, 3).expect("sent");
        // Too short: the answer stays.
        assert_eq!(queries.read(&mut [0; 16]).await.err(), Some(Errno::NOSPC));
        let mut output = [0; QueryCqOut::SIZE];
        let answer = queries.read(&mut output).await.expect("an answer");
        assert_eq!((answer.id, answer.len), (3, output.len()));
        let (answer, _) = QueryCqOut::view_prefix(&output).expect("long enough");
        assert_eq!(answer.cq_context().log_cq_size(), 5);

        adapter.remove();
        assert!(queries.read(&mut output).await.is_err(), "the device is gone");
    });
}

#[test]
fn what_is_allowed_twice_is_allowed() {
    let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
    assert_eq!(access | Access::LOCAL_WRITE, access);
}

#[test]
fn what_is_made_says_what_it_is() {
    let (_, devx) = devx();
    assert!(format!("{devx:?}").starts_with("Ioctl { fd: BorrowedFd { fd: "));
    let sampler = General::create(&devx, SamplerObj::new()).expect("made");
    let words =
        "General { type: \"sampler\", id: GeneralObjectId(0x1), handle: Some(Handle(1)), .. }";
    assert_eq!(format!("{sampler:?}"), words);
    let umem = Umem::register(&devx, Page::zeroed(2), Access::READ, None).expect("a umem");
    assert!(format!("{umem:?}").ends_with(&format!("id: {}, pages: 2, .. }}", umem.id())));
    let uar = Uar::alloc(&devx, UarKind::NonCached).expect("a page");
    assert!(format!("{uar:?}").starts_with("Uar { page_id: "));
    let queries = Queries::new(&devx).expect("a channel");
    assert!(format!("{queries:?}").contains("Channel { file: OwnedFd { fd: "));
}

#[test]
fn a_general_object_that_cannot_be_ended_is_given_back() {
    let (adapter, devx) = devx();
    let sampler = General::create(&devx, SamplerObj::new()).expect("made");
    adapter.refuse_next(1, Errno::BUSY);
    let still = sampler.destroy().expect_err("it is in use");
    assert_eq!(still.errno, Errno::BUSY);
    still.object.destroy().expect("it ends");
}

#[test]
fn an_answer_fills_the_mailbox_of_the_caller() {
    let (_, devx) = devx();
    let cq = Object::create(&devx, &create()).expect("a CQ");
    let mut answer = QueryCqOut::new();
    answer.as_bytes_mut().fill(0xff);
    cq.query_into(&mut QueryCqIn::new(), &mut answer).expect("its context");
    assert_eq!(answer, cq.query(&mut QueryCqIn::new()).expect("its context"));
    assert_eq!(answer.cq_context().log_cq_size(), 5);
}
