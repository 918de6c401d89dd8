//! How generated code is written down: a line per field, which becomes its accessors and its
//! description.

/// A layout: its accessors and its description.
///
/// Positions are written as the PRM writes them: byte offset of the dword, then bits high:low.
macro_rules! layout {
    ($Name:ident, $tag:path, $prm:literal, $kind:ident, $size:literal $(, opcode $opcode:literal)?;
     $( $(#[$doc:meta])* $field:ident $args:tt $($access:ident)? $({ $($values:tt)* })?; )*) => {
        // A field may be called `len`.
        #[allow(clippy::len_without_is_empty)]
        impl $Name {
            $( accessors! { $prm, [$(#[$doc])*] $field $args } )*
        }
        impl $crate::Described for $tag {
            const DESC: &'static $crate::LayoutDesc = &$crate::LayoutDesc {
                name: $prm,
                kind: $crate::Kind::$kind,
                size: $size,
                fields: &[ $( description! { $field $args [$($access)?] [$($($values)*)?] } ),* ],
            };
            $( const OPCODE: Option<u16> = Some($opcode); )?
        }
    };
}

/// The accessors of one field: to read it, and to write it unless it is read only.
macro_rules! accessors {
    ($prm:literal, [$($doc:tt)*] tail ($($of:tt)*)) => {
        // A list behind the layout's end: see its alias of `WithTail`.
    };
    ($prm:literal, [$($doc:tt)*] list ($get:ident: $type:ty = $name:literal $at:literal $($of:tt)*)) => {
        inner_list! { $($doc)* $get: $type = $at }
    };
    ($prm:literal, [$($doc:tt)*] $kind:ident ($get:ident: $($rest:tt)*)) => {
        getter! { [$($doc)*] $kind ($get: $($rest)*) }
    };
    ($prm:literal, [$($doc:tt)*] $kind:ident ($get:ident $($set:ident)+: $($rest:tt)*)) => {
        getter! { [$($doc)*] $kind ($get: $($rest)*) }
        setters! { $prm, $kind ($($set)*: $($rest)*) }
    };
}

/// What reads one field.
macro_rules! getter {
    // A number of up to 32 bits.
    ([$($doc:tt)*] bits ($get:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $type {
            $crate::bits::$type::get(self, $dword, $high, $low)
        }
    };
    ([$($doc:tt)*] full ($($of:tt)*)) => {
        getter! { [$($doc)*] bits ($($of)*) }
    };
    // One bit.
    ([$($doc:tt)*] flag ($get:ident: bool = $name:literal $dword:literal[$bit:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> bool {
            $crate::bits::get_flag(self, $dword, $bit)
        }
    };
    // A number whose values have names.
    ([$($doc:tt)*] coded ($get:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $crate::$type {
            $crate::$type($crate::bits::$raw::get(self, $dword, $high, $low))
        }
    };
    ([$($doc:tt)*] coded_full ($($of:tt)*)) => {
        getter! { [$($doc)*] coded ($($of)*) }
    };
    // A number of 64 bits.
    ([$($doc:tt)*] quad ($get:ident: u64 = $name:literal $at:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> u64 {
            $crate::bits::quad(self, $at)
        }
    };
    // A number wider than 32 bits that does not fill its type.
    ([$($doc:tt)*] wide ($get:ident: $type:ident = $name:literal $at:literal $width:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $type {
            $crate::bits::get_wide(&self.bytes, $at * 8, $width) as $type
        }
    };
    // A layout, viewed in place.
    ([$($doc:tt)*] nested ($get:ident: $type:ident = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> &$type {
            $crate::bits::nested(self, $at)
        }
    };
    // An array of numbers narrower than a byte.
    ([$($doc:tt)*] packed ($get:ident: u8 = $name:literal $dword:literal[$high:literal] $width:literal * $n:literal)) => {
        $($doc)*
        ///
        /// # Panics
        /// There is no element `index`.
        #[inline]
        #[track_caller]
        pub const fn $get(&self, index: usize) -> u8 {
            $crate::bits::packed(&self.bytes, $dword * 8 + 31 - $high, $width, $n, index)
        }
    };
    // Bytes and arrays, viewed in place.
    ([$($doc:tt)*] $kind:ident ($get:ident: $type:ty = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> &$type {
            $crate::bits::part::<$type, $at, $size>(&self.bytes)
        }
    };
}

/// What writes one field.
macro_rules! setters {
    // A number narrower than its type.
    ($prm:literal, bits ($set:ident $with:ident $try:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::$type::set(self, $dword, $high, $low, value, ($prm, $name));
        }
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::$type::with(self, $dword, $high, $low, value, ($prm, $name))
        }
        #[doc = $name]
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $type) -> Result<(), $crate::FieldError> {
            $crate::bits::$type::try_set(self, $dword, $high, $low, value, ($prm, $name))
        }
    };
    // A number as wide as its type.
    ($prm:literal, full ($set:ident $with:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::$type::put(self, $dword, $high, value);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::$type::with_full(self, $dword, $high, value)
        }
    };
    // One bit.
    ($prm:literal, flag ($set:ident $with:ident:
      bool = $name:literal $dword:literal[$bit:literal])) => {
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: bool) {
            $crate::bits::set_flag(self, $dword, $bit, value);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(self, value: bool) -> Self {
            $crate::bits::with_flag(self, $dword, $bit, value)
        }
    };
    // A number whose values have names, narrower than its type.
    ($prm:literal, coded ($set:ident $with:ident $try:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::set(self, $dword, $high, $low, value.0, ($prm, $name));
        }
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with(self, $dword, $high, $low, value.0, ($prm, $name))
        }
        #[doc = $name]
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $crate::$type) -> Result<(), $crate::FieldError> {
            $crate::bits::$raw::try_set(self, $dword, $high, $low, value.0, ($prm, $name))
        }
    };
    // A number whose values have names, as wide as its type.
    ($prm:literal, coded_full ($set:ident $with:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::put(self, $dword, $high, value.0);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with_full(self, $dword, $high, value.0)
        }
    };
    // A number of 64 bits.
    ($prm:literal, quad ($set:ident $with:ident: u64 = $name:literal $at:literal)) => {
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: u64) {
            $crate::bits::set_quad(self, $at, value);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(self, value: u64) -> Self {
            $crate::bits::with_quad(self, $at, value)
        }
    };
    // A number wider than 32 bits that does not fill its type.
    ($prm:literal, wide ($set:ident $with:ident $try:ident:
      $type:ident = $name:literal $at:literal $width:literal)) => {
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::set_wide_checked(
                &mut self.bytes,
                $at,
                $width,
                value as u128,
                ($prm, $name),
            );
        }
        #[doc = $name]
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(mut self, value: $type) -> Self {
            $crate::bits::set_wide_checked(
                &mut self.bytes,
                $at,
                $width,
                value as u128,
                ($prm, $name),
            );
            self
        }
        #[doc = $name]
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $type) -> Result<(), $crate::FieldError> {
            $crate::bits::try_wide(&mut self.bytes, $at, $width, value as u128, ($prm, $name))
        }
    };
    // A layout, viewed in place.
    ($prm:literal, nested ($mut:ident $set:ident $with:ident:
      $type:ident = $name:literal $at:literal, $size:literal)) => {
        #[doc = $name]
        #[inline]
        pub fn $mut(&mut self) -> &mut $type {
            $crate::bits::nested_mut(self, $at)
        }
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: &$type) {
            $crate::bits::set_nested(self, $at, value);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::with_nested(self, $at, &value)
        }
    };
    // Bytes and arrays, viewed in place.
    ($prm:literal, $kind:ident ($mut:ident $set:ident $with:ident:
      $type:ty = $name:literal $at:literal, $size:literal)) => {
        #[doc = $name]
        #[inline]
        pub fn $mut(&mut self) -> &mut $type {
            $crate::bits::part_mut::<$type, $at, $size>(&mut self.bytes)
        }
        #[doc = $name]
        #[inline]
        pub const fn $set(&mut self, value: &$type) {
            $crate::bits::set_part::<$type, $at, $size>(&mut self.bytes, value);
        }
        #[doc = $name]
        #[inline]
        #[must_use]
        pub const fn $with(mut self, value: $type) -> Self {
            $crate::bits::set_part::<$type, $at, $size>(&mut self.bytes, &value);
            self
        }
    };
}

/// A list that begins before the end of its layout, so that it can't follow it.
#[allow(unused_macros)] // by families that have none
macro_rules! inner_list {
    ($(#[$doc:meta])* $get:ident: $type:ty = $at:literal) => {
        $(#[$doc])*
        ///
        /// It goes to the end of `mailbox`, which begins with this layout. What is left there after
        /// the last whole element is not shown.
        pub fn $get(mailbox: &[u8]) -> &[$type] {
            let list = mailbox.get($at..).unwrap_or_default();
            let whole = list.len() - list.len() % size_of::<$type>();
            zerocopy::FromBytes::ref_from_bytes(&list[..whole]).unwrap_or_default()
        }
    };
}

/// The tags of a family's layouts.
macro_rules! tags {
    ($( $Name:ident, )*) => {
        $(
            #[doc = concat!("Tag of [`", stringify!($Name), "`](super::", stringify!($Name), ").")]
            pub enum $Name {}
        )*
    };
}

/// A [`Place`](crate::Place): dword, first bit in it, width.
#[allow(unused_macros)] // by families that have none
macro_rules! place {
    ($dword:literal[$high:literal] $width:literal) => {
        $crate::Place { bit: $dword * 8 + 31 - $high, width: $width }
    };
}

/// The description of one field.
macro_rules! description {
    ($kind:ident ($($names:ident)*:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal]) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Enum($crate::$type::DESC),
            count: $crate::Count::One,
            at: $dword,
            high: $high,
            low: $low,
            access: access!($($access)?),
        }
    };
    (flag ($($names:ident)*: bool = $name:literal $dword:literal[$bit:literal]) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $dword,
            high: $bit,
            low: $bit,
            access: access!($($access)?),
        }
    };
    ($kind:ident ($($names:ident)*: $type:ident = $name:literal $dword:literal[$high:literal:$low:literal]) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $dword,
            high: $high,
            low: $low,
            access: access!($($access)?),
        }
    };
    (quad ($($names:ident)*: u64 = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - 64,
            access: access!($($access)?),
        }
    };
    (wide ($($names:ident)*: $type:ident = $name:literal $at:literal $width:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $width,
            access: access!($($access)?),
        }
    };
    (bytes ($($names:ident)*: $type:ty = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $size * 8,
            access: access!($($access)?),
        }
    };
    (array ($($names:ident)*: [$type:ty; $n:literal] = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::Array($n),
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
        }
    };
    (packed ($get:ident: u8 = $name:literal $dword:literal[$high:literal] $width:literal * $n:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::Array($n),
            at: $dword,
            high: $high,
            low: $high - $width + 1,
            access: access!($($access)?),
        }
    };
    (nested ($($names:ident)*: $type:ty = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $size * 8,
            access: access!($($access)?),
        }
    };
    (nested_array ($($names:ident)*: [$type:ty; $n:literal] = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::Array($n),
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
        }
    };
    (tail (bits $width:literal = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::List,
            at: $at,
            high: 31,
            low: 32 - $width,
            access: access!($($access)?),
        }
    };
    (tail (layout $type:ty = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*]) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::List,
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
        }
    };
    (list ($get:ident: $type:ty = $name:literal $at:literal $($of:tt)*) [$($access:ident)?] [$($values:tt)*]) => {
        description!(tail ($($of)* = $name $at) [$($access)?] [$($values)*])
    };
}

/// What a number holds: values with names, where its source names them.
macro_rules! element {
    ($name:literal;) => { $crate::Element::Bits };
    ($name:literal; $($text:literal = $number:literal),*) => {
        $crate::Element::Enum(&$crate::EnumDesc { name: $name, values: &[ $( ($number, $text) ),* ] })
    };
}

/// Who may read and write a field of a register.
macro_rules! access {
    () => {
        None
    };
    ($access:ident) => {
        Some($crate::Access::$access)
    };
}

/// An enumeration whose unknown values are kept.
macro_rules! coded {
    ($(#[$doc:meta])* $Name:ident: $type:ident = $prm:literal { $( $value:ident $text:literal = $number:literal $($about:literal)?, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $Name(pub $type);

        impl $Name {
            $(
                #[doc = concat!("`", $text, "`: ", stringify!($number), "." $(, " ", $about)?)]
                pub const $value: Self = $Name($number);
            )*
            /// Names of the values.
            pub const DESC: &'static $crate::EnumDesc = &$crate::EnumDesc {
                name: $prm,
                values: &[ $( ($number, $text) ),* ],
            };

            /// The name of this value, when it has one.
            pub fn name(self) -> Option<&'static str> {
                Self::DESC.name_of(self.0.into())
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($Name), "({:#x})"), self.0),
                }
            }
        }
    };
}

/// The input of a command, and its output.
#[allow(unused_macros)] // by families that have none
macro_rules! request {
    ($Input:ident => $Output:ident) => {
        impl $crate::Request for $Input {
            type Output = $Output;

            fn bytes(&self) -> &[u8] {
                self.as_bytes()
            }
            fn bytes_mut(&mut self) -> &mut [u8] {
                self.as_bytes_mut()
            }
        }
    };
}

/// A register: its name, its id, and what can be done to it.
#[allow(unused_macros)] // by families that have none
macro_rules! register {
    ($Layout:ident, $name:literal $id:literal $($access:ident)*) => {
        impl $crate::Register for $Layout {
            const REGISTER: &'static $crate::RegisterDesc = &$crate::RegisterDesc {
                name: $name,
                id: $id,
                layout: <$Layout as $crate::Described>::DESC,
                read: register!(@ read $($access)*),
                write: register!(@ write $($access)*),
            };
        }
        $( register!(@@ $access $Layout); )*
    };
    (@ read read $($rest:ident)*) => { true };
    (@ write write) => { true };
    (@ write read write) => { true };
    (@ $($rest:ident)*) => { false };
    (@@ read $Layout:ident) => { impl $crate::ReadRegister for $Layout {} };
    (@@ write $Layout:ident) => { impl $crate::WriteRegister for $Layout {} };
}

/// A command whose object is known.
#[allow(unused_macros)] // by families that have none
macro_rules! command {
    ($Input:ident, $verb:ident $Object:ident, $static:ident, $desc:expr) => {
        static $static: $crate::CommandDesc = $desc;

        impl $crate::Command for $Input {
            const COMMAND: &'static $crate::CommandDesc = &$static;
            type Object = $crate::object::$Object;
        }
        command!(@ $verb $Input);
    };
    (@ Create $Input:ident) => {
        impl $crate::Creates for $Input {}
    };
    (@ Destroy $Input:ident) => {
        impl $crate::OnObject for $Input {}
    };
    (@ $verb:ident $Input:ident) => {
        impl $crate::OnObject for $Input {}
        impl $crate::$verb for $Input {}
    };
}
