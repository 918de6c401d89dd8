//! The commands on general objects.

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::GeneralObject;
use crate::command::Request;
use crate::describe::{Described, LayoutDesc};
use crate::{GeneralObjInCmdHdr, GeneralObjOutCmdHdr, GeneralObjectId, Opcode};

fn head<O: GeneralObject>(opcode: Opcode, id: GeneralObjectId) -> GeneralObjInCmdHdr {
    GeneralObjInCmdHdr::new().with_opcode(opcode).with_obj_type(O::GENERAL.obj_type).with_obj_id(id)
}

macro_rules! with_object {
    ($( $(#[$doc:meta])* $Name:ident, $opcode:ident; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
        #[repr(C)]
        pub struct $Name<O> {
            /// Opcode, type and number.
            pub head: GeneralObjInCmdHdr,
            /// The object.
            pub object: O,
        }

        impl<O: GeneralObject> Described for $Name<O> {
            const DESC: &'static LayoutDesc = GeneralObjInCmdHdr::DESC;
            const OPCODE: Option<u16> = Some(Opcode::$opcode.0);
        }

        impl<O: GeneralObject> Request for $Name<O> {
            type Output = GeneralObjOutCmdHdr;

            fn bytes(&self) -> &[u8] {
                IntoBytes::as_bytes(self)
            }
            fn bytes_mut(&mut self) -> &mut [u8] {
                self.as_mut_bytes()
            }
        }
    )* };
}

with_object! {
    /// CREATE_GENERAL_OBJECT: the number comes back in the header of the output.
    ///
    /// ```
    /// # #[cfg(feature = "crypto")] {
    /// use mlx5_prm::{CreateObject, EncryptionKeyObj, ObjectType, Pdn, Request};
    ///
    /// let create = CreateObject::new(EncryptionKeyObj::new().with_pd(Pdn::new(7)));
    /// assert_eq!(create.head.obj_type(), ObjectType::ENCRYPTION_KEY);
    /// assert_eq!(create.bytes().len(), 0x10 + EncryptionKeyObj::SIZE);
    /// # }
    /// ```
    CreateObject, CREATE_GENERAL_OBJECT;
    /// MODIFY_GENERAL_OBJECT: the select mask in the object says what counts.
    ModifyObject, MODIFY_GENERAL_OBJECT;
}

impl<O: GeneralObject> CreateObject<O> {
    /// The bytes as they go to the adapter.
    pub fn as_bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }

    /// Makes such an object.
    pub fn new(object: O) -> Self {
        let head = head::<O>(Opcode::CREATE_GENERAL_OBJECT, GeneralObjectId::default());
        CreateObject { head, object }
    }
}

impl<O: GeneralObject> ModifyObject<O> {
    /// The bytes as they go to the adapter.
    pub fn as_bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }

    /// Changes the object of that number to what the mask in `object` selects of it.
    pub fn new(id: GeneralObjectId, object: O) -> Self {
        ModifyObject { head: head::<O>(Opcode::MODIFY_GENERAL_OBJECT, id), object }
    }
}

macro_rules! without_object {
    ($( $(#[$doc:meta])* $Name:ident, $opcode:ident => $Output:ty; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
        #[repr(C)]
        pub struct $Name<O> {
            /// Opcode, type and number.
            pub head: GeneralObjInCmdHdr,
            object: PhantomData<O>,
        }

        impl<O: GeneralObject> $Name<O> {
            /// The bytes as they go to the adapter.
            pub fn as_bytes(&self) -> &[u8] {
                self.head.as_bytes()
            }

            /// For the object of that number.
            pub fn new(id: GeneralObjectId) -> Self {
                $Name { head: head::<O>(Opcode::$opcode, id), object: PhantomData }
            }
        }

        impl<O: GeneralObject> Described for $Name<O> {
            const DESC: &'static LayoutDesc = GeneralObjInCmdHdr::DESC;
            const OPCODE: Option<u16> = Some(Opcode::$opcode.0);
        }

        impl<O: GeneralObject> Request for $Name<O> {
            type Output = $Output;

            fn bytes(&self) -> &[u8] {
                self.head.as_bytes()
            }
            fn bytes_mut(&mut self) -> &mut [u8] {
                self.head.as_bytes_mut()
            }
        }
    )* };
}

without_object! {
    /// QUERY_GENERAL_OBJECT: the object comes back behind the header of the output.
    QueryObject, QUERY_GENERAL_OBJECT => ObjectOut<O>;
    /// DESTROY_GENERAL_OBJECT.
    DestroyObject, DESTROY_GENERAL_OBJECT => GeneralObjOutCmdHdr;
}

/// What QUERY_GENERAL_OBJECT answers.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
#[repr(C)]
pub struct ObjectOut<O> {
    /// Status and number.
    pub head: GeneralObjOutCmdHdr,
    /// The object.
    pub object: O,
}

impl<O: GeneralObject> Described for ObjectOut<O> {
    const DESC: &'static LayoutDesc = GeneralObjOutCmdHdr::DESC;
}
