//! Paired calls: each sets a field of a modify command and its bit of the select mask.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::accessors::{Put, put};
use super::bindings::Bindings;
use super::names::snake;
use super::type_name;
use crate::model::*;

/// The paired calls of a layout that holds select masks.
pub(super) fn changes(text: &mut String, spec: &Spec, bindings: &Bindings<'_>, layout: &Layout) {
    let selects: Vec<(&Select, &str)> = spec
        .semantics
        .selects
        .iter()
        .filter(|s| !spec.semantics.is_of_transitions(s))
        .flat_map(|s| s.masks.iter().map(move |(mask, _)| (s, mask)))
        .filter_map(|(s, mask)| Some((s, mask.strip_prefix(&*layout.name)?.strip_prefix('.')?)))
        .collect();
    let paths = selects.iter().flat_map(|(s, _)| s.bits.iter().flat_map(|b| &b.fields));
    let names = short_names(paths.map(|p| &**p));
    let several = selects.len() > 1;
    for (select, mask) in selects {
        let Some((first, field)) = spec.resolve(&layout.name, mask) else { continue };
        let width = spec.field_bits(field).unwrap_or(0) as u32;
        let op_mod = ("op_mod".to_owned(), u32::from(select.op_mod));
        let variant = match &select.when {
            None if !several && select.op_mod == 0 => "()".to_owned(),
            when => {
                let (path, value) = when.as_ref().unwrap_or(&op_mod);
                let (bit, field) = spec.resolve(&layout.name, path).expect("checked");
                let width = spec.field_bits(field).unwrap_or(0) as u32;
                let (dword, high) = (bit / 32 * 4, 31 - bit % 32);
                let low = high + 1 - width;
                format!("(\"{path}\" 0x{dword:02x}[{high}:{low}] = {value}, 0x{:02x})", first / 8)
            }
        };
        let _ = writeln!(
            text,
            "\nchanges! {{ {}, \"{}\", {variant};",
            type_name(&layout.name),
            layout.name
        );
        for bit in &select.bits {
            let at = first + width - 1 - bit.bit;
            for path in &bit.fields {
                let Some(Put { of, how }) = put(spec, bindings, &layout.name, path) else {
                    continue;
                };
                let name = &names[&**path];
                let _ = writeln!(
                    text,
                    "    /// Changes `{path}`: sets it, and bit {} (`{}`) of `{mask}`, which says so.\n    \
                     change_{name} changing_{name}: {of} = {how}, 0x{:02x}[{}];",
                    bit.bit,
                    bit.name,
                    at / 32 * 4,
                    31 - at % 32,
                );
            }
        }
        text.push_str("}\n");
    }
}

/// Short names of paths: the last name of each, and as much before it as makes them differ.
pub(super) fn short_names<'p>(paths: impl Iterator<Item = &'p str>) -> HashMap<&'p str, String> {
    let paths: Vec<&str> = paths.collect();
    let short = |path: &str, parts: usize| {
        let all: Vec<&str> = path.split('.').collect();
        all[all.len().saturating_sub(parts)..].join("_")
    };
    let mut names = HashMap::new();
    for path in &paths {
        let differs = |parts: &usize| {
            paths.iter().all(|p| p == path || short(p, *parts) != short(path, *parts))
        };
        let parts = (1..=path.split('.').count()).find(differs).unwrap_or(usize::MAX);
        let name = snake(&short(path, parts));
        names.insert(*path, name.trim_end_matches('_').to_owned());
    }
    names
}
