//! Layouts by name, and the names nearest to one that does not exist.

use mlx5_prm::{LayoutDesc, families, layout_desc};

use crate::error::Error;

/// How many names are proposed.
const PROPOSALS: usize = 5;

/// The layout called `name`.
pub(crate) fn find(name: &str) -> Result<&'static LayoutDesc, Error> {
    layout_desc(name)
        .ok_or_else(|| Error::UnknownLayout { name: name.to_owned(), near: nearest(name) })
}

/// All layouts with their family's name.
pub(crate) fn all() -> impl Iterator<Item = (&'static LayoutDesc, &'static str)> {
    families().iter().flat_map(|f| f.layouts.iter().map(|layout| (*layout, f.name)))
}

/// The family of a layout.
pub(crate) fn family(layout: &LayoutDesc) -> &'static str {
    all().find(|(other, _)| other.name == layout.name).map_or("", |(_, family)| family)
}

/// The names most like `name`, the nearest first. Empty when nothing is like it.
pub(crate) fn nearest(name: &str) -> Vec<&'static str> {
    let wanted = snake_case(name);
    let mut ranked: Vec<(usize, &str)> = all()
        .map(|(layout, _)| (unlikeness(&wanted, layout.name), layout.name))
        .filter(|(unlike, _)| *unlike <= wanted.len() / 3)
        .collect();
    ranked.sort_unstable();
    ranked.truncate(PROPOSALS);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// `ModifyCqIn`, `MODIFY_CQ_IN` and `modify-cq-in` mean `modify_cq_in`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut after_small = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_small {
            out.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

/// Edits from `wanted` to `name`. What `name` has beyond a whole `wanted` counts little: who
/// writes `modify_cq` forgot `_in`.
fn unlikeness(wanted: &str, name: &str) -> usize {
    match name.strip_prefix(wanted) {
        Some("") => 0,
        Some("_in" | "_out") if !wanted.is_empty() => 1,
        _ => edits(wanted.as_bytes(), name.as_bytes()),
    }
}

/// The least number of bytes to insert, remove or change (Levenshtein's distance).
fn edits(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_to_write_a_name_lead_to_it() {
        for name in ["MODIFY_CQ_IN", "ModifyCqIn", "modify-cq-in", "modfy_cq_in"] {
            assert_eq!(nearest(name)[0], "modify_cq_in", "{name}");
        }
        assert_eq!(nearest("modify_cq")[..2], ["modify_cq_in", "modify_cq_out"]);
    }

    #[test]
    fn what_is_like_nothing_gets_no_proposal() {
        assert!(nearest("no such thing at all").is_empty());
        assert!(nearest("").is_empty());
    }

    #[test]
    fn edits_of_known_words() {
        assert_eq!(edits(b"kitten", b"sitting"), 3);
        assert_eq!(edits(b"", b"abc"), 3);
        assert_eq!(edits(b"abc", b"abc"), 0);
    }
}
