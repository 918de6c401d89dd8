//! What the tables say of sources agrees with itself and with the codec. Nothing is compiled here; it
//! holds for sources that gcc can't read, too.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mlx5_prm::layout_desc;

use crate::claim::{Claim, What};
use crate::compare::has;
use crate::spec::{Conflict, TableLayout, Tables};
use crate::{list, tables};

/// What is wrong with the sources of a fact.
fn wrong_sources(from: &[String], ranks: &HashMap<&str, usize>) -> Option<String> {
    let known: Option<Vec<usize>> = from.iter().map(|from| ranks.get(&**from).copied()).collect();
    match known {
        None => Some(format!("{from:?} are not all in sources.toml")),
        Some(known) if known.is_empty() => Some("it is from nowhere".to_owned()),
        // By their rank, and none twice.
        Some(known) => {
            (!known.is_sorted_by(|a, b| a < b)).then(|| format!("{from:?}: their order"))
        }
    }
}

#[test]
fn every_fact_is_from_sources() {
    let tables = tables();
    let ranks: HashMap<&str, usize> =
        tables.sources.iter().enumerate().map(|(rank, source)| (&*source.name, rank)).collect();
    let mut facts: Vec<(String, &[String])> = Vec::new();
    let mut wrong = Vec::new();
    for layout in &tables.layouts {
        facts.push((layout.name.clone(), &layout.from));
        for field in &layout.fields {
            let name = format!("{}.{}", layout.name, field.name);
            if let Some(other) = field.from.iter().find(|from| !has(&layout.from, from)) {
                wrong.push(format!("{name} is from {other}, and its layout is not"));
            }
            facts.push((name, &field.from));
        }
    }
    facts.extend(tables.enumerators.iter().map(|e| (e.name.clone(), &*e.from)));
    facts.extend(tables.registers.iter().map(|r| (format!("register {}", r.name), &*r.from)));
    facts.extend(tables.aliases.iter().map(|a| (format!("second name {}", a.name), &*a.from)));
    facts.extend(tables.conflicts.iter().map(|c| (format!("conflict at {}", c.at), &*c.from)));
    for (name, from) in &facts {
        wrong.extend(wrong_sources(from, &ranks).map(|why| format!("{name}: {why}")));
    }
    println!("{} facts from {} sources", facts.len(), ranks.len());
    assert!(wrong.is_empty(), "sources are wrong:{}", list(&wrong));
}

#[test]
fn no_source_says_two_things() {
    let tables = tables();
    let mut same: BTreeMap<String, &[String]> = BTreeMap::new();
    for layout in &tables.layouts {
        let name = |field: &str| format!("{}.{field}", layout.name);
        same.extend(layout.fields.iter().map(|field| (name(&field.name), &*field.from)));
    }
    same.extend(tables.enumerators.iter().map(|e| (e.name.clone(), &*e.from)));
    let mut wrong = Vec::new();
    let mut said = BTreeSet::new();
    for Conflict { at, from, theirs, .. } in &tables.conflicts {
        for source in from {
            if same.get(at).is_some_and(|same| has(same, source)) {
                wrong.push(format!("{source} has {at} as it is in the tables, and {theirs}"));
            }
            if !said.insert((at, source)) {
                wrong.push(format!("{source} says two things of {at}"));
            }
        }
    }
    assert!(wrong.is_empty(), "sources say two things:{}", list(&wrong));
}

/// What the tables say at the place of a conflict, in the words that it should have.
fn ours(tables: &Tables, conflict: &Conflict) -> Result<String, String> {
    let Conflict { at, ours, theirs, .. } = conflict;
    let layout = |name: &str| tables.layouts.iter().find(|layout| layout.name == name);
    let bytes = |layout: &TableLayout| format!("0x{:02x} bytes", layout.bits / 8);
    if let Some(register) = at.strip_prefix("register 0x") {
        let id = u64::from_str_radix(register, 16).map_err(|e| e.to_string())?;
        let register = tables.registers.iter().find(|r| r.id == id).ok_or("no such register")?;
        return Ok(register.name.clone());
    }
    let Some((name, field)) = at.split_once('.') else {
        let enumerator = tables.enumerators.iter().find(|e| e.name == *at);
        return match (layout(at), enumerator) {
            (Some(layout), _) => Ok(Claim::extent(layout.is_union, layout.bits).to_string()),
            (None, Some(enumerator)) => Ok(Claim::Number(enumerator.value).to_string()),
            (None, None) => Ok("nothing".to_owned()),
        };
    };
    let around = layout(name).ok_or("no such layout")?;
    let place = |name: &str| {
        let field = around.fields.iter().find(|f| f.name == name);
        field.map(|field| Claim::place(field).to_string())
    };
    if let Some(place) = place(field) {
        return Ok(place);
    }
    // It is no field of ours, for it does not fit into the layout, or what it holds is another here.
    if let (true, Claim::Place { what: What::Layout(inner), .. }) =
        (ours.starts_with("a layout of "), Claim::parse(theirs))
    {
        let inner = layout(&inner).ok_or("no such layout in it")?;
        return Ok(format!("a layout of {}", bytes(inner)));
    }
    if ours.starts_with("0x") {
        return Ok(bytes(around));
    }
    if ours.starts_with("struct of ") || ours.starts_with("union of ") {
        return Ok(Claim::extent(around.is_union, around.bits).to_string());
    }
    // For others have its place.
    let named = ours.split(", ").map(|one| {
        let (name, _) = one.split_once(' ').ok_or("no name and place")?;
        let place = place(name).ok_or_else(|| format!("no field {name}"))?;
        Ok(format!("{name} {place}"))
    });
    Ok(named.collect::<Result<Vec<_>, String>>()?.join(", "))
}

#[test]
fn conflicts_say_what_the_tables_say() {
    let tables = tables();
    let mut wrong = Vec::new();
    for conflict in &tables.conflicts {
        match ours(tables, conflict) {
            Ok(ours) if ours == conflict.ours => {}
            Ok(ours) => wrong.push(format!("{}: {}, and it is {ours}", conflict.at, conflict.ours)),
            Err(why) => wrong.push(format!("{}: {}: {why}", conflict.at, conflict.ours)),
        }
    }
    println!("{} conflicts", tables.conflicts.len());
    assert!(wrong.is_empty(), "conflicts do not say what the tables say:{}", list(&wrong));
    assert!(tables.conflicts.len() > 300);
}

#[test]
fn second_names_are_of_layouts() {
    let tables = tables();
    let known: BTreeSet<&str> = tables.layouts.iter().map(|layout| &*layout.name).collect();
    for alias in &tables.aliases {
        assert!(known.contains(&*alias.of), "{} is another name of nothing", alias.name);
        assert!(!known.contains(&*alias.name), "{} is a layout", alias.name);
        let found = layout_desc(&alias.name).map(|layout| layout.name);
        assert_eq!(found, Some(&*alias.of), "{} in the codec", alias.name);
    }
    println!("{} second names", tables.aliases.len());
    assert!(tables.aliases.len() > 20);
}
