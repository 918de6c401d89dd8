//! All numbers of a mailbox, each with its path.

use std::fmt::Write;

use mlx5_prm::{Count, Element, FieldDesc, LayoutDesc};

use super::json::RESERVED;

/// What is at the end of a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'b> {
    Number(&'static FieldDesc, u128),
    /// What is no number.
    Bytes(&'b [u8]),
    /// Bits that belong to no field.
    Reserved(u32),
}

/// A walk through the fields of a layout, in their order.
pub(super) struct Walk<'w, E> {
    /// Where it is.
    pub(super) path: String,
    /// Which fields it goes to.
    pub(super) counts: &'w dyn Fn(&LayoutDesc, &FieldDesc) -> bool,
    /// The mailbox is longer than its layouts: its lists say how long.
    pub(super) longer: bool,
    /// Takes what is found; `told`: it says what, or how long, the mailbox is, be it zero or not.
    pub(super) each: &'w mut dyn FnMut(&str, Found<'_>, bool) -> Result<(), E>,
}

impl<E> Walk<'_, E> {
    /// `told`: the first field is. What begins after the bits that are left is passed over.
    pub(super) fn layout(
        &mut self,
        layout: &'static LayoutDesc,
        bytes: &[u8],
        told: bool,
        left: usize,
    ) -> Result<(), E> {
        for (i, field) in layout.fields.iter().enumerate() {
            if (self.counts)(layout, field) {
                self.field(layout, field, bytes, told && i == 0, left)?;
            }
        }
        for (at, bits) in layout.reserved_set(bytes) {
            let dot = if self.path.is_empty() { "" } else { "." };
            let path = format!("{}{dot}{RESERVED}[{at:#x}]", self.path);
            (self.each)(&path, Found::Reserved(bits), true)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        layout: &'static LayoutDesc,
        field: &'static FieldDesc,
        bytes: &[u8],
        told: bool,
        left: usize,
    ) -> Result<(), E> {
        let elements = field.elements(bytes.len());
        let length = self.path.len();
        for index in (0..elements).take_while(|index| field.bit_of(*index) < left) {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(field.name);
            if field.count != Count::One {
                // A string takes all.
                let _ = write!(self.path, "[{index}]");
            }
            let told = match field.count {
                Count::List => told && index == 0 || self.longer && index + 1 == elements,
                _ => told && index == 0,
            };
            let part = layout.part(field, bytes, index);
            if let Element::Layout(inner) = field.element {
                self.layout(inner, part, told, left - field.bit_of(index))?;
            } else if let Some(number) = field.read(bytes, index) {
                (self.each)(&self.path, Found::Number(field, number), told)?;
            } else if !part.is_empty() {
                (self.each)(&self.path, Found::Bytes(part), told)?;
            }
            self.path.truncate(length);
        }
        Ok(())
    }
}
