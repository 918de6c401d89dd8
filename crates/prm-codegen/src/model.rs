//! The model: what the tables say, free of how it was written down.

use crate::fault::Origin;

/// Everything that `prm-spec` says.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// Families, in the order of `families.toml`.
    pub families: Vec<Family>,
    /// Layouts, family by family, in the order of their sources.
    pub layouts: Vec<Layout>,
    /// Enumerations of the headers, in the order of their sources.
    pub enums: Vec<Enumeration>,
    /// Registers that ACCESS_REG reaches, by id.
    pub registers: Vec<Register>,
    /// Second names of layouts.
    pub aliases: Vec<Alias>,
    /// What sources say otherwise than the layouts do.
    pub conflicts: Vec<Conflict>,
    /// Where facts are from, the leading source first.
    pub sources: Vec<Source>,
    /// What was ruled by hand about them.
    pub rulings: Rulings,
    /// The meaning of layouts, from `semantics/`.
    pub semantics: Semantics,
    /// What layouts, fields and commands are, in words.
    pub words: Words,
    /// Examples of how layouts are used.
    pub examples: Vec<Example>,
}

/// An example of how a layout is used: Rust that the documentation shows and tests.
#[derive(Debug, Clone)]
pub struct Example {
    /// The layout.
    pub layout: String,
    /// The code.
    pub code: String,
    /// Where it is written.
    pub origin: Origin,
}

impl Spec {
    /// The layout called `name`.
    pub fn layout(&self, name: &str) -> Option<&Layout> {
        self.layouts.iter().find(|l| l.name == name)
    }

    /// Every field that fits `pattern`, which is `layout.field` with `*` in either; with its path.
    pub fn fields_like<'s>(
        &'s self,
        pattern: &'s str,
    ) -> impl Iterator<Item = (String, &'s Field)> {
        let (layout, field) = pattern.split_once('.').unwrap_or((pattern, ""));
        self.layouts.iter().filter(move |l| matches(layout, &l.name)).flat_map(move |l| {
            let fields = l.fields.iter().filter(move |f| matches(field, &f.name));
            fields.map(move |f| (format!("{}.{}", l.name, f.name), f))
        })
    }

    /// The field at the end of `path` (names with dots between) in `layout`, and its first bit
    /// counted from the start of `layout`.
    pub fn resolve(&self, layout: &str, path: &str) -> Option<(u32, &Field)> {
        let mut layout = self.layout(layout)?;
        let mut start = 0u32;
        let mut names = path.split('.').peekable();
        loop {
            let field = layout.field(names.next()?)?;
            start = start.checked_add(field.bit)?;
            if names.peek().is_none() {
                return Some((start, field));
            }
            let Element::Layout(inner) = &field.element else { return None };
            layout = self.layout(inner)?;
        }
    }

    /// [`Spec::resolve`] for a path that begins with the name of its layout.
    pub fn resolve_full(&self, path: &str) -> Option<(u32, &Field)> {
        let (layout, rest) = path.split_once('.')?;
        self.resolve(layout, rest)
    }

    /// The layout and the field that the last name of a full path stands for.
    pub fn leaf(&self, path: &str) -> Option<(&Layout, &Field)> {
        let (above, last) = path.rsplit_once('.')?;
        let layout = match self.resolve_full(above) {
            Some((_, Field { element: Element::Layout(inner), .. })) => self.layout(inner)?,
            Some(_) => return None,
            None => self.layout(above)?,
        };
        Some((layout, layout.field(last)?))
    }

    /// Bits of one element; `None` for a layout that is not there.
    pub fn element_bits(&self, element: &Element) -> Option<u32> {
        match element {
            Element::Bits(width) => Some(*width),
            Element::Layout(name) => self.layout(name).map(|l| l.bytes * 8),
        }
    }

    /// Bits that a field takes in its layout: none for a list.
    pub fn field_bits(&self, field: &Field) -> Option<u64> {
        let element = u64::from(self.element_bits(&field.element)?);
        Some(match field.count {
            Count::One => element,
            Count::Array(n) => element * u64::from(n),
            Count::List => 0,
        })
    }
}

/// Whether `name` fits `pattern`, in which `*` stands for any run of characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(name) = name.strip_prefix(head).and_then(|n| n.strip_suffix(tail)) else {
        return false;
    };
    // The first place of each part between stars leaves the most for those after it.
    let left = middle.split('*').try_fold(name, |name, part| Some(name.split_once(part)?.1));
    left.is_some()
}

/// A group of layouts that belong to one kind of object: one table file, one module, one feature.
#[derive(Debug, Clone)]
pub struct Family {
    /// Its name, that of the file, the module and the cargo feature.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// The layouts it takes: names with `*` for any run of characters.
    pub takes: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// Whether members follow each other or share one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Members follow each other.
    Struct,
    /// Members share one place.
    Union,
}

/// One layout of the PRM.
#[derive(Debug, Clone)]
pub struct Layout {
    /// PRM name, such as `cqc`.
    pub name: String,
    /// Struct or union.
    pub kind: Kind,
    /// Bytes, without a list of open length at its end.
    pub bytes: u32,
    /// The fields that are not reserved, by position.
    pub fields: Vec<Field>,
    /// The family it belongs to.
    pub family: String,
    /// The sources that describe it, the leading one first.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

impl Layout {
    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// What it is as a whole, such as `struct of 0x40 bytes`.
    pub fn extent(&self) -> String {
        let kind = if self.kind == Kind::Union { "union" } else { "struct" };
        format!("{kind} of 0x{:02x} bytes", self.bytes)
    }
}

/// One field of a layout.
#[derive(Debug, Clone)]
pub struct Field {
    /// PRM name.
    pub name: String,
    /// Its first (most significant) bit, counted from the start of the layout.
    pub bit: u32,
    /// What one element of it is.
    pub element: Element,
    /// How many elements there are.
    pub count: Count,
    /// The name of the field whose place it shares, in an unnamed union.
    pub overlays: Option<String>,
    /// Who may read and write it: known of fields of registers.
    pub access: Option<Access>,
    /// Names of its values, where its source has them beside the field.
    pub values: Vec<FieldValue>,
    /// For a union: the field of the same layout whose value tells which member counts.
    pub selector: Option<String>,
    /// For a member of a union: the value of the selector, or the condition, under which it counts.
    pub when: Option<String>,
    /// The sources that describe it; empty where they are those of its layout.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

impl Field {
    /// Where it lies and what it is, in short: `0x0c 28:24`, `0x10 cqc`, `0x110 width 64 []`.
    pub fn place(&self) -> String {
        let (dword, within) = (self.bit / 32 * 4, self.bit % 32);
        let mut text = match &self.element {
            Element::Bits(width) if within + width <= 32 && *width > 0 => {
                format!("0x{dword:02x} {}:{}", 31 - within, 32 - within - width)
            }
            Element::Bits(width) => format!("0x{:02x} width {width}", self.bit / 8),
            Element::Layout(name) => format!("0x{:02x} {name}", self.bit / 8),
        };
        match self.count {
            Count::One => {}
            Count::Array(n) => text.push_str(&format!(" [{n}]")),
            Count::List => text.push_str(" []"),
        }
        text
    }
}

/// Who may read and write a field of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Ro,
    /// Read and written.
    Rw,
    /// Written only.
    Wo,
    /// Written to make something happen.
    Op,
    /// Written to say which of several registers is meant.
    Index,
}

impl Access {
    /// Every access.
    pub const ALL: [Access; 5] = [Access::Ro, Access::Rw, Access::Wo, Access::Op, Access::Index];

    /// Its name in the tables and in the databases.
    pub fn name(self) -> &'static str {
        match self {
            Access::Ro => "RO",
            Access::Rw => "RW",
            Access::Wo => "WO",
            Access::Op => "OP",
            Access::Index => "INDEX",
        }
    }
}

/// A named value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldValue {
    /// Name.
    pub name: String,
    /// Number.
    pub value: u64,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// A number of so many bits.
    Bits(u32),
    /// Another layout, by name.
    Layout(String),
}

/// How often a field's element is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Once: no array.
    One,
    /// An array of so many.
    Array(u32),
    /// A list of open length, to the end of the mailbox.
    List,
}

/// An enumeration of a header.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// Its C tag, or the common beginning of its values where it has none.
    pub name: String,
    /// Its values, as C names them.
    pub values: Vec<EnumValue>,
    /// The sources that have it, the leading one first.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// One value of an enumeration.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// Name.
    pub name: String,
    /// Number.
    pub value: i64,
    /// The sources that have it; empty where they are those of its enumeration.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// A register that ACCESS_REG reaches.
#[derive(Debug, Clone)]
pub struct Register {
    /// Name, such as `PTYS`.
    pub name: String,
    /// Its id.
    pub id: u16,
    /// Its layout, where a source has it.
    pub layout: Option<String>,
    /// The sources that name it, the leading one first.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// A second name of a layout.
#[derive(Debug, Clone)]
pub struct Alias {
    /// The name that is not generated.
    pub name: String,
    /// The layout it is.
    pub of: String,
    /// The sources that have it.
    pub from: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// What a source says otherwise than the tables do.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// What it is about: `layout.field`, a layout, an enumerator or a register.
    pub at: String,
    /// What the tables say, which is what is generated.
    pub ours: String,
    /// What the sources say.
    pub theirs: String,
    /// The sources.
    pub from: Vec<String>,
    /// Why ours is generated.
    pub why: String,
    /// Where it is written.
    pub origin: Origin,
}

/// Where facts are from. The order of the sources is their rank.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name in the tables, such as `v7.3` for a version of Linux.
    pub name: String,
    /// The Debian package or the repository.
    pub package: String,
    /// Its version or commit.
    pub version: String,
    /// The files, each after those whose structs it uses.
    pub files: Vec<SourceEntry>,
    /// Where it is written.
    pub origin: Origin,
}

/// One file of a source.
#[derive(Debug, Clone)]
pub struct SourceEntry {
    /// Its path in the package or repository.
    pub path: String,
    /// Its SHA-256, in hexadecimal, where it is checked.
    pub sha256: Option<String>,
    /// Beginnings of the enumerators that are taken; empty: everything is.
    pub takes: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// What was ruled by hand about sources.
#[derive(Debug, Clone, Default)]
pub struct Rulings {
    /// Second names of layouts that no rule finds.
    pub aliases: Vec<NamePair>,
    /// Names that a rule would take for one layout, and that are two.
    pub distinct: Vec<NamePair>,
    /// Layouts of registers that no rule finds.
    pub registers: Vec<NamePair>,
    /// Why ours stands in a conflict.
    pub reasons: Vec<Reason>,
}

/// A name, and the layout that it means.
#[derive(Debug, Clone)]
pub struct NamePair {
    /// The name.
    pub name: String,
    /// The layout.
    pub of: String,
    /// Where it is written.
    pub origin: Origin,
}

/// Why the reading that is generated stands.
#[derive(Debug, Clone)]
pub struct Reason {
    /// What it is about, as [`Conflict::at`]; `*` stands for any run of characters.
    pub at: String,
    /// The source that says otherwise; any where absent.
    pub from: Option<String>,
    /// Why.
    pub why: String,
    /// Where it is written.
    pub origin: Origin,
}

/// What layouts mean.
#[derive(Debug, Clone, Default)]
pub struct Semantics {
    /// Kinds of objects.
    pub objects: Vec<Object>,
    /// Commands.
    pub commands: Vec<Command>,
    /// Numbers of objects.
    pub numbers: Vec<Number>,
    /// Enumerations that belong to fields.
    pub enums: Vec<BoundEnum>,
    /// Sets of flags that belong to fields: their values are masks.
    pub flags: Vec<BoundEnum>,
    /// Enumerators of the headers that belong to no field.
    pub unbound: Vec<Unbound>,
    /// Select masks.
    pub selects: Vec<Select>,
    /// State transitions.
    pub transitions: Vec<Transition>,
    /// General objects.
    pub general_objects: Vec<GeneralObject>,
    /// Capability pages.
    pub capabilities: Vec<Capability>,
    /// Mailboxes of opcodes that are not called as the opcode is, and opcodes without them.
    pub opcodes: Vec<OpcodeNote>,
    /// Syndromes that were explained in public, in the order of their file.
    pub syndromes: Vec<Syndrome>,
}

impl Semantics {
    /// Whether a select mask is the one of QP transitions.
    pub fn is_of_transitions(&self, select: &Select) -> bool {
        select.name == "qp_opt_param"
    }
}

/// A syndrome of a refused command that somebody explained in public. Nothing is generated from it:
/// the `prm` command reads the table itself.
#[derive(Debug, Clone)]
pub struct Syndrome {
    /// The number that the firmware tells.
    pub number: u32,
    /// The commands it was seen with, as written: names with blanks between, patterns, or opcodes.
    pub command: String,
    /// Their `op_mod`.
    pub op_mod: Option<u16>,
    /// The status beside it: the kernel's words.
    pub status: Option<String>,
    /// The status beside it: its number.
    pub status_number: Option<u8>,
    /// How sure it is.
    pub certainty: String,
    /// Keys that hold words, those that are there.
    pub words: Vec<(&'static str, String, Origin)>,
    /// Where its number, command, status and certainty are written.
    pub places: SyndromePlaces,
    /// Where it is written.
    pub origin: Origin,
}

/// Where parts of a [`Syndrome`] are written.
#[derive(Debug, Clone)]
pub struct SyndromePlaces {
    /// Its number.
    pub number: Origin,
    /// The words of its status.
    pub status: Origin,
    /// The number of its status.
    pub status_number: Origin,
    /// Its certainty.
    pub certainty: Origin,
}

/// What is said by hand of an opcode: its mailboxes, or why it has none.
#[derive(Debug, Clone)]
pub struct OpcodeNote {
    /// Name of the opcode, without `MLX5_CMD_OP_`.
    pub name: String,
    /// Input layout.
    pub input: Option<String>,
    /// Output layout.
    pub output: Option<String>,
    /// Why a mailbox is missing.
    pub why: Option<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// A kind of object that commands work on.
#[derive(Debug, Clone)]
pub struct Object {
    /// Name, such as `cq`.
    pub name: String,
    /// What the PRM calls its number, such as `CQN`; none where there is one such object at most.
    pub number: Option<String>,
    /// The layout of its context, where it has one.
    pub context: Option<String>,
    /// One line about it.
    pub about: String,
    /// Where it is written.
    pub origin: Origin,
}

/// A type of general object.
#[derive(Debug, Clone)]
pub struct GeneralObject {
    /// Name, such as `encryption_key`.
    pub name: String,
    /// Its `obj_type`.
    pub number: u16,
    /// What lies behind the header of its commands, or why that is not known.
    pub layout: Result<String, String>,
    /// One line about it.
    pub about: String,
    /// Where it is written.
    pub origin: Origin,
}

/// A page of capabilities that QUERY_HCA_CAP gives.
#[derive(Debug, Clone)]
pub struct Capability {
    /// Name, such as `roce`.
    pub name: String,
    /// The number that selects it: `op_mod` without its last bit.
    pub selector: u16,
    /// Its layout, or why that is not known.
    pub layout: Result<String, String>,
    /// One line about it.
    pub about: String,
    /// Where it is written.
    pub origin: Origin,
}

/// What a command does to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Makes it.
    Create,
    /// Changes it.
    Modify,
    /// Reads it.
    Query,
    /// Ends it.
    Destroy,
}

impl Verb {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Modify => "modify",
            Verb::Query => "query",
            Verb::Destroy => "destroy",
        }
    }
}

/// One command.
#[derive(Debug, Clone)]
pub struct Command {
    /// Name without prefix, such as `MODIFY_CQ`.
    pub name: String,
    /// Opcode.
    pub opcode: u16,
    /// Input layout.
    pub input: String,
    /// Output layout.
    pub output: String,
    /// What it does.
    pub verb: Verb,
    /// The object it does it to.
    pub object: String,
    /// The field that carries the object's number, where it has one: in the output of a create,
    /// else in the input.
    pub number: Option<String>,
    /// The field that holds the object's context, where the command carries one:
    /// in the output of a query, else in the input.
    pub context: Option<String>,
    /// One line about it.
    pub about: String,
    /// Where it is written.
    pub origin: Origin,
}

/// The number of a kind of objects.
#[derive(Debug, Clone)]
pub struct Number {
    /// Name, such as `cqn`.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// One line about it.
    pub about: String,
    /// The fields that hold it, as `layout.field`; `*` stands for any run of characters.
    pub fields: Vec<(String, Origin)>,
    /// Where it is written.
    pub origin: Origin,
}

/// Enumerators of the headers that belong to no field.
#[derive(Debug, Clone)]
pub struct Unbound {
    /// Their names; `*` stands for any run of characters.
    pub names: Vec<(String, Origin)>,
    /// Why.
    pub why: String,
    /// Where it is written.
    pub origin: Origin,
}

/// An enumeration, or a set of flags, that belongs to fields.
#[derive(Debug, Clone)]
pub struct BoundEnum {
    /// Name, such as `qp_state`.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Its values, by our names. Those of flags are masks.
    pub values: Vec<EnumValue>,
    /// Values to be taken from the enumerations of the headers: their common beginning.
    pub prefix: Option<String>,
    /// The enumerators of the headers that `values` stands for.
    pub of: Vec<(String, Origin)>,
    /// Names after the prefix that are no values: limits and the like.
    pub except: Vec<String>,
    /// The fields it belongs to, as `layout.field`; `*` stands for any run of characters.
    pub fields: Vec<(String, Origin)>,
    /// Where it is written.
    pub origin: Origin,
}

/// What layouts, fields and commands are, in words.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// Of layouts and their fields.
    pub layouts: Vec<LayoutWords>,
    /// Of commands: name and words.
    pub commands: Vec<CommandWords>,
}

impl Words {
    /// The words of a layout as a whole.
    pub fn layout(&self, name: &str) -> Option<&str> {
        self.best(name, |words| words.about.as_deref())
    }

    /// The words of a field.
    pub fn field(&self, layout: &str, field: &str) -> Option<&FieldWords> {
        self.best(layout, |words| words.fields.iter().find(|f| f.name == field))
    }

    /// The words of a command.
    pub fn command(&self, name: &str) -> Option<&str> {
        self.commands.iter().find(|c| c.name == name).map(|c| &*c.about)
    }

    /// What `get` finds: in the entry of the layout itself, else in that of the longest pattern.
    fn best<'w, T>(
        &'w self,
        layout: &str,
        get: impl Fn(&'w LayoutWords) -> Option<T>,
    ) -> Option<T> {
        let fits = self.layouts.iter().filter(|w| matches(&w.layout, layout));
        fits.filter_map(|w| Some((w.layout == layout, w.layout.len(), get(w)?)))
            .max_by_key(|(own, len, _)| (*own, *len))
            .map(|(.., words)| words)
    }
}

/// Words of a layout, or of all that a pattern takes.
#[derive(Debug, Clone)]
pub struct LayoutWords {
    /// The layout; `*` stands for any run of characters.
    pub layout: String,
    /// One line about it.
    pub about: Option<String>,
    /// Its fields.
    pub fields: Vec<FieldWords>,
    /// Where it is written.
    pub origin: Origin,
}

/// Words of a field.
#[derive(Debug, Clone)]
pub struct FieldWords {
    /// The field.
    pub name: String,
    /// What it means.
    pub about: String,
    /// In what it counts.
    pub unit: Option<String>,
    /// Its values, where not all that fit.
    pub range: Option<String>,
    /// The capability that gates or bounds it, as `layout.field`.
    pub cap: Option<String>,
    /// Whether no more than its name tells so.
    pub unsure: bool,
    /// Where it is written.
    pub origin: Origin,
}

impl FieldWords {
    /// All of it in one line.
    pub fn line(&self) -> String {
        let mut line = self.about.clone();
        if let Some(unit) = &self.unit {
            line.push_str(&format!(" Unit: {unit}."));
        }
        if let Some(range) = &self.range {
            line.push_str(&format!(" Range: {range}."));
        }
        if let Some(cap) = &self.cap {
            line.push_str(&format!(" Capability: {cap}."));
        }
        if self.unsure {
            line.push_str(" By its name only: no public text says more.");
        }
        line
    }
}

/// Words of a command.
#[derive(Debug, Clone)]
pub struct CommandWords {
    /// The command.
    pub name: String,
    /// What it does.
    pub about: String,
    /// Where it is written.
    pub origin: Origin,
}

/// A mask whose bits say which fields of a modify command count.
#[derive(Debug, Clone)]
pub struct Select {
    /// Name of the mask's type, such as `modify_cq_select`.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// The fields that hold it, as `layout.path`: one for each command that has it.
    pub masks: Vec<(String, Origin)>,
    /// The `op_mod` of the commands under which it counts.
    pub op_mod: u16,
    /// The field of the input, and its value, under which it counts; whatever it holds when absent.
    pub when: Option<(String, u32)>,
    /// Fields of the input that count whatever the mask says.
    pub always: Vec<String>,
    /// Its bits.
    pub bits: Vec<SelectBit>,
    /// Where it is written.
    pub origin: Origin,
}

/// One bit of a select mask.
#[derive(Debug, Clone)]
pub struct SelectBit {
    /// Number of the bit, 0 the least significant.
    pub bit: u32,
    /// Name.
    pub name: String,
    /// The fields it selects: paths in the command's input.
    pub fields: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
}

/// A command that moves a QP from one state to another.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The command.
    pub command: String,
    /// States it starts from (values of `qp_state`); empty: any.
    pub from: Vec<String>,
    /// The state it leads to.
    pub to: String,
    /// The transport services (values of `qp_st`) that it exists for.
    pub services: Vec<String>,
    /// Fields of its input that count.
    pub fields: Vec<TransitionField>,
    /// The public sources that say so.
    pub source: String,
    /// Where it is written.
    pub origin: Origin,
}

/// A field that a transition takes.
#[derive(Debug, Clone)]
pub struct TransitionField {
    /// Path in the command's input.
    pub path: String,
    /// Services for which it has to be given.
    pub requires: Vec<String>,
    /// Services for which it may be given, and is taken whatever the mask says.
    pub takes: Vec<String>,
    /// Services for which the mask may select it.
    pub admits: Vec<String>,
    /// The bit of `qp_opt_param` that selects it.
    pub bit: Option<String>,
    /// Whether zero is no legal value, so that a zero is a field that was not given.
    pub nonzero: bool,
    /// Where it is written.
    pub origin: Origin,
}
