//! Pages of doorbells.
#![allow(
    unsafe_code,
    reason = "it writes to a page of the adapter, by its address; each block says why it may"
)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mlx5_prm::UarPage;

use crate::Errno;
use crate::backend::{Backend, RawUar};
use crate::devx::{Devx, Token};
use crate::object::StillThere;

/// Where the first doorbell of send queues is in a page (`MLX5_BF_OFFSET`).
pub(crate) const FIRST_BFREG: usize = 0x800;

/// How the machine writes to a page of doorbells (`enum mlx5_ib_uapi_uar_alloc_type` in
/// `mlx5_user_ioctl_verbs.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UarKind {
    /// Writes are combined: descriptors may be written into it (BlueFlame). EOPNOTSUPP on machines
    /// without such writes.
    BlueFlame,
    /// Every write goes to the adapter by itself.
    NonCached,
}

/// A page of doorbells (UAR) of a context, mapped.
///
/// Commands that make a queue with a doorbell name it by [`Uar::page_id`]; [`Uar::write`] rings one.
/// It is given back when it is dropped, which cannot tell a failure; [`Uar::free`] does.
///
/// ```
/// use mlx5_devx::{Devx, Errno, Uar, UarKind};
///
/// fn ring(devx: &dyn Devx) -> Result<(), Errno> {
///     let uar = Uar::alloc(devx, UarKind::NonCached)?;
///     let cqc = mlx5_prm::Cqc::new().with_uar_page(uar.page_id());
///     // ... CREATE_CQ; then arm it: command and sequence, consumer index, CQN.
///     uar.write(Uar::CQ_DOORBELL, 0x0100_0000_0000_0001);
///     uar.free().map_err(|still| still.errno)
/// }
/// ```
#[must_use = "it ends when it is dropped"]
pub struct Uar {
    backend: Arc<dyn Backend>,
    /// `None` once it is given back.
    uar: Option<RawUar>,
    page_id: UarPage,
    mmap_offset: u64,
}

// SAFETY: the address in it is that of memory that any thread may write to, by atomic stores.
unsafe impl Send for Uar {}
// SAFETY: as above.
unsafe impl Sync for Uar {}

impl Uar {
    /// The length of a page of doorbells in bytes (`MLX5_ADAPTER_PAGE_SIZE`).
    pub const LENGTH: usize = 4096;
    /// Where a CQ is armed (`MLX5_CQ_DOORBELL`).
    pub const CQ_DOORBELL: usize = 0x20;
    /// Where an EQ is updated and armed (`MLX5_EQ_DOORBEL_OFFSET`).
    pub const EQ_DOORBELL: usize = 0x40;

    /// Allots a page, and maps it (`mlx5dv_devx_alloc_uar`).
    ///
    /// libmlx5 gives pages out by doorbell: all [`UarKind::NonCached`] of a context are one page, that
    /// libmlx5 keeps, and two [`UarKind::BlueFlame`] may be one page with two
    /// [`Uar::send_doorbell`]s.
    ///
    /// # Errors
    /// The errno of the call. EOPNOTSUPP: see [`UarKind`]. EPROTONOSUPPORT from kernels before 5.7,
    /// which have no such call.
    pub fn alloc(devx: &dyn Devx, kind: UarKind) -> Result<Self, Errno> {
        let backend = devx.backend(Token::HERE);
        let uar = backend.uar_alloc(kind)?;
        let (page_id, mmap_offset) = (uar.page_id, uar.mmap_offset);
        let mut uar = Uar { backend, uar: Some(uar), page_id: UarPage::new(0), mmap_offset };
        // Its fields in commands have 24 bits; were it wider, the page would be given back here.
        uar.page_id = UarPage::try_from(page_id).map_err(|_| Errno::OVERFLOW)?;
        Ok(uar)
    }

    /// The number by which commands name it, such as `uar_page` of a CQ's context.
    pub fn page_id(&self) -> UarPage {
        self.page_id
    }

    /// Where it is in the device file, in bytes: for a mapping of one's own, in another process.
    pub fn mmap_offset(&self) -> u64 {
        self.mmap_offset
    }

    /// Where it is mapped: [`Uar::LENGTH`] bytes, to be written only, as long as this is not dropped
    /// (`base_addr` of `mlx5dv_devx_uar`).
    pub fn address(&self) -> *mut u8 {
        self.uar.map_or(std::ptr::null_mut(), |uar| uar.base.as_ptr())
    }

    /// Where in the page the doorbell of send queues is that belongs to this: `reg_addr` of
    /// `mlx5dv_devx_uar` lies so far behind `base_addr`.
    pub fn send_doorbell(&self) -> usize {
        self.uar.map_or(FIRST_BFREG, |uar| uar.send)
    }

    /// Writes 8 bytes at `offset`, big-endian, in one piece: a doorbell.
    ///
    /// It is no barrier: what the adapter is to find in memory when it hears the doorbell must be
    /// written before (`udma_to_device_barrier` of rdma-core's `udma_barrier.h`; on x86 a release
    /// fence will do).
    ///
    /// # Panics
    /// `offset` is no multiple of 8, or not within [`Uar::LENGTH`].
    pub fn write(&self, offset: usize, value: u64) {
        assert!(
            offset.is_multiple_of(8) && offset < Uar::LENGTH,
            "offset {offset:#x} is none of 8 bytes in a page of {:#x}",
            Uar::LENGTH
        );
        let Some(uar) = self.uar else { return };
        // SAFETY: the page is mapped for writing until `uar` is `None`, and has that length; nothing
        // but atomic stores touches it.
        unsafe { AtomicU64::from_ptr(uar.base.as_ptr().add(offset).cast()) }
            .store(value.to_be(), Ordering::Relaxed);
    }

    /// Gives it back (`mlx5dv_devx_free_uar`).
    ///
    /// # Errors
    /// The errno of the call, and the page, which is still there. libmlx5 does not tell any.
    pub fn free(mut self) -> Result<(), StillThere<Self>> {
        match self.end() {
            Ok(()) => Ok(()),
            Err(errno) => Err(StillThere { object: self, errno }),
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        if let Some(uar) = self.uar {
            // SAFETY: it is of this context; its address is not used from now on.
            unsafe { self.backend.uar_free(uar)? };
            self.uar = None;
        }
        Ok(())
    }
}

impl fmt::Debug for Uar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uar")
            .field("page_id", &self.page_id)
            .field("uar", &self.uar)
            .finish_non_exhaustive()
    }
}

impl Drop for Uar {
    fn drop(&mut self) {
        // The kernel ends what is left when the context ends.
        let _ = self.end();
    }
}

#[cfg(all(test, feature = "ioctl"))]
mod tests {
    use super::*;
    use crate::ioctl::fake::Fake;
    use crate::wire::handwritten::{message, word};
    use crate::wire::numbers::attr;

    fn expect_alloc(fake: &Fake, page_id: u32) {
        fake.answer(move |request, message| {
            let mut put = |id, bytes: &[u8]| {
                request.output(id).expect("it is there").copy_from_slice(bytes);
            };
            put(attr::UAR_ALLOC_MMAP_OFFSET, &0x3000u64.to_ne_bytes());
            put(attr::UAR_ALLOC_MMAP_LENGTH, &4096u32.to_ne_bytes());
            put(attr::UAR_ALLOC_PAGE_ID, &page_id.to_ne_bytes());
            message.set_handle(attr::UAR_ALLOC_HANDLE, 6);
            Ok(())
        });
    }

    fn uar(fake: &Fake, kind: UarKind) -> Uar {
        expect_alloc(fake, 21);
        Uar::alloc(&fake.ioctl(), kind).expect("a page")
    }

    fn destroyed() -> Vec<u8> {
        message(0x1008, 0x1001, &[(0x1000, 0, word(6))])
    }

    #[test]
    fn a_page_is_allotted_and_given_back() {
        for (kind, number) in [(UarKind::BlueFlame, 0), (UarKind::NonCached, 1)] {
            let fake = Fake::new();
            let uar = uar(&fake, kind);
            assert_eq!(uar.page_id(), UarPage::new(21));
            assert_eq!(uar.mmap_offset(), 0x3000);
            assert_eq!(uar.send_doorbell(), 0x800);
            uar.write(Uar::CQ_DOORBELL, 0x0123_4567_89ab_cdef);
            let rung = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
            assert_eq!(fake.file_at(0x3020), rung, "big-endian, through the mapping");
            fake.answer(|_, _| Ok(()));
            uar.free().expect("it ends");
            let sent = fake.sent();
            assert_eq!(sent.len(), 2);
            // Object, method, number of attributes; then the type, the second attribute.
            let head = [104u16, 0x1008, 0x1000, 5].map(u16::to_ne_bytes).concat();
            assert_eq!(sent[0][..8], head);
            let mut kind = [0x1001u16, 8, 1, 0].map(u16::to_ne_bytes).concat();
            kind.extend(word(number));
            assert_eq!(sent[0][40..56], kind);
            assert_eq!(sent[1], destroyed());
        }
    }

    #[test]
    fn dropping_it_gives_it_back() {
        let fake = Fake::new();
        let uar = uar(&fake, UarKind::NonCached);
        fake.answer(|_, _| Ok(()));
        drop(uar);
        assert_eq!(fake.sent()[1], destroyed());
    }

    #[test]
    fn a_page_that_does_not_end_can_be_tried_again() {
        let fake = Fake::new();
        let uar = uar(&fake, UarKind::NonCached);
        fake.answer(|_, _| Err(Errno::BUSY));
        let still = uar.free().expect_err("it is there still");
        assert_eq!(still.errno, Errno::BUSY);
        fake.answer(|_, _| Ok(()));
        still.object.free().expect("it ends");
        assert_eq!(fake.sent().len(), 3);
    }

    #[test]
    fn a_page_that_commands_cannot_name_is_given_back() {
        let fake = Fake::new();
        expect_alloc(&fake, 1 << 24);
        fake.answer(|_, _| Ok(()));
        let errno = Uar::alloc(&fake.ioctl(), UarKind::NonCached).err();
        assert_eq!(errno, Some(Errno::OVERFLOW));
        assert_eq!(fake.sent()[1..], [destroyed()]);
    }

    #[test]
    fn a_page_that_does_not_map_is_given_back() {
        let fake = Fake::new();
        fake.answer(|request, message| {
            let length = request.output(attr::UAR_ALLOC_MMAP_LENGTH).expect("it is there");
            length.copy_from_slice(&4095u32.to_ne_bytes());
            message.set_handle(attr::UAR_ALLOC_HANDLE, 6);
            Ok(())
        });
        fake.answer(|_, _| Ok(()));
        let errno = Uar::alloc(&fake.ioctl(), UarKind::NonCached).err();
        assert_eq!(errno, Some(Errno::PROTO));
        assert_eq!(fake.sent()[1..], [destroyed()]);
    }

    #[test]
    fn doorbells_are_within_the_page() {
        let fake = Fake::new();
        let uar = uar(&fake, UarKind::NonCached);
        uar.write(Uar::LENGTH - 8, 1);
        for offset in [4, Uar::LENGTH, usize::MAX - 7] {
            let write = std::panic::AssertUnwindSafe(|| uar.write(offset, 1));
            assert!(std::panic::catch_unwind(write).is_err(), "{offset:#x}");
        }
        fake.answer(|_, _| Ok(()));
    }

    #[test]
    fn a_refused_page_is_none() {
        let fake = Fake::new();
        fake.answer(|_, _| Err(Errno::OPNOTSUPP));
        let errno = Uar::alloc(&fake.ioctl(), UarKind::BlueFlame).err();
        assert_eq!(errno, Some(Errno::OPNOTSUPP));
        assert_eq!(fake.sent().len(), 1);
    }
}
