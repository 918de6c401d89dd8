//! Registers behind ACCESS_REG.

use std::collections::BTreeMap;

use mlx5_prm::{
    Access, AccessOpMod, AccessRegisterIn, Count, Element, LayoutDesc, Place, RegisterDesc, Status,
};

use crate::firmware::{Refusal, op_mod, read, refuse};
use crate::syndrome;

/// `paos_reg.oper_status`, and its value of a port without a link (`PortOperStatus::DOWN`). Their types are in
/// a family that need not be compiled in.
const OPER_STATUS: Place = Place { bit: 28, width: 4 };
const DOWN: u64 = 2;

/// What has been written to registers. One that was not is all zero, but for what a port without a link
/// says.
///
/// A register is the one that the index fields say. Of what is written the fields that are read
/// only keep their value, and those that make something happen are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    /// By id and index fields.
    written: BTreeMap<(u16, Vec<u8>), Vec<u8>>,
}

impl Registers {
    /// Runs ACCESS_REG; the register goes to `output`, behind its head.
    pub(crate) fn access(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Refusal> {
        let id = read(input, AccessRegisterIn::register_id);
        let Some(register) = mlx5_prm::register(id) else {
            return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_REGISTER);
        };
        let size = register.layout.size;
        let Some(given) = input.get(AccessRegisterIn::SIZE..AccessRegisterIn::SIZE + size) else {
            return refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
        };
        let at = mlx5_prm::AccessRegisterOut::SIZE;
        let Some(answer) = output.get_mut(at..at + size) else {
            return refuse(Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT);
        };
        match AccessOpMod(op_mod(input)) {
            AccessOpMod::READ if register.read => {}
            AccessOpMod::WRITE if register.write => self.write(register, given),
            AccessOpMod::READ | AccessOpMod::WRITE => {
                return refuse(Status::BAD_PARAM_ERR, syndrome::NOT_ACCESSIBLE);
            }
            _ => return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD),
        }
        let index = masked(given, &mask(register, |access| access == Some(Access::Index)));
        if let Some(kept) = self.written.get(&(id, index.clone())) {
            answer.copy_from_slice(kept);
        }
        for (byte, index) in answer.iter_mut().zip(index) {
            *byte |= index;
        }
        if register.name == "PAOS" {
            OPER_STATUS.write(answer, DOWN);
        }
        Ok(())
    }

    fn write(&mut self, register: &RegisterDesc, given: &[u8]) {
        let index = masked(given, &mask(register, |access| access == Some(Access::Index)));
        let kept = mask(register, |access| matches!(access, None | Some(Access::Rw | Access::Wo)));
        let size = register.layout.size;
        let there = self.written.entry((register.id, index)).or_insert_with(|| vec![0; size]);
        for ((byte, given), mask) in there.iter_mut().zip(given).zip(kept) {
            *byte = *byte & !mask | given & mask;
        }
    }
}

fn masked(bytes: &[u8], mask: &[u8]) -> Vec<u8> {
    bytes.iter().zip(mask).map(|(byte, mask)| byte & mask).collect()
}

/// The bits of a register whose access is wanted. What a layout in it does not say of a field is
/// what is said of the layout.
fn mask(register: &RegisterDesc, wanted: impl Fn(Option<Access>) -> bool + Copy) -> Vec<u8> {
    let mut mask = vec![0; register.layout.size];
    fill(register.layout, 0, None, wanted, &mut mask);
    mask
}

fn fill(
    layout: &LayoutDesc,
    start: usize,
    around: Option<Access>,
    wanted: impl Fn(Option<Access>) -> bool + Copy,
    mask: &mut [u8],
) {
    for field in layout.fields.iter().filter(|f| f.count != Count::List) {
        let access = field.access.or(around);
        for index in 0..field.elements(mask.len()) {
            let bit = start + field.bit_of(index);
            if let Element::Layout(inner) = field.element {
                fill(inner, bit, access, wanted, mask);
            } else if wanted(access) {
                for bit in bit..bit + field.width() as usize {
                    if let Some(byte) = mask.get_mut(bit / 8) {
                        *byte |= 0x80 >> (bit % 8);
                    }
                }
            }
        }
    }
}
