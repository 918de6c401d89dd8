//! What a mailbox is: the layouts that it is made of, and which members of unions count in it.

use mlx5_prm::{Count, Element, FieldDesc, Kind, LayoutDesc, ObjectType, Opcode, Status};

use crate::names;

/// A mailbox as layouts, each after the other.
#[derive(Debug, Clone)]
pub(crate) struct View {
    parts: Vec<&'static LayoutDesc>,
    /// `op_mod` of the command, which says the members of some unions that count.
    op_mod: Option<u16>,
}

/// A layout in a mailbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'b> {
    pub(crate) layout: &'static LayoutDesc,
    /// Where it begins.
    pub(crate) at: usize,
    /// From there on, as far as it goes: with its list, if it has one and is the last.
    pub(crate) bytes: &'b [u8],
}

/// Which mailbox of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Input,
    Output,
}

impl Direction {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Direction::Input => "input",
            Direction::Output => "output",
        }
    }
}

/// What is known of the command whose output is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) opcode: u16,
    pub(crate) op_mod: Option<u16>,
    /// Of ACCESS_REG.
    pub(crate) register: Option<u16>,
    /// Of the commands on general objects.
    pub(crate) object: Option<u16>,
}

impl Request {
    /// One of which the opcode is all that is known.
    pub(crate) const fn unknown(opcode: u16) -> Self {
        Request { opcode, op_mod: None, register: None, object: None }
    }

    /// What an input says of its command; `None` when it is too short to name one.
    pub(crate) fn of(input: &[u8]) -> Option<Self> {
        let word =
            |at: usize| input.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        let opcode = word(0)?;
        Some(Request {
            opcode,
            op_mod: word(6),
            register: word(10).filter(|_| opcode == Opcode::ACCESS_REG.0),
            object: word(6).filter(|_| names::general_verb(Opcode(opcode)).is_some()),
        })
    }

    /// The status and the syndrome of a mailbox that can only be an output: where an input has its opcode and
    /// its uid there is nothing but a status, and what an input has no field for is set.
    pub(crate) fn refused(bytes: &[u8]) -> Option<(&'static str, u32)> {
        let head: &[u8; 8] = bytes.first_chunk()?;
        let [status, 0, 0, 0, rest @ ..] = *head else { return None };
        let name = Status(status).name().filter(|_| status != 0)?;
        // A command on a general object for another function has the number of its tunnel there; it is longer
        // than an output that was refused, and of a type that is known.
        let is_command = || {
            let view = View::of_input(bytes).filter(|view| view.size() > 16);
            view.is_some_and(|view| {
                let mut reserved = view.parts[0].reserved_set(bytes);
                view.is_whole(bytes.len()) && reserved.next().is_none_or(|(at, _)| at != 4)
            })
        };
        (rest[..2] != [0, 0] && !is_command()).then(|| (name, u32::from_be_bytes(rest)))
    }

    /// Whether a mailbox of which nothing is said can only be an output: one that was refused, or of a
    /// command that is done, as no opcode is 0.
    pub(crate) fn is_output(bytes: &[u8]) -> bool {
        matches!(bytes, [0, 0, 0, 0, ..]) || Request::refused(bytes).is_some()
    }

    /// What an opcode is called that has no name.
    pub(crate) const UNKNOWN: &str = "unknown opcode";

    /// `MODIFY_CQ(0x403)`, as the kernel writes it.
    pub(crate) fn name(self) -> String {
        let name = names::opcode_name(self.opcode).unwrap_or(Self::UNKNOWN);
        format!("{name}({:#x})", self.opcode)
    }
}

impl View {
    /// One layout, whatever it is in.
    pub(crate) fn of_layout(layout: &'static LayoutDesc, bytes: &[u8]) -> Self {
        let is_input = layout.field("opcode").is_some();
        let op_mod = is_input.then(|| Request::of(bytes)).flatten().and_then(|r| r.op_mod);
        View { parts: vec![layout], op_mod }
    }

    /// Several, each after the other.
    pub(crate) fn of_layouts(parts: Vec<&'static LayoutDesc>, op_mod: Option<u16>) -> Self {
        View { parts, op_mod }
    }

    /// The input of a command, by its opcode; `None` when no layout is known for that.
    pub(crate) fn of_input(input: &[u8]) -> Option<Self> {
        let request = Request::of(input)?;
        let parts = request.parts(Direction::Input)?;
        Some(View { parts, op_mod: request.op_mod })
    }

    /// The output of a command.
    pub(crate) fn of_output(request: Request) -> Option<Self> {
        Some(View { parts: request.parts(Direction::Output)?, op_mod: request.op_mod })
    }

    /// The layouts.
    pub(crate) fn layouts(&self) -> &[&'static LayoutDesc] {
        &self.parts
    }

    /// Bytes of all layouts, without a list at the end.
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|layout| layout.size).sum()
    }

    /// The layouts and their bytes. What is beyond the end of the mailbox is left out: all of a part, or
    /// its end.
    pub(crate) fn parts<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = Part<'b>> {
        let last = self.parts.len() - 1;
        let mut at = 0;
        self.parts.iter().enumerate().map_while(move |(i, layout)| {
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty() || at == 0)?;
            let own = if i == last { rest } else { &rest[..layout.size.min(rest.len())] };
            let part = Part { layout, at, bytes: own };
            at += layout.size;
            Some(part)
        })
    }

    /// The fewest bytes that it may have: at its end there may be a union of which one member is a list alone,
    /// such as that of QUERY_QP, whose pages may have an extension before them.
    pub(crate) fn least(&self) -> usize {
        self.size() - self.list_at_end().map_or(0, |(size, _)| size)
    }

    /// Whether so many bytes are the whole of it: all layouts, or up to a list at the end whose elements are
    /// whole.
    pub(crate) fn is_whole(&self, len: usize) -> bool {
        let list = || {
            let (size, element) = self.list_at_end()?;
            Some(len.checked_sub(self.size() - size)?.is_multiple_of(element))
        };
        len >= self.size() || list().unwrap_or(false)
    }

    /// Of a union at the end of which one member is a list alone: its bytes, and those of an element.
    fn list_at_end(&self) -> Option<(usize, usize)> {
        let last = self.parts.last()?;
        let mut fields = last.fields.iter().filter(|f| f.count == Count::One);
        let end = fields.find(|f| (f.bit() + f.width()) as usize == last.size * 8)?;
        let Element::Layout(inner) = end.element else { return None };
        Some((inner.size, list_alone(inner)?))
    }

    /// Whether `op_mod` says which member of a union counts, and it is not known, or is that of no member.
    pub(crate) fn is_open(&self, union: &LayoutDesc) -> bool {
        let decides = |op_mod| union.fields.iter().any(|member| !union.counts(member, op_mod));
        decides(0) && !self.op_mod.is_some_and(decides)
    }

    /// `op_mod` of the command, when it is known.
    pub(crate) fn op_mod(&self) -> Option<u16> {
        self.op_mod
    }

    /// Whether a member of a union counts.
    pub(crate) fn counts(&self, union: &LayoutDesc, member: &FieldDesc) -> bool {
        self.op_mod.is_none_or(|op_mod| union.counts(member, op_mod))
    }
}

impl Request {
    fn parts(self, direction: Direction) -> Option<Vec<&'static LayoutDesc>> {
        let is_input = direction == Direction::Input;
        let head = |name: &str| mlx5_prm::layout_desc(name);
        if self.opcode == Opcode::ACCESS_REG.0 {
            let head = head(if is_input { "access_register_in" } else { "access_register_out" })?;
            let register = self.register.and_then(mlx5_prm::register);
            return Some(std::iter::once(head).chain(register.map(|r| r.layout)).collect());
        }
        if names::general_verb(Opcode(self.opcode)).is_some() {
            let name = if is_input { "general_obj_in_cmd_hdr" } else { "general_obj_out_cmd_hdr" };
            // What these carry behind the header is the object itself.
            let carries = match Opcode(self.opcode) {
                Opcode::CREATE_GENERAL_OBJECT | Opcode::MODIFY_GENERAL_OBJECT => is_input,
                Opcode::QUERY_GENERAL_OBJECT => !is_input,
                _ => false,
            };
            let object = self.object.filter(|_| carries);
            let object = object.and_then(|object| mlx5_prm::general_object(ObjectType(object)));
            let parts = std::iter::once(head(name)?).chain(object.map(|o| o.layout));
            return Some(parts.collect());
        }
        let name = names::opcode_name(self.opcode)?;
        let layout = if is_input { names::input_of(name) } else { names::output_of(name) };
        Some(vec![layout?])
    }
}

/// The bytes of an element, where a member of a union is nothing but a list: what is shorter than the other
/// members is that.
pub(crate) fn list_alone(union: &LayoutDesc) -> Option<usize> {
    let element = |member: &FieldDesc| match member.element {
        Element::Layout(inner) if inner.size == 0 => {
            let list = inner.fields.iter().find(|field| field.count == Count::List)?;
            Some(list.width() as usize / 8).filter(|bytes| *bytes > 0)
        }
        _ => None,
    };
    union.fields.iter().filter(|_| union.kind == Kind::Union).find_map(element)
}

#[cfg(test)]
mod tests {
    use mlx5_prm::{AccessRegisterIn, PaosReg, QueryHcaCapIn, Register, RegisterIn};

    use super::*;

    fn names(view: Option<View>) -> Vec<&'static str> {
        view.map_or_else(Vec::new, |view| view.layouts().iter().map(|l| l.name).collect())
    }

    #[test]
    fn the_register_of_access_reg_is_known_by_its_id() {
        let input = RegisterIn::read(PaosReg::new().with_local_port(1));
        assert_eq!(names(View::of_input(input.as_bytes())), ["access_register_in", "paos_reg"]);
        let request = Request::of(input.as_bytes()).unwrap();
        assert_eq!(request.register, Some(PaosReg::REGISTER.id));
        assert_eq!(names(View::of_output(request)), ["access_register_out", "paos_reg"]);
        let unknown = AccessRegisterIn::new().with_register_id(0xffff);
        assert_eq!(names(View::of_input(unknown.as_bytes())), ["access_register_in"]);
    }

    #[test]
    fn the_page_of_capabilities_is_known_by_op_mod() {
        let query = QueryHcaCapIn::new().with_op_mod(2 << 1 | 1);
        let view = View::of_output(Request::of(query.as_bytes()).unwrap()).unwrap();
        let union = mlx5_prm::layout_desc("hca_cap_union").unwrap();
        let count: Vec<_> =
            union.fields.iter().filter(|f| view.counts(union, f)).map(|f| f.name).collect();
        assert_eq!(count, ["odp_cap"]);
    }

    #[test]
    fn what_op_mod_says_is_open_without_it() {
        let page = |op_mod| View::of_layouts(Vec::new(), op_mod);
        let union = |name| mlx5_prm::layout_desc(name).unwrap();
        let caps = union("hca_cap_union");
        assert!(page(None).is_open(caps) && page(Some(0x7e)).is_open(caps));
        assert!(!page(Some(0)).is_open(caps) && !page(Some(5)).is_open(caps));
        let select = union("modify_field_select_resize_field_select_auto");
        assert!(page(None).is_open(select) && !page(Some(1)).is_open(select));
        // Of others it says nothing.
        assert!(!page(None).is_open(union("qp_pas_or_qpc_ext_and_pas")));
    }

    #[test]
    fn a_list_at_the_end_may_have_nothing_in_it() {
        let least =
            |name| View::of_layouts(vec![mlx5_prm::layout_desc(name).unwrap()], None).least();
        assert_eq!(least("query_qp_out"), 272);
        for name in ["query_cq_out", "query_hca_cap_out", "cqc"] {
            assert_eq!(least(name), mlx5_prm::layout_desc(name).unwrap().size, "{name}");
        }
    }

    #[test]
    fn each_page_of_capabilities_is_shown_by_its_member_or_as_bytes() {
        let union = mlx5_prm::layout_desc("hca_cap_union").unwrap();
        let mut without = 0;
        for page in mlx5_prm::caps::page::PAGES {
            let query = QueryHcaCapIn::new().with_op_mod(page.selector << 1);
            let view = View::of_output(Request::of(query.as_bytes()).unwrap()).unwrap();
            let count = union.fields.iter().filter(|f| view.counts(union, f)).count();
            let of_all = union.fields.len();
            assert_eq!(count, if view.is_open(union) { of_all } else { 1 }, "{}", page.name);
            without += usize::from(view.is_open(union));
        }
        // Four pages are in no union of the headers: events, parse graphs, virtualization, RDMA.
        assert_eq!(without, 4);
    }

    #[test]
    fn a_refusal_is_no_command() {
        let refused = |dwords: [u32; 2]| Request::refused(&dwords.map(u32::to_be_bytes).concat());
        assert_eq!(refused([0x0900_0000, 0x0062_31e6]), Some(("BAD_RES_STATE_ERR", 0x6231e6)));
        assert_eq!(refused([0x0900_0000, 0x0000_0001]), None, "CREATE_TIR with op_mod 1");
        assert_eq!(refused([0x0900_0007, 0x0062_31e6]), None, "it has a uid");
        assert_eq!(refused([0, 0x0062_31e6]), None);
        assert_eq!(Request::refused(&[9, 0, 0, 0]), None);
    }

    #[test]
    fn parts_follow_each_other_and_end_with_the_mailbox() {
        let input = RegisterIn::read(PaosReg::new());
        let view = View::of_input(input.as_bytes()).unwrap();
        let parts = |bytes: &[u8]| -> Vec<_> {
            view.parts(bytes).map(|p| (p.layout.name, p.at, p.bytes.len())).collect()
        };
        let all = [("access_register_in", 0, 16), ("paos_reg", 16, 16)];
        assert_eq!(parts(input.as_bytes()), all);
        assert_eq!(parts(&input.as_bytes()[..20])[1], ("paos_reg", 16, 4));
        assert_eq!(parts(&input.as_bytes()[..16]), all[..1]);
    }
}
