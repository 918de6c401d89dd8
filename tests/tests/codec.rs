//! The codec as its users write it, with the bytes that must come out written down by hand.

use mlx5_prm::{
    CqPeriodMode, CqStatus, Cqc, Cqn, CreateEqIn, CreateMkeyInWithKlmPasMtt, FieldError,
    ModifyCqIn, ModifyCqInWithPas, ModifyCqSelect, ModifyFieldSelect,
    ModifyFieldSelectResizeFieldSelectAuto, ModifyRqtIn, ModifyRqtInWithRqNum, Opcode,
    QcamAccessRegCapMask, QueryCqOut, QueryEswFunctionsOut, QueryQpOut,
    QueryQpOutWithQpcExtAndPasListPas, RqNum, Rqn, SizeError, Status, U32, U64,
};

/// A whole mailbox worked out by the compiler.
const M: ModifyCqIn = ModifyCqIn::new()
    .with_uid(7)
    .with_cqn(Cqn::new(0x1234))
    .with_modify_field_select_resize_field_select(
        ModifyFieldSelectResizeFieldSelectAuto::new()
            .with_modify_field_select(ModifyFieldSelect::new().with_modify_field_select(MASK)),
    )
    .with_cq_context(
        Cqc::new()
            .with_cq_period(0xabc)
            .with_cq_max_count(64)
            .with_cq_period_mode(CqPeriodMode::FROM_CQE),
    );
const MASK: ModifyCqSelect =
    ModifyCqSelect::new().with_cq_period(true).with_cq_max_count(true).with_cq_period_mode(true);
/// The same by paired calls.
const CHANGED: ModifyCqIn = ModifyCqIn::new()
    .with_uid(7)
    .with_cqn(Cqn::new(0x1234))
    .changing_cq_period(0xabc)
    .changing_cq_max_count(64)
    .changing_cq_period_mode(CqPeriodMode::FROM_CQE);
/// And read by it.
const PERIOD: u16 = M.cq_context().cq_period();
/// The same from a view of its bytes.
const VIEWED: u32 = match ModifyCqIn::view(M.as_bytes()) {
    Ok(modify) => modify.cqn().get(),
    Err(_) => panic!("not the size of the layout"),
};
/// A value too wide, found at compile time without a panic.
const REFUSED: Result<(), FieldError> = Cqc::new().try_set_cq_period(0x1000);

#[test]
fn a_mailbox_is_built_and_read_in_const() {
    let mut expected = [0; 0x110];
    expected[..4].copy_from_slice(&[0x04, 0x03, 0, 7]);
    expected[8..0x10].copy_from_slice(&[0, 0, 0x12, 0x34, 0, 0, 0, 0b10011]);
    expected[0x12] = 0x80; // cq_period_mode, bits 16:15: its low bit is the high one of this byte
    expected[0x20..0x24].copy_from_slice(&[0x0a, 0xbc, 0, 64]);
    assert_eq!(M.as_bytes(), &expected);
    assert_eq!(CHANGED, M);
    assert_eq!((PERIOD, VIEWED), (0xabc, 0x1234));
    let value = 0x1000;
    assert_eq!(REFUSED, Err(FieldError { layout: "cqc", field: "cq_period", width: 12, value }));
}

#[test]
fn a_view_is_written_in_place() {
    let mut bytes = [0xff; 0x110];
    let modify = ModifyCqIn::view_mut(&mut bytes).expect("its size");
    modify.set_cqn(Cqn::new(0));
    modify.cq_context_mut().set_cq_period(0);
    modify
        .modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(ModifyCqSelect::from_bits(0x0102_0304));
    let mut expected = [0xff; 0x110];
    expected[9..0x10].copy_from_slice(&[0, 0, 0, 1, 2, 3, 4]); // the byte before cqn is reserved
    expected[0x20..0x22].copy_from_slice(&[0xf0, 0]);
    assert_eq!(bytes, expected);

    *ModifyCqIn::view_mut(&mut bytes).expect("its size") = M;
    assert_eq!(&bytes, M.as_bytes());
}

#[test]
fn a_view_of_a_prefix_leaves_the_rest() {
    let bytes: Vec<u8> = (0..=255).chain(0..=255).collect();
    let (answer, rest) = QueryCqOut::view_prefix(&bytes).expect("enough bytes");
    assert_eq!((answer.syndrome(), rest), (0x0405_0607, &bytes[0x110..]));
    assert_eq!(answer.cq_context().as_bytes(), &bytes[0x10..0x50]);
    let error = QueryCqOut::view_prefix(&bytes[..0x10f]).expect_err("one byte is missing");
    assert_eq!(error.to_string(), "query_cq_out has 272 bytes; 271 bytes were given");
}

#[test]
fn a_mailbox_with_a_list_is_made_in_a_buffer() {
    let mut buffer = [0xff; 0x110 + 2 * 8 + 5];
    let modify = ModifyCqInWithPas::new_in(&mut buffer, 2).expect("there is room");
    assert_eq!((modify.head.opcode(), modify.tail.len()), (Opcode(0x403), 2));
    assert!(modify.as_bytes()[2..].iter().all(|b| *b == 0));
    modify.head.set_cqn(Cqn::new(0x0a0b0c));
    modify.tail[1] = U64::new(0x0102_0304_0506_0708);
    assert_eq!(buffer[8..12], [0, 0x0a, 0x0b, 0x0c]);
    assert_eq!(buffer[0x118..0x120], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(buffer[0x120..], [0xff; 5], "bytes behind the mailbox");

    let view = ModifyCqInWithPas::view(&buffer[..0x120]).expect("a whole number of elements");
    assert_eq!(view.tail.iter().map(|pa| pa.get()).collect::<Vec<_>>(), [0, 0x0102_0304_0506_0708]);
    let view = ModifyCqInWithPas::view_mut(&mut buffer[..0x110]).expect("an empty list");
    assert_eq!((view.tail.len(), view.head.cqn()), (0, Cqn::new(0x0a0b0c)));
}

#[test]
fn a_mailbox_with_a_list_is_made_on_the_heap() {
    let mut create = CreateMkeyInWithKlmPasMtt::boxed(4);
    create.head.set_opcode(Opcode::CREATE_MKEY);
    create.head.set_translations_octword_actual_size(2);
    for (word, entry) in (1u32..).zip(&mut create.tail) {
        *entry = U32::new(word << 24 | word);
    }
    let bytes = create.as_bytes();
    assert_eq!(bytes.len(), CreateMkeyInWithKlmPasMtt::size(4));
    assert_eq!(bytes[..2], [0x02, 0x00], "CREATE_MKEY");
    assert_eq!(bytes[0x110..], [1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3, 4, 0, 0, 4]);
    assert_eq!(ModifyRqtInWithRqNum::boxed(0).as_bytes(), ModifyRqtIn::new().as_bytes());
}

#[test]
fn lengths_that_do_not_fit_are_told() {
    let text = |error: SizeError| error.to_string();
    let bytes = &mut [0; 0x200][..];
    assert_eq!(
        text(ModifyCqIn::view(&bytes[..0x111]).expect_err("too long")),
        "modify_cq_in has 272 bytes; 273 bytes were given"
    );
    assert_eq!(
        text(ModifyCqIn::view_mut(&mut bytes[..0]).expect_err("empty")),
        "modify_cq_in has 272 bytes; 0 bytes were given"
    );
    assert_eq!(
        text(ModifyCqInWithPas::view(&bytes[..0x117]).expect_err("part of an element")),
        "modify_cq_in has 272 bytes and 8 for each element of its list; 279 bytes were given"
    );
    assert_eq!(
        text(ModifyCqInWithPas::view_mut(&mut bytes[..0x10f]).expect_err("part of the layout")),
        "modify_cq_in has 272 bytes and 8 for each element of its list; 271 bytes were given"
    );
    let error = ModifyCqInWithPas::new_in(&mut bytes[..0x11f], 2).expect_err("a byte is missing");
    assert_eq!(text(error), "modify_cq_in has 288 bytes; 287 bytes were given");
    assert_eq!(
        error,
        SizeError { layout: "modify_cq_in", needed: 0x120, element: 0, given: 0x11f }
    );
}

#[test]
fn values_that_do_not_fit_are_told() {
    let error = Cqn::try_from(0x0100_0000).expect_err("25 bits");
    assert_eq!(error.to_string(), "cqn: 0x1000000 does not fit in 24 bits");
    let mut cqc = Cqc::new();
    let error = cqc.try_set_status(CqStatus(0x10)).expect_err("5 bits");
    assert_eq!(error.to_string(), "cqc.status: 0x10 does not fit in 4 bits");
    let error = FieldError { layout: "l", field: "f", width: 1, value: 2 };
    assert_eq!(error.to_string(), "l.f: 0x2 does not fit in 1 bit");
    let mut mask = QcamAccessRegCapMask::new();
    let error = mask.try_set_qcam_access_reg_cap_mask_127_to_20(u128::MAX).expect_err("128 bits");
    assert_eq!(
        error.to_string(),
        "qcam_access_reg_cap_mask.qcam_access_reg_cap_mask_127_to_20: \
         0xffffffffffffffffffffffffffffffff does not fit in 108 bits"
    );
    assert_eq!((cqc, mask), Default::default(), "a refused value changed something");
}

#[test]
#[should_panic(expected = "cqc.cq_period: 0x1000 does not fit in 12 bits")]
fn set_panics_on_a_value_that_does_not_fit() {
    Cqc::new().set_cq_period(std::hint::black_box(0x1000));
}

#[test]
#[should_panic(expected = "modify_cq_in.cq_context.cq_period: 0x1000 does not fit in 12 bits")]
fn change_panics_on_a_value_that_does_not_fit() {
    ModifyCqIn::new().change_cq_period(std::hint::black_box(0x1000));
}

#[test]
#[should_panic(expected = "modify_cq_in: this change needs another op_mod than was set before it")]
fn changes_of_two_masks_are_refused() {
    let _ = ModifyCqIn::new().changing_cq_period(1).changing_log_cq_size(2);
}

#[test]
fn fields_without_a_bit_are_changed_without_one() {
    use mlx5_prm::{ModifyRqIn, ModifyRqSelect, RqState, Rqc};
    let changed = ModifyRqIn::new().changing_state(RqState::RDY);
    assert_eq!(changed, ModifyRqIn::new().with_ctx(Rqc::new().with_state(RqState::RDY)));
    assert_eq!(changed.modify_bitmask(), ModifyRqSelect::new());
    assert_eq!(changed.changing_vsd(true).modify_bitmask(), ModifyRqSelect::new().with_vsd(true));
}

#[test]
#[should_panic(expected = "cqn: 0x1000000 does not fit in 24 bits")]
fn a_number_that_no_object_can_have_is_refused() {
    Cqn::new(std::hint::black_box(0x0100_0000));
}

#[test]
fn lists_inside_a_layout_are_read_from_the_whole_mailbox() {
    let mut bytes = [0; 0x10 + 2 * 0x40 + 3];
    bytes[0x10] = 1;
    bytes[0x50] = 2;
    let list = QueryEswFunctionsOut::net_function_params(&bytes);
    assert_eq!(list.len(), 2, "what is left of an element is not shown");
    assert_eq!((list[0].as_bytes()[0], list[1].as_bytes()[0]), (1, 2));
    assert!(QueryEswFunctionsOut::net_function_params(&bytes[..0x4f]).is_empty());
    assert!(QueryEswFunctionsOut::net_function_params(&[]).is_empty());

    // The list of a QUERY_QP answer: from 0x110 on as it is, from 0x1d0 on with the extension.
    let mut bytes = [0; 0x1d0 + 16];
    bytes[0x114..0x118].copy_from_slice(&[0x12, 0x34, 0x5f, 0xff]);
    bytes[0x1d8..].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let list = QueryQpOut::qp_pas_list_pas(&bytes);
    assert_eq!((list.len(), list[0].pa_h(), list[0].pa_l()), ((0xc0 + 16) / 8, 0, 0x12345));
    let with_extension = QueryQpOutWithQpcExtAndPasListPas::view(&bytes).expect("two elements");
    assert_eq!(with_extension.tail, [U64::new(0), U64::new(0x0102_0304_0506_0708)]);
}

#[test]
fn debug_shows_what_is_there() {
    let modify = ModifyCqIn::new().with_cqn(Cqn::new(0x4a)).with_cq_context(
        Cqc::new().with_cq_period(16).with_oi(true).with_status(CqStatus::OVERFLOW),
    );
    assert_eq!(
        format!("{modify:?}"),
        "modify_cq_in { opcode: 0x403 (MODIFY_CQ), cqn: 0x4a, \
         cq_context: cqc { status: 0x9 (OVERFLOW), oi: 0x1, cq_period: 0x10 } }"
    );
    assert_eq!(
        format!("{:#?}", ModifyCqIn::zeroed().with_cqn(Cqn::new(1))),
        "modify_cq_in (Changes the selected fields of a completion queue; with op_mod 1, its size.) {\n    cqn: 0x1,\n}"
    );
    let mut unknown = Cqc::new().with_status(CqStatus(5));
    unknown.as_bytes_mut()[0x1c] = 0x80;
    assert_eq!(format!("{unknown:?}"), "cqc { status: 0x5, reserved: {0x1c: 0x80000000} }");
    assert_eq!(format!("{:?} {:?}", CqStatus::OVERFLOW, CqStatus(5)), "OVERFLOW CqStatus(0x5)");
    assert_eq!(format!("{:?} {:?}", Status::OK, Cqn::new(0x4a)), "OK Cqn(0x4a)");
    let select =
        ModifyFieldSelect::new().with_modify_field_select(ModifyCqSelect::from_bits(0x8000_0005));
    assert_eq!(
        format!("{select:?}"),
        "modify_field_select { modify_field_select: 0x80000005 (cq_period | oi | 0x80000000) }"
    );

    let mut buffer = [0; 0x110 + 8];
    let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 2).expect("there is room");
    modify.tail[1] = RqNum::new().with_rq_num(Rqn::new(0x103));
    let text = format!("{modify:?}");
    assert!(text.starts_with("modify_rqt_in { opcode: 0x917 (MODIFY_RQT), "), "{text}");
    assert!(text.contains("rq_num: [rq_num, rq_num { rq_num: 0x103 }]"), "{text}");
}

#[test]
fn arrays_are_big_endian_numbers() {
    let mut create = CreateEqIn::new();
    create.event_bitmask_mut()[1] = U64::new(0x0102_0304_0506_0708);
    assert_eq!(create.as_bytes()[0x60..0x68], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(create.event_bitmask()[1].get(), 0x0102_0304_0506_0708);
    let same = CreateEqIn::new().with_event_bitmask([0, 0x0102_0304_0506_0708, 0, 0].map(U64::new));
    assert_eq!(create, same);

    const KEY: [U32; 8] = [U32::new(0x0a0b_0c0d); 8];
    let allow = mlx5_prm::AllowOtherVhcaAccessIn::new().with_access_key(KEY);
    assert_eq!(allow.access_key(), &KEY);
    let at = allow.as_bytes().iter().position(|b| *b == 0x0a).expect("the key");
    assert_eq!(allow.as_bytes()[at..at + 8], [0x0a, 0x0b, 0x0c, 0x0d, 0x0a, 0x0b, 0x0c, 0x0d]);
}

#[test]
fn a_layout_is_its_bytes() {
    const { assert!(size_of::<ModifyCqIn>() == 0x110 && align_of::<ModifyCqIn>() == 1) }
    let any = Cqc::from_bytes([0x5a; 64]);
    assert_eq!(any.as_bytes(), &[0x5a; 64]);
    assert_eq!(Cqc::default(), Cqc::zeroed());
    assert_eq!(ModifyCqIn::default().opcode(), Opcode(0x403));
    assert_eq!(ModifyCqIn::zeroed().opcode(), Opcode(0));
}

#[test]
fn indices_and_lengths_beyond_everything() {
    let list = mlx5_prm::layout_desc("modify_cq_in").and_then(|l| l.field("pas")).expect("a list");
    let mut mailbox = [0xff; 0x118];
    for index in [1, usize::MAX / 64, usize::MAX] {
        assert_eq!(list.read(&mailbox, index), None);
        assert_eq!(list.write("modify_cq_in", &mut mailbox, index, 0), Ok(false));
        let layout = mlx5_prm::layout_desc("modify_cq_in").expect("it is there");
        assert!(layout.part(list, &mailbox, index).is_empty());
    }
    assert_eq!(list.read(&mailbox, 0), Some(u128::from(u64::MAX)));
    let error =
        mlx5_prm::ModifyCqInWithPas::new_in(&mut mailbox, usize::MAX).expect_err("too long");
    assert_eq!((error.needed, error.given), (usize::MAX, 0x118));
}
