//! `prm find`: by name or words, forgiving of spelling.

use std::io::Write;

use clap::Args;
use mlx5_prm::{Element, FieldDesc, LayoutDesc, Opcode};
use mlx5_prm_cli::read_hex::shown;
use serde_json::{Value, json};

use crate::arguments::ArgumentFault;
use crate::error::{Error, Exit};
use crate::names;
use crate::output::{Output, Paint};

/// How many of each kind are shown.
const SHOWN: usize = 15;

/// Finds commands, layouts, registers, fields, and values of enumerations, by name or by words.
///
/// All words given must be there, in the name or in what is said about it. Small faults of spelling are
/// forgiven when nothing is found as it is spelled.
#[derive(Args)]
pub(crate) struct Arguments {
    /// What to look for.
    #[arg(required = true)]
    text: Vec<String>,
    /// Shows all that is found, not the best of each kind only.
    #[arg(long)]
    all: bool,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

/// Something that was found.
struct Hit {
    /// The less the better.
    rank: usize,
    kind: &'static str,
    name: String,
    about: Option<&'static str>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit, Error> {
    let text = arguments.text.join(" ");
    let words: Vec<String> = names::without_c(&text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    // A number is that of a command or a register.
    let number = names::number(&text).map(|_| by_number(&text)).filter(|hits| !hits.is_empty());
    let mut hits = match number {
        Some(hits) => hits,
        None if words.is_empty() => Vec::new(),
        None => search(&words, false),
    };
    let spelled = !hits.is_empty();
    if !spelled && !words.is_empty() {
        hits = search(&words, true);
    }
    if hits.is_empty() {
        let last = arguments.text.last().map_or("", |text| text);
        let problem = format!("nothing has `{}` in its name or its words", shown(&text));
        return Err(
            ArgumentFault::whole(last, problem, "Try fewer words, or a part of one.").into()
        );
    }
    hits.sort_by(|a, b| (a.kind, a.rank, &a.name).cmp(&(b.kind, b.rank, &b.name)));
    if arguments.json {
        let all: Value = hits
            .iter()
            .map(|hit| json!({ "kind": hit.kind, "name": hit.name, "about": hit.about }))
            .collect();
        writeln!(out, "{all:#}")?;
        return Ok(Exit::Done);
    }
    if !spelled {
        writeln!(out, "Nothing is spelled so; the nearest:")?;
    }
    write(out, &hits, arguments.all)?;
    Ok(Exit::Done)
}

fn write(out: &mut Output, hits: &[Hit], all: bool) -> Result<(), Error> {
    let look = out.look;
    let mut first = true;
    for kind in ["command", "layout", "register", "enumeration", "field", "value"] {
        let of: Vec<&Hit> = hits.iter().filter(|hit| hit.kind == kind).collect();
        if of.is_empty() {
            continue;
        }
        if !std::mem::take(&mut first) {
            writeln!(out)?;
        }
        let plural = if of.len() == 1 { kind.to_owned() } else { format!("{kind}s") };
        writeln!(out, "{}", look.paint(Paint::Title, format_args!("{} {plural}", of.len())))?;
        let shown = if all { of.len() } else { SHOWN };
        for hit in of.iter().take(shown) {
            writeln!(out, "  {}", look.paint(Paint::Name, &hit.name))?;
            if let Some(about) = hit.about {
                writeln!(out, "      {}", look.paint(Paint::Dim, look.wrap(about, 6)))?;
            }
        }
        if of.len() > shown {
            writeln!(out, "  and {} more: --all", of.len() - shown)?;
        }
    }
    Ok(())
}

/// The command and the register with a number.
fn by_number(text: &str) -> Vec<Hit> {
    let command = names::opcode(text).map(|(code, name)| Hit {
        rank: 0,
        kind: "command",
        name: name.to_owned(),
        about: Opcode(code).about(),
    });
    let register = names::register(text).map(|register| Hit {
        rank: 0,
        kind: "register",
        name: format!("{} ({:#06x}, {})", register.name, register.id, register.layout.name),
        about: register.layout.about,
    });
    command.into_iter().chain(register).collect()
}

fn search(words: &[String], forgiving: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut look_at = |kind: &'static str, name: String, about: Option<&'static str>| {
        if let Some(rank) = rank(words, &name, about, forgiving) {
            hits.push(Hit { rank, kind, name, about });
        }
    };
    for (code, name) in Opcode::DESC.values {
        look_at("command", (*name).to_owned(), Opcode(*code as u16).about());
    }
    for (layout, _) in names::all() {
        look_at("layout", layout.name.to_owned(), layout.about);
        for field in layout.fields {
            field_hits(layout, field, &mut look_at);
        }
    }
    for of in names::enums().into_iter().filter(|of| of.is_type) {
        look_at("enumeration", of.name.to_owned(), None);
        // The opcodes are the commands.
        for (value, name) in of.values.iter().filter(|_| of.name != "opcode") {
            look_at("value", format!("{}: {name} = {value:#x}", of.name), None);
        }
    }
    for of in names::flags() {
        look_at("enumeration", of.name.to_owned(), None);
    }
    for register in names::registers() {
        let name = format!("{} ({:#06x}, {})", register.name, register.id, register.layout.name);
        look_at("register", name, register.layout.about);
    }
    hits
}

fn field_hits(
    layout: &LayoutDesc,
    field: &'static FieldDesc,
    look_at: &mut impl FnMut(&'static str, String, Option<&'static str>),
) {
    // That a layout is in another is no find of its own, nor is what every mailbox has.
    if matches!(field.name, "opcode" | "uid" | "op_mod" | "status" | "syndrome") {
        return;
    }
    look_at("field", format!("{}.{}", layout.name, field.name), field.words);
    if let Element::Enum(of) = field.element
        && !of.is_type
    {
        for (value, name) in of.values {
            look_at("value", format!("{}.{}: {name} = {value:#x}", layout.name, field.name), None);
        }
    }
}

/// How well something fits; `None`: not at all. The name alone is better than words, its start better than
/// its middle, a short name better than a long one.
fn rank(words: &[String], name: &str, about: Option<&str>, forgiving: bool) -> Option<usize> {
    let lower = name.to_ascii_lowercase();
    let about = about.map(str::to_ascii_lowercase).unwrap_or_default();
    let mut rank = lower.len();
    for word in words {
        rank += if lower == *word {
            0
        } else if lower.starts_with(word.as_str()) {
            100
        } else if has_word(&lower, word) {
            150
        } else if lower.contains(word.as_str()) {
            300
        } else if has_word(&about, word) {
            400
        } else if about.contains(word.as_str()) {
            500
        } else if forgiving && is_near(word, &lower) {
            800
        } else {
            return None;
        };
    }
    Some(rank)
}

/// Whether a text has a word, whole or as the beginning of one.
fn has_word(text: &str, word: &str) -> bool {
    let is_start = |(at, _): &(usize, &str)| !text[..*at].ends_with(|c: char| c.is_alphanumeric());
    text.match_indices(word).any(|found| is_start(&found))
}

/// Whether a part of a name is a word with a fault or two: letters changed, lost, doubled or swapped.
fn is_near(word: &str, name: &str) -> bool {
    let faults = match word.len() {
        0..=3 => return false,
        4..=6 => 1,
        _ => 2,
    };
    let parts = name.split(|c: char| !c.is_alphanumeric());
    let whole = std::iter::once(name);
    parts.chain(whole).any(|part| {
        part.len().abs_diff(word.len()) <= faults
            && strsim::damerau_levenshtein(word, part) <= faults
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_fault_are_found() {
        assert!(is_near("moderaton", "cq_moderation"));
        assert!(is_near("modertaion", "moderation"));
        assert!(!is_near("cq", "eq"), "two letters are too few to guess");
        assert!(!is_near("moderation", "modification"));
    }

    #[test]
    fn names_come_before_words() {
        let word = ["cqc".to_owned()];
        let of = |name, about| rank(&word, name, about, false);
        assert!(of("cqc", None) < of("cqc_ext", None));
        assert!(of("cqc_ext", None) < of("query_cqc", None));
        assert!(of("query_cqc", None) < of("other", Some("see cqc")));
        assert_eq!(of("other", None), None);
    }
}
