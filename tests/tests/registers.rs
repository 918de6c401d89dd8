//! Registers: every one of the tables, and ACCESS_REG to the simulated firmware and back.

use std::collections::BTreeSet;
use std::path::Path;

use mlx5_devx::{Errno, Error, Handle, Target, Transport, read_register, write_register};
use mlx5_prm::{
    Access, AccessOpMod, MtutcReg, Opcode, PaosReg, PddrReg, PortAdminStatus, PtysReg, RegisterIn,
    Request, Status,
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
