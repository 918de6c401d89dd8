//! The state machine of queue pairs, by the tables of the codec.

use mlx5_prm::{
    CommandDesc, Layout, Place, QpSt, Qpc, QpcExt, Status, TransitionDesc, TransitionField,
};

use crate::firmware::{Refusal, refuse, refuse_field};
use crate::select::{self, Change};
use crate::syndrome;

/// Makes a transition: the fields that it takes go into the context, and the state is the new one.
pub(crate) fn make(
    transition: &TransitionDesc,
    command: &CommandDesc,
    change: &Change<'_>,
    context: &mut [u8],
) -> Result<(), Refusal> {
    let Ok((qpc, _)) = Layout::view_prefix(context) else {
        return refuse(Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_QP);
    };
    let qpc: Qpc = *qpc;
    let service = qpc.st();
    if !transition.services.contains(service) {
        return refuse(Status::BAD_RES_STATE_ERR, syndrome::NOT_OF_SERVICE);
    }
    if !transition.is_from(qpc.state(), service) {
        return refuse(Status::BAD_QP_STATE_ERR, syndrome::WRONG_QP_STATE);
    }
    // `opt_param_mask` is the first mask of the commands that have one.
    let (first, others) = match command.selects {
        [first, others @ ..] => (Some(first), others),
        [] => (None, command.selects),
    };
    let mask = first.and_then(|s| s.mask.read(change.input)).unwrap_or_default() as u32;
    let known = first.map_or(0, |s| s.bits.iter().fold(0, |known, b| known | 1u32 << b.bit));
    if mask & !known != 0 {
        return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_SELECT_BIT);
    }
    if mask & !transition.admits(service) != 0 {
        return refuse(Status::BAD_PARAM_ERR, syndrome::OPT_PARAM_NOT_ADMITTED);
    }
    let is_given = |f: &TransitionField| is_given(f, service, mask);
    let zero = |f: &TransitionField| f.place.read(change.input) == Some(0);
    let is_missing = |f: &&TransitionField| f.nonzero && is_counted(f, service, mask) && zero(f);
    if let Some(field) = transition.fields.iter().find(is_missing) {
        return refuse_field(Status::BAD_PARAM_ERR, syndrome::FIELD_IS_ZERO, field.path);
    }
    let before = context.to_vec();
    for field in transition.fields.iter().filter(|f| is_given(f)) {
        change.take(field.place, context);
    }
    // An entry that lies inside of another speaks for its field: what was not given stays.
    for field in transition.fields.iter().filter(|f| !is_given(f)) {
        let around = |f: &&TransitionField| is_given(f) && is_inside(field.place, f.place);
        if transition.fields.iter().any(|f| around(&f)) {
            let kept = Change { start: 0, input: &before };
            let bit = field.place.bit - change.start;
            kept.take(Place { bit, ..field.place }, context);
        }
    }
    for select in others.iter().filter(|s| s.counts(change.input)) {
        let mask = select::apply(select, change, context)?;
        // A bit for no field of the mailbox is for the extension of the context behind it.
        if select.bits.iter().any(|b| mask >> b.bit & 1 != 0 && b.fields.is_empty()) {
            has_extension(command, change.input)?;
        }
    }
    if let Ok(qpc) = Qpc::view_mut(&mut context[..Qpc::SIZE]) {
        qpc.set_state(transition.to);
    }
    Ok(())
}

/// Makes sure that the extension of the context follows the mailbox, and that the command says so.
fn has_extension(command: &CommandDesc, input: &[u8]) -> Result<(), Refusal> {
    let says = command.input.field("qpc_ext");
    let says = says.and_then(|f| Place { bit: f.bit(), width: f.width() }.read(input));
    if says != Some(1) {
        return refuse(Status::BAD_PARAM_ERR, syndrome::NO_EXTENSION);
    }
    if input.len() < command.input.size + QpcExt::SIZE {
        return refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
    }
    Ok(())
}

/// Whether the command brings a field: the service takes it, or the mask selects it.
fn is_given(field: &TransitionField, service: QpSt, mask: u32) -> bool {
    field.takes.contains(service) || is_counted(field, service, mask)
}

/// Whether a field must be right: the service requires it, or the mask selects it.
fn is_counted(field: &TransitionField, service: QpSt, mask: u32) -> bool {
    let selected = field.bit.is_some_and(|bit| mask >> bit & 1 != 0);
    field.requires.contains(service) || selected && field.admits.contains(service)
}

fn is_inside(inner: Place, outer: Place) -> bool {
    outer.bit <= inner.bit && inner.bit + inner.width <= outer.bit + outer.width
}
