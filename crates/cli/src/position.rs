//! Positions as the PRM writes them.

/// Byte offset of the dword where the `width` bits from `bit` on begin, and the bits, high:low.
///
/// Bits that reach into later dwords are counted from the end of the last one: a field of 64 bits
/// is `63:0` of the dword where it begins.
pub(crate) fn position(bit: usize, width: usize) -> (usize, String) {
    match place(bit, width) {
        (at, Some((high, low))) => (at, format!("{high}:{low}")),
        (at, None) => (at, String::new()),
    }
}

/// The same as numbers; no bits where the width is 0.
pub(crate) fn place(bit: usize, width: usize) -> (usize, Option<(usize, usize)>) {
    let dword = bit / 32 * 32;
    let run = (bit + width).next_multiple_of(32) - dword;
    let low = run - (bit - dword) - width;
    (dword / 8, (width > 0).then(|| (low + width - 1, low)))
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn positions_as_in_the_tables() {
        assert_eq!(position(0, 16), (0, "31:16".to_owned()));
        assert_eq!(position(0x10 * 8 + 4, 12), (0x10, "27:16".to_owned()));
        assert_eq!(position(0x38 * 8, 64), (0x38, "63:0".to_owned()));
        assert_eq!(position(16, 48), (0, "47:0".to_owned()));
        assert_eq!(position(0, 123), (0, "127:5".to_owned()));
        assert_eq!(position(63, 1), (4, "0:0".to_owned()));
    }
}
