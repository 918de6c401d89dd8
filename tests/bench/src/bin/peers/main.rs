//! Three layouts, ours and written by hand with other crates: MODIFY_CQ encoded, the context of QUERY_CQ
//! read, the match of a flow encoded. All print what they made, which must be the same.

mod by_bilge;
mod by_deku;
mod by_packed_struct;
mod ours;
#[path = "../cases/run.rs"]
mod run;

use run::Run;

/// The fields of MODIFY_CQ.
struct ModifyCq {
    cqn: u32,
    select: u32,
    period: u16,
    max_count: u16,
}

/// A flow of five parts.
struct Flow {
    dmac_47_16: u32,
    dmac_15_0: u16,
    source: u32,
    destination: u32,
    source_port: u16,
    destination_port: u16,
    protocol: u8,
}

/// Bytes of `modify_cq_in`.
const MODIFY_CQ: usize = 272;
/// Bytes of `query_cq_out` without its list.
const QUERY_CQ: usize = 272;
/// Bytes of `fte_match_set_lyr_2_4`.
const FLOW: usize = 64;

fn main() {
    let mut run = match std::env::args().nth(1).as_deref() {
        None => Run::Count,
        Some("time") => Run::Time,
        Some(other) => panic!("{other}: the only argument is `time`"),
    };
    let modify = ModifyCq { cqn: 0x12345, select: 3, period: 0xabc, max_count: 0x4321 };
    let flow = Flow {
        dmac_47_16: 0x0011_2233,
        dmac_15_0: 0x4455,
        source: 0x0a00_0001,
        destination: 0x0a00_0002,
        source_port: 0x8123,
        destination_port: 443,
        protocol: 6,
    };
    let mut answer = [0; QUERY_CQ];
    for (i, byte) in answer.iter_mut().enumerate() {
        *byte = (i * 37 + 11) as u8;
    }
    macro_rules! all {
        ($($by:ident: $modify:ident $query:ident $flow:ident;)*) => { $(
            run.write(stringify!($modify), $by::$modify, &mut [0; MODIFY_CQ], &modify, |m| &m[..]);
            run.read(stringify!($query), $by::$query, &answer);
            run.write(stringify!($flow), $by::$flow, &mut [0; FLOW], &flow, |m| &m[..]);
        )* };
    }
    all! {
        ours: ours_modify_cq ours_query_cq ours_flow;
        by_deku: deku_modify_cq deku_query_cq deku_flow;
        by_packed_struct: packed_struct_modify_cq packed_struct_query_cq packed_struct_flow;
        by_bilge: bilge_modify_cq bilge_query_cq bilge_flow;
    }
}
