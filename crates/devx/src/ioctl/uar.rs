//! Pages of doorbells.

use mlx5_prm::UarPage;

use super::{Interrupted, Ioctl, StillThere};
use crate::Errno;
use crate::wire::Request;
use crate::wire::numbers::{UAR_ALLOC_TYPE_BF, UAR_ALLOC_TYPE_NC};

/// How the machine writes to a page of doorbells (`enum mlx5_ib_uapi_uar_alloc_type` in
/// `mlx5_user_ioctl_verbs.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UarKind {
    /// Writes are combined: descriptors may be written into it (BlueFlame). EOPNOTSUPP on machines
    /// without such writes.
    BlueFlame,
    /// Every write goes to the adapter by itself.
    NonCached,
}

/// A page of doorbells (UAR) of a context.
///
/// Commands that make a queue with a doorbell name it by [`Uar::page_id`]. Ringing one needs the
/// page mapped: `mmap` of the context's file ([`AsFd`](std::os::fd::AsFd) of [`Ioctl`]), writable
/// and shared, at [`Uar::mmap_offset`].
///
/// It is given back when it is dropped, which cannot tell a failure; [`Uar::free`] does.
///
/// ```no_run
/// use mlx5_devx::ioctl::{Device, Ioctl, Selector, Uar, UarKind};
///
/// let ioctl = Ioctl::open(&Device::find(Selector::IbName("mlx5_0"))?)?;
/// let uar = Uar::alloc(&ioctl, UarKind::NonCached)?;
/// let cqc = mlx5_prm::Cqc::new().with_uar_page(uar.page_id());
/// uar.free()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Uar {
    ioctl: Ioctl,
    /// `None` once it is given back.
    handle: Option<u32>,
    page_id: UarPage,
    mmap_offset: u64,
    mmap_length: u32,
}

impl Uar {
    /// Allots a page (`mlx5dv_devx_alloc_uar`).
    ///
    /// # Errors
    /// The errno of the call. EOPNOTSUPP: see [`UarKind`].
    pub fn alloc(ioctl: &Ioctl, kind: UarKind) -> Result<Self, Errno> {
        let kind = match kind {
            UarKind::BlueFlame => UAR_ALLOC_TYPE_BF,
            UarKind::NonCached => UAR_ALLOC_TYPE_NC,
        };
        let (mut mmap_offset, mut mmap_length, mut page_id) = (0, 0, 0);
        let mut request =
            Request::uar_alloc(kind, &mut mmap_offset, &mut mmap_length, &mut page_id);
        let handle = Some(ioctl.make(&mut request)?);
        let ioctl = ioctl.clone();
        let mut uar = Uar { ioctl, handle, page_id: UarPage::new(0), mmap_offset, mmap_length };
        // Its fields in commands have 24 bits; were it wider, the page would be given back here.
        uar.page_id = UarPage::try_from(page_id).map_err(|_| Errno::OVERFLOW)?;
        Ok(uar)
    }

    /// The number by which commands name it, such as `uar_page` of a CQ's context.
    pub fn page_id(&self) -> UarPage {
        self.page_id
    }

    /// Where it is in the device file, in bytes.
    pub fn mmap_offset(&self) -> u64 {
        self.mmap_offset
    }

    /// How long it is in the device file, in bytes.
    pub fn mmap_length(&self) -> u32 {
        self.mmap_length
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The errno of the call, and the page, which is still there.
    pub fn free(mut self) -> Result<(), StillThere<Self>> {
        match self.end() {
            Ok(()) => Ok(()),
            Err(errno) => Err(StillThere { object: self, errno }),
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        if let Some(handle) = self.handle {
            self.ioctl.call(&mut Request::uar_destroy(handle), Interrupted::Again)?;
            self.handle = None;
        }
        Ok(())
    }
}

impl Drop for Uar {
    fn drop(&mut self) {
        // The kernel ends what is left when the context ends.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
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
            assert_eq!((uar.mmap_offset(), uar.mmap_length()), (0x3000, 4096));
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
    fn a_refused_page_is_none() {
        let fake = Fake::new();
        fake.answer(|_, _| Err(Errno::OPNOTSUPP));
        let errno = Uar::alloc(&fake.ioctl(), UarKind::BlueFlame).err();
        assert_eq!(errno, Some(Errno::OPNOTSUPP));
        assert_eq!(fake.sent().len(), 1);
    }
}
