//! Registers: what ACCESS_REG reads and writes.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::command::Request;
use crate::describe::{Described, LayoutDesc};
use crate::{AccessOpMod, AccessRegisterIn, AccessRegisterOut};

/// A register that ACCESS_REG reaches, such as `PtysReg` of the family `ports`.
pub trait Register:
    Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout
{
    /// Its description.
    const REGISTER: &'static RegisterDesc;
}

/// A register that can be read.
#[diagnostic::on_unimplemented(message = "the register `{Self}` can't be read")]
pub trait ReadRegister: Register {}

/// A register that can be written: some of its fields are not read only.
#[diagnostic::on_unimplemented(message = "the register `{Self}` is read only")]
pub trait WriteRegister: Register {}

/// Description of a register.
#[derive(Debug)]
pub struct RegisterDesc {
    /// Name, such as `PTYS`.
    pub name: &'static str,
    /// Its id: `register_id` of ACCESS_REG.
    pub id: u16,
    /// Its layout.
    pub layout: &'static LayoutDesc,
    /// Whether it can be read.
    pub read: bool,
    /// Whether it can be written.
    pub write: bool,
}

/// The register with this id, in the families that are compiled in.
pub fn register(id: u16) -> Option<&'static RegisterDesc> {
    crate::families().iter().flat_map(|f| f.registers).find(|r| r.id == id).copied()
}

/// ACCESS_REG for one register: what goes in.
///
/// ```
/// # #[cfg(feature = "ports")] {
/// use mlx5_prm::{PtysReg, RegisterIn};
///
/// // The fields that say which register is meant count when it is read, too.
/// let read = RegisterIn::read(PtysReg::new().with_local_port(1).with_proto_mask(4));
/// assert_eq!(read.head.register_id(), 0x5004);
/// assert_eq!(read.as_bytes().len(), 0x10 + PtysReg::SIZE);
/// # }
/// ```
///
/// A field that is read only can't be set:
///
/// ```compile_fail,E0599
/// mlx5_prm::PtysReg::new().set_an_status(1);
/// ```
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
#[repr(C)]
pub struct RegisterIn<R> {
    /// Opcode, `op_mod`, id and argument.
    pub head: AccessRegisterIn,
    /// The register.
    pub register: R,
}

impl<R: Register> RegisterIn<R> {
    /// Reads the register that `register` says by its index fields.
    pub fn read(register: R) -> Self
    where
        R: ReadRegister,
    {
        Self::with_op_mod(AccessOpMod::READ, register)
    }

    /// Writes `register`.
    pub fn write(register: R) -> Self
    where
        R: WriteRegister,
    {
        Self::with_op_mod(AccessOpMod::WRITE, register)
    }

    fn with_op_mod(op_mod: AccessOpMod, register: R) -> Self {
        let head = AccessRegisterIn::new().with_op_mod(op_mod).with_register_id(R::REGISTER.id);
        RegisterIn { head, register }
    }

    /// The bytes as they go to the adapter.
    pub fn as_bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }
}

impl<R: Register> Described for RegisterIn<R> {
    const DESC: &'static LayoutDesc = AccessRegisterIn::DESC;
    const OPCODE: Option<u16> = AccessRegisterIn::OPCODE;
}

impl<R: Register> Request for RegisterIn<R> {
    type Output = RegisterOut<R>;

    fn bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_mut_bytes()
    }
}

/// ACCESS_REG for one register: what comes out.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
#[repr(C)]
pub struct RegisterOut<R> {
    /// Status and syndrome.
    pub head: AccessRegisterOut,
    /// The register.
    pub register: R,
}

impl<R: Register> Described for RegisterOut<R> {
    const DESC: &'static LayoutDesc = AccessRegisterOut::DESC;
}
