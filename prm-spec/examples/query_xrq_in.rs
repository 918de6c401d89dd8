use mlx5_prm::{QueryXrqIn, QueryXrqOut, XrqTopology, Xrqn};

let query = QueryXrqIn::new().with_xrqn(Xrqn::new(0x23));
assert_eq!(query.as_bytes()[..12], [0x07, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23]);

// What the adapter answers: the context from byte 0x10 on.
let mut answer = [0; QueryXrqOut::SIZE];
answer[0x12] = 0x01; // topology
answer[0x30..0x34].copy_from_slice(&[0x60, 0, 0, 9]); // size of the list, next index
answer[0x34..0x38].copy_from_slice(&[0, 2, 0, 3]); // the counters of unexpected messages

let xrq = QueryXrqOut::view(&answer)?.xrq_context();
assert_eq!(xrq.topology(), XrqTopology::TAG_MATCHING);
let tags = xrq.tag_matching_topology_context();
assert_eq!((tags.log_matching_list_sz(), tags.append_next_index()), (6, 9));
assert_eq!(tags.hw_phase_cnt().wrapping_sub(tags.sw_phase_cnt()), 1); // one more to report
# Ok::<(), mlx5_prm::SizeError>(())
