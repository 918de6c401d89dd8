//! Reserved bits that are set, of the same layouts again and again.

use std::cell::RefCell;

use mlx5_prm::LayoutDesc;

/// How many layouts are remembered.
const PLACES: usize = 256;

/// The bits of each dword that no field has, of a layout as long as it is, without a list.
type Free = Option<(&'static LayoutDesc, Vec<u32>)>;

thread_local! {
    /// Each layout in a place by its address; another one there takes it.
    static FREE: RefCell<Vec<Free>> = RefCell::new(vec![const { None }; PLACES]);
}

/// What [`LayoutDesc::reserved_set`] gives. That goes through all fields for each dword.
pub(super) fn set(layout: &'static LayoutDesc, bytes: &[u8]) -> Vec<(usize, u32)> {
    // A list may begin within the layout, and is as long as the mailbox has it.
    if bytes.len() != layout.size || !layout.size.is_multiple_of(4) {
        return layout.reserved_set(bytes).collect();
    }
    let place = std::ptr::from_ref(layout).addr() / align_of::<LayoutDesc>();
    FREE.with_borrow_mut(|all| {
        let free = &mut all[place / 5 % PLACES];
        let masks = match free {
            Some((known, masks)) if std::ptr::eq(*known, layout) => masks,
            _ => &mut free.insert((layout, free_bits(layout))).1,
        };
        let (dwords, _) = bytes.as_chunks();
        let mut set = Vec::new();
        for (i, (dword, mask)) in dwords.iter().zip(masks.iter()).enumerate() {
            let bits = u32::from_be_bytes(*dword) & mask;
            if bits != 0 {
                set.push((i * 4, bits));
            }
        }
        set
    })
}

fn free_bits(layout: &LayoutDesc) -> Vec<u32> {
    let mut masks = vec![0; layout.size / 4];
    for (at, bits) in layout.reserved_set(&vec![0xff; layout.size]) {
        masks[at / 4] = bits;
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn it_is_the_same_as_of_the_description() {
        for (layout, _) in crate::names::all() {
            for len in [layout.size, layout.size / 2, layout.size + 8] {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 11) as u8).collect();
                let wanted: Vec<_> = layout.reserved_set(&bytes).collect();
                assert_eq!(set(layout, &bytes), wanted, "{} of {len} bytes", layout.name);
                assert_eq!(set(layout, &bytes), wanted, "again");
            }
        }
    }
}
