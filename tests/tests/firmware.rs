//! The simulated firmware: the state that an object begins in, what is always there, and what is
//! refused.

use mlx5_devx::{Errno, Handle, Target, TargetKind, Transport};
use mlx5_prm::{
    AccessOpMod, AccessRegisterIn, AccessRegisterOut, CapMode, CmdHcaCap, CmdOut, Cqc, CreateCqIn,
    CreateDctIn, CreateLagIn, CreateMkeyIn, CreateQpIn, CreateQpOut, CreateRqIn, CreateRqtIn,
    CreateSqIn, CreateXrqIn, Dctn, Described, DrainDctIn, Mkc, ModifySqIn, Opcode,
    PacketPacingRateLimitIndex, Place, QpSt, QpState, Qpc, Qpn, QueryHcaCapIn, QueryHcaCapOut,
    RqState, Rqc, Rqtc, Rst2initQpIn, SetFteIn, SetPpRateLimitIn, SqState, Sqc, Sqn, Status, Verb,
    caps::page,
};
use mlx5_sim::{Adapter, Firmware, syndrome};

/// Runs a command, and gives the status and the syndrome.
fn run(firmware: &mut Firmware, input: &[u8]) -> (Status, u32) {
    let mut output = [0; 0x400];
    firmware.execute(input, &mut output);
    let (head, _) = CmdOut::view_prefix(&output).expect("long enough");
    (head.status(), head.syndrome())
}

const DONE: (Status, u32) = (Status::OK, 0);
const NO_SUCH_TRANSITION: (Status, u32) = (Status::BAD_RES_STATE_ERR, syndrome::NO_SUCH_TRANSITION);

#[test]
fn queues_begin_in_reset() {
    let mut firmware = Firmware::new();
    let create = CreateQpIn::new().with_qpc(Qpc::new().with_state(QpState::RTS));
    assert_eq!(run(&mut firmware, create.as_bytes()), DONE);
    let context = firmware.context("qp", 1).expect("it is there");
    let (qpc, _) = Qpc::view_prefix(context).expect("long enough");
    assert_eq!(qpc.state(), QpState::RST);

    let create = CreateRqIn::new().with_ctx(Rqc::new().with_state(RqState::RDY));
    assert_eq!(run(&mut firmware, create.as_bytes()), NO_SUCH_TRANSITION);
    let create = CreateSqIn::new().with_ctx(Sqc::new().with_state(SqState::RDY));
    assert_eq!(run(&mut firmware, create.as_bytes()), NO_SUCH_TRANSITION);
}

#[test]
fn a_send_queue_moves_from_the_state_it_is_in() {
    let mut firmware = Firmware::new();
    assert_eq!(run(&mut firmware, CreateSqIn::new().as_bytes()), DONE);
    let mut go = |from, to| {
        let modify = ModifySqIn::new()
            .with_sqn(Sqn::new(1))
            .with_sq_state(from)
            .with_ctx(Sqc::new().with_state(to));
        run(&mut firmware, modify.as_bytes())
    };
    let not_there = (Status::BAD_RES_STATE_ERR, syndrome::NOT_THE_PRESENT_STATE);
    assert_eq!(go(SqState::RDY, SqState::RDY), not_there);
    // As the kernel moves the queue of a raw packet QP that is in INIT (modify_raw_packet_qp).
    assert_eq!(go(SqState::RST, SqState::ERR), DONE);
    assert_eq!(go(SqState::ERR, SqState::RST), DONE);
    assert_eq!(go(SqState::RST, SqState::RDY), DONE);
    assert_eq!(go(SqState::RST, SqState::RDY), not_there);
    assert_eq!(go(SqState::RDY, SqState::ERR), DONE);
    assert_eq!(go(SqState::ERR, SqState::RDY), NO_SUCH_TRANSITION);
    assert_eq!(go(SqState::ERR, SqState::RST), DONE);
}

#[test]
fn a_list_of_pages_is_no_part_of_the_context() {
    let mut firmware = Firmware::new();
    let create = [&CreateCqIn::new().as_bytes()[..], &[0xff; 64]].concat();
    assert_eq!(run(&mut firmware, &create), DONE);
    assert_eq!(firmware.context("cq", 1), Some(&Cqc::new().as_bytes()[..]));
}

#[test]
fn there_is_one_lag() {
    let mut firmware = Firmware::new();
    assert_eq!(run(&mut firmware, CreateLagIn::new().as_bytes()), DONE);
    let none_left = (Status::NO_RES_ERR, syndrome::NO_NUMBER_LEFT);
    assert_eq!(run(&mut firmware, CreateLagIn::new().as_bytes()), none_left);
}

#[test]
fn what_is_always_there_is_set_whole() {
    let mut firmware = Firmware::new();
    let mut set = SetPpRateLimitIn::new().with_rate_limit_index(PacketPacingRateLimitIndex::new(3));
    set.as_bytes_mut()[16..].fill(0x5a);
    assert_eq!(run(&mut firmware, set.as_bytes()), DONE);
    assert_eq!(firmware.context("rate_limit", 3), Some(&[0x5a; 48][..]));
    set.set_op_mod(1);
    set.as_bytes_mut()[16..].fill(0);
    let unknown = (Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(run(&mut firmware, set.as_bytes()), unknown);
    assert_eq!(firmware.context("rate_limit", 3), Some(&[0x5a; 48][..]));
}

#[test]
fn a_command_without_a_context_changes_none() {
    let mut firmware = Firmware::new();
    assert_eq!(run(&mut firmware, CreateDctIn::new().as_bytes()), DONE);
    let before = firmware.context("dct", 1).map(<[u8]>::to_vec);
    let mut drain = DrainDctIn::new().with_dctn(Dctn::new(1));
    assert_eq!(run(&mut firmware, drain.as_bytes()), DONE);
    assert_eq!(firmware.context("dct", 1), before.as_deref());
    drain.set_op_mod(1);
    let unknown = (Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD);
    assert_eq!(run(&mut firmware, drain.as_bytes()), unknown);
}

#[test]
fn a_field_inside_of_another_is_given_by_its_own_bit() {
    let mut firmware = Firmware::new();
    let create = CreateQpIn::new().with_qpc(Qpc::new().with_st(QpSt::RC));
    assert_eq!(run(&mut firmware, create.as_bytes()), DONE);
    let pkey_index = |firmware: &Firmware| {
        let (qpc, _) = Qpc::view_prefix(firmware.context("qp", 1).expect("it")).expect("long");
        qpc.primary_address_path().pkey_index()
    };
    let go = |firmware: &mut Firmware, opcode: Opcode, index, mask: u32| {
        let mut input = Rst2initQpIn::new().with_opcode(opcode).with_qpn(Qpn::new(1));
        input.as_bytes_mut()[0x10..0x14].copy_from_slice(&mask.to_be_bytes());
        // Whatever else is needed is not zero.
        input.as_bytes_mut()[0x18..].fill(0xff);
        input.qpc_mut().set_st(QpSt::RC);
        input.qpc_mut().primary_address_path_mut().set_pkey_index(index);
        assert_eq!(run(firmware, input.as_bytes()), DONE, "{opcode:?}");
    };
    go(&mut firmware, Opcode::RST2INIT_QP, 5, 0);
    assert_eq!(pkey_index(&firmware), 5);
    go(&mut firmware, Opcode::INIT2RTR_QP, 9, 0);
    assert_eq!(pkey_index(&firmware), 5, "the path was given, and this not");
}

/// The register `id`, with `data` in it: what comes back, or why not.
fn access(
    firmware: &mut Firmware,
    op_mod: AccessOpMod,
    id: u16,
    data: &[u8],
) -> Result<Vec<u8>, (Status, u32)> {
    let head = AccessRegisterIn::new().with_op_mod(op_mod).with_register_id(id);
    let mut output = vec![0; AccessRegisterOut::SIZE + data.len()];
    firmware.execute(&[head.as_bytes(), data].concat(), &mut output);
    let (answer, data) = CmdOut::view_prefix(&output).expect("long enough");
    match answer.status() {
        Status::OK => Ok(data[AccessRegisterOut::SIZE - CmdOut::SIZE..].to_vec()),
        status => Err((status, answer.syndrome())),
    }
}

#[test]
fn registers_are_read_and_written_as_they_may_be() {
    let mut firmware = Firmware::new();
    let refused = (Status::BAD_PARAM_ERR, syndrome::NOT_ACCESSIBLE);
    let mut of_both = 0;
    for register in mlx5_prm::families().iter().flat_map(|f| f.registers) {
        let size = register.layout.size;
        let mut access = |op_mod, byte: u8| {
            access(&mut firmware, op_mod, register.id, &vec![byte; size]).map_err(|why| {
                assert_eq!(why, refused, "{}", register.layout.name);
            })
        };
        assert_eq!(access(AccessOpMod::WRITE, 0xff).is_ok(), register.write);
        assert_eq!(access(AccessOpMod::WRITE, 0).is_ok(), register.write);
        let there = access(AccessOpMod::READ, 0);
        assert_eq!(there.is_ok(), register.read);
        if let (Ok(there), true) = (there, register.write) {
            let mut expected = vec![0; size];
            if register.name == "PAOS" {
                expected[3] = 2; // `oper_status`: no port has a link
            }
            assert_eq!(there, expected, "{}: the last counts", register.layout.name);
            of_both += 1;
        }
    }
    assert!(of_both > 50, "{of_both} registers are of both");
}

const NOT_OF_METHOD: Errno = Errno::INVAL;

#[test]
fn entries_of_flow_tables_are_made_and_changed_by_one_command() {
    let adapter = Adapter::new();
    let set = |op_mod: u16| {
        let mut set = SetFteIn::new();
        set.as_bytes_mut()[6..8].copy_from_slice(&op_mod.to_be_bytes());
        set
    };
    let create = |op_mod| adapter.create(set(op_mod).as_bytes(), &mut [0; 16]);
    assert_eq!(create(1), Err(NOT_OF_METHOD));
    let handle = create(0).expect("an entry");
    let target = Target { kind: TargetKind::Devx, handle };
    let modify = |op_mod| adapter.modify(target, set(op_mod).as_bytes(), &mut [0; 16]);
    assert_eq!(modify(0), Err(NOT_OF_METHOD));
    assert_eq!(modify(1), Ok(()));
}

#[test]
fn commands_on_an_xrq_name_it() {
    let adapter = Adapter::new();
    let handle = adapter.create(CreateXrqIn::new().as_bytes(), &mut [0; 16]).expect("an XRQ");
    let send = |opcode: Opcode, number: u32, handle: Handle| {
        let mut input = [0; 0x100];
        input[..2].copy_from_slice(&opcode.0.to_be_bytes());
        input[8..12].copy_from_slice(&number.to_be_bytes());
        let target = Target { kind: TargetKind::Devx, handle };
        match opcode {
            Opcode::QUERY_XRQ_DC_PARAMS_ENTRY | Opcode::QUERY_XRQ_ERROR_PARAMS => {
                adapter.query(target, &input, &mut [0; 0x400])
            }
            _ => adapter.modify(target, &input, &mut [0; 0x400]),
        }
    };
    for opcode in [
        Opcode::SET_XRQ_DC_PARAMS_ENTRY,
        Opcode::RELEASE_XRQ_ERROR,
        Opcode::MODIFY_XRQ,
        Opcode::QUERY_XRQ_DC_PARAMS_ENTRY,
        Opcode::QUERY_XRQ_ERROR_PARAMS,
    ] {
        assert_eq!(send(opcode, 2, handle), Err(Errno::INVAL), "{opcode:?}");
        let of_firmware = send(opcode, 1, handle);
        assert!(matches!(of_firmware, Ok(()) | Err(Errno::REMOTEIO)), "{opcode:?}");
    }
}

/// As the kernel takes them (`devx_get_created_obj_id`, `devx_get_obj_id`), which knows the number of a new
/// object from the input of the one, and from the output of the other.
#[test]
fn entries_of_the_l2_table_and_scheduling_elements() {
    let adapter = Adapter::new();
    let command = |opcode: Opcode, number: u32, at: usize| {
        let mut input = [0; 0x100];
        input[..2].copy_from_slice(&opcode.0.to_be_bytes());
        input[at..at + 4].copy_from_slice(&number.to_be_bytes());
        input
    };
    let on = |handle| Target { kind: TargetKind::Devx, handle };
    let set = command(Opcode::SET_L2_TABLE_ENTRY, 7, 0x14);
    let entry = on(adapter.create(&set, &mut [0; 16]).expect("an entry"));
    let query = |number| {
        let query = command(Opcode::QUERY_L2_TABLE_ENTRY, number, 0x14);
        adapter.query(entry, &query, &mut [0; 0x40])
    };
    assert_eq!((query(7), query(8)), (Ok(()), Err(Errno::INVAL)));
    assert_eq!(adapter.modify(entry, &set, &mut [0; 16]), Ok(()));
    assert_eq!(adapter.destroy(entry.handle), Ok(()));

    let mut output = [0; 0x40];
    let create = command(Opcode::CREATE_SCHEDULING_ELEMENT, 0, 0x0c);
    let element = on(adapter.create(&create, &mut output).expect("an element"));
    let number = u32::from_be_bytes(output[0x10..0x14].try_into().expect("4 bytes"));
    let mut query = |number| {
        let query = command(Opcode::QUERY_SCHEDULING_ELEMENT, number, 0x0c);
        (adapter.query(element, &query, &mut output), Status(output[0]))
    };
    // Its output has no status in the public layouts, and is not simulated.
    assert_eq!(query(number), (Err(Errno::REMOTEIO), Status::BAD_OP_ERR));
    assert_eq!(query(number + 1).0, Err(Errno::INVAL));
    assert_eq!(adapter.destroy(element.handle), Ok(()));
}

/// The capabilities of a new adapter.
fn general(firmware: &mut Firmware) -> CmdHcaCap {
    let mut output = QueryHcaCapOut::new();
    let query = QueryHcaCapIn::new().with_op_mod(1);
    firmware.execute(query.as_bytes(), output.as_bytes_mut());
    let (general, _) = CmdHcaCap::view_prefix(output.capability().as_bytes()).expect("a page");
    *general
}

/// A program looks at how many objects there may be before it makes any.
#[test]
fn what_the_adapter_makes_its_capabilities_admit() {
    let mut firmware = Firmware::new();
    let general = general(&mut firmware);
    let capability = |name: &str| {
        let field = CmdHcaCap::DESC.field(name)?;
        Place { bit: field.bit(), width: field.width() }.read(general.as_bytes())
    };
    // Those whose capability has another name, or none in the general page.
    let named = |kind: &str| match kind {
        "dct" => "dct".to_owned(),
        "q_counter" => "max_qp_cnt".to_owned(),
        "flow_counter" => "max_flow_counter_31_16".to_owned(),
        "xrc_srq" => "log_max_srq".to_owned(),
        _ => format!("log_max_{kind}"),
    };
    let mut without = Vec::new();
    let commands = mlx5_prm::families().iter().flat_map(|f| f.commands);
    for create in commands.filter(|c| c.verb == Verb::Create) {
        let mut input = vec![0; create.input.size];
        input[..2].copy_from_slice(&create.opcode.to_be_bytes());
        assert_eq!(run(&mut firmware, &input), DONE, "{}", create.name);
        let name = named(create.object.name);
        match capability(&name) {
            None => without.push(create.object.name),
            Some(value) => {
                assert_ne!(value, 0, "{name}, and {} makes one", create.name);
                let width = create.number.expect("it is one of many").width;
                let is_log = name.starts_with("log_");
                assert!(!is_log || value <= width.into(), "{name}: more than there are numbers");
            }
        }
    }
    without.sort_unstable();
    let of_other_pages = [
        "flow_group",
        "flow_table",
        "fpga_qp",
        "lag",
        "modify_header_context",
        "packet_reformat_context",
        "scheduling_element",
        "uar",
    ];
    assert_eq!(without, of_other_pages);

    let types = u64::from(general.general_obj_types());
    let objects = mlx5_prm::families().iter().flat_map(|f| f.general_objects);
    for object in objects.filter(|object| object.obj_type.0 < 64) {
        let mut input = vec![0; 16 + object.layout.size];
        input[..2].copy_from_slice(&Opcode::CREATE_GENERAL_OBJECT.0.to_be_bytes());
        input[6..8].copy_from_slice(&object.obj_type.0.to_be_bytes());
        assert_eq!(run(&mut firmware, &input), DONE, "{}", object.name);
        assert_eq!(types >> object.obj_type.0 & 1, 1, "{}", object.name);
    }
}

/// Sizes that the capabilities name, at their limit.
#[test]
fn what_the_capabilities_admit_the_adapter_makes() {
    let mut firmware = Firmware::new();
    let general = general(&mut firmware);
    let cqc = Cqc::new().with_log_cq_size(general.log_max_cq_sz());
    let cq = CreateCqIn::new().with_cq_context(cqc);
    let size = general.log_max_qp_sz();
    let qp = CreateQpIn::new().with_qpc(Qpc::new().with_log_sq_size(size).with_log_rq_size(size));
    let rqtc = Rqtc::new().with_rqt_max_size(1 << general.log_max_rqt_size());
    let table = CreateRqtIn::new().with_rqt_context(rqtc);
    for input in [cq.as_bytes() as &[u8], qp.as_bytes(), table.as_bytes()] {
        assert_eq!(run(&mut firmware, input), DONE);
    }
}

/// `mlx5_devx_cmd_mkey_create` of DPDK gives a length, and a list only for keys of other keys.
#[test]
fn the_translation_of_a_memory_key_is_there() {
    let create = |mode: u8, octwords: u32, umem: u32, list: usize| {
        let mkc = Mkc::new().with_access_mode_1_0(mode);
        let mut input = CreateMkeyIn::new()
            .with_memory_key_mkey_entry(mkc)
            .with_translations_octword_actual_size(octwords)
            .with_mkey_umem_valid(umem != 0)
            .with_mkey_umem_id(umem)
            .as_bytes()
            .to_vec();
        input.resize(input.len() + list, 0);
        input
    };
    let short = (Status::BAD_INP_LEN_ERR, syndrome::SHORT_INPUT);
    let mut firmware = Firmware::new();
    for mode in 0..4 {
        assert_eq!(run(&mut firmware, &create(mode, 0, 0, 0)), DONE);
        assert_eq!(run(&mut firmware, &create(mode, 100, 0, 16)), short);
        assert_eq!(run(&mut firmware, &create(mode, 2, 0, 31)), short);
        assert_eq!(run(&mut firmware, &create(mode, 2, 0, 32)), DONE);
        assert_eq!(run(&mut firmware, &create(mode, u32::MAX, 0, 0x1000)), short);
        // 2 and 3: KLMs and KSMs.
        let of_umem = if mode < 2 { DONE } else { short };
        assert_eq!(run(&mut firmware, &create(mode, 100, 7, 0)), of_umem);
    }
}

/// The context is kept, and nothing of the list behind it.
#[test]
fn a_memory_key_is_what_its_context_says() {
    let mkc = Mkc::new().with_access_mode_1_0(2).with_qpn(Qpn::new(0x12_3456)).with_mkey_7_0(0x42);
    let mut input = CreateMkeyIn::new()
        .with_memory_key_mkey_entry(mkc)
        .with_translations_octword_actual_size(2)
        .as_bytes()
        .to_vec();
    input.resize(input.len() + 32, 0xff);
    let mut firmware = Firmware::new();
    assert_eq!(run(&mut firmware, &input), DONE);
    assert_eq!(firmware.context("mkey", 1), Some(&mkc.as_bytes()[..]));
}

/// `devx_is_general_cmd` of the kernel: a command for another function may be any, if the adapter has
/// `vhca_tunnel_commands`.
#[test]
fn commands_for_another_function_need_an_adapter_that_has_them() {
    let adapter = Adapter::new();
    let mut tunnelled = *CreateQpIn::new().as_bytes();
    tunnelled[5] = 1;
    let call = |input: &[u8]| {
        let mut output = [0; CreateQpOut::SIZE];
        adapter.general(input, &mut output)
    };
    assert_eq!(call(&tunnelled), Err(Errno::INVAL), "this one has none");
    let page = CmdHcaCap::new().with_vhca_tunnel_commands(1);
    adapter.set_page::<page::GeneralDevice>(CapMode::Current, &page);
    assert_eq!(call(&tunnelled), Ok(()));
    assert_eq!(call(CreateQpIn::new().as_bytes()), Err(Errno::INVAL), "for this function");
}

/// `devx_handle_mkey_create`: a key that is none of other keys lies in a umem, though the program does not
/// say so.
#[test]
fn a_memory_key_lies_in_a_umem() {
    let adapter = Adapter::new();
    let create = |mode: u8, umem: u32| {
        let mkc = Mkc::new().with_access_mode_1_0(mode);
        let create = CreateMkeyIn::new().with_memory_key_mkey_entry(mkc).with_mkey_umem_id(umem);
        let mut output = [0; 16];
        let made = adapter.create(create.as_bytes(), &mut output).map(drop);
        (made, CmdOut::view_prefix(&output).expect("long enough").0.syndrome())
    };
    let done = (Ok(()), 0);
    assert_eq!(create(1, 0), done);
    assert_eq!(create(1, 3), (Err(Errno::REMOTEIO), syndrome::NO_SUCH_UMEM));
    assert_eq!((create(2, 3), create(3, 3)), (done, done), "nothing says that it is a umem");
}
