//! What `prm encode --rust` writes is compiled with this test, what `--c` writes by gcc on the headers of the
//! kernel and of rdma-core: each makes the mailbox that it was written for.

mod common;
mod rust {
    include!("built/rust.rs");
}

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use common::{good, hex};
use serde_json::Value;

/// What people build: names, and fields of every kind.
const GIVEN: &[&[&str]] = &[
    &["modify_cq", "cqn=0x42", "cq_context.cq_period=16", "cq_context.cq_max_count=32"],
    &[
        "create_cq",
        "cq_context.log_cq_size=10",
        "cq_context.dbr_addr=0x7f00123456780040",
        "pas=0x1000,0x2000",
    ],
    &[
        "create_qp",
        "qpc.st=RC",
        "qpc.pd=5",
        "qpc.primary_address_path.rgid_rip=0x00112233445566778899aabbccddeeff",
        "qpc.rwe=1",
    ],
    &[
        "init2rtr_qp",
        "qpn=7",
        "qpc.mtu=BYTES_4096",
        "qpc.remote_qpn=0xabcdef",
        "qpc.primary_address_path.rmac_47_32=0x1234",
    ],
    &["rtr2rts_qp", "qpn=7", "qpc.retry_count=7", "qpc.rnr_retry=6", "qpc.next_send_psn=0x123456"],
    &[
        "create_rqt",
        "rqt_context.rqt_max_size=4",
        "rqt_context.rqt_actual_size=2",
        "rqt_context.rq_num[1].rq_num=0x101",
    ],
    &[
        "create_mkey",
        "memory_key_mkey_entry.start_addr=0x7f0000000000",
        "memory_key_mkey_entry.len=0x100000",
        "klm_pas_mtt=1,2,3,4",
    ],
    &[
        "set_fte",
        "table_id=9",
        "flow_context.action=FWD_DEST",
        "flow_context.match_value.outer_headers.ethertype=0x800",
        "flow_context.match_value.outer_headers.dst_ipv4_dst_ipv6.ipv4_layout.ipv4=0x0a000001",
        "flow_context.destination_list_size=1",
    ],
    &["query_hca_cap", "op_mod=1"],
    &["modify_rq", "rqn=3", "rq_state=RST", "ctx.state=RDY"],
    &["paos_reg", "local_port=1", "admin_status=1"],
    &[
        "create_tir",
        "ctx.disp_type=INDIRECT",
        "ctx.indirect_table=8",
        "ctx.rx_hash_toeplitz_key=0x0102,3",
    ],
];

/// Inputs that are filled with anything, for the kinds of fields that nobody writes by hand. They are known to have
/// no fields that the codec has no setter for.
const FILLED: &[&str] = &[
    "modify_cq_in",
    "create_srq_in",
    "create_tis_in",
    "modify_nic_vport_context_in",
    "create_flow_group_in",
    "create_eq_in",
    "create_scheduling_element_in",
];

/// A mailbox: what it is called, what `prm encode` gets, and its standard input.
type Made = (String, Vec<String>, Vec<u8>);

fn mailboxes() -> Vec<Made> {
    let given = GIVEN.iter().map(|args| {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        (format!("given_{}", args[0]), args, Vec::new())
    });
    let filled = FILLED.iter().map(|name| {
        let layout = mlx5_prm::layout_desc(name).expect("a layout");
        let noise: Vec<u8> = (0..layout.size).map(|i| (i * 37 + 11) as u8).collect();
        let json = good(&["decode", "--json", "--layout", name], &noise);
        let mut json: Value = serde_json::from_str(&json).expect("JSON");
        without_reserved(&mut json);
        json[name].as_object_mut().expect("an object").shift_remove("opcode");
        let args = vec!["--from".to_owned(), "-".to_owned()];
        (format!("filled_{name}"), args, json.to_string().into_bytes())
    });
    given.chain(filled).collect()
}

fn without_reserved(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("reserved");
            fields.values_mut().for_each(without_reserved);
        }
        Value::Array(values) => values.iter_mut().for_each(without_reserved),
        _ => {}
    }
}

fn encode(args: &[String], form: &str, input: &[u8]) -> String {
    let args: Vec<&str> =
        ["encode"].into_iter().chain(args.iter().map(String::as_str)).chain([form]).collect();
    good(&args, input)
}

/// The mailbox, as hex without spaces.
fn wanted(args: &[String], input: &[u8]) -> String {
    encode(args, "--hex", input).split_whitespace().collect()
}

/// How the file begins that is compiled.
const HEAD: &str = "\
// Written by: PRM_BUILT=write cargo test -p mlx5-prm-cli --test built

pub(crate) type Make = fn() -> Vec<u8>;
";

#[test]
fn what_is_written_as_rust_makes_the_mailbox() {
    // A function for each.
    let mut text = HEAD.to_owned();
    let mut all = "\npub(crate) const ALL: &[(&str, Make)] = &[\n".to_owned();
    for (name, args, input) in mailboxes() {
        let rust = encode(&args, "--rust", &input);
        let made = rust.lines().find_map(|line| line.strip_prefix("let mut ")?.split(' ').next());
        let made = made.unwrap_or_else(|| panic!("{name} is not made by fields:\n{rust}"));
        let _ = write!(text, "\npub(crate) fn {name}() -> Vec<u8> {{\n");
        for line in rust.lines() {
            let _ = writeln!(text, "{}{line}", if line.is_empty() { "" } else { "    " });
        }
        let _ = writeln!(text, "    {made}.as_bytes().to_vec()\n}}");
        let _ = writeln!(all, "    (\"{name}\", {name}),");
    }
    text += &(all + "];\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/built/rust.rs");
    if std::env::var_os("PRM_BUILT").is_some_and(|what| what == "write") {
        std::fs::write(path, text).expect("a place to write to");
        panic!("written: {path}; run the test again, without PRM_BUILT");
    }
    let compiled = std::fs::read_to_string(path).expect("it is there");
    assert!(
        compiled == text,
        "{path} is not what prm writes now; its first line says how it is renewed"
    );

    let wanted: Vec<(String, String)> =
        mailboxes().into_iter().map(|(name, args, input)| (name, wanted(&args, &input))).collect();
    let made: Vec<(String, String)> =
        rust::ALL.iter().map(|(name, make)| (name.to_string(), hex(&make()))).collect();
    assert_eq!(made, wanted);
}

/// What `mlx5_ifc.h` needs of other headers.
const STAND_INS: &str = "\
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define DECLARE_FLEX_ARRAY(TYPE, NAME) TYPE NAME[0]
";

/// The layouts of the kernel's headers, without what these include.
fn layouts() -> String {
    let install = "run: apt-get install gcc libibverbs-dev linux-headers-amd64";
    let sources =
        std::fs::read_dir("/usr/src").unwrap_or_else(|e| panic!("/usr/src: {e}; {install}"));
    let folders = sources.map(|entry| entry.expect("a folder that can be read").path());
    let mut folders: Vec<PathBuf> = folders
        .map(|folder| folder.join("include/linux/mlx5"))
        .filter(|folder| folder.join("mlx5_ifc.h").exists())
        .collect();
    folders.sort();
    let folder = folders.pop().unwrap_or_else(|| panic!("no mlx5_ifc.h below /usr/src; {install}"));
    let header = |name| {
        let text = std::fs::read_to_string(folder.join(name)).expect("a header that can be read");
        let lines = text.lines().filter(|line| !line.starts_with("#include"));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    header("mlx5_ifc_fpga.h") + &header("mlx5_ifc.h")
}

#[test]
fn what_is_written_as_c_makes_the_mailbox() {
    let scratch = tempfile::tempdir().expect("room for a folder");
    let mut text = STAND_INS.to_owned() + &layouts();
    let mut main = "int main(void)\n{\n".to_owned();
    for args in GIVEN {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let (name, c) = (&args[0], encode(&args, "--c", b""));
        assert!(c.contains("DEVX_SET"), "{name} is not made by fields:\n{c}");
        let _ = write!(
            text,
            "static void {name}(void)\n{{\n{c}\n\
             \tfor (size_t i = 0; i < sizeof(in); i++)\n\t\tprintf(\"%02x\", in[i]);\n\tputs(\"\");\n}}\n",
        );
        let _ = writeln!(main, "\t{name}();");
    }
    std::fs::write(scratch.path().join("all.c"), text + &main + "}\n").expect("room for a file");
    let gcc = Command::new("gcc").args(["-o", "all", "all.c"]).current_dir(&scratch).output();
    let gcc = gcc.unwrap_or_else(|e| panic!("no gcc ({e}); run: apt-get install gcc"));
    let said = String::from_utf8_lossy(&gcc.stderr);
    assert!(gcc.status.success(), "gcc does not compile what prm wrote:\n{said}");
    let out = Command::new(scratch.path().join("all")).output().expect("it runs");
    assert!(out.status.success(), "{:?}", out.status);
    let made = String::from_utf8(out.stdout).expect("text");
    let made: Vec<&str> = made.lines().collect();
    assert_eq!(made.len(), GIVEN.len());
    for (args, made) in GIVEN.iter().zip(made) {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        assert_eq!(made, wanted(&args, b""), "{args:?}");
    }
}
