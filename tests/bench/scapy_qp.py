"""Reads the fields of QUERY_QP that the case query_qp_bytes reads, by scapy. Prints their sum, and the
nanoseconds of one reading: the median of 15 samples.

The classes are a list of fields each, as the tests of rdma-core have them (tests/mlx5_prm_structs.py there);
names and widths are those of mlx5_ifc.h.
"""

import statistics
import time

from scapy.fields import BitField, PacketField
from scapy.packet import Packet

ADS = """
    fl:1 free_ar:1 reserved_0:14 pkey_index:16 reserved_1:8 grh:1 mlid:7 rlid:16 ack_timeout:5
    reserved_2:3 src_addr_index:8 reserved_3:4 stat_rate:4 hop_limit:8 reserved_4:4 tclass:8
    flow_label:20 rgid_rip:128 reserved_5:4 f_dscp:1 f_ecn:1 reserved_6:1 f_eth_prio:1 ecn:2
    dscp:6 udp_sport:16 dei_cfi:1 eth_prio:3 sl:4 vhca_port_num:8 rmac_47_32:16 rmac_31_0:32
"""

QPC = """
    state:4 lag_tx_port_affinity:4 st:8 reserved_0:2 isolate_vl_tc:1 pm_state:2 reserved_1:1
    req_e2e_credit_mode:2 offload_type:4 end_padding_mode:2 reserved_2:2 wq_signature:1
    block_lb_mc:1 atomic_like_write_en:1 latency_sensitive:1 reserved_3:1 drain_sigerr:1
    reserved_4:2 pd:24 mtu:3 log_msg_max:5 reserved_5:1 log_rq_size:4 log_rq_stride:3 no_sq:1
    log_sq_size:4 reserved_6:3 ts_format:2 reserved_7:1 rlky:1 ulp_stateless_offload_mode:4
    counter_set_id:8 uar_page:24 reserved_8:8 user_index:24 reserved_9:3 log_page_size:5
    remote_qpn:24 primary_address_path:ads secondary_address_path:ads log_ack_req_freq:4
    reserved_10:4 log_sra_max:3 reserved_11:2 retry_count:3 rnr_retry:3 reserved_12:1 fre:1
    cur_rnr_retry:3 cur_retry_count:3 reserved_13:5 reserved_14:32 reserved_15:8
    next_send_psn:24 reserved_16:3 log_num_dci_stream_channels:5 cqn_snd:24 reserved_17:3
    log_num_dci_errored_streams:5 deth_sqpn:24 reserved_18:32 reserved_19:8 last_acked_psn:24
    reserved_20:8 ssn:24 reserved_21:8 log_rra_max:3 reserved_22:1 atomic_mode:4 rre:1 rwe:1
    rae:1 reserved_23:1 page_offset:6 reserved_24:3 cd_slave_receive:1 cd_slave_send:1
    cd_master:1 reserved_25:3 min_rnr_nak:5 next_rcv_psn:24 reserved_26:8 xrcd:24 reserved_27:8
    cqn_rcv:24 dbr_addr:64 q_key:32 reserved_28:5 rq_type:3 srqn_rmpn_xrqn:24 reserved_29:8
    rmsn:24 hw_sq_wqebb_counter:16 sw_sq_wqebb_counter:16 hw_rq_counter:32 sw_rq_counter:32
    reserved_30:32 reserved_31:15 cgs:1 cs_req:8 cs_res:8 dc_access_key:64 reserved_32:3
    dbr_umem_valid:1 reserved_33:188
"""


def fields(text):
    """A field for each name and its width, or the class of a part."""
    made = []
    for word in text.split():
        name, width = word.split(":")
        made.append(PacketField(name, Ads(), Ads) if width == "ads" else BitField(name, 0, int(width)))
    return made


class Part(Packet):
    """A packet with others behind it."""

    def extract_padding(self, s):
        return "", s


class Ads(Part):
    fields_desc = fields(ADS)


class Qpc(Part):
    fields_desc = fields(QPC)


class QueryQpOut(Part):
    fields_desc = [
        BitField("status", 0, 8),
        BitField("reserved_0", 0, 24),
        BitField("syndrome", 0, 32),
        BitField("reserved_1", 0, 64),
        BitField("opt_param_mask", 0, 32),
        BitField("ece", 0, 32),
        PacketField("qpc", Qpc(), Qpc),
    ]


ANSWER = "status syndrome opt_param_mask".split()
CONTEXT = """
    state st pm_state pd mtu log_msg_max log_rq_size log_rq_stride log_sq_size uar_page
    user_index remote_qpn retry_count rnr_retry next_send_psn cqn_snd last_acked_psn ssn
    log_rra_max log_sra_max rre rwe rae min_rnr_nak next_rcv_psn cqn_rcv q_key hw_rq_counter
    sw_rq_counter
""".split()
PATH = "pkey_index grh rlid ack_timeout src_addr_index hop_limit vhca_port_num".split()


def read(answer):
    out = QueryQpOut(answer)
    total = 0
    for part, names in ((out, ANSWER), (out.qpc, CONTEXT), (out.qpc.primary_address_path, PATH)):
        for name in names:
            total += getattr(part, name)
    return total


def main():
    answer = bytes((i * 37 + 11) & 0xFF for i in range(0x110))
    times = []
    for _ in range(15):
        start = time.perf_counter_ns()
        for _ in range(10):
            read(answer)
        times.append((time.perf_counter_ns() - start) / 10)
    print(hex(read(answer)), statistics.median(times))


if __name__ == "__main__":
    main()
