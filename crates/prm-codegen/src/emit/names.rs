//! Rust names from PRM names.

use std::collections::HashMap;

use super::tails::{alias, tails};
use crate::fault::{Faults, Origin};
use crate::model::{Access, Count, Field, Layout, Spec};

/// Names that the codec itself exports: no layout may become one of them.
const TYPES: &[&str] = &[
    "Access",
    "Cap",
    "CapMode",
    "CapabilityPage",
    "Command",
    "CommandDesc",
    "Count",
    "CreateObject",
    "Creates",
    "Described",
    "DestroyObject",
    "Element",
    "EnumDesc",
    "Family",
    "FieldDesc",
    "FieldError",
    "FlagsDesc",
    "GeneralObject",
    "GeneralObjectDesc",
    "Kind",
    "Layout",
    "LayoutDesc",
    "Modify",
    "ModifyObject",
    "NumberDesc",
    "NumberError",
    "Object",
    "ObjectDesc",
    "ObjectOut",
    "OnObject",
    "PageDesc",
    "Place",
    "Option",
    "Query",
    "QueryObject",
    "ReadRegister",
    "Register",
    "RegisterDesc",
    "RegisterIn",
    "RegisterOut",
    "Request",
    "Result",
    "Self",
    "SelectBitDesc",
    "SelectDesc",
    "SelectedBy",
    "SelectedField",
    "Services",
    "SizeError",
    "Transition",
    "TransitionDesc",
    "TransitionError",
    "TransitionField",
    "TransitionFields",
    "Why",
    "QpTransition",
    "U16",
    "U32",
    "U64",
    "Verb",
    "WithTail",
    "WriteRegister",
];

/// Methods that every layout has: no accessor may be called so.
const METHODS: &[&str] = &[
    "new",
    "zeroed",
    "as_bytes",
    "as_bytes_mut",
    "from_bytes",
    "view",
    "view_mut",
    "view_prefix",
    "clone",
    "eq",
    "hash",
    "fmt",
];

/// Words that Rust keeps for itself.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// `modify_cq_in` -> `ModifyCqIn`. A name that begins with a digit gets an `N` before it.
pub fn camel(name: &str) -> String {
    let mut out = String::new();
    for word in name.split('_').filter(|w| !w.is_empty()) {
        // Two numbers side by side would run together.
        if out.ends_with(|c: char| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_digit())
        {
            out.push('_');
        }
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.extend(chars.map(|c| c.to_ascii_lowercase()));
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("N{out}") } else { out }
}

/// A field's name as an identifier: a keyword gets a `_` behind it, a digit an `n` before it.
pub(super) fn snake(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'n');
    }
    if KEYWORDS.contains(&&*name) || METHODS.contains(&&*name) {
        name.push('_');
    }
    name
}

/// The accessor that reads a field. One that reads like what writes another field, such as
/// `set_buf_ownership` beside `buf_ownership`, gets a `_` behind it.
pub(super) fn accessor(layout: &Layout, field: &Field) -> String {
    let mut name = snake(&field.name);
    let other = ["set_", "with_", "try_set_"].iter().find_map(|p| field.name.strip_prefix(p));
    let other = other.or(field.name.strip_suffix("_mut"));
    if other.is_some_and(|other| layout.field(other).is_some()) && !name.ends_with('_') {
        name.push('_');
    }
    name
}

/// What the names of a field's setters end in, such as `cqn` for `set_cqn`, `with_cqn` and `cqn_mut`.
pub fn bare(field: &str) -> String {
    snake(field).trim_end_matches('_').to_owned()
}

/// A value's name as a constant.
pub fn upper(name: &str) -> String {
    let name = name.to_ascii_uppercase();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("N{name}") } else { name }
}

/// Tells names that become one in Rust.
pub(super) fn check(spec: &Spec, faults: &mut Faults) {
    let mut types: HashMap<String, (&str, Option<&Origin>)> =
        TYPES.iter().map(|t| ((*t).to_owned(), (*t, None))).collect();
    let s = &spec.semantics;
    let enums = s.enums.iter().chain(&s.flags).map(|e| (&*e.name, &e.origin));
    let numbers = s.numbers.iter().map(|n| (&*n.name, &n.origin));
    let enums = enums.chain(numbers);
    let selects = spec.semantics.selects.iter().map(|s| (&*s.name, &s.origin));
    let layouts = spec.layouts.iter().map(|l| (&*l.name, &l.origin));
    for (name, origin) in enums.chain(selects).chain(layouts) {
        if let Some((other, _)) = types.insert(camel(name), (name, Some(origin))) {
            faults.add(
                origin,
                format!("{name} and {other} are both {} in Rust", camel(name)),
                "rename one of the two, or bind it under another name",
            );
        }
    }
    for e in &spec.semantics.enums {
        // What every enumeration has.
        let mut values = HashMap::from([("DESC".to_owned(), "DESC")]);
        for value in &e.values {
            if let Some(other) = values.insert(upper(&value.name), &value.name) {
                faults.add(
                    &value.origin,
                    format!(
                        "{} and {other} of {} are both {} in Rust",
                        value.name,
                        e.name,
                        upper(&value.name)
                    ),
                    "rename one of the two",
                );
            }
        }
    }
    let flags = s
        .flags
        .iter()
        .map(|f| (&f.name, f.values.iter().map(|v| (&v.name, &v.origin)).collect::<Vec<_>>()));
    let selects = s
        .selects
        .iter()
        .map(|x| (&x.name, x.bits.iter().map(|b| (&b.name, &b.origin)).collect::<Vec<_>>()));
    for (word, bits) in flags.chain(selects) {
        // What every word of flags has.
        let own = ["from_bits", "into_bits", "new", "default", "clone", "eq", "hash", "fmt"];
        let mut methods: HashMap<String, &str> =
            own.into_iter().map(|m| (m.to_owned(), m)).collect();
        for (name, origin) in bits {
            let bit = snake(name);
            for method in [bit.clone(), format!("with_{bit}"), format!("set_{bit}")] {
                if let Some(other) = methods.insert(method.clone(), name) {
                    faults.add(
                        origin,
                        format!("{name} and {other} of {word} both give a method {method}"),
                        "rename one of the two",
                    );
                }
            }
        }
    }
    let mut objects = HashMap::new();
    for object in &spec.semantics.objects {
        if let Some(other) = objects.insert(camel(&object.name), &object.name) {
            faults.add(
                &object.origin,
                format!("{} and {other} are both {} in Rust", object.name, camel(&object.name)),
                "rename one of the two",
            );
        }
    }
    for layout in &spec.layouts {
        let tails = tails(spec, layout);
        for tail in tails.iter().filter(|t| t.follows(layout)) {
            let name = alias(layout, tail, &tails);
            if let Some((other, _)) =
                types.insert(name.clone(), (&layout.name, Some(&layout.origin)))
            {
                faults.add(
                    &layout.origin,
                    format!("a list of {} and {other} are both {name} in Rust", layout.name),
                    "rename the list or the layout",
                );
            }
        }
        let mut methods: HashMap<String, &str> = HashMap::new();
        for field in &layout.fields {
            let name = accessor(layout, field);
            let mut all = vec![name.clone()];
            if field.count != Count::List && field.access != Some(Access::Ro) {
                all.extend(
                    ["set_", "with_", "try_set_"]
                        .map(|p| format!("{p}{}", name.trim_end_matches('_'))),
                );
                all.push(format!("{}_mut", name.trim_end_matches('_')));
            }
            for method in all {
                if let Some(other) = methods.insert(method.clone(), &field.name) {
                    faults.add(
                        &field.origin,
                        format!(
                            "{} and {other} of {} both give a method {method}",
                            field.name, layout.name
                        ),
                        "rename one of the two fields",
                    );
                }
            }
        }
    }
}
