//! Compares the layouts of the header with those of the table.

use std::collections::{BTreeSet, HashMap};

use crate::CLayout;
use crate::spec::{Element, Field, TableLayout};

/// What came out of [`compare_layouts`].
#[derive(Debug, Default)]
pub(crate) struct LayoutReport {
    /// Structs and unions of the header with a tag.
    pub(crate) structures: usize,
    /// Structs and unions of the header written in place with a member name.
    pub(crate) inline: usize,
    /// Fields of the header, not counting reserved ones.
    pub(crate) fields: usize,
    /// Reserved fields of the header.
    pub(crate) reserved: usize,
    /// Fields found on both sides, and compared.
    pub(crate) compared: usize,
    /// What differs, or is in the header alone, in words.
    pub(crate) differences: Vec<String>,
    /// The layouts on both sides that differ in something.
    pub(crate) differing: BTreeSet<String>,
    /// The layouts only the header has.
    pub(crate) only_in_header: Vec<String>,
    /// How many layouts only the table has.
    pub(crate) layouts_only_in_table: usize,
    /// How many fields only the table has, in layouts both have.
    pub(crate) fields_only_in_table: usize,
}

impl std::fmt::Display for LayoutReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "header: {} structures with a tag, {} in place, {} fields, {} reserved fields",
            self.structures, self.inline, self.fields, self.reserved
        )?;
        writeln!(
            f,
            "compared with the table: {} fields; {} differences, in {} layouts; {} layouts only in \
             the header; only in the table: {} layouts, {} fields of common layouts",
            self.compared,
            self.differences.len(),
            self.differing.len(),
            self.only_in_header.len(),
            self.layouts_only_in_table,
            self.fields_only_in_table
        )?;
        self.differences.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Compares every layout and every field: kind, size, offset, width, count, element.
pub(crate) fn compare_layouts(header: &[CLayout], table: &[TableLayout]) -> LayoutReport {
    let mut report = LayoutReport::default();
    let by_name = by_name(table, &mut report);
    let mut names = BTreeSet::new();
    for layout in header {
        let name = &layout.name;
        if !names.insert(name) {
            report.differences.push(format!("layout {name} twice in the header"));
        }
        *(if layout.inline { &mut report.inline } else { &mut report.structures }) += 1;
        report.fields += layout.fields.len();
        report.reserved += layout.reserved;
        match by_name.get(name.as_str()) {
            Some(ours) => compare_layout(layout, ours, &mut report),
            None => {
                report.differences.push(format!("layout {name} only in the header"));
                report.only_in_header.push(name.clone());
            }
        }
    }
    report.layouts_only_in_table =
        by_name.keys().filter(|name| !names.iter().any(|other| other == *name)).count();
    report
}

fn by_name<'a>(
    table: &'a [TableLayout],
    report: &mut LayoutReport,
) -> HashMap<&'a str, &'a TableLayout> {
    let mut by_name = HashMap::new();
    for layout in table {
        if by_name.insert(layout.name.as_str(), layout).is_some() {
            report.differences.push(format!("layout {} twice in the table", layout.name));
        }
    }
    by_name
}

fn compare_layout(header: &CLayout, table: &TableLayout, report: &mut LayoutReport) {
    let name = &header.name;
    let mut found = Vec::new();
    if header.is_union != table.is_union {
        let kind = |is_union| if is_union { "union" } else { "struct" };
        let (h, t) = (kind(header.is_union), kind(table.is_union));
        found.push(format!("layout {name}: header {h}, table {t}"));
    }
    if header.bits != table.bits {
        found.push(format!(
            "layout {name}: header {:#x} bits, table {:#x} bits",
            header.bits, table.bits
        ));
    }
    for fields in [&header.fields, &table.fields] {
        let mut names = BTreeSet::new();
        for field in fields {
            if !names.insert(&field.name) {
                found.push(format!("field {name}.{} twice", field.name));
            }
        }
    }
    for field in &header.fields {
        match table.fields.iter().find(|other| other.name == field.name) {
            Some(other) => {
                report.compared += 1;
                if other != field {
                    found.push(format!("{name}.{}: header {field}, table {other}", field.name));
                }
            }
            None => found.push(format!("field {name}.{} only in the header", field.name)),
        }
    }
    report.fields_only_in_table += table
        .fields
        .iter()
        .filter(|field| !header.fields.iter().any(|other| other.name == field.name))
        .count();
    if !found.is_empty() {
        report.differing.insert(name.clone());
        report.differences.append(&mut found);
    }
}

/// The fields that are the same on both sides, so that their values can be compared. A field that
/// holds another layout is the same only if that layout has the same size on both sides.
pub(crate) fn fields_alike<'a>(
    header: &'a [CLayout],
    table: &[TableLayout],
) -> Vec<(&'a CLayout, &'a Field)> {
    let in_table: HashMap<&str, &TableLayout> =
        table.iter().map(|layout| (layout.name.as_str(), layout)).collect();
    let in_header: HashMap<&str, u64> =
        header.iter().map(|layout| (layout.name.as_str(), layout.bits)).collect();
    let same_size = |name: &str| match (in_table.get(name), in_header.get(name)) {
        (Some(table), Some(header)) => table.bits == *header,
        _ => false,
    };
    let mut alike = Vec::new();
    for layout in header {
        let Some(ours) = in_table.get(layout.name.as_str()) else { continue };
        for field in &layout.fields {
            let nested = match &field.element {
                Element::Bits(_) => true,
                Element::Layout(name) => same_size(name),
            };
            if nested && ours.fields.contains(field) {
                alike.push((layout, field));
            }
        }
    }
    alike
}
