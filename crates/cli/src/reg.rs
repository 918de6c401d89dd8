//! `prm reg`: reads a register.

use clap::Args;
use mlx5_devx::fwctl::Limit;
use mlx5_devx::outcome;
use mlx5_prm::{Access, FieldDesc, RegisterDesc};

use crate::arguments::ArgumentFault;
use crate::encode;
use crate::error::{Error, Exit};
use crate::names;
use crate::output::Output;
use crate::progress::Waiting;
use crate::send::answer::Answers;
use crate::send::rules;
use crate::transport::{Interface, Line, To, Way};
use crate::view::{Request, View};

/// Reads a register.
///
/// Which one of several is said by its index fields, as `prm show` marks them: prm reg --to fwctl:08:00.0 PAOS
/// local_port=1. Nothing is written. The kernel's fwctl lets ACCESS_REG through, its DEVX interface does not;
/// --to sim is the simulated adapter behind fwctl here.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,
    /// The register: its name (PTYS), layout or id.
    name: String,
    /// Index fields and their values.
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    #[command(flatten)]
    answers: Answers,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let to = arguments.to.at_registers()?;
    let way = to.way()?;
    if way.interface() == Some(Interface::Devx) {
        let problem = "the kernel's DEVX interface lets no ACCESS_REG through";
        let remedy = "Give fwctl:DEV (Linux 6.15 with the module mlx5_fwctl), or sim.";
        return Err(arguments.to.fault(problem, remedy).into());
    }
    let register = register(&arguments.name)?;
    let input = input(register, arguments)?;
    if !rules::only_reads(&input) {
        let problem = format!("this read of {} is asked to do more than to read", register.name);
        let remedy = format!(
            "Leave that out, or `prm send --write access_register_in+{} op_mod=1 ...`",
            register.layout.name
        );
        return Err(ArgumentFault::whole(&arguments.name, problem, remedy).into());
    }
    let line = to.open(Limit::ReadOnly)?;
    let read = read(&line, &input, arguments, out);
    let recorded = line.finish();
    read.and(recorded).map(|()| Exit::Done)
}

impl To {
    /// The same, but for the simulation, which is behind fwctl here.
    fn at_registers(&self) -> Result<To, ArgumentFault> {
        Ok(match self.way()? {
            Way::Sim(_) => self.instead("sim:fwctl"),
            _ => self.clone(),
        })
    }
}

/// The register with a name.
fn register(name: &str) -> Result<&'static RegisterDesc, ArgumentFault> {
    let wanted = names::snake_case(names::without_c(name));
    let by_layout = || names::registers().find(|r| r.layout.name == wanted);
    let found = names::register(name).or_else(by_layout).ok_or_else(|| {
        let near = names::list(&names::nearest_of(name, names::registers().map(|r| r.name)));
        let problem = format!("no register is called `{name}`{near}");
        ArgumentFault::whole(name, problem, "`prm list registers` lists them.")
    })?;
    if found.read {
        return Ok(found);
    }
    let problem = format!("{} is only written", found.name);
    Err(ArgumentFault::whole(name, problem, "`prm list registers` says which are read."))
}

/// ACCESS_REG that reads it.
fn input(register: &RegisterDesc, arguments: &Arguments) -> Result<Vec<u8>, Error> {
    for field in &arguments.fields {
        selects(register, field)?;
    }
    let name = format!("access_register_in+{}", register.layout.name);
    let fields: Vec<String> =
        std::iter::once("op_mod=1".to_owned()).chain(arguments.fields.iter().cloned()).collect();
    Ok(encode::from_arguments(&name, &fields, false)?.finish())
}

/// Makes sure that a field that is given says which register is meant.
fn selects(register: &RegisterDesc, argument: &str) -> Result<(), ArgumentFault> {
    let path = argument.split('=').next().unwrap_or_default();
    let first = path.split(['.', '[']).next().unwrap_or_default();
    // What is no field is told by its name.
    let layout = register.layout;
    let field = layout.field(first).or_else(|| layout.field(&names::snake_case(first)));
    let is_value =
        |field: &FieldDesc| matches!(field.access, Some(Access::Ro | Access::Rw | Access::Wo));
    let Some(field) = field else {
        let near = names::nearest_of(first, layout.fields.iter().map(|f| f.name));
        let problem = format!("{} has no field `{first}`{}", layout.name, names::list(&near));
        let remedy = format!("`prm show {}` shows its fields.", layout.name);
        return Err(ArgumentFault::new(argument, 0..first.len(), problem, remedy));
    };
    if !is_value(field) {
        return Ok(());
    }
    let is_index = |f: &&FieldDesc| f.access == Some(Access::Index);
    let index: Vec<&str> = layout.fields.iter().filter(is_index).map(|f| f.name).collect();
    let problem = format!("`{}` is no index of {}: it is what is read", field.name, register.name);
    let remedy = match &*index {
        [] => "It has no index; leave the field out.".to_owned(),
        index => format!("Its index: {}.", index.join(", ")),
    };
    Err(ArgumentFault::new(argument, 0..path.len(), problem, remedy))
}

fn read(line: &Line, input: &[u8], arguments: &Arguments, out: &mut Output) -> Result<(), Error> {
    let request = Request::of(input).unwrap_or_default();
    let view = View::of_output(request);
    let mut output = vec![0; view.map_or(input.len(), |view| view.size())];
    let mut writer = arguments.answers.writer(out, 1);
    writer.request(input)?;
    let waiting = Waiting::new(request.name());
    let result = line.transport().general(input, &mut output);
    drop(waiting);
    match outcome(input, &output, result) {
        Ok(()) => writer.answer(request, &output, None),
        Err(error) => {
            if let mlx5_devx::Error::Firmware { .. } = error {
                writer.answer(request, &output, None)?;
            }
            Err(Error::Refused(line.why(input, &error)))
        }
    }
}
