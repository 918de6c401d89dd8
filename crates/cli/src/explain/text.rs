//! What is told of failures, for people.

use std::fmt::{self, Write};

use mlx5_prm::caps::page::PAGES;

use super::errno::Errno;
use super::failure::{Failure, Form, Wait};
use super::knowledge;
use super::status::{self, ABORTED, DRIVER_SYNDROME};
use super::syndromes::{Certainty, Known, Syndrome, Syndromes};
use super::tally::{Kind, Lines, Tally};
use crate::names;
use crate::output::{Look, Paint};

/// Columns of a label and the blanks before and after it.
const LABEL: usize = 12;

/// How many devices are named.
const DEVICES: usize = 8;

/// All that is told.
pub(super) fn report(tally: &Tally, syndromes: &Syndromes, look: Look) -> String {
    let mut out = String::new();
    for kind in &tally.kinds {
        one(&mut out, kind, tally, syndromes, look);
        out.push('\n');
    }
    let notes = notes(tally);
    for note in &notes {
        let label = look.paint(Paint::Alarm, "note:");
        let _ = writeln!(out, "{label} {}", look.wrap(note, 6));
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    let kinds = tally.kinds.len() as u64;
    let _ = writeln!(
        out,
        "{} of {} in {}",
        count(tally.failures(), "failure"),
        count(kinds, "kind"),
        count(tally.lines, "line")
    );
    out
}

/// `1 line`, `2 lines`.
pub(super) fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "line {}", self.first),
            false => write!(f, "lines {} to {}", self.first, self.last),
        }
    }
}

fn one(out: &mut String, kind: &Kind, tally: &Tally, syndromes: &Syndromes, look: Look) {
    let failure = &kind.failure;
    let _ = writeln!(out, "{}", look.paint(Paint::Title, look.wrap(&title(failure), 2)));
    let mut row = |label: &str, words: &str| {
        if !words.is_empty() {
            let label = look.paint(Paint::Name, format!("{label:<width$}", width = LABEL - 2));
            let _ = writeln!(out, "  {label}{}", look.wrap(words, LABEL));
        }
    };
    row("seen", &seen(kind, tally));
    row("command", &command(failure));
    row("status", &meaning(failure));
    row("errno", &errno(failure));
    for words in syndrome(failure, syndromes) {
        row("syndrome", &words);
    }
    let advice = knowledge::about(failure);
    row("causes", advice.cause);
    for (i, look) in advice.look.iter().enumerate() {
        row(if i == 0 { "look at" } else { "" }, look);
    }
    for odd in oddities(failure) {
        row("odd", &odd);
    }
}

/// `RTR2RTS_QP(0x504) op_mod 0x0: bad parameter (0x3), syndrome 0x1234`.
fn title(failure: &Failure) -> String {
    let mut title = match (failure.command(), failure.opcode) {
        (Some(name), Some(opcode)) => format!("{name}({opcode:#x})"),
        (Some(said), None) => format!("{said:?}"),
        (None, Some(opcode)) => format!("command {opcode:#x}"),
        (None, None) => "a command".to_owned(),
    };
    if let Some(op_mod) = failure.op_mod {
        let _ = write!(title, " op_mod {op_mod:#x}");
    }
    let mut parts = Vec::new();
    parts.extend(failure.wait.map(|wait| waited(wait).to_owned()));
    let status = failure.status.filter(|status| *status != 0);
    parts.extend(status.map(|status| format!("{} ({status:#x})", status::words(status))));
    parts.extend(failure.syndrome.map(|syndrome| format!("syndrome {syndrome:#x}")));
    if status.is_none() && failure.wait.is_none() {
        parts.extend(failure.errno.map(|errno| errno.to_string()));
    }
    if parts.is_empty() {
        parts.push("failed".to_owned());
    }
    format!("{title}: {}", parts.join(", "))
}

fn waited(wait: Wait) -> &'static str {
    match wait {
        Wait::NoAnswer => "not answered in time",
        Wait::Recovered => "answered late",
        Wait::NoSlot => "never sent",
    }
}

/// How often, where, and of which devices.
fn seen(kind: &Kind, tally: &Tally) -> String {
    let lines = kind.seen;
    let least = match kind.failure.form {
        Form::Kernel if tally.notices.suppressed > 0 => "at least ",
        _ => "",
    };
    let mut seen = match lines.count {
        1 => format!("{least}once, {lines}"),
        n => format!("{least}{n} times, {lines}"),
    };
    let _ = write!(seen, ", in {}", kind.failure.form.words());
    if !kind.devices.is_empty() {
        let several = kind.devices.len() > 1;
        let name = |(device, n): &(String, u64)| match several {
            true => format!("{device} ({n})"),
            false => device.clone(),
        };
        let named: Vec<String> = kind.devices.iter().take(DEVICES).map(name).collect();
        let _ = write!(seen, "; {}", named.join(", "));
        let more = kind.devices.len().saturating_sub(DEVICES);
        if more > 0 || kind.more_devices > 0 {
            let _ =
                write!(seen, " and {more}{} more", if kind.more_devices > 0 { " or" } else { "" });
        }
    }
    if kind.failure.cut {
        seen += "; the message is cut off";
    }
    seen
}

/// What the command does, and to what.
fn command(failure: &Failure) -> String {
    let Some(opcode) = failure.opcode else {
        return match failure.form {
            Form::Dpcp => "The log does not say which command.".to_owned(),
            _ => "Not told, or not known.".to_owned(),
        };
    };
    let Some(about) = mlx5_prm::Opcode(opcode).about() else {
        return format!("{opcode:#x} is no command that the tables know.");
    };
    let mut words = about.to_owned();
    if let Some(known) = mlx5_prm::command(opcode)
        && !known.object.number.is_empty()
    {
        let _ = write!(words, " Its object is known by its {}.", known.object.number);
    }
    let said = failure.said.as_deref().filter(|said| names::opcode_name(opcode) != Some(said));
    if let Some(said) = said.filter(|_| failure.form.is_devx()) {
        let _ = write!(words, " The log calls it {said:?}.");
    }
    if names::opcode_name(opcode) == Some("QUERY_HCA_CAP")
        && let Some(op_mod) = failure.op_mod
    {
        let page = PAGES.iter().find(|page| page.selector == op_mod >> 1);
        let mode = if op_mod & 1 == 0 { "maximal" } else { "current" };
        let name = page.map_or("that the tables do not know", |page| page.name);
        let _ = write!(words, " Here the {mode} values of page {:#x}, {name}.", op_mod >> 1);
    }
    words
}

fn meaning(failure: &Failure) -> String {
    match (failure.status, failure.form) {
        (Some(0), Form::Project) => {
            "0 in the output: no refusal of the firmware is in it.".to_owned()
        }
        (Some(0), _) => "0: the firmware did not refuse it.".to_owned(),
        (Some(status), _) => sentence(status::meaning(status)) + &half(failure, status),
        (None, Form::Ucx) => "Not told: UCX logs syndrome and errno only.".to_owned(),
        (None, Form::Dpdk) => "Not told.".to_owned(),
        (None, _) if failure.wait.is_none() => {
            "Not told: the message is cut off before it.".to_owned()
        }
        _ => String::new(),
    }
}

/// What is left of the words for a status that are cut off.
fn half(failure: &Failure, status: u8) -> String {
    match &failure.status_said {
        Some(said) if failure.cut && status::disagree(said, status) => {
            format!(" The log has only {said:?}, which no other status begins with.")
        }
        _ => String::new(),
    }
}

/// Words with a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// Which errno a program sees.
///
/// Sources: `cmd_status_to_err` and `mlx5_cmd_do` of mlx5_core's `cmd.c`, and mlx5_ib's `devx.c`, which
/// copies the output back on EREMOTEIO.
fn errno(failure: &Failure) -> String {
    let older = failure.errno.filter(|errno| status::older_errno(failure.status, *errno));
    let of_status = failure.status.map(|status| older.unwrap_or_else(|| Errno::of_status(status)));
    match (failure.form, failure.wait, of_status) {
        (_, Some(Wait::Recovered), _) => "None: the command was done.".to_owned(),
        (_, Some(_), _) => failure.errno.map_or(String::new(), |errno| {
            format!("{errno}, for whoever sent the command; no status and no output.")
        }),
        (Form::Kernel, _, Some(errno)) => format!(
            "{errno}: what the kernel's code that sent it was given, and as a rule what the call of a \
             program behind it fails with."
        ),
        (Form::Trace, _, Some(errno)) => format!(
            "{errno} in the kernel. A program that sent it by DEVX sees {}, with status and syndrome \
             in its output, from Linux 5.18 on, and {errno} before.",
            Errno::REMOTEIO
        ),
        (Form::Vfio, _, Some(errno)) => format!("{errno}, from the call of the program."),
        (Form::Kernel | Form::Trace | Form::Vfio | Form::Timeout, _, None) => String::new(),
        _ => devx_errno(failure, of_status),
    }
}

/// The errno of a command that a program sent by DEVX.
fn devx_errno(failure: &Failure, of_status: Option<Errno>) -> String {
    let by_kernel = match of_status {
        Some(errno) if errno == Errno::REMOTEIO => String::new(),
        Some(errno) => format!(" Before Linux 5.18 it is {errno}."),
        None => String::new(),
    };
    match failure.errno {
        Some(Errno::REMOTEIO) => format!(
            "{}: the firmware refused, and status and syndrome are in the output mailbox.{by_kernel}",
            Errno::REMOTEIO
        ),
        Some(errno) if failure.status.is_none_or(|status| status == 0) => by_other(failure, errno),
        Some(errno) if Some(errno) == of_status && failure.form == Form::Project => {
            format!("{errno} in the kernel; DEVX gives {}, from Linux 5.18 on.", Errno::REMOTEIO)
        }
        Some(errno) => format!("{errno}, as the kernel makes it of the status before Linux 5.18."),
        None => format!(
            "{} from Linux 5.18 on, with status and syndrome in the output mailbox.{by_kernel}",
            Errno::REMOTEIO
        ),
    }
}

/// An errno other than EREMOTEIO, without a status.
fn by_other(failure: &Failure, errno: Errno) -> String {
    let all = mlx5_prm::Status::DESC.values.iter().filter_map(|(n, _)| u8::try_from(*n).ok());
    let of: Vec<String> = all
        .filter(|status| *status != 0 && Errno::of_status(*status) == errno)
        .map(|status| format!("{} ({status:#x})", status::words(status)))
        .collect();
    if let Some(stop) = failure.stop() {
        let older = if of.is_empty() {
            ""
        } else {
            " Or it is a kernel before 5.18, which makes that errno of a status, and keeps the answer of the \
             firmware to itself."
        };
        return format!("{errno}, and no syndrome: {}.{older}", stop.words());
    }
    match of.is_empty() {
        true => format!("{errno}, which the kernel makes of no status."),
        false => {
            let of = of.join(", ");
            let own = if failure.syndrome.is_none() { "the kernel's own, or that of " } else { "" };
            format!("{errno}: {own}a kernel before 5.18, which makes that of any of: {of}.")
        }
    }
}

/// What is known of the syndrome.
fn syndrome(failure: &Failure, syndromes: &Syndromes) -> Vec<String> {
    let Some(number) = failure.syndrome.filter(|_| failure.stop().is_none()) else {
        return Vec::new();
    };
    if number == DRIVER_SYNDROME || failure.status == Some(ABORTED) {
        return vec![format!(
            "{number:#x} is not the firmware's: mlx5_core writes it when it answers for the device \
             (MLX5_DRIVER_SYND)."
        )];
    }
    match syndromes.of(failure) {
        Known::This(all) => all.into_iter().map(|known| explained(number, known)).collect(),
        Known::Other(all) if number != 0 => {
            let with = |known: &Syndrome| {
                let status = known.status.map(|s| format!(", {} ({s:#x})", status::words(s)));
                let op_mod = known.op_mod.map(|m| format!(" op_mod {m:#x}"));
                let command = known.command.replace(' ', " or ");
                command + &op_mod.unwrap_or_default() + &status.unwrap_or_default()
            };
            let told =
                |known: &&Syndrome| format!("with {}, {}", with(known), explained(number, known));
            let told: Vec<String> = all.iter().map(told).collect();
            vec![format!(
                "No public explanation is known for this command and status. The number has one \
                 elsewhere, which may not hold here: {}",
                told.join("; ")
            )]
        }
        _ if number == 0 => vec!["0: the firmware gives no further reason.".to_owned()],
        _ => {
            let mut words = vec![format!(
                "No public explanation of {number:#x} is known. It is the firmware's own number: who \
                 has support can ask NVIDIA, with the firmware's version."
            )];
            // The log does not say which adapter it was.
            let simulated = mlx5_sim::syndrome::words(number);
            words.extend(simulated.map(|s| format!("If it was the simulated adapter: {s}.")));
            words
        }
    }
}

fn explained(number: u32, known: &Syndrome) -> String {
    let by = match (known.own, known.certainty) {
        (true, _) => "explained in your file as",
        (false, Certainty::Stated) => "publicly explained as",
        (false, Certainty::Reported) => "reported in public as",
    };
    let mut words = format!("{number:#x} is {by}: {}", stopped(&known.cause));
    if let Some(remedy) = &known.remedy {
        let _ = write!(words, " Remedy: {}", stopped(remedy));
    }
    let seen: Vec<&str> = [&known.detail, &known.adapter, &known.firmware]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if !seen.is_empty() {
        let _ = write!(words, " Seen with: {}.", seen.join("; "));
    }
    let also = known.also.iter().map(String::as_str);
    let sources: Vec<&str> = std::iter::once(known.source.as_str()).chain(also).collect();
    let _ = write!(words, " Source: {}", sources.join("; "));
    words
}

/// Words with a full stop.
fn stopped(words: &str) -> String {
    if words.ends_with(['.', '!', '?']) { words.to_owned() } else { format!("{words}.") }
}

/// What does not agree in a message.
pub(super) fn oddities(failure: &Failure) -> Vec<String> {
    let mut odd = Vec::new();
    let logged = matches!(failure.form, Form::Kernel | Form::Trace | Form::Timeout | Form::Project);
    if let (true, Some(opcode), Some(said)) = (logged, failure.opcode, &failure.said) {
        match names::opcode_name(opcode) {
            Some(name) if !is_end_of(said, name) && said != "unknown command opcode" => odd.push(format!(
                "The log names {said}, and {opcode:#x} is {name}: the text was changed, or is of a \
                 driver with other names. The number counts here."
            )),
            Some(name) if said == "unknown command opcode" => odd.push(format!(
                "The kernel did not know {opcode:#x}; it is {name}: the kernel is older than the command."
            )),
            _ => {}
        }
    }
    if let (Some(status), Some(said)) = (failure.status, &failure.status_said)
        && !failure.cut
        && status::disagree(said, status)
    {
        odd.push(format!(
            "The log says {said:?}, and {status:#x} is {:?}: the text was changed. The number counts here.",
            status::words(status)
        ));
    }
    if failure.status == Some(0) && !failure.form.is_devx() {
        odd.push("A status of 0 is no failure.".to_owned());
    }
    let mapped = failure.status.map(Errno::of_status);
    if let (Form::Kernel | Form::Trace, Some(errno), Some(mapped)) =
        (failure.form, failure.errno, mapped)
        && errno != mapped
        && !status::older_errno(failure.status, errno)
    {
        odd.push(format!("The log says {errno}, and the kernel makes {mapped} of that status."));
    }
    odd
}

/// Whether a name is another, or what is left of it when its begin is cut off.
fn is_end_of(said: &str, name: &str) -> bool {
    name.to_ascii_uppercase().ends_with(&said.to_ascii_uppercase())
}

/// What else is to be known about the log.
pub(super) fn notes(tally: &Tally) -> Vec<String> {
    let notices = &tally.notices;
    let mut notes = Vec::new();
    if notices.suppressed > 0 {
        notes.push(format!(
            "The kernel's rate limit kept {} out of the log (callbacks suppressed), of commands that it \
             does not name.",
            count(notices.suppressed, "more failure")
        ));
    }
    if let Some(beyond) = &tally.beyond {
        notes.push(format!(
            "{} of kinds beyond the first {} are counted and not told apart, {beyond}.",
            count(beyond.count, "failure"),
            tally.kinds.len()
        ));
    }
    if let Some(late) = &notices.late {
        notes.push(format!(
            "{} after the command had been given up, {late}: the firmware is slow, not dead.",
            count(late.count, "answer came").replace("answer cames", "answers came")
        ));
    }
    if let Some(health) = &notices.health {
        notes.push(format!(
            "The driver tells of the health of a device, {health}: not of a command, but a reason for \
             commands to fail. See `devlink health show`."
        ));
    }
    if let Some(not_sent) = &notices.not_sent {
        notes.push(format!(
            "{} of mlx5-devx about commands that were not sent, {not_sent}: each says why.",
            count(not_sent.count, "error")
        ));
    }
    if let Some(completions) = &notices.completions {
        notes.push(format!(
            "{} with errors, {completions}: of work requests, not of commands. Their syndromes are \
             others, and in mlx5dv.h and `struct mlx5_err_cqe`.",
            count(completions.count, "completion")
        ));
    }
    if let Some(unread) = &notices.unread {
        notes.push(format!(
            "{} in messages of a form that is not known, {unread}: passed over.",
            count(unread.count, "syndrome")
        ));
    }
    if tally.kinds.iter().any(|kind| kind.failure.status.is_some_and(|status| status != 0)) {
        notes.push(knowledge::INPUT.to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(syndrome: u32) -> Failure {
        let (opcode, status) = (Some(0x400), Some(3));
        Failure { opcode, status, syndrome: Some(syndrome), ..Failure::new(Form::Kernel) }
    }

    fn known(certainty: Certainty) -> Syndrome {
        Syndrome {
            number: 0x12,
            command: "CREATE_CQ".into(),
            detail: Some("a register".into()),
            op_mod: None,
            status: None,
            cause: "It is".into(),
            remedy: None,
            adapter: None,
            firmware: Some("1.2".into()),
            certainty,
            source: "a commit".into(),
            also: vec!["a mail".into()],
            own: false,
        }
    }

    #[test]
    fn who_says_so_is_told() {
        let rest = "It is. Seen with: a register; 1.2. Source: a commit; a mail";
        let stated = explained(0x12, &known(Certainty::Stated));
        assert_eq!(stated, format!("0x12 is publicly explained as: {rest}"));
        let reported = explained(0x12, &known(Certainty::Reported));
        assert_eq!(reported, format!("0x12 is reported in public as: {rest}"));
    }

    #[test]
    fn what_nobody_explained_is_not_guessed_at() {
        let syndromes = Syndromes::load(None).unwrap();
        let told = |syndrome| self::syndrome(&failure(syndrome), &syndromes).remove(0);
        assert!(told(0xffff_fffe).starts_with("No public explanation of 0xfffffffe is known."));
        assert_eq!(told(0), "0: the firmware gives no further reason.");
        assert!(told(DRIVER_SYNDROME).contains("is not the firmware's"));
    }

    #[test]
    fn titles_say_what_is_known() {
        assert_eq!(title(&failure(1)), "CREATE_CQ(0x400): bad parameter (0x3), syndrome 0x1");
        let unknown = Failure { opcode: Some(0xbff), status: None, syndrome: None, ..failure(0) };
        assert_eq!(title(&unknown), "command 0xbff: failed");
        assert_eq!(title(&Failure::new(Form::Dpdk)), "a command: failed");
    }

    #[test]
    fn every_errno_of_devx_is_told() {
        let ucx = |errno, syndrome| Failure {
            errno: Some(errno),
            syndrome: Some(syndrome),
            ..Failure::new(Form::Ucx)
        };
        assert!(errno(&ucx(Errno::REMOTEIO, 1)).contains("the firmware refused"));
        assert!(errno(&ucx(Errno(22), 0)).contains("the kernel refused the call"));
        assert!(errno(&ucx(Errno(12), 1)).contains("any of: limit exceeded (0x8)."));
        assert!(errno(&ucx(Errno(1), 1)).contains("of no status"));
    }
}
