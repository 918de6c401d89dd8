//! Whether what sources say is in the tables, and nothing else is: worked out from the sources and
//! the tables alone, without asking how they were merged.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prm_codegen::import::Reading;
use prm_codegen::merge::Told;
use prm_codegen::model::{Count, Element, Field, Kind, Layout, Spec};

/// One source beside the tables.
struct Source<'a> {
    name: &'a str,
    reading: &'a Reading,
    /// The names that its layouts have in the tables.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Source<'a> {
    fn new(told: &'a Told, spec: &'a Spec) -> Self {
        let name = told.source.as_str();
        let merged = |layout: &'a Layout| {
            let alias = spec.aliases.iter().find(|a| a.name == layout.name && has(&a.from, name));
            (layout.name.as_str(), alias.map_or(layout.name.as_str(), |a| a.of.as_str()))
        };
        let names = told.reading.layouts.iter().map(merged).collect();
        Source { name, reading: &told.reading, names }
    }

    /// A field as the tables would have it.
    fn field(&self, field: &Field) -> Field {
        let element = match &field.element {
            Element::Bits(width) => Element::Bits(*width),
            Element::Layout(name) => Element::Layout(self.names[name.as_str()].to_owned()),
        };
        Field { element, ..field.clone() }
    }

    /// Bits of one element of a field, as the source has it.
    fn size(&self, field: &Field) -> u32 {
        let size = |name: &String| self.reading.layouts.iter().find(|l| l.name == *name);
        match &field.element {
            Element::Bits(width) => *width,
            Element::Layout(name) => size(name).map_or(0, |l| l.bytes * 8),
        }
    }
}

fn has(from: &[String], source: &str) -> bool {
    from.iter().any(|f| f == source)
}

fn number(value: i64) -> String {
    if value < 0 { value.to_string() } else { format!("0x{value:x}") }
}

/// The sources of a field, those of its layout where it has none of its own.
fn from<'a>(own: &'a [String], whole: &'a [String]) -> &'a [String] {
    if own.is_empty() { whole } else { own }
}

/// Whether two fields are one: the same bits of the same thing.
fn same(a: &Field, b: &Field) -> bool {
    (&a.name, a.bit, &a.element, a.count) == (&b.name, b.bit, &b.element, b.count)
}

/// Enumerators as the tables call them.
fn enumerator(name: &str) -> String {
    name.strip_prefix("UCT_IB_MLX5_").map_or(name.to_owned(), |rest| format!("MLX5_{rest}"))
}

/// What `told` says and the tables say nowhere: neither themselves, with the source in `from`, nor
/// in a conflict.
pub(crate) fn lost(spec: &Spec, told: &[Told]) -> Vec<String> {
    let mut out = Vec::new();
    for told in told {
        let source = Source::new(told, spec);
        lost_layouts(spec, &source, &mut out);
        lost_names(spec, &source, &mut out);
    }
    out
}

/// Whether a conflict has what `source` says.
fn conflict(spec: &Spec, source: &str, at: &str, theirs: &str) -> bool {
    spec.conflicts.iter().any(|c| c.at == at && c.theirs == theirs && has(&c.from, source))
}

fn lost_layouts(spec: &Spec, source: &Source<'_>, out: &mut Vec<String>) {
    let name = source.name;
    for layout in &source.reading.layouts {
        let merged = source.names[layout.name.as_str()];
        let Some(ours) = spec.layout(merged).filter(|l| has(&l.from, name)) else {
            out.push(format!("{name}: layout {} ({merged})", layout.name));
            continue;
        };
        let extent = layout.extent();
        if ours.extent() != extent && !conflict(spec, name, merged, &extent) {
            out.push(format!("{name}: {extent} of {} ({merged})", layout.name));
        }
        for field in &layout.fields {
            let path = format!("{merged}.{}", field.name);
            let theirs = source.field(field);
            let same = |f: &&Field| same(f, &theirs) && has(from(&f.from, &ours.from), name);
            let agreed = ours.fields.iter().find(same);
            if agreed.is_none() && !conflict(spec, name, &path, &theirs.place()) {
                out.push(format!("{name}: {path} {}", theirs.place()));
            }
            if let Some(ours) = agreed.or_else(|| renamed(spec, source, ours, field)) {
                lost_knowledge(spec, source, (&path, layout, &theirs), ours, out);
            }
        }
    }
    for item in &source.reading.passed_over {
        let Some(fault) = &item.fault else { continue };
        if !conflict(spec, name, &item.label, fault) {
            out.push(format!("{name}: {} is at fault: {fault}", item.label));
        }
    }
}

/// The field with the bits of a field of a source under whatever name, if it is the only one.
fn renamed<'s>(
    spec: &Spec,
    source: &Source<'_>,
    ours: &'s Layout,
    theirs: &Field,
) -> Option<&'s Field> {
    let bits = source.size(theirs);
    let same = |f: &&Field| (f.bit, f.count, size(spec, f)) == (theirs.bit, theirs.count, bits);
    let mut same = ours.fields.iter().filter(same);
    same.next().filter(|_| same.next().is_none() && ours.kind == Kind::Struct)
}

/// What a database says of a field beyond its place: access, values, selector, condition. `ours`
/// has its bits.
fn lost_knowledge(
    spec: &Spec,
    source: &Source<'_>,
    (path, layout, theirs): (&str, &Layout, &Field),
    ours: &Field,
    out: &mut Vec<String>,
) {
    let told = |what: &str| {
        let said = |text: &str| text.contains(what);
        spec.conflicts.iter().any(|c| c.at == *path && said(&c.theirs) && has(&c.from, source.name))
    };
    let mut lost = |what: String| out.push(format!("{}: {path} {what}", source.name));
    if let Some(access) = theirs.access
        && ours.access != Some(access)
        && !told(access.name())
    {
        lost(access.name().to_owned());
    }
    // Values are of numbers, and a selector is of a union.
    let values = theirs.values.iter().filter(|_| ours.element == theirs.element);
    for value in values.filter(|v| !ours.values.contains(v)) {
        let text = format!("{} = {:#x}", value.name, value.value);
        if !told(&text) {
            lost(text);
        }
    }
    let is_union = |l: &Layout| l.kind == Kind::Union;
    let selects =
        matches!(&ours.element, Element::Layout(l) if spec.layout(l).is_some_and(is_union));
    if let Some(selector) = theirs.selector.as_ref().filter(|_| selects) {
        // The field that selects may have another name, too.
        let theirs = layout.field(selector).unwrap();
        let merged = spec.layout(source.names[layout.name.as_str()]).unwrap();
        let ours = ours.selector.as_ref().and_then(|s| merged.field(s));
        let bits = |f: &Field, size: u32| match f.count {
            Count::Array(n) => (f.bit, size * n),
            Count::One | Count::List => (f.bit, size),
        };
        let same = |f: &Field| bits(f, size(spec, f)) == bits(theirs, source.size(theirs));
        if !ours.is_some_and(same) && !told(selector) {
            lost(format!("selector {selector}"));
        }
    }
    if let Some(when) = &theirs.when
        && ours.when.as_ref() != Some(when)
        && !told(when)
    {
        lost(format!("when {when}"));
    }
}

/// Bits of one element, as the tables have it.
fn size(spec: &Spec, field: &Field) -> u32 {
    match &field.element {
        Element::Bits(width) => *width,
        Element::Layout(name) => spec.layout(name).map_or(0, |l| l.bytes * 8),
    }
}

fn lost_names(spec: &Spec, source: &Source<'_>, out: &mut Vec<String>) {
    let name = source.name;
    let mut known = BTreeMap::new();
    for e in &spec.enums {
        for v in &e.values {
            known.insert(v.name.as_str(), (v.value, from(&v.from, &e.from)));
        }
    }
    // Registers: id, name, layout.
    let mut registers: Vec<(u16, String, Option<&str>)> = Vec::new();
    for value in source.reading.enums.iter().flat_map(|e| &e.values) {
        let called = enumerator(&value.name);
        let agrees =
            known.get(called.as_str()).is_some_and(|(v, f)| *v == value.value && has(f, name));
        if !agrees && !conflict(spec, name, &called, &number(value.value)) {
            out.push(format!("{name}: {called} = {}", number(value.value)));
        }
        let id = ["MLX5_REG_", "MLX5_REGISTER_ID_"].iter().find_map(|p| called.strip_prefix(p));
        if let (Some(register), Ok(id)) = (id, u16::try_from(value.value)) {
            registers.push((id, register.to_owned(), None));
        }
    }
    let named = source.reading.registers.iter();
    registers.extend(named.map(|r| (r.id, r.name.clone(), r.layout.as_deref())));
    for (id, called, layout) in registers {
        let at = format!("register 0x{id:04x}");
        // The name may be that of another id.
        let theirs = format!("id 0x{id:04x}");
        let mut numbers = spec.conflicts.iter().filter(|c| c.at.starts_with("register "));
        if numbers.any(|c| c.theirs == theirs && has(&c.from, name)) {
            continue;
        }
        let Some(ours) = spec.registers.iter().find(|r| r.id == id && has(&r.from, name)) else {
            out.push(format!("{name}: {at} {called}"));
            continue;
        };
        if !ours.name.eq_ignore_ascii_case(&called) && !conflict(spec, name, &at, &called) {
            out.push(format!("{name}: {at} is called {called}"));
        }
        let Some(layout) = layout.map(|l| source.names[l]) else { continue };
        let theirs = format!("layout {layout}");
        if ours.layout.as_deref() != Some(layout) && !conflict(spec, name, &at, &theirs) {
            out.push(format!("{name}: {at} has the layout {layout}"));
        }
    }
}

/// What the tables say and the sources do not, or not so: everything is from a source that has it,
/// and the leading one leads.
pub(crate) fn invented(spec: &Spec, told: &[Told]) -> Vec<String> {
    let mut out = Vec::new();
    let sources: Vec<Source<'_>> = told.iter().map(|t| Source::new(t, spec)).collect();
    let ranks: Vec<&str> = told.iter().map(|t| t.source.as_str()).collect();
    let mut ranked = |what: &str, from: &[String]| {
        let places: Vec<Option<usize>> =
            from.iter().map(|f| ranks.iter().position(|r| r == f)).collect();
        if places.is_empty() || places[0].is_none() || places.windows(2).any(|w| w[0] >= w[1]) {
            out.push(format!("{what} is from {from:?}"));
        }
    };
    for layout in &spec.layouts {
        ranked(&layout.name, &layout.from);
        for f in &layout.fields {
            ranked(&format!("{}.{}", layout.name, f.name), from(&f.from, &layout.from));
        }
    }
    for e in &spec.enums {
        ranked(&e.name, &e.from);
        e.values.iter().for_each(|v| ranked(&v.name, from(&v.from, &e.from)));
    }
    spec.registers.iter().for_each(|r| ranked(&r.name, &r.from));
    spec.aliases.iter().for_each(|a| ranked(&a.name, &a.from));
    spec.conflicts.iter().for_each(|c| ranked(&c.at, &c.from));
    invented_layouts(spec, &sources, &mut out);
    invented_names(spec, &sources, &mut out);
    out
}

fn invented_layouts(spec: &Spec, sources: &[Source<'_>], out: &mut Vec<String>) {
    for layout in &spec.layouts {
        let theirs = |source: &Source<'_>| -> Vec<Layout> {
            let all = source.reading.layouts.iter();
            all.filter(|l| source.names[l.name.as_str()] == layout.name).cloned().collect()
        };
        for source in sources {
            let theirs = theirs(source);
            if theirs.is_empty() == has(&layout.from, source.name) {
                out.push(format!("{} and {}", layout.name, source.name));
            }
            let leads = layout.from.first().is_some_and(|f| f == source.name);
            let lengthened = conflict(
                spec,
                source.name,
                &layout.name,
                &theirs.first().map_or(String::new(), Layout::extent),
            );
            if leads && theirs[0].extent() != layout.extent() && !lengthened {
                out.push(format!("{} is not as {} has it", layout.name, source.name));
            }
            for field in &layout.fields {
                let mut fields = theirs.iter().flat_map(|l| &l.fields).map(|f| source.field(f));
                let has_it = fields.any(|f| same(&f, field));
                if has_it != has(from(&field.from, &layout.from), source.name) {
                    out.push(format!("{}.{} and {}", layout.name, field.name, source.name));
                }
            }
        }
    }
    for alias in &spec.aliases {
        let has_it = |s: &&Source<'_>| s.reading.layouts.iter().any(|l| l.name == alias.name);
        let sources: BTreeSet<&str> = sources.iter().filter(has_it).map(|s| s.name).collect();
        if !alias.from.iter().all(|f| sources.contains(f.as_str())) {
            out.push(format!("alias {} of {}", alias.name, alias.of));
        }
        if spec.layout(&alias.of).is_none() || spec.layout(&alias.name).is_some() {
            out.push(format!("alias {} and {}", alias.name, alias.of));
        }
    }
}

fn invented_names(spec: &Spec, sources: &[Source<'_>], out: &mut Vec<String>) {
    for c in spec.conflicts.iter().filter(|c| c.ours == c.theirs) {
        out.push(format!("{}: {} is no conflict", c.at, c.theirs));
    }
    for source in sources {
        let values: BTreeSet<(String, i64)> = source
            .reading
            .enums
            .iter()
            .flat_map(|e| &e.values)
            .map(|v| (enumerator(&v.name), v.value))
            .collect();
        for e in &spec.enums {
            for v in &e.values {
                let has_it = values.contains(&(v.name.clone(), v.value));
                if has_it != has(from(&v.from, &e.from), source.name) {
                    out.push(format!("{} and {}", v.name, source.name));
                }
            }
        }
        // The leading source of a layout is contradicted only where it holds what another leads.
        for layout in &source.reading.layouts {
            let merged = spec.layout(source.names[layout.name.as_str()]);
            let Some(merged) = merged.filter(|l| l.from[0] == source.name) else { continue };
            for field in &layout.fields {
                let inner = match &field.element {
                    Element::Layout(inner) => spec.layout(source.names[inner.as_str()]),
                    Element::Bits(_) => None,
                };
                let at = format!("{}.{}", merged.name, field.name);
                let place = source.field(field).place();
                if inner.is_none_or(|l| l.from[0] == source.name)
                    && conflict(spec, source.name, &at, &place)
                {
                    out.push(format!("{} leads {at} and is contradicted", source.name));
                }
            }
        }
    }
}
