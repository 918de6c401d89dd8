use mlx5_prm::{CreateObject, EncryptionKeyObj, GeneralObjOutCmdHdr, GeneralObjectId};
use mlx5_prm::{KeyPurpose, KeySize, Pdn, Request};

// A key of 256 bits for TLS: the first two of the eight parts of `key`.
let mut key = EncryptionKeyObj::new().with_key_size(KeySize::BITS_256).with_pd(Pdn::new(0x12));
key.set_key_purpose(KeyPurpose::TLS);
key.key_mut()[..2].copy_from_slice(&[[0xa5; 16], [0x5a; 16]]);
let create = CreateObject::new(key);
assert_eq!(create.bytes()[..8], [0x0a, 0x00, 0, 0, 0, 0, 0, 0x0c]); // opcode, type
assert_eq!(create.bytes()[0x18..0x20], [0, 0, 0x01, 0x01, 0, 0, 0, 0x12]);
assert_eq!(create.bytes()[0x5f..0x61], [0xa5, 0x5a]);

// The number of the new key comes back in the header.
let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 0, 0];
assert_eq!(GeneralObjOutCmdHdr::view(&answer)?.obj_id(), GeneralObjectId::new(0x81));
# Ok::<(), mlx5_prm::SizeError>(())
