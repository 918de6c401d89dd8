//! Values as people and JSON give them.

use std::fmt;

use mlx5_prm::{Element, FieldDesc};
use mlx5_prm_cli::read_hex::shown;
use serde_json::Value;

use super::mailbox::Fault;
use crate::names;

/// A value that is given.
#[derive(Debug)]
pub(crate) enum Given<'g> {
    /// As text.
    Text(&'g str),
    /// In JSON; no object and no array but one of numbers.
    Json(&'g Value),
}

/// As it is shown to the user: a long one is cut.
impl fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Text(text) => f.write_str(&shown(text)),
            Given::Json(Value::String(text)) => f.write_str(&shown(text)),
            Given::Json(value) => f.write_str(&shown(&value.to_string())),
        }
    }
}

impl Given<'_> {
    fn text(&self) -> Option<&str> {
        match self {
            Given::Text(text) => Some(text),
            Given::Json(Value::String(text)) => Some(text),
            Given::Json(_) => None,
        }
    }

    /// A number, of any base.
    pub(crate) fn number(&self) -> Option<u128> {
        match self {
            Given::Json(Value::Number(number)) => number.as_u64().map(u128::from),
            Given::Json(Value::Bool(value)) => Some((*value).into()),
            _ => match self.text()? {
                "true" => Some(1),
                "false" => Some(0),
                text => names::wide_number(text),
            },
        }
    }

    /// `0x` and two digits for each byte.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.text()?;
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
        let is_bytes = digits.len() % 2 == 0 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let pairs = digits.as_bytes().chunks_exact(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        is_bytes.then(|| pairs.map(byte).collect()).flatten()
    }

    /// The values of a list: `1,2,3`, or an array of JSON.
    pub(crate) fn elements(&self) -> Vec<Given<'_>> {
        match self {
            Given::Json(Value::Array(values)) => values.iter().map(Given::Json).collect(),
            _ => match self.text() {
                Some(text) => {
                    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
                    let text = inner.unwrap_or(text).trim();
                    let values = text.split(',').map(|value| Given::Text(value.trim()));
                    if text.is_empty() { Vec::new() } else { values.collect() }
                }
                None => match self {
                    Given::Json(value) => vec![Given::Json(value)],
                    Given::Text(text) => vec![Given::Text(text)],
                },
            },
        }
    }
}

/// The bits of a field's value, the most significant first.
pub(crate) fn bits(field: &FieldDesc, given: &Given<'_>) -> Result<Vec<bool>, Fault> {
    let width = field.width() as usize;
    if width > 128 {
        let bytes = given.bytes().filter(|bytes| bytes.len() * 8 == width).ok_or_else(|| {
            let problem = format!("`{}` has {} bytes", field.name, width / 8);
            Fault::value(problem, "Give 0x and two digits for each byte.")
        })?;
        return Ok(bytes.iter().flat_map(|b| (0..8).map(move |i| b >> (7 - i) & 1 != 0)).collect());
    }
    let number = match given.number() {
        Some(number) => number,
        None => named(field, given)?,
    };
    if width < 128 && number >> width != 0 {
        let bits = if width == 1 { "1 bit".to_owned() } else { format!("{width} bits") };
        let problem = format!("{given} does not fit `{}`, which has {bits}", field.name);
        let most = (1u128 << width) - 1;
        let remedy = match field.element {
            Element::Enum(names) => one_of(names.name, names.values.iter().map(|(_, name)| *name)),
            _ => format!("Up to {most:#x} ({most})."),
        };
        return Err(Fault::value(problem, remedy));
    }
    Ok((0..width).map(|i| number >> (width - 1 - i) & 1 != 0).collect())
}

/// A number by its names: a value of an enumeration, or flags with `|` between.
fn named(field: &FieldDesc, given: &Given<'_>) -> Result<u128, Fault> {
    let text = given.text().unwrap_or_default();
    match field.element {
        Element::Enum(names) => {
            let is = |known: &str| known.eq_ignore_ascii_case(text);
            let by_name = names.values.iter().find(|(_, known)| is(known));
            // As C has it: MLX5_QPC_ST_RC.
            let of_c = || {
                let rest = text.strip_prefix("MLX5_")?;
                let ends = |known: &str| rest.strip_suffix(known).is_some_and(|r| r.ends_with('_'));
                names.values.iter().filter(|(_, known)| ends(known)).max_by_key(|(_, k)| k.len())
            };
            by_name.or_else(of_c).map(|(value, _)| u128::from(*value)).ok_or_else(|| {
                unknown(given, names.name, names.values.iter().map(|(_, name)| *name))
            })
        }
        Element::Flags(flags) => text.split('|').map(str::trim).try_fold(0, |all, name| {
            let mut known = flags.bits.iter();
            let bit = known.find(|(_, known)| known.eq_ignore_ascii_case(name));
            let value = bit.map(|(bit, _)| 1 << bit).or_else(|| names::wide_number(name));
            value.map(|value| all | value).ok_or_else(|| {
                let all = flags.bits.iter().map(|(_, name)| *name);
                unknown(&Given::Text(name), flags.name, all)
            })
        }),
        _ => Err(Fault::value(
            format!("`{given}` is no number"),
            "Give 10, 0x1f, 0b101 or 0o17, with _ between digits where you like.",
        )),
    }
}

fn unknown<'n>(given: &Given<'_>, of: &str, all: impl Iterator<Item = &'n str> + Clone) -> Fault {
    let near = names::list(&names::nearest_of(&given.to_string(), all.clone()));
    Fault::value(format!("`{given}` is no {of}{near}"), one_of(of, all))
}

/// What may be given for an enumeration or flags.
fn one_of<'n>(of: &str, all: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = all.collect();
    if known.len() <= 12 {
        format!("One of {}, or a number.", known.join(", "))
    } else {
        format!("`prm list enums {of}` lists its {} values; or give a number.", known.len())
    }
}
