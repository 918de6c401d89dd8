//! The capabilities of an adapter, all pages of them.

use std::collections::BTreeMap;

use mlx5_prm::caps::page::{GeneralDevice, PAGES};
use mlx5_prm::{Cap, CapMode, CapabilityPage, PageDesc, QueryHcaCapIn, QueryHcaCapOut};
use zerocopy::FromBytes;

use crate::Errno;
use crate::error::{Error, status_errno};
use crate::general::general;
use crate::transport::Transport;

/// What an adapter can do: the pages that QUERY_HCA_CAP gives.
///
/// ```
/// use mlx5_devx::{Caps, Transport};
/// use mlx5_prm::{Cap, CapMode, caps::page};
///
/// # let transport: Box<dyn Transport> = Box::new(mlx5_sim::Adapter::new());
/// let caps = Caps::query(&*transport)?;
/// assert!(caps.supports(Cap::CQ_MODERATION));
/// let general = caps.page::<page::GeneralDevice>(CapMode::Current).expect("every adapter has it");
/// assert!(general.log_max_cq_sz() >= 16);
/// # Ok::<(), mlx5_devx::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Caps {
    pages: BTreeMap<(u16, CapMode), Vec<u8>>,
    refused: Vec<(&'static PageDesc, CapMode, Error)>,
}

impl Caps {
    /// Asks for every page, the maximum and the current values.
    ///
    /// An adapter refuses the pages that it does not have: see [`Caps::refused`]. It calls them a bad
    /// parameter, or has another status that is EINVAL to the kernel
    /// ([`status_errno`](crate::status_errno)), which is all that kernels before 5.18 give.
    ///
    /// # Errors
    /// Anything else, such as a firmware that is not ready; and a refusal of the general page, which every
    /// adapter has.
    pub fn query(transport: &dyn Transport) -> Result<Self, Error> {
        let mut caps = Caps::default();
        for page in PAGES.iter().copied() {
            for mode in [CapMode::Maximum, CapMode::Current] {
                let query = QueryHcaCapIn::new().with_op_mod(mode.op_mod(page.selector));
                match general(transport, &query) {
                    Ok(answer) => caps.keep(page, mode, &answer),
                    Err(error) if is_refusal(page, &error) => {
                        caps.refused.push((page, mode, error));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(caps)
    }

    fn keep(&mut self, page: &PageDesc, mode: CapMode, answer: &QueryHcaCapOut) {
        let bytes = answer.capability().as_bytes();
        let size = page.layout.size.min(bytes.len());
        self.pages.insert((page.selector, mode), bytes[..size].to_vec());
    }

    /// Whether the adapter has a capability now. One of a page that it does not have is not there.
    pub fn supports(&self, cap: Cap) -> bool {
        let page = self.pages.get(&(cap.selector(), CapMode::Current));
        page.is_some_and(|page| cap.is_in(page))
    }

    /// Whether the adapter could have it, when it is set up so.
    pub fn could_support(&self, cap: Cap) -> bool {
        let page = self.pages.get(&(cap.selector(), CapMode::Maximum));
        page.is_some_and(|page| cap.is_in(page))
    }

    /// A page, when the adapter has it.
    pub fn page<P: CapabilityPage>(&self, mode: CapMode) -> Option<&P::Layout> {
        let bytes = self.pages.get(&(P::PAGE.selector, mode))?;
        P::Layout::ref_from_bytes(bytes).ok()
    }

    /// Every page that the adapter has: its description, whose values, and its bytes.
    pub fn pages(&self) -> impl Iterator<Item = (&'static PageDesc, CapMode, &[u8])> {
        self.pages.iter().filter_map(|((selector, mode), bytes)| {
            let page = PAGES.iter().find(|page| page.selector == *selector)?;
            Some((*page, *mode, &**bytes))
        })
    }

    /// The pages that the firmware refused, and how.
    pub fn refused(&self) -> &[(&'static PageDesc, CapMode, Error)] {
        &self.refused
    }
}

/// Whether the adapter does not have the page, as far as firmware and kernel tell.
fn is_refusal(page: &PageDesc, error: &Error) -> bool {
    let errno = match error {
        Error::Firmware { status, .. } => status_errno(*status),
        Error::Kernel { errno, .. } => *errno,
        _ => return false,
    };
    page.selector != GeneralDevice::PAGE.selector && errno == Errno::INVAL
}
