//! Paired calls: each sets a field of a modify command and its bit of the select mask.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::accessors::{Put, in_dword, put};
use super::bindings::Bindings;
use super::names::snake;
use super::semantics::listed;
use super::type_name;
use crate::model::*;

/// The paired calls of a layout that holds select masks.
pub(super) fn changes(text: &mut String, spec: &Spec, bindings: &Bindings<'_>, layout: &Layout) {
    let selects: Vec<(&Select, &str)> = selects_in(spec, layout).collect();
    let names = short_names(selects.iter().flat_map(|(s, _)| paths(s)));
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
                let chooses = in_dword(bit, spec.field_bits(field).unwrap_or(0) as u32);
                format!("(\"{path}\" {chooses} = {value}, {})", in_dword(first, width))
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
                let Some(Put { of, how, .. }) = put(spec, bindings, &layout.name, path) else {
                    continue;
                };
                let name = &names[&**path];
                let others: Vec<&String> = bit.fields.iter().filter(|f| *f != path).collect();
                let along = if others.is_empty() {
                    String::new()
                } else {
                    format!(" The bit stands for {}, too: give all of them.", listed(others))
                };
                let _ = writeln!(
                    text,
                    "    /// Changes `{path}`: sets it, and bit {} (`{}`) of `{mask}`, which says so.{along}\n    \
                     change_{name} changing_{name}: {of} = {how}, 0x{:02x}[{}];",
                    bit.bit,
                    bit.name,
                    at / 32 * 4,
                    31 - at % 32,
                );
            }
        }
        for path in &select.always {
            let Some(Put { of, how, .. }) = put(spec, bindings, &layout.name, path) else {
                continue;
            };
            let name = &names[&**path];
            let _ = writeln!(
                text,
                "    /// Changes `{path}`, which counts whatever the mask says.\n    \
                 change_{name} changing_{name}: {of} = {how};"
            );
        }
        text.push_str("}\n");
    }
}

/// The fields of a select mask that have calls.
pub(super) fn paths(select: &Select) -> impl Iterator<Item = &str> {
    select.bits.iter().flat_map(|b| &b.fields).chain(&select.always).map(|path| &**path)
}

/// The paired calls of one family for the tests.
pub(super) fn test_changes(
    text: &mut String,
    spec: &Spec,
    bindings: &Bindings<'_>,
    layout: &Layout,
) {
    let selects: Vec<(&Select, &str)> = selects_in(spec, layout).collect();
    let names = short_names(selects.iter().flat_map(|(s, _)| paths(s)));
    for (select, mask) in selects {
        for path in select.bits.iter().flat_map(|b| &b.fields) {
            let Some(Put { test, .. }) = put(spec, bindings, &layout.name, path) else { continue };
            let (ty, name) = (type_name(&layout.name), &names[&**path]);
            let _ = writeln!(
                text,
                "    change!({ty}, \"{}\", \"{mask}\", \"{}\", \"{path}\", ({test}), change_{name}, changing_{name}),",
                layout.name, select.name
            );
        }
    }
}

/// The select masks that a layout holds and that select its fields, without those of QP transitions, and
/// the paths of the masks.
fn selects_in<'s>(
    spec: &'s Spec,
    layout: &'s Layout,
) -> impl Iterator<Item = (&'s Select, &'s str)> {
    spec.semantics
        .selects
        .iter()
        .filter(|s| !spec.semantics.is_of_transitions(s) && paths(s).next().is_some())
        .flat_map(|s| s.masks.iter().map(move |(mask, _)| (s, mask)))
        .filter_map(|(s, mask)| Some((s, mask.strip_prefix(&*layout.name)?.strip_prefix('.')?)))
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
