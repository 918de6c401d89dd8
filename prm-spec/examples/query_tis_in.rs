use mlx5_prm::{QueryTisIn, QueryTisOut, Tdn, Tisn};

let query = QueryTisIn::new().with_tisn(Tisn::new(0x61));
assert_eq!(query.as_bytes()[..12], [0x09, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61]);

// What the adapter answers: the context from byte 0x10 on.
let mut answer = [0; QueryTisOut::SIZE];
answer[0x10..0x14].copy_from_slice(&[0x01, 0x06, 0, 0]); // port of the bond, priority
answer[0x37] = 0x0a; // transport_domain

let tis = QueryTisOut::view(&answer)?.tis_context();
assert_eq!((tis.lag_tx_port_affinity(), tis.prio()), (1, 6));
assert_eq!(tis.transport_domain(), Tdn::new(0x0a));
# Ok::<(), mlx5_prm::SizeError>(())
