//! Which umems a command names.
//!
//! A field `x_umem_id` counts when its sibling `x_umem_valid` is set. The kernel sets that bit in
//! every command of DEVX that may name umems (`devx_set_umem_valid`), also for what has no memory of
//! its own: programs make such queues and leave the id 0, such as DPDK a QP that the firmware manages
//! (`mlx5_devx_cmd_create_qp` without `uar_index`), or a hairpin queue. So 0 is no umem, unless the
//! program set the bit itself.

use mlx5_prm::{
    CommandDesc, Count, Element, Kind, LayoutDesc, ObjectType, Opcode, Place, SelectDesc, Verb,
};

use crate::general;

/// The umems that a command names that makes or changes an object: `given` as the program made it,
/// `sent` as the kernel sends it. Of the context in a change only what a mask selects counts; a change
/// of a general object names none.
pub(crate) fn named(opcode: Opcode, given: &[u8], sent: &[u8]) -> Vec<u32> {
    let mut found = Vec::new();
    if opcode == Opcode::CREATE_GENERAL_OBJECT {
        if let Some(desc) = mlx5_prm::general_object(ObjectType(general::key(sent).0)) {
            collect(desc.layout, general::HEAD as u32 * 8, given, sent, &mut found);
        }
    } else if let Some(command) = mlx5_prm::command(opcode.0)
        && matches!(command.verb, Verb::Create | Verb::Modify)
    {
        collect(command.input, 0, given, sent, &mut found);
        found.retain(|(place, _)| command.verb == Verb::Create || counts(command, *place, sent));
    }
    found.into_iter().map(|(_, id)| id).collect()
}

/// Whether a field of a change counts.
fn counts(command: &CommandDesc, field: Place, sent: &[u8]) -> bool {
    let is_in =
        |outer: Place| outer.bit <= field.bit && field.bit + field.width <= outer.bit + outer.width;
    let is_selected = |select: &SelectDesc| {
        let mask = select.mask.read(sent).unwrap_or_default();
        let mut bits = select.bits.iter().filter(|b| mask >> b.bit & 1 != 0);
        bits.any(|b| b.fields.iter().any(|f| is_in(f.place)))
            || select.always.iter().any(|place| is_in(*place))
    };
    !command.context.is_some_and(is_in)
        || command.selects.iter().filter(|s| s.counts(sent)).any(is_selected)
}

fn collect(
    layout: &LayoutDesc,
    start: u32,
    given: &[u8],
    sent: &[u8],
    found: &mut Vec<(Place, u32)>,
) {
    for field in layout.fields {
        // Which member of a union counts is not known.
        if let (Element::Layout(inner), Count::One) = (field.element, field.count)
            && layout.kind != Kind::Union
        {
            collect(inner, start + field.bit(), given, sent, found);
        }
        let Some(valid) = field.name.strip_suffix("_umem_id") else { continue };
        let Some(valid) = layout.field(&format!("{valid}_umem_valid")) else { continue };
        let place = |bit: u32, width| Place { bit: start + bit, width };
        let valid = place(valid.bit(), valid.width());
        if valid.read(sent).is_none_or(|valid| valid == 0) {
            continue;
        }
        let id = place(field.bit(), field.width());
        match id.read(sent) {
            // What is too short is refused by the firmware.
            None => {}
            Some(0) if valid.read(given) == Some(0) => {}
            Some(number) => found.push((id, number as u32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use mlx5_prm::{
        Cqc, CreateCqIn, CreateQpIn, CreateRmpIn, CreateRqIn, CreateSqIn, CreateXrcSrqIn,
        CreateXrqIn, ModifyCqIn, Qpc, QueryCqIn, Rmpc, Rqc, Sqc, Wq, Xrqc,
    };

    use super::*;
    use crate::kernel::force;

    fn of(opcode: Opcode, given: &[u8]) -> Vec<u32> {
        let mut sent = given.to_vec();
        force(opcode, &mut sent, 1, true);
        named(opcode, given, &sent)
    }

    #[test]
    fn ids_count_as_their_bits_say() {
        let context = Cqc::new().with_dbr_umem_id(7);
        let create = CreateCqIn::new().with_cq_context(context).with_cq_umem_id(8);
        assert_eq!(of(Opcode::CREATE_CQ, create.as_bytes()), [7, 8]);
        let none = named(Opcode::CREATE_CQ, create.as_bytes(), create.as_bytes());
        assert_eq!(none, [0; 0], "no bit is set");
        assert_eq!(of(Opcode::CREATE_CQ, CreateCqIn::new().as_bytes()), [0; 0]);
        let said = CreateCqIn::new().with_cq_umem_valid(true);
        assert_eq!(of(Opcode::CREATE_CQ, said.as_bytes()), [0], "the program said so");
        assert_eq!(of(Opcode::CREATE_CQ, &create.as_bytes()[..40]), [0; 0], "too short");
        assert_eq!(of(Opcode::QUERY_CQ, QueryCqIn::new().as_bytes()), [0; 0]);
    }

    #[test]
    fn ids_are_found_in_what_lies_within() {
        let create =
            CreateQpIn::new().with_qpc(Qpc::new().with_dbr_umem_id(0xffff_ffff)).with_wq_umem_id(3);
        let mut ids = of(Opcode::CREATE_QP, create.as_bytes());
        ids.sort_unstable();
        assert_eq!(ids, [3, 0xffff_ffff]);
        let wq = Wq::new().with_dbr_umem_id(1).with_wq_umem_id(2);
        let create = CreateRqIn::new().with_ctx(Rqc::new().with_wq(wq));
        assert_eq!(of(Opcode::CREATE_RQ, create.as_bytes()), [1, 2]);
    }

    #[test]
    fn the_kernel_sets_the_bits_of_every_queue() {
        let wq = Wq::new().with_dbr_umem_id(1).with_wq_umem_id(2);
        let create = CreateSqIn::new().with_ctx(Sqc::new().with_wq(wq));
        assert_eq!(of(Opcode::CREATE_SQ, create.as_bytes()), [1, 2]);
        let create = CreateRmpIn::new().with_ctx(Rmpc::new().with_wq(wq));
        assert_eq!(of(Opcode::CREATE_RMP, create.as_bytes()), [1, 2]);
        let create = CreateXrqIn::new().with_xrq_context(Xrqc::new().with_wq(wq));
        assert_eq!(of(Opcode::CREATE_XRQ, create.as_bytes()), [1, 2]);
        let mut sent = CreateXrcSrqIn::new().as_bytes().to_vec();
        force(Opcode::CREATE_XRC_SRQ, &mut sent, 1, true);
        let create = CreateXrcSrqIn::view(&sent).expect("its size");
        assert!(create.xrc_srq_umem_valid());
        assert!(create.xrc_srq_context_entry().dbr_umem_valid());
        let mut sent = ModifyCqIn::new().as_bytes().to_vec();
        force(Opcode::MODIFY_CQ, &mut sent, 1, true);
        assert!(ModifyCqIn::view(&sent).expect("its size").cq_umem_valid());
    }

    #[test]
    fn a_field_of_the_context_counts_when_it_is_selected() {
        let command = mlx5_prm::command(Opcode::MODIFY_CQ.0).expect("it is known");
        let select = command.selects.iter().find(|s| s.op_mod == 0).expect("a mask");
        let mask = |bits: u64| {
            let mut input = ModifyCqIn::new();
            assert!(select.mask.write(input.as_bytes_mut(), bits));
            input
        };
        let [first, second] = [0, 1].map(|n| select.bits.iter().find(|b| b.bit == n).expect("it"));
        for field in first.fields {
            assert!(counts(command, field.place, mask(1).as_bytes()), "{}", field.path);
            assert!(counts(command, field.place, mask(3).as_bytes()), "{}", field.path);
            assert!(!counts(command, field.place, mask(2).as_bytes()), "{}", field.path);
        }
        for field in second.fields {
            assert!(counts(command, field.place, mask(2).as_bytes()), "{}", field.path);
            assert!(!counts(command, field.place, mask(1).as_bytes()), "{}", field.path);
        }
        let number = command.number.expect("it has one");
        assert!(counts(command, number, mask(0).as_bytes()), "it is in no context");
        let command = mlx5_prm::command(Opcode::MODIFY_RQ.0).expect("it is known");
        let [select] = command.selects else { panic!("one mask") };
        let none = vec![0; command.input.size];
        assert!(counts(command, select.always[0], &none), "it counts always");
    }
}
