//! Layouts, commands, registers and enumerations by name, and the names nearest to one that does not
//! exist.

use mlx5_prm::caps::page::PAGES;
use mlx5_prm::{
    CommandDesc, Count, Element, EnumDesc, FieldDesc, FlagsDesc, LayoutDesc, NumberDesc, Opcode,
    PageDesc, RegisterDesc, Verb, families,
};

use crate::arguments::ArgumentFault;

/// How many names are proposed.
const PROPOSALS: usize = 5;

/// A name without what C has around it: `mlx5_ifc_cqc_bits`, `MLX5_CMD_OP_QUERY_CQ`, `MLX5_REG_PAOS`.
pub(crate) fn without_c(name: &str) -> &str {
    let layout = name.strip_prefix("mlx5_ifc_").and_then(|rest| rest.strip_suffix("_bits"));
    let code = || ["MLX5_CMD_OP_", "MLX5_REG_"].iter().find_map(|c| name.strip_prefix(c));
    layout.or_else(code).unwrap_or(name)
}

/// The layout with a name: as it is, in another way of writing, that of C too, or without `_in`.
pub(crate) fn find(name: &str) -> Option<&'static LayoutDesc> {
    let name = without_c(name);
    let wanted = snake_case(name);
    mlx5_prm::layout_desc(name)
        .or_else(|| mlx5_prm::layout_desc(&wanted))
        .or_else(|| mlx5_prm::layout_desc(&format!("{wanted}_in")))
        .or_else(|| {
            // The Rust type of a layout with its list: CreateMkeyInWithKlmPasMtt.
            let (head, list) = wanted.split_once("_with_")?;
            let ends = |f: &FieldDesc| f.count == Count::List && list.ends_with(f.name);
            mlx5_prm::layout_desc(head).filter(|head| head.fields.iter().any(ends))
        })
        .or_else(|| opcode(name).and_then(|(_, name)| input_of(name)))
        .or_else(|| general(name).and_then(|_| mlx5_prm::layout_desc("general_obj_in_cmd_hdr")))
        .or_else(|| register(name).map(|register| register.layout))
        .or_else(|| {
            // The Rust type: MatchDefinerFormat0, Qp2rstIn.
            let wanted = letters(name);
            all().map(|(layout, _)| layout).find(|layout| letters(layout.name) == wanted)
        })
}

/// A name without case and `_`: where the words of Rust's types are apart is not known.
fn letters(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "")
}

/// The register with a name or an id: `PAOS`, `0x5006`.
pub(crate) fn register(text: &str) -> Option<&'static RegisterDesc> {
    let (text, id) = (without_c(text), number(text));
    registers().find(|r| r.name.eq_ignore_ascii_case(text) || id == Some(r.id.into()))
}

/// The layouts that an argument names: one, or several that follow each other as `a+b`. Fields are found by the
/// name of their layout, so each is there once.
pub(crate) fn layouts(argument: &str) -> Result<Vec<&'static LayoutDesc>, ArgumentFault> {
    let mut found: Vec<&'static LayoutDesc> = Vec::new();
    let mut at = 0;
    for name in argument.split('+') {
        let part = at..at + name.len();
        at = part.end + 1;
        let Some(layout) = find(name) else {
            let problem =
                format!("no layout or command is called `{name}`{}", list(&nearest(name)));
            let remedy = "`prm find TEXT` searches names and words.";
            return Err(ArgumentFault::new(argument, part, problem, remedy));
        };
        if found.iter().any(|other| other.name == layout.name) {
            let problem = format!("`{}` is there twice", layout.name);
            let remedy = "Take the mailbox apart, one layout each.";
            return Err(ArgumentFault::new(argument, part, problem, remedy));
        }
        found.push(layout);
    }
    Ok(found)
}

/// The opcode with a name or a number, and its name: `MODIFY_CQ`, `modify_cq`, `0x403`.
pub(crate) fn opcode(text: &str) -> Option<(u16, &'static str)> {
    let text = without_c(text);
    let wanted = snake_case(text).to_ascii_uppercase();
    // The one whose layouts are called otherwise.
    let wanted = if wanted == "ACCESS_REGISTER" { "ACCESS_REG".to_owned() } else { wanted };
    let number = number(text);
    let mut all = mlx5_prm::Opcode::DESC.values.iter();
    let (code, name) =
        all.find(|(code, name)| *name == wanted || number == Some(u64::from(*code)))?;
    Some((u16::try_from(*code).ok()?, name))
}

/// The opcode of a command on general objects, all of which have one head: `create_general_object`.
pub(crate) fn general(name: &str) -> Option<Opcode> {
    let (code, _) = opcode(name)?;
    Some(Opcode(code)).filter(|code| general_verb(*code).is_some())
}

/// What a command on general objects does; none for other commands.
pub(crate) fn general_verb(opcode: Opcode) -> Option<Verb> {
    Some(match opcode {
        Opcode::CREATE_GENERAL_OBJECT => Verb::Create,
        Opcode::MODIFY_GENERAL_OBJECT => Verb::Modify,
        Opcode::QUERY_GENERAL_OBJECT => Verb::Query,
        Opcode::DESTROY_GENERAL_OBJECT => Verb::Destroy,
        _ => return None,
    })
}

/// The name of an opcode.
pub(crate) fn opcode_name(opcode: u16) -> Option<&'static str> {
    mlx5_prm::Opcode::DESC.name_of(opcode.into())
}

/// The input of a command, by the command's name.
pub(crate) fn input_of(command: &str) -> Option<&'static LayoutDesc> {
    of_command(command, "_in")
}

/// The output of a command, by the command's name.
pub(crate) fn output_of(command: &str) -> Option<&'static LayoutDesc> {
    of_command(command, "_out")
}

fn of_command(command: &str, end: &str) -> Option<&'static LayoutDesc> {
    // The one whose layouts are called otherwise.
    let command = if command == "ACCESS_REG" { "ACCESS_REGISTER" } else { command };
    let known = commands().find(|known| known.name == command);
    let known = known.map(|known| if end == "_in" { known.input } else { known.output });
    known.or_else(|| mlx5_prm::layout_desc(&format!("{}{end}", command.to_ascii_lowercase())))
}

/// The commands whose meaning is known.
pub(crate) fn commands() -> impl Iterator<Item = &'static CommandDesc> {
    families().iter().flat_map(|f| f.commands).copied()
}

/// All registers.
pub(crate) fn registers() -> impl Iterator<Item = &'static RegisterDesc> {
    families().iter().flat_map(|f| f.registers).copied()
}

/// All layouts with their family's name.
pub(crate) fn all() -> impl Iterator<Item = (&'static LayoutDesc, &'static str)> {
    families().iter().flat_map(|f| f.layouts.iter().map(|layout| (*layout, f.name)))
}

/// The family of a layout.
pub(crate) fn family(layout: &LayoutDesc) -> &'static str {
    all().find(|(other, _)| other.name == layout.name).map_or("", |(_, family)| family)
}

/// The enumerations of all fields, each once, by name.
pub(crate) fn enums() -> Vec<&'static EnumDesc> {
    let of = |element| if let Element::Enum(names) = element { Some(names) } else { None };
    once(of, |names| names.name)
}

/// The sets of flags of all fields, each once, by name.
pub(crate) fn flags() -> Vec<&'static FlagsDesc> {
    let of = |element| if let Element::Flags(flags) = element { Some(flags) } else { None };
    once(of, |flags| flags.name)
}

/// The numbers of objects in all fields, each once, by name.
pub(crate) fn numbers() -> Vec<&'static NumberDesc> {
    let of = |element| if let Element::Number(number) = element { Some(number) } else { None };
    once(of, |number| number.name)
}

/// The page of capabilities with a name, that of its layout too: `general_device`, `GeneralDevice2`.
pub(crate) fn page(name: &str) -> Option<&'static PageDesc> {
    let wanted = letters(&snake_case(name));
    let by = |name: fn(&PageDesc) -> &str| {
        PAGES.iter().copied().find(|page| letters(name(page)) == wanted)
    };
    by(|page| page.name).or_else(|| by(|page| page.layout.name))
}

/// The names of all pages of capabilities.
pub(crate) fn pages() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.name)
}

/// The names of the general capabilities of one bit.
pub(crate) fn capabilities() -> impl Iterator<Item = &'static str> {
    let general = PAGES.iter().filter(|page| GENERAL.contains(&page.name));
    let fields = general.flat_map(|page| page.layout.fields);
    fields.filter(|field| field.width() == 1).map(|field| field.name)
}

/// The pages whose capabilities go by their own names, without that of the page before it.
const GENERAL: [&str; 2] = ["general_device", "general_device_2"];

/// The path of a capability of one bit, by the name of its constant: `Cap::CQ_MODERATION`, `cq_moderation`.
/// Those of other pages than the general ones begin with the page's name.
pub(crate) fn capability(name: &str) -> Option<String> {
    let wanted = snake_case(name.strip_prefix("Cap::").unwrap_or(name));
    PAGES.iter().find_map(|page| {
        let own = GENERAL.contains(&page.name).then_some(&*wanted);
        let long = wanted.strip_prefix(page.name).and_then(|rest| rest.strip_prefix('_'));
        let found = own.into_iter().chain(long).find_map(|name| page.layout.field(name))?;
        (found.width() == 1).then(|| format!("{}.{}", page.layout.name, found.name))
    })
}

fn once<T: Copy>(of: impl Fn(Element) -> Option<T>, name: impl Fn(T) -> &'static str) -> Vec<T> {
    let fields = all().flat_map(|(layout, _)| layout.fields);
    let mut found: Vec<T> = fields.filter_map(|field| of(field.element)).collect();
    found.sort_by_key(|one| name(*one));
    found.dedup_by_key(|one| name(*one));
    found
}

/// The names of layouts most like `name`, the nearest first. Empty when nothing is like it.
pub(crate) fn nearest(name: &str) -> Vec<&'static str> {
    // Commands are named so, too: `modify_cq` is nearer than `modify_cq_in`.
    let commands = mlx5_prm::Opcode::DESC.values.iter().map(|(_, name)| *name);
    nearest_of(name, all().map(|(layout, _)| layout.name).chain(commands))
}

/// Those of some names that are most like one.
pub(crate) fn nearest_of<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// No name has as many letters.
    const LONGEST: usize = 128;
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = snake_case(name);
    let mut ranked: Vec<(usize, &str)> = all
        .map(|known| (unlikeness(&wanted, &known.to_ascii_lowercase()), known))
        .filter(|(unlike, _)| *unlike <= wanted.len() / 3)
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.truncate(PROPOSALS);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// `; nearest: a, b`, or nothing.
pub(crate) fn list(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) }
}

/// `ModifyCqIn`, `MODIFY_CQ_IN` and `modify-cq-in` mean `modify_cq_in`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut after_small = false;
    // `RTR2RTS_QP` has its words apart.
    let is_camel = name.chars().any(|c| c.is_ascii_lowercase());
    for c in name.chars() {
        if is_camel && c.is_ascii_uppercase() && after_small {
            out.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

/// A number as people write it: decimal, or hex, octal or binary with its prefix; `_` between digits.
pub(crate) fn number(text: &str) -> Option<u64> {
    wide_number(text).and_then(|number| u64::try_from(number).ok())
}

/// The same, of up to 128 bits.
pub(crate) fn wide_number(text: &str) -> Option<u128> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0o") => (&lower[2..], 8),
        Some("0b") => (&lower[2..], 2),
        _ => (&lower[..], 10),
    };
    // 010 is 8 in C, and 10 elsewhere: 0o10 or 10 says which.
    let is_octal = radix == 10 && digits.len() > 1 && digits.starts_with('0');
    let is_number = digits.starts_with(|c: char| c.is_digit(radix)) && !is_octal;
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    is_number.then(|| u128::from_str_radix(&digits, radix).ok()).flatten()
}

/// Edits from `wanted` to `name`. What `name` has beyond a whole `wanted` counts little: who
/// writes `modify_cq` forgot `_in`.
fn unlikeness(wanted: &str, name: &str) -> usize {
    match name.strip_prefix(wanted) {
        Some("") => 0,
        Some("_in" | "_out") if !wanted.is_empty() => 1,
        // `rtr2rts` for `rtr2rts_qp_in`
        Some(rest) if wanted.len() > 2 && rest.starts_with('_') => rest.matches('_').count(),
        // As many letters more or less are as many mistakes.
        _ if wanted.len().abs_diff(name.len()) > wanted.len() / 3 => usize::MAX,
        // Two letters that changed places are one mistake.
        _ => strsim::osa_distance(wanted, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_to_write_a_name_are_understood() {
        for name in
            ["MODIFY_CQ_IN", "ModifyCqIn", "modify-cq-in", "modify_cq", "MODIFY_CQ", "0x403"]
        {
            assert_eq!(find(name).map(|layout| layout.name), Some("modify_cq_in"), "{name}");
        }
        assert_eq!(find("RTR2RTS_QP").map(|layout| layout.name), Some("rtr2rts_qp_in"));
        assert_eq!(find("2RST_QP").map(|layout| layout.name), Some("qp_2rst_in"));
        assert_eq!(find("2rst_qp").map(|layout| layout.name), Some("qp_2rst_in"));
        assert_eq!(
            find("CreateMkeyInWithKlmPasMtt").map(|layout| layout.name),
            Some("create_mkey_in")
        );
        assert!(find("CreateMkeyInWithKlmPasMt").is_none() && find("cqc_with_nonsense").is_none());
        assert_eq!((number("010"), number("0"), number("0o10")), (None, Some(0), Some(8)));
        assert_eq!(find("PAOS").map(|layout| layout.name), Some("paos_reg"));
        assert_eq!(find("0x5006").map(|layout| layout.name), Some("paos_reg"));
        assert_eq!(nearest("modfy_cq_in")[0], "modify_cq_in");
        assert_eq!(nearest("modfy_cq")[0], "MODIFY_CQ");
        assert_eq!(nearest("rtr2rts")[0], "RTR2RTS_QP");
    }

    #[test]
    fn every_layout_is_found_by_the_letters_of_its_name() {
        for (layout, _) in all() {
            let name = layout.name.replace('_', "").to_ascii_uppercase();
            assert_eq!(find(&name).map(|found| found.name), Some(layout.name), "{name}");
        }
    }

    #[test]
    fn what_is_like_nothing_gets_no_proposal() {
        assert!(nearest("no such thing at all").is_empty());
        assert!(nearest("").is_empty());
        assert!(find("").is_none());
    }

    #[test]
    fn numbers_in_any_base() {
        for (text, number) in [
            ("10", Some(10)),
            ("0x1F", Some(31)),
            ("0b1010_0101", Some(0xa5)),
            ("0o17", Some(15)),
            ("1_000", Some(1000)),
            ("", None),
            ("0x", None),
            ("-1", None),
            ("+1", None),
            ("_1", None),
            ("1é", None),
            ("0xfffffffffffffffff", None),
        ] {
            assert_eq!(super::number(text), number, "{text}");
        }
    }

    #[test]
    fn every_command_has_its_layouts() {
        for command in commands() {
            assert_eq!(input_of(command.name).map(|l| l.name), Some(command.input.name));
            assert_eq!(output_of(command.name).map(|l| l.name), Some(command.output.name));
        }
    }
}
