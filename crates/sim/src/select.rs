//! Select masks: which fields of a modify command count.

use mlx5_prm::{Place, SelectDesc, Status};

use crate::firmware::{Refusal, refuse};
use crate::syndrome;

/// A command that changes a context: its input, and the bit of it that the context begins at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'i> {
    pub(crate) start: u32,
    pub(crate) input: &'i [u8],
}

impl Change<'_> {
    /// Copies one field of the input into the context. What lies before the context is no part of it.
    pub(crate) fn take(&self, field: Place, context: &mut [u8]) {
        if let Some(bit) = field.bit.checked_sub(self.start) {
            field.copy_to(self.input, context, bit);
        }
    }
}

/// Copies the fields that a mask selects, and gives the mask. A bit that selects nothing known is
/// refused.
pub(crate) fn apply(
    select: &SelectDesc,
    change: &Change<'_>,
    context: &mut [u8],
) -> Result<u64, Refusal> {
    let mask = select.mask.read(change.input).unwrap_or_default();
    let known = select.bits.iter().fold(0, |known, b| known | 1u64 << b.bit);
    if mask & !known != 0 {
        return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_SELECT_BIT);
    }
    for field in select.always {
        change.take(*field, context);
    }
    for bit in select.bits.iter().filter(|b| mask >> b.bit & 1 != 0) {
        for field in bit.fields {
            change.take(field.place, context);
        }
    }
    Ok(mask)
}
