//! How the `prm` command behaves among others: files and pipes, ends, and what it takes back.

mod common;

use std::process::{Command, Stdio};

use common::{bad, good, hex, prm};
use mlx5_prm::{Cqc, Cqn, ModifyCqIn, QpState, Qpc, QueryQpOut};

fn modify_cq() -> ModifyCqIn {
    ModifyCqIn::new()
        .with_cqn(Cqn::new(0x4a))
        .with_cq_context(Cqc::new().with_dbr_addr(0x1234_5000))
        .changing_cq_period(16)
}

#[test]
fn a_file_and_standard_input_give_the_same() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join("modify_cq.bin");
    std::fs::write(&file, modify_cq().as_bytes()).expect("room");
    let by_file = good(&["decode", file.to_str().expect("text")], b"");
    assert_eq!(by_file, good(&["decode", "-"], hex(modify_cq().as_bytes()).as_bytes()));
    assert!(bad(&["decode", "/no/such/file"], b"").starts_with("prm: /no/such/file: "));
    assert!(bad(&["decode", "/"], b"").starts_with("prm: /: "));
}

#[test]
fn json_has_every_field() {
    let text = good(&["decode", "--json"], modify_cq().as_bytes());
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let modify = &json["modify_cq_in"];
    assert_eq!(modify["opcode"], 0x403);
    assert_eq!(modify["uid"], 0);
    assert_eq!(modify["cq_context"]["cq_period"], 16);
    assert_eq!(modify["pas"], serde_json::json!([]));
    assert_eq!(modify.get("reserved"), None);
    assert_eq!(modify.get("trailing"), None);
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [&[][..], &["show"], &["decode", "--colour"], &["frobnicate"], &["encode"]] {
        assert_eq!(prm(args, b"").status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn control_characters_do_not_get_to_a_terminal() {
    for args in [
        &["encode", "modify_cq", "cq\x1b[31mn=3"][..],
        &["decode", "--layout", "\x1b]0;title\x07"],
        &["decode", "/no/such\x1b[2J"],
        &["spec", "check", "/no/such\x1b[2J"],
    ] {
        let told = prm(args, b"");
        assert_eq!(told.status.code(), Some(1), "{args:?}");
        let told = String::from_utf8(told.stderr).expect("text");
        assert!(told.contains('\u{241b}') && !told.contains('\x1b'), "{told:?}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_prm"))
        .args(["list", "layouts", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!((out.status.code(), out.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn colours_only_where_they_are_asked_for() {
    let run = |name: &str, value: &str| {
        Command::new(env!("CARGO_BIN_EXE_prm"))
            .args(["show", "rq_num"])
            .env_remove("NO_COLOR")
            .env(name, value)
            .output()
            .expect("it runs")
            .stdout
    };
    let has = |text: &[u8]| text.contains(&0x1b);
    assert!(!has(&run("NO_COLOR", "1")), "standard output is no terminal anyway");
    assert!(!has(&run("TERM", "xterm")));
    assert!(has(&run("CLICOLOR_FORCE", "1")));
}

#[test]
fn what_is_decoded_is_encoded_again() {
    let bytes = modify_cq().as_bytes().to_vec();
    for form in ["--json", "--flat"] {
        let text = good(&["decode", form], &bytes);
        let out = prm(&["encode", "--from", "-", "--binary"], text.as_bytes());
        assert_eq!(out.stdout, bytes, "{form}");
        let changed = ["encode", "--from", "-", "--binary", "cqn=7"];
        let out = prm(&changed, text.as_bytes());
        let wanted = modify_cq().with_cqn(Cqn::new(7));
        assert_eq!(out.stdout, wanted.as_bytes(), "{form}, and a field changed");
    }
}

#[test]
fn select_bits_are_those_of_the_fields() {
    let encode = |args: &[&str]| {
        let out = prm(&[&["encode", "--binary"], args].concat(), b"");
        assert_eq!(out.status.code(), Some(0), "{args:?}");
        out.stdout
    };
    let cq = ["modify_cq", "cq_context.cq_period=16", "cq_context.cq_max_count=64"];
    let wanted = ModifyCqIn::new().changing_cq_period(16).changing_cq_max_count(64);
    assert_eq!(encode(&cq), wanted.as_bytes());
    let none = encode(&[&cq[..], &["--no-select"]].concat());
    assert_eq!(none[0xc..0x10], [0; 4]);
    // `min_rnr_nak` is optional in RTR2RTS of RC, `ack_timeout` is not.
    let qp = ["rtr2rts_qp", "qpc.st=RC", "qpc.min_rnr_nak=5"];
    assert_ne!(encode(&qp)[0x10..0x14], [0; 4]);
    let qp = ["rtr2rts_qp", "qpc.st=RC", "qpc.primary_address_path.ack_timeout=14"];
    assert_eq!(encode(&qp)[0x10..0x14], [0; 4]);
    // One in a layout of single bits.
    assert_eq!(encode(&["modify_rqt", "ctx.rqt_actual_size=1"])[0x17], 1);
}

#[test]
fn a_list_of_layouts_with_one_field_takes_values() {
    let one = |args: &[&str]| {
        good(&[&["encode", "modify_rqt", "ctx.rqt_actual_size=2"], args].concat(), b"")
    };
    let each = one(&["ctx.rq_num[0].rq_num=0x11", "ctx.rq_num[1].rq_num=0x12"]);
    assert_eq!(one(&["ctx.rq_num=0x11,0x12"]), each);
    let wide = bad(&["encode", "modify_rqt", "ctx.rq_num=1,0x1000000"], b"");
    assert!(wide.contains("0x1000000") && wide.contains("24 bits"), "{wide}");
}

#[test]
fn the_simulated_adapter_says_what_its_syndromes_mean() {
    let out = prm(&["send", "--to", "sim", "create_cq", "cq_context.log_cq_size=31"], b"");
    let text = String::from_utf8(out.stderr).expect("text");
    assert!(text.contains("0x510016 of the simulated adapter: the queue or table"), "{text}");
    let explained =
        good(&["explain"], text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        explained.contains("If it was the simulated adapter: the queue or table"),
        "{explained}"
    );
    assert!(!explained.contains("The log calls it"), "{explained}");
    let args = ["send", "--to", "sim", "create_qp", "qpc.st=RC", "--then", "rst2init_qp"];
    let told = String::from_utf8(prm(&args, b"").stderr).expect("text");
    let field = "\nThe field: qpc.primary_address_path.vhca_port_num.\n";
    assert!(told.ends_with(field), "{told}");
    // A syndrome that real adapters have, too.
    let table = ["send", "--to", "sim", "create_rqt", "rqt_context.rqt_actual_size=1"];
    let told = prm(&[&table[..], &["rqt_context.rq_num=9"]].concat(), b"");
    let told = String::from_utf8(told.stderr).expect("text");
    let words = "\nSyndrome 0x538faf of the simulated adapter: the table is to hold more entries than its \
                 maximum.\nThe field: rqt_context.rqt_actual_size.\n";
    assert!(told.ends_with(words), "{told}");
}

#[test]
fn nothing_of_a_mailbox_is_lost_on_the_way_back() {
    let refused = |text: &str| bad(&["encode", "--from", "-"], text.as_bytes());
    for (text, told) in [
        ("{\"modify_cq_in\":{\"nonexistent\":{}}}", "has no field `nonexistent`"),
        ("{\"modify_cq_in\":{\"cqn\":{}}}", "cqn: not a layout"),
        ("{\"modify_cq_in\":{\"cqn\":[]}}", "cqn: not an array or a list"),
        (
            "{\"modify_cq_in\":{\"reserved\":[{\"at\":8,\"bits\":2147483648,\"x\":1}]}}",
            "not the bits",
        ),
        ("{\"modify_cq_in\":{\"reserved\":[{\"at\":8,\"bits\":1}]}}", "belong to fields"),
        ("{\"modify_cq_in\":{\"missing\":999999}}", "`missing` is 999999, of 272 bytes"),
        ("{\"modify_cq_in\":{\"cqn\":5,\"missing\":270}}", "takes fields away that are set"),
        ("{\"modify_cq_in\":{\"missing\":4,\"trailing\":\"0x11223344\"}}", "do not go together"),
        ("modify_cq_in.trailing=0x11\nmodify_cq_in.trailing=0x22", "`trailing` is set twice"),
        ("modify_cq_in.missing=4\nquery_cq_in.cqn=1", "is said of a layout that is not the last"),
        (
            "modify_cq_in.cqn=1\nquery_cq_in.cqn=1\nmodify_cq_in.cqn=2",
            "line 3: modify_cq_in was there",
        ),
        (
            "# line 1: A\nmodify_cq_in.cqn=1\n# line 9: B\nmodify_cq_in.cqn=1",
            "line 3: another mailbox",
        ),
        ("{\"modify_cq_in\":{\"cqn\":1,\"cqn\":2}}", "`cqn` is there twice"),
    ] {
        let text = refused(text);
        assert!(text.contains(told), "{text}");
    }
    // A layout without its list, and an empty object of one.
    let query =
        good(&["encode", "--from", "-"], b"{\"modify_cq_in\":{\"cq_context\":{},\"pas\":[]}}");
    assert_eq!(query, good(&["encode", "modify_cq"], b""));
    let list = bad(&["encode", "modify_cq+query_cq", "pas[0]=1"], b"");
    assert!(list.contains("the list `pas` is not at the end of the mailbox"), "{list}");
}

#[test]
fn long_arguments_are_shown_around_what_is_wrong() {
    let pas = format!("pas={}", vec!["0x1000"; 10_000].join(","));
    let text = bad(&["encode", "modify_cq", &pas, "cqn=zz"], b"");
    assert!(text.len() < 2000 && text.contains("cqn=zz\n") && text.contains("^^\n"), "{text}");
    assert!(bad(&["show", &"a".repeat(100_000)], b"").contains("is called"));
}

#[test]
fn what_is_no_text_of_a_dump_is_named() {
    let text = bad(&["decode"], b"\x1f\x8b\x08\0\0\0");
    assert!(text.contains("compressed") && text.contains("zcat"), "{text}");
    // A line of any length is one.
    let of = |row: &str| {
        format!(
            "cmd[1]: start dump\ncmd[1]: dump command data MODIFY_CQ(0x403) INPUT\n{row}\ncmd[1]: end dump\n"
        )
    };
    let dump = of("cmd[1]: 000: 04030000 00000000 00000001 00000000");
    let log = format!("{dump}{}\n{dump}", "x".repeat(200_000));
    let flat = good(&["decode", "--flat"], log.as_bytes());
    let lines: Vec<&str> = flat.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        lines,
        ["# line 1, cmd[1]: MODIFY_CQ(0x403) input", "# line 6, cmd[1]: MODIFY_CQ(0x403) input"]
    );
}

#[test]
fn a_mailbox_without_a_layout_goes_there_and_back() {
    let log = "cmd[0]: dump command data unknown command opcode(0xfff) INPUT\n\
               cmd[0]: 000: 0fff0000 00000000 00000000 00000007\ncmd[0]: end dump\n";
    for form in ["--json", "--flat"] {
        let text = good(&["decode", form], log.as_bytes());
        let again = good(&["encode", "--from", "-"], text.as_bytes());
        assert_eq!(again, "0fff0000 00000000 00000000 00000007\n", "{form}");
        let field = bad(&["encode", "--from", "-", "cqn=5"], text.as_bytes());
        assert!(field.contains("no layout is known"), "{field}");
        let two = bad(&["encode", "--from", "-"], [&text[..], &text].concat().as_bytes());
        assert!(two.contains("another mailbox begins") || two.contains("of one mailbox"), "{two}");
        let cut = bad(&["encode", "--from", "-"], text.replace("0007", "007").as_bytes());
        assert!(cut.contains("no run of bytes") || cut.contains("empty"), "{cut}");
    }
}

#[test]
fn mailboxes_of_a_run_are_not_made_one() {
    let run =
        ["send", "--to", "sim", "--flat", "query_hca_cap", "op_mod=1", "--then", "query_hca_cap"];
    let text = good(&run, b"");
    let told = bad(&["encode", "--from", "-"], text.as_bytes());
    let second = text.lines().enumerate().filter(|(_, line)| line.starts_with("# QUERY")).nth(1);
    let number = second.expect("there are two").0 + 1;
    assert!(told.contains(&format!("line {number}: another mailbox begins")), "{told}");
    // Of one the head does no harm.
    let one: Vec<&str> = text.lines().take(number - 1).collect();
    good(&["encode", "--from", "-"], one.join("\n").as_bytes());
}

#[test]
fn what_is_told_of_a_text_is_short() {
    let told = |text: &[u8]| bad(&["encode", "--from", "-"], text);
    let long = "9".repeat(100_000);
    for text in [
        format!("modify_cq_in.cqn={long}"),
        format!("modify_cq_in.{long}=1"),
        format!("{{\"modify_cq_in\":{{\"cqn\":\"{long}\"}}}}"),
        format!("{{\"modify_cq_in\":{{\"{long}\":1}}}}"),
        format!("{long}=1"),
    ] {
        let told = told(text.as_bytes());
        assert!(told.len() < 1000 && told.contains("99 ..."), "{}", told.len());
    }
    assert!(told(b"modify_cq_in.cqn=1\0").contains("standard input: binary\n"));
    // A mark of the byte order is none of the text.
    let mark = |text: &str| good(&["encode", "--from", "-"], format!("\u{feff}{text}").as_bytes());
    assert_eq!(mark("{\"modify_cq_in\":{\"cqn\":1}}"), mark("modify_cq_in.cqn=1\n"));
}

#[test]
fn rows_of_a_tree_are_wrapped() {
    for byte in [0x15, 0x1a, 0xff] {
        let decode = ["decode", "-t", "-l", "modify_cq_in"];
        let tree = good(&decode, &[byte; 272]);
        // A number is never cut.
        let rows = tree.lines().filter(|line| !line.contains("dbr_addr"));
        let wide: Vec<&str> = rows.filter(|line| line.len() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(tree.contains("not in the") && tree.contains(" | "), "{tree}");
    }
}

#[test]
fn what_is_wrapped_is_named() {
    let told = |text: &str| bad(&["decode"], text.as_bytes());
    let json = "{\"MESSAGE\":\"mlx5_core 0000:08:00.0: cmd[0]: start dump\"}\n";
    assert!(told(json).contains("without -o json"), "{}", told(json));
    let late = told("\nmlx5-recording 1\n");
    assert!(late.contains("Leave out the lines before `mlx5-recording`"), "{late}");
    let reply = bad(&["decode", "-r", "modify_xrq"], &[0; 16]);
    assert!(reply.contains("no layout is known for MODIFY_XRQ(0x72a)"), "{reply}");
    assert!(!reply.contains("--reply-to"), "{reply}");
}

#[test]
fn what_was_decoded_is_known_again() {
    let modify = modify_cq();
    for form in ["--json", "--flat"] {
        let text = good(&["decode", form], modify.as_bytes());
        let told = bad(&["decode"], text.as_bytes());
        assert!(told.contains("`prm encode --from FILE` makes the mailbox"), "{told}");
    }
}

#[test]
fn what_is_not_selected_is_told_where_a_mask_counts() {
    let notes = |args: &[&str]| {
        let out = prm(&[&["encode"], args].concat(), b"");
        assert_eq!(out.status.code(), Some(0));
        String::from_utf8(out.stderr).expect("text")
    };
    assert_eq!(
        notes(&["modify_rqt", "ctx.rq_num[0].rq_num=5"]),
        "prm: note: ctx.rq_num[0].rq_num: modify_rqt_select is 0, so that nothing is changed; give \
         ctx.rqt_actual_size, too\n"
    );
    assert_eq!(notes(&["modify_rqt", "ctx.rqt_actual_size=1", "ctx.rq_num[0].rq_num=5"]), "");
    // It makes an entry, so that all counts; with op_mod 1 it changes one.
    assert_eq!(notes(&["set_fte", "flow_context.flow_tag=5"]), "");
    assert!(notes(&["set_fte", "op_mod=1", "flow_context.group_id=5"]).contains("no bit"));
}

#[test]
fn a_resize_is_known_by_its_fields() {
    let encode = |args: &[&str]| {
        let out = prm(&[&["encode", "modify_cq", "cqn=0x42", "--binary"], args].concat(), b"");
        assert_eq!(out.status.code(), Some(0));
        (out.stdout, String::from_utf8(out.stderr).expect("text"))
    };
    let modify = || ModifyCqIn::new().with_cqn(Cqn::new(0x42));
    let (resize, notes) = encode(&["cq_context.log_cq_size=4", "cq_context.log_page_size=1"]);
    let wanted = modify().changing_log_cq_size(4).changing_log_page_size(1);
    assert_eq!((&*resize, &*notes), (&wanted.as_bytes()[..], ""));
    // One command can't do both, and what was said counts.
    let both = ["cq_context.log_cq_size=4", "cq_context.cq_period=16"];
    let (moderate, notes) = encode(&both);
    let wanted = modify().with_cq_context(Cqc::new().with_log_cq_size(4)).changing_cq_period(16);
    assert_eq!(moderate, wanted.as_bytes());
    assert!(notes.contains("log_cq_size counts with op_mod=1 only"), "{notes}");
    let (said, notes) = encode(&["op_mod=0", "cq_context.log_cq_size=4"]);
    assert_eq!((said[7], &said[12..16]), (0, &[0; 4][..]));
    assert!(notes.contains("log_cq_size counts with op_mod=1 only"), "{notes}");
    let mask = "modify_field_select_resize_field_select.modify_field_select.modify_field_select=1";
    assert_eq!(encode(&[mask, "cq_context.log_cq_size=4"]).0[7], 0);
    let (_, notes) = encode(&["pas[0]=0x1000"]);
    assert!(notes.contains("or with op_mod=1 cq_context.log_cq_size or"), "{notes}");
}

#[test]
fn commands_on_general_objects_are_complete() {
    let encode = |args: &[&str]| prm(&[&["encode", "--binary"], args].concat(), b"").stdout;
    let head = |bytes: &[u8]| [bytes[0], bytes[1], bytes[6], bytes[7]];
    // CREATE_GENERAL_OBJECT and MLX5_OBJ_TYPE_PAGE_TRACK of the kernel's mlx5_ifc.h.
    assert_eq!(head(&encode(&["create_general_object+page_track"])), [0x0a, 0x00, 0x00, 0x46]);
    assert_eq!(head(&encode(&["create_page_track_obj"])), [0x0a, 0x00, 0x00, 0x46]);
    assert_eq!(head(&encode(&["modify_page_track_obj"])), [0x0a, 0x01, 0x00, 0x46]);
    assert_eq!(head(&encode(&["QUERY_GENERAL_OBJECT", "obj_type=7"])), [0x0a, 0x02, 0, 7]);
    // Those whose layout has no object, by their name.
    assert_eq!(head(&encode(&["query_virtio_net_q"])), [0x0a, 0x02, 0x00, 0x0d]);
    assert_eq!(head(&encode(&["create_encryption_key_obj"])), [0x0a, 0x00, 0x00, 0x0c]);
    // What is given counts.
    let given = ["create_general_object+page_track", "opcode=0xa01", "obj_type=5"];
    assert_eq!(head(&encode(&given)), [0x0a, 0x01, 0x00, 0x05]);
    let given = ["create_page_track_obj", "general_obj_in_cmd_hdr.opcode=0xa01"];
    assert_eq!(head(&encode(&given)), [0x0a, 0x01, 0x00, 0x46]);
    assert!(good(&["show", "create_general_object"], b"").contains("general_obj_in_cmd_hdr"));
}

#[test]
fn nothing_behind_what_is_known_is_lost() {
    let tree = |bytes: &[u8], args: &[&str]| good(&[&["decode", "-t"], args].concat(), bytes);
    // QUERY_QP has a list behind 272 bytes, of 8 bytes each.
    for extra in 1..24 {
        let mut output = [vec![0; 272], vec![0xde; extra]].concat();
        let text = tree(&output, &["-r", "query_qp"]);
        assert!(text.contains("de"), "{extra}: {text}");
        assert_eq!(text.contains("the mailbox ends here"), extra % 8 != 0, "{extra}: {text}");
        output.truncate(272);
        assert!(!tree(&output, &["-r", "query_qp"]).contains("ends here"));
    }
    // A page of capabilities of which the tables know the first 256 bytes.
    let mut page = vec![0; 4112];
    page[0x500] = 7;
    for op_mod in ["0", "1", "5"] {
        let text = tree(&page, &["-r", "query_hca_cap", "--op-mod", op_mod]);
        assert!(text.contains("0x500") && text.contains("07"), "{op_mod}: {text}");
    }
}

#[test]
fn heads_on_general_objects_come_back_as_they_were() {
    for (layout, head) in [
        ("modify_macsec_obj_in", "0a010000"),
        ("general_obj_in_cmd_hdr+page_track", "0a000000"),
        ("create_stc_in", "00000000"),
    ] {
        let hex = format!("{head}{}", "0".repeat(1000));
        let size = good(&["show", layout.split('+').next().unwrap()], b"");
        assert!(!size.is_empty());
        let flat = prm(&["decode", "--flat", "-l", layout], hex.as_bytes());
        let flat = String::from_utf8(flat.stdout).expect("text");
        let back = prm(&["encode", "--from", "-"], flat.as_bytes());
        let back = String::from_utf8(back.stdout).expect("text").replace([' ', '\n'], "");
        assert!(back.starts_with(&hex[..16]), "{layout}: {back}\n{flat}");
    }
    let zeros = |name: &str| good(&["encode", name], b"").chars().all(|c| "0 \n".contains(c));
    assert!(zeros("query_geneve_tlv_option_out") && zeros("create_virtio_q_counters_out"));
    let told = prm(&["encode", "create_arg"], b"").stderr;
    assert!(String::from_utf8(told).expect("text").contains("obj_type is 0"));
}

#[test]
fn a_list_within_is_shown_with_its_way() {
    let text = good(&["show", "CreateRqtInWithRqNum"], b"");
    assert!(
        text.starts_with("create_rqt_in: struct of 272 bytes and a list, family rqt\n"),
        "{text}"
    );
    assert!(text.contains("\nAt its end: rqt_context.rq_num, struct rq_num []\n"), "{text}");
}

#[test]
fn the_output_of_a_command_is_named() {
    let output = QueryQpOut::new().with_qpc(Qpc::new().with_state(QpState::RTS));
    let text = good(&["decode", "--flat", "--reply-to", "query_qp"], output.as_bytes());
    assert_eq!(text, "query_qp_out.status=0x0\nquery_qp_out.qpc.state=0x3\n");
}

#[test]
fn what_is_given_over_a_file_has_its_select_bits() {
    let text = b"modify_cq_in.cqn=0x42\n";
    let out = prm(&["encode", "--from", "-", "--binary", "cq_context.cq_period=16"], text);
    let wanted = ModifyCqIn::new().with_cqn(Cqn::new(0x42)).changing_cq_period(16);
    assert_eq!(out.stdout, wanted.as_bytes());
    // So has what the file changes already.
    let changes = ModifyCqIn::new().changing_cq_max_count(3);
    let text = good(&["decode", "--flat"], changes.as_bytes());
    let out =
        prm(&["encode", "--from", "-", "--binary", "cq_context.cq_period=16"], text.as_bytes());
    assert_eq!(out.stdout, changes.changing_cq_period(16).as_bytes());
    // What the file has keeps its mask.
    let out =
        prm(&["encode", "--from", "-", "--binary"], b"modify_cq_in.cq_context.cq_period=16\n");
    assert_eq!(out.stdout[0xc..0x10], [0; 4]);
}

#[test]
fn lists_at_once_are_the_same_in_c() {
    let once = good(&["encode", "--c", "create_cq", "pas=1,2"], b"");
    assert_eq!(once, good(&["encode", "--c", "create_cq", "pas[0]=1", "pas[1]=2"], b""));
    assert!(once.contains("DEVX_SET64(create_cq_in, in, pas[1], 0x2);"), "{once}");
    // Without a name there is no macro; and none for what lies across two words of 64 bits.
    let reserved = good(&["encode", "--c", "modify_cq", "reserved[4]=0x80000000"], b"");
    assert!(reserved.contains("memcpy(in + 0x4, \"\\x80\", 1); /* reserved[4] */"), "{reserved}");
    let mac = good(&["encode", "--c", "mtcq_reg", "base_mac=0x112233445566"], b"");
    assert!(
        mac.contains("memcpy(in + 0x14, \"\\x00\\x00\\x11\\x22\\x33\\x44\\x55\\x66\", 8);"),
        "{mac}"
    );
}

#[test]
fn a_layout_is_named_once() {
    let told = "prm: `cqc` is there twice\n";
    assert!(bad(&["decode", "-l", "cqc+cqc"], &[0; 128]).starts_with(told));
    assert!(bad(&["encode", "cqc+cqc"], b"").starts_with(told));
}

#[test]
fn an_output_is_told_from_an_input() {
    let refused = [9, 0, 0, 0, 0, 0x62, 0x31, 0xe6, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        bad(&["decode"], &refused),
        "prm: standard input: an output: status BAD_RES_STATE_ERR, syndrome 0x6231e6\n\
         Say whose: --reply-to COMMAND.\n"
    );
    let text = good(&["decode", "-t", "-r", "QUERY_CQ"], &refused);
    assert!(text.contains("0x010  the mailbox ends here; its layout has 256 bytes more"), "{text}");
}

#[test]
fn a_command_for_another_function_is_no_refusal() {
    let input = ["encode", "create_virtio_net_q", "general_obj_in_cmd_hdr.vhca_tunnel_id=5"];
    let text = good(&["decode", "-t"], good(&input, b"").as_bytes());
    assert!(text.contains("vhca_tunnel_id  0x5"), "{text}");
    // An output is shorter, or of no type that is known.
    let refused = [0x0a, 0, 0, 0, 0, 5, 0, 0x0d, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(bad(&["decode"], &refused).contains("an output: status IX_ERR, syndrome 0x5000d"));
}

#[test]
fn what_a_log_says_counts_more_than_an_option() {
    let titled = b"\
        cmd[1]: start dump\n\
        cmd[1]: dump command data ALLOC_PD(0x800) OUTPUT\n\
        cmd[1]: 000: 00000000 00000000 00000007 00000000\n\
        cmd[1]: end dump\n";
    let text = good(&["decode", "-t", "-r", "query_cq"], titled);
    assert!(text.contains("ALLOC_PD(0x800) output") && text.contains("pd  0x7"), "{text}");
    // The page that the log's own input asks for.
    let input = "cmd[2]: start dump\ncmd[2]: dump command data QUERY_HCA_CAP(0x100) INPUT\n\
        cmd[2]: 000: 01000000 00000005 00000000 00000000\ncmd[2]: end dump\n";
    let rows: String = (0..0x1010 / 16)
        .map(|row| format!("cmd[2]: {:03x}: 00000000 00000000 00000000 00000000\n", row * 16))
        .collect();
    let output = "cmd[2]: start dump\ncmd[2]: dump command data QUERY_HCA_CAP(0x100) OUTPUT\n";
    let log = format!("{input}{output}{rows}cmd[2]: end dump\n");
    let json = good(&["decode", "--json", "-r", "query_hca_cap"], log.as_bytes());
    assert!(json.contains("\"odp_cap\""), "{json}");
    let titles = |option: &[&str], log: &str| -> Vec<String> {
        let text = good(&[&["decode", "-t"], option].concat(), log.as_bytes());
        let titles = text.lines().filter_map(|line| line.strip_prefix("line "));
        titles.filter_map(|line| Some(line.split_once(": ")?.1.to_owned())).collect()
    };
    let untitled = "\
        cmd[0]: 000: 04020000 00000000 00000042 00000000\n\
        cmd[1]: 000: 08000000 00000000 00000000 00000000\n\
        cmd[2]: 000: 08000000 006231e6 00000000 00000000\n\
        cmd[3]: 000: 00000000 00000000 00000007 00000000\n";
    let inputs = [
        "QUERY_CQ(0x402) input: query_cq_in, 16 bytes",
        "ALLOC_PD(0x800) input: alloc_pd_in, 16 bytes",
    ];
    let found = titles(&["-r", "query_cq"], untitled);
    assert_eq!(found[..2], inputs);
    assert!(
        found[2..].iter().all(|title| title.starts_with("QUERY_CQ(0x402) output")),
        "{found:?}"
    );
    let page = "cmd[0]: 000: 01000000 00000005 00000000 00000000\n";
    assert!(titles(&["-r", "query_hca_cap"], page)[0].starts_with("QUERY_HCA_CAP(0x100) input"));
    let found = titles(&[], untitled);
    assert_eq!(found[..2], inputs);
    assert!(
        found[2..].iter().all(|title| title.starts_with("unknown command output")),
        "{found:?}"
    );
}

#[test]
fn a_field_of_two_layouts_is_not_set_in_the_first() {
    assert_eq!(
        bad(&["encode", "cqc+qpc", "page_offset=3"], b""),
        "prm: cqc and qpc both have a field `page_offset`\n  \
         prm encode cqc+qpc page_offset=3\n                     ^^^^^^^^^^^\n\
         Say which: cqc.page_offset or qpc.page_offset.\n"
    );
    assert!(!good(&["encode", "cqc+qpc", "qpc.page_offset=3"], b"").is_empty());
    // A mask in the context is no field of it.
    good(&["encode", "modify_hca_vport_context", "hca_vport_context.port_guid=1"], b"");
}

#[test]
fn what_could_not_be_written_is_told() {
    for args in [&["--version"][..], &["help"], &["help", "send"], &["list", "layouts"]] {
        let full = std::fs::File::create("/dev/full").expect("Linux has it");
        let out = Command::new(env!("CARGO_BIN_EXE_prm")).args(args).stdout(full).output();
        let out = out.expect("it runs");
        let told = String::from_utf8(out.stderr).expect("text");
        assert_eq!(out.status.code(), Some(1), "{args:?}: {told}");
        assert!(told.starts_with("prm: standard output: No space left"), "{args:?}: {told}");
    }
}
