//! Places, fields and capabilities by their descriptions, against bits taken singly; and how what
//! describes is compared and printed.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use mlx5_prm::{
    Cap, Count, Cqc, Element, FieldError, ModifyCqIn, Opcode, Place, QpSt, Services, caps::page,
    command, layout_desc,
};

fn bit(bytes: &[u8], at: u32) -> bool {
    bytes[at as usize / 8] >> (7 - at % 8) & 1 != 0
}

fn get(bytes: &[u8], place: Place) -> u128 {
    let bits = place.bit..place.bit + place.width;
    bits.fold(0, |value, at| value << 1 | u128::from(bit(bytes, at)))
}

fn put(bytes: &mut [u8], place: Place, value: u128) {
    for (i, at) in (place.bit..place.bit + place.width).rev().enumerate() {
        let mask = 0x80 >> (at % 8);
        let byte = &mut bytes[at as usize / 8];
        *byte = if value >> i & 1 != 0 { *byte | mask } else { *byte & !mask };
    }
}

/// Bytes of which no two dwords are alike.
fn bytes<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| (i as u8).wrapping_mul(0x9d) ^ 0x5a)
}

#[test]
fn a_number_is_read_and_written_wherever_it_stands() {
    for width in [1, 3, 8, 13, 16, 24, 31, 32, 33, 48, 63, 64] {
        for bit in 0..72 {
            let place = Place { bit, width };
            let long = bytes::<200>();
            assert_eq!(place.read(&long), Some(get(&long, place) as u64), "{place:?}");
            for len in [0, 3, 4, 7, 8, 9, 12, 13, 15, 16, 17, 20] {
                let (before, is_there) = (bytes::<20>(), bit + width <= 8 * len as u32);
                let expected = is_there.then(|| get(&before, place) as u64);
                assert_eq!(place.read(&before[..len]), expected, "{place:?} in {len} bytes");
                for value in [0x0123_4567_89ab_cdef_u64, u64::MAX] {
                    let value = value >> (64 - width);
                    let (mut now, mut expected) = (before, before);
                    if is_there {
                        put(&mut expected, place, value.into());
                    }
                    assert_eq!(place.write(&mut now[..len], value), is_there);
                    assert_eq!(now, expected, "{place:?} in {len} bytes");
                    if width < 64 {
                        assert!(!place.write(&mut now[..len], 1 << width), "it does not fit");
                        assert_eq!(now, expected, "{place:?} in {len} bytes");
                    }
                }
            }
        }
    }
}

#[test]
fn a_place_may_be_too_wide_for_a_number_or_hold_nothing() {
    let mut bytes = bytes::<20>();
    let wide = Place { bit: 0, width: 65 };
    assert_eq!(wide.read(&bytes), None);
    assert!(!wide.write(&mut bytes, 0));
    assert_eq!(bytes, self::bytes());
    let empty = Place { bit: 8, width: 0 };
    assert_eq!(empty.read(&bytes), Some(0));
    assert!(empty.write(&mut bytes, 0) && !empty.write(&mut bytes, 1));
    assert_eq!(bytes, self::bytes());
}

#[test]
fn bits_are_copied_from_place_to_place() {
    for width in [1, 12, 63, 64, 65, 100, 128, 130] {
        for (bit, to) in [(0, 0), (3, 8), (8, 3), (30, 1)] {
            let from = Place { bit, width };
            let (source, target) = (bytes::<24>(), [0xa5; 24]);
            let mut expected = target;
            for n in 0..width {
                let value = get(&source, Place { bit: bit + n, width: 1 });
                put(&mut expected, Place { bit: to + n, width: 1 }, value);
            }
            let mut now = target;
            assert!(from.copy_to(&source, &mut now, to));
            assert_eq!(now, expected, "{from:?} to {to}");

            let [from_len, to_len] = [bit, to].map(|bit| (bit + width).div_ceil(8) as usize);
            let mut now = target;
            assert!(!from.copy_to(&source[..from_len - 1], &mut now, to));
            assert!(!from.copy_to(&source, &mut now[..to_len - 1], to));
            assert_eq!(now, target);
            assert!(from.copy_to(&source[..from_len], &mut now[..to_len], to));
            assert_eq!(now, expected, "{from:?} to {to}");
        }
    }
}

#[test]
fn a_field_takes_what_fits() {
    let cqc = layout_desc("cqc").expect("it is known");
    let period = cqc.field("cq_period").expect("it has one");
    let mut context = Cqc::new();
    assert_eq!(period.write("cqc", context.as_bytes_mut(), 0, 0xabc), Ok(true));
    assert_eq!(context, Cqc::new().with_cq_period(0xabc));
    let too_wide = FieldError { layout: "cqc", field: "cq_period", width: 12, value: 0x1000 };
    assert_eq!(period.write("cqc", context.as_bytes_mut(), 0, 0x1000), Err(too_wide));
    assert_eq!(period.write("cqc", context.as_bytes_mut(), 1, 0), Ok(false), "there is one");
    assert_eq!(period.write("cqc", &mut context.as_bytes_mut()[..4], 0, 0), Ok(false));
    assert_eq!(context.cq_period(), 0xabc);

    let all = mlx5_prm::families().iter().flat_map(|f| f.layouts);
    let mut widest = all.flat_map(|l| l.fields.iter().map(move |f| (l, f))).filter(|(_, f)| {
        f.width() == 128 && f.count == Count::One && !matches!(f.element, Element::Layout(_))
    });
    let (layout, field) = widest.next().expect("a field of 128 bits");
    let mut bytes = vec![0; layout.size];
    assert_eq!(field.write(layout.name, &mut bytes, 0, u128::MAX - 1), Ok(true));
    assert_eq!(field.read(&bytes, 0), Some(u128::MAX - 1));
}

#[test]
fn a_capability_is_found_however_deep_it_lies() {
    let mut nested = 0;
    for page in page::PAGES {
        let fields = page.layout.fields.iter().filter(|f| f.count == Count::One);
        for field in fields {
            let mut flags = Vec::new();
            match field.element {
                Element::Bits if field.width() == 1 => {
                    flags.push((field.name.to_owned(), field.bit()))
                }
                Element::Layout(inner) => {
                    let single = |f: &&mlx5_prm::FieldDesc| {
                        matches!((f.count, f.element), (Count::One, Element::Bits))
                            && f.width() == 1
                    };
                    for flag in inner.fields.iter().filter(single) {
                        let path = format!("{}.{}", field.name, flag.name);
                        flags.push((path, field.bit() + flag.bit()));
                        nested += 1;
                    }
                }
                _ => {}
            }
            for (path, bit) in flags {
                let path: &'static str = format!("{}.{path}", page.name).leak();
                let cap = Cap::find(path).unwrap_or_else(|| panic!("{path}"));
                assert_eq!((cap.path(), cap.selector()), (path, page.selector));
                let at = bit as usize / 8;
                let mut bytes = vec![0; page.layout.size];
                assert!(!cap.set_in(&mut bytes[..at], true) && !cap.is_in(&bytes[..at]), "{path}");
                assert!(cap.set_in(&mut bytes[..at + 1], true), "{path}");
                let mut expected = vec![0; page.layout.size];
                expected[at] = 0x80 >> (bit % 8);
                assert_eq!(bytes, expected, "{path}");
                assert!(cap.is_in(&bytes[..at + 1]), "{path}");
                assert!(cap.set_in(&mut bytes, false) && !cap.is_in(&bytes), "{path}");
            }
        }
    }
    assert!(nested > 50, "{nested} lie deeper");
}

#[test]
fn descriptions_are_printed_by_name() {
    let [modify, query] = [Opcode::MODIFY_CQ, Opcode::QUERY_CQ].map(|o| command(o.0).expect("it"));
    assert_eq!(format!("{modify:?}"), "CommandDesc { name: \"MODIFY_CQ\", opcode: 0x403, .. }");
    assert!(modify == modify && modify != query);
    assert_eq!(format!("{:?}", modify.input), "LayoutDesc { name: \"modify_cq_in\", .. }");
    assert_eq!((Opcode::MODIFY_CQ.about(), Opcode(0).about()), (Some(modify.about), None));
}

#[test]
fn services_are_a_set() {
    let services = Services::of(&[QpSt::UD, QpSt::RC, QpSt::RC]);
    assert_eq!(services.iter().collect::<Vec<_>>(), [QpSt::RC, QpSt::UD]);
    assert_eq!(format!("{services:?}"), format!("{{{:?}, {:?}}}", QpSt::RC, QpSt::UD));
    assert!(services.contains(QpSt::UD) && !services.contains(QpSt::UC));
    assert!(!services.contains(QpSt(16)), "it has more bits than services have");
    assert_eq!(Services::of(&[]), Services::NONE);
}

#[test]
fn layouts_are_their_bytes() {
    let hash = |modify: &ModifyCqIn| {
        let mut hasher = DefaultHasher::new();
        modify.hash(&mut hasher);
        hasher.finish()
    };
    let (one, other) = (ModifyCqIn::new(), ModifyCqIn::new().with_uid(1));
    assert_ne!(one, other);
    assert_ne!(hash(&one), hash(&other));
    assert_eq!(HashSet::from([one, other, one]).len(), 2);
}
