//! Layouts as types: a run of bytes tagged by what it means.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bits;
use crate::describe::{Described, debug};
use crate::error::SizeError;

/// `N` bytes of a mailbox, laid out as the tag `T` says.
///
/// Every layout of the PRM is an alias of this type, such as [`ModifyCqIn`](crate::ModifyCqIn),
/// with its accessors as methods. It has the alignment of a byte and no invalid values, so bytes
/// from anywhere can be viewed as one: reserved bits and unknown values are kept as they are.
#[derive(FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
#[repr(transparent)]
pub struct Layout<T, const N: usize> {
    pub(crate) bytes: [u8; N],
    tag: PhantomData<fn() -> T>,
}

impl<T, const N: usize> Layout<T, N> {
    /// Bytes of the layout, without a list of open length at its end.
    pub const SIZE: usize = N;

    /// All bits zero.
    #[inline]
    #[must_use]
    pub const fn zeroed() -> Self {
        Layout { bytes: [0; N], tag: PhantomData }
    }

    /// The bytes as they go to the adapter.
    #[inline]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.bytes
    }

    /// The bytes, to be written.
    #[inline]
    pub const fn as_bytes_mut(&mut self) -> &mut [u8; N] {
        &mut self.bytes
    }

    /// A layout made of bytes, by copy.
    #[inline]
    #[must_use]
    pub const fn from_bytes(bytes: [u8; N]) -> Self {
        Layout { bytes, tag: PhantomData }
    }
}

impl<T: Described, const N: usize> Layout<T, N> {
    /// All bits zero but for the opcode, where the layout is the input of a command whose opcode the
    /// tables know.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        let mut new = Self::zeroed();
        if let Some(opcode) = T::OPCODE {
            bits::set(&mut new.bytes, 0, 16, opcode as u32);
        }
        new
    }

    /// Views bytes in place. Only their number is looked at: whether they are of this layout, such
    /// as by their opcode, is for the caller to know.
    ///
    /// # Errors
    /// The bytes are not exactly as many as the layout has.
    pub const fn view(bytes: &[u8]) -> Result<&Self, SizeError> {
        match bytes.first_chunk::<N>() {
            Some(exact) if bytes.len() == N => Ok(zerocopy::transmute_ref!(exact)),
            _ => Err(SizeError { layout: T::DESC.name, needed: N, element: 0, given: bytes.len() }),
        }
    }

    /// Views bytes in place, to be written.
    ///
    /// # Errors
    /// The bytes are not exactly as many as the layout has.
    pub fn view_mut(bytes: &mut [u8]) -> Result<&mut Self, SizeError> {
        let given = bytes.len();
        Self::mut_from_bytes(bytes).map_err(|_| SizeError {
            layout: T::DESC.name,
            needed: N,
            element: 0,
            given,
        })
    }

    /// Views the first bytes in place; gives the others too.
    ///
    /// # Errors
    /// There are fewer bytes than the layout has.
    pub const fn view_prefix(bytes: &[u8]) -> Result<(&Self, &[u8]), SizeError> {
        match bytes.split_first_chunk::<N>() {
            Some((exact, rest)) => Ok((zerocopy::transmute_ref!(exact), rest)),
            None => {
                Err(SizeError { layout: T::DESC.name, needed: N, element: 0, given: bytes.len() })
            }
        }
    }
}

// Derives would ask the same of the tag, which is nothing but a name.
impl<T, const N: usize> Clone for Layout<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for Layout<T, N> {}

impl<T, const N: usize> PartialEq for Layout<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<T, const N: usize> Eq for Layout<T, N> {}

impl<T, const N: usize> Hash for Layout<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<T: Described, const N: usize> Default for Layout<T, N> {
    /// [`Layout::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Described, const N: usize> Described for Layout<T, N> {
    const DESC: &'static crate::LayoutDesc = T::DESC;
    const OPCODE: Option<u16> = T::OPCODE;
}

/// Fields that are not zero, by PRM name; reserved bits that are set.
impl<T: Described, const N: usize> fmt::Debug for Layout<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::<T>(&self.bytes, f)
    }
}

/// A layout and the list of open length that follows it.
///
/// The aliases whose names end in the list's, such as
/// [`ModifyRqtInWithRqNum`](crate::ModifyRqtInWithRqNum), pair a mailbox with the list that the
/// PRM gives it.
///
/// ```
/// use mlx5_prm::{ModifyRqtInWithRqNum, RqNum, Rqn, Rqtn};
///
/// let mut buffer = [0xff; 512];
/// let modify = ModifyRqtInWithRqNum::new_in(&mut buffer, 4)?;
/// modify.head.set_rqtn(Rqtn::new(0x17));
/// modify.head.change_rqt_actual_size(4); // the list counts, and has so many entries
/// for (entry, number) in modify.tail.iter_mut().zip(0x100..) {
///     *entry = RqNum::new().with_rq_num(Rqn::new(number));
/// }
/// assert_eq!(modify.as_bytes().len(), 0x110 + 4 * 4);
/// assert_eq!(ModifyRqtInWithRqNum::view(&buffer[..0x120])?.tail[3].rq_num(), Rqn::new(0x103));
/// # Ok::<(), mlx5_prm::SizeError>(())
/// ```
#[derive(FromBytes, IntoBytes, Unaligned, Immutable, KnownLayout)]
#[repr(C)]
pub struct WithTail<H, E> {
    /// The layout.
    pub head: H,
    /// Its list, to the end of the mailbox.
    pub tail: [E],
}

impl<H, E> WithTail<H, E>
where
    H: Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
    /// Bytes of a mailbox whose list has `len` elements.
    ///
    /// # Panics
    /// The number is larger than an address can be.
    pub const fn size(len: usize) -> usize {
        match Self::checked_size(len) {
            Some(size) => size,
            None => panic!("a list of so many elements does not fit in memory"),
        }
    }

    /// [`WithTail::size`]; `None` when no address is that large.
    const fn checked_size(len: usize) -> Option<usize> {
        match size_of::<E>().checked_mul(len) {
            Some(list) => list.checked_add(size_of::<H>()),
            None => None,
        }
    }

    const fn wrong_size(given: usize) -> SizeError {
        let (needed, element) = (size_of::<H>(), size_of::<E>());
        SizeError { layout: H::DESC.name, needed, element, given }
    }

    /// Views bytes in place; the list goes to their end.
    ///
    /// # Errors
    /// The bytes are too few for the layout, or the rest is no whole number of elements.
    pub fn view(bytes: &[u8]) -> Result<&Self, SizeError> {
        Self::ref_from_bytes(bytes).map_err(|_| Self::wrong_size(bytes.len()))
    }

    /// Views bytes in place, to be written; the list goes to their end.
    ///
    /// # Errors
    /// The bytes are too few for the layout, or the rest is no whole number of elements.
    pub fn view_mut(bytes: &mut [u8]) -> Result<&mut Self, SizeError> {
        let given = bytes.len();
        Self::mut_from_bytes(bytes).map_err(|_| Self::wrong_size(given))
    }

    /// Makes a mailbox with a list of `len` elements at the start of `buffer`: all zero but for
    /// the opcode. Bytes of `buffer` after it are left alone.
    ///
    /// # Errors
    /// The buffer is shorter than [`WithTail::size`].
    pub fn new_in(buffer: &mut [u8], len: usize) -> Result<&mut Self, SizeError> {
        let given = buffer.len();
        let needed = Self::checked_size(len).unwrap_or(usize::MAX);
        let Some(bytes) = buffer.get_mut(..needed) else {
            let element = 0;
            return Err(SizeError { layout: H::DESC.name, needed, element, given });
        };
        bytes.fill(0);
        if let Some(opcode) = H::OPCODE {
            bits::set(bytes, 0, 16, u32::from(opcode));
        }
        Self::view_mut(bytes)
    }

    /// Makes an owned mailbox with a list of `len` elements: all zero but for the opcode.
    ///
    /// ```
    /// use mlx5_prm::{ModifyRqtInWithRqNum, Rqtn};
    ///
    /// let mut modify = ModifyRqtInWithRqNum::boxed(4);
    /// modify.head.set_rqtn(Rqtn::new(0x17));
    /// let command = &mut *modify; // what calls take that send it
    /// assert_eq!(command.as_bytes().len(), 0x110 + 4 * 4);
    /// ```
    ///
    /// # Panics
    /// There is no memory for it.
    #[cfg(feature = "alloc")]
    pub fn boxed(len: usize) -> alloc::boxed::Box<Self> {
        let Ok(mut new) = <Self as zerocopy::FromZeros>::new_box_zeroed_with_elems(len) else {
            panic!("no memory for {} with {len} elements", H::DESC.name)
        };
        if let Some(opcode) = H::OPCODE {
            bits::set(new.as_mut_bytes(), 0, 16, u32::from(opcode));
        }
        new
    }

    /// The bytes as they go to the adapter.
    pub fn as_bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }
}

/// As for [`Layout`], with the elements of the list.
impl<H, E> fmt::Debug for WithTail<H, E>
where
    H: Described + FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
    E: FromBytes + IntoBytes + Unaligned + Immutable + KnownLayout,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::<H>(self.as_bytes(), f)
    }
}
