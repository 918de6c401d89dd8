//! Sources that are made up from a seed: headers of one small world, each with something left out,
//! renamed, moved, split, retyped, shortened or lengthened; and databases of registers.

use std::fmt::Write as _;

use prm_codegen::fault::SourceFile;
use prm_codegen::import::{self, HeaderFile};
use prm_codegen::merge::Told;
use prm_codegen::model::{Access, Count, Element, FieldValue, Kind, Layout, Register};

/// Numbers that look random and are the same for one seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Whether something happens that happens `n` times of a hundred.
    fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// Part of a layout: whole dwords.
#[derive(Debug, Clone)]
enum Part {
    /// One dword of fields and gaps.
    Dword(Vec<(Option<String>, u32)>),
    /// A field of several dwords.
    Wide(String, u32),
    /// An array of numbers.
    Array(String, u32, u32),
    /// A layout by its place in the world, once or as an array.
    Layout(String, usize, Option<u32>),
    /// An unnamed union.
    Union(Vec<Vec<Part>>),
    /// A list at the end: of numbers, or of a layout.
    List(String, Result<u32, usize>),
}

/// A layout of the world.
#[derive(Debug, Clone)]
struct Thing {
    name: String,
    union: bool,
    parts: Vec<Part>,
}

/// How much a source differs from the world, in percent of the places where it could.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    /// Layouts and fields that it does not have.
    leaves_out: usize,
    /// Everything else that it has otherwise.
    differs: usize,
}

impl Habits {
    /// It has less than the world, and nothing otherwise.
    pub(crate) const LESS: Habits = Habits { leaves_out: 30, differs: 0 };
    /// It has things otherwise.
    pub(crate) const OTHER: Habits = Habits { leaves_out: 12, differs: 10 };
}

const NAMES: [&str; 7] =
    ["lamp", "bulb_context", "switch_reg", "room_lights", "dimmer_reg", "wall", "set_room_in"];
const OTHER_NAMES: [&str; 7] = [
    "lamp_reg",
    "context_bulb",
    "switch",
    "lights_in_a_room",
    "register_dimmer",
    "wall_ext",
    "room_set_in",
];
const FIELDS: [&str; 10] =
    ["on", "color", "opcode", "heat", "uid", "volt", "watt", "serial", "shade", "hue"];
const KINDS: [u32; 4] = [8, 16, 32, 64];

/// A world of a few layouts. `apart` gives every layout names of its own, so that no two are alike.
fn world(dice: &mut Dice, apart: bool) -> Vec<Thing> {
    let count = 3 + dice.below(NAMES.len() - 2);
    let mut things: Vec<Thing> = Vec::new();
    for (i, name) in NAMES.iter().take(count).enumerate() {
        let union = i > 1 && dice.percent(25);
        let prefix = if apart { format!("f{i}_") } else { String::new() };
        let mut parts = Vec::new();
        for _ in 0..1 + dice.below(5) {
            parts.push(part(dice, &prefix, i, true));
        }
        if !union && dice.percent(20) {
            let element = if i > 0 && dice.percent(50) {
                Err(dice.below(i))
            } else {
                Ok(KINDS[dice.below(4)])
            };
            parts.push(Part::List(format!("{prefix}{}", dice.pick(&FIELDS)), element));
        }
        things.push(Thing { name: (*name).to_owned(), union, parts });
    }
    things
}

/// Bits of each layout of a world.
fn sizes(world: &[Thing]) -> Vec<u32> {
    let mut sizes: Vec<u32> = Vec::new();
    for thing in world {
        let parts = thing.parts.iter();
        let size = match thing.union {
            true => parts.map(|p| member_size(&sizes, p)).max().unwrap_or(0).max(32),
            false => parts.map(|p| size(&sizes, p)).sum(),
        };
        sizes.push(size);
    }
    sizes
}

fn size(sizes: &[u32], part: &Part) -> u32 {
    match part {
        Part::Dword(_) => 32,
        Part::Wide(_, n) => n * 32,
        Part::Array(_, element, n) => element * n,
        Part::Layout(_, thing, count) => sizes[*thing] * count.unwrap_or(1),
        Part::Union(arms) => {
            arms.iter().map(|arm| arm.iter().map(|p| size(sizes, p)).sum()).max().unwrap_or(0)
        }
        Part::List(..) => 0,
    }
}

/// What a part adds to a union.
fn member_size(sizes: &[u32], part: &Part) -> u32 {
    if matches!(part, Part::Union(_)) { 0 } else { size(sizes, part) }
}

/// One part of the layout at place `i`, which may hold those before it.
fn part(dice: &mut Dice, prefix: &str, i: usize, unions: bool) -> Part {
    let name = name(dice, prefix);
    match dice.below(12) {
        0 => Part::Wide(name, 2 + dice.below(3) as u32),
        1 => {
            let element = KINDS[dice.below(4)];
            Part::Array(name, element, (64 / element) * (1 + dice.below(2) as u32))
        }
        2 | 3 if i > 0 => {
            let count = dice.percent(30).then(|| 1 + dice.below(3) as u32);
            Part::Layout(name, dice.below(i), count)
        }
        4 if unions => {
            // What is apart has arms that no source has in part.
            let held = if prefix.is_empty() { i } else { 0 };
            let arms = (0..2 + dice.below(2)).map(|_| {
                (0..1 + dice.below(2)).map(|_| part(dice, prefix, held, false)).collect::<Vec<_>>()
            });
            Part::Union(arms.collect())
        }
        _ => dword(dice, prefix),
    }
}

/// A name of a field. Names with a prefix are hardly ever there twice.
fn name(dice: &mut Dice, prefix: &str) -> String {
    let many = if prefix.is_empty() { 4 } else { 1_000_000_000 };
    format!("{prefix}{}{}", dice.pick(&FIELDS), dice.below(many))
}

fn dword(dice: &mut Dice, prefix: &str) -> Part {
    let mut fields = Vec::new();
    let mut left = 32;
    while left > 0 {
        let width = [1, 2, 3, 4, 8, 8, 12, 16, 24, 32][dice.below(10)].min(left);
        let name = name(dice, prefix);
        fields.push(((!dice.percent(30)).then_some(name), width));
        left -= width;
    }
    Part::Dword(fields)
}

/// What a source makes of the parts of a layout.
fn parts(dice: &mut Dice, habits: Habits, parts: &[Part], out: &mut Vec<Part>) {
    for part in parts {
        if dice.percent(habits.differs / 2) {
            out.push(self::part(dice, "", 0, false));
            continue;
        }
        if dice.percent(habits.differs / 4) {
            out.push(dword(dice, ""));
        }
        if dice.percent(habits.differs / 4) {
            continue;
        }
        let renamed = |dice: &mut Dice, name: &str| match dice.percent(habits.differs) {
            true => format!("{}{}", dice.pick(&FIELDS), dice.below(9)),
            false => name.to_owned(),
        };
        let gone = dice.percent(habits.leaves_out);
        out.push(match part {
            Part::Dword(fields) => dword_of(dice, habits, fields),
            Part::Wide(_, n) if gone => Part::Array("reserved_at_0".into(), 32, *n),
            Part::Array(_, element, n) if gone => Part::Array("reserved_at_0".into(), *element, *n),
            Part::List(..) if gone => continue,
            Part::Wide(name, n) if dice.percent(habits.differs) => {
                Part::Array(renamed(dice, name), 32, *n)
            }
            Part::Wide(name, n) => Part::Wide(renamed(dice, name), *n),
            Part::Array(name, 32, n) if dice.percent(habits.differs) && *n > 1 => {
                Part::Wide(renamed(dice, name), *n)
            }
            Part::Array(name, element, n) => {
                let more = u32::from(dice.percent(habits.differs)) * (32 / element).max(1);
                Part::Array(renamed(dice, name), *element, n + more)
            }
            Part::Layout(name, thing, count) => {
                let thing =
                    if dice.percent(habits.differs) { dice.below(thing + 1) } else { *thing };
                let count = if dice.percent(habits.differs) { Some(2) } else { *count };
                Part::Layout(if gone { "rsvd".into() } else { renamed(dice, name) }, thing, count)
            }
            Part::Union(arms) => {
                let mut kept = Vec::new();
                let leaves_out = if habits.differs == 0 { 0 } else { habits.leaves_out };
                for arm in arms {
                    let mut theirs = Vec::new();
                    self::parts(dice, Habits { leaves_out, ..habits }, arm, &mut theirs);
                    kept.push(theirs);
                }
                kept.retain(|arm| !arm.is_empty());
                if kept.is_empty() { Part::Dword(vec![(None, 32)]) } else { Part::Union(kept) }
            }
            Part::List(name, element) => Part::List(renamed(dice, name), *element),
        });
    }
}

/// What a source makes of a dword of fields.
fn dword_of(dice: &mut Dice, habits: Habits, fields: &[(Option<String>, u32)]) -> Part {
    let mut theirs: Vec<(Option<String>, u32)> = Vec::new();
    for (name, width) in fields {
        let mut name = name.clone().filter(|_| !dice.percent(habits.leaves_out));
        if dice.percent(habits.differs) {
            name = name.map(|_| format!("{}{}", dice.pick(&FIELDS), dice.below(9)));
        }
        match theirs.last_mut() {
            // Joined with the field before, or some bits of it.
            Some((_, before)) if dice.percent(habits.differs / 2) => *before += width,
            Some((_, before)) if dice.percent(habits.differs / 2) && *before > 1 => {
                *before -= 1;
                theirs.push((name, width + 1));
            }
            _ if dice.percent(habits.differs / 2) && *width > 1 => {
                theirs.push((name, 1));
                theirs.push((Some(format!("split{}", dice.below(3))), width - 1));
            }
            _ => theirs.push((name, *width)),
        }
    }
    Part::Dword(theirs)
}

/// The header of a source.
struct Header<'d> {
    dice: &'d mut Dice,
    text: String,
    /// Its names of the layouts of the world, where it has them.
    names: Vec<Option<String>>,
    unions: Vec<bool>,
    /// Bits of the layouts of the world.
    bits: &'d [u32],
    /// Whether a layout ends with a list: then only a last member may hold it.
    open: Vec<bool>,
    /// Names of fields that the layout has.
    taken: Vec<String>,
}

impl Header<'_> {
    /// A name that the layout does not have yet; a reserved one where it has.
    fn fresh(&mut self, name: &str) -> String {
        if self.taken.iter().any(|t| t == name) {
            return "reserved_again".into();
        }
        self.taken.push(name.to_owned());
        name.to_owned()
    }

    fn tag(&self, thing: usize) -> Option<String> {
        let name = self.names[thing].as_ref()?;
        let keyword = if self.unions[thing] { "union" } else { "struct" };
        Some(format!("{keyword} mlx5_ifc_{name}_bits"))
    }

    fn part(&mut self, part: &Part) {
        let _ = match part {
            Part::Dword(fields) => {
                for (name, width) in fields {
                    let name = match name {
                        Some(name) => self.fresh(name),
                        None => "reserved".into(),
                    };
                    let _ = writeln!(self.text, "\tu8 {name}[{width}];");
                }
                Ok(())
            }
            Part::Wide(name, n) => {
                let name = self.fresh(name);
                writeln!(self.text, "\tu8 {name}[{}];", n * 32)
            }
            Part::Array(name, element, n) => {
                let name = self.fresh(name);
                writeln!(self.text, "\tu8 {name}[{n}][{element}];")
            }
            Part::Layout(name, thing, count) => {
                let Some(tag) = self.tag(*thing).filter(|_| !self.open[*thing]) else {
                    let bits = self.bits[*thing] * count.unwrap_or(1);
                    let _ = writeln!(self.text, "\tu8 reserved[{bits}];");
                    return;
                };
                let name = self.fresh(name);
                let count = count.map(|n| format!("[{n}]")).unwrap_or_default();
                writeln!(self.text, "\t{tag} {name}{count};")
            }
            Part::Union(arms) => {
                self.text.push_str("\tunion {\n");
                for arm in arms {
                    self.text.push_str("\tstruct {\n");
                    arm.iter().for_each(|part| self.part(part));
                    self.text.push_str("\t};\n");
                }
                self.text.push_str("\t};\n");
                Ok(())
            }
            Part::List(name, element) => {
                let name = self.fresh(name);
                match element {
                    Ok(width) => writeln!(self.text, "\tu8 {name}[][{width}];"),
                    Err(thing) => match self.tag(*thing).filter(|_| !self.open[*thing]) {
                        Some(tag) => writeln!(self.text, "\t{tag} {name}[];"),
                        None => Ok(()),
                    },
                }
            }
        };
    }

    /// A member of a union: one thing that begins at its start.
    fn member(&mut self, part: &Part) {
        match part {
            Part::Dword(fields) => {
                let Some((Some(name), width)) = fields.first() else { return };
                let name = self.fresh(name);
                let _ = writeln!(self.text, "\tu8 {name}[{width}];");
            }
            Part::Union(_) | Part::List(..) => {}
            other => self.part(other),
        }
    }

    fn thing(&mut self, i: usize, thing: &Thing, habits: Habits) {
        let mut theirs = Vec::new();
        parts(self.dice, habits, &thing.parts, &mut theirs);
        // A list ends its layout.
        let list = theirs.iter().position(|p| matches!(p, Part::List(..)));
        theirs.truncate(list.map_or(theirs.len(), |at| at + 1));
        if self.dice.percent(habits.differs) {
            theirs.truncate(self.dice.below(theirs.len() + 1));
        }
        if self.dice.percent(habits.differs) && list.is_none() {
            theirs.push(part(self.dice, "", i, true));
        }
        // None is empty.
        if theirs.is_empty() {
            theirs.push(Part::Dword(vec![(None, 32)]));
        }
        let union = thing.union != self.dice.percent(habits.differs / 4);
        let other = self.dice.percent(habits.differs * 2);
        let name = if other { OTHER_NAMES[i] } else { &thing.name };
        self.names[i] = Some(name.to_owned());
        self.unions[i] = union;
        self.open[i] = !union && matches!(theirs.last(), Some(Part::List(..)));
        self.taken.clear();
        let keyword = if union { "union" } else { "struct" };
        let _ = writeln!(self.text, "{keyword} mlx5_ifc_{name}_bits {{");
        // What is sound by itself is a whole number of bytes.
        let _ = if union { writeln!(self.text, "\tu8 reserved_whole[32];") } else { Ok(()) };
        for part in &theirs {
            if union { self.member(part) } else { self.part(part) }
        }
        self.text.push_str("};\n");
    }

    fn enums(&mut self, habits: Habits) {
        self.text.push_str("enum {\n");
        for (i, name) in REGISTERS.iter().enumerate() {
            if self.dice.percent(60) {
                // Sources differ about the names of some, and about the ids of others: what differs
                // in both is another register.
                let other = self.dice.percent(habits.differs);
                let name = if other && i % 2 == 0 { OTHER_REGISTERS[i] } else { name };
                let id = 0x4000 + i + if other && i % 2 == 1 { 0x10 } else { 0 };
                let _ = writeln!(self.text, "\tMLX5_REG_{name} = {id},");
            }
        }
        self.text.push_str("\tMADE_LAST = 0x20000\n};\nenum colors {\n");
        let prefix = if habits.differs > 0 && self.dice.percent(30) { "UCT_IB_" } else { "" };
        for (i, name) in ["RED", "GREEN", "BLUE", "NONE"].iter().enumerate() {
            if self.dice.percent(70) {
                let value = i + usize::from(self.dice.percent(habits.differs));
                let _ = writeln!(self.text, "\t{prefix}MLX5_COLOR_{name} = {value},");
            }
        }
        // No enum is empty.
        self.text.push_str("\tMADE_COLORS = -1,\n};\n");
    }
}

/// Registers that headers name.
const REGISTERS: [&str; 4] = ["SWITCH", "DIMMER", "WALL", "LAMP"];
const OTHER_REGISTERS: [&str; 4] = ["SWITCHES", "DIMMERS", "WALLS", "LAMPS"];

/// The names of sources: of two versions of Linux, and of others.
const SOURCES: [&str; 5] = ["v7.3", "v6.1", "tool", "lib", "base"];

/// Sources of one world; with the last one a database where `database`. The texts are of use when
/// a test fails.
pub(crate) fn sources(seed: u64, habits: Habits, database: bool) -> (Vec<Told>, String) {
    let mut dice = Dice::new(seed);
    let world = world(&mut dice, habits.differs == 0);
    let bits = sizes(&world);
    let count = 2 + dice.below(SOURCES.len() - 1);
    let mut told = Vec::new();
    let mut texts = String::new();
    for (n, source) in SOURCES.iter().take(count).enumerate() {
        let mut header = Header {
            dice: &mut dice,
            bits: &bits,
            text: String::new(),
            names: vec![None; world.len()],
            unions: vec![false; world.len()],
            open: vec![false; world.len()],
            taken: Vec::new(),
        };
        for (i, thing) in world.iter().enumerate() {
            if !header.dice.percent(habits.leaves_out) {
                header.thing(i, thing, habits);
            }
        }
        header.enums(habits);
        let text = header.text;
        let _ = writeln!(texts, "=== {source}\n{text}");
        let file = SourceFile::new(format!("{source}.h"), text);
        let mut reading = import::headers(&[HeaderFile { file, takes: Vec::new() }])
            .unwrap_or_else(|e| panic!("seed {seed}: {}\n{texts}", e.render()));
        if database && n + 1 == count {
            reading.enums.clear();
            for layout in &mut reading.layouts {
                registers(&mut dice, layout, &mut reading.registers, &mut texts);
            }
            let unions: Vec<String> = reading
                .layouts
                .iter()
                .filter(|l| l.kind == Kind::Union)
                .map(|l| l.name.clone())
                .collect();
            for layout in &mut reading.layouts {
                select(&mut dice, layout, &unions, &mut texts);
            }
        }
        told.push(Told { source: (*source).to_owned(), reading });
    }
    (told, texts)
}

/// Makes a layout that of a register, and tells who reads and writes its fields.
fn registers(dice: &mut Dice, layout: &mut Layout, out: &mut Vec<Register>, texts: &mut String) {
    if dice.percent(60) {
        let (name, origin) = (layout.name.to_uppercase(), layout.origin.clone());
        let short = name.replace("_REG", "").replace("REGISTER_", "");
        let known = REGISTERS.iter().position(|r| *r == short).filter(|i| i % 2 == 0);
        let id = 0x4000 + known.unwrap_or(0x20 + out.len()) as u16;
        if !out.iter().any(|r| r.id == id) {
            let _ = writeln!(texts, "register {name} {id:#x}");
            let layout = Some(layout.name.clone());
            out.push(Register { name, id, layout, from: Vec::new(), origin });
        }
    }
    for field in &mut layout.fields {
        if dice.percent(40) {
            field.access = Some(Access::ALL[dice.below(5)]);
        }
        if let (Element::Bits(width @ 2..), Count::One) = (&field.element, field.count)
            && dice.percent(20)
        {
            let most = (1u64 << (*width).min(32)) - 1;
            field.values = vec![
                FieldValue { name: "NONE".into(), value: 0 },
                FieldValue { name: "MOST".into(), value: most },
            ];
        }
        if dice.percent(5) {
            field.when = Some("on AND watt".into());
        }
        let _ =
            writeln!(texts, "{}.{} {:?} {:?}", layout.name, field.name, field.access, field.values);
    }
}

/// Gives the unions that a layout holds a field of it as selector.
fn select(dice: &mut Dice, layout: &mut Layout, unions: &[String], texts: &mut String) {
    let numbers: Vec<String> = layout
        .fields
        .iter()
        .filter(|f| matches!(f.element, Element::Bits(_)))
        .map(|f| f.name.clone())
        .collect();
    for field in &mut layout.fields {
        let Element::Layout(inner) = &field.element else { continue };
        if unions.contains(inner) && !numbers.is_empty() && dice.percent(70) {
            field.selector = Some(numbers[dice.below(numbers.len())].clone());
            let _ = writeln!(texts, "{}.{} by {:?}", layout.name, field.name, field.selector);
        }
    }
}
