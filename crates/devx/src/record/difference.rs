//! Where two requests differ, in the words of the PRM.

use mlx5_prm::{Element, FieldDesc, LayoutDesc, ObjectType, Opcode};

use super::call::{Request, target_text};

/// One thing that differs between a request and the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `method`, `object`, `opcode`, `length of the input`, `length of the output`; a path of
    /// fields in the input by PRM name, such as `cq_context.cq_period`; or, where no field is
    /// known, bytes of the input, such as `bytes 0x14..0x18`.
    pub what: String,
    /// What the recording has.
    pub recorded: String,
    /// What the request has.
    pub now: String,
}

/// All differences. `same_object` says whether the handles may stand for one object.
pub(crate) fn differences(
    recorded: &Request<'_>,
    now: &Request<'_>,
    same_object: bool,
) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut tell = |what: &str, recorded: String, now: String| {
        if recorded != now {
            all.push(Difference { what: what.to_owned(), recorded, now });
        }
    };
    tell("method", recorded.method.word().to_owned(), now.method.word().to_owned());
    if !same_object {
        let text = |request: &Request<'_>| request.target.map_or("none".to_owned(), target_text);
        let (was, mut is) = (text(recorded), text(now));
        if was == is {
            is += ", which stood for another object before";
        }
        tell("object", was, is);
    }
    let bytes = |len: usize| format!("{len} bytes");
    tell("length of the input", bytes(recorded.input.len()), bytes(now.input.len()));
    tell("length of the output", bytes(recorded.output_len), bytes(now.output_len));
    let opcodes = [recorded, now].map(|request| mlx5_prm::opcode(request.input));
    if opcodes[0] == opcodes[1] {
        Inputs::new(recorded, now).differences(&mut all);
    } else {
        // Fields of one command say nothing about another.
        let [was, is] = opcodes.map(|opcode| {
            let name = opcode.and_then(Opcode::name).unwrap_or("command");
            opcode.map_or("none".to_owned(), |opcode| format!("{name}({:#x})", opcode.0))
        });
        tell("opcode", was, is);
    }
    all
}

/// Two inputs of one command, zeros behind the shorter.
struct Inputs {
    recorded: Vec<u8>,
    now: Vec<u8>,
    /// Bits that differ and are not told yet.
    untold: Vec<u8>,
}

/// The header of general objects and of ACCESS_REG, behind which a layout of its own begins.
const INNER: usize = 16;

impl Inputs {
    fn new(recorded: &Request<'_>, now: &Request<'_>) -> Self {
        let [mut was, mut is] = [recorded, now].map(Request::compared_input);
        let len = was.len().max(is.len());
        was.resize(len, 0);
        is.resize(len, 0);
        let untold = was.iter().zip(&is).map(|(a, b)| a ^ b).collect();
        Inputs { recorded: was, now: is, untold }
    }

    fn differences(mut self, all: &mut Vec<Difference>) {
        let opcode = mlx5_prm::opcode(&self.now).unwrap_or_default();
        let len = self.now.len();
        if let Some(inner) = inner_layout(opcode, &self.now, &self.recorded)
            && len > INNER
        {
            self.fields(inner, inner.name, INNER..len, all);
        }
        if let Some(layout) = input_layout(opcode) {
            self.fields(layout, "", 0..self.now.len(), all);
        }
        self.rest(all);
    }

    /// Tells the fields of a layout at `range` that differ, and marks them as told.
    fn fields(
        &mut self,
        layout: &'static LayoutDesc,
        path: &str,
        range: std::ops::Range<usize>,
        all: &mut Vec<Difference>,
    ) {
        let (from, to) = (range.start, range.end.min(self.now.len()));
        let len = to.saturating_sub(from);
        for field in layout.fields {
            for index in 0..field.elements(len) {
                let bit = from * 8 + field.bit_of(index);
                let width = field.width() as usize;
                let nested = matches!(field.element, Element::Layout(_));
                if nested {
                    self.nested(layout, field, index, path, from..to, all);
                    continue;
                }
                if !self.is_untold(bit, width) {
                    continue;
                }
                let text = |bytes: &[u8]| {
                    let bytes = &bytes[from..to];
                    let number = field.read(bytes, index);
                    number.map_or_else(
                        || format!("0x{}", hex(layout.part(field, bytes, index))),
                        |number| number_text(field, number),
                    )
                };
                let (recorded, now) = (text(&self.recorded), text(&self.now));
                all.push(Difference { what: name(path, field, index), recorded, now });
                self.told(bit, width);
            }
        }
    }

    fn nested(
        &mut self,
        layout: &'static LayoutDesc,
        field: &'static FieldDesc,
        index: usize,
        path: &str,
        range: std::ops::Range<usize>,
        all: &mut Vec<Difference>,
    ) {
        let Element::Layout(inner) = field.element else { return };
        // Its length says where a list at its end may go to.
        let part = layout.part(field, &self.now[range.clone()], index).len();
        let start = range.start + field.bit_of(index) / 8;
        let end = (start + part).min(range.end);
        if start < end && self.untold[start..end].iter().any(|byte| *byte != 0) {
            self.fields(inner, &name(path, field, index), start..end, all);
        }
    }

    fn bits_of(&self, bit: usize, width: usize) -> std::ops::Range<usize> {
        bit..(bit + width).min(self.untold.len() * 8)
    }

    fn is_untold(&self, bit: usize, width: usize) -> bool {
        self.bits_of(bit, width).any(|bit| self.untold[bit / 8] & (0x80 >> (bit % 8)) != 0)
    }

    fn told(&mut self, bit: usize, width: usize) {
        for bit in self.bits_of(bit, width) {
            self.untold[bit / 8] &= !(0x80 >> (bit % 8));
        }
    }

    /// Tells what belongs to no known field: runs of dwords.
    fn rest(&self, all: &mut Vec<Difference>) {
        let differs = |dword: &[u8]| dword.iter().any(|byte| *byte != 0);
        let mut at = 0;
        while at < self.untold.len() {
            let run: usize =
                self.untold[at..].chunks(4).take_while(|d| differs(d)).map(<[u8]>::len).sum();
            if run > 0 {
                all.push(Difference {
                    what: format!("bytes {at:#x}..{:#x}", at + run),
                    recorded: hex(&self.recorded[at..at + run]),
                    now: hex(&self.now[at..at + run]),
                });
            }
            at += run.max(4);
        }
    }
}

/// The layout of a command's input, in the families that are compiled in.
fn input_layout(opcode: Opcode) -> Option<&'static LayoutDesc> {
    let known = mlx5_prm::command(opcode.0).map(|command| command.input);
    known.or_else(|| {
        let name = opcode.name()?.to_ascii_lowercase();
        mlx5_prm::layout_desc(&format!("{name}_in"))
    })
}

/// The layout behind the header: a general object, or a register. Both inputs must have the same.
fn inner_layout(opcode: Opcode, now: &[u8], recorded: &[u8]) -> Option<&'static LayoutDesc> {
    let number = |at: usize| {
        let read = |bytes: &[u8]| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        read(now).filter(|number| read(recorded) == Some(*number))
    };
    match opcode {
        // obj_type of general_obj_in_cmd_hdr.
        Opcode::CREATE_GENERAL_OBJECT | Opcode::MODIFY_GENERAL_OBJECT => {
            mlx5_prm::general_object(ObjectType(number(6)?)).map(|object| object.layout)
        }
        // register_id of access_register_in.
        Opcode::ACCESS_REG => mlx5_prm::register(number(10)?).map(|register| register.layout),
        _ => None,
    }
}

fn name(path: &str, field: &FieldDesc, index: usize) -> String {
    let mut name = path.to_owned();
    if !name.is_empty() {
        name.push('.');
    }
    name += field.name;
    if field.count != mlx5_prm::Count::One {
        name += &format!("[{index}]");
    }
    name
}

fn number_text(field: &FieldDesc, number: u128) -> String {
    let names = match field.element {
        Element::Enum(names) => names.name_of(number).unwrap_or_default().to_owned(),
        Element::Flags(flags) => flags.names_of(number).0.collect::<Vec<_>>().join(" | "),
        _ => String::new(),
    };
    if names.is_empty() { format!("{number:#x}") } else { format!("{number:#x} ({names})") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
