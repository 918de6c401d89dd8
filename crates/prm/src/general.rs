//! General objects: a header that all share, and behind it the layout of the object's type.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::ObjectType;
use crate::command::SelectDesc;
use crate::describe::{Described, LayoutDesc};

#[cfg(feature = "general_object")]
mod mailbox;
#[cfg(feature = "general_object")]
pub use mailbox::{CreateObject, DestroyObject, ModifyObject, ObjectOut, QueryObject};

/// A general object, such as [`EncryptionKeyObj`](crate::EncryptionKeyObj): what lies behind the header.
pub trait GeneralObject:
    Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout
{
    /// Its description.
    const GENERAL: &'static GeneralObjectDesc;
}

/// Description of a type of general object.
#[derive(Debug)]
pub struct GeneralObjectDesc {
    /// Name, such as `encryption_key`.
    pub name: &'static str,
    /// Its number.
    pub obj_type: ObjectType,
    /// Its layout.
    pub layout: &'static LayoutDesc,
    /// Its select masks. Places and paths are from the start of its layout, not of the mailbox.
    pub selects: &'static [SelectDesc],
    /// One line about it.
    pub about: &'static str,
}

/// The type of general object with this number, in the families that are compiled in.
pub fn general_object(obj_type: ObjectType) -> Option<&'static GeneralObjectDesc> {
    let all = crate::families().iter().flat_map(|f| f.general_objects);
    all.copied().find(|o| o.obj_type == obj_type)
}
