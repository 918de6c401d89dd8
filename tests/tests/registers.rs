//! Registers: every one of the tables, and ACCESS_REG to the simulated firmware and back.

use std::collections::BTreeSet;
use std::path::Path;

use mlx5_devx::fwctl::{admitted, changes};
use mlx5_devx::{Errno, Error, Handle, Target, Transport, read_register, write_register};
use mlx5_prm::{
    Access, AccessOpMod, Count, Element, FieldDesc, LayoutDesc, MtutcReg, Opcode, PaosReg, PddrReg,
    PortAdminStatus, PtysReg, RegisterIn, Request, Status,
};
use mlx5_sim::{Adapter, syndrome};
use toml::{Table, Value};

fn table(file: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prm-spec").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_register_of_the_tables_is_typed() {
    let registers = table("registers.toml");
    let registers = registers["register"].as_array().expect("registers");
    let mut ids = BTreeSet::new();
    for register in registers {
        let text = |key: &str| register.get(key).and_then(Value::as_str);
        let id = u16::try_from(register["id"].as_integer().expect("an id")).expect("16 bits");
        assert!(ids.insert(id), "{id:#x} is there twice");
        let name = text("name").expect("a name");
        let typed = mlx5_prm::register(id).unwrap_or_else(|| panic!("{name} {id:#x} has no type"));
        assert_eq!((typed.name, Some(typed.layout.name)), (name, text("layout")));
        let fields = typed.layout.fields;
        let any = |wanted: &[Access]| {
            fields.iter().any(|f| f.access.is_none_or(|access| wanted.contains(&access)))
        };
        assert_eq!(typed.read, any(&[Access::Ro, Access::Rw]), "{name}: read");
        assert!(typed.write || typed.read, "{name}: neither read nor written");
        assert!(
            !typed.write || !typed.read || any(&[Access::Rw, Access::Wo, Access::Op]),
            "{name}"
        );
    }
    let typed: usize = mlx5_prm::families().iter().map(|f| f.registers.len()).sum();
    println!("{} registers, {typed} typed", registers.len());
    assert_eq!(typed, registers.len());
    assert!(typed > 200);
}

/// The firmware without the kernel's rules, as an interface that lets ACCESS_REG through.
struct Direct(Adapter);

impl Transport for Direct {
    fn create(&self, _: &[u8], _: &mut [u8]) -> Result<Handle, Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn modify(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn query(&self, _: Target, _: &[u8], _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn destroy(&self, _: Handle) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }
    fn general(&self, input: &[u8], output: &mut [u8]) -> Result<(), Errno> {
        self.0.firmware(input, output);
        if output[0] == 0 { Ok(()) } else { Err(Errno::REMOTEIO) }
    }
}

#[test]
fn what_is_written_is_read_by_index_and_access() -> Result<(), Error> {
    let transport: Box<dyn Transport> = Box::new(Direct(Adapter::new()));
    let port = |n: u8| PaosReg::new().with_local_port(n);
    let written =
        write_register(&*transport, port(1).with_admin_status(PortAdminStatus::UP).with_ase(true))?;
    assert_eq!(written.admin_status(), PortAdminStatus::UP);
    let read = read_register(&*transport, port(1))?;
    assert_eq!((read.local_port(), read.admin_status()), (1, PortAdminStatus::UP));
    // Another index is another register.
    assert_eq!(read_register(&*transport, port(2))?.admin_status(), PortAdminStatus(0));

    // Read-only fields keep their value, whatever is written over them.
    let mut access = RegisterIn::write(PtysReg::new().with_local_port(3).with_proto_mask(4));
    access.bytes_mut()[0x10..].fill(0xff);
    access.register.set_local_port(3);
    let mut output = [0; 0x10 + PtysReg::SIZE];
    transport.general(access.as_bytes(), &mut output).expect("PTYS can be written");
    let kept = PtysReg::view(&output[0x10..]).expect("its size");
    assert_eq!((kept.eth_proto_admin(), kept.eth_proto_capability()), (u32::MAX, 0));
    assert_eq!(kept.local_port(), 3);
    Ok(())
}

#[test]
fn what_the_firmware_refuses() {
    let adapter = Adapter::new();
    let run = |input: &[u8], room: usize| {
        let mut output = vec![0; room];
        adapter.firmware(input, &mut output);
        (Status(output[0]), u32::from_be_bytes([output[4], output[5], output[6], output[7]]))
    };
    let read = RegisterIn::read(PddrReg::new());
    let room = 0x10 + PddrReg::SIZE;
    assert_eq!(run(read.as_bytes(), room), (Status::OK, 0));
    assert_eq!(run(read.as_bytes(), room - 1).1, syndrome::SHORT_OUTPUT);
    assert_eq!(run(&read.as_bytes()[..room - 1], room).1, syndrome::SHORT_INPUT);
    let mut unknown = read;
    unknown.head.set_register_id(0xdead);
    let refused = (Status::BAD_PARAM_ERR, syndrome::UNKNOWN_REGISTER);
    assert_eq!(run(unknown.as_bytes(), room), refused);
    let mut other = read;
    other.head.set_op_mod(AccessOpMod(7));
    assert_eq!(run(other.as_bytes(), room), (Status::BAD_PARAM_ERR, syndrome::UNKNOWN_OP_MOD));
}

#[test]
fn devx_does_not_let_registers_through() {
    let refused = read_register(&Adapter::new(), MtutcReg::new()).expect_err("EINVAL");
    let Error::Kernel { opcode, errno } = refused else { panic!("{refused}") };
    assert_eq!((opcode, errno), (Opcode::ACCESS_REG, Errno::INVAL));
}

/// The bits of the fields of a layout that `is` picks, those of layouts within it too.
fn bits_of(layout: &LayoutDesc, from: usize, is: fn(&FieldDesc) -> bool, bits: &mut Vec<usize>) {
    for field in layout.fields.iter().filter(|field| field.count != Count::List) {
        for index in 0..field.elements(layout.size) {
            let at = from + field.bit_of(index);
            match field.element {
                Element::Layout(inner) => bits_of(inner, at, is, bits),
                _ if is(field) => bits.extend(at..at + field.width() as usize),
                _ => {}
            }
        }
    }
}

/// Tries each bit of a mailbox from byte `head` on, and gives those that make a change of it.
fn changing_bits(input: &mut [u8], head: usize) -> BTreeSet<usize> {
    assert!(!changes(input));
    (0..(input.len() - head) * 8)
        .filter(|bit| {
            let (byte, mask) = (head + bit / 8, 0x80 >> (bit % 8));
            input[byte] ^= mask;
            let is_change = changes(input);
            input[byte] ^= mask;
            is_change
        })
        .collect()
}

/// Whether a field clears or resets something, by its name.
fn clears(field: &FieldDesc) -> bool {
    field.name.split('_').any(|word| ["clear", "clr", "reset", "rst"].contains(&word))
}

/// Whether a field that can't be read back starts, ends or keeps a measurement, by its name; and the one
/// of which the kernel's `hwmon.c` shows that a read with it resets.
fn acts(field: &FieldDesc) -> bool {
    field.name.split('_').any(|word| ["snap", "abort", "measure", "mtr"].contains(&word))
        || field.name.starts_with("restart")
}

/// Reads that clear what they read, or reset something, are no mere reads for fwctl: of all registers
/// and queries, those that the tables have such fields of.
#[test]
fn a_read_that_clears_is_a_change() {
    let is = |field: &FieldDesc| match field.access {
        Some(Access::Ro | Access::Index) => false,
        // Those of kernel headers alone; they hold answers.
        None => false,
        Some(Access::Wo | Access::Op) if acts(field) => true,
        Some(Access::Rw | Access::Wo | Access::Op) => clears(field),
    };
    let mut registers = 0;
    for register in mlx5_prm::families().iter().flat_map(|f| f.registers) {
        let mut bits = vec![];
        bits_of(register.layout, 0, is, &mut bits);
        let mut input = vec![0; 0x10 + register.layout.size];
        input[..2].copy_from_slice(&Opcode::ACCESS_REG.0.to_be_bytes());
        input[6..8].copy_from_slice(&AccessOpMod::READ.0.to_be_bytes());
        input[0x0a..0x0c].copy_from_slice(&register.id.to_be_bytes());
        registers += usize::from(!bits.is_empty());
        let (is, should) = (changing_bits(&mut input, 0x10), bits.into_iter().collect());
        assert_eq!(is, should, "{} {:#x}", register.name, register.id);
    }
    assert_eq!(registers, 25);

    // What the tables have no access of: none of them is an action.
    let mut unknown = BTreeSet::new();
    for register in mlx5_prm::families().iter().flat_map(|f| f.registers) {
        names_of(register.layout, &mut unknown);
    }
    let answers = [
        "device_hw_reset",
        "pending_fw_reset",
        "reset_state",
        "time_since_last_clear_high",
        "time_since_last_clear_low",
    ];
    assert_eq!(unknown, answers.into());

    let mut queries = 0;
    for command in admitted().iter().filter(|c| c.read.is_some() && c.write.is_none()) {
        let name = format!("{}_in", command.name.to_lowercase());
        let Some(layout) = mlx5_prm::layout_desc(&name) else { continue };
        let mut bits = vec![];
        let is = |field: &FieldDesc| clears(field) || field.name == "dump_to_memory";
        bits_of(layout, 0, is, &mut bits);
        queries += usize::from(!bits.is_empty());
        let mut input = vec![0; layout.size];
        input[..2].copy_from_slice(&command.opcode.0.to_be_bytes());
        let should = bits.into_iter().map(|bit| bit - 64).collect();
        assert_eq!(changing_bits(&mut input, 8), should, "{name}");
    }
    assert_eq!(queries, 5);
}

/// The names of the fields that clear something by their name, and whose access is not known.
fn names_of(layout: &LayoutDesc, names: &mut BTreeSet<&'static str>) {
    for field in layout.fields {
        match field.element {
            Element::Layout(inner) => names_of(inner, names),
            _ if field.access.is_none() && clears(field) => {
                names.insert(field.name);
            }
            _ => {}
        }
    }
}
