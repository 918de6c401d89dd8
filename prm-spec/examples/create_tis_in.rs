use mlx5_prm::{CreateTisIn, CreateTisOut, Tdn, Tisc, Tisn};

// For Ethernet priority 3: prio is twice that.
let create = CreateTisIn::new()
    .with_ctx(Tisc::new().with_prio(3 << 1).with_transport_domain(Tdn::new(0x0a)));
assert_eq!(create.as_bytes()[0x20..0x24], [0, 0x06, 0, 0]);
assert_eq!(create.as_bytes()[0x44..0x48], [0, 0, 0, 0x0a]);

let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0, 0, 0, 0];
assert_eq!(CreateTisOut::view(&answer)?.tisn(), Tisn::new(0x61));
# Ok::<(), mlx5_prm::SizeError>(())
