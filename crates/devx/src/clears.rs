//! Queries that are asked to clear what they read.

/// Whether the query clears the counters that it reads: sent twice, it gives another answer, and the
/// counts of the first are lost.
pub(crate) fn clears(input: &[u8]) -> bool {
    let at = match mlx5_prm::opcode(input).map(|opcode| opcode.0) {
        // QUERY_VPORT_COUNTER, QUERY_Q_COUNTER, QUERY_FLOW_COUNTER
        Some(0x770 | 0x773 | 0x93b) => 0x18,
        // QUERY_CONG_STATISTICS, FPGA_QUERY_QP_COUNTERS
        Some(0x826 | 0x964) => 0x08,
        _ => return false,
    };
    // The bit `clear`.
    input.get(at).is_some_and(|byte| byte & 0x80 != 0)
}
