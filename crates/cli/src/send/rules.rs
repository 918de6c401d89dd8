//! What is known to be refused, or is not to be sent without being asked for, before a device is opened.

use mlx5_devx::fwctl::{self, Limit, Scope};
use mlx5_prm::{Opcode, Verb};

use crate::arguments::ArgumentFault;
use crate::transport::{Interface, Way};
use crate::view::Request;

/// What the user lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct May {
    /// Commands that change something on a real device.
    pub(crate) write: bool,
}

impl May {
    /// What fwctl lets through: nothing that taints the kernel.
    pub(crate) fn limit(self, way: Way<'_>) -> Limit {
        let write = self.write || way.device().is_none();
        if write { Limit::UpTo(Scope::DebugReadOnly) } else { Limit::ReadOnly }
    }

    /// Refuses what an input may not do. `argument` is the one that names its command.
    pub(crate) fn check(
        self,
        way: Way<'_>,
        argument: &str,
        input: &[u8],
    ) -> Result<(), ArgumentFault> {
        let command = Request::of(input).map(Request::name).unwrap_or_default();
        let fault =
            |problem: String, remedy: &str| Err(ArgumentFault::whole(argument, problem, remedy));
        match way.interface() {
            Some(Interface::Devx) if mlx5_prm::opcode(input) == Some(Opcode::ACCESS_REG) => {
                return fault(
                    format!("the kernel's DEVX interface lets no {command} through"),
                    "Registers are read by `prm reg`, --to fwctl:DEV or --to sim.",
                );
            }
            Some(Interface::Fwctl) if fwctl::scope_needed(input).is_none() => {
                return fault(
                    format!("the kernel's fwctl driver lets no {command} through"),
                    "It lets queries, registers and a few settings through; ioctl:DEV and libmlx5:DEV take more.",
                );
            }
            _ => {}
        }
        match way.device() {
            Some(device) if !self.write && !only_reads(input) => {
                let does = if is_query(input) {
                    "is asked to do more than to read"
                } else {
                    "is no query"
                };
                fault(
                    format!("{command} {does}, and {device} is a real device"),
                    "Say --write if that is meant.",
                )
            }
            _ => Ok(()),
        }
    }
}

/// Whether a command is known to change nothing.
pub(crate) fn only_reads(input: &[u8]) -> bool {
    // What fwctl's driver knows and takes for a change is one, a query that clears or dumps what it reads too.
    let is_known =
        |opcode: Opcode| fwctl::admitted().iter().any(|command| command.opcode == opcode);
    match mlx5_prm::opcode(input) {
        Some(opcode) if is_known(opcode) => !fwctl::changes(input),
        _ => is_query(input),
    }
}

/// Whether a command is one that reads, whatever else it is asked to do.
fn is_query(input: &[u8]) -> bool {
    let Some(opcode) = mlx5_prm::opcode(input) else { return false };
    if opcode == Opcode::ACCESS_REG {
        return input.get(6..8) == Some(&[0, 1]);
    }
    let known = mlx5_prm::command(opcode.0).map(|command| command.verb == Verb::Query);
    known.unwrap_or_else(|| opcode.name().is_some_and(|name| name.contains("QUERY_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(opcode: Opcode, op_mod: u16) -> Vec<u8> {
        let mut input = vec![0; 32];
        input[..2].copy_from_slice(&opcode.0.to_be_bytes());
        input[6..8].copy_from_slice(&op_mod.to_be_bytes());
        input
    }

    #[test]
    fn queries_are_told_from_the_rest() {
        for opcode in [Opcode::QUERY_CQ, Opcode::QUERY_HCA_CAP, Opcode::NOP, Opcode::QUERY_LAG] {
            assert!(only_reads(&input(opcode, 0)), "{opcode:?}");
        }
        for opcode in [Opcode::CREATE_CQ, Opcode::MODIFY_CQ, Opcode::SET_HCA_CAP, Opcode(0xfff0)] {
            assert!(!only_reads(&input(opcode, 0)), "{opcode:?}");
        }
        assert!(only_reads(&input(Opcode::ACCESS_REG, 1)));
        assert!(!only_reads(&input(Opcode::ACCESS_REG, 0)));
        let mut clears = input(Opcode::QUERY_Q_COUNTER, 0);
        assert!(only_reads(&clears));
        clears[0x18] = 0x80;
        assert!(!only_reads(&clears));
        assert!(!only_reads(&[]));
    }

    #[test]
    fn a_query_whose_name_says_so_is_one() {
        for (code, name) in
            Opcode::DESC.values.iter().filter(|(_, name)| name.starts_with("QUERY_"))
        {
            assert!(only_reads(&input(Opcode(*code as u16), 0)), "{name}");
        }
    }
}
