//! Capabilities: the pages of QUERY_HCA_CAP.

use std::collections::BTreeMap;

use mlx5_prm::caps::page;
use mlx5_prm::{
    CapMode, CapabilityPage, CmdHcaCap, FlowCounterBulk, GeneralObjectTypes, ObjectType, Status,
    UserContextCaps,
};
use zerocopy::IntoBytes;

use crate::firmware::{Refusal, refuse};
use crate::syndrome;

/// Bytes of the output before the page.
const HEAD: usize = 16;

/// `MLX5_UCTX_OBJECT_CAP_TOOLS_RESOURCES` of the kernel's fwctl driver, a bit of `uctx_cap`: a user
/// context may work on what belongs to the whole adapter.
pub(crate) const TOOLS_RESOURCES: u32 = 4;

/// A page of memory is so many bytes, by their logarithm.
const PAGE: u8 = 12;

/// How many DEVX contexts there are, by the logarithm: a `uid` has 16 bits.
const UCTX: u8 = 16;

/// The longest list of a mailbox of 65535 bytes, in bytes, by the logarithm.
const LIST: u8 = 15;

/// The types of general objects that are simulated: a bit for each, and the one of user contexts.
fn object_types() -> GeneralObjectTypes {
    let all = mlx5_prm::families().iter().flat_map(|f| f.general_objects);
    let bits = all.filter_map(|o| 1u64.checked_shl(o.obj_type.0.into()));
    GeneralObjectTypes::from(bits.fold(1 << ObjectType::UCTX.0, |all, bit| all | bit))
}

/// The pages that the adapter has, by number and mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pages: BTreeMap<(u16, CapMode), Vec<u8>>,
}

impl Default for Capabilities {
    /// What is simulated, in the general page. No other page is there, and nothing that has one of its
    /// own (flow tables, scheduling, RoCE, crypto, ...) is said to be.
    fn default() -> Self {
        let general = CmdHcaCap::new()
            .with_uctx_cap(UserContextCaps::from(TOOLS_RESOURCES))
            .with_general_obj_types(object_types())
            .with_num_ports(1)
            .with_log_pg_sz(PAGE)
            // How many objects there are: their numbers have so many bits.
            .with_log_max_qp(24)
            .with_log_max_cq(24)
            .with_log_max_srq(24)
            .with_log_max_rmp(24)
            .with_log_max_xrq(24)
            .with_log_max_rq(24)
            .with_log_max_sq(24)
            .with_log_max_tir(24)
            .with_log_max_tis(24)
            .with_log_max_rqt(24)
            .with_log_max_mkey(24)
            .with_log_max_pd(24)
            .with_log_max_transport_domain(24)
            .with_log_max_xrcd(24)
            .with_log_max_umem(24)
            .with_log_max_l2_table(24)
            .with_log_max_uctx(UCTX)
            .with_log_max_eq(8)
            .with_max_num_eqs(255)
            .with_max_qp_cnt(255)
            .with_max_flow_counter_15_0(u16::MAX)
            .with_max_flow_counter_31_16(u16::MAX)
            .with_flow_counter_bulk_alloc(FlowCounterBulk::from(u8::MAX))
            .with_log_max_mcg(24)
            .with_max_qp_mcg((1 << 24) - 1)
            .with_max_num_match_definer(u16::MAX)
            .with_max_geneve_tlv_options(u8::MAX)
            .with_log_max_num_header_modify_argument(24)
            .with_log_max_dek(24)
            // How large they are: what a command of the longest mailbox, or a field, can say, or less.
            .with_log_max_qp_sz(15)
            .with_log_max_cq_sz(22)
            .with_log_max_srq_sz(15)
            .with_log_max_wq_sz(15)
            .with_log_max_eq_sz(22)
            .with_log_max_rqt_size(LIST - 2)
            .with_log_max_klm_list_size(LIST - 4)
            .with_log_max_flow_counter_bulk(LIST - 4)
            .with_log_max_mrw_sz(64)
            .with_log_max_msg(30)
            .with_log_max_ra_req_qp(7)
            .with_log_max_ra_res_qp(7)
            .with_log_max_ra_req_dc(7)
            .with_log_max_ra_res_dc(7)
            // Which queue pairs there are, and which fields commands change.
            .with_rc(true)
            .with_uc(true)
            .with_ud(true)
            .with_xrc(true)
            .with_dct(true)
            .with_cq_moderation(true)
            .with_cq_oi(true)
            .with_cq_resize(true)
            .with_cq_period_mode_modify(true)
            .with_cq_period_start_from_cqe(true)
            .with_cq_eq_remap(true)
            .with_drain_sigerr(true)
            .with_init2_lag_tx_port_affinity(true)
            .with_rts2rts_lag_tx_port_affinity(true)
            .with_rts2rts_qp_counters_set_id(true)
            .with_rts2rts_qp_udp_sport(true)
            .with_modify_rq_counter_set_id(true)
            .with_modify_tis(true)
            .with_lag_tx_port_affinity(true);
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

    /// Whether there are user contexts: DEVX.
    #[cfg(feature = "uverbs")]
    pub(crate) fn set_devx(&mut self, is_there: bool) {
        use zerocopy::FromBytes;
        for mode in [CapMode::Maximum, CapMode::Current] {
            let page = self.pages.get_mut(&(page::GeneralDevice::PAGE.selector, mode));
            if let Some(Ok(general)) = page.map(|page| CmdHcaCap::mut_from_bytes(page)) {
                general.set_log_max_uctx(if is_there { UCTX } else { 0 });
            }
        }
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
