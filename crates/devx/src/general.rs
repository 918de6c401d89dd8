//! Commands that work on no object, and registers among them.

use mlx5_prm::{ReadRegister, Register, RegisterIn, Request, WriteRegister};
use zerocopy::{FromZeros, IntoBytes};

use crate::error::{Error, outcome};
use crate::transport::Transport;
use crate::verbs::not_too_long;

/// Sends a command that works on no object.
///
/// The answer is the layout alone, without a list.
///
/// # Errors
/// See [`Error`].
pub fn general<C>(transport: &dyn Transport, command: &C) -> Result<C::Output, Error>
where
    C: Request + ?Sized,
{
    let input = command.bytes();
    let mut output = C::Output::new_zeroed();
    not_too_long(input, output.as_bytes())?;
    let result = transport.general(input, output.as_mut_bytes());
    outcome(input, output.as_bytes(), result)?;
    Ok(output)
}

/// Reads a register by ACCESS_REG: the one that the index fields of `register` say.
///
/// The kernel's DEVX interface does not let ACCESS_REG through (`devx_is_general_cmd`): the errno
/// is `EINVAL` there. The `fwctl` interface does.
///
/// # Errors
/// See [`Error`].
pub fn read_register<R: ReadRegister>(transport: &dyn Transport, register: R) -> Result<R, Error> {
    access(transport, &RegisterIn::read(register))
}

/// Writes a register by ACCESS_REG, and gives what the adapter answers.
///
/// As for [`read_register`], DEVX does not let it through.
///
/// # Errors
/// See [`Error`].
pub fn write_register<R: WriteRegister>(
    transport: &dyn Transport,
    register: R,
) -> Result<R, Error> {
    access(transport, &RegisterIn::write(register))
}

fn access<R: Register>(transport: &dyn Transport, access: &RegisterIn<R>) -> Result<R, Error> {
    Ok(general(transport, access)?.register)
}
