//! The state machine of queue pairs.

use core::fmt;

use crate::command::{Command, CommandDesc, Place};
use crate::{QpSt, QpState};

/// Description of a QP transition: one command.
#[derive(Debug)]
pub struct TransitionDesc {
    /// States it starts from; empty for any.
    pub from: &'static [QpState],
    /// The state it leads to.
    pub to: QpState,
    /// The transport services that it exists for.
    pub services: Services,
    /// Fields of the input that it takes.
    pub fields: &'static [TransitionField],
}

impl TransitionDesc {
    /// Whether a queue pair of this service can make it from this state.
    pub fn is_from(&self, state: QpState, service: QpSt) -> bool {
        self.services.contains(service) && (self.from.is_empty() || self.from.contains(&state))
    }

    /// The bits of `opt_param_mask` that it admits for a service.
    pub fn admits(&self, service: QpSt) -> u32 {
        let admitted = self.fields.iter().filter(|f| f.admits.contains(service));
        admitted.filter_map(|f| f.bit).fold(0, |mask, bit| mask | 1 << bit)
    }
}

/// A field that a transition takes.
#[derive(Debug)]
pub struct TransitionField {
    /// Path in the input, such as `qpc.mtu`.
    pub path: &'static str,
    /// Where it stands.
    pub place: Place,
    /// The bit of `opt_param_mask` that selects it.
    pub bit: Option<u32>,
    /// Services for which it has to be given.
    pub requires: Services,
    /// Services for which it may be given, and is taken whatever the mask says.
    pub takes: Services,
    /// Services for which the bit may select it.
    pub admits: Services,
    /// Whether zero is no legal value.
    pub nonzero: bool,
}

/// A set of transport services.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Services(u16);

impl Services {
    /// No service.
    pub const NONE: Self = Services(0);

    /// The set of these services.
    ///
    /// # Panics
    /// The number of a service has more than the 4 bits that all known ones have.
    pub const fn of(services: &[QpSt]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < services.len() {
            assert!(services[i].0 < 16, "a service of more than 4 bits");
            set |= 1 << services[i].0;
            i += 1;
        }
        Services(set)
    }

    /// Whether a service is in the set.
    pub const fn contains(self, service: QpSt) -> bool {
        service.0 < 16 && self.0 >> service.0 & 1 != 0
    }

    /// The services, by number.
    pub fn iter(self) -> impl Iterator<Item = QpSt> {
        (0..16).map(QpSt).filter(move |s| self.contains(*s))
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A command that moves a queue pair from one state to another, and takes fields for it.
pub trait Transition: Command {
    /// What it takes.
    const TRANSITION: &'static TransitionDesc;

    /// Writes `opt_param_mask`.
    fn set_mask(&mut self, mask: u32);
}

/// Builds the command of a QP transition, and knows which fields were given.
///
/// A command begins by `transition` of its input, for one transport service. Each field is then
/// given by its name: one that the service requires, or one that `opt_param_mask` selects, whose
/// bit is set along with it. [`build`](Self::build) refuses when something is missing. The number of
/// the queue pair is no field of a transition: `with_qpn` of the built command sets it.
///
/// ```
/// use mlx5_prm::{Init2rtrQpIn, QpSt, Qpn};
///
/// let uc = Init2rtrQpIn::transition(QpSt::UC);
/// let missing = uc.remote_qpn(Qpn::new(7)).next_rcv_psn(0).build();
/// assert_eq!(
///     missing.unwrap_err().to_string(),
///     "INIT2RTR_QP of a UC queue pair lacks qpc.mtu, qpc.log_msg_max, qpc.primary_address_path"
/// );
/// ```
#[doc = ""]
#[doc = "# Transitions"]
#[doc = ""]
#[doc = include_str!("generated/qp_state_machine.md")]
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct QpTransition<I> {
    pub(crate) input: I,
    pub(crate) service: QpSt,
    /// A bit for each field of the description that was given.
    pub(crate) given: u32,
}

/// What a transition takes for one service: a bit for each field of its description.
#[derive(Clone, Copy)]
struct OfService {
    /// Whether there is the transition at all.
    exists: bool,
    requires: u32,
    /// Whatever the mask says.
    takes: u32,
    /// When the mask selects it.
    admits: u32,
}

impl OfService {
    const fn new(transition: &TransitionDesc, service: QpSt) -> Self {
        let exists = transition.services.contains(service);
        let mut of = OfService { exists, requires: 0, takes: 0, admits: 0 };
        let mut i = 0;
        while i < transition.fields.len() {
            let (field, this) = (&transition.fields[i], 1 << i);
            if field.requires.contains(service) {
                of.requires |= this;
                of.takes |= this;
            }
            if field.takes.contains(service) {
                of.takes |= this;
            }
            if field.bit.is_some() && field.admits.contains(service) {
                of.admits |= this;
            }
            i += 1;
        }
        of
    }
}

/// What [`QpTransition::build`] needs of a description, counted when the program is compiled. A command of
/// a known service then comes down to a few constants: a description is a static, which the compiler does
/// not look into from another crate.
pub(crate) struct Counted {
    of_service: [OfService; 16],
    /// Fields that may not be zero.
    nonzero: u32,
    /// Where each field stands.
    places: [Place; 32],
    /// Other fields that lie inside of each.
    inside: [u32; 32],
    /// Its bit of the mask, or 0.
    bits: [u32; 32],
}

impl Counted {
    const fn new(transition: &TransitionDesc) -> Self {
        let mut new = Counted {
            of_service: [OfService { exists: false, requires: 0, takes: 0, admits: 0 }; 16],
            nonzero: 0,
            places: [Place { bit: 0, width: 0 }; 32],
            inside: [0; 32],
            bits: [0; 32],
        };
        let mut i = 0;
        while i < new.of_service.len() {
            new.of_service[i] = OfService::new(transition, QpSt(i as u8));
            i += 1;
        }
        i = 0;
        while i < transition.fields.len() {
            let field = &transition.fields[i];
            new.places[i] = field.place;
            new.nonzero |= (field.nonzero as u32) << i;
            if let Some(bit) = field.bit {
                new.bits[i] = 1 << bit;
            }
            let mut j = 0;
            while j < transition.fields.len() {
                let (outer, inner) = (field.place, transition.fields[j].place);
                let is_inside =
                    outer.bit <= inner.bit && inner.bit + inner.width <= outer.bit + outer.width;
                new.inside[i] |= ((is_inside && i != j) as u32) << j;
                j += 1;
            }
            i += 1;
        }
        new
    }
}

/// The numbers of the bits that are set.
#[inline]
fn indices(mut set: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (index < 32).then_some(index)
    })
}

impl<I: Transition> QpTransition<I> {
    pub(crate) const COUNTED: Counted = Counted::new(I::TRANSITION);

    /// The command, with the bits of `opt_param_mask` set for the fields that were given.
    ///
    /// # Errors
    /// A field that the service requires was not given or is zero where that is no legal value; one
    /// was given that the service does not take; the service does not know the transition.
    #[inline]
    pub fn build(mut self) -> Result<I, TransitionError> {
        let error = |why| TransitionError { command: I::COMMAND, service: self.service, why };
        let counted = const { &Self::COUNTED };
        let of = match counted.of_service.get(self.service.0 as usize) {
            Some(of) if of.exists => of,
            _ => return Err(error(Why::NoSuchTransition)),
        };
        let missing = of.requires & !self.given;
        let unknown = self.given & !(of.takes | of.admits);
        let zero = indices(self.given & counted.nonzero)
            .filter(|i| counted.places[*i].read(self.input.bytes()) == Some(0))
            .fold(0, |zero, i| zero | 1 << i);
        let mask = indices(self.given & of.admits & !of.takes).fold(0, |m, i| m | counted.bits[i]);
        let fields = |set| TransitionFields { transition: I::TRANSITION, set };
        match (missing, unknown, zero) {
            (0, 0, 0) => {
                self.input.set_mask(mask);
                Ok(self.input)
            }
            (0, 0, zero) => Err(error(Why::Zero(fields(zero)))),
            (0, unknown, _) => Err(error(Why::NotTaken(fields(unknown)))),
            (missing, ..) => Err(error(Why::Missing(fields(missing)))),
        }
    }
}

/// Copies back the fields inside of the one with this index that were given before it.
#[allow(dead_code)] // where the family of queue pairs is not compiled in
#[inline]
pub(crate) const fn keep(
    counted: &Counted,
    given: u32,
    index: usize,
    before: &[u8],
    now: &mut [u8],
) {
    let mut kept = given & counted.inside[index];
    while kept != 0 {
        let place = counted.places[kept.trailing_zeros() as usize];
        place.copy_to(before, now, place.bit);
        kept &= kept - 1;
    }
}

/// A transition that can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionError {
    /// The command.
    pub command: &'static CommandDesc,
    /// The transport service of the queue pair.
    pub service: QpSt,
    /// Why.
    pub why: Why,
}

/// Why a transition can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Queue pairs of the service don't know it.
    NoSuchTransition,
    /// Fields that the service requires were not given.
    Missing(TransitionFields),
    /// Fields were given that the service does not take.
    NotTaken(TransitionFields),
    /// Fields are zero, which is no legal value.
    Zero(TransitionFields),
}

/// Some of the fields of a transition.
#[derive(Clone, Copy)]
pub struct TransitionFields {
    transition: &'static TransitionDesc,
    set: u32,
}

impl TransitionFields {
    /// The fields.
    pub fn iter(&self) -> impl Iterator<Item = &'static TransitionField> {
        let set = self.set;
        let all = self.transition.fields.iter().enumerate();
        all.filter(move |(index, _)| set >> index & 1 != 0).map(|(_, field)| field)
    }
}

impl PartialEq for TransitionFields {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.transition, other.transition) && self.set == other.set
    }
}

impl Eq for TransitionFields {}

impl fmt::Debug for TransitionFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|field| field.path)).finish()
    }
}

impl fmt::Display for TransitionFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for field in self.iter() {
            write!(f, "{separator}{}", field.path)?;
            separator = ", ";
        }
        Ok(())
    }
}

impl fmt::Display for TransitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.name;
        let Some(service) = self.service.name() else {
            return write!(
                f,
                "there is no {command} of a queue pair of service {:#x}",
                self.service.0
            );
        };
        // An RC, a UC: as the letters are spoken.
        let article = if matches!(self.service, QpSt::RC | QpSt::XRC) { "an" } else { "a" };
        match &self.why {
            Why::NoSuchTransition => {
                write!(f, "there is no {command} of {article} {service} queue pair")
            }
            Why::Missing(fields) => {
                write!(f, "{command} of {article} {service} queue pair lacks {fields}")
            }
            Why::NotTaken(fields) => {
                write!(f, "{command} of {article} {service} queue pair does not take {fields}")
            }
            Why::Zero(fields) => {
                write!(f, "{command} of {article} {service} queue pair: 0 is no value of {fields}")
            }
        }
    }
}

impl core::error::Error for TransitionError {}
