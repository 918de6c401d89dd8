//! The rows: cases of ours and those of C that do the same.

use crate::programs::Counted;

/// What is asked of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// No more instructions than C.
    NoMore,
    /// Only that it does not worsen, for this reason.
    NoWorse(&'static str),
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What it is.
    pub title: &'static str,
    /// The case of ours.
    pub ours: &'static str,
    /// The case in C.
    pub c: &'static str,
    /// What is asked of it.
    pub asked: Asked,
    /// The case of ours without the checks that C does not have.
    pub unchecked: Option<&'static str>,
}

/// Rows of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// What they have in common.
    pub title: &'static str,
    /// They.
    pub rows: &'static [Row],
}

const fn row(title: &'static str, ours: &'static str, c: &'static str) -> Row {
    Row { title, ours, c, asked: Asked::NoMore, unchecked: None }
}

/// A row with checks, of which there is another without.
const fn checked(
    title: &'static str,
    ours: &'static str,
    c: &'static str,
    unchecked: &'static str,
) -> Row {
    Row { unchecked: Some(unchecked), ..row(title, ours, c) }
}

const CHECKED: Asked =
    Asked::NoWorse("six of its values have no type of their own and are checked; C cuts them off");
const IN_PLACE: Asked = Asked::NoWorse(
    "272 zeros in place are a call of memset; valgrind counts 34 for the one instruction that gcc has",
);

/// All rows.
pub const PARTS: &[Part] = &[
    Part {
        title: "A whole mailbox: zeros and fields",
        rows: &[
            row("MODIFY_CQ, 5 fields", "modify_cq", "modify_cq"),
            row("RST2INIT_QP, 9 fields", "rst2init", "rst2init"),
            row("INIT2RTR_QP, 16 fields", "init2rtr", "init2rtr"),
            row("RTR2RTS_QP, 8 fields", "rtr2rts", "rtr2rts"),
            row("MODIFY_RQ, 7 fields", "modify_rq", "modify_rq"),
            row("MODIFY_RMP, 6 fields", "modify_rmp", "modify_rmp"),
            row("MODIFY_RQT, 1,024 entries, written whole", "modify_rqt", "modify_rqt"),
            row("QUERY_QP, input", "query_qp_in", "query_qp_in"),
            row("QUERY_CQ, input", "query_cq_in", "query_cq_in"),
            row("QUERY_RMP, input", "query_rmp_in", "query_rmp_in"),
            row("QUERY_RQ, input", "query_rq_in", "query_rq_in"),
            row("QUERY_RQT, input", "query_rqt_in", "query_rqt_in"),
            row("CREATE_QP, 15 fields", "create_qp", "create_qp"),
            row("CREATE_CQ, 13 fields", "create_cq", "create_cq"),
            row("CREATE_MKEY, 512 KLMs", "create_mkey", "create_mkey"),
            checked("SET_FLOW_TABLE_ENTRY, 19 fields", "set_fte", "set_fte", "set_fte_cut"),
        ],
    },
    Part {
        title: "The fields alone, into a mailbox that is there",
        rows: &[
            row("MODIFY_CQ", "modify_cq_fields", "modify_cq_fields"),
            row("RST2INIT_QP", "rst2init_fields", "rst2init_fields"),
            row("INIT2RTR_QP", "init2rtr_fields", "init2rtr_fields"),
            Row {
                asked: CHECKED,
                ..checked("RTR2RTS_QP", "rtr2rts_fields", "rtr2rts_fields", "rtr2rts_fields_cut")
            },
            row("RTR2RTS_QP, values cut off as C does", "rtr2rts_fields_cut", "rtr2rts_fields"),
            row("MODIFY_RQ", "modify_rq_fields", "modify_rq_fields"),
            row("MODIFY_RMP", "modify_rmp_fields", "modify_rmp_fields"),
            row(
                "MODIFY_RQT, the entries, each read and changed",
                "modify_rqt_fields",
                "modify_rqt_fields",
            ),
            row("QUERY_QP, input", "query_qp_in_fields", "query_qp_in_fields"),
            row("QUERY_CQ, input", "query_cq_in_fields", "query_cq_in_fields"),
            row("QUERY_RMP, input", "query_rmp_in_fields", "query_rmp_in_fields"),
            row("QUERY_RQ, input", "query_rq_in_fields", "query_rq_in_fields"),
            row("QUERY_RQT, input", "query_rqt_in_fields", "query_rqt_in_fields"),
            checked("CREATE_QP", "create_qp_fields", "create_qp_fields", "create_qp_fields_cut"),
            row("CREATE_QP, values cut off as C does", "create_qp_fields_cut", "create_qp_fields"),
            checked("CREATE_CQ", "create_cq_fields", "create_cq_fields", "create_cq_fields_cut"),
            row("CREATE_CQ, values cut off as C does", "create_cq_fields_cut", "create_cq_fields"),
            row("CREATE_MKEY, the KLMs", "create_mkey_fields", "create_mkey_fields"),
            checked(
                "SET_FLOW_TABLE_ENTRY",
                "set_fte_fields",
                "set_fte_fields",
                "set_fte_fields_cut",
            ),
            row(
                "SET_FLOW_TABLE_ENTRY, values cut off as C does",
                "set_fte_fields_cut",
                "set_fte_fields",
            ),
        ],
    },
    Part {
        title: "The zeros alone",
        rows: &[
            row("16 bytes", "zeros_16", "zeros_16"),
            row("272 bytes", "zeros_272", "zeros_272"),
            row("4,368 bytes", "zeros_4368", "zeros_4368"),
        ],
    },
    Part {
        title: "Reading an answer",
        rows: &[
            checked("QUERY_CQ, 10 fields, in any bytes", "query_cq_bytes", "query_cq", "query_cq"),
            row("QUERY_CQ, 10 fields, from a view", "query_cq", "query_cq"),
            row("QUERY_QP, 39 fields", "query_qp_bytes", "query_qp"),
            checked(
                "QUERY_RQT, 1,024 entries, in any bytes",
                "query_rqt_bytes",
                "query_rqt",
                "query_rqt",
            ),
            row("QUERY_RQT, 1,024 entries, from a view", "query_rqt", "query_rqt"),
            row("QUERY_HCA_CAP, 100 fields", "query_hca_cap_bytes", "query_hca_cap"),
        ],
    },
    Part {
        title: "Other ways to the same mailbox",
        rows: &[
            row(
                "MODIFY_CQ, all fields constant: a static",
                "modify_cq_constant",
                "modify_cq_constant",
            ),
            row("MODIFY_CQ, one expression", "modify_cq_expression", "modify_cq"),
            row("MODIFY_CQ, paired calls", "modify_cq_changes", "modify_cq"),
            row("MODIFY_CQ, in any bytes", "modify_cq_bytes", "modify_cq"),
            Row {
                asked: IN_PLACE,
                ..row("MODIFY_CQ, new() in place, then set_", "modify_cq_in_place", "modify_cq")
            },
            row("RST2INIT_QP, builder", "rst2init_built", "rst2init"),
            row("INIT2RTR_QP, builder", "init2rtr_built", "init2rtr"),
            row("RTR2RTS_QP, builder", "rtr2rts_built", "rtr2rts"),
        ],
    },
    Part {
        title: "Numbers of objects: with their types, and plain ones that are checked",
        rows: &[
            row("MODIFY_CQ, 1 number, typed", "modify_cq_expression", "modify_cq"),
            row("MODIFY_CQ, 1 number, checked", "modify_cq_raw", "modify_cq"),
            row("CREATE_QP, 4 numbers, typed", "create_qp_typed", "create_qp_four"),
            row("CREATE_QP, 4 numbers, checked", "create_qp_raw", "create_qp_four"),
            row("MODIFY_RQT, 1,024 entries, typed", "modify_rqt_fields", "modify_rqt_fields"),
            row("MODIFY_RQT, 1,024 entries, checked", "modify_rqt_raw", "modify_rqt_fields"),
        ],
    },
];

impl Row {
    /// What of the instructions of C ours takes.
    ///
    /// # Panics
    /// The two did not do the same.
    pub fn ratio(&self, ours: &Counted, c: &Counted) -> f64 {
        let (made, wanted) = (ours.made(self.ours), c.made(self.c));
        assert_eq!(made, wanted, "{} and {} of C did not do the same", self.ours, self.c);
        ours.cost(self.ours) as f64 / c.cost(self.c) as f64
    }
}

/// The rows of all parts, each pair of cases once.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let all = || PARTS.iter().flat_map(|part| part.rows);
    all()
        .enumerate()
        .filter(move |(i, row)| !all().take(*i).any(|r| r.key() == row.key()))
        .map(|(_, row)| row)
}

impl Row {
    /// What it is called in `ratios.toml`.
    pub fn key(&self) -> &'static str {
        self.ours
    }
}

/// The geometric mean.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = ratios.into_iter().fold((0.0, 0.0), |(sum, n), r| (sum + r.ln(), n + 1.0));
    (sum / n).exp()
}
