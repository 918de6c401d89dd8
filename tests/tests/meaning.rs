//! What fields mean: enumerations, flags and numbers as `prm-spec` binds them, words, capabilities and
//! general objects.

mod spec;

use std::collections::BTreeMap;

use mlx5_devx::record::{Recorder, Recording, Replayer};
use mlx5_devx::{Caps, Errno, Error, Target, TargetKind, Transport};
use mlx5_prm::caps::{CAPS, page};
use mlx5_prm::{
    Cap, CapMode, CapabilityPage, CmdHcaCap, CreateObject, Described, DestroyObject, Element,
    EncryptionKeyObj, GeneralObjectId, IpsecObj, ModifyObject, ObjectType, Opcode, Pdn,
    QueryObject, Request, RoceCap, families, general_object,
};
use mlx5_sim::{Adapter, syndrome};
use toml::Value;

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Every field that an entry of `semantics/` names, as `layout.field`, and the entry's name.
fn bound(key: &str) -> BTreeMap<String, String> {
    let tables = spec::tables();
    let mut all = BTreeMap::new();
    for entry in spec::semantics(key) {
        let patterns = entry["fields"].as_array().expect("fields").iter().map(text);
        for pattern in patterns {
            let mut any = false;
            for layout in &tables.layouts {
                for field in &layout.fields {
                    let path = format!("{}.{}", layout.name, field.name);
                    if spec::fits(&pattern, &path) {
                        any = true;
                        assert_eq!(all.insert(path, text(&entry["name"])), None, "bound twice");
                    }
                }
            }
            assert!(any, "{pattern} fits nothing");
        }
    }
    all
}

#[test]
fn every_binding_of_the_tables_is_in_the_codec() {
    let (enums, flags, numbers) = (bound("enum"), bound("flags"), bound("number"));
    let mut seen = [0; 3];
    for layout in families().iter().flat_map(|f| f.layouts) {
        for field in layout.fields {
            let path = format!("{}.{}", layout.name, field.name);
            let own = |all: &BTreeMap<String, String>| all.get(&path).cloned();
            match field.element {
                Element::Enum(names) => {
                    // Values that stand beside the field belong to it alone.
                    let expected = own(&enums).unwrap_or_else(|| field.name.to_owned());
                    assert_eq!(names.name, expected, "{path}");
                    seen[0] += usize::from(enums.contains_key(&path));
                }
                // A select mask is flags, too.
                Element::Flags(names) if flags.contains_key(&path) => {
                    assert_eq!(Some(names.name.to_owned()), own(&flags), "{path}");
                    seen[1] += 1;
                }
                Element::Number(number) => {
                    assert_eq!(Some(number.name.to_owned()), own(&numbers), "{path}");
                    assert_eq!(number.width, field.width(), "{path}");
                    seen[2] += 1;
                }
                _ => {
                    let all = [own(&enums), own(&flags), own(&numbers)];
                    assert_eq!(all, [None, None, None], "{path} is bound in the tables");
                }
            }
        }
    }
    println!("fields with an enumeration, flags, a number: {seen:?}");
    assert_eq!(seen, [enums.len(), flags.len(), numbers.len()]);
}

#[test]
fn every_enumerator_of_the_headers_is_bound_or_has_a_reason() {
    let tables = spec::tables();
    let (mut bound, mut unbound) = (0, 0);
    let bindings: Vec<Value> = ["enum", "flags"].into_iter().flat_map(spec::semantics).collect();
    let reasons = spec::semantics("unbound");
    for enumerator in &tables.enumerators {
        let name = &enumerator.name;
        let list = |entry: &Value, key: &str| -> Vec<String> {
            entry.get(key).and_then(Value::as_array).into_iter().flatten().map(text).collect()
        };
        let taken = bindings.iter().any(|entry| {
            let by_prefix = entry.get("prefix").and_then(Value::as_str).and_then(|prefix| {
                name.strip_prefix(prefix)
                    .filter(|rest| !list(entry, "except").iter().any(|except| except == rest))
            });
            by_prefix.is_some() || list(entry, "of").iter().any(|p| spec::fits(p, name))
        });
        let why = reasons.iter().any(|entry| {
            !text(&entry["why"]).is_empty()
                && list(entry, "names").iter().any(|p| spec::fits(p, name))
        });
        assert!(taken != why, "{name}: bound {taken}, with a reason {why}");
        bound += usize::from(taken);
        unbound += usize::from(why);
    }
    println!("{bound} enumerators bound, {unbound} with a reason why not");
    assert!(bound > 1000);
}

#[test]
fn words_are_there_at_run_time() {
    let mut with_words = 0;
    for layout in families().iter().flat_map(|f| f.layouts) {
        with_words += layout.fields.iter().filter(|f| f.words.is_some()).count();
    }
    // Every field of every command on the objects of the interop family, and of what it holds.
    let objects = [
        "qp", "cq", "srq", "rmp", "xrc_srq", "xrq", "rq", "rqt", "sq", "tir", "tis", "mkey", "eq",
        "pd",
    ];
    let commands = families().iter().flat_map(|f| f.commands);
    let mut todo: Vec<_> = commands
        .filter(|c| objects.contains(&c.object.name))
        .flat_map(|c| [c.input, c.output])
        .collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(layout) = todo.pop() {
        if seen.contains(&layout.name) {
            continue;
        }
        seen.push(layout.name);
        assert!(layout.about.is_some(), "{} has no words", layout.name);
        for field in layout.fields {
            assert!(field.words.is_some(), "{}.{} has no words", layout.name, field.name);
            if let Element::Layout(inner) = field.element {
                todo.push(inner);
            }
        }
    }
    for (code, name) in Opcode::DESC.values {
        assert!(Opcode(*code as u16).about().is_some(), "{name} has no words");
    }
    println!("{with_words} fields with words, in {} layouts of the objects all", seen.len());
    assert!(seen.len() > 100);
}

#[test]
fn capabilities_are_read_page_by_page() -> Result<(), Error> {
    let adapter = Adapter::new();
    let caps = Caps::query(&adapter)?;
    assert!(caps.supports(Cap::CQ_MODERATION) && caps.could_support(Cap::CQ_MODERATION));
    assert!(!caps.supports(Cap::ROCE_SW_R_ROCE_SRC_UDP_PORT));
    assert_eq!(caps.page::<page::Roce>(CapMode::Current), None);
    assert_eq!(caps.pages().count(), 2, "the general page alone, maximum and current");
    assert_eq!(caps.refused().len(), 2 * page::PAGES.len() - 2);
    let Error::Firmware { syndrome: why, .. } = caps.refused()[0].2 else { panic!("{caps:?}") };
    assert_eq!(why, syndrome::UNKNOWN_PAGE);

    let roce = RoceCap::new().with_sw_r_roce_src_udp_port(true).with_roce_version(2);
    adapter.set_page::<page::Roce>(CapMode::Current, &roce);
    let general = CmdHcaCap::new().with_log_max_qp(7);
    adapter.set_page::<page::GeneralDevice>(CapMode::Current, &general);
    let caps = Caps::query(&adapter)?;
    assert!(caps.supports(Cap::ROCE_SW_R_ROCE_SRC_UDP_PORT));
    assert!(!caps.could_support(Cap::ROCE_SW_R_ROCE_SRC_UDP_PORT));
    assert!(!caps.supports(Cap::CQ_MODERATION) && caps.could_support(Cap::CQ_MODERATION));
    assert_eq!(caps.page::<page::Roce>(CapMode::Current), Some(&roce));
    let page = caps.page::<page::GeneralDevice>(CapMode::Current);
    assert_eq!(page.map(CmdHcaCap::log_max_qp), Some(7));
    let pages: Vec<(&str, &[u8])> = caps
        .pages()
        .filter(|(_, mode, _)| *mode == CapMode::Current)
        .map(|(page, _, bytes)| (page.name, bytes))
        .collect();
    let known = [(page::GeneralDevice::PAGE, general.as_bytes().as_slice())];
    let known = known.into_iter().chain([(page::Roce::PAGE, roce.as_bytes().as_slice())]);
    assert_eq!(pages, known.map(|(page, bytes)| (page.name, bytes)).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn every_capability_of_one_bit_is_in_its_place() {
    let mut nested = 0;
    for cap in CAPS {
        let mut page = vec![0; 0x1000];
        assert!(!cap.is_in(&page) && !cap.is_in(&[]));
        assert!(cap.set_in(&mut page, true) && cap.is_in(&page));
        // The page's own description finds it set, and nothing else.
        let (layout, field) = cap.path().split_once('.').expect("layout.field");
        let layout = mlx5_prm::layout_desc(layout).expect("a page");
        let set: Vec<_> = layout
            .fields
            .iter()
            .filter(|f| f.read(&page, 0).is_some_and(|v| v != 0) && f.width() == 1)
            .map(|f| f.name)
            .collect();
        assert!(set.contains(&field), "{}: {set:?}", cap.path());
        assert_eq!(page.iter().map(|b| b.count_ones()).sum::<u32>(), 1);
        assert!(!cap.set_in(&mut [], true));
    }
    for path in [
        "flow_table_nic_cap.flow_table_properties_nic_receive.ft_support",
        "odp_cap.transport_page_fault_scheme_cap.rc_odp_caps.atomic",
        "roce_cap.roce_apm",
    ] {
        let found = Cap::find(path).unwrap_or_else(|| panic!("{path} is not found"));
        assert_eq!(found.path(), path);
        nested += 1;
    }
    assert_eq!(Cap::find("roce_cap.roce_apm"), Some(Cap::ROCE_ROCE_APM));
    // Two pages of one layout.
    let of = |path| Cap::find(path).map(Cap::selector);
    assert_eq!(of("ethernet_offloads.swp"), Some(1));
    assert_eq!(of("ipoib_enhanced_offloads.swp"), Some(6));
    for path in ["", "roce_cap", "roce_cap.nothing", "nothing.at_all", "roce_cap.roce_version"] {
        assert_eq!(Cap::find(path), None, "{path}");
    }
    println!("{} capabilities of one bit, {nested} by path", CAPS.len());
    assert!(CAPS.len() > 500);
}

#[test]
fn general_objects_are_typed_by_their_number() -> Result<(), Error> {
    let adapter = Adapter::new();
    let key = EncryptionKeyObj::new().with_pd(Pdn::new(7));
    let create = CreateObject::new(key);
    let mut output = [0; 16];
    let handle = adapter.create(create.as_bytes(), &mut output).expect("it is made");
    let id =
        GeneralObjectId::new(u32::from_be_bytes([output[8], output[9], output[10], output[11]]));
    let target = Target { kind: TargetKind::Devx, handle };

    let query = QueryObject::<EncryptionKeyObj>::new(id);
    let mut answer = [0; 0x10 + EncryptionKeyObj::SIZE];
    adapter.query(target, query.bytes(), &mut answer).expect("it is read");
    assert_eq!(&answer[0x10..], key.as_bytes());

    // Another number, or another type, is not the handle's: the kernel's rule.
    let other = QueryObject::<EncryptionKeyObj>::new(GeneralObjectId::new(id.get() + 1));
    assert_eq!(adapter.query(target, other.bytes(), &mut answer), Err(Errno::INVAL));
    let ipsec = QueryObject::<IpsecObj>::new(id);
    assert_eq!(adapter.query(target, ipsec.bytes(), &mut answer), Err(Errno::INVAL));
    // No source says what can be changed of a key.
    let modify = ModifyObject::new(id, key);
    assert_eq!(adapter.modify(target, modify.bytes(), &mut output), Err(Errno::REMOTEIO));
    assert_eq!(output[4..8], syndrome::NOT_MODIFIABLE.to_be_bytes());

    adapter.destroy(handle).expect("it is ended");
    adapter.firmware(DestroyObject::<EncryptionKeyObj>::new(id).bytes(), &mut output);
    assert_eq!(output[4..8], syndrome::NO_SUCH_OBJECT.to_be_bytes());
    Ok(())
}

#[test]
fn every_general_object_of_the_tables_is_typed() {
    let (mut typed, mut named) = (0, 0);
    for entry in spec::semantics("general_object") {
        let obj_type = ObjectType(entry["type"].as_integer().expect("a number") as u16);
        let desc = general_object(obj_type);
        let layout = entry.get("layout").map(text);
        assert_eq!(desc.map(|d| d.layout.name.to_owned()), layout, "{obj_type:?}");
        assert_eq!(layout.is_none(), entry.get("why").is_some(), "{obj_type:?}");
        typed += usize::from(layout.is_some());
        named += 1;
        if let Some(desc) = desc {
            assert_eq!(desc.name, text(&entry["name"]));
        }
    }
    println!("{named} types of general objects, {typed} with a layout");
    assert!(typed > 30);
    assert_eq!(general_object(ObjectType(0xdead)).map(|d| d.name), None);
    assert_eq!(CreateObject::<EncryptionKeyObj>::OPCODE, Some(Opcode::CREATE_GENERAL_OBJECT.0));
}

#[test]
fn requests_for_a_general_object_differ_by_its_fields() {
    let create = |kind: ObjectType, size: u8| {
        let mut input = [0; 0x30];
        input[..2].copy_from_slice(&Opcode::CREATE_GENERAL_OBJECT.0.to_be_bytes());
        input[6..8].copy_from_slice(&kind.0.to_be_bytes());
        input[0x10 + 0x13] = size;
        input
    };
    let differences = |recorded: &[u8], now: &[u8]| {
        let recorder = Recorder::new(Adapter::new(), Vec::new());
        let _ = recorder.create(recorded, &mut [0; 16]);
        let recording = Recording::read(&*recorder.finish().expect("it is written"));
        let replayer = Replayer::strict(recording.expect("it is read"));
        assert_eq!(replayer.create(now, &mut [0; 16]), Err(Replayer::MISMATCH));
        let all = replayer.mismatch().expect("it is told").differences;
        all.into_iter().map(|d| (d.what, d.recorded, d.now)).collect::<Vec<_>>()
    };
    let told = ("umem.log_page_size".to_owned(), "0x0".to_owned(), "0x7".to_owned());
    assert_eq!(differences(&create(ObjectType::UMEM, 0), &create(ObjectType::UMEM, 7)), [told]);
    // Objects of two types have no field in common.
    let other = differences(&create(ObjectType::UMEM, 0), &create(ObjectType::IPSEC, 7));
    assert!(other.iter().all(|(what, ..)| !what.starts_with("umem.")), "{other:?}");
}

/// What goes wrong is printed by `unwrap` and by `main`: it must be lines, not pages.
#[test]
fn debug_of_errors_and_descriptions_is_short() {
    let error = mlx5_prm::Rst2initQpIn::transition(mlx5_prm::QpSt::RC).build().unwrap_err();
    let error = format!("{:?}", Error::from(error));
    assert!(error.len() < 400, "{} bytes: {error}", error.len());
    let caps = Caps::query(&Adapter::new()).expect("the general page");
    let (page, ..) = caps.refused()[0];
    assert!(format!("{page:?}").len() < 200, "{page:?}");
    let mut answer = mlx5_prm::QueryHcaCapOut::zeroed();
    answer.page_mut::<page::GeneralDevice>().set_log_max_qp(7);
    let text = format!("{answer:?}");
    assert!(text.len() < 200 && text.contains("capability: union hca_cap_union 0x"), "{text}");
    let flags = mlx5_prm::ModifyCqSelect::from_bits(0x8000_0005);
    assert_eq!(format!("{flags:?}"), "ModifyCqSelect(cq_period | oi | 0x80000000)");
    assert_eq!(format!("{:?}", mlx5_prm::ModifyCqSelect::new()), "ModifyCqSelect(0x0)");
}

#[test]
fn what_selects_a_field() {
    let by = |layout: &str, field: &str| -> Vec<(String, String, u32)> {
        mlx5_prm::selected_by(layout, field)
            .map(|by| (by.input.name.to_owned(), by.select.name.to_owned(), by.bit.bit))
            .collect()
    };
    assert_eq!(by("cqc", "oi"), [("modify_cq_in".into(), "modify_cq_select".into(), 2)]);
    assert_eq!(by("cqc", "log_cq_size"), [("modify_cq_in".into(), "resize_cq_select".into(), 0)]);
    assert_eq!(by("cqc", "uar_page"), []);
    assert_eq!(by("ipsec_obj", "esn_msb"), [("ipsec_obj".into(), "modify_ipsec_select".into(), 1)]);
    assert_eq!(by("qpc", "rwe").len(), 6, "each transition that admits the bit: not RST2INIT");
    assert_eq!(by("qpc", "nothing"), []);
}
