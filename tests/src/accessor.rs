//! One accessor of the codec, as functions on bytes.
//!
//! The functions call what a user of the codec calls; nothing of the positions is known here.

use core::fmt::Debug;

use mlx5_prm::{Described, FieldError, Layout, QpSt, SizeError, TransitionError};

/// The accessors of one field.
#[derive(Debug, Clone, Copy)]
pub struct Accessor {
    /// PRM name of the layout.
    pub layout: &'static str,
    /// PRM name of the field.
    pub field: &'static str,
    /// Bytes of the layout.
    pub size: usize,
    /// `view` of the layout.
    pub view: fn(&[u8]) -> Result<&dyn Viewed, SizeError>,
    /// The functions. The bytes they take are exactly `size` long.
    pub access: Access,
}

/// The functions of a field's accessors.
#[derive(Debug, Clone, Copy)]
pub enum Access {
    /// A number of up to 128 bits.
    Number {
        /// Bits.
        width: u32,
        /// The getter.
        get: fn(&[u8]) -> u128,
        /// What writes it; none where it is read only.
        write: Option<Write>,
    },
    /// An array of numbers narrower than a byte, which is read only.
    Packed {
        /// Bits of one number.
        width: u32,
        /// How many there are.
        count: usize,
        /// The getter of one.
        get: fn(&[u8], usize) -> u8,
    },
    /// Bytes, an array or a layout, viewed in place.
    View {
        /// Its bytes.
        size: usize,
        /// The getter.
        get: fn(&[u8]) -> &[u8],
        /// What writes it; none where it is read only.
        write: Option<WriteView>,
    },
}

/// The functions that write a number.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    /// `set_`: panics when the value does not fit the field. The value must fit the type.
    pub set: fn(&mut [u8], u128),
    /// `with_`: the same by value.
    pub with: fn(&mut [u8], u128),
    /// `try_set_`, where the field is narrower than its type.
    pub try_set: Option<TrySet>,
}

/// The functions that write what is viewed in place.
#[derive(Debug, Clone, Copy)]
pub struct WriteView {
    /// The getter for writing.
    pub get_mut: fn(&mut [u8]) -> &mut [u8],
    /// `set_`: the value is as long as the field.
    pub set: fn(&mut [u8], &[u8]),
    /// `with_`: the same by value.
    pub with: fn(&mut [u8], &[u8]),
}

/// A paired call, which sets a field and its bit of the select mask.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// PRM name of the layout.
    pub layout: &'static str,
    /// Path of the mask in it.
    pub mask: &'static str,
    /// Name of the mask.
    pub select: &'static str,
    /// Path of the field.
    pub path: &'static str,
    /// Whether the field is viewed in place: its value is then [`repeated`] bytes.
    pub is_view: bool,
    /// The call on a mailbox, with a value that fits.
    pub change: fn(&mut [u8], u128),
    /// The same by value.
    pub changing: fn(&mut [u8], u128),
    /// What `new` of the layout makes.
    pub new_bytes: fn() -> Vec<u8>,
}

/// The builder of a QP transition.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// The command.
    pub command: &'static str,
    /// Paths of the fields that it takes.
    pub fields: &'static [&'static str],
    /// Builds the command for a service, with the fields of these numbers given.
    pub build: Build,
}

/// Builds the command of a transition: the service, and the fields that are given, by number.
pub type Build = fn(QpSt, &[(usize, u128)]) -> Result<Vec<u8>, TransitionError>;

/// The bytes of a value, over and over.
pub fn repeated(value: u128, len: usize) -> Vec<u8> {
    value.to_le_bytes().into_iter().cycle().take(len).collect()
}

/// A value as the type that a call takes.
macro_rules! value {
    (flag, $v:expr) => {
        $v != 0
    };
    (plain $type:ty, $v:expr) => {
        $v as $type
    };
    (coded $type:ident $raw:ident, $v:expr) => {
        mlx5_prm::$type($v as $raw)
    };
    (flags $type:ident $raw:ident, $v:expr) => {
        mlx5_prm::$type::from_bits($v as $raw)
    };
    (number $type:ident, $v:expr) => {
        mlx5_prm::$type::new($v as u32)
    };
    (view $type:ty, $v:expr) => {
        <$type as zerocopy::FromBytes>::read_from_bytes(&$crate::accessor::repeated(
            $v,
            size_of::<$type>(),
        ))
        .expect("its size")
    };
}

macro_rules! is_view {
    (view $($type:tt)*) => {
        true
    };
    ($($type:tt)*) => {
        false
    };
}

macro_rules! change {
    ($Layout:ident, $layout:literal, $mask:literal, $select:literal, $path:literal, ($($value:tt)*), $change:ident, $changing:ident) => {
        $crate::accessor::Change {
            layout: $layout,
            mask: $mask,
            select: $select,
            path: $path,
            is_view: is_view!($($value)*),
            change: |bytes, v| {
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                it.$change(value!($($value)*, v));
            },
            changing: |bytes, v| {
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                *it = it.$changing(value!($($value)*, v));
            },
            new_bytes: || mlx5_prm::$Layout::new().as_bytes().to_vec(),
        }
    };
}

macro_rules! transition {
    ($Input:ident, $command:literal, $( $path:literal $given:ident ($($value:tt)*), )*) => {
        $crate::accessor::Transition {
            command: $command,
            fields: &[ $( $path ),* ],
            build: |service, given| {
                let mut built = mlx5_prm::$Input::transition(service);
                for (index, v) in given {
                    let mut at = 0;
                    $(
                        if at == *index {
                            built = built.$given(value!($($value)*, *v));
                        }
                        at += 1;
                    )*
                    assert!(*index < at, "there is no such field");
                }
                built.build().map(|input| input.as_bytes().to_vec())
            },
        }
    };
}

/// A view of any layout.
pub trait Viewed: Debug {
    /// Its bytes, after a way through `as_bytes` and `from_bytes`.
    fn copied(&self) -> Vec<u8>;
    /// The opcode, where it is the input of one command.
    fn opcode(&self) -> Option<u16>;
    /// What `new` of the layout makes.
    fn new_bytes(&self) -> Vec<u8>;
}

impl<T: Described, const N: usize> Viewed for Layout<T, N> {
    fn copied(&self) -> Vec<u8> {
        Self::from_bytes(*self.as_bytes()).as_bytes().to_vec()
    }

    fn opcode(&self) -> Option<u16> {
        <Self as Described>::OPCODE
    }

    fn new_bytes(&self) -> Vec<u8> {
        Self::new().as_bytes().to_vec()
    }
}

/// A layout by its type. One function for each layout, not one for each of its fields.
pub trait AnyLayout {
    /// `view`.
    ///
    /// # Errors
    /// The bytes are not exactly as many as the layout has.
    fn view_any(bytes: &[u8]) -> Result<&dyn Viewed, SizeError>;
}

impl<T: Described + 'static, const N: usize> AnyLayout for Layout<T, N> {
    fn view_any(bytes: &[u8]) -> Result<&dyn Viewed, SizeError> {
        Ok(Self::view(bytes)?)
    }
}

/// `try_set_` as a function on bytes. The value must fit the type.
pub type TrySet = fn(&mut [u8], u128) -> Result<(), FieldError>;

macro_rules! number {
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:expr, $write:expr) => {
        // An item of its own: the closures of one item are checked together, and thousands of
        // them in one table take minutes.
        {
            const ACCESSOR: $crate::accessor::Accessor = $crate::accessor::Accessor {
                layout: $layout,
                field: $field,
                size: mlx5_prm::$Layout::SIZE,
                view: <mlx5_prm::$Layout as $crate::accessor::AnyLayout>::view_any,
                access: $crate::accessor::Access::Number {
                    width: $width,
                    get: |bytes| {
                        let get: fn(&mlx5_prm::$Layout) -> u128 = $get;
                        get(mlx5_prm::$Layout::view(bytes).expect("the size of the layout"))
                    },
                    write: $write,
                },
            };
            ACCESSOR
        }
    };
}

macro_rules! write {
    ($Layout:ident, $put:expr, $set:ident, $with:ident, $try:expr) => {
        Some($crate::accessor::Write {
            set: |bytes, value| {
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                it.$set($put(value))
            },
            with: |bytes, value| {
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                *it = it.$with($put(value));
            },
            try_set: $try,
        })
    };
}

macro_rules! flag {
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident, $set:ident, $with:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().into(),
            write!($Layout, |v: u128| v != 0, $set, $with, None)
        )
    };
}

macro_rules! full {
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident, $set:ident, $with:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().into(),
            write!($Layout, |v: u128| v as _, $set, $with, None)
        )
    };
}

macro_rules! bits {
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $get:ident, $set:ident, $with:ident, $try:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().into(),
            write!(
                $Layout,
                |v: u128| v as _,
                $set,
                $with,
                Some(|bytes, v| mlx5_prm::$Layout::view_mut(bytes)
                    .expect("the size of the layout")
                    .$try(v as _))
            )
        )
    };
}

macro_rules! object_number {
    ($Layout:ident, $layout:literal, $field:literal, $Number:ident, $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().get().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $Number:ident, $width:literal, $get:ident, $set:ident, $with:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().get().into(),
            write!($Layout, |v: u128| mlx5_prm::$Number::new(v as u32), $set, $with, None)
        )
    };
}

macro_rules! flags_full {
    ($Layout:ident, $layout:literal, $field:literal, $Flags:ident($raw:ident), $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().into_bits().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $Flags:ident($raw:ident), $width:literal, $get:ident, $set:ident, $with:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().into_bits().into(),
            write!($Layout, |v: u128| mlx5_prm::$Flags::from_bits(v as $raw), $set, $with, None)
        )
    };
}

macro_rules! flags {
    ($Layout:ident, $layout:literal, $field:literal, $Flags:ident($raw:ident), $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().into_bits().into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $Flags:ident($raw:ident), $width:literal, $get:ident, $set:ident, $with:ident, $try:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().into_bits().into(),
            write!(
                $Layout,
                |v: u128| mlx5_prm::$Flags::from_bits(v as $raw),
                $set,
                $with,
                Some(|bytes, v| {
                    let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                    it.$try(mlx5_prm::$Flags::from_bits(v as $raw))
                })
            )
        )
    };
}

macro_rules! coded_full {
    ($Layout:ident, $layout:literal, $field:literal, $Enum:ident($raw:ident), $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().0.into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $Enum:ident($raw:ident), $width:literal, $get:ident, $set:ident, $with:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().0.into(),
            write!($Layout, |v: u128| mlx5_prm::$Enum(v as $raw), $set, $with, None)
        )
    };
}

macro_rules! coded {
    ($Layout:ident, $layout:literal, $field:literal, $Enum:ident($raw:ident), $width:literal, $get:ident) => {
        number!($Layout, $layout, $field, $width, |it| it.$get().0.into(), None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $Enum:ident($raw:ident), $width:literal, $get:ident, $set:ident, $with:ident, $try:ident) => {
        number!(
            $Layout,
            $layout,
            $field,
            $width,
            |it| it.$get().0.into(),
            write!(
                $Layout,
                |v: u128| mlx5_prm::$Enum(v as $raw),
                $set,
                $with,
                Some(|bytes, v| {
                    let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                    it.$try(mlx5_prm::$Enum(v as $raw))
                })
            )
        )
    };
}

macro_rules! packed {
    ($Layout:ident, $layout:literal, $field:literal, $width:literal, $count:literal, $get:ident) => {{
        const ACCESSOR: $crate::accessor::Accessor = $crate::accessor::Accessor {
            layout: $layout,
            field: $field,
            size: mlx5_prm::$Layout::SIZE,
            view: <mlx5_prm::$Layout as $crate::accessor::AnyLayout>::view_any,
            access: $crate::accessor::Access::Packed {
                width: $width,
                count: $count,
                get: |bytes, index| {
                    mlx5_prm::$Layout::view(bytes).expect("the size of the layout").$get(index)
                },
            },
        };
        ACCESSOR
    }};
}

macro_rules! view {
    ($Layout:ident, $layout:literal, $field:literal, $type:ty, $get:ident) => {
        view!(@ $Layout, $layout, $field, $type, $get, None)
    };
    ($Layout:ident, $layout:literal, $field:literal, $type:ty, $get:ident, $mut:ident, $set:ident, $with:ident) => {
        view!(@ $Layout, $layout, $field, $type, $get, Some($crate::accessor::WriteView {
            get_mut: |bytes| {
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                zerocopy::IntoBytes::as_mut_bytes(it.$mut())
            },
            set: |bytes, value| {
                let value =
                    <$type as zerocopy::FromBytes>::read_from_bytes(value).expect("its size");
                mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout").$set(&value)
            },
            with: |bytes, value| {
                let value =
                    <$type as zerocopy::FromBytes>::read_from_bytes(value).expect("its size");
                let it = mlx5_prm::$Layout::view_mut(bytes).expect("the size of the layout");
                *it = it.$with(value);
            },
        }))
    };
    (@ $Layout:ident, $layout:literal, $field:literal, $type:ty, $get:ident, $write:expr) => {{
        const ACCESSOR: $crate::accessor::Accessor = $crate::accessor::Accessor {
            layout: $layout,
            field: $field,
            size: mlx5_prm::$Layout::SIZE,
            view: <mlx5_prm::$Layout as $crate::accessor::AnyLayout>::view_any,
            access: $crate::accessor::Access::View {
                size: size_of::<$type>(),
                get: |bytes| {
                    let it = mlx5_prm::$Layout::view(bytes).expect("the size of the layout");
                    zerocopy::IntoBytes::as_bytes(it.$get())
                },
                write: $write,
            },
        };
        ACCESSOR
    }};
}
