//! What an adapter can do: the pages that QUERY_HCA_CAP gives.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bits;
#[cfg(feature = "caps")]
use crate::describe::{Count, Element};
use crate::describe::{Described, LayoutDesc};
#[cfg(feature = "caps")]
use crate::{QueryHcaCapIn, QueryHcaCapOut};

/// A page of capabilities, such as [`page::GeneralDevice`](crate::caps::page::GeneralDevice).
pub trait CapabilityPage {
    /// Its layout.
    type Layout: Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout;
    /// Its description.
    const PAGE: &'static PageDesc;
}

/// Description of a page of capabilities.
#[derive(Debug)]
pub struct PageDesc {
    /// Name, such as `roce`.
    pub name: &'static str,
    /// The number that selects it.
    pub selector: u16,
    /// Its layout.
    pub layout: &'static LayoutDesc,
    /// One line about it.
    pub about: &'static str,
}

/// Which values of the capabilities are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CapMode {
    /// Those that the adapter could be set to.
    Maximum,
    /// Those that it has now.
    Current,
}

impl CapMode {
    /// `op_mod` of QUERY_HCA_CAP for the page with this number.
    ///
    /// Source: `HCA_CAP_OPMOD_GET_MAX` and `_CUR` in `include/linux/mlx5/device.h`.
    pub const fn op_mod(self, selector: u16) -> u16 {
        selector << 1 | matches!(self, CapMode::Current) as u16
    }
}

/// A capability that is there or not: one bit of a page.
///
/// The constants are called as the fields are, with the page before the name for all but the two
/// general pages: [`Cap::CQ_MODERATION`](crate::Cap::CQ_MODERATION), `Cap::ROCE_SW_R_ROCE_SRC_UDP_PORT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cap {
    pub(crate) path: &'static str,
    pub(crate) selector: u16,
    pub(crate) bit: u32,
}

impl Cap {
    /// Its field, as `layout.path`.
    pub const fn path(self) -> &'static str {
        self.path
    }

    /// The capability of one bit at `path`, such as `roce.sw_r_roce_src_udp_port`, however deep it
    /// lies in its page: those in nested layouts have no constant. The path begins with the name of
    /// the page, or with that of its layout; where two pages have one layout, that means the first.
    #[cfg(feature = "caps")]
    pub fn find(path: &'static str) -> Option<Cap> {
        let (page, rest) = path.split_once('.')?;
        let pages = crate::caps::page::PAGES;
        let by_name = pages.iter().find(|p| p.name == page);
        let page = by_name.or_else(|| pages.iter().find(|p| p.layout.name == page))?;
        let (mut layout, mut start, mut names) = (page.layout, 0, rest.split('.').peekable());
        loop {
            let field = layout.field(names.next()?)?;
            start += field.bit();
            match (field.element, field.count, names.peek()) {
                (Element::Layout(inner), Count::One, Some(_)) => layout = inner,
                (Element::Bits, Count::One, None) if field.width() == 1 => {
                    return Some(Cap { path, selector: page.selector, bit: start });
                }
                _ => return None,
            }
        }
    }

    /// The number of its page.
    pub const fn selector(self) -> u16 {
        self.selector
    }

    /// Whether it is there, in the bytes of its page. What `page` is too short for is not there.
    pub fn is_in(self, page: &[u8]) -> bool {
        self.bit as usize / 8 < page.len() && bits::get(page, self.bit as usize, 1) != 0
    }

    /// Sets or clears it in the bytes of its page; `false` when `page` is too short for it.
    pub fn set_in(self, page: &mut [u8], value: bool) -> bool {
        let is_there = self.bit as usize / 8 < page.len();
        if is_there {
            bits::set(page, self.bit as usize, 1, value.into());
        }
        is_there
    }
}

#[cfg(feature = "caps")]
impl QueryHcaCapIn {
    /// QUERY_HCA_CAP for one page.
    ///
    /// ```
    /// use mlx5_prm::{CapMode, QueryHcaCapIn, caps::page};
    ///
    /// assert_eq!(QueryHcaCapIn::of::<page::Roce>(CapMode::Current).op_mod(), 9);
    /// ```
    pub const fn of<P: CapabilityPage>(mode: CapMode) -> Self {
        Self::new().with_op_mod(mode.op_mod(P::PAGE.selector))
    }
}

#[cfg(feature = "caps")]
impl QueryHcaCapOut {
    /// The page that was asked for.
    pub fn page<P: CapabilityPage>(&self) -> &P::Layout {
        let (page, _) = P::Layout::ref_from_prefix(self.capability().as_bytes())
            .expect("a page is no longer than the union of them");
        page
    }

    /// [`page`](Self::page) to be written.
    pub fn page_mut<P: CapabilityPage>(&mut self) -> &mut P::Layout {
        let (page, _) = P::Layout::mut_from_prefix(self.capability_mut().as_bytes_mut())
            .expect("a page is no longer than the union of them");
        page
    }
}
