//! Pages of capabilities, and the capabilities of one bit in them.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::names::{camel, upper};
use super::type_name;
use crate::model::*;

/// The output of the command that gives the pages: what is made of them goes beside it.
pub(super) const ANSWER: &str = "query_hca_cap_out";

/// Pages whose capabilities go by their own names, without that of the page before it.
const GENERAL: &[&str] = &["general_device", "general_device_2"];

/// The pages, and the capabilities of one bit.
pub(super) fn capabilities(text: &mut String, spec: &Spec) {
    let pages: Vec<(&Capability, &Layout)> = spec
        .semantics
        .capabilities
        .iter()
        .filter_map(|c| Some((c, spec.layout(c.layout.as_ref().ok()?)?)))
        .collect();
    text.push_str("\n/// Pages of capabilities.\npub mod page {\n    pages! {\n");
    for (c, layout) in &pages {
        let _ = writeln!(
            text,
            "        {}: {} = \"{}\" 0x{:02x}, \"{}\";",
            camel(&c.name),
            type_name(&layout.name),
            c.name,
            c.selector,
            c.about
        );
    }
    text.push_str("    }\n}\n\ncaps! {\n");
    let mut seen = HashSet::new();
    for (c, layout) in &pages {
        let plain =
            layout.fields.iter().filter(|f| f.element == Element::Bits(1) && f.count == Count::One);
        for field in plain {
            let own = upper(&field.name);
            let long = upper(&format!("{}_{}", c.name, field.name));
            // The second general page may have a name that the first has.
            let name = if GENERAL.contains(&&*c.name) && !seen.contains(&own) { own } else { long };
            let words = spec.words.field(&layout.name, &field.name);
            let words = words.map_or_else(String::new, |w| format!(" {}", w.about));
            let _ = writeln!(
                text,
                "    /// `{0}.{1}`.{words}\n    {name} = \"{0}.{1}\" 0x{2:02x} 0x{3:02x}[{4}];",
                layout.name,
                field.name,
                c.selector,
                field.bit / 32 * 4,
                31 - field.bit % 32
            );
            seen.insert(name);
        }
    }
    text.push_str("}\n");
}
