//! The state machine of queue pairs: descriptions, builders, and a table to read.

use std::fmt::Write as _;

use super::accessors::{Put, put};
use super::bindings::Bindings;
use super::changes::short_names;
use super::names::upper;
use super::semantics::place;
use super::type_name;
use crate::model::*;

/// The transition that a command makes, where it takes fields and so has a builder.
pub(super) fn builder<'s>(spec: &'s Spec, c: &Command) -> Option<&'s Transition> {
    spec.semantics.transitions.iter().find(|t| t.command == c.name && !t.fields.is_empty())
}

/// A set of services as Rust.
fn services(names: &[String]) -> String {
    if names.is_empty() {
        return "crate::Services::NONE".to_owned();
    }
    let all: Vec<String> = names.iter().map(|n| format!("crate::QpSt::{}", upper(n))).collect();
    format!("crate::Services::of(&[{}])", all.join(", "))
}

/// The number of the bit of `opt_param_mask` called `name`.
fn bit_number(spec: &Spec, name: &str) -> Option<u32> {
    let params = spec.semantics.selects.iter().find(|s| spec.semantics.is_of_transitions(s))?;
    params.bits.iter().find(|b| b.name == name).map(|b| b.bit)
}

/// What a command's description says of its transition.
pub(super) fn description(text: &mut String, spec: &Spec, c: &Command, t: &Transition) {
    let states: Vec<String> =
        t.from.iter().map(|s| format!("crate::QpState::{}", upper(s))).collect();
    let _ = write!(
        text,
        "        transition: Some(crate::TransitionDesc {{\n            from: &[{}],\n            \
         to: crate::QpState::{},\n            services: {},\n            fields: &[",
        states.join(", "),
        upper(&t.to),
        services(&t.services),
    );
    for f in &t.fields {
        let bit = f.bit.as_ref().and_then(|name| bit_number(spec, name));
        let _ = write!(
            text,
            "\n                crate::TransitionField {{\n                    path: \"{}\",\n                    \
             place: {},\n                    bit: {bit:?},\n                    requires: {},\n                    \
             takes: {},\n                    admits: {},\n                    nonzero: {},\n                }},",
            f.path,
            place(spec, &c.input, &f.path),
            services(&f.requires),
            services(&f.takes),
            services(&f.admits),
            f.nonzero,
        );
    }
    text.push_str("\n            ],\n        }),\n");
}

/// The builder of a transition.
pub(super) fn transition(
    text: &mut String,
    spec: &Spec,
    bindings: &Bindings<'_>,
    c: &Command,
    t: &Transition,
) {
    let names = short_names(t.fields.iter().map(|f| &*f.path));
    let dword = |path: &str| spec.resolve(&c.input, path).map_or(0, |(bit, _)| bit);
    let (st, mask) = (dword("qpc.st"), dword("opt_param_mask"));
    let _ = writeln!(
        text,
        "\ntransition! {{ {}, \"{}\", {}, st 0x{:02x}[{}], mask 0x{:02x};",
        type_name(&c.input),
        c.input,
        upper(&c.name),
        st / 32 * 4,
        31 - st % 32,
        mask / 8,
    );
    for (index, f) in t.fields.iter().enumerate() {
        let Some(Put { of, how, .. }) = put(spec, bindings, &c.input, &f.path) else { continue };
        let mut says = Vec::new();
        for (services, what) in [(&f.requires, "Required for"), (&f.takes, "Taken for")] {
            if !services.is_empty() {
                says.push(format!("{what} {}.", services.join(", ")));
            }
        }
        if let Some(bit) = &f.bit {
            says.push(format!("Admitted for {}, by the bit `{bit}`.", f.admits.join(", ")));
        }
        let words = spec
            .leaf(&format!("{}.{}", c.input, f.path))
            .and_then(|(layout, field)| spec.words.field(&layout.name, &field.name))
            .map_or_else(String::new, |w| format!(" {}", w.line()));
        let _ = writeln!(
            text,
            "    /// `{}`.{words} {}\n    {}: {of} = {how}, {index};",
            f.path,
            says.join(" "),
            names[&*f.path],
        );
    }
    text.push_str("}\n");
}

/// The builder of a transition for the tests.
pub(super) fn test_transition(
    text: &mut String,
    spec: &Spec,
    bindings: &Bindings<'_>,
    layout: &Layout,
) {
    let Some(c) = spec.semantics.commands.iter().find(|c| c.input == layout.name) else { return };
    let Some(t) = builder(spec, c) else { return };
    let names = short_names(t.fields.iter().map(|f| &*f.path));
    let _ = writeln!(text, "    transition!({}, \"{}\",", type_name(&c.input), c.name);
    for f in &t.fields {
        let Some(Put { test, .. }) = put(spec, bindings, &c.input, &f.path) else { continue };
        let _ = writeln!(text, "        \"{}\" {} ({test}),", f.path, names[&*f.path]);
    }
    text.push_str("    ),\n");
}

/// `qp_state_machine.md`: the table of all transitions, for people.
pub(super) fn table(spec: &Spec) -> String {
    let mut text = String::from(
        "<!-- Generated by prm-codegen from prm-spec/. Change the tables, not this file. -->\n\n\
         The commands that move a queue pair from state to state, and the transport services that \
         each exists for.\n\n| command | from | to | services |\n|---|---|---|---|\n",
    );
    let transitions = &spec.semantics.transitions;
    for t in transitions {
        let from = if t.from.is_empty() { "any state".to_owned() } else { t.from.join(", ") };
        let services = t.services.join(", ");
        let _ = writeln!(text, "| {} | {from} | {} | {services} |", t.command, t.to);
    }
    text.push_str(
        "\nNo command leads to SQER, SQDRAINED, SQD or SUSPENDED: the adapter goes there by itself, \
         as SQER after an error of the send queue.\n\nThe fields that each command takes. `must`: \
         it has to be given. `may`: it may be given, and is taken whatever the mask says. The name of a bit: it \
         counts when that bit of `opt_param_mask` is set, which the builder sets. `not 0` beside the path: zero is \
         no legal value. Where an entry lies inside of another, it alone speaks for its field.\n",
    );
    for t in transitions.iter().filter(|t| !t.fields.is_empty()) {
        let _ = write!(text, "\n## {}\n\n| field |", t.command);
        for service in &t.services {
            let _ = write!(text, " {service} |");
        }
        let _ = write!(text, "\n|---|{}\n", "---|".repeat(t.services.len()));
        for f in &t.fields {
            let zero = if f.nonzero { ", not 0" } else { "" };
            let _ = write!(text, "| `{}`{zero} |", f.path);
            for service in &t.services {
                let what = if f.requires.contains(service) {
                    "must"
                } else if f.takes.contains(service) {
                    "may"
                } else if f.admits.contains(service) {
                    f.bit.as_deref().unwrap_or_default()
                } else {
                    ""
                };
                let _ = write!(text, " {what} |");
            }
            text.push('\n');
        }
        let _ = write!(text, "\nSources: {}.\n", t.source);
    }
    text
}
