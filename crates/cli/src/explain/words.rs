//! Commands as programs call them in their logs.

use mlx5_prm::Opcode;

/// What a log calls a command, and the command.
///
/// Sources: the texts that UCX gives `uct_ib_mlx5_devx_obj_create` and its kin (`ib_mlx5_dv.c`,
/// `ib_mlx5dv_md.c`, `rdmacm_cm.c`, `gga_mlx5.c`), that DPDK gives `DEVX_DRV_LOG`
/// (`drivers/common/mlx5/mlx5_devx_cmds.c`), and that it gives `DR_LOG` and `DRV_LOG`
/// (`drivers/net/mlx5/hws/mlx5dr_cmd.c`), each with the opcode in the function around it.
const SAID: &[(&str, &str)] = &[
    // UCX
    ("create MKEY_ALIAS", "CREATE_GENERAL_OBJECT"),
    ("create GENERAL_OBJECT", "CREATE_GENERAL_OBJECT"),
    ("general QUERY_HCA_CAP_2", "QUERY_HCA_CAP"),
    ("modify 2INIT_QP", "RST2INIT_QP"),
    ("modify 2INIT_QP_MMO", "RST2INIT_QP"),
    // DPDK, DevX
    ("HCA capabilities", "QUERY_HCA_CAP"),
    ("read access", "ACCESS_REGISTER_USER"),
    ("write access", "ACCESS_REGISTER_USER"),
    ("allocate counters", "ALLOC_FLOW_COUNTER"),
    ("create indirect mkey", "CREATE_MKEY"),
    ("create direct key", "CREATE_MKEY"),
    ("query ESW vport context", "QUERY_ESW_VPORT_CONTEXT"),
    ("query NIC vport context", "QUERY_NIC_VPORT_CONTEXT"),
    ("query match sample info", "QUERY_MATCH_SAMPLE_INFO"),
    ("create q counter set", "ALLOC_Q_COUNTER"),
    ("create FLEX PARSE GRAPH", "CREATE_GENERAL_OBJECT"),
    ("create VIRTQ", "CREATE_GENERAL_OBJECT"),
    ("modify VIRTQ", "MODIFY_GENERAL_OBJECT"),
    ("create virtio queue counters Obj", "CREATE_GENERAL_OBJECT"),
    ("create FLOW_HIT_ASO", "CREATE_GENERAL_OBJECT"),
    ("create FLOW_METTER_ASO", "CREATE_GENERAL_OBJECT"),
    ("create FLOW_METER_ASO", "CREATE_GENERAL_OBJECT"),
    ("create CONN_TRACK_OFFLOAD", "CREATE_GENERAL_OBJECT"),
    ("create GENEVE TLV option", "CREATE_GENERAL_OBJECT"),
    ("query GENEVE TLV option", "QUERY_GENERAL_OBJECT"),
    ("create DEK", "CREATE_GENERAL_OBJECT"),
    ("create IMPORT_KEK", "CREATE_GENERAL_OBJECT"),
    ("create CREDENTIAL", "CREATE_GENERAL_OBJECT"),
    ("create CRYPTO_LOGIN", "CREATE_GENERAL_OBJECT"),
    ("allocate PD", "ALLOC_PD"),
    // DPDK, steering
    ("create FT", "CREATE_FLOW_TABLE"),
    ("modify FT", "MODIFY_FLOW_TABLE"),
    ("query FT", "QUERY_FLOW_TABLE"),
    ("create Flow group", "CREATE_FLOW_GROUP"),
    ("create FTE", "SET_FLOW_TABLE_ENTRY"),
    ("create RTC", "CREATE_GENERAL_OBJECT"),
    ("create STC", "CREATE_GENERAL_OBJECT"),
    ("modify STC", "MODIFY_GENERAL_OBJECT"),
    ("create ARG", "CREATE_GENERAL_OBJECT"),
    ("create header_modify_pattern", "CREATE_GENERAL_OBJECT"),
    ("create STE", "CREATE_GENERAL_OBJECT"),
    ("create Definer", "CREATE_GENERAL_OBJECT"),
    ("create ALIAS OBJ", "CREATE_GENERAL_OBJECT"),
    ("write GTA WQE using FW", "GENERATE_WQE"),
];

/// What a program does to an object, before or after it.
const VERBS: &[&str] = &["create", "modify", "query", "destroy", "allocate", "general"];

/// The opcode of what a program did, such as `create RQ`, `RQ modify` or `general QUERY_LAG`; and
/// what it calls that, where the command alone does not say it. Blanks do not count.
pub(super) fn opcode(said: &str) -> Option<(u16, Option<&'static str>)> {
    let squeezed = said.replace(' ', "");
    let same = |words: &str| words.replace(' ', "").eq_ignore_ascii_case(&squeezed);
    if let Some((words, name)) = SAID.iter().find(|(words, _)| same(words)) {
        return Some((named(name)?, Some(words)));
    }
    let lower = squeezed.to_ascii_lowercase();
    let of_verb = |verb: &&str| {
        let object = lower.strip_prefix(verb).or_else(|| lower.strip_suffix(verb))?;
        // `create CREATE_MKEY`: what is told as the command itself.
        named(&format!("{verb}_{object}")).or_else(|| named(object))
    };
    VERBS.iter().find_map(of_verb).map(|opcode| (opcode, None))
}

/// The opcode with a name, in capitals or not.
pub(super) fn named(name: &str) -> Option<u16> {
    let mut all = Opcode::DESC.values.iter();
    let (code, _) = all.find(|(_, known)| known.eq_ignore_ascii_case(name))?;
    u16::try_from(*code).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn every_command_of_the_table_is_one() {
        for (words, name) in SAID {
            assert!(named(name).is_some(), "{words}: {name}");
        }
    }

    #[test]
    fn commands_as_they_are_called() {
        for (said, name) in [
            ("create QP", "CREATE_QP"),
            ("RQ modify", "MODIFY_RQ"),
            ("create FLOW_HIT_ASO", "CREATE_GENERAL_OBJECT"),
            ("create CREATE_MKEY", "CREATE_MKEY"),
            ("general QUERY_LAG", "QUERY_LAG"),
            ("create Flow group", "CREATE_FLOW_GROUP"),
        ] {
            let name_of = |said: &str| opcode(said).and_then(|(code, _)| names::opcode_name(code));
            assert_eq!(name_of(said), Some(name), "{said}");
            assert_eq!(name_of(&said.replace(' ', "")), Some(name), "{said}");
        }
        assert_eq!(opcode("createD EK"), Some((0xa00, Some("create DEK"))));
        assert_eq!(opcode("create nothing known"), None);
        assert_eq!(opcode(""), None);
    }
}
