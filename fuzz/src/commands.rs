//! Sequences of commands, read from the bytes of a fuzzer.
//!
//! Random bytes are hardly ever a command, let alone one on an object that is there. So a step names
//! a command by number, and what it works on by number, and then spoils some of it:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | what to do: see [`Step::read`] |
//! | 1 | which of the objects; 255 and 254 are handles that no object has |
//! | 2 | its opcode, or the type of a general object; another number counts among those that fit |
//! | 1 | the lower 4 bits: how many patches follow; bit 4: 16 bytes behind the input; bit 5: an input cut to 20 bytes; bit 6: an output of 64 bytes more; bit 7: one of 8 bytes |
//! | 6 each | patches: where in the input, in bytes, and 4 bytes to be written there |
//!
//! Numbers are little-endian, as `arbitrary` reads them; at the end of the bytes all is zero.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use mlx5_devx::record::Method;
use mlx5_devx::{Errno, Handle, Target, TargetKind, Transport};
use mlx5_prm::{CommandDesc, GeneralObjectDesc, Opcode, Verb, families};

/// All commands on objects.
pub static COMMANDS: LazyLock<Vec<&'static CommandDesc>> =
    LazyLock::new(|| families().iter().flat_map(|f| f.commands).copied().collect());

/// All types of general objects.
pub static GENERAL_OBJECTS: LazyLock<Vec<&'static GeneralObjectDesc>> =
    LazyLock::new(|| families().iter().flat_map(|f| f.general_objects).copied().collect());

/// Opcodes of the commands on general objects, of `mlx5_ifc.h`, in the order of the verbs here.
const GENERAL_OPCODES: [(Verb, u16); 3] =
    [(Verb::Create, 0xa00), (Verb::Modify, 0xa01), (Verb::Query, 0xa02)];

/// An object that a step may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// What a transport calls it.
    pub target: Target,
    /// What it is.
    pub kind: Kind,
    /// Its number.
    pub number: u32,
}

impl Object {
    /// One of verbs, whose commands are those of `name`.
    pub fn of_verbs(kind: TargetKind, handle: Handle, name: &'static str, number: u32) -> Self {
        Object { target: Target { kind, handle }, kind: Kind::Named(name), number }
    }
}

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One with commands of its own, by name.
    Named(&'static str),
    /// General objects of this type.
    General(u16),
}

/// What a step calls.
#[derive(Debug, Clone)]
pub struct Step {
    /// The method.
    pub method: Method,
    /// What it is called for; none where the method needs none.
    pub target: Option<Target>,
    /// Which of the objects that is, if it is one.
    pub object: Option<usize>,
    /// What the command makes.
    pub makes: Option<Kind>,
    /// The input.
    pub input: Vec<u8>,
    /// What the output holds before.
    pub output: Vec<u8>,
}

/// What came of a call: the result, and the output.
pub type Outcome = (std::result::Result<Option<Handle>, Errno>, Vec<u8>);

impl Step {
    /// Reads a step; `objects` are those that are there.
    ///
    /// What to do is the first byte modulo 8: create, create of a general object, modify, modify,
    /// query, destroy, general, or any command by any method.
    ///
    /// # Errors
    /// Those of `arbitrary`.
    pub fn read(from: &mut Unstructured<'_>, objects: &[Object]) -> Result<Self> {
        let what = from.arbitrary::<u8>()? % 8;
        let which = from.arbitrary::<u8>()?;
        let choice = usize::from(from.arbitrary::<u16>()?);
        let shape = from.arbitrary::<u8>()?;
        let object = match which {
            _ if objects.is_empty() => None,
            254 | 255 => None,
            which => Some(usize::from(which) % objects.len()),
        };
        let nobody = Handle(if which == 254 { 0 } else { 0x7fff_ffff });
        let nobody = Target { kind: TargetKind::Devx, handle: nobody };
        let of = object.map(|at| objects[at]);
        let method = match what {
            0 | 1 => Method::Create,
            2 | 3 => Method::Modify,
            4 => Method::Query,
            5 => Method::Destroy,
            6 => Method::General,
            _ => [Method::Create, Method::Modify, Method::Query, Method::General]
                [usize::from(which) % 4],
        };
        let mut step = Step {
            method,
            target: method.has_target().then(|| match method {
                // Of a transport's own objects only.
                Method::Destroy => {
                    let handle = of.map_or(nobody, |of| of.target).handle;
                    Target { kind: TargetKind::Devx, handle }
                }
                _ => of.map_or(nobody, |of| of.target),
            }),
            object: object.filter(|_| method.has_target()),
            makes: None,
            input: Vec::new(),
            output: Vec::new(),
        };
        if method == Method::Destroy {
            return Ok(step);
        }
        let output = match (what, of.map(|of| of.kind)) {
            (1, _) => step.general_object(Verb::Create, choice, None),
            (2..=4, Some(Kind::General(obj_type))) => {
                let verb = if what == 4 { Verb::Query } else { Verb::Modify };
                step.general_object(verb, choice, of.map(|of| (obj_type, of.number)))
            }
            _ => step.command(what, choice, of),
        };
        step.spoil(from, shape, output)?;
        Ok(step)
    }

    /// The input of a command that fits; gives the length of its output.
    fn command(&mut self, what: u8, choice: usize, of: Option<Object>) -> usize {
        let fits = |c: &&&'static CommandDesc| {
            let same = of.is_none_or(|of| of.kind == Kind::Named(c.object.name));
            match what {
                0 => c.verb == Verb::Create,
                2 | 3 => c.verb == Verb::Modify && same,
                4 => c.verb == Verb::Query && same,
                6 => c.verb == Verb::Query,
                _ => true,
            }
        };
        let fitting: Vec<_> = COMMANDS.iter().filter(fits).collect();
        let exact = fitting.iter().find(|c| usize::from(c.opcode) == choice);
        let Some(command) = exact.or(fitting.get(choice % fitting.len().max(1))) else {
            // An object that has no such command.
            self.input = vec![0; 16];
            return 16;
        };
        self.input = vec![0; command.input.size];
        self.input[..2].copy_from_slice(&command.opcode.to_be_bytes());
        if command.verb == Verb::Create {
            self.makes = Some(Kind::Named(command.object.name));
        } else if let (Some(place), Some(of)) = (command.number, of) {
            place.write(&mut self.input, of.number.into());
        }
        // Room for a list that the context of the object may have.
        command.output.size.max(16) + if command.output.has_list() { 64 } else { 0 }
    }

    /// The input of a command on a general object; gives the length of its output.
    fn general_object(&mut self, verb: Verb, choice: usize, of: Option<(u16, u32)>) -> usize {
        let exact = GENERAL_OBJECTS.iter().find(|o| usize::from(o.obj_type.0) == choice);
        let known = exact.unwrap_or(&GENERAL_OBJECTS[choice % GENERAL_OBJECTS.len()]);
        let (obj_type, number) = of.unwrap_or((known.obj_type.0, 0));
        let is = GENERAL_OBJECTS.iter().find(|o| o.obj_type.0 == obj_type).unwrap_or(known);
        let (_, opcode) =
            GENERAL_OPCODES.into_iter().find(|(of, _)| *of == verb).unwrap_or(GENERAL_OPCODES[0]);
        // `general_obj_in_cmd_hdr`: opcode, uid, vhca_tunnel_id, obj_type, obj_id.
        let body = if verb == Verb::Query { 0 } else { is.layout.size };
        self.input = vec![0; 16 + body];
        self.input[..2].copy_from_slice(&opcode.to_be_bytes());
        self.input[6..8].copy_from_slice(&obj_type.to_be_bytes());
        self.input[8..12].copy_from_slice(&number.to_be_bytes());
        if verb == Verb::Create {
            self.makes = Some(Kind::General(obj_type));
        }
        16 + if verb == Verb::Query { is.layout.size } else { 0 }
    }

    /// Changes some of the input, and the lengths.
    fn spoil(&mut self, from: &mut Unstructured<'_>, shape: u8, output: usize) -> Result<()> {
        if shape & 0x10 != 0 {
            self.input.resize(self.input.len() + 16, 0);
        }
        if shape & 0x20 != 0 {
            self.input.truncate(20);
        }
        for _ in 0..shape & 0xf {
            let at = usize::from(from.arbitrary::<u16>()?) % self.input.len();
            let bytes = from.arbitrary::<[u8; 4]>()?;
            let end = self.input.len().min(at + 4);
            self.input[at..end].copy_from_slice(&bytes[..end - at]);
        }
        let output = if shape & 0x40 != 0 { output + 64 } else { output };
        self.output = vec![0xa5; if shape & 0x80 != 0 { 8 } else { output }];
        Ok(())
    }

    /// Makes the call.
    pub fn call(&self, transport: &dyn Transport) -> Outcome {
        let mut output = self.output.clone();
        let target = self.target.unwrap_or(Target { kind: TargetKind::Devx, handle: Handle(0) });
        let result = match self.method {
            Method::Create => transport.create(&self.input, &mut output).map(Some),
            Method::Modify => transport.modify(target, &self.input, &mut output).map(|()| None),
            Method::Query => transport.query(target, &self.input, &mut output).map(|()| None),
            Method::Destroy => transport.destroy(target.handle).map(|()| None),
            Method::General => transport.general(&self.input, &mut output).map(|()| None),
        };
        (result, output)
    }

    /// Notes what the call made or ended among the objects that are there.
    pub fn note(&self, (result, output): &Outcome, objects: &mut Vec<Object>) {
        let opcode = mlx5_prm::opcode(&self.input);
        match (self.method, result) {
            (Method::Create, Ok(Some(handle))) => {
                // A patch may have made another command of it.
                let command = opcode.and_then(|opcode| mlx5_prm::command(opcode.0));
                let (kind, number) = match command {
                    Some(command) => {
                        let carrier =
                            if command.verb == Verb::Create { output } else { &self.input };
                        let number = command.number.and_then(|place| place.read(carrier));
                        // The kernel's object is the attachment, which takes no command on the QP.
                        let name = match opcode {
                            Some(Opcode::ATTACH_TO_MCG) => "attachment",
                            _ => command.object.name,
                        };
                        (Kind::Named(name), number.unwrap_or_default() as u32)
                    }
                    None => {
                        let obj_type = u16::from_be_bytes([self.input[6], self.input[7]]);
                        let id = output[8..12].try_into().expect("4 bytes");
                        (Kind::General(obj_type), u32::from_be_bytes(id))
                    }
                };
                let target = Target { kind: TargetKind::Devx, handle: *handle };
                objects.push(Object { target, kind, number });
            }
            (Method::Destroy, Ok(_)) => {
                if let Some(object) = self.object {
                    objects.remove(object);
                }
            }
            _ => {}
        }
    }
}
