//! The argument of `RDMA_VERBS_IOCTL` (`rdma/rdma_user_ioctl_cmds.h`).

use std::slice;

use libc::c_void;

/// `struct ib_uverbs_ioctl_hdr`, without its attributes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) length: u16,
    pub(crate) object_id: u16,
    pub(crate) method_id: u16,
    pub(crate) num_attrs: u16,
    pub(crate) reserved1: u64,
    pub(crate) driver_id: u32,
    pub(crate) reserved2: u32,
}

impl Header {
    /// The length is that of the header with its attributes, and no more than a page.
    pub(crate) fn fits(&self) -> bool {
        let length = size_of::<Header>() + usize::from(self.num_attrs) * size_of::<Attr>();
        length <= 4096 && length == self.length.into()
    }
}

/// `struct ib_uverbs_attr`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attr {
    pub(crate) id: u16,
    pub(crate) len: u16,
    pub(crate) flags: u16,
    /// An enum's element, else 0.
    pub(crate) more: u16,
    /// A value, or the address of one.
    pub(crate) data: u64,
}

/// The kernel must know the attribute.
pub(crate) const MANDATORY: u16 = 1 << 0;
/// The kernel wrote what the attribute points to.
pub(crate) const VALID_OUTPUT: u16 = 1 << 1;

impl Attr {
    /// The value, of as many bytes as the attribute says, that stands in the attribute itself.
    pub(crate) fn inline(&self) -> Vec<u8> {
        self.data.to_ne_bytes()[..usize::from(self.len).min(8)].to_vec()
    }

    /// What the attribute points to.
    ///
    /// # Safety
    /// The attribute is a pointer to `len` bytes.
    pub(crate) unsafe fn pointed(&self) -> Vec<u8> {
        if self.len == 0 || self.data == 0 {
            return Vec::new();
        }
        // SAFETY: by the contract; bytes have no alignment.
        unsafe { slice::from_raw_parts(self.data as *const u8, self.len.into()) }.to_vec()
    }

    /// What a PTR_IN holds: the kernel takes up to 8 bytes from the attribute itself
    /// (`uverbs_attr_ptr_is_inline`).
    ///
    /// # Safety
    /// The attribute is a PTR_IN.
    pub(crate) unsafe fn input(&self) -> Vec<u8> {
        if self.len <= 8 {
            self.inline()
        } else {
            // SAFETY: longer inputs are pointers.
            unsafe { self.pointed() }
        }
    }

    /// Writes `bytes`, and zeros behind them, to where the attribute points. What does not fit is
    /// left out, as `uverbs_copy_to` does.
    ///
    /// # Safety
    /// The attribute is a PTR_OUT: a pointer to `len` bytes that may be written.
    pub(crate) unsafe fn put(&mut self, bytes: &[u8]) {
        if self.len > 0 && self.data != 0 {
            // SAFETY: by the contract; nothing else holds these bytes during the call.
            let to = unsafe { slice::from_raw_parts_mut(self.data as *mut u8, self.len.into()) };
            to.fill(0);
            let fits = bytes.len().min(to.len());
            to[..fits].copy_from_slice(&bytes[..fits]);
        }
        self.flags |= VALID_OUTPUT;
    }
}

/// An ioctl.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) header: Header,
    pub(crate) attrs: &'a mut [Attr],
}

impl Call<'_> {
    /// The ioctl whose argument is at `arg`.
    ///
    /// # Safety
    /// `arg` is null or the address of a header with its attributes, which nothing else uses while
    /// the result lives.
    pub(crate) unsafe fn at(arg: *mut c_void) -> Option<Self> {
        if arg.is_null() {
            return None;
        }
        // SAFETY: by the contract; `struct ib_uverbs_ioctl_hdr` has the alignment of its u64.
        let header = unsafe { arg.cast::<Header>().read() };
        // A header that contradicts itself says nothing about what stands behind it.
        let count = if header.fits() { header.num_attrs.into() } else { 0 };
        // SAFETY: the attributes stand behind the header, as many as it says.
        let attrs = unsafe {
            let first = arg.cast::<u8>().add(size_of::<Header>()).cast::<Attr>();
            slice::from_raw_parts_mut(first, count)
        };
        Some(Call { header, attrs })
    }

    /// The attribute with an id.
    pub(crate) fn attr(&mut self, id: u16) -> Option<&mut Attr> {
        self.attrs.iter_mut().find(|a| a.id == id)
    }

    /// The bytes of the header and of the attributes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let h = &self.header;
        let mut bytes = Vec::new();
        for half in [h.length, h.object_id, h.method_id, h.num_attrs] {
            bytes.extend(half.to_ne_bytes());
        }
        bytes.extend(h.reserved1.to_ne_bytes());
        bytes.extend(h.driver_id.to_ne_bytes());
        bytes.extend(h.reserved2.to_ne_bytes());
        for a in self.attrs.iter() {
            for half in [a.id, a.len, a.flags, a.more] {
                bytes.extend(half.to_ne_bytes());
            }
            bytes.extend(a.data.to_ne_bytes());
        }
        bytes
    }
}
