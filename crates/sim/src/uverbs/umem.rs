//! What the kernel looks at before it registers memory. The memory itself is never touched: it
//! counts as one run of physical pages, aligned as its addresses are.

use mlx5_devx::Errno;
use mlx5_devx::wire::UmemMemory;
use mlx5_devx::wire::numbers::{
    ACCESS_LOCAL_WRITE, ACCESS_RELAXED_ORDERING, ACCESS_REMOTE_READ, ACCESS_REMOTE_WRITE,
};

use super::PAGE;

const ACCESS: u32 =
    ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_RELAXED_ORDERING;

/// Whether memory can be registered.
pub(super) fn check(memory: UmemMemory, access: u32, page_sizes: Option<u64>) -> Result<(), Errno> {
    // `uverbs_get_flags32`, and `ib_check_mr_access` of `ib_verbs.h`.
    let writes_locally = access & ACCESS_LOCAL_WRITE != 0;
    if access & !ACCESS != 0 || (access & ACCESS_REMOTE_WRITE != 0 && !writes_locally) {
        return Err(Errno::INVAL);
    }
    let length = match memory {
        UmemMemory::Program { address, length } => {
            pages(address, length)?;
            length
        }
        UmemMemory::Dmabuf { fd, offset, length } => {
            // `ib_umem_dmabuf_get`. Whether the file is a dma-buf, and long enough, is not looked at.
            offset.checked_add(length).ok_or(Errno::INVAL)?;
            if fd < 0 {
                return Err(Errno::BADF);
            }
            pages(offset, length)?;
            length
        }
    };
    // `devx_umem_find_best_pgsize`: of the sizes that the program allows one is needed from the
    // adapter's page to the first that holds the whole.
    let log_length = length.checked_next_power_of_two().map_or(63, u64::trailing_zeros);
    let (first, last) = (PAGE.trailing_zeros(), log_length.max(PAGE.trailing_zeros()));
    let wanted = (u64::MAX << first) & (u64::MAX >> (63 - last));
    // Without the list every size is allowed (`devx_umem_reg_cmd_alloc`).
    if page_sizes.unwrap_or(u64::MAX) & wanted == 0 { Err(Errno::INVAL) } else { Ok(()) }
}

/// How many pages memory of the program has (`ib_umem_get` of the kernel's `umem.c`).
fn pages(address: u64, length: u64) -> Result<u64, Errno> {
    let end = address.checked_add(length).and_then(|end| end.checked_next_multiple_of(PAGE));
    let pages = (end.ok_or(Errno::INVAL)? - address / PAGE * PAGE) / PAGE;
    if pages == 0 || pages > u32::MAX.into() { Err(Errno::INVAL) } else { Ok(pages) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: u64, length: u64) -> Result<(), Errno> {
        check(UmemMemory::Program { address, length }, ACCESS_LOCAL_WRITE, None)
    }

    #[test]
    fn memory_has_pages() {
        assert_eq!((pages(0, 1), pages(0xfff, 2), pages(0x1000, 0x1000)), (Ok(1), Ok(2), Ok(1)));
        assert_eq!(of(0x1000, 0), Err(Errno::INVAL));
        assert_eq!(of(0x1001, 0), Ok(()), "its page is counted");
        assert_eq!(of(u64::MAX, 1), Err(Errno::INVAL));
        assert_eq!(
            of(u64::MAX - 10, 5),
            Err(Errno::INVAL),
            "its page ends behind the last address"
        );
        assert_eq!(of(0, u64::from(u32::MAX) * PAGE), Ok(()));
        assert_eq!(of(0, u64::from(u32::MAX) * PAGE + 1), Err(Errno::INVAL));
    }

    #[test]
    fn remote_writes_need_local_ones() {
        let memory = UmemMemory::Program { address: 0, length: PAGE };
        let with = |access| check(memory, access, None);
        assert_eq!(
            (with(0), with(1), with(3), with(4), with(1 << 20)),
            (Ok(()), Ok(()), Ok(()), Ok(()), Ok(()))
        );
        for access in [2, 2 | 4, 8, 1 | 8, 1 << 6, 1 << 21] {
            assert_eq!(with(access), Err(Errno::INVAL), "{access:#x}");
        }
    }

    #[test]
    fn page_sizes_are_those_up_to_the_whole() {
        let with = |length, sizes| {
            check(UmemMemory::Program { address: 0, length }, 0, Some(sizes)).is_ok()
        };
        assert!(with(1, 1 << 12) && !with(1, 1 << 13) && !with(1, 1 << 11) && !with(1, 0));
        assert!(with(0x2000, 1 << 13) && !with(0x2000, 1 << 14));
        assert!(with(0x2001, 1 << 14) && !with(0x2001, 1 << 15));
        assert!(with(0x2000, u64::MAX) && with(0x2000, !0xfff));
    }

    #[test]
    fn a_dmabuf_has_a_file() {
        let with = |fd, offset, length| check(UmemMemory::Dmabuf { fd, offset, length }, 0, None);
        assert_eq!(with(-1, 0, 1), Err(Errno::BADF));
        assert_eq!(with(0, u64::MAX, 1), Err(Errno::INVAL));
        assert_eq!(with(0, 0, 0), Err(Errno::INVAL));
        assert_eq!(with(0, 1, 1), Ok(()));
    }
}
