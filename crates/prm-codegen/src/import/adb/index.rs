//! How the layouts of a database use each other, and its index of registers.
//!
//! The index is five nodes: `root`, the node that it holds, and in that one
//! `access_reg_summary_selector_ext`. This has the two others: a union with a member for each
//! register (`access_reg_summary_ext`), and a union with a number whose values are the ids of the
//! registers (`access_reg_summary_ctrl_ext`). They describe the database, not the adapter, and no
//! other node may use them.

use std::collections::{HashMap, HashSet};

use super::MAX_FAULTS;
use crate::fault::{Faults, Origin};
use crate::model::{Count, Element, Field, Kind, Layout, Register};

/// How deep nodes may be nested.
const MAX_DEPTH: u32 = 64;

/// The layout that has the registers and their ids.
const SELECTOR: &str = "access_reg_summary_selector";

/// The layouts of these two.
const ENDS: [&str; 2] = ["access_reg_summary", "access_reg_summary_ctrl"];

/// All layouts of a database, found by name.
pub(super) struct Index<'a> {
    layouts: &'a [Layout],
    by_name: HashMap<&'a str, &'a Layout>,
    /// Fields, by the names of their layout and their own.
    fields: HashMap<(&'a str, &'a str), &'a Field>,
    /// Layouts that end in a list.
    open: HashSet<&'a str>,
    /// The layouts of the index of registers.
    parts: HashSet<&'a str>,
}

impl<'a> Index<'a> {
    pub(super) fn new(layouts: &'a [Layout]) -> Self {
        let fields = || layouts.iter().flat_map(|l| l.fields.iter().map(|f| (&*l.name, f)));
        let holders = fields().filter(|(_, f)| inner(f) == Some(SELECTOR)).map(|(name, _)| name);
        let named = |name: &&str| ["root", SELECTOR].contains(name) || ENDS.contains(name);
        Index {
            layouts,
            by_name: layouts.iter().map(|l| (&*l.name, l)).collect(),
            fields: fields().map(|(name, f)| ((name, &*f.name), f)).collect(),
            open: fields().filter(|(_, f)| f.count == Count::List).map(|(name, _)| name).collect(),
            parts: layouts.iter().map(|l| &*l.name).filter(named).chain(holders).collect(),
        }
    }

    /// Whether a layout is part of the index of registers.
    pub(super) fn has(&self, layout: &str) -> bool {
        self.parts.contains(layout)
    }

    /// Refuses layouts that hold themselves or are nested too deep, those that end in a list and
    /// lie inside others, and an index of registers that is not apart from them, or not whole.
    pub(super) fn uses(&self) -> Result<(), Faults> {
        if let Some(root) = self.by_name.get("root").filter(|_| !self.has(SELECTOR)) {
            return Err(Faults::one(
                &root.origin,
                format!("there is no node {SELECTOR}_ext, the index of registers"),
                "name a whole register_access_table.adb",
            ));
        }
        let mut faults = Faults::default();
        let mut depths = HashMap::new();
        for layout in self.layouts {
            if faults.0.len() >= MAX_FAULTS {
                break;
            }
            self.depth(layout, &mut depths, 1, &mut faults);
            let apart = self.has(&layout.name) && !ENDS.contains(&&*layout.name);
            for field in &layout.fields {
                let held = inner(field).unwrap_or_default();
                if apart != self.has(held) {
                    faults.add(
                        &field.origin,
                        format!("{} of {} mixes index and registers", field.name, layout.name),
                        "the index of registers holds parts of itself only, and no register does",
                    );
                }
                // Its length in the model is less than its place here.
                let alone = layout.kind == Kind::Union && field.count == Count::One;
                if self.open.contains(held) && !alone {
                    faults.add(
                        &field.origin,
                        format!("{} is of the layout {held}, which ends in a list", field.name),
                        "such a layout is a register, or a member of a union: put the list here",
                    );
                }
            }
        }
        faults.or(())
    }

    /// How deep `layout` is, itself counted; `above` tells the same of those around it. `depths`
    /// has 0 for a layout that is being looked at.
    fn depth(
        &self,
        layout: &'a Layout,
        depths: &mut HashMap<&'a str, u32>,
        above: u32,
        faults: &mut Faults,
    ) -> u32 {
        if let Some(known) = depths.get(&*layout.name) {
            return *known;
        }
        depths.insert(&layout.name, 0);
        let mut deepest = 0;
        for field in &layout.fields {
            let Some(held) = inner(field).and_then(|name| self.by_name.get(name)) else { continue };
            let below = match above {
                MAX_DEPTH.. => MAX_DEPTH,
                _ => self.depth(held, depths, above + 1, faults),
            };
            if below == 0 {
                let message = format!("{} holds itself by {}", held.name, field.name);
                let help = "a node can't be part of itself: correct the subnode";
                faults.add(&field.origin, message, help);
            } else if below >= MAX_DEPTH {
                let message = format!("nodes are nested more than {MAX_DEPTH} deep here");
                faults.add(&field.origin, message, "write them flatter");
            } else {
                deepest = deepest.max(below);
            }
        }
        depths.insert(&layout.name, deepest + 1);
        deepest + 1
    }

    /// The field at the end of `path` (names with dots between) in `layout`.
    fn resolve(&self, mut layout: &'a str, path: &str) -> Option<&'a Field> {
        let (above, last) = path.rsplit_once('.').unwrap_or(("", path));
        for name in above.split('.').filter(|_| !above.is_empty()) {
            layout = inner(self.fields.get(&(layout, name))?)?;
        }
        self.fields.get(&(layout, last)).copied()
    }

    /// The union that a field is of, and the field that selects its members.
    fn selected(&self, layout: &'a Layout, field: &'a Field, path: &str) -> Selected<'a> {
        let union = inner(field).and_then(|name| self.by_name.get(name)).copied();
        Selected {
            union: union.filter(|u| u.kind == Kind::Union),
            by: self.resolve(&layout.name, path),
        }
    }

    /// Refuses selectors that are no fields, and members that are selected by no value of theirs.
    pub(super) fn selectors(&self) -> Result<(), Faults> {
        let mut faults = Faults::default();
        let mut seen = HashSet::new();
        for layout in self.layouts.iter().filter(|l| l.name != SELECTOR) {
            for field in &layout.fields {
                let Some(path) = &field.selector else { continue };
                if faults.0.len() >= MAX_FAULTS {
                    return Err(faults);
                }
                match self.selected(layout, field, path) {
                    Selected { union: None, .. } => faults.add(
                        &field.origin,
                        format!("{} has a selector and is no union", field.name),
                        "remove union_selector, or name a union as subnode",
                    ),
                    Selected { by: None, .. } => faults.add(
                        &field.origin,
                        format!("{} is selected by {path}, which is no field", field.name),
                        "name a field of the same node",
                    ),
                    // One selector may choose in several unions of a kind.
                    Selected { union: Some(union), by: Some(by) } => {
                        if !by.values.is_empty()
                            && seen.insert((&*union.name, by.origin.span.start))
                        {
                            members(union, by, path, &mut faults);
                        }
                    }
                }
            }
        }
        faults.or(())
    }

    /// The registers, by id. A database without an index has none.
    pub(super) fn registers(&self) -> Result<Vec<Register>, Faults> {
        let Some(start) = self.by_name.get(SELECTOR) else { return Ok(Vec::new()) };
        let found = start.fields.iter().find_map(|field| {
            let Selected { union, by } = self.selected(start, field, field.selector.as_deref()?);
            Some((union?, by?))
        });
        let Some((union, ids)) = found else {
            let help = "a field of it has a union_selector, which names the field with all ids";
            return Err(Faults::one(&start.origin, "this index selects no registers", help));
        };
        let mut faults = Faults::default();
        let mut layouts = register_layouts(union, ids, &mut faults);
        let mut registers = Vec::new();
        for value in &ids.values {
            let name = &value.name;
            let Ok(id) = u16::try_from(value.value) else {
                let message = format!("the id of {name} is {:#x}", value.value);
                faults.add(&ids.origin, message, "ids have 16 bits: correct it");
                continue;
            };
            let (layout, origin) = match layouts.remove(&**name) {
                Some((layout, origin)) => (Some(layout.to_owned()), origin),
                None => (None, &ids.origin),
            };
            let (name, origin) = (name.clone(), origin.clone());
            registers.push(Register { name, id, layout, from: Vec::new(), origin });
        }
        registers.sort_by_key(|r| r.id);
        faults.0.truncate(MAX_FAULTS);
        faults.or(registers)
    }
}

/// What a selector chooses in.
struct Selected<'a> {
    union: Option<&'a Layout>,
    /// The selector.
    by: Option<&'a Field>,
}

/// Refuses members of `union` that are selected by no value of `selector`.
fn members(union: &Layout, selector: &Field, path: &str, faults: &mut Faults) {
    let names: HashSet<&str> = selector.values.iter().map(|v| &*v.name).collect();
    for member in &union.fields {
        if member.when.as_deref().is_some_and(|when| !names.contains(when)) {
            faults.add(
                &member.origin,
                format!("{} is selected by no value of {path}", member.name),
                "correct its selected_by, or the enum of the selector",
            );
        }
    }
}

/// The layouts of registers, and where they are written, by the names of the registers.
fn register_layouts<'a>(
    union: &'a Layout,
    ids: &Field,
    faults: &mut Faults,
) -> HashMap<&'a str, (&'a str, &'a Origin)> {
    let names: HashSet<&str> = ids.values.iter().map(|v| &*v.name).collect();
    let mut layouts = HashMap::new();
    for member in &union.fields {
        let (Some(name), Some(layout)) = (member.when.as_deref(), inner(member)) else {
            let message = format!("{} is not a register and its layout", member.name);
            faults.add(&member.origin, message, "write its selected_by and its subnode");
            continue;
        };
        if !names.contains(name) {
            let message = format!("the register {name} has no id");
            faults.add(&member.origin, message, format!("add it to the enum of {}", ids.name));
        }
        if layouts.insert(name, (layout, &member.origin)).is_some() {
            let message = format!("the register {name} has two layouts");
            faults.add(&member.origin, message, "remove one of the two");
        }
    }
    layouts
}

/// The layout that a field is of.
fn inner(field: &Field) -> Option<&str> {
    match &field.element {
        Element::Layout(name) => Some(name),
        Element::Bits(_) => None,
    }
}
