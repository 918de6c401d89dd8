//! What the examples share: a completion queue with all that it needs.

use std::error::Error;
use std::sync::atomic::Ordering;

use mlx5_devx::{Access, Devx, Object, Page, Uar, UarKind, Umem};
use mlx5_prm::{Cqc, CreateCqIn, object};

/// A completion queue of 64 entries. What it uses ends after it.
pub(crate) struct Queue<'d> {
    /// The queue.
    pub(crate) cq: Object<&'d dyn Devx, object::Cq>,
    /// A page of entries, and a page with the doorbell record.
    pub(crate) memory: Umem,
    /// Where it is armed.
    pub(crate) uar: Uar,
}

/// Makes one: memory, a page of doorbells, an event queue, and then CREATE_CQ.
pub(crate) fn create(devx: &dyn Devx) -> Result<Queue<'_>, Box<dyn Error>> {
    let pages = Page::zeroed(2);
    // An entry of 64 bytes that the adapter has not written yet: its opcode is "invalid", and its
    // owner the adapter (the last byte, 0xf1).
    for entry in pages[0].0.chunks_exact(8) {
        entry[7].store(u64::from_ne_bytes([0, 0, 0, 0, 0, 0, 0, 0xf1]), Ordering::Relaxed);
    }
    let memory = Umem::register(devx, pages, Access::LOCAL_WRITE, None)?;
    let uar = Uar::alloc(devx, UarKind::NonCached)?;
    let context = Cqc::new()
        .with_log_cq_size(6)
        .with_uar_page(uar.page_id())
        .with_c_eqn_or_apu_element(devx.query_eqn(0)?)
        .with_dbr_umem_valid(true)
        .with_dbr_umem_id(memory.id())
        .with_dbr_addr(4096);
    let command = CreateCqIn::new()
        .with_cq_context(context)
        .with_cq_umem_valid(true)
        .with_cq_umem_id(memory.id());
    let cq = Object::create(devx, &command)?;
    Ok(Queue { cq, memory, uar })
}
