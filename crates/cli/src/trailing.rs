//! Bytes after a layout that belong to no field.

use mlx5_prm::{Count, Element, LayoutDesc};

/// The bytes of a mailbox after its layout and its list.
pub(crate) fn trailing<'b>(layout: &LayoutDesc, bytes: &'b [u8]) -> &'b [u8] {
    &bytes[end(layout, bytes).min(bytes.len())..]
}

/// Where the layout ends, with its list or that of a layout at its end.
fn end(layout: &LayoutDesc, bytes: &[u8]) -> usize {
    let ends = layout.fields.iter().map(|field| match (field.element, field.count) {
        (Element::Layout(inner), Count::One) => {
            field.bit() as usize / 8 + end(inner, layout.part(field, bytes, 0))
        }
        _ => field.bit_of(field.elements(bytes.len())).div_ceil(8),
    });
    ends.fold(layout.size, usize::max)
}

#[cfg(test)]
mod tests {
    use mlx5_prm::{Count, layout_desc};

    use super::trailing;

    #[test]
    fn no_bytes_are_between_a_layout_and_its_list() {
        for (layout, _) in crate::names::all() {
            let lists = layout.fields.iter().filter(|field| field.count == Count::List);
            for field in lists {
                assert!(field.bit() as usize <= layout.size * 8, "{}.{}", layout.name, field.name);
            }
        }
    }

    #[test]
    fn a_list_leaves_its_broken_element() {
        let modify_rqt_in = layout_desc("modify_rqt_in").unwrap();
        assert_eq!(trailing(modify_rqt_in, &[0; 0x110 + 6]).len(), 2);
        let destroy_cq_in = layout_desc("destroy_cq_in").unwrap();
        assert_eq!(trailing(destroy_cq_in, &[0; 0x14]).len(), 4);
    }
}
