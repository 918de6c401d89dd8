//! Queries that are asked to clear what they read.

use mlx5_prm::Opcode;

/// Whether the query clears the counters that it reads: sent twice, it gives another answer, and the
/// counts of the first are lost.
pub(crate) fn clears(input: &[u8]) -> bool {
    let at = match mlx5_prm::opcode(input) {
        Some(
            Opcode::QUERY_VPORT_COUNTER | Opcode::QUERY_Q_COUNTER | Opcode::QUERY_FLOW_COUNTER,
        ) => 0x18,
        Some(Opcode::QUERY_CONG_STATISTICS | Opcode::FPGA_QUERY_QP_COUNTERS) => 0x08,
        _ => return false,
    };
    // The bit `clear`.
    input.get(at).is_some_and(|byte| byte & 0x80 != 0)
}
