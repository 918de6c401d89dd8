//! Compares values: the C library and other accessor code, side by side over the same mailboxes.

use std::collections::{BTreeMap, HashMap};

use crate::ccode::CCode;
use crate::compare::Alike;
use crate::headers::CLayout;
use crate::spec::{Count, Element, Field};

/// How many elements of a list there is room for in the mailboxes used here.
const LIST: u64 = 3;

/// After this many differences the rest is only counted.
const SHOWN: usize = 200;

/// The accessor code to compare with C, by the names of the tables. Values are as for [`CCode`].
pub(crate) trait Ours {
    /// Whether it can set and get this field.
    fn has(&self, layout: &str, field: &str) -> bool;
    /// Writes a value to a field of a mailbox. Of a list, as many elements as `value` has, from the
    /// first on. The mailbox is as long as the layout, or longer by elements of the list.
    fn set(&self, layout: &str, field: &str, mailbox: &mut [u8], value: &[u8]);
    /// Reads a field. Of a list, as many whole elements as the mailbox has room for.
    fn get(&self, layout: &str, field: &str, mailbox: &[u8]) -> Vec<u8>;
}

/// What came out of [`compare_values`].
#[derive(Debug, Default)]
pub(crate) struct ValueReport {
    /// The seed of the random values.
    pub(crate) seed: u64,
    /// Fields compared.
    pub(crate) fields: usize,
    /// Values written by both, and the whole mailbox compared.
    pub(crate) writes: usize,
    /// Values read by both, and compared.
    pub(crate) reads: usize,
    /// Fields alike on both sides that no DEVX macro can reach, with their place.
    pub(crate) without_macro: Vec<String>,
    /// Fields alike on both sides that the other code does not have.
    pub(crate) not_in_ours: Vec<String>,
    /// How many values differ.
    pub(crate) differing: usize,
    /// The differences in words, the first 200 of them.
    pub(crate) differences: Vec<String>,
    /// Fields by what they are: `number`, `number list`, `layout array`, ...
    pub(crate) kinds: BTreeMap<&'static str, usize>,
}

impl std::fmt::Display for ValueReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "values (seed {:#x}): {} fields, {} writes, {} reads, {} differences; without a \
             macro: {}; not in the other code: {}",
            self.seed,
            self.fields,
            self.writes,
            self.reads,
            self.differing,
            self.without_macro.len(),
            self.not_in_ours.len()
        )?;
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        writeln!(f, "  fields by kind: {}", kinds.join(", "))?;
        for field in &self.without_macro {
            writeln!(f, "  without a macro: {field}")?;
        }
        for field in &self.not_in_ours {
            writeln!(f, "  not in the other code: {field}")?;
        }
        self.differences.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Writes extreme and random values to every field that header and tables have at the same place,
/// over random mailboxes, with C and with `ours`, and compares the whole mailboxes; then reads random
/// mailboxes (and two of all zeros and all ones) with both.
///
/// `layouts` are all those of the header; `random` tells how many random values a field gets.
pub(crate) fn compare_values(
    c: &CCode,
    layouts: &[CLayout],
    alike: &[Alike<'_>],
    ours: &impl Ours,
    seed: u64,
    mut random: impl FnMut(&Alike<'_>) -> usize,
) -> ValueReport {
    let bits: HashMap<&str, u64> =
        layouts.iter().map(|layout| (&*layout.name, layout.bits)).collect();
    let mut report = ValueReport { seed, ..ValueReport::default() };
    let mut noise = Noise(seed);
    for one in alike {
        let field = one.field;
        if !c.has(&one.theirs.name, &field.name) {
            report.without_macro.push(format!("{}: {field}", one.name()));
            continue;
        }
        if !ours.has(&one.ours.name, &field.name) {
            report.not_in_ours.push(one.name());
            continue;
        }
        report.fields += 1;
        *report.kinds.entry(kind(field)).or_default() += 1;
        let element = match &field.element {
            Element::Bits(width) => *width,
            Element::Layout(nested) => bits.get(nested.as_str()).copied().unwrap_or(0),
        };
        // Long enough for either side, and for some elements of a list.
        let list = if field.count == Count::List { field.bit + LIST * element } else { 0 };
        let longest = one.theirs.bits.max(one.ours.bits).max(list).div_ceil(8);
        let bytes = usize::try_from(longest).expect("a mailbox fits into memory");
        let compare = Comparison { c, ours, of: *one, bytes, element };
        let random = random(one);
        compare.writes(random, &mut noise, &mut report);
        compare.reads(random, &mut noise, &mut report);
    }
    report
}

/// What a field is, for the counts.
fn kind(field: &Field) -> &'static str {
    match (&field.element, field.count) {
        (Element::Bits(..=64), Count::One) => "number",
        (Element::Bits(_), Count::One) => "wide field",
        (Element::Bits(8), Count::Array(_)) => "byte array",
        (Element::Bits(8), Count::List) => "byte list",
        (Element::Bits(..=64), Count::Array(_)) => "number array",
        (Element::Bits(..=64), Count::List) => "number list",
        (Element::Bits(_), Count::Array(_)) => "wide array",
        (Element::Bits(_), Count::List) => "wide list",
        (Element::Layout(_), Count::One) => "layout",
        (Element::Layout(_), Count::Array(_)) => "layout array",
        (Element::Layout(_), Count::List) => "layout list",
    }
}

/// One field of one layout, both ways.
struct Comparison<'a, O> {
    c: &'a CCode,
    ours: &'a O,
    of: Alike<'a>,
    /// Length of the mailboxes.
    bytes: usize,
    /// Bits of one element.
    element: u64,
}

impl<O: Ours> Comparison<'_, O> {
    /// The layout in C, the field, and the layout in the tables.
    fn names(&self) -> (&str, &str, &str) {
        (&self.of.theirs.name, &self.of.field.name, &self.of.ours.name)
    }

    fn writes(&self, random: usize, noise: &mut Noise, report: &mut ValueReport) {
        let ((layout, name, our_layout), field) = (self.names(), self.of.field);
        let full = self.c.value_len(layout, name, self.bytes);
        let raw = matches!(field.element, Element::Layout(_))
            || self.element > 64
            || (self.element == 8 && field.count != Count::One);
        // Of numbers only the low bits count; raw bytes count in full.
        let clip = |mut value: Vec<u8>| {
            if !raw {
                let mask = u64::MAX >> (64 - self.element);
                for number in value.chunks_exact_mut(8) {
                    for (byte, mask) in number.iter_mut().zip(mask.to_be_bytes()) {
                        *byte &= mask;
                    }
                }
            }
            value
        };
        let one = |step: usize| (0..full).map(|i| u8::from(i % step == step - 1)).collect();
        let mut values = vec![
            vec![0; full],
            one(self.c.element_len(layout, name).max(1)),
            clip(vec![0xff; full]),
            clip(vec![0xaa; full]),
            clip(vec![0x55; full]),
        ];
        for _ in 0..random {
            let mut value = noise.bytes(full);
            // Of a list, sometimes fewer elements than there is room for.
            if field.count == Count::List && full > 0 {
                let step = self.c.element_len(layout, name);
                value.truncate(full - step * noise.below(full / step));
            }
            values.push(clip(value));
        }
        for value in values {
            let background = noise.bytes(self.bytes);
            let (mut theirs, mut ours) = (background.clone(), background.clone());
            self.c.set(layout, name, &mut theirs, &value);
            self.ours.set(our_layout, name, &mut ours, &value);
            report.writes += 1;
            if theirs != ours {
                let at = theirs.iter().zip(&ours).position(|(c, o)| c != o).unwrap_or(0);
                differ(report, || {
                    let (was, c, o) = (background[at], theirs[at], ours[at]);
                    format!(
                        "{layout}.{name}: value {} written: byte {at:#x} was {was:#04x}, C makes \
                         it {c:#04x}, ours {o:#04x}",
                        hex(&value)
                    )
                });
            }
            // The C library has to read back what it wrote; else it is no judge of ours.
            let back = self.c.get(layout, name, &theirs);
            if back.get(..value.len()) != Some(value.as_slice()) {
                differ(report, || {
                    format!("{layout}.{name}: C wrote {} and reads {}", hex(&value), hex(&back))
                });
            }
        }
    }

    fn reads(&self, random: usize, noise: &mut Noise, report: &mut ValueReport) {
        let (layout, name, our_layout) = self.names();
        let mut mailboxes = vec![vec![0; self.bytes], vec![0xff; self.bytes]];
        mailboxes.extend((0..random).map(|_| noise.bytes(self.bytes)));
        for mailbox in mailboxes {
            let theirs = self.c.get(layout, name, &mailbox);
            let ours = self.ours.get(our_layout, name, &mailbox);
            report.reads += 1;
            if theirs != ours {
                differ(report, || {
                    format!("{layout}.{name}: C reads {}, ours {}", hex(&theirs), hex(&ours))
                });
            }
        }
    }
}

fn differ(report: &mut ValueReport, text: impl FnOnce() -> String) {
    report.differing += 1;
    if report.differences.len() < SHOWN {
        report.differences.push(text());
    }
}

/// Bytes in hex, long values cut off.
fn hex(bytes: &[u8]) -> String {
    let mut text: String = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > 16 {
        text += &format!("... ({} bytes)", bytes.len());
    }
    text
}

/// Random numbers from a seed: the generator SplitMix64.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed)
    }

    pub(crate) fn number(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            (0..n.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(n);
        bytes
    }

    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        usize::try_from(self.next() % n).expect("smaller than a usize")
    }
}
