//! Reserved bits that are set, of the same layouts again and again.

use std::cell::RefCell;

use mlx5_prm::{Count, FieldDesc, LayoutDesc};

/// How many layouts are remembered.
const PLACES: usize = 256;

/// The bits of each dword of a layout that no field has; `None` when they are other ones in a mailbox of
/// another length.
type Free = Option<Vec<u32>>;

thread_local! {
    /// Each layout in a place by its address; another one there takes it.
    static FREE: RefCell<Vec<Option<(&'static LayoutDesc, Free)>>> = RefCell::new(vec![const { None }; PLACES]);
}

/// What [`LayoutDesc::reserved_set`] gives. That goes through all fields for each dword.
pub(super) fn set(layout: &'static LayoutDesc, bytes: &[u8]) -> Vec<(usize, u32)> {
    let own = &bytes[..layout.size.min(bytes.len())];
    let place = std::ptr::from_ref(layout).addr() / align_of::<LayoutDesc>();
    FREE.with_borrow_mut(|all| {
        let free = &mut all[place / 5 % PLACES];
        let masks = match free {
            Some((known, masks)) if std::ptr::eq(*known, layout) => masks,
            _ => &mut free.insert((layout, free_bits(layout))).1,
        };
        let (dwords, rest) = own.as_chunks();
        let Some(masks) = masks.as_ref().filter(|_| rest.is_empty()) else {
            return layout.reserved_set(bytes).collect();
        };
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

fn free_bits(layout: &LayoutDesc) -> Free {
    let is_list_within =
        |field: &FieldDesc| field.count == Count::List && (field.bit() as usize) < layout.size * 8;
    if !layout.size.is_multiple_of(4) || layout.fields.iter().any(is_list_within) {
        return None;
    }
    let mut masks = vec![0; layout.size / 4];
    for (at, bits) in layout.reserved_set(&vec![0xff; layout.size]) {
        masks[at / 4] = bits;
    }
    Some(masks)
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn it_is_the_same_as_of_the_description() {
        for (layout, _) in crate::names::all() {
            for len in [layout.size, layout.size / 2, layout.size / 8 * 4, layout.size + 8] {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 11) as u8).collect();
                let wanted: Vec<_> = layout.reserved_set(&bytes).collect();
                assert_eq!(set(layout, &bytes), wanted, "{} of {len} bytes", layout.name);
                assert_eq!(set(layout, &bytes), wanted, "again");
            }
        }
    }
}
