//! General objects.

use mlx5_prm::{
    Described, FieldDesc, FlowMeterParameters, GeneralObjectDesc, ObjectType, Opcode, Place,
    SelectDesc, Status,
};

use crate::firmware::{Refusal, refuse};
use crate::handles::Map;
use crate::select::{self, Change};
use crate::syndrome;

/// Where the header of the commands has the type and the number (`general_obj_in_cmd_hdr`), and
/// that of the output the number.
const TYPE: Place = Place::OP_MOD;
const NUMBER: Place = Place { bit: 0x40, width: 32 };

/// The first bit of `flow_meter.flow_meter_params`.
const METER_PARAMS: u32 = 0x20 * 8;

/// Bytes of the header.
pub(crate) const HEAD: usize = 16;

/// The type of a general object, and its number.
type Key = (u16, u32);

/// The objects, as QUERY gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GeneralObjects {
    objects: Map<Key, Vec<u8>>,
    last: u32,
}

/// The type and the number in a command.
pub(crate) fn key(input: &[u8]) -> Key {
    let read = |place: Place| place.read(input).unwrap_or_default() as u32;
    (read(TYPE) as u16, read(NUMBER))
}

/// The header of a command, for the object with this key.
pub(crate) fn destroy(key: Key) -> [u8; HEAD] {
    let mut input = [0; HEAD];
    input[..2].copy_from_slice(&Opcode::DESTROY_GENERAL_OBJECT.0.to_be_bytes());
    TYPE.write(&mut input, key.0.into());
    NUMBER.write(&mut input, key.1.into());
    input
}

/// The number that the output of a create gives.
pub(crate) fn created(output: &[u8]) -> u32 {
    NUMBER.read(output).unwrap_or_default() as u32
}

impl GeneralObjects {
    /// Runs a command on a general object. Both mailboxes hold their header.
    pub(crate) fn run(
        &mut self,
        opcode: Opcode,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        let key = key(input);
        let Some(desc) = mlx5_prm::general_object(ObjectType(key.0)) else {
            return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OBJECT_TYPE);
        };
        match opcode {
            Opcode::CREATE_GENERAL_OBJECT => self.create(desc, input, output),
            Opcode::MODIFY_GENERAL_OBJECT => self.modify(desc, key, input),
            Opcode::QUERY_GENERAL_OBJECT => {
                let object = self.get(key)?;
                match output.get_mut(HEAD..HEAD + object.len()) {
                    Some(room) => room.copy_from_slice(object),
                    None => return refuse(Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT),
                }
                NUMBER.write(output, key.1.into());
                Ok(())
            }
            _ => {
                self.get(key)?;
                self.objects.remove(&key);
                Ok(())
            }
        }
    }

    fn get(&self, key: Key) -> Result<&Vec<u8>, Refusal> {
        self.objects
            .get(&key)
            .map_or_else(|| refuse(Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_OBJECT), Ok)
    }

    fn create(
        &mut self,
        desc: &GeneralObjectDesc,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        let object = behind_head(desc, input)?.to_vec();
        let key = |number: u32| (desc.obj_type.0, number);
        let free = (self.last..u32::MAX).chain(0..self.last).map(|n| n + 1);
        let Some(number) = free.into_iter().find(|n| !self.objects.contains_key(&key(*n))) else {
            return refuse(Status::NO_RES_ERR, syndrome::NO_NUMBER_LEFT);
        };
        self.last = number;
        self.objects.insert(key(number), object);
        NUMBER.write(output, number.into());
        Ok(())
    }

    fn modify(&mut self, desc: &GeneralObjectDesc, key: Key, input: &[u8]) -> Result<(), Refusal> {
        let mut object = self.get(key)?.clone();
        let [select] = desc.selects else {
            return refuse(Status::BAD_PARAM_ERR, syndrome::NOT_MODIFIABLE);
        };
        let change = Change { start: 0, input: behind_head(desc, input)? };
        let mask = select::apply(select, &change, &mut object)?;
        if desc.obj_type == ObjectType::FLOW_METER {
            take_meter(select, mask, &change, &mut object);
        }
        self.objects.insert(key, object);
        Ok(())
    }
}

/// Copies the parts of `flow_meter_params` that the mask of a flow meter selects. What `flow_meter` has
/// as bytes are `flow_meter_parameters` (`mlx5_flow_meter_action_modify` of DPDK), of which a bit called
/// `cbs` is for the fields `cbs_*`.
fn take_meter(select: &SelectDesc, mask: u64, change: &Change<'_>, object: &mut [u8]) {
    for bit in select.bits.iter().filter(|b| mask >> b.bit & 1 != 0 && b.fields.is_empty()) {
        let is_of = |field: &&FieldDesc| {
            field.name.strip_prefix(bit.name).is_some_and(|rest| rest.starts_with('_'))
        };
        for field in FlowMeterParameters::DESC.fields.iter().filter(is_of) {
            change.take(Place { bit: METER_PARAMS + field.bit(), width: field.width() }, object);
        }
    }
}

/// What lies behind the header.
fn behind_head<'i>(desc: &GeneralObjectDesc, input: &'i [u8]) -> Result<&'i [u8], Refusal> {
    input
        .get(HEAD..HEAD + desc.layout.size)
        .map_or_else(|| refuse(Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT), Ok)
}
