//! The merge of sources: every rule by example, and what holds of any sources: nothing is lost,
//! nothing is invented, what comes out is sound, and a source that was merged has nothing new.
//!
//! `MLX5_SEEDS=N` tries so many made-up worlds. `MLX5_SOURCES=DIR` tries the published sources.

use std::collections::BTreeMap;
use std::path::Path;

use prm_codegen::fault::{Origin, SourceFile};
use prm_codegen::import::Reading;
use prm_codegen::merge::{Told, add, merge};
use prm_codegen::model::{Family, Rulings, Semantics, Source, Spec};
use prm_codegen::{check, import, report, tables};

mod common;
#[path = "merge/lost.rs"]
mod lost;
#[path = "merge/made.rs"]
mod made;
#[path = "merge/rules.rs"]
mod rules;

use made::Habits;

/// One family for everything.
fn families() -> Vec<Family> {
    let origin = Origin::whole(&SourceFile::new("families.toml", ""));
    vec![Family { name: "all".into(), about: "All.".into(), takes: vec!["*".into()], origin }]
}

fn again(told: &[Told]) -> Vec<Told> {
    let again = |t: &Told| Told { source: t.source.clone(), reading: copied(&t.reading) };
    told.iter().map(again).collect()
}

fn copied(reading: &Reading) -> Reading {
    Reading {
        layouts: reading.layouts.clone(),
        enums: reading.enums.clone(),
        registers: reading.registers.clone(),
        passed_over: reading.passed_over.clone(),
    }
}

/// What holds of every merge; gives what does not.
fn wrong(told: &[Told], spec: &Spec) -> Vec<String> {
    let mut out = Vec::new();
    if let Err(faults) = check::check_layouts(spec) {
        out.push(faults.render());
    }
    out.extend(lost::lost(spec, told).iter().map(|l| format!("lost: {l}")));
    out.extend(lost::invented(spec, told).iter().map(|i| format!("invented: {i}")));
    for told in told {
        let verified = report::verify(spec, copied(&told.reading), &[]);
        out.extend(verified.new.iter().map(|l| format!("{}: new: {l}", told.source)));
        out.extend(verified.different.iter().map(|l| format!("{}: different: {l}", told.source)));
        let merged = add(spec.clone(), "?", copied(&told.reading));
        out.extend(unsaid(spec, &merged).map(|l| format!("{}: not told: {l}", told.source)));
    }
    out
}

/// What adding a source changed in tables, as `diff` tells it: conflicts apart, which it adds by
/// other words, and families and semantics, which it drops.
fn unsaid(before: &Spec, after: &Spec) -> impl Iterator<Item = String> {
    let bare = |spec: &Spec| {
        let (conflicts, semantics) = (Vec::new(), Semantics::default());
        let mut spec = Spec { conflicts, semantics, ..spec.clone() };
        spec.layouts.iter_mut().for_each(|l| l.family.clear());
        spec
    };
    let diff = report::diff(&bare(before), &bare(after));
    diff.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// How many worlds are tried.
fn seeds(usually: u64) -> u64 {
    let asked = std::env::var("MLX5_SEEDS").ok();
    asked.map_or(usually, |n| n.parse().expect("MLX5_SEEDS is a number"))
}

#[test]
fn nothing_of_made_up_sources_is_lost() {
    let seeds = seeds(1500);
    let mut whys: BTreeMap<String, u64> = BTreeMap::new();
    let mut refused = 0;
    for seed in 0..seeds {
        let (told, texts) = made::sources(seed, Habits::OTHER, seed % 2 == 0);
        let spec = match merge(again(&told), Rulings::default(), families()) {
            Ok(spec) => spec,
            // A name that means two things in two sources.
            Err(faults) => {
                let torn = |m: &str| m.contains(", and a layout of its own in ");
                assert!(
                    faults.0.iter().all(|f| torn(&f.message)),
                    "seed {seed}: {faults}\n{texts}"
                );
                refused += 1;
                continue;
            }
        };
        for conflict in &spec.conflicts {
            *whys.entry(conflict.why.clone()).or_default() += 1;
        }
        let wrong = wrong(&told, &spec);
        assert!(wrong.is_empty(), "seed {seed}:\n{}\n{texts}", wrong.join("\n"));
    }
    println!("{seeds} worlds, {refused} refused, conflicts: {whys:?}");
    // The worlds are worth trying: every reason comes up, and most are merged.
    let reasons = [
        "later revision",
        "renamed",
        "widened",
        "narrowed",
        "joined",
        "split",
        "moved",
        "retyped",
        "longer",
        "shorter",
        "lengthened",
        "past the end",
        "holds a conflict",
        "another kind",
        "another number",
        "another meaning",
    ];
    assert!(whys.keys().all(|why| reasons.contains(&&**why)), "{whys:?}");
    for why in reasons.into_iter().filter(|_| seeds >= 1000) {
        assert!(whys.get(why).is_some_and(|n| *n >= seeds / 300), "{why}: {whys:?}");
    }
    assert!(refused < seeds / 20, "{refused} of {seeds}");
}

#[test]
fn sources_that_contradict_nothing_give_everything() {
    let seeds = seeds(1500);
    let mut fields = 0;
    for seed in 0..seeds {
        let (told, texts) = made::sources(seed, Habits::LESS, false);
        let spec = merge(again(&told), Rulings::default(), families());
        let spec = spec.unwrap_or_else(|e| panic!("seed {seed}: {}\n{texts}", e.render()));
        let conflicts = report::diff(&Spec { layouts: Vec::new(), ..Spec::default() }, &spec);
        let conflicts: Vec<&str> = conflicts.lines().filter(|l| l.contains("conflict ")).collect();
        assert!(conflicts.is_empty(), "seed {seed}: {conflicts:?}\n{texts}");
        assert!(spec.aliases.is_empty(), "seed {seed}: {:?}\n{texts}", spec.aliases);
        let wrong = wrong(&told, &spec);
        assert!(wrong.is_empty(), "seed {seed}:\n{}\n{texts}", wrong.join("\n"));
        for Told { source, reading } in &told {
            for layout in &reading.layouts {
                let ours = spec.layout(&layout.name).unwrap();
                fields += layout.fields.len();
                for field in &layout.fields {
                    let ours = ours.field(&field.name).filter(|f| f.place() == field.place());
                    assert!(ours.is_some(), "seed {seed}: {source}: {}\n{texts}", field.name);
                }
            }
        }
    }
    println!("{seeds} worlds, {fields} fields");
    assert!(fields as u64 > seeds * 20, "{fields} fields");
}

#[test]
fn a_merge_is_read_back_as_it_was_written_and_repeats() {
    for seed in 0..seeds(1500) / 10 {
        let (told, texts) = made::sources(seed, Habits::OTHER, seed % 2 == 0);
        let Ok(mut spec) = merge(again(&told), Rulings::default(), families()) else { continue };
        let source = |t: &Told| Source {
            name: t.source.clone(),
            package: "made".into(),
            version: "1".into(),
            files: Vec::new(),
            origin: Origin::whole(&SourceFile::new("sources.toml", "")),
        };
        let dir = tempfile::tempdir().unwrap();
        let families = "[[family]]\nname = \"all\"\nabout = \"All.\"\ntakes = [\"*\"]\n";
        std::fs::write(dir.path().join("families.toml"), families).unwrap();
        std::fs::create_dir(dir.path().join("semantics")).unwrap();
        tables::write_import(&spec, dir.path()).unwrap();
        let mut read = tables::read_spec(dir.path()).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(report::diff(&spec, &read), "", "seed {seed}\n{texts}");
        // What `diff` leaves out: who said it.
        for spec in [&mut spec, &mut read] {
            spec.sources = told.iter().map(source).collect();
        }
        assert_eq!(report::counts(&spec), report::counts(&read), "seed {seed}\n{texts}");
        let wrong = wrong(&told, &read);
        assert!(wrong.is_empty(), "seed {seed}:\n{}\n{texts}", wrong.join("\n"));
        check::check(&read).unwrap_or_else(|e| panic!("seed {seed}: {}\n{texts}", e.render()));

        let again = merge(again(&told), Rulings::default(), self::families()).unwrap();
        let other = tempfile::tempdir().unwrap();
        tables::write_import(&again, other.path()).unwrap();
        for name in [
            "layouts/all.toml",
            "layouts/enums.toml",
            "registers.toml",
            "aliases.toml",
            "conflicts.toml",
        ] {
            let text = |dir: &Path| std::fs::read_to_string(dir.join(name)).unwrap();
            common::assert_text(&text(dir.path()), &text(other.path()));
        }
    }
}

#[test]
fn what_verify_tells_is_what_an_import_would_change() {
    // The last source is compared with the tables of the others.
    let (mut clean, mut unclean) = (0, 0);
    for seed in 0..seeds(1500) {
        let habits = if seed % 3 == 0 { Habits::OTHER } else { Habits::LESS };
        let (mut told, texts) = made::sources(seed, habits, seed % 2 == 0);
        let last = told.pop().unwrap();
        let Ok(spec) = merge(again(&told), Rulings::default(), families()) else { continue };
        let verified = report::verify(&spec, copied(&last.reading), &[]);
        let merged = add(spec.clone(), "?", copied(&last.reading));
        let changes: Vec<String> = unsaid(&spec, &merged).collect();
        let said = |c: &prm_codegen::model::Conflict| {
            spec.conflicts.iter().any(|k| k.at == c.at && k.theirs == c.theirs)
        };
        let mut theirs = merged.conflicts.iter().filter(|c| c.from.iter().any(|f| f == "?"));
        let same = changes.is_empty() && theirs.all(said);
        assert_eq!(
            verified.is_clean(),
            same,
            "seed {seed}: {verified:#?}\n{}\n{texts}",
            changes.join("\n")
        );
        *(if same { &mut clean } else { &mut unclean }) += 1;
    }
    println!("{clean} clean, {unclean} not");
    assert!(clean > seeds(1500) / 100 && unclean > clean, "{clean} {unclean}");
}

/// The published sources, as `sources.toml` names them.
fn published(dir: &Path) -> Vec<Told> {
    let (sources, _) = tables::read_sources(&common::prm_spec()).unwrap_or_else(|e| panic!("{e}"));
    let read = |source: &Source| {
        let reading = import::read(source, &dir.join(&source.name));
        let reading = reading.unwrap_or_else(|e| panic!("{}", e.render()));
        Told { source: source.name.clone(), reading }
    };
    sources.iter().map(read).collect()
}

#[test]
fn nothing_of_the_published_sources_is_lost() {
    let Some(dir) = common::published("what is merged of the published sources") else { return };
    let told = published(&dir);
    // As they are committed.
    let spec = tables::read_spec(&common::prm_spec()).unwrap_or_else(|e| panic!("{}", e.render()));
    let wrong = wrong(&told, &spec);
    assert!(wrong.is_empty(), "{} things:\n{}", wrong.len(), wrong.join("\n"));
    for Told { source, reading } in &told {
        let fields: usize = reading.layouts.iter().map(|l| l.fields.len()).sum();
        let values: usize = reading.enums.iter().map(|e| e.values.len()).sum();
        println!(
            "{source}: {} layouts, {fields} fields, {values} enumerators, {} registers",
            reading.layouts.len(),
            reading.registers.len()
        );
    }
}
