//! What the firmware refuses: sizes beyond the general page of capabilities, umems that are none, and the
//! end of what is in use.

use mlx5_devx::{Errno, Error, Object, Target, TargetKind, Transport};
use mlx5_prm::{
    CapMode, CmdHcaCap, Cqc, CreateCqIn, ModifyCqIn, ModifyCqOpMod, ModifyRqtInWithRqNum, QpRqType,
    Qpc, QueryCqIn, Rqc, Rqn, Rqtc, Srqc, Status, XrcSrqc, caps::page,
};
use mlx5_sim::{Adapter, Refusals, syndrome};

/// Whether it was made: what else can be is that it is too large.
#[track_caller]
fn fits<T>(result: Result<T, Error>) -> bool {
    match result {
        Ok(_) => true,
        Err(Error::Firmware { status: Status::BAD_PARAM_ERR, syndrome, .. }) => {
            assert_eq!(syndrome, syndrome::TOO_LARGE);
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn with_limits(page: CmdHcaCap) -> Adapter {
    let adapter = Adapter::new();
    adapter.set_page::<page::GeneralDevice>(CapMode::Current, &page);
    adapter
}

fn create(log_size: u8) -> CreateCqIn {
    CreateCqIn::new().with_cq_context(Cqc::new().with_log_cq_size(log_size))
}

#[test]
fn queues_have_a_largest_size() {
    let adapter = with_limits(
        CmdHcaCap::new().with_log_max_cq_sz(10).with_log_max_qp_sz(8).with_log_max_srq_sz(6),
    );
    let cq = |log| fits(adapter.create_cq(&Cqc::new().with_log_cq_size(log)));
    assert!(cq(10) && !cq(11));
    let srq = |log| fits(adapter.create_srq_without_issi(&Srqc::new().with_log_srq_size(log)));
    assert!(srq(6) && !srq(7));
    let xrc = |log| fits(adapter.create_xrc_srq(&XrcSrqc::new().with_log_xrc_srq_size(log)));
    assert!(xrc(6) && !xrc(7));
    let qp = |context: Qpc| fits(adapter.create_qp(&context));
    assert!(qp(Qpc::new().with_log_sq_size(8).with_log_rq_size(8)));
    assert!(!qp(Qpc::new().with_log_sq_size(9)));
    assert!(!qp(Qpc::new().with_log_rq_size(9)));
    // A queue that there is not has no size.
    assert!(qp(Qpc::new().with_log_sq_size(9).with_no_sq(true)));
    assert!(qp(Qpc::new().with_log_rq_size(9).with_rq_type(QpRqType::SRQ)));
}

#[test]
fn a_table_has_a_largest_size() {
    let adapter = with_limits(CmdHcaCap::new().with_log_max_rqt_size(5));
    let table = |len| fits(adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(len), &[]));
    assert!(table(32) && !table(33));
}

#[test]
fn a_cq_grows_up_to_the_limit() {
    let adapter = with_limits(CmdHcaCap::new().with_log_max_cq_sz(10));
    let cq = Object::create(&adapter, &CreateCqIn::new()).expect("a CQ");
    let resize =
        |log| {
            fits(cq.modify(
                &mut ModifyCqIn::new().with_op_mod(ModifyCqOpMod(1)).changing_log_cq_size(log),
            ))
        };
    let size = || cq.query(&mut QueryCqIn::new()).expect("its context").cq_context().log_cq_size();
    assert!(resize(10));
    assert_eq!(size(), 10);
    assert!(!resize(11));
    assert_eq!(size(), 10);
}

#[test]
fn a_limit_counts_when_a_size_is_set() {
    let adapter = with_limits(CmdHcaCap::new());
    let cq = Object::create(&adapter, &create(4)).expect("a CQ");
    let context = Rqtc::new().with_rqt_max_size(4);
    let table = adapter.create_ind_table(&context, &[]).expect("a table");
    let limits = CmdHcaCap::new().with_log_max_cq_sz(2).with_log_max_rqt_size(1);
    adapter.set_page::<page::GeneralDevice>(CapMode::Current, &limits);

    let mut buffer = vec![0; ModifyRqtInWithRqNum::size(0)];
    let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 0).expect("the size is right");
    modify.head.set_rqtn(table.number);
    let target = Target { kind: TargetKind::IndTable, handle: table.handle };
    let modify_table = |buffer: &[u8]| {
        let mut output = [0; 16];
        adapter.modify(target, buffer, &mut output).map_err(|_| Status(output[0]))
    };
    assert_eq!(modify_table(&buffer), Ok(()), "nothing is selected");
    assert!(fits(cq.modify(&mut ModifyCqIn::new())), "nothing is selected");
    assert!(!fits(cq.modify(&mut ModifyCqIn::new().changing_cq_period(1))));
}

#[test]
fn verbs_are_told_by_the_firmware_whatever_programs_are() {
    let adapter = with_limits(CmdHcaCap::new().with_log_max_cq_sz(2));
    adapter.set_refusals(Refusals::Errno);
    assert!(!fits(adapter.create_cq(&Cqc::new().with_log_cq_size(3))));
    let error = Object::create(&adapter, &create(3)).expect_err("too large");
    assert!(matches!(error, Error::Kernel { errno: Errno::INVAL, .. }), "{error}");
}

#[test]
fn what_the_page_leaves_open_has_no_limit() {
    let adapter = with_limits(CmdHcaCap::new());
    assert!(fits(adapter.create_cq(&Cqc::new().with_log_cq_size(31))));
    assert!(fits(adapter.create_ind_table(&Rqtc::new().with_rqt_max_size(u16::MAX), &[])));
    // That of a new adapter says 22.
    let cq = |log| fits(Adapter::new().create_cq(&Cqc::new().with_log_cq_size(log)));
    assert!(cq(22) && !cq(23));
}

#[test]
fn a_number_of_no_umem_is_refused_by_the_transport() {
    let adapter = Adapter::new();
    let create = |id| Object::create(&adapter, &CreateCqIn::new().with_cq_umem_id(id));
    let error = create(1).expect_err("there are no umems");
    assert!(matches!(
        error,
        Error::Firmware { status: Status::BAD_RES_ERR, syndrome: syndrome::NO_SUCH_UMEM, .. }
    ));
    let _ = create(0).expect("a CQ");
}

#[test]
fn a_receive_queue_stays_while_a_table_names_it() {
    let adapter = Adapter::new();
    let [one, two] = [(), ()].map(|()| adapter.create_wq(&Rqc::new()).expect("a queue"));
    let context = Rqtc::new().with_rqt_max_size(4);
    let table = |rqns: &[Rqn]| adapter.create_ind_table(&context, rqns).expect("a table");
    let first = table(&[one.number, one.number, two.number]);
    let second = table(&[one.number]);
    let end = |kind, handle| adapter.end(Target { kind, handle });
    let in_use = Err(Errno::INVAL);
    assert_eq!(end(TargetKind::Wq, one.handle), in_use);
    assert_eq!(end(TargetKind::Wq, two.handle), in_use);

    // The first table gets another list.
    let mut buffer = vec![0; ModifyRqtInWithRqNum::size(1)];
    let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 1).expect("the size is right");
    modify.head.set_rqtn(first.number);
    modify.head.change_rqt_actual_size(1);
    modify.tail[0].set_rq_num(two.number);
    let target = Target { kind: TargetKind::IndTable, handle: first.handle };
    adapter.modify(target, &buffer, &mut [0; 16]).expect("both queues are there");
    assert_eq!(end(TargetKind::Wq, one.handle), in_use, "the second names it");
    end(TargetKind::IndTable, second.handle).expect("nothing names it");
    end(TargetKind::Wq, one.handle).expect("no table names it");
    assert_eq!(end(TargetKind::Wq, two.handle), in_use);
    end(TargetKind::IndTable, first.handle).expect("nothing names it");
    end(TargetKind::Wq, two.handle).expect("no table names it");
}
