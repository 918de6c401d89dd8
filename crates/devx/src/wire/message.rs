//! Messages as bytes: the header and the attributes behind it.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::numbers::{FLAG_MANDATORY, FLAG_VALID_OUTPUT};
use crate::Errno;

/// `struct ib_uverbs_ioctl_hdr` of `rdma_user_ioctl_cmds.h`, 24 bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Header {
    /// The length of the whole message, in bytes: 24, and 16 for each attribute.
    pub length: u16,
    /// Which kind of object: see [`object`](super::numbers::object).
    pub object_id: u16,
    /// Which method of it: see [`method`](super::numbers::method).
    pub method_id: u16,
    /// How many attributes follow.
    pub num_attrs: u16,
    /// 0.
    pub reserved1: u64,
    /// The driver that the program means: see [`DRIVER_MLX5`](super::DRIVER_MLX5).
    pub driver_id: u32,
    /// 0.
    pub reserved2: u32,
}

/// `struct ib_uverbs_attr` of `rdma_user_ioctl_cmds.h`, 16 bytes: one argument of a method.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Attr {
    /// Which argument: see [`attr`](super::numbers::attr).
    pub attr_id: u16,
    /// The length of an input or output, in bytes; 0 for handles and file descriptors.
    pub len: u16,
    /// [`FLAG_MANDATORY`]: a kernel that does not know the attribute refuses the call.
    /// [`FLAG_VALID_OUTPUT`]: the kernel wrote the output.
    pub flags: u16,
    /// For arguments that are a choice of one of several structures: which. Otherwise 0.
    pub attr_data: u16,
    /// A handle, a file descriptor, an input of up to 8 bytes itself, or the address of a longer
    /// input or of an output of any length.
    pub data: u64,
}

impl Attr {
    /// Whether a kernel that does not know the attribute refuses the call.
    pub const fn is_mandatory(&self) -> bool {
        self.flags & FLAG_MANDATORY != 0
    }

    /// Whether the kernel wrote the output.
    ///
    /// For an output that the method always writes it need not be looked at
    /// (`rdma_user_ioctl_cmds.h`).
    pub const fn has_output(&self) -> bool {
        self.flags & FLAG_VALID_OUTPUT != 0
    }
}

/// A whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    // Words and not bytes, so that the kernel finds header and attributes aligned as the structures
    // in C are.
    words: Vec<u64>,
}

const HEADER: usize = size_of::<Header>();
const ATTR: usize = size_of::<Attr>();

/// How many attributes fit a message, whose length is 16 bits.
pub(super) const MOST_ATTRS: usize = (u16::MAX as usize - HEADER) / ATTR;

impl Message {
    /// A message of these attributes; `length` and `num_attrs` of the header are filled in.
    ///
    /// # Panics
    /// There are more than 4094 attributes.
    pub fn new(header: Header, attrs: &[Attr]) -> Self {
        assert!(attrs.len() <= MOST_ATTRS, "{} attributes do not fit a message", attrs.len());
        let length = HEADER + attrs.len() * ATTR;
        let header = Header { length: length as u16, num_attrs: attrs.len() as u16, ..header };
        let mut words = vec![0; length / 8];
        let bytes = words.as_mut_bytes();
        bytes[..HEADER].copy_from_slice(header.as_bytes());
        bytes[HEADER..].copy_from_slice(attrs.as_bytes());
        Message { words }
    }

    /// Reads a message from bytes of a program, as the kernel does; bytes behind it are left alone.
    ///
    /// The kernel also refuses a message that is longer than a page of memory, whose size depends
    /// on the machine; the longest of this crate has 136 bytes.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let (header, rest) =
            Header::read_from_prefix(bytes).map_err(|_| Malformed::NoHeader(bytes.len()))?;
        let attrs_len = usize::from(header.num_attrs) * ATTR;
        if usize::from(header.length) != HEADER + attrs_len {
            return Err(Malformed::Length { length: header.length, attrs: header.num_attrs });
        }
        if header.reserved1 != 0 || header.reserved2 != 0 {
            return Err(Malformed::Reserved);
        }
        let Some(attrs) = rest.get(..attrs_len) else {
            return Err(Malformed::Cut { length: header.length, there: bytes.len() });
        };
        let mut words = vec![0; (HEADER + attrs_len) / 8];
        let copy = words.as_mut_bytes();
        copy[..HEADER].copy_from_slice(header.as_bytes());
        copy[HEADER..].copy_from_slice(attrs);
        Ok(Message { words })
    }

    /// The bytes: what the argument of the system call points to.
    pub fn as_bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    /// The header.
    pub fn header(&self) -> Header {
        Header::read_from_prefix(self.as_bytes()).map(|(header, _)| header).unwrap_or_default()
    }

    /// The attributes, in their order.
    pub fn attrs(&self) -> impl ExactSizeIterator<Item = Attr> {
        self.as_bytes()[HEADER..]
            .chunks_exact(ATTR)
            .map(|bytes| Attr::read_from_bytes(bytes).unwrap_or_default())
    }

    /// Writes, as the kernel does, the handle of an object that the call made. Gives `false` when
    /// there is no such attribute.
    pub fn set_handle(&mut self, attr_id: u16, handle: u32) -> bool {
        self.change(attr_id, |attr| attr.data = handle.into())
    }

    /// Marks, as the kernel does, an output as written. Gives `false` when there is no such
    /// attribute.
    pub fn set_output_valid(&mut self, attr_id: u16) -> bool {
        self.change(attr_id, |attr| attr.flags |= FLAG_VALID_OUTPUT)
    }

    fn change(&mut self, attr_id: u16, change: impl FnOnce(&mut Attr)) -> bool {
        let Some(index) = self.attrs().position(|attr| attr.attr_id == attr_id) else {
            return false;
        };
        let bytes = &mut self.words.as_mut_bytes()[HEADER + index * ATTR..][..ATTR];
        let mut attr = Attr::read_from_bytes(bytes).unwrap_or_default();
        change(&mut attr);
        bytes.copy_from_slice(attr.as_bytes());
        true
    }
}

/// Why bytes are no message. What the kernel looks at is in `ib_uverbs_ioctl` of `uverbs_ioctl.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// There is no whole header.
    #[error("{0} bytes hold no header of 24 bytes")]
    NoHeader(usize),
    /// The length in the header is not that of the attributes that it announces.
    #[error("the header says {length} bytes, and {attrs} attributes make another length")]
    Length {
        /// The length in the header.
        length: u16,
        /// The number of attributes in the header.
        attrs: u16,
    },
    /// A reserved field of the header is not 0.
    #[error("a reserved field of the header is not 0")]
    Reserved,
    /// There are fewer bytes than the header says.
    #[error("the header says {length} bytes, and there are {there}")]
    Cut {
        /// The length in the header.
        length: u16,
        /// How many bytes there are.
        there: usize,
    },
}

impl Malformed {
    /// What the kernel says of it.
    pub const fn errno(self) -> Errno {
        match self {
            // The kernel reads past the end of what the program has.
            Malformed::NoHeader(_) | Malformed::Cut { .. } => Errno::FAULT,
            Malformed::Length { .. } => Errno::INVAL,
            Malformed::Reserved => Errno::PROTONOSUPPORT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        let header =
            Header { object_id: 0x1001, method_id: 0x1002, driver_id: 1, ..Header::default() };
        let attrs = [
            Attr { attr_id: 0x1000, len: 0, flags: 1, attr_data: 0, data: 7 },
            Attr { attr_id: 0x1001, len: 16, flags: 0, attr_data: 0, data: 0x1122_3344_5566_7788 },
        ];
        Message::new(header, &attrs)
    }

    #[test]
    fn structures_have_the_sizes_of_the_header() {
        assert_eq!((HEADER, ATTR), (24, 16));
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn bytes_are_those_of_the_structures() {
        #[rustfmt::skip]
        let expected = [
            56, 0,  0x01, 0x10,  0x02, 0x10,  2, 0,
            0, 0, 0, 0, 0, 0, 0, 0,
            1, 0, 0, 0,  0, 0, 0, 0,

            0x00, 0x10,  0, 0,  1, 0,  0, 0,
            7, 0, 0, 0, 0, 0, 0, 0,

            0x01, 0x10,  16, 0,  0, 0,  0, 0,
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
        ];
        assert_eq!(message().as_bytes(), expected);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = message().as_bytes().to_vec();
        bytes.extend([0xff; 3]);
        assert_eq!(Message::parse(&bytes), Ok(message()));
        assert_eq!(message().attrs().len(), 2);
        assert!(message().attrs().next().is_some_and(|attr| attr.is_mandatory()));
    }

    #[test]
    fn the_kernel_answers_in_place() {
        let mut message = message();
        assert!(message.set_handle(0x1000, 0xffff_ffff));
        assert!(message.set_output_valid(0x1001));
        assert!(!message.set_handle(0x1009, 1) && !message.set_output_valid(0x1009));
        let attrs: Vec<Attr> = message.attrs().collect();
        assert_eq!(attrs[0].data, 0xffff_ffff);
        assert!(attrs[1].has_output() && !attrs[0].has_output());
    }

    #[test]
    fn malformed_bytes_are_refused() {
        let good = message().as_bytes().to_vec();
        let with = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            Message::parse(&bytes)
        };
        for len in 0..24 {
            assert_eq!(Message::parse(&good[..len]), Err(Malformed::NoHeader(len)));
        }
        for len in 24..56 {
            let cut = Malformed::Cut { length: 56, there: len };
            assert_eq!(Message::parse(&good[..len]), Err(cut));
            assert_eq!(cut.errno(), Errno::FAULT);
        }
        let little = cfg!(target_endian = "little") as usize;
        let low = |at: usize| at + 1 - little; // the low byte of 16 bits
        let length = Malformed::Length { length: 57, attrs: 2 };
        assert_eq!(with(low(0), 57), Err(length));
        assert_eq!(with(low(6), 3), Err(Malformed::Length { length: 56, attrs: 3 }));
        assert_eq!(length.errno(), Errno::INVAL);
        assert_eq!(with(15, 1), Err(Malformed::Reserved));
        assert_eq!(with(20, 1), Err(Malformed::Reserved));
        assert_eq!(Malformed::Reserved.errno(), Errno::PROTONOSUPPORT);
    }

    #[test]
    #[should_panic(expected = "4095 attributes do not fit a message")]
    fn a_message_has_an_end() {
        Message::new(Header::default(), &[Attr::default(); MOST_ATTRS + 1]);
    }
}
