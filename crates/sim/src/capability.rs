//! Capabilities: the pages of QUERY_HCA_CAP.

use std::collections::BTreeMap;

use mlx5_prm::caps::page;
use mlx5_prm::{CapMode, CapabilityPage, CmdHcaCap, Status, UserContextCaps};
use zerocopy::IntoBytes;

use crate::firmware::{Refusal, refuse};
use crate::syndrome;

/// Bytes of the output before the page.
const HEAD: usize = 16;

/// `MLX5_UCTX_OBJECT_CAP_TOOLS_RESOURCES` of the kernel's fwctl driver, a bit of `uctx_cap`: a user
/// context may work on what belongs to the whole adapter.
pub(crate) const TOOLS_RESOURCES: u32 = 4;

/// The pages that the adapter has, by number and mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pages: BTreeMap<(u16, CapMode), Vec<u8>>,
}

impl Default for Capabilities {
    /// What is simulated, in the general page. No other page is there.
    fn default() -> Self {
        // Numbers of objects have 24 bits, which 5 bits hold.
        let general = CmdHcaCap::new()
            .with_cq_moderation(true)
            .with_cq_oi(true)
            .with_cq_resize(true)
            .with_cq_period_mode_modify(true)
            .with_cq_eq_remap(true)
            .with_rts2rts_qp_counters_set_id(true)
            .with_log_max_qp(24)
            .with_log_max_cq(24)
            .with_log_max_srq(24)
            .with_log_max_rmp(24)
            .with_log_max_rq(24)
            .with_log_max_sq(24)
            .with_log_max_tir(24)
            .with_log_max_tis(24)
            .with_log_max_rqt(24)
            .with_log_max_qp_sz(15)
            .with_log_max_cq_sz(22)
            .with_log_max_srq_sz(15)
            .with_num_ports(1)
            .with_uctx_cap(UserContextCaps::from(TOOLS_RESOURCES));
        let mut capabilities = Capabilities { pages: BTreeMap::new() };
        for mode in [CapMode::Maximum, CapMode::Current] {
            capabilities.set::<page::GeneralDevice>(mode, &general);
        }
        capabilities
    }
}

impl Capabilities {
    pub(crate) fn set<P: CapabilityPage>(&mut self, mode: CapMode, page: &P::Layout) {
        self.pages.insert((P::PAGE.selector, mode), page.as_bytes().to_vec());
    }

    /// The events that programs may subscribe to, where the adapter says which.
    #[cfg(feature = "uverbs")]
    pub(crate) fn event_masks(&self) -> Option<mlx5_prm::DeviceEventCap> {
        let general = self.general()?;
        let masks = || self.current::<page::DeviceEvent>().copied().unwrap_or_default();
        general.event_cap().then(masks)
    }

    /// The page that names the limits.
    pub(crate) fn general(&self) -> Option<&CmdHcaCap> {
        self.current::<page::GeneralDevice>()
    }

    fn current<P: CapabilityPage>(&self) -> Option<&P::Layout> {
        use zerocopy::FromBytes;
        let page = self.pages.get(&(P::PAGE.selector, CapMode::Current))?;
        P::Layout::ref_from_bytes(page).ok()
    }

    /// Runs QUERY_HCA_CAP: the page goes to `output`, behind its head.
    pub(crate) fn query(&self, op_mod: u16, output: &mut [u8]) -> Result<(), Refusal> {
        let mode = if op_mod & 1 == 0 { CapMode::Maximum } else { CapMode::Current };
        let Some(page) = self.pages.get(&(op_mod >> 1, mode)) else {
            return refuse(Status::BAD_PARAM_ERR, syndrome::UNKNOWN_PAGE);
        };
        match output.get_mut(HEAD..HEAD + page.len()) {
            Some(room) => {
                room.copy_from_slice(page);
                Ok(())
            }
            None => refuse(Status::BAD_OUTP_LEN_ERR, syndrome::SHORT_OUTPUT),
        }
    }
}
