//! What holds of whatever prm-codegen reads: faults have places and remedies, and tables that pass the
//! checks are sound, and are read as they were written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prm_codegen::fault::{Faults, Origin, SourceFile};
use prm_codegen::import::Reading;
use prm_codegen::merge::{Told, merge};
use prm_codegen::model::{Count, Element, Family, Field, Kind, Layout, Rulings, Spec};
use prm_codegen::{check, tables};

/// The family that takes everything.
const FAMILY: &str = "all";

/// The tables that one source alone makes.
///
/// # Errors
/// Those of the merge.
pub fn of_one_source(file: &Arc<SourceFile>, reading: Reading) -> Result<Spec, Faults> {
    let family = Family {
        name: FAMILY.into(),
        about: "All of it.".into(),
        takes: vec!["*".into()],
        origin: Origin::whole(file),
    };
    merge(vec![Told { source: "here".into(), reading }], Rulings::default(), vec![family])
}

/// Faults are told with their places in `file`, and can be drawn.
pub fn faults(faults: &Faults, file: &SourceFile) {
    assert!(!faults.0.is_empty(), "an error without a fault");
    let lines = file.text.split('\n').count();
    for fault in &faults.0 {
        let span = &fault.place.span;
        assert_eq!(fault.place.file.name, file.name);
        assert!(span.start <= span.end, "{span:?}: {fault}");
        assert!(file.text.get(span.clone()).is_some(), "{span:?} is no text: {fault}");
        assert!((1..=lines).contains(&fault.place.line()), "{fault}");
        assert!(!fault.message.is_empty() && !fault.help.is_empty(), "{fault}");
    }
    // To draw them takes longest, so not all of very many.
    let some = Faults(faults.0.iter().take(4).cloned().collect());
    let (drawn, count) = (some.render(), some.0.len());
    assert!(drawn.ends_with(&format!("{count} fault{}\n", if count == 1 { "" } else { "s" })));
}

/// Tables that an import made, checked as an import is: what passes is sound, and is the same when
/// it is written and read again.
pub fn imported(spec: &Spec, file: &SourceFile) {
    match check::check_layouts(spec) {
        Ok(()) => {
            sound(spec);
            round_trip(spec);
        }
        Err(wrong) => faults(&wrong, file),
    }
}

/// Every bit of a struct belongs to one field, or to fields that are said to share it; nothing leaves
/// its layout, and names are names once. Counted here bit by bit, up to 64 KiB for each layout.
pub fn sound(spec: &Spec) {
    let sizes: BTreeMap<&str, u64> =
        spec.layouts.iter().map(|l| (&*l.name, u64::from(l.bytes) * 8)).collect();
    assert_eq!(sizes.len(), spec.layouts.len(), "two layouts have one name");
    for layout in &spec.layouts {
        let names: BTreeSet<&str> = layout.fields.iter().map(|f| &*f.name).collect();
        assert_eq!(names.len(), layout.fields.len(), "{}: two fields have one name", layout.name);
        let bits = u64::from(layout.bytes) * 8;
        let mut owners: Vec<Option<&Field>> = vec![None; bits.min(1 << 19) as usize];
        for field in &layout.fields {
            let width = match &field.element {
                Element::Bits(width) => u64::from(*width),
                Element::Layout(inner) => sizes[&**inner],
            };
            let count = match field.count {
                Count::One => 1,
                Count::Array(count) => u64::from(count),
                Count::List => 0,
            };
            let from = u64::from(field.bit);
            let to = from + width * count;
            assert!(to <= bits, "{}.{} leaves its layout", layout.name, field.name);
            if layout.kind == Kind::Union {
                assert_eq!(from, 0, "{}.{}", layout.name, field.name);
                continue;
            }
            for bit in from..to.min(owners.len() as u64) {
                let owner = &mut owners[bit as usize];
                match owner {
                    None => *owner = Some(field),
                    Some(other) => {
                        let anchor = |f: &'_ Field| f.overlays.clone().unwrap_or(f.name.clone());
                        let same = anchor(other) == anchor(field);
                        let (a, b) = (&other.name, &field.name);
                        assert!(same, "{}: {a} and {b} share bit {bit}", layout.name);
                    }
                }
            }
        }
    }
}

/// A field without where it is written.
fn facts(layout: &Layout) -> String {
    let mut text =
        format!("{} {:?} {} {:?}\n", layout.name, layout.kind, layout.bytes, layout.from);
    for f in &layout.fields {
        text += &format!(
            "{} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}\n",
            f.name,
            f.bit,
            f.element,
            f.count,
            f.overlays,
            f.access,
            f.values,
            f.selector,
            f.when,
            f.from
        );
    }
    text
}

/// The layouts are the same when they are written and read again.
pub fn round_trip(spec: &Spec) {
    for family in &spec.families {
        let text = tables::layout_file(spec, family);
        let file = SourceFile::new(format!("{}.toml", family.name), text);
        let again = match tables::read_layout_file(&file) {
            Ok(again) => again,
            Err(faults) => panic!("{}\n{}", faults.render(), file.text),
        };
        let of_family = spec.layouts.iter().filter(|l| l.family == family.name);
        let (was, is): (Vec<_>, Vec<_>) =
            (of_family.map(facts).collect(), again.layouts.iter().map(facts).collect());
        assert_eq!(was, is, "{}", file.text);
    }
}
