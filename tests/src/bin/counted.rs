//! What the test `instructions` counts: two commands as users of the codec write them.
//!
//! The C program `tests/instructions/counted.c` does the same with the DEVX macros. Both print what
//! they made, so that the test sees that they did the same.

use std::hint::black_box;

use mlx5_prm::{
    Cqc, Cqn, ModifyCqIn, ModifyCqSelect, ModifyFieldSelect,
    ModifyFieldSelectResizeFieldSelectAuto, Opcode, QueryCqOut,
};

/// One expression, written to the caller's mailbox.
#[inline(never)]
fn encode_expression(
    out: &mut ModifyCqIn,
    cqn: Cqn,
    select: ModifyCqSelect,
    period: u16,
    max_count: u16,
) {
    *out = ModifyCqIn::new()
        .with_cqn(cqn)
        .with_modify_field_select_resize_field_select(
            ModifyFieldSelectResizeFieldSelectAuto::new().with_modify_field_select(
                ModifyFieldSelect::new().with_modify_field_select(select),
            ),
        )
        .with_cq_context(Cqc::new().with_cq_period(period).with_cq_max_count(max_count));
}

/// The same by value: the caller says where it goes.
#[inline(never)]
fn encode_returned(cqn: Cqn, select: ModifyCqSelect, period: u16, max_count: u16) -> ModifyCqIn {
    ModifyCqIn::new()
        .with_cqn(cqn)
        .with_modify_field_select_resize_field_select(
            ModifyFieldSelectResizeFieldSelectAuto::new().with_modify_field_select(
                ModifyFieldSelect::new().with_modify_field_select(select),
            ),
        )
        .with_cq_context(Cqc::new().with_cq_period(period).with_cq_max_count(max_count))
}

/// A new mailbox, and then field after field.
#[inline(never)]
fn encode_setters(
    out: &mut ModifyCqIn,
    cqn: Cqn,
    select: ModifyCqSelect,
    period: u16,
    max_count: u16,
) {
    *out = ModifyCqIn::new();
    set_fields(out, cqn, select, period, max_count);
}

/// The same in any bytes.
#[inline(never)]
fn encode_bytes(
    out: &mut [u8],
    cqn: Cqn,
    select: ModifyCqSelect,
    period: u16,
    max_count: u16,
) -> bool {
    let Ok(out) = ModifyCqIn::view_mut(out) else { return false };
    *out = ModifyCqIn::new()
        .with_cqn(cqn)
        .with_modify_field_select_resize_field_select(
            ModifyFieldSelectResizeFieldSelectAuto::new().with_modify_field_select(
                ModifyFieldSelect::new().with_modify_field_select(select),
            ),
        )
        .with_cq_context(Cqc::new().with_cq_period(period).with_cq_max_count(max_count));
    true
}

#[inline(always)]
fn set_fields(out: &mut ModifyCqIn, cqn: Cqn, select: ModifyCqSelect, period: u16, max_count: u16) {
    out.set_cqn(cqn);
    out.modify_field_select_resize_field_select_mut()
        .modify_field_select_mut()
        .set_modify_field_select(select);
    let cqc = out.cq_context_mut();
    cqc.set_cq_period(period);
    cqc.set_cq_max_count(max_count);
}

/// Paired calls, which set the select bits themselves.
#[inline(never)]
fn encode_changes(out: &mut ModifyCqIn, cqn: Cqn, period: u16, max_count: u16) {
    *out =
        ModifyCqIn::new().with_cqn(cqn).changing_cq_period(period).changing_cq_max_count(max_count);
}

/// Only the zeros.
#[inline(never)]
fn encode_zeros(out: &mut ModifyCqIn) {
    *out = ModifyCqIn::zeroed();
}

/// Only the fields.
#[inline(never)]
fn encode_fields(
    out: &mut ModifyCqIn,
    cqn: Cqn,
    select: ModifyCqSelect,
    period: u16,
    max_count: u16,
) {
    out.set_opcode(Opcode::MODIFY_CQ);
    set_fields(out, cqn, select, period, max_count);
}

#[inline(always)]
fn sum(answer: &QueryCqOut) -> u64 {
    let cqc = answer.cq_context();
    u64::from(answer.status().0)
        + u64::from(answer.syndrome())
        + u64::from(cqc.status().0)
        + u64::from(cqc.cqe_sz().0)
        + u64::from(cqc.oi())
        + u64::from(cqc.log_cq_size())
        + u64::from(cqc.uar_page().get())
        + u64::from(cqc.cq_period())
        + u64::from(cqc.cq_max_count())
        + u64::from(cqc.c_eqn_or_apu_element())
}

/// Ten fields of an answer that is known to be one.
#[inline(never)]
fn read_typed(answer: &QueryCqOut) -> u64 {
    sum(answer)
}

/// Ten fields of any bytes, viewed in place.
#[inline(never)]
fn read_bytes(answer: &[u8]) -> Option<u64> {
    Some(sum(QueryCqOut::view(answer).ok()?))
}

/// Calls of each function.
const ROUNDS: u32 = 100;

fn main() {
    let mut answer = QueryCqOut::zeroed();
    for (i, byte) in (0u8..).zip(answer.as_bytes_mut().iter_mut().take(0x50)) {
        *byte = i.wrapping_mul(37).wrapping_add(11);
    }
    let (mut a, mut b, mut c, mut d) =
        (ModifyCqIn::new(), ModifyCqIn::new(), ModifyCqIn::new(), [0; 0x110]);
    let (mut e, mut fields) = (ModifyCqIn::new(), ModifyCqIn::zeroed());
    let mut sums = 0;
    for round in 0..ROUNDS {
        let cqn = black_box(Cqn::new(0x12345 + round));
        let select = black_box(ModifyCqSelect::from_bits(0x3));
        let (period, max_count) = (black_box(0xabc), black_box(0x4321));
        encode_expression(black_box(&mut a), cqn, select, period, max_count);
        encode_setters(black_box(&mut b), cqn, select, period, max_count);
        c = black_box(encode_returned(cqn, select, period, max_count));
        assert!(encode_bytes(black_box(&mut d), cqn, select, period, max_count));
        encode_changes(black_box(&mut e), cqn, period, max_count);
        encode_zeros(black_box(&mut fields));
        encode_fields(black_box(&mut fields), cqn, select, period, max_count);
        let sum = read_typed(black_box(&answer));
        assert_eq!(read_bytes(black_box(answer.as_bytes())), Some(sum));
        sums += sum;
    }
    assert!(
        a == b && a == c && a.as_bytes() == &d && a == e && a == fields,
        "all ways give the same mailbox"
    );
    let hex: String = a.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{hex} {sums:#x}");
}
