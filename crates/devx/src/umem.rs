//! Memory that the adapter may use.
#![allow(
    unsafe_code,
    reason = "the adapter writes to memory whose address it was given; each block says why it may"
)]

use std::fmt;
use std::ops::BitOr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::Errno;
use crate::backend::{Backend, RawUmem, UmemMemory};
use crate::devx::{CallError, Devx, Token};
use crate::object::StillThere;

/// 4096 bytes of memory that the adapter may write to: the smallest page it knows
/// (`MLX5_ADAPTER_PAGE_SIZE`).
///
/// Its words are atomic because the adapter changes them behind the program's back.
#[repr(C, align(4096))]
pub struct Page(pub [AtomicU64; 512]);

impl Page {
    /// So many pages in one piece, all 0.
    pub fn zeroed(count: usize) -> Box<[Page]> {
        (0..count).map(|_| Page([const { AtomicU64::new(0) }; 512])).collect()
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Page")
    }
}

/// What the adapter may do with registered memory. Reading it by commands and queues is always
/// allowed.
///
/// These are all that the kernel takes for a umem (`MLX5_IB_METHOD_DEVX_UMEM_REG` in `devx.c`); the
/// bits are those of `IBV_ACCESS_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access(u32);

impl Access {
    /// Only read.
    pub const READ: Access = Access(0);
    /// Write, as the adapter does to a completion queue.
    pub const LOCAL_WRITE: Access = Access(1 << 0);
    /// Write for another machine; the kernel wants [`Access::LOCAL_WRITE`] with it.
    pub const REMOTE_WRITE: Access = Access(1 << 1);
    /// Read for another machine.
    pub const REMOTE_READ: Access = Access(1 << 2);
    /// Write in another order than asked.
    pub const RELAXED_ORDERING: Access = Access(1 << 20);

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for Access {
    type Output = Access;

    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// Registered memory (umem): pages of the program, or a part of a dma-buf.
///
/// Commands that make a queue name it by [`Umem::id`]. The memory stays pinned and belongs to the
/// umem, so that it can't be used for anything else while the adapter may write to it. When the
/// umem is dropped the registration ends; if the kernel refuses, because an object still uses it,
/// the pages are never freed. [`Umem::deregister`] tells of it, and gives the pages back.
///
/// ```
/// use mlx5_devx::{Access, Devx, Page, Umem};
///
/// fn example(devx: &dyn Devx) -> Result<(), Box<dyn std::error::Error>> {
///     let umem = Umem::register(devx, Page::zeroed(4), Access::LOCAL_WRITE, None)?;
///     println!("umem {} of {} pages", umem.id(), umem.pages().len());
///     // ... a command that makes a queue in it; once that has ended:
///     let pages = umem.deregister()?;
///     Ok(())
/// }
/// ```
#[must_use = "it ends when it is dropped"]
pub struct Umem {
    backend: Arc<dyn Backend>,
    /// `None` once the registration is over.
    umem: Option<RawUmem>,
    id: u32,
    pages: Box<[Page]>,
    is_imported: bool,
}

impl Umem {
    /// Registers pages of the program (`mlx5dv_devx_umem_reg`, or with `page_sizes`
    /// `mlx5dv_devx_umem_reg_ex`).
    ///
    /// `page_sizes` are the sizes that the adapter may put the memory together from, one bit for
    /// each: bit 12 for 4096 bytes. Without it all sizes from 4096 bytes on are allowed, and the
    /// kernel chooses: see `devx_umem_reg_cmd_alloc` in `devx.c`. Kernels that do not know it give
    /// EPROTONOSUPPORT.
    ///
    /// # Errors
    /// The errno of the call; the pages are freed. ENOMEM for more than the user may pin
    /// (RLIMIT_MEMLOCK), EINVAL for no pages and for sizes that do not fit them.
    pub fn register(
        devx: &dyn Devx,
        pages: Box<[Page]>,
        access: Access,
        page_sizes: Option<u64>,
    ) -> Result<Self, CallError> {
        let memory = UmemMemory::Program {
            // The adapter writes to it later on.
            address: pages.as_ptr().expose_provenance() as u64,
            length: size_of_val(&*pages) as u64,
        };
        // SAFETY: the pages belong to the umem, whose words anyone may change at any time, and are
        // not freed before the registration has ended.
        unsafe { Umem::new(devx, memory, pages, access, page_sizes) }
    }

    /// Registers `length` bytes of memory that is not the umem's own, such as huge pages or what
    /// another library allocated. [`Umem::pages`] is empty then.
    ///
    /// # Safety
    /// The memory stays what it is until [`Umem::deregister`] has succeeded or the context is gone,
    /// whatever becomes of the umem; until then the adapter may read it, and with other than
    /// [`Access::READ`] write to it, at any time.
    ///
    /// # Errors
    /// Those of [`Umem::register`].
    pub unsafe fn register_address(
        devx: &dyn Devx,
        address: NonNull<u8>,
        length: usize,
        access: Access,
        page_sizes: Option<u64>,
    ) -> Result<Self, CallError> {
        let address = address.as_ptr().expose_provenance() as u64;
        let memory = UmemMemory::Program { address, length: length as u64 };
        // SAFETY: by the contract of this function.
        unsafe { Umem::new(devx, memory, Box::default(), access, page_sizes) }
    }

    /// Registers `length` bytes of a dma-buf from `offset` on (`mlx5dv_devx_umem_reg_ex` with
    /// `MLX5DV_UMEM_MASK_DMABUF`). [`Umem::pages`] is empty then.
    ///
    /// The kernel keeps the dma-buf; `fd` is not needed afterwards.
    ///
    /// # Errors
    /// The errno of the call. EPROTONOSUPPORT on kernels that do not know dma-bufs here,
    /// EOPNOTSUPP from a libmlx5 that does not know them.
    pub fn register_dmabuf(
        devx: &dyn Devx,
        fd: BorrowedFd<'_>,
        offset: u64,
        length: u64,
        access: Access,
        page_sizes: Option<u64>,
    ) -> Result<Self, CallError> {
        let memory = UmemMemory::Dmabuf { fd: fd.as_raw_fd(), offset, length };
        // SAFETY: no memory of this program is named; the kernel keeps the dma-buf.
        unsafe { Umem::new(devx, memory, Box::default(), access, page_sizes) }
    }

    /// # Safety
    /// That of [`Umem::register_address`].
    unsafe fn new(
        devx: &dyn Devx,
        memory: UmemMemory,
        pages: Box<[Page]>,
        access: Access,
        page_sizes: Option<u64>,
    ) -> Result<Self, CallError> {
        let backend = devx.backend(Token::HERE);
        // SAFETY: by the contract of this function.
        let umem = unsafe { backend.umem_reg(memory, access.bits(), page_sizes)? };
        Ok(Umem { backend, umem: Some(umem), id: umem.id, pages, is_imported: false })
    }

    /// What another program needs to use the umem (`mlx5dv_devx_umem_export`): one that has the same
    /// context, by the descriptor of the device file, as for `ibv_import_device`.
    ///
    /// The umem stays with this program, and ends when this program ends it.
    ///
    /// # Errors
    /// [`CallError::NotSupported`] by a libmlx5 older than rdma-core 63.
    pub fn export(&self) -> Result<Vec<u8>, CallError> {
        let umem = self.umem.ok_or(Errno::NOENT)?;
        self.backend.umem_export(umem)
    }

    /// A umem of another program (`mlx5dv_devx_umem_import`), of the backend that exported it and of
    /// the same version of libmlx5. Dropping it leaves the umem to that program
    /// (`mlx5dv_devx_umem_unimport`), and so does [`Umem::deregister`].
    ///
    /// # Errors
    /// EINVAL for bytes that [`Umem::export`] never gives; [`CallError::NotSupported`] by a libmlx5
    /// older than rdma-core 63. The kernel is not asked.
    pub fn import(devx: &dyn Devx, exported: &[u8]) -> Result<Self, CallError> {
        let backend = devx.backend(Token::HERE);
        let umem = backend.umem_import(exported)?;
        let pages = Box::default();
        Ok(Umem { backend, umem: Some(umem), id: umem.id, pages, is_imported: true })
    }

    /// The number by which commands name it, such as `cq_umem_id` of CREATE_CQ.
    ///
    /// It is a plain number, as the kernel gives it and as those fields take it: they have 32 bits in
    /// every public source, and [`UmemId`](mlx5_prm::UmemId) the 24 of the answer to CREATE_UMEM.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The memory; empty for what is not the umem's own.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Ends the registration, and gives the pages back (`mlx5dv_devx_umem_dereg`).
    ///
    /// # Errors
    /// The errno of the call, and the umem, which is still there.
    pub fn deregister(mut self) -> Result<Box<[Page]>, StillThere<Self>> {
        match self.end() {
            Ok(()) => Ok(std::mem::take(&mut self.pages)),
            Err(errno) => Err(StillThere { object: self, errno }),
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        if let Some(umem) = self.umem {
            if self.is_imported {
                self.backend.umem_unimport(umem.handle);
            } else {
                self.backend.umem_dereg(umem.handle)?;
            }
            self.umem = None;
        }
        Ok(())
    }
}

impl Drop for Umem {
    fn drop(&mut self) {
        if self.end().is_err() {
            // The adapter may still write to the pages: nobody else may ever have them.
            Box::leak(std::mem::take(&mut self.pages));
        }
    }
}

impl fmt::Debug for Umem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Umem")
            .field("umem", &self.umem)
            .field("id", &self.id)
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "ioctl"))]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::ioctl::fake::Fake;
    use crate::wire::handwritten::{at, half, message, optional, word};
    use crate::wire::numbers::attr;

    fn expect_register(fake: &Fake) {
        fake.answer(|request, message| {
            let id = request.output(attr::UMEM_REG_OUT_ID).expect("it is there");
            id.copy_from_slice(&33u32.to_ne_bytes());
            message.set_handle(attr::UMEM_REG_HANDLE, 8);
            Ok(())
        });
    }

    fn umem(fake: &Fake, pages: Box<[Page]>) -> Umem {
        expect_register(fake);
        let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
        Umem::register(&fake.ioctl(), pages, access, Some(1 << 12)).expect("a umem")
    }

    fn deregistered() -> Vec<u8> {
        message(0x1002, 0x1001, &[(0x1000, 0, word(8))])
    }

    /// A message without the address of the umem's number, which is gone when the call is over.
    fn without_out_id(mut message: Vec<u8>, index: usize) -> Vec<u8> {
        message[24 + 16 * index + 8..][..8].fill(0);
        message
    }

    #[test]
    fn pages_are_registered_and_come_back() {
        let fake = Fake::new();
        let pages = Page::zeroed(3);
        pages[2].0[511].store(5, Ordering::Relaxed);
        let address = pages.as_ptr();
        let umem = umem(&fake, pages);
        assert_eq!((umem.id(), umem.pages().len()), (33, 3));
        fake.answer(|_, _| Ok(()));
        let pages = umem.deregister().expect("it ends");
        assert_eq!(pages[2].0[511].load(Ordering::Relaxed), 5);

        let sent = fake.sent();
        let attrs = [
            (0x1001, 8, at(address)),
            (0x1002, 8, word(3 * 4096)),
            (0x1003, 4, half(0b101)),
            (0x1005, 8, word(0x1000)),
            (0x1004, 4, word(0)),
            (0x1000, 0, word(0)),
        ];
        assert_eq!(without_out_id(sent[0].clone(), 4), message(0x1002, 0x1000, &attrs));
        assert_eq!(sent[1..], [deregistered()]);
    }

    #[test]
    fn a_dmabuf_is_registered() {
        let fake = Fake::new();
        expect_register(&fake);
        let file = File::open("/dev/null").expect("every system has it");
        let fd = file.as_fd();
        let umem = Umem::register_dmabuf(&fake.ioctl(), fd, 0x1000, 0x2000, Access::READ, None)
            .expect("a umem");
        assert!(umem.pages().is_empty());
        fake.answer(|_, _| Ok(()));
        assert!(umem.deregister().expect("it ends").is_empty());
        let attrs = [
            (0x1001, 8, word(0x1000)),
            (0x1002, 8, word(0x2000)),
            (0x1003, 4, half(0)),
            (0x1006, 0, word(file.as_raw_fd() as u64)),
            (0x1005, 8, word(!0xfff)),
            (0x1004, 4, word(0)),
            (0x1000, 0, word(0)),
        ];
        let sent = fake.sent();
        let expected = optional(&message(0x1002, 0x1000, &attrs), 4);
        assert_eq!(without_out_id(sent[0].clone(), 5), expected);
        assert_eq!(sent[1..], [deregistered()]);
    }

    #[test]
    fn dropping_it_ends_the_registration() {
        let fake = Fake::new();
        let umem = umem(&fake, Page::zeroed(1));
        fake.answer(|_, _| Ok(()));
        drop(umem);
        assert_eq!(fake.sent()[1..], [deregistered()]);
    }

    #[test]
    fn a_umem_in_use_can_be_ended_later() {
        let fake = Fake::new();
        let umem = umem(&fake, Page::zeroed(1));
        fake.answer(|_, _| Err(Errno::REMOTEIO));
        let still = umem.deregister().expect_err("it is in use");
        assert_eq!((still.errno, still.object.id()), (Errno::REMOTEIO, 33));
        fake.answer(|_, _| Ok(()));
        assert_eq!(still.object.deregister().expect("it ends").len(), 1);
        assert_eq!(fake.sent().len(), 3);
    }

    #[test]
    fn pages_that_the_adapter_may_use_are_never_freed() {
        let fake = Fake::new();
        let used = umem(&fake, Page::zeroed(1));
        fake.answer(|_, _| Err(Errno::REMOTEIO));
        let page = used.pages().as_ptr().addr();
        WATCHED.store(page, Ordering::Relaxed);
        drop(used);
        assert_eq!(WATCHED.load(Ordering::Relaxed), page, "the page was freed");

        // That of a umem that has ended is.
        let ended = umem(&fake, Page::zeroed(1));
        fake.answer(|_, _| Ok(()));
        WATCHED.store(ended.pages().as_ptr().addr(), Ordering::Relaxed);
        drop(ended);
        assert_eq!(WATCHED.load(Ordering::Relaxed), 0, "the page was not freed");
    }

    /// The memory whose freeing is looked out for: its address, and 0 when it was freed.
    static WATCHED: AtomicUsize = AtomicUsize::new(0);

    struct Watching;

    // SAFETY: all of it is what the allocator of the system does.
    unsafe impl GlobalAlloc for Watching {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: by the contract of this function.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            let ordering = Ordering::Relaxed;
            let _ = WATCHED.compare_exchange(block.addr(), 0, ordering, ordering);
            // SAFETY: by the contract of this function.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Watching = Watching;

    #[test]
    fn refused_memory_is_no_umem() {
        for errno in [Errno::NOMEM, Errno::INVAL, Errno::PROTONOSUPPORT] {
            let fake = Fake::new();
            fake.answer(move |_, _| Err(errno));
            let refused = Umem::register(&fake.ioctl(), Page::zeroed(1), Access::READ, None);
            assert_eq!(refused.err(), Some(errno.into()));
            assert_eq!(fake.sent().len(), 1);
        }
    }

    #[test]
    fn pages_are_what_the_adapter_takes() {
        assert_eq!((size_of::<Page>(), align_of::<Page>()), (4096, 4096));
        assert!(Page::zeroed(0).is_empty());
        assert_eq!(format!("{:?}", Page::zeroed(2)), "[Page, Page]");
    }
}
