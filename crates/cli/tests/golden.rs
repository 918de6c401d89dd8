//! What each subcommand writes, in 80 columns and without colour. After a change on purpose:
//! `INSTA_UPDATE=always cargo test -p mlx5-prm-cli --test golden`, and read the difference.

mod common;

use common::all;
use insta::assert_snapshot;
use mlx5_prm::{
    Cqc, Cqn, CreateRqtInWithRqNum, DestroyCqIn, ModifyCqIn, Opcode, PaosReg, QueryHcaCapIn,
    RegisterIn, RqNum, Rqn,
};

fn modify_cq() -> Vec<u8> {
    let modify = ModifyCqIn::new()
        .with_cqn(Cqn::new(0x4a))
        .with_cq_context(Cqc::new().with_dbr_addr(0x1234_5000).with_log_page_size(4))
        .changing_cq_period(16);
    modify.as_bytes().to_vec()
}

fn create_rqt() -> Vec<u8> {
    let mut buffer = [0; 512];
    let create = CreateRqtInWithRqNum::new_in(&mut buffer, 4).expect("there is room");
    for (entry, rq) in create.tail.iter_mut().zip([0x101, 0, 0x103, 0]) {
        *entry = RqNum::new().with_rq_num(Rqn::new(rq));
    }
    create.as_bytes().to_vec()
}

const LOG: &str = include_str!("data/kernel.log");
const RECORDING: &str = include_str!("data/run.mlx5rec");

#[test]
fn decode() {
    assert_snapshot!("decode", all(&["decode"], &modify_cq()));
    assert_snapshot!("decode_terse", all(&["decode", "--terse"], &create_rqt()));
    assert_snapshot!("decode_all", all(&["decode", "--all", "-l", "rq_num"], &[0; 4]));
    assert_snapshot!("decode_flat", all(&["decode", "--flat"], &create_rqt()));
    assert_snapshot!("decode_log", all(&["decode", "--terse"], LOG.as_bytes()));
    assert_snapshot!("decode_log_json", all(&["decode", "--json"], LOG.as_bytes()));
    assert_snapshot!("decode_log_flat", all(&["decode", "--flat"], LOG.as_bytes()));
    assert_snapshot!("decode_recording", all(&["decode", "--terse"], RECORDING.as_bytes()));
    let paos = RegisterIn::read(PaosReg::new().with_local_port(3));
    assert_snapshot!("decode_register", all(&["decode"], paos.as_bytes()));
    let query = QueryHcaCapIn::new().with_op_mod(0x5);
    assert_snapshot!("decode_query_hca_cap", all(&["decode", "--terse"], query.as_bytes()));
}

#[test]
fn decode_what_the_tables_do_not_know() {
    let mut bytes = DestroyCqIn::new().with_opcode(Opcode(0xfff0)).as_bytes().to_vec();
    bytes[8] = 0x80; // Above cqn.
    bytes.extend([0, 0, 1]);
    assert_snapshot!("decode_unknown", all(&["decode", "--layout", "destroy_cq_in"], &bytes));
    let json = ["decode", "--layout", "destroy_cq_in", "--json"];
    assert_snapshot!("decode_unknown_json", all(&json, &bytes));
    assert_snapshot!("decode_unknown_opcode", all(&["decode"], &bytes));
    assert_snapshot!("decode_short", all(&["decode"], &modify_cq()[..16]));
    assert_snapshot!("decode_output", all(&["decode"], &[0; 16]));
    let reply = ["decode", "--reply-to", "MODIFY_CQ"];
    assert_snapshot!(
        "decode_reply",
        all(&reply, &[3, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0])
    );
    assert_snapshot!("decode_reply_unknown", all(&["decode", "-r", "MODFY_CQ"], &[0; 16]));
    assert_snapshot!("decode_layout_unknown", all(&["decode", "-l", "cqc+cqk"], &[0; 16]));
}

/// What ends early, or of which nothing says what it is, is told, and shown as far as it is known.
#[test]
fn decode_what_is_known_in_part() {
    let run = |args: &[&str], bytes: &[u8]| all(&[&["decode"], args].concat(), bytes);
    let head = |more: &[u8]| [&[0; 16], more].concat();
    // `cq_period_mode` has its first bit.
    assert_snapshot!("decode_cut", run(&["-t", "-r", "query_cq"], &head(&[0xde, 0xad])));
    let mut capabilities = vec![0; 4096];
    (capabilities[0x13], capabilities[0x20]) = (5, 0x11);
    let (cap, output) = (["-t", "-r", "query_hca_cap"], head(&capabilities));
    assert_snapshot!("decode_page_not_said", run(&cap, &output));
    let page = [&cap[..], &["--op-mod", "0x7e"]].concat();
    assert_snapshot!("decode_page_unknown", run(&page, &output));
    let page = [&cap[..], &["--op-mod", "0x1"]].concat();
    assert!(run(&page, &output).contains("cmd_hca_cap"));
    let pages = [&[0; 0x110][..], &[0, 0, 0x12, 0x34, 0x56, 0x78, 0x90, 0]].concat();
    assert_snapshot!("decode_pages_without_extension", run(&["-l", "query_qp_out"], &pages));
    assert_snapshot!("decode_pages_cut", run(&["-l", "query_qp_out"], &pages[..0x10f]));
    // Its words are there once.
    let list = CreateRqtInWithRqNum::new_in(&mut [0; 512], 4).map(|create| {
        create.tail.iter_mut().for_each(|entry| *entry = RqNum::new().with_rq_num(Rqn::new(7)));
        create.as_bytes().to_vec()
    });
    assert_snapshot!("decode_list_words", run(&[], &list.expect("there is room")));
}

#[test]
fn encode() {
    let run = |args: &[&str]| all(&[&["encode"], args].concat(), b"");
    let cq = ["modify_cq", "cqn=0x42", "cq_context.cq_period=16", "cq_context.log_page_size=0b100"];
    assert_snapshot!("encode", run(&cq));
    assert_snapshot!("encode_rust", run(&[&cq[..], &["--rust"]].concat()));
    assert_snapshot!("encode_c", run(&[&cq[..], &["--c"]].concat()));
    let table = ["create_rqt", "rqt_context.rqt_max_size=4", "rqt_context.rq_num[1].rq_num=0x101"];
    assert_snapshot!("encode_list_rust", run(&[&table[..], &["--rust"]].concat()));
    assert_snapshot!("encode_list_c", run(&[&table[..], &["--c"]].concat()));
    let register = ["access_reg+paos_reg", "op_mod=READ", "local_port=1"];
    assert_snapshot!("encode_register", run(&register));
}

#[test]
fn encode_faults() {
    let run = |args: &[&str]| all(&[&["encode"], args].concat(), b"");
    for (name, args) in [
        ("name", &["modfy_cq"][..]),
        ("field", &["modify_cq", "cq_contxt.cqn=5"]),
        ("deeper", &["modify_cq", "cq_period=5"]),
        ("wide", &["modify_cq", "cqn=0x1000000"]),
        ("word", &["modify_cq", "cqn=five"]),
        ("value", &["init2rtr_qp", "qpc.st=RQ"]),
        ("layout", &["modify_cq", "cq_context=5"]),
        ("index", &["create_cq", "pas[x]=5"]),
        ("array", &["ppcnt_reg", "local_port[1]=1"]),
        ("twice", &["modify_cq", "cqn=5", "cqn=6"]),
        ("no_value", &["modify_cq", "cqn"]),
        ("quoted", &["modify_cq", "op_mod=RESIZE CQ"]),
    ] {
        assert_snapshot!(format!("encode_fault_{name}"), run(args));
    }
    let both = r#"{"modify_cq_in": {"cqn": 1, "modify_field_select_resize_field_select": {
        "modify_field_select": {"modify_field_select": 1},
        "resize_field_select": {"resize_field_select": 2}}}}"#;
    let from = ["encode", "--from", "-"];
    assert_snapshot!("encode_fault_union", all(&from, both.as_bytes()));
    assert_snapshot!("encode_fault_json", all(&from, b"{\"modify_cq_in\": {\n\"cqn\": }}"));
    assert_snapshot!("encode_fault_flat", all(&from, b"modify_cq_in.cqn=1\nmodify_cq_in.cqk=2\n"));
}

#[test]
fn show() {
    assert_snapshot!("show_layout", all(&["show", "rqtc"], b""));
    assert_snapshot!("show_command", all(&["show", "MODIFY_CQ"], b""));
    assert_snapshot!("show_transition", all(&["show", "rtr2rts_qp"], b""));
    assert_snapshot!("show_field", all(&["show", "modify_cq.cq_context.cq_period"], b""));
    assert_snapshot!("show_register", all(&["show", "PAOS"], b""));
    assert_snapshot!("show_enum", all(&["show", "qp_state"], b""));
    assert_snapshot!("show_number", all(&["show", "Rqtn"], b""));
    for (name, same) in [
        ("Cap::CQ_MODERATION", "cmd_hca_cap.cq_moderation"),
        ("UMR_LOG_ENTITY_SIZE_5", "cmd_hca_cap_2.umr_log_entity_size_5"),
        ("esw_vport_cvlan_insert_overwrite", "e_switch_cap.vport_cvlan_insert_overwrite"),
        ("GeneralDevice2", "cmd_hca_cap_2"),
        ("ParseGraphNode", "parse_graph_node_cap"),
        ("parse_graph_node", "parse_graph_flex"),
        ("ESwitchCap", "e_switch_cap"),
        ("AllocQCounterIn", "alloc_q_counter_in"),
        ("Qp2rstIn", "qp_2rst_in"),
        ("roce.sw_r_roce_src_udp_port", "roce_cap.sw_r_roce_src_udp_port"),
    ] {
        assert_eq!(all(&["show", name], b""), all(&["show", same], b""));
    }
    assert_snapshot!("show_command_unknown", all(&["show", "modfy_cq"], b""));
    for (name, nearest) in [
        ("CQ_MODERATIO", "cq_moderation"),
        ("cqnn", "cqn"),
        ("general_devic", "general_device, general_device_2"),
    ] {
        assert!(all(&["show", name], b"").contains(&format!("`; nearest: {nearest}\n")), "{name}");
    }
    assert!(
        all(&["show", "CQ_MODERATION", "--svg"], b"").contains("  prm show CQ_MODERATION --svg\n")
    );
    assert_snapshot!("show_json", all(&["show", "rq_num", "--json"], b""));
    assert_snapshot!("show_svg", all(&["show", "rq_num", "--svg"], b""));
    for (of_c, ours) in [
        ("mlx5_ifc_cqc_bits", "cqc"),
        ("MLX5_CMD_OP_QUERY_CQ", "QUERY_CQ"),
        ("MLX5_REG_PAOS", "PAOS"),
    ] {
        assert_eq!(all(&["show", of_c], b""), all(&["show", ours], b""));
    }
    let found = |name| all(&["find", name], b"");
    assert_eq!(found("mlx5_ifc_cqc_bits"), found("cqc"));
    let encoded = |state| all(&["encode", "rst2init_qp", state], b"");
    assert_eq!(encoded("qpc.state=MLX5_QPC_STATE_INIT"), encoded("qpc.state=INIT"));
    assert_eq!(encoded("qpc.st=MLX5_QPC_ST_UC"), encoded("qpc.st=UC"));
    let any_state = all(&["show", "2RST_QP"], b"");
    assert!(any_state.contains("\nLeads from any state to RST\n"), "{any_state}");
    assert_snapshot!("show_unknown", all(&["show", "cqk"], b""));
    assert_snapshot!("show_field_unknown", all(&["show", "cqc.cq_perod"], b""));
}

#[test]
fn find_and_list() {
    assert_snapshot!("find", all(&["find", "moderation"], b""));
    assert_snapshot!("find_misspelled", all(&["find", "modertaion"], b""));
    assert_snapshot!("find_nothing", all(&["find", "xyzzy"], b""));
    assert_snapshot!("find_json", all(&["find", "rq_num", "--json"], b""));
    assert_snapshot!("list_commands", all(&["list", "commands", "cq"], b""));
    assert_snapshot!("list_layouts", all(&["list", "layouts", "modify_cq"], b""));
    assert_snapshot!("list_registers", all(&["list", "registers", "pao"], b""));
    assert_snapshot!("list_enums", all(&["list", "enums", "qp_s"], b""));
    assert_snapshot!("list_enum", all(&["list", "enums", "qp_state"], b""));
    assert_snapshot!("list_sources", all(&["list", "sources"], b""));
    assert_snapshot!("list_nothing", all(&["list", "layouts", "modfy_cq"], b""));
}

#[test]
fn diff() {
    let dir = tempfile::tempdir().expect("room");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("room");
        path.into_os_string().into_string().expect("text")
    };
    let mut other = modify_cq();
    other[0x10 + 0x11] = 17;
    let (a, b) = (file("a", &modify_cq()), file("b", &other));
    let run = |args: &[&str]| {
        let text = all(&[&["diff"], args].concat(), b"");
        text.replace(dir.path().to_str().expect("text"), "DIR")
    };
    assert_snapshot!("diff", run(&[&a, &b]));
    assert_snapshot!("diff_same", run(&[&a, &a]));
    assert_snapshot!("diff_json", run(&[&a, &b, "--json"]));
    let table = file("table", &create_rqt());
    assert_snapshot!("diff_other_layout", run(&[&a, &table]));
    assert_snapshot!("diff_missing", run(&[&a, &format!("{a}x")]));
    let longer = file("longer", &[create_rqt(), vec![0, 0, 1, 9]].concat());
    assert_snapshot!("diff_list", run(&[&table, &longer]));
}

#[test]
fn help() {
    assert_snapshot!("help", all(&["--help"], b""));
    for name in ["decode", "encode", "show", "find", "list", "diff"] {
        assert_snapshot!(format!("help_{name}"), all(&[name, "--help"], b""));
    }
}
