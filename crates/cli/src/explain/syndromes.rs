//! Syndromes that were explained in public, and a user's own.

mod read;

use std::path::Path;

use super::failure::Failure;
use crate::error::Error;

/// Those that come with this program.
const PUBLIC: &str = include_str!("../../../../prm-spec/semantics/syndromes.toml");
const PUBLIC_NAME: &str = "prm-spec/semantics/syndromes.toml";

/// A syndrome that somebody explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Syndrome {
    pub(super) number: u32,
    /// The commands that it was seen with: names with blanks between, `*` standing for any characters.
    pub(super) command: String,
    /// What of the command it is about, such as a register.
    pub(super) detail: Option<String>,
    pub(super) op_mod: Option<u16>,
    pub(super) status: Option<u8>,
    pub(super) cause: String,
    pub(super) remedy: Option<String>,
    pub(super) adapter: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) certainty: Certainty,
    pub(super) source: String,
    pub(super) also: Vec<String>,
    /// Whether it is of the user's own file.
    pub(super) own: bool,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The vendor, or who fixed it.
    Stated,
    /// Somebody who met it.
    Reported,
}

/// What is known of the syndrome of a failure.
#[derive(Debug)]
pub(super) enum Known<'s> {
    /// Explanations for this very failure.
    This(Vec<&'s Syndrome>),
    /// Explanations of the same number with another command or status.
    Other(Vec<&'s Syndrome>),
    Nothing,
}

/// All syndromes, those of the user first.
#[derive(Debug)]
pub(super) struct Syndromes(Vec<Syndrome>);

impl Syndromes {
    /// Those of this program, behind those of a file.
    pub(super) fn load(own: Option<&Path>) -> Result<Self, Error> {
        let mut all = Vec::new();
        if let Some(path) = own {
            let name = path.display().to_string();
            let bytes =
                std::fs::read(path).map_err(|source| Error::Open { file: name.clone(), source })?;
            let text = String::from_utf8(bytes).map_err(|e| {
                let at = e.utf8_error().valid_up_to();
                Error::Input(format!("{name}: byte {at} is not UTF-8: save the file as UTF-8"))
            })?;
            all = read::read(&name, &text, true).map_err(Error::Input)?;
        }
        all.extend(read::read(PUBLIC_NAME, PUBLIC, false).map_err(Error::Input)?);
        Ok(Syndromes(all))
    }

    /// What is known of the syndrome of a failure.
    pub(super) fn of(&self, failure: &Failure) -> Known<'_> {
        let same = self.0.iter().filter(|known| Some(known.number) == failure.syndrome);
        let (this, other): (Vec<_>, Vec<_>) = same.partition(|known| known.fits(failure));
        match (this.is_empty(), other.is_empty()) {
            (false, _) => Known::This(this),
            (true, false) => Known::Other(other),
            (true, true) => Known::Nothing,
        }
    }
}

impl Syndrome {
    /// Whether nothing that is known of a failure is otherwise than it was when this was explained.
    fn fits(&self, failure: &Failure) -> bool {
        fn same<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
            a.zip(b).is_none_or(|(a, b)| a == b)
        }
        let command = failure.opcode.is_none() && failure.form.is_devx()
            || failure.command().is_some_and(|name| self.is_of(name));
        command && same(self.op_mod, failure.op_mod) && same(self.status, failure.status)
    }

    fn is_of(&self, command: &str) -> bool {
        self.command.split_whitespace().any(|pattern| is_like(command, pattern))
    }
}

/// Whether a name is one, in any case, or fits a pattern, in which `*` stands for any run of characters.
pub(super) fn is_like(name: &str, pattern: &str) -> bool {
    name.eq_ignore_ascii_case(pattern) || prm_codegen::check::is_like(name, pattern)
}

#[cfg(test)]
mod tests {
    use super::super::failure::Form;
    use super::*;

    fn failure(opcode: u16, op_mod: u16, status: u8) -> Failure {
        let (op_mod, status) = (Some(op_mod), Some(status));
        Failure {
            opcode: Some(opcode),
            op_mod,
            status,
            syndrome: Some(0x1234),
            ..Failure::new(Form::Kernel)
        }
    }

    #[test]
    fn the_table_of_this_program_can_be_read() {
        assert!(!Syndromes::load(None).unwrap().0.is_empty());
    }

    #[test]
    fn the_command_and_the_status_count() {
        let text = "[[syndrome]]\nnumber = 0x1234\ncommand = \"CREATE_CQ DESTROY_*\"\nop_mod = 0\n\
                    status = \"bad parameter\"\nstatus_number = 3\ncause = \"x\"\ncertainty = \"reported\"\n\
                    source = \"y\"\n";
        let all = Syndromes(read::read("own.toml", text, true).unwrap());
        let is_this = |failure| matches!(all.of(&failure), Known::This(_));
        assert!(is_this(failure(0x400, 0, 3)) && is_this(failure(0x501, 0, 3)));
        for other in [failure(0x500, 0, 3), failure(0x400, 1, 3), failure(0x400, 0, 8)] {
            assert!(matches!(all.of(&other), Known::Other(_)));
        }
        let unknown = Failure { opcode: None, ..failure(0, 0, 3) };
        assert!(matches!(all.of(&unknown), Known::Other(_)));
        assert!(is_this(Failure { form: Form::Dpcp, ..unknown }));
        let nothing = Failure { syndrome: Some(1), ..failure(0x400, 0, 3) };
        assert!(matches!(all.of(&nothing), Known::Nothing));
    }

    #[test]
    fn patterns() {
        assert!(is_like("DESTROY_CQ", "DESTROY_*") && is_like("CREATE_CQ", "*_CQ"));
        assert!(is_like("create_mkey", "CREATE_MKEY") && is_like("X", "*"));
        assert!(!is_like("CREATE_CQ", "DESTROY_*") && !is_like("CREATE_CQ", "CREATE"));
    }
}
